// Questions, answered in place: the server judges, its feedback is put below the question, and focus stays where it is.

import { fetchPage, reason } from "../core/run.js";
import { reveal } from "./live.js";
import { remember } from "./memory.js";

const WAIT = 15000;

/** @param {HTMLElement} lesson @param {string} slug @param {() => void} changed */
export function answerInPlace(lesson, slug, changed) {
  lesson.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const section = /** @type {HTMLElement | null} */ (form.closest("[data-quiz]"));
    if (!section || section.tagName !== "SECTION") return;
    event.preventDefault();
    const asked = new URL(form.action);
    const given = new FormData(form, event.submitter);
    const done = (/** @type {string} */ verdict) => {
      if (verdict !== "right") return;
      remember(slug, String(section.dataset.quiz));
      changed();
    };
    const judged = section.querySelector('script[data-part="judged"]');
    const known = judged && !given.has("show") && judgedHere(section, JSON.parse(String(judged.textContent)), given.getAll("answer").join(","));
    if (known) {
      done(known);
      return;
    }
    asked.search = String(new URLSearchParams(/** @type {any} */ ([...given])));
    send(section, asked.href).then(done);
  });
}

/** As app/export.py's digest: FNV-1a, 32 bits. @param {string} words */
export function digest(words) {
  let found = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(words)) found = Math.imul(found ^ byte, 0x01000193) >>> 0;
  return found.toString(16).padStart(8, "0");
}

/**
 * In a copy of the site as plain files: what an answer earns, from what its page holds: words for each answer, and a digest of the right one.
 * @param {HTMLElement} section
 * @param {Record<string, string>} known
 * @param {string} answer
 * @returns {string} the verdict; none where this answer is not among them
 */
function judgedHere(section, known, answer) {
  const words = known[`=${answer}`];
  if (words === undefined) return "";
  sent.set(section, (sent.get(section) ?? 0) + 1); // what is on its way is overtaken
  const verdict = digest(`${known.salt} ${answer}`) === known.key ? "right" : "wrong";
  section.dataset.verdict = verdict;
  const told = document.createElement("div");
  told.className = `feedback ${verdict}`;
  told.append(...new DOMParser().parseFromString(known[verdict] + words, "text/html").body.childNodes);
  section.querySelector('[data-part="feedback"]')?.replaceChildren(told);
  const widget = /** @type {HTMLElement | null} */ (section.querySelector("figure[data-live]"));
  if (widget && verdict === "right") reveal(widget, null);
  return verdict;
}

/** The answers on their way, by question: one that was overtaken is dropped. @type {Map<Element, number>} */
const sent = new Map();

/** @param {HTMLElement} section @param {string} url @returns {Promise<string>} the verdict */
async function send(section, url) {
  const mine = (sent.get(section) ?? 0) + 1;
  sent.set(section, mine);
  const feedback = /** @type {HTMLElement} */ (section.querySelector('[data-part="feedback"]'));
  section.setAttribute("aria-busy", "true");
  try {
    const { page } = await fetchPage(url, AbortSignal.timeout(WAIT));
    if (sent.get(section) !== mine) return "";
    const fresh = /** @type {HTMLElement | null} */ (page.querySelector(`section[data-quiz="${section.dataset.quiz}"]`));
    if (!fresh) throw new Error("The server sent no answer");
    const verdict = fresh.dataset.verdict ?? "";
    section.dataset.verdict = verdict;
    feedback.replaceChildren(...(fresh.querySelector('[data-part="feedback"]')?.childNodes ?? []));
    const widget = /** @type {HTMLElement | null} */ (section.querySelector("figure[data-live]"));
    if (widget && (verdict === "right" || verdict === "shown")) reveal(widget, fresh.querySelector("figure[data-live]"));
    return verdict;
  } catch (error) {
    const again = /** @type {Error} */ (error).name === "NotHeld" ? "" : " Your answer is still there: try again."; // a copy will never have it
    if (sent.get(section) === mine) feedback.textContent = `${reason(/** @type {Error} */ (error))}.${again}`;
    return "";
  } finally {
    section.removeAttribute("aria-busy");
  }
}
