"""Where the bars of a state of online softmax stand.

static/js/widgets/online-softmax.js moves the same bars when a reader steps, by the same few rules.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.machines.online import MASKED, Spec, shifted
from app.numbers import SUPERSCRIPTS, show
from app.stories.online.shown import Kept, Read
from app.stories.record import Shot

OnlineShot = Shot[Spec, Read | None, Kept]

WIDTH, HEIGHT = 380, 236
LEFT, RIGHT, TOP, BASE = 38, 372, 30, 194
ROOMY = 10  # bars up to which each one's number is written on it
LETTER = 7.0  # room for one letter of a score below its bar


@dataclass(frozen=True)
class Bar:
    """One slot. kind: unread, masked, new, shrunk, old or bad; tops are y, downwards; ghost is the top before this step."""

    row: int
    x: float
    width: float
    kind: str
    top: float
    ghost: float
    number: str
    label: str


@dataclass(frozen=True)
class Panel:
    """One chart: its bars, its axis ticks as (y, text), and for the logarithmic one its ceiling."""

    name: str
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]
    low: float
    high: float
    ceiling: float
    ceiling_text: str


def drawing(shot: OnlineShot) -> dict[str, Panel]:
    """Both panels of a state.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> online = MACHINES["online-softmax"]
    >>> panels = drawing(shot(online, online.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> [bar.kind for bar in panels["sizes"].bars], [bar.number for bar in panels["sizes"].bars]
    (['shrunk', 'new', 'unread'], ['0.135', '1', ''])
    """
    return {"sizes": sizes(shot), "exps": exps(shot)}


def sizes(shot: OnlineShot) -> Panel:
    """exp(score − m) for each score read, from 0 to 1."""
    event, terms = shot.event, shot.state.terms
    bars = []
    for row, slot in enumerate(_slots(shot.spec)):
        if row >= len(terms) or event is None:
            bars.append(_bar(row, slot, shot.spec, "unread", 0.0, 0.0, ""))
            continue
        term = terms[row]
        kind = "new" if row in event.indices else "shrunk" if event.rescales else "old"
        if term.score == MASKED:
            kind = "masked"
        elif not math.isfinite(term.size):
            kind = "bad"
        before = term.size if term.size_before is None else term.size_before
        bars.append(_bar(row, slot, shot.spec, kind, term.size, before, show(term.size)))
    ticks = tuple((_y(share), show(share, 1)) for share in (0.0, 0.5, 1.0))
    return Panel("sizes", tuple(bars), ticks, 0.0, 1.0, 0.0, "")


def exps(shot: OnlineShot) -> Panel:
    """exp(score) for each score read, on a logarithmic axis with the format's largest number as a ceiling."""
    spec, event = shot.spec, shot.event
    low, high = _log_range(spec)
    ceiling = math.log10(spec.form.max)
    bars = []
    for row, slot in enumerate(_slots(spec)):
        if row >= len(shot.state.naive.exps) or event is None:
            bars.append(_bar(row, slot, spec, "unread", 0.0, 0.0, ""))
            continue
        value = shot.state.naive.exps[row]
        share = (math.log10(value) - low) / (high - low) if 0 < value < math.inf else 0.0 if value == 0 else 1.0
        kind = "new" if row in event.indices else "old"
        if not math.isfinite(value):
            kind = "bad"
        elif shot.state.terms[row].score == MASKED:
            kind = "masked"
        bars.append(_bar(row, slot, spec, kind, share, share, show(value)))
    every = max(1, math.ceil((ceiling - low) / 4))
    powers = range(math.ceil(low), math.floor(ceiling) + 1, every)
    ticks = tuple((_y((power - low) / (high - low)), f"10{str(power).translate(SUPERSCRIPTS)}") for power in powers)
    return Panel(
        "exps", tuple(bars), ticks, low, high, _y((ceiling - low) / (high - low)), f"largest {spec.form.name}, {show(spec.form.max)}"
    )


def frame(spec: Spec, panel: Panel) -> dict[str, Any]:
    """What the script needs to draw axes: the ends and the ceiling of the logarithmic one as powers of ten, names below bars."""
    return {
        "low": panel.low,
        "high": panel.high,
        "ceiling": math.log10(spec.form.max),
        "label": panel.ceiling_text,
        "scores": [bar.label for bar in panel.bars],
    }


@lru_cache(maxsize=64)
def names(spec: Spec) -> tuple[str, ...]:
    """The score below each bar, an unread one as it will be read; "" where two would run into each other.

    >>> names(Spec(scores=(1.0, 2.5)))
    ('1', '2.500')
    """
    said = [show(shifted(spec.form, score, spec.offset)) for score in spec.scores]
    every = math.ceil((max(map(len, said)) + 1) * LETTER * len(said) / (RIGHT - LEFT))
    return tuple(name if row % every == 0 else "" for row, name in enumerate(said))


def _log_range(spec: Spec) -> tuple[float, float]:
    """Fixed for a list of scores and a format, whatever is added to every score, so that the slider moves bars and not the axis."""
    live = [x for x in spec.scores if math.isfinite(x)]
    least = min([0.0, *live]) / math.log(10)
    low = math.floor(max(least, math.log10(spec.form.smallest_normal)))
    top = math.log10(spec.form.max)
    return low, top + 0.12 * (top - low)


def _slots(spec: Spec) -> list[tuple[float, float]]:
    n = len(spec.scores)
    slot = (RIGHT - LEFT) / n
    wide = min(0.72 * slot, 60)
    return [(round(LEFT + (i + 0.5) * slot - wide / 2, 2), round(wide, 2)) for i in range(n)]


def _bar(row: int, slot: tuple[float, float], spec: Spec, kind: str, share: float, before: float, number: str) -> Bar:
    number = number if len(spec.scores) <= ROOMY else ""
    return Bar(row, *slot, kind, _y(share if kind != "bad" else 1.0), _y(before), number, names(spec)[row])


def _y(share: float) -> float:
    return round(BASE - min(max(share, 0.0), 1.0) * (BASE - TOP), 2) if math.isfinite(share) else float(TOP)
