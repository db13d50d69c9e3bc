"""How a number is written, for a reader, for a listener, in JSON and in a link, and how one is read.

The reader's rule is also in static/js/core/numbers.js; tests/vectors/numbers.json holds both to it.
"""

import math
import re
from dataclasses import is_dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# no two parts of it may match the same digits: a long entry would be tried in all ways of sharing them out
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
_SIGNS = str.maketrans({"−": "-", "–": "-", "∞": "inf"})
WORDS = {"NaN": "not a number", "Infinity": "infinity", "-Infinity": "minus infinity"}


@lru_cache(4096)  # the same numbers come again from step to step, in the caption, the table and the picture
def show(given: float | str, places: int = 3) -> str:
    """As a reader sees it: whole numbers whole, others to `places`, very large and very small ones with a power of ten.

    A tie is rounded away from zero, as JavaScript's toFixed does (Python's format would round it to even).

    >>> [show(x) for x in (3.0, 0.0625, 1.50321, -0.00001, 3.4e38, math.inf, -math.inf, math.nan, -0.0)]
    ['3', '0.063', '1.503', '−1.00×10⁻⁵', '3.40×10³⁸', '∞', '−∞', 'NaN', '0']
    """
    x = float(given)  # the strings of the wire form too
    if math.isnan(x):
        return "NaN"
    sign, size = ("−" if x < 0 else ""), abs(x)
    if math.isinf(size):
        return sign + "∞"
    if size == 0:
        return "0"
    if size >= 1e6 or size < 1e-3:
        return sign + _with_power(Decimal(size))
    if size == int(size):
        return f"{sign}{int(size)}"
    return f"{sign}{Decimal(size).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)}"


def _with_power(size: Decimal) -> str:
    """A number above 0 as three digits and a power of ten."""
    exponent = size.adjusted()
    digits = size.scaleb(-exponent).quantize(Decimal("0.01"), ROUND_HALF_UP)
    if digits == 10:
        digits, exponent = Decimal("1.00"), exponent + 1
    return f"{digits}×10{str(exponent).translate(SUPERSCRIPTS)}"


def show_exp(x: float) -> str:
    """exp(x) as `show` would write it if float64 could hold it; x between −1e6 and 1e6.

    >>> show_exp(-18.0), show_exp(-1000.0), show_exp(1000.0)
    ('1.52×10⁻⁸', '5.08×10⁻⁴³⁵', '1.97×10⁴³⁴')
    """
    return show(math.exp(x)) if abs(x) < 700 else _with_power(Decimal(x).exp())


def speak(x: float) -> str:
    """As a screen reader should say it.

    >>> speak(-math.inf), speak(-2.0), speak(0.00001)
    ('minus infinity', 'minus 2', '1.00 times ten to the minus 5')
    """
    special = wire(float(x))
    return WORDS[special] if isinstance(special, str) else aloud(show(x))


def aloud(shown: str) -> str:
    """A finite number as `show` writes it, in words."""
    text = shown.replace("−", "minus ")
    if "×10" in text:
        digits, power = text.split("×10")
        power = power.translate({ord(high): low for low, high in zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)}).replace("⁻", "minus ")
        text = f"{digits} times ten to the {power}"
    return text


def is_exact(x: float) -> bool:
    """Whether `show` writes this number without rounding it."""
    return not math.isfinite(x) or x == 0 or (1e-3 <= abs(x) < 1e6 and Decimal(show(x).replace("−", "-")) == Decimal(x))


def wire(x: Any) -> Any:
    """JSON's form, all the way down: finite numbers as they are, others as the strings of the contract; tuples and ranges as lists;
    a dataclass as an object without what is None.

    >>> wire({"m": -math.inf, "p": (1.0, math.nan)})
    {'m': '-Infinity', 'p': [1.0, 'NaN']}
    """
    if isinstance(x, float):
        if math.isfinite(x):
            return x
        return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
    if isinstance(x, dict):
        return {key: wire(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [wire(value) for value in x]
    if is_dataclass(x):
        return {name.rstrip("_"): wire(value) for name, value in vars(x).items() if value is not None}
    return list(x) if isinstance(x, range) else x


def link(x: float) -> str:
    """As a link carries it: the shortest text that reads back as the same number.

    >>> link(6.0), link(0.1), link(-math.inf), link(1e22)
    ('6', '0.1', '-inf', '1e22')
    """
    if not math.isfinite(x):
        return str(x)
    if x == int(x) and abs(x) < 1e16:
        return str(int(x)) if x or math.copysign(1, x) > 0 else "-0"
    return repr(x).replace("e+", "e")


def number(written: str) -> float | None:
    """The number that a text is, in ASCII digits; None where it is none, or none that float64 can hold.

    >>> [number(one) for one in ("1.5", "−2", "+inf", ".5e3", "1e400", "1_0", "１")]
    [1.5, -2.0, inf, 500.0, None, None, None]
    """
    plain = written.strip().translate(_SIGNS)
    special = _SPECIAL.get(plain.lower().removeprefix("+"))
    if special is not None:
        return special
    found = float(plain) if _NUMBER.fullmatch(plain) else math.inf
    return found if math.isfinite(found) else None


def amount(x: int) -> str:
    """A count as a reader sees it: whole, with commas, and from a thousand million on with a power of ten.

    >>> amount(68157440), amount(137438953472)
    ('68,157,440', '1.37×10¹¹')
    """
    return f"{x:,}" if x < 10**9 else show(float(x))


def size(x: int) -> str:
    """Bytes as a reader sees them, to three digits, in the unit that makes them short.

    >>> size(4 * 2**30), size(32), size(1536), size(1_000_000)
    ('4 GiB', '32 B', '1.5 KiB', '977 KiB')
    """
    power = min((max(x, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    whole = x / 1024**power
    if whole >= 1023.5 and power < len(_UNITS) - 1:  # which would be rounded up to 1024
        power, whole = power + 1, whole / 1024
    digits = f"{whole:.0f}" if whole >= 99.95 else f"{whole:.{1 if whole >= 9.995 else 2}f}".rstrip("0").rstrip(".")
    return f"{digits} {_UNITS[power]}"


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
