// From the step that the player is at to what is shown of it: here already or on its way, whole or phase by phase.

import { passes, reason, words } from "./run.js";

/** @typedef {import("./run.js").Snapshot} Snapshot */

/** Brings the snapshot of a step, and says and does what there is to do when it does not come. */
export class Steps {
  /**
   * @param {import("./player.js").Player} player
   * @param {object} given
   * @param {() => import("./run.js").Run} given.run    the run shown now
   * @param {() => Snapshot | undefined} given.shown
   * @param {(snapshot: Snapshot, why: "user" | "play") => void} given.paint
   * @param {(shown: Snapshot | undefined, fault: string) => boolean} given.stays    called when a step does not come, with what stays shown and why; whether nobody was told so who asked for it
   * @param {(words: string) => void} given.say
   */
  constructor(player, { run, shown, paint, stays, say }) {
    this.player = player;
    this.run = run;
    this.shown = shown;
    this.paint = paint;
    this.stays = stays;
    this.say = say;
  }

  /** @param {"user" | "play"} why */
  go(why) {
    const { player } = this;
    const [run, step] = [this.run(), player.step];
    const here = run.get(step);
    if (here) {
      this.paint(here, why);
      return;
    }
    player.held = true;
    const wanted = () => this.run() === run && player.step === step;
    run.want(step).then(
      (snapshot) => wanted() && this.paint(snapshot, why),
      (error) => wanted() && this.#failed(error, step),
    );
  }

  /** @param {Error} error @param {number} step */
  #failed(error, step) {
    const { player } = this;
    player.held = false;
    const { playing } = player;
    player.pause();
    const shown = this.shown();
    if (shown) player.step = shown.step;
    const comes = this.stays(shown, words(error)) && passes(error);
    this.say(`${reason(error)}: the steps already loaded still work${comes ? "; the rest comes by itself once it is back" : ""}.`);
    if (comes) this.#onceBack(step, playing);
  }

  /** When the server is there again: go on, if the reader has stayed. @param {number} step @param {boolean} playing */
  #onceBack(step, playing) {
    const [run, stayed] = [this.run(), this.shown()];
    run.once(step, () => {
      if (this.run() !== run || this.shown() !== stayed || this.player.playing) return;
      this.say("");
      if (playing) this.player.play();
      else this.player.seek(step);
    });
  }
}

/** Slowly: a step taken phase by phase, where a widget can show what it is when only its first phases are done. */
export class Phases {
  slow = false;
  /** The last phase done of the step shown, where the reader takes them one by one; undefined: all are. @type {number | undefined} */
  at = undefined;

  /** @param {HTMLElement} root @param {((snapshot: Snapshot, phase: number) => Snapshot) | undefined} partly  what a step shows when only these phases are done */
  constructor(root, partly) {
    this.root = root;
    this.partly = partly;
  }

  /** How many phases a step is taken in; 0: it is taken whole. @param {Snapshot | undefined} snapshot @returns {number} */
  count(snapshot) {
    return (this.slow && this.partly && snapshot?.event.phases?.length) || 0;
  }

  /** A step as far as it has come. @param {Snapshot} snapshot */
  seen(snapshot) {
    return this.at === undefined || !this.partly ? snapshot : this.partly(snapshot, this.at);
  }

  /** Whether phases of this step are left to come. @param {Snapshot} snapshot */
  left(snapshot) {
    return this.at !== undefined && this.at + 1 < this.count(snapshot);
  }

  /** Go to the next or the last phase of the step shown; false where it has none that way. @param {1 | -1} way @param {Snapshot | undefined} shown */
  move(way, shown) {
    const last = this.count(shown) - 1;
    const to = (this.at ?? last) + way; // a whole step still shows what its last phase drops
    if (!shown || to < 0 || to > last) return false;
    this.at = to;
    return true;
  }

  /** Come to another step: onward to its first phase, back to the whole of it. @param {1 | -1} way @param {Snapshot | undefined} next */
  enter(way, next) {
    this.at = way > 0 && this.count(next) ? 0 : undefined;
  }

  /** Show the whole of the step again; whether it was shown in part. */
  whole() {
    const part = this.at !== undefined;
    this.at = undefined;
    return part;
  }

  /** @param {HTMLElement} button */
  toggle(button) {
    this.slow = !this.slow;
    button.setAttribute("aria-pressed", String(this.slow));
    this.root.toggleAttribute("data-slow", this.slow);
    this.whole();
  }
}
