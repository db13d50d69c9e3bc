"""The tile page: its example to the output, large shapes, looks, the map in Plotly, without script, and axe."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.numbers import show
from tests.conftest import Watch
from tests.pages.driver import Api, clean, plot, rects, same_places
from tests.pages.tiles import (
    CAUSAL,
    DATA,
    DEFAULT,
    LARGE,
    LARGEST,
    OVERFLOW,
    PATH,
    RAGGED,
    SKIPPED,
    Runs,
    Tiles,
    agrees,
    beside_agrees,
    grid,
    places,
    there,
)

GOLDEN = json.loads((Path(__file__).parent.parent / "data/worked_examples.json").read_text())["tiles_two_queries_four_keys"]
BESIDE_FA1 = ("m", "l", "event.alpha", "output", "ledger.reads", "ledger.ops.div")


@pytest.fixture
def widget(page: Page) -> Tiles:
    return Tiles(page)


@pytest.fixture
def tiled(api: Api) -> Runs:
    return Runs(api)


def thousandths(x: float) -> str:
    return f"{x:.3f}"


def rounded(texts: dict[str, str]) -> dict[str, str]:
    return {place: thousandths(float(text.replace("−", "-"))) for place, text in there(texts).items()}


def quoted(table: list[Any], left: int = 0) -> dict[str, str]:
    """The golden file's numbers by place, to its three decimals."""
    rows = [row if isinstance(row, list) else [row] for row in table]
    vector = not isinstance(table[0], list)
    return {f"{i}" if vector else f"{i},{j + left}": thousandths(x) for i, row in enumerate(rows) for j, x in enumerate(row)}


def as_quoted(widget: Tiles, step: int) -> None:
    """Every number of the golden file that belongs to this step is on the page."""
    texts = widget.look()["texts"]
    if step == 3:
        assert rounded(texts["output"]) == quoted(GOLDEN["output"])
        return
    tile = GOLDEN["tiles"][step - 1]
    assert rounded(texts["event.scores"]) == quoted(tile["scores"], 2 * (step - 1))
    assert rounded(texts["event.p"]) == quoted(tile["p"], 2 * (step - 1))
    for name in ("m", "l", "acc"):
        assert rounded(texts[name]) == quoted(tile[name])
    assert rounded(texts["event.alpha"]) == (quoted(tile["alpha"]) if step > 1 else {})  # at first there is nothing to rescale
    assert there(texts["output"]) == {}


@pytest.mark.usefixtures("without_plotly")
class TestTheDefaultExample:
    def test_by_mouse_to_the_output_and_back(self, page: Page, widget: Tiles, tiled: Runs, site: str):
        run = tiled(DEFAULT)
        assert run[0]["steps"] == 3
        widget.open()
        agrees(widget, run[0])
        for step in (1, 2, 3):
            widget.press("next")
            agrees(widget, run[step])
            as_quoted(widget, step)
            expect(widget.part("live")).to_have_text(run[step]["spoken"])
            address = f"{site}/{run[step]['links']['page']}"
            page.wait_for_function("(address) => location.href === address", arg=address)
        expect(widget.action("next")).to_have_attribute("aria-disabled", "true")
        for step in (2, 1):
            widget.press("back")
            agrees(widget, run[step])
            as_quoted(widget, step)
            expect(widget.part("live")).to_have_text(run[step]["spoken"])
        widget.press("reset")
        agrees(widget, run[0])

    def test_by_keyboard_to_the_output_and_back(self, widget: Tiles, tiled: Runs):
        run = tiled(DEFAULT)
        widget.open()
        widget.action("next").focus()
        keys = [
            ("Enter", 1),
            ("ArrowRight", 2),
            ("Space", 3),
            ("ArrowRight", 3),
            ("ArrowLeft", 2),
            ("Home", 0),
            ("End", 3),
            ("ArrowLeft", 2),
        ]
        for key, step in keys:
            widget.keyboard.press(key)
            agrees(widget, run[step])
            if step:
                as_quoted(widget, step)
        expect(widget.action("next")).to_be_focused()

    def test_it_is_the_example_of_the_golden_file(self, widget: Tiles, tiled: Runs):
        spec = tiled(DEFAULT)[0]["spec"]
        assert {name: spec[name] for name in ("q", "k", "v", "scale", "block_q", "block_k")} == {
            name: GOLDEN[name] for name in ("q", "k", "v", "scale", "block_q", "block_k")
        }
        widget.open()
        for name in ("q", "k", "v"):
            for i, row in enumerate(GOLDEN[name]):
                for j, x in enumerate(row):
                    expect(widget.cell(name, i, j)).to_have_text(show(x))

    def test_the_highlights_on_keys_and_values_move_together_and_the_queries_stay(self, widget: Tiles):
        widget.open()
        assert widget.look()["lit"] == {"q": [], "k": [], "v": []}
        for first in (0, 2):
            widget.press("next")
            seen = widget.look()
            assert seen["lit"]["k"] == seen["lit"]["v"]
            assert sorted(seen["lit"]["k"]) == places([first, first + 2], 2)
            assert seen["lit"]["q"] == places([0, 2], 2)
            assert seen["rows"] == [0, 1]
        widget.press("next")
        seen = widget.look()
        assert (seen["lit"]["k"], seen["lit"]["v"], seen["lit"]["q"]) == ([], [], places([0, 2], 2))

    def test_live_cells_show_score_and_size_and_consumed_ones_hold_no_number(self, widget: Tiles):
        widget.open("step=1")
        assert [widget.look()["words"][f"0,{j}"].split() for j in range(4)] == [["1", "0.368"], ["2", "1"], [], []]
        widget.press("next")
        words = widget.look()["words"]
        assert [words[f"{i},{j}"].split() for i in range(2) for j in range(4)] == [
            ["consumed"], ["consumed"], ["3", "1"], ["2", "0.368"],
            ["consumed"], ["consumed"], ["0", "0.135"], ["1", "0.368"],
        ]  # fmt: skip
        widget.press("next")
        assert set(widget.look()["words"].values()) == {"consumed"}
        assert widget.root.locator(".map data").evaluate_all("(all) => all.map((one) => one.value + one.textContent)") == [""] * 16

    def test_each_row_has_its_own_old_max_new_max_and_factor(self, widget: Tiles):
        widget.open("step=2")
        texts = widget.look()["texts"]
        assert texts["event.m_old"] == {"0": "2", "1": "2"}
        assert texts["m"] == {"0": "3", "1": "2"}
        assert texts["event.alpha"] == {"0": "0.368", "1": "1"}

    def test_the_last_step_divides_each_row_by_its_own_sum(self, widget: Tiles, tiled: Runs):
        widget.open("step=2")
        before = widget.look()["texts"]
        widget.press("next")
        state, texts = tiled(DEFAULT)[3]["state"], widget.look()["texts"]
        for i in range(2):
            for c in range(2):
                assert texts["output"][f"{i},{c}"] == show(state["acc"][i][c] / state["l"][i])
        assert (texts["acc"], texts["l"], texts["m"]) == (before["acc"], before["l"], before["m"])
        expect(widget.words("caption")).to_contain_text("divided by its own")

    def test_the_address_opens_the_same_step(self, page: Page, widget: Tiles, tiled: Runs, site: str):
        widget.open()
        for step in (1, 2, 3):
            widget.press("next")
            shot = tiled(DEFAULT)[step]
            page.wait_for_function("(address) => location.href === address", arg=f"{site}/{shot['links']['page']}")
            page.reload()
            widget.ready()
            agrees(widget, shot)

    def test_the_numbers_change_inside_the_click(self, widget: Tiles):
        widget.open("step=1")
        told = widget.root.evaluate(
            """(root) => { root.querySelector('[data-action="next"]').click();
              return [...root.querySelectorAll('.stage data[data-value="m"]')].map((one) => one.textContent); }"""
        )
        assert told == ["3", "2"]

    def test_the_slider_and_playing(self, page: Page, widget: Tiles, tiled: Runs):
        page.clock.install(time=0)
        page.clock.pause_at(1)
        widget.open()
        widget.slide("step", 3)
        agrees(widget, tiled(DEFAULT)[3])
        widget.press("play")
        agrees(widget, tiled(DEFAULT)[0])
        for step in (1, 2, 3):
            page.clock.run_for(1400)
            agrees(widget, tiled(DEFAULT)[step])
        expect(widget.action("play")).to_have_text("Play")

    def test_a_step_past_the_end_is_not_there(self, page: Page, watch: Watch):
        watch.expect("status of 404")
        answer = page.goto(f"{PATH}?step=4")
        assert answer is not None
        assert answer.status == 404
        expect(page.locator("main")).to_contain_text("steps 0 to 3")


class TestLarge:
    @pytest.mark.parametrize("query", [LARGE, LARGEST], ids=["32 by 32", "64 by 64"])
    @pytest.mark.usefixtures("without_plotly")
    def test_colour_instead_of_numbers_and_each_is_read_out(self, widget: Tiles, query: str, tiled: Runs):
        widget.open(f"{query}&step=2")
        shot = tiled(query)[2]
        size = shot["spec"]["n_q"]
        expect(widget.root.locator(".stage.dense")).to_have_count(1)
        told = widget.root.evaluate(
            """(root) => ({ cells: root.querySelectorAll(".map td").length, texts: [...root.querySelectorAll(".map td, .at-q td, .at-k td, .at-v td")].filter((one) => one.textContent.trim()).length,
                  levels: new Set([...root.querySelectorAll(".at-k td")].map((one) => getComputedStyle(one).backgroundColor)).size,
                  states: Object.fromEntries(["live", "consumed", "waiting", "masked"].map((state) => [state, root.querySelectorAll(`.map [data-state="${state}"]`).length])) })"""
        )
        assert (told["cells"], told["texts"]) == (size * size, 0)
        assert told["levels"] >= 7
        flat = [kind for row in shot["state"]["cells"] for kind in row]
        assert told["states"] == {kind: flat.count(kind) for kind in ("live", "consumed", "waiting", "masked")}
        top, left = shot["event"]["q_rows"][0], shot["event"]["k_cols"][0]
        i, j = next(
            (i, j)
            for i, row in enumerate(shot["state"]["cells"])
            for j, kind in enumerate(row)
            if kind in ("live", "masked") and i >= top and j >= left
        )
        widget.cell("scores", i, j).focus()
        expect(widget.reads()).to_contain_text(f"Query {i + 1}, key {j + 1}: ")
        if shot["state"]["cells"][i][j] == "live":
            expect(widget.reads()).to_contain_text(show(shot["event"]["scores"][i - top][j - left]))
        widget.keyboard.press("ArrowDown")
        expect(widget.reads()).to_contain_text(f"Query {i + 2}, key {j + 1}: ")
        widget.cell("k", 1, 2).focus()
        expect(widget.reads()).to_contain_text("Key 2, element 3: ")

    @pytest.mark.parametrize("query", [LARGE, LARGEST], ids=["32 by 32", "64 by 64"])
    def test_a_click_paints(self, page: Page, widget: Tiles, tiled: Runs, query: str):
        """The numbers and the map change inside the click, and frames go on coming, with the map drawn by Plotly."""
        widget.open(query)
        widget.mapped()
        for step in (1, 2, 3):
            shot = tiled(query)[step]
            widget.press("next")
            widget.at(step)
            states = widget.root.locator(".map td").evaluate_all("(all) => all.map((one) => one.dataset.state)")
            assert states == [kind for row in shot["state"]["cells"] for kind in row]
            assert page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        texts = widget.look()["texts"]
        assert there(texts["m"]) == grid(shot["state"]["m"])
        assert there(texts["acc"]) == grid(shot["state"]["acc"])

    @pytest.mark.parametrize("query", ["", LARGEST], ids=["default", "64 by 64"])
    def test_at_320_pixels_the_stage_scrolls_inside_itself(self, new_context, query: str):
        page = new_context(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True).new_page()
        widget = Tiles(page)
        widget.open(f"{query}&step=1&beside=other")
        widget.mapped()
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 320
        stage = page.get_by_role("region", name="The tile being worked on")
        assert stage.evaluate("(box) => box.scrollWidth > box.clientWidth && box.getBoundingClientRect().right <= innerWidth")
        assert stage.evaluate("(box) => { box.scrollLeft = 10_000; return box.scrollLeft; }") > 0
        widget.action("next").tap()
        widget.at(2)
        widget.cell("scores", 0, 0).tap()
        expect(widget.reads()).to_contain_text("Query 1, key 1: ")


class TestLooks:
    @pytest.mark.parametrize("query", ["", SKIPPED, RAGGED, OVERFLOW, LARGE], ids=["default", "skipped", "ragged", "overflow", "32 by 32"])
    @pytest.mark.usefixtures("without_plotly")
    def test_rows_stand_by_query_and_columns_by_token(self, widget: Tiles, query: str):
        """K, the map and V share their columns; Q, the map and what is kept share their rows; and steps move none of them."""
        widget.open(query)
        before = None
        for step in range(3):
            if step:
                widget.press("next")
                widget.at(step)
            found = widget.root.evaluate(
                """(root) => {
                  const middle = (name, row, col) => { const box = root.querySelector(`.stage td[data-cell="${name}"][data-row="${row}"][data-col="${col}"]`).getBoundingClientRect();
                    return [box.x + box.width / 2, box.y + box.height / 2]; };
                  const [rows, cols] = [root.querySelectorAll(".map tr").length, root.querySelectorAll(".map tr:first-child td").length];
                  return { across: Array.from({ length: cols }, (_, j) => [middle("k", j, 0)[0], middle("scores", 0, j)[0], middle("v", j, 0)[0]]),
                           down: Array.from({ length: rows }, (_, i) => [middle("q", i, 0)[1], middle("scores", i, 0)[1], middle("m", i, 0)[1]]), kept: middle("m", 0, 0)[0] };
                }"""
            )
            for line in found["across"] + found["down"]:
                assert max(line) - min(line) < 1.5, f"at step {step}: {line}"
            assert before is None or abs(before - found["kept"]) < 1.5
            before = found["kept"]

    @pytest.mark.parametrize("query", ["", OVERFLOW, "q=1;&k=1;&v=1;"], ids=["default", "overflow", "one by one"])
    @pytest.mark.usefixtures("without_plotly")
    def test_headings_do_not_lie_on_each_other(self, widget: Tiles, query: str):
        widget.open(query)
        covered = widget.root.evaluate(
            """(root) => {
              const lines = [...root.querySelectorAll(".stage caption, .stage th")].map((one) => { const range = document.createRange(); range.selectNodeContents(one);
                return [one.textContent, range.getBoundingClientRect()]; });
              const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
              return lines.flatMap(([said, a], i) => lines.slice(i + 1).filter(([, b]) => meet(a, b)).map(([other]) => `${said} / ${other}`));
            }"""
        )
        assert covered == []

    @pytest.mark.usefixtures("without_plotly")
    def test_at_320_pixels_fields_stay_inside_their_box(self, new_context):
        page = new_context(viewport={"width": 320, "height": 640}).new_page()
        widget = Tiles(page)
        widget.open()
        widget.root.locator("details.own summary").click()
        outside = widget.root.evaluate(
            """(root) => { const edge = root.querySelector("details.own").getBoundingClientRect().right;
              return [...root.querySelectorAll("details.own [name], details.own p")].filter((one) => one.getBoundingClientRect().right > edge).map((one) => one.name ?? one.id); }"""
        )
        assert outside == []

    @pytest.mark.parametrize("query", ["step=2", "step=2&beside=standard"], ids=["alone", "beside"])
    @pytest.mark.usefixtures("without_plotly")
    def test_print_fits_the_paper(self, page: Page, widget: Tiles, query: str):
        """718 pixels: a sheet of A4 less its margins."""
        page.set_viewport_size({"width": 718, "height": 1000})
        widget.open(query)
        page.emulate_media(media="print")
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 718
        expect(widget.action("next")).to_be_hidden()
        assert widget.look()["words"]["0,2"].split() == ["3", "1"]

    @pytest.mark.parametrize("media", ["screen", "print"])
    @pytest.mark.parametrize(
        "query", ["step=2", f"{SKIPPED}&step=1", "q=-100.125;&k=-88.5;&v=1e-9;&step=1"], ids=["default", "skipped", "wide"]
    )
    @pytest.mark.usefixtures("without_plotly")
    def test_no_number_or_word_is_cut_off(self, page: Page, widget: Tiles, query: str, media: str):
        page.emulate_media(media=media)  # type: ignore[arg-type]
        widget.open(query)
        cut = widget.root.evaluate(
            """(root) => [...root.querySelectorAll(".stage td")].filter((cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              const [text, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
              return text.width && (text.left < box.left + 0.5 || text.right > box.right - 0.5);
            }).map((cell) => cell.innerText)"""
        )
        assert cut == []

    @pytest.mark.usefixtures("without_plotly")
    def test_forced_colours_still_show_what_is_lit(self, page: Page, widget: Tiles):
        """Shadows and backgrounds go there; a border or an outline stays."""
        page.emulate_media(forced_colors="active")
        widget.open("step=1")
        look = "(cell) => { const style = getComputedStyle(cell); return [style.outline, style.border]; }"
        assert widget.cell("k", 0, 0).evaluate(look) != widget.cell("k", 2, 0).evaluate(look)


class TestPlotly:
    @pytest.mark.parametrize("query", ["", CAUSAL, SKIPPED, OVERFLOW], ids=["default", "causal", "skipped", "overflow"])
    def test_its_squares_lie_where_the_drawing_has_them(self, page: Page, widget: Tiles, query: str):
        page.emulate_media(reduced_motion="reduce")
        widget.open(query)
        widget.mapped()
        for step in range(1, int(widget.field("step").get_attribute("max") or 0) + 1):
            widget.press("next")
            widget.at(step)
            same_places(widget, "tiles")
            page.wait_for_function("() => !document.querySelector('[data-plot=tiles]').hasAttribute('data-behind')")
            same_places(widget, "tiles")

    def test_a_consumed_tile_is_hatched_and_not_filled(self, page: Page, widget: Tiles):
        page.emulate_media(reduced_motion="reduce")
        widget.open("step=2")
        widget.mapped()
        looks = dict(zip(rects(widget, "tiles"), plot(widget, "tiles")["bare"], strict=True))
        assert looks["cell/0/0"].startswith("url(")
        assert "url(" not in looks["cell/0/2"]

    def test_where_there_is_no_room_for_numbers_a_tile_is_one_mark(self, page: Page, widget: Tiles, tiled: Runs):
        page.emulate_media(reduced_motion="reduce")
        widget.open(f"{LARGE}&step=7")
        widget.mapped()
        tiles = [mark for key, mark in widget.see()["charts"]["tiles"].items() if key.startswith("cell/")]
        assert len(tiles) == 16
        cells = tiled(LARGE)[7]["state"]["cells"]
        looks = {"live": "now-cell", "consumed": "gone", "waiting": "plain-cell"}
        for at, mark in enumerate(tiles):
            rows, cols = slice(at // 4 * 8, at // 4 * 8 + 8), slice(at % 4 * 8, at % 4 * 8 + 8)
            states = {state for row in cells[rows] for state in row[cols]} - {"masked"}
            assert mark["role"] == (looks[states.pop()] if states else "none")
        assert {mark["role"] for mark in tiles} == {"now-cell", "gone", "plain-cell", "none"}

    def test_where_it_fails_the_table_shows_the_states(self, page: Page, widget: Tiles, tiled: Runs, watch: Watch):
        watch.expect("plotly.js")
        page.route("**/vendor/plotly.js", lambda route: route.abort())
        with page.expect_event("requestfailed"):
            widget.open(CAUSAL)
        for shot in tiled(CAUSAL)[1:]:
            widget.press("next")
            agrees(widget, shot)
        widget.press("back")
        fills = widget.root.evaluate(
            """(root) => Object.fromEntries(["waiting", "live", "consumed", "masked"].map((state) => { const one = root.querySelector(`.map [data-state="${state}"]`);
              return [state, one && getComputedStyle(one).backgroundColor + getComputedStyle(one).backgroundImage]; }))"""
        )
        assert len({fills["live"], fills["consumed"], fills["masked"]}) == 3
        expect(widget.root.locator("figure[data-plotted]")).to_have_count(0)

    def test_it_comes_back_after_a_switch(self, page: Page, widget: Tiles):
        widget.open()
        widget.mapped()
        widget.root.get_by_role("link", name="Causal mask on").click()
        expect(widget.root.get_by_role("link", name="Causal mask off")).to_be_visible()
        widget.mapped()
        page.wait_for_function("() => !document.querySelector('[data-plot=tiles]').hasAttribute('data-behind')")
        assert [key for key, mark in rects(widget, "tiles").items() if mark["role"] == "masked"] == ["cell/0/3"]
        same_places(widget, "tiles")


class TestWithoutScript:
    @pytest.fixture
    def plain(self, new_context) -> Tiles:
        return Tiles(new_context(java_script_enabled=False).new_page())

    def numbers(self, plain: Tiles, shot: dict[str, Any]) -> None:
        """Read without script in the page: by locators alone."""
        plain.at(shot["step"], shot["steps"])
        for name in ("m", "l"):
            for row, x in enumerate(shot["state"][name]):
                expect(plain.root.locator(f'.stage data[data-value="{name}"][data-row="{row}"]')).to_have_text(show(x))
        kinds = [kind for row in shot["state"]["cells"] for kind in row]
        found = plain.root.locator(".map td").evaluate_all("(all) => all.map((one) => one.dataset.state)")
        assert found == kinds
        expect(plain.part("caption")).to_have_text(shot["caption"])

    def test_stepping_by_plain_forms(self, plain: Tiles, tiled: Runs):
        run = tiled(DEFAULT)
        plain.open(script=False)
        self.numbers(plain, run[0])
        for shot in run[1:]:
            plain.press("next")
            self.numbers(plain, shot)
            agrees(plain, shot)
            as_quoted(plain, shot["step"])
        plain.press("back")
        self.numbers(plain, run[2])
        plain.press("reset")
        self.numbers(plain, run[0])

    def test_switches_are_links(self, plain: Tiles, tiled: Runs):
        plain.open("step=2", script=False)
        plain.root.get_by_role("link", name="Causal mask on").click()
        self.numbers(plain, tiled(CAUSAL)[0])
        plain.press("next")
        self.numbers(plain, tiled(CAUSAL)[1])
        plain.root.get_by_role("link", name="Scale scores by 1/√d").click()
        self.numbers(plain, tiled(f"{DATA}&scale=auto&causal=bottom-right")[0])
        plain.root.get_by_role("link", name="Formats as FlashAttention has them").click()
        self.numbers(plain, tiled(f"{DATA}&scale=auto&causal=bottom-right&format=float16&compute=float32&accumulate=float32")[0])

    def test_beside_by_the_form(self, plain: Tiles, tiled: Runs):
        plain.open("step=1", script=False)
        plain.field("beside").select_option("other")
        plain.press("next")
        self.numbers(plain, tiled(DEFAULT)[2])
        beside_agrees(plain, tiled(f"{DEFAULT}&algorithm=fa1")[2], BESIDE_FA1)
        plain.field("beside").select_option(label="the standard way")
        plain.press("back")
        beside_agrees(plain, tiled(DEFAULT, "standard-attention")[1], ("s", "p", "output"))

    def test_own_inputs_and_a_seed(self, plain: Tiles, tiled: Runs):
        plain.open(script=False)
        plain.fill("block_k", "1")
        plain.press("apply")
        run = tiled(f"{DEFAULT}&block_k=1")
        self.numbers(plain, run[0])
        plain.press("next")
        self.numbers(plain, run[1])
        plain.root.get_by_role("link", name="Ragged tails").click()
        for shot in tiled(RAGGED)[1:3]:
            plain.press("next")
            self.numbers(plain, shot)

    def test_bad_input_is_a_422_page_with_the_form_as_typed(self, plain: Tiles, watch: Watch):
        watch.expect("status of 422")
        plain.open(script=False)
        plain.fill("q", "1,0;0")
        with plain.page.expect_response(re.compile("/widgets/")) as answer:
            plain.press("apply")
        assert answer.value.status == 422
        expect(plain.error("q")).to_be_visible()
        expect(plain.field("q")).to_have_value("1,0;0")

    def test_what_needs_script_is_not_offered(self, plain: Tiles):
        plain.open("step=1", script=False)
        for name in ("play", "speed", "slow"):
            expect(plain.action(name)).to_be_hidden()
        expect(plain.action("apply").first).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
class TestAxe:
    def test_start_mid_and_end(self, page: Page, widget: Tiles, scheme: str):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        widget.open()
        widget.mapped()
        clean(page)
        widget.press("next")
        widget.press("next")
        widget.cell("acc", 0, 0).focus()
        clean(page)
        widget.press("next")
        clean(page)

    @pytest.mark.usefixtures("without_plotly")
    def test_without_plotly_masked_and_slowly(self, page: Page, widget: Tiles, scheme: str):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        widget.open(f"{CAUSAL}&step=2")
        clean(page)
        widget.press("slow")
        for _ in range(4):
            widget.press("back")
        clean(page)

    @pytest.mark.usefixtures("without_plotly")
    def test_beside(self, page: Page, widget: Tiles, scheme: str):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for beside in ("other", "standard"):
            widget.open(f"step=3&beside={beside}")
            clean(page)

    @pytest.mark.usefixtures("without_plotly")
    def test_at_320_pixels_with_bad_input(self, page: Page, widget: Tiles, watch: Watch, scheme: str):
        watch.expect("status of 422")
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": 320, "height": 640})
        widget.open("step=3")
        widget.fill("q", "1,0;0")
        expect(widget.error("q")).to_be_visible()
        clean(page)


@pytest.mark.parametrize(("query", "scheme"), [(LARGE, "light"), (RAGGED, "dark")], ids=["32 by 32", "ragged, dark"])
@pytest.mark.usefixtures("without_plotly")
def test_axe_finds_nothing_in_other_shapes(page: Page, widget: Tiles, query: str, scheme: str):
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    widget.open(f"{query}&step=2")
    clean(page)
