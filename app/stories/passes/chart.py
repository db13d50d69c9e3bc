"""softmax-passes as a picture: the row of scores, a reading head, a lane for each pass, and what is kept after each read.

The numbers in the lanes come from running the machine once more on the state's spec, up to its step.
"""

import math
from dataclasses import dataclass, replace

from app.charts.outlines import in_cells
from app.machines.passes import METHODS, Spec, advance, start
from app.numbers import show
from app.stories.passes.shown import Progress, Read
from app.stories.record import Shot

LEFT, RIGHT = 150.0, 690.0
LANE, GAP = 30.0, 28.0
TITLES = {"max": "find the highest", "sum": "add up the sizes", "both": "highest and sum at once", "share": "write the shares"}


@dataclass(frozen=True)
class Cell:
    """One place in the row or in a lane. kind: unread, read, now or bad."""

    x: float
    width: float
    kind: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Lane:
    """One pass: what it does, a cell for each block (for each score where shares are written), and how much of it is done.

    y, height    where it stands
    size         of the letters in its cells; 0: there is no room for numbers
    names        what the lines of a cell hold
    now          what is kept at this step, in the lane that is being read
    """

    number: int
    title: str
    names: tuple[str, ...]
    y: float
    height: float
    cells: tuple[Cell, ...]
    size: float
    reads: int
    now: bool


@dataclass(frozen=True)
class Drawing:
    """scores: the row; heads: from where to where the head reads now; lanes; end: the last y.

    every   one score in so many bears its place below it
    """

    scores: tuple[Cell, ...]
    size: float
    head: tuple[float, float] | None
    lanes: tuple[Lane, ...]
    every: int
    end: float


def drawing(shot: Shot[Spec, Read | None, Progress]) -> Drawing:
    """The row and the lanes of a state.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> passes = MACHINES["softmax-passes"]
    >>> found = drawing(shot(passes, passes.spec(scores=(1.0, 3.0), method="safe"), 3))
    >>> [lane.title for lane in found.lanes], [cell.texts for cell in found.lanes[0].cells], found.lanes[1].cells[0].kind
    (['find the highest', 'add up the sizes', 'write the shares'], [('1',), ('3',)], 'now')
    """
    spec, event = shot.spec, shot.event
    n, ops = len(spec.scores), METHODS[spec.method]
    wide = min((RIGHT - LEFT) / n, 108.0)
    readings = []
    state = start(spec)
    for _ in range(shot.step):
        reading = advance(spec, state)
        readings.append(reading)
        state = reading.after

    lanes, y = [], 0.0
    for i, op in enumerate(ops):
        mine = [reading for reading in readings if reading.pass_ == i]
        height = LANE + 16 if op == "both" else LANE
        cells: list[Cell] = []
        for reading in mine:
            now = reading is readings[-1]
            if op == "share":
                cells += [_cell(reading.first + j, 1, wide, (share,), now) for j, share in enumerate(reading.results)]
            else:
                m, l = reading.after.m, reading.after.l
                kept = {"max": (m,), "sum": (l,), "both": (m, l)}[op]
                cells.append(_cell(reading.first, len(reading.scores), wide, kept, now))
        read = sum(len(reading.scores) for reading in mine)
        room = min((cell.width for cell in cells), default=wide) - 4
        size, texts = in_cells([text for cell in cells for text in cell.texts], room)
        each_has = 2 if op == "both" else 1
        cells = [replace(cell, texts=texts[j * each_has : (j + 1) * each_has]) for j, cell in enumerate(cells)]
        each = 1 if op == "share" else spec.block
        cells += [Cell(round(LEFT + j * wide, 2), round(min(each, n - j) * wide, 2), "unread", ()) for j in range(read, n, each)]
        names = {"max": ("m",), "sum": ("ℓ",), "both": ("m", "ℓ"), "share": ("share",)}[op]
        lanes.append(Lane(i + 1, TITLES[op], names, y, height, tuple(cells), size, read, bool(mine) and mine[-1] is readings[-1]))
        y += height + GAP

    size, shown = in_cells([show(spec.form.round(score)) if math.isfinite(score) else show(score) for score in spec.scores], wide - 4)
    now_read = event.indices if event else ()
    kinds = ["now" if j in now_read else "read" if _has_been_read(lanes, j) else "unread" for j in range(n)]
    scores = tuple(Cell(round(LEFT + j * wide, 2), round(wide, 2), kinds[j], (shown[j],)) for j in range(n))
    head = (round(LEFT + now_read[0] * wide, 2), round(LEFT + (now_read[-1] + 1) * wide, 2)) if now_read else None
    return Drawing(scores, size, head, tuple(lanes), math.ceil(18 / wide), y - GAP)


def _cell(first: int, count: int, wide: float, kept: tuple[float | None, ...], now: bool) -> Cell:
    numbers = [x for x in kept if x is not None]
    bad = any(math.isnan(x) or x == math.inf for x in numbers)
    return Cell(
        round(LEFT + first * wide, 2), round(count * wide, 2), "bad" if bad else "now" if now else "read", tuple(map(show, numbers))
    )


def _has_been_read(lanes: list[Lane], place: int) -> bool:
    return lanes[0].reads > place
