// What every widget does alike: transport, keys, the spoken line, the address, the form. A widget brings its charts.

import { bind, show } from "./bind.js";
import { gestures, presenting } from "./gestures.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { LATER, Run, fetchPage, options, passes, reason, words } from "./run.js";

/** Milliseconds after the last key in a text field before it is read. */
const PAUSE = 350;
/** Milliseconds after which it is fetched without an idle moment, which a throttled frame may never have. */
const LATEST = 2000;
/** Changed specs that may be on their way at once. */
const FLYING = 3;
/** Milliseconds that a changed spec is waited for. */
const WAIT = 15000;
/** What is said to whoever asked for a state when another one came first. */
const OVERTAKEN = "another state was asked for before this one came";
/** Milliseconds without input before the heavy chart library may be fetched and started. */
const QUIET = 700;

/**
 * @typedef {import("./run.js").Snapshot} Snapshot
 * @typedef {(fault?: string) => void} Settle    told once what was asked for is shown, or in words why it is not
 * @typedef {{visit?: string, away?: boolean, tried?: number, settle?: Settle}} Asked    of a changed spec: the visit of a field that it is part of; whether it was Back or Forward; how often it has failed; whom to tell
 * @typedef {object} View
 * @property {(root: HTMLElement, snapshot: Snapshot, frame: any) => void} draw    at once, into the server's picture
 * @property {() => Promise<{draw: (root: HTMLElement, snapshot: Snapshot, frame: any, still: boolean) => void}>} [plots]
 * @property {(snapshot: Snapshot, phase: number) => Snapshot} [at]    what a step shows when only its first phases are done
 * @property {(root: HTMLElement, now: () => {snapshot: Snapshot, frame: any}) => void | (() => void)} [listen]    a widget's own events; may give back what to do after each step
 */

/**
 * Take over a widget that the server has drawn.
 * @param {HTMLElement} root
 * @param {View} view
 */
export function mount(root, view) {
  const form = /** @type {HTMLFormElement} */ (root.querySelector("form"));
  const base = String(root.dataset.base);
  /** @template {Element} [T=HTMLElement] @param {string} selector @returns {T} */
  const part = (selector) => /** @type {T} */ (root.querySelector(selector));
  const range = part(/** @type {any} */ ('input[name="step"]'));
  const buttons = Object.fromEntries(["reset", "back", "next", "play"].map((name) => [name, part(`[data-action="${name}"]`)]));
  const kind = location.pathname.includes("/embed/") ? "embed" : "page";
  const kept = new URLSearchParams([...new URLSearchParams(location.search)].filter(([name]) => options().includes(name)));
  const guests = document.querySelectorAll("[data-widget]:not([data-guest])").length; // not those that a lesson has let in
  const owns = root.dataset.guest === undefined && guests === 1; // the address belongs to a widget that is alone on its page

  let { run, frame, beside } = loaded(root, base);
  const stage = new Stage(root);
  const player = new Player(run.steps, Number(/** @type {HTMLInputElement} */ (range).value));
  const { first, last } = bounds(root, run.steps);
  [player.first, player.steps] = [first, last];
  /** @type {{draw: (root: HTMLElement, snapshot: Snapshot, frame: any, still: boolean) => void} | undefined} */
  let plots;
  let touched = 0;
  let painted = run.get(player.step);
  stage.take(frame.charts, painted);

  // Slowly: how many phases of the shown step are done, where the reader takes them one by one; undefined: all.
  let slow = false;
  /** @type {number | undefined} */
  let phase;
  const asSeen = (/** @type {Snapshot} */ snapshot) => (phase === undefined || !view.at ? snapshot : view.at(snapshot, phase));
  const phasesOf = (/** @type {Snapshot | undefined} */ snapshot) => (slow && view.at && snapshot?.event.phases) || [];
  const phases = () => phasesOf(painted);
  let after = () => {};
  /** A step on its way that somebody else asked for, and how they are told. @type {{step: number, settle: Settle} | undefined} */
  let expected;
  /** @param {string} [fault] */
  function settled(fault) {
    const done = expected?.settle;
    expected = undefined;
    done?.(fault);
  }

  /** @param {Snapshot} snapshot @param {"user" | "play" | "spec"} why */
  function paint(snapshot, why) {
    painted = snapshot;
    player.held = false;
    const seen = asSeen(snapshot);
    bind(root, seen);
    transport(snapshot);
    stage.show(seen, { forward: why !== "spec", rate: player.speed, phase, before: phase === undefined ? undefined : run.get(snapshot.step - 1) });
    view.draw(root, seen, frame);
    after();
    tell("step", { snapshot: seen, why });
    if (expected) settled(snapshot.step === expected.step ? undefined : OVERTAKEN);
    paintBeside(snapshot.step);
    if (why === "user") part('[data-part="live"]').textContent = phase === undefined ? snapshot.spoken : seen.caption;
    setTimeout(() => {
      if (painted !== snapshot) return;
      address(snapshot);
      if (sharing?.open) shareSoon();
      plots?.draw(root, seen, frame, matchMedia("(prefers-reduced-motion: reduce)").matches);
      run.prefetch(snapshot.step);
    });
  }

  /** To whoever listens: a lesson, or the frame that a host page speaks to. @param {string} what @param {any} detail */
  function tell(what, detail) {
    root.dispatchEvent(new CustomEvent(`tilewise:${what}`, { detail, bubbles: true }));
  }

  /** @param {number} step */
  function paintBeside(step) {
    const other = /** @type {HTMLElement | null} */ (root.querySelector("[data-beside]"));
    if (!other || !beside) return;
    const asked = beside;
    asked.run.want(asked.steps[step]).then((/** @type {Snapshot} */ shot) => painted?.step === step && asked === beside && bind(other, shot), () => {});
  }

  /** @param {Snapshot} snapshot */
  function transport(snapshot) {
    const { step, steps } = snapshot;
    const input = /** @type {HTMLInputElement} */ (range);
    [input.min, input.max] = [String(player.first), String(player.steps)];
    input.value = String(step);
    input.setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    part('[data-part="position"]').textContent = `${step} of ${steps}`;
    ends(buttons.reset, step <= player.first, player.first);
    ends(buttons.back, step <= player.first, Math.max(step - 1, player.first));
    ends(buttons.next, step >= player.steps && (phase === undefined || phase + 1 >= phases().length), Math.min(step + 1, player.steps));
    const link = `${base}${snapshot.links.page}${extras().size ? `&${extras()}` : ""}`;
    part('[data-action="share"]').setAttribute("href", link);
    part('[data-action="projector"]').setAttribute("href", `${link}&view=projector`);
    part('[data-part="shared"]').textContent = "";
    if (owns) for (const link of document.querySelectorAll("a[data-follows]")) link.setAttribute("href", `${base}${snapshot.links.page}`);
  }

  /** What the page shows besides a spec and a step, such as a second run. */
  function extras() {
    const more = new URLSearchParams();
    for (const field of /** @type {NodeListOf<HTMLSelectElement>} */ (form.querySelectorAll("[data-extra]"))) if (field.value) more.set(field.name, field.value);
    return more;
  }

  // A changed spec is an entry of its own in the browser's history, and all that one visit of a field changes is one; a step is none.
  /** @type {"same" | "new"} */
  let entry = "same";
  /** The visit that the newest entry is of. */
  let entered = "";
  let visits = 0;
  let shownAt = location.search;
  const opened = painted?.links.page.split("?")[1];
  const specOf = (/** @type {Snapshot | undefined} */ snapshot) => snapshot?.links.page.replace(/[?&]step=\d+$/, "");
  /** Back or forward, and not to a place on this page. */
  function travel() {
    if (location.search === shownAt) return;
    shownAt = location.search;
    entered = "";
    entry = "same";
    taken = sent + 1; // what is on its way belongs to the entry that was left
    load(location.search || `?${opened}`, true, { away: true });
  }
  if (owns && kind === "page") {
    addEventListener("popstate", travel);
    form.addEventListener("focusout", () => (visits += 1));
  }

  /** @param {Snapshot} snapshot */
  function address(snapshot) {
    if (!owns) return;
    const more = new URLSearchParams([...kept, ...extras()]);
    const extra = more.size ? `&${more}` : "";
    const write = entry === "new" && kind === "page" ? "pushState" : "replaceState";
    entry = "same";
    try {
      history[write](null, "", `${base}${snapshot.links[kind]}${extra}`);
      shownAt = location.search;
    } catch {
      // Safari allows a hundred changes in half a minute, and a sandboxed frame may allow none: the page goes on
    }
  }

  // Sharing: the server says what there is to paste for the step shown; asked for when the box is opened, and again after a step.
  const sharing = /** @type {HTMLDetailsElement | null} */ (root.querySelector('[data-part="sharing"]'));
  const code = /** @type {HTMLImageElement | null} */ (root.querySelector('[data-part="qr"]'));
  let shared = "";
  let rest = 0;
  function share() {
    if (!painted || kind === "embed") return;
    const query = `${painted.links.page.split("?")[1]}${extras().size ? `&${extras()}` : ""}`;
    const address = `${base}share/${root.dataset.widget}?${query}`;
    sharing?.querySelector("[data-part='sharing-link'] a")?.setAttribute("href", address);
    if (code) code.src = `${base}figures/${root.dataset.widget}.qr.svg?${query}`;
    if (!sharing?.open || shared === address) return;
    shared = address;
    fetchPage(address, AbortSignal.timeout(WAIT)).then(({ ok, page }) => {
      const found = page.querySelector('[data-part="snippets"]');
      if (!ok || !found || shared !== address || !sharing) return;
      sharing.querySelector('[data-part="snippets"]')?.remove();
      sharing.querySelector('[data-part="sharing-link"]')?.setAttribute("hidden", "");
      sharing.append(own(found, "w"));
      for (const button of sharing.querySelectorAll("[data-copy]")) button.removeAttribute("hidden");
    }, () => (shared = ""));
  }
  sharing?.addEventListener("toggle", () => sharing.open && share());
  addEventListener("beforeprint", share);
  sharing?.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest?.("[data-copy]");
    const text = button && /** @type {HTMLTextAreaElement | null} */ (document.getElementById(String(/** @type {HTMLElement} */ (button).dataset.copy)));
    if (!text) return;
    text.select();
    navigator.clipboard?.writeText(text.value).then(() => say("Copied."), () => say("Selected: press Ctrl+C to copy."));
  });
  const shareSoon = () => {
    clearTimeout(rest);
    rest = window.setTimeout(share, QUIET);
  };

  player.changed = (why) => {
    if (why === "state") {
      buttons.play.textContent = player.playing ? "Pause" : "Play";
      return;
    }
    const here = run.get(player.step);
    if (here) {
      paint(here, why);
      return;
    }
    const wanted = player.step;
    const asked = run;
    player.held = true;
    run.want(wanted).then(
      (snapshot) => player.step === wanted && run === asked && paint(snapshot, why),
      (error) => {
        if (run !== asked || player.step !== wanted) return;
        player.held = false;
        const playing = player.playing;
        player.pause();
        if (painted) player.step = painted.step;
        if (painted) transport(painted);
        const comes = passes(error) && !expected;
        settled(words(error));
        say(`${reason(error)}: the steps already loaded still work${comes ? "; the rest comes by itself once it is back" : ""}.`);
        if (comes) onceBack(wanted, playing);
      },
    );
  };

  /** When the server is there again: go on, if the reader has stayed. @param {number} wanted @param {boolean} playing */
  function onceBack(wanted, playing) {
    const [asked, stayed] = [run, painted];
    run.once(wanted, () => {
      if (run !== asked || painted !== stayed || player.playing) return;
      say("");
      if (playing) player.play();
      else player.seek(wanted);
    });
  }

  /** @param {string} text */
  function say(text) {
    part('[data-part="shared"]').textContent = text;
  }

  /** One phase, or one step, onward or back. @param {1 | -1} way */
  function move(way) {
    const last = phases().length - 1;
    const to = (phase ?? last) + way; // a whole step still shows what its last phase drops
    if (painted && to >= 0 && to <= last) {
      phase = to;
      paint(painted, "user");
    } else {
      const wanted = player.step + way;
      if (wanted < player.first || wanted > player.steps) return;
      phase = way > 0 && phasesOf(run.get(wanted)).length ? 0 : undefined;
      player.seek(wanted);
    }
  }
  /** @param {number} step */
  function seek(step) {
    const within = phase !== undefined;
    phase = undefined;
    if (within && step === painted?.step) paint(painted, "user");
    player.seek(step);
  }

  const actions = /** @type {Record<string, (event: Event) => void>} */ ({
    reset: () => seek(player.first),
    back: () => move(-1),
    next: () => move(1),
    play: () => {
      phase = undefined;
      player.toggle();
    },
    slow: (event) => {
      slow = !slow;
      /** @type {HTMLElement} */ (event.target).setAttribute("aria-pressed", String(slow));
      root.toggleAttribute("data-slow", slow);
      phase = undefined;
      if (painted) paint(painted, "spec");
    },
    share: (event) => {
      const link = /** @type {HTMLAnchorElement} */ (event.target).href;
      navigator.clipboard?.writeText(link).then(() => say("Link copied."), () => say(link)) ?? say(link);
    },
    projector: () => {
      const on = document.documentElement.dataset.view !== "projector";
      if (on) {
        document.documentElement.dataset.view = "projector";
        kept.set("view", "projector");
      } else {
        delete document.documentElement.dataset.view;
        kept.delete("view");
      }
      if (painted) paint(painted, "spec");
    },
    apply: () => fromTheStart(),
    preset: (event) => follow(/** @type {HTMLAnchorElement} */ (event.target)),
  });
  root.addEventListener("click", (event) => {
    touched = performance.now();
    const clicked = /** @type {HTMLElement} */ (event.target).closest?.("[data-action]");
    const action = actions[/** @type {HTMLElement | null} */ (clicked)?.dataset.action ?? ""];
    const press = /** @type {MouseEvent} */ (event);
    if (!action || press.ctrlKey || press.metaKey || press.shiftKey) return;
    event.preventDefault();
    if (clicked?.getAttribute("aria-disabled") !== "true") action(event);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  range.addEventListener("input", () => seek(/** @type {HTMLInputElement} */ (range).valueAsNumber));
  after = view.listen?.(root, () => ({ snapshot: asSeen(/** @type {Snapshot} */ (painted)), frame })) ?? after;
  part('[data-action="speed"]').addEventListener("change", (event) => {
    player.speed = Number(/** @type {HTMLSelectElement} */ (event.target).value);
  });

  const keys = /** @type {Record<string, () => void>} */ ({
    ArrowRight: () => move(1),
    ArrowLeft: () => move(-1),
    Home: () => seek(player.first),
    End: () => seek(player.steps),
    k: () => player.toggle(),
  });
  root.addEventListener("keydown", (event) => {
    touched = performance.now();
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches('input[type="text"]') && event.key === "Enter") {
      event.preventDefault();
      fromTheStart();
      return;
    }
    const away = root.dataset.keys === "0" || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (away || event.defaultPrevented || target.closest("input, textarea, select, [data-part='table']") || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  const steps = { move, first: () => seek(player.first), last: () => seek(player.steps) };
  gestures(root, steps);
  if (owns) presenting(steps);

  // The form: a changed spec comes back as the server's page, whose parts replace ours; a fault only adds its words.
  // Several may be on their way; answers are taken in the order asked, and one that was overtaken is dropped.
  let [sent, taken, flying] = [0, 0, 0];
  /** The change wanted while as many are on their way as may be: only the latest matters. @type {[string, boolean, Asked] | undefined} */
  let queued;
  let timer = 0;
  /** Whether something was changed that may leave fewer steps than the one shown. */
  let restart = false;
  /** The visit of a field that the latest input was part of. */
  let visit = "";
  function change() {
    const given = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (name !== "step") given.set(name, String(value));
    given.set("step", String(restart ? player.first : player.step));
    load(`?${given}`, false, { visit });
  }
  function fromTheStart() {
    restart = true;
    change();
  }
  /** @param {HTMLAnchorElement} link */
  function follow(link) {
    const given = new URLSearchParams(new URL(link.href).search);
    for (const [name, value] of extras()) given.set(name, value);
    load(`?${given}`, true);
    const top = form.getBoundingClientRect().top;
    if (kind === "page" && (top < 0 || top > innerHeight / 2)) form.scrollIntoView({ block: "start" }); // else what changes would be out of sight
  }
  /**
   * @param {string} query
   * @param {boolean} fill  whether the form's fields come from the answer too
   * @param {Asked} asked
   */
  function load(query, fill, asked = {}) {
    const { tried = 0, settle } = asked;
    clearTimeout(timer);
    if (!tried) player.pause();
    if (flying >= FLYING) {
      queued?.[2].settle?.(OVERTAKEN);
      queued = [query, fill, asked];
      return;
    }
    const mine = ++sent;
    flying += 1;
    root.setAttribute("aria-busy", "true");
    fetchPage(`${base}${kind === "embed" ? "embed" : "widgets"}/${root.dataset.widget}${query}`, AbortSignal.timeout(WAIT))
      .then(
        ({ ok, page }) => {
          if (mine < taken) {
            settle?.(OVERTAKEN);
            return;
          }
          taken = mine;
          take(ok, page, fill, asked);
        },
        (error) => {
          settle?.(words(error));
          if (mine <= taken) return;
          const comes = passes(error) && tried < LATER.length && !settle; // whoever was told that it failed does not wait for it
          if (!tried) say(`${reason(error)}: what is loaded still steps${comes ? "; the change comes by itself once it is back" : ""}.`);
          // unless the reader asks for something else meanwhile
          if (mine === sent && comes) timer = window.setTimeout(() => load(query, fill, { ...asked, tried: tried + 1 }), LATER[tried]);
        },
      )
      .finally(() => {
        flying -= 1;
        if (!flying) root.removeAttribute("aria-busy");
        const next = queued;
        queued = undefined;
        if (next) load(...next);
      });
  }
  /** @param {boolean} ok @param {Document} page @param {boolean} fill @param {Asked} asked */
  function take(ok, page, fill, { away, visit = "", settle }) {
    const said = page.querySelector('[data-part="error"]')?.textContent ?? "The server answered with another page";
    if (!ok && away) location.reload(); // an entry that was refused when it was opened, too
    faults(page);
    const fresh = /** @type {HTMLElement | null} */ (page.querySelector(`[data-widget="${root.dataset.widget}"]`));
    if (!ok || !fresh) {
      if (!fresh) say(said); // no field to put them beside
      settle?.(said);
      return;
    }
    const pressed = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.again;
    for (const old of root.querySelectorAll("[data-swap]")) {
      if (old.parentElement?.closest("[data-swap]")) continue;
      const name = /** @type {HTMLElement} */ (old).dataset.swap;
      const now = fresh.querySelector(`[data-swap="${name}"]`);
      if (now) old.replaceWith(own(now, fresh.id));
    }
    // A switch that was pressed has been made anew with the page that it asked for: the focus goes to its successor.
    if (pressed) /** @type {HTMLElement | null} */ (root.querySelector(`[data-again="${pressed}"]`))?.focus({ preventScroll: true });
    const offset = /** @type {HTMLInputElement} */ (part('[name="offset"]'));
    const offered = /** @type {HTMLInputElement} */ (fresh.querySelector('[name="offset"]'));
    if (offset && offered && fill) [offset.min, offset.max, offset.step] = [offered.min, offered.max, offered.step];
    if (fill) {
      for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (fresh.querySelectorAll("[data-field] [name]"))) {
        /** @type {HTMLInputElement} */ (form.elements.namedItem(field.name)).value = field.value;
      }
    }
    const amount = root.querySelector('[data-part="offset"]');
    if (amount) amount.textContent = fresh.querySelector('[data-part="offset"]')?.textContent ?? "";
    const before = specOf(painted);
    ({ run, frame, beside } = loaded(root, base));
    stage.take(frame.charts);
    [player.first, player.steps] = Object.values(bounds(fresh, run.steps));
    const there = Number(/** @type {HTMLInputElement} */ (fresh.querySelector('input[name="step"]')).value);
    player.step = restart || fill ? there : Math.min(player.step, run.steps); // the reader may have gone on meanwhile
    restart = false;
    run.want(player.step).then((snapshot) => {
      phase = undefined;
      if (!away && before !== specOf(snapshot) && (!visit || visit !== entered)) entry = "new";
      if (!away) entered = visit;
      paint(snapshot, "spec");
      settle?.();
    });
  }
  /** A part of another copy of this page, with its names made ours. @param {Element} fresh @param {string} id */
  function own(fresh, id) {
    if (id !== root.id) {
      for (const element of [fresh, ...fresh.querySelectorAll("*")]) {
        for (const { name, value } of element.attributes) {
          const renamed = value.split(" ").map((one) => one.replace(new RegExp(`^(url\\(#|#)?${id}-`), `$1${root.id}-`)).join(" ");
          if (renamed !== value) element.setAttribute(name, renamed);
        }
      }
    }
    return document.adoptNode(fresh);
  }
  /** What is wrong with a field, or what it was read as. @param {Document} page */
  function faults(page) {
    for (const field of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-field]"))) {
      const input = /** @type {HTMLElement} */ (field.querySelector("[name]"));
      field.querySelector('[data-part="error"]')?.remove();
      const told = page.querySelector(`[data-part="error"][data-for="${field.dataset.field}"]`);
      const read = field.querySelector('[data-part="read"]');
      const said = page.querySelector(`[data-field="${field.dataset.field}"] [data-part="read"]`)?.textContent ?? "";
      if (read && read.textContent !== said) read.textContent = said;
      const help = [`${root.id}-${field.dataset.field}-help`, ...(read ? [read.id] : [])].join(" "); // no template in a template: rjsmin eats its spaces
      input.toggleAttribute("aria-invalid", Boolean(told));
      if (told) input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", told ? `${help} ${root.id}-${field.dataset.field}-error` : help);
      if (!told) continue;
      told.id = `${root.id}-${field.dataset.field}-error`;
      told.setAttribute("role", "alert");
      input.after(document.adoptNode(told));
      field.closest("details")?.setAttribute("open", "");
    }
  }
  form.addEventListener("input", (event) => {
    touched = performance.now();
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (!field.name || field.name === "step") return;
    clearTimeout(timer);
    const typed = field.matches('textarea, input[type="text"]');
    const amount = field.type === "range" && root.querySelector('[data-part="offset"]');
    if (amount) amount.textContent = `${Number(field.value) < 0 ? "" : "+"}${show(field.value)}`;
    visit = `${field.name} ${visits}`;
    restart ||= typed || Boolean(field.closest("[data-restarts]"));
    // what says the same in another way gives way to what is typed
    const clears = field.value && /** @type {HTMLElement | null} */ (field.closest("[data-clears]"))?.dataset.clears;
    for (const name of clears ? clears.split(" ") : []) /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value = "";
    timer = window.setTimeout(change, typed ? PAUSE : 0);
  });

  // What others may ask of it: a step, a way to go, to play, or another spec. Who gives `settle` is told what came of a state.
  root.addEventListener("tilewise:go", (event) => {
    const { step, by, play, query, settle } = /** @type {CustomEvent} */ (event).detail;
    if (query !== undefined) load(`?${new URLSearchParams([...kept, ...new URLSearchParams(query)])}`, true, { settle });
    else if (step !== undefined) seek(step);
    else if (by !== undefined) move(by < 0 ? -1 : 1);
    else if (play !== undefined && play !== player.playing) player.toggle();
    if (!settle || query !== undefined) return;
    settled(OVERTAKEN);
    if (player.step === painted?.step) settle();
    else expected = { step: player.step, settle };
  });
  root.addEventListener("tilewise:ask", (event) => /** @type {CustomEvent} */ (event).detail(painted && asSeen(painted)));

  for (const hidden of root.querySelectorAll('[data-action="play"], [data-action="slow"], .speed')) hidden.removeAttribute("hidden");
  for (const useless of root.querySelectorAll(".apply")) useless.setAttribute("hidden", "");
  root.dataset.ready = "yes";

  // Plotly comes when the page is idle and the reader's hands are too: starting it blocks a slow phone for a second.
  const idle = (/** @type {() => void} */ go) => ("requestIdleCallback" in window ? requestIdleCallback(go, { timeout: LATEST }) : setTimeout(go, 50));
  const later = () => {
    if (performance.now() - touched < QUIET) {
      setTimeout(later, QUIET);
      return;
    }
    const bring = view.plots;
    idle(() => stage.plots().catch(() => {}));
    if (!bring) return;
    idle(() =>
      bring().then(
        (found) => {
          plots = found;
          if (painted) plots.draw(root, asSeen(painted), frame, true);
        },
        () => {}, // without Plotly the server's picture stays, and stepping moves its bars
      ),
    );
  };
  // What nobody sees starts nothing: a frame far down an article, a widget far down a lesson.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    seen.disconnect();
    if ("autoplay" in root.dataset && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
    if (document.readyState === "complete") later();
    else addEventListener("load", later, { once: true });
  });
  seen.observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.recolour());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => painted && plots?.draw(root, asSeen(painted), frame, true));
}

/** The first and the last step shown. @param {HTMLElement} root @param {number} steps */
function bounds(root, steps) {
  const { min, max } = /** @type {HTMLInputElement} */ (root.querySelector('input[name="step"]'));
  return { first: Math.min(Number(min), steps), last: Math.min(Number(max), steps) };
}

/** @param {Element} button @param {boolean} reached @param {number} step */
function ends(button, reached, step) {
  if (reached) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
  button.setAttribute("value", String(step));
}

/** @param {HTMLElement} root @param {string} base */
function loaded(root, base) {
  const { run, frame, beside } = JSON.parse(String(root.querySelector('script[type="application/json"]')?.textContent));
  return { run: new Run(run, base), frame, beside: beside && { run: new Run(beside.run, base), steps: /** @type {number[]} */ (beside.steps) } };
}

/** The views whose modules have come, by widget. @type {Map<string, View>} */
const views = new Map();

/** Mount every widget of a name. @param {string} name @param {View} view */
export function mountAll(name, view) {
  views.set(name, view);
  for (const root of document.querySelectorAll(`[data-widget="${name}"]`)) mount(/** @type {HTMLElement} */ (root), view);
}

/** A widget without a script of its own: what bind.js fills is all that a step changes. @type {View} */
export const PLAIN = { draw: () => {} };

/** Mount a widget that came after its module. @param {HTMLElement} root */
export function mountGuest(root) {
  const view = views.get(String(root.dataset.widget)) ?? (root.dataset.script === "core/plain" ? PLAIN : undefined);
  if (view && !root.dataset.ready) mount(root, view);
}
