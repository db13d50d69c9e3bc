// The snapshots of one run, and the only place that asks the server for anything.

/** Snapshots asked for at once; the server sends no more. */
export const PAGE = 64;
/** How close to the end of what is loaded a step must come before the next part is fetched. */
export const AHEAD = 16;
/** Milliseconds before what is waited for is asked for again: a worker that died is replaced, a busy server has a moment. */
export const AGAIN = [300, 900, 2500];
/** And before a part of a run is asked for again when nobody waits any more, so that it is there once the server is back. */
export const LATER = [1000, 2000, 4000, 8000, 16000, 30000];
/** How often at most. */
const TRIES = 20;
/** Answers of a server, or of the proxy before it, that will pass. */
const PASSING = [429, 502, 503, 504];

/** So long, or until the browser says that there is a network again. @param {number} ms @returns {Promise<void>} */
const sleep = (ms) =>
  new Promise((done) => {
    const awake = () => {
      clearTimeout(timer);
      removeEventListener("online", awake);
      done();
    };
    const timer = setTimeout(awake, ms);
    addEventListener("online", awake);
  });

/**
 * An answer with its body, asked for again a few times where what keeps it away, or breaks it off, will pass.
 * @template T
 * @param {() => Promise<Response>} get
 * @param {(answer: Response) => Promise<T>} read
 * @param {(answer: Response) => boolean} good  what is an answer, and not a failure
 * @param {(ms: number) => Promise<void>} wait
 * @param {AbortSignal} [signal]
 * @returns {Promise<{status: number, body: T}>}
 */
async function patiently(get, read, good, wait, signal) {
  for (let tried = 0; ; tried++) {
    const pause = AGAIN[tried];
    try {
      const answer = await get();
      if (good(answer)) return { status: answer.status, body: await read(answer) };
      const error = new Error(`The server answered ${answer.status}`, { cause: answer.status });
      if (pause === undefined || !passes(error)) throw Object.assign(error, { body: await (async () => read(answer))().catch(() => undefined) });
      await wait(Math.max(pause, Math.min(Number(answer.headers?.get("retry-after")) || 0, 10) * 1000));
    } catch (error) {
      if (pause === undefined || signal?.aborted || !(error instanceof TypeError) || !navigator.onLine) throw error;
      await wait(pause);
    }
    signal?.throwIfAborted();
  }
}

/** Whether what went wrong will pass, so that asking again later makes sense. @param {Error} error */
export function passes(error) {
  return error instanceof TypeError || error.name === "TimeoutError" || PASSING.includes(Number(error.cause));
}

/** What core needs of any snapshot; each widget knows its own, from snapshot.d.ts. @typedef {import("./snapshot").Told<any, any> & {phase?: number}} Snapshot */
/** @typedef {{steps: number, start: number, count: number, snapshots: Snapshot[]}} Part */

export class Run {
  /**
   * @param {Part} part    the part that came with the page
   * @param {string} base  the site's root, which links in snapshots are relative to
   * @param {typeof fetch} get
   * @param {(ms: number) => Promise<void>} wait
   */
  constructor(part, base, get = async (url, ...given) => held(await fileOf(String(url)), ...given), wait = sleep) {
    this.steps = part.steps;
    this.base = base;
    this.ask = get;
    this.wait = wait;
    this.failures = 0;
    /** Parts that are asked for again later. @type {Set<number>} */
    this.missing = new Set();
    /** @type {Map<number, Snapshot>} */
    this.shots = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.waiting = new Map();
    /** What is done once a step that could not be had is there. @type {{step: number, go: () => void} | undefined} */
    this.due = undefined;
    this.add(part);
  }

  /** @param {Part} part */
  add(part) {
    for (const shot of part.snapshots) this.shots.set(shot.step, shot);
    const due = this.due;
    if (!due || !this.shots.has(due.step)) return;
    this.due = undefined;
    due.go();
  }

  /** Do something once a step that could not be had is there; the last such wish counts. @param {number} step @param {() => void} go */
  once(step, go) {
    this.due = { step, go };
  }

  /** A snapshot that is here already. @param {number} step */
  get(step) {
    return this.shots.get(step);
  }

  /** A snapshot, fetched with those after it if it is not here. @param {number} step @returns {Promise<Snapshot>} */
  async want(step) {
    while (!this.shots.has(step)) await this.fetch(step);
    return /** @type {Snapshot} */ (this.shots.get(step));
  }

  /** Fetch what a reader who goes on from here will need soon. @param {number} step */
  prefetch(step) {
    const end = Math.min(step + AHEAD, this.steps);
    for (let ahead = step; ahead <= end; ahead++) {
      if (!this.shots.has(ahead)) {
        this.fetch(ahead).catch(() => {}); // when the step is really wanted, it is asked for again and the failure is shown
        return;
      }
    }
  }

  /** @param {number} start @returns {Promise<void>} */
  fetch(start) {
    const under = this.waiting.get(start);
    if (under) return under;
    const any = /** @type {Snapshot} */ (this.shots.values().next().value);
    const [path, query] = any.links.self.split("?");
    const first = this.shots.has(start + 1) ? Math.max(0, start - PAGE + 1) : start; // going back: the part that ends here
    const url = `${this.base}${path.replace(/\/\d+$/, "")}?${query}&start=${first}&count=${PAGE}&charts=1`;
    const asked = patiently(() => this.ask(url), (answer) => answer.json(), (answer) => answer.ok, this.wait)
      .then(({ body }) => {
        this.failures = 0;
        this.add(body);
      })
      .finally(() => this.waiting.delete(start))
      .catch((error) => {
        if (passes(error)) this.later(start); // what was refused will be refused again
        throw error;
      });
    this.waiting.set(start, asked);
    return asked;
  }

  /** Ask again for a part that failed, less and less often. @param {number} start */
  later(start) {
    if (this.missing.has(start) || this.failures >= TRIES) return;
    this.missing.add(start);
    const pause = LATER[Math.min(this.failures++, LATER.length - 1)];
    this.wait(pause).then(() => {
      this.missing.delete(start);
      if (!this.shots.has(start)) this.fetch(start).catch(() => {});
    });
  }
}

/** What went wrong with a request, for a reader. @param {Error} error */
export function reason(error) {
  if (error.name === "TimeoutError") return "The server takes too long";
  return error.message.startsWith("The server") ? error.message : "The server cannot be reached";
}

/** The same in the server's own words, where it gave some: on a page, or as the API has them. @param {Error & {body?: any}} error @returns {string} */
export function words(error) {
  const { body } = error;
  const page = typeof body === "string" ? new DOMParser().parseFromString(body, "text/html") : undefined;
  return page?.querySelector('[data-part="error"]')?.textContent || body?.error?.message || reason(error);
}

/**
 * A page of the site, parsed: how a changed spec comes back. The server's page is the one renderer, so a widget takes
 * its new parts from there, and where it refuses (on any 4xx but those that pass) its words.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<{ok: boolean, page: Document}>}
 */
export async function fetchPage(url, signal) {
  const file = await fileOf(url);
  const { status, body } = await patiently(() => held(file, { signal }), (answer) => answer.text(), ({ status }) => status < 500 && !PASSING.includes(status), sleep, signal);
  const page = new DOMParser().parseFromString(body, "text/html");
  await filled(page);
  return { ok: status < 400, page };
}

/** What an address of the API answers, asked for once. @param {string} url @returns {Promise<any>} */
export async function fetchJson(url) {
  return (await held(await fileOf(url))).json();
}

/** An answer; what a copy of the site holds packed is unpacked, unless its server has done that. @param {string} url @param {RequestInit} [given] @returns {Promise<Response>} */
async function held(url, given) {
  const answer = await fetch(url, given);
  if (!answer.ok || !new URL(url, location.href).pathname.endsWith(".gz")) return answer;
  const body = await answer.blob();
  const [one, two] = new Uint8Array(await body.slice(0, 2).arrayBuffer());
  return one === 0x1f && two === 0x8b ? new Response(body.stream().pipeThrough(new DecompressionStream("gzip"))) : new Response(body);
}

/** In a copy of the site as plain files: bring the runs that a page names, each a file that several pages share. @param {Document} page */
export async function filled(page) {
  const { copy } = document.documentElement.dataset;
  if (copy === undefined) return;
  for (const block of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("script[data-file]"))) {
    block.textContent = await (await held(copy + block.dataset.file)).text();
    block.removeAttribute("data-file");
  }
}

/** In a copy of the site as plain files: what each address's file is. @type {Promise<Record<string, string>> | undefined} */
let files;

/**
 * Where to ask for an address: there, or in a copy of the site as plain files, the file that stands for it.
 * @param {string} url
 * @returns {Promise<string>}
 */
async function fileOf(url) {
  const { copy } = document.documentElement.dataset;
  if (copy === undefined || !url.includes("?")) return url;
  files ??= fetch(`${copy}addresses.json`).then((answer) => answer.json());
  const known = await files;
  const { href, searchParams } = new URL(url, location.href);
  const path = href.slice(copy.length).replace(/\/?(index\.html)?([?#].*)?$/, "").replace(/^embed(?=\/)/, "widgets"); // an embed takes its parts from the widget's page
  const idle = [...options(), "version", "charts"]; // what no file goes by
  const given = [...searchParams].filter(([name, value]) => value !== "" && !idle.includes(name) && !(name === "step" && value === "0")).sort(([a], [b]) => (a < b ? -1 : 1));
  const bare = given.filter(([name]) => name !== "step");
  for (const pairs of [given, bare]) {
    const found = known[`${path}?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`];
    if (found !== undefined) return copy + found;
  }
  throw Object.assign(new Error("The server is not part of this copy, which has its own examples only"), { name: "NotHeld" });
}

/** What an address may say besides a spec and a step, as the server names it. */
export function options() {
  return (document.documentElement.dataset.options ?? "").split(" ");
}
