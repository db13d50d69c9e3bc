"""How much work a request is, in numbers touched, and where it is done.

Work is estimated from the spec before anything is computed. One number touched takes about a microsecond, so the
estimate also says where a request is answered: at once, in a thread beside the event loop, or in a process of its own.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.http.pool import beside, slowly
from app.machines.run import Machine
from app.runs import spec_of
from app.snapshot import MAX_BYTES, MAX_COUNT
from app.specs import LAST_STEP, Fault, SpecError, whole
from app.stories import BY_NAME

AT_ONCE = 4_000  # numbers touched, up to which an answer is made on the event loop
BESIDE = 60_000  # and up to which in the thread beside it

T = TypeVar("T")

_SHOWN = 400  # what a snapshot costs beside its numbers


def work(machine: Machine, spec: Any, last: int, count: int = 1) -> int:
    """About how many numbers are touched to run up to step `last` and to show `count` snapshots of that run.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> work(online, online.spec(scores=(1.0, 3.0, 2.0)), 3)
    666
    >>> tiled = MACHINES["tiled-attention"]
    >>> whole = tiled.spec(q=[[1.0] * 64] * 256, k=[[1.0] * 64] * 256, v=[[1.0] * 64] * 256)
    >>> work(tiled, whole, tiled.steps(whole)) > 16_000_000
    True
    """
    load = BY_NAME[machine.name].load(spec)
    shown = min(count * load.shown, MAX_BYTES // 4)
    return math.ceil(last / max(1, machine.steps(spec)) * load.touched) + last * load.step + (count - 1) * _SHOWN + int(shown)


def takes_long(machine: Machine, given: Mapping[str, Any]) -> bool:
    """Whether a page of this query takes so long to make that others would notice.

    >>> from app.machines import MACHINES
    >>> takes_long(MACHINES["online-softmax"], {})
    False
    >>> takes_long(MACHINES["tiled-attention"], {"seed": "1", "n_q": "64", "n_k": "64", "d": "8", "d_v": "8", "step": "900"})
    True
    """
    try:
        spec = spec_of(machine, given)
        step = whole("step", given.get("step"), 0, LAST_STEP, 0)
    except SpecError:
        return False
    steps = machine.steps(spec)
    return BY_NAME[machine.name].load(spec).page + work(machine, spec, min(steps, step + MAX_COUNT), min(MAX_COUNT, steps)) > BESIDE


async def made(machine: Machine, given: Mapping[str, Any], make: Callable[[], T]) -> T:
    """What `make` gives for a page of this query, made off the event loop, and apart from the others where it takes long. Raises Busy.

    >>> import asyncio
    >>> from app.machines import MACHINES
    >>> asyncio.run(made(MACHINES["online-softmax"], {}, lambda: 3))
    3
    """
    found = await beside(lambda: None if takes_long(machine, given) else (make(),))
    return await slowly(make) if found is None else found[0]


class Budget:
    """How much work one request may be."""

    def __init__(self, most: int) -> None:
        self.most = most

    def weigh(self, machine: Machine, spec: Any, last: int, count: int = 1) -> int:
        """The work of a request; SpecError where it is too much."""
        found = work(machine, spec, last, count)
        if found > self.most:
            name = next(one.name for one in machine.fields if one.data)
            message = (
                f"{name}: running to step {last:,} of this would touch about {found:,} numbers, and one request may touch {self.most:,}; "
                "give fewer numbers, larger blocks or an earlier step."
            )
            raise SpecError([Fault("too_much_work", message, name, found, {"most": self.most})])
        return found
