"""Softmax with no maximum: the old way.

exp(s) as it is, their sum, and one division each. Right on paper; in a number format it overflows, and this file
says which operation was the first to go wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.machines.arithmetic import Arithmetic
from app.machines.formats import Format


@dataclass(frozen=True)
class Bad:
    """The first operation that gave an infinity, or the first that gave NaN.

    gives     inf or nan
    op        "exp", "add" or "div"
    operands  what went in: one number for exp, two otherwise
    index     the score it belongs to
    """

    gives: float
    op: str
    operands: tuple[float, ...]
    index: int


@dataclass(frozen=True)
class Naive:
    """exps, their running sum, and what went wrong, for the scores read so far; every state is O(1) from the last.

    >>> from app.machines.formats import FORMATS
    >>> half = FORMATS["float16"]
    >>> old_way = Naive(half, half).read(0, 10.5).read(1, 10.5)
    >>> old_way.sum, shares(half, half, (36320.0, 36320.0), old_way.sum)
    (inf, (0.0, 0.0))
    """

    form: Format
    sums: Format
    sum: float = 0.0
    exp: float = 0.0
    bad: tuple[Bad, ...] = ()

    def read(self, index: int, score: float) -> "Naive":
        e = Arithmetic(self.form).exp(score)
        total = Arithmetic(self.sums, wider=self.form.digits > self.sums.digits).add(self.sum, e)
        bad = noted(self.bad, e, "exp", (score,), index)
        bad = noted(bad, total, "add", (self.sum, e), index)
        return Naive(self.form, self.sums, total, e, bad)


def shares(form: Format, sums: Format, exps: Sequence[float], total: float) -> tuple[float, ...]:
    """Each exponential over the sum: a second read."""
    divide = Arithmetic(sums, wider=form.digits > sums.digits).div
    return tuple(form.round(divide(e, total)) for e in exps)


def first_bad(bad: tuple[Bad, ...], exps: Sequence[float], total: float, written: Sequence[float]) -> tuple[Bad, ...]:
    """`bad`, and the first division among those that wrote `written` if it is where an infinity or a NaN first shows."""
    for index, (e, share) in enumerate(zip(exps, written, strict=True)):
        bad = noted(bad, share, "div", (e, total), index)
    return bad


def noted(bad: tuple[Bad, ...], result: float, op: str, operands: tuple[float, ...], index: int) -> tuple[Bad, ...]:
    if math.isfinite(result) or any(math.isnan(one.gives) == math.isnan(result) for one in bad):
        return bad
    return (*bad, Bad(result, op, operands, index))


def disagrees(share: float, exact: float, count: int, form: Format, sums: Format) -> bool:
    """Whether a share differs from the exact one by more than the rounding of `count` terms explains.

    The bound is Higham's for a sum added left to right, (n + 4) u relative (Accuracy and Stability of Numerical
    Algorithms, §4.2), and one subnormal. A share of 0 for one that the format can hold is a failure whatever n is.

    >>> from app.machines.formats import FORMATS
    >>> single = FORMATS["float32"]
    >>> disagrees(0.5000001, 0.5, 8, single, single), disagrees(0.0, 0.5, 8, single, single)
    (False, True)
    """
    if math.isnan(share) or math.isnan(exact):
        return math.isnan(share) != math.isnan(exact)
    if share == 0 and exact >= form.smallest_normal:
        return True
    u = max(form.unit_roundoff, sums.unit_roundoff)
    return abs(share - exact) > (count + 4) * u * exact + form.smallest_subnormal
