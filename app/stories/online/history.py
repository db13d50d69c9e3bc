"""m and ℓ of an online-softmax run from step to step, as a picture: m climbs like a staircase, ℓ may fall.

The numbers come from running the machine once more on the state's spec. Both axes are those of the whole run, so that
nothing moves but the line when a reader steps.
"""

import math
import sys
from dataclasses import dataclass

from app.charts.outlines import width_of
from app.machines import online
from app.numbers import show
from app.stories.online.chart import OnlineShot

LEFT, RIGHT = 72.0, 776.0
TALL, GAP, PAD = 118.0, 34.0, 26.0  # a panel, the space between the two, and room in a panel above and below its points
LETTER = 12.0


@dataclass(frozen=True)
class Point:
    """After one step. kind: same, rises (a new highest score), first, none (no live score yet) or bad (NaN or infinite)."""

    step: int
    x: float
    y: float
    kind: str
    text: str
    up: bool


@dataclass(frozen=True)
class Panel:
    """One number's course. path: the line through its points; ticks as (y, text)."""

    name: str
    top: float
    height: float
    points: tuple[Point, ...]
    path: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Drawing:
    """Both panels and what lies between and below them.

    scores   of the steps made, as (x, y in the upper panel), but for those that m stands on as they come
    rises    where all that was kept was multiplied, as (x, factor); the factor is "" where there is no room for it
    slots    the steps, as (x, label, made)
    now      the x of this step; None before the first
    mark     the size of a mark
    words    both courses in one sentence
    """

    m: Panel
    l: Panel
    scores: tuple[tuple[float, float], ...]
    rises: tuple[tuple[float, str], ...]
    slots: tuple[tuple[float, str, bool], ...]
    now: float | None
    mark: float
    words: str


def drawing(shot: OnlineShot) -> Drawing:
    """Both courses up to the state's step.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> machine = MACHINES["online-softmax"]
    >>> found = drawing(shot(machine, machine.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> [point.text for point in found.m.points], [point.text for point in found.l.points], [factor for _, factor in found.rises]
    (['1', '3'], ['1', '1.135'], ['× 0.135'])
    """
    spec, step = shot.spec, shot.step
    readings, state = [], online.start(spec)
    for _ in range(online.steps(spec)):
        readings.append(online.advance(spec, state))
        state = readings[-1].after
    slot = (RIGHT - LEFT) / len(readings)
    xs = [round(LEFT + (i + 0.5) * slot, 2) for i in range(len(readings))]

    ms, ls = [reading.after.m for reading in readings], [reading.after.l for reading in readings]
    every = [score for reading in readings for score in reading.scores]
    m_low, m_high = _ends([*ms, *every])
    l_high = max((l for l in ls if math.isfinite(l)), default=1.0) or 1.0
    made = readings[:step]
    kinds = ["none" if one.m_new == online.MASKED else "rises" if one.rescales else "first" if one.new_max else "same" for one in made]
    m = _panel("m", 0.0, xs, ms[:step], kinds, m_low, m_high, slot, stairs=True)
    l = _panel("ℓ", TALL + GAP, xs, ls[:step], kinds, 0.0, l_high, slot, stairs=False)
    scores = tuple(
        (xs[i], _y(score, 0.0, m_low, m_high))
        for i, one in enumerate(made)
        for score in one.scores
        if math.isfinite(score) and not (one.new_max and score == one.m_new)
    )
    factors = {xs[i]: f"× {show(one.alpha)}" for i, one in enumerate(made) if one.rescales}
    room = max((width_of(factor, LETTER, bold=True) for factor in factors.values()), default=0.0) + 14 <= slot
    rises = tuple((x, factor if room else "") for x, factor in factors.items())
    labels = [f"{i + 1}" for i in range(len(xs))]
    every_nth = math.ceil((width_of(labels[-1], 11.0) + 8) / slot)
    slots = tuple((x, label if i % every_nth == 0 else "", i < step) for i, (x, label) in enumerate(zip(xs, labels, strict=True)))
    listed = [", ".join(show(x) for x in (ms if name == "m" else ls)[:step]) for name in ("m", "ℓ")]
    words = f"After each step m is {listed[0]}; ℓ is {listed[1]}." if step else "No step has been made."
    return Drawing(m, l, scores, rises, slots, xs[step - 1] if step else None, round(min(5.0, max(slot / 4, 1.5)), 2), words)


def _ends(numbers: list[float]) -> tuple[float, float]:
    """The ends of m's axis: of what is finite, and never of no height."""
    finite = [x for x in numbers if math.isfinite(x)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    room = 0.0 if low < high else max(1.0, abs(low) / 16)
    most = sys.float_info.max  # next to which there is no room
    return max(low - room, -most), min(high + room, most)


def _y(value: float, top: float, low: float, high: float) -> float:
    share = (value / 2 - low / 2) / (high / 2 - low / 2)  # halves: the difference of two float64 numbers may overflow
    return round(top + TALL - PAD - min(max(share, 0.0), 1.0) * (TALL - 2 * PAD), 2)


def _panel(
    name: str, top: float, xs: list[float], values: list[float], kinds: list[str], low: float, high: float, slot: float, *, stairs: bool
) -> Panel:
    points = []
    for i, (value, kind) in enumerate(zip(values, kinds, strict=True)):
        bad = math.isnan(value) or value == math.inf
        y = top + TALL / 2 - 6 if bad else top + TALL - PAD if not math.isfinite(value) else _y(value, top, low, high)
        falls = i > 0 and not stairs and math.isfinite(value) and values[i - 1] > value
        points.append(Point(i + 1, xs[i], round(y, 2), "bad" if bad else kind, show(value), not falls))
    path, open_ = "", False
    for point in points:
        if point.kind in ("bad", "none"):
            open_ = False
            continue
        if stairs:
            left, right = round(point.x - slot / 2, 2), round(point.x + slot / 2, 2)
            path += f"V{point.y}H{right}" if open_ else f"M{left} {point.y}H{right}"
        else:
            path += f"L{point.x} {point.y}" if open_ else f"M{point.x} {point.y}"
        open_ = True
    shown = _labelled(points, slot)
    ticks = ((_y(low, top, low, high), show(low)), (_y(high, top, low, high), show(high)))
    return Panel(name, top, TALL, tuple(shown), path, ticks)


def _labelled(points: list[Point], slot: float) -> list[Point]:
    """Points with their numbers where all of them fit; else only the last one, and where the kind changes to bad."""
    if max((width_of(point.text, LETTER, bold=True) for point in points), default=0.0) + 6 <= slot:
        return points
    bare = [Point(p.step, p.x, p.y, p.kind, "", p.up) for p in points[:-1]]
    first_bad = next((i for i, point in enumerate(points) if point.kind == "bad"), None)
    if first_bad is not None and first_bad < len(bare) - 2:
        bare[first_bad] = points[first_bad]
        return (
            [*bare, Point(points[-1].step, points[-1].x, points[-1].y, points[-1].kind, "", True)]
            if points[-1].kind == "bad"
            else [*bare, points[-1]]
        )
    return [*bare, points[-1]]
