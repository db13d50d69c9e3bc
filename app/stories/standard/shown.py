"""Standard attention, looked at: the two tables it stores, and the output."""

from dataclasses import dataclass

from app.machines import first_bad
from app.machines.attention import Inputs
from app.machines.first_bad import Bad
from app.machines.formats import Array
from app.machines.run import Moment
from app.machines.standard import Event, State
from app.stories.attention import Off, Reference, Table, compared, errors, reference
from app.stories.bad import BadStep, aside, sent
from app.stories.voice import Voice
from app.stories.wire_types import Told


@dataclass(frozen=True)
class Made(Told):
    """What the step just made did. `kind` is start at step 0, where the rest is absent."""

    kind: str
    """which table was made: start (none yet), scores, softmax or output"""
    first_bad: tuple[BadStep, ...]
    """for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met"""
    p: Table | None = None
    """softmax: the shares before they are cast; where p_format is another format than accumulate"""
    p_cast: Table | None = None
    """softmax: the shares as they meet V, cast to p_format; where that is another format than accumulate"""


@dataclass(frozen=True)
class Stored(Told):
    """What lies in slow memory."""

    first_bad: tuple[BadStep, ...]
    """for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met"""
    reference: Reference
    """the float64 answer"""
    s: Table | None = None
    """the scores, n_q rows of n_k; -Infinity where masked"""
    p: Table | None = None
    """the shares, n_q rows of n_k, in p_format"""
    output: Table | None = None
    """n_q rows of d_v"""
    error: Off | None = None
    """how far rounding carried the output"""


class StandardView:
    """The machine keeps everything, so there is nothing to remember but the reference."""

    form_name, event_type, state_type = "Standard", Made, Stored

    def __init__(self, spec: Inputs) -> None:
        self.spec, self.reference = spec, reference(spec)
        self.bad: list[list[tuple[int, Bad]]] = [[] for _ in range(spec.n_q)]

    def see(self, moment: Moment) -> None:
        self.moment = moment
        if moment.event is None:
            return
        known = [tuple(bad for _, bad in bads) for bads in self.bad]
        for bads, found in zip(self.bad, first_bad.in_table(self.spec, moment.event, known), strict=True):
            bads += [(moment.step, bad) for bad in found[len(bads) :]]

    def aside(self, voice: Voice) -> str:
        return aside(voice, self._found, self.moment.step)

    @property
    def _found(self) -> dict[int, list[tuple[int, Bad]]]:
        return {row: bads for row, bads in enumerate(self.bad) if bads}

    def event(self) -> Made | None:
        event: Event | None = self.moment.event
        if event is None:
            return None
        cast = event.shares is not None and event.after.p is not None and self.spec.p_format != self.spec.accumulate
        tables = (_listed(event.shares), _listed(event.after.p)) if cast else (None, None)
        return Made(event.kind, sent(self._found), *tables)

    def state(self) -> Stored:
        state: State = self.moment.state
        return Stored(sent(self._found), self.reference, _listed(state.s), _listed(state.p), _listed(state.output), self._off())

    def words(self) -> dict[str, str]:
        return compared(self.spec, self.reference, self._off())

    def _off(self) -> Off | None:
        output = self.moment.state.output
        return None if output is None else errors(self.spec, output, self.reference)


def _listed(part: Array | None) -> Table | None:
    return None if part is None else part.tolist()
