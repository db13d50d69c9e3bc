"""How far attention ends from float64: by block size, format, order and algorithm, and the standard way in the same format.

The comparison that answers "is the tiled way less exact?": both ways in the same formats, both measured from float64 on the same rounded inputs.
A tiled result laid beside a standard one of the same format shows only that they differ, not which is nearer.
"""

import random
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from app.machines import standard, tiled
from app.machines.attention import Inputs
from app.machines.formats import Array
from app.machines.run import Machine, moments

ROWS, KEYS, WIDTH, SEED = 32, 128, 16, 6
BLOCKS = (4, 8, 16, 32, 64, 128)
KINDS = {  # what is drawn as one line: algorithm and order
    "fa2": ("fa2", "left"),
    "fa2 from the right": ("fa2", "right"),
    "fa1": ("fa1", "left"),
}
FORMATS = {  # format, and that of scores, sums and acc
    "float32": ("float32", "float32"),
    "float16": ("float16", "float16"),
    "float16, sums in float32": ("float16", "float32"),
    "bfloat16": ("bfloat16", "bfloat16"),
    "bfloat16, sums in float32": ("bfloat16", "float32"),
}


@dataclass(frozen=True)
class Distances:
    """The largest difference from float64 in one choice of formats: of the standard way, and of each kind at each block size."""

    name: str
    standard: float
    tiled: dict[str, tuple[float, ...]]

    @property
    def farthest(self) -> float:
        return max(max(row) for row in self.tiled.values())


@lru_cache(maxsize=1)
def distances() -> tuple[Distances, ...]:
    """Every choice of formats, over the same seeded rows."""
    return tuple(distance(name, BLOCKS) for name in FORMATS)


def distance(name: str, blocks: tuple[int, ...]) -> Distances:
    """One choice of formats, at some block sizes.

    >>> found = distance("bfloat16, sums in float32", (32, 128))
    >>> 0 < found.standard < 0.01, [len(row) for row in found.tiled.values()]
    (True, [2, 2, 2])
    """
    short, sums = FORMATS[name]
    spec = inputs(short, sums)
    exact = output(standard.MACHINE, replace(spec, format="float64", compute=None, p_format=None, accumulate=None))
    shared = vars(spec)
    found = {
        kind: tuple(
            _far(output(tiled.MACHINE, tiled.Spec(**shared, block_q=ROWS, block_k=block, algorithm=algorithm, order=order)), exact)
            for block in blocks
        )
        for kind, (algorithm, order) in KINDS.items()
    }
    return Distances(name, _far(output(standard.MACHINE, spec), exact), found)


def inputs(short: str, sums: str) -> Inputs:
    """Seeded rows, uniform on [−2, 2], rounded to the format once, so that float64 starts from the same numbers."""
    draw = random.Random(SEED)  # noqa: S311 (numbers to look at, not secrets)
    q, k, v = (np.array([[4 * draw.random() - 2 for _ in range(WIDTH)] for _ in range(n)]) for n in (ROWS, KEYS, KEYS))
    spec = Inputs(q, k, v, format=short, compute=sums, accumulate=sums)
    form = spec.forms[0]
    return replace(spec, q=form.round_array(q), k=form.round_array(k), v=form.round_array(v))


def output(machine: Machine, spec: Inputs) -> Array:
    """The output of a whole run, in its format."""
    found = np.zeros((spec.n_q, spec.d_v))
    for moment in moments(machine, spec):
        event = moment.event
        if event is not None and event.kind == "normalise":
            found[event.rows] = event.parts["output"]
        elif event is not None and event.kind == "tile":
            found[event.rows] = spec.forms[0].round_array(event.now.acc)  # fa1's O; of fa2, until it is normalised
    return found if machine is tiled.MACHINE else np.asarray(moment.state.output)


def _far(output: Array, exact: Array) -> float:
    return float(np.abs(output - exact).max())
