"""A number as a reader types it: 0.135, e^-2, exp(-2), 1/e^2, 2/3, 1e-3, 3·10^5, a comma as decimal sign or between thousands."""

import math
import re
from decimal import Decimal

from app.lessons.expressions.filters import rounded
from app.lessons.problems import NotANumber

LONGEST = 80
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-zπ]+)|(\*\*|[-+*/^()]))")
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", ":": "/", "√": "q", "∞": " inf ", "’": "", "\xa0": " "})
_POWERS = re.compile("([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOW = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_CONSTANTS = {"e": math.e, "pi": math.pi, "π": math.pi, "inf": math.inf, "infinity": math.inf, "nan": math.nan}
_FUNCTIONS = {"exp": math.exp, "ln": math.log, "log": math.log, "sqrt": math.sqrt, "q": math.sqrt}


def numbers(typed: str) -> list[float]:
    """What was typed, as the numbers that it may mean: 3,000 is three thousand, or 3 as some write it.

    >>> numbers("e^-2") == numbers("exp(-2)") == numbers("1/e^2")
    True
    >>> numbers("0,135"), numbers("3,000"), numbers("2·10^-3"), numbers("−∞"), numbers("50 %")
    ([0.135], [3000.0, 3.0], [0.002], [-inf], [0.5])
    >>> numbers("two")
    Traceback (most recent call last):
    ...
    app.lessons.problems.NotANumber: two
    """
    text = typed.strip().rstrip(".").translate(_SIGNS).lower()
    text = _POWERS.sub(lambda found: f"^{found[1].translate(_LOW)}", text)
    percent = text.endswith("%")
    text = text.rstrip("%").strip().removeprefix("=").removeprefix("≈").strip()
    if not text or len(text) > LONGEST:
        raise NotANumber(typed)
    readings = []
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}([ _]\d{3})+", text):
        text = re.sub("[ _]", "", text)
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", text):
        readings.append(text.replace(",", ""))
    if text.count(",") <= 1 or not readings:
        readings.append(re.sub(r"(?<=\d),(?=\d)", ".", text))
    found = []
    for reading in readings:
        try:
            value = _Reader(reading).all()
        except (ValueError, ArithmeticError, RecursionError):
            continue
        found.append(value / 100 if percent else value)
    if not found:
        raise NotANumber(typed)
    return list(dict.fromkeys(found))


class _Reader:
    """Sums of products of powers, read from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise ValueError(text)
            kind = "number" if found[1] else "name" if found[2] else "sign"
            self.tokens.append((kind, found[1] or found[2] or found[3]))
            place = found.end()
        self.place = 0

    def all(self) -> float:
        value = self.sum()
        if self.place < len(self.tokens):
            raise ValueError("more follows")
        return value

    def next(self, *signs: str) -> str:
        if self.place < len(self.tokens) and self.tokens[self.place][1] in signs and self.tokens[self.place][0] == "sign":
            self.place += 1
            return self.tokens[self.place - 1][1]
        return ""

    def sum(self) -> float:
        value = self.product()
        while sign := self.next("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self) -> float:
        value = self.signed()
        while sign := self.next("*", "/"):
            value = value * self.signed() if sign == "*" else value / self.signed()
        return value

    def signed(self) -> float:
        if sign := self.next("+", "-"):
            return -self.signed() if sign == "-" else self.signed()
        return self.power()

    def power(self) -> float:
        base = self.single()
        if self.next("^", "**"):
            found: float | complex = base ** self.signed()
            if isinstance(found, complex):
                raise ValueError("a root of a number below 0")
            return found
        return base

    def single(self) -> float:
        if self.next("("):
            value = self.sum()
            if not self.next(")"):
                raise ValueError("a bracket is open")
            return value
        if self.place >= len(self.tokens):
            raise ValueError("something is missing")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return float(text)
        if text in _FUNCTIONS:
            return _FUNCTIONS[text](self.single())
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        raise ValueError(text)


def meets(value: float, answer: float | int, tolerance: float | None) -> bool:
    """Whether a number is an answer, within a relative tolerance (None: a whole answer exactly, others within 0.5 %)."""
    if math.isnan(answer) or math.isinf(answer) or math.isnan(value):
        return value == answer or (math.isnan(value) and math.isnan(answer))
    within = tolerance if tolerance is not None else 0.0 if isinstance(answer, int) else 0.005
    return abs(value - answer) <= within * abs(answer) + 1e-9 * (answer == 0)


def rounds_to(typed: str, value: float, answer: float | int) -> bool:
    """Whether the answer, rounded to the digits typed, is what was typed. One digit is too few to show that it was computed.

    >>> rounds_to("0.14", 0.14, 0.1353), rounds_to("0.1", 0.1, 0.1353), rounds_to("1.2", 1.2, 1.1353)
    (True, False, False)
    """
    plain = typed.strip().translate(_SIGNS).replace(",", ".")
    if not re.fullmatch(r"[+-]?\d*\.\d+", plain) or not math.isfinite(answer) or isinstance(answer, int):
        return False
    given = Decimal(plain)
    places = -int(given.as_tuple().exponent)
    return len(given.as_tuple().digits) >= 2 and places <= 20 and rounded(answer, places) == given and value != 0
