"""Dividing first or last as a chart: both ways side by side, each line made from the one above it.

A step has two beats: what a line is made from slides down to it, and the numbers are written.
"""

import math
from collections.abc import Iterator, Sequence

from app.charts.marks import Box, Chart, Mark, box
from app.charts.outlines import fitted
from app.machines.division import Spec
from app.numbers import show
from app.stories.division.shown import Both, Made
from app.stories.record import Shot
from app.stories.wire_types import Shaped

DivisionShot = Shot[Spec, Made | None, Both]

SIZE = (380.0, 196.0)
WAYS = (("first", "Shares first", 4.0), ("last", "Division last", 198.0))
WIDE, HIGH = 178.0, 22.0
EXPS, SHARES, WEIGHED, DIVIDED = 36.0, 80.0, 124.0, 168.0  # the lines' tops
SLIDE, WRITE = range(2)
BEATS = (520, 180)


def charts(shot: DivisionShot) -> tuple[Chart, ...]:
    """Both ways.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> division = MACHINES["division-order"]
    >>> (found,) = charts(shot(division, division.spec(scores=(1.0, 2.0), values=(2.0, 0.0)), 4))
    >>> [mark.text for mark in found.marks if mark.key in ("number/first/output", "number/last/weighted", "number/last/output")]
    ['0.538', '0.736', '0.538']
    """
    still = [Mark(f"title/{way}", "text", "head-name", box(x, 14, 0, 0), title) for way, title, x in WAYS]
    for way, _, x in WAYS:
        said = [(EXPS, "exp(score − m)"), (WEIGHED, "× value, and added up")]
        said += [(SHARES, "each ÷ ℓ: shares")] if way == "first" else [(DIVIDED, "÷ ℓ, once")]
        still += [Mark(f"said/{way}/{y:g}", "text", "note", box(x, y - 5, 0, 0), text) for y, text in said]
    return (Chart("division", "Both ways, side by side", SIZE, tuple(still), tuple(_marks(shot)), BEATS, kind="lanes"),)


def _marks(shot: DivisionShot) -> Iterator[Mark]:
    state = shot.state
    for way, _, x in WAYS:
        made = shot.step == 1
        yield from _cells(f"{way}/exp", x, EXPS, len(shot.spec.scores), state.exponentials, None, now=made)
        l = "" if state.l is None else f"ℓ = {show(state.l)}"
        yield Mark(f"l/{way}", "text", "kept-name-end" if l else "none", box(x + WIDE, EXPS - 5, 0, 0), l, beat=WRITE if made else 0)
    x = WAYS[0][2]
    yield from _cells("first/share", x, SHARES, len(shot.spec.scores), state.first.shares, EXPS, now=shot.step == 2)
    yield from _box("first/output", x, WEIGHED, state.first.output, SHARES, now=shot.step == 3, end=True)
    x = WAYS[1][2]
    yield from _box("last/weighted", x, WEIGHED, state.last.weighted_sum, EXPS, now=shot.step == 3)
    yield from _box("last/output", x, DIVIDED, state.last.output, WEIGHED, now=shot.step == 4, end=True)
    divides = {2: (WAYS[0][2], SHARES), 4: (WAYS[1][2], DIVIDED)}.get(shot.step)
    left, top = divides or (x, SHARES)
    text = "" if divides is None or state.l is None else f"÷ {show(state.l)}"
    yield Mark("divisor", "text", "factor-small" if text else "none", box(left + WIDE, top - 5, 0, 0), text, was=box(left + WIDE, EXPS - 5, 0, 0) if text else None, passing=True)  # fmt: skip


def _cells(key: str, x: float, y: float, n: int, numbers: Sequence[float] | None, above: float | None, *, now: bool) -> Iterator[Mark]:
    """A line with a cell for each score; `above`: the line that it is made from."""
    wide = WIDE / n
    texts = [] if numbers is None else list(map(show, numbers))
    size = fitted(texts, wide - 5, 12.0) if texts else 0.0
    for i in range(n):
        place = box(x + i * wide + 0.5, y, max(wide - 2, 1), HIGH)
        middle = box(x + (i + 0.5) * wide - 0.5, y + HIGH / 2 + 4, 0, 0)
        if numbers is None:
            yield Mark(f"cell/{key}/{i}", "rect", "unread", place)
            yield Mark(f"number/{key}/{i}", "text", "none", middle)
            continue
        was = box(x + i * wide + 0.5, above, max(wide - 2, 1), HIGH) if now and above is not None else None
        yield Mark(f"cell/{key}/{i}", "rect", _role(numbers[i], now), place, was=was)
        role = "none" if not size else ("cell-bold" if now else "cell") if size >= 11.5 else "cell-small"
        yield Mark(f"number/{key}/{i}", "text", role, middle, texts[i], beat=WRITE if now else 0)


def _box(key: str, x: float, y: float, given: Shaped | None, above: float, *, now: bool, end: bool = False) -> Iterator[Mark]:
    """A line that is one number, or one vector: what stands above it, weighed and added up."""
    place: Box = box(x + 0.5, y, WIDE - 2, HIGH)
    middle = box(x + WIDE / 2, y + HIGH / 2 + 4, 0, 0)
    if given is None:
        yield Mark(f"cell/{key}", "rect", "unread", place)
        yield Mark(f"number/{key}", "text", "none", middle)
        return
    numbers = given if isinstance(given, Sequence) else (given,)
    shown = ", ".join(map(show, numbers[:4])) + (", …" if len(numbers) > 4 else "")
    yield Mark(f"cell/{key}", "rect", _role(sum(numbers), now), place, was=box(x + 0.5, above, WIDE - 2, HIGH) if now else None)
    role = ("cell-bold" if now or end else "cell") if fitted([shown], WIDE - 8, 12.0) >= 11.5 else "cell-small"
    yield Mark(f"number/{key}", "text", role, middle, shown, beat=WRITE if now else 0)


def _role(number: float, now: bool) -> str:
    return "failed-cell" if not math.isfinite(number) else "now-cell" if now else "kept-cell"
