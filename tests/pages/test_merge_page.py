"""A row split and merged on its page: every number the API's, the row cut and joined by a click, orders, formats, and no script."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.machines import MACHINES
from app.numbers import show
from app.specs import query as query_of
from app.stories import BY_NAME
from tests.conftest import Watch
from tests.pages.driver import Api, Widget, clean, pick
from tests.pages.test_same_numbers import DIFFERENCES

PATH = "/widgets/merge"
FIVE = "scores=1,3,2,5,4&values=10,20,30,40,50"
SEE = """
(root) => ({
  numbers: [...root.querySelectorAll("data[data-value]")].map((one) => [one.dataset.value, one.dataset.row, one.dataset.col, one.textContent]),
  parts: [...root.querySelectorAll("[data-worker]")].map((one) => one.dataset.state),
  results: Object.fromEntries([...root.querySelectorAll("[data-number]")].map((one) => [one.dataset.number, one.dataset.state])),
})
"""


class Merge(Widget):
    def open(self, query: str = "", path: str = PATH, script: bool = True) -> Any:
        return super().open(query, path, script)

    def link(self, name: str) -> Any:
        return self.root.get_by_role("link", name=name, exact=True)


@pytest.fixture
def widget(page: Page) -> Merge:
    return Merge(page)


@pytest.fixture
def told(api: Api):
    """A run as the API tells it."""

    def run(query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = api.json(f"/api/v1/machines/merge/snapshots?{query}")["snapshots"]
        return found

    return run


def agrees(widget: Merge, shot: dict[str, Any]) -> None:
    """Each number and sentence is what this snapshot says, and so is what has been read, waits and is merged."""
    widget.at(shot["step"], shot["steps"])
    seen = widget.root.evaluate(SEE)
    assert len(seen["numbers"]) > 15
    for path, row, col, text in seen["numbers"]:
        value = pick(shot, path, [int(place) for place in (row, col) if place is not None])
        assert text == ("–" if value is None else show(value)), f"{path} {row},{col} at step {shot['step']}"
    expect(widget.part("caption")).to_have_text(shot["caption"])
    for name in ("m", "l", "factors", "moved"):
        expect(widget.words(f"words.{name}")).to_have_text(shot["words"][name])
    made = {str(one["number"]): one["waiting"] for one in shot["state"]["parts"]}
    for number, state in seen["results"].items():
        waiting = made.get(number)
        assert state == ("later" if waiting is None else "now" if int(number) == shot["step"] else "waiting" if waiting else "used")
    for worker, state in enumerate(seen["parts"], 1):
        assert state == ("waits" if worker > shot["step"] else "now" if worker == shot["step"] else "read")


def test_by_mouse_to_the_end_and_back(page: Page, widget: Merge, told, site: str):
    run = told(FIVE)
    widget.open()
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
        expect(widget.part("live")).to_have_text(shot["spoken"])
    page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[-1]['links']['page']}")
    expect(widget.root.get_by_role("group", name="the whole row")).to_contain_text("39.952")
    expect(widget.words("words.moved")).to_be_visible()
    for shot in run[-2::-1]:
        widget.press("back")
        agrees(widget, shot)


def test_by_keyboard(widget: Merge, told):
    run = told(FIVE)
    widget.open()
    widget.action("next").focus()
    for key, step in [("Enter", 1), ("ArrowRight", 2), ("End", 3), ("ArrowLeft", 2), ("Home", 0), ("Space", 1)]:
        widget.keyboard.press(key)
        agrees(widget, run[step])
    expect(widget.action("next")).to_be_focused()


def test_the_numbers_of_an_example_by_hand(widget: Merge):
    """Parts 1, 3, 2 and 5, 4: ℓ is 1 + e⁻² + e⁻¹ and 1 + e⁻¹, and the first is multiplied by e⁻²."""
    widget.open("step=3")
    table = widget.root.locator('[data-part="table"] tbody tr')
    assert [row.locator("td").nth(1).inner_text() for row in table.all()] == ["1.503", "1.368", "1.571"]
    assert widget.root.locator('[data-value="parts.factors"]').all_inner_texts() == ["0.135", "1"]
    assert widget.root.locator('[data-value="lse"]').inner_text() == "5.452"  # 5 + ln 1.571
    assert widget.root.locator('[data-value="lse2"]').first.inner_text() == "7.865"  # over ln 2


def test_the_row_is_cut_and_joined_where_one_clicks(page: Page, widget: Merge, told):
    widget.open("step=3")
    widget.link("Cut after score 1").focus()
    widget.keyboard.press("Enter")
    agrees(widget, told(f"{FIVE}&cuts=1,3")[0])
    expect(widget.link("Join parts 1 and 2")).to_be_focused()
    expect(widget.field("cuts")).to_have_value("1,3")
    expect(widget.field("splits")).to_have_value("")
    run = told(f"{FIVE}&cuts=1")
    widget.link("Join parts 2 and 3").click()
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
    assert "cuts=1&" in page.url
    widget.link("Join parts 1 and 2").click()
    agrees(widget, told(f"{FIVE}&splits=1")[0])
    expect(widget.link("1 worker")).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("workers", [1, 4, 8])
def test_one_to_eight_workers(widget: Merge, told, workers: int):
    widget.open()
    widget.link("1 worker" if workers == 1 else f"{workers} workers").click()
    run = told(f"{FIVE}&splits={workers}")
    agrees(widget, run[0])
    widget.slide("step", run[-1]["step"])
    agrees(widget, run[-1])
    expect(widget.root.get_by_role("group", name="the whole row")).to_contain_text("39.952")


def test_in_another_order_and_as_a_tree_the_result_agrees_within_rounding(widget: Merge, told):
    spec = f"{FIVE}&splits=4"
    widget.open(spec)
    outputs = set()
    for name, more in (
        ("from the right", "&merge_order=right"),
        ("In another order: 2, 4, 1, 3", "&merge_order=right&order=2,4,1,3"),
        ("as a tree", "&merge_order=tree&order=2,4,1,3"),
        ("Back in their own order", "&merge_order=tree"),
    ):
        widget.link(name).click()
        run = told(spec + more)
        agrees(widget, run[0])
        widget.slide("step", 7)
        agrees(widget, run[7])
        outputs.add(widget.root.locator('[data-value="output"]').inner_text())
        assert abs(run[7]["state"]["output"] - run[7]["state"]["reference"]["output"]) < 1e-5
    assert outputs == {"39.952"}


def test_cuts_typed_take_the_place_of_a_number_of_workers(widget: Merge, told, watch: Watch):
    watch.expect("status of 422")
    widget.open("splits=4")
    widget.root.locator("details.own summary").first.click()
    widget.fill("cuts", "2,2")
    expect(widget.field("splits")).to_have_value("")
    expect(widget.root.locator("[data-worker]")).to_have_count(3)
    agrees(widget, told(f"{FIVE}&cuts=2,2")[0])
    expect(widget.root.get_by_role("group", name="Part 2", exact=True)).to_contain_text("no scores")
    widget.fill("cuts", "3,2")
    expect(widget.error("cuts")).to_contain_text("go back")
    widget.fill("splits", "5")
    agrees(widget, told(f"{FIVE}&splits=5")[0])
    expect(widget.error("cuts")).to_have_count(0)


@pytest.mark.parametrize("preset", BY_NAME["merge"].presets, ids=lambda preset: preset.name)
@pytest.mark.usefixtures("without_plotly")
def test_of_every_preset_script_and_server_show_the_same(widget: Merge, preset: Any):
    query = query_of(MACHINES["merge"], preset.spec)
    widget.open(query)
    for step in range(int(widget.field("step").get_attribute("max") or "") + 1):
        widget.slide("step", step)
        widget.at(step)
        found = widget.root.evaluate(DIFFERENCES, query)
        assert (found["ok"], found["wrong"]) == (True, []), f"at step {step}"


def test_vectors_in_mixed_formats(widget: Merge, told):
    query = "scores=1,3,2&values=2,0;0,2;1,1&splits=3&merge_order=tree&format=bfloat16&accumulate=float32"
    run = told(query)
    widget.open(query)
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
    widget.root.locator('[name="format"]').select_option("float16")
    widget.page.wait_for_function("() => location.search.includes('format=float16')")
    agrees(widget, told(query.replace("bfloat16", "float16"))[-1])


def test_without_script(new_context, told):
    plain = Merge(new_context(java_script_enabled=False).new_page())
    plain.open(script=False)
    plain.link("Cut after score 4").click()
    run = told(f"{FIVE}&cuts=3,4")
    for shot in run:
        agrees(plain, shot)
        plain.action("next").click(force=True)
    plain.root.locator("details.own summary").first.click()
    plain.fill("cuts", "0,2")
    plain.fill("order", "3,2,1")
    plain.action("apply").click()
    agrees(plain, told(f"{FIVE}&cuts=0,2&order=3,2,1")[0])


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_axe_finds_nothing(page: Page, widget: Merge, scheme: str, width: int):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 720})
    widget.open("step=2")
    clean(page)
    widget.root.locator("details.own summary").first.click()
    widget.root.get_by_role("link", name="Eight parts in bfloat16").click()
    widget.at(0, 15)
    widget.slide("step", 12)
    widget.at(12)
    clean(page)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


def test_embedded(widget: Merge, told):
    widget.open("step=2", path="/embed/merge")
    widget.press("next")
    agrees(widget, told(FIVE)[3])
