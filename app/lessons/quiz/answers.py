"""A number as a reader types it: 0.135, e^-2, exp(-2), 1/e^2, 2/3, 1e-3, 3·10^5, a comma as decimal sign or between thousands."""

import ast
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal

from app.lessons.expressions.filters import rounded
from app.lessons.problems import NotANumber

LONGEST = 80
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", ":": "/", "∞": " inf ", "’": "", "\xa0": " "})
_POWERS = re.compile("([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOW = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_CONSTANTS = {"e": math.e, "pi": math.pi, "π": math.pi, "inf": math.inf, "infinity": math.inf, "nan": math.nan}
_FUNCTIONS = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt}


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
            value = _value(ast.parse(_as_python(reading), mode="eval").body)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            continue
        found.append(value / 100 if percent else value)
    if not found:
        raise NotANumber(typed)
    return list(dict.fromkeys(found))


def _as_python(text: str) -> str:
    """The same in Python's grammar: 05 is 5 there, √2 and ln 2 have brackets, and no digit is followed by a name.

    >>> _as_python("05*√2^ln e")
    '5*sqrt(2)**log(e)'
    """
    text = re.sub(r"\s+", " ", re.sub(r"\d", lambda found: str(int(found[0])), text))  # the digits of other scripts too
    if re.search(r"[^\d a-zπ.()+*/^√-]|[\d.](?!(?<=[\d.])e[+-]?\d)[a-zπ]|\d\.?e[+-]?\d+[a-zπ]|//", text):
        raise ValueError(text)
    text = re.sub(r"(?<![\d.])0+(?=\d)", "", text).replace("√", "sqrt").replace("ln", "log").replace("^", "**")
    return re.sub(r"(sqrt|log|exp) *([\d.]+(?:e[+-]?\d+)?|e\b|inf\b|pi\b|π)", r"\1(\2)", text)


def _value(node: ast.AST) -> float:
    """The number that an expression of Python's grammar stands for: numbers, constants, + − × ÷, powers and three functions, nothing else."""
    match node:
        case ast.Constant(value=int() | float() as x) if not isinstance(x, bool):
            return float(x)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNED:
            return _SIGNED[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _JOINED:
            return _JOINED[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=[x], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(x))
    raise ValueError("no number")


def _power(base: float, exponent: float) -> float:
    found: float | complex = base**exponent
    if isinstance(found, complex):
        raise ValueError("a root of a number below 0")
    return found


_SIGNED: dict[type, Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_JOINED: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: _power,
}  # fmt: skip


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
