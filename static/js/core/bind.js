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

/**
 * What a path names in a snapshot. Paths start at the state ("naive.sum") unless they name another part of the snapshot
 * ("event.alpha"); where a list is met, the row, and then the column, picks from it.
 * @param {any} snapshot
 * @param {string} path
 * @param {(number | undefined)[]} places
 */
export function look(snapshot, path, places = []) {
  const names = path.split(".");
  let found = names[0] in snapshot ? snapshot : snapshot.state;
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
  return found;
}

/** @param {Element} root @param {any} snapshot */
export function bind(root, snapshot) {
  for (const element of /** @type {NodeListOf<HTMLDataElement>} */ (root.querySelectorAll("data[data-value]"))) {
    const { value: path, row, col } = element.dataset;
    const found = look(snapshot, String(path), [row, col].map((place) => (place === undefined ? undefined : Number(place))));
    const exact = found === undefined ? "" : String(found);
    if (element.value === exact) continue;
    element.value = exact;
    element.textContent = found === undefined ? "–" : show(found);
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-text]"))) {
    const words = look(snapshot, String(element.dataset.text)) ?? "";
    if (element.textContent !== words) element.textContent = words;
    if ("hides" in element.dataset) element.hidden = !words;
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-mark]"))) {
    const mark = String(element.dataset.mark);
    element.dataset.on = snapshot.event[mark] || snapshot.state.naive?.[mark] ? "yes" : "no";
  }
}
