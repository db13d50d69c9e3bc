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
    asked.search = String(new URLSearchParams(/** @type {any} */ ([...given])));
    send(section, asked.href).then((verdict) => {
      if (verdict === "right") {
        remember(slug, String(section.dataset.quiz));
        changed();
      }
    });
  });
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
    if (sent.get(section) === mine) feedback.textContent = `${reason(/** @type {Error} */ (error))}. Your answer is still there: try again.`;
    return "";
  } finally {
    section.removeAttribute("aria-busy");
  }
}
