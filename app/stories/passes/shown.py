"""softmax-passes, looked at: which pass, what was kept after each read, and the shares written so far."""

from typing import Any

from app.machines.fields import SCORES_ON_PAGE
from app.machines.passes import METHODS, Reading, Spec, State, start
from app.machines.run import Moment
from app.stories.forms import INDICES, event_of, kind, list_of, number, object_of, ref
from app.stories.passes import words

EVENT = event_of(
    ["start", "read"],
    pass_=kind("integer", "which pass over the scores, from 1", minimum=1),
    indices=INDICES,
    op=kind(
        "string", "what the pass does: find the highest, sum sizes, both at once, or write shares", enum=["max", "sum", "both", "share"]
    ),
    scores=list_of(ref("Number"), "the scores as read, rounded"),
    results=list_of(ref("Number"), "one for each score: itself (max), its size (sum, both) or its share (share)"),
)
STATE = object_of(
    "What is kept, which pass is under way, and the shares written so far.",
    ("m", "l", "kept", "shares", "accesses"),
    m=number("the highest score so far"),
    l=number("the sum of sizes so far"),
    pass_=kind("integer", "the pass of the step just made; 0 before any", minimum=0),
    passes=kind("integer", "how many passes the method makes", minimum=1),
    kept=list_of(
        list_of(
            object_of("What is kept after a block.", ("m", "l"), m=number("the highest score so far"), l=number("the sum of sizes so far")),
            "one for each block that the pass has read",
        ),
        f"what was kept after each read, for each pass begun that keeps something new; of a row of up to {SCORES_ON_PAGE} scores",
    ),
    shares=list_of(ref("Number"), "the shares written so far"),
    accesses=number("numbers read and written so far, for each score of the row"),
)


class PassesView:
    """Gathers the shares that the machine has written away."""

    form_name, event_form, state_form = "Passes", EVENT, STATE

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.written: list[float] = []
        self.kept: list[list[dict[str, float]]] = []
        self.state_before = self.state_now = start(spec)

    def see(self, moment: Moment) -> None:
        self.moment = moment
        self.state_before, self.state_now = self.state_now, moment.state
        event: Reading | None = moment.event
        if event is None:
            return
        if event.op == "share":
            self.written += event.results
        elif len(self.spec.scores) <= SCORES_ON_PAGE:
            if event.first == 0:
                self.kept.append([])
            self.kept[-1].append(_known(event.after))

    def event(self) -> dict[str, Any]:
        event: Reading | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        told = {
            "kind": "read",
            "pass": event.pass_ + 1,
            "indices": list(range(event.first, event.first + len(event.scores))),
            "op": event.op,
        }
        return told | {"scores": event.scores, "results": event.results}

    def state(self) -> dict[str, Any]:
        state, event, cost = self.moment.state, self.moment.event, self.moment.ledger
        told: dict[str, Any] = _known(state) | {"pass": event.pass_ + 1 if event else 0, "passes": len(METHODS[self.spec.method])}
        if event:
            told["accesses"] = (cost.reads + cost.writes) / len(self.spec.scores)
        if self.kept:
            told["kept"] = [list(one) for one in self.kept]
        if self.written:
            told["shares"] = list(self.written)
        return told

    def words(self) -> dict[str, str]:
        return words.lines(self.spec, self.state_before, self.moment)


def _known(state: State) -> dict[str, float]:
    return {name: value for name, value in (("m", state.m), ("l", state.l)) if value is not None}
