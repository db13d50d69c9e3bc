// What a reader's browser remembers: the track, and which questions were answered. Where storage throws, nothing is.

const TRACK = "tilewise.track";
const DONE = "tilewise.answered";

/** @param {string} name @returns {string | null} */
function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
function write(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // a browser that keeps nothing: the page works all the same
  }
}

/** The track that was chosen last, if any. */
export function rememberedTrack() {
  const found = read(TRACK);
  return found === "plain" || found === "deep" ? found : null;
}

/** @param {string} track */
export function rememberTrack(track) {
  write(TRACK, track);
}

/** @returns {Record<string, string[]>} */
function all() {
  try {
    const found = JSON.parse(read(DONE) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/** The questions of a lesson that were answered right. @param {string} slug @returns {string[]} */
export function answered(slug) {
  const found = all()[slug];
  return Array.isArray(found) ? found.map(String) : [];
}

/** @param {string} slug @param {string} id */
export function remember(slug, id) {
  const found = all();
  found[slug] = [...new Set([...answered(slug), id])];
  write(DONE, JSON.stringify(found));
}

/** Say beside a question that it was answered. @param {HTMLElement} place @param {string} id */
export function marked(place, id) {
  const word = place.querySelector(`#quiz-${CSS.escape(id)} legend .word`);
  if (word instanceof HTMLElement) word.dataset.done = " · answered ✓";
}
