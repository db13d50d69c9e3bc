// The script of every widget that has none of its own.

import { PLAIN, mountAll } from "./widget.js";

for (const root of document.querySelectorAll('[data-script="core/plain"]')) {
  mountAll(String(/** @type {HTMLElement} */ (root).dataset.widget), PLAIN);
}
