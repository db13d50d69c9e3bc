"""Standard attention: whole tables of scores and shares, stored and read back. It stands beside the tiles and has no page of its own."""

from collections.abc import Iterator

from app.machines.standard import MACHINE
from app.stories import exact
from app.stories.record import Trial, Widget, table_load
from app.stories.standard.shown import StandardView
from app.stories.standard.words import sentence


def _trials() -> Iterator[Trial]:
    yield Trial("whole", {"q": exact.Q, "k": exact.K, "v": exact.VALUES, "format": "float64"}, "output", exact.attention())


WIDGET = Widget(
    machine=MACHINE,
    view=StandardView,
    sentence=sentence,
    aside=StandardView.aside,
    drawn_only=frozenset({"reference"}),
    load=table_load,
    trials=_trials,
)
