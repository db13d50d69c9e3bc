"""Pictures of passes, of a split row, and of m and ℓ over the steps: their numbers are the snapshots', and nothing overlaps or is cut."""

import math
import re
import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.charts.outlines import width_of
from app.figures.file import DARK, LIGHT, figure, png, svg
from app.machines import MACHINES
from app.main import create_app
from app.numbers import show
from app.runs import shot as shot_of
from app.runs import shots
from app.settings import Settings
from app.snapshot import wire_of
from app.stories import BY_NAME, PICTURES
from app.stories.online import history
from tests.machines.strategies import NAMES
from tests.machines.test_merge import splittings

NONE = -math.inf
quick = settings(deadline=None, max_examples=40, database=None)
score = st.one_of(
    st.integers(-12, 12).map(float),
    st.floats(-1000, 1000),
    st.sampled_from([NONE, NONE, math.nan, math.inf, 1e-30, -1.7e308, -1.2e308, 1.6e308]),
)


def machine_of(name):
    return PICTURES[name].machine


MOVED = re.compile(r"translate\(([-\d.e]+) ([-\d.e]+)\)(?: scale\(([\d.]+)\))?")


def texts(picture):
    """Every text of an SVG as (words, left, top, right, bottom, letter size), as wide as its font draws it."""
    found = []

    def walk(element, place, size, weight):
        dx, dy, scale = place
        size, weight = float(element.get("font-size", size)), element.get("font-weight", weight)
        if shift := MOVED.fullmatch(element.get("transform", "")):
            dx, dy, scale = dx + scale * float(shift[1]), dy + scale * float(shift[2]), scale * float(shift[3] or 1)
        if element.tag.endswith("}text"):
            words = "".join(element.itertext())
            x, y = float(element.get("x")) * scale + dx, float(element.get("y")) * scale + dy
            pieces = [(element.text, weight)]
            for span in element:
                pieces += [(span.text, span.get("font-weight", weight)), (span.tail, weight)]
            high = size * scale
            wide = sum(width_of(re.sub(r"\s+", " ", part or ""), high, bold=heavy == "bold") for part, heavy in pieces)
            if element.get("transform", "").startswith("rotate(-90"):
                found.append((words, x - 0.7 * high, y - wide, x + 0.15 * high, y, high))
                return
            left = x - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0)
            found.append((words, left, y - 0.7 * high, left + wide, y + 0.15 * high, high))
            return
        for child in element:
            walk(child, (dx, dy, scale), size, weight)

    root = ElementTree.fromstring(picture)
    walk(root, (0.0, 0.0, 1.0), 16.0, "normal")
    _, _, across, down = map(float, root.get("viewBox").split())
    return found, across, down


def clean(picture):
    """Whether each text lies inside the picture, clear of each other, and large enough to read at 640 pixels."""
    found, across, down = texts(picture)
    for words, left, top, right, bottom, _ in found:
        assert left >= 0, words
        assert top >= 0, words
        assert right <= across, words
        assert bottom <= down, words
    for (a, la, ta, ra, ba, _), (b, lb, tb, rb, bb, _) in combinations(found, 2):
        assert ra <= lb + 0.5 or rb <= la + 0.5 or ba <= tb or bb <= ta, f"{a!r} runs into {b!r}"
    assert min(size for *_, size in found) * 640 / across >= 6


@pytest.mark.parametrize(("name", "preset"), [(name, one) for name in sorted(PICTURES) for one in BY_NAME[PICTURES[name].machine.name].presets],
                         ids=lambda x: x if isinstance(x, str) else x.name)  # fmt: skip
def test_every_step_of_every_preset(name, preset):
    for shot in shots(machine_of(name), preset.spec):
        picture = figure(shot, name)[0]
        clean(picture)
        root = ElementTree.fromstring(picture)
        named = {one.tag.split("}")[1]: one.text for one in root if one.tag.endswith(("title", "desc"))}
        assert wire_of(shot)["caption"] in named["desc"]
        assert f"step {wire_of(shot)['step']} of {wire_of(shot)['steps']}" in named["title"]
        assert "None" not in picture
        assert "Undefined" not in picture


@quick
@given(
    st.lists(score, min_size=1, max_size=64),
    st.sampled_from(["naive", "safe", "online", "online-shares"]),
    st.sampled_from(NAMES),
    st.data(),
)
def test_any_passes_are_drawn_clean(scores, method, name, data):
    spec = MACHINES["softmax-passes"].spec(scores=tuple(scores), method=method, format=name, block=data.draw(st.integers(1, 9)))
    step = data.draw(st.integers(0, MACHINES["softmax-passes"].steps(spec)))
    clean(figure(shot_of(MACHINES["softmax-passes"], spec, step))[0])


@quick
@given(st.lists(score, min_size=1, max_size=64), st.sampled_from(NAMES), st.integers(0, 3), st.data())
def test_any_split_is_drawn_clean(scores, name, dims, data):
    values = None
    if dims:
        row = st.tuples(*[st.floats(-1e6, 1e6)] * dims)
        values = tuple(data.draw(st.lists(row, min_size=len(scores), max_size=len(scores))))
    machine = MACHINES["merge"]
    spec = machine.spec(scores=tuple(scores), values=values, format=name, **data.draw(splittings(len(scores))))
    clean(figure(shot_of(machine, spec, data.draw(st.integers(0, machine.steps(spec)))))[0])


@quick
@given(st.lists(score, min_size=1, max_size=64), st.sampled_from(NAMES), st.data())
def test_any_history_is_drawn_clean(scores, name, data):
    machine = MACHINES["online-softmax"]
    spec = machine.spec(scores=tuple(scores), format=name, block=data.draw(st.sampled_from([1, 1, 3])))
    clean(figure(shot_of(machine, spec, data.draw(st.integers(0, machine.steps(spec)))), "online-softmax-history")[0])


def test_a_factor_at_the_edge_stays_in_the_picture():
    """Thirteen scores, the last two in a part of their own, far below the rest: found by hypothesis."""
    machine = MACHINES["merge"]
    for scores in ((0.0,) * 11 + (-7.0, -7.0), (7.0,) * 11 + (0.0, 0.0), (0.0,) * 12 + (7.0,), (7.0,) * 12 + (0.0,)):
        for cut in (11, 12):
            spec = machine.spec(scores=scores, cuts=(0, 0, 0, 0, 0, cut), merge_order="right")
            for shot in shots(machine, spec):
                clean(figure(shot)[0])


@pytest.mark.parametrize("largest", [sys.float_info.max, -sys.float_info.max])
def test_the_largest_number_has_room(largest):
    machine = MACHINES["online-softmax"]
    for shot in shots(machine, machine.spec(scores=(largest,), format="float64")):
        clean(figure(shot, "online-softmax-history")[0])


# The numbers are the snapshots'


@pytest.mark.parametrize("method", ["naive", "safe", "online", "online-shares"])
@pytest.mark.parametrize("block", [1, 2])
def test_what_is_kept_after_each_read(method, block):
    machine = MACHINES["softmax-passes"]
    run = list(shots(machine, machine.spec(scores=(1.0, 3.0, NONE, 5.0, 4.0), method=method, block=block, format="float16")))
    lines = {"max": ("m",), "sum": ("ℓ",), "both": ("m", "ℓ"), "share": ("share",)}
    kept: dict[str, str] = {}
    for shot in run[1:]:
        told = wire_of(shot)
        event, lane = told["event"], told["event"]["pass"] - 1
        for line in lines[event["op"]]:
            numbers = event["results"] if line == "share" else [told["state"]["m" if line == "m" else "l"]]
            first = event["indices"][0] // (1 if line == "share" else block)
            kept |= {f"kept/{lane}/{first + at}/{line}": show(x) for at, x in enumerate(numbers)}
        marks = marks_of(shot)
        assert {key: mark.text for key, mark in marks.items() if key.startswith("kept/") and mark.text} == kept
        assert sum(int(mark.text.split()[0]) for key, mark in marks.items() if key.startswith("read/")) == told["ledger"]["reads"]
        now = [int(key.split("/")[1]) for key, mark in marks.items() if key.startswith("score/") and mark.role == "now-cell"]
        assert now == event["indices"]
        first, last = (marks[f"score/{at}"].box for at in (now[0], now[-1]))
        head = marks["head"].box
        assert head[0] + head[2] / 2 == pytest.approx((first[0] + last[0] + last[2]) / 2, abs=0.2)
        assert [key for key, mark in marks.items() if mark.role == "note-now-end"] == [f"read/{lane}"]


def marks_of(shot):
    """The marks of a state's first chart, by key."""
    return {mark.key: mark for mark in BY_NAME[shot.machine.name].charts(shot)[0].marks}


def test_accesses_a_score_are_said_at_the_end():
    machine = MACHINES["softmax-passes"]
    for method, said in {"naive": "3 accesses", "safe": "4 accesses", "online": "1 access a", "online-shares": "3 accesses"}.items():
        spec = machine.spec(scores=(1.0, 2.0), method=method)
        shot = shot_of(machine, spec, machine.steps(spec))
        assert said in figure(shot)[0]
        accesses = (wire_of(shot)["ledger"]["reads"] + wire_of(shot)["ledger"]["writes"]) / 2
        assert said.startswith(f"{accesses:g} ")
        assert "access" not in figure(shot_of(machine, spec, 1))[0]


def test_boxes_and_lines_of_a_tree():
    machine = MACHINES["merge"]
    run = list(
        shots(machine, machine.spec(scores=(6.0, 5.0, 7.0, NONE, 7.0), values=(1.0,) * 5, splits=4, merge_order="tree", order=(4, 1, 2, 3)))
    )
    for shot in run:
        made = {part["number"]: part for part in wire_of(shot)["state"]["parts"]}
        roles = {int(key[7:]): mark.role for key, mark in marks_of(shot).items() if key.startswith("result/")}
        assert len(roles) == 7
        for number, role in roles.items():
            part = made.get(number)
            dead = part is not None and part["l"] in ("NaN", "Infinity")
            wanted = (
                "none"
                if part is None
                else "failed-cell"
                if dead
                else "now-cell"
                if number == shot.step
                else "kept-cell"
                if part["waiting"]
                else "gone"
            )
            assert role == wanted
    marks = marks_of(run[-1])
    for part in wire_of(run[-1])["state"]["parts"]:
        written = [marks[f"number/{part['number']}/{line}"].text for line in range(3)]
        assert written == [show(part[name]) for name in ("m", "l", "output")]
    assert sorted((1, 2, 3, 4), key=lambda n: marks[f"result/{n}"].box[0]) == [4, 1, 2, 3], "lined up as asked"
    factors = [f"× {show(x)}" for part in wire_of(run[-1])["state"]["parts"][4:] for x in part["factors"]]
    assert [mark.text for key, mark in marks.items() if key.startswith("factor/")] == factors
    still = BY_NAME["merge"].charts(run[-1])[0].still
    assert [mark.text for mark in still if mark.key.startswith("span/")] == ["scores 1–2", "scores 3–4", "score 5", "none"]
    assert [marks_of(run[2])[f"score/{i}"].role for i in range(5)] == ["kept-cell", "kept-cell", "now-cell", "masked", "unread"]


@pytest.mark.parametrize("merge_order", ["left", "right", "tree"])
def test_no_two_boxes_share_a_place(merge_order):
    machine = MACHINES["merge"]
    for parts in range(1, 9):
        spec = machine.spec(scores=(1.0,) * 8, splits=parts, merge_order=merge_order, order=tuple(range(parts, 0, -1)))
        (chart,) = BY_NAME["merge"].charts(shot_of(machine, spec, 0))
        boxes = [mark.box for mark in chart.still if mark.key.startswith("outline/")]
        for (x, y, wide, high), (x2, y2, wide2, high2) in combinations(boxes, 2):
            assert x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y
        for edge in (mark for mark in chart.still if mark.key.startswith("from/")):
            down = float(re.search(r"V([-\d.]+)", edge.path)[1])  # how far straight down, before it turns aside
            for x, y, wide, high in boxes:
                assert not (x < edge.box[0] < x + wide and edge.box[1] < y and y + high < edge.box[1] + down), "a line runs through a box"


def test_history_is_the_runs_own():
    machine = MACHINES["online-softmax"]
    run = list(shots(machine, machine.spec(scores=(6.0, 5.0, 7.0, 6.0, 7.0, 9.0, 8.0, 6.0))))
    drawn = history.drawing(run[-1])
    assert [point.text for point in drawn.m.points] == [show(wire_of(shot)["state"]["m"]) for shot in run[1:]]
    assert [point.text for point in drawn.l.points] == [show(wire_of(shot)["state"]["l"]) for shot in run[1:]]
    assert [point.kind for point in drawn.m.points] == ["first", "same", "rises", "same", "same", "rises", "same", "same"]
    assert [factor for _, factor in drawn.rises] == [
        f"× {show(wire_of(shot)['event']['alpha'])}" for shot in run[1:] if wire_of(shot)["event"]["rescales"]
    ]
    heights = [point.y for point in drawn.m.points]
    assert heights == sorted(heights, reverse=True), "m never falls"
    assert drawn.l.points[5].y > drawn.l.points[4].y, "ℓ does"
    for shot in run:
        part = history.drawing(shot)
        assert part.m.points == drawn.m.points[: wire_of(shot)["step"]], "axes stand still, and the future is not drawn"
        assert part.l.points == drawn.l.points[: wire_of(shot)["step"]]


def test_history_where_nothing_is_live_and_where_nothing_is_a_number():
    machine = MACHINES["online-softmax"]
    shot = shot_of(machine, machine.spec(scores=(NONE, 1.0, math.nan, 2.0)), 4)
    drawn = history.drawing(shot)
    assert [point.kind for point in drawn.m.points] == ["none", "first", "bad", "bad"]
    assert drawn.m.path.count("M") == drawn.l.path.count("M") == 1
    assert ">NaN</text>" in figure(shot, "online-softmax-history")[0]


# Addresses


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings())) as found:
        yield found


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_every_figure_has_an_address(client, name):
    light, dark = (client.get(f"/figures/{name}.svg?step=1{theme}") for theme in ("", "&theme=dark"))
    assert (light.status_code, light.headers["content-type"]) == (200, "image/svg+xml")
    assert LIGHT["paper"] in light.text
    assert DARK["paper"] in dark.text
    assert client.get(f"/figures/{name}.png?step=1").content.startswith(b"\x89PNG")
    assert client.get(f"/figures/{name}.svg?step=999").status_code == 404


@pytest.mark.parametrize("name", ["softmax-passes", "merge"])
def test_a_snapshot_links_to_its_picture_and_to_no_page_that_is_not_there(client, name):
    shot = client.get(f"/api/v1/machines/{name}/snapshots/1?scores=1,2,3").json()
    assert {"self", "svg", "png"} <= set(shot["links"])
    for link in shot["links"].values():
        assert client.get(f"/{link}").status_code == 200


def test_other_fields_alone_keep_the_default_scores(client):
    for query in ("softmax-passes.svg?method=online", "merge.svg?splits=5&merge_order=tree", "online-softmax-history.svg?format=float16"):
        assert client.get(f"/figures/{query}").status_code == 200


def test_a_figure_of_another_machine_is_refused():
    machine = MACHINES["softmax-passes"]
    with pytest.raises(ValueError, match="another machine"):
        svg(shot_of(machine, machine.spec(scores=(1.0,)), 0), "merge")


def test_a_picture_is_not_empty():
    machine = MACHINES["merge"]
    assert len(png(svg(shot_of(machine, machine.spec(scores=(1.0, 2.0)), 3)))) > 2000
