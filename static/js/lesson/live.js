// Widgets in a lesson: each takes the place of its picture when the reader comes near.

import { renamed as own } from "../core/loader.js";
import { fetchPage } from "../core/run.js";
import { mountGuest } from "../core/widget.js";

/** How far below the window a widget is fetched. */
const NEAR = "700px";
/** Milliseconds that a widget's page is waited for. */
const WAIT = 15000;
let count = 0;
/** Fetched places, so that none is fetched twice. @type {WeakMap<Element, Promise<void>>} */
const brought = new WeakMap();

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      bring(/** @type {HTMLElement} */ (target));
    }
  },
  { rootMargin: NEAR },
);

/** @param {Element} within */
export function bringWhenNear(within) {
  for (const place of within.querySelectorAll("figure[data-live]")) near.observe(place);
}

/** Put the widget where its picture is. On failure the picture and its link stay. @param {HTMLElement} place */
function bring(place) {
  const known = brought.get(place);
  if (known) return known;
  const made = fetchPage(String(place.dataset.live), AbortSignal.timeout(WAIT))
    .then(async ({ ok, page }) => {
      const section = /** @type {HTMLElement | null} */ (page.querySelector("[data-widget]"));
      if (!ok || !section || !place.isConnected) return;
      const root = renamed(section, `live-${++count}`);
      const still = place.querySelector('[data-part="still"]');
      const held = Boolean(place.dataset.quiz) && !place.hasAttribute("data-open");
      place.toggleAttribute("data-held", held);
      if (held) root.dataset.keys = "0";
      root.dataset.guest = "yes";
      root.setAttribute("aria-label", `${root.getAttribute("aria-label")}: ${place.querySelector(".live-title")?.textContent ?? ""} (${count})`);
      still?.replaceWith(root);
      const how = place.querySelector('[data-part="how"]');
      if (how) how.textContent = "";
      await import(`../${root.dataset.script}.js`); // the first of a name mounts itself
      mountGuest(root);
    })
    .catch(() => {});
  brought.set(place, made);
  return made;
}

/**
 * A question's widget goes on, now that its answer is known.
 * @param {HTMLElement} place
 * @param {Element | null} after  the picture's place as the server draws it after the step
 */
export async function reveal(place, after) {
  if (place.hasAttribute("data-open")) return;
  place.setAttribute("data-open", "");
  await brought.get(place);
  const root = /** @type {HTMLElement | null} */ (place.querySelector("[data-widget]"));
  if (root) {
    place.removeAttribute("data-held");
    root.dataset.keys = "1";
    /** @type {HTMLElement | null} */ (root.querySelector('[data-action="next"]'))?.click();
  } else if (after instanceof HTMLElement) {
    place.dataset.live = after.dataset.live;
    place.replaceChildren(...after.childNodes);
  }
}

/** A widget of another page, with its names made this page's. @param {HTMLElement} section @param {string} id */
function renamed(section, id) {
  const root = own(section, section.id, id);
  root.id = id;
  for (const region of root.querySelectorAll("[role='region']")) region.setAttribute("role", "group"); // a page's landmarks are its own
  for (const part of root.querySelectorAll("section")) {
    const group = document.createElement("div");
    for (const { name, value } of part.attributes) group.setAttribute(name, value);
    group.setAttribute("role", "group");
    group.append(...part.childNodes);
    part.replaceWith(group);
  }
  return root;
}
