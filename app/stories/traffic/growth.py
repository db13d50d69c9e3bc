"""Memory traffic at any size as charts: growth with the number of tokens, and distances from float64."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.machines.accuracy import BLOCKS, Distances
from app.machines.traffic import LEAST_TOKENS, MOST_TOKENS, WAYS, Spec, bytes_of
from app.numbers import amount, show, size

SHAPES = {"standard": "square", "fa1": "triangle", "fa2": "circle"}

# Growth: bytes against tokens, both axes in powers of two.

TOKENS = [2**power for power in range(LEAST_TOKENS.bit_length() - 1, MOST_TOKENS.bit_length())]
_X, _Y = (58, 368), (18, 216)


@dataclass(frozen=True)
class Axes:
    """Which powers of two lie at the left, right, bottom and top, and the marks on both axes as (place, label)."""

    name: str
    title: str
    low: int
    high: int
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]


@dataclass(frozen=True)
class Line:
    way: str
    shape: str
    bytes: list[int]
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Growth:
    axes: Axes
    lines: list[Line]
    here: float


def growth(spec: Spec) -> list[Growth]:
    """Bytes moved, and bytes set aside in slow memory, for each power of two of tokens."""
    unit = bytes_of(spec.format)
    costs = {way: [spec.cost(way, n) for n in TOKENS] for way in WAYS}
    titles = {"moved": "bytes moved", "stored": "bytes set aside in slow memory"}
    return [
        _panel(spec, name, title, {way: [getattr(one, name) * unit for one in costs[way]] for way in WAYS})
        for name, title in titles.items()
    ]


def _panel(spec: Spec, name: str, title: str, found: dict[str, list[int]]) -> Growth:
    every = [one for row in found.values() for one in row]
    low = min(every).bit_length() // 5 * 5 - 5
    high = -(-max(every).bit_length() // 5) * 5
    low = max(0, low)
    up = [(_up(2**power, low, high), size(2**power)) for power in range(-(-low // 10) * 10, high + 1, 10)]
    across = [(_across(n), f"{n:,}") for n in TOKENS[::3]]
    lines = [
        Line(way, SHAPES[way], row, [(_across(n), _up(one, low, high)) for n, one in zip(TOKENS, row, strict=True)])
        for way, row in found.items()
    ]
    return Growth(Axes(name, title, low, high, across, up), lines, _across(spec.n))


def _across(n: int) -> float:
    return _between(_X, math.log2(n), math.log2(LEAST_TOKENS), math.log2(MOST_TOKENS))


def _up(x: float, low: float, high: float) -> float:
    return _between(_Y[::-1], math.log2(x), low, high)


def _between(span: Sequence[float], x: float, low: float, high: float) -> float:
    return round(span[0] + (span[1] - span[0]) * (x - low) / (high - low), 1)


def frame(spec: Spec, found: list[Growth]) -> dict[str, Any]:
    """What Plotly draws the same chart from."""
    return {
        "tokens": TOKENS,
        "ticks": [[n, f"{n:,}"] for n in TOKENS[::3]],
        "here": spec.n,
        "said": amount(spec.n),
        "panels": [
            {
                "name": one.axes.name,
                "title": one.axes.title,
                "range": [one.axes.low, one.axes.high],
                "ticks": [[2**power, size(2**power)] for power in range(-(-one.axes.low // 10) * 10, one.axes.high + 1, 10)],
                "lines": [{"way": line.way, "bytes": line.bytes, "said": [size(x) for x in line.bytes]} for line in one.lines],
            }
            for one in found
        ],
    }


# Distances from float64: a small panel for each choice of formats.


@dataclass(frozen=True)
class Errors:
    """A panel: the standard way as a level line, each kind of tiled run as points, the top of the axis in words."""

    distances: Distances
    level: float
    top: str
    lines: dict[str, list[tuple[float, float]]]
    across: list[tuple[float, str]]


def errors(found: Sequence[Distances]) -> list[Errors]:
    return [_errors(one) for one in found]


def _errors(one: Distances) -> Errors:
    most = max(one.standard, one.farthest)
    top = _round_up(most * 1.1)
    xs = [round(34 + 190 * at / (len(BLOCKS) - 1), 1) for at in range(len(BLOCKS))]

    def up(x: float) -> float:
        return _between((120, 14), x, 0, top)

    lines = {kind: [(x, up(y)) for x, y in zip(xs, row, strict=True)] for kind, row in one.tiled.items()}
    return Errors(one, up(one.standard), show(top, 4), lines, [(x, str(block)) for x, block in zip(xs, BLOCKS, strict=True)])


def _round_up(x: float) -> float:
    """The next of 1, 2, 5 times a power of ten.

    >>> _round_up(0.0137), _round_up(2.2e-7)
    (0.02, 5e-07)
    """
    power = math.floor(math.log10(x))
    return next(float(f"{step}e{power}") for step in (1, 2, 5, 10) if float(f"{step}e{power}") >= x)
