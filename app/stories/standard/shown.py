"""Standard attention, looked at: the two tables it stores, and the output."""

from typing import Any

from app.machines import first_bad
from app.machines.attention import Inputs
from app.machines.first_bad import Bad
from app.machines.run import Moment
from app.machines.standard import KINDS, Event, State
from app.stories.attention import ERROR, REFERENCE, compared, errors, reference, table
from app.stories.bad import FIRST_BAD, aside, sent
from app.stories.forms import event_of, object_of
from app.stories.voice import Voice

EVENT = event_of(
    ["start", *KINDS],
    p=table("softmax: the shares before they are cast; where p_format is another format than accumulate"),
    first_bad=FIRST_BAD,
    p_cast=table("softmax: the shares as they meet V, cast to p_format; where that is another format than accumulate"),
)
STATE = object_of(
    "What lies in slow memory.",
    ("s", "p", "output", "error"),
    s=table("the scores, n_q rows of n_k; -Infinity where masked"),
    p=table("the shares, n_q rows of n_k, in p_format"),
    output=table("n_q rows of d_v"),
    first_bad=FIRST_BAD,
    error=ERROR,
    reference=REFERENCE,
)


class StandardView:
    """The machine keeps everything, so there is nothing to remember but the reference."""

    form_name, event_form, state_form = "Standard", EVENT, STATE

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

    def event(self) -> dict[str, Any]:
        event: Event | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        told: dict[str, Any] = {"kind": event.kind, "first_bad": sent(self._found)}
        if event.shares is not None and self.spec.p_format != self.spec.accumulate:
            told |= {"p": event.shares.tolist(), "p_cast": event.after.p.tolist()}  # type: ignore[union-attr]
        return told

    def state(self) -> dict[str, Any]:
        state: State = self.moment.state
        parts = (("s", state.s), ("p", state.p), ("output", state.output))
        told: dict[str, Any] = {name: part.tolist() for name, part in parts if part is not None}
        told["first_bad"] = sent(self._found)
        return told | ({"error": self._off()} if state.output is not None else {}) | {"reference": self.reference}

    def words(self) -> dict[str, str]:
        return compared(self.spec, self.reference, self._off())

    def _off(self) -> dict[str, Any] | None:
        output = self.moment.state.output
        return None if output is None else errors(self.spec, output, self.reference)
