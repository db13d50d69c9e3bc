"""softmax-passes, looked at: which pass, what was kept after each read, and the shares written so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.machines.fields import SCORES_ON_PAGE
from app.machines.passes import METHODS, Reading, Spec, start
from app.machines.run import Moment
from app.stories.passes import words
from app.stories.wire_types import Number, Told


@dataclass(frozen=True)
class Read(Told):
    """What the step just made did. `kind` is start at step 0, where the rest is absent."""

    kind: Literal["start", "read"]
    """what was done"""
    pass_: int
    """which pass over the scores, from 1"""
    indices: Sequence[int]
    """which scores this step read: their places, from 0"""
    op: str
    """what the pass does: max finds the highest, sum adds sizes, both does both at once, share writes shares"""
    scores: tuple[Number, ...]
    """the scores as read, rounded"""
    results: tuple[Number, ...]
    """one for each score: itself (max), its size (sum, both) or its share (share)"""


@dataclass(frozen=True)
class Known(Told):
    """What is kept after a block."""

    m: Number | None = None
    """the highest score so far"""
    l: Number | None = None
    """the sum of sizes so far"""


@dataclass(frozen=True)
class Progress(Known):
    """What is kept, which pass is under way, and the shares written so far."""

    pass_: int = 0
    """the pass of the step just made; 0 before any"""
    passes: int = 0
    """how many passes the method makes"""
    accesses: Number | None = None
    """numbers read and written so far, for each score of the row"""
    kept: tuple[tuple[Known, ...], ...] | None = None
    """what was kept after each read, for each pass begun that keeps something new; only of a row that fits on a page"""
    shares: tuple[Number, ...] | None = None
    """the shares written so far"""


class PassesView:
    """Gathers the shares that the machine has written away."""

    form_name, event_type, state_type = "Passes", Read, Progress

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.written: list[float] = []
        self.kept: list[list[Known]] = []
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
            self.kept[-1].append(Known(event.after.m, event.after.l))

    def event(self) -> Read | None:
        event: Reading | None = self.moment.event
        if event is None:
            return None
        return Read("read", event.pass_ + 1, range(event.first, event.first + len(event.scores)), event.op, event.scores, event.results)

    def state(self) -> Progress:
        state, event, cost = self.moment.state, self.moment.event, self.moment.ledger
        return Progress(
            state.m,
            state.l,
            event.pass_ + 1 if event else 0,
            len(METHODS[self.spec.method]),
            (cost.reads + cost.writes) / len(self.spec.scores) if event else None,
            tuple(map(tuple, self.kept)) or None,
            tuple(self.written) or None,
        )

    def words(self) -> dict[str, str]:
        return words.lines(self.spec, self.state_before, self.moment)
