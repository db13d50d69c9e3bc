"""Softmax by whole passes over the scores: how many times must each be read?

naive          exponentials and their sum, then the shares                   2 reads
safe           the maximum, then the sum, then the shares                    3 reads
online         maximum and sum together, no shares written                   1 read
online-shares  maximum and sum together, then the shares                     2 reads

Milakov and Gimelshein (2018), Algorithms 1 to 3.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from app.machines.arithmetic import Arithmetic, Ledger
from app.machines.fields import BLOCK, FORMAT, SCORES, Field
from app.machines.formats import FORMATS, Format
from app.machines.online import MASKED
from app.machines.run import Machine

METHODS: dict[str, tuple[str, ...]] = {
    "naive": ("sum", "share"),
    "safe": ("max", "sum", "share"),
    "online": ("both",),
    "online-shares": ("both", "share"),
}


@dataclass(frozen=True)
class Spec:
    """scores: n numbers, −inf masked; method: a key of METHODS; format: of everything; block: scores a step."""

    scores: Sequence[float]
    method: str = "naive"
    format: str = "float32"
    block: int = 1

    @property
    def form(self) -> Format:
        return FORMATS[self.format]


@dataclass(frozen=True)
class State:
    """pass_: which pass comes next, from 0; read: scores read in it; m, l: None until they exist. Shares are written away, not kept."""

    pass_: int
    read: int
    m: float | None
    l: float | None


@dataclass(frozen=True)
class Reading:
    """One block read in one pass. op: "max", "sum", "both" or "share"; results: a number for each score of the block.

    results are the scores for "max", the exponentials added for "sum" and "both", the shares written for "share".
    """

    pass_: int
    op: str
    first: int
    scores: tuple[float, ...]
    results: tuple[float, ...]
    after: State
    cost: Ledger


def start(spec: Spec) -> State:
    return State(0, 0, None, None)


def steps(spec: Spec) -> int:
    return len(METHODS[spec.method]) * -(-len(spec.scores) // spec.block)


def advance(spec: Spec, state: State) -> Reading:
    """Read the next block of the current pass.

    >>> spec = Spec(scores=(1000.0, 1001.0, 1002.0), method="safe", block=3)
    >>> last = advance(spec, step(spec, step(spec, start(spec))))
    >>> [round(share, 4) for share in last.results]
    [0.09, 0.2447, 0.6652]
    """
    op = METHODS[spec.method][state.pass_]
    ops: Counter[str] = Counter()
    form = Arithmetic(spec.form, ops)
    first, last = state.read, min(state.read + spec.block, len(spec.scores))
    s = tuple(MASKED if x == MASKED else spec.form.round(x) for x in spec.scores[first:last])

    m, l, results = state.m, state.l, s
    if op in ("max", "both"):
        m = MASKED if m is None else m
        for x in s:
            m = form.max(m, x)
    if op in ("sum", "both"):
        alpha = 1.0
        if op == "both":
            alpha = 0.0 if state.m in (None, MASKED) else form.exp(form.sub(state.m, m))  # type: ignore[arg-type]
            l = form.mul(l or 0.0, alpha)
        results = tuple(_size(form, x, m) for x in s)
        block_sum = 0.0
        for e in results:
            block_sum = form.add(block_sum, e)
        l = form.add(l or 0.0, block_sum)
    if op == "share":
        results = tuple(form.div(_size(form, x, m), l or 0.0) for x in s)

    whole = last == len(spec.scores)
    after = State(state.pass_ + whole, 0 if whole else last, m, l)
    kept = (m is not None) + (l is not None)
    return Reading(state.pass_, op, first, s, results, after, Ledger(len(s), len(s) * (op == "share"), kept, **ops))


def step(spec: Spec, state: State) -> State:
    """The state after the next block."""
    return advance(spec, state).after


@dataclass(frozen=True)
class Total:
    """A method at its end: how often it reads the row, what that cost, and the shares it wrote (none for "online")."""

    method: str
    cost: Ledger
    shares: tuple[float, ...]

    @property
    def passes(self) -> int:
        return len(METHODS[self.method])


def side_by_side(spec: Spec) -> tuple[Total, ...]:
    """Every method run to its end on the scores of a spec.

    >>> [(one.method, one.cost.reads, one.cost.writes) for one in side_by_side(Spec((1.0, 3.0, 2.0)))]
    [('naive', 6, 3), ('safe', 9, 3), ('online', 3, 0), ('online-shares', 6, 3)]
    """
    return tuple(_total(replace(spec, method=method)) for method in METHODS)


@cache
def of_random(n: int) -> tuple[Total, ...]:
    """The same for n seeded scores, in float32."""
    draw = random.Random(n)  # noqa: S311 (numbers to look at, not secrets)
    return side_by_side(Spec(tuple(draw.gauss(0.0, 3.0) for _ in range(n)), block=50))


def _total(spec: Spec) -> Total:
    shares: tuple[float, ...] = ()
    state, cost = start(spec), Ledger()
    for _ in range(steps(spec)):
        reading = advance(spec, state)
        state, cost = reading.after, cost + reading.cost
        shares += reading.results if reading.op == "share" else ()
    return Total(spec.method, cost, shares)


def _size(form: Arithmetic, x: float, m: float | None) -> float:
    if x == MASKED:
        return 0.0
    return form.exp(x if m is None else form.sub(x, m))


MACHINE = Machine(
    name="softmax-passes",
    title="Softmax, pass by pass",
    about="The same scores read twice, three times or once: naive, safe and online softmax, with every read counted.",
    fields=(
        SCORES,
        Field(
            "method", "choice", "Method", "naive: no maximum; safe: maximum, sum, shares; online: maximum and sum in one read.", "safe",
            default="naive", data=True, choices=tuple(METHODS), restarts=True,
        ),
        FORMAT,
        BLOCK,
    ),
    spec=Spec, start=start, advance=advance, steps=steps,
)  # fmt: skip
