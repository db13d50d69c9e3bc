// A row split and merged: which part is read, and which result is made, waits or is merged. bind.js fills the numbers.

import { mountAll } from "../core/widget.js";

/** @typedef {import("../core/snapshot").MergeSnapshot} Snapshot */

const PARTS = { waits: "waits", now: "read now", read: "read" };
const RESULTS = { later: "not yet", now: "made now", waiting: "waits", used: "merged" };

/** @param {HTMLElement} root @param {Snapshot} snapshot */
function draw(root, { step, state }) {
  for (const part of cells(root, "[data-worker]")) {
    const worker = Number(part.dataset.worker);
    const kind = step < worker ? "waits" : step === worker ? "now" : "read";
    say(part, kind, PARTS[kind]);
    for (const score of cells(part, "[data-score]")) {
      const given = score.dataset.score;
      score.dataset.state = kind === "waits" ? kind : given === "-Infinity" ? "masked" : Number.isFinite(Number(given)) ? kind : "bad";
    }
  }
  for (const result of cells(root, "[data-number]")) {
    const made = state.parts[Number(result.dataset.number) - 1];
    const kind = !made ? "later" : made.number === step ? "now" : made.waiting ? "waiting" : "used";
    say(result, kind, RESULTS[kind]);
  }
}

/** @param {Element} from @param {string} selector */
function cells(from, selector) {
  return /** @type {NodeListOf<HTMLElement>} */ (from.querySelectorAll(selector));
}

/** @param {HTMLElement} element @param {string} kind @param {string} word */
function say(element, kind, word) {
  element.dataset.state = kind;
  const said = /** @type {HTMLElement} */ (element.querySelector(".word"));
  if (said.textContent !== word) said.textContent = word;
}

mountAll("merge", { draw });
