"""The wire form, version 1: what a state looks like to whoever draws it.

A machine keeps only what its algorithm keeps. Here, and only here, is what is for looking at: the scores it has
forgotten, shares, the old way, the reference. tests/api holds the names below as a contract.
"""

import json
from typing import Any

from app.machines.run import Machine, Moment
from app.numbers import wire
from app.specs import fits, query
from app.stories import PAGES
from app.stories.record import View, Widget
from app.stories.voice import SPOKEN, WRITTEN

VERSION = 1
MAX_COUNT = 64
MAX_BYTES = 2_000_000


class NoSuchStep(LookupError):
    """A step past the end."""

    def __init__(self, step: int, steps: int) -> None:
        super().__init__(f"there is no step {step}: this run has steps 0 to {steps}.")
        self.step, self.steps = step, steps

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSuchStep, (self.step, self.steps)


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
    return ["self", *(["page", "embed", "svg", "png"] if machine.name in PAGES else [])]


_PLACES = {"page": "widgets/{}", "embed": "embed/{}", "svg": "figures/{}.svg", "png": "figures/{}.png"}


def envelope(widget: Widget, spec: Any, told: dict[str, Any], moment: Moment, view: View, steps: int) -> dict[str, Any]:
    """One moment as it is sent: `told` is the spec as it is sent, `view` has seen every moment up to this one."""
    machine, sentence, cost = widget.machine, widget.sentence, moment.ledger
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
        "caption": sentence(WRITTEN, spec, moment),
        "spoken": sentence(SPOKEN, spec, moment),
        "words": view.words(),
        "links": links(machine, spec, moment.step),
    }  # fmt: skip
