"""The tile page with other inputs: its switches, own matrices, presets, and another way beside it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import Api
from tests.pages.tiles import CAUSAL, DATA, DEFAULT, RAGGED, SKIPPED, Runs, Tiles, agrees, beside_agrees, places


@pytest.fixture
def widget(page: Page) -> Tiles:
    return Tiles(page)


@pytest.fixture
def tiled(api: Api) -> Runs:
    return Runs(api)


@pytest.mark.usefixtures("without_plotly")
class TestSwitches:
    def press(self, widget: Tiles, name: str) -> None:
        widget.root.get_by_role("link", name=name).click()

    def walk(self, widget: Tiles, run: list[dict[str, Any]]) -> None:
        agrees(widget, run[0])
        for shot in run[1:]:
            widget.press("next")
            agrees(widget, shot)

    def test_scale_by_one_click_and_back(self, page: Page, widget: Tiles, tiled: Runs, site: str):
        run = tiled(f"{DATA}&scale=auto")
        widget.open("step=2")
        self.press(widget, "Scale scores by 1/√d")
        expect(widget.root.get_by_role("link", name="Leave scores unscaled")).to_be_visible()
        self.walk(widget, run)
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[3]['links']['page']}")
        widget.press("back")
        widget.cell("scores", 0, 2).hover()
        expect(widget.reads()).to_contain_text("1 × 3 + 0 × 0 = 3, times the scale 0.707 ≈ 2.121")
        expect(widget.field("scale")).to_have_value("auto")
        self.press(widget, "Leave scores unscaled")
        expect(widget.root.get_by_role("link", name="Scale scores by 1/√d")).to_be_visible()
        self.walk(widget, tiled(DEFAULT))

    def test_a_scaled_run_has_an_address(self, page: Page, widget: Tiles, tiled: Runs):
        """1/√d is the default of the machine, and scale 1 that of the example: a link must tell them apart."""
        run = tiled(f"{DATA}&scale=auto")
        widget.open(f"{DATA}&scale=auto&step=1")
        agrees(widget, run[1])
        widget.press("next")
        page.wait_for_function("() => location.search.includes('step=2')")
        page.reload()
        widget.ready()
        agrees(widget, run[2])

    def test_a_causal_mask_by_one_click(self, widget: Tiles, tiled: Runs):
        widget.open()
        self.press(widget, "Causal mask on")
        expect(widget.root.get_by_role("link", name="Causal mask off")).to_be_visible()
        run = tiled(CAUSAL)
        agrees(widget, run[0])
        for shot in run[1:]:
            widget.press("next")
            seen = agrees(widget, shot)
            assert seen["states"]["0,3"] == "masked"
            assert seen["words"]["0,3"] == "masked"
        expect(widget.field("causal")).to_have_value("bottom-right")
        self.press(widget, "Causal mask off")
        expect(widget.root.get_by_role("link", name="Causal mask on")).to_be_visible()
        agrees(widget, tiled(DEFAULT)[0])

    def test_formats_by_one_click(self, widget: Tiles, tiled: Runs):
        widget.open()
        self.press(widget, "Formats as FlashAttention has them")
        expect(widget.root.get_by_role("link", name="Everything in float32")).to_be_visible()
        run = tiled(f"{DEFAULT}&format=float16&compute=float32&accumulate=float32")
        assert [run[0]["spec"][name] for name in ("format", "compute", "p_format", "accumulate")] == [
            "float16",
            "float32",
            "float16",
            "float32",
        ]
        self.walk(widget, run)
        assert [widget.field(name).input_value() for name in ("format", "compute", "p_format", "accumulate")] == [
            "float16",
            "float32",
            "",
            "float32",
        ]
        self.press(widget, "Everything in float32")
        expect(widget.root.get_by_role("link", name="Formats as FlashAttention has them")).to_be_visible()
        self.walk(widget, tiled(DEFAULT))

    def test_switches_add_up(self, widget: Tiles, tiled: Runs):
        widget.open()
        self.press(widget, "Scale scores by 1/√d")
        expect(widget.root.get_by_role("link", name="Leave scores unscaled")).to_be_visible()
        self.press(widget, "Causal mask on")
        expect(widget.root.get_by_role("link", name="Causal mask off")).to_be_visible()
        self.walk(widget, tiled(f"{DATA}&scale=auto&causal=bottom-right"))

    def test_the_focus_stays_on_the_switch(self, widget: Tiles):
        widget.open()
        link = widget.root.get_by_role("link", name="Causal mask on")
        link.focus()
        widget.keyboard.press("Enter")
        expect(widget.root.get_by_role("link", name="Causal mask off")).to_be_focused()

    def test_each_is_a_link(self, widget: Tiles):
        """A link of its own, so that it can be opened in a new tab or copied."""
        widget.open()
        for name in ("Scale scores by 1/√d", "Causal mask on", "Formats as FlashAttention has them"):
            href = widget.root.get_by_role("link", name=name).get_attribute("href")
            assert href is not None
            assert href.startswith("?")
            assert href.endswith("step=0")


@pytest.mark.usefixtures("without_plotly")
class TestOwnInputs:
    def test_own_matrices_by_typing(self, page: Page, widget: Tiles, tiled: Runs, site: str):
        """Three queries, values of three elements: each field is good as it is typed."""
        widget.open("step=2")
        widget.fill("q", "1,1; 2,0; 0,1")
        expect(widget.root.locator(".map tr")).to_have_count(3)
        widget.fill("k", "0,1;1,0;1,1;2,2")
        expect(widget.cell("k", 3, 0)).to_have_text("2")
        widget.fill("v", "1,2,3;4,5,6;7,8,9;0,1,0")
        expect(widget.cell("v", 0, 2)).to_have_text("3")
        run = tiled("q=1,1;2,0;0,1&k=0,1;1,0;1,1;2,2&v=1,2,3;4,5,6;7,8,9;0,1,0&scale=1")
        assert run[0]["steps"] == 6
        agrees(widget, run[0])
        for shot in run[1:]:
            widget.press("next")
            agrees(widget, shot)
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[6]['links']['page']}")

    def test_block_sizes(self, widget: Tiles, tiled: Runs):
        widget.open("step=1")
        widget.fill("block_k", "3")
        query = f"{DEFAULT}&block_k=3"
        widget.at(0, 3)
        expect(widget.root).not_to_have_attribute("aria-busy", "true")
        for shot in tiled(query)[1:]:
            widget.press("next")
            agrees(widget, shot)
        widget.fill("block_q", "1")
        widget.at(0, 6)
        for shot in tiled(f"{query}&block_q=1")[1:]:
            widget.press("next")
            agrees(widget, shot)

    def test_a_window(self, widget: Tiles, tiled: Runs):
        widget.open()
        widget.fill("window", "2")
        expect(widget.root.locator('.map [data-state="masked"]')).not_to_have_count(0)
        run = tiled(f"{DEFAULT}&window=2")
        for shot in run[1:]:
            widget.press("next")
            agrees(widget, shot)

    def test_key_lengths_of_zero(self, widget: Tiles, tiled: Runs):
        widget.open()
        widget.fill("key_lengths", "0")
        expect(widget.root.locator('.map [data-state="masked"]')).to_have_count(8)
        run = tiled(f"{DEFAULT}&key_lengths=0")
        for shot in run[1:]:
            widget.press("next")
            agrees(widget, shot)
            if shot["step"] < 3:
                expect(widget.words("caption")).to_contain_text("skipped")
        assert set(widget.look()["texts"]["output"].values()) == {"0"}
        assert set(widget.look()["texts"]["m"].values()) == {"−∞"}
        expect(widget.words("caption")).to_contain_text("saw no live score")

    def test_from_the_right(self, widget: Tiles, tiled: Runs):
        widget.open()
        widget.root.locator("details.own summary").click()
        widget.field("order").select_option("right")
        query = f"{DEFAULT}&order=right"
        expect(widget.action("share")).to_have_attribute("href", re.compile("order=right"))
        widget.press("next")
        agrees(widget, tiled(query)[1])
        assert sorted(widget.look()["lit"]["k"]) == places([2, 4], 2)

    def test_a_seed_in_place_of_the_matrices_and_back(self, widget: Tiles, tiled: Runs, watch: Watch):
        """What stands in for other data takes its place in the form, and gives it back."""
        watch.expect("status of 422")
        widget.open()
        widget.fill("seed", "4")
        expect(widget.root.locator(".map tr")).to_have_count(8)
        for name in ("q", "k", "v"):
            expect(widget.field(name)).to_have_value("")
        run = tiled("seed=4&scale=1")
        agrees(widget, run[0])
        widget.press("next")
        agrees(widget, run[1])
        widget.fill("n_q", "3")
        expect(widget.root.locator(".map tr")).to_have_count(3)
        run = tiled("seed=4&n_q=3&scale=1")
        agrees(widget, run[0])
        widget.press("next")
        agrees(widget, run[1])
        widget.fill("q", "1,0;0,1")
        expect(widget.error("k")).to_contain_text("together")
        expect(widget.field("seed")).to_have_value("")
        agrees(widget, run[1])

    def test_a_matrix_pasted_on_lines(self, widget: Tiles, tiled: Runs):
        widget.open()
        widget.fill("q", "1,0\n0,2")
        expect(widget.cell("q", 1, 1)).to_have_text("2")
        agrees(widget, tiled(DEFAULT.replace("q=1,0;0,1", "q=1,0;0,2"))[0])

    @pytest.mark.parametrize(
        ("field", "text", "words"),
        [
            ("q", "1,0;0", "same count"),
            ("k", "1,2,3;2,1,0;3,0,1;2,1,1", "give both the same d"),
            ("v", "1,1;2,2", "one value"),
            ("k", "1,2;2,one;3,0;2,1", "'one'"),
            ("block_k", "0", "'0'"),
            ("key_lengths", "5", "only 4 keys"),
            ("scale", "much", "'much'"),
        ],
    )
    def test_what_is_wrong_is_said_beside_the_field_and_the_last_good_state_stays(
        self, widget: Tiles, tiled: Runs, watch: Watch, field: str, text: str, words: str
    ):
        watch.expect("status of 422")
        run = tiled(DEFAULT)
        widget.open("step=1")
        widget.fill(field, text)
        expect(widget.error(field)).to_contain_text(words)
        expect(widget.field(field)).to_have_attribute("aria-invalid", "true")
        assert widget.error(field).get_attribute("id") in (widget.field(field).get_attribute("aria-describedby") or "")
        expect(widget.field(field)).to_have_value(text)
        agrees(widget, run[1])
        widget.press("next")
        agrees(widget, run[2])

    def test_a_fault_goes_when_it_is_mended(self, widget: Tiles, tiled: Runs, watch: Watch):
        watch.expect("status of 422")
        widget.open()
        widget.fill("q", "1,0;0")
        expect(widget.error("q")).to_be_visible()
        widget.fill("q", "1,0;0,2")
        expect(widget.error("q")).to_have_count(0)
        expect(widget.cell("q", 1, 1)).to_have_text("2")
        assert widget.field("q").get_attribute("aria-invalid") is None
        agrees(widget, tiled(f"{DEFAULT.replace('q=1,0;0,1', 'q=1,0;0,2')}")[0])

    def test_another_algorithm_is_chosen_at_the_last_step(self, widget: Tiles, tiled: Runs):
        """fa1 has fewer steps: the step shown may be past its end."""
        widget.open("step=3")
        widget.root.locator("details.own summary").click()
        widget.field("algorithm").select_option("fa1")
        expect(widget.part("position")).to_have_text(re.compile("of 2$"))
        shown = int(widget.part("position").inner_text().split()[0])
        agrees(widget, tiled(f"{DEFAULT}&algorithm=fa1")[shown])
        expect(widget.part("shared")).to_be_empty()


@pytest.mark.usefixtures("without_plotly")
class TestPresets:
    @pytest.mark.parametrize("place", range(7))
    def test_each_is_opened_by_a_click_and_stepped_through(self, widget: Tiles, tiled: Runs, place: int):
        widget.open("step=1")
        link = widget.root.locator(".presets a").nth(place)
        query = (link.get_attribute("href") or "").removeprefix("?").split("&step=")[0]
        link.click()
        run = tiled(query)
        widget.at(0, run[0]["steps"])
        expect(widget.action("share")).to_have_attribute("href", re.compile(re.escape(run[0]["links"]["page"]) + "$"))
        agrees(widget, run[0])
        for shot in run[1:6]:
            widget.press("next")
            agrees(widget, shot)

    def test_skipped_tiles_say_so_and_count_no_reads(self, widget: Tiles, tiled: Runs):
        widget.open(f"{SKIPPED}&step=1")
        read = widget.value("ledger.reads").first.inner_text()
        widget.press("next")
        shot = tiled(SKIPPED)[2]
        assert shot["event"]["skipped"] is True
        expect(widget.words("caption")).to_contain_text("the tile is skipped, and nothing is read")
        assert widget.value("ledger.reads").first.inner_text() == read
        seen = agrees(widget, shot)
        assert {seen["states"][f"{i},{j}"] for i in (0, 1) for j in (2, 3)} == {"masked"}

    def test_the_large_one_is_drawn_small_and_the_small_one_large(self, widget: Tiles):
        widget.open()
        wide = "(cell) => cell.getBoundingClientRect().width"
        assert widget.cell("scores", 0, 0).evaluate(wide) > 40
        widget.root.get_by_role("link", name="32 by 32").click()
        widget.at(0, 20)
        assert widget.cell("scores", 0, 0).evaluate(wide) < 25
        widget.root.get_by_role("link", name="Two queries, four keys").click()
        widget.at(0, 3)
        assert widget.cell("scores", 0, 0).evaluate(wide) > 40

    def test_the_form_follows(self, widget: Tiles):
        widget.open()
        widget.root.get_by_role("link", name="Ragged tails").click()
        expect(widget.field("seed")).to_have_value("5")
        assert {name: widget.field(name).input_value() for name in ("q", "k", "v", "n_q", "n_k", "d", "d_v", "block_q", "block_k", "scale")} == {
            "q": "", "k": "", "v": "", "n_q": "5", "n_k": "7", "d": "3", "d_v": "2", "block_q": "2", "block_k": "3", "scale": "auto",
        }  # fmt: skip
        widget.root.get_by_role("link", name="Two queries, four keys").click()
        expect(widget.field("q")).to_have_value("1,0;0,1")
        expect(widget.field("seed")).to_have_value("")


def fa1_step(step: int, across: int) -> int:
    """The step of fa1 that has taken as many tiles as this step of fa2."""
    return step - step // (across + 1)


@pytest.mark.usefixtures("without_plotly")
class TestBeside:
    FA1 = ("m", "l", "event.alpha", "output", "ledger.reads", "ledger.ops.div")

    def choose(self, widget: Tiles, name: str) -> None:
        widget.field("beside").select_option(label=name)
        expect(widget.root.locator("[data-beside]")).to_have_count(1)

    @pytest.mark.parametrize(("query", "across"), [(DEFAULT, 2), (RAGGED, 3), (SKIPPED, 3)], ids=["default", "ragged", "skipped"])
    def test_fa1_beside_fa2_on_the_same_tiles(self, widget: Tiles, tiled: Runs, query: str, across: int):
        run, other = tiled(query), tiled(f"{query}&algorithm=fa1")
        widget.open(query)
        self.choose(widget, "the other of fa1 and fa2")
        expect(widget.root.locator("[data-beside] h2")).to_have_text("fa1 on the same tiles")
        for step, shot in enumerate(run):
            if step:
                widget.press("next")
            agrees(widget, shot)
            beside_agrees(widget, other[fa1_step(step, across)], self.FA1)
        widget.press("back")
        beside_agrees(widget, other[fa1_step(len(run) - 2, across)], self.FA1)
        widget.slide("step", 1)
        beside_agrees(widget, other[1], self.FA1)

    def test_its_extra_divisions_show(self, widget: Tiles):
        widget.open("step=3&beside=other")
        divisions = [widget.value("ledger.ops.div").nth(i).inner_text() for i in (0, 1)]
        assert divisions == ["4", "8"]
        assert [widget.beside("output", i, c).inner_text() for i in range(2) for c in range(2)] == ["0.341", "1.659", "1.266", "0.734"]

    def test_fa2_beside_fa1(self, widget: Tiles, tiled: Runs):
        run, other = tiled(f"{DEFAULT}&algorithm=fa1"), tiled(DEFAULT)
        widget.open(f"{DEFAULT}&algorithm=fa1")
        self.choose(widget, "the other of fa1 and fa2")
        for step, same in ((0, 0), (1, 1), (2, 3)):
            widget.slide("step", step)
            agrees(widget, run[step])
            beside_agrees(widget, other[same], ("m", "l", "acc", "output"))

    def test_the_standard_way_fills_its_tables(self, widget: Tiles, tiled: Runs):
        other = tiled(DEFAULT, "standard-attention")
        widget.open()
        self.choose(widget, "the standard way")
        for step in (0, 1, 2, 3):
            if step:
                widget.press("next")
            agrees(widget, tiled(DEFAULT)[step])
            beside_agrees(widget, other[step], ("s", "p", "output"))
            for path, first in (("s", 1), ("p", 2), ("output", 3)):
                full = [text != "" for text in widget.beside(path).all_inner_texts()]
                assert all(full) if step >= first else not any(full), f"{path} at {step}"
        expect(widget.root.locator("[data-beside]")).to_contain_text("2 × 2 × 4 = 16 numbers in slow memory")

    def test_it_stays_in_the_address_and_through_a_switch(self, page: Page, widget: Tiles, tiled: Runs):
        widget.open("step=1")
        self.choose(widget, "the other of fa1 and fa2")
        page.wait_for_function("() => location.search.includes('beside=other')")
        widget.press("next")
        page.wait_for_function("() => location.search.includes('step=2') && location.search.includes('beside=other')")
        page.reload()
        widget.ready()
        beside_agrees(widget, tiled(f"{DEFAULT}&algorithm=fa1")[2], self.FA1)
        widget.root.get_by_role("link", name="Causal mask on").click()
        expect(widget.root.get_by_role("link", name="Causal mask off")).to_be_visible()
        beside_agrees(widget, tiled(f"{CAUSAL}&algorithm=fa1")[0], self.FA1)
        widget.field("beside").select_option("")
        expect(widget.root.locator("[data-beside]")).to_have_count(0)
        page.wait_for_function("() => !location.search.includes('beside')")

    def test_a_link_to_this_step_takes_it_along(self, widget: Tiles):
        widget.open("step=2&beside=standard")
        expect(widget.action("share")).to_have_attribute("href", re.compile("beside=standard"))
        widget.press("next")
        expect(widget.action("share")).to_have_attribute("href", re.compile("beside=standard"))

    def test_slowly_it_keeps_to_the_same_tile(self, widget: Tiles, tiled: Runs):
        """The way beside goes a tile at a time: it keeps step with the tile that is being taken."""
        widget.open("beside=other")
        widget.press("slow")
        for _ in range(8):
            widget.press("next")
        assert widget.phase() == "load"
        beside_agrees(widget, tiled(f"{DEFAULT}&algorithm=fa1")[2], self.FA1)
