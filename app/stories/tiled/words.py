"""What a tile does, in one sentence, and phase by phase."""

from typing import Any

import numpy as np

from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.run import Moment
from app.machines.tiled import Event, Spec
from app.stories.voice import WRITTEN, Voice

NAMED = 4  # rows that are named one by one


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Spec(q=[[1, 0], [0, 1]], k=[[1, 2], [2, 1], [3, 0], [2, 1]], v=[[2, 0], [0, 2], [0, 2], [1, 1]], scale=1.0)
    >>> [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["tiled-attention"], spec)][2]
    'Queries 1 and 2 meet keys 3 to 4: query 1 has a new highest, 3 (it was 2), so all it kept is multiplied by exp(2 − 3) ≈ 0.368; query 2 keeps its highest, 2.'
    """
    event: Event | None = moment.event
    if event is None:
        down, across = spec.tiles
        tiles = "1 tile waits" if down * across == 1 else f"{down * across} tiles of scores wait"
        return f"Nothing is loaded yet: {tiles}, and none of their scores will be stored."
    queries = _span("query", "queries", event.rows)
    if event.kind == "normalise":
        return f"No key is left for {queries}: {_divided(voice, event)}."
    keys = _span("key", "keys", event.cols)
    if event.skipped:
        return f"{_capital(queries)} may see none of {keys}: the tile is skipped, and nothing is read."
    return f"{_meeting(event)} {keys}: {_told(voice, spec, event)}."


def _meeting(event: Event) -> str:
    """The rows that see a key of the tile; where they are many and not next to each other, how many of them."""
    rows = _places(event.rows, event.live.any(axis=1))
    if len(rows) > NAMED and rows[-1] - rows[0] + 1 != len(rows):
        return f"{len(rows)} of {_span('query', 'queries', event.rows)} meet"
    return f"{_capital(_some(rows))} {'meets' if len(rows) == 1 else 'meet'}"


def _divided(voice: Voice, event: Event) -> str:
    """What a normalise step does to the rows that have seen a live key, and what it answers for those that have not."""
    empty = event.now.m == MASKED
    rows = _places(event.rows, empty)
    if empty.all():
        return f"{'it' if len(rows) == 1 else 'they'} saw no live score, so nothing is divided, and the output is 0"
    divided = f"each row of acc is divided by its own {voice.sum}, once, and the output is written"
    if not rows:
        return divided
    return f"{divided}, but {_some(rows)} saw no live score, and the output there is 0"


def _told(voice: Voice, spec: Spec, event: Event) -> str:
    """What the tile does to each row: row by row where they are few and differ, counted otherwise; each claim holds for every row that it names."""
    kinds = [kind(event, i) for i in range(event.rows.stop - event.rows.start)]
    fa1 = spec.algorithm == "fa1"
    start = f"its own m, {voice.sum} and {'output' if fa1 else 'acc'}"
    if set(kinds) == {"first"}:
        return f"the first live scores, so nothing is rescaled, and each row starts {start}"
    if len(kinds) > NAMED:
        return _counted(kinds)
    said = []
    for name in dict.fromkeys(kinds):
        places = [i for i, one in enumerate(kinds) if one == name]
        if name in ("higher", "same"):
            said += [(i, _compared(voice, spec, event, i)) for i in places]
        else:
            one, several = TOGETHER[name]
            rows = [event.rows.start + i + 1 for i in places]
            pattern = one if len(rows) == 1 else several
            said.append((places[0], pattern.format(rows=_some(rows), start=start)))
    return "; ".join(text for _, text in sorted(said))


def kind(event: Event, i: int) -> str:
    """What the tile is to row i of it, a key of TOGETHER or COUNTED."""
    old, new = event.before.m[i], event.parts["m_new"][i]
    if not event.live[i].any():
        return "blind" if old == MASKED else "passed"
    if np.isnan(new):
        return "still nan" if np.isnan(old) else "nan"
    if new == MASKED:
        return "lost"
    if old == MASKED:
        return "first"
    return "higher" if new > old else "same"


TOGETHER = {  # for one row and for several; what is said of each alone, with its numbers, is in _compared
    "blind": ("{rows} sees none of them and has no live score yet", "{rows} see none of them and have no live score yet"),
    "passed": ("{rows} sees none of them and keeps what it has", "{rows} see none of them and keep what they have"),
    "still nan": ("{rows} has an m of NaN and keeps it", "{rows} have an m of NaN and keep it"),
    "nan": ("{rows} meets a NaN, which is its m from here on", "{rows} meet a NaN, which is their m from here on"),
    "lost": ("{rows} has only scores of −∞, which count as masked", "{rows} have only scores of −∞, which count as masked"),
    "first": ("{rows} has its first live scores and starts {start}", "{rows} have their first live scores, and each starts {start}"),
}
COUNTED = {
    "higher": ("1 row has a new highest and is rescaled by its own factor", "{n} rows have a new highest, and each is rescaled by its own factor"),
    "same": ("1 row keeps its highest and is not rescaled", "{n} rows keep their highest and are not rescaled"),
    "first": ("1 row has its first live scores", "{n} rows have their first live scores"),
    "passed": ("1 row sees none of these keys and keeps what it has", "{n} rows see none of these keys and keep what they have"),
    "blind": ("1 row sees none of these keys and has no live score yet", "{n} rows see none of these keys and have no live score yet"),
    "lost": ("1 row has only scores of −∞, which count as masked", "{n} rows have only scores of −∞, which count as masked"),
    "nan": ("1 row meets a NaN", "{n} rows meet a NaN"),
    "still nan": ("1 row has an m of NaN and keeps it", "{n} rows have an m of NaN and keep it"),
}  # fmt: skip


def _counted(kinds: list[str]) -> str:
    if set(kinds) == {"same"}:
        return "no row has a new highest, so no row is rescaled"
    if set(kinds) == {"higher"}:
        return f"all {len(kinds)} rows have a new highest, and each is rescaled by its own factor"
    found = [(kinds.count(name), *patterns) for name, patterns in COUNTED.items()]
    return "; ".join(one if n == 1 else several.format(n=n) for n, one, several in found if n)


def _compared(voice: Voice, spec: Spec, event: Event, i: int) -> str:
    """A row that had kept something and meets live scores."""
    name = f"query {event.rows.start + i + 1}"
    old, new = float(event.before.m[i]), float(event.parts["m_new"][i])
    if not new > old:
        return f"{name} keeps its highest, {voice.number(old)}"
    factor = voice.size(spec.forms[1], float(event.parts["alpha"][i]), old, new)
    higher = f"{name} has a new highest, {voice.number(new)} (it was {voice.number(old)})"
    if spec.algorithm == "fa1":
        return f"{higher}, so its {voice.sum} is multiplied by {factor} and its output weighted anew"
    return f"{higher}, so all it kept is multiplied by {factor}"


def _places(rows: slice, which: Any) -> list[int]:
    """The numbers, from 1, of the rows of a tile for which something holds."""
    return [rows.start + i + 1 for i in np.flatnonzero(which).tolist()]


def _some(rows: list[int]) -> str:
    """
    >>> _some([2]), _some([1, 2]), _some([1, 2, 3, 4, 5]), _some([1, 3, 4])
    ('query 2', 'queries 1 and 2', 'queries 1 to 5', 'queries 1, 3 and 4')
    """
    if len(rows) == 1:
        return f"query {rows[0]}"
    if len(rows) > 2 and rows[-1] - rows[0] + 1 == len(rows):
        return f"queries {rows[0]} to {rows[-1]}"
    return f"queries {', '.join(map(str, rows[:-1]))} and {rows[-1]}"


def phases(spec: Spec, moment: Moment) -> dict[str, str]:
    """What each phase of the step does, by name, for the eye; phase_none where the step takes no tile through them."""
    event: Event | None = moment.event
    if event is None:
        return {"phase_none": "Each tile goes through these, in this order."}
    if event.kind != "tile":
        return {"phase_none": "No tile in this step: each row is divided by its own ℓ, and written out."}
    if event.skipped:
        return {"phase_none": "A skipped tile goes through none of these."}
    v, parts = WRITTEN, event.parts
    keys = _span("key", "keys", event.cols)
    fa1 = spec.algorithm == "fa1"
    fresh = event.before.m == MASKED
    none = parts["m_new"] == MASKED
    masked = int((event.live == 0).sum())
    factor = spec.factor
    size = f"size, cast to {spec.p_format}," if spec.p_format != spec.compute else "size"
    scaled = "" if factor == 1 else f" times the scale {v.number(factor)}"
    told = {
        "load": f"Load {keys} and their values; the queries stay.",
        "score": f"Each query meets each key: q · k{scaled}{_set_aside(masked)}.",
        "max": "No row has a live score yet." if none.all() else f"Each row’s highest score so far: {_row(parts['m_new'], ~none)}.",
        "rescale": "Nothing is kept yet, so there is nothing to rescale."
        if fresh.all()
        else f"{'ℓ of each row' if fa1 else 'What each row kept'} is multiplied by exp(m before − m now): {_row(parts['alpha'], ~fresh)}.",
        "exponentiate": f"Each live score becomes a size next to the {'tile’s own' if fa1 else 'row’s'} highest.",
        "accumulate": f"The sizes of each row, {_row(parts['row_sums'])} together, are times exp(m of the tile − m now) when they go into ℓ, and {size} × value into the output, which is divided by the new ℓ at once."
        if fa1
        else f"The sizes of each row add {_row(parts['row_sums'])} to ℓ, and {size} × value goes into acc.",
        "consume": "The scores and sizes of this tile are dropped. They will not be needed again.",
    }
    return {f"phase_{name}": said for name, said in told.items()}


def _set_aside(masked: int) -> str:
    return f"; {masked} masked {'cell is' if masked == 1 else 'cells are'} set aside" if masked else ""


def _row(x: Array, there: Array | None = None) -> str:
    """The first few rows' numbers; a dash for a row where there is none."""
    shown = [
        WRITTEN.number(one) if yes else "–"
        for one, yes in zip(x[:NAMED].tolist(), [True] * NAMED if there is None else there, strict=False)
    ]
    return ", ".join(shown) + (" and so on" if len(x) > NAMED else "")


def _span(one: str, many: str, span: slice) -> str:
    return f"{one} {span.start + 1}" if _one(span) else f"{many} {span.start + 1} to {span.stop}"


def _one(span: slice) -> bool:
    return bool(span.stop - span.start == 1)


def _capital(said: str) -> str:
    return said[0].upper() + said[1:]
