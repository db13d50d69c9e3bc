"""Operations that round once and count themselves."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from app.machines.formats import Array, Format

ROWS_IN_ORDER = 64 * 64  # the same for the sum of a tile's rows
IN_ORDER = 64 * 64 * 16  # multiplications in a product up to which its sums are added strictly left to right in every format


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


def odd(total: float, lost: float | Fraction) -> float:
    """A float64 result pulled to its odd neighbour where `lost`, what its rounding lost, is not 0.

    Rounding this to a shorter format gives what rounding the exact result would (Boldo and Melquiond 2008, "Emulation of
    FMA and correctly rounded sums"). Only operands wider than the result's format need it.
    """
    if not lost or not math.isfinite(total) or int(math.ldexp(math.frexp(total)[0], 53)) % 2:
        return total
    return math.nextafter(total, math.inf if lost > 0 else -math.inf)


class Arithmetic:
    """One format's operations. Each takes numbers, rounds its result once, and is counted in `ops`.

    Two formats that work on one step share a counter. Where operands come from a wider format too, `wider` says so, and
    float64's own rounding is undone before the one that counts.

    >>> from app.machines.formats import FORMATS
    >>> half = Arithmetic(FORMATS["float16"])
    >>> half.add(2048.0, 1.0), half.mul(300.0, 300.0), half.div(0.0, 0.0)
    (2048.0, inf, nan)
    >>> dict(half.ops)
    {'add': 1, 'mul': 1, 'div': 1}
    """

    def __init__(self, form: Format, ops: Counter[str] | None = None, wider: bool = False) -> None:
        self.form = form
        self.ops: Counter[str] = Counter() if ops is None else ops
        self.wider = wider

    def add(self, a: float, b: float) -> float:
        self.ops["add"] += 1
        total = a + b
        if self.wider and math.isfinite(total):
            back = total - a
            total = odd(total, (a - (total - back)) + (b - back))  # Knuth's TwoSum
        return self.form.round(total)

    def sub(self, a: float, b: float) -> float:
        return self.add(a, -b)

    def mul(self, a: float, b: float) -> float:
        self.ops["mul"] += 1
        product = a * b
        if self.wider and product and math.isfinite(product):
            product = odd(product, Fraction(a) * Fraction(b) - Fraction(product))
        return self.form.round(product)

    def div(self, a: float, b: float) -> float:
        """a / b with IEEE's answers for a zero divisor: NaN for 0/0, otherwise an infinity."""
        self.ops["div"] += 1
        if b:
            ratio = a / b
            if self.wider and ratio and math.isfinite(ratio) and math.isfinite(b):
                ratio = odd(ratio, Fraction(a) / Fraction(b) - Fraction(ratio))
            return self.form.round(ratio)
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


class Arrays:
    """The same operations on float64 arrays that hold numbers of one format: each element rounded once and counted.

    Sums go left to right from 0. Only in float32 and float64, and only in tiles larger than any page shows, are they
    left to the linear algebra library, whose order is its own.

    >>> from app.machines.formats import FORMATS
    >>> half = Arrays(FORMATS["float16"])
    >>> half.dot(np.array([[256.0, 1.0]]), np.array([[256.0], [2.0]])).tolist(), half.ops["mul"]
    ([[inf]], 2)
    """

    def __init__(self, form: Format, ops: Counter[str] | None = None, wider: bool = False) -> None:
        self.form = form
        self.ops: Counter[str] = Counter() if ops is None else ops
        self.one = Arithmetic(form, self.ops, wider) if wider else None

    def _each(self, name: str, a: Array, b: Array | float) -> Array:
        """Element by element, for operands from a wider format."""
        with np.errstate(all="ignore"):
            found: Array = np.frompyfunc(getattr(self.one, name), 2, 1)(a, b).astype(np.float64)
        return found

    def _done(self, name: str, result: Array) -> Array:
        self.ops[name] += result.size
        return self.form.rounded(result)

    def add(self, a: Array, b: Array) -> Array:
        if self.one:
            return self._each("add", a, b)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._done("add", a + b)

    def sub(self, a: Array, b: Array) -> Array:
        if self.one:
            return self._each("sub", a, b)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._done("add", a - b)

    def mul(self, a: Array, b: Array | float) -> Array:
        if self.one:
            return self._each("mul", a, b)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self._done("mul", a * b)

    def div(self, a: Array, b: Array) -> Array:
        if self.one:
            return self._each("div", a, b)
        with np.errstate(all="ignore"):
            return self._done("div", a / b)

    def exp(self, x: Array) -> Array:
        self.ops["exp"] += x.size
        return self.form.exp_array(x)

    def max(self, a: Array, b: Array) -> Array:
        """The larger of each pair; NaN where either is."""
        found = np.maximum(a, b)
        self.ops["max"] += found.size
        return found

    def row_max(self, first: Array, x: Array) -> Array:
        """The largest of each row of x and of `first`; NaN where one is."""
        self.ops["max"] += x.size
        found: Array = np.maximum(first, np.max(x, axis=1, initial=-np.inf))
        return found

    def row_sum(self, x: Array) -> Array:
        """The sum of each row."""
        if x.size > ROWS_IN_ORDER and self._whole(IN_ORDER + 1):
            self.ops["add"] += x.size
            whole: Array = np.sum(x, axis=1, dtype=self.form.name).astype(np.float64)
            return whole
        total = np.zeros(len(x))
        if self.one:
            for column in x.T:
                total = self.add(total, column)
            return total
        with np.errstate(over="ignore", invalid="ignore"):
            for column in x.T:
                total = self._done("add", total + column)
        return total

    def dot(self, a: Array, b: Array, live: Array | None = None) -> Array:
        """a · b, products rounded and added left to right. Where `live` (shaped as a) is 0 a term is left out, whatever b holds."""
        rows, inner = a.shape
        if self._whole(rows * inner * b.shape[1]) and (live is None or bool(np.isfinite(b).all())):
            self.ops["mul"] += rows * inner * b.shape[1]
            self.ops["add"] += rows * inner * b.shape[1]
            with np.errstate(over="ignore", invalid="ignore"):
                product: Array = (a.astype(self.form.name) @ b.astype(self.form.name)).astype(np.float64)
            return product
        total = np.zeros((rows, b.shape[1]))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # once for all products: it takes as long as one of them
            for i in range(inner):
                if self.one:
                    added = self.add(total, self.mul(a[:, i, None], b[i]))
                else:
                    added = self._done("add", total + self._done("mul", a[:, i, None] * b[i]))
                total = added if live is None else np.where(live[:, i, None] != 0, added, total)
        return total

    def _whole(self, products: int) -> bool:
        return products > IN_ORDER and self.form.name in ("float32", "float64") and not self.one
