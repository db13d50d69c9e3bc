"""Division first or last, looked at: both ways side by side."""

from collections.abc import Sequence
from typing import Any

from app.machines import reference
from app.machines.division import KINDS, Spec, State
from app.machines.online import MASKED
from app.machines.run import Moment
from app.stories.division import words
from app.stories.forms import event_of, list_of, number, object_of, ref, shaped

EVENT = event_of(["start", *KINDS])
STATE = object_of(
    "Both ways so far.",
    ("m", "l", "exponentials", "output"),
    m=number("the highest score"),
    l=number("the sum of exponentials"),
    exponentials=list_of(ref("Number"), "exp(score − m)"),
    first=object_of(
        "Shares first.", ("shares", "output"), shares=list_of(ref("Number"), "exponential / l"), output=shaped("the sum of share · value")
    ),
    last=object_of(
        "Division last.",
        ("weighted_sum", "output"),
        weighted_sum=shaped("the sum of exponential · value"),
        output=shaped("weighted_sum / l"),
    ),
    output=shaped("the output, when both are done: the last way's"),
    reference=object_of(
        "The float64 answer.", l=number("the sum of exponentials"), output=shaped("the average"), shares=list_of(ref("Number"), "softmax")
    ),
)


class DivisionView:
    """Names for what exists so far."""

    form_name, event_form, state_form = "Division", EVENT, STATE

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        scores = [MASKED if x == MASKED else spec.form.round(x) for x in spec.scores]
        self.exact = reference.softmax(scores, spec.rows)

    def see(self, moment: Moment) -> None:
        self.moment = moment

    def event(self) -> dict[str, Any]:
        return {"kind": self.moment.event.kind if self.moment.event else "start"}

    def state(self) -> dict[str, Any]:
        state: State = self.moment.state
        told: dict[str, Any] = {"m": state.m, "l": state.l, "exponentials": state.exponentials} if state.step else {}
        first: dict[str, Any] = {"shares": state.shares} if state.shares else {}
        if state.first:
            first["output"] = self._shaped(state.first)
        last: dict[str, Any] = {"weighted_sum": self._shaped(state.weighted)} if state.weighted else {}
        if state.last:
            last["output"] = told["output"] = self._shaped(state.last)
        exact = {"l": self.exact.l, "output": self._shaped(self.exact.output), "shares": self.exact.shares}
        return told | {"first": first, "last": last, "reference": exact}

    def words(self) -> dict[str, str]:
        return words.lines(self.spec, self.moment.state)

    def _shaped(self, row: tuple[float, ...]) -> Any:
        return row if isinstance(self.spec.values[0], Sequence) else row[0]
