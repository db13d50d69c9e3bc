// The page's address, which says what is shown; its entries in the browser's history; and the links that say the same.
// A changed spec is an entry of its own, and all that one visit of a field changes is one; a step is none.

import { options } from "./run.js";

/** @typedef {import("./run.js").Snapshot} Snapshot */
/** @param {Snapshot | undefined} snapshot */
const specOf = (snapshot) => snapshot?.links.page.replace(/[?&]step=\d+$/, "");
/** @param {URLSearchParams} more */
const and = (more) => (more.size ? `&${more}` : "");

export class Address {
  #pushes = false;
  /** The visit of a field that the newest entry is of. */
  #visit = "";
  #at = "";

  /**
   * @param {object} given
   * @param {string} given.base    the site's root
   * @param {"page" | "embed"} given.kind
   * @param {boolean} given.owns    whether the address belongs to this widget
   * @param {() => URLSearchParams} given.extras    what is shown besides a spec and a step
   * @param {Snapshot | undefined} given.opened    what the page was opened with
   * @param {(query: string) => void} given.travel    called on Back and Forward
   * @param {Window} [given.place]
   */
  constructor({ base, kind, owns, extras, opened, travel, place = window }) {
    this.base = base;
    this.kind = kind;
    this.owns = owns;
    this.extras = extras;
    this.place = place;
    /** Options of this page, which stay whatever is shown. */
    this.kept = new URLSearchParams([...new URLSearchParams(place.location.search)].filter(([name]) => options().includes(name)));
    this.#at = place.location.search;
    if (!owns || kind !== "page") return;
    place.addEventListener("popstate", () => {
      const { search } = place.location;
      if (search === this.#at) return; // to a place on this page
      [this.#at, this.#visit, this.#pushes] = [search, "", false];
      travel(search || `?${opened?.links.page.split("?")[1]}`);
    });
  }

  /** Another spec has come. @param {Snapshot | undefined} before @param {Snapshot} now @param {string} visit  of a field, that it is part of */
  turn(before, now, visit) {
    if (specOf(before) !== specOf(now) && (!visit || visit !== this.#visit)) this.#pushes = true;
    this.#visit = visit;
  }

  /** Say what is shown. @param {Snapshot} snapshot */
  write(snapshot) {
    if (!this.owns) return;
    const more = new URLSearchParams([...this.kept, ...this.extras()]);
    const write = this.#pushes && this.kind === "page" ? "pushState" : "replaceState";
    this.#pushes = false;
    try {
      this.place.history[write](null, "", `${this.base}${snapshot.links[this.kind]}${and(more)}`);
      this.#at = this.place.location.search;
    } catch {
      // Safari allows a hundred changes in half a minute, and a sandboxed frame may allow none: the page goes on
    }
  }

  /** Keep an option of this page, or no longer. @param {string} name @param {string | undefined} value */
  keep(name, value) {
    if (value === undefined) this.kept.delete(name);
    else this.kept.set(name, value);
  }

  /** Bring the links to what is shown up to date. @param {HTMLElement} root @param {Snapshot} snapshot */
  link(root, snapshot) {
    const here = this.base + this.of(snapshot);
    root.querySelector('[data-action="share"]')?.setAttribute("href", here);
    root.querySelector('[data-action="projector"]')?.setAttribute("href", `${here}&view=projector`);
    if (this.owns) for (const link of document.querySelectorAll("a[data-follows]")) link.setAttribute("href", this.base + snapshot.links.page);
  }

  /** The address of what is shown, relative to the site's root. @param {Snapshot} snapshot */
  of(snapshot) {
    return `${snapshot.links.page}${and(this.extras())}`;
  }
}
