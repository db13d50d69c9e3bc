// All drawing of a widget goes through here: its charts and what its view draws, at once, and in Plotly once that has come.

import { Stage } from "./stage.js";

/** @typedef {import("./run.js").Snapshot} Snapshot */
/** How a step came to be shown: `forward`, as the one after the last shown, by a press or by play, so that it may move. @typedef {import("./stage.js").How & {why: import("./widget.js").Why, forward: boolean}} How */

/** Milliseconds without input before it may be fetched and started. */
const QUIET = 700;
/** Milliseconds after which it is fetched without an idle moment, which a throttled frame may never have. */
const LATEST = 2000;

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Pictures {
  /** @type {any} */
  #frame;
  /** @type {Snapshot | undefined} */
  #shown;
  /** @type {import("./widget.js").Plots | undefined} */
  #plots;

  /**
   * @param {HTMLElement} root
   * @param {Pick<import("./widget.js").View, "draw" | "plots">} view
   */
  constructor(root, view) {
    this.root = root;
    this.view = view;
    this.stage = new Stage(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  /** Take a run's charts, and what else its snapshots have in common. @param {any} frame @param {Snapshot} [drawn]  what the server has drawn already */
  take(frame, drawn) {
    this.#frame = frame;
    this.#shown = drawn ?? this.#shown;
    this.stage.take(frame?.charts, drawn);
  }

  /** At once; Plotly, which takes longer, in the next task. @param {Snapshot} snapshot @param {How} how */
  show(snapshot, how) {
    this.#shown = snapshot;
    this.stage.show(snapshot, how);
    this.view.draw(this.root, snapshot, this.#frame);
    setTimeout(() => this.#shown === snapshot && this.#plot(still()));
  }

  /** Bring Plotly; without it the server's picture stays, and stepping moves its bars. */
  async late() {
    const coming = [this.stage.plots(), this.view.plots?.().then((found) => (this.#plots = found))];
    await Promise.allSettled(coming);
    this.#plot(true);
  }

  /** The page's colours have changed. */
  recolour() {
    this.stage.recolour();
    this.#plot(true);
  }

  /** @param {boolean} unmoved */
  #plot(unmoved) {
    if (this.#shown) this.#plots?.draw(this.root, this.#shown, this.#frame, unmoved);
  }
}

/** What may wait: it comes once the widget has been seen, the page is idle and the reader's hands are too, for starting Plotly blocks a slow phone for a second. */
export class Late {
  #touched = 0;

  /**
   * @param {HTMLElement} root
   * @param {object} given
   * @param {() => void} given.seen    called once, when the widget comes into sight
   * @param {() => void} given.bring   called once, after that, when there is time
   * @param {number} [given.quiet]
   */
  constructor(root, { seen, bring, quiet = QUIET }) {
    this.bring = bring;
    this.quiet = quiet;
    for (const kind of ["click", "keydown", "input"]) root.addEventListener(kind, () => (this.#touched = performance.now()));
    // What nobody sees starts nothing: a frame far down an article, a widget far down a lesson.
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      watch.disconnect();
      seen();
      if (document.readyState === "complete") this.#wait();
      else addEventListener("load", () => this.#wait(), { once: true });
    });
    watch.observe(root);
  }

  #wait() {
    if (performance.now() - this.#touched < this.quiet) setTimeout(() => this.#wait(), this.quiet);
    else if ("requestIdleCallback" in window) requestIdleCallback(this.bring, { timeout: LATEST });
    else setTimeout(this.bring, 50);
  }
}
