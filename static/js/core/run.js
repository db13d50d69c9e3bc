// The snapshots of one run, and the only place that asks the server for anything.

/** Snapshots asked for at once; the server sends no more. */
export const PAGE = 64;
/** How close to the end of what is loaded a step must come before the next part is fetched. */
export const AHEAD = 16;

/** @typedef {{step: number, steps: number, spec: any, event: any, state: any, caption: string, spoken: string, links: Record<string, string>, [name: string]: any}} Snapshot */
/** @typedef {{steps: number, start: number, count: number, snapshots: Snapshot[]}} Part */

export class Run {
  /**
   * @param {Part} part    the part that came with the page
   * @param {string} base  the site's root, which links in snapshots are relative to
   * @param {typeof fetch} get
   */
  constructor(part, base, get = (...given) => fetch(...given)) {
    this.steps = part.steps;
    this.base = base;
    this.ask = get;
    /** @type {Map<number, Snapshot>} */
    this.shots = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.waiting = new Map();
    this.add(part);
  }

  /** @param {Part} part */
  add(part) {
    for (const shot of part.snapshots) this.shots.set(shot.step, shot);
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
    const url = `${this.base}${path.replace(/\/\d+$/, "")}?${query}&start=${first}&count=${PAGE}`;
    const asked = this.ask(url)
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`The server answered ${answer.status}`))))
      .then((part) => this.add(part))
      .finally(() => this.waiting.delete(start));
    this.waiting.set(start, asked);
    return asked;
  }
}

/** What went wrong with a request, for a reader. @param {Error} error */
export function reason(error) {
  if (error.name === "TimeoutError") return "The server takes too long";
  return error.message.startsWith("The server") ? error.message : "The server cannot be reached";
}

/**
 * A page of the site, parsed: how a changed spec comes back. The server's page is the one renderer, so a widget takes
 * its new parts from there, and on a 422 the words beside the field.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<{ok: boolean, page: Document}>}
 */
export async function fetchPage(url, signal) {
  const answer = await fetch(url, { signal });
  if (!answer.ok && answer.status !== 422) throw new Error(`The server answered ${answer.status}`);
  return { ok: answer.ok, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
}
