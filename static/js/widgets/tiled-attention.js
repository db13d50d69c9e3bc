// Tiled attention: the map's states, the lit rows and columns, what made which number, and a step phase by phase.

import { show } from "../core/bind.js";
import { grids } from "../core/grid.js";
import { mountAll } from "../core/widget.js";

/** @typedef {import("../core/run.js").Snapshot} Snapshot */

const HINT = "Point at a number, or move to it with the arrow keys, to see what made it.";
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
  if (phase < SIZE) {
    delete event.p;
    delete event.p_cast;
  }
  if (phase < ADD) {
    state.l = put(state.l, phase < RESCALE ? event.l_old : event.l_rescaled);
    if (state.acc) state.acc = put(state.acc, phase < RESCALE ? event.acc_old : event.acc_rescaled);
    else if (state.output) state.output = put(state.output, event.o_old);
  }
  if (phase >= DROP) {
    delete event.scores;
    delete event.p;
    delete event.p_cast;
    state.cells = state.cells.map((/** @type {string[]} */ row) => row.map((cell) => (cell === "live" ? "consumed" : cell)));
  }
  const caption = snapshot.words[`phase_${event.phases[phase]}`];
  return { ...snapshot, event, state, phase, caption };
}

/** @param {HTMLElement} root @param {Snapshot} snapshot */
function draw(root, snapshot) {
  const { event, state } = snapshot;
  const [top, bottom] = (!event.skipped && event.q_rows) || [0, 0];
  const [left, right] = (!event.skipped && event.k_cols) || [0, 0];
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
  if (top < bottom && left < right) keepInSight(root, top, left);
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-phase]"))) {
    const place = (event.phases ?? []).indexOf(item.dataset.phase);
    item.dataset.on = snapshot.phase === undefined ? "" : place === snapshot.phase ? "now" : place < snapshot.phase ? "done" : "later";
  }
}

/** Where the stage is wider than its window, it moves along, sideways only, when the tile leaves it. @param {HTMLElement} root @param {number} top @param {number} left */
function keepInSight(root, top, left) {
  const stage = /** @type {HTMLElement} */ (root.querySelector('[data-spot="stage"]'));
  if (stage.scrollWidth <= stage.clientWidth) return;
  const cell = root.querySelector(`.map [data-row="${top}"][data-col="${left}"]`)?.getBoundingClientRect();
  const window = stage.getBoundingClientRect();
  if (cell && (cell.left < window.left || cell.right + cell.width > window.right)) stage.scrollLeft += cell.left - window.left - window.width / 3;
}

/** @param {HTMLElement} root @param {() => {snapshot: Snapshot, frame: any}} now */
function listen(root, now) {
  /** Where the pointer or the focus is. @type {{name: string, row: number, col: number} | undefined} */
  let spot;
  const tell = () => {
    for (const old of root.querySelectorAll("[data-made]")) old.removeAttribute("data-made");
    if (!spot) return;
    const { name, row, col } = spot;
    const { snapshot, frame } = now();
    const said = root.querySelector('[data-part="readout"]');
    if (said) said.textContent = row < frame.q.length || name === "k" || name === "v" ? arithmetic(snapshot, frame, name, row, col) : "";
    for (const [source, which] of sources(frame, name)) {
      for (const made of root.querySelectorAll(`[data-spot="stage"] [data-cell="${source}"]`)) {
        if (takesPart(/** @type {HTMLElement} */ (made), which, row, col, snapshot)) made.setAttribute("data-made", "yes");
      }
    }
  };
  grids(root, (cell) => {
    const name = cell?.dataset.cell;
    spot = name ? { name, row: Number(cell.dataset.row), col: Number(cell.dataset.col) } : undefined;
    tell();
  });
  return () => {
    const said = root.querySelector('[data-part="readout"]');
    if (!spot && said) said.textContent = HINT; // what it said of an earlier step need not be so now
    tell();
  };
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
 * How a number came about, in figures; in a tile taken slowly, as far as it has come.
 * @param {Snapshot} snapshot @param {any} frame @param {string} name @param {number} row @param {number} col
 */
export function arithmetic(snapshot, frame, name, row, col) {
  const { event, state } = snapshot;
  const phase = snapshot.phase ?? Infinity;
  const who = `query ${row + 1}`;
  if (name === "q" || name === "k" || name === "v") {
    const title = { q: "Query", k: "Key", v: "The value of key" }[name];
    const x = frame[name][row]?.[col];
    return x === undefined ? "" : `${title} ${row + 1}, element ${col + 1}: ${show(x)}.`;
  }
  const i = row - (event.q_rows?.[0] ?? 0);
  const inside = event.kind === "tile" && !event.skipped && i >= 0 && i < event.q_rows[1] - event.q_rows[0];
  if (name === "scores") return `Query ${row + 1}, key ${col + 1}: ${meeting(snapshot, frame, row, col, i)}.`;
  if (name === "output") return outputSaid(snapshot, row, col, inside && phase >= ADD ? i : -1);
  const kept = name === "m" ? state.m[row] : name === "l" ? state.l[row] : name === "acc" ? state.acc?.[row][col] : undefined;
  const title = name === "l" ? "ℓ" : name;
  if (!inside) return kept === undefined ? `This step has no part in ${who}.` : `${title} of ${who} is ${show(kept)}; this step does not change it.`;
  const old = event.m_old[i];
  if (name === "m_old") return Number(old) === -Infinity ? `Before this tile ${who} had no live score: −∞ stands for none.` : `Before this tile the highest score of ${who} was ${show(old)}.`;
  if (name === "m") {
    if (phase < MAX) return `m of ${who} is still ${show(old)}: the scores of this tile have not been compared yet.`;
    if (!event.scores) return `m of ${who} is ${show(event.m_new[i])}, with this tile’s scores compared and dropped.`;
    return `m of ${who}: the highest of ${show(old)} and ${event.scores[i].map((/** @type {any} */ s) => show(s)).join(", ")} is ${show(event.m_new[i])}.`;
  }
  if (name === "alpha") {
    if (event.fresh[i]) return `Query ${row + 1} has kept nothing yet: nothing to rescale.`;
    if (!event.alpha) return `The factor of ${who} comes once its new highest is known.`;
    return `Factor of ${who}: ${size(event.alpha[i], old, event.m_new[i], snapshot.spec.compute)}.`;
  }
  const before = name === "l" ? event.l_old[i] : event.acc_old[i][col];
  if (phase < RESCALE) return `${title} of ${who} is still ${show(before)}, from before this tile.`;
  const rescaled = name === "l" ? event.l_rescaled[i] : event.acc_rescaled[i][col];
  const scaled = event.fresh[i] ? "nothing kept yet" : `${times(before, event.alpha[i])}`;
  const where = name === "l" ? `ℓ of ${who}` : `acc of ${who}, element ${col + 1}`;
  if (phase < ADD) return event.fresh[i] ? `${where}: ${scaled}.` : `${where}: ${scaled}${gives(rescaled, before * event.alpha[i], before, event.alpha[i])}, rescaled; nothing of this tile is added yet.`;
  const added = name === "l" ? event.row_sums[i] : event.pv[i][col];
  const part = event.beta && name === "l" ? times(added, event.beta[i]) : operand(added);
  const sum = event.fresh[i] ? part : `${scaled} + ${part}`;
  return `${where}: ${sum}${gives(kept, (event.fresh[i] ? 0 : before * event.alpha[i]) + added * (event.beta && name === "l" ? event.beta[i] : 1), before, event.alpha[i], added, ...(event.beta ? [event.beta[i]] : []))}.`;
}

/** A cell of the map. @param {Snapshot} snapshot @param {any} frame @param {number} row @param {number} col @param {number} i */
function meeting(snapshot, frame, row, col, i) {
  const { event, state } = snapshot;
  const cell = state.cells[row]?.[col];
  if (cell === "waiting") return "its tile has not come yet";
  if (cell === "consumed") return "consumed: its score was used and dropped, so there is no number here";
  if (cell === "masked") return "masked: this query may not see this key";
  const j = col - event.k_cols[0];
  if (!event.scores) return "about to be made";
  const terms = frame.q[row].map((/** @type {number} */ x, /** @type {number} */ c) => times(x, frame.k[col][c]));
  const [dot, score] = [event.dots[i][j], event.scores[i][j]];
  const exact = frame.q[row].reduce((/** @type {number} */ total, /** @type {number} */ x, /** @type {number} */ c) => total + x * frame.k[col][c], 0);
  const made = `${sum(terms)}${gives(dot, exact, ...frame.q[row], ...frame.k[col])}`;
  const scaled = frame.factor === 1 ? "" : `, times the scale ${show(frame.factor)}${gives(score, dot * frame.factor, dot, frame.factor)}`;
  if (!event.p) return `${made}${scaled}`;
  const against = event.m_tile ? event.m_tile[i] : event.m_new[i];
  const sized = `${made}${scaled}; its size is ${size(event.p[i][j], score, against, snapshot.spec.compute)}`;
  return event.p_cast ? `${sized}, cast to ${snapshot.spec.p_format} it meets the value as ${show(event.p_cast[i][j])}` : sized;
}

/** An element of the output. i: its row in the tile just taken, or −1. @param {Snapshot} snapshot @param {number} row @param {number} col @param {number} i */
function outputSaid({ event, state }, row, col, i) {
  const where = `Output of query ${row + 1}, element ${col + 1}`;
  const output = state.output?.[row]?.[col];
  if (output === undefined) return state.acc ? `${where}: not there yet; acc is divided by ℓ once, after the last tile.` : `${where}: not there yet.`;
  if (state.acc) return `${where}: acc / ℓ = ${operand(state.acc[row][col])} / ${show(state.l[row])}${gives(output, state.acc[row][col] / state.l[row], state.acc[row][col], state.l[row])}.`;
  if (i < 0) return `${where} is ${show(output)}; this step does not change it.`;
  const added = times(event.pv[i][col], event.beta[i]);
  const before = event.fresh[i] ? 0 : event.o_old[i][col] * event.l_rescaled[i];
  const exact = (before + event.pv[i][col] * event.beta[i]) / state.l[row];
  const old = event.fresh[i] ? "" : `${times(event.o_old[i][col], event.l_rescaled[i])} + `;
  return `${where}: (${old}${added}) / ${show(state.l[row])}${gives(output, exact, event.o_old[i][col], event.l_rescaled[i], event.pv[i][col], event.beta[i], state.l[row])}.`;
}

/**
 * The result, after equals where the equation holds with the numbers as shown, after about where one is rounded.
 * @param {any} result
 * @param {number} exact    what the operation gives unrounded; NaN where that is no number of float64
 * @param {...any} operands
 */
function gives(result, exact, ...operands) {
  const whole = [result, ...operands].every((x) => !Number.isFinite(Number(x)) || Number(show(x).replace("−", "-")) === Number(x));
  return ` ${whole && (exact === Number(result) || Number.isNaN(Number(result))) ? "=" : "≈"} ${show(result)}`;
}

/** exp(a − b), and what is stored of it: only exp 0 is a number that a format can hold. @param {any} result @param {any} a @param {any} b @param {string} format */
function size(result, a, b, format) {
  const x = Number(a) - Number(b);
  const power = `exp(${show(a)} − ${operand(b)})${gives(result, x === 0 ? 1 : x === -Infinity ? 0 : NaN, a, b)}`;
  if (!Number.isFinite(x) || (Number(result) !== 0 && Number.isFinite(Number(result)))) return power;
  const unrounded = Math.exp(x);
  const about = unrounded === 0 || unrounded === Infinity ? "" : ` ≈ ${show(unrounded)}`;
  return `exp(${show(a)} − ${operand(b)})${about}, which ${format} stores as ${show(result)}`;
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

mountAll("tiled-attention", { draw, at, listen });
