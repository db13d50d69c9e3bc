"""The by-hand variant: what a reader with a calculator gets who writes down a few places in every row and goes on from them.

It is not a machine's run. The scores are a run's; the arithmetic here is decimal, rounded half up, sizes and factors to
one place more than the totals.
"""

import math
from decimal import Decimal
from typing import Any

from app.lessons.expressions.filters import rounded
from app.lessons.expressions.runs import Run
from app.lessons.problems import Invalid


def worked(run: Run, places: int) -> list[dict[str, Any]]:
    """A row for each step, step 0 included: m, alpha, term, l, and acc and output where there are values.

    >>> from app.lessons.expressions.runs import Clock
    >>> five = Run("five", {"machine": "online-softmax", "scores": "1,3,2,5,4", "values": "10,20,30,40,50", "format": "float64"}, Clock())
    >>> [row["acc"] for row in worked(five, 4)][1:]
    [10.0, 21.3534, 32.3898, 44.3836, 62.7776]
    """
    if run.machine.name != "online-softmax" or not all(isinstance(x, float) and math.isfinite(x) for x in run.spec.scores):
        raise Invalid("only a run of online-softmax over finite scores can be worked by hand")
    values = run.spec.values
    if values is not None and run.spec.width != 1:
        raise Invalid("by hand, a value is one number: give the run plain values")
    m: float | None = None
    l = acc = Decimal(0)
    rows: list[dict[str, Any]] = [{"m": -math.inf, "alpha": 0.0, "term": 0.0, "l": 0.0} | ({"acc": 0.0} if values is not None else {})]
    for first in range(0, len(run.spec.scores), run.spec.block):
        scores = run.spec.scores[first : first + run.spec.block]
        new = max(scores) if m is None else max(m, *scores)
        alpha = Decimal(0) if m is None else rounded(math.exp(m - new), places + 1)
        sizes = [rounded(math.exp(score - new), places + 1) for score in scores]
        m, term = new, sum(sizes, Decimal(0))
        l = rounded(l * alpha + term, places)
        row = {"m": m, "alpha": float(alpha), "term": float(term), "l": float(l), "p": [float(size) for size in sizes]}
        if values is not None:
            given = [value[0] if isinstance(value, (list, tuple)) else value for value in values[first : first + run.spec.block]]
            pv = sum((size * Decimal(value) for size, value in zip(sizes, given, strict=True)), Decimal(0))
            acc = rounded(acc * alpha + pv, places)
            row |= {"pv": float(pv), "acc": float(acc), "output": float(acc / l)}
        rows.append(row)
    return rows
