// Fills every shown number and sentence from a snapshot. The rule for numbers is app/numbers.py's; tests hold both to it.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * A number as a reader sees it.
 * @param {number | string} given  a number, or "NaN", "Infinity", "-Infinity"
 * @param {number} places
 */
export function show(given, places = 3) {
  const x = Number(given);
  if (Number.isNaN(x)) return "NaN";
  const sign = x < 0 ? "−" : "";
  const size = Math.abs(x);
  if (size === Infinity) return `${sign}∞`;
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) {
    const [digits, power] = size.toExponential(2).split("e");
    return `${sign}${digits}×10${superscript(Number(power))}`;
  }
  return sign + (Number.isInteger(size) ? String(size) : size.toFixed(places));
}

/** @param {number} whole */
export function superscript(whole) {
  return [...String(whole)].map((sign) => (sign === "-" ? "⁻" : SUPERSCRIPTS[Number(sign)])).join("");
}

/** An event's tables with a column for each key. */
const TILES = ["dots", "scores", "p", "p_cast"];

/**
 * What a path names in a snapshot, as app/look.py says. Paths start at the state ("naive.sum") unless they name
 * another part of the snapshot ("event.alpha"); where a list is met, the row, and then the column, picks from it. An event
 * that covers only a span of rows and columns has lists that long; row and column count from the start of the whole.
 * @param {any} snapshot
 * @param {string} path
 * @param {(number | undefined)[]} given
 */
export function look(snapshot, path, given = []) {
  const names = path.split(".");
  let found = names[0] in snapshot ? snapshot : snapshot.state;
  let places = given;
  if (names[0] === "event") {
    const { q_rows: rows = [0], k_cols: cols = [0] } = snapshot.event;
    const spans = [rows[0], TILES.includes(names[names.length - 1]) ? cols[0] : 0];
    places = given.map((place, i) => (place === undefined ? undefined : place - spans[i]));
  }
  const left = places.filter((place) => place !== undefined);
  const pick = () => {
    while (Array.isArray(found) && left.length) found = found[/** @type {number} */ (left.shift())];
  };
  for (const name of names) {
    if (Array.isArray(found) && /^\d+$/.test(name)) found = found[Number(name)];
    else {
      pick();
      found = found?.[name];
    }
    if (found === undefined) return undefined;
  }
  pick();
  return Array.isArray(found) ? undefined : found;
}

/**
 * Fill a part of a page. What lies inside a [data-beside] belongs to another run and is left alone, unless it is the part.
 * @param {Element} root @param {any} snapshot
 */
export function bind(root, snapshot) {
  const mine = root.closest("[data-beside]");
  const ours = (/** @type {Element} */ element) => element.closest("[data-beside]") === mine;
  for (const element of /** @type {NodeListOf<HTMLDataElement>} */ (root.querySelectorAll("data[data-value]"))) {
    if (!ours(element)) continue;
    const { value: path, row, col, empty = "–", without } = element.dataset;
    const place = [row, col].map((one) => (one === undefined ? undefined : Number(one)));
    const found = without && look(snapshot, without, place) ? undefined : look(snapshot, String(path), place);
    const exact = found === undefined ? "" : String(found);
    if (element.value === exact && exact) continue;
    element.value = exact;
    element.textContent = found === undefined ? empty : show(found);
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-text]"))) {
    if (!ours(element)) continue;
    const words = look(snapshot, String(element.dataset.text)) ?? "";
    if (element.textContent !== words) element.textContent = words;
    if ("hides" in element.dataset) element.hidden = !words;
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-mark]"))) {
    if (!ours(element)) continue;
    const mark = String(element.dataset.mark);
    element.dataset.on = snapshot.event[mark] || snapshot.state.naive?.[mark] ? "yes" : "no";
  }
}
