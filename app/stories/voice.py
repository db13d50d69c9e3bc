"""Two ways to say the same sentence: with signs for the eye, with words for the ear."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.numbers import is_exact, show, speak


@dataclass(frozen=True)
class Voice:
    """number says a number, sum names l (a bare l looks like a 1); the rest are the signs between numbers, spaces included.

    >>> WRITTEN.exp(7.0, 9.0), SPOKEN.exp(7.0, 9.0)
    ('exp(7 − 9)', 'e to the power of 7 minus 9')
    >>> WRITTEN.gives(0.5) + WRITTEN.number(0.5), SPOKEN.gives(1 / 3) + SPOKEN.number(1 / 3)
    (' = 0.500', ', about 0.333')
    """

    number: Callable[[float], str]
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

    def gives(self, result: float, *operands: float) -> str:
        """The sign before a result: equals where every number shown is whole as shown, about where one is rounded."""
        return self.equals if all(map(is_exact, (result, *operands))) else self.about

    def vector(self, row: Sequence[float]) -> str:
        """A value or an accumulator: a bare number, or a list in brackets."""
        return self.number(row[0]) if len(row) == 1 else f"[{', '.join(map(self.number, row))}]"


WRITTEN = Voice(show, "ℓ", " + ", " − ", " × ", " / ", " = ", " ≈ ", "exp({})")
SPOKEN = Voice(speak, "l", " plus ", " minus ", " times ", " divided by ", ", which is ", ", about ", "e to the power of {}")
