// A lesson's charts: Plotly takes the place of the drawn one when the reader comes near, so that a point can be asked for its numbers.

import { CONFIG, colours, layout, plotly } from "../core/plotly.js";

/** @typedef {{x: string, y: string, log: string, xticks: [number, string][], yticks: [number, string][], ranges: [[number, number], [number, number]], line: [number, string] | null, series: {name: string, points: number[][]}[]}} Frame */

/** Pixels that a number below the axis needs. */
const ROOM = 58;
const INK = ["old", "new", "text", "bad"];
const SYMBOLS = ["circle", "square", "diamond", "cross"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

/** @param {Element} within */
export function drawCharts(within) {
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(/** @type {HTMLElement} */ (target)).catch(() => {}); // the drawn one stays
    }
  });
  for (const place of within.querySelectorAll("figure[data-lesson-chart]")) near.observe(place);
}

/** @param {HTMLElement} place */
async function draw(place) {
  const frame = /** @type {Frame} */ (JSON.parse(String(place.querySelector('script[type="application/json"]')?.textContent)));
  const div = /** @type {HTMLElement} */ (place.querySelector(".chart-plot"));
  const Plotly = await plotly();
  const paint = () => {
    const ink = colours(place);
    const traces = frame.series.map(({ name, points }, i) => ({
      type: "scatter", mode: "lines+markers", name,
      x: points.map(([x]) => x), y: points.map(([, y]) => y),
      error_y: {
        type: "data", symmetric: false, visible: points.some(([, y, low, high]) => low !== y || high !== y), thickness: 1, width: 3, color: ink[INK[i % 4]],
        array: points.map(([, y, , high]) => high - y), arrayminus: points.map(([, y, low]) => y - low),
      },
      line: { color: ink[INK[i % 4]], dash: DASHES[i % 4], width: 2 }, marker: { color: ink[INK[i % 4]], symbol: SYMBOLS[i % 4], size: 8 },
      hovertemplate: `${name}, ${frame.x} %{x:,}: %{y:.4g}<extra></extra>`,
    }));
    const room = Math.max(2, Math.floor((div.clientWidth - 80) / ROOM));
    const thin = (/** @type {[number, string][]} */ ticks) => ticks.filter((_, i) => i % Math.ceil(ticks.length / room) === 0);
    const axis = (/** @type {string} */ title, /** @type {boolean} */ log, /** @type {[number, string][]} */ ticks, /** @type {[number, number]} */ range) => ({
      title: { text: title }, type: log ? "log" : "linear", tickvals: ticks.map(([value]) => value), ticktext: ticks.map(([, text]) => text),
      fixedrange: true, gridcolor: ink.line, linecolor: ink.soft, zeroline: false, range, tickangle: 0,
    });
    const shapes = frame.line ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: frame.line[0], y1: frame.line[0], line: { color: ink.soft, dash: "dot", width: 1.5 } }] : [];
    const looks = { ...layout(ink, true), margin: { l: 64, r: 16, t: 12, b: 48 }, hovermode: "closest", shapes, xaxis: axis(frame.x, frame.log.includes("x"), thin(frame.xticks), frame.ranges[0]), yaxis: axis(frame.y, frame.log.includes("y"), frame.yticks, frame.ranges[1]) };
    Plotly.react(div, traces, looks, CONFIG);
  };
  div.hidden = false;
  paint();
  place.dataset.plotted = "yes";
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}
