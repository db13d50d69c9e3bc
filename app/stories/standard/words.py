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
    if moment.event.kind == "scores":
        return f"Every query meets every key: the table S, {size} scores, is written to slow memory."
    if moment.event.kind == "softmax":
        return f"S is read back, each row becomes shares, and the table P, {size} shares, is written to slow memory."
    return f"P is read back, all {size.split(voice.equals)[-1]} shares of it, and each row of it weighs the values: the output is written."
