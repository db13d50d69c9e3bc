"""What a step of standard attention does, in one sentence."""

from app.machines.attention import Inputs
from app.machines.run import Moment
from app.stories.voice import Voice


def sentence(voice: Voice, spec: Inputs, moment: Moment) -> str:
    """
    >>> from app.stories.voice import WRITTEN
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Inputs(q=[[1, 0]], k=[[1, 2], [2, 1]], v=[[2, 0], [0, 2]])
    >>> [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["standard-attention"], spec)][1]
    'Every query meets every key: the table S, 1 × 2 = 2 scores, is written to slow memory.'
    """
    if moment.event is None:
        return "Nothing is computed yet: both tables are empty."
    size = f"{spec.n_q}{voice.times}{spec.n_k}{voice.equals}{spec.n_q * spec.n_k}"
    live = spec.live(slice(0, spec.n_q), slice(0, spec.n_k)) != 0
    masked, empty = int((~live).sum()), int((~live.any(axis=1)).sum())
    if moment.event.kind == "scores":
        if not masked:
            return f"Every query meets every key: the table S, {size} scores, is written to slow memory."
        aside = "1 of them masked" if masked == 1 else f"{masked} of them masked"
        return f"Every query meets the keys that it may see: the table S, {size} scores, {aside}, is written to slow memory."
    tail = "" if not empty else "; 1 row has no live key, and is 0" if empty == 1 else f"; {empty} rows have no live key, and are 0"
    if moment.event.kind == "softmax":
        return f"S is read back, each row becomes shares, and the table P, {size} shares, is written to slow memory{tail}."
    return f"P is read back, all {spec.n_q * spec.n_k} shares of it, and each row of it weighs the values: the output is written{tail}."
