// Which step is shown, and playing through the rest. No DOM: time comes in as two functions, so tests can turn the clock.

/** Milliseconds between steps while playing, at normal speed. */
export const BEAT = 1400;

/**
 * @typedef {object} Clock
 * @property {(tick: () => void, ms: number) => any} set
 * @property {(timer: any) => void} clear
 */

export class Player {
  /**
   * @param {number} steps  the last step
   * @param {number} step   the step shown first
   * @param {Clock} clock
   */
  constructor(steps, step = 0, clock = { set: (tick, ms) => setTimeout(tick, ms), clear: (timer) => clearTimeout(timer) }) {
    this.first = 0;
    this.steps = steps;
    this.step = step;
    this.speed = 1;
    this.playing = false;
    /** While a step is on its way from the server: playing goes no further. */
    this.held = false;
    this.clock = clock;
    /** @type {any} */
    this.timer = undefined;
    /** @type {(why: "user" | "play" | "state") => void} */
    this.changed = () => {};
  }

  /** Go to a step; what is past an end stops at it. @param {number} step @param {"user" | "play"} why */
  seek(step, why = "user") {
    const to = Math.min(Math.max(Math.round(step), this.first), this.steps);
    if (why === "user") this.pause();
    if (!Number.isFinite(to) || to === this.step) return;
    this.step = to;
    this.changed(why);
  }

  next() {
    this.seek(this.step + 1);
  }

  back() {
    this.seek(this.step - 1);
  }

  reset() {
    this.seek(this.first);
  }

  /** Play from here, or from the start where here is the end. */
  play() {
    if (this.playing) return;
    this.playing = true;
    this.changed("state");
    if (this.playing && this.step >= this.steps) this.seek(this.first, "play");
    if (this.playing) this.wait(); // whoever listens may have paused
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.clock.clear(this.timer);
    this.changed("state");
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  wait() {
    this.timer = this.clock.set(() => {
      if (!this.held) this.seek(this.step + 1, "play");
      if (this.step >= this.steps && !this.held) this.pause();
      else if (this.playing) this.wait();
    }, BEAT / this.speed);
  }
}
