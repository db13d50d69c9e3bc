"""What mathematics says of a few small inputs, by another way than the machines go: softmax in closed form, in float64, summed without rounding."""

import math
from collections.abc import Sequence

SCORES, VALUES = (1.0, 3.0, 2.0, 5.0, 4.0), ((10.0, 1.0), (20.0, -2.0), (30.0, 0.5), (40.0, 0.0), (50.0, 7.0))
Q, K = ((1.0, -0.5), (0.25, 2.0)), ((1.0, 2.0), (0.0, 1.0), (3.0, -1.0), (0.5, 0.5), (-2.0, 1.5))


def softmax(scores: Sequence[float]) -> list[float]:
    """The shares in closed form.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(scores)
    sizes = [math.exp(score - top) for score in scores]
    whole = math.fsum(sizes)
    return [size / whole for size in sizes]


def weighted(scores: Sequence[float], values: Sequence[Sequence[float]]) -> list[float]:
    """The average of the values, weighted by the shares of the scores."""
    return [math.fsum(map(math.prod, zip(softmax(scores), column, strict=True))) for column in zip(*values, strict=True)]


def attention() -> list[list[float]]:
    """Q against K with the scale 1/√2, weighing VALUES."""
    return [weighted([sum(map(math.prod, zip(q, k, strict=True))) / math.sqrt(2) for k in K], VALUES) for q in Q]
