"""Divide first or last? The same average of values with shares made first, and with one division at the end.

The shares of one query all have the same denominator l, so dividing each weight before the sum, or the sum once after it,
gives the same output; only the second can start before l is known.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.machines.arithmetic import Arithmetic, Ledger
from app.machines.fields import FORMAT, MAX_SCORES, SCORES, Field, Problem
from app.machines.formats import FORMATS, Format
from app.machines.online import MASKED, values_problem
from app.machines.run import Machine

KINDS = ("exponentials", "shares", "weigh", "divide")


@dataclass(frozen=True)
class Spec:
    """scores: n numbers, −inf masked; values: n numbers or n vectors; format: of everything."""

    scores: Sequence[float]
    values: Sequence[float] | Sequence[Sequence[float]]
    format: str = "float32"

    @property
    def form(self) -> Format:
        return FORMATS[self.format]

    @property
    def rows(self) -> list[tuple[float, ...]]:
        return [tuple(map(self.form.round, row if isinstance(row, Sequence) else (row,))) for row in self.values]


@dataclass(frozen=True)
class State:
    """Both ways so far. m, l and exponentials are common; shares and first are the one way's, weighted and last the other's."""

    step: int
    m: float = MASKED
    l: float = 0.0
    exponentials: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    first: tuple[float, ...] = ()
    weighted: tuple[float, ...] = ()
    last: tuple[float, ...] = ()


@dataclass(frozen=True)
class Event:
    kind: str
    after: State
    cost: Ledger


def start(spec: Spec) -> State:
    return State(0)


def steps(spec: Spec) -> int:
    return len(KINDS)


def advance(spec: Spec, state: State) -> Event:
    """exponentials: m, exp(s − m), l; shares: each over l (the first way); weigh: both weighted sums; divide: one division an element (the last way).

    >>> state = start(spec := Spec((1.0, 2.0), ((2.0, 0.0), (0.0, 2.0)), "float64"))
    >>> for _ in KINDS: state = step(spec, state)
    >>> [round(x, 3) for x in state.first], [round(x, 3) for x in state.last]
    ([0.538, 1.462], [0.538, 1.462])
    """
    kind = KINDS[state.step]
    ops: Counter[str] = Counter()
    form = Arithmetic(spec.form, ops)
    s = [MASKED if x == MASKED else spec.form.round(x) for x in spec.scores]
    reads = writes = 0
    if kind == "exponentials":
        m = MASKED
        for x in s:
            m = form.max(m, x)
        exponentials = tuple(0.0 if x == MASKED else form.exp(form.sub(x, m)) for x in s)
        l = 0.0
        for e in exponentials:
            l = form.add(l, e)
        after = replace(state, m=m, l=l, exponentials=exponentials)
        reads = len(s)
    elif kind == "shares":
        after = replace(state, shares=tuple(form.div(e, state.l) for e in state.exponentials))
    elif kind == "weigh":
        empty = state.m == MASKED
        zero = (0.0,) * len(spec.rows[0])
        after = replace(
            state,
            first=zero if empty else _weighted(form, s, state.shares, spec.rows),
            weighted=_weighted(form, s, state.exponentials, spec.rows),
        )
        reads = len(s) * len(zero)
    else:
        after = replace(state, last=tuple(0.0 if state.m == MASKED else form.div(x, state.l) for x in state.weighted))
        writes = len(after.last)
    kept = 2 + len(after.exponentials) + len(after.shares) + len(after.first) + len(after.weighted)
    return Event(kind, replace(after, step=state.step + 1), Ledger(reads, writes, kept, **ops))


def step(spec: Spec, state: State) -> State:
    """The state after the next step."""
    return advance(spec, state).after


def _weighted(form: Arithmetic, scores: list[float], weights: Sequence[float], rows: list[tuple[float, ...]]) -> tuple[float, ...]:
    total = (0.0,) * len(rows[0])
    for score, weight, row in zip(scores, weights, rows, strict=True):
        if score != MASKED:
            total = tuple(form.add(sofar, form.mul(weight, element)) for sofar, element in zip(total, row, strict=True))
    return total


def _problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    yield from values_problem(given)


MACHINE = Machine(
    name="division-order",
    title="Divide first or last",
    about="The same weighted average twice: shares first, or one division at the end.",
    fields=(
        SCORES,
        Field(
            "values", "rows", "Values", "One number for each score, or one vector (rows end with a semicolon).", "10,20,30",
            required=True, data=True, least=1, most=MAX_SCORES, page_most=64, get_most=1024,
        ),
        FORMAT,
    ),
    spec=Spec, start=start, advance=advance, steps=steps, problems=_problems,
)  # fmt: skip
