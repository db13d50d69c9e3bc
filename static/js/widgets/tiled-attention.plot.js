// The map of positions in Plotly: a square a cell, and over it the tile being worked on, which moves from place to place.

import { CONFIG, colours, layout, plotly } from "../core/plotly.js";

/** @typedef {import("../core/run.js").Snapshot} Snapshot */

const Plotly = await plotly();

/** @param {HTMLElement} root @param {Snapshot} snapshot @param {any} frame @param {boolean} still */
export function draw(root, snapshot, frame, still) {
  const div = /** @type {HTMLElement | null} */ (root.querySelector('[data-plot="map"]'));
  const body = /** @type {HTMLElement | null} */ (root.querySelector(".map tbody"));
  if (!div || !body) return;
  const ink = colours(root);
  const cells = /** @type {string[][]} */ (snapshot.state.cells);
  const [rows, cols] = [cells.length, cells[0].length];
  const [width, height] = [body.offsetWidth, body.offsetHeight];
  const side = Math.max(3, Math.min(width / cols, height / rows) - 2);
  const places = cells.flatMap((row, i) => row.map((state, j) => ({ i, j, state })));
  const fill = /** @type {Record<string, string>} */ ({ waiting: ink.card, live: ink.card, consumed: ink.old, masked: ink.soft });
  const map = {
    type: "scatter", mode: "markers", hoverinfo: "skip",
    x: places.map(({ j }) => j), y: places.map(({ i }) => i),
    marker: {
      symbol: places.map(({ state }) => (state === "masked" ? "square-x-open" : "square")), size: side,
      color: places.map(({ state }) => fill[state]), opacity: places.map(({ state }) => (state === "consumed" ? 0.28 : 1)), line: { width: 1, color: places.map(({ state }) => (state === "masked" ? ink.soft : ink.line)) },
    },
  };
  const [tall, wide] = frame.block;
  const [top, left] = [snapshot.event.q_rows?.[0] ?? 0, snapshot.event.k_cols?.[0] ?? 0];
  const spots = Array.from({ length: tall * wide }, (_, n) => ({ i: top + Math.floor(n / wide), j: left + (n % wide) }));
  const live = (/** @type {{i: number, j: number}} */ { i, j }) => cells[i]?.[j] === "live";
  const tile = {
    type: "scatter", mode: "markers", hoverinfo: "skip",
    x: spots.map(({ j }) => Math.min(j, cols - 1)), y: spots.map(({ i }) => Math.min(i, rows - 1)),
    marker: { symbol: "square", size: side, color: ink.new, opacity: spots.map((spot) => (live(spot) ? 0.32 : 0)), line: { width: 0 } },
  };
  div.hidden = false;
  /** @type {HTMLElement} */ (div.parentElement).dataset.plotted = "yes";
  const axis = { visible: false, fixedrange: true };
  const looks = {
    width, height, margin: { l: 0, r: 0, t: 0, b: 0 },
    xaxis: { ...axis, range: [-0.5, cols - 0.5] }, yaxis: { ...axis, range: [rows - 0.5, -0.5] },
  };
  Plotly.react(div, [map, tile], { ...layout(ink, still), ...looks }, { ...CONFIG, responsive: false, staticPlot: true });
}
