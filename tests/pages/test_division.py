"""Dividing first or last: both ways side by side, stepped through, on the example and on own scores and values."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.numbers import show
from tests.conftest import Watch
from tests.pages.driver import Api, Widget, clean, pick

PATH = "/widgets/division-order"
GOLDEN = json.loads((Path(__file__).parent.parent / "data/worked_examples.json").read_text())["divide_first_or_last"]
DEFAULT = "scores=1,2&values=2,0;0,2"
SEE = """
(root) => [...root.querySelectorAll("data[data-value]")].map((one) => [one.dataset.value, one.dataset.row, one.dataset.col, one.textContent])
"""


class Division(Widget):
    def open(self, query: str = "", path: str = PATH, script: bool = True) -> Any:
        return super().open(query, path, script)

    def numbers(self, path: str) -> list[float]:
        """Those shown at a path, none where there is none yet."""
        texts = self.root.locator(f'data[data-value="{path}"]').all_inner_texts()
        return [round(float(text.replace("−", "-")), 3) for text in texts if text != "–"]


@pytest.fixture
def widget(page: Page) -> Division:
    return Division(page)


@pytest.fixture
def divided(api: Api):
    def run(query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = api.json(f"/api/v1/machines/division-order/snapshots?{query}")["snapshots"]
        return found

    return run


def agrees(widget: Division, shot: dict[str, Any]) -> None:
    """Each number of the page is this snapshot's, and so are its sentences."""
    widget.at(shot["step"], shot["steps"])
    found = widget.root.evaluate(SEE)
    assert len(found) > 8
    for path, row, col, text in found:
        told = pick(shot, path, [int(place) for place in (row, col) if place is not None])
        assert text == ("–" if told is None else show(told)), f"{path} {row},{col} at step {shot['step']}"
    expect(widget.part("caption")).to_have_text(shot["caption"])
    for way in ("first", "last"):
        expect(widget.words(f"words.{way}")).to_have_text(shot["words"][way])


def as_quoted(widget: Division, step: int) -> None:
    """The golden file's numbers come with the step they belong to, and not before."""
    told = {
        "exponentials": (1, GOLDEN["exponentials"]),
        "l": (1, [GOLDEN["l"]]),
        "first.shares": (2, GOLDEN["shares"]),
        "first.output": (3, GOLDEN["output"]),
        "last.weighted_sum": (3, GOLDEN["weighted_sum"]),
        "last.output": (4, GOLDEN["output"]),
    }
    for path, (first, values) in told.items():
        assert widget.numbers(path) == (values if step >= first else []), f"{path} at step {step}"


def test_by_mouse_to_the_end_and_back(page: Page, widget: Division, divided, site: str):
    run = divided(DEFAULT)
    assert [shot["event"]["kind"] for shot in run] == ["start", "exponentials", "shares", "weigh", "divide"]
    widget.open()
    agrees(widget, run[0])
    as_quoted(widget, 0)
    for step in (1, 2, 3, 4):
        widget.press("next")
        agrees(widget, run[step])
        as_quoted(widget, step)
        expect(widget.part("live")).to_have_text(run[step]["spoken"])
        address = f"{site}/{run[step]['links']['page']}"
        page.wait_for_function("(address) => location.href === address", arg=address)
    expect(widget.action("next")).to_have_attribute("aria-disabled", "true")
    page.reload()
    widget.ready()
    agrees(widget, run[4])
    for step in (3, 2, 1):
        widget.press("back")
        agrees(widget, run[step])
        as_quoted(widget, step)
    widget.press("reset")
    agrees(widget, run[0])


def test_by_keyboard(widget: Division, divided):
    run = divided(DEFAULT)
    widget.open()
    widget.action("next").focus()
    keys = [("Enter", 1), ("Space", 2), ("ArrowRight", 3), ("ArrowRight", 4), ("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 0), ("End", 4)]
    for key, step in keys:
        widget.keyboard.press(key)
        agrees(widget, run[step])
        as_quoted(widget, step)
    expect(widget.action("next")).to_be_focused()


def test_both_ways_show_their_arithmetic(widget: Division):
    widget.open("step=4")
    expect(widget.words("words.first")).to_have_text("0.269 × 2 + 0.731 × 0 ≈ 0.538")
    expect(widget.words("words.last")).to_have_text("0.368 × 2 + 1 × 0 ≈ 0.736")
    expect(widget.part("caption")).to_contain_text("both ways give [0.538, 1.462]")
    expect(widget.root.get_by_role("heading", name="Shares first")).to_be_visible()
    expect(widget.root.get_by_role("heading", name="Division last")).to_be_visible()


def test_own_scores_and_scalar_values(page: Page, widget: Division, divided, watch: Watch, site: str):
    """Two values for three scores are a fault on the way; the third makes it good."""
    watch.expect("status of 422")
    widget.open("step=2")
    widget.fill("scores", "1, 3, 2")
    expect(widget.error("values")).to_be_visible()
    agrees(widget, divided(DEFAULT)[2])
    widget.fill("values", "10, 20, 30")
    expect(widget.error("values")).to_have_count(0)
    run = divided("scores=1,3,2&values=10,20,30")
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
    expect(widget.root).to_contain_text("3 divisions, one for each share.")
    expect(widget.root).to_contain_text("1 division, one for each number of the output.")
    page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[4]['links']['page']}")


def test_vectors_of_three(widget: Division, divided):
    widget.open()
    widget.fill("values", "2,0,1;0,2,-1")
    expect(widget.root.locator("thead th").first).to_be_visible()
    expect(widget.root.locator('data[data-value="last.output"]')).to_have_count(3)
    run = divided("scores=1,2&values=2,0,1;0,2,-1")
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)


def test_another_format_stays_at_the_step(widget: Division, divided):
    widget.open("step=4")
    widget.field("format").select_option("bfloat16")
    expect(widget.action("share")).to_have_attribute("href", re.compile("bfloat16"))
    agrees(widget, divided(f"{DEFAULT}&format=bfloat16")[4])


@pytest.mark.parametrize(
    ("name", "query"),
    [("Five scores", "scores=1,3,2,5,4&values=10,20,30,40,50"), ("In bfloat16", "scores=0.5,1,1.5,2&values=3,1,4,1.5&format=bfloat16")],
)
def test_presets(widget: Division, divided, name: str, query: str):
    widget.open("step=1")
    widget.root.get_by_role("link", name=name).click()
    run = divided(query)
    expect(widget.action("share")).to_have_attribute("href", re.compile(re.escape(run[0]["links"]["page"]) + "$"))
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)


@pytest.mark.parametrize(
    ("query", "said"), [("scores=-inf,-inf&values=1,2", "both ways answer 0"), ("scores=-inf,2&values=nan,5", "both ways give 5")]
)
def test_masked_scores(widget: Division, divided, query: str, said: str):
    widget.open(query)
    run = divided(query)
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
    expect(widget.part("caption")).to_contain_text(said)


def test_bad_input_keeps_the_last_good_state(widget: Division, divided, watch: Watch):
    watch.expect("status of 422")
    widget.open("step=3")
    widget.fill("values", "2,0;0")
    expect(widget.error("values")).to_be_visible()
    expect(widget.field("values")).to_have_attribute("aria-invalid", "true")
    agrees(widget, divided(DEFAULT)[3])
    widget.press("next")
    agrees(widget, divided(DEFAULT)[4])


class TestWithoutScript:
    @pytest.fixture
    def plain(self, new_context) -> Division:
        return Division(new_context(java_script_enabled=False).new_page())

    def test_to_the_end_and_back(self, plain: Division, divided):
        run = divided(DEFAULT)
        plain.open(script=False)
        for step in (1, 2, 3, 4):
            plain.press("next")
            agrees(plain, run[step])
            as_quoted(plain, step)
        plain.press("back")
        agrees(plain, run[3])
        plain.press("reset")
        agrees(plain, run[0])

    def test_own_scores_and_values(self, plain: Division, divided):
        plain.open(script=False)
        plain.fill("scores", "3, 1, 2")
        plain.fill("values", "1, 2, 3")
        plain.press("apply")
        run = divided("scores=3,1,2&values=1,2,3")
        agrees(plain, run[0])
        plain.press("next")
        agrees(plain, run[1])


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_axe_finds_nothing(page: Page, widget: Division, scheme: str, width: int):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 720})
    widget.open()
    clean(page)
    widget.slide("step", 4)
    widget.at(4)
    widget.root.locator("details.own summary").click()
    clean(page)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width
