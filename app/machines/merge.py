"""A row split over workers, and their partial results merged.

What it adds to online.py: a row may be cut anywhere. Each worker runs an online softmax over its own part and ends with
m, l and acc, which say all that the rest needs to know of it. Two such triples make one, by the step that repairs a
total when a higher score arrives, and in any order: the rule is associative and commutative, within rounding.

A part with no live key (m = −inf, l = 0) is the exact identity of that rule. Merging as in flashinfer's state_t; merging
finished outputs by their lse as in Flash-Decoding (Dao, Haziza, Massa and Sizov, 2023).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from app.machines import online
from app.machines.arithmetic import Arithmetic, Ledger
from app.machines.fields import FORMAT, MAX_SCORES, SCORES, SCORES_BY_GET, SCORES_ON_PAGE, Field, Problem
from app.machines.formats import FORMATS, Format
from app.machines.online import MASKED
from app.machines.run import Machine

MAX_PARTS = 8
ORDERS = ("left", "right", "tree")


@dataclass(frozen=True)
class Spec:
    """What to run.

    scores, values, format, accumulate   as in online.py
    splits        parts of ⌈n / splits⌉ scores each, the last ones shorter or empty
    cuts          in place of splits: where each part but the last ends, rising; two alike make an empty part
    merge_order   left: into a running total from the first; right: from the last; tree: neighbours, round by round
    order         the parts' numbers, from 1, in the order in which they are lined up to be merged; None: as they stand
    """

    scores: Sequence[float]
    values: Sequence[float] | Sequence[Sequence[float]] | None = None
    splits: int = 2
    cuts: tuple[int, ...] | None = None
    merge_order: str = "left"
    order: tuple[int, ...] | None = None
    format: str = "float32"
    accumulate: str | None = None
    row: online.Spec = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "accumulate", self.accumulate or self.format)
        if self.cuts is not None:
            object.__setattr__(self, "splits", len(self.cuts) + 1)
        object.__setattr__(self, "row", online.Spec(self.scores, self.values, format=self.format, accumulate=self.accumulate))

    @property
    def width(self) -> int:
        return self.row.width

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """[from, to) of each part.

        >>> Spec((0.0,) * 5, splits=4).spans, Spec((0.0,) * 5, cuts=(3, 3)).spans
        (((0, 2), (2, 4), (4, 5), (5, 5)), ((0, 3), (3, 3), (3, 5)))
        """
        n = len(self.scores)
        most = -(-n // self.splits)
        inner = self.cuts if self.cuts is not None else tuple(min(i * most, n) for i in range(1, self.splits))
        return tuple(zip((0, *inner), (*inner, n), strict=True))

    @cached_property
    def plan(self) -> tuple[tuple[int, int], ...]:
        """Which two results each merge takes, by the number of the step that made them.

        >>> [Spec((0.0,) * 4, splits=4, merge_order=order).plan for order in ("left", "tree")]
        [((1, 2), (5, 3), (6, 4)), ((1, 2), (3, 4), (5, 6))]
        """
        waiting = list(self.order or range(1, len(self.spans) + 1))
        pairs: list[tuple[int, int]] = []
        made = len(waiting)
        place = 0  # of the pair that is merged next
        while len(waiting) > 1:
            if self.merge_order == "right":
                place = len(waiting) - 2
            elif self.merge_order == "tree" and place + 1 >= len(waiting):
                place = 0
            made += 1
            pairs.append((waiting[place], waiting[place + 1]))
            waiting[place : place + 2] = [made]
            place += self.merge_order == "tree"
        return tuple(pairs)


@dataclass(frozen=True)
class Partial:
    """What is known of some parts of the row: d + 2 numbers.

    number   of the step that made it, so that workers' results are 1 to the number of parts
    of       the numbers of the parts in it
    first, last   the span of scores from its first to its last, half open
    kept     m, l and acc, as online softmax keeps them
    """

    number: int
    of: tuple[int, ...]
    first: int
    last: int
    kept: online.State

    @property
    def empty(self) -> bool:
        """Whether no live key is in it."""
        return self.kept.m == MASKED


@dataclass(frozen=True)
class State:
    """Results that wait to be merged, in the order made; `made`: how many steps have been made."""

    made: int
    waiting: tuple[Partial, ...]


@dataclass(frozen=True)
class Worked:
    """One worker's whole run over its part.

    scores, values   as read: rounded to the format
    rescales         how often a new highest score shrank what was kept
    """

    scores: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    rescales: int
    result: Partial
    after: State
    cost: Ledger

    @property
    def kind(self) -> str:
        return "worker"


@dataclass(frozen=True)
class Merged:
    """Two results made one, with every intermediate.

    pair         what is merged
    factors      exp(m_i − m) of each; 0 for one that is empty, and then 1 for the other: nothing is computed
    l_rescaled, acc_rescaled   l and acc of each, times its factor
    """

    pair: tuple[Partial, Partial]
    factors: tuple[float, float]
    l_rescaled: tuple[float, float]
    acc_rescaled: tuple[tuple[float, ...], tuple[float, ...]]
    result: Partial
    after: State
    cost: Ledger

    @property
    def kind(self) -> str:
        return "merge"


def start(spec: Spec) -> State:
    """Before any worker has run."""
    return State(0, ())


def steps(spec: Spec) -> int:
    """One a worker and one a merge: 2P − 1 for P parts."""
    return 2 * len(spec.spans) - 1


def advance(spec: Spec, state: State) -> Worked | Merged:
    """The next worker's run, or the next merge.

    Whatever is made is written to slow memory and read from there: d + 2 numbers a result. Only the last result is divided,
    and its d outputs written.

    >>> spec = Spec((1.0, 3.0, 2.0, 5.0, 4.0), (10.0, 20.0, 30.0, 40.0, 50.0), cuts=(3,), format="float64")
    >>> merge = advance(spec, step(spec, step(spec, start(spec))))
    >>> [round(x, 4) for x in (*merge.factors, merge.result.kept.l, merge.result.kept.acc[0])]
    [0.1353, 1.0, 1.5713, 62.7774]
    """
    if state.made < len(spec.spans):
        return _work(spec, state)
    return _merge(spec, state)


def step(spec: Spec, state: State) -> State:
    """The state after the next step."""
    return advance(spec, state).after


def _work(spec: Spec, state: State) -> Worked:
    number = state.made + 1
    first, last = spec.spans[state.made]
    kept = online.start(spec.row)
    scores: list[float] = []
    values: list[tuple[float, ...]] = []
    rescales, cost = 0, Ledger()
    if first < last:
        part = replace(spec.row, scores=spec.scores[first:last], values=None if spec.values is None else spec.values[first:last])
        for _ in range(online.steps(part)):
            reading = online.advance(part, kept)
            scores += reading.scores
            values += reading.values
            rescales += reading.rescales
            kept, cost = reading.after, cost + reading.cost
    if len(spec.spans) > 1:
        cost = replace(cost, writes=2 + spec.width, kept=0, div=0)
    result = Partial(number, (number,), first, last, kept)
    return Worked(tuple(scores), tuple(values), rescales, result, State(number, (*state.waiting, result)), cost)


def _merge(spec: Spec, state: State) -> Merged:
    number = state.made + 1
    numbers = spec.plan[state.made - len(spec.spans)]
    found = {one.number: one for one in state.waiting}
    pair = found[numbers[0]], found[numbers[1]]
    ops: Counter[str] = Counter()
    factors, l_rescaled, acc_rescaled, kept = merged(spec, pair[0].kept, pair[1].kept, ops)
    result = Partial(number, tuple(sorted(pair[0].of + pair[1].of)), min(one.first for one in pair), max(one.last for one in pair), kept)
    after = State(number, (*(one for one in state.waiting if one.number not in numbers), result))
    writes = 2 + spec.width
    if number == steps(spec):
        ops["div"] += spec.width
        writes = spec.width
    return Merged(pair, factors, l_rescaled, acc_rescaled, result, after, Ledger(2 * (2 + spec.width), writes, **ops))


Pair = tuple[float, float]


def merged(
    spec: Spec, a: online.State, b: online.State, ops: Counter[str] | None = None
) -> tuple[Pair, Pair, tuple[tuple[float, ...], tuple[float, ...]], online.State]:
    """The factors of two states, their l and their acc times those, and the state of both: one rounding an operation.

        m = max(m_a, m_b),  l = l_a · exp(m_a − m) + l_b · exp(m_b − m),  acc alike

    A state with no live key is left out, not multiplied by 0, so that the other comes through untouched.

    >>> spec = Spec((1.0, 2.0), format="float16")
    >>> merged(spec, online.State(1, 1.0, 1.0, ()), online.State(0, MASKED, 0.0, ()))[3]
    State(read=1, m=1.0, l=1.0, acc=())
    """
    read = a.read + b.read
    zero = (0.0,) * spec.width
    if a.m == MASKED or b.m == MASKED:
        whole = b if a.m == MASKED else a
        factors = float(a.m != MASKED), float(b.m != MASKED)
        l_rescaled, acc_rescaled = (a.l, b.l), (a.acc or zero, b.acc or zero)
        return factors, l_rescaled, acc_rescaled, replace(whole, read=read)
    row = spec.row
    form, sums = Arithmetic(row.form, ops), Arithmetic(row.sums, ops, row.mixed)
    m = form.max(a.m, b.m)
    factors = form.exp(form.sub(a.m, m)), form.exp(form.sub(b.m, m))
    l_rescaled = sums.mul(a.l, factors[0]), sums.mul(b.l, factors[1])
    acc_rescaled = tuple(sums.mul(x, factors[0]) for x in a.acc), tuple(sums.mul(x, factors[1]) for x in b.acc)
    acc = tuple(sums.add(x, y) for x, y in zip(*acc_rescaled, strict=True))
    return factors, l_rescaled, acc_rescaled, online.State(read, m, sums.add(*l_rescaled), acc)


@dataclass(frozen=True)
class ByLse:
    """Finished outputs merged: the weight exp(lse_i − lse) of each, their lse and their output."""

    weights: tuple[float, float]
    lse: float
    output: tuple[float, ...]


def by_lse(form: Format, sums: Format, lse: Pair, outputs: tuple[Sequence[float], Sequence[float]]) -> ByLse:
    """Two workers' finished outputs and lse made one: what is left to do where acc and l were not handed over.

    form, sums   of the output; of lse, the weights and the sums
    lse          of each, natural; −inf for a part with no live key, whose output is then left out
    outputs      of each, d numbers

    lse = top + log(exp(lse_a − top) + exp(lse_b − top)) with top the larger, so that no exponential overflows.

    >>> single = FORMATS["float32"]
    >>> by_lse(single, single, (0.0, 100.0), ((1.0,), (2.0,)))
    ByLse(weights=(3.783505853677006e-44, 1.0), lse=100.0, output=(2.0,))
    """
    if MASKED in lse:
        which = int(lse[0] == MASKED)
        return ByLse((float(lse[0] != MASKED), float(lse[1] != MASKED)), lse[which], tuple(outputs[which]))
    do = Arithmetic(sums, wider=form.digits > sums.digits)
    top = do.max(*lse)
    total = do.add(do.exp(do.sub(lse[0], top)), do.exp(do.sub(lse[1], top)))
    both = do.add(top, sums.log(total))
    weights = do.exp(do.sub(lse[0], both)), do.exp(do.sub(lse[1], both))
    output = tuple(form.round(do.add(do.mul(x, weights[0]), do.mul(y, weights[1]))) for x, y in zip(*outputs, strict=True))
    return ByLse(weights, both, output)


def base_2(sums: Format, lse: float) -> float:
    """A natural lse as a logarithm to base 2, which some libraries hand out: lse / ln 2, rounded once.

    >>> base_2(FORMATS["float64"], math.log(8.0)), base_2(FORMATS["float8_e4m3fn"], MASKED)
    (3.0, -inf)
    """
    return sums.round(lse / math.log(2.0)) if math.isfinite(lse) else lse


def _problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    yield from online.values_problem(given)
    cuts, n, order = given.get("cuts"), len(given.get("scores") or ()), given.get("order")
    parts: int = given.get("splits", 2)
    if cuts is not None:
        if len(cuts) >= MAX_PARTS:
            yield Problem(
                "cuts",
                "too_many",
                f"cuts has {len(cuts)} places",
                f"{MAX_PARTS - 1} make {MAX_PARTS} parts, the most",
                {"most": MAX_PARTS - 1},
            )
        elif list(cuts) != sorted(cuts):
            yield Problem("cuts", "wrong_order", "the places in cuts go back", "write them from small to large", "rising numbers")
        elif n and cuts[-1] > n:
            yield Problem("cuts", "out_of_range", f"cuts has {cuts[-1]}", f"there are {n} scores: cut at 0 to {n}", {"least": 0, "most": n})
        elif parts not in (2, len(cuts) + 1):
            what = f"splits asks for {parts} parts but cuts makes {len(cuts) + 1}"
            yield Problem("cuts", "two_sources", what, "give one of the two", "splits or cuts")
        parts = len(cuts) + 1
    if order is not None and sorted(order) != list(range(1, parts + 1)):
        example = ",".join(map(str, range(parts, 0, -1)))
        way_out = f"name each of the {parts} parts once, such as {example}" if parts > 1 else "leave it empty: there is one part"
        yield Problem("order", "wrong_order", "order does not name every part once", way_out, f"the numbers 1 to {parts}, each once")


MACHINE = Machine(
    name="merge",
    title="Splitting and merging",
    about="A row cut into parts, an online softmax over each, and their partial results merged: in any order, the same within rounding.",
    fields=(
        SCORES,
        Field(
            "values", "rows", "Values", "One number for each score, or one vector (rows end with a semicolon); leave empty for none.", "10,20,30",
            data=True, least=1, most=MAX_SCORES, get_most=SCORES_BY_GET, page_most=SCORES_ON_PAGE,
        ),
        Field("splits", "integer", "Parts", "How many workers share the row, each an equal part.", "2", default=2, least=1, most=MAX_PARTS, yields="cuts"),
        Field(
            "cuts", "integers", "Cut after", "In place of equal parts: after how many scores each part but the last ends; two alike make an empty part.",
            "2", least=0, most=MAX_SCORES,
        ),
        Field("merge_order", "choice", "Merge", "Into a running total from the left or the right, or in pairs as a tree.", "tree", default="left", choices=ORDERS),
        Field("order", "integers", "Line up as", "The parts' numbers in the order in which they are merged; empty: as they stand.", "2,1", least=1, most=MAX_PARTS),
        FORMAT,
        Field(
            "accumulate", "choice", "Format of l and acc", "The format of l, acc, lse and their sums; empty: the same as the number format.", "float32",
            choices=tuple(FORMATS), follows="format",
        ),
    ),
    spec=Spec, start=start, advance=advance, steps=steps, problems=_problems,
)  # fmt: skip
