// Softmax pass by pass: the reading head and the lanes. bind.js fills their numbers; which of them is read now is said here.

import { mountAll } from "../core/widget.js";

/** @typedef {import("../core/snapshot").PassesSnapshot} Snapshot */

/** @param {HTMLElement} root @param {Snapshot} snapshot */
function draw(root, snapshot) {
  const { event, state } = snapshot;
  /** @type {number[]} */
  const indices = event.indices ?? [];
  const now = state.pass - 1;
  const last = indices[indices.length - 1] ?? -1;
  const n = snapshot.spec.scores.length;
  for (const head of cells(root, "[data-head]")) set(head, indices.includes(Number(head.dataset.head)) ? "▼" : "");
  for (const cell of cells(root, "[data-score]")) {
    const i = Number(cell.dataset.score);
    cell.dataset.state = indices.includes(i) ? "now" : now > 0 || i < last ? "read" : "unread";
  }
  for (const lane of cells(root, "[data-pass]")) {
    const pass = Number(lane.dataset.pass);
    for (const cell of cells(lane, "[data-first]")) {
      const first = Number(cell.dataset.first);
      const value = Number(cell.querySelector("data")?.value);
      const come = pass < now || (pass === now && first <= last);
      const broken = Number.isNaN(value) || value === Infinity;
      cell.dataset.state = !come ? "unread" : broken ? "bad" : pass === now && indices.includes(first) ? "now" : "read";
    }
    const read = /** @type {HTMLElement} */ (lane.querySelector("[data-read]"));
    set(read, `${pass < now ? n : pass === now ? last + 1 : 0} of ${n} read`);
  }
  follow(root, indices[0]);
}

/** Keep the reading head in sight where the row is longer than the page is wide. @param {HTMLElement} root @param {number | undefined} first */
function follow(root, first) {
  const box = /** @type {HTMLElement} */ (root.querySelector('[data-spot="lanes"]'));
  if (box.scrollWidth <= box.clientWidth) return;
  const head = /** @type {HTMLElement | null} */ (box.querySelector(`[data-head="${Math.max(first ?? 0, 0)}"]`));
  const label = /** @type {HTMLElement | null} */ (box.querySelector(".heads th"));
  if (!head || !label) return;
  const [left, right] = [head.offsetLeft - label.offsetWidth, head.offsetLeft + head.offsetWidth];
  if (left < box.scrollLeft || right > box.scrollLeft + box.clientWidth) box.scrollLeft = Math.max(0, left - head.offsetWidth);
}

/** @param {Element} from @param {string} selector */
function cells(from, selector) {
  return /** @type {NodeListOf<HTMLElement>} */ (from.querySelectorAll(selector));
}

/** @param {HTMLElement} element @param {string} words */
function set(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** The row starts where the reading head is. @param {HTMLElement} root */
function listen(root) {
  const head = cells(root, "[data-head]");
  follow(root, [...head].findIndex((one) => one.textContent));
}

mountAll("softmax-passes", { draw, listen });
