"""What a tile does, in one sentence, and phase by phase."""

import numpy as np

from app.captions.voice import WRITTEN, Voice
from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.run import Moment
from app.machines.tiled import Event, Spec

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
    old, new = event.before.m, event.parts["m_new"]
    count = rows.stop - rows.start
    risen = (new > old) & (old != MASKED)
    if (old == MASKED).all():
        return f"the first live scores, so nothing is rescaled, and each row starts its own m, {voice.sum} and {_kept(event)}"
    if count > NAMED:
        several = int(risen.sum())
        if not several:
            return "no row has a new highest, so no row is rescaled"
        return (
            f"{_rows(several)} a new highest, and each is rescaled by its own factor; the other {count - several} keep theirs"
            if (several < count)
            else f"all {count} rows have a new highest, and each is rescaled by its own factor"
        )
    said = []
    for i in range(count):
        name = f"query {rows.start + i + 1}"
        if old[i] == MASKED:
            said.append(f"{name} {'still has no live key' if new[i] == MASKED else 'has its first live scores'}")
        elif risen[i]:
            alpha = event.parts["alpha"][i]
            factor = f"{voice.exp(old[i], new[i])}{voice.gives(alpha)}{voice.number(alpha)}"
            said.append(
                f"{name} has a new highest, {voice.number(new[i])} (it was {voice.number(old[i])}), so all it kept is multiplied by {factor}"
            )
        elif np.isnan(new[i]):
            said.append(f"{name} has met a NaN and stays so")
        else:
            said.append(f"{name} keeps its highest, {voice.number(old[i])}")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def phases(spec: Spec, moment: Moment) -> dict[str, str]:
    """What each phase of the step does, by name, for the eye."""
    event: Event | None = moment.event
    if event is None or event.kind != "tile" or event.skipped:
        return {}
    v, parts = WRITTEN, event.parts
    keys = _span("key", "keys", event.cols)
    fa1 = spec.algorithm == "fa1"
    fresh = (event.before.m == MASKED).all()
    masked = int((event.live == 0).sum())
    factor = spec.factor
    scaled = "" if factor == 1 else f" times the scale {v.number(factor)}"
    told = {
        "load": f"Load {keys} and their values; the queries stay.",
        "score": f"Each query meets each key: q · k{scaled}{f'; {masked} masked cells are set aside' if masked else ''}.",
        "max": f"Each row takes its highest score: {_row(parts['m_new'])}.",
        "rescale": "Nothing is kept yet, so there is nothing to rescale."
        if fresh
        else f"What each row kept is multiplied by exp(m before − m now): {_row(parts['alpha'])}.",
        "exponentiate": f"Each score becomes a size next to the {'tile’s own' if fa1 else 'row’s'} highest.",
        "accumulate": f"The sizes of each row add {_row(parts['row_sums'])} to ℓ, and size × value goes into {'O, divided by the new ℓ at once' if fa1 else 'acc'}.",
        "consume": "The scores and sizes of this tile are dropped. They will not be needed again.",
    }
    return {f"phase_{name}": said for name, said in told.items()}


def _row(x: Array) -> str:
    shown = [WRITTEN.number(one) for one in x[:NAMED].tolist()]
    return ", ".join(shown) + (" and so on" if len(x) > NAMED else "")


def _kept(event: Event) -> str:
    return "output" if "m_tile" in event.parts else "acc"


def _span(one: str, many: str, span: slice) -> str:
    return f"{one} {span.start + 1}" if _one(span) else f"{many} {span.start + 1} to {span.stop}"


def _one(span: slice) -> bool:
    return bool(span.stop - span.start == 1)


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count} rows have"


def _capital(said: str) -> str:
    return said[0].upper() + said[1:]
