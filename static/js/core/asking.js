// What others may ask of a widget, such as a lesson, or the frame that a host page speaks to: a step, a way to go, to play, or another spec.
// Who gives `settle` is told what came of a state.

import { OVERTAKEN } from "./loader.js";

/** @typedef {import("./loader.js").Settle} Settle */
/** @typedef {import("./run.js").Snapshot} Snapshot */

export class Asking {
  /** A step on its way that somebody else asked for, and how they are told. @type {{step: number, settle: Settle} | undefined} */
  #expected;

  /**
   * @param {HTMLElement} root
   * @param {import("./player.js").Player} player
   * @param {import("./transport.js").Moves & {load: (query: string, settle?: Settle) => void, shown: () => Snapshot | undefined}} given    shown: as far as it is seen
   */
  constructor(root, player, { move, seek, toggle, load, shown }) {
    this.root = root;
    root.addEventListener("tilewise:go", (event) => {
      const { step, by, play, query, settle } = /** @type {CustomEvent} */ (event).detail;
      if (query !== undefined) load(query, settle);
      else if (step !== undefined) seek(step);
      else if (by !== undefined) move(by < 0 ? -1 : 1);
      else if (play !== undefined && play !== player.playing) toggle();
      if (!settle || query !== undefined) return;
      this.settle(OVERTAKEN);
      if (player.step === shown()?.step) settle();
      else this.#expected = { step: player.step, settle };
    });
    root.addEventListener("tilewise:ask", (event) => /** @type {CustomEvent} */ (event).detail(shown()));
  }

  /** Whether somebody waits to be told. */
  get awaited() {
    return this.#expected !== undefined;
  }

  /** A step is shown, and everybody may know. @param {Snapshot} snapshot @param {string} why */
  stepped(snapshot, why) {
    this.root.dispatchEvent(new CustomEvent("tilewise:step", { detail: { snapshot, why }, bubbles: true }));
    this.settle(snapshot.step === this.#expected?.step ? undefined : OVERTAKEN);
  }

  /** @param {string} [fault]  why what was asked for is not shown */
  settle(fault) {
    const done = this.#expected?.settle;
    this.#expected = undefined;
    done?.(fault);
  }
}
