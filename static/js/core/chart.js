// A chart as the server describes it: its marks at each step, and the server's SVG with them. What a mark is says app/charts/marks.py.

/** @typedef {[number, number, number, number]} Box    x, y, width, height */
/**
 * @typedef {object} Mark
 * @property {string} key
 * @property {string} shape
 * @property {string} role
 * @property {Box} box
 * @property {string} text
 * @property {Box | undefined} was
 * @property {number} beat
 * @property {number | undefined} value
 * @property {number | undefined} before    the value before
 * @property {[number, Box, number | null] | undefined} via
 * @property {string} moving    the role while it moves, where it is another
 * @property {string} name
 * @property {string} path    what is drawn, of a path
 * @property {boolean} passing    whether it belongs to one step alone
 */
/** What a page is told of a chart, once for all its steps. @typedef {{size: [number, number], beats: number[], kind: string, still: any[][], marks: any[][]}} Told */

/** What a step may change of a mark, as the server sends it. @param {any[]} row */
function moving([role, box, text, was, beat, value, before, via, moving]) {
  const there = (/** @type {any} */ one) => one ?? undefined;
  return { role, box, text: text ?? "", was: there(was), beat: beat ?? 0, value: there(value), before: there(before), via: there(via), moving: moving ?? "" };
}

export class Chart {
  /** @param {string} name @param {Told} told */
  constructor(name, told) {
    this.name = name;
    this.size = told.size;
    this.beats = told.beats;
    this.kind = told.kind;
    const whole = (/** @type {any[]} */ [key, shape, ...row]) => ({ key, shape, name: row[9] ?? "", path: row[10] ?? "", passing: Boolean(row[11]), ...moving(row) });
    /** What no step changes. @type {Mark[]} */
    this.still = told.still.map(whole);
    /** @type {Mark[]} */
    this.first = told.marks.map(whole);
  }

  /** The marks of a step: those of step 0, but for what its snapshot says. @param {any} snapshot @returns {Mark[]} */
  at(snapshot) {
    const marks = [...this.first];
    for (const [place, ...row] of snapshot.charts?.[this.name] ?? []) marks[place] = { ...marks[place], ...moving(row) };
    return marks;
  }
}

/** Where a mark stands, by the names that SVG has for it. @param {Mark} mark @returns {Record<string, number>} */
function placed({ shape, box: [x, y, width, height] }) {
  if (shape === "rect") return { x, y, width, height };
  if (shape === "dot") return { cx: x + width / 2, cy: y + height / 2, r: width / 2 };
  if (shape === "line") return { x1: x, y1: y, x2: x + width, y2: y + height };
  return shape === "text" ? { x, y } : {};
}

/** The element of a mark that is not there. @param {string} key @param {string} shape @param {string} path */
function made(key, shape, path) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", shape === "dot" ? "circle" : shape);
  [element.dataset.key, element.dataset.role] = [key, "none"];
  if (path) element.setAttribute("d", path);
  return element;
}

/** The server's drawing of a chart, brought up to date in place. */
export class Drawing {
  /** @param {HTMLElement} root @param {string} name */
  constructor(root, name) {
    this.root = root;
    this.name = name;
    /** What is drawn. @type {Mark[]} */
    this.marks = [];
    /** @type {Map<string, SVGElement>} */
    this.elements = new Map();
    /** @type {Element | null} */
    this.group = null;
  }

  /** What the server has drawn stands for these marks; those that are not there yet it has left out. @param {Mark[]} marks */
  adopt(marks) {
    this.group = this.root.querySelector(`[data-swap="${this.name}"] .chart`);
    const found = /** @type {SVGElement[]} */ ([...(this.group?.querySelectorAll("[data-key]") ?? [])]);
    this.elements = new Map(found.map((one) => [String(one.dataset.key), one]));
    this.marks = marks;
    /** @type {SVGElement | null} */
    let next = null;
    for (const { key, shape, path } of [...marks].reverse()) {
      const element = this.elements.get(key) ?? made(key, shape, path);
      if (!element.isConnected) this.group?.insertBefore(element, next);
      this.elements.set(key, element);
      next = element;
    }
  }

  /** @param {Mark[]} marks */
  draw(marks) {
    if (!this.group?.isConnected) {
      this.adopt(marks);
      this.marks = [];
    }
    marks.forEach((mark, place) => mark !== this.marks[place] && this.patch(mark));
    this.marks = marks;
  }

  /** Give an element the look of a role, for good or while it moves. @param {SVGElement} element @param {string} role @param {boolean} moving */
  dress(element, role, moving = false) {
    element.dataset.role = role;
    element.toggleAttribute("data-moving", moving);
    const pattern = `${this.root.id}-${this.name}-${role}`; // a style sheet cannot name it: each widget of a page has its own
    if (this.group?.querySelector(`pattern[id="${pattern}"]`)) element.setAttribute("fill", `url(#${pattern})`);
    else element.removeAttribute("fill");
  }

  /** @param {Mark} mark */
  patch(mark) {
    const element = this.elements.get(mark.key);
    if (!element) return;
    this.dress(element, mark.role);
    for (const [name, value] of Object.entries(placed(mark))) element.setAttribute(name, String(value));
    const [x, y] = mark.box;
    if (mark.shape === "path") element.setAttribute("transform", `translate(${x} ${y})`);
    if (mark.shape === "text") {
      if (element.textContent !== mark.text) element.textContent = mark.text;
      if (mark.role.startsWith("turned")) element.setAttribute("transform", `rotate(-90 ${x} ${y})`);
      else element.removeAttribute("transform");
    }
  }
}
