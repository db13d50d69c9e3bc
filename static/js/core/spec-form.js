// The form of a spec: reads what is changed, fills in what the server answers, and says what is wrong beside each field.

import { show } from "./bind.js";

/** Milliseconds after the last key in a text field before it is read. */
const PAUSE = 350;
/** Milliseconds that a slider rests before the server is asked for what is shown already. */
const REST = 200;

/**
 * @typedef {object} Given
 * @property {string} id    what the widget's own ids begin with
 * @property {(start: boolean) => number} step    the step that a changed spec is shown at
 * @property {(go: () => void, ms: number) => void} soon    unless something else is asked for before
 * @property {(query: string, fill: boolean, asked?: {visit: string}) => void} load
 * @property {(field: HTMLInputElement) => boolean} [glimpse]    show what a field's new value gives at once, where that is known
 */

export class SpecForm {
  /** Whether something was changed that may leave fewer steps than the one shown. */
  restart = false;
  /** The visit of a field that the latest input was part of. */
  #visit = "";
  #visits = 0;

  /** @param {HTMLFormElement} form @param {Given} given */
  constructor(form, { id, step, soon, load, glimpse = () => false }) {
    this.form = form;
    this.id = id;
    this.step = step;
    this.soon = soon;
    this.load = load;
    this.glimpse = glimpse;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("focusout", () => (this.#visits += 1));
    form.addEventListener("input", (event) => this.#input(/** @type {HTMLInputElement} */ (event.target)));
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(/** @type {HTMLElement} */ (event.target).matches('input[type="text"]'))) return;
      event.preventDefault();
      this.fromTheStart();
    });
  }

  /** What the page shows besides a spec and a step, such as a second run. */
  extras() {
    const fields = /** @type {NodeListOf<HTMLSelectElement>} */ (this.form.querySelectorAll("[data-extra]"));
    return new URLSearchParams([...fields].filter(({ value }) => value).map(({ name, value }) => [name, value]));
  }

  fromTheStart() {
    this.restart = true;
    this.change();
  }

  change() {
    const given = new URLSearchParams();
    for (const [name, value] of new FormData(this.form)) if (name !== "step") given.set(name, String(value));
    given.set("step", String(this.step(this.restart)));
    this.load(`?${given}`, false, { visit: this.#visit });
  }

  /** A preset, with what the page shows besides. @param {HTMLAnchorElement} link */
  follow(link) {
    const given = new URLSearchParams(new URL(link.href).search);
    for (const [name, value] of this.extras()) given.set(name, value);
    this.load(`?${given}`, true);
  }

  /** Bring it into view, where what changes would be out of sight. */
  reveal() {
    const { top } = this.form.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.form.scrollIntoView({ block: "start" });
  }

  /** Take the fields' values, and how far their ranges go. @param {HTMLElement} fresh */
  fill(fresh) {
    for (const { name, type, value, min, max, step } of /** @type {NodeListOf<HTMLInputElement>} */ (fresh.querySelectorAll("[data-field] [name]"))) {
      const field = /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name));
      if (type === "range") Object.assign(field, { min, max, step });
      field.value = value;
    }
  }

  /** Say beside each range what the server has read. @param {HTMLElement} fresh */
  amounts(fresh) {
    for (const said of this.form.querySelectorAll("[data-field] output[for]")) {
      const { field } = /** @type {HTMLElement} */ (said.closest("[data-field]")).dataset;
      said.textContent = fresh.querySelector(`[data-field="${field}"] output[for]`)?.textContent ?? "";
    }
  }

  /** What is wrong with a field, or what it was read as. @param {Document} page */
  faults(page) {
    for (const field of /** @type {NodeListOf<HTMLElement>} */ (this.form.querySelectorAll("[data-field]"))) {
      const own = `${this.id}-${field.dataset.field}`;
      const input = /** @type {HTMLElement} */ (field.querySelector("[name]"));
      field.querySelector('[data-part="error"]')?.remove();
      const told = page.querySelector(`[data-part="error"][data-for="${field.dataset.field}"]`);
      const read = field.querySelector('[data-part="read"]');
      const said = page.querySelector(`[data-field="${field.dataset.field}"] [data-part="read"]`)?.textContent ?? "";
      if (read && read.textContent !== said) read.textContent = said;
      input.toggleAttribute("aria-invalid", Boolean(told));
      if (told) input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", [`${own}-help`, ...(read ? [read.id] : []), ...(told ? [`${own}-error`] : [])].join(" "));
      if (!told) continue;
      told.id = `${own}-error`;
      told.setAttribute("role", "alert");
      input.after(document.adoptNode(told));
      field.closest("details")?.setAttribute("open", "");
    }
  }

  /** @param {HTMLInputElement} field */
  #input(field) {
    if (!field.name || field.name === "step") return;
    const typed = field.matches('textarea, input[type="text"]');
    const amount = field.type === "range" && /** @type {HTMLElement | null} */ (this.form.querySelector(`output[for="${field.id}"]`));
    if (amount) amount.textContent = ("signed" in amount.dataset && Number(field.value) >= 0 ? "+" : "") + show(field.value);
    this.#visit = `${field.name} ${this.#visits}`;
    this.restart ||= typed || Boolean(field.closest("[data-restarts]"));
    // what says the same in another way gives way to what is typed
    const clears = field.value && /** @type {HTMLElement | null} */ (field.closest("[data-clears]"))?.dataset.clears;
    for (const name of clears ? clears.split(" ") : []) /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name)).value = "";
    this.soon(() => this.change(), typed ? PAUSE : this.glimpse(field) ? REST : 0);
  }
}
