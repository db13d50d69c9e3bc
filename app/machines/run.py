"""What every machine has in common, and running one from its start."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.machines.arithmetic import Ledger
from app.machines.fields import Field, Problem


@dataclass(frozen=True)
class Machine:
    """A machine's parts, so that the rest of the site can treat them all alike.

    start(spec) → State; advance(spec, state) → an event that carries every intermediate, `after` (the new State) and
    `cost` (a Ledger); steps(spec) → how many steps there are. problems(values) → what is wrong with fields that are
    each right alone; given(spec) → the fields that a spec is written with, by name.
    """

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]
    spec: Callable[..., Any]
    start: Callable[[Any], Any]
    advance: Callable[[Any, Any], Any]
    steps: Callable[[Any], int]
    problems: Callable[[Mapping[str, Any]], Iterable[Problem]] = lambda values: ()
    given: Callable[[Any], Mapping[str, Any]] = vars


@dataclass(frozen=True)
class Moment:
    """One point of a run: the step's number, what it did (None before the first), the state and the cost so far."""

    step: int
    event: Any
    state: Any
    ledger: Ledger


def moments(machine: Machine, spec: Any) -> Iterator[Moment]:
    """Every point of a run, from step 0, where nothing has been read, to the end.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> [moment.state.m for moment in moments(online, online.spec(scores=(1.0, 3.0, 2.0)))]
    [-inf, 1.0, 3.0, 3.0]
    """
    moment = Moment(0, None, machine.start(spec), Ledger())
    yield moment
    for step in range(1, machine.steps(spec) + 1):
        event = machine.advance(spec, moment.state)
        moment = Moment(step, event, event.after, moment.ledger + event.cost)
        yield moment
