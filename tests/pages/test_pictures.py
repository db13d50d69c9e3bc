"""The bars: as the server draws them, as script moves them, as Plotly shows them; and how they look."""

import math
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget

SPECS = [
    DEFAULT,
    "scores=1,2,3,4,5,6",
    "scores=-inf,-inf,1,2&values=1,2,3,4&block=2",
    f"{DEFAULT}&offset=80",
    "scores=1,2,0,1,3,2&values=2,0;0,2;1,1;2,0;0,2;1,1&block=2",
    "scores=1,nan,2,inf",
    "scores=-100,-95,3,-200",
    "scores=1.3,2.7,9&format=float8_e4m3fn&offset=80",
    "scores=" + ",".join(str((7 * i) % 13 / 2) if i % 9 else "-inf" for i in range(26)) + "&block=5",
]
NAMES = ["default", "rising", "masked", "overflowed", "vectors", "nan and inf", "tiny", "float8 at 80", "26 in blocks"]
each_spec = pytest.mark.parametrize("query", SPECS, ids=NAMES)


@each_spec
@pytest.mark.usefixtures("without_plotly")
def test_what_script_shows_is_what_the_server_shows(widget: Widget, api: Api, new_context, query: str):
    """Forward one by one, then in leaps and back: numbers, words, marks, controls and every bar."""
    plain = Widget(new_context(java_script_enabled=False).new_page())
    steps = api.run(query)[0]["steps"]
    served = []
    for step in range(steps + 1):
        plain.open(f"{query}&step={step}", script=False)
        served.append(plain.see())
    widget.open(query)
    alike(widget.see(), served[0])
    for step in range(1, steps + 1):
        widget.press("next")
        alike(widget.see(), served[step])
    for step in (steps // 2, 0, steps, max(steps - 1, 0), 1):
        widget.slide("step", step)
        alike(widget.see(), served[step])


def alike(here: dict[str, Any], there: dict[str, Any]) -> None:
    assert here["position"] == there["position"]
    for name in ("sizes", "exps"):
        assert len(here[name]) == len(there[name]) > 0
        for a, b in zip(here[name], there[name], strict=True):
            close({**a, "scoreInk": ""}, {**b, "scoreInk": ""}, f"{name} at {here['position']}, row {a['row']}")
    for (*where, value, text), (*same_place, value2, text2) in zip(here["numbers"], there["numbers"], strict=True):
        assert (where, text) == (same_place, text2)
        assert value == value2 or float(value) == float(value2) or value.lower() == value2.lower() == "nan"
    for name in ("words", "marks", "range", "ends", "goes", "share"):
        assert here[name] == there[name], name


def close(a: Any, b: Any, where: str) -> None:
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            close(a[key], b[key], f"{where}, {key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for one, other in zip(a, b, strict=True):
            assert one == pytest.approx(other, abs=0.003), where  # parts of the picture's width
    elif isinstance(a, (int, float)) and not isinstance(a, bool):
        assert a == pytest.approx(b, abs=0.0101), where
    else:
        assert a == b, where


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("without_plotly")
def test_a_score_below_its_bar_is_grey_until_it_is_read(page: Page, widget: Widget, scheme: str):
    page.emulate_media(color_scheme=scheme)
    widget.open("step=7")
    inks = [bar["scoreInk"] for bar in widget.see()["sizes"]]
    assert len(set(inks[:7])) == 1
    assert inks[7] != inks[0]
    widget.press("next")
    assert {bar["scoreInk"] for bar in widget.see()["sizes"]} == {inks[0]}


@pytest.mark.usefixtures("without_plotly")
def test_without_plotly_the_bars_move(widget: Widget):
    widget.open("step=5")
    before = [bar["size"]["height"] for bar in widget.see()["sizes"]]
    widget.press("next")
    after = widget.see()["sizes"]
    factor = math.exp(7 - 9)
    for was, bar in zip(before[:5], after[:5], strict=True):
        assert bar["size"]["height"] == pytest.approx(was * factor, abs=0.02)
        assert (bar["kind"], bar["ghost"]["hidden"]) == ("shrunk", False)
        assert bar["ghost"]["height"] == pytest.approx(was, abs=0.02)
    assert after[5]["kind"] == "new"
    assert [bar["kind"] for bar in after[6:]] == ["unread", "unread"]
    expect(widget.root.locator("figure[data-plotted]")).to_have_count(0)
    expect(widget.root.locator(".picture svg")).to_have_count(2)
    expect(widget.root.locator(".picture svg").first).to_be_visible()


def test_where_plotly_fails_the_picture_stays(page: Page, widget: Widget, api: Api, watch: Watch):
    watch.expect("plotly.js")
    page.route("**/vendor/plotly.js", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        widget.open("step=5")
    widget.press("next")
    widget.agrees(api.run(DEFAULT)[6])
    expect(widget.root.locator(".picture svg").first).to_be_visible()
    expect(widget.root.locator("figure[data-plotted]")).to_have_count(0)


@pytest.mark.usefixtures("without_plotly")
def test_five_old_bars_shrink_at_once_and_are_still_seen(widget: Widget):
    widget.open("step=6")
    heights = widget.root.evaluate(
        """(root) => [...root.querySelectorAll('.plot-sizes [data-kind="shrunk"] .size')].map((bar) => bar.getBoundingClientRect().height)"""
    )
    assert len(heights) == 5
    assert min(heights) >= 2  # pixels


PLOT = """
(root, name) => {
  const div = root.querySelector(`[data-plot="${name}"]`);
  return { data: div.data.map(({ y, base, type, marker }) => ({ y, base, type, color: marker.color })),
           labels: div.layout.xaxis.ticktext, range: div.layout.yaxis.range, duration: div.layout.transition.duration,
           shown: !div.hidden, size: div.getBoundingClientRect().width };
}
"""


def plot(widget: Widget, name: str) -> dict[str, Any]:
    found: dict[str, Any] = widget.root.evaluate(PLOT, name)
    return found


@each_spec
def test_plotly_shows_the_state(page: Page, widget: Widget, api: Api, query: str):
    """Its bars are as high as the server's, its slots are there from the start, and its axes stand still."""
    run = api.run(query)
    widget.open(query)
    widget.plotted()
    ranges = plot(widget, "sizes")["range"], plot(widget, "exps")["range"]
    for shot in (run[0], run[1], run[len(run) // 2], run[-1], run[0]):
        widget.slide("step", shot["step"])
        page.wait_for_function("(step) => (new URLSearchParams(location.search).get('step') ?? '0') === step", arg=str(shot["step"]))
        seen = widget.see()
        low, high = plot(widget, "exps")["range"]
        for name, tall in (("sizes", 1.0), ("exps", high - low)):
            drawn = plot(widget, name)
            bars = drawn["data"][1 if name == "sizes" else 0]
            assert len(bars["y"]) == len(seen[name])
            for height, bar in zip(bars["y"], seen[name], strict=True):
                where = f"{name} at {shot['step']}, row {bar['row']}"
                if bar["kind"] == "unread":
                    assert height is None, where
                else:
                    assert height / tall == pytest.approx(bar["size"]["height"] / (194 - 30), abs=0.001), where
            assert drawn["shown"]
            assert drawn["labels"] == [bar["score"] for bar in seen[name] if bar["score"]], name
        assert (plot(widget, "sizes")["range"], plot(widget, "exps")["range"]) == ranges


def test_plotly_shows_the_outline_of_what_shrank(page: Page, widget: Widget, api: Api):
    widget.open("step=5")
    widget.plotted()
    widget.press("next")
    page.wait_for_function("() => location.search.endsWith('step=6')")
    shot = api.run(DEFAULT)[6]
    before, now, _ = plot(widget, "sizes")["data"]
    assert before["y"] == [term["size_before"] for term in shot["state"]["terms"][:5]] + [None] * 3
    assert now["y"] == [term["size"] for term in shot["state"]["terms"]] + [None] * 2
    assert len(set(now["color"][:5])) == 1
    assert now["color"][5] != now["color"][0]


def test_the_ceiling_is_a_labelled_line(widget: Widget):
    widget.open("offset=80&step=6")
    widget.plotted()
    div = widget.root.locator('[data-plot="exps"]')
    expect(div).to_contain_text("largest float32, 3.40×10³⁸")
    shapes = div.evaluate("(div) => div.layout.shapes.filter((one) => one.type === 'line').map((one) => one.y0)")
    assert shapes == [pytest.approx(math.log10(3.4028234663852886e38))]


def test_plotly_comes_after_the_first_clicks(page: Page, widget: Widget):
    """It is not asked for while the reader is busy."""
    page.clock.install(time=0)
    page.clock.pause_at(1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "plot" in request.url else None)
    widget.open()
    for step in range(1, 4):
        widget.press("next")
        widget.at(step)
        page.clock.run_for(300)
    assert asked == []
    with page.expect_request("**/vendor/plotly.js"):
        page.clock.run_for(3000)
        page.clock.resume()


@pytest.mark.usefixtures("without_plotly")
def test_the_picture_has_no_toolbar_and_its_words_stay_in_it(widget: Widget):
    for query in (f"{DEFAULT}&offset=80&step=8", "scores=-inf,1000,1001,1002&step=4", f"{DEFAULT}&format=float64&offset=900&step=8"):
        widget.open(query)
        spilled = widget.root.evaluate(
            """(root) => [...root.querySelectorAll(".picture svg text")].filter((text) => {
                 const [a, b] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
                 return a.width && (a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1);
               }).map((text) => text.textContent)"""
        )
        assert spilled == []
    expect(widget.root.locator(".modebar")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize(
    "query", [SPECS[0], SPECS[-1], "scores=" + ",".join(str((7 * i) % 13 / 2 - 100) for i in range(64))], ids=["8", "26", "64"]
)
def test_the_scores_below_the_bars_do_not_run_into_each_other(page: Page, widget: Widget, query: str, width: int):
    page.set_viewport_size({"width": width, "height": 900})
    widget.open(f"{query}&step=3")
    widget.plotted()
    clashes = widget.root.evaluate(
        """(root) => [...root.querySelectorAll(".plot")].flatMap((plot) => {
             const labels = [...plot.querySelectorAll(".xtick text, .xtitle")].map((one) => [one.textContent, one.getBoundingClientRect()]);
             const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
             return labels.flatMap(([text, a], at) => labels.slice(at + 1).filter(([, b]) => hit(a, b)).map(([other]) => `${text} and ${other}`));
           })"""
    )
    assert clashes == []


CONTRAST = """
(root) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  return [...root.querySelectorAll("figure svg text")].filter((text) => text.textContent.trim() && text.getBoundingClientRect().width).map((text) => {
    const bar = text.classList.contains("inside") ? text.closest("g.bar").querySelector(".size") : null;
    const behind = bar ? getComputedStyle(bar).fill : getComputedStyle(text.closest(".box")).backgroundColor;
    return [text.textContent.trim(), text.getAttribute("class"), Math.round(10 * ratio(getComputedStyle(text).fill, behind)) / 10];
  });
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/widgets/online-softmax?step=6", "/widgets/online-softmax?step=6&offset=80", "/"])
@pytest.mark.usefixtures("without_plotly")
def test_the_words_in_the_picture_can_be_read(page: Page, path: str, scheme: str):
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    found = page.locator("main").evaluate(CONTRAST)
    assert len(found) > 15
    assert [one for one in found if one[2] < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_plotly_takes_the_colours_of_the_page(page: Page, widget: Widget, scheme: str):
    page.emulate_media(color_scheme=scheme)
    widget.open("step=6")
    widget.plotted()
    assert [one for one in page.locator("main").evaluate(CONTRAST) if one[2] < 4.5] == []
    page.emulate_media(color_scheme={"light": "dark", "dark": "light"}[scheme])
    colour = "getComputedStyle(document.documentElement).getPropertyValue('--new').trim()"
    page.wait_for_function(f"() => document.querySelector('[data-plot=sizes]').data[1].marker.color[5] === {colour}")
    assert [one for one in page.locator("main").evaluate(CONTRAST) if one[2] < 4.5] == []


def test_no_motion_where_none_is_wanted(page: Page, widget: Widget):
    page.emulate_media(reduced_motion="reduce")
    widget.open("step=5")
    widget.plotted()
    assert plot(widget, "sizes")["duration"] == 0
    widget.press("next")
    page.wait_for_function("() => location.search.endsWith('step=6')")
    assert (plot(widget, "sizes")["duration"], plot(widget, "exps")["duration"]) == (0, 0)


def test_motion_where_it_is(page: Page, widget: Widget):
    widget.open("step=5")
    widget.plotted()
    widget.press("next")
    page.wait_for_function("() => location.search.endsWith('step=6')")
    assert plot(widget, "sizes")["duration"] > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_shows_the_picture_and_hides_the_controls(page: Page, widget: Widget, scheme: str):
    page.emulate_media(color_scheme=scheme)
    widget.open("step=6")
    widget.plotted()
    page.emulate_media(media="print", color_scheme=scheme)
    for chart in ("sizes", "exps"):
        picture = widget.root.locator(f'[data-swap="{chart}"]')
        expect(picture).to_be_visible()
        heights = picture.evaluate("(div) => [...div.querySelectorAll('.size')].map((bar) => bar.getBoundingClientRect().height)")
        assert min(heights[:6]) > 1, f"the bars of {chart} are not drawn"
        expect(widget.root.locator(f'[data-plot="{chart}"]')).to_be_hidden()
    expect(widget.part("caption")).to_be_visible()
    expect(widget.part("table")).to_be_visible()
    for hidden in (widget.action("next"), widget.field("offset"), widget.root.locator(".presets"), page.locator("header nav")):
        expect(hidden).to_be_hidden()
    assert [one for one in page.locator("main").evaluate(CONTRAST) if one[2] < 4.5] == []


class TestForcedColours:
    """The reader's own few colours, and nothing said by colour alone."""

    @pytest.fixture
    def forced(self, page: Page, widget: Widget) -> Widget:
        page.emulate_media(forced_colors="active")
        widget.open("step=6&offset=80")
        return widget

    @pytest.mark.usefixtures("without_plotly")
    def test_bars_wear_system_colours(self, forced: Widget):
        system = forced.page.evaluate(
            """() => ["CanvasText", "Highlight", "Canvas", "GrayText"].map((name) => {
                 const probe = document.createElement("span");
                 document.body.append(probe);
                 probe.style.setProperty("forced-color-adjust", "none");
                 probe.style.setProperty("color", name);
                 return getComputedStyle(probe).color; })"""
        )
        bars = forced.see()["sizes"]
        assert bars[0]["size"]["fill"] in system
        assert bars[5]["size"]["fill"] in system
        assert bars[0]["size"]["fill"] != bars[5]["size"]["fill"]
        assert bars[0]["ghost"]["stroke"] in system

    def test_what_matters_has_a_word(self, forced: Widget):
        expect(forced.part("caption")).to_contain_text("a new highest")
        expect(forced.mark("rescales")).to_contain_text("factor on all that was kept")
        assert "shrinks" in forced.mark("rescales").locator(".name").evaluate("(name) => getComputedStyle(name, '::after').content")
        expect(forced.words("words.naive")).to_contain_text("failed")
        expect(forced.root.locator('[data-swap="exps"] [data-row="5"] .number')).to_have_text("∞")

    def test_the_keys_of_the_legend_differ(self, forced: Widget):
        looks = forced.root.locator(".legend").first.evaluate(
            """(legend) => [...legend.children].map((key) => { const look = getComputedStyle(key, "::before");
                 return [look.backgroundColor, look.backgroundImage, look.borderTopColor, look.borderTopStyle].join(); })"""
        )
        assert len(set(looks)) == len(looks) == 4
