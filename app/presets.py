"""Starting points, each with one line on what to look for."""

import math
from dataclasses import dataclass
from typing import Any

from app.machines import MACHINES
from app.specs import text


@dataclass(frozen=True)
class Preset:
    machine: str
    name: str
    title: str
    look_for: str
    given: dict[str, Any]

    @property
    def spec(self) -> Any:
        return MACHINES[self.machine].spec(**self.given)


def _scores(*scores: float) -> tuple[float, ...]:
    return tuple(map(float, scores))


_NONE = -math.inf
_ONLINE: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Eight scores", "Two new highest scores: all bars shrink together, and the sum falls from one step to the next.",
     {"scores": _scores(6, 5, 7, 6, 7, 9, 8, 6)}),
    ("values", "Five scores with values", "The same factor shrinks the sum and the weighted sum, so their ratio, the output, stays an average.",
     {"scores": _scores(1, 3, 2, 5, 4), "values": _scores(10, 20, 30, 40, 50)}),
    ("vectors", "Vector values, two at a time", "Each block adds to ℓ and to every element of acc; the middle block leaves the highest alone.",
     {"scores": _scores(1, 2, 0, 1, 3, 2), "values": ((2.0, 0.0), (0.0, 2.0), (1.0, 1.0), (2.0, 0.0), (0.0, 2.0), (1.0, 1.0)), "block": 2}),
    ("rising", "Rising", "Every score is a new highest: each step but the first rescales.", {"scores": _scores(1, 2, 3, 4, 5, 6)}),
    ("falling", "Falling", "The first score stays the highest: nothing is ever rescaled.", {"scores": _scores(6, 5, 4, 3, 2, 1)}),
    ("equal", "All equal", "Every size is 1, every factor is 1, and every share is the same.", {"scores": _scores(2.5, 2.5, 2.5, 2.5, 2.5)}),
    ("thousand", "1000, 1001, 1002", "The old way gives NaN at once; the online way does not notice how large the scores are.",
     {"scores": _scores(1000, 1001, 1002)}),
    ("masked-block", "A masked first block", "Nothing live has come, so m stays at minus infinity: a guard keeps infinity minus infinity from being formed.",
     {"scores": _scores(_NONE, _NONE, 1, 2), "values": _scores(1, 2, 3, 4), "block": 2}),
    ("nothing-live", "Nothing live", "No score to share out: attention answers 0, a bare softmax answers NaN.",
     {"scores": _scores(_NONE, _NONE, _NONE), "values": _scores(1, 2, 4)}),
    ("stall", "A sum that stalls", "In bfloat16 each small size is rounded away as it is added: the sum stays at 1, well below the exact one.",
     {"scores": _scores(6, *[0] * 39), "format": "bfloat16"}),
    ("quiet-zero", "A sum that overflows", "No exponential overflows, but their sum does: in the old way every share is a quiet 0.",
     {"scores": _scores(10.5, 10.5), "format": "float16"}),
]  # fmt: skip

PRESETS: dict[str, tuple[Preset, ...]] = {"online-softmax": tuple(Preset("online-softmax", *row) for row in _ONLINE)}


def default_data(machine: str) -> dict[str, str]:
    """The data a page or a figure shows where its URL gives none.

    >>> default_data("online-softmax")
    {'scores': '6,5,7,6,7,9,8,6'}
    """
    return {name: text(value) for name, value in PRESETS[machine][0].given.items()}
