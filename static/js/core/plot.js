// The bars of a chart in Plotly: below the server's drawing, whose words and lines stay, at the very same places.

import { show } from "./bind.js";
import { CONFIG, colours, layout, plotly } from "./plotly.js";
import { moved } from "./timeline.js";

/** @typedef {import("./chart.js").Mark} Mark */
/** @typedef {import("./chart.js").Box} Box */

const Plotly = await plotly();
/** Milliseconds without a step after which Plotly itself is brought up to date. */
const REST = 250;
const SVG = "http://www.w3.org/2000/svg";

export class Plot {
  /** What Plotly has drawn, and what its bars have been brought to since. @type {Mark[]} */
  #drawn = [];
  /** @type {Mark[]} */
  #marks = [];
  /** @type {Map<string, {element: SVGElement, drawn: Box}>} */
  #bars = new Map();
  /** @type {Map<string, string>} */
  #words = new Map();
  #timer = 0;
  /** What Plotly was last drawn at. */
  #scale = 0;
  /** @type {Map<string, Look>} */
  #looks = new Map();

  /** @param {HTMLElement} div @param {import("./chart.js").Chart} chart */
  constructor(div, { size, still }) {
    this.div = div;
    this.size = size;
    this.rules = rules(still); // which belong below the bars
    new ResizeObserver(() => this.#fit()).observe(/** @type {HTMLElement} */ (div.parentElement));
  }

  /** Another run's chart has come. @param {import("./chart.js").Chart} chart */
  take({ size, still }) {
    [this.size, this.rules, this.#drawn] = [size, rules(still), []];
    this.#bars.clear();
  }

  /** Bring the bars there are to where they belong now; Plotly draws them anew once the reader rests. @param {Mark[]} marks */
  draw(marks) {
    this.#marks = marks.filter(({ shape }) => shape === "rect");
    this.#words = new Map(marks.map(({ key, text }) => [key, text]));
    if (!this.#drawn.length) {
      this.#react();
      return;
    }
    for (const mark of this.#marks) {
      const bar = this.#bars.get(mark.key);
      if (!bar) continue;
      dress(bar.element, this.#look(mark.role));
      bar.element.style.transform = moved({ ...bar, mark, fresh: false, unit: this.#unit() }, mark.box);
    }
    this.div.dataset.behind = ""; // Plotly itself is brought up to date later
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#rest(), REST);
  }

  /** A mark's bar, for the timeline. @param {string} key */
  place(key) {
    const bar = this.#bars.get(key);
    return bar && { ...bar, unit: this.#unit() };
  }

  /** @param {Mark[]} marks */
  recolour(marks) {
    this.#looks.clear();
    this.#drawn = [];
    this.draw(marks);
  }

  #rest() {
    if ([...this.#bars.values()].some(({ element }) => element.getAnimations().length)) this.#timer = window.setTimeout(() => this.#rest(), REST);
    else this.#react();
  }

  #react() {
    const { div, size: [width, height] } = this;
    const drawn = this.#marks.map((mark) => ({ ...mark, box: full(mark.box) }));
    const looks = drawn.map(({ role }) => this.#look(role));
    div.hidden = false;
    const [wide, high] = this.#place();
    this.#scale = this.#unit();
    const figure = /** @type {HTMLElement} */ (div.closest("figure"));
    figure.dataset.plotted = "yes";
    const bars = {
      type: "bar",
      x: drawn.map(({ box }) => box[0] + box[2] / 2),
      width: drawn.map(({ box }) => box[2]),
      base: drawn.map(({ box }) => box[1] + box[3]),
      y: drawn.map(({ box }) => -box[3]),
      marker: {
        color: looks.map(({ fill }) => fill),
        line: { color: looks.map(({ stroke }) => stroke), width: looks.map(({ width }) => width) },
        pattern: { shape: looks.map(({ pattern }) => pattern), fgcolor: looks.map(({ ground }) => ground), bgcolor: looks.map(({ fill }) => fill), size: 6, solidity: 0.25 },
      },
      customdata: drawn.map(({ key, name, value }) => {
        const said = value === undefined ? this.#words.get(key.replace("bar", "number")) : show(value);
        return name && said ? `${name}: ${said}` : name;
      }),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    const shapes = this.rules.map(({ box: [x, y, across, down] }) => ({ type: "line", layer: "below", x0: x, x1: x + across, y0: y, y1: y + down, line: { width: 1, color: this.#look("rule").line } }));
    const axis = { fixedrange: true, visible: false };
    const looksOfAll = { ...layout(colours(div), true), xaxis: { ...axis, range: [0, width] }, yaxis: { ...axis, range: [height, 0] }, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 }, hovermode: "closest", shapes, width: wide, height: high, autosize: false };
    Plotly.react(div, [bars], looksOfAll, { ...CONFIG, responsive: false });
    const elements = /** @type {NodeListOf<SVGElement>} */ (div.querySelectorAll(".bars .point > path"));
    this.#bars = new Map(drawn.flatMap(({ key, box }, place) => (elements[place] ? [[key, { element: elements[place], drawn: box }]] : [])));
    for (const { element } of this.#bars.values()) element.style.transform = "";
    this.#drawn = this.#marks;
    delete div.dataset.behind;
  }

  /** Of the page's units, how many make one of the chart. */
  #unit() {
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (this.div.parentElement);
    return Math.min(clientWidth / this.size[0], clientHeight / this.size[1]);
  }

  /** Lie where the drawing is: in the middle of the room it has, as large as fits. */
  #place() {
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (this.div.parentElement);
    const [wide, high] = this.size.map((one) => one * this.#unit());
    Object.assign(this.div.style, { left: `${(clientWidth - wide) / 2}px`, top: `${(clientHeight - high) / 2}px`, width: `${wide}px`, height: `${high}px` });
    return [wide, high];
  }

  #fit() {
    if (this.#drawn.length && Math.abs(this.#unit() - this.#scale) > 0.001) this.#react();
  }

  /** How a role looks on this page, as its style sheet says. @param {string} role @returns {Look} */
  #look(role) {
    const known = this.#looks.get(role);
    if (known) return known;
    const probe = document.createElementNS(SVG, "rect");
    probe.dataset.role = role;
    const chart = /** @type {SVGElement} */ (this.div.closest("figure")?.querySelector(".chart"));
    chart.append(probe);
    const { fill, stroke, strokeWidth, strokeDasharray, fillOpacity } = getComputedStyle(probe);
    const paper = getComputedStyle(chart).getPropertyValue("--ground").trim();
    const solid = strokeDasharray === "none" && fill !== "none";
    const [bad, gone] = [role === "failed", role === "gone"]; // which a pattern fills, and no ink that could be computed
    const look = {
      fill: !solid || role === "none" ? CLEAR : bad ? stroke : gone ? paper : faded(fill, Number(fillOpacity)),
      stroke: !solid || role === "none" || stroke === "none" ? CLEAR : stroke,
      width: solid && stroke !== "none" ? parseFloat(strokeWidth) : 0,
      pattern: bad ? "x" : gone ? "/" : "",
      ground: gone ? stroke : paper,
      line: stroke,
    };
    probe.remove();
    this.#looks.set(role, look);
    return look;
  }
}

/** @typedef {{fill: string, stroke: string, width: number, pattern: string, ground: string, line: string}} Look */

/** @param {Mark[]} still */
function rules(still) {
  return still.filter(({ role }) => role === "rule");
}

const CLEAR = "rgba(0, 0, 0, 0)";

/** @param {string} colour as a browser computes it @param {number} opacity */
function faded(colour, opacity) {
  return opacity < 1 ? colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`) : colour;
}

/** Give a bar the look of its role at once. @param {SVGElement} bar @param {Look} look */
function dress(bar, { fill, stroke, width }) {
  bar.style.fill = fill;
  bar.style.fillOpacity = fill === CLEAR ? "0" : "1";
  bar.style.stroke = stroke;
  bar.style.strokeWidth = `${width}px`;
  bar.style.opacity = "1";
}

/** A bar that can be seen growing has a height to grow from. @param {Box} box @returns {Box} */
function full([x, y, width, height]) {
  const [wide, high] = [Math.max(width, 1), Math.max(height, 1)];
  return [x, y + height - high, wide, high];
}
