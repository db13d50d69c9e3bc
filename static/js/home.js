// The picture of the home page plays once, from the first score to the step that it shows; who asked for less motion sees that step alone.

import { Stage } from "./core/stage.js";

/** Milliseconds that a step is looked at. */
const LOOKED_AT = 1900;

const hero = /** @type {HTMLElement | null} */ (document.querySelector("[data-hero]"));
if (hero && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const { charts, snapshots } = JSON.parse(String(hero.querySelector("script")?.textContent));
  const shots = snapshots.snapshots;
  const caption = /** @type {HTMLElement} */ (hero.querySelector('[data-part="caption"]'));
  const stage = new Stage(hero);
  stage.take(charts, shots[shots.length - 1]);
  /** @param {number} step */
  const play = (step) => {
    stage.show(shots[step], { forward: true });
    caption.textContent = shots[step].caption;
    if (step + 1 < shots.length) setTimeout(play, LOOKED_AT, step + 1);
  };
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    seen.disconnect();
    setTimeout(play, LOOKED_AT, 0);
  });
  seen.observe(hero);
}
