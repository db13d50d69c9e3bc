// The stage of a widget: its charts, drawn at once, and the motion of a step on one clock for all of them.

import { Chart, Drawing } from "./chart.js";
import { Timeline } from "./timeline.js";

/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./timeline.js").Move} Move */
/** @typedef {import("./run.js").Snapshot} Snapshot */
/**
 * How a step is shown.
 * @typedef {object} How
 * @property {boolean} [forward]    whether it may move, where it is the next one
 * @property {number} [rate]    how fast
 * @property {number} [phase]    the beat after which it is held, where a step is taken slowly
 * @property {Map<string, Chart>} [charts]    what its marks are told apart from, where that is not the run's own
 * @property {Snapshot} [before]    the step before it, for one that is held and was not come to from there
 */

/** Kinds of charts that Plotly lays out too. */
const LAID_OUT = ["bars", "cells"];
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Stage {
  /** @type {Map<string, {chart: Chart, drawing: Drawing, marks: Mark[], plot?: import("./plot.js").Plot}>} */
  #charts = new Map();
  #timeline = new Timeline();
  #step = -1;
  /** The step that is taken slowly. */
  #held = -1;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
  }

  /**
   * Take a run's charts: at the beginning, and when another spec's have come.
   * @param {Record<string, import("./chart.js").Told>} [told]
   * @param {Snapshot} [drawn]    what the server has drawn already
   */
  take(told = {}, drawn) {
    this.#timeline.finish();
    const before = this.#charts;
    this.#charts = new Map();
    for (const [name, one] of Object.entries(told)) {
      const { drawing = new Drawing(this.root, name), plot } = before.get(name) ?? {};
      const chart = new Chart(name, one);
      const marks = drawn ? chart.at(drawn) : [];
      if (drawn) drawing.adopt(marks);
      plot?.take(chart);
      this.#charts.set(name, { chart, drawing, marks, plot });
    }
    this.#step = drawn ? drawn.step : -1;
  }

  /** @param {Snapshot} snapshot @param {How} how */
  show(snapshot, { forward = false, rate = 1, phase, before, charts } = {}) {
    if (phase !== undefined && this.#held === snapshot.step && this.#timeline.moving) {
      this.#timeline.to(phase);
      return;
    }
    this.#timeline.finish();
    if (phase !== undefined && before && snapshot.step !== this.#step + 1) this.show(before);
    this.#held = phase === undefined ? -1 : snapshot.step;
    const moving = phase !== undefined || (forward && snapshot.step === this.#step + 1 && !still());
    /** @type {Move[]} */
    const moves = [];
    /** @type {number[]} */
    let beats = [];
    for (const one of this.#charts.values()) {
      const [before, marks] = [one.marks, (charts?.get(one.chart.name) ?? one.chart).at(snapshot)];
      one.marks = marks;
      one.drawing.draw(marks);
      one.plot?.draw(marks);
      if (!moving) continue;
      beats = one.chart.beats;
      for (const [place, mark] of marks.entries()) {
        if (mark === before[place] || (mark.role === "none" && !mark.moving)) continue;
        const fresh = mark.passing || before[place]?.role === "none";
        if (!mark.was && !(fresh && mark.beat)) continue;
        const element = one.drawing.elements.get(mark.key);
        if (element) {
          if (mark.moving) one.drawing.dress(element, mark.moving, true);
          moves.push({ element, mark, drawn: mark.box, fresh, ended: mark.moving ? () => one.drawing.dress(element, mark.role) : undefined });
        }
        const bar = mark.moving ? undefined : one.plot?.place(mark.key);
        if (bar) moves.push({ mark, fresh, ...bar });
      }
    }
    if (moves.length) this.#timeline.play(moves, beats, phase !== undefined && still() ? 1000 : rate, phase);
    this.#step = snapshot.step;
  }

  /** Let everything stand where it belongs. */
  finish() {
    this.#timeline.finish();
  }

  /** The bars in Plotly, which come when there is time for it; without them the server's picture stays, and moves alike. */
  async plots() {
    const { Plot } = await import("./plot.js");
    for (const [name, one] of this.#charts) {
      const div = /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-plot="${name}"]`));
      if (!div || one.plot || !LAID_OUT.includes(one.chart.kind)) continue;
      one.plot = new Plot(div, one.chart);
      if (one.marks.length) one.plot.draw(one.marks);
    }
  }

  /** The page's colours have changed. */
  recolour() {
    for (const { plot, marks } of this.#charts.values()) plot?.recolour(marks);
  }
}
