"""Online softmax: the maximum, the sum of exponentials and the weighted sum of values, in one read.

What it adds to the safe softmax of passes.py: the sum is kept against the highest score seen so far, and one factor
mends it whenever a higher score arrives. Milakov and Gimelshein (2018), "Online normalizer calculation for softmax",
Algorithm 3; acc as in Dao (2023), "FlashAttention-2", Algorithm 1.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.machines.arithmetic import Arithmetic, Ledger
from app.machines.fields import BLOCK, FORMAT, MAX_SCORES, SCORES, SCORES_BY_GET, SCORES_ON_PAGE, Field, Problem
from app.machines.formats import FORMATS, Format
from app.machines.run import Machine

MASKED = -math.inf  # "no key yet" and "masked": a mark that is selected on, never a number that is stored or added


@dataclass(frozen=True)
class Spec:
    """What to run.

    scores       n numbers; −inf marks a masked one. Read once, in blocks, by slicing
    values       n numbers, or n vectors of one length, or None
    offset       added to every score, in the format, as it is read
    format       of scores, values, exponentials, m and the output
    accumulate   of l, acc and their sums; None: as `format`
    block        scores a step
    """

    scores: Sequence[float]
    values: Sequence[float] | Sequence[Sequence[float]] | None = None
    offset: float = 0.0
    format: str = "float32"
    accumulate: str | None = None
    block: int = 1
    width: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        first = None if self.values is None else self.values[0]
        width = 0 if first is None else len(first) if isinstance(first, Sequence) else 1
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "accumulate", self.accumulate or self.format)

    @property
    def form(self) -> Format:
        return FORMATS[self.format]

    @property
    def sums(self) -> Format:
        return FORMATS[self.accumulate or self.format]

    @property
    def mixed(self) -> bool:
        """Whether sums are kept in a shorter format than what is added to them."""
        return self.form.digits > self.sums.digits


@dataclass(frozen=True)
class State:
    """What is kept from one step to the next: d + 2 numbers and the place reached.

    m     the highest score so far (−inf: none yet)
    l     Σ exp(s − m) over what has been read
    acc   the sum of exp(s − m) · v, a number for each element of a value; empty without values
    """

    read: int
    m: float
    l: float
    acc: tuple[float, ...]


@dataclass(frozen=True)
class Reading:
    """One block read, with every intermediate, in the order in which they are formed.

    scores         s, rounded to the format, offset added
    values         the values' rows, rounded to the format
    alpha          exp(m_old − m_new); 0 while there is nothing to rescale
    p              exp(s − m_new), 0 where masked
    row_sum, pv    what the block adds: Σ p and Σ p·v
    l_rescaled, acc_rescaled   what was kept, times alpha
    """

    first: int
    scores: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    m_old: float
    l_old: float
    acc_old: tuple[float, ...]
    m_new: float
    alpha: float
    p: tuple[float, ...]
    row_sum: float
    pv: tuple[float, ...]
    l_rescaled: float
    acc_rescaled: tuple[float, ...]
    after: State
    cost: Ledger

    @property
    def new_max(self) -> bool:
        return self.m_new > self.m_old

    @property
    def rescales(self) -> bool:
        """Whether anything already kept had to shrink."""
        return self.new_max and self.m_old != MASKED

    @property
    def stalled(self) -> bool:
        """Whether something was added to l and rounded away whole."""
        return self.row_sum > 0 and 0 < self.l_rescaled == self.after.l


def start(spec: Spec) -> State:
    """Before anything is read: m = −inf, l = 0, acc = 0."""
    return State(0, MASKED, 0.0, (0.0,) * spec.width)


def steps(spec: Spec) -> int:
    return -(-len(spec.scores) // spec.block)


def advance(spec: Spec, state: State) -> Reading:
    """Read the next block.

    >>> spec = Spec(scores=(1.0, 3.0), values=(10.0, 20.0), format="float64")
    >>> second = advance(spec, step(spec, start(spec)))
    >>> [round(x, 4) for x in (second.alpha, second.after.l, second.after.acc[0])]
    [0.1353, 1.1353, 21.3534]
    """
    ops: Counter[str] = Counter()
    form, sums = Arithmetic(spec.form, ops), Arithmetic(spec.sums, ops, spec.mixed)
    first, last = state.read, min(state.read + spec.block, len(spec.scores))
    s = tuple(shifted(spec.form, x, spec.offset) for x in spec.scores[first:last])
    v = _rows(spec, first, last)

    m_old, m_new = state.m, state.m
    for x in s:
        m_new = form.max(m_new, x)

    if m_old == MASKED:
        alpha = 0.0  # nothing is kept yet, so nothing is rescaled; exp(−inf − −inf) is never formed
    else:
        alpha = form.exp(form.sub(m_old, m_new))
    p = tuple(0.0 if x == MASKED else form.exp(form.sub(x, m_new)) for x in s)

    row_sum = 0.0
    for share in p:
        row_sum = sums.add(row_sum, share)
    l_rescaled = sums.mul(state.l, alpha)
    l_new = sums.add(l_rescaled, row_sum)

    pv = [0.0] * spec.width
    for x, share, row in zip(s, p, v, strict=True):
        if x != MASKED:  # 0 times a NaN is NaN: a masked value is left alone, not multiplied by nothing
            pv = [sums.add(total, sums.mul(share, element)) for total, element in zip(pv, row, strict=True)]
    acc_rescaled = tuple(sums.mul(element, alpha) for element in state.acc)
    acc_new = tuple(sums.add(old, new) for old, new in zip(acc_rescaled, pv, strict=True))

    after = State(last, m_new, l_new, acc_new)
    writes = 0
    if last == len(spec.scores) and spec.width:
        ops["div"] += spec.width
        writes = spec.width
    reads = len(s) * (1 + spec.width)
    return Reading(
        first, s, v, m_old, state.l, state.acc, m_new, alpha, p, row_sum, tuple(pv), l_rescaled, acc_rescaled, after,
        Ledger(reads, writes, kept=2 + spec.width, **ops),
    )  # fmt: skip


def step(spec: Spec, state: State) -> State:
    """The state after the next block."""
    return advance(spec, state).after


def output(spec: Spec, state: State) -> tuple[float, ...]:
    """acc / l, one division an element in the accumulator's format, cast to `format`; 0 where no key was live."""
    if state.m == MASKED:
        return (0.0,) * spec.width
    sums = Arithmetic(spec.sums)
    return tuple(spec.form.round(sums.div(element, state.l)) for element in state.acc)


def lse(spec: Spec, state: State) -> float:
    """m + log l, the natural logarithm of Σ exp(s), in the accumulator's format; −inf where no key was live.

    >>> spec = Spec(scores=(0.0, 0.0), block=2, format="float64")
    >>> round(lse(spec, step(spec, start(spec))), 6)
    0.693147
    """
    if state.m == MASKED:
        return MASKED
    return Arithmetic(spec.sums, wider=spec.mixed).add(state.m, spec.sums.log(state.l))


def shifted(form: Format, score: float, offset: float) -> float:
    """A score as it is read: rounded to the format, then offset by a rounded addition. Masked stays masked.

    >>> shifted(FORMATS["float8_e4m3fn"], 9.0, 80.0), shifted(FORMATS["float8_e4m3fn"], -math.inf, 80.0)
    (88.0, -inf)
    """
    return MASKED if score == MASKED else form.round(form.round(score) + form.round(offset))


def _rows(spec: Spec, first: int, last: int) -> tuple[tuple[float, ...], ...]:
    if spec.values is None:
        return ((),) * (last - first)
    rows = spec.values[first:last]
    return tuple(tuple(map(spec.form.round, row if isinstance(row, Sequence) else (row,))) for row in rows)


def values_problem(given: Mapping[str, Any]) -> Iterator[Problem]:
    """Values that are not one for each score."""
    scores, values = given.get("scores"), given.get("values")
    if scores and values and len(scores) != len(values):
        rows, numbers = "1 row" if len(values) == 1 else f"{len(values)} rows", "1 number" if len(scores) == 1 else f"{len(scores)} numbers"
        way_out = "give each score one value, as numbers (10,20,30) or as vectors (2,0;0,2;1,1)"
        yield Problem("values", "wrong_shape", f"values has {rows} but scores has {numbers}", way_out, f"{len(scores)} rows")


MACHINE = Machine(
    name="online-softmax",
    title="Online softmax",
    about="One read of the scores: the highest so far, m, and the sum of sizes measured against it, l. With values, their weighted sum acc.",
    fields=(
        SCORES,
        Field(
            "values", "rows", "Values", "One number for each score, or one vector (rows end with a semicolon); leave empty for none.", "10,20,30",
            data=True, least=1, most=MAX_SCORES, get_most=SCORES_BY_GET, page_most=SCORES_ON_PAGE,
        ),
        Field(
            "offset", "number", "Added to every score", "A number added to every score, in the format, before it is used.", "80",
            default=0.0, least=-1000, most=1000,
        ),
        FORMAT,
        Field(
            "accumulate", "choice", "Format of l and acc", "The format of l, acc and their sums; empty: the same as the number format.", "float32",
            choices=tuple(FORMATS), follows="format",
        ),
        BLOCK,
    ),
    spec=Spec, start=start, advance=advance, steps=steps, problems=values_problem,
)  # fmt: skip
