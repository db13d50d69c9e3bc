"""The wire form, version 1: what a state looks like to whoever draws it.

A machine keeps only what its algorithm keeps. Here, and only here, is what is for looking at: the scores it has
forgotten, shares, the old way, the reference. tests/api holds the names below as a contract.
"""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Protocol

from app import captions
from app.machines.run import Machine, Moment, moments
from app.numbers import wire
from app.snapshots.division import DivisionView
from app.snapshots.forms import Schema
from app.snapshots.merge import MergeView
from app.snapshots.online import OnlineView
from app.snapshots.passes import PassesView
from app.snapshots.standard import StandardView
from app.snapshots.tiled import TiledView
from app.specs import fields_of, fits, query

VERSION = 1
MAX_COUNT = 64
MAX_BYTES = 2_000_000


class View(Protocol):
    """What one machine's run looks like. `see` is shown every moment in order; event and state describe the last one.

    form_name, event_form, state_form   how the OpenAPI document calls and describes it
    """

    form_name: str
    event_form: Schema
    state_form: Schema

    def __init__(self, spec: Any) -> None: ...
    def see(self, moment: Moment) -> None: ...
    def event(self) -> dict[str, Any]: ...
    def state(self) -> dict[str, Any]: ...
    def words(self) -> dict[str, str]: ...


VIEWS: dict[str, type[View]] = {
    "online-softmax": OnlineView,
    "softmax-passes": PassesView,
    "division-order": DivisionView,
    "merge": MergeView,
    "tiled-attention": TiledView,
    "standard-attention": StandardView,
}
WIDGETS = {"online-softmax", "softmax-passes", "division-order", "tiled-attention", "merge"}  # machines that have a page and a picture
PAGES = WIDGETS | {"memory-traffic"}  # and pages that show several machines


class NoSuchStep(LookupError):
    """A step past the end."""

    def __init__(self, step: int, steps: int) -> None:
        super().__init__(f"there is no step {step}: this run has steps 0 to {steps}.")
        self.step, self.steps = step, steps

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSuchStep, (self.step, self.steps)


def snapshot(machine: Machine, spec: Any, step: int) -> dict[str, Any]:
    """The snapshot at one step; NoSuchStep past the end.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> shot = snapshot(online, online.spec(scores=(1.0, 3.0)), 2)
    >>> shot["event"]["new_max"], shot["state"]["m"], round(shot["state"]["l"], 3), shot["links"]["self"]
    (True, 3.0, 1.135, 'api/v1/machines/online-softmax/snapshots/2?scores=1,3&format=float32')
    """
    return next(snapshots(machine, spec, step))


def snapshots(machine: Machine, spec: Any, start: int = 0, only: Collection[int] | None = None) -> Iterator[dict[str, Any]]:
    """Snapshots from step `start` on, or of these of them alone, each made when asked for."""
    steps = machine.steps(spec)
    if start > steps:
        raise NoSuchStep(start, steps)
    view = VIEWS[machine.name](spec)
    told = wire(fields_of(machine, spec))
    for moment in moments(machine, spec):
        view.see(moment)
        if moment.step >= start and (only is None or moment.step in only):
            yield _envelope(machine, spec, told, moment, view, steps)


def run(machine: Machine, spec: Any, start: int, count: int, most_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """A run of snapshots: at most `count`, and fewer where `most_bytes` of JSON run out; never none.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> part = run(online, online.spec(scores=(1.0, 3.0, 2.0)), 1, 2)
    >>> part["steps"], part["start"], part["count"], [shot["step"] for shot in part["snapshots"]]
    (3, 1, 2, [1, 2])
    """
    shots: list[dict[str, Any]] = []
    size = 0
    for shot in islice(snapshots(machine, spec, start), count):
        size += len(encode(shot)) + 1
        if shots and size > most_bytes - 200:  # 200: the run's own braces and names
            break
        shots.append(shot)
    return {"steps": machine.steps(spec), "start": start, "count": len(shots), "snapshots": shots}


def encode(answer: Any) -> bytes:
    """JSON bytes. Anything but a finite number, a string, a list or an object in it is a mistake of ours, so it raises."""
    return json.dumps(answer, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def links(machine: Machine, spec: Any, step: int) -> dict[str, str]:
    """Where this state lives, relative to the site's root. A run too long for a page has only its own address."""
    here = query(machine, spec)
    found = {"self": f"api/v1/machines/{machine.name}/snapshots/{step}?{here}"}
    if fits(machine, spec, "page"):
        for name in link_names(machine)[1:]:
            found[name] = f"{_PLACES[name].format(machine.name)}?{here}&step={step}"
    return found


def link_names(machine: Machine) -> list[str]:
    """Which links a state of this machine has."""
    return ["self", *(["page", "embed", "svg", "png"] if machine.name in WIDGETS else [])]


_PLACES = {"page": "widgets/{}", "embed": "embed/{}", "svg": "figures/{}.svg", "png": "figures/{}.png"}


def _envelope(machine: Machine, spec: Any, told: dict[str, Any], moment: Moment, view: View, steps: int) -> dict[str, Any]:
    sentence = captions.SENTENCES[machine.name]
    cost = moment.ledger
    return {
        "machine": machine.name,
        "version": VERSION,
        "spec": told,
        "step": moment.step,
        "steps": steps,
        "done": moment.step == steps,
        "event": wire(view.event()),
        "state": wire(view.state()),
        "ledger": {
            "reads": cost.reads, "writes": cost.writes, "kept": cost.kept,
            "ops": {"mul": cost.mul, "add": cost.add, "exp": cost.exp, "div": cost.div, "max": cost.max},
        },
        "caption": sentence(captions.WRITTEN, spec, moment),
        "spoken": sentence(captions.SPOKEN, spec, moment),
        "words": view.words(),
        "links": links(machine, spec, moment.step),
    }  # fmt: skip
