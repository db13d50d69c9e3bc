"""What a picture is made of, as data: drawn as SVG here, patched and moved by static/js/core/chart.js, and laid out in Plotly by plot.js.

A chart of a state has a mark for everything that a step can change, and always the same marks in the same order: what is not there
(yet, or any more) has the role "none". A mark keeps its key from step to step, so that what moves is the same object for the eye.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Shape = Literal["rect", "dot", "line", "text", "path"]
Box = tuple[float, float, float, float]
"""x, y, width, height. A dot fills it, a line goes from its first corner to the opposite one, a text stands at its x and y."""


class Mark(NamedTuple):
    """One thing that is drawn.

    key      what it is, the same at every step
    role     how it looks: a key of roles.ROLES; "none" where it is not there
    box      where it is now
    text     what is written, of a text
    was      where it was before this step, where it has moved
    beat     when in the step it moves or appears: a place in the chart's beats
    value    the number that its height or words say, and the one before: what is written counts from one to the other as it moves
    via      where it is when an earlier beat is over, and its value there, where it moves in two: (beat, box, value)
    moving   the role that it has while it moves, where it is another: what only travels has the role "none" once it is there
    name     what it stands for, in words, for whoever points at it; the same at every step. What a bar is, is said by its value, or where it
             has none by the words of the mark "number/…" beside it
    path     of a path: what is drawn, from the corner of its box; the same at every step
    passing  whether it belongs to one step alone, such as an outline or a factor: the next step's is another one
    """

    key: str
    shape: Shape
    role: str
    box: Box
    text: str = ""
    was: Box | None = None
    beat: int = 0
    value: float | None = None
    value_was: float | None = None
    via: tuple[int, Box, float | None] | None = None
    moving: str = ""
    name: str = ""
    path: str = ""
    passing: bool = False


@dataclass(frozen=True)
class Chart:
    """A picture of one state.

    name     under which a page holds it
    title    what it is called, in words
    size     its width and height
    still    what no step changes: axes, ticks, limits
    marks    what a step may change
    beats    milliseconds that each beat of a step takes; one in which nothing moves takes none
    patterns what its marks may be filled with besides plain inks
    kind     bars and cells are laid out in Plotly too, where whoever points at one is told its number
    """

    name: str
    title: str
    size: tuple[float, float]
    still: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    beats: tuple[int, ...] = (400,)
    patterns: tuple[str, ...] = ("failed",)
    kind: Literal["bars", "cells", "lanes", "boxes"] = "bars"


Wire = list[object]


def still_as_sent(chart: Chart) -> dict[str, object]:
    """What a page is told once for all steps: the chart's frame, and its marks as they stand in this state, which others are told apart from.

    >>> bar = Mark("bar/0", "rect", "now", (10.0, 20.0, 5.0, 80.0), value=0.5, name="score 3")
    >>> told = still_as_sent(Chart("sizes", "Sizes", (100, 110), (), (bar,)))
    >>> told["marks"]
    [['bar/0', 'rect', 'now', [10, 20, 5, 80], '', None, None, 0.5, None, None, '', 'score 3']]
    """
    return {
        "size": [*chart.size],
        "beats": [*chart.beats],
        "kind": chart.kind,
        "still": [_whole(mark) for mark in chart.still],
        "marks": [_whole(mark) for mark in chart.marks],
    }


def changes_as_sent(chart: Chart, first: Chart) -> list[Wire]:
    """The marks that are not as in the first state, each as [place, role, box, text, was, beat, value, value before, via, moving role], without what is empty at the end.

    >>> a = Mark("bar/0", "rect", "unread", (10.0, 96.0, 5.0, 4.0))
    >>> b = Mark("bar/0", "rect", "now", (10.0, 20.0, 5.0, 80.0), was=(10.0, 100.0, 5.0, 0.0))
    >>> first, chart = (Chart("sizes", "Sizes", (100, 110), (), (mark,)) for mark in (a, b))
    >>> changes_as_sent(chart, first), changes_as_sent(first, first)
    ([[0, 'now', [10, 20, 5, 80], '', [10, 100, 5, 0]]], [])
    """
    pairs = enumerate(zip(chart.marks, first.marks, strict=True))
    return [
        [at, *_moving(mark)]
        for at, (mark, before) in pairs
        if mark != before and not (mark.role == before.role == "none" and mark.moving == before.moving)
    ]


def _whole(mark: Mark) -> Wire:
    told = [mark.key, mark.shape, *_moving(mark, to=9), mark.name, mark.path, int(mark.passing)]
    while not told[-1]:
        told.pop()
    return told


def _moving(mark: Mark, to: int = 0) -> Wire:
    told: Wire = [
        mark.role, _short(mark.box), mark.text, mark.was and _short(mark.was), mark.beat or None, _digits(mark.value, 10), _digits(mark.value_was, 6),
        mark.via and [mark.via[0], _short(mark.via[1]), _digits(mark.via[2], 6)], mark.moving,
    ]  # fmt: skip
    while len(told) > max(to, 2) and (told[-1] is None or told[-1] == ""):
        told.pop()
    return told


def _short(box: Sequence[float]) -> Wire:
    return [int(x) if x == int(x) else x for x in box]


def _digits(value: float | None, digits: int) -> float | None:
    """Six digits do for a number that is only counted through, ten for one that is shown."""
    return None if value is None or value != value or value in (float("inf"), float("-inf")) else float(f"{value:.{digits}g}")


def box(x: float, y: float, width: float, height: float) -> Box:
    """A box to a tenth of a unit, so that its numbers stay short on the way to a page.

    >>> box(1 / 3, 2, 10, 0.04)
    (0.3, 2, 10, 0.0)
    """
    return round(x, 1), round(y, 1), round(width, 1), round(height, 1)


def ticks(levels: Iterable[tuple[float, str]], left: float, right: float) -> tuple[Mark, ...]:
    """A rule across for each level, and its name at the left.

    >>> [mark.shape for mark in ticks([(194.0, "0")], 38.0, 372.0)]
    ['line', 'text']
    """
    found: list[Mark] = []
    for i, (y, name) in enumerate(levels):
        found.append(Mark(f"rule/{i}", "line", "rule", box(left, y, right - left, 0)))
        found.append(Mark(f"tick/{i}", "text", "tick", box(left - 5, y + 4, 0, 0), name))
    return tuple(found)
