"""Starting points, each with one line on what to look for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.machines import MACHINES
from app.machines.run import Machine
from app.specs import known_version, parse, text


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

_Q, _K, _V = ((1.0, 0.0), (0.0, 1.0)), ((1.0, 2.0), (2.0, 1.0), (3.0, 0.0), (2.0, 1.0)), ((2.0, 0.0), (0.0, 2.0), (0.0, 2.0), (1.0, 1.0))
_SMALL: dict[str, Any] = {"q": _Q, "k": _K, "v": _V, "scale": 1.0}
_TILED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Two queries, four keys", "In the second tile one row is rescaled and the other is not: each has its own factor.", _SMALL),
    ("causal", "A causal mask, set in the bottom right corner", "The first query may not see the last key: that cell is masked, whatever it would score.",
     {**_SMALL, "causal": "bottom-right"}),
    ("skipped", "Tiles that are skipped", "Tiles above the diagonal are never loaded: they count no reads.",
     {"seed": 2, "n_q": 6, "n_k": 6, "d": 2, "d_v": 2, "causal": "top-left"}),
    ("ragged", "Ragged tails", "Seven keys in tiles of three: the last tile is narrower, and nothing pads it.",
     {"seed": 5, "n_q": 5, "n_k": 7, "d": 3, "d_v": 2, "block_q": 2, "block_k": 3}),
    ("half", "As FlashAttention does it", "Inputs and sizes in float16, sums in float32: the output is near the exact one.",
     {"seed": 3, "n_q": 4, "n_k": 8, "d": 4, "d_v": 2, "format": "float16", "compute": "float32", "accumulate": "float32"}),
    ("overflow", "q · k overflows before it is scaled", "In float16 the products pass 65504 although the scaled scores would fit; with scores in float32 they do.",
     {"q": ((256.0, 1.0, 0.0, 0.0),), "k": ((256.0, 2.0, 0.0, 0.0), (256.0, 0.0, 0.0, 0.0)), "v": ((1.0,), (0.0,)), "scale": 0.5, "format": "float16"}),
    ("nobody", "A query that sees no key", "With no live key m stays at minus infinity, and the answer is 0.", {**_SMALL, "key_lengths": (0, 3)}),
    ("large", "32 by 32", "Colour stands in for numbers; move through the map and each is read out.",
     {"seed": 7, "n_q": 32, "n_k": 32, "d": 8, "d_v": 8, "block_q": 8, "block_k": 8, "causal": "top-left"}),
]  # fmt: skip
_DIVISION: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Two scores", "Both ways give the same output; only one has to know the whole sum before it can start.",
     {"scores": _scores(1, 2), "values": ((2.0, 0.0), (0.0, 2.0))}),
    ("five", "Five scores", "Five divisions against one.", {"scores": _scores(1, 3, 2, 5, 4), "values": _scores(10, 20, 30, 40, 50)}),
    ("short", "In bfloat16", "Rounding the shares first moves the answer a little differently from dividing last.",
     {"scores": _scores(0.5, 1, 1.5, 2), "values": _scores(3, 1, 4, 1.5), "format": "bfloat16"}),
]  # fmt: skip
_PASSES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Five scores, three passes", "The safe way reads every score three times: for the highest, for the sum, and to write the shares.",
     {"scores": _scores(1, 3, 2, 5, 4), "method": "safe"}),
    ("online", "Five scores, one pass", "After every single read the highest and the sum measured against it are both there.",
     {"scores": _scores(1, 3, 2, 5, 4), "method": "online"}),
    ("online-shares", "Five scores, two passes", "Writing the shares takes a second read, and no third one.",
     {"scores": _scores(1, 3, 2, 5, 4), "method": "online-shares"}),
    ("naive", "1000, 1001, 1002 without a maximum", "Two passes are enough for the naive way, but its sum is infinite after the first read.",
     {"scores": _scores(1000, 1001, 1002), "method": "naive"}),
]  # fmt: skip
_MERGE: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Five scores, two workers", "Only part 1 shrinks, since part 2 holds the highest score; the output is the one that one reader finds.",
     {"scores": _scores(1, 3, 2, 5, 4), "values": _scores(10, 20, 30, 40, 50)}),
    ("tree", "Four parts, as a tree", "Neighbours are merged first and do not wait for each other; then their results.",
     {"scores": _scores(6, 5, 7, 6, 7, 9, 8, 6), "splits": 4, "merge_order": "tree"}),
    ("shuffled", "Four parts, in another order", "Part 3 is taken first and part 2 last: the result agrees within rounding.",
     {"scores": _scores(6, 5, 7, 6, 7, 9, 8, 6), "splits": 4, "order": (3, 1, 4, 2)}),
    ("cuts", "Cut wherever you like", "One score, then four, then three: how long a part is does not matter to what it hands on.",
     {"scores": _scores(6, 5, 7, 6, 7, 9, 8, 6), "cuts": (1, 5)}),
    ("empty", "An empty part", "The last worker has no score: merging its m of minus infinity and its ℓ of 0 changes no digit.",
     {"scores": _scores(1, 3, 2, 5, 4), "values": _scores(10, 20, 30, 40, 50), "splits": 4}),
    ("masked", "A masked part", "A part whose scores are all masked is as good as empty, whatever its values are.",
     {"scores": _scores(_NONE, _NONE, 1, 2), "values": _scores(1, 2, 3, 4)}),
    ("far", "Far apart", "exp(100) does not fit float32, but only differences from the higher m are taken: the lower part all but vanishes.",
     {"scores": _scores(0, 100), "values": _scores(1, 2)}),
    ("short", "Eight parts in bfloat16", "Split in eight the output ends in other digits than one worker's; both are within rounding of the exact one.",
     {"scores": _scores(0, 0.8984375, -0.8203125, -2.671875, -1.359375, -2.96875, 0.1796875, 4.03125,
                        -1.4765625, -1.859375, 1.46875, 1.0703125, 0.3203125, -2.796875, -0.08984375, 2.09375),
      "values": _scores(-1.34375, -0.4609375, -1.8984375, -1.2890625, -1.84375, -0.240234375, -1.2734375, 0.26953125,
                        0.16015625, -0.1904296875, -2.515625, -0.5390625, -0.050048828125, 0.10986328125, -1.53125, -0.48046875),
      "splits": 8, "format": "bfloat16"}),
]  # fmt: skip

PRESETS: dict[str, tuple[Preset, ...]] = {
    name: tuple(Preset(name, *row) for row in rows)
    for name, rows in (
        ("online-softmax", _ONLINE),
        ("softmax-passes", _PASSES),
        ("tiled-attention", _TILED),
        ("division-order", _DIVISION),
        ("merge", _MERGE),
    )
}


def default_data(machine: Machine, given: Mapping[str, Any]) -> dict[str, str]:
    """The data a page or a figure shows where its URL gives none: the whole example, so that scores and values belong together.

    >>> default_data(MACHINES["online-softmax"], {"format": "float16"})
    {'scores': '6,5,7,6,7,9,8,6'}
    >>> default_data(MACHINES["tiled-attention"], {"seed": "1"})
    {}
    >>> default_data(MACHINES["tiled-attention"], {"q": "1,2;", "k": "1,0;", "v": "1,1;"})  # and no scale of the example's
    {}
    """
    if any(one.data and one.kind != "choice" and given.get(one.name) for one in machine.fields):
        return {}
    return {name: text(value) for name, value in PRESETS[machine.name][0].given.items()}


def spec_of(machine: Machine, given: Mapping[str, Any]) -> Any:
    """The spec that a page's or a figure's query names; what is no field of the machine is left alone. Raises SpecError.

    >>> spec_of(MACHINES["online-softmax"], {"format": "float16", "step": "3"}).scores[:2]
    (6.0, 5.0)
    """
    known_version(machine, given)
    return parse(machine, {**default_data(machine, given), **given}, "page", strict=False)
