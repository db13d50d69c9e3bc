// An embed inside somebody else's page: says how tall it is, answers what the host asks, and tells of each step.
//
// From the host (only from the window that frames this one):
//   {type: "tilewise:getState", id}                 answered by {type: "tilewise:state", id, state}
//   {type: "tilewise:setState", id, state}          state: {step} or {query, step}; answered likewise, or by tilewise:refused
//   {type: "tilewise:step", by: 1 | -1}
// To the host: {type: "tilewise:step", state} after each step, {type: "tilewise:height", height}, {type: "tilewise:key", …}
// where keys=0 leaves keys to the host. Nothing private is in them, so they go to any origin.

/** Pixels by which a height must differ to be told again. */
const TOLERANCE = 4;
/** How often a height may go up and down again before it is left at the taller: a host may answer each height with another width. */
const TURNS = 4;

const host = window.parent === window ? undefined : window.parent;
const root = /** @type {HTMLElement} */ (document.querySelector("[data-widget]"));
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
  const url = links.page && new URL(root.dataset.base + links.page, location.href).href;
  return { machine: snapshot.machine, spec: snapshot.spec, step, steps, done, caption, url };
}

/** @param {string} type @param {any} id */
function answer(type, id) {
  root.dispatchEvent(new CustomEvent("tilewise:ask", { detail: (/** @type {any} */ snapshot) => post({ type, id, state: stateOf(snapshot) }) }));
}

if (host && root) {
  new ResizeObserver(measure).observe(document.body);
  document.fonts?.ready.then(measure);
  addEventListener("load", measure);
  root.addEventListener("tilewise:step", (event) => post({ type: "tilewise:step", state: stateOf(/** @type {CustomEvent} */ (event).detail.snapshot) }));
  /** Whoever waits for a spec that is on its way. @type {any} */
  let asked;
  root.addEventListener("tilewise:step", () => {
    if (asked === undefined) return;
    answer("tilewise:state", asked);
    asked = undefined;
  });
  root.addEventListener("tilewise:refused", (event) => {
    post({ type: "tilewise:refused", id: asked, message: /** @type {CustomEvent} */ (event).detail.message });
    asked = undefined;
  });
  addEventListener("message", ({ source, data }) => {
    if (source !== host || typeof data?.type !== "string") return;
    const go = (/** @type {any} */ detail) => root.dispatchEvent(new CustomEvent("tilewise:go", { detail }));
    if (data.type === "tilewise:getState") answer("tilewise:state", data.id);
    else if (data.type === "tilewise:step") go({ by: Number(data.by) < 0 ? -1 : 1 });
    else if (data.type === "tilewise:setState" && typeof data.state?.query === "string") {
      asked = data.id ?? null;
      const query = new URLSearchParams(data.state.query);
      if (data.state.step !== undefined) query.set("step", String(data.state.step));
      go({ query });
    } else if (data.type === "tilewise:setState" && Number.isFinite(Number(data.state?.step))) {
      go({ step: Number(data.state.step) });
      answer("tilewise:state", data.id);
    }
  });
  if (root.dataset.keys === "0") {
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
  post({ type: "tilewise:ready" });
}
