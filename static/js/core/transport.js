// The controls of a step, the same on every widget: Reset, Back, Next, Play, speed, the range, and the keys.

/**
 * @typedef {object} Moves
 * @property {(way: 1 | -1) => void} move    by one phase, or one step
 * @property {(step: number) => void} seek
 * @property {() => void} toggle    play or pause
 */

export class Transport {
  /**
   * @param {HTMLElement} root    the keys work anywhere in it, but for fields and tables
   * @param {import("./player.js").Player} player    says which steps there are
   * @param {Moves} moves
   */
  constructor(root, player, { move, seek, toggle }) {
    const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (root.querySelector(selector));
    this.buttons = Object.fromEntries(["reset", "back", "next", "play"].map((name) => [name, part(`[data-action="${name}"]`)]));
    this.range = /** @type {HTMLInputElement} */ (part('input[name="step"]'));
    this.position = part('[data-part="position"]');
    this.player = player;
    /** What its buttons do. */
    this.actions = { reset: () => seek(player.first), back: () => move(-1), next: () => move(1), play: toggle };
    this.keys = /** @type {Record<string, () => void>} */ ({
      ArrowRight: this.actions.next,
      ArrowLeft: this.actions.back,
      Home: this.actions.reset,
      End: () => seek(player.steps),
      k: toggle,
    });
    this.range.addEventListener("input", () => seek(this.range.valueAsNumber));
    part('[data-action="speed"]').addEventListener("change", (event) => {
      player.speed = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    });
    root.addEventListener("keydown", (event) => this.#key(event, root.dataset.keys === "0"));
  }

  /** @param {number} step @param {number} steps  how many the run has @param {boolean} left  whether phases of this step are to come */
  show(step, steps, left) {
    const { first, steps: last } = this.player;
    [this.range.min, this.range.max] = [String(first), String(last)];
    this.range.value = String(step);
    this.range.setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    this.position.textContent = `${step} of ${steps}`;
    ends(this.buttons.reset, step <= first, first);
    ends(this.buttons.back, step <= first, Math.max(step - 1, first));
    ends(this.buttons.next, step >= last && !left, Math.min(step + 1, last));
  }

  /** @param {boolean} on */
  playing(on) {
    this.buttons.play.textContent = on ? "Pause" : "Play";
  }

  /** @param {KeyboardEvent} event @param {boolean} off */
  #key(event, off) {
    const target = /** @type {HTMLElement} */ (event.target);
    const away = off || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (away || event.defaultPrevented || target.closest("input, textarea, select, [data-part='table']") || !(event.key in this.keys)) return;
    event.preventDefault();
    this.keys[event.key]();
  }
}

/** @param {Element} button @param {boolean} reached @param {number} step */
function ends(button, reached, step) {
  if (reached) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
  button.setAttribute("value", String(step));
}

/** The first and the last step that a page shows of a run, as a player has them. @param {HTMLElement} root @param {number} steps */
export function bounds(root, steps) {
  const { min, max } = /** @type {HTMLInputElement} */ (root.querySelector('input[name="step"]'));
  return { first: Math.min(Number(min), steps), steps: Math.min(Number(max), steps) };
}
