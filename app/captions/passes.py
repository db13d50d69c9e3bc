"""What a step of softmax-passes does, in one sentence."""

from app.captions.voice import Voice
from app.machines.passes import METHODS, Reading, Spec
from app.machines.run import Moment


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.captions.voice import WRITTEN
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Spec(scores=(1.0, 3.0), method="safe", block=2)
    >>> [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["softmax-passes"], spec)][1]
    'Pass 1 of 3, scores 1 to 2: the highest so far is 3.'
    """
    passes = len(METHODS[spec.method])
    if moment.event is None:
        return f"Nothing is read yet: {len(spec.scores)} scores wait, and the {spec.method} way will read them {('once', 'twice', 'three times')[passes - 1]}."
    event: Reading = moment.event
    first, last = event.first + 1, event.first + len(event.scores)
    where = f"Pass {event.pass_ + 1} of {passes}, " + (f"score {first}" if first == last else f"scores {first} to {last}")
    m, l = moment.state.m, moment.state.l
    if event.op == "max":
        return f"{where}: the highest so far is {voice.number(m)}."
    if event.op == "sum":
        return f"{where}: the sum of sizes is now {voice.number(l)}."
    if event.op == "both":
        return f"{where}: the highest so far is {voice.number(m)}, and the sum measured against it is {voice.number(l)}."
    written = voice.number(event.results[0]) if first == last else "a share for each"
    return f"{where}: {written} is written, size over sum."
