// Memory traffic: going up and down the list of sizes.

import { mountAll } from "../core/widget.js";

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

mountAll("memory-traffic", { draw: () => {}, listen, plots: () => import("./memory-traffic.plot.js") });
