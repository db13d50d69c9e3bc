"""The wire form, version 1: what a state looks like to whoever draws it.

A machine keeps only what its algorithm keeps. Here, and only here, is what is for looking at: the scores it has
forgotten, shares, the old way, the reference. tests/api holds the names below as a contract.
"""

import json
from dataclasses import dataclass
from typing import Any

from app.machines.run import Machine
from app.numbers import wire
from app.specs import Fault, NotFound, fields_of, fits, query
from app.stories import PAGES
from app.stories.record import Shot

VERSION = 1
MAX_COUNT = 64
MAX_BYTES = 2_000_000


class NoSuchStep(NotFound):
    """A step past the end."""

    def __init__(self, step: int, steps: int) -> None:
        message = f"step {step} is past the end: this run has steps 0 to {steps}."
        super().__init__(Fault("no_such_step", message, "step", step, {"least": 0, "most": steps}))
        self.step, self.steps = step, steps

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSuchStep, (self.step, self.steps)


def encode(answer: Any) -> bytes:
    """JSON bytes. Anything but a finite number, a string, a list or an object in it is a mistake of ours, so it raises."""
    return json.dumps(answer, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Told:
    """What all snapshots of a run say alike: the spec as it is sent, the query that names it, and whether it fits on a page."""

    spec: dict[str, Any]
    query: str
    fits: bool


def told_of(machine: Machine, spec: Any) -> Told:
    return Told(wire(fields_of(machine, spec)), query(machine, spec), fits(machine, spec, "page"))


def links(machine: Machine, spec: Any, step: int, told: Told | None = None) -> dict[str, str]:
    """Where this state lives, relative to the site's root. A run too long for a page has only its own address."""
    told = told or told_of(machine, spec)
    found = {"self": f"api/v1/machines/{machine.name}/snapshots/{step}?{told.query}"}
    if told.fits and machine.name in PAGES:
        found |= {name: f"{place.format(machine.name)}?{told.query}&step={step}" for name, place in _PLACES.items()}
    return found


def link_names(machine: Machine) -> list[str]:
    """Which links a state of this machine has."""
    return ["self", *(_PLACES if machine.name in PAGES else ())]


_PLACES = {"page": "widgets/{}", "embed": "embed/{}", "svg": "figures/{}.svg", "png": "figures/{}.png"}


def wire_of(shot: Shot[Any, Any, Any], told: Told | None = None) -> dict[str, Any]:
    """A state as it is sent; `told`: what its run says at every step, where that is known already."""
    machine, cost = shot.machine, shot.ledger
    told = told or told_of(machine, shot.spec)
    return {
        "machine": machine.name,
        "version": VERSION,
        "spec": told.spec,
        "step": shot.step,
        "steps": shot.steps,
        "done": shot.done,
        "event": {"kind": "start"} if shot.event is None else wire(shot.event),
        "state": wire(shot.state),
        "ledger": {
            "reads": cost.reads, "writes": cost.writes, "kept": cost.kept,
            "ops": {"mul": cost.mul, "add": cost.add, "exp": cost.exp, "div": cost.div, "max": cost.max},
        },
        "caption": shot.caption,
        "spoken": shot.spoken,
        "words": shot.words,
        "links": links(machine, shot.spec, shot.step, told),
    }  # fmt: skip
