// Online softmax in Plotly: the same bars as in the server's pictures, moving from step to step.

import { show, superscript } from "../core/bind.js";
import { CONFIG, colours, layout, plotly } from "../core/plotly.js";
import { bars } from "./online-softmax.js";

/** @typedef {import("../core/snapshot").OnlineSnapshot} Snapshot */

const Plotly = await plotly();

/** @param {HTMLElement} root @param {Snapshot} snapshot @param {any} frame @param {boolean} still */
export function draw(root, snapshot, frame, still) {
  const ink = colours(root);
  for (const name of /** @type {const} */ (["sizes", "exps"])) {
    const div = /** @type {HTMLElement | null} */ (root.querySelector(`[data-plot="${name}"]`));
    const figure = /** @type {HTMLElement | null} */ (div?.closest("figure"));
    if (!div || !figure) continue;
    div.hidden = false;
    figure.dataset.plotted = "yes";
    const { data, frame: looks } = name === "sizes" ? sizes(snapshot, frame, ink) : exps(snapshot, frame, ink);
    Plotly.react(div, data, { ...layout(ink, still), ...looks }, CONFIG);
  }
}

/** @param {{kind: string}} bar @param {Record<string, string>} ink */
function colour(bar, ink) {
  return bar.kind === "new" ? ink.new : bar.kind === "bad" ? ink.bad : ink.old;
}

/** The axis below, with the server's names for the scores. @param {Snapshot} snapshot @param {any} ink @param {{scores: string[]}} frame */
function across(snapshot, ink, { scores }) {
  const rows = scores.map((_, row) => row);
  const named = rows.filter((row) => scores[row]);
  const label = (/** @type {number} */ row) => show(snapshot.state.terms[row].score);
  return {
    rows,
    label,
    xaxis: {
      range: [-0.6, rows.length - 0.4], fixedrange: true, zeroline: false, showgrid: false,
      tickvals: named, ticktext: named.map((row) => scores[row]), tickfont: { color: ink.text, size: 11 }, tickangle: 0, ticks: "",
    },
  };
}

/**
 * @param {ReturnType<typeof bars>} found @param {(bar: any) => number | null} height @param {any} ink @param {any} more
 */
function trace(found, height, ink, more) {
  const roomy = found.length <= 10;
  return {
    type: "bar",
    x: found.map((_, row) => row),
    y: found.map(height),
    marker: { color: found.map((bar) => colour(bar, ink)) }, // no patterns: Plotly 4.1 throws when a bar that has one moves
    text: found.map((bar) => (bar.kind === "masked" ? "masked" : roomy && bar.kind !== "bad" ? bar.number : "")),
    textposition: "outside", cliponaxis: false, textfont: { size: 11, color: ink.text },
    hovertemplate: "%{customdata}<extra></extra>",
    ...more,
  };
}

/** Where the unread scores wait. @param {ReturnType<typeof bars>} found @param {any} ink @param {number} height */
function waiting(found, ink, height) {
  return {
    type: "scatter", mode: "markers", hoverinfo: "skip",
    x: found.map((_, row) => row), y: found.map((bar) => (bar.kind === "unread" ? height : null)),
    marker: { symbol: "square-open-dot", size: 9, color: ink.soft },
  };
}

/** @param {Snapshot} snapshot @param {any} frame @param {Record<string, string>} ink */
function sizes(snapshot, frame, ink) {
  const found = bars(snapshot, "sizes", frame);
  const { rows, label, xaxis } = across(snapshot, ink, frame);
  const before = {
    type: "bar", x: rows, y: found.map((bar) => (bar.kind === "shrunk" ? bar.before : null)), hoverinfo: "skip",
    marker: { color: "rgba(0,0,0,0)", line: { color: ink.old, width: 1.5 } },
  };
  const now = trace(found, (bar) => (bar.kind === "unread" ? null : bar.share), ink, {
    customdata: rows.map((row) => (found[row].kind === "unread" ? "" : `score ${label(row)}: size ${found[row].number}`)),
  });
  const yaxis = { range: [0, 1.12], fixedrange: true, tickvals: [0, 0.5, 1], ticktext: ["0", "0.5", "1"], gridcolor: ink.line, zeroline: true, zerolinecolor: ink.text };
  return { data: [before, now, waiting(found, ink, 0.04)], frame: { xaxis: { ...xaxis, title: { text: "score, in the order read", font: { size: 12, color: ink.soft } } }, yaxis } };
}

/** @param {Snapshot} snapshot @param {any} frame @param {Record<string, string>} ink */
function exps(snapshot, frame, ink) {
  const { low, high, ceiling, label: largest } = frame;
  const found = bars(snapshot, "exps", frame);
  const { rows, label, xaxis } = across(snapshot, ink, frame);
  const span = high - low;
  const now = trace(found, (bar) => (bar.kind === "unread" ? null : bar.share * span), ink, {
    base: low, textposition: found.map((bar) => (bar.share > 0.4 && bar.kind !== "masked" ? "inside" : "outside")), textangle: -90, insidetextanchor: "start", insidetextfont: { color: ink.card }, constraintext: "none",
    customdata: rows.map((row) => (found[row].kind === "unread" ? "" : `exp(${label(row)}): ${found[row].number}`)),
  });
  const every = Math.max(1, Math.ceil((ceiling - low) / 4));
  const powers = [];
  for (let power = Math.ceil(low); power <= ceiling; power += every) powers.push(power);
  const yaxis = {
    range: [low, high], fixedrange: true, gridcolor: ink.line, zeroline: false,
    tickvals: powers, ticktext: powers.map((power) => `10${superscript(power)}`),
  };
  const shapes = [
    { type: "rect", xref: "paper", x0: 0, x1: 1, y0: ceiling, y1: high, fillcolor: ink.bad, opacity: 0.12, line: { width: 0 }, layer: "below" },
    { type: "line", xref: "paper", x0: 0, x1: 1, y0: ceiling, y1: ceiling, line: { color: ink.bad, width: 2, dash: "dash" }, layer: "above" },
  ];
  const fallen = rows.filter((row) => found[row].kind === "bad" && rows.length <= 24);
  const named = fallen.map((row) => ({ x: row, y: (low + ceiling) / 2, text: found[row].number, showarrow: false, bgcolor: ink.card, bordercolor: ink.bad, font: { color: ink.bad, size: 14 } }));
  const annotations = [...named, { xref: "paper", x: 1, xanchor: "right", y: high, yanchor: "bottom", text: largest, showarrow: false, font: { color: ink.bad, size: 12 } }];
  return {
    data: [now, waiting(found, ink, low + 0.04 * span)],
    frame: { xaxis: { ...xaxis, title: { text: "score, with the amount added", font: { size: 12, color: ink.soft } } }, yaxis, shapes, annotations },
  };
}
