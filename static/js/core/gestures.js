// Ways to step without the buttons: a tap on the picture with a finger, a presenter's keys in projector mode, and a menu that closes.

/** @typedef {{move: (way: 1 | -1) => void, first: () => void, last: () => void}} Steps */

/** @param {HTMLElement} root @param {Steps} steps */
export function gestures(root, steps) {
  const scene = root.querySelector(".scene");
  scene?.addEventListener("pointerup", (event) => {
    const press = /** @type {PointerEvent} */ (event);
    const on = /** @type {Element} */ (press.target);
    if (press.pointerType !== "touch" || !on.closest(".frame") || on.closest("a, button, input, select, label")) return;
    steps.move(1);
  });

  const menu = /** @type {HTMLDetailsElement | null} */ (root.querySelector('[data-part="menu"]'));
  const shut = () => menu?.open && (menu.open = false);
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu?.open) return;
    shut();
    menu.querySelector("summary")?.focus();
  });
  document.addEventListener("click", (event) => {
    if (!menu?.contains(/** @type {Node} */ (event.target))) shut();
  });
}

/** On a wall a presenter's clicker is the only hand there is: its keys work wherever the focus is. @param {Steps} steps */
export function presenting(steps) {
  const keys = /** @type {Record<string, () => void>} */ ({
    PageDown: () => steps.move(1),
    PageUp: () => steps.move(-1),
    ArrowRight: () => steps.move(1),
    ArrowLeft: () => steps.move(-1),
    Home: steps.first,
    End: steps.last,
    b: () => document.documentElement.toggleAttribute("data-blank"),
  });
  document.addEventListener("keydown", (event) => {
    const there = /** @type {HTMLElement} */ (event.target);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (document.documentElement.dataset.view !== "projector" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (there.closest("textarea, select, input[type='text'], input[type='range']:focus") || !(key in keys)) return;
    event.preventDefault();
    keys[key]();
  });
}
