"""Division first or last, looked at: both ways side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.machines import reference
from app.machines.division import Spec, State
from app.machines.online import MASKED
from app.machines.run import Moment
from app.stories.division import words
from app.stories.stored import moved_by_storing
from app.stories.wire_types import Number, Shaped, Told

Values = float | tuple[float, ...]


@dataclass(frozen=True)
class Made(Told):
    """What the step just made did."""

    kind: Literal["start", "exponentials", "shares", "weigh", "divide"]
    """what was computed"""


@dataclass(frozen=True)
class First(Told):
    """Shares first."""

    shares: tuple[Number, ...] | None = None
    """exponential / l"""
    output: Shaped | None = None
    """the sum of share · value"""


@dataclass(frozen=True)
class Last(Told):
    """Division last."""

    weighted_sum: Shaped | None = None
    """the sum of exponential · value"""
    output: Shaped | None = None
    """weighted_sum / l"""


@dataclass(frozen=True)
class Exact(Told):
    """The float64 answer."""

    l: Number
    """the sum of exponentials"""
    output: Shaped
    """the average"""
    shares: tuple[Number, ...]
    """softmax"""


@dataclass(frozen=True)
class Both(Told):
    """Both ways so far."""

    first: First
    """shares first"""
    last: Last
    """division last"""
    reference: Exact
    """the float64 answer"""
    m: Number | None = None
    """the highest score"""
    l: Number | None = None
    """the sum of exponentials"""
    exponentials: tuple[Number, ...] | None = None
    """exp(score − m)"""
    output: Shaped | None = None
    """the output, when both are done: the last way's"""


class DivisionView:
    """Names for what exists so far."""

    form_name, event_type, state_type = "Division", Made, Both

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        scores = [MASKED if x == MASKED else spec.form.round(x) for x in spec.scores]
        exact = reference.softmax(scores, spec.rows)
        typed = [tuple(row) if isinstance(row, Sequence) else (row,) for row in spec.values]
        self.typed = moved_by_storing(spec.format, reference.softmax(spec.scores, typed), exact)
        output = exact.output if isinstance(spec.values[0], Sequence) else exact.output[0]
        self.exact = Exact(exact.l, output, tuple(exact.shares))

    def see(self, moment: Moment) -> None:
        self.moment = moment

    def event(self) -> Made | None:
        return Made(self.moment.event.kind) if self.moment.event else None

    def state(self) -> Both:
        state: State = self.moment.state
        begun = state.step > 0
        last = self._shaped(state.last)
        return Both(
            First(state.shares or None, self._shaped(state.first)),
            Last(self._shaped(state.weighted), last),
            self.exact,
            state.m if begun else None,
            state.l if begun else None,
            state.exponentials if begun else None,
            last,
        )

    def words(self) -> dict[str, str]:
        return words.lines(self.spec, self.moment.state) | {"typed": self.typed}

    def _shaped(self, row: tuple[float, ...]) -> Values | None:
        if not row:
            return None
        return row if isinstance(self.spec.values[0], Sequence) else row[0]
