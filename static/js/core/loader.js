// Changed specs on their way to the server. Several may be; answers are taken in the order asked, and one that was overtaken is dropped. And parts of an answer, put in the place of those that they replace.

import { LATER, fetchPage, passes, reason, words } from "./run.js";

/** Changed specs that may be on their way at once. */
const FLYING = 3;
/** Milliseconds that one is waited for. */
const WAIT = 15000;
/** What is said to whoever asked for a state when another one came first. */
export const OVERTAKEN = "another state was asked for before this one came";

/**
 * @typedef {(fault?: string) => void} Settle    told once what was asked for is shown, or in words why it is not
 * @typedef {{visit?: string, away?: boolean, tried?: number, settle?: Settle}} Asked    of a changed spec: the visit of a field that it is part of; whether it was Back or Forward; how often it has failed; whom to tell
 * @typedef {{ok: boolean, page: Document, fill: boolean, asked: Asked}} Answer
 */

export class Loader {
  #sent = 0;
  #taken = 0;
  #flying = 0;
  #timer = 0;
  /** The change wanted while as many are on their way as may be: only the latest matters. @type {[string, boolean, Asked] | undefined} */
  #queued;

  /**
   * @param {object} given
   * @param {string} given.address    of the widget, to which a query is added
   * @param {() => void} given.begins    called when the reader asks for a change
   * @param {(busy: boolean) => void} given.busy
   * @param {(answer: Answer) => void} given.take
   * @param {(words: string) => void} given.say
   * @param {typeof fetchPage} [given.get]
   * @param {number[]} [given.later]    milliseconds before a change that failed is asked for again
   */
  constructor({ address, begins, busy, take, say, get = fetchPage, later = LATER }) {
    this.address = address;
    this.begins = begins;
    this.busy = busy;
    this.take = take;
    this.say = say;
    this.get = get;
    this.later = later;
  }

  /** Do something after a while, unless something else is asked for. @param {() => void} go @param {number} ms */
  soon(go, ms) {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(go, ms);
  }

  /** Whatever is on its way is no longer wanted. */
  drop() {
    this.#taken = this.#sent + 1;
  }

  /**
   * @param {string} query
   * @param {boolean} fill  whether the form's fields come from the answer too
   * @param {Asked} asked
   */
  load(query, fill, asked = {}) {
    clearTimeout(this.#timer);
    if (!asked.tried) this.begins();
    if (this.#flying >= FLYING) {
      this.#queued?.[2].settle?.(OVERTAKEN);
      this.#queued = [query, fill, asked];
      return;
    }
    const mine = ++this.#sent;
    this.#flying += 1;
    this.busy(true);
    this.get(this.address + query, AbortSignal.timeout(WAIT))
      .then(
        ({ ok, page }) => {
          if (mine < this.#taken) {
            asked.settle?.(OVERTAKEN);
            return;
          }
          this.#taken = mine;
          this.take({ ok, page, fill, asked });
        },
        (error) => this.#failed(error, mine, [query, fill, asked]),
      )
      .finally(() => this.#landed());
  }

  /** @param {Error} error @param {number} mine @param {[string, boolean, Asked]} change */
  #failed(error, mine, [query, fill, asked]) {
    const { tried = 0, settle } = asked;
    settle?.(words(error));
    if (mine <= this.#taken) return;
    const comes = passes(error) && tried < this.later.length && !settle; // whoever was told that it failed does not wait for it
    if (!tried) this.say(`${reason(error)}: what is loaded still steps${comes ? "; the change comes by itself once it is back" : ""}.`);
    // unless the reader asks for something else meanwhile
    if (mine === this.#sent && comes) this.soon(() => this.load(query, fill, { ...asked, tried: tried + 1 }), this.later[tried]);
  }

  #landed() {
    this.#flying -= 1;
    if (!this.#flying) this.busy(false);
    const next = this.#queued;
    this.#queued = undefined;
    if (next) this.load(...next);
  }
}

/**
 * Make the names in a part of another page this page's.
 * @template {Element} T
 * @param {T} part
 * @param {string} from    what its ids begin with there
 * @param {string} to
 * @returns {T}
 */
export function renamed(part, from, to) {
  const name = new RegExp(`^(?:(url\\(#|#)${from}(?=-|$)|${from}(?=-))`);
  for (const element of from === to ? [] : [part, ...part.querySelectorAll("*")]) {
    for (const { name: attribute, value } of element.attributes) {
      const now = value.split(" ").map((one) => one.replace(name, `$1${to}`)).join(" ");
      if (now !== value && attribute !== "value" && attribute !== "class") element.setAttribute(attribute, now);
    }
  }
  return document.adoptNode(part);
}

/** Replace every part that a changed spec may have changed. @param {HTMLElement} root @param {HTMLElement} fresh  the widget in the answer */
export function swap(root, fresh) {
  const pressed = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.again;
  for (const old of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-swap]"))) {
    if (old.parentElement?.closest("[data-swap]")) continue;
    const now = fresh.querySelector(`[data-swap="${old.dataset.swap}"]`);
    if (now) old.replaceWith(renamed(now, fresh.id, root.id));
  }
  // A switch that was pressed has been made anew with the page that it asked for: the focus goes to its successor.
  if (pressed) /** @type {HTMLElement | null} */ (root.querySelector(`[data-again="${pressed}"]`))?.focus({ preventScroll: true });
}
