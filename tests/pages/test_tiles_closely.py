"""The tile page closely: a tile phase by phase, what made each number, and moving through the tables by keys."""

import json
import math
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.machines.tiled import MADE_OF
from tests.pages.driver import Api
from tests.pages.tiles import (
    CAUSAL,
    DATA,
    DEFAULT,
    PHASES,
    RAGGED,
    SKIPPED,
    Runs,
    Tiles,
    agrees,
    factors,
    grid,
    there,
)

GRIDS = ["k", "q", "scores", "v", "m_old"]  # the first cells of the five tables, in the order of the page


@pytest.fixture
def widget(page: Page) -> Tiles:
    return Tiles(page)


@pytest.fixture
def tiled(api: Api) -> Runs:
    return Runs(api)


def of_phase(shot: dict[str, Any], phase: str) -> dict[str, dict[str, str]]:
    """What the tables hold when a tile's phases up to this one are done."""
    done = PHASES.index(phase)
    event, state = shot["event"], shot["state"]
    (top, bottom), left = event["q_rows"], event["k_cols"][0]

    def put(name: str, part: list[Any]) -> dict[str, str]:
        return grid([*state[name][:top], *part, *state[name][bottom:]])

    live = {f"{i},{j}" for i, row in enumerate(state["cells"]) for j, kind in enumerate(row) if kind == "live"}
    held = {name: {place: text for place, text in grid(event[name], top, left).items() if place in live} for name in ("scores", "p")}
    old = "o_old" if "o_old" in event else "acc_old"
    told = {
        "event.scores": held["scores"] if 1 <= done < 6 else {},
        "m": put("m", event["m_new"] if done >= 2 else event["m_old"]),
        "event.alpha": factors(event) if done >= 3 else {},
        "event.p": held["p"] if 4 <= done < 6 else {},
    }
    told["l"] = grid(state["l"]) if done >= 5 else put("l", event["l_rescaled"] if done >= 3 else event["l_old"])
    if "acc" in state:
        told["acc"] = grid(state["acc"]) if done >= 5 else put("acc", event["acc_rescaled"] if done >= 3 else event["acc_old"])
    elif done >= 5 or event["m_old"] != ["-Infinity"] * (bottom - top):
        told["output"] = grid(state["output"]) if done >= 5 else put("output", event[old])
    return told


def at_phase(widget: Tiles, shot: dict[str, Any], phase: str) -> None:
    widget.at(shot["step"])
    assert widget.phase() == phase
    seen = widget.look()
    for path, told in of_phase(shot, phase).items():
        assert there(seen["texts"].get(path, {})) == told, f"{path} at {phase} of step {shot['step']}"
    gone = "consumed" if phase == "consume" else "live"
    now = {f"{i},{j}": gone if kind == "live" else kind for i, row in enumerate(shot["state"]["cells"]) for j, kind in enumerate(row)}
    assert seen["states"] == now
    for place, words in seen["words"].items():
        if now[place] in ("consumed", "masked"):
            assert words == now[place]


@pytest.mark.usefixtures("without_plotly")
class TestSlowly:
    @pytest.fixture
    def slow(self, widget: Tiles) -> Tiles:
        widget.open()
        widget.press("slow")
        expect(widget.action("slow")).to_have_attribute("aria-pressed", "true")
        return widget

    @pytest.mark.parametrize("query", [DEFAULT, CAUSAL, f"{DEFAULT}&algorithm=fa1", RAGGED], ids=["default", "causal", "fa1", "ragged"])
    def test_phase_by_phase(self, widget: Tiles, tiled: Runs, query: str):
        widget.open(query)
        widget.press("slow")
        widget.action("next").focus()
        for shot in tiled(query)[1:5]:
            if not shot["event"].get("phases"):
                widget.keyboard.press("Enter")
                agrees(widget, shot)
                continue
            for phase in PHASES:
                widget.keyboard.press("Enter")
                at_phase(widget, shot, phase)
                expect(widget.part("live")).to_have_text(shot["words"][f"phase_{phase}"])

    def test_playing_by_key_shows_whole_tiles(self, slow: Tiles, tiled: Runs):
        slow.action("next").focus()
        slow.keyboard.press("Enter")
        slow.keyboard.press("k")
        slow.at(2)
        slow.keyboard.press("k")
        agrees(slow, tiled(DEFAULT)[2])
        assert slow.phase() is None

    def test_back_through_the_phases_of_a_tile_and_out_of_it(self, slow: Tiles, tiled: Runs):
        run = tiled(DEFAULT)
        for _ in range(14):
            slow.press("next")
        at_phase(slow, run[2], "consume")
        for phase in PHASES[-2::-1]:
            slow.press("back")
            at_phase(slow, run[2], phase)
        slow.press("back")
        agrees(slow, run[1])
        assert slow.phase() is None
        slow.press("next")
        at_phase(slow, run[2], "load")
        slow.press("back")
        for phase in PHASES[-2::-1]:
            slow.press("back")
            at_phase(slow, run[1], phase)
        slow.press("reset")
        agrees(slow, run[0])

    def test_by_arrow_keys(self, slow: Tiles, tiled: Runs):
        run = tiled(DEFAULT)
        slow.action("next").focus()
        for key, phase in [
            ("ArrowRight", "load"),
            ("ArrowRight", "score"),
            ("ArrowRight", "max"),
            ("ArrowLeft", "score"),
            ("ArrowRight", "max"),
        ]:
            slow.keyboard.press(key)
            at_phase(slow, run[1], phase)
        slow.keyboard.press("End")
        agrees(slow, run[3])
        assert slow.phase() is None

    def test_next_at_the_last_phase_goes_on(self, slow: Tiles, tiled: Runs):
        run = tiled(DEFAULT)
        for _ in PHASES:
            slow.press("next")
        at_phase(slow, run[1], "consume")
        slow.press("next")
        at_phase(slow, run[2], "load")
        for _ in PHASES:
            slow.press("next")
        agrees(slow, run[3])
        assert slow.phase() is None
        expect(slow.action("next")).to_have_attribute("aria-disabled", "true")

    def test_turning_it_off_shows_the_whole_step(self, slow: Tiles, tiled: Runs):
        for _ in range(9):
            slow.press("next")
        at_phase(slow, tiled(DEFAULT)[2], "score")
        slow.press("slow")
        expect(slow.action("slow")).to_have_attribute("aria-pressed", "false")
        agrees(slow, tiled(DEFAULT)[2])
        assert slow.phase() is None
        slow.press("next")
        agrees(slow, tiled(DEFAULT)[3])

    def test_playing_and_seeking_show_whole_steps(self, page: Page, widget: Tiles, tiled: Runs):
        page.clock.install(time=0)
        page.clock.pause_at(1)
        widget.open()
        widget.press("slow")
        widget.press("next")
        at_phase(widget, tiled(DEFAULT)[1], "load")
        widget.press("play")
        page.clock.run_for(1400)
        agrees(widget, tiled(DEFAULT)[2])
        assert widget.phase() is None
        widget.slide("step", 1)
        agrees(widget, tiled(DEFAULT)[1])

    def test_a_skipped_tile_is_one_step(self, widget: Tiles, tiled: Runs):
        run = tiled(SKIPPED)
        widget.open(f"{SKIPPED}&step=1")
        widget.press("slow")
        widget.press("next")
        agrees(widget, run[2])
        expect(widget.words("caption")).to_contain_text("skipped")
        assert widget.phase() is None

    def test_the_phases_say_what_they_do_in_figures(self, slow: Tiles, tiled: Runs):
        slow.slide("step", 2)
        told = slow.part("phases").locator("li").all_inner_texts()
        assert [one.split()[0].lower() for one in told] == PHASES
        assert "3, 2" in told[2]
        assert "0.368, 1" in told[3]
        assert "1.368, 0.503" in told[5]

    def test_at_the_end_of_a_run_whose_last_step_is_a_tile(self, widget: Tiles, tiled: Runs):
        """fa1 has no step after its last tile: Next stops at its last phase, an arrow key too, and Back still goes phase by phase."""
        query = f"{DEFAULT}&algorithm=fa1"
        shot = tiled(query)[2]
        widget.open(f"{query}&step=1")
        widget.press("slow")
        for _ in PHASES:
            widget.press("next")
        at_phase(widget, shot, "consume")
        expect(widget.action("next")).to_have_attribute("aria-disabled", "true")
        widget.action("next").focus()
        widget.keyboard.press("ArrowRight")
        at_phase(widget, shot, "consume")
        widget.keyboard.press("ArrowLeft")
        at_phase(widget, shot, "accumulate")

    def test_it_is_still_there_after_a_switch(self, slow: Tiles, tiled: Runs):
        """The other switches come anew from the server; this one needs script and must not go with them."""
        slow.press("next")
        slow.root.get_by_role("link", name="Causal mask on").click()
        expect(slow.root.get_by_role("link", name="Causal mask off")).to_be_visible()
        expect(slow.action("slow")).to_be_visible()
        expect(slow.action("slow")).to_have_attribute("aria-pressed", "true")
        slow.press("next")
        at_phase(slow, tiled(CAUSAL)[1], "load")


# What a readout claims: an expression, = or ≈, and what it comes to.
NUMBER = r"−?(?:\d+(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|∞)"
CLAIM = re.compile(rf"((?:exp\(|\(*{NUMBER}\)?\s[×+/−]\s)[^=≈;,…A-Za-z]*?)\s[=≈]\s(\(?{NUMBER}\)?)")
SMALL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def value(said: str) -> float:
    """What an expression of a readout comes to."""
    plain = re.sub(r"×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"e{found[1].translate(SMALL)}", said)
    plain = plain.replace("−", "-").replace("×", "*").replace("∞", "inf")
    assert re.fullmatch(r"(exp|inf|[\d.e()+\-*/\s])*", plain), plain
    return float(eval(plain, {"exp": math.exp, "inf": math.inf}))


def holds(said: str) -> None:
    """Each sum in a readout is right, as far as numbers to three places can tell."""
    assert "undefined" not in said
    assert "NaN" not in said, said
    for left, right in CLAIM.findall(said):
        terms = [abs(value(one)) for one in re.findall(NUMBER, left)]
        assert value(left) == pytest.approx(value(right), abs=0.0011 * (1 + sum(terms))), said
    scaled = re.search(rf"= ({NUMBER}), times the scale ({NUMBER}) ≈ ({NUMBER})", said)
    if scaled:
        assert value(scaled[1]) * value(scaled[2]) == pytest.approx(value(scaled[3]), abs=0.002 * (1 + abs(value(scaled[1])))), said
    highest = re.search(r"the highest of (.*) is (\S+)\.$", said)
    if highest:
        among = [text for text in re.split(r", | and ", highest[1]) if "∞" not in text]
        if among:
            assert value(highest[2]) == max(value(text) for text in among), said


EVERY = """
(root) => {
  const said = [];
  for (const cell of root.querySelectorAll(".stage td[data-cell]")) {
    cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    said.push([cell.dataset.cell, cell.dataset.row, cell.dataset.col, root.querySelector('[data-part="readout"]').textContent]);
    cell.dispatchEvent(new PointerEvent("pointerout", { bubbles: true }));
  }
  return said;
}
"""


@pytest.mark.usefixtures("without_plotly")
class TestPointingAtANumber:
    def test_a_score_lights_its_query_and_its_key_and_says_the_sum(self, widget: Tiles):
        widget.open("step=1")
        widget.cell("scores", 0, 0).hover()
        seen = widget.look()
        assert seen["made"] == ["k 0,0", "k 0,1", "q 0,0", "q 0,1"]
        assert "1 × 1 + 0 × 2 = 1" in seen["readout"]
        assert "exp(1 − 2) ≈ 0.368" in seen["readout"]
        widget.cell("scores", 1, 1).hover()
        seen = widget.look()
        assert seen["made"] == ["k 1,0", "k 1,1", "q 1,0", "q 1,1"]
        assert "0 × 2 + 1 × 1 = 1" in seen["readout"]
        widget.part("caption").hover()
        assert widget.look()["made"] == []

    def test_each_number_kept_lights_what_made_it_and_says_how(self, widget: Tiles):
        """A factor both highest scores, a sum its factor and live sizes, a weighted sum one element of each live value too."""
        told = {
            ("m", 0, 0): (["scores 0,2", "scores 0,3", "m_old 0,0"], "the highest of 2 and 3, 2 is 3"),
            ("alpha", 0, 0): (["m_old 0,0", "m 0,0"], "exp(2 − 3) ≈ 0.368"),
            ("l", 0, 0): (["scores 0,2", "scores 0,3", "alpha 0,0"], "1.368 × 0.368 + 1.368 ≈ 1.871"),
            ("acc", 1, 1): (["v 2,1", "v 3,1", "scores 1,2", "scores 1,3", "alpha 1,0"], "0.736 × 1 + 0.639 ≈ 1.374"),
        }
        widget.open("step=2")
        for place, (made, said) in told.items():
            widget.cell(*place).hover()
            seen = widget.look()
            assert sorted(seen["made"]) == sorted(made), place
            assert said in seen["readout"]
        widget.press("next")
        widget.cell("output", 1, 0).hover()
        seen = widget.look()
        assert seen["made"] == ["l 1,0", "acc 1,0"]
        assert "2.368 / 1.871 ≈ 1.266" in seen["readout"]

    def test_consumed_waiting_and_masked_cells_say_so_and_name_no_number(self, widget: Tiles):
        widget.open(f"{CAUSAL}&step=2")
        for place, word in (((0, 0), "consumed"), ((0, 3), "masked")):
            widget.cell("scores", *place).hover()
            expect(widget.reads()).to_contain_text(word)
            assert re.findall(r"[=≈]", widget.reads().inner_text()) == []
        widget.press("back")
        widget.cell("scores", 0, 2).hover()
        expect(widget.reads()).to_contain_text("has not come yet")

    def test_nor_is_it_left_after_the_cell_had_the_focus(self, widget: Tiles):
        """A student taps a cell, and then taps Next."""
        widget.open("step=1")
        widget.cell("scores", 0, 0).click()
        expect(widget.reads()).to_contain_text("1 × 1 + 0 × 2 = 1")
        widget.press("next")
        widget.at(2)
        expect(widget.reads()).not_to_contain_text("1 × 1 + 0 × 2 = 1")

    def test_what_makes_a_number_comes_from_the_machine(self, widget: Tiles):
        widget.open()
        frame = json.loads(widget.root.locator('script[type="application/json"]').text_content() or "")["frame"]
        assert frame["made_of"] == json.loads(json.dumps(MADE_OF))

    def test_focus_does_what_pointing_does(self, widget: Tiles):
        widget.open("step=1")
        widget.cell("scores", 0, 0).focus()
        assert widget.look()["made"] == ["k 0,0", "k 0,1", "q 0,0", "q 0,1"]
        expect(widget.reads()).to_contain_text("1 × 1 + 0 × 2 = 1")
        widget.keyboard.press("ArrowRight")
        expect(widget.reads()).to_contain_text("1 × 2 + 0 × 1 = 2")
        widget.action("next").focus()
        assert widget.look()["made"] == []

    def test_a_number_of_an_earlier_step_is_not_left_in_the_readout(self, widget: Tiles):
        """The pointer rests on a cell while Next is pressed by a key: what is said of the cell must be so now."""
        widget.open("step=1")
        widget.action("next").focus()
        widget.cell("scores", 0, 0).hover()
        expect(widget.reads()).to_contain_text("1 × 1 + 0 × 2 = 1")
        widget.keyboard.press("Enter")
        widget.at(2)
        expect(widget.reads()).not_to_contain_text("1 × 1 + 0 × 2 = 1")

    @pytest.mark.parametrize("query", [DEFAULT, f"{DATA}&scale=auto", CAUSAL, SKIPPED, RAGGED, f"{DEFAULT}&algorithm=fa1", f"{RAGGED}&algorithm=fa1"],
                             ids=["default", "scaled", "causal", "skipped", "ragged", "fa1", "fa1 ragged"])  # fmt: skip
    def test_every_sum_that_is_said_is_right(self, widget: Tiles, tiled: Runs, query: str):
        widget.open(query)
        for step in range(tiled(query)[0]["steps"] + 1):
            if step:
                widget.press("next")
            for *_, said in widget.root.evaluate(EVERY):
                holds(said)

    @pytest.mark.parametrize("algorithm", ["fa2", "fa1"])
    def test_every_sum_that_is_said_is_right_at_each_phase(self, widget: Tiles, algorithm: str):
        """Slowly, too: nothing is said of what is yet to come, and no sum is said that does not hold."""
        widget.open(f"{DEFAULT}&algorithm={algorithm}&step=1")
        widget.press("slow")
        wrong = []
        for phase in PHASES:
            widget.press("next")
            assert widget.phase() == phase
            assert widget.words("caption").first.inner_text() == widget.root.locator("[data-on=now] span").inner_text()
            for name, row, col, said in widget.root.evaluate(EVERY):
                try:
                    holds(said)
                except AssertionError:
                    wrong.append(f"{phase}, {name} {row},{col}: {said}")
        assert wrong == []

    def test_nothing_is_divided_before_the_last_step(self, widget: Tiles):
        widget.open("step=2")
        widget.cell("output", 0, 0).hover()
        expect(widget.reads()).to_contain_text("not there yet")


@pytest.mark.usefixtures("without_plotly")
class TestMovingInsideATable:
    def test_one_tab_stop_a_table_in_the_order_of_the_page(self, page: Page, widget: Tiles):
        widget.open("step=2")
        page.get_by_role("region", name="The tile being worked on").focus()
        stops = []
        for _ in GRIDS:
            page.keyboard.press("Tab")
            stops.append(page.evaluate("() => document.activeElement.dataset.cell"))
        assert stops == GRIDS
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.closest('[role=grid]')") is None

    def test_arrows_move_and_do_not_step(self, page: Page, widget: Tiles):
        widget.open("step=1")
        here = "() => `${document.activeElement.dataset.cell} ${document.activeElement.dataset.row},${document.activeElement.dataset.col}`"
        widget.cell("scores", 0, 0).focus()
        moves = [("ArrowRight", "0,1"), ("ArrowDown", "1,1"), ("End", "1,3"), ("ArrowRight", "1,3"), ("ArrowDown", "1,3"), ("ArrowLeft", "1,2"),
                 ("Home", "1,0"), ("ArrowLeft", "1,0"), ("ArrowUp", "0,0"), ("ArrowUp", "0,0")]  # fmt: skip
        for key, place in moves:
            page.keyboard.press(key)
            assert page.evaluate(here) == f"scores {place}"
            widget.stays(1)
        for name in GRIDS:
            widget.cell(name).focus()
            for key in ("ArrowRight", "End", "ArrowLeft", "Home"):
                page.keyboard.press(key)
                widget.stays(1)

    def test_the_stop_moves_with_the_focus(self, page: Page, widget: Tiles):
        widget.open("step=1")
        widget.cell("scores", 0, 0).focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(widget.cell("scores", 1, 1)).to_be_focused()
        counts = widget.root.locator('[role="grid"]').evaluate_all(
            "(all) => all.map((one) => one.querySelectorAll('td[tabindex=\"0\"]').length)"
        )
        assert counts == [1] * 5

    def test_across_what_each_row_keeps(self, page: Page, widget: Tiles):
        widget.open("step=2")
        widget.cell("m_old").focus()
        said = []
        for _ in range(7):
            said.append(page.evaluate("() => `${document.activeElement.dataset.cell} ${document.activeElement.dataset.col}`"))
            page.keyboard.press("ArrowRight")
        assert said == ["m_old 0", "m 0", "alpha 0", "l 0", "acc 0", "acc 1", "output 0"]

    def test_the_tables_have_names(self, page: Page, widget: Tiles):
        widget.open()
        for name in ("K transposed", "Q: a row", "Map of positions, 2 queries by 4 keys", "V transposed", "What each row keeps"):
            expect(page.get_by_role("grid", name=name)).to_have_count(1)
        expect(page.get_by_role("grid", name="where each score stands, not where it is stored")).to_be_visible()
