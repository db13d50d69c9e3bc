// Memory traffic: which lines of which arrays a step reads and writes, and what stays on the chip.

import { mountAll } from "../core/widget.js";

/** @typedef {import("../core/snapshot").TrafficSnapshot} Snapshot */

/** @param {HTMLElement} root @param {Snapshot} snapshot */
function draw(root, snapshot) {
  const { slow, chip } = snapshot.state;
  for (const array of /** @type {NodeListOf<SVGGElement>} */ (root.querySelectorAll("[data-array]"))) {
    const lines = slow[String(array.dataset.array)] ?? [];
    for (const [at, line] of [...array.children].entries()) line.setAttribute("data-on", lines[at] ?? "none");
  }
  for (const place of /** @type {NodeListOf<SVGGElement>} */ (root.querySelectorAll("[data-place]"))) place.dataset.is = chip[String(place.dataset.place)].is;
  for (const arrow of /** @type {NodeListOf<SVGGElement>} */ (root.querySelectorAll("[data-arrow]"))) {
    arrow.dataset.on = snapshot.event[arrow.dataset.arrow === "read" ? "reads" : "writes"] ? "yes" : "no";
  }
}

/** Half and Double go up and down the list of sizes. @param {HTMLElement} root */
function listen(root) {
  const list = /** @type {HTMLSelectElement | null} */ (root.querySelector('select[name="n"]'));
  root.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-size]"));
    if (!button || !list) return;
    const to = list.options[list.selectedIndex + Number(button.dataset.size)];
    if (!to) return;
    list.value = to.value;
    list.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return () => {};
}

mountAll("memory-traffic", { draw, listen, plots: () => import("./memory-traffic.plot.js") });
