"""Number formats: what each can hold, and one correct rounding into it.

Every machine works in Python floats (float64) and rounds after each operation. For +, −, × and ÷ of two numbers of
a shorter format this gives the very result of that format's own operation, because float64 has more than twice its
digits plus two (Figueroa 1995, "When is double rounding innocuous?"). For exp it means one rounding of the float64
value. Casting through NumPy would not do: ml_dtypes goes from float64 to bfloat16 by way of float32 and rounds twice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from struct import Struct

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PACKED = {"float16": Struct("e"), "float32": Struct("f")}  # how Python writes these rounds once, and is quicker than the rule below


@dataclass(frozen=True)
class Format:
    """A binary floating-point format.

    name         as in the spec: "float16", "bfloat16", …
    digits       significand bits, the hidden one included
    emin         exponent of the smallest normal number, 2**emin
    max          the largest finite number
    infinite     whether the format has infinities (float8_e4m3fn has none: what is too large becomes NaN)
    bits         in memory

    >>> FORMATS["bfloat16"].round(1 + 2**-8 + 2**-40)
    1.0078125
    >>> FORMATS["float16"].round(65520.0), FORMATS["float8_e4m3fn"].round(465.0)
    (inf, nan)
    """

    name: str
    digits: int
    emin: int
    max: float
    infinite: bool
    bits: int

    def round(self, x: float) -> float:
        """The number of this format nearest to the float64 `x`, ties to even; past `max`: infinity, or NaN where there is none."""
        if self.digits == 53 or x == 0:
            return x
        if (packed := _PACKED.get(self.name)) is not None:
            try:
                rounded: float = packed.unpack(packed.pack(x))[0]
            except OverflowError:
                return math.copysign(math.inf, x)
            return rounded
        if abs(x) >= 2 * self.max or math.isnan(x):  # infinities, and what no rounding brings back
            return math.copysign(math.inf, x) if self.infinite and not math.isnan(x) else math.nan
        quantum = max(math.frexp(x)[1], self.emin + 1) - self.digits
        y = math.copysign(math.ldexp(round(math.ldexp(x, -quantum)), quantum), x)
        if abs(y) > self.max:
            return math.copysign(math.inf, x) if self.infinite else math.nan
        return y

    def round_array(self, x: Array) -> Array:
        """`round` for every element of a float64 array.

        >>> FORMATS["bfloat16"].round_array(np.array([1 + 2**-8 + 2**-40, 1e39, np.nan])).tolist()
        [1.0078125, inf, nan]
        """
        if self.digits == 53:
            return x
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rounded(x)

    def rounded(self, x: Array) -> Array:
        """`round_array` for whoever has quieted NumPy already: entering and leaving `errstate` takes longer than rounding a small tile."""
        if self.digits == 53:
            return x
        if self.name in ("float16", "float32"):  # NumPy's own casts of these round once
            return x.astype(self.name).astype(np.float64)
        quantum = np.maximum(np.frexp(x)[1], self.emin + 1) - self.digits
        y = np.ldexp(np.rint(np.ldexp(x, -quantum)), quantum)
        beyond = ~(np.abs(y) <= self.max)
        return np.where(beyond, x * np.inf if self.infinite else np.nan, y)

    def exp_array(self, x: Array) -> Array:
        """`exp` for every element of a float64 array."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self.rounded(np.exp(x))

    def exp(self, x: float) -> float:
        """exp(x), taken in float64 and rounded once.

        >>> FORMATS["float32"].exp(89.0), FORMATS["float64"].exp(710.0)
        (inf, inf)
        """
        try:
            return self.round(math.exp(x))
        except OverflowError:
            return self.round(math.inf)

    def log(self, x: float) -> float:
        """The natural logarithm of x ≥ 0, taken in float64 and rounded once; log 0 is −inf."""
        return self.round(math.log(x)) if x else -math.inf

    def next_up(self, x: float) -> float:
        """The next number of this format above a finite `x` of it.

        >>> FORMATS["float16"].next_up(1.0), FORMATS["float8_e4m3fn"].next_up(6.0)
        (1.0009765625, 6.5)
        """
        if self.digits == 53:
            return math.nextafter(x, math.inf)
        if x == 0:
            return self.smallest_subnormal
        fraction, exponent = math.frexp(x)
        if fraction == -0.5:  # stepping from −2**k towards zero, numbers are twice as dense
            exponent -= 1
        return self.round(x + math.ldexp(1.0, max(exponent, self.emin + 1) - self.digits))

    def next_down(self, x: float) -> float:
        """The next number of this format below a finite `x` of it."""
        return -self.next_up(-x)

    @property
    def smallest_subnormal(self) -> float:
        return math.ldexp(1.0, self.emin + 1 - self.digits)

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, self.emin)

    @property
    def unit_roundoff(self) -> float:
        """u: one rounding to nearest changes a normal number by at most this, relatively."""
        return math.ldexp(1.0, -self.digits)

    @cached_property
    def exp_limit(self) -> float:
        """The largest x of this format whose exp is finite in it.

        >>> [FORMATS[name].exp_limit for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")]
        [11.0859375, 88.5, 6.0, 10.0]
        """
        return self._last(math.log(self.max), lambda x: math.isfinite(self.exp(x)), self.next_up, self.next_down)

    @cached_property
    def exp_vanishes(self) -> float:
        """The most negative x of this format whose exp is not yet 0 in it.

        >>> [FORMATS[name].exp_vanishes for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")]
        [-17.328125, -92.5, -6.5, -10.0]
        """
        half = math.log(2.0)  # exp rounds to 0 below half the smallest subnormal
        return self._last(math.log(self.smallest_subnormal) - half, lambda x: self.exp(x) > 0, self.next_down, self.next_up)

    @cached_property
    def exp_normal(self) -> float:
        """The smallest x of this format whose exp is still a normal number, with all its digits."""
        least = self.smallest_normal
        return self._last(math.log(least), lambda x: self.exp(x) >= least, self.next_down, self.next_up)

    @cached_property
    def ones_stall(self) -> float:
        """Where a running sum of ones stops growing: the first s with s + 1 rounded back to s.

        >>> [FORMATS[name].ones_stall for name in ("float8_e5m2", "float8_e4m3fn", "bfloat16", "float16", "float32")]
        [8.0, 16.0, 256.0, 2048.0, 16777216.0]
        """
        s = 1.0
        while self.round(s + 1.0) != s:  # every whole number below the stall is exact, and the stall is a power of two
            s *= 2
        return s

    def _last(
        self, guess: float, holds: Callable[[float], bool], onward: Callable[[float], float], back: Callable[[float], float]
    ) -> float:
        """The last number, going onward from near `guess`, for which `holds` is true."""
        x = self.round(guess)
        while not holds(x):
            x = back(x)
        while holds(onward(x)):
            x = onward(x)
        return x


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("float16", 11, -14, 65504.0, True, 16),
        Format("bfloat16", 8, -126, (2 - 2**-7) * 2.0**127, True, 16),
        Format("float32", 24, -126, (2 - 2**-23) * 2.0**127, True, 32),
        Format("float64", 53, -1022, (2 - 2**-52) * 2.0**1023, True, 64),
        Format("float8_e4m3fn", 4, -6, 448.0, False, 8),
        Format("float8_e5m2", 3, -14, 57344.0, True, 8),
    )
}
