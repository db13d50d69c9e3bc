"""The functions that an expression may call."""

import math
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from jinja2.sandbox import safe_range

from app.lessons.expressions.by_hand import worked
from app.lessons.expressions.filters import number, places, rounded
from app.lessons.expressions.runs import Record, Run
from app.lessons.problems import Invalid
from app.machines.formats import FORMATS, Format
from app.machines.traffic import FORMULAS, WAYS, bytes_of
from app.machines.traffic import Spec as Traffic


def _over_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's that is given numbers, or lists of them, the wire form's special strings included."""

    @wraps(function)
    def called(*given: Any) -> Any:
        try:
            return function(*([number(x) for x in one] if isinstance(one, (list, tuple)) else number(one) for one in given))
        except ValueError as error:
            raise Invalid(f"{function.__name__} cannot take this: {error}") from None

    return called


def log(x: float) -> float:
    if x < 0:
        raise Invalid("log of a number below 0")
    return math.log(x) if x else -math.inf


def total(numbers: list[float | int]) -> float | int:
    return sum(numbers) if all(isinstance(x, int) for x in numbers) else math.fsum(numbers)


def round_(x: Any, n: int | None = None) -> float | int:
    """Rounded, a tie away from zero; a whole number without places.

    >>> round_(0.5), round_(2.675, 2), round_(1.0625, 3)
    (1, 2.67, 1.063)
    """
    value = number(x)
    if not math.isfinite(value):
        return value
    return int(rounded(value, 0)) if n is None else float(rounded(value, places(n)))


def _format(name: Any) -> Format:
    if name not in FORMATS:
        raise Invalid(f"there is no number format {name!r}: use one of {', '.join(FORMATS)}")
    return FORMATS[name]


def rnd(x: Any, name: Any) -> float:
    """Rounded to a format."""
    return _format(name).round(float(number(x)))


def expin(x: Any, name: Any) -> float:
    """exp in float64, rounded once to the format; infinite where it overflows."""
    return _format(name).exp(float(number(x)))


def limits(name: Any) -> Record:
    """max; exp_max, the largest score whose exp is finite; smallest, the smallest number above 0; digits, in bits."""
    form = _format(name)
    parts = {"max": form.max, "exp_max": form.exp_limit, "smallest": form.smallest_subnormal, "digits": form.digits}
    return Record(parts, f"limits({name!r})")


def gap(a: Any, b: Any) -> float:
    """The largest difference of two vectors or matrices of one shape.

    >>> gap([[1.0, 2.0]], [[1.0, 2.5]])
    0.5
    """
    found = list(_gaps(a, b))
    if not found:
        raise Invalid("gap of nothing")
    return math.nan if any(math.isnan(x) for x in found) else max(found)


def _gaps(a: Any, b: Any) -> Iterator[float]:
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for one, other in zip(a, b, strict=True):
            yield from _gaps(one, other)
    elif isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        raise Invalid("gap needs two lists of one shape")
    else:
        yield abs(float(number(a)) - float(number(b))) if number(a) != number(b) else 0.0


def by_hand(run: Any, n: Any = 4) -> list[Record]:
    """The rows of the by-hand variant, one a step; the first is step 0."""
    if not isinstance(run, Run):
        raise Invalid("by_hand needs a run of online-softmax")
    return [Record(row.parts, f"by_hand({run.name})") for row in worked(run, places(n))]


def traffic(n: Any, d: Any = 64, memory: Any = 49152, block_q: Any = 128, block_k: Any = 64, heads: Any = 1) -> Record:
    """What each way of attention costs for n tokens of d numbers: standard, fa1 (with the tiles that `memory` numbers allow) and fa2.

    Each has reads, writes, moved, kept, stored, mul, add, exp, div, max and computed, in numbers; fa1 and fa2 also block_q, block_k and tiles.

    >>> found = traffic(8, 2, 32, 2, 4)
    >>> [found.part(way).part("moved") for way in ("standard", "fa1", "fa2")], found.part("fa1").part("tiles")
    ([320, 224, 168], [4, 2])
    """
    given = {"n": n, "d": d, "memory": memory, "block_q": block_q, "block_k": block_k, "heads": heads}
    for name, x in given.items():
        if isinstance(x, bool) or not isinstance(x, int) or not 1 <= x <= 2**30:
            raise Invalid(f"traffic needs whole numbers from 1: {name} is {x!r}")
    return Record({way: _cost(Traffic(**given), way) for way in WAYS}, f"traffic({n})")


def _cost(spec: Traffic, way: str) -> dict[str, Any]:
    size = spec.size(way)
    cost = FORMULAS[way](size).times(spec.heads)
    found = vars(cost.ledger) | {"moved": cost.moved, "stored": cost.stored, "computed": cost.computed}
    return found if way == "standard" else found | {"block_q": size.block_q, "block_k": size.block_k, "tiles": list(size.tiles)}


def bytes_in(name: Any) -> int:
    """Bytes that a number of a format takes."""
    return bytes_of(_format(name).name)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": lambda x: expin(x, "float64"), "log": _over_numbers(log), "sqrt": _over_numbers(math.sqrt), "abs": _over_numbers(abs), "max": _over_numbers(max),
    "min": _over_numbers(min), "sum": _over_numbers(total), "len": len, "range": lambda *given: list(safe_range(*given)), "round": round_,
    "rnd": rnd, "expin": expin, "limits": limits, "gap": gap, "by_hand": by_hand, "traffic": traffic, "bytes_in": bytes_in,
}  # fmt: skip
