// <tilewise-widget machine="online-softmax" scores="1,3,2,5,4" step="3"><img …></tilewise-widget>
// Every attribute but class, id, style, title, slot, hidden and data-… goes into the embed's address. What is inside is shown until the widget is
// there, and stays where it cannot come. Methods: getState(), setState({step} or {query, step}), step(by). Event: "step", with the state as its detail.
(() => {
  const here = document.currentScript?.src ?? "";
  const base = here.slice(0, here.lastIndexOf("/static/"));
  const OWN = /^(class|id|style|title|slot|hidden|machine|base|data-.*|on.*|aria-.*|role|tabindex|height)$/;
  const FALLBACK = 620;
  let asked = 0;

  class TilewiseWidget extends HTMLElement {
    static observedAttributes = ["step"];

    constructor() {
      super();
      this.waiting = new Map();
      this.hear = (event) => this.heard(event);
      const shadow = this.attachShadow({ mode: "open" });
      this.frame = document.createElement("iframe");
      this.slotted = document.createElement("slot");
      Object.assign(this.frame.style, { border: "0", width: "100%", height: "0", display: "block", colorScheme: "normal" });
      shadow.append(this.slotted, this.frame);
    }

    connectedCallback() {
      this.style.display ||= "block";
      addEventListener("message", this.hear);
      const query = new URLSearchParams();
      for (const { name, value } of this.attributes) if (!OWN.test(name)) query.set(name, value);
      const root = (this.getAttribute("base") ?? base).replace(/\/$/, "");
      this.origin = new URL(root || "/", location.href).origin;
      this.frame.title = this.title || `${this.getAttribute("machine")}, step by step`;
      this.frame.loading = "lazy";
      this.frame.src = `${root}/embed/${encodeURIComponent(this.getAttribute("machine") ?? "")}?${query}`;
      // a frame of no height is never near enough for a browser to load it lazily
      this.frame.style.height = "1px";
    }

    disconnectedCallback() {
      removeEventListener("message", this.hear);
    }

    attributeChangedCallback(name, old, value) {
      if (this.ready && old !== null && value !== null && old !== value) this.setState({ step: Number(value) });
    }

    heard({ source, origin, data }) {
      if (source !== this.frame.contentWindow || origin !== this.origin || typeof data?.type !== "string") return;
      const kind = data.type.replace("tilewise:", "");
      if (kind === "ready" && !this.ready) {
        this.ready = true;
        this.slotted.style.display = "none";
        this.frame.style.height = `${Number(this.getAttribute("height")) || FALLBACK}px`;
      } else if (kind === "height" && Number.isFinite(data.height)) {
        this.frame.style.height = `${Math.min(Math.max(data.height, 60), 20000)}px`;
      } else if (kind === "step") {
        this.dispatchEvent(new CustomEvent("step", { detail: data.state, bubbles: true }));
      } else if (kind === "key") {
        const { key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey } = data;
        this.dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, which: keyCode, shiftKey, ctrlKey, altKey, metaKey, bubbles: true, cancelable: true }));
      } else if (this.waiting.has(data.id)) {
        const { done, fail } = this.waiting.get(data.id);
        this.waiting.delete(data.id);
        if (kind === "refused") fail(new Error(data.message));
        else done(data.state);
      }
    }

    ask(message) {
      const id = `${(asked += 1)}`;
      return new Promise((done, fail) => {
        this.waiting.set(id, { done, fail });
        this.frame.contentWindow?.postMessage({ ...message, id }, this.origin);
      });
    }

    getState() {
      return this.ask({ type: "tilewise:getState" });
    }

    setState(state) {
      return this.ask({ type: "tilewise:setState", state });
    }

    step(by = 1) {
      this.frame.contentWindow?.postMessage({ type: "tilewise:step", by }, this.origin);
    }
  }

  if (!customElements.get("tilewise-widget")) customElements.define("tilewise-widget", TilewiseWidget);
})();
