"""Memory traffic: the small example walked, each number the ledger's; sizes chosen; charts; without script; narrow, dark, by keyboard."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.machines.run import moments
from app.machines.traffic import FORMULAS, MACHINE, WAYS, Size, Spec, table_bytes, walked
from app.numbers import show, size
from app.page import page_of
from app.runs import snapshots
from app.stories.traffic.shown import ARRAYS, moves
from app.stories.traffic.sized import sized
from tests.conftest import Watch
from tests.pages.driver import Widget, clean

PATH = "/widgets/memory-traffic"
ROWS = json.loads((Path(__file__).parent.parent / "data/memory_traffic.json").read_text())["rows"]


class Traffic(Widget):
    def open(self, query: str = "", path: str = PATH, script: bool = True):
        self.page.emulate_media(reduced_motion="reduce")
        return super().open(query, path, script)

    def see_marks(self) -> dict[str, dict]:
        """The marks of the two memories, and of a row of squares how many there are."""
        found: dict[str, dict] = self.root.evaluate(
            """(root) => Object.fromEntries([...root.querySelectorAll(".chart-memories [data-key]")].map((mark) =>
              [mark.dataset.key, { role: mark.dataset.role, text: mark.textContent, squares: (mark.getAttribute("d") ?? "").split("z").length - 1 }]))"""
        )
        return found


@pytest.fixture
def widget(page: Page) -> Traffic:
    return Traffic(page)


@pytest.fixture
def plain(new_context) -> Traffic:
    return Traffic(new_context(java_script_enabled=False).new_page())


def agrees(widget: Traffic, shot: dict) -> None:
    """Every number, line and word of the walk is this snapshot's."""
    widget.at(shot["step"], shot["steps"])
    expect(widget.part("caption")).to_have_text(shot["caption"])
    for path, told in (
        ("event.reads", shot["event"]["reads"]),
        ("event.writes", shot["event"]["writes"]),
        ("moved", shot["state"]["moved"]),
        ("ledger.reads", shot["ledger"]["reads"]),
        ("ledger.writes", shot["ledger"]["writes"]),
        ("ledger.kept", shot["ledger"]["kept"]),
        *((f"ledger.ops.{name}", shot["ledger"]["ops"][name]) for name in ("mul", "add", "exp", "div")),
    ):
        expect(widget.value(path)).to_have_text(show(told))
        expect(widget.value(path)).to_have_attribute("value", str(told))
    marks = defaultdict(lambda: {"role": "none", "text": ""}, widget.see_marks())  # without script what is not there has no mark
    looks = {
        "none": ("unread", "none"),
        "there": ("kept-cell", "none"),
        "read": ("now-cell", "none"),
        "written": ("unread", "now-grid"),
        "both": ("now-cell", "now-grid"),
    }
    for array, lines in shot["state"]["slow"].items():
        drawn = [(marks[f"line/{array}/{line}"], marks[f"wrote/{array}/{line}"]) for line in range(len(lines))]
        assert [(one["role"], wrote["role"]) for one, wrote in drawn] == [looks[held] for held in lines], array
        assert {one["squares"] for one, _ in drawn} == {ARRAYS[array]}
    used = {"": "unread", "stays": "kept", "passes": "now-cell", "dropped": "gone"}
    for place, one in shot["state"]["chip"].items():
        found = [mark["role"] for key, mark in marks.items() if key.startswith(f"chip/{place}/")]
        assert set(found) == {used[one["is"]]}, place
        assert (marks[f"is/{place}"]["text"], marks[f"is/{place}"]["role"] == "none") == (one["is"], not one["is"])


@pytest.mark.parametrize("way", WAYS)
def test_what_is_drawn_as_moving_is_what_the_ledger_counts(way):
    for moment, shot in zip(moments(*walked(way)), snapshots(MACHINE, Spec(way=way)), strict=True):
        drawn = moves(way, moment)
        assert sum(one.numbers for one in drawn if not one.written) == shot["event"]["reads"]
        assert sum(one.numbers for one in drawn if one.written) == shot["event"]["writes"]
        assert shot["ledger"]["reads"] == moment.ledger.reads
    last = {name: lines for name, lines in shot["state"]["slow"].items() if "none" in lines}
    assert last == {}


@pytest.mark.parametrize("way", WAYS)
def test_each_step_by_mouse_and_back_by_keyboard(widget: Traffic, way: str):
    run = list(snapshots(MACHINE, Spec(way=way)))
    widget.open(f"way={way}")
    agrees(widget, run[0])
    for shot in run[1:]:
        widget.press("next")
        agrees(widget, shot)
    widget.action("back").focus()
    widget.keyboard.press("ArrowLeft")
    agrees(widget, run[-2])
    expect(widget.part("live")).to_have_text(run[-2]["spoken"])
    widget.keyboard.press("Home")
    agrees(widget, run[0])
    widget.page.wait_for_function("(end) => location.href.endsWith(end)", arg=run[0]["links"]["page"])


def test_another_way_is_one_click_and_keeps_the_size(widget: Traffic):
    widget.open("n=1024&step=2")
    widget.root.get_by_role("link", name="Tiled, queries stay").click()
    run = list(snapshots(MACHINE, Spec(way="fa2", n=1024)))
    expect(widget.root.locator('[data-key="line/lse/0"]')).to_be_visible()
    agrees(widget, run[0])
    expect(widget.field("n")).to_have_value("1024")
    widget.press("next")
    agrees(widget, run[1])


def cell(widget: Traffic, label: str, way: int, table: str = ".sized .ways") -> Locator:
    row = widget.root.locator(f"{table} tr").filter(has=widget.page.get_by_role("rowheader", name=label, exact=True))
    return row.locator("td data").nth(way)


@pytest.mark.parametrize("row", ROWS[1:], ids=lambda row: f"{row['n']}-{row['d']}-{row['memory']}")
def test_published_counts_are_shown(plain: Traffic, row: dict):
    plain.open(f"n={row['n']}&d={row['d']}&memory={row['memory']}&format=float16", script=False)
    for at, way in enumerate(("standard", "fa1", "fa2")):
        expect(cell(plain, "moved", at)).to_have_attribute("value", str(2 * row[way]))
    expect(plain.root.locator(".corner", has_text="FA1’s order moves more")).to_have_count(int(row["fa1"] > row["standard"]))


def test_sizes_by_list_and_by_buttons_stay_at_the_step(widget: Traffic):
    widget.open("step=2")
    expect(widget.root.locator(".sentence")).to_contain_text("At 32,768 tokens the standard way moves 16 GiB")
    expect(widget.root.get_by_role("row", name="float32 (chosen)")).to_contain_text(size(table_bytes(32768, 32768, "float32")))
    widget.root.get_by_role("button", name="Double").click()
    expect(widget.root.locator(".sentence")).to_contain_text("At 65,536 tokens")
    expect(widget.field("n")).to_have_value("65536")
    widget.field("n").select_option("64")
    expect(widget.root.locator(".sized")).to_contain_text("Counted: all three ways have just been run on 64 tokens")
    expect(cell(widget, "moved", 0)).to_have_attribute("value", str(4 * FORMULAS["standard"](Size(64, 64, 64, 64)).moved))
    widget.root.get_by_role("button", name="Half").click()
    expect(widget.root.locator(".sentence")).to_contain_text("At 32 tokens")
    widget.at(2)
    widget.fill("heads", "8")
    expect(widget.root.locator(".sized")).to_contain_text("8 heads in all")
    widget.page.wait_for_function("() => location.search.includes('n=32&') && location.search.includes('heads=8')")


def test_the_chart_comes_from_plotly_and_follows(page: Page, widget: Traffic):
    widget.open()
    expect(widget.root.locator("figure[data-plotted]")).to_have_count(2, timeout=20_000)
    lines = "() => [...document.querySelectorAll('.growth .plot')].map((div) => div.data.map((line) => line.y))"
    spec = Spec()
    moved, stored = page.evaluate(lines)
    assert moved[0][12] == 4 * spec.cost("standard").moved
    assert stored[2][12] == 4 * spec.cost("fa2").stored
    widget.root.get_by_role("link", name="A chip too small for either").click()
    expect(widget.root.locator(".corner")).to_contain_text("FA2’s order moves more too")
    page.wait_for_function("(was) => document.querySelector('.growth .plot').data[1].y[7] > was", arg=moved[1][7])
    assert page.evaluate("() => document.querySelector('.growth .plot').getAttribute('aria-hidden')") == "true"


def test_without_script_all_of_it_works(plain: Traffic, watch: Watch):
    run = list(snapshots(MACHINE, Spec(way="fa1", n=1024)))
    plain.open("n=1024", script=False)
    plain.root.get_by_role("link", name="Tiled, keys stay").click()
    for shot in run[1:3]:
        plain.press("next")
        agrees(plain, shot)
    expect(plain.root.locator(".growth svg").first).to_be_visible()
    plain.root.get_by_role("button", name="Double").click()
    expect(plain.root.locator(".sentence")).to_contain_text("At 2,048 tokens")
    plain.fill("d", "nothing")
    watch.expect("status of 422")
    plain.action("apply").click()
    expect(plain.error("d")).to_contain_text("'nothing'")
    expect(plain.field("d")).to_have_value("nothing")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_axe_finds_nothing_and_nothing_sticks_out(page: Page, widget: Traffic, width: int, scheme: str):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 720})
    widget.open("way=fa1&step=1&n=131072&heads=32")
    clean(page)
    expect(widget.root.locator("figure[data-plotted]")).to_have_count(2, timeout=20_000)
    clean(page)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


def test_the_embed_is_the_walk_alone(widget: Traffic):
    run = list(snapshots(MACHINE, Spec(way="fa2")))
    widget.open("way=fa2&from=1&to=3", path="/embed/memory-traffic")
    expect(widget.root.locator(".sized")).to_have_count(0)
    agrees(widget, run[1])
    widget.press("next")
    agrees(widget, run[2])
    widget.root.get_by_role("link", name="The standard way").click()
    agrees(widget, next(snapshots(MACHINE, Spec())))
    widget.page.wait_for_function("() => location.pathname === '/embed/memory-traffic' && location.search.includes('n=32768')")
    clean(widget.page)


def test_print_shows_the_servers_charts(page: Page, widget: Traffic):
    widget.open()
    expect(widget.root.locator("figure[data-plotted]")).to_have_count(2, timeout=20_000)
    page.emulate_media(media="print")
    expect(widget.root.locator(".growth svg").first).to_be_visible()
    expect(widget.root.locator(".growth .plot").first).to_be_hidden()


def test_what_the_presets_say_is_so():
    pages = {
        one["title"]: page_of(MACHINE.name, dict(re.findall(r"(\w+)=([^&]+)", one["query"]))) for one in page_of(MACHINE.name, {}).presets
    }
    found = {title: sized(page.spec) for title, page in pages.items()}
    assert found["32,768 tokens"].tables[4][2] == 4 * 2**30
    assert found["Small enough to run"].spec.runs
    wide = found["A chip that holds 98,304 numbers"]
    assert (wide.blocks, round(wide.costs["standard"].moved / wide.costs["fa1"].moved)) == ((64, 384), 7)
    corner = found["Where FA1’s order moves more"]
    assert (corner.blocks[1], corner.spec.size("fa1").tiles[1]) == (96, 11)
    assert corner.costs["fa1"].moved > corner.costs["standard"].moved > 1.9 * corner.costs["fa2"].moved
    small = found["A chip too small for either"]
    assert min(small.costs[way].moved for way in ("fa1", "fa2")) > small.costs["standard"].moved
    large = found["32 heads, 131,072 tokens"]
    assert not any(card.fits["standard"] for card in large.cards)
    assert all(2**20 < large.costs[way].stored * large.unit < 2**25 for way in ("fa1", "fa2"))
    assert not any(page.crowded for page in found.values())
