"""Split and merge: cut a row anywhere, give each part to a worker, and put the results together in any order."""

from collections.abc import Iterator
from typing import Any

from app.machines.merge import MACHINE
from app.machines.online import MASKED
from app.stories import exact
from app.stories.merge import chart
from app.stories.merge.shown import MergeView
from app.stories.merge.words import sentence
from app.stories.record import Trial, Widget, presets, vector

_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Five scores, two workers", "Only part 1 shrinks, since part 2 holds the highest score; the output is the one that one reader finds.",
     {"scores": vector(1, 3, 2, 5, 4), "values": vector(10, 20, 30, 40, 50)}),
    ("tree", "Four parts, as a tree", "Neighbours are merged first and do not wait for each other; then their results.",
     {"scores": vector(6, 5, 7, 6, 7, 9, 8, 6), "splits": 4, "merge_order": "tree"}),
    ("shuffled", "Four parts, in another order", "Part 3 is taken first and part 2 last: the result agrees within rounding.",
     {"scores": vector(6, 5, 7, 6, 7, 9, 8, 6), "splits": 4, "order": (3, 1, 4, 2)}),
    ("cuts", "Cut wherever you like", "One score, then four, then three: how long a part is does not matter to what it hands on.",
     {"scores": vector(6, 5, 7, 6, 7, 9, 8, 6), "cuts": (1, 5)}),
    ("empty", "An empty part", "The last worker has no score: merging its m of minus infinity and its ℓ of 0 changes no digit.",
     {"scores": vector(1, 3, 2, 5, 4), "values": vector(10, 20, 30, 40, 50), "splits": 4}),
    ("masked", "A masked part", "A part whose scores are all masked is as good as empty, whatever its values are.",
     {"scores": vector(MASKED, MASKED, 1, 2), "values": vector(1, 2, 3, 4)}),
    ("far", "Far apart", "exp(100) does not fit float32, but only differences from the higher m are taken: the lower part all but vanishes.",
     {"scores": vector(0, 100), "values": vector(1, 2)}),
    ("short", "Eight parts in bfloat16", "Split in eight the output ends in other digits than one worker's; both are within rounding of the exact one.",
     {"scores": vector(0, 0.8984375, -0.8203125, -2.671875, -1.359375, -2.96875, 0.1796875, 4.03125,
                        -1.4765625, -1.859375, 1.46875, 1.0703125, 0.3203125, -2.796875, -0.08984375, 2.09375),
      "values": vector(-1.34375, -0.4609375, -1.8984375, -1.2890625, -1.84375, -0.240234375, -1.2734375, 0.26953125,
                        0.16015625, -0.1904296875, -2.515625, -0.5390625, -0.050048828125, 0.10986328125, -1.53125, -0.48046875),
      "splits": 8, "format": "bfloat16"}),
]  # fmt: skip


def _trials() -> Iterator[Trial]:
    mean = exact.weighted(exact.SCORES, exact.VALUES)
    for splits in (1, 2, 5):
        given = {"scores": exact.SCORES, "values": exact.VALUES, "format": "float64", "splits": splits}
        yield Trial(f"of {splits}", given, "output", mean)


WIDGET = Widget(
    machine=MACHINE,
    view=MergeView,
    sentence=sentence,
    presets=presets(MACHINE, _PRESETS),
    charts=chart.charts,
    nav="Split and merge",
    pitch="cut a row anywhere, give each part to a worker, and put the results together in any order.",
    more=lambda spec: chart.tree(len(spec.spans), spec.plan, spec.order),
    drawn_only=frozenset({"parts", "plan", "reference"}),
    trials=_trials,
)
