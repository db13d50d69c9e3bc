// The one timeline of a step. What is drawn stands at its end already; motion is laid over it, from where each mark was, beat by beat.

import { show } from "./bind.js";

/** @typedef {import("./chart.js").Box} Box */
/** @typedef {import("./chart.js").Mark} Mark */
/**
 * A mark to be moved.
 * @typedef {object} Move
 * @property {Element} element
 * @property {Mark} mark
 * @property {Box} drawn    the box that the element itself is drawn at, which its transform starts from
 * @property {number} [unit]    of the element's own units, how many make one of the chart
 * @property {boolean} fresh    whether it was not there before this step
 * @property {() => void} [ended]    what is done once it is where it belongs
 */
/** @typedef {{animation: Animation, move: Move, offset: number[]}} Running */

const [X1, Y1, X2, Y2] = [0.45, 0.05, 0.35, 1];
/** Milliseconds before the end of a beat at which it is held. */
const STILL = 0.01;
const EASING = `cubic-bezier(${X1}, ${Y1}, ${X2}, ${Y2})`;

export class Timeline {
  /** @type {Running[]} */
  #running = [];
  /** What is not seen yet, or no more. @type {Animation[]} */
  #hidden = [];
  #frame = 0;
  /** When each beat ends. @type {number[]} */
  #ends = [];
  /** Where it is held, in milliseconds. */
  #stop = Infinity;

  /** Whether something is moving, or held on its way. */
  get moving() {
    return this.#running.length > 0;
  }

  /**
   * Start a step's motion. A beat in which nothing moves takes no time.
   * @param {Move[]} moves
   * @param {number[]} beats    milliseconds that each beat takes
   * @param {number} rate    2: twice as fast
   * @param {number} [until]    the beat after which it is held
   */
  play(moves, beats, rate = 1, until = Infinity) {
    this.finish();
    const taken = new Set(moves.flatMap(({ mark }) => (mark.via ? [mark.beat, mark.via[0]] : [mark.beat])));
    let end = 0;
    const starts = beats.map((length, beat) => [end, (end += taken.has(beat) ? length / rate : 0)][0]);
    this.#ends = [...starts.slice(1), end];
    const lasts = (/** @type {number} */ beat) => this.#ends[beat] - starts[beat];
    for (const move of moves) {
      const { element, mark, fresh } = move;
      const first = mark.via ? mark.via[0] : mark.beat;
      const delay = starts[first];
      if (fresh && delay) this.#hide(element, 0, delay);
      if (!mark.was) continue;
      const duration = this.#ends[mark.beat] - delay;
      const stops = mark.via ? [mark.was, mark.via[1], mark.via[1], mark.box] : [mark.was, mark.box];
      const offset = mark.via ? [0, lasts(first) / duration, (starts[mark.beat] - delay) / duration, 1] : [0, 1];
      const frames = { transform: stops.map((stop) => moved(move, stop)), offset, easing: EASING };
      this.#running.push({ animation: element.animate(frames, { delay, duration, fill: "backwards" }), move, offset });
      if (move.ended && end > this.#ends[mark.beat]) this.#hide(element, this.#ends[mark.beat], end); // what only travels is gone once it has come
    }
    if (!this.moving) return;
    this.#stop = this.#ends[until] ?? Infinity;
    this.#count();
    const mine = this.#running;
    Promise.all(mine.map(({ animation }) => animation.finished)).then(() => mine === this.#running && this.#stop === Infinity && this.finish(), () => {});
  }

  /** Go on, or back, to the end of a beat, and stay there. @param {number} beat */
  to(beat) {
    const now = Math.min(this.#stop, this.#ends[this.#ends.length - 1]);
    this.#stop = this.#ends[beat];
    for (const animation of this.#all()) {
      animation.currentTime = Math.min(now, this.#stop);
      animation.play();
    }
    cancelAnimationFrame(this.#frame);
    this.#count();
  }

  /** Let everything stand where it belongs. */
  finish() {
    cancelAnimationFrame(this.#frame);
    const ended = this.#all();
    for (const { move } of this.#running) {
      if (move.mark.shape === "text") write(move.element, move.mark.text);
      move.ended?.();
    }
    [this.#running, this.#hidden, this.#stop] = [[], [], Infinity];
    for (const animation of ended) animation.cancel();
  }

  #all() {
    return [...this.#running.map(({ animation }) => animation), ...this.#hidden];
  }

  /** @param {Element} element @param {number} from @param {number} to */
  #hide(element, from, to) {
    this.#hidden.push(element.animate({ visibility: ["hidden", "hidden"] }, { delay: from, duration: to - from }));
  }

  /** Numbers count as their marks move: each is read off the animation that moves it, in every frame. */
  #count() {
    if (this.#all().some(({ currentTime }) => Number(currentTime) >= this.#stop)) {
      for (const animation of this.#all()) {
        animation.pause();
        animation.currentTime = this.#stop - STILL; // still within the beat, so that what begins with the next one is not seen
      }
    }
    for (const { animation, move, offset } of this.#running) {
      if (move.mark.shape !== "text") continue;
      const { delay = 0, duration } = /** @type {AnimationEffect} */ (animation.effect).getTiming();
      const time = Math.min(Number(animation.currentTime ?? Infinity) + STILL, this.#stop);
      write(move.element, counted(move.mark, Math.max((time - delay) / Number(duration), 0), offset));
    }
    this.#frame = requestAnimationFrame(() => this.#count());
  }
}

/** @param {Element} element @param {string} text */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * What a mark says on its way: its text, with the number in it as far as it has come.
 * @param {{text: string, value?: number, before?: number, via?: Mark["via"]}} mark
 * @param {number} progress  of its time, from 0 to 1
 * @param {number[]} offset    the parts of its time after which it is where its `via` says, and leaves there
 */
export function counted({ text, value, before, via }, progress, [, there = 1, leaves = 1] = []) {
  if (progress >= 1 || value === undefined || before === undefined) return text;
  const said = show(value);
  const at = text.lastIndexOf(said);
  if (at < 0) return text;
  const half = via?.[2] ?? undefined;
  const within = (/** @type {number} */ from, /** @type {number} */ to) => (progress < to ? eased(Math.max((progress - from) / (to - from), 0)) : 1);
  const now = half === undefined ? before + (value - before) * within(0, 1) : progress < leaves ? before + (half - before) * within(0, there) : half + (value - half) * within(leaves, 1);
  const counts = Number.isInteger(value) && Number.isInteger(before) && Math.abs(value - before) >= 10; // things, and not a measure
  return text.slice(0, at) + show(counts ? Math.round(now) : now) + text.slice(at + said.length);
}

/** How far a mark has come after a part of its time: EASING, as the browser works it out. @param {number} part */
export function eased(part) {
  const curve = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ t) => 3 * a * t * (1 - t) ** 2 + 3 * b * t * t * (1 - t) + t ** 3;
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (curve(X1, X2, middle) < part) low = middle;
    else high = middle;
  }
  return curve(Y1, Y2, low);
}

/** The transform that shows an element drawn at one box at another; words are moved and never stretched. @param {Move} move @param {Box} to */
export function moved({ drawn: [x, y, width, height], mark, unit = 1 }, [x2, y2, width2, height2]) {
  if (mark.shape === "path") return `translate(${x2 * unit}px, ${y2 * unit}px)`; // in place of the one that its attribute says
  const across = mark.shape !== "text" && width && width2 !== width ? width2 / width : 1;
  const down = mark.shape !== "text" && height && height2 !== height ? height2 / height : 1;
  return `translate(${(x2 - across * x) * unit}px, ${(y2 - down * y) * unit}px) scale(${across}, ${down})`;
}
