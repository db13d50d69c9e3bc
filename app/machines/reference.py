"""The float64 answer, from the inputs as the format holds them: what exact arithmetic would give, near enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


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
