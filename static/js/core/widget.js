// A widget that the server has drawn, taken over: what its parts are, and what they have to do with each other.

import { Address } from "./address.js";
import { Asking } from "./asking.js";
import { bind } from "./bind.js";
import { gestures, presenting } from "./gestures.js";
import { Loader, swap } from "./loader.js";
import { Late, Pictures } from "./pictures.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { Sharing, copy } from "./sharing.js";
import { SpecForm } from "./spec-form.js";
import { Phases, Steps } from "./steps.js";
import { Sweep } from "./sweep.js";
import { Transport, bounds } from "./transport.js";

/**
 * What a widget brings of its own; README.md says what each is given and when it is called.
 * @typedef {import("./run.js").Snapshot} Snapshot
 * @typedef {{draw: (root: HTMLElement, snapshot: Snapshot, frame: any, still: boolean) => void}} Plots
 * @typedef {object} View
 * @property {(root: HTMLElement, snapshot: Snapshot, frame: any) => void} draw
 * @property {() => Promise<Plots>} [plots]
 * @property {(snapshot: Snapshot, phase: number) => Snapshot} [at]
 * @property {(root: HTMLElement, now: () => {snapshot: Snapshot, frame: any}) => void | (() => void)} [listen]
 */
/** Why a step is shown: a press, playing, or another spec or look. @typedef {"user" | "play" | "spec"} Why */

class Widget {
  /** What the widget's own gestures do after each step. @type {() => void} */
  after = () => {};

  /** @param {HTMLElement} root @param {View} view */
  constructor(root, view) {
    const base = String(root.dataset.base);
    const name = String(root.dataset.widget);
    const kind = location.pathname.includes("/embed/") ? "embed" : "page";
    const part = (/** @type {string} */ one) => /** @type {HTMLElement | null} */ (root.querySelector(`[data-part="${one}"]`));
    const say = (/** @type {string} */ words) => void (/** @type {HTMLElement} */ (part("shared")).textContent = words);
    const moves = { move: this.move.bind(this), seek: this.seek.bind(this), toggle: this.toggle.bind(this) };
    const shown = () => this.shown;
    this.root = root;
    this.base = base;
    this.say = say;
    this.live = part("live");

    this.told = told(root, base);
    this.player = new Player(this.told.run.steps, Number(/** @type {HTMLInputElement} */ (root.querySelector('input[name="step"]')).value));
    Object.assign(this.player, bounds(root, this.told.run.steps));
    /** The snapshot shown. */
    this.shown = this.told.run.get(this.player.step);
    this.phases = new Phases(root, view.at);
    this.pictures = new Pictures(root, view);
    this.pictures.take(this.told.frame, this.shown);

    this.loader = new Loader({
      address: `${base}${kind === "embed" ? "embed" : "widgets"}/${name}`,
      begins: () => this.player.pause(),
      busy: (on) => (on ? root.setAttribute("aria-busy", "true") : root.removeAttribute("aria-busy")),
      take: (answer) => this.take(answer),
      say,
    });
    this.form = new SpecForm(/** @type {HTMLFormElement} */ (root.querySelector("form")), {
      id: root.id,
      step: (start) => (start ? this.player.first : this.player.step),
      soon: (go, ms) => this.loader.soon(go, ms),
      load: (query, fill, asked) => this.loader.load(query, fill, asked),
      glimpse: (field) => this.sweep.glimpse(field),
    });
    this.sweep = new Sweep(this.form.form, { address: () => this.sweeps(), show: (snapshot, charts) => this.glimpse(snapshot, charts) });
    this.address = new Address({
      base,
      kind,
      owns: alone(root),
      extras: () => this.form.extras(),
      opened: this.shown,
      travel: (query) => {
        this.loader.drop(); // what is on its way belongs to the entry that was left
        this.loader.load(query, true, { away: true });
      },
    });
    const at = (/** @type {string} */ room, end = "") => `${base}${room}/${name}${end}?${this.shown && this.address.of(this.shown).split("?")[1]}`;
    const box = /** @type {HTMLDetailsElement | null} */ (part("sharing"));
    this.sharing = kind === "page" && box ? new Sharing(box, /** @type {HTMLImageElement | null} */ (part("qr")), { id: root.id, at, say }) : undefined;
    this.steps = new Steps(this.player, { run: () => this.told.run, shown, paint: this.paint.bind(this), stays: this.stays.bind(this), say });
    this.asking = new Asking(root, this.player, { ...moves, load: (query, settle) => this.load(query, settle), shown: () => this.shown && this.phases.seen(this.shown) });
    this.transport = new Transport(root, this.player, moves);
    const ways = { move: moves.move, first: this.transport.actions.reset, last: () => this.seek(this.player.steps) };
    gestures(root, ways);
    if (this.address.owns) presenting(ways);
    this.player.changed = (why) => (why === "state" ? this.transport.playing(this.player.playing) : this.steps.go(why));
    presses(root, { ...this.transport.actions, ...this.actions(kind) });
    this.after = view.listen?.(root, () => ({ snapshot: this.phases.seen(/** @type {Snapshot} */ (this.shown)), frame: this.told.frame })) ?? this.after;
  }

  /** What the buttons that are not the transport's do. @param {"page" | "embed"} kind @returns {Record<string, (pressed: HTMLElement) => void>} */
  actions(kind) {
    return {
      slow: (button) => {
        this.phases.toggle(button);
        this.again();
      },
      share: (link) => copy(/** @type {HTMLAnchorElement} */ (link).href, "Link copied.", /** @type {HTMLAnchorElement} */ (link).href, this.say),
      projector: () => {
        this.address.keep("view", projected() ? "projector" : undefined);
        this.again();
      },
      apply: () => this.form.fromTheStart(),
      preset: (link) => {
        this.form.follow(/** @type {HTMLAnchorElement} */ (link));
        if (kind === "page") this.form.reveal();
      },
    };
  }

  /** The reader sees it from now on with its script. */
  ready() {
    const { root } = this;
    for (const hidden of root.querySelectorAll('[data-action="play"], [data-action="slow"], .speed')) hidden.removeAttribute("hidden");
    for (const useless of root.querySelectorAll(".apply")) useless.setAttribute("hidden", "");
    root.dataset.ready = "yes";
    new Late(root, {
      seen: () => "autoplay" in root.dataset && !matchMedia("(prefers-reduced-motion: reduce)").matches && this.player.play(),
      bring: () => this.pictures.late(),
    });
  }

  /** Show a snapshot, everything of it but what may wait, which is done in the next task. @param {Snapshot} snapshot @param {Why} why */
  paint(snapshot, why) {
    const forward = why !== "spec" && snapshot.step - 1 === this.shown?.step;
    this.shown = snapshot;
    this.player.held = false;
    const seen = this.phases.seen(snapshot);
    bind(this.root, seen);
    this.controls(snapshot);
    setTimeout(() => this.shown === snapshot && this.rest(snapshot));
    const phase = this.phases.at;
    this.pictures.show(seen, { why, forward, rate: this.player.speed, phase, before: phase === undefined ? undefined : this.told.run.get(snapshot.step - 1) });
    this.after();
    this.asking.stepped(seen, why);
    this.beside(snapshot.step);
    if (why === "user" && this.live) this.live.textContent = phase === undefined ? snapshot.spoken : seen.caption;
  }

  /** Show a state while a slider is dragged through it: its picture and its numbers, and nothing that lasts. @param {Snapshot} snapshot @param {import("./stage.js").How["charts"]} charts */
  glimpse(snapshot, charts) {
    bind(this.root, snapshot);
    this.pictures.show(snapshot, { why: "spec", forward: false, charts });
  }

  /** Where the states at every position of a slider are had. */
  sweeps() {
    const [path, query] = /** @type {Snapshot} */ (this.shown).links.self.split("?");
    const slider = /** @type {HTMLInputElement | null} */ (this.root.querySelector("input[data-sweep]"));
    const given = query.split("&").filter((pair) => !pair.startsWith(`${slider?.name}=`));
    return `${this.base}${path.replace("/snapshots/", "/sweeps/")}?${given.join("&")}`;
  }

  /** Show the same step again, for it looks different. */
  again() {
    if (this.shown) this.paint(this.shown, "spec");
  }

  /** @param {Snapshot} snapshot */
  rest(snapshot) {
    this.address.write(snapshot);
    this.sharing?.stepped();
    this.told.run.prefetch(snapshot.step);
  }

  /** @param {Snapshot} snapshot */
  controls(snapshot) {
    this.transport.show(snapshot.step, snapshot.steps, this.phases.left(snapshot));
    this.address.link(this.root, snapshot);
    this.say("");
  }

  /** The same step of another run, where one is shown beside. @param {number} step */
  beside(step) {
    const [other, beside] = [this.root.querySelector("[data-beside]"), this.told.beside];
    if (!other || !beside) return;
    beside.run.want(beside.steps[step]).then((/** @type {Snapshot} */ shot) => this.shown?.step === step && this.told.beside === beside && bind(other, shot), () => {});
  }

  /** A step does not come: what is shown stays. @param {Snapshot | undefined} shown @param {string} fault */
  stays(shown, fault) {
    if (shown) this.controls(shown);
    const { awaited } = this.asking;
    this.asking.settle(fault);
    return !awaited;
  }

  /** One phase, or one step, onward or back. @param {1 | -1} way */
  move(way) {
    if (this.shown && this.phases.move(way, this.shown)) {
      this.paint(this.shown, "user");
      return;
    }
    const wanted = this.player.step + way;
    if (wanted < this.player.first || wanted > this.player.steps) return;
    this.phases.enter(way, this.told.run.get(wanted));
    this.player.seek(wanted);
  }

  /** @param {number} step */
  seek(step) {
    if (this.phases.whole() && step === this.shown?.step) this.paint(this.shown, "user");
    this.player.seek(step);
  }

  toggle() {
    this.phases.whole();
    this.player.toggle();
  }

  /** Another spec, as somebody else asks for it. @param {string} query @param {import("./loader.js").Settle} [settle] */
  load(query, settle) {
    this.loader.load(`?${new URLSearchParams([...this.address.kept, ...new URLSearchParams(query)])}`, true, { settle });
  }

  /** A changed spec comes back as the server's page, whose parts replace ours; a fault only adds its words. @param {import("./loader.js").Answer} answer */
  take({ ok, page, fill, asked: { away, visit = "", settle } }) {
    const said = page.querySelector('[data-part="error"]')?.textContent ?? "The server answered with another page";
    if (!ok && away) location.reload(); // an entry that was refused when it was opened, too
    this.form.faults(page);
    const fresh = /** @type {HTMLElement | null} */ (page.querySelector(`[data-widget="${this.root.dataset.widget}"]`));
    if (!ok || !fresh) {
      if (!fresh) this.say(said); // no field to put them beside
      settle?.(said);
      return;
    }
    swap(this.root, fresh);
    if (fill) this.form.fill(fresh);
    this.form.amounts(fresh);
    const { player, form, shown: before } = this;
    this.told = told(this.root, this.base);
    this.pictures.take(this.told.frame);
    Object.assign(player, bounds(fresh, this.told.run.steps));
    const there = Number(/** @type {HTMLInputElement} */ (fresh.querySelector('input[name="step"]')).value);
    player.step = form.restart || fill ? there : Math.min(player.step, this.told.run.steps); // the reader may have gone on meanwhile
    form.restart = false;
    this.told.run.want(player.step).then((snapshot) => {
      this.phases.whole();
      if (!away) this.address.turn(before, snapshot, visit);
      this.paint(snapshot, "spec");
      settle?.();
    });
  }
}

/** Whether the address belongs to a widget: to one that is alone on its page, but for those that a lesson has let in. @param {HTMLElement} root */
function alone(root) {
  return root.dataset.guest === undefined && document.querySelectorAll("[data-widget]:not([data-guest])").length === 1;
}

/** What a page tells of a widget: its run, what all its snapshots have in common, and the run beside it. @param {HTMLElement} root @param {string} base */
function told(root, base) {
  const { run, frame, beside } = JSON.parse(String(root.querySelector('script[type="application/json"]')?.textContent));
  return { run: new Run(run, base), frame, beside: beside && { run: new Run(beside.run, base), steps: /** @type {number[]} */ (beside.steps) } };
}

/** Do what the buttons say, unless a key says that the browser should. @param {HTMLElement} root @param {Record<string, (pressed: HTMLElement) => void>} actions */
function presses(root, actions) {
  root.addEventListener("click", (event) => {
    const clicked = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest?.("[data-action]"));
    const action = actions[clicked?.dataset.action ?? ""];
    if (!clicked || !action || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (clicked.getAttribute("aria-disabled") !== "true") action(clicked);
  });
}

/** Turn the look for a wall on or off; whether it is on. */
function projected() {
  const { dataset } = document.documentElement;
  if (dataset.view === "projector") delete dataset.view;
  else dataset.view = "projector";
  return "view" in dataset;
}

/** @param {HTMLElement} root @param {View} view */
function mount(root, view) {
  new Widget(root, view).ready();
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
