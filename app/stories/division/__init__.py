"""Divide first or last: why the division can wait until every score has been read."""

from collections.abc import Iterator
from typing import Any

from app.machines.division import MACHINE
from app.stories import exact
from app.stories.division import chart
from app.stories.division.shown import DivisionView
from app.stories.division.words import sentence
from app.stories.record import Trial, Widget, presets, vector

_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Two scores", "Both ways give the same output; only one has to know the whole sum before it can start.",
     {"scores": vector(1, 2), "values": ((2.0, 0.0), (0.0, 2.0))}),
    ("five", "Five scores", "Five divisions against one.", {"scores": vector(1, 3, 2, 5, 4), "values": vector(10, 20, 30, 40, 50)}),
    ("short", "In bfloat16", "Rounding the shares first moves the answer a little differently from dividing last.",
     {"scores": vector(0.5, 1, 1.5, 2), "values": vector(3, 1, 4, 1.5), "format": "bfloat16"}),
]  # fmt: skip


def _trials() -> Iterator[Trial]:
    given = {"scores": exact.SCORES, "values": exact.VALUES, "format": "float64"}
    yield Trial("divided last", given, "output", exact.weighted(exact.SCORES, exact.VALUES))


WIDGET = Widget(
    machine=MACHINE,
    view=DivisionView,
    sentence=sentence,
    presets=presets(MACHINE, _PRESETS),
    charts=chart.charts,
    nav="Divide first or last",
    pitch="why the division can wait until every score has been read.",
    frame_height=620,
    trials=_trials,
)
