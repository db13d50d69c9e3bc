"""Online softmax, looked at: beside m, l and acc, the bars it has forgotten, the old way and the reference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from app.machines import online, reference
from app.machines.naive import Naive, disagrees, first_bad, shares
from app.machines.online import MASKED, Reading, Spec
from app.machines.run import Moment
from app.stories.online import words
from app.stories.stored import moved_by_storing
from app.stories.wire_types import Number, Shaped, Told

Values = float | tuple[float, ...]  # bare where a value is a number, a row where it is a vector


@dataclass(frozen=True)
class Read(Told):
    """What the step just made did. `kind` is start at step 0, where the rest is absent."""

    kind: Literal["start", "read"]
    """what was done"""
    indices: Sequence[int]
    """which scores this step read: their places, from 0"""
    scores: tuple[Number, ...]
    """the scores as read: rounded, offset added"""
    m_old: Number
    """the highest score before"""
    m_new: Number
    """the highest score after"""
    alpha: Number
    """exp(m_old − m_new), the factor on all that was kept; 0 while nothing is"""
    p: tuple[Number, ...]
    """exp(score − m_new) for each score read; 0 where masked"""
    l_old: Number
    """l before"""
    row_sum: Number
    """the sum of p"""
    l_rescaled: Number
    """l_old · alpha"""
    new_max: bool
    """whether the highest score rose"""
    rescales: bool
    """whether it rose when something was already kept"""
    stalled: bool
    """whether row_sum was above 0 and rounded away whole"""
    values: tuple[Shaped, ...] | None = None
    """their values as read, rounded to the format"""
    acc_old: Shaped | None = None
    """acc before"""
    pv: Shaped | None = None
    """the sum of p · value"""
    acc_rescaled: Shaped | None = None
    """acc_old · alpha"""


@dataclass(frozen=True)
class Term(Told):
    """A bar: a score that was read."""

    index: int
    """its place, from 0"""
    score: Number
    """as read"""
    size: Number
    """exp(score − m)"""
    size_before: Number | None = None
    """the same before this step; absent for a score just read"""


@dataclass(frozen=True)
class BadStep(Told):
    """An operation that was the first to give an infinity, or the first to give NaN."""

    gives: Number
    """Infinity or NaN"""
    op: str
    """which operation: exp, add or div"""
    index: int
    """the score it belongs to, from 0"""
    text: str
    """in words"""


@dataclass(frozen=True)
class OldWay(Told):
    """The same scores without taking the highest off."""

    exps: tuple[Number, ...]
    """exp(score)"""
    sum: Number
    """their sum so far"""
    failed: bool
    """whether a share of the scores read so far differs from the reference by more than rounding"""
    first_bad: tuple[BadStep, ...]
    """the operation that first gave an infinity and the one that first gave NaN, in the order met"""
    shares: tuple[Number, ...] | None = None
    """exp / sum, when all are read"""


@dataclass(frozen=True)
class Exact(Told):
    """The float64 answer for the scores read so far, as the format holds them."""

    m: Number
    """highest score"""
    l: Number
    """sum of exp(score − m)"""
    lse: Number
    """log of the sum of exp(score)"""
    shares: tuple[Number, ...]
    """softmax"""
    output: Shaped | None = None
    """weighted average of the values"""


@dataclass(frozen=True)
class Kept(Told):
    """What the algorithm keeps, and what is derived from it for the reader."""

    m: Number
    """the highest score so far; -Infinity before any live one"""
    l: Number
    """the sum of exp(score − m)"""
    lse: Number
    """m + log l, natural logarithm"""
    terms: tuple[Term, ...]
    """the scores read so far, which the algorithm has forgotten"""
    naive: OldWay
    """the old way beside it"""
    reference: Exact
    """the float64 answer"""
    acc: Shaped | None = None
    """the sum of exp(score − m) · value"""
    output: Shaped | None = None
    """acc / l"""
    shares: tuple[Number, ...] | None = None
    """size / l for each score, when all are read: a second read, outside the ledger"""


class OnlineView:
    """Remembers, for the reader, the scores that the machine was handed and let go."""

    form_name, event_type, state_type = "Online", Read, Kept

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.scores: list[float] = []
        self.values: list[tuple[float, ...]] = []
        self.exps: list[float] = []
        self.naive = Naive(spec.form, spec.sums)

    def see(self, moment: Moment) -> None:
        self.moment = moment
        for name in ("_naive_shares", "_exact"):
            self.__dict__.pop(name, None)
        event: Reading | None = moment.event
        if event is None:
            return
        for index, score in enumerate(event.scores, event.first):
            self.naive = self.naive.read(index, score)
            self.exps.append(self.naive.exp)
        self.scores += event.scores
        self.values += event.values

    def event(self) -> Read | None:
        event: Reading | None = self.moment.event
        if event is None:
            return None
        valued: dict[str, Any] = {}
        if self.spec.width:
            valued = {"values": tuple(self._shaped(row) for row in event.values)}
            valued |= {name: self._shaped(getattr(event, name)) for name in ("acc_old", "pv", "acc_rescaled")}
        return Read(
            "read", range(event.first, event.first + len(event.scores)), event.scores, event.m_old, event.m_new, event.alpha, event.p,
            event.l_old, event.row_sum, event.l_rescaled, event.new_max, event.rescales, event.stalled, **valued,
        )  # fmt: skip

    def state(self) -> Kept:
        spec, state = self.spec, self.moment.state
        return Kept(
            state.m,
            state.l,
            online.lse(spec, state),
            self._terms(),
            self._old_way(),
            self._reference(),
            self._shaped(state.acc) if spec.width else None,
            self._shaped(online.output(spec, state)) if spec.width and self.scores else None,
            self._shares() if self._done else None,
        )

    def words(self) -> dict[str, str]:
        """Sentences that are more than the caption: each kept number's arithmetic, the old way's fate, what rounding moved."""
        told = words.lines(self.spec, self.moment)
        old = self._old_way()
        told["naive"] = words.old_way(
            read=len(self.scores), failed=old.failed, done=self._done, shares=self._naive_shares, exact=self._exact.shares
        )
        told["done"] = words.all_read(self.moment.state, self._shares()) if self._done else ""
        told["moved"] = self._moved()
        told["typed"] = self._typed()
        return told

    @property
    def _done(self) -> bool:
        return len(self.scores) == len(self.spec.scores)

    def _terms(self) -> tuple[Term, ...]:
        """The bars: each score read, its size next to the highest now, and next to the highest before this step."""
        m, event = self.moment.state.m, self.moment.event
        return tuple(
            Term(index, score, self._size(score, m), self._size(score, event.m_old) if index < event.first else None)
            for index, score in enumerate(self.scores)
        )

    def _size(self, score: float, m: float) -> float:
        form = self.spec.form
        return 0.0 if score == MASKED else form.exp(form.round(score - m))

    def _shares(self) -> tuple[float, ...]:
        """The sizes over l: what a softmax hands out, at the price of a second read."""
        state = self.moment.state
        return shares(self.spec.form, self.spec.sums, [self._size(score, state.m) for score in self.scores], state.l)

    @cached_property
    def _naive_shares(self) -> tuple[float, ...]:
        return shares(self.spec.form, self.spec.sums, self.exps, self.naive.sum)

    @cached_property
    def _exact(self) -> reference.Reference:
        return reference.softmax(self.scores, self.values if self.spec.width else ())

    def _old_way(self) -> OldWay:
        spec, written = self.spec, self._naive_shares
        failed = any(
            disagrees(got, exact, len(written), spec.form, spec.sums) for got, exact in zip(written, self._exact.shares, strict=True)
        )
        bad = first_bad(self.naive.bad, self.exps, self.naive.sum, written) if self._done else self.naive.bad
        told = tuple(BadStep(one.gives, one.op, one.index, words.bad(spec, one)) for one in bad)
        return OldWay(tuple(self.exps), self.naive.sum, failed, told, written if self._done else None)

    def _reference(self) -> Exact:
        exact = self._exact
        output = self._shaped(exact.output) if self.spec.width and self.scores else None
        return Exact(exact.m, exact.l, exact.lse, tuple(exact.shares), output)

    def _asked(self) -> list[float]:
        """The scores read so far as they were typed, with what is added to each."""
        asked = self.spec.scores[: len(self.scores)]
        return [math.fsum((score, self.spec.offset)) if math.isfinite(score) else score for score in asked]

    def _typed(self) -> str:
        """What storing the inputs did to the float64 answer; nothing where one of them is no number."""
        scores = self._asked()
        values = [_row(value) for value in (self.spec.values or ())[: len(scores)]]
        if (scores == self.scores and values == self.values) or any(math.isnan(x) for row in (scores, *values) for x in row):
            return ""
        return moved_by_storing(self.spec.format, reference.softmax(scores, values), self._exact)

    def _moved(self) -> str:
        """Softmax does not change when one number is added to every score, unless rounding the sums moves them apart."""
        asked, exact = self.spec.scores[: len(self.scores)], self._asked()
        if exact == self.scores or any(math.isnan(score) for score in exact):
            return ""
        return words.moved(self.spec, exact, self.scores, reference.softmax(asked).shares, self._exact.shares)

    def _shaped(self, row: tuple[float, ...]) -> Values:
        """A value-shaped number: bare where the values are bare numbers, a list where they are vectors."""
        values = self.spec.values
        return row[0] if values is not None and not isinstance(values[0], Sequence) else row


def _row(value: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)
