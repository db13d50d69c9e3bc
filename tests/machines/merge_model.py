"""A split row once more, for the tests: scalar_model.py's arithmetic, an exact Fraction before every rounding, nothing from app/.

Where DESIGN.md leaves a choice open:
- a part with no live key is left out of a merge: factor 0 for it and 1 for the other, and nothing is computed;
- m and the factors are in `format`; l, acc, lse and what is made from lse in `accumulate`; an output is cast to `format`.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

from tests.machines.scalar_model import MASKED, add, cast, divide, exp, higher, log, multiply, run


@dataclass
class Part:
    m: float
    l: float
    acc: list[float]
    factors: tuple[float, float] = ()
    lse: float = MASKED
    output: list[float] = ()
    by_lse: tuple[float, list[float]] = ()


def spans(n, splits=2, cuts=None):
    """Equal parts, the last ones shorter or empty, or the parts between the cuts."""
    if cuts is not None:
        return list(pairwise([0, *cuts, n]))
    size = math.ceil(n / splits)
    return [(min(i * size, n), min((i + 1) * size, n)) for i in range(splits)]


def merged_in(merge_order, items, merge):
    """All items made one by a function of two: a running total from either end, or round by round."""
    items = list(items)
    if merge_order == "left":
        total = items.pop(0)
        for one in items:
            total = merge(total, one)
        return total
    if merge_order == "right":
        total = items.pop()
        for one in reversed(items):
            total = merge(one, total)
        return total
    while len(items) > 1:
        items = [merge(*items[i : i + 2]) if i + 1 < len(items) else items[i] for i in range(0, len(items), 2)]
    return items[0]


def parts(scores, values=None, splits=2, cuts=None, merge_order="left", order=None, format="float32", accumulate=None):
    """Every result in the order made: the workers', then the merges'."""
    sums = accumulate or format
    rows = None if values is None else [row if isinstance(row, tuple) else (row,) for row in values]
    width = len(rows[0]) if rows else 0

    def finish(one):
        one.lse = MASKED if one.m == MASKED else add(sums, one.m, log(sums, one.l))
        one.output = [0.0 if one.m == MASKED else cast(format, divide(sums, x, one.l)) for x in one.acc]
        return one

    made = []
    for first, last in spans(len(scores), splits, cuts):
        part = Part(MASKED, 0.0, [0.0] * width)
        if last > first:
            state = run(scores[first:last], rows and rows[first:last], format=format, accumulate=accumulate)[-1]["state"]
            part = Part(state["m"], state["l"], state.get("acc", []))
        finish(part)
        part.by_lse = part.lse, part.output
        made.append(part)

    def merge(a, b):
        if MASKED in (a.m, b.m):
            other = b if a.m == MASKED else a
            one = Part(other.m, other.l, other.acc, (float(a.m != MASKED), float(b.m != MASKED)))
        else:
            m = higher(a.m, b.m)
            fa, fb = (exp(format, add(format, part.m, -m)) for part in (a, b))

            def both(x, y):
                return add(sums, multiply(sums, x, fa), multiply(sums, y, fb))

            one = Part(m, both(a.l, b.l), [both(x, y) for x, y in zip(a.acc, b.acc, strict=True)], (fa, fb))
        one.by_lse = finished(a.by_lse, b.by_lse)
        made.append(finish(one))
        return one

    def finished(a, b):
        if MASKED in (a[0], b[0]):
            return b if a[0] == MASKED else a
        top = higher(a[0], b[0])
        lse = add(sums, top, log(sums, add(sums, exp(sums, add(sums, a[0], -top)), exp(sums, add(sums, b[0], -top)))))
        wa, wb = (exp(sums, add(sums, x[0], -lse)) for x in (a, b))
        pairs = zip(a[1], b[1], strict=True)
        return lse, [cast(format, add(sums, multiply(sums, x, wa), multiply(sums, y, wb))) for x, y in pairs]

    workers = list(made)
    merged_in(merge_order, [workers[i - 1] for i in order] if order else workers, merge)
    return made
