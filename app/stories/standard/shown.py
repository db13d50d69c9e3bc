"""Standard attention, looked at: the two tables it stores, and the output."""

from typing import Any

from app.machines.attention import Inputs
from app.machines.run import Moment
from app.machines.standard import KINDS, State
from app.stories.attention import REFERENCE, reference, table
from app.stories.forms import event_of, object_of

EVENT = event_of(["start", *KINDS])
STATE = object_of(
    "What lies in slow memory.",
    ("s", "p", "output"),
    s=table("the scores, n_q rows of n_k; -Infinity where masked"),
    p=table("the shares, n_q rows of n_k"),
    output=table("n_q rows of d_v"),
    reference=REFERENCE,
)


class StandardView:
    """The machine keeps everything, so there is nothing to remember but the reference."""

    form_name, event_form, state_form = "Standard", EVENT, STATE

    def __init__(self, spec: Inputs) -> None:
        self.reference = reference(spec)

    def see(self, moment: Moment) -> None:
        self.moment = moment

    def event(self) -> dict[str, Any]:
        return {"kind": self.moment.event.kind if self.moment.event else "start"}

    def state(self) -> dict[str, Any]:
        state: State = self.moment.state
        parts = (("s", state.s), ("p", state.p), ("output", state.output))
        return {name: part.tolist() for name, part in parts if part is not None} | {"reference": self.reference}

    def words(self) -> dict[str, str]:
        return {}
