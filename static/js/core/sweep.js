// Dragging a slider: the states at all its positions come with one question, so that every frame of the drag shows one of them.

import { Chart } from "./chart.js";
import { fetchJson } from "./run.js";

/** @typedef {import("./run.js").Snapshot} Snapshot */
/** @typedef {{field: string, values: number[], snapshots: Snapshot[], turn: {at?: number, said?: string}, charts: Record<string, import("./chart.js").Told>}} Swept */

export class Sweep {
  /** The question whose answer is here, or on its way. */
  #asked = "";
  /** @type {Swept | undefined} */
  #found;
  /** @type {Map<string, Chart>} */
  #charts = new Map();

  /**
   * @param {HTMLFormElement} form
   * @param {object} given
   * @param {() => string} given.address    where they are had for what is shown now, without the slider's own field
   * @param {(snapshot: Snapshot, charts: Map<string, Chart>) => void} given.show
   * @param {(url: string) => Promise<Swept>} [given.get]
   */
  constructor(form, { address, show, get = fetchJson }) {
    this.address = address;
    this.show = show;
    this.get = get;
    this.form = form;
    for (const kind of ["pointerdown", "focusin", "pointerover"]) form.addEventListener(kind, (event) => this.#swept(event.target) && this.ask());
  }

  /** Ask for them, so that they are there when the hand moves. Where they do not come, each position is asked for by itself, as ever. */
  async ask() {
    const address = this.address();
    if (address === this.#asked) return;
    [this.#asked, this.#found] = [address, undefined];
    try {
      const found = await this.get(address);
      if (address !== this.#asked || !found.snapshots?.length) return;
      this.#charts = new Map(Object.entries(found.charts).map(([name, told]) => [name, new Chart(name, told)]));
      this.#found = found;
      this.#mark(found.turn ?? {});
    } catch {
      this.#asked = "";
    }
  }

  /** Show the state at a slider's position at once; whether it is here. @param {HTMLInputElement} field */
  glimpse(field) {
    const found = this.#found;
    const at = this.#swept(field) && found && this.address() === this.#asked ? found.values.indexOf(Number(field.value)) : -1;
    if (!found || at < 0) return false;
    this.show(found.snapshots[at], this.#charts);
    return true;
  }

  /** A mark on the slider where what it shows turns into something else, and the sentence for it. @param {Swept["turn"]} turn */
  #mark({ at, said = "" }) {
    const slider = /** @type {HTMLInputElement} */ (this.form.querySelector("input[data-sweep]"));
    const list = document.getElementById(`${slider.id}-turns`);
    const words = slider.closest("[data-field]")?.querySelector('[data-part="turn"]');
    list?.replaceChildren(...(at === undefined ? [] : [Object.assign(document.createElement("option"), { value: String(at) })]));
    if (words) words.textContent = said;
  }

  /** @param {EventTarget | null} target */
  #swept(target) {
    return /** @type {Element} */ (target).matches("input[type='range'][data-sweep]");
  }
}
