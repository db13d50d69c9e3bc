"""The float64 answer, from the inputs as the format holds them: what exact arithmetic would give, near enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.machines.formats import Format


@dataclass(frozen=True)
class Reference:
    """m, l, lse, output (a number for each element of a value) and shares of the scores given."""

    m: float
    l: float
    lse: float
    output: tuple[float, ...]
    shares: tuple[float, ...]


def softmax(scores: Sequence[float], values: Sequence[Sequence[float]] = ()) -> Reference:
    """Softmax of `scores` and the average of `values` that it weights; −inf marks a masked score.

    No live key: shares are NaN (a bare softmax is 0/0), the output is 0 and lse is −inf. A score of +inf or NaN gives
    NaN shares, as every library does.

    >>> about = softmax([1, 2], [[2, 0], [0, 2]])
    >>> [round(x, 3) for x in (about.l, *about.output)]
    [1.368, 0.538, 1.462]
    """
    width = len(values[0]) if values else 0
    if all(s == -math.inf for s in scores):
        return Reference(-math.inf, 0.0, -math.inf, (0.0,) * width, (math.nan,) * len(scores))
    m = math.nan if any(map(math.isnan, scores)) else max(scores)
    if not math.isfinite(m):
        nan = (math.nan,)
        return Reference(m, math.nan, m, nan * width, nan * len(scores))
    exps = [math.exp(s - m) for s in scores]
    l = math.fsum(exps)
    shares = tuple(e / l for e in exps)
    output = tuple(
        _sum([share * row[i] for s, share, row in zip(scores, shares, values, strict=True) if s != -math.inf]) for i in range(width)
    )
    return Reference(m, l, m + math.log(l), output, shares)


def _sum(terms: list[float]) -> float:
    """math.fsum, with IEEE's answer where it raises: for infinities of both signs, and past the largest float64."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return sum(terms)


@dataclass(frozen=True)
class Error:
    """How far a result is from the exact one: as it is, over the exact one's size, and in units in the last place of a format."""

    absolute: float
    relative: float
    ulps: float


def error(form: Format, got: Sequence[float], exact: Sequence[float]) -> Error:
    """The largest error of `got`, numbers of the format `form`, against the float64 numbers `exact`, each measure on its own.

    A unit in the last place is the gap between the exact number, rounded to the format, and the next larger one. Two NaN,
    or two infinities of one sign, agree; a finite number that stands for neither is infinitely far from it.

    >>> from app.machines.formats import FORMATS
    >>> error(FORMATS["float16"], [1.0009765625, 2.0], [1.0, 2.0])
    Error(absolute=0.0009765625, relative=0.0009765625, ulps=1.0)
    """
    found = [_error(form, a, b) for a, b in zip(got, exact, strict=True)] or [Error(0.0, 0.0, 0.0)]
    return Error(max(one.absolute for one in found), max(one.relative for one in found), max(one.ulps for one in found))


def _error(form: Format, got: float, exact: float) -> Error:
    if got == exact or (math.isnan(got) and math.isnan(exact)):
        return Error(0.0, 0.0, 0.0)
    absolute = abs(got - exact)
    near = form.round(abs(exact))
    if not math.isfinite(absolute) or not math.isfinite(near):
        return Error(math.inf, math.inf, math.inf)
    unit = form.next_up(near) - near
    if not math.isfinite(unit):  # the largest number of the format has no next
        unit = near - form.next_down(near)
    return Error(absolute, absolute / abs(exact) if exact else math.inf, absolute / unit)
