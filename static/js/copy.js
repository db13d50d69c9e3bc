// Only in a copy of the site as plain files, and before all other scripts: relative links are made whole, for an address that a script changes would
// change what they lead to; and an address with a query, which no file has, is carried out once the page is there.
(() => {
  const html = document.documentElement;
  /** @param {string | undefined} link */
  const whole = (link) => new URL(String(link), location.href).href;
  html.dataset.copy = whole(html.dataset.copy);
  for (const name of ["base", "static", "live", "drive"]) {
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-${name}]`))) element.dataset[name] = whole(element.dataset[name]);
  }
  for (const link of /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll("link[href]"))) link.href = whole(link.href);
  const asked = new URLSearchParams(location.search);
  const lesson = /** @type {HTMLElement | null} */ (document.querySelector("[data-lesson]"));
  if (lesson && asked.get("track") === "deep" && lesson.dataset.track !== "deep") {
    location.replace(`${html.dataset.copy}lessons/${lesson.dataset.lesson}/deep/?track=deep`);
  }
  const root = /** @type {HTMLElement | null} */ (document.querySelector("[data-widget]"));
  if (!root || !asked.size) return;
  const step = asked.get("step");
  /** @param {any} detail */
  const go = (detail) => root.dispatchEvent(new CustomEvent("tilewise:go", { detail }));
  const ready = new MutationObserver(() => {
    if (root.dataset.ready !== "yes") return;
    ready.disconnect();
    if (step !== null) root.addEventListener("tilewise:step", () => go({ step: Number(step) }), { once: true });
    go({ query: String(asked) });
  });
  ready.observe(root, { attributes: true, attributeFilter: ["data-ready"] });
})();
