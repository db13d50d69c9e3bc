// Only in a copy of the site as plain files, and before all other scripts: relative links are made whole, for an address that a script changes would
// change what they lead to; a widget's run is brought before its scripts; and an address with a query is carried out, or said not to be held.
(() => {
  const html = document.documentElement;
  const here = /** @type {HTMLScriptElement} */ (document.currentScript).src;
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
    location.replace(`${html.dataset.copy}lessons/${lesson.dataset.lesson}/deep/index.html?track=deep`);
  }
  const root = /** @type {HTMLElement | null} */ (document.querySelector("[data-widget]"));
  const plain = location.protocol === "file:"; // where a browser loads no modules, so pages stand as they would without script
  if (plain) {
    for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("[data-quiz] form"))) {
      form.action = `${form.action.replace(/\/?(index\.html)?$/, "")}/shown/index.html`;
      form.querySelector('[data-action="check"]')?.setAttribute("hidden", ""); // nobody could judge
    }
    for (const held of document.querySelectorAll('[data-part="held"]')) held.removeAttribute("hidden");
    for (const transport of document.querySelectorAll(".transport")) transport.setAttribute("hidden", "");
  }
  if (!root) return;
  const options = (html.dataset.options ?? "").split(" ");
  const spec = [...asked.keys()].filter((name) => !options.includes(name) && name !== "step");
  const step = asked.get("step");
  const last = () => Number(/** @type {HTMLInputElement | null} */ (root.querySelector('input[name="step"]'))?.max);

  /** In place of the widget, which shows something else. @param {string} why */
  function refuse(why) {
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.dataset.part = "error";
    notice.textContent = `${why} This address asks for ${[...asked].map((pair) => pair.join("=")).join(", ")}.`;
    root?.replaceWith(notice);
    document.querySelector(".credit")?.remove(); // its link follows the example that is not shown
  }
  const elsewhere = "This copy of the site works without its server and does not hold this example, so no other is shown in its place.";

  if (plain) {
    const shown = root.querySelector('input[name="step"]')?.getAttribute("value");
    if ((spec.length && html.dataset.spec === undefined) || (step !== null && step !== shown)) refuse(elsewhere);
    return;
  }
  if (asked.size) {
    if (spec.length) root.style.visibility = "hidden"; // until it is what was asked for
    /** @param {any} detail */
    const go = (detail) => root.dispatchEvent(new CustomEvent("tilewise:go", { detail }));
    const settle = (/** @type {string | undefined} */ why) => {
      if (why) refuse(elsewhere);
      else if (step !== null && !(Number(step) >= 0 && Number(step) <= last())) refuse(`This run has the steps 0 to ${last()}.`);
      else if (step !== null) go({ step: Number(step) });
      root.style.visibility = "";
    };
    const ready = new MutationObserver(() => {
      if (root.dataset.ready !== "yes") return;
      ready.disconnect();
      go({ query: String(asked), settle });
    });
    ready.observe(root, { attributes: true, attributeFilter: ["data-ready"] });
  }
  import(new URL("core/widget.js", here).href); // and all that it needs, while the run comes
  import(new URL("core/run.js", here).href)
    .then((run) => run.filled(document))
    .then(() => {
      for (const later of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('script[type="text/later"]'))) {
        const script = document.createElement("script");
        script.type = "module";
        script.async = false;
        script.src = whole(later.getAttribute("src") ?? "");
        later.replaceWith(script);
      }
    });
})();
