"""A split row as a chart: the scores in their parts, each worker's result below, and the merges that join them as a tree.

A worker's step: its scores slide down into its result, which is then written. A merge's step: each of the two results shrinks by its
factor, both slide down to where they meet, and what comes of it is written.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from app.charts.marks import Box, Chart, Mark, box
from app.charts.outlines import fitted, in_cells, width_of
from app.machines.formats import FORMATS
from app.machines.merge import Spec
from app.numbers import show
from app.stories.merge.shown import Made, Part, Row
from app.stories.record import Shot
from app.stories.wire_types import Shaped

MergeShot = Shot[Spec, Made | None, Row]

LEFT, NARROWEST, COLUMN = 6.0, 380.0, 92.0  # the left edge; the least width, and what a part takes of it
HIGH = 24.0  # a score's
RESULTS, LINED_UP = 58.0, 20.0  # the top of the first results, and what more it takes where parts are lined up anew
LINE, LEVEL, NAME = 13.0, 27.0, 17.0  # a line in a result; the gap between two rows of them; the room of its name
WIDEST = 150.0
SHRINK, SLIDE, WRITE = range(3)
BEATS = (380, 460, 180)


@dataclass(frozen=True)
class Place:
    """Where a result stands: how many merges below the workers, and which columns of the parts as lined up it covers.

    pair   the two results that it is merged of; none for a worker's
    """

    number: int
    of: tuple[int, ...]
    pair: tuple[int, ...]
    level: int
    first: int
    count: int
    name: str


class Segment(NamedTuple):
    """A part of the row: from where to where it lies, and its scores' places in the row."""

    x: float
    width: float
    first: int
    last: int


@dataclass(frozen=True)
class Layout:
    """What no step changes. boxes: of the results, by number; size and texts: of the scores."""

    width: float
    height: float
    segments: tuple[Segment, ...]
    cell: float
    places: Mapping[int, Place]
    boxes: Mapping[int, Box]
    size: float
    texts: tuple[str, ...]
    still: tuple[Mark, ...]


def charts(shot: MergeShot) -> tuple[Chart, ...]:
    """The row, the results and the merges.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> merge = MACHINES["merge"]
    >>> (found,) = charts(shot(merge, merge.spec(scores=(1.0, 3.0, 5.0), cuts=(2,)), 3))
    >>> [(mark.key, mark.role) for mark in found.marks if mark.key.startswith("result/")]
    [('result/1', 'gone'), ('result/2', 'gone'), ('result/3', 'now-cell')]
    >>> [mark.text for mark in found.marks if mark.key.startswith("factor/")]
    ['× 0.135', '× 1']
    """
    layout = _layout(shot.spec, shot.state.reference.output is not None)
    made = {part.number: part for part in shot.state.parts}
    marks = (*_row(shot, layout), *_results(shot, layout, made), *_travelling(shot, layout, made))
    size = (layout.width, layout.height)
    return (Chart("merges", "What each worker hands on, and the merges", size, layout.still, marks, BEATS, ("gone",), "boxes"),)


def tree(parts: int, plan: Sequence[Sequence[int]], order: Sequence[int] | None = None) -> list[Place]:
    """Where each result stands, the workers' first, then the merges' as they come.

    parts   of the row
    plan    the two results that each merge takes
    order   the parts' numbers as they are lined up; None: as they stand

    >>> [(one.name, one.level, one.first, one.count) for one in tree(3, [(1, 2), (4, 3)])][2:]
    [('part 3', 0, 2, 1), ('parts 1–2', 1, 0, 2), ('the whole row', 2, 0, 3)]
    """
    lined_up = list(order or range(1, parts + 1))
    found = {i: Place(i, (i,), (), 0, lined_up.index(i), 1, _name((i,), parts)) for i in range(1, parts + 1)}
    for number, (a, b) in enumerate(plan, parts + 1):
        pair = found[a], found[b]
        of = tuple(sorted(pair[0].of + pair[1].of))
        level = max(one.level for one in pair) + 1
        first = min(one.first for one in pair)
        found[number] = Place(number, of, (a, b), level, first, len(of), _name(of, parts))
    return list(found.values())


@lru_cache(maxsize=64)
def _layout(spec: Spec, valued: bool) -> Layout:
    parts = len(spec.spans)
    width = max(NARROWEST, parts * COLUMN + 2 * LEFT)
    cell, segments = _segments(spec, width)
    form = FORMATS[spec.format]
    size, texts = in_cells([show(form.round(score) if math.isfinite(score) else score) for score in spec.scores], cell - 6)
    places = {one.number: one for one in tree(parts, spec.plan, spec.order)}
    column = (width - 2 * LEFT) / parts
    centre = {number: LEFT + (places[number].first + 0.5) * column for number in range(1, parts + 1)}
    for number, (a, b) in enumerate(spec.plan, parts + 1):
        centre[number] = (centre[a] + centre[b]) / 2
    wide, high = min(column - 8, WIDEST), NAME + LINE * (3 if valued else 2) + 5
    first = RESULTS + (LINED_UP if spec.order else 0)
    boxes = {number: box(centre[number] - wide / 2, first + one.level * (high + LEVEL), wide, high) for number, one in places.items()}
    height = max(y + high for _, y, _, _ in boxes.values()) + 4
    still = tuple(_still(spec, segments, places, boxes, valued))
    return Layout(width, height, segments, cell, places, boxes, min(size, 12.0), texts, still)


def _segments(spec: Spec, width: float) -> tuple[float, tuple[Segment, ...]]:
    """How wide a score is, and where the parts lie: with a gap at every cut; an empty part is a narrow gap of its own."""
    empty = sum(first == last for first, last in spec.spans)
    room = width - 2 * LEFT - 10 * (len(spec.spans) - 1) - 22 * empty
    cell = min(room / len(spec.scores), 58.0)
    x, found = LEFT + (room - cell * len(spec.scores)) / 2, []
    for first, last in spec.spans:
        wide = (last - first) * cell if last > first else 22.0
        found.append(Segment(round(x, 2), round(wide, 2), first, last))
        x += wide + 10
    return cell, tuple(found)


def _still(spec: Spec, segments: Sequence[Segment], places: Mapping[int, Place], boxes: Mapping[int, Box], valued: bool) -> Iterator[Mark]:
    for number, one in enumerate(segments, 1):
        middle, (x, y, wide, _) = one.x + one.width / 2, boxes[number]
        yield Mark(f"bracket/{number}", "line", "link", box(one.x + 2, HIGH + 6, one.width - 4, 0))
        yield Mark(f"span/{number}", "text", "name-unread", box(middle, HIGH + 19, 0, 0), _span(one))
        yield _edge(f"down/{number}", (middle, HIGH + 24), (x + wide / 2, y), crossing=spec.order is not None)
    for number, place in places.items():
        x, y, wide, _ = boxes[number]
        for parent in place.pair:
            above = boxes[parent]
            yield _edge(f"from/{number}/{parent}", (above[0] + above[2] / 2, above[1] + above[3]), (x + wide / 2, y))
        yield Mark(f"place/{number}", "rect", "ground", boxes[number])
        yield Mark(f"outline/{number}", "rect", "unread", boxes[number])
        yield Mark(f"name/{number}", "text", "name", box(x + wide / 2, y + 12.5, 0, 0), place.name)
        for line, what in enumerate(("m", "ℓ", "output" if wide > 110 else "out")[: 3 if valued else 2]):
            yield Mark(f"line/{number}/{line}", "text", "note", box(x + 6, y + NAME + LINE * (line + 0.8), 0, 0), what)


def _edge(key: str, top: tuple[float, float], foot: tuple[float, float], *, crossing: bool = False) -> Mark:
    """A line down that turns aside; a straight one where lines cross, so that each can be followed."""
    (x, y), (to_x, to_y) = top, foot
    turn = to_y - 9 - y
    path = (
        f"M0 0L{to_x - x:.5g} {to_y - y:.5g}"
        if crossing
        else f"M0 0V{turn:.5g}H{to_x - x:.5g}V{to_y - y:.5g}"
        if abs(to_x - x) > 0.5
        else f"M0 0V{to_y - y:.5g}"
    )
    return Mark(key, "path", "link", box(x, y, 0, 0), path=path)


def _row(shot: MergeShot, layout: Layout) -> Iterator[Mark]:
    spec, step = shot.spec, shot.step
    for part, one in enumerate(layout.segments, 1):
        for i in range(one.first, one.last):
            score, x = spec.scores[i], one.x + (i - one.first) * layout.cell
            read = part <= step
            role = "unread" if not read else "now-cell" if part == step else "kept-cell"
            if read and not math.isfinite(score):
                role = "masked" if score == -math.inf else "failed-cell"
            yield Mark(f"score/{i}", "rect", role, box(x + 0.8, 1, max(layout.cell - 1.6, 1), HIGH))
            small = "" if layout.size >= 11.9 else "-small"
            words = f"cell-bold{small}" if part == step else f"cell{small}" if read else f"cell-soft{small}"
            yield Mark(
                f"text/{i}", "text", words if layout.size else "none", box(x + layout.cell / 2, 1 + HIGH / 2 + 4, 0, 0), layout.texts[i]
            )


def _results(shot: MergeShot, layout: Layout, made: Mapping[int, Part]) -> Iterator[Mark]:
    """Each result: its box and its numbers, once it is made; and the factors of a merge on the way to it."""
    for number, place in layout.places.items():
        x, y, wide, _ = layout.boxes[number]
        part = made.get(number)
        now = number == shot.step
        failed = part is not None and not math.isfinite(part.l)
        role = "none" if part is None else "failed-cell" if failed else "now-cell" if now else "kept-cell" if part.waiting else "gone"
        yield Mark(f"result/{number}", "rect", role, layout.boxes[number], beat=WRITE if now else 0)
        beside = wide - 16 - width_of("output" if wide > 110 else "out", 11.0)  # beside what is said at the left
        told = [] if part is None else [show(part.m), show(part.l), *([_listed(part.output, beside)] if part.output is not None else [])]
        room = fitted(told, beside, 12.0, 0.0)
        told = [text if width_of(text, 8.5) <= beside else "…" for text in told]
        for line in range(3 if shot.state.reference.output is not None else 2):
            words = "none" if part is None else ("cell-end-bold" if now else "cell-end") if room >= 11 else "cell-end-small"
            where = box(x + wide - 6, y + NAME + LINE * (line + 0.8), 0, 0)
            yield Mark(f"number/{number}/{line}", "text", words, where, told[line] if told else "", beat=WRITE if now else 0)
        factors = part.factors if part is not None else None
        for child, factor in zip(place.pair, factors or (None, None), strict=False):
            above = layout.boxes[child]
            said = "" if factor is None else f"× {show(factor)}"
            left = min(above[0] + above[2] / 2 + 5, layout.width - 4 - width_of(said, 12.5, bold=True))
            words = "none" if factor is None else "factor-start" if now else "note"
            yield Mark(f"factor/{number}/{child}", "text", words, box(left, above[1] + above[3] + 14, 0, 0), said)


def _travelling(shot: MergeShot, layout: Layout, made: Mapping[int, Part]) -> Iterator[Mark]:
    """What slides down in this step: a worker's scores, or the two results of a merge, each shrunk by its factor first."""
    number = shot.step
    if number == 0 or number not in made:
        yield from (Mark(f"travels/{i}", "rect", "none", box(LEFT, 0, 1, 1), passing=True) for i in range(2))
        return
    target, place = layout.boxes[number], layout.places[number]
    if not place.pair:
        one = layout.segments[number - 1]
        yield Mark("travels/0", "rect", "none", target, was=box(one.x, 1, one.width, HIGH), beat=SLIDE, moving="now-cell", passing=True)
        yield Mark("travels/1", "rect", "none", target, passing=True)
        return
    for i, (child, factor) in enumerate(zip(place.pair, made[number].factors or (1.0, 1.0), strict=True)):
        x, y, wide, high = layout.boxes[child]
        left = max(factor, 0.02) if math.isfinite(factor) else 1.0
        shrunk = box(x, y + high * (1 - left), wide, high * left)
        half = target[2] / 2
        arrives = box(target[0] + i * half, target[1] + target[3] * (1 - left), half, target[3] * left)
        yield Mark(
            f"travels/{i}", "rect", "none", arrives, was=layout.boxes[child], beat=SLIDE, via=(SHRINK, shrunk, None), moving="kept-cell",
            passing=True,
        )  # fmt: skip


def _span(one: Segment) -> str:
    """Which scores a part holds, as short as its room asks for."""
    if one.first == one.last:
        return "none"
    short = f"{one.first + 1}" if one.last - one.first == 1 else f"{one.first + 1}–{one.last}"
    whole = f"{'score' if one.last - one.first == 1 else 'scores'} {short}"
    return whole if width_of(whole, 12) <= one.width else short


def _name(of: tuple[int, ...], parts: int) -> str:
    if len(of) == parts:
        return "the whole row"
    if len(of) == 1:
        return f"part {of[0]}"
    if of[-1] - of[0] + 1 == len(of):
        return f"parts {of[0]}–{of[-1]}"
    return f"parts {', '.join(map(str, of))}" if len(of) < 4 else f"{len(of)} parts"


def _listed(output: Shaped, room: float) -> str:
    """An output, shortened to its first numbers where a box is too narrow for all."""
    if not isinstance(output, Sequence):
        return show(output)
    shown = [show(x) for x in output]
    for count in range(len(shown), 0, -1):
        text = ", ".join(shown[:count]) + (", …" if count < len(shown) else "")
        if width_of(text, 11.0, bold=True) <= room:
            return text
    return f"{shown[0]}{', …' if len(shown) > 1 else ''}"
