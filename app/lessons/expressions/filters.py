"""How a lesson writes a number: the filters of its expressions. What has no filter is written as everywhere on the site."""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from app.lessons.expressions.runs import Record, Run
from app.lessons.problems import Invalid
from app.numbers import SUPERSCRIPTS, show, size

EXACT = Context(prec=1200)  # holds every float64 whole
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
MAX_PLACES = 20


def number(x: Any) -> float | int:
    """A number, the wire form's special strings included; Invalid for anything else."""
    if isinstance(x, str) and x in SPECIAL:
        return SPECIAL[x]
    if isinstance(x, (int, float)):
        return int(x) if isinstance(x, bool) else x
    raise Invalid(f"a number is needed here, not {described(x)}")


def described(x: Any) -> str:
    if isinstance(x, (Record, Run)):
        return "a run or a part of one"
    return {str: f"the text {str(x)[:40]!r}", list: "a list", tuple: "a list", type(None): "nothing"}.get(type(x), "something else")


def places(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= MAX_PLACES:
        raise Invalid(f"a number of places is a whole number from 0 to {MAX_PLACES}")
    return n


def rounded(x: float | int | Decimal, n: int) -> Decimal:
    """To n places, a tie away from zero, as on the rest of the site.

    >>> rounded(0.0625, 3)
    Decimal('0.063')
    """
    return Decimal(x).quantize(Decimal(1).scaleb(-n), ROUND_HALF_UP, context=EXACT)


def to(x: Any, n: int = 3) -> str:
    """With a fixed number of places.

    >>> to(1.5713, 2), to(-2.0, 1), to("Infinity", 2), to(-0.001, 2), to([1.0, 2.5], 1)
    ('1.57', '−2.0', '∞', '0.00', '[1.0, 2.5]')
    """
    if isinstance(x, (list, tuple)):
        return rows(x, n)
    value = number(x)
    if not math.isfinite(value):
        return show(value)
    found = rounded(value, places(n))
    return f"{'−' if found < 0 else ''}{abs(found):f}"


def digits(x: Any, n: int = 3) -> str:
    """Significant digits; very large and very small numbers with a power of ten.

    >>> digits(62.77742, 4), digits(0.00012345, 2), digits(9.996, 3), digits(1234.5, 2), digits(3.4028e38, 3)
    ('62.78', '0.00012', '10.0', '1200', '3.40\\xa0×\\xa010³⁸')
    """
    value = number(x)
    if not math.isfinite(value) or value == 0:
        return show(value)
    n = max(places(n), 1)
    exponent = Decimal(abs(value)).adjusted()
    if not -5 < exponent < 15:
        return sci(value, n - 1)
    found = Decimal(abs(value)).quantize(Decimal(1).scaleb(exponent - n + 1), ROUND_HALF_UP, context=EXACT)
    if found.adjusted() > exponent:
        found = found.quantize(Decimal(1).scaleb(exponent - n + 2), ROUND_HALF_UP, context=EXACT)
    return f"{'−' if value < 0 else ''}{found:f}"


def whole(x: Any) -> str:
    """A whole number with its thousands apart.

    >>> whole(1073741824), whole(485165195.4), whole(-1000.0)
    ('1,073,741,824', '485,165,195', '−1,000')
    """
    value = number(x)
    return f"{int(rounded(value, 0)):,}".replace("-", "−") if math.isfinite(value) else show(value)


def digitcount(x: Any) -> str:
    """How many digits stand before the point.

    >>> digitcount(4.489e38), digitcount(-7.9)
    ('39', '1')
    """
    value = number(x)
    if not math.isfinite(value):
        raise Invalid(f"{show(value)} has no digits to count")
    return str(len(str(abs(int(value)))))


def sci(x: Any, n: int = 2) -> str:
    """With a power of ten, whatever its size.

    >>> sci(65504.0, 3), sci(9.999e-5, 1), sci(0.0)
    ('6.550\\xa0×\\xa010⁴', '1.0\\xa0×\\xa010⁻⁴', '0')
    """
    value = number(x)
    if not math.isfinite(value) or value == 0:
        return show(value)
    exact = Decimal(abs(value))
    exponent = exact.adjusted()
    mantissa = exact.scaleb(-exponent, EXACT).quantize(Decimal(1).scaleb(-places(n)), ROUND_HALF_UP, context=EXACT)
    if mantissa >= 10:
        exponent += 1
        mantissa = exact.scaleb(-exponent, EXACT).quantize(Decimal(1).scaleb(-n), ROUND_HALF_UP, context=EXACT)
    return f"{'−' if value < 0 else ''}{mantissa}\xa0×\xa010{str(exponent).translate(SUPERSCRIPTS)}"


def rows(x: Any, n: int | None = None) -> str:
    """A vector or a matrix, in brackets.

    >>> rows([1.0, 3.0]), rows([[1.0, 0.5]], 2)
    ('[1, 3]', '[[1.00, 0.50]]')
    """
    if isinstance(x, (list, tuple)):
        return f"[{', '.join(rows(one, n) for one in x)}]"
    return show(number(x)) if n is None else to(x, n)


def in_bytes(x: Any) -> str:
    """A count of bytes, as everywhere on the site.

    >>> in_bytes(4 * 2**30), in_bytes(1536.0)
    ('4 GiB', '1.5 KiB')
    """
    value = number(x)
    if not 0 <= value < math.inf:
        raise Invalid("a count of bytes is a number from 0 up")
    return size(round(value))


FILTERS: dict[str, Callable[..., str]] = {
    "to": to, "digits": digits, "whole": whole, "digitcount": digitcount, "sci": sci, "rows": rows, "bytes": in_bytes,
}  # fmt: skip


def plain(x: Any) -> str:
    """A value as a reader sees it where no filter says how.

    >>> plain(0.0625), plain("Infinity"), plain([1.0, 2.0]), plain(True), plain("6 scores")
    ('0.063', '∞', '[1, 2]', 'yes', '6 scores')
    """
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, str):
        return show(x) if x in SPECIAL else x
    if isinstance(x, (list, tuple)):
        return rows(x)
    if isinstance(x, int):
        return str(x).replace("-", "−")
    if isinstance(x, float):
        return show(x)
    raise Invalid(f"this is {described(x)}, not a number: name the part that is meant")
