"""Online softmax: one read, two numbers kept, and the old way beside it until it overflows."""

from collections.abc import Iterator
from typing import Any

from app.machines.online import MACHINE, MASKED
from app.numbers import show
from app.stories import exact
from app.stories.online import chart, history, words
from app.stories.online.shown import OnlineView
from app.stories.online.words import sentence
from app.stories.record import Box, Trial, Widget, presets, vector

_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "Eight scores", "Two new highest scores: all bars shrink together, and the sum falls from one step to the next.",
     {"scores": vector(6, 5, 7, 6, 7, 9, 8, 6)}),
    ("values", "Five scores with values", "The same factor shrinks the sum and the weighted sum, so their ratio, the output, stays an average.",
     {"scores": vector(1, 3, 2, 5, 4), "values": vector(10, 20, 30, 40, 50)}),
    ("vectors", "Vector values, two at a time", "Each block adds to ℓ and to every element of acc; the middle block leaves the highest alone.",
     {"scores": vector(1, 2, 0, 1, 3, 2), "values": ((2.0, 0.0), (0.0, 2.0), (1.0, 1.0), (2.0, 0.0), (0.0, 2.0), (1.0, 1.0)), "block": 2}),
    ("rising", "Rising", "Every score is a new highest: each step but the first rescales.", {"scores": vector(1, 2, 3, 4, 5, 6)}),
    ("falling", "Falling", "The first score stays the highest: nothing is ever rescaled.", {"scores": vector(6, 5, 4, 3, 2, 1)}),
    ("equal", "All equal", "Every size is 1, every factor is 1, and every share is the same.", {"scores": vector(2.5, 2.5, 2.5, 2.5, 2.5)}),
    ("thousand", "1000, 1001, 1002", "The old way gives NaN at once; the online way does not notice how large the scores are.",
     {"scores": vector(1000, 1001, 1002)}),
    ("masked-block", "A masked first block", "Nothing live has come, so m stays at minus infinity: a guard keeps infinity minus infinity from being formed.",
     {"scores": vector(MASKED, MASKED, 1, 2), "values": vector(1, 2, 3, 4), "block": 2}),
    ("nothing-live", "Nothing live", "No score to share out: attention answers 0, a bare softmax answers NaN.",
     {"scores": vector(MASKED, MASKED, MASKED), "values": vector(1, 2, 4)}),
    ("stall", "A sum that stalls", "In bfloat16 each small size is rounded away as it is added: the sum stays at 1, well below the exact one.",
     {"scores": vector(6, *[0] * 39), "format": "bfloat16"}),
    ("quiet-zero", "A sum that overflows", "No exponential overflows, but their sum does: in the old way every share is a quiet 0.",
     {"scores": vector(10.5, 10.5), "format": "float16"}),
]  # fmt: skip


def _bars(panels: Any, size: tuple[float, float]) -> Box:
    return 0, size[1] - panels[0].size[1] - 18, 396, panels[0].size[1] + 10  # the sizes; the old way stands beside them in the figure


def _kept(shot: chart.OnlineShot) -> list[tuple[str, str]]:
    found = [("m", show(shot.state.m)), ("ℓ", show(shot.state.l))]
    output = shot.state.output
    if output is not None:
        listed = output if isinstance(output, tuple) else (output,)
        found.append(("output", ", ".join(map(show, listed[:2])) + (", …" if len(listed) > 2 else "")))
    return found


def _trials() -> Iterator[Trial]:
    mean = exact.weighted(exact.SCORES, exact.VALUES)
    for block in (1, 2, 5):
        given = {"scores": exact.SCORES, "values": exact.VALUES, "format": "float64", "block": block}
        yield Trial(f"in blocks of {block}", given, "output", mean)


WIDGET = Widget(
    machine=MACHINE,
    view=OnlineView,
    sentence=sentence,
    presets=presets(MACHINE, _PRESETS),
    charts=chart.charts,
    pictures=(("history", "Online softmax: m and ℓ from step to step", history.drawing),),
    nav="Online softmax",
    pitch="one read, two numbers kept, and the old way beside it until it overflows.",
    hero=6,
    crop=_bars,
    facts=_kept,
    drawn_only=frozenset({"terms", "naive", "reference"}),
    frame_height=760,
    slider=("offset", range(0, 101)),
    turns=(lambda shot: shot.state.naive.failed, words.turned),
    trials=_trials,
)
