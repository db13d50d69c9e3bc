"""Operations that round once and count themselves."""

import math
from collections import Counter
from dataclasses import dataclass

from app.machines.formats import Format


@dataclass(frozen=True)
class Ledger:
    """What a run has cost so far, added up by the run itself.

    reads, writes   numbers fetched from and stored to slow memory
    kept            numbers that must live on chip until the next step
    mul … max       operations done; a subtraction counts as an addition

    >>> Ledger(reads=3, kept=2, exp=4) + Ledger(reads=1, kept=2, add=5)
    Ledger(reads=4, writes=0, kept=2, mul=0, add=5, exp=4, div=0, max=0)
    """

    reads: int = 0
    writes: int = 0
    kept: int = 0
    mul: int = 0
    add: int = 0
    exp: int = 0
    div: int = 0
    max: int = 0

    def __add__(self, later: "Ledger") -> "Ledger":
        return Ledger(
            self.reads + later.reads,
            self.writes + later.writes,
            later.kept,
            self.mul + later.mul,
            self.add + later.add,
            self.exp + later.exp,
            self.div + later.div,
            self.max + later.max,
        )


class Arithmetic:
    """One format's operations. Each takes numbers, rounds its result once, and is counted in `ops`.

    Two formats that work on one step share a counter.

    >>> from app.machines.formats import FORMATS
    >>> half = Arithmetic(FORMATS["float16"])
    >>> half.add(2048.0, 1.0), half.mul(300.0, 300.0), half.div(0.0, 0.0)
    (2048.0, inf, nan)
    >>> dict(half.ops)
    {'add': 1, 'mul': 1, 'div': 1}
    """

    def __init__(self, form: Format, ops: Counter[str] | None = None) -> None:
        self.form = form
        self.ops: Counter[str] = Counter() if ops is None else ops

    def add(self, a: float, b: float) -> float:
        self.ops["add"] += 1
        return self.form.round(a + b)

    def sub(self, a: float, b: float) -> float:
        self.ops["add"] += 1
        return self.form.round(a - b)

    def mul(self, a: float, b: float) -> float:
        self.ops["mul"] += 1
        return self.form.round(a * b)

    def div(self, a: float, b: float) -> float:
        """a / b with IEEE's answers for a zero divisor: NaN for 0/0, otherwise an infinity."""
        self.ops["div"] += 1
        if b:
            return self.form.round(a / b)
        return math.nan if a == 0 or math.isnan(a) else self.form.round(math.copysign(math.inf, a) * math.copysign(1.0, b))

    def exp(self, x: float) -> float:
        self.ops["exp"] += 1
        return self.form.exp(x)

    def max(self, a: float, b: float) -> float:
        """The larger; NaN if either is NaN, in either order (Python's own max depends on the order)."""
        self.ops["max"] += 1
        if math.isnan(a) or math.isnan(b):
            return math.nan
        return a if a >= b else b
