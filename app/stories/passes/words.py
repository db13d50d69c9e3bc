"""What a step of softmax-passes does, in one sentence; and the arithmetic of what is kept and written."""

import math

from app.machines.online import MASKED
from app.machines.passes import METHODS, Reading, Spec, State
from app.machines.run import Moment
from app.stories.voice import WRITTEN, Voice


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.stories.voice import WRITTEN
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
    total = f"{voice.sum}{voice.gives(l)}{voice.number(l)}"
    if event.op == "sum":
        return f"{where}: the sum of sizes is now {total}."
    if event.op == "both":
        return f"{where}: the highest so far is {voice.number(m)}, and the sum measured against it is {total}."
    if first != last:
        return f"{where}: a share for each is written, size over sum."
    share = event.results[0]
    sign = voice.gives(share, exact=_exact_share(event))
    return f"{where}: size{voice.over}{voice.sum}{sign}{voice.number(share)}, and this share is written."


def lines(spec: Spec, before: State, moment: Moment) -> dict[str, str]:
    """How m, l and the share just written came about; for the eye only.

    before   the state that the step started from

    >>> from app.machines.passes import advance, start, step
    >>> from app.machines.run import Moment
    >>> spec = Spec((1.0, 3.0), method="online")
    >>> first = step(spec, start(spec))
    >>> event = advance(spec, first)
    >>> found = lines(spec, first, Moment(2, event, event.after, event.cost))
    >>> found["m"], found["l"]
    ('max(1, 3) = 3', '1 × exp(1 − 3) + exp(3 − 3) ≈ 1.135')
    """
    ops, event = METHODS[spec.method], moment.event
    finds, adds, writes = ("both" if "both" in ops else "max"), ("both" if "both" in ops else "sum"), "share"
    op = event.op if event else ""
    told = {"m": _when(ops, finds, op), "l": _when(ops, adds, op), "share": _when(ops, writes, op)}
    if op in ("max", "both"):
        told["m"] = _highest(before, event)
    if op in ("sum", "both"):
        told["l"] = _sum(before, event)
    if op == "share":
        told["share"] = _share(event)
    return told


def _when(ops: tuple[str, ...], op: str, now: str) -> str:
    """Where in the passes a number comes from, when this step does not make it."""
    if op not in ops:
        return {"max": "this way looks for no highest", "share": "this way writes no shares"}[op]
    pass_ = ops.index(op) + 1
    if now and ops.index(now) + 1 > pass_:
        return f"as pass {pass_} left it"
    return f"comes in pass {pass_}" if len(ops) > 1 else "comes with the first read"


def _highest(before: State, event: Reading) -> str:
    v, m = WRITTEN, event.after.m
    assert m is not None
    among = [*([] if before.m is None else [before.m]), *event.scores]
    if len(among) == 1:
        return "the first score is the highest so far"
    if len(among) > 3:
        return f"the highest of {'' if before.m is None else 'm and '}{len(event.scores)} scores is {v.number(m)}"
    return f"max({', '.join(map(v.number, among))}) = {v.number(m)}"


def _sum(before: State, event: Reading) -> str:
    """The old sum, rescaled where a maximum is found on the way, and what the block adds."""
    v, l, m = WRITTEN, event.after.l, event.after.m
    assert l is not None
    old = [] if before.l is None else [before.l]
    terms = list(map(v.number, old))
    if old and event.op == "both" and before.m not in (m, None, MASKED):
        assert before.m is not None
        terms = [f"{terms[0]}{v.times}{v.exp(before.m, m)}"]
    added = [_size(x, m) for x in event.scores] if len(event.scores) < 3 else [f"{len(event.scores)} sizes"]
    exact = (before.l or 0.0) + sum(event.results)
    powers = [x for x in event.scores if x != MASKED] if m is None else [x - m for x in event.scores if x != MASKED]
    powers += [before.m - m] if event.op == "both" and before.m not in (m, None, MASKED) and m is not None and before.m is not None else []
    if any(powers):  # an exponential that the format has rounded
        exact = math.nan
    return f"{v.plus.join([*terms, *added])}{v.gives(l, *old, *event.scores, *event.results, exact=exact)}{v.number(l)}"


def _size(x: float, m: float | None) -> str:
    return "0 (masked)" if x == MASKED else WRITTEN.exp(x, m)


def _share(event: Reading) -> str:
    v, l = WRITTEN, event.after.l
    assert l is not None
    if len(event.scores) > 1:
        return f"for each score, its size{v.over}{v.number(l)}"
    share = event.results[0]
    return f"{_size(event.scores[0], event.after.m)}{v.over}{v.number(l)}{v.gives(share, l, exact=_exact_share(event))}{v.number(share)}"


def _exact_share(event: Reading) -> float:
    """A share before any rounding, where that is known; else NaN. Only exp 0 is a number that a format can hold."""
    x, m, l = event.scores[0], event.after.m, event.after.l
    if x == MASKED and l:
        return 0.0
    return 1 / l if l and x == (m or 0.0) else math.nan
