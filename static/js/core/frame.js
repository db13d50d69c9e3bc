// An embed inside somebody else's page: says how tall it is, answers what the host asks, and tells of each step.
//
// From the host (only from the window that frames this one), after tilewise:ready:
//   {type: "tilewise:getState", id}                 answered by {type: "tilewise:state", id, state}
//   {type: "tilewise:setState", id, state}          state: {step} or {query, step}; answered likewise, or by tilewise:refused
//   {type: "tilewise:step", id, by: 1 | -1}         likewise; at an end it stays there
// To the host: {type: "tilewise:ready"}, or {type: "tilewise:failed", message} where the address is wrong; {type: "tilewise:step", state}
// after each step, {type: "tilewise:height", height}, {type: "tilewise:key", …} where keys=0 leaves keys to the host, and
// {type: "tilewise:refused", id, message} for what fails or is not understood. Nothing private is in them, so they go to any origin.

/** Pixels by which a height must differ to be told again. */
const TOLERANCE = 4;
/** How often a height may go up and down again before it is left at the taller: a host may answer each height with another width. */
const TURNS = 4;

const host = window.parent === window ? undefined : window.parent;
const root = /** @type {HTMLElement | null} */ (document.querySelector("[data-widget]"));
/** What is wrong with this page's address, in the server's words. */
const fault = document.querySelector('[data-part="error"]')?.textContent;
/** What WordPress gives a frame to know it by. */
const secret = new URLSearchParams(location.hash.replace(/^#\?/, "")).get("secret");

/** @param {any} message */
function post(message) {
  host?.postMessage(message, "*");
}

/** Which heights are worth telling: those that differ, and not for ever to and fro. */
export class Heights {
  constructor() {
    this.told = 0;
    this.way = 0;
    this.turns = 0;
  }

  /** @param {number} height @returns {number | undefined} */
  next(height) {
    if (Math.abs(height - this.told) < TOLERANCE) return undefined;
    const way = Math.sign(height - this.told);
    if (this.way && way !== this.way) this.turns += 1;
    else this.turns = Math.max(0, this.turns - 1);
    this.way = way;
    if (this.turns > TURNS && way < 0) return undefined; // the taller of the two stays
    this.told = height;
    return height;
  }
}

const heights = new Heights();
let waiting = 0;
function measure() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    const height = heights.next(Math.ceil(document.body.getBoundingClientRect().height)); // of the content: nothing in it goes by the window's
    if (height === undefined) return;
    post({ type: "tilewise:height", height });
    post(JSON.stringify({ subject: "lti.frameResize", height }));
    if (secret) post({ message: "height", value: height, secret });
  });
}

/** @param {any} snapshot */
function stateOf(snapshot) {
  const { step, steps, done, caption, links } = snapshot;
  const url = links.page && new URL(root?.dataset.base + links.page, location.href).href;
  return { machine: snapshot.machine, spec: snapshot.spec, step, steps, done, caption, url };
}

/**
 * What a host asks, as the widget is asked; in words where it is not understood.
 * @param {any} asked  its message
 * @param {number} first @param {number} last  the steps shown
 * @returns {string | {} | {by: 1 | -1} | {step: number} | {query: URLSearchParams}}
 */
export function understood({ type, by, state }, first, last) {
  if (type === "tilewise:getState") return {};
  if (type === "tilewise:step") return { by: Number(by) < 0 ? -1 : 1 };
  const { step, query } = state ?? {};
  const given = step ?? undefined;
  const whole = /^\d+$/.test(String(given));
  if (type === "tilewise:setState" && typeof query === "string" && (given === undefined || ["string", "number"].includes(typeof given))) {
    const found = new URLSearchParams(query);
    if (given !== undefined) found.set("step", String(given));
    return { query: found };
  }
  if (type === "tilewise:setState" && query === undefined && (typeof given === "number" || typeof given === "string")) {
    if (whole && Number(given) >= first && Number(given) <= last) return { step: Number(given) };
    return `step: '${given}' is not one of the steps shown; give a whole number from ${first} to ${last}.`;
  }
  const shown = type === "tilewise:setState" ? JSON.stringify(state) : type;
  return `${shown} is not understood here; send {step: 3}, or {query: "scores=1,3,2", step: 3}.`;
}

if (host) {
  new ResizeObserver(measure).observe(document.body);
  document.fonts?.ready.then(measure);
  addEventListener("load", measure);
  root?.addEventListener("tilewise:step", (event) => post({ type: "tilewise:step", state: stateOf(/** @type {CustomEvent} */ (event).detail.snapshot) }));
  addEventListener("message", ({ source, data }) => {
    if (source !== host || typeof data?.type !== "string" || !data.type.startsWith("tilewise:")) return;
    const { id } = data;
    const refuse = (/** @type {string} */ message) => post({ type: "tilewise:refused", id, message });
    if (!root?.dataset.ready) {
      refuse(fault ?? "This widget has not started.");
      return;
    }
    const { min, max } = /** @type {HTMLInputElement} */ (root.querySelector('input[name="step"]'));
    const found = understood(data, Number(min), Number(max));
    if (typeof found === "string") {
      refuse(found);
      return;
    }
    const answer = (/** @type {any} */ snapshot) => post({ type: "tilewise:state", id, state: stateOf(snapshot) });
    const tell = () => id === undefined || root.dispatchEvent(new CustomEvent("tilewise:ask", { detail: answer }));
    const settle = (/** @type {string | undefined} */ wrong) => (wrong ? refuse(wrong) : tell());
    if (Object.keys(found).length) root.dispatchEvent(new CustomEvent("tilewise:go", { detail: { ...found, settle } }));
    else tell();
  });
  if (root?.dataset.keys === "0") {
    addEventListener("keydown", (event) => {
      if (event.defaultPrevented || /** @type {HTMLElement} */ (event.target).closest("input, textarea, select, button, a, summary, [role=grid]")) return;
      const { key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey } = event;
      post({ type: "tilewise:key", key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey });
    });
  }
  if (secret) {
    document.addEventListener("click", (event) => {
      const link = /** @type {HTMLElement} */ (event.target).closest?.("a[data-follows]");
      if (link) post({ message: "link", value: /** @type {HTMLAnchorElement} */ (link).href, secret });
    });
  }
  post(fault || !root?.dataset.ready ? { type: "tilewise:failed", message: fault ?? "This widget did not start." } : { type: "tilewise:ready" });
}
