"""The by-hand variant: what a reader with a calculator gets who writes down a few places in every row and goes on from them.

It is not a machine's run. The scores are a run's; the arithmetic here is decimal, rounded half up, sizes and factors to
one place more than the totals.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.lessons.expressions.filters import rounded
from app.lessons.expressions.runs import Run
from app.lessons.problems import Invalid
from app.machines.online import MACHINE as ONLINE


@dataclass(frozen=True)
class Row:
    """One step: the names are those of a run; `term` is what it adds to l, `p` the size of each of its scores. None: not there."""

    m: float
    alpha: float
    term: float
    l: float
    p: tuple[float, ...] | None = None
    pv: float | None = None
    acc: float | None = None
    output: float | None = None

    @property
    def parts(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items() if value is not None}


def worked(run: Run, places: int) -> list[Row]:
    """A row for each step, step 0 included; acc and output where there are values.

    >>> five = Run("five", {"machine": "online-softmax", "scores": "1,3,2,5,4", "values": "10,20,30,40,50", "format": "float64"})
    >>> [row.acc for row in worked(five, 4)][1:]
    [10.0, 21.3534, 32.3898, 44.3836, 62.7776]
    """
    if run.machine is not ONLINE or not all(isinstance(x, float) and math.isfinite(x) for x in run.spec.scores):
        raise Invalid(f"only a run of {ONLINE.name} over finite scores can be worked by hand")
    values = run.spec.values
    if values is not None and run.spec.width != 1:
        raise Invalid("by hand, a value is one number: give the run plain values")
    m: float | None = None
    l = acc = Decimal(0)
    rows = [Row(-math.inf, 0.0, 0.0, 0.0, acc=None if values is None else 0.0)]
    for first in range(0, len(run.spec.scores), run.spec.block):
        scores = run.spec.scores[first : first + run.spec.block]
        new = max(scores) if m is None else max(m, *scores)
        alpha = Decimal(0) if m is None else rounded(math.exp(m - new), places + 1)
        p = [rounded(math.exp(score - new), places + 1) for score in scores]
        m, term = new, sum(p, Decimal(0))
        l = rounded(l * alpha + term, places)
        pv = None
        if values is not None:
            given = [value[0] if isinstance(value, (list, tuple)) else value for value in values[first : first + run.spec.block]]
            pv = sum((size * Decimal(value) for size, value in zip(p, given, strict=True)), Decimal(0))
            acc = rounded(acc * alpha + pv, places)
        of_values = {} if pv is None else {"pv": float(pv), "acc": float(acc), "output": float(acc / l)}
        rows.append(Row(m, float(alpha), float(term), float(l), tuple(map(float, p)), **of_values))
    return rows
