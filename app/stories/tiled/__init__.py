"""Tiled attention: FlashAttention itself, tile by tile, each row with a factor of its own."""

from collections.abc import Iterator
from typing import Any

from app.machines import standard, tiled
from app.machines.tiled import MACHINE
from app.numbers import wire
from app.stories import exact
from app.stories.record import Other, Trial, Widget, presets, table_load
from app.stories.tiled import chart
from app.stories.tiled.shown import TiledView
from app.stories.tiled.words import sentence

_Q, _K, _V = ((1.0, 0.0), (0.0, 1.0)), ((1.0, 2.0), (2.0, 1.0), (3.0, 0.0), (2.0, 1.0)), ((2.0, 0.0), (0.0, 2.0), (0.0, 2.0), (1.0, 1.0))
_SMALL: dict[str, Any] = {"q": _Q, "k": _K, "v": _V, "scale": 1.0}

_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
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


def frame(spec: tiled.Spec) -> dict[str, Any]:
    """The rounded inputs, the shape of the map, and which numbers make which, as the machine declares it."""
    q, k, v = (x.tolist() for x in spec.stored)
    found: dict[str, Any] = wire({"q": q, "k": k, "v": v, "block": [spec.block_q, spec.block_k], "factor": spec.factor})
    return found | {"made_of": tiled.MADE_OF if spec.algorithm == "fa2" else tiled.MADE_OF_FA1}


def _beside(spec: tiled.Spec, name: str) -> Other | None:
    """The other algorithm, or the standard way, on the same tiles."""
    last = MACHINE.steps(spec)
    if name == "standard":
        steps = [min(one, standard.MACHINE.steps(spec)) for one in range(last + 1)]
        return Other(name, "The standard way: whole tables", standard.MACHINE, spec, steps)
    if name == "other":
        other = tiled.other_algorithm(spec)
        steps = [tiled.same_tiles(spec, one) for one in range(last + 1)]
        return Other(name, f"{other.algorithm} on the same tiles", MACHINE, other, steps)
    return None


def _trials() -> Iterator[Trial]:
    for algorithm in ("fa2", "fa1"):
        given = {"q": exact.Q, "k": exact.K, "v": exact.VALUES, "format": "float64", "algorithm": algorithm, "block_q": 1, "block_k": 2}
        yield Trial(algorithm, given, "output", exact.attention())


WIDGET = Widget(
    machine=MACHINE,
    view=TiledView,
    sentence=sentence,
    aside=TiledView.aside,
    presets=presets(MACHINE, _PRESETS),
    charts=chart.charts,
    nav="Tiles",
    pitch="FlashAttention itself, tile by tile, each row with a factor of its own; FlashAttention-1 or the standard way beside it.",
    frame=lambda spec, panels: frame(spec),
    beside=_beside,
    more=lambda spec: {"roomy": chart.roomy(spec)},
    caption_width=588,
    drawn_only=frozenset({"cells", "consumed", "phases", "reference", "q", "k", "v", "dots"}),
    frame_height=820,
    scripts=("core/grid",),
    load=table_load,
    trials=_trials,
)
