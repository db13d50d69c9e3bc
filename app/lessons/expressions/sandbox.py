"""Expressions: Jinja's syntax in a sandbox that offers runs, a few functions and a few filters, and nothing else.

No name leads to a Python object with methods: a dot looks into a run, a snapshot or JSON data, and nowhere else. Arithmetic
is on numbers only, and its size is bounded before it is done.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.lessons.expressions.filters import FILTERS, number, plain
from app.lessons.expressions.functions import FUNCTIONS
from app.lessons.expressions.runs import Clock, Data, Record, Run
from app.lessons.problems import Invalid

LONGEST = 2000  # letters of an expression
WIDEST = 4000  # letters of what it gives
BITS = 4096  # of the largest whole number
RUNS = 200  # unnamed runs in a lesson
RESERVED = {*FUNCTIONS, "run", "data", "attempt", "again", "steps", "true", "false", "none", "and", "or", "not", "in", "is", "if", "else"}
_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
}  # fmt: skip


class Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(_OPS)
    intercepted_unops = frozenset("+-")

    def __init__(self, clock: Clock) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, optimized=False, cache_size=0)
        self.clock = clock
        self.globals.clear()
        self.tests.clear()
        self.filters.clear()
        self.filters.update(FILTERS)

    def getattr(self, obj: Any, attribute: str) -> Any:
        self.clock.tick()
        if isinstance(obj, (Record, Run)):
            return obj.part(attribute)
        if isinstance(obj, StrictUndefined):
            obj._fail_with_undefined_error()
        raise Invalid(f"a {'list' if isinstance(obj, (list, tuple)) else 'number or text'} has no part {attribute!r}")

    def getitem(self, obj: Any, argument: Any) -> Any:
        self.clock.tick()
        if isinstance(obj, StrictUndefined):
            obj._fail_with_undefined_error()
        if isinstance(obj, Run):
            return obj.at(argument)
        if isinstance(obj, Record) and isinstance(argument, str):
            return obj.part(argument)
        if isinstance(obj, (list, tuple)):
            return _item(obj, argument)
        raise Invalid(f"nothing can be picked from here by {argument!r}"[:120])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        self.clock.tick()
        return calculate(operator, left, right)

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        value = number(_defined(arg))
        return -value if operator == "-" else value

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        self.clock.tick()
        for given in (*args, *kwargs.values()):
            _defined(given)
        if obj not in self.callable:
            raise Invalid("only the functions of lessons/README.md can be called")
        try:
            return obj(*args, **kwargs)
        except TypeError as error:
            raise Invalid(f"a function was called with the wrong arguments: {error}") from None

    callable: tuple[Callable[..., Any], ...] = ()


def _defined(x: Any) -> Any:
    if isinstance(x, StrictUndefined):
        x._fail_with_undefined_error()
    return x


def _item(rows: Any, place: Any) -> Any:
    if isinstance(place, slice):
        return rows[place]
    if isinstance(place, bool) or not isinstance(place, int) or not -len(rows) <= place < len(rows):
        raise Invalid(f"a list of {len(rows)} has no place {place!r}: places are 0 to {len(rows) - 1}")
    found = rows[place]
    return Record(found, f"entry {place}") if isinstance(found, Mapping) else found


def calculate(op: str, left: Any, right: Any) -> Any:
    """One operation on two numbers, refused where its result would be huge.

    >>> calculate("**", 2, 10), calculate("*", 0.5, "Infinity")
    (1024, inf)
    """
    a, b = number(_defined(left)), number(_defined(right))
    if isinstance(a, int) and isinstance(b, int):
        bits = {"**": a.bit_length() * max(b, 0), "*": a.bit_length() + b.bit_length()}.get(op, 0)
        if bits > BITS:
            raise Invalid("the result would have more than a thousand digits")
    try:
        found = _OPS[op](a, b)
    except ZeroDivisionError:
        raise Invalid("a division by zero") from None
    except OverflowError:
        return math.inf
    if isinstance(found, complex):
        raise Invalid("a root of a number below 0")
    return found


class Scope:
    """What a lesson's expressions know: its runs by name, `run(…)`, `data(…)`, and more names for a quiz.

    >>> five = {"machine": "online-softmax", "scores": "1,3,2,5,4", "format": "float64"}
    >>> scope = Scope({"five": five})
    >>> scope.text("five[-1].l | to(4)"), scope.text("five[2].event.alpha"), scope.value("five.steps * 2")
    ('1.5713', '0.135', 10)
    """

    def __init__(self, runs: Mapping[str, Mapping[str, Any]] | None = None, data: Data | None = None, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.data = data or Data(None)
        self._given = dict(runs or {})
        self._made: dict[str, Run] = {}
        self._sandbox = Sandbox(self.clock)
        self._functions: dict[str, Callable[..., Any]] = {**FUNCTIONS, "run": self._run, "data": self.data.read}
        self._sandbox.callable = tuple(self._functions.values())
        self._compiled: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        return list(self._given)

    def run(self, name: str) -> Run:
        """A run of the front matter."""
        if name not in self._made:
            if name not in self._given:
                raise Invalid(f"there is no run {name!r}: {'use one of ' + ', '.join(self._given) if self._given else 'name it in [runs]'}")
            self._made[name] = Run(name, self._given[name], self.clock)
        return self._made[name]

    def value(self, source: str, more: Mapping[str, Any] | None = None) -> Any:
        """What an expression gives: a number, text, a truth, a list. Invalid with words where it fails."""
        self.clock.tick()
        if len(source) > LONGEST:
            raise Invalid(f"an expression of {len(source):,} letters: at most {LONGEST:,} are allowed")
        more = more or {}
        sandbox = self._sandbox
        if more:
            called = tuple(value for value in more.values() if callable(value))
            sandbox = Sandbox(self.clock)
            sandbox.callable = (*self._sandbox.callable, *called)
        try:
            compiled = None if more else self._compiled.get(source)
            if compiled is None:
                compiled = sandbox.compile_expression(source, undefined_to_none=False)
                if not more:
                    self._compiled[source] = compiled
            found = compiled({**self._functions, **{name: self.run(name) for name in self._given if _named(name, source)}, **more})
            return _defined(found)
        except Invalid:
            raise
        except UndefinedError as error:
            raise Invalid(str(error)) from None
        except TemplateError as error:
            raise Invalid(f"the expression cannot be read: {error}") from None
        except RecursionError:
            raise Invalid("the expression is nested too deeply") from None
        except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
            raise Invalid(f"the expression fails: {str(error)[:200]}") from None

    def text(self, source: str, more: Mapping[str, Any] | None = None) -> str:
        """What an expression gives, written for a reader."""
        found = plain(self.value(source, more))
        if len(found) > WIDEST:
            raise Invalid(f"the expression gives {len(found):,} letters: at most {WIDEST:,} are allowed")
        if _HALF.search(found):
            raise Invalid("the expression gives half of a letter (a surrogate), which no file can hold")
        return found

    def _run(self, machine: Any, **fields: Any) -> Run:
        key = f"run({machine!r}, {sorted(fields.items())!r})"
        if key not in self._made:
            if len(self._made) >= RUNS:
                raise Invalid(f"more than {RUNS} runs in one lesson")
            given = {name: value.whole if isinstance(value, Record) else value for name, value in fields.items()}
            self._made[key] = Run(f"run({machine!r}, …)", {"machine": machine, **given}, self.clock)
        return self._made[key]


_HALF = re.compile("[\ud800-\udfff]")


def _named(name: str, source: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source) is not None
