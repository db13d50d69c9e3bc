"""What a step of online softmax does, in one sentence; its arithmetic line by line; and what became of the old way."""

import math
from collections.abc import Sequence

from app.machines.naive import Bad
from app.machines.online import MASKED, Reading, Spec, State, output
from app.machines.run import Moment
from app.stories.voice import WRITTEN, Voice, ones

LISTED = 4  # scores of a block that are named one by one


def sentence(voice: Voice, spec: Spec, moment: Moment) -> str:
    """
    >>> from app.machines import MACHINES
    >>> from app.machines.run import moments
    >>> spec = Spec(scores=(1.0, 3.0))
    >>> [sentence(WRITTEN, spec, moment) for moment in moments(MACHINES["online-softmax"], spec)][2]
    'Score 2 of 2 is 3, a new highest (it was 1): all kept so far is multiplied by exp(1 − 3) ≈ 0.135, so ℓ becomes 1 × 0.135 + 1 ≈ 1.135.'
    """
    n = len(spec.scores)
    if moment.event is None:
        waiting = "1 score waits" if n == 1 else f"{n} scores wait"
        return f"Nothing is read yet: m is {voice.number(MASKED)}, {voice.sum} is 0, and {waiting}."
    event: Reading = moment.event
    return f"{_read(voice, event, n)}{_found(voice, spec, event)}{_stalled(voice, event)}{_output(voice, spec, moment.state)}."


def _read(voice: Voice, event: Reading, n: int) -> str:
    first, last = event.first + 1, event.first + len(event.scores)
    if first == last:
        return f"Score {first} of {n} is {voice.number(event.scores[0])}"
    listed = f" ({', '.join(map(voice.number, event.scores))})" if last - first < LISTED else ""
    return f"Scores {first} to {last} of {n}{listed}"


def _found(voice: Voice, spec: Spec, event: Reading) -> str:
    one = len(event.scores) == 1
    have = "" if one else " are read"
    if all(x == MASKED for x in event.scores):
        if event.m_old == MASKED:
            return f"{have}, masked, and nothing live has come yet: m stays {voice.number(MASKED)}, {voice.sum} stays 0, and the guard skips the step"
        return f"{have}, masked: {'its' if one else 'their'} size is 0, so m and {voice.sum} stay"
    if not math.isfinite(event.m_new):
        return _not_a_score(voice, event, have)
    sizes = "its size" if one else "the sizes"
    l_line = _sum(voice, event)
    if event.m_old == MASKED:
        told = "the first, so it is the highest" if event.first == 0 else "the first live one, so it is the highest"
        if one:
            return f", {told}: m is {voice.number(event.m_new)}, its size is {voice.exp(event.scores[0], event.m_new)}{voice.equals}1, and {voice.sum}{voice.equals}1"
        return f"{have} first: the highest is {voice.number(event.m_new)}, and {sizes} next to it add up to {voice.sum}{voice.gives(event.after.l, exact=ones(event.scores))}{voice.number(event.after.l)}"
    if event.new_max:
        factor = voice.size(spec.form, event.alpha, event.m_old, event.m_new)
        highest = f"a new highest (it was {voice.number(event.m_old)})"
        if not one:
            highest = f"{voice.number(event.m_new)}, {highest}"
        return f"{', ' if one else ' bring '}{highest}: all kept so far is multiplied by {factor}, so {l_line}"
    if one and event.scores[0] == event.m_new:
        return f", a tie with the highest: the factor is 1, nothing shrinks, and {l_line}"
    if one:
        size = voice.size(spec.form, event.p[0], event.scores[0], event.m_new)
        return f", no higher than {voice.number(event.m_new)}: nothing is rescaled, its size is {size}, and {l_line}"
    return f"{have}, none higher than {voice.number(event.m_new)}: nothing is rescaled, {sizes} add {voice.number(event.row_sum)}, and {l_line}"


def _not_a_score(voice: Voice, event: Reading, have: str) -> str:
    """A NaN or +inf has arrived, now or before: shown as what it does."""
    m, l = voice.number(event.m_new), voice.number(event.after.l)
    if math.isnan(event.m_new):
        cause = "the maximum of anything and NaN is NaN"
    else:
        cause = f"a size next to an infinite highest is {voice.exp(math.inf, math.inf)}, and infinity less infinity has no value"
    return f"{have}: {cause}, so m is {m} and {voice.sum} is {l} from here on"


def _sum(voice: Voice, event: Reading) -> str:
    """l = l · alpha + what is new, with the numbers in it."""
    old, new, after = voice.number(event.l_old), voice.number(event.row_sum), event.after.l
    numbers = (event.l_old, event.alpha, event.row_sum)
    kept = f"{old}{voice.times}{voice.number(event.alpha)}" if event.new_max else old
    sign = voice.gives(after, *numbers, exact=event.l_old * event.alpha + event.row_sum)
    said = f"{kept}{voice.plus}{new}{sign}{voice.number(after)}"
    return f"{voice.sum} becomes {said}"


def _stalled(voice: Voice, event: Reading) -> str:
    if event.stalled:
        return f"; adding {voice.number(event.row_sum)} rounds straight back, so the sum has stalled"
    return ""


def _output(voice: Voice, spec: Spec, state: State) -> str:
    if not spec.width:
        return ""
    return f"; the output so far is {voice.vector(output(spec, state))}"


def lines(spec: Spec, moment: Moment) -> dict[str, str]:
    """The arithmetic behind each number that is kept, for the step just made; for the eye only."""
    event: Reading | None = moment.event
    if event is None:
        return {"m": "nothing read yet", "l": "an empty sum", "alpha": "", "acc": "an empty sum", "output": ""}
    v = WRITTEN
    if event.m_new == MASKED:
        kept = "unchanged: nothing live yet"
        return {"m": kept, "l": kept, "alpha": "nothing to rescale", "acc": kept, "output": "0, as no key is live"}
    alpha = "nothing to rescale yet"
    if event.m_old != MASKED:
        alpha = v.size(spec.form, event.alpha, event.m_old, event.m_new)
        alpha += ": the highest stays" if event.m_old == event.m_new else ""
    scores = ", ".join(map(v.number, event.scores[:LISTED])) + (", …" if len(event.scores) > LISTED else "")
    l_sign = v.gives(event.after.l, event.l_old, event.alpha, event.row_sum, exact=event.l_old * event.alpha + event.row_sum)
    acc = "; ".join(
        f"{v.number(old)}{v.times}{v.number(event.alpha)}{v.plus}{v.operand(new)}{v.gives(after, old, event.alpha, new, exact=old * event.alpha + new)}{v.number(after)}"
        for old, new, after in zip(event.acc_old, event.pv, event.after.acc, strict=True)
    )
    return {
        "m": f"max({v.number(event.m_old)}, {scores}) = {v.number(event.m_new)}",
        "l": f"{v.number(event.l_old)}{v.times}{v.number(event.alpha)}{v.plus}{v.number(event.row_sum)}{l_sign}{v.number(event.after.l)}",
        "alpha": alpha,
        "acc": acc,
        "output": f"{v.vector(event.after.acc)}{v.over}{v.number(event.after.l)}" if spec.width else "",
    }


def all_read(state: State, shares: Sequence[float]) -> str:
    """What the last step leaves: the shares, which need a second read.

    >>> all_read(State(2, 1.0, 4.0, ()), (0.25, 0.75))
    'All 2 are read. A share is a size over ℓ: score 2 gets the most, 0.750, and together they make 1.'
    """
    n, say = len(shares), WRITTEN.number
    if all(map(math.isnan, shares)):
        why = (
            "there is nothing to share out"
            if state.m == MASKED
            else "ℓ is no number any more"
            if math.isnan(state.l)
            else "the sizes are no numbers"
        )
        return f"{_all(n)}, but {why}: every share is NaN."
    most = max(shares)
    total = math.fsum(shares)
    together = f"together they make {say(round(total, 3))}"
    if abs(total - 1) >= 0.005:
        together += ", not 1, because rounding lost a part of ℓ"
    return f"{_all(n)}. A share is a size over ℓ: score {shares.index(most) + 1} gets the most, {say(most)}, and {together}."


def _all(n: int) -> str:
    return "The one score is read" if n == 1 else f"All {n} are read"


def old_way(*, read: int, failed: bool, done: bool, shares: Sequence[float], exact: Sequence[float]) -> str:
    """One sentence on how the naive softmax of the same scores is getting on.

    read           how many scores it has read
    failed, done   as in the snapshot
    shares, exact   its shares of the scores read so far, and the float64 ones
    """
    if not read:
        return "It sums exp(score) as it is, with no highest score taken off."
    if not failed:
        if all(map(math.isnan, shares)):
            return "Its shares are NaN, and so are the exact ones."
        if not done:
            return "So far it works: every exponential and their sum fit."
        gap = max(abs(a - b) for a, b in zip(shares, exact, strict=True))
        if gap >= 0.005:
            return f"Nothing overflows, but rounding its sum has moved its shares too, by up to {WRITTEN.number(gap)}."
        return "It works here: its shares agree with the exact ones within rounding."
    nans, zeros = sum(map(math.isnan, shares)), sum(share == 0 for share in shares)
    if not done:
        return "It has failed already: a number it needs no longer fits the format."
    if nans == len(shares):
        return "It failed: every share is NaN."
    if nans:
        return f"It failed: {_count(nans)} NaN, and every finite size over an infinite sum is 0."
    if zeros == len(shares):
        return "It failed quietly: no exponential overflows but their sum does, and every share is 0."
    return (
        f"It failed: {_count(zeros)} 0 where the exact share is not."
        if zeros
        else "It failed: its shares differ from the exact ones by more than rounding."
    )


def _count(n: int) -> str:
    return "one share is" if n == 1 else f"{n} shares are"


def bad(spec: Spec, one: Bad) -> str:
    """What an operation did that was the first to give an infinity or NaN.

    >>> bad(Spec(scores=(89.0,)), Bad(math.inf, "exp", (89.0,), 0))
    'exp(89) is past the largest float32'
    >>> bad(Spec(scores=(89.0,)), Bad(math.nan, "div", (math.inf, math.inf), 0))
    '∞ / ∞ is NaN'
    """
    sign = {"exp": "", "add": WRITTEN.plus, "div": WRITTEN.over}[one.op]
    made = sign.join(map(WRITTEN.number, one.operands)) if sign else WRITTEN.exp(one.operands[0])
    form = spec.form if one.op == "exp" else spec.sums
    if not all(map(math.isfinite, one.operands)) or one.op == "div":
        return f"{made} is {WRITTEN.number(one.gives)}"
    if math.isnan(one.gives):
        return f"{made} is past the largest {form.name}, which has no infinity: NaN"
    return f"{made} is past the largest {form.name}"


def moved(spec: Spec, exact: Sequence[float], stored: Sequence[float], before: Sequence[float], after: Sequence[float]) -> str:
    """Whether rounding the scores into the format moved the exact shares, seen at three places; "" if not.

    exact, stored   score + offset, exactly and as the format holds it
    before, after   the exact shares of those two lists
    """
    gaps = [abs(a - b) for a, b in zip(before, after, strict=True) if math.isfinite(a) and math.isfinite(b)]
    if not gaps or max(gaps) < 0.0005:
        return ""
    worst = gaps.index(max(gaps))
    first = next(i for i, (a, b) in enumerate(zip(exact, stored, strict=True)) if a != b)
    n = WRITTEN.number
    return (
        f"Rounding moved the shares themselves: {spec.format} stores {n(exact[first])} as {n(stored[first])}, and the exact share of "
        f"score {worst + 1} goes from {n(before[worst])} to {n(after[worst])}."
    )


def turned(spec: Spec, position: float) -> str:
    """Where on the slider the old way fails.

    >>> turned(Spec(scores=(1.0,)), 80)
    'In float32 the old way fails from +80 on.'
    """
    return f"In {spec.format} the old way fails from +{WRITTEN.number(position)} on."
