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
 */

const [X1, Y1, X2, Y2] = [0.45, 0.05, 0.35, 1];
const EASING = `cubic-bezier(${X1}, ${Y1}, ${X2}, ${Y2})`;

export class Timeline {
  /** @type {{animation: Animation, move: Move, offset: number[]}[]} */
  #running = [];
  /** @type {Animation[]} */
  #hidden = [];
  #frame = 0;

  /** Whether something is moving. */
  get moving() {
    return this.#running.length > 0;
  }

  /**
   * Start a step's motion. A beat in which nothing moves takes no time.
   * @param {Move[]} moves
   * @param {number[]} beats    milliseconds that each beat takes
   * @param {number} rate    2: twice as fast
   */
  play(moves, beats, rate = 1) {
    this.finish();
    const taken = new Set(moves.flatMap(({ mark }) => (mark.via ? [mark.beat, mark.via[0]] : [mark.beat])));
    let end = 0;
    const starts = beats.map((length, beat) => [end, (end += taken.has(beat) ? length : 0)][0]);
    for (const move of moves) {
      const { element, mark, fresh } = move;
      const delay = starts[mark.via ? mark.via[0] : mark.beat] / rate;
      if (fresh && delay) this.#hidden.push(element.animate({ visibility: ["hidden", "hidden"] }, { duration: delay }));
      if (!mark.was) continue;
      const stops = [mark.was, ...(mark.via ? [mark.via[1]] : []), mark.box];
      const duration = (starts[mark.beat] + beats[mark.beat]) / rate - delay;
      const offset = mark.via ? [0, beats[mark.via[0]] / rate / duration, 1] : [0, 1];
      const frames = { transform: stops.map((stop) => moved(move, stop)), offset, easing: EASING };
      this.#running.push({ animation: element.animate(frames, { delay, duration, fill: "backwards" }), move, offset });
    }
    if (!this.moving) return;
    this.#count();
    const mine = this.#running;
    Promise.all(mine.map(({ animation }) => animation.finished)).then(() => mine === this.#running && this.finish(), () => {});
  }

  /** Let everything stand where it belongs. */
  finish() {
    cancelAnimationFrame(this.#frame);
    const ended = [...this.#running.map(({ animation }) => animation), ...this.#hidden];
    for (const { move } of this.#running) if (move.mark.shape === "text") write(move.element, move.mark.text);
    [this.#running, this.#hidden] = [[], []];
    for (const animation of ended) animation.cancel();
  }

  /** Numbers count as their marks move: each is read off the animation that moves it, in every frame. */
  #count() {
    for (const { animation, move, offset } of this.#running) {
      if (move.mark.shape !== "text") continue;
      const { progress } = /** @type {AnimationEffect} */ (animation.effect).getComputedTiming();
      write(move.element, counted(move.mark, progress ?? 1, offset[1]));
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
 * @param {number} middle    the part of its time after which it is where its `via` says
 */
export function counted({ text, value, before, via }, progress, middle = 1) {
  if (progress >= 1 || value === undefined || before === undefined) return text;
  const said = show(value);
  const at = text.lastIndexOf(said);
  if (at < 0) return text;
  const half = via?.[2] ?? undefined;
  const [from, to, part] = half === undefined ? [before, value, progress] : progress < middle ? [before, half, progress / middle] : [half, value, (progress - middle) / (1 - middle)];
  return text.slice(0, at) + show(from + (to - from) * eased(part)) + text.slice(at + said.length);
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
  const across = mark.shape !== "text" && width && width2 !== width ? width2 / width : 1;
  const down = mark.shape !== "text" && height && height2 !== height ? height2 / height : 1;
  return `translate(${(x2 - across * x) * unit}px, ${(y2 - down * y) * unit}px) scale(${across}, ${down})`;
}
