// How traffic grows, in Plotly: both axes in powers, with the server's own words on the ticks and the points.

import { CONFIG, colours, layout, plotly } from "../core/plotly.js";

/** @typedef {import("../core/snapshot").TrafficSnapshot} Snapshot */

const Plotly = await plotly();
const LOOKS = /** @type {Record<string, {symbol: string, dash: string, ink: string, title: string}>} */ ({
  standard: { symbol: "square", dash: "solid", ink: "bad", title: "the standard way" },
  fa1: { symbol: "triangle-up", dash: "dash", ink: "new", title: "FA1’s order" },
  fa2: { symbol: "circle", dash: "dot", ink: "old", title: "FA2’s order" },
});

/** What each widget's charts were last drawn from. @type {WeakMap<HTMLElement, {frame: any, ink: string}>} */
const drawn = new WeakMap();

/** @param {HTMLElement} root @param {Snapshot} snapshot @param {any} frame @param {boolean} still */
export function draw(root, snapshot, frame, still) {
  const ink = colours(root);
  const before = drawn.get(root);
  if (before && before.frame === frame && before.ink === ink.text) return; // a step changes nothing here
  drawn.set(root, { frame, ink: ink.text });
  for (const panel of frame.panels) {
    const div = /** @type {HTMLElement | null} */ (root.querySelector(`[data-plot="${panel.name}"]`));
    const figure = /** @type {HTMLElement | null} */ (div?.closest("figure"));
    if (!div || !figure) continue;
    div.hidden = false;
    figure.dataset.plotted = "yes";
    Plotly.react(div, panel.lines.map((/** @type {any} */ line) => trace(line, frame, ink)), { ...layout(ink, still), ...looks(panel, frame, ink) }, CONFIG);
  }
}

/** @param {{way: string, bytes: number[], said: string[]}} line @param {any} frame @param {Record<string, string>} ink */
function trace(line, frame, ink) {
  const { symbol, dash, ink: name, title } = LOOKS[line.way];
  return {
    type: "scatter", mode: "lines+markers", x: frame.tokens, y: line.bytes,
    line: { color: ink[name], dash, width: 2 }, marker: { symbol, size: 9, color: ink[name] },
    customdata: line.said.map((said, at) => [said, frame.tokens[at].toLocaleString("en")]),
    hovertemplate: `${title}, %{customdata[1]} tokens: %{customdata[0]}<extra></extra>`,
  };
}

/** @param {any} panel @param {any} frame @param {Record<string, string>} ink */
function looks(panel, frame, ink) {
  const power = (/** @type {number} */ two) => two * Math.log10(2);
  const [first, last] = [frame.tokens[0], frame.tokens.at(-1)];
  const axis = { type: "log", fixedrange: true, gridcolor: ink.line, zeroline: false, minor: { ticks: "" }, tickfont: { size: 11 } };
  const labels = (/** @type {[number, string][]} */ ticks) => ({ tickmode: "array", tickvals: ticks.map(([at]) => at), ticktext: ticks.map(([, text]) => text) });
  return {
    margin: { l: 58, r: 12, t: 14, b: 42 },
    xaxis: { ...axis, ...labels(frame.ticks), showgrid: false, range: [Math.log10(first) - 0.1, Math.log10(last) + 0.1], title: { text: "tokens", font: { size: 12, color: ink.soft } } },
    yaxis: { ...axis, ...labels(panel.ticks), range: panel.range.map(power) },
    shapes: [{ type: "line", x0: frame.here, x1: frame.here, yref: "paper", y0: 0, y1: 1, line: { color: ink.soft, width: 1, dash: "dash" } }],
  };
}
