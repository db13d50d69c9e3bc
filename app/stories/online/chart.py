"""Where the bars of an online-softmax snapshot stand. A view is a function of one snapshot, in the wire form.

static/js/widgets/online-softmax.js moves the same bars when a reader steps, by the same few rules.
"""

import math
from dataclasses import dataclass
from typing import Any

from app.machines.formats import FORMATS
from app.machines.online import shifted
from app.numbers import SUPERSCRIPTS, show

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


def drawing(snapshot: dict[str, Any]) -> dict[str, Panel]:
    """Both panels of a snapshot.

    >>> from app.machines import MACHINES
    >>> from app.runs import snapshot
    >>> online = MACHINES["online-softmax"]
    >>> panels = drawing(snapshot(online, online.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> [bar.kind for bar in panels["sizes"].bars], [bar.number for bar in panels["sizes"].bars]
    (['shrunk', 'new', 'unread'], ['0.135', '1', ''])
    """
    return {"sizes": sizes(snapshot), "exps": exps(snapshot)}


def sizes(snapshot: dict[str, Any]) -> Panel:
    """exp(score − m) for each score read, from 0 to 1."""
    event, terms = snapshot["event"], snapshot["state"]["terms"]
    fresh = set(event.get("indices", ()))
    bars = []
    for row, slot in enumerate(_slots(snapshot)):
        if row >= len(terms):
            bars.append(_bar(row, slot, snapshot, "unread", 0.0, 0.0, ""))
            continue
        term = terms[row]
        size = float(term["size"])
        before = float(term.get("size_before", size))
        kind = "new" if row in fresh else "shrunk" if event["rescales"] else "old"
        if term["score"] == "-Infinity":
            kind = "masked"
        elif not math.isfinite(size):
            kind = "bad"
        bars.append(_bar(row, slot, snapshot, kind, size, before, show(size)))
    ticks = tuple((_y(share), show(share, 1)) for share in (0.0, 0.5, 1.0))
    return Panel("sizes", tuple(bars), ticks, 0.0, 1.0, 0.0, "")


def exps(snapshot: dict[str, Any]) -> Panel:
    """exp(score) for each score read, on a logarithmic axis with the format's largest number as a ceiling."""
    form = FORMATS[snapshot["spec"]["format"]]
    low, high = _log_range(snapshot)
    ceiling = math.log10(form.max)
    fresh = set(snapshot["event"].get("indices", ()))
    found = snapshot["state"]["naive"]["exps"]
    bars = []
    for row, slot in enumerate(_slots(snapshot)):
        if row >= len(found):
            bars.append(_bar(row, slot, snapshot, "unread", 0.0, 0.0, ""))
            continue
        value = float(found[row])
        share = (math.log10(value) - low) / (high - low) if 0 < value < math.inf else 0.0 if value == 0 else 1.0
        kind = (
            "bad"
            if not math.isfinite(value)
            else "masked"
            if snapshot["state"]["terms"][row]["score"] == "-Infinity"
            else "new"
            if row in fresh
            else "old"
        )
        bars.append(_bar(row, slot, snapshot, kind, share, share, show(value)))
    every = max(1, math.ceil((ceiling - low) / 4))
    powers = range(math.ceil(low), math.floor(ceiling) + 1, every)
    ticks = tuple((_y((power - low) / (high - low)), f"10{str(power).translate(SUPERSCRIPTS)}") for power in powers)
    return Panel("exps", tuple(bars), ticks, low, high, _y((ceiling - low) / (high - low)), f"largest {form.name}, {show(form.max)}")


def frame(snapshot: dict[str, Any], panel: Panel) -> dict[str, Any]:
    """What the script needs to draw axes: the ends and the ceiling of the logarithmic one as powers of ten, names below bars."""
    ceiling = math.log10(FORMATS[snapshot["spec"]["format"]].max)
    return {
        "low": panel.low,
        "high": panel.high,
        "ceiling": ceiling,
        "label": panel.ceiling_text,
        "scores": [bar.label for bar in panel.bars],
    }


def labelled(snapshot: dict[str, Any]) -> int:
    """Every how many bars a score is written below, so that no two run into each other.

    >>> labelled({"spec": {"scores": [1.0] * 8, "format": "float32", "offset": 0.0}})
    1
    """
    spec = snapshot["spec"]
    form = FORMATS[spec["format"]]
    longest = max(len(show(shifted(form, float(score), spec["offset"]))) for score in spec["scores"])
    return math.ceil((longest + 1) * LETTER * len(spec["scores"]) / (RIGHT - LEFT))


def _log_range(snapshot: dict[str, Any]) -> tuple[float, float]:
    """Fixed for a list of scores and a format, whatever is added to every score, so that the slider moves bars and not the axis."""
    form = FORMATS[snapshot["spec"]["format"]]
    live = [x for x in map(float, snapshot["spec"]["scores"]) if math.isfinite(x)]
    least = min([0.0, *live]) / math.log(10)
    low = math.floor(max(least, math.log10(form.smallest_normal)))
    top = math.log10(form.max)
    return low, top + 0.12 * (top - low)


def _slots(snapshot: dict[str, Any]) -> list[tuple[float, float]]:
    n = len(snapshot["spec"]["scores"])
    slot = (RIGHT - LEFT) / n
    wide = min(0.72 * slot, 60)
    return [(round(LEFT + (i + 0.5) * slot - wide / 2, 2), round(wide, 2)) for i in range(n)]


def _bar(row: int, slot: tuple[float, float], snapshot: dict[str, Any], kind: str, share: float, before: float, number: str) -> Bar:
    spec = snapshot["spec"]
    n = len(spec["scores"])
    score = shifted(FORMATS[spec["format"]], float(spec["scores"][row]), spec["offset"])  # an unread one as it will be read
    label = show(score) if row % labelled(snapshot) == 0 else ""
    return Bar(row, *slot, kind, _y(share if kind != "bad" else 1.0), _y(before), number if n <= ROOMY else "", label)


def _y(share: float) -> float:
    return round(BASE - min(max(share, 0.0), 1.0) * (BASE - TOP), 2) if math.isfinite(share) else float(TOP)
