"""What a tile does, in one sentence, and phase by phase."""

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
    'Queries 1 to 2 meet keys 3 to 4: query 1 has a new highest, 3 (it was 2), so all it kept is multiplied by exp(2 − 3) ≈ 0.368, and query 2 keeps its highest, 2.'
    """
    event: Event | None = moment.event
    if event is None:
        down, across = spec.tiles
        tiles = "1 tile waits" if down * across == 1 else f"{down * across} tiles of scores wait"
        return f"Nothing is loaded yet: {tiles}, and none of their scores will be stored."
    queries = _span("query", "queries", event.rows)
    if event.kind == "normalise":
        empty = int((event.now.m == MASKED).sum())
        tail = f"; {_rows(empty)} no live key, and the answer there is 0" if empty else ""
        return f"All keys have been seen by {queries}: each row of acc is divided by its own {voice.sum}, once, and the output is written{tail}."
    keys = _span("key", "keys", event.cols)
    if event.skipped:
        return f"{_capital(queries)} may see none of {keys}: the tile is skipped, and nothing is read."
    return f"{_capital(queries)} {'meets' if _one(event.rows) else 'meet'} {keys}: {_told(voice, event, event.rows)}."


def _told(voice: Voice, event: Event, rows: slice) -> str:
    old, new, fa1 = event.before.m, event.parts["m_new"], "m_tile" in event.parts
    count = rows.stop - rows.start
    risen = (new > old) & (old != MASKED)
    if (old == MASKED).all():
        return f"the first live scores, so nothing is rescaled, and each row starts its own m, {voice.sum} and {'output' if fa1 else 'acc'}"
    if count > NAMED:
        several = int(risen.sum())
        if not several:
            return "no row has a new highest, so no row is rescaled"
        if several == count:
            return f"all {count} rows have a new highest, and each is rescaled by its own factor"
        rest = "the other keeps its" if count - several == 1 else f"the other {count - several} keep theirs"
        return f"{_rows(several)} a new highest{', and each' if several > 1 else ' and'} is rescaled by its own factor; {rest}"
    said = []
    for i in range(count):
        name = f"query {rows.start + i + 1}"
        if old[i] == MASKED:
            said.append(f"{name} {'still has no live key' if new[i] == MASKED else 'has its first live scores'}")
        elif risen[i]:
            alpha = event.parts["alpha"][i]
            factor = f"{voice.exp(old[i], new[i])}{voice.gives(alpha)}{voice.number(alpha)}"
            kept = (
                f"its {voice.sum} is multiplied by {factor} and its output weighted anew"
                if fa1
                else f"all it kept is multiplied by {factor}"
            )
            said.append(f"{name} has a new highest, {voice.number(new[i])} (it was {voice.number(old[i])}), so {kept}")
        elif np.isnan(new[i]):
            said.append(f"{name} has met a NaN and stays so")
        else:
            said.append(f"{name} keeps its highest, {voice.number(old[i])}")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


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
    masked = int((event.live == 0).sum())
    factor = spec.factor
    scaled = "" if factor == 1 else f" times the scale {v.number(factor)}"
    told = {
        "load": f"Load {keys} and their values; the queries stay.",
        "score": f"Each query meets each key: q · k{scaled}{_set_aside(masked)}.",
        "max": f"Each row’s highest score so far: {_row(parts['m_new'])}.",
        "rescale": "Nothing is kept yet, so there is nothing to rescale."
        if fresh.all()
        else f"{'ℓ of each row' if fa1 else 'What each row kept'} is multiplied by exp(m before − m now): {_row(parts['alpha'], ~fresh)}.",
        "exponentiate": f"Each score becomes a size next to the {'tile’s own' if fa1 else 'row’s'} highest.",
        "accumulate": f"The sizes of each row, {_row(parts['row_sums'])} together, are times exp(m of the tile − m now) when they go into ℓ, and size × value into the output, which is divided by the new ℓ at once."
        if fa1
        else f"The sizes of each row add {_row(parts['row_sums'])} to ℓ, and size × value goes into acc.",
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


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count} rows have"


def _capital(said: str) -> str:
    return said[0].upper() + said[1:]
