// Tiled attention: the map's states, the lit rows and columns, what made which number, and a step phase by phase.

import { show } from "../core/bind.js";
import { grids } from "../core/grid.js";
import { mountAll } from "../core/widget.js";

/** @typedef {import("../core/run.js").Snapshot} Snapshot */

const [SCORE, MAX, RESCALE, SIZE, ADD, DROP] = [1, 2, 3, 4, 5, 6]; // places in the machine's list of phases

/**
 * What a tile's snapshot shows when only its phases up to `phase` are done.
 * @param {Snapshot} snapshot
 * @param {number} phase
 */
export function at(snapshot, phase) {
  const event = { ...snapshot.event };
  const state = { ...snapshot.state };
  const [first, last] = event.q_rows;
  /** @param {any[]} whole @param {any[]} part */
  const put = (whole, part) => [...whole.slice(0, first), ...part, ...whole.slice(last)];
  if (phase < SCORE) delete event.scores;
  if (phase < MAX) state.m = put(state.m, event.m_old);
  if (phase < RESCALE) delete event.alpha;
  if (phase < SIZE) delete event.p;
  if (phase < ADD) {
    state.l = put(state.l, phase < RESCALE ? event.l_old : event.l_rescaled);
    if (state.acc) state.acc = put(state.acc, phase < RESCALE ? event.acc_old : event.acc_rescaled);
    else if (state.output) state.output = put(state.output, event.o_old);
  }
  if (phase >= DROP) {
    delete event.scores;
    delete event.p;
    state.cells = state.cells.map((/** @type {string[]} */ row) => row.map((cell) => (cell === "live" ? "consumed" : cell)));
  }
  return { ...snapshot, event, state, phase };
}

/** @param {HTMLElement} root @param {Snapshot} snapshot */
function draw(root, snapshot) {
  const { event, state } = snapshot;
  const [top, bottom] = event.q_rows ?? [0, 0];
  const [left, right] = event.k_cols ?? [0, 0];
  for (const cell of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-spot="stage"] .map [data-state]'))) {
    const now = state.cells[Number(cell.dataset.row)][Number(cell.dataset.col)];
    if (cell.dataset.state === now) continue;
    cell.dataset.state = now;
    const word = cell.querySelector(".word");
    if (word) word.textContent = now === "consumed" || now === "masked" ? now : "";
  }
  const light = (/** @type {HTMLElement} */ element, /** @type {boolean} */ yes) => (yes ? (element.dataset.lit = "yes") : delete element.dataset.lit);
  for (const cell of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-spot="stage"] [data-cell="q"], .keeps tr[data-row]'))) {
    const row = Number(cell.dataset.row);
    light(cell, row >= top && row < bottom);
  }
  for (const cell of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-cell="k"], [data-cell="v"]'))) {
    const key = Number(cell.dataset.row);
    light(cell, key >= left && key < right);
  }
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-phase]"))) {
    const place = (event.phases ?? []).indexOf(item.dataset.phase);
    item.dataset.on = snapshot.phase === undefined ? "" : place === snapshot.phase ? "now" : place < snapshot.phase ? "done" : "later";
  }
}

/** @param {HTMLElement} root @param {() => {snapshot: Snapshot, frame: any}} now */
function listen(root, now) {
  const said = /** @type {HTMLElement} */ (root.querySelector('[data-part="readout"]'));
  grids(root, (cell) => {
    for (const old of root.querySelectorAll("[data-made]")) old.removeAttribute("data-made");
    if (!cell?.dataset.cell) return;
    const { snapshot, frame } = now();
    const [name, row, col] = [cell.dataset.cell, Number(cell.dataset.row), Number(cell.dataset.col)];
    said.textContent = arithmetic(snapshot, frame, name, row, col);
    for (const [source, which] of sources(frame, name)) {
      for (const made of root.querySelectorAll(`[data-spot="stage"] [data-cell="${source}"]`)) {
        if (takesPart(/** @type {HTMLElement} */ (made), which, row, col, snapshot)) made.setAttribute("data-made", "yes");
      }
    }
  });
}

/** A size stands in the same cell as its score. @param {any} frame @param {string} name @returns {[string, string][]} */
function sources(frame, name) {
  const found = frame.made_of[name] ?? [];
  return found.map((/** @type {[string, string]} */ [source, which]) => [source === "p" ? "scores" : source, which]);
}

/** @param {HTMLElement} cell @param {string} which @param {number} row @param {number} col @param {Snapshot} snapshot */
function takesPart(cell, which, row, col, snapshot) {
  const [r, c] = [Number(cell.dataset.row), Number(cell.dataset.col)];
  if (which === "cell") return r === row && c === col;
  if (which === "key") return r === col;
  const [left, right] = snapshot.event.k_cols ?? [0, 0];
  if (which === "column") return c === col && r >= left && r < right;
  return r === row && (cell.dataset.cell !== "scores" || cell.dataset.state === "live");
}

/**
 * How a number came about, in figures.
 * @param {Snapshot} snapshot @param {any} frame @param {string} name @param {number} row @param {number} col
 */
export function arithmetic(snapshot, frame, name, row, col) {
  const { event, state } = snapshot;
  const who = `query ${row + 1}`;
  if (name === "q") return `Query ${row + 1}, element ${col + 1}: ${show(frame.q[row][col])}.`;
  if (name === "k" || name === "v") return `${name === "k" ? "Key" : "The value of key"} ${row + 1}, element ${col + 1}: ${show(frame[name][row][col])}.`;
  const i = row - (event.q_rows?.[0] ?? 0);
  const inside = event.kind === "tile" && !event.skipped && i >= 0 && i < event.q_rows[1] - event.q_rows[0];
  const j = col - (event.k_cols?.[0] ?? 0);
  if (name === "scores") {
    const place = `Query ${row + 1}, key ${col + 1}`;
    const cell = state.cells[row][col];
    if (cell !== "live" || !event.scores) return `${place}: ${cell === "live" ? "about to be made" : cell === "consumed" ? "consumed: its score was used and dropped, so there is no number here" : cell}.`;
    const dot = `${sum(frame.q[row].map((/** @type {number} */ x, /** @type {number} */ c) => `${times(x, frame.k[col][c])}`))} = ${show(event.dots[i][j])}`;
    const scaled = frame.factor === 1 ? "" : `, times the scale ${show(frame.factor)} ≈ ${show(event.scores[i][j])}`;
    const against = event.m_tile ? event.m_tile[i] : state.m[row];
    const size = event.p ? `; its size is exp(${show(event.scores[i][j])} − ${operand(against)}) ≈ ${show(event.p[i][j])}` : "";
    return `${place}: ${dot}${scaled}${size}.`;
  }
  if (name === "output") {
    const output = state.output?.[row]?.[col];
    if (output === undefined) return `The output of ${who} is not there yet: acc is divided by ℓ once, after the last tile.`;
    return state.acc ? `Output of ${who}, element ${col + 1}: acc / ℓ = ${show(state.acc[row][col])} / ${show(state.l[row])} ≈ ${show(output)}.` : `Output of ${who}, element ${col + 1}: ${show(output)}, divided by ℓ after every tile.`;
  }
  if (!inside) {
    const kept = name === "m" ? state.m[row] : name === "l" ? state.l[row] : name === "acc" ? state.acc[row][col] : undefined;
    return kept === undefined ? `This tile has no part in ${who}.` : `${name === "l" ? "ℓ" : name} of ${who} is ${show(kept)}; this step does not change it.`;
  }
  if (name === "m_old") return `Before this tile the highest score of ${who} was ${show(event.m_old[i])}.`;
  if (name === "m") return `m of ${who}: the highest of ${show(event.m_old[i])}${event.scores ? ` and ${event.scores[i].map((/** @type {any} */ s) => show(s)).join(", ")}` : ""} is ${show(state.m[row])}.`;
  if (name === "alpha") return Number(event.m_old[i]) === -Infinity ? `${who} had nothing yet: nothing to rescale.` : `Factor of ${who}: exp(${show(event.m_old[i])} − ${operand(state.m[row])}) ≈ ${show(event.alpha ? event.alpha[i] : NaN)}.`;
  if (name === "l") return `ℓ of ${who}: ${times(event.l_old[i], event.alpha?.[i] ?? NaN)} + ${show(event.row_sums[i])} ≈ ${show(state.l[row])}.`;
  return `acc of ${who}, element ${col + 1}: ${times(event.acc_old[i][col], event.alpha?.[i] ?? NaN)} + ${operand(event.pv[i][col])} ≈ ${show(state.acc[row][col])}.`;
}

/** @param {any} a @param {any} b */
function times(a, b) {
  return `${operand(a)} × ${operand(b)}`;
}

/** @param {any} x */
function operand(x) {
  const said = show(x);
  return said.startsWith("−") ? `(${said})` : said;
}

/** @param {string[]} terms */
function sum(terms) {
  return terms.length > 4 ? `${terms.slice(0, 3).join(" + ")} + …` : terms.join(" + ");
}

mountAll("tiled-attention", { draw, at, listen, plots: () => import("./tiled-attention.plot.js") });
