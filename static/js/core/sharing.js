// What there is to paste for the step shown, in the server's words: asked for when its box is opened, and again after a step.

import { renamed } from "./loader.js";
import { fetchPage } from "./run.js";

/** Milliseconds that an answer is waited for. */
const WAIT = 15000;
/** Milliseconds without a step before an open box is brought up to date. */
const REST = 700;

export class Sharing {
  #asked = "";
  #timer = 0;

  /**
   * @param {HTMLDetailsElement} box
   * @param {HTMLImageElement | null} code    the link as a picture, for paper
   * @param {object} given
   * @param {string} given.id    what the widget's own ids begin with
   * @param {(room: string, end?: string) => string} given.at    where a room of the site has the step shown: "share", or "figures" with ".qr.svg"
   * @param {(words: string) => void} given.say
   * @param {typeof fetchPage} [given.get]
   */
  constructor(box, code, { id, at, say, get = fetchPage }) {
    this.box = box;
    this.code = code;
    this.id = id;
    this.at = at;
    this.say = say;
    this.get = get;
    box.addEventListener("toggle", () => box.open && this.bring());
    box.addEventListener("click", (event) => this.#copy(/** @type {HTMLElement} */ (event.target)));
    addEventListener("beforeprint", () => this.bring());
  }

  /** Another step is shown. */
  stepped() {
    if (!this.box.open) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.bring(), REST);
  }

  /** Bring the box up to date, if it is open, and what is printed in any case. */
  async bring() {
    const { box, code } = this;
    const address = this.at("share");
    box.querySelector('[data-part="sharing-link"] a')?.setAttribute("href", address);
    if (code) code.src = this.at("figures", ".qr.svg");
    if (!box.open || this.#asked === address) return;
    this.#asked = address;
    try {
      const { ok, page } = await this.get(address, AbortSignal.timeout(WAIT));
      const found = page.querySelector('[data-part="snippets"]');
      if (ok && found && this.#asked === address) this.#fill(found);
    } catch {
      this.#asked = ""; // so that opening it again asks again
    }
  }

  /** @param {Element} found */
  #fill(found) {
    const { box } = this;
    box.querySelector('[data-part="snippets"]')?.remove();
    box.querySelector('[data-part="sharing-link"]')?.setAttribute("hidden", "");
    box.append(renamed(found, "w", this.id));
    for (const button of box.querySelectorAll("[data-copy]")) button.removeAttribute("hidden");
  }

  /** @param {HTMLElement} clicked */
  #copy(clicked) {
    const button = /** @type {HTMLElement | null} */ (clicked.closest?.("[data-copy]"));
    const text = button && /** @type {HTMLTextAreaElement | null} */ (document.getElementById(String(button.dataset.copy)));
    if (!text) return;
    text.select();
    copy(text.value, "Copied.", "Selected: press Ctrl+C to copy.", this.say);
  }
}

/** Copy, and say so, or what can be done where the browser does not allow it. @param {string} text @param {string} done @param {string} otherwise @param {(words: string) => void} say */
export function copy(text, done, otherwise, say) {
  navigator.clipboard?.writeText(text).then(() => say(done), () => say(otherwise)) ?? say(otherwise);
}
