"""A split row, looked at: every partial result made so far, finished outputs merged by lse, and how far rounding carried them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from app.machines import online, reference
from app.machines.merge import Merged, Partial, Spec, Worked, base_2, by_lse
from app.machines.online import MASKED
from app.machines.reference import Error, error
from app.machines.run import Moment
from app.stories.merge import words
from app.stories.stored import moved_by_storing
from app.stories.wire_types import Number, Shaped, Told

Values = float | tuple[float, ...]  # bare where a value is a number, a row where it is a vector


@dataclass(frozen=True)
class ByLse(Told):
    """Finished outputs merged by their lse, where m, l and acc were not handed over."""

    weights: tuple[Number, ...]
    """exp(lse_i − lse)"""
    lse: Number
    """top + log Σ exp(lse_i − top), top the larger"""
    output: Shaped | None = None
    """the sum of weight · output"""


@dataclass(frozen=True)
class MixedBases(Told):
    """The mistake of taking base-2 logarithms for natural ones, for comparison."""

    weights: tuple[Number, ...]
    """the weights that would come of it"""
    output: Shaped | None = None
    """the wrong output"""


@dataclass(frozen=True)
class Made(Told):
    """What the step just made did: a worker read its part, or two results were merged."""

    kind: Literal["start", "worker", "merge"]
    """what was done"""
    number: int
    """of the result made: the step that made it"""
    parts: tuple[int, ...]
    """worker: its part; merge: the two results that are merged, by number, from 1"""
    m_new: Number
    """m of the result"""
    from_: int | None = None
    """worker: the first score of its part, from 0"""
    to: int | None = None
    """worker: the score after its last"""
    scores: tuple[Number, ...] | None = None
    """worker: the scores as read, rounded"""
    values: tuple[Shaped, ...] | None = None
    """worker: their values as read, rounded"""
    rescales: int | None = None
    """worker: how often a new highest score shrank what it kept"""
    m_old: tuple[Number, ...] | None = None
    """m for each of the two that are merged"""
    factors: tuple[Number, ...] | None = None
    """exp(m_old − m_new) for each of the two; 0 for an empty one, and then 1 for the other"""
    l_old: tuple[Number, ...] | None = None
    """l for each of the two"""
    l_rescaled: tuple[Number, ...] | None = None
    """l_old · factor"""
    acc_old: tuple[Shaped, ...] | None = None
    """acc for each of the two"""
    acc_rescaled: tuple[Shaped, ...] | None = None
    """acc_old · factor"""
    empty: tuple[bool, ...] | None = None
    """which of the two have no live key"""
    by_lse: ByLse | None = None
    """the same merge from finished outputs"""
    mixed_bases: MixedBases | None = None
    """the same with the bases mixed up"""


@dataclass(frozen=True)
class Result(Told):
    """What a reader of some scores hands on."""

    m: Number
    """its highest score; -Infinity where no key is live"""
    l: Number
    """its sum of exp(score − m)"""
    lse: Number
    """m + log l, natural logarithm"""
    lse2: Number
    """the same to base 2: lse / ln 2"""
    acc: Shaped | None
    """its sum of exp(score − m) · value"""
    output: Shaped | None
    """acc / l"""


@dataclass(frozen=True)
class Part(Result):
    """A partial result: of one part, or of several merged."""

    number: int
    """the step that made it"""
    of: tuple[int, ...]
    """the parts in it, by number, from 1"""
    from_: int
    """its first score, from 0"""
    to: int
    """the score after its last"""
    waiting: bool
    """whether it is still to be merged"""
    factors: tuple[Number, ...] | None
    """of a merge: what each of the two was multiplied by"""


@dataclass(frozen=True)
class Off(Told):
    """The largest error against float64."""

    absolute: Number
    """|result − exact|"""
    relative: Number
    """that over |exact|"""
    ulps: Number
    """that in units in the last place of the result's format"""


@dataclass(frozen=True)
class Errors(Told):
    """How far rounding carried each result from the float64 one."""

    l: Off
    """of l"""
    lse: Off
    """of lse"""
    output: Off | None
    """of the output"""

    def of(self, what: str) -> Off:
        found: Off = getattr(self, what)
        return found


@dataclass(frozen=True)
class Finished(Told):
    """The row once more, from the workers' finished outputs and their lse alone, merged in the same order."""

    lse: Number
    """of the row"""
    output: Shaped | None
    """of the row"""


@dataclass(frozen=True)
class Unsplit(Result):
    """One worker that reads the whole row, in the same formats."""

    error: Errors
    """how far it is from float64"""


@dataclass(frozen=True)
class Exact(Told):
    """The float64 answer for the whole row, from the inputs as the format holds them."""

    m: Number
    """highest score"""
    l: Number
    """sum of exp(score − m)"""
    lse: Number
    """log of the sum of exp(score)"""
    output: Shaped | None
    """weighted average of the values"""


@dataclass(frozen=True)
class Row(Told):
    """The partial results, and once all are merged the row's m, l, lse, acc and output."""

    spans: tuple[tuple[int, ...], ...]
    """the scores of each part: from the first to before the second, as in Python"""
    plan: tuple[tuple[int, ...], ...]
    """which two results each merge takes"""
    parts: tuple[Part, ...]
    """every result made so far, in the order made: the workers', then the merges'"""
    reference: Exact
    """the float64 answer"""
    m: Number | None = None
    """of the row: its highest score"""
    l: Number | None = None
    """of the row: its sum of exp(score − m)"""
    lse: Number | None = None
    """of the row: m + log l, natural logarithm"""
    lse2: Number | None = None
    """the same to base 2"""
    acc: Shaped | None = None
    """of the row: its sum of exp(score − m) · value"""
    output: Shaped | None = None
    """of the row: acc / l"""
    by_lse: Finished | None = None
    """the row from finished outputs"""
    unsplit: Unsplit | None = None
    """the row read by one worker"""
    error: Errors | None = None
    """how far rounding carried the result"""


class MergeView:
    """Gathers the results as they are made; the machine keeps only those that wait."""

    form_name, event_type, state_type = "Merge", Made, Row

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.made: list[Partial] = []
        self.factors: dict[int, tuple[float, float]] = {}
        self.finished: dict[int, tuple[float, tuple[float, ...]]] = {}
        form = spec.row.form
        scores = [MASKED if x == MASKED else form.round(x) for x in spec.scores]
        typed = [tuple(row) if isinstance(row, Sequence) else (row,) for row in spec.values or ()]
        self.exact = reference.softmax(scores, [tuple(map(form.round, row)) for row in typed])
        self.typed = moved_by_storing(spec.format, reference.softmax(spec.scores, typed), self.exact)

    def see(self, moment: Moment) -> None:
        self.moment = moment
        event: Worked | Merged | None = moment.event
        if event is None:
            return
        self.made.append(event.result)
        if isinstance(event, Worked):
            kept = event.result.kept
            self.finished[event.result.number] = online.lse(self.spec.row, kept), online.output(self.spec.row, kept)
        else:
            pair = [self.finished[one.number] for one in event.pair]
            found = by_lse(self.spec.row.form, self.spec.row.sums, (pair[0][0], pair[1][0]), (pair[0][1], pair[1][1]))
            self.finished[event.result.number] = found.lse, found.output
            self.factors[event.result.number] = event.factors

    def event(self) -> Made | None:
        event: Worked | Merged | None = self.moment.event
        if event is None:
            return None
        result, valued = event.result, bool(self.spec.width)
        if isinstance(event, Worked):
            return Made(
                "worker", result.number, (result.number,), result.kept.m, from_=result.first, to=result.last, scores=tuple(event.scores),
                values=tuple(map(self._bare, event.values)) if valued else None, rescales=event.rescales,
            )  # fmt: skip
        pair = event.pair
        return Made(
            "merge", result.number, tuple(one.number for one in pair), result.kept.m, m_old=tuple(one.kept.m for one in pair),
            factors=event.factors, l_old=tuple(one.kept.l for one in pair), l_rescaled=tuple(event.l_rescaled),
            acc_old=tuple(self._bare(one.kept.acc) for one in pair) if valued else None,
            acc_rescaled=tuple(map(self._bare, event.acc_rescaled)) if valued else None, empty=tuple(one.empty for one in pair),
            by_lse=self._by_lse(pair), mixed_bases=self._mixed_bases(pair),
        )  # fmt: skip

    def state(self) -> Row:
        waiting = {one.number for one in self.moment.state.waiting}
        parts = tuple(
            Part(
                *self._result(one.kept), one.number, tuple(one.of), one.first, one.last, one.number in waiting, self.factors.get(one.number)
            )
            for one in self.made
        )
        exact = Exact(self.exact.m, self.exact.l, self.exact.lse, self._shaped(self.exact.output))
        spans, plan = tuple(map(tuple, self.spec.spans)), tuple(map(tuple, self.spec.plan))
        if not self._done:
            return Row(spans, plan, parts, exact)
        last = self.made[-1].kept
        lse, output = self.finished[self.made[-1].number]
        return Row(spans, plan, parts, exact, *self._result(last), Finished(lse, self._shaped(output)), self._unsplit, self._off(last))

    def words(self) -> dict[str, str]:
        """Each number's arithmetic, and at the end how far rounding carried the result."""
        told = words.lines(self.spec, self.moment) | {"moved": "", "by_lse": "", "typed": self.typed}
        if self._done:
            what, alone = "output" if self.spec.width else "lse", self._unsplit
            last = Result(*self._result(self.made[-1].kept))
            off = [Error(**vars(errors.of(what))) for errors in (self._off(self.made[-1].kept), alone.error)]
            if math.isfinite(self.exact.lse) and all(map(math.isfinite, self.exact.output)) and math.isfinite(off[0].ulps + off[1].ulps):
                told["moved"] = words.moved(self.spec, off[0], off[1], getattr(last, what) == getattr(alone, what))
            if self.spec.width:
                kept = online.output(self.spec.row, self.made[-1].kept)
                told["by_lse"] = words.both_ways(self.spec, kept, self.finished[self.made[-1].number][1])
        return told

    @property
    def _done(self) -> bool:
        return len(self.made) == 2 * len(self.spec.spans) - 1

    def _result(self, kept: online.State) -> tuple[float, float, float, float, Values | None, Values | None]:
        row = self.spec.row
        lse = online.lse(row, kept)
        return kept.m, kept.l, lse, base_2(row.sums, lse), self._shaped(kept.acc), self._shaped(online.output(row, kept))

    def _by_lse(self, pair: tuple[Partial, Partial]) -> ByLse:
        """Two results merged by lse."""
        found = self._merged([self.finished[one.number] for one in pair])
        return ByLse(tuple(found.weights), found.lse, self._shaped(found.output))

    def _mixed_bases(self, pair: tuple[Partial, Partial]) -> MixedBases:
        """The same, their base-2 lse taken for natural ones."""
        finished = [self.finished[one.number] for one in pair]
        found = self._merged([(base_2(self.spec.row.sums, lse), output) for lse, output in finished])
        return MixedBases(tuple(found.weights), self._shaped(found.output))

    def _merged(self, pair: Sequence[tuple[float, tuple[float, ...]]]) -> Any:
        return by_lse(self.spec.row.form, self.spec.row.sums, (pair[0][0], pair[1][0]), (pair[0][1], pair[1][1]))

    @cached_property
    def _unsplit(self) -> Unsplit:
        row = self.spec.row
        alone = online.start(row)
        for _ in range(online.steps(row)):
            alone = online.step(row, alone)
        return Unsplit(*self._result(alone), self._off(alone))

    def _off(self, kept: online.State) -> Errors:
        row, exact = self.spec.row, self.exact
        output = error(row.form, online.output(row, kept), exact.output) if self.spec.width else None
        l, lse = error(row.sums, [kept.l], [exact.l]), error(row.sums, [online.lse(row, kept)], [exact.lse])
        return Errors(Off(**vars(l)), Off(**vars(lse)), Off(**vars(output)) if output else None)

    def _shaped(self, row: tuple[float, ...]) -> Values | None:
        return self._bare(row) if self.spec.width else None

    def _bare(self, row: tuple[float, ...]) -> Values:
        values = self.spec.values
        return row[0] if values is not None and not isinstance(values[0], Sequence) else row
