// Fetches Plotly from this site, once, in a way that a strict content security policy allows.

const HERE = new URL("../../", import.meta.url);

/** @type {Promise<any> | undefined} */
let loading;

/** @returns {Promise<any>} */
export function plotly() {
  loading ??= load();
  return loading;
}

async function load() {
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.crossOrigin = "anonymous"; // in a sandboxed frame, whose origin is nobody's, rules may only be added so
  sheet.id = "plotly.js-style-global"; // the name under which Plotly looks for a place to put its rules
  sheet.href = new URL("css/plotly.css", HERE).href;
  await arrived(sheet);
  const script = document.createElement("script");
  // The whole Plotly, which is served where npm has not put the small one, writes the style sheet of its maps into the page at once, unless
  // something has this id: an inline style, which the policy forbids. No map is drawn here.
  script.id = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
  script.src = new URL("vendor/plotly.js", HERE).href;
  await arrived(script);
  return /** @type {any} */ (window).Plotly;
}

/** @param {HTMLElement} element */
function arrived(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener("load", resolve, { once: true });
    element.addEventListener("error", () => reject(new Error("Plotly did not arrive")), { once: true });
    document.head.append(element);
  });
}

/** The page's colours now, light or dark. @param {Element} root */
export function colours(root) {
  const style = getComputedStyle(root);
  return Object.fromEntries(["card", "text", "soft", "line", "old", "new", "bad"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** What every chart here shares: no toolbar (its default one can upload a figure), no dragging, no scroll trap. */
export const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false, showTips: false };

/**
 * @param {Record<string, string>} ink
 * @param {boolean} still  no motion
 */
export function layout(ink, still) {
  return {
    margin: { l: 40, r: 8, t: 22, b: 42 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink.text, size: 13, family: "system-ui, sans-serif" },
    showlegend: false,
    dragmode: false,
    barmode: "overlay",
    bargap: 0.28,
    hoverlabel: { bgcolor: ink.card, bordercolor: ink.text, font: { color: ink.text } },
    transition: { duration: still ? 0 : 450, easing: "cubic-in-out" },
  };
}
