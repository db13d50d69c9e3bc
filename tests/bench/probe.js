// Watches the widget of a page from within: when a click's handler ran, when the numbers that it changed were on the
// screen, when a bar first moved. Loaded before the page's own scripts; times are those of performance.now().

(() => {
  const SETTLED = 5000; // milliseconds after which what has not moved will not
  let skipped = 0; // milliseconds by which the clock of animations has been put on
  const now = Date.now.bind(Date);
  Date.now = () => now() + skipped; // what Plotly's animations go by; the widget and this probe go by performance.now()
  let rendering = false; // whether callbacks of a frame are running: what they change is on the screen with that very frame
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (go) =>
    frame((time) => {
      if (!rendering) soon(() => (rendering = false));
      rendering = true;
      go(time);
    });

  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  /** Run as the next task, before timers that are due. */
  function soon(go) {
    if (window.scheduler?.postTask) {
      scheduler.postTask(go, { priority: "user-blocking" });
      return;
    }
    waiting.push(go);
    port2.postMessage(0);
  }
  /** Run after the frame that shows what is on the page now. */
  function shown(go) {
    if (rendering) soon(go);
    else frame(() => soon(go));
  }

  /** @type {{at: number, began: number, handler?: number, numbers?: number, bars?: number} | undefined} */
  let click;
  let noted = { numbers: false, bars: false };
  let settle = () => {};
  const button = (name) => document.querySelector(`[data-action="${name}"]`);
  const watched = (event) => event.target.closest?.('[data-action="next"], [data-action="reset"]');
  window.addEventListener("click", (event) => {
    if (!watched(event)) return;
    click = { at: event.timeStamp, began: performance.now() };
    noted = { numbers: false, bars: false };
  }, true);
  window.addEventListener("click", (event) => {
    if (watched(event) && event.defaultPrevented) click.handler = performance.now() - click.began;
  });

  function note(name) {
    if (!click || noted[name]) return;
    noted[name] = true;
    const mine = click;
    shown(() => {
      mine[name] = performance.now();
      first[name] ??= mine[name];
      if (mine.numbers && mine.bars) settle();
    });
  }

  function moved({ type, target, attributeName, oldValue }) {
    if (type === "attributes") {
      const value = target.getAttribute(attributeName);
      if (attributeName === "style") return value !== oldValue && target.closest("[data-plot] .bars");
      return value !== oldValue && target.matches("rect[data-key]") && !target.closest("[data-plotted]");
    }
    return false;
  }

  /** When things first happened on this page: seen (all of it, the button too), ready (the script has taken over), numbers, bars. */
  const first = {};
  let whenReady;
  let whenSeen;
  const ready = new Promise((resolve) => (whenReady = resolve));
  const seen = new Promise((resolve) => (whenSeen = resolve));

  function watch() {
    const root = document.querySelector("[data-widget]");
    new MutationObserver((changes) => {
      if (root.dataset.ready && !first.ready) {
        first.ready = performance.now();
        whenReady();
      }
      for (const change of changes) {
        if (change.type === "childList" && change.target.matches("data[data-value]")) note("numbers");
        else if (!noted.bars && moved(change)) note("bars");
      }
    }).observe(root, { subtree: true, childList: true, attributes: true, attributeOldValue: true, attributeFilter: ["style", "y", "height", "data-role", "data-ready"] });
    const see = (time) => {
      first.seen = time;
      whenSeen();
    };
    if (first.paint) shown(() => see(performance.now()));
    else painted.then(see);
  }
  const painted = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [paint] = list.getEntriesByName("first-contentful-paint");
      if (!paint) return;
      first.paint = paint.startTime;
      resolve(paint.startTime);
    }).observe({ type: "paint", buffered: true });
  });
  document.addEventListener("readystatechange", () => document.readyState === "interactive" && watch());

  /** What is told to the next page, should a press lead there as a plain form: this page's beginning and what was first on it. */
  const before = window.name.startsWith("{") ? JSON.parse(window.name) : undefined;
  const AGAIN = 1500; // milliseconds after which a press that nothing came of is made again
  function press() {
    if (first.numbers) return;
    first.pressed = performance.now();
    window.name = JSON.stringify({ origin: performance.timeOrigin, ...first });
    button("next").click();
    setTimeout(press, AGAIN);
  }

  window.bench = {
    /** Press the button from within as soon as it can be seen, or also the script is "ready": no line to the outside delays that. */
    press: (when) => void Promise.all(when === "ready" ? [seen, ready] : [seen]).then(press),
    /** When a first press has shown its numbers and its bar, in milliseconds since the first page began; null: not yet. */
    worked: () => {
      const since = before ? performance.timeOrigin - before.origin : 0;
      const [numbers, bars] = before ? [first.seen, first.seen] : [first.numbers, first.bars];
      return numbers && bars ? { ...(before ?? first), native: Boolean(before), numbers: since + numbers, bars: since + bars } : null;
    },
    /** The middle of the button. */
    button: () => {
      const box = button("next").getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    },
    /** At the end of a run, go back to its start. */
    startAgain: async () => {
      if (button("next").getAttribute("aria-disabled") !== "true") return;
      button("reset").click();
      await settled();
    },
    settled,
  };

  /** What came of the last click, when all that it changes has changed: milliseconds in the handler, and from the click on. */
  function settled() {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        settle = () => {};
        skipped += 1000; // the animation that has begun ends with its next frame, so that the next click needs not wait for it
        const since = (time) => (time === undefined ? null : time - click.at);
        resolve(click ? { handler: click.handler ?? null, numbers: since(click.numbers), bars: since(click.bars) } : null);
      };
      const timer = setTimeout(end, SETTLED);
      settle = end;
      if (click?.numbers && click?.bars) end();
    });
  }
})();
