"""Expressions: Jinja's syntax in its sandbox, which offers runs, some functions and some filters, and nothing else.

No name leads to a Python object with methods: a dot looks into a run, a snapshot or JSON data. Arithmetic is on numbers only.
A lesson is written by whoever hosts it, so its time is not metered; only what is plainly wrong, such as 9 ** 99999, is refused.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.lessons.expressions.filters import FILTERS, number, plain
from app.lessons.expressions.functions import FUNCTIONS
from app.lessons.expressions.runs import Data, Record, Run, record
from app.lessons.problems import Invalid

MAX_BITS = 4096  # of a whole number that a power gives
RESERVED = {*FUNCTIONS, "run", "data", "attempt", "again", "steps", "true", "false", "none", "and", "or", "not", "in", "is", "if", "else"}
_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
}  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Function:
    """What an expression may call."""

    call: Callable[..., Any]


class Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(_OPS)
    intercepted_unops = frozenset("+-")

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, optimized=False, cache_size=0)
        self.globals.clear()
        self.tests.clear()
        self.filters.clear()
        self.filters.update(FILTERS)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(_defined(obj), (Record, Run)):
            return obj.part(attribute)
        raise Invalid(f"a {'list' if isinstance(obj, (list, tuple)) else 'number or text'} has no part {attribute!r}")

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(_defined(obj), Run):
            return obj.at(argument)
        if isinstance(obj, Record) and isinstance(argument, str):
            return obj.part(argument)
        if isinstance(obj, (list, tuple)):
            return _item(obj, argument)
        raise Invalid(f"nothing can be picked from here by {argument!r}"[:120])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        return calculate(operator, left, right)

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        value = number(_defined(arg))
        return -value if operator == "-" else value

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()):
            _defined(given)
        if not isinstance(obj, Function):
            raise Invalid("only the functions of lessons/README.md can be called")
        try:
            return obj.call(*args, **kwargs)
        except TypeError as error:
            raise Invalid(f"a function was called with the wrong arguments: {error}") from None


def _defined(x: Any) -> Any:
    if isinstance(x, StrictUndefined):
        x._fail_with_undefined_error()
    return x


def _item(rows: Any, place: Any) -> Any:
    if isinstance(place, slice):
        return rows[place]
    if isinstance(place, bool) or not isinstance(place, int) or not -len(rows) <= place < len(rows):
        raise Invalid(f"a list of {len(rows)} has no place {place!r}: places are 0 to {len(rows) - 1}")
    return record(rows[place], f"entry {place}")


def calculate(op: str, left: Any, right: Any) -> Any:
    """One operation on two numbers.

    >>> calculate("**", 2, 10), calculate("*", 0.5, "Infinity")
    (1024, inf)
    """
    a, b = number(_defined(left)), number(_defined(right))
    if op == "**" and isinstance(a, int) and isinstance(b, int) and a.bit_length() * b > MAX_BITS:
        raise Invalid("the power would have more than a thousand digits")
    try:
        found = _OPS[op](a, b)
    except ZeroDivisionError:
        raise Invalid("a division by zero") from None
    except OverflowError:
        return math.inf
    if isinstance(found, complex):
        raise Invalid("a root of a number below 0")
    return found


_SANDBOX = Sandbox()


@lru_cache(4096)
def _compiled(source: str) -> Callable[[Mapping[str, Any]], Any]:
    return _SANDBOX.compile_expression(source, undefined_to_none=False)


class Scope:
    """What a lesson's expressions know: its runs by name, `run(…)`, `data(…)`, and more names for a quiz.

    >>> five = {"machine": "online-softmax", "scores": "1,3,2,5,4", "format": "float64"}
    >>> scope = Scope({"five": five})
    >>> scope.text("five[-1].l | to(4)"), scope.text("five[2].event.alpha"), scope.value("five.steps * 2")
    ('1.5713', '0.135', 10)
    """

    def __init__(self, runs: Mapping[str, Mapping[str, Any]] | None = None, data: Data | None = None) -> None:
        self._declared = dict(runs or {})
        self._runs: dict[str, Run] = {}
        functions = FUNCTIONS | {"run": self._unnamed_run, "data": (data or Data(None)).read}
        self._functions = {name: Function(call) for name, call in functions.items()}

    @property
    def names(self) -> list[str]:
        return list(self._declared)

    def run(self, name: str) -> Run:
        """A run of the front matter."""
        if name not in self._runs:
            if name not in self._declared:
                known = f"use one of {', '.join(self._declared)}" if self._declared else "name it in [runs]"
                raise Invalid(f"there is no run {name!r}: {known}")
            self._runs[name] = Run(name, self._declared[name])
        return self._runs[name]

    def value(self, source: str, more: Mapping[str, Any] | None = None) -> Any:
        """What an expression gives: a number, text, a truth, a list. Invalid with words where it fails."""
        try:
            named = {name: self.run(name) for name in self._declared if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source)}
            return _defined(_compiled(source)({**self._functions, **named, **(more or {})}))
        except UndefinedError as error:
            raise Invalid(str(error)) from None
        except (TemplateError, SyntaxError) as error:
            raise Invalid(f"the expression cannot be read: {error}") from None
        except (RecursionError, MemoryError):  # the second is what Python's own compiler raises
            raise Invalid("the expression is nested too deeply") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Invalid(f"the expression fails: {str(error)[:200]}") from None

    def text(self, source: str, more: Mapping[str, Any] | None = None) -> str:
        """What an expression gives, written for a reader."""
        try:
            found = plain(self.value(source, more))
        except ValueError as error:  # Python writes no whole number of more than 4,300 digits
            raise Invalid(f"the expression fails: {error}") from None
        if _SURROGATE.search(found):
            raise Invalid("the expression gives half of a letter (a surrogate), which no file can hold")
        return found

    def _unnamed_run(self, machine: Any, **fields: Any) -> Run:
        key = f"run({machine!r}, {sorted(fields.items())!r})"
        if key not in self._runs:
            given = {name: value.parts if isinstance(value, Record) else value for name, value in fields.items()}
            self._runs[key] = Run(f"run({machine!r}, …)", {"machine": machine, **given})
        return self._runs[key]
