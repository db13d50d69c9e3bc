// The buttons of the embedding guide: a host page in small.

/** @typedef {HTMLElement & {getState: () => Promise<any>, setState: (state: any) => Promise<any>, step: (by: number) => void}} Driven */

const element = /** @type {Driven} */ (document.querySelector("tilewise-widget"));
const told = /** @type {HTMLElement} */ (document.querySelector('[data-part="told"]'));
const actions = /** @type {Record<string, () => unknown>} */ ({
  back: () => element.step(-1),
  next: () => element.step(1),
  state: () => element.getState().then((state) => say("getState()", state), refused),
  other: () => element.setState({ query: "scores=2,7,1", step: 2 }).then((state) => say("setState(…)", state), refused),
  past: () => element.setState({ step: 99 }).then((state) => say("setState(…)", state), refused),
});

/** @param {string} what @param {any} state */
function say(what, { step, steps, caption }) {
  told.textContent = `${what}: ${JSON.stringify({ step, steps, caption }, null, 1)}`;
}

/** @param {Error} error */
function refused(error) {
  told.textContent = `${error}`;
}

element.addEventListener("step", (event) => say("step", /** @type {CustomEvent} */ (event).detail));
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-do]"))) {
  button.addEventListener("click", () => actions[String(button.dataset.do)]());
}
