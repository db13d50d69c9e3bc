"""A split row as a picture: the scores in their parts, each worker's result below, and the merges that join them as a tree."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.charts.outlines import fitted, in_cells, width_of
from app.machines.formats import FORMATS
from app.machines.merge import Spec
from app.numbers import show
from app.stories.merge.shown import Made, Part, Row
from app.stories.record import Shot

MergeShot = Shot[Spec, Made | None, Row]

WIDE, LEFT, RIGHT = 800.0, 16.0, 784.0
FACTOR = 12.5  # size of a factor's letters
ROW = 30.0  # a score's height
FIRST = 96.0  # from the row's top to the workers' results
LINE, LEVEL = 18.0, 44.0  # a line in a box; the gap between two rows of boxes
WIDEST = 190.0
LETTERS = 124  # on a line below the tree


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


@dataclass(frozen=True)
class Score:
    """A score's cell. kind: unread, read, now, masked or bad."""

    x: float
    width: float
    text: str
    kind: str


@dataclass(frozen=True)
class Segment:
    """A part of the row: from where to where it lies, and below it the scores it holds."""

    x: float
    width: float
    label: str
    empty: bool


@dataclass(frozen=True)
class Box:
    """A result. kind: later (not made yet), now, waiting or used; lines: what is written in it, name first; size: of its letters."""

    number: int
    x: float
    y: float
    width: float
    height: float
    kind: str
    name: str
    lines: tuple[tuple[str, str], ...]
    size: float
    bad: bool


@dataclass(frozen=True)
class Edge:
    """From a part or a result down to the box that takes it; its factor stands beside it.

    turn   at which height it turns aside; a curve in place of turns where it is 0: parts that are lined up anew cross
    """

    x: float
    y: float
    to_x: float
    to_y: float
    turn: float
    factor: str
    kind: str

    @property
    def factor_x(self) -> float:
        """Beside the line, and never past the edge of the picture."""
        return round(min(self.x + 6, WIDE - 4 - width_of(self.factor, FACTOR, bold=True)), 2)


@dataclass(frozen=True)
class Drawing:
    """end: the last y; after: lines below, on how far rounding carried the result; size: of the scores' letters, 0 for none."""

    scores: tuple[Score, ...]
    size: float
    segments: tuple[Segment, ...]
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    end: float
    after: tuple[str, ...]


def drawing(shot: MergeShot) -> Drawing:
    """The row, the boxes and the lines of a state.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> merge = MACHINES["merge"]
    >>> found = drawing(shot(merge, merge.spec(scores=(1.0, 3.0, 5.0), cuts=(2,)), 3))
    >>> [(box.name, box.kind) for box in found.boxes], [edge.factor for edge in found.edges if edge.factor]
    ([('part 1', 'used'), ('part 2', 'used'), ('the whole row', 'now')], ['× 0.135', '× 1'])
    """
    state, spec = shot.state, shot.spec
    spans, plan, made = state.spans, state.plan, {part.number: part for part in state.parts}
    parts, valued = len(spans), state.reference.output is not None
    scores, segments = _row(shot)
    first = FIRST + (40 if spec.order else 0)

    column = (RIGHT - LEFT) / parts
    places = {one.number: one for one in tree(parts, plan, spec.order)}
    centre = {number: LEFT + (places[number].first + 0.5) * column for number in range(1, parts + 1)}
    for number, (a, b) in enumerate(plan, parts + 1):
        centre[number] = (centre[a] + centre[b]) / 2

    wide = min(column - 8, WIDEST)
    height = LINE * (4 if valued else 3) + 10
    boxes, edges = [], []
    for number, place in places.items():
        y = first + place.level * (height + LEVEL)
        boxes.append(_box(shot.step, made.get(number), place, centre[number], y, wide, height))
    at = {box.number: box for box in boxes}
    for i, one in enumerate(segments):
        edges.append(_edge(one.x + one.width / 2, ROW + 30, at[i + 1], 0.0, "", at[i + 1].kind))
    for number, pair in enumerate(plan, parts + 1):
        factors = made[number].factors if number in made else None
        for child, factor in zip(pair, factors or (None, None), strict=True):
            box = at[child]
            told = f"× {show(factor)}" if factor is not None else ""
            edges.append(_edge(box.x + box.width / 2, box.y + height, at[number], at[number].y - 14, told, at[number].kind))
    size, texts = in_cells([score.text for score in scores], scores[0].width - 4)
    scores = [replace(score, text=text) for score, text in zip(scores, texts, strict=True)]
    said = [shot.words["moved"], shot.words["by_lse"]]
    after = tuple(line for one in said for line in textwrap.wrap(one, LETTERS))
    return Drawing(tuple(scores), size, tuple(segments), tuple(boxes), tuple(edges), max(box.y for box in boxes) + height, after)


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


def _row(shot: MergeShot) -> tuple[list[Score], list[Segment]]:
    """The scores as the format holds them, with a gap at every cut; an empty part is a narrow gap of its own."""
    spec, spans, step = shot.spec, shot.state.spans, shot.step
    empty = sum(first == last for first, last in spans)
    room = RIGHT - LEFT - 10 * (len(spans) - 1) - 22 * empty
    wide = min(room / len(spec.scores), 64.0)
    x = LEFT + (room - wide * len(spec.scores)) / 2
    scores, segments = [], []
    for part, (first, last) in enumerate(spans, 1):
        begin = x
        for i in range(first, last):
            score = spec.scores[i]
            score = FORMATS[spec.format].round(score) if math.isfinite(score) else score
            kind = "unread" if part > step else "now" if part == step else "read"
            if score == -math.inf and part <= step:
                kind = "masked"
            elif not math.isfinite(score) and part <= step:
                kind = "bad"
            scores.append(Score(round(x, 2), round(wide, 2), show(score), kind))
            x += wide
        x += 22 if first == last else 0
        segments.append(Segment(round(begin, 2), round(x - begin, 2), _span(first, last, x - begin), first == last))
        x += 10
    return scores, segments


def _span(first: int, last: int, room: float) -> str:
    """Which scores a part holds, as short as its room asks for."""
    if first == last:
        return "none"
    short = f"{first + 1}" if last - first == 1 else f"{first + 1}–{last}"
    whole = f"{'score' if last - first == 1 else 'scores'} {short}"
    return whole if width_of(whole, 11) <= room else short


def _box(step: int, part: Part | None, place: Place, x: float, y: float, wide: float, height: float) -> Box:
    left, name, number = round(x - wide / 2, 2), place.name, place.number
    if part is None:
        return Box(number, left, y, wide, height, "later", name, (), 12.0, False)
    kind = "now" if number == step else "waiting" if part.waiting else "used"
    lines = [("m", show(part.m)), ("ℓ", show(part.l))]
    if part.output is not None:
        lines.append(("output" if wide > 120 else "out", _listed(part.output, wide)))
    size = fitted((f"{what} {number}" for what, number in lines), wide - 16, 13.0, 8.0) or 8.0
    bad = not math.isfinite(part.l)
    return Box(number, left, y, wide, height, kind, name, tuple(lines), size, bad)


def _name(of: tuple[int, ...], parts: int) -> str:
    if len(of) == parts:
        return "the whole row"
    if len(of) == 1:
        return f"part {of[0]}"
    if of[-1] - of[0] + 1 == len(of):
        return f"parts {of[0]}–{of[-1]}"
    return f"parts {', '.join(map(str, of))}" if len(of) < 4 else f"{len(of)} parts"


def _listed(output: Any, wide: float) -> str:
    """An output, shortened to its first numbers where a box is too narrow for all."""
    if not isinstance(output, tuple):
        return show(output)
    shown = [show(x) for x in output]
    for count in range(len(shown), 0, -1):
        text = ", ".join(shown[:count]) + (", …" if count < len(shown) else "")
        if width_of(f"output {text}", 10.0, bold=True) <= wide - 16:
            return text
    return f"{shown[0]}{', …' if len(shown) > 1 else ''}"


def _edge(x: float, y: float, box: Box, turn: float, factor: str, kind: str) -> Edge:
    return Edge(round(x, 2), y, round(box.x + box.width / 2, 2), box.y, turn, factor, kind)
