"""softmax-passes, looked at: which pass, what is kept, and the shares written so far."""

from typing import Any

from app.machines.passes import METHODS, Reading, Spec
from app.machines.run import Moment


class PassesView:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.written: list[float] = []

    def see(self, moment: Moment) -> None:
        self.moment = moment
        event: Reading | None = moment.event
        if event is not None and event.op == "share":
            self.written += event.results

    def event(self) -> dict[str, Any]:
        event: Reading | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        told = {"kind": "read", "pass": event.pass_ + 1, "indices": list(range(event.first, event.first + len(event.scores))), "op": event.op}
        return told | {"scores": event.scores, "results": event.results}

    def state(self) -> dict[str, Any]:
        state, event = self.moment.state, self.moment.event
        told = {name: value for name, value in (("m", state.m), ("l", state.l)) if value is not None}
        told |= {"pass": event.pass_ + 1 if event else 0, "passes": len(METHODS[self.spec.method])}
        if self.written:
            told["shares"] = list(self.written)
        return told

    def words(self) -> dict[str, str]:
        return {}
