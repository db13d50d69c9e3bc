"""A step as it moves, frame by frame with the clock held: cause before effect, and a label always says its mark's height."""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.charts import tween
from app.numbers import show
from app.runs import Run
from app.stories import PAGES
from tests.pages.driver import DEFAULT, Widget

HOLD = "() => { window.held = document.getAnimations().filter((one) => one.effect.target.closest('[data-swap], [data-plot]')); for (const one of held) one.pause(); return held.length; }"
END = "() => Math.max(0, ...window.held.map((one) => one.effect.getComputedTiming().endTime))"
FRAME = """
(root) => Object.fromEntries([...root.querySelectorAll("[data-swap]")].filter((part) => part.querySelector(".chart")).map((part) => {
  const svg = part.querySelector("svg");
  const { a, e, f } = svg.getScreenCTM();
  const plotted = part.closest("[data-plotted]") ? [...part.parentElement.querySelectorAll("[data-plot] .bars .point > path")] : [];
  const rects = [...part.querySelectorAll("rect[data-key]")];
  return [part.dataset.swap, Object.fromEntries([...part.querySelectorAll("[data-key]")].map((mark) => {
    const solid = ["now", "kept", "failed"].includes(mark.dataset.role) && plotted[rects.indexOf(mark)];
    const box = (solid || mark).getBoundingClientRect();
    return [mark.dataset.key, { role: mark.dataset.role, text: mark.textContent, seen: getComputedStyle(mark).visibility === "visible",
      top: (box.top - f) / a, left: (box.left - e) / a, width: box.width / a, height: box.height / a }];
  }))];
}))
"""
FRAMES = f"""
async (root, times) => {{
  const look = {FRAME.strip()};
  const found = [];
  for (const time of times) {{
    for (const one of window.held) one.currentTime = time;
    await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))); // numbers are read off in every frame
    found.push(look(root));
  }}
  return found;
}}
"""


class Held:
    """A step that has just been made, with its clock stopped."""

    def __init__(self, widget: Widget) -> None:
        self.page, self.root = widget.page, widget.root
        self.moving = self.page.evaluate(HOLD)
        self.end: float = self.page.evaluate(END)

    def at(self, *times: float) -> Any:
        """What is seen at a time, or at each of several: of each chart its marks."""
        found = self.root.evaluate(FRAMES, list(times))
        return found if len(times) > 1 else found[0]

    def frames(self, count: int = 24) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.at(*(self.end * at / count for at in range(count)))
        return found


def step(widget: Widget) -> Held:
    widget.press("next")
    return Held(widget)


@pytest.fixture(params=["svg", "plotly"])
def opened(request: pytest.FixtureRequest, widget: Widget) -> Widget:
    """Before a new highest that leaves old bars an eighth of their height; with Plotly not there yet, and there."""
    if request.param == "svg":
        request.getfixturevalue("without_plotly")
    widget.open("step=5")
    if request.param == "plotly":
        widget.plotted()
    return widget


class TestANewHighest:
    def test_a_label_says_how_high_its_bar_is_in_every_frame(self, opened: Widget):
        held = step(opened)
        told = set()
        for frame in held.frames():
            sizes = frame["sizes"]
            for row in range(6):
                bar, number = sizes[f"bar/{row}"], sizes[f"number/{row}"]
                if number["seen"] and bar["role"] != "unread":
                    assert bar["height"] / 100 == pytest.approx(float(number["text"]), abs=0.03), row
                    told.add(number["text"])
        assert len(told) > 25

    def test_the_cause_comes_before_its_effect(self, opened: Widget):
        """The score arrives, the line rises, outlines are set, the bars shrink, the new one joins: one after the other."""
        held = step(opened)
        frames = held.frames(60)
        first = {
            "arrives": begins(frames, lambda sizes: sizes["score/5"]["top"]),
            "rises": begins(frames, lambda sizes: sizes["highest"]["top"]),
            "outlined": begins(frames, lambda sizes: sizes["was/0"]["seen"]),
            "shrinks": begins(frames, lambda sizes: sizes["bar/2"]["height"]),
            "joins": begins(frames, lambda sizes: sizes["bar/5"]["height"]),
        }
        order = list(first.values())
        assert order == sorted(order), first
        assert len(set(order)) == 5, first
        assert abs(begins(frames, lambda sizes: sizes["l"]["width"]) - first["shrinks"]) <= 1

    def test_all_old_bars_shrink_by_one_factor_together_and_the_sum_with_them(self, opened: Widget):
        held = step(opened)
        before = held.at(0)["sizes"]
        for frame in held.frames(40):
            sizes = frame["sizes"]
            factors = [sizes[f"bar/{row}"]["height"] / before[f"bar/{row}"]["height"] for row in (0, 2, 3, 4)]
            assert max(factors) - min(factors) < 0.04
            if sizes["bar/5"]["height"] < 0.5:  # until the new one joins
                assert sizes["l"]["width"] / before["l"]["width"] == pytest.approx(factors[1], abs=0.04)

    def test_the_outlines_stand_where_the_bars_stood(self, opened: Widget):
        held = step(opened)
        before = held.at(0)["sizes"]
        for frame in held.frames():
            for row in range(5):
                outline = frame["sizes"][f"was/{row}"]
                if outline["seen"]:
                    assert outline["top"] == pytest.approx(before[f"bar/{row}"]["top"], abs=1)
                if frame["sizes"][f"bar/{row}"]["height"] < 0.95 * before[f"bar/{row}"]["height"]:
                    assert outline["seen"], "a bar shrinks and nothing says from where"

    def test_the_factor_comes_with_the_shrinking_and_goes_down_with_the_bars(self, opened: Widget):
        held = step(opened)
        tops = [frame["sizes"]["factor"]["top"] for frame in held.frames(40) if frame["sizes"]["factor"]["seen"]]
        assert tops == sorted(tops)
        assert tops[-1] - tops[0] > 20
        assert held.at(held.end - 1)["sizes"]["factor"]["text"] == "× 0.135"

    def test_another_click_ends_it_at_once(self, opened: Widget):
        step(opened)
        opened.press("next")
        opened.at(7)
        assert [bar["text"] for bar in opened.bars("sizes", "number")][:6] == [
            show(x) for x in (0.049787, 0.018316, 0.135335, 0.049787, 0.135335, 1)
        ]

    def test_it_ends_by_itself_as_the_server_draws_it(self, opened: Widget):
        step(opened)
        opened.page.evaluate("() => window.held.forEach((one) => one.finish())")
        opened.page.wait_for_function(
            "() => !document.getAnimations().some((one) => one.effect.target.closest('[data-swap], [data-plot]'))"
        )
        ended = opened.see()["charts"]
        opened.page.emulate_media(reduced_motion="reduce")
        opened.page.reload()
        opened.ready()
        served = opened.see()["charts"]
        for name, marks in ended.items():
            for key, mark in marks.items():
                wanted = served[name][key]
                assert (mark["role"], mark["text"]) == (wanted["role"], wanted["text"])
                assert mark["role"] == "none" or mark["placed"] == wanted["placed"], key


def begins(frames: list[dict[str, Any]], what: Any) -> int:
    """The first frame in which this is another than at the beginning."""
    start = what(frames[0]["sizes"])
    for at, frame in enumerate(frames):
        now = what(frame["sizes"])
        if now != start if isinstance(start, bool) else abs(now - start) > 0.5:
            return at
    raise AssertionError("it never moved")


@pytest.mark.usefixtures("without_plotly")
def test_a_step_without_a_new_highest_is_short(widget: Widget):
    widget.open("step=5")
    long = step(widget).end
    widget.press("reset")
    widget.press("next")
    short = step(widget).end
    assert 0 < short < 0.6 * long


@pytest.mark.usefixtures("without_plotly")
def test_the_first_click_moves_with_plotly_not_there(widget: Widget):
    widget.open()
    assert step(widget).moving > 0


def test_no_motion_where_none_is_wanted(page: Page, widget: Widget):
    page.emulate_media(reduced_motion="reduce")
    widget.open("step=5")
    widget.plotted()
    assert step(widget).moving == 0
    assert [outline["role"] for outline in widget.bars("sizes", "was")] == ["was"] * 5 + ["none"] * 3


@pytest.mark.usefixtures("without_plotly")
def test_going_back_or_far_does_not_move(widget: Widget):
    widget.open("step=5")
    widget.press("back")
    assert Held(widget).moving == 0
    widget.slide("step", 8)
    assert Held(widget).moving == 0


@pytest.mark.usefixtures("without_plotly")
def test_fast_is_faster(widget: Widget):
    widget.open("step=5")
    normal = step(widget).end
    widget.press("back")
    widget.part("menu").locator("summary").click()
    widget.root.locator('[data-action="speed"]').select_option("2")
    assert step(widget).end == pytest.approx(normal / 2, rel=0.01)


@pytest.mark.usefixtures("without_plotly")
def test_bars_that_shrink_to_nothing_are_seen_shrinking(widget: Widget):
    """A factor that the format stores as 0."""
    widget.open("scores=0,1000&step=1")
    held = step(widget)
    heights = [frame["sizes"]["bar/0"]["height"] for frame in held.frames(40)]
    assert heights == sorted(heights, reverse=True)
    assert len({round(height) for height in heights}) > 5
    expect(widget.root.locator('[data-key="factor"]')).to_have_text("× 0")


@pytest.mark.parametrize("query", [DEFAULT, "scores=" + ",".join(str((7 * i) % 13) for i in range(64))], ids=["8", "64"])
@pytest.mark.usefixtures("without_plotly")
def test_every_step_moves(widget: Widget, query: str):
    widget.open(query)
    steps = int(widget.field("step").get_attribute("max") or 0)
    for at in range(1, min(steps, 8) + 1):
        widget.press("next")
        assert Held(widget).moving > 0, at


@pytest.mark.parametrize("name", sorted(PAGES))
@pytest.mark.usefixtures("without_plotly")
def test_every_widget_moves_within_a_step_and_ends_as_the_server_draws_it(page: Page, name: str):
    widget = Widget(page)
    widget.open(path=f"/widgets/{name}?step=1")
    held = step(widget)
    frames = held.at(*(held.end * part for part in (0.05, 0.3, 0.6, 0.95)))
    for one, other in pairwise(frames):
        assert moved_apart(one, other), "two moments look alike"
    page.evaluate("() => window.held.forEach((one) => one.finish())")
    page.wait_for_function("() => !document.getAnimations().some((one) => one.effect.target.closest('[data-swap]'))")
    ended = widget.see()["charts"]
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/widgets/{name}?step=2")
    widget.ready()
    for chart, marks in widget.see()["charts"].items():
        for key, mark in marks.items():
            assert (ended[chart][key]["role"], ended[chart][key]["text"]) == (mark["role"], mark["text"]), key
            assert mark["role"] == "none" or ended[chart][key]["placed"] == mark["placed"], key


def moved_apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(
        mark != other[chart][key]
        for chart, marks in one.items()
        for key, mark in marks.items()
        if mark["seen"] or other[chart][key]["seen"]
    )


@pytest.mark.parametrize(
    ("address", "cause", "effect"),
    [
        ("softmax-passes?step=1", "head", "cell/0/1/m"),
        ("division-order?step=1", "cell/first/share/0", "number/first/share/0"),
        ("merge?step=2", "travels/0", "result/3"),
        ("memory-traffic?way=standard&step=0", "travels/q/read", "wrote/s/0"),
        ("tiled-attention?step=1", "travels/k", "scores/0/2"),
        ("tiled-attention?step=1", "alpha/0/0", "p/0/2"),
    ],
)
@pytest.mark.usefixtures("without_plotly")
def test_what_comes_of_it_is_seen_after_it(page: Page, address: str, cause: str, effect: str):
    widget = Widget(page)
    widget.open(path=f"/widgets/{address}")
    held = step(widget)
    frames = [next(marks for marks in frame.values() if cause in marks) for frame in held.at(*(held.end * at / 48 for at in range(50)))]

    def first(key: str) -> int:
        start = frames[0][key]
        return next(
            at
            for at, marks in enumerate(frames)
            if marks[key]["seen"] and (not start["seen"] or marks[key]["top"] != start["top"] or marks[key]["left"] != start["left"])
        )

    assert first(cause) < first(effect)


@pytest.mark.parametrize("name", sorted(PAGES))
@pytest.mark.usefixtures("without_plotly")
def test_a_film_moves_as_the_page_does(page: Page, name: str):
    """At every moment a mark stands in a GIF's frame where it stands on the page, and says the same."""
    widget = Widget(page)
    widget.open(path=f"/widgets/{name}?step=1")
    held = step(widget)
    record = PAGES[name]
    run = Run(record.machine, record.presets[0].spec)
    for part in (0.1, 0.35, 0.6, 0.85):
        seen = held.at(held.end * part)
        for chart, before in zip(run.charts(2), run.charts(1), strict=True):
            for mark in tween.at(chart, before, held.end * part).marks:
                found = seen[chart.name][mark.key]
                assert found["seen"] == (mark.role != "none"), (mark.key, part)
                if not found["seen"]:
                    continue
                numbers = [[float(one) for one in re.findall(r"[\d.]*\d", text)] for text in (found["text"], mark.text)]
                assert numbers[0] == pytest.approx(numbers[1], abs=0.02 + 0.02 * abs(mark.value or 0)), mark.key
                if mark.shape == "rect" and mark.box[3] > 2:
                    assert (found["left"], found["top"]) == pytest.approx(mark.box[:2], abs=1.5), mark.key


@pytest.mark.usefixtures("without_plotly")
def test_slowly_plays_the_phases_on_the_same_stage(page: Page):
    """Each press plays one phase and stops there: the factor is not seen before its phase, the size not before its own."""
    widget = Widget(page)
    widget.open(path="/widgets/tiled-attention?step=1")
    widget.press("slow")
    seen = []
    for _ in range(7):
        widget.press("next")
        page.wait_for_function(
            "() => document.getAnimations().filter((one) => one.effect.target.closest('[data-swap]')).every((one) => one.playState === 'paused')"
        )
        frame = widget.root.evaluate(FRAME)["tiles"]
        seen.append(
            (
                frame["scores/0/2"]["seen"],
                frame["m/0/0"]["text"],
                frame["alpha/0/0"]["seen"],
                frame["p/0/2"]["seen"],
                frame["l/0/0"]["text"],
            )
        )
    assert [one[0] for one in seen] == [False] + [True] * 6
    assert [one[1] for one in seen] == ["2", "2", "3", "3", "3", "3", "3"]
    assert [one[2] for one in seen] == [False] * 3 + [True] * 4
    assert [one[3] for one in seen] == [False] * 4 + [True] * 3
    assert [one[4] for one in seen] == ["1.368"] * 3 + ["0.503"] * 2 + ["1.871"] * 2
    widget.press("back")
    page.wait_for_function(
        "() => document.getAnimations().filter((one) => one.effect.target.closest('[data-swap]')).every((one) => one.playState === 'paused')"
    )
    widget.press("next")
    widget.press("next")
    widget.at(3)
