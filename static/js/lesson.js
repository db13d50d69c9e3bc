// A lesson in the browser: remembers the track and what was answered, brings widgets when near, answers questions in place.
// Everything is there without it.

import { bringWhenNear } from "./lesson/live.js";
import { answered, marked, rememberedTrack, rememberTrack } from "./lesson/memory.js";
import { answerInPlace } from "./lesson/questions.js";

const lesson = /** @type {HTMLElement | null} */ (document.querySelector("[data-lesson]"));

if (lesson) begin(lesson);
for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-course-lesson]"))) {
  progress(one, String(one.dataset.courseLesson));
}
const track = rememberedTrack();
if (track && !lesson) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("[data-course-lesson] h3 a"))) link.search = `?track=${track}`;
}

/** @param {HTMLElement} lesson */
function begin(lesson) {
  const slug = String(lesson.dataset.lesson);
  const asked = new URLSearchParams(location.search).has("track");
  const wanted = rememberedTrack();
  if (!asked && wanted && wanted !== lesson.dataset.track) {
    const url = new URL(location.href);
    url.searchParams.set("track", wanted);
    location.replace(url); // the reader chose this track before, and this link names none
    return;
  }
  if (asked) rememberTrack(String(lesson.dataset.track));
  answerInPlace(lesson, slug, () => progress(lesson, slug));
  bringWhenNear(lesson);
  if (lesson.querySelector("[data-lesson-chart]")) import("./lesson/charts.js").then(({ drawCharts }) => drawCharts(lesson));
  progress(lesson, slug);
  addEventListener("beforeprint", () => {
    for (const answer of document.querySelectorAll("details.answer")) answer.setAttribute("open", "");
    for (const image of document.querySelectorAll("img[loading]")) image.setAttribute("loading", "eager");
  });
}

/** @param {HTMLElement} place @param {string} slug */
function progress(place, slug) {
  const done = answered(slug);
  const all = Number(place.dataset.questions);
  const part = place.querySelector('[data-part="progress"]');
  if (!part || !all || !done.length) return;
  part.textContent = ` · ${Math.min(done.length, all)} of ${all} questions answered`;
  for (const id of done) marked(place, id);
}
