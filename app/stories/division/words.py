"""Dividing first or last, in one sentence a step, and each way's arithmetic."""

from collections.abc import Sequence

from app.machines.division import Spec, State
from app.machines.online import MASKED
from app.machines.run import Moment
from app.stories.voice import WRITTEN, Voice, ones


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Spec((1.0, 2.0), ((2.0, 0.0), (0.0, 2.0)))
    >>> [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["division-order"], spec)][4]
    'Division last: each of the 2 numbers of the weighted sum is divided by ℓ ≈ 1.368, once, and both ways give [0.538, 1.462].'
    """
    state: State = moment.state
    n, elements = len(spec.scores), len(state.first)
    if moment.event is None:
        return f"{n} scores and their values wait, to be averaged in two ways."
    l = f"{voice.sum}{voice.gives(state.l, exact=ones(spec.scores))}{voice.number(state.l)}"
    if moment.event.kind == "exponentials":
        return f"Both ways start alike: each score becomes exp(score{voice.minus}{voice.operand(state.m)}), and these add up to {l}."
    if moment.event.kind == "shares":
        return f"Shares first: each of the {n} exponentials is divided by {l}; the other way divides nothing yet."
    if moment.event.kind == "weigh":
        return f"Each way weighs the values: with shares the output is there, {voice.vector(state.first)}; with exponentials it is a sum still to be divided, {voice.vector(state.weighted)}."
    if state.m == MASKED:
        return "No score is live: both ways answer 0."
    numbers = "the weighted sum" if elements == 1 else f"each of the {elements} numbers of the weighted sum"
    same = (
        f"both ways give {voice.vector(state.last)}"
        if _near(state)
        else f"the ways give {voice.vector(state.first)} and {voice.vector(state.last)}, which differ by rounding"
    )
    return f"Division last: {numbers} is divided by {l}, once, and {same}."


def lines(spec: Spec, state: State) -> dict[str, str]:
    """The arithmetic of each way for the first element of the output."""
    told = {"first": "", "last": ""}
    if state.first and len(spec.scores) <= 4:
        told["first"] = _products(state.shares, spec, state.first[0])
        told["last"] = _products(state.exponentials, spec, state.weighted[0])
    return told


def _products(weights: Sequence[float], spec: Spec, result: float) -> str:
    """weight × value, of each live score, and their sum."""
    v = WRITTEN
    terms = [(weight, row[0]) for score, weight, row in zip(spec.scores, weights, spec.rows, strict=True) if score != MASKED]
    if not terms:
        return "no score is live"
    exact = sum(weight * value for weight, value in terms)
    said = v.plus.join(f"{v.number(weight)}{v.times}{v.operand(value)}" for weight, value in terms)
    return f"{said}{v.gives(result, *(x for term in terms for x in term), exact=exact)}{v.number(result)}"


def _near(state: State) -> bool:
    return WRITTEN.vector(state.first) == WRITTEN.vector(state.last)
