// <tilewise-widget machine="online-softmax" scores="1,3,2,5,4" step="3"><img …></tilewise-widget>
// Every attribute but class, id, style, title, slot, hidden, height and data-… goes into the embed's address, and may change later. What is inside
// is shown until the widget is there, and stays where it cannot come. getState(), setState({step} or {query, step}) and step(by) promise the state,
// or fail with an Error that says why. Events: "step", with the state as its detail, and "error", with the words as its message.
(() => {
  const here = document.currentScript?.src ?? "";
  const site = here.slice(0, here.lastIndexOf("/static/"));
  const OWN = /^(class|id|style|title|slot|hidden|machine|base|data-.*|on.*|aria-.*|role|tabindex|height)$/;
  /** What a frame goes on saying whatever its state. */
  const OPTION = /^(theme|controls|hide|keys|lang|caption|autoplay|from|to)$/;
  const FALLBACK = 620;
  /** Milliseconds that an answer may take (a widget waits 15 s for its server), and that a loaded page may keep silent. */
  const ANSWER = 20000;
  const SILENT = 2000;
  let asked = 0;

  class TilewiseWidget extends HTMLElement {
    constructor() {
      super();
      this.waiting = new Map();
      this.shown = "";
      this.hear = (event) => this.heard(event);
      this.words = document.createElement("p");
      this.words.setAttribute("role", "alert");
      this.slotted = document.createElement("slot");
      this.attachShadow({ mode: "open" }).append(this.words, this.slotted);
      this.say("");
      this.watch = new MutationObserver((changes) => this.changed(changes));
      this.watch.observe(this, { attributes: true, attributeOldValue: true });
    }

    connectedCallback() {
      this.style.display ||= "block";
      this.watch.takeRecords(); // of before: all attributes are read now
      addEventListener("message", this.hear);
      this.load();
    }

    connectedMoveCallback() {} // moveBefore() leaves the frame running

    disconnectedCallback() {
      removeEventListener("message", this.hear);
      queueMicrotask(() => this.isConnected || this.drop("The widget was taken out of its page.", true));
    }

    /** A frame for the attributes, or for the last state told where there is one. */
    load() {
      this.drop("The frame got another document.");
      this.ready = this.spoken = false;
      this.failed = "";
      this.say("");
      const root = (this.getAttribute("base") ?? site).replace(/\/$/, "");
      this.origin = new URL(root || "/", location.href).origin;
      const query = this.query((name) => !this.shown || OPTION.test(name));
      for (const [name, value] of new URLSearchParams(this.shown)) query.set(name, value);
      const frame = document.createElement("iframe");
      // a frame of no height is never near enough for a browser to load it lazily
      Object.assign(frame.style, { border: "0", width: "100%", height: this.frame?.style.height || "1px", display: "block", colorScheme: "normal" });
      frame.title = this.title || `${this.getAttribute("machine")}, step by step`;
      frame.loading = "lazy";
      frame.src = `${root}/embed/${encodeURIComponent(this.getAttribute("machine") ?? "")}?${query}`;
      frame.addEventListener("load", () =>
        setTimeout(() => {
          if (frame !== this.frame) return;
          if (!this.spoken) this.fail(`No widget answers from ${frame.src}`, !this.innerHTML.trim());
          this.spoken = false; // the next document has to speak for itself
        }, SILENT),
      );
      this.frame?.remove();
      this.shadowRoot.append(frame);
      this.frame = frame;
    }

    /** @param {(name: string) => boolean} wanted */
    query(wanted) {
      const found = new URLSearchParams();
      for (const { name, value } of this.attributes) if (!OWN.test(name) && wanted(name)) found.set(name, value);
      return found;
    }

    changed(changes) {
      const names = changes.filter((one) => this.getAttribute(one.attributeName) !== one.oldValue).map((one) => one.attributeName);
      const told = names.filter((name) => /^(machine|base)$/.test(name) || !OWN.test(name));
      if (told.some((name) => name !== "step" && !OPTION.test(name))) this.shown = "";
      if (!told.length || !this.isConnected) return;
      if (!this.ready || told.some((name) => OWN.test(name) || OPTION.test(name))) {
        if (told.includes("step")) this.shown = "";
        this.load();
        return;
      }
      const step = this.getAttribute("step");
      const mine = (this.latest = told.some((name) => name !== "step") || step === null ? { query: `${this.query((name) => !OPTION.test(name))}` } : { step });
      this.setState(mine).then(
        () => mine === this.latest && this.say(""),
        (error) => mine === this.latest && this.tell(error.message, true),
      );
    }

    heard({ source, origin, data }) {
      if (source !== this.frame?.contentWindow || origin !== this.origin || typeof data?.type !== "string") return;
      const kind = data.type.replace("tilewise:", "");
      if (data.state) this.shown = data.state.url?.split("?")[1] ?? this.shown;
      if (kind === "ready") {
        this.drop("The frame got another document.");
        this.spoken = this.ready = true;
        this.failed = "";
        this.say("");
        this.slotted.style.display = "none";
        if (this.frame.style.height === "1px") this.frame.style.height = `${Number(this.getAttribute("height")) || FALLBACK}px`;
        for (const one of [...this.waiting.values()]) this.send(one);
      } else if (kind === "failed") {
        this.spoken = true;
        this.fail(data.message, true);
      } else if (kind === "height" && this.ready && Number.isFinite(data.height)) {
        this.frame.style.height = `${Math.min(Math.max(data.height, 60), 20000)}px`;
      } else if (kind === "step") {
        this.dispatchEvent(new CustomEvent("step", { detail: data.state, bubbles: true }));
      } else if (kind === "key") {
        const { key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey } = data;
        this.dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, which: keyCode, shiftKey, ctrlKey, altKey, metaKey, bubbles: true, cancelable: true }));
      } else if (kind === "state") {
        this.settle(data.id, "done", data.state);
      } else if (kind === "refused") {
        this.settle(data.id, "fail", new Error(data.message));
      }
    }

    /** Words where the widget is; none: nothing. */
    say(words) {
      this.words.textContent = words;
      Object.assign(this.words.style, { display: words ? "block" : "none", borderLeft: "4px solid #c33", paddingLeft: ".6em" });
    }

    tell(words, shown) {
      console.warn(`<tilewise-widget machine="${this.getAttribute("machine")}">: ${words}`);
      if (shown) this.say(words);
      this.dispatchEvent(new ErrorEvent("error", { message: words }));
    }

    /** The frame has no widget in it: what is inside the element comes back. */
    fail(words, shown) {
      this.ready = false;
      this.failed = words;
      this.frame.style.height = "1px";
      this.slotted.style.display = "";
      this.drop(words, true);
      this.tell(words, shown);
    }

    /** Fails what has been sent, or all that waits. */
    drop(words, all) {
      for (const [id, { timer }] of [...this.waiting]) if (all || timer) this.settle(id, "fail", new Error(words));
    }

    settle(id, how, what) {
      const one = this.waiting.get(id);
      this.waiting.delete(id);
      clearTimeout(one?.timer);
      one?.[how](what);
    }

    send(one) {
      const { id } = one.message;
      one.timer = setTimeout(() => this.settle(id, "fail", new Error("The widget does not answer.")), ANSWER);
      try {
        this.frame.contentWindow.postMessage(one.message, this.origin);
      } catch (error) {
        this.settle(id, "fail", error);
      }
    }

    ask(message) {
      return new Promise((done, fail) => {
        if (!this.isConnected || this.failed) throw new Error(this.failed || "The widget is not in a page.");
        const id = `${(asked += 1)}`;
        const one = { message: { ...message, id }, done, fail };
        this.waiting.set(id, one);
        if (this.ready) this.send(one);
      });
    }

    getState() {
      return this.ask({ type: "tilewise:getState" });
    }

    setState(state) {
      return this.ask({ type: "tilewise:setState", state });
    }

    step(by = 1) {
      const found = this.ask({ type: "tilewise:step", by });
      found.catch(() => {}); // a deck that does not wait for it is not told
      return found;
    }
  }

  if (!customElements.get("tilewise-widget")) customElements.define("tilewise-widget", TilewiseWidget);
})();
