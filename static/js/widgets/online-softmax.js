// Online softmax: moves the bars of the server's pictures. The rules are app/figures/online.py's; a test compares the two.

import { show } from "../core/bind.js";
import { mountAll } from "../core/widget.js";

const TOP = 30;
const BASE = 194;
const ROOMY = 10;
const TALL = 74;

/** @typedef {import("../core/snapshot").OnlineSnapshot} Snapshot */

/**
 * What each bar of a chart is: its kind, its height and its height before as a part of the axis, and its number.
 * @param {Snapshot} snapshot
 * @param {"sizes" | "exps"} name
 * @param {{low: number, high: number}} frame
 * @returns {{kind: string, share: number, before: number, number: string}[]}
 */
export function bars(snapshot, name, frame) {
  const { event, state } = snapshot;
  const fresh = new Set(event.indices ?? []);
  return snapshot.spec.scores.map((/** @type {any} */ _, /** @type {number} */ row) => {
    const term = state.terms[row];
    if (!term) return { kind: "unread", share: 0, before: 0, number: "" };
    const masked = term.score === "-Infinity";
    const state_ = fresh.has(row) ? "new" : "old";
    if (name === "exps") {
      const value = Number(state.naive.exps[row]);
      const finite = Number.isFinite(value);
      const share = value > 0 && finite ? Math.max(0, (Math.log10(value) - frame.low) / (frame.high - frame.low)) : value === 0 ? 0 : 1;
      return { kind: !finite ? "bad" : masked ? "masked" : state_, share, before: share, number: show(value) };
    }
    const size = Number(term.size);
    const before = Number(term.size_before ?? size);
    const kind = masked ? "masked" : !Number.isFinite(size) ? "bad" : state_ === "old" && event.rescales ? "shrunk" : state_;
    return { kind, share: kind === "bad" ? 1 : size, before, number: show(size) };
  });
}

/** @param {number} share */
function y(share) {
  return Number.isFinite(share) ? BASE - Math.min(Math.max(share, 0), 1) * (BASE - TOP) : TOP;
}

/** @param {HTMLElement} root @param {Snapshot} snapshot @param {any} frame */
function draw(root, snapshot, frame) {
  for (const name of /** @type {const} */ (["sizes", "exps"])) {
    const plot = root.querySelector(`[data-swap="${name}"] .plot-${name}`);
    if (!plot) continue;
    const found = bars(snapshot, name, frame);
    const named = found.length <= ROOMY;
    plot.querySelectorAll("g[data-row]").forEach((g, row) => drawBar(/** @type {SVGElement} */ (g), found[row], name, named, root.id));
  }
}

/** @param {SVGElement} g @param {{kind: string, share: number, before: number, number: string}} bar @param {string} name @param {boolean} named @param {string} id */
function drawBar(g, bar, name, named, id) {
  const [ghost, slot, size, number] = g.children;
  const top = y(bar.share);
  const was = y(bar.before);
  const seen = (/** @type {boolean} */ yes) => (yes ? "visible" : "hidden");
  g.dataset.kind = bar.kind;
  ghost.setAttribute("visibility", seen(bar.kind === "shrunk"));
  ghost.setAttribute("y", String(was));
  ghost.setAttribute("height", String(BASE - was));
  slot.setAttribute("visibility", seen(bar.kind === "unread"));
  size.setAttribute("visibility", seen(bar.kind !== "unread" && bar.kind !== "masked"));
  size.setAttribute("y", String(top));
  size.setAttribute("height", String(BASE - top));
  if (bar.kind === "bad") size.setAttribute("fill", `url(#${id}-${name}-bad)`);
  const labelled = Boolean(g.querySelector(".score")?.textContent);
  number.textContent = bar.kind === "masked" ? (labelled ? "masked" : "") : named ? bar.number : "";
  const upright = name === "sizes" || bar.kind === "masked" || bar.kind === "bad";
  const tall = BASE - top > TALL;
  const middle = Number(size.getAttribute("x")) + Number(size.getAttribute("width")) / 2;
  number.setAttribute("class", !upright && tall ? "number inside" : "number");
  number.setAttribute("text-anchor", upright ? "middle" : "start");
  number.setAttribute("font-size", upright ? (bar.kind === "bad" ? "14" : "10") : "11");
  if (upright) {
    number.removeAttribute("transform");
    number.setAttribute("x", String(middle));
    number.setAttribute("y", String(bar.kind === "bad" ? 112 : top - 4));
  } else {
    number.removeAttribute("x");
    number.removeAttribute("y");
    number.setAttribute("transform", `translate(${middle + 4} ${tall ? 188 : top - 4}) rotate(-90)`);
  }
}

mountAll("online-softmax", { draw, plots: () => import("./online-softmax.plot.js") });
