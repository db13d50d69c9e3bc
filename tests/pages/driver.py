"""A widget as a reader meets it: what it shows, and what can be pressed."""

import json
import math
import re
import urllib.request
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Response, expect

from app.numbers import show

PATH = "/widgets/online-softmax"
DEFAULT = "scores=6,5,7,6,7,9,8,6"
SEE = (
    """
(root) => {
  const all = (selector, from = root) => [...from.querySelectorAll(selector)];
  const marks = (chart) => Object.fromEntries(all("[data-key]", chart).map((mark) => {
    const look = getComputedStyle(mark);
    const placed = ["x", "y", "width", "height", "cx", "cy", "r", "x1", "y1", "x2", "y2", "transform", "fill"].flatMap((name) => (mark.hasAttribute(name) ? [[name, mark.getAttribute(name)]] : []));
    return [mark.dataset.key, { shape: mark.localName, role: mark.dataset.role, text: mark.textContent, ink: look.fill, edge: look.stroke, seen: look.visibility === "visible",
                                placed: Object.fromEntries(placed.map(([name, value]) => [name, Number.isNaN(Number(value)) ? value : Number(value)])) }];
  }));
  return {
    numbers: all("data[data-value]").map((d) => [d.dataset.value, d.dataset.row, d.dataset.col, d.value, d.textContent]),
    words: all("[data-text]").map((e) => [e.dataset.text, e.textContent, e.hidden]),
    marks: all("[data-mark]").map((e) => [e.dataset.mark, e.dataset.on]),
    position: root.querySelector('[data-part="position"]').textContent,
    range: (({ value, max, ariaValueText }) => ({ value, max, ariaValueText }))(root.querySelector('input[name="step"]')),
    ends: Object.fromEntries(["reset", "back", "next"].map((name) => [name, root.querySelector(`[data-action="${name}"]`).ariaDisabled])),
    goes: Object.fromEntries(["reset", "back", "next"].map((name) => [name, root.querySelector(`[data-action="${name}"]`).value])),
    share: root.querySelector('[data-action="share"]').getAttribute("href"),
    charts: Object.fromEntries(all("[data-swap]").filter((part) => part.querySelector(".chart")).map((part) => [part.dataset.swap, marks(part.querySelector(".chart"))])),
  };
}
"""
)  # fmt: skip


class Api:
    """The site's own JSON, asked for beside the page."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.runs: dict[str, list[dict[str, Any]]] = {}

    def run(self, query: str) -> list[dict[str, Any]]:
        """Every snapshot of a spec, step 0 first."""
        if query not in self.runs:
            found: list[dict[str, Any]] = []
            while not found or len(found) <= found[0]["steps"]:
                found += self.json(f"/api/v1/machines/online-softmax/snapshots?{query}&start={len(found)}")["snapshots"]
            self.runs[query] = found
        return self.runs[query]

    def json(self, path: str) -> Any:
        with urllib.request.urlopen(self.site + path) as answer:
            return json.load(answer)


class Widget:
    """One widget of a page. `root` picks it where there are two."""

    def __init__(self, page: Page, root: str = "[data-widget]", frame: Any = None) -> None:
        self.page = page
        self.root: Locator = (frame or page).locator(root)
        self.keyboard = page.keyboard

    def open(self, query: str = "", path: str = PATH, script: bool = True) -> Response:
        answer = self.page.goto(f"{path}?{query}" if query else path)
        assert answer is not None
        if script:
            self.ready()
        return answer

    def ready(self) -> None:
        """Script has taken over."""
        expect(self.root).to_have_attribute("data-ready", "yes")

    def plotted(self) -> None:
        """Plotly has taken over both charts."""
        expect(self.root.locator("figure[data-plotted]")).to_have_count(2, timeout=20_000)

    def action(self, name: str) -> Locator:
        return self.root.locator(f'[data-action="{name}"]')

    def press(self, name: str) -> None:
        self.menu_for(name)
        self.action(name).click()

    def menu_for(self, name: str) -> None:
        """Open the menu, where an action is in it."""
        menu = self.root.locator("details.menu")
        if menu.locator(f'[data-action="{name}"]').count() and menu.get_attribute("open") is None:
            menu.locator("summary").click()

    def field(self, name: str) -> Locator:
        return self.root.locator(f'[name="{name}"]:not(button)')

    def fill(self, name: str, text: str) -> None:
        """Type into a field, opening the box that it is in."""
        details = self.root.locator("details.own")
        if self.field(name).evaluate("(field) => Boolean(field.closest('details:not([open])'))"):
            details.locator("summary").click()
        self.field(name).fill(text)

    def slide(self, name: str, value: int | str) -> None:
        self.field(name).fill(str(value))

    def part(self, name: str) -> Locator:
        return self.root.locator(f'[data-part="{name}"]')

    def value(self, path: str, row: int | None = None) -> Locator:
        return self.root.locator(f'data[data-value="{path}"]' + ("" if row is None else f'[data-row="{row}"]'))

    def words(self, path: str) -> Locator:
        return self.root.locator(f'[data-text="{path}"]')

    def mark(self, name: str) -> Locator:
        return self.root.locator(f'[data-mark="{name}"]')

    def error(self, field: str) -> Locator:
        return self.root.locator(f'[data-field="{field}"] [data-part="error"]')

    def at(self, step: int, steps: int | None = None) -> None:
        """Wait until a step is shown."""
        expect(self.part("position")).to_have_text(re.compile(rf"^{step} of {'' if steps is None else steps}"))

    def stays(self, step: int) -> None:
        """What has just been done is handled at once, so a step that did not change by now stays."""
        assert self.part("position").inner_text().startswith(f"{step} of ")

    def see(self) -> dict[str, Any]:
        found: dict[str, Any] = self.root.evaluate(SEE)
        return found

    def bars(self, chart: str, kind: str = "bar") -> list[dict[str, Any]]:
        """The marks of a chart that have a place in its row: its bars, numbers, names or outlines."""
        found = self.see()["charts"][chart]
        return [mark for key, mark in found.items() if key.startswith(f"{kind}/")]

    def agrees(self, snapshot: dict[str, Any]) -> None:
        """Every number, sentence, mark and control shown is what this snapshot says."""
        self.at(snapshot["step"], snapshot["steps"])
        seen = self.see()
        assert len(seen["numbers"]) > 5
        for path, row, col, value, text in seen["numbers"]:
            told = pick(snapshot, path, [int(place) for place in (row, col) if place is not None])
            where = f"{path} {row or ''} {col or ''} at step {snapshot['step']}"
            if told is None:
                assert (value, text) == ("", "–"), where
            else:
                assert same(float(value), float(told)), where
                assert text == show(float(told)), where
        for path, text, hidden in seen["words"]:
            told = pick(snapshot, path, [])
            assert hidden or text.strip("–") == (told or ""), path
            assert not (hidden and told), f"{path} is hidden"
        for mark, on in seen["marks"]:
            told = snapshot["event"].get(mark) or snapshot["state"]["naive"].get(mark)
            assert on == ("yes" if told else "no"), mark
        step, steps = snapshot["step"], snapshot["steps"]
        assert seen["range"] == {"value": str(step), "max": str(steps), "ariaValueText": f"step {step} of {steps}"}
        assert seen["ends"] == {
            "reset": "true" if step == 0 else None,
            "back": "true" if step == 0 else None,
            "next": "true" if step == steps else None,
        }
        assert seen["share"].endswith("/" + snapshot["links"]["page"])


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def pick(snapshot: dict[str, Any], path: str, places: list[int]) -> Any:
    """What a path of a page's hook names in a snapshot; None where there is nothing yet."""
    names = path.split(".")
    return _pick(snapshot if names[0] in snapshot else snapshot["state"], names, places)


def _pick(thing: Any, names: list[str], places: list[int]) -> Any:
    if isinstance(thing, list):
        at, names, places = (int(names[0]), names[1:], places) if names and names[0].isdigit() else (places[0], names, places[1:])
        return _pick(thing[at], names, places) if at < len(thing) else None
    if not names:
        return thing
    return _pick(thing[names[0]], names[1:], places) if names[0] in thing else None


def clean(page: Page, *rules: str) -> None:
    """axe finds nothing on the page, by all its rules or these."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}  # lists of what passed take as long again
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = Axe().run(page, options=options)
    assert found.violations_count == 0, f"{page.url}: {found.generate_report()}"


def told(page: Page, **said: str) -> None:
    """Wait until the page's address says this."""
    page.wait_for_function(
        "(said) => Object.entries(said).every(([name, value]) => new URLSearchParams(location.search).get(name) === value)",
        arg=said,
        timeout=30_000,
    )


def walk(page: Page, address: str, api: Api, *, live: bool = True) -> None:
    """What a student does: from the first page to a lesson, a widget, every step of it, a changed amount, its link, what there is to share.

    live   whether there is a server, and not a copy of the site as plain files
    """
    page.goto(f"{address}/")
    page.locator("header.site").get_by_role("link", name="Lessons").click()
    page.get_by_role("link", name=re.compile("online softmax", re.IGNORECASE)).last.click()
    place = page.locator("figure[data-live]").first
    place.scroll_into_view_if_needed()
    expect(place.locator("[data-widget]")).to_have_attribute("data-ready", "yes")
    page.locator("header.site").get_by_role("link", name="Online softmax").click()
    widget = Widget(page)
    widget.ready()
    run = api.run(DEFAULT)
    for step in range(1, 9):
        widget.press("next")
        widget.at(step, 8)
        expect(widget.value("l")).to_have_text(show(run[step]["state"]["l"]))
    widget.slide("offset", 85)
    expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
    widget.agrees(api.run(f"{DEFAULT}&offset=85")[8])
    told(page, offset="85", step="8")
    page.reload()
    widget.ready()
    widget.agrees(api.run(f"{DEFAULT}&offset=85")[8])
    if live:
        widget.part("sharing").locator("summary").click()
        expect(widget.part("snippets").locator("textarea").first).to_have_value(re.compile(r"://127\.0\.0\.1:"))


PLOT = """
(root, name) => {
  const div = root.querySelector(`[data-plot="${name}"]`);
  const [bars] = div.data;
  const svg = root.querySelector(`[data-swap="${name}"] svg`);
  const { a, e, f } = svg.getScreenCTM();
  const place = (box) => [box.left - e, box.top - f, box.width, box.height].map((x) => x / a);
  return { bars: bars.y.map((high, i) => ({ high: -high, foot: bars.base[i], ink: bars.marker.color[i], said: bars.customdata[i] })),
           bare: [...div.querySelectorAll(".bars .point > path")].map((path) => getComputedStyle(path).fill),
           drawn: [...div.querySelectorAll(".bars .point > path")].map((path) => place(path.getBoundingClientRect())),
           ranges: [div.layout.xaxis.range, div.layout.yaxis.range], shown: !div.hidden };
}
"""


def plot(widget: Widget, name: str) -> dict[str, Any]:
    found: dict[str, Any] = widget.root.evaluate(PLOT, name)
    return found


def rects(widget: Widget, name: str) -> dict[str, Any]:
    return {key: mark for key, mark in widget.see()["charts"][name].items() if mark["shape"] == "rect"}


def same_places(widget: Widget, name: str) -> None:
    for place, (key, mark) in zip(plot(widget, name)["drawn"], rects(widget, name).items(), strict=True):
        if mark["role"] in ("kept", "now", "failed", "now-cell", "gone", "masked", "plain-cell") and mark["placed"]["height"] > 1:
            wanted = [mark["placed"][one] for one in ("x", "y", "width", "height")]
            assert place == pytest.approx(wanted, abs=1.6), f"{key} of {name}"  # an edge is drawn half outside
