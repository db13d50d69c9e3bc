"""Two ways to say the same sentence: with signs for the eye, with words for the ear."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.machines.formats import Format
from app.numbers import aloud, is_exact, show, show_exp, speak


@dataclass(frozen=True)
class Voice:
    """number says a number, reads says one that is already written, sum names l (a bare l looks like a 1); the rest are the
    signs between numbers, spaces included.

    >>> WRITTEN.exp(7.0, 9.0), SPOKEN.exp(7.0, 9.0)
    ('exp(7 − 9)', 'e to the power of 7 minus 9')
    >>> WRITTEN.gives(0.5) + WRITTEN.number(0.5), SPOKEN.gives(1 / 3) + SPOKEN.number(1 / 3)
    (' = 0.500', ', about 0.333')
    """

    number: Callable[[float], str]
    reads: Callable[[str], str]
    sum: str
    plus: str
    minus: str
    times: str
    over: str
    equals: str
    about: str
    power: str

    def exp(self, a: float, b: float | None = None) -> str:
        inner = self.number(a) if b is None else f"{self.number(a)}{self.minus}{self.operand(b)}"
        return self.power.format(inner)

    def operand(self, x: float) -> str:
        """A number after a sign: a negative one in brackets for the eye."""
        said = self.number(x)
        return f"({said})" if said.startswith("−") else said

    def gives(self, result: float, *operands: float, exact: float | None = None) -> str:
        """The sign before a result: equals where the equation holds with the numbers as shown, about where anything is rounded.

        exact   what the operation on the operands gives in float64, where it may have been rounded on its way to `result`.
                Numbers that `show` writes whole are multiples of 1/8 below 10⁶, so that float64 has their sums and products exactly.

        >>> WRITTEN.gives(2048.0, 2048.0, 1.0, exact=2049.0), WRITTEN.gives(2048.0, 2047.0, 1.0, exact=2048.0)
        (' ≈ ', ' = ')
        """
        rounded = exact is not None and exact != result and not math.isnan(result)
        return self.equals if not rounded and all(map(is_exact, (result, *operands))) else self.about

    def size(self, form: Format, result: float, a: float, b: float | None = None) -> str:
        """exp(a − b), or exp(a), and what the format stores of it. Only exp 0 is a number that a format can hold.

        >>> from app.machines.formats import FORMATS
        >>> half = FORMATS["float16"]
        >>> WRITTEN.size(half, 1.0, 3.0, 3.0), WRITTEN.size(half, half.exp(-2.0), 1.0, 3.0), SPOKEN.size(half, half.exp(-2.0), -2.0)
        ('exp(3 − 3) = 1', 'exp(1 − 3) ≈ 0.135', 'e to the power of minus 2, about 0.135')
        >>> WRITTEN.size(half, 0.0, 0.0, 18.0), WRITTEN.size(half, half.exp(12.0), 12.0)
        ('exp(0 − 18) ≈ 1.52×10⁻⁸, which float16 stores as 0', 'exp(12) ≈ 162754.791, which float16 stores as ∞')
        """
        power, x = self.exp(a, b), a if b is None else a - b
        if not math.isfinite(x):
            return f"{power}{self.equals}{self.number(result)}"
        if x == 0 and result == 1:
            return f"{power}{self.equals}{self.number(result)}"
        if result != 0 and math.isfinite(result):
            return f"{power}{self.about}{self.number(result)}"
        if abs(x) > 1e6:
            return f"{power}, which {form.name} stores as {self.number(result)}"
        return f"{power}{self.about}{self.reads(show_exp(x))}, which {form.name} stores as {self.number(result)}"

    def vector(self, row: Sequence[float]) -> str:
        """A value or an accumulator: a bare number, or a list in brackets."""
        return self.number(row[0]) if len(row) == 1 else f"[{', '.join(map(self.number, row))}]"


WRITTEN = Voice(show, str, "ℓ", " + ", " − ", " × ", " / ", " = ", " ≈ ", "exp({})")
SPOKEN = Voice(speak, aloud, "l", " plus ", " minus ", " times ", " divided by ", ", which is ", ", about ", "e to the power of {}")


def ones(scores: Sequence[float]) -> float:
    """What the sizes of a first block add up to before any rounding, where that is known: 1 each if all live scores are alike; else NaN."""
    live = [score for score in scores if score != -math.inf]
    return float(len(live)) if len(set(live)) == 1 else math.nan
