"""Softmax, pass by pass: how often the naive, the safe and the online way read the same score."""

import math
from collections.abc import Iterator
from typing import Any

from app.machines import passes
from app.machines.passes import MACHINE
from app.stories import exact
from app.stories.passes import chart
from app.stories.passes.shown import PassesView
from app.stories.passes.words import sentence
from app.stories.record import Trial, Widget, presets, vector

MANY = 1000  # scores of the longer row that passes are counted on

_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Five scores, three passes", "The safe way reads every score three times: for the highest, for the sum, and to write the shares.",
     {"scores": vector(1, 3, 2, 5, 4), "method": "safe"}),
    ("online", "Five scores, one pass", "After every single read the highest and the sum measured against it are both there.",
     {"scores": vector(1, 3, 2, 5, 4), "method": "online"}),
    ("online-shares", "Five scores, two passes", "Writing the shares takes a second read, and no third one.",
     {"scores": vector(1, 3, 2, 5, 4), "method": "online-shares"}),
    ("naive", "1000, 1001, 1002 without a maximum", "Two passes are enough for the naive way, but its sum is infinite after the first read.",
     {"scores": vector(1000, 1001, 1002), "method": "naive"}),
]  # fmt: skip


def _more(spec: passes.Spec) -> dict[str, Any]:
    return {"here": passes.side_by_side(spec), "many": passes.of_random(MANY), "n": MANY, "ops": passes.METHODS[spec.method]}


def _trials() -> Iterator[Trial]:
    safe, naive = 1 / exact.softmax(exact.SCORES)[3], math.fsum(map(math.exp, exact.SCORES))
    for method in passes.METHODS:
        given = {"scores": exact.SCORES, "method": method, "format": "float64"}
        yield Trial(method, given, "l", naive if method == "naive" else safe)


WIDGET = Widget(
    machine=MACHINE,
    view=PassesView,
    sentence=sentence,
    presets=presets(MACHINE, _PRESETS),
    charts=chart.charts,
    nav="Passes",
    pitch="how often the naive, the safe and the online way read the same score.",
    more=_more,
    trials=_trials,
)
