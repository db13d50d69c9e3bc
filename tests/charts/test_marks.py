"""Charts as data: the same marks at every step, told to a page in few words, and a look for every role."""

import json
from pathlib import Path

import pytest

from app.charts.marks import Chart, Mark, changes_as_sent, still_as_sent
from app.charts.roles import ROLES, sheet
from app.charts.svg import drawn
from app.runs import Run
from app.stories import WIDGETS
from app.stories.record import Widget

CHARTED = [one for one in WIDGETS if one.charts]
SHEET = Path(__file__).parents[2] / "static" / "css" / "roles.css"
INK = dict.fromkeys(("paper", "text", "soft", "line", "old", "new", "bad"), "#123456")
every_example = pytest.mark.parametrize(
    ("widget", "preset"), [(one, preset.name) for one in CHARTED for preset in one.presets], ids=lambda one: getattr(one, "name", one)
)


def run_of(widget: Widget, preset: str) -> Run:
    return Run(widget.machine, next(one.spec for one in widget.presets if one.name == preset))


def test_pages_have_the_looks_that_files_have():
    assert SHEET.read_text() == sheet(), "run: python -m app.charts.roles > static/css/roles.css"


def _lasting(mark: Mark) -> tuple[object, ...]:
    return mark.key, mark.shape, mark.name, mark.path, mark.passing


@every_example
def test_a_chart_has_the_same_marks_at_every_step(widget: Widget, preset: str):
    run = run_of(widget, preset)
    first = run.charts(0)
    for step in range(run.steps + 1):
        for chart, before in zip(run.charts(step), first, strict=True):
            assert [_lasting(mark) for mark in chart.marks] == [_lasting(mark) for mark in before.marks]
            assert len({mark.key for mark in chart.marks}) == len(chart.marks)
            assert (chart.name, chart.size, chart.still, chart.beats) == (before.name, before.size, before.still, before.beats)
            assert {mark.role for mark in (*chart.still, *chart.marks)} <= {*ROLES, "none"}


@every_example
def test_every_mark_stands_in_its_picture(widget: Widget, preset: str):
    run = run_of(widget, preset)
    for step in range(run.steps + 1):
        for chart in run.charts(step):
            for mark in (*chart.still, *chart.marks):
                x, y, width, height = mark.box
                assert mark.role == "none" or (0 <= x <= x + width <= chart.size[0] + 1 and 0 <= y <= y + height <= chart.size[1] + 1), mark


@every_example
def test_what_moves_starts_where_it_stood(widget: Widget, preset: str):
    """An object keeps its place from one step's end to the next one's beginning; what was not there may come from anywhere."""
    run = run_of(widget, preset)
    for step in range(1, run.steps + 1):
        for chart, before in zip(run.charts(step), run.charts(step - 1), strict=True):
            for mark, was in zip(chart.marks, before.marks, strict=True):
                if mark.was and not mark.passing and was.role not in ("none", "unread"):
                    assert mark.was == was.box, (step, mark.key)
                assert mark.beat < len(chart.beats)
                assert mark.via is None or mark.via[0] < mark.beat


@every_example
def test_a_page_can_make_each_step_of_the_first_and_what_is_sent(widget: Widget, preset: str):
    run = run_of(widget, preset)
    for chart, first in zip(run.charts(run.steps), run.charts(0), strict=True):
        told = json.loads(json.dumps(still_as_sent(first)))["marks"]
        for place, *moving in json.loads(json.dumps(changes_as_sent(chart, first))):
            told[place][2 : 2 + len(moving)] = moving
        there = [(row, mark) for row, mark in zip(told, chart.marks, strict=True) if mark.role != "none"]
        assert [row[2:4] for row, _ in there] == [[mark.role, list(mark.box)] for _, mark in there]
        assert [row[2] for row in told] == [mark.role for mark in chart.marks]


def test_a_name_cannot_end_its_element():
    run = run_of(CHARTED[0], CHARTED[0].presets[0].name)
    chart = run.charts(run.steps)[0]
    evil = Chart("x", "x", (10, 10), (), tuple(mark._replace(text='<script>"') for mark in chart.marks))
    assert "<script" not in drawn(evil, "f", INK)
