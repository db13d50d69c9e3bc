"""Softmax pass by pass: the row, its lanes and the counter, by mouse, by keyboard and without script; four ways side by side."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.numbers import show
from tests.pages.driver import Api, Widget, clean, pick
from tests.pages.test_same_numbers import DIFFERENCES

PATH = "/widgets/softmax-passes"
FIVE = "scores=1,3,2,5,4"
LONG = "scores=" + ",".join(str((7 * i) % 13 / 2) for i in range(64))
READS = {"naive": 2, "safe": 3, "online": 1, "online-shares": 2}
SEE = """
(root) => ({
  numbers: [...root.querySelectorAll("data[data-value]")].map((one) => [one.dataset.value, one.dataset.row, one.dataset.col, one.textContent]),
  heads: [...root.querySelectorAll("[data-head]")].flatMap((one, i) => (one.textContent ? [i] : [])),
  row: [...root.querySelectorAll("[data-score]")].map((one) => one.dataset.state),
  lanes: [...root.querySelectorAll("[data-pass]")].map((lane) => [...lane.querySelectorAll("tr:first-child [data-first]")].map((one) => one.dataset.state)),
  read: [...root.querySelectorAll("[data-read]")].map((one) => one.textContent),
})
"""


class Passes(Widget):
    def open(self, query: str = "", path: str = PATH, script: bool = True) -> Any:
        return super().open(query, path, script)

    def look(self) -> dict[str, Any]:
        found: dict[str, Any] = self.root.evaluate(SEE)
        return found


@pytest.fixture
def widget(page: Page) -> Passes:
    return Passes(page)


@pytest.fixture
def told(api: Api):
    """A run as the API tells it."""

    def run(query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = api.json(f"/api/v1/machines/softmax-passes/snapshots?{query}")["snapshots"]
        return found

    return run


def agrees(widget: Passes, shot: dict[str, Any]) -> None:
    """Each number, sentence, cell and the reading head are what this snapshot says; how far each lane is follows from the ledger."""
    widget.at(shot["step"], shot["steps"])
    seen = widget.look()
    assert len(seen["numbers"]) > 10
    for path, row, col, text in seen["numbers"]:
        value = pick(shot, path, [int(place) for place in (row, col) if place is not None])
        assert text in ({"–", "", "0"} if value is None else {show(value)}), f"{path} {row},{col} at step {shot['step']}"
    expect(widget.part("caption")).to_have_text(shot["caption"])
    for name in ("m", "l", "share"):
        expect(widget.words(f"words.{name}")).to_have_text(shot["words"][name])
    n, now = len(shot["spec"]["scores"]), shot["event"].get("indices", [])
    assert seen["heads"] == now
    left = shot["ledger"]["reads"]
    for lane, read in zip(seen["lanes"], seen["read"], strict=True):
        mine = min(left, n)
        left -= mine
        assert read == f"{mine} of {n} read"
        assert lane.count("unread") == len(lane) - -(-mine // (n // len(lane)))
    assert seen["row"].count("now") == len(now)


@pytest.mark.parametrize("method", READS)
def test_by_mouse_to_the_end(page: Page, widget: Passes, told, site: str, method: str):
    run = told(f"{FIVE}&method={method}")
    widget.open(f"{FIVE}&method={method}")
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
        expect(widget.part("live")).to_have_text(shot["spoken"])
    end = run[-1]
    assert end["ledger"]["reads"] == 5 * READS[method]
    expect(widget.value("ledger.reads")).to_have_text(str(5 * READS[method]))
    expect(widget.value("accesses")).to_have_text({"naive": "3", "safe": "4", "online": "1", "online-shares": "3"}[method])
    expect(widget.action("next")).to_have_attribute("aria-disabled", "true")
    page.wait_for_function("(address) => location.href === address", arg=f"{site}/{end['links']['page']}")
    widget.press("back")
    agrees(widget, run[-2])


def test_by_keyboard(widget: Passes, told):
    run = told(f"{FIVE}&method=safe")
    widget.open()
    widget.action("next").focus()
    for key, step in [("Enter", 1), ("ArrowRight", 2), ("End", 15), ("ArrowRight", 15), ("ArrowLeft", 14), ("Home", 0), ("Space", 1)]:
        widget.keyboard.press(key)
        agrees(widget, run[step])
    expect(widget.action("next")).to_be_focused()


def test_the_numbers_of_an_example_by_hand(widget: Passes):
    """1, 3, 2 read online: 1, then 1 · e⁻² + 1, then that plus e⁻¹."""
    widget.open("scores=1,3,2&method=online&step=3")
    cells = widget.root.locator('[data-value="kept.l"]')
    assert cells.all_inner_texts() == ["1", "1.135", "1.503"]
    assert widget.root.locator('[data-value="kept.m"]').all_inner_texts() == ["1", "3", "3"]


def test_one_click_takes_another_way_and_keeps_the_focus(page: Page, widget: Passes, told):
    widget.open("step=4")
    switch = widget.root.get_by_role("link", name="Online, with shares: 2 reads a score")
    switch.focus()
    widget.keyboard.press("Enter")
    run = told(f"{FIVE}&method=online-shares")
    agrees(widget, run[0])
    expect(switch).to_be_focused()
    expect(switch).to_have_attribute("aria-current", "true")
    expect(widget.root.locator('.switches [aria-current="true"]')).to_have_count(1)
    expect(widget.field("method")).to_have_value("online-shares")
    widget.press("next")
    agrees(widget, run[1])
    assert "method=online-shares" in page.url


def test_the_four_ways_side_by_side_are_what_each_run_costs(widget: Passes, told):
    widget.open()
    rows = widget.root.locator(".totals tbody tr")
    expect(rows).to_have_count(4)
    for row, (method, reads) in zip(rows.all(), READS.items(), strict=True):
        cost = told(f"{FIVE}&method={method}")[-1]["ledger"]
        cells = row.locator("td").all_inner_texts()
        assert cells[:2] == [str(cost["reads"]), str(cost["writes"])]
        assert cells[2].split()[-1] == str((cost["reads"] + cost["writes"]) // 5)
        assert cells[4] == f"{1000 * reads:,}"
    expect(widget.root.locator(".totals .shown")).to_contain_text("Safe")


def test_a_large_score_breaks_only_the_naive_way(widget: Passes):
    widget.open()
    widget.root.get_by_role("link", name="1000, 1001, 1002").click()
    widget.at(0, 6)
    widget.slide("step", 6)
    widget.at(6)
    assert set(widget.look()["lanes"][1]) == {"bad"}
    expect(widget.root.locator(".totals .shown")).to_contain_text("NaN")
    expect(widget.root.locator(".totals tr", has_text="Safe")).to_contain_text("1.000")


@pytest.mark.parametrize(
    "query", [f"{FIVE}&method=safe", "scores=1,3,-inf,5,4,6,nan&method=online-shares&block=3", "scores=12,11&method=naive&format=float16"]
)
def test_script_and_server_show_the_same_at_every_step(widget: Passes, query: str):
    widget.open(query)
    for step in range(int(widget.field("step").get_attribute("max") or "") + 1):
        widget.slide("step", step)
        widget.at(step)
        found = widget.root.evaluate(DIFFERENCES, query)
        assert (found["ok"], found["wrong"]) == (True, []), f"at step {step}"


def test_the_reading_head_stays_in_sight_on_a_long_row(page: Page, widget: Passes):
    page.set_viewport_size({"width": 320, "height": 720})
    inside = """(root) => { const box = root.querySelector('[data-spot="lanes"]').getBoundingClientRect();
      const head = [...root.querySelectorAll("[data-head]")].find((one) => one.textContent).getBoundingClientRect();
      return head.left >= box.left && head.right <= box.right; }"""
    widget.open(f"{LONG}&method=safe&step=100")
    assert widget.root.evaluate(inside)
    for step in (64, 65, 40, 192):
        widget.slide("step", step)
        widget.at(step)
        assert widget.root.evaluate(inside), step
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 320


def test_without_script(new_context, told):
    plain = Passes(new_context(java_script_enabled=False).new_page())
    plain.open(script=False)
    plain.root.get_by_role("link", name="Online, no shares: 1 read a score").click()
    run = told(f"{FIVE}&method=online")
    for shot in run:
        agrees(plain, shot)
        plain.action("next").click(force=True)
    plain.root.locator("details.own summary").first.click()
    plain.fill("scores", "3, 1")
    plain.field("method").select_option("naive")
    plain.action("apply").click()
    agrees(plain, told("scores=3,1&method=naive")[0])


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_axe_finds_nothing(page: Page, widget: Passes, scheme: str, width: int):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 720})
    widget.open("step=7")
    clean(page)
    widget.root.locator("details.own summary").first.click()
    widget.root.get_by_role("link", name="1000, 1001, 1002").click()
    widget.at(0, 6)
    widget.slide("step", 5)
    widget.at(5)
    clean(page)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


def test_embedded(widget: Passes, told):
    widget.open("step=6", path="/embed/softmax-passes")
    widget.press("next")
    agrees(widget, told(f"{FIVE}&method=safe")[7])
