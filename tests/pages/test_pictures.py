"""The bars: as the server draws them, as script moves them, as Plotly shows them; and how they look."""

import math
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget, plot, rects, same_places

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
    widget.page.emulate_media(reduced_motion="reduce")
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
    assert seen(here) == seen(there)
    assert sum(map(len, here["charts"].values())) > 10
    for (*where, value, text), (*same_place, value2, text2) in zip(here["numbers"], there["numbers"], strict=True):
        assert (where, text) == (same_place, text2)
        assert value == value2 or float(value) == float(value2) or value.lower() == value2.lower() == "nan"
    for name in ("words", "marks", "range", "ends", "goes", "share"):
        assert here[name] == there[name], name


def seen(found: dict[str, Any]) -> dict[str, Any]:
    """What there is to see of each mark; one that is not there stands anywhere."""
    return {name: {key: mark for key, mark in marks.items() if mark["role"] != "none"} for name, marks in found["charts"].items()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("without_plotly")
def test_a_score_below_its_bar_is_grey_until_it_is_read(page: Page, widget: Widget, scheme: str):
    page.emulate_media(color_scheme=scheme)
    widget.open("step=7")
    inks = [name["ink"] for name in widget.bars("sizes", "name")]
    assert len(set(inks[:7])) == 1
    assert inks[7] != inks[0]
    widget.press("next")
    assert {name["ink"] for name in widget.bars("sizes", "name")} == {inks[0]}


@pytest.mark.usefixtures("without_plotly")
def test_without_plotly_the_bars_move(widget: Widget):
    widget.open("step=5")
    before = [bar["placed"]["height"] for bar in widget.bars("sizes")]
    widget.press("next")
    after, outlines = widget.bars("sizes"), widget.bars("sizes", "was")
    factor = math.exp(7 - 9)
    for was, bar, outline in zip(before[:5], after[:5], outlines[:5], strict=True):
        assert bar["placed"]["height"] == pytest.approx(was * factor, abs=0.11)
        assert (bar["role"], outline["role"]) == ("kept", "was")
        assert outline["placed"]["height"] == was
    assert [bar["role"] for bar in after[5:]] == ["now", "unread", "unread"]
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
        """(root) => [...root.querySelectorAll('.chart-sizes [data-key^="bar/"][data-role="kept"]')].map((bar) => bar.getBoundingClientRect().height)"""
    )
    assert len(heights) == 5
    assert min(heights) >= 2  # pixels


@each_spec
def test_plotly_shows_the_state(page: Page, widget: Widget, api: Api, query: str):
    """Its bars stand where the server's do, at once where a step has been made and anew when it rests; its axes stand still."""
    run = api.run(query)
    page.emulate_media(reduced_motion="reduce")
    widget.open(query)
    widget.plotted()
    ranges = plot(widget, "sizes")["ranges"], plot(widget, "exps")["ranges"]
    for shot in (run[0], run[1], run[len(run) // 2], run[-1], run[0]):
        widget.slide("step", shot["step"])
        widget.at(shot["step"])
        for name in ("sizes", "exps"):
            same_places(widget, name)
            page.wait_for_function("(name) => !document.querySelector(`[data-plot=${name}]`).hasAttribute('data-behind')", arg=name)
            same_places(widget, name)
            drawn = plot(widget, name)
            assert drawn["shown"]
            for bar, mark in zip(drawn["bars"], rects(widget, name).values(), strict=True):
                if mark["role"] in ("kept", "now", "failed"):
                    assert bar["high"] == pytest.approx(max(mark["placed"]["height"], 1))
                    assert bar["ink"] != "rgba(0, 0, 0, 0)"
                else:
                    assert bar["ink"] == "rgba(0, 0, 0, 0)"
        assert (plot(widget, "sizes")["ranges"], plot(widget, "exps")["ranges"]) == ranges


def test_who_points_at_a_bar_is_told_its_number(widget: Widget):
    widget.open("step=6")
    widget.plotted()
    said = [bar["said"] for bar in plot(widget, "sizes")["bars"]]
    assert "size of score 5: 0.018" in said
    assert "exp(9): 8103.084" in [bar["said"] for bar in plot(widget, "exps")["bars"]]


def test_the_ceiling_is_a_labelled_line(widget: Widget):
    widget.open("offset=80&step=6")
    exps = widget.root.locator('[data-swap="exps"]')
    expect(exps).to_contain_text("largest float32, 3.40×10³⁸")
    line, fallen = exps.locator('[data-role="limit"]'), exps.locator('[data-role="failed"]').first
    assert float(line.get_attribute("y1") or 0) > float(fallen.get_attribute("y") or 0)


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
    const bar = text.dataset.role === "turned-in" ? text.parentElement.querySelector(`[data-key="${text.dataset.key.replace("number", "bar")}"]`) : null;
    const behind = bar ? getComputedStyle(bar).fill : getComputedStyle(text.closest(".box") ?? document.documentElement).backgroundColor;
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
    inks = "document.querySelector('[data-plot=sizes]').data[0].marker.color"
    page.wait_for_function(
        f"() => {{ const probe = Object.assign(document.createElement('i'), {{}}); probe.style.color = {colour}; document.body.append(probe);"
        f" const ink = getComputedStyle(probe).color; probe.remove(); return {inks}.includes(ink); }}"
    )
    assert [one for one in page.locator("main").evaluate(CONTRAST) if one[2] < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_shows_the_picture_and_hides_the_controls(page: Page, widget: Widget, scheme: str):
    page.emulate_media(color_scheme=scheme)
    widget.open("step=6")
    widget.plotted()
    page.emulate_media(media="print", color_scheme=scheme)
    for chart in ("sizes", "exps"):
        picture = widget.root.locator(f'[data-swap="{chart}"]')
        expect(picture).to_be_visible()
        seen = picture.evaluate(
            "(div) => [...div.querySelectorAll('[data-key^=bar]')].map((bar) => [getComputedStyle(bar).visibility, bar.getBoundingClientRect().height])"
        )
        assert all(visibility == "visible" and height > 1 for visibility, height in seen[:6]), f"the bars of {chart} are not drawn"
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
        bars = forced.bars("sizes")
        assert bars[0]["ink"] in system
        assert bars[5]["ink"] in system
        assert bars[0]["ink"] != bars[5]["ink"]
        assert forced.bars("sizes", "was")[0]["edge"] in system

    def test_what_matters_has_a_word(self, forced: Widget):
        expect(forced.part("caption")).to_contain_text("a new highest")
        expect(forced.mark("rescales")).to_contain_text("factor on all that was kept")
        assert "shrinks" in forced.mark("rescales").locator(".name").evaluate("(name) => getComputedStyle(name, '::after').content")
        expect(forced.words("words.naive")).to_contain_text("failed")
        expect(forced.root.locator('[data-swap="exps"] [data-key="number/5"]')).to_have_text("∞")

    def test_the_keys_of_the_legend_differ(self, forced: Widget):
        looks = forced.root.locator(".legend").first.evaluate(
            """(legend) => [...legend.children].map((key) => { const look = getComputedStyle(key, "::before");
                 return [look.backgroundColor, look.backgroundImage, look.borderTopColor, look.borderTopStyle].join(); })"""
        )
        assert len(set(looks)) == len(looks) == 4
