"""softmax-passes as a chart: the row of scores, the head that reads it, and below it a lane for each pass with what is kept after every read.

A step has three beats: the head moves to what it reads, what was read drops into the lane of its pass, and what is kept then is written there.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

from app.charts.marks import Chart, Mark, box
from app.charts.outlines import fitted
from app.machines.passes import METHODS, Spec
from app.numbers import show
from app.stories.passes.shown import Progress, Read
from app.stories.record import Shot

PassesShot = Shot[Spec, Read | None, Progress]

WIDTH, LEFT, RIGHT = 380.0, 28.0, 372.0
ROW, HIGH = 20.0, 26.0  # the scores
FIRST, TITLE, CELL, GAP = 60.0, 16.0, 22.0, 10.0  # the first lane; within a lane
WIDEST = 64.0
MOVE, DROP, WRITE = range(3)
BEATS = (260, 320, 160)
TITLES = {"max": "find the highest", "sum": "add up the sizes", "both": "highest and sum at once", "share": "write the shares"}
KEPT = {"max": ("m",), "sum": ("ℓ",), "both": ("m", "ℓ"), "share": ("share",)}  # the lines of a lane


def charts(shot: PassesShot) -> tuple[Chart, ...]:
    """The row and its lanes.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> passes = MACHINES["softmax-passes"]
    >>> (found,) = charts(shot(passes, passes.spec(scores=(1.0, 3.0), method="safe"), 3))
    >>> [(mark.key, mark.text) for mark in found.marks if mark.key.startswith("kept") and mark.text]
    [('kept/0/0/m', '1'), ('kept/0/1/m', '3'), ('kept/1/0/ℓ', '0.135')]
    """
    spec = shot.spec
    places = tuple(_lanes(spec))
    end = places[-1][0] + TITLE + CELL * len(KEPT[METHODS[spec.method][-1]])
    marks = (*_head(shot), *_row(shot), *(mark for lane, (y, op) in enumerate(places) for mark in _lane(shot, lane, y, op)))
    return (Chart("passes", "The row, and what is kept after every read", (WIDTH, end + 6), _still(spec), marks, BEATS, kind="lanes"),)


def _lanes(spec: Spec) -> Iterator[tuple[float, str]]:
    """Where each pass's lane begins, and what the pass does."""
    y = FIRST
    for op in METHODS[spec.method]:
        yield y, op
        y += TITLE + CELL * len(KEPT[op]) + GAP


@lru_cache(maxsize=64)
def _still(spec: Spec) -> tuple[Mark, ...]:
    found = []
    for lane, (y, op) in enumerate(_lanes(spec)):
        found.append(Mark(f"title/{lane}", "text", "head-name", box(LEFT, y + 11, 0, 0), f"pass {lane + 1}: {TITLES[op]}"))
        if op != "share":
            found += [
                Mark(f"line/{lane}/{name}", "text", "tick", box(LEFT - 5, y + TITLE + (i + 0.5) * CELL + 4, 0, 0), name)
                for i, name in enumerate(KEPT[op])
            ]
    return tuple(found)


def _wide(spec: Spec) -> float:
    return min((RIGHT - LEFT) / len(spec.scores), WIDEST)


def _head(shot: PassesShot) -> Iterator[Mark]:
    """Where is read now: a triangle over the row, and a line as long as the block. It goes back to the start for every pass."""
    spec, event = shot.spec, shot.event
    there = event is not None
    first, last = (event.indices[0], event.indices[-1]) if event else (0, 0)
    wide = _wide(spec)
    x = LEFT + (first + last + 1) / 2 * wide
    before = _before(spec, shot.step)
    was = None if before is None else LEFT + (before[0] + before[1] + 1) / 2 * wide
    yield Mark(
        "head", "path", "head" if there else "none", box(x - 7, 6, 14, 10), was=None if was in (None, x) else box((was or 0) - 7, 6, 14, 10),
        beat=MOVE, path="M0 0h14l-7 10z",
    )  # fmt: skip


def _before(spec: Spec, step: int) -> tuple[int, int] | None:
    """The first and the last score that the step before this one read."""
    if step < 2:
        return None
    n, each = len(spec.scores), -(-len(spec.scores) // spec.block)
    first = (step - 2) % each * spec.block
    return first, min(first + spec.block, n) - 1


@lru_cache(maxsize=64)
def _written(spec: Spec) -> tuple[tuple[str, ...], float]:
    """Each score as it is read, and the letter size at which all fit their cells; 0 where they do not."""
    texts = tuple(show(spec.form.round(score)) if math.isfinite(score) else show(score) for score in spec.scores)
    return texts, fitted(texts, _wide(spec) - 6, 12.0)


def _row(shot: PassesShot) -> Iterator[Mark]:
    spec, event, state = shot.spec, shot.event, shot.state
    texts, size = _written(spec)
    wide = _wide(spec)
    for row, text in enumerate(texts):
        now = event is not None and row in event.indices
        read = state.pass_ > 1 or (event is not None and row <= event.indices[-1])
        place = box(LEFT + row * wide + 1, ROW, max(wide - 2, 1), HIGH)
        yield Mark(f"score/{row}", "rect", "now-cell" if now else "kept-cell" if read else "unread", place)
        small = "" if size >= 11.9 else "-small"
        role = f"cell-bold{small}" if now else f"cell{small}" if read else f"cell-soft{small}"
        yield Mark(f"text/{row}", "text", role if size else "none", box(LEFT + (row + 0.5) * wide, ROW + HIGH / 2 + 4, 0, 0), text)


def _lane(shot: PassesShot, lane: int, y: float, op: str) -> Iterator[Mark]:
    """A pass: a cell for each block, or for each score where shares are written, and how much of the row it has read."""
    spec, event, state = shot.spec, shot.event, shot.state
    n, wide = len(spec.scores), _wide(spec)
    now, begun = state.pass_ == lane + 1, state.pass_ > lane
    read = (event.indices[-1] + 1 if now and event else n) if begun else 0
    each = 1 if op == "share" else spec.block
    for line, name in enumerate(KEPT[op]):
        top = y + TITLE + line * CELL
        numbers = _numbers(state, lane, op, name)
        for at, first in enumerate(range(0, n, each)):
            x, width = LEFT + first * wide, min(each, n - first) * wide
            place = box(x + 1, top, max(width - 2, 1), CELL - 3)
            key = f"{lane}/{at}/{name}"
            if first >= read:
                yield Mark(f"cell/{key}", "rect", "unread", place)
                yield Mark(f"kept/{key}", "text", "none", box(x + width / 2, top + CELL / 2 + 3, 0, 0))
                continue
            fresh = now and event is not None and first in event.indices
            number = numbers[at] if at < len(numbers) else None
            failed = number is not None and (math.isnan(number) or number == math.inf)
            text = "" if number is None else show(number)
            room = fitted((text,), width - 4, 12.0)
            yield Mark(
                f"cell/{key}", "rect", "failed-cell" if failed else "now-cell" if fresh else "kept-cell", place,
                was=box(x + 1, ROW, max(width - 2, 1), HIGH) if fresh else None, beat=DROP,
            )  # fmt: skip
            role = "none" if not room else f"{'cell-bold' if fresh else 'cell'}{'' if room >= 11.9 else '-small'}"
            yield Mark(f"kept/{key}", "text", role, box(x + width / 2, top + CELL / 2 + 3, 0, 0), text, beat=WRITE if fresh else 0)
    role = "note-now-end" if now else "note-end"
    yield Mark(f"read/{lane}", "text", role, box(RIGHT, y + 11, 0, 0), f"{read} of {n} read")


def _numbers(state: Progress, lane: int, op: str, name: str) -> list[float | None]:
    if op == "share":
        return list(state.shares or ())
    kept = state.kept[lane] if state.kept and lane < len(state.kept) else ()
    return [one.m if name == "m" else one.l for one in kept]
