"""What a step of a split row does, in one sentence; the arithmetic of a merge line by line; and how far rounding carried it."""

import math
from collections.abc import Sequence

from app.machines import online
from app.machines.merge import Merged, Partial, Spec, Worked
from app.machines.online import MASKED
from app.machines.reference import Error
from app.machines.run import Moment
from app.stories.voice import WRITTEN, Voice, ones

LISTED = 4  # scores of a part that are named one by one


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Spec(scores=(1.0, 3.0, 5.0), cuts=(2,))
    >>> told = [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["merge"], spec)]
    >>> told[1]
    'Worker 1 of 2 reads scores 1 to 2 (1, 3), and only these: the highest is 3, and the sizes next to it add up to ℓ ≈ 1.135.'
    >>> told[3]
    'Merging part 1 with part 2: the higher m is 5, so part 1 is multiplied by exp(3 − 5) ≈ 0.135, and part 2 by 1; ℓ becomes 1.135 × 0.135 + 1 ≈ 1.154. Both parts are merged.'
    """
    event: Worked | Merged | None = moment.event
    if event is None:
        return _start(voice, spec)
    if isinstance(event, Worked):
        return f"{_work(voice, spec, event)}."
    told = f"{_merge(voice, spec, event)}{_output(voice, spec, event.result)}."
    parts = len(spec.spans)
    if moment.step < 2 * parts - 1:
        return told
    return f"{told} {'Both' if parts == 2 else f'All {parts}'} parts are merged."


def _start(voice: Voice, spec: Spec) -> str:
    n, parts = len(spec.scores), len(spec.spans)
    waiting = "1 score waits" if n == 1 else f"{n} scores wait"
    if parts == 1:
        return f"Nothing is read yet: {waiting} for one worker."
    sizes = [last - first for first, last in spec.spans]
    listed = f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"
    return f"Nothing is read yet: {waiting}, in {parts} parts of {listed}, a worker for each."


def _work(voice: Voice, spec: Spec, event: Worked) -> str:
    one, kept = event.result, event.result.kept
    who = f"Worker {one.number} of {len(spec.spans)}"
    count = one.last - one.first
    if not count:
        return f"{who} has no scores: its m is {voice.number(MASKED)} and its {voice.sum} is 0"
    listed = f" ({', '.join(map(voice.number, event.scores))})" if count <= LISTED else ""
    which = f"score {one.first + 1}" if count == 1 else f"scores {one.first + 1} to {one.last}"
    read = f"{who} reads {which}{listed}"
    if one.empty:
        return f"{read}, masked: with nothing live its m stays {voice.number(MASKED)} and its {voice.sum} stays 0"
    if not math.isfinite(kept.m):
        return f"{read}: its m is {voice.number(kept.m)} and its {voice.sum} is {voice.number(kept.l)}, which no merge will mend"
    only = ", and only these" if len(spec.spans) > 1 else ""
    if count == 1 and only:
        only = ", and only that"
    sizes = "its size next to itself is" if count == 1 else "the sizes next to it add up to"
    return f"{read}{only}: the highest is {voice.number(kept.m)}, and {sizes} {voice.sum}{voice.gives(kept.l, exact=ones(event.scores))}{voice.number(kept.l)}{_output(voice, spec, one)}"


def _merge(voice: Voice, spec: Spec, event: Merged) -> str:
    a, b = event.pair
    names = called(a), called(b)
    merging = f"Merging {names[0]} with {names[1]}"
    if a.empty and b.empty:
        return f"{merging}: both are empty, and so is the result, with m {voice.number(MASKED)} and {voice.sum} 0"
    if a.empty or b.empty:
        empty, other = (names[0], names[1]) if a.empty else (names[1], names[0])
        is_, stay = _verb(a if a.empty else b, "is", "are"), _verb(b if a.empty else a, "stays as it is", "stay as they are")
        return f"{merging}: {empty} {is_} empty, so {other} {stay}, to the last digit"
    kept = event.result.kept
    if not math.isfinite(kept.m):
        return f"{merging}: m is {voice.number(kept.m)} on one side, so {voice.sum} is {voice.number(kept.l)} from here on"
    l = f"{voice.sum} becomes {_l(voice, event)}"
    if a.kept.m == b.kept.m:
        return f"{merging}: both have the highest {voice.number(kept.m)}, so both factors are 1, and {l}"
    low = int(a.kept.m > b.kept.m)
    factor = event.factors[low]
    shown = voice.size(spec.row.form, factor, event.pair[low].kept.m, kept.m)
    is_ = _verb(event.pair[low], "is", "are")
    return f"{merging}: the higher m is {voice.number(kept.m)}, so {names[low]} {is_} multiplied by {shown}, and {names[1 - low]} by 1; {l}"


def _l(voice: Voice, event: Merged) -> str:
    """l_a · factor_a + l_b · factor_b = l, with the numbers in it; a factor of 1 is left out."""
    old = [one.kept.l for one in event.pair]
    terms = [
        voice.number(l) if factor == 1 else f"{voice.number(l)}{voice.times}{voice.number(factor)}"
        for l, factor in zip(old, event.factors, strict=True)
    ]
    after = event.result.kept.l
    exact = sum(l * factor for l, factor in zip(old, event.factors, strict=True))
    return f"{voice.plus.join(terms)}{voice.gives(after, *old, *event.factors, exact=exact)}{voice.number(after)}"


def _output(voice: Voice, spec: Spec, one: Partial) -> str:
    if not spec.width:
        return ""
    said = "its output is" if len(one.of) == 1 else "the output of these parts is"
    return f"; {said} {voice.vector(online.output(spec.row, one.kept))}"


def called(one: Partial) -> str:
    """Some parts by their numbers.

    >>> nothing = online.State(0, MASKED, 0.0, ())
    >>> [called(Partial(9, of, 0, 0, nothing)) for of in ((3,), (1, 2), (1, 2, 3), (1, 3, 4))]
    ['part 3', 'parts 1 and 2', 'parts 1 to 3', 'parts 1, 3 and 4']
    """
    first, last = one.of[0], one.of[-1]
    if first == last:
        return f"part {first}"
    if len(one.of) > 2 and last - first + 1 == len(one.of):
        return f"parts {first} to {last}"
    return f"parts {', '.join(map(str, one.of[:-1]))} and {last}"


def _verb(one: Partial, single: str, several: str) -> str:
    return single if len(one.of) == 1 else several


def lines(spec: Spec, moment: Moment) -> dict[str, str]:
    """The arithmetic behind each number of the result just made; for the eye only."""
    event: Worked | Merged | None = moment.event
    if event is None:
        return {"m": "nothing read yet", "l": "an empty sum", "factors": "", "acc": "an empty sum", "output": ""}
    v, kept = WRITTEN, event.result.kept
    output = f"{v.vector(kept.acc)}{v.over}{v.number(kept.l)}" if spec.width else ""
    if event.result.empty:
        return {"m": "no live key", "l": "an empty sum", "factors": "", "acc": "an empty sum", "output": "0, as no key is live"}
    if isinstance(event, Worked):
        many = "1 score" if len(event.scores) == 1 else f"{len(event.scores)} scores"
        often = (
            ("never rescaled", "rescaled once", "rescaled twice")[event.rescales]
            if event.rescales < 3
            else f"rescaled {event.rescales} times"
        )
        read = f"from {many}, {often}"
        return {"m": f"the highest of {many}", "l": read, "factors": "", "acc": read if spec.width else "", "output": output}
    a, b = event.pair
    if a.empty or b.empty:
        same = f"that of {called(b if a.empty else a)}, untouched"
        return {"m": same, "l": same, "factors": "nothing to rescale", "acc": same if spec.width else "", "output": output}
    acc = "; ".join(
        f"{v.number(x)}{v.times}{v.number(event.factors[0])}{v.plus}{v.operand(y)}{v.times}{v.number(event.factors[1])}"
        f"{v.gives(after, x, y, *event.factors, exact=x * event.factors[0] + y * event.factors[1])}{v.number(after)}"
        for x, y, after in zip(a.kept.acc, b.kept.acc, kept.acc, strict=True)
    )
    factors = "; ".join(
        f"{called(one)}: {v.size(spec.row.form, factor, one.kept.m, kept.m)}" for one, factor in zip(event.pair, event.factors, strict=True)
    )
    return {
        "m": f"max({v.number(a.kept.m)}, {v.number(b.kept.m)}) = {v.number(kept.m)}",
        "l": _l(v, event),
        "factors": factors,
        "acc": acc,
        "output": output,
    }


def moved(spec: Spec, split: Error, whole: Error, same: bool) -> str:
    """How far rounding carried the merged answer from float64's, next to one worker's.

    split, whole   the largest error of the merged result and of one worker that reads the whole row
    same           whether these two results are the same numbers

    >>> moved(Spec((1.0, 2.0), format="float16"), Error(0.01, 0.01, 2.0), Error(0.0, 0.0, 0.0), False)
    'Merged, the lse is 2 units in the last place of float16 from the float64 one; for one worker alone it is 0. They agree within rounding.'
    """
    what, form = ("the output", spec.format) if spec.width else ("the lse", spec.accumulate)
    n = WRITTEN.number
    units = "unit" if split.ulps == 1 else "units"
    off = f"{what} is {n(split.ulps)} {units} in the last place of {form} from the float64 one"
    if len(spec.spans) == 1:
        return f"{off[0].upper()}{off[1:]}."
    alone = (
        "one worker alone gives the same number." if same else f"for one worker alone it is {n(whole.ulps)}. They agree within rounding."
    )
    return f"Merged, {off}; {alone}"


def both_ways(spec: Spec, kept: Sequence[float], finished: Sequence[float]) -> str:
    """The output from m, l and acc, and the one from finished outputs and lse."""
    v = WRITTEN
    if list(kept) == list(finished):
        return f"Merging finished outputs by their lse gives {v.vector(finished)} too."
    if not all(map(math.isfinite, (*kept, *finished))):
        return f"Merging finished outputs by their lse gives {v.vector(finished)}."
    if v.vector(kept) == v.vector(finished):
        return f"Merging finished outputs by their lse gives {v.vector(finished)} too, within rounding."
    return f"Merging finished outputs by their lse gives {v.vector(finished)}: lse, rounded to {spec.accumulate}, makes the difference."
