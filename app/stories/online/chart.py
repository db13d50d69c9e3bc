"""Online softmax as two charts: the scores with the highest so far, their sizes and the sum that is kept; and beside them the old way.

A step with a new highest has five beats: the score arrives above the line of the highest, the line rises to it, outlines are set where
the bars stood, bars and sum shrink by one factor, and the new size joins. Any other step has the first and the last.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from app.charts.marks import Box, Chart, Mark, box, ticks
from app.charts.outlines import width_of
from app.machines import online
from app.machines.online import MASKED, Spec, shifted
from app.numbers import SUPERSCRIPTS, show
from app.stories.online.shown import Kept, Read
from app.stories.record import Shot
from app.stories.wire_types import Shaped

OnlineShot = Shot[Spec, Read | None, Kept]

LEFT, RIGHT = 38.0, 372.0
STRIP_TOP, STRIP_BASE = 18.0, 50.0  # the scores, above
TOP, BASE = 80.0, 180.0  # the sizes, from 1 to 0
SUM_TOP, SUM_HIGH = 203.0, 15.0  # the sum, below
SIZE, VALUED = (380.0, 224.0), 18.0  # and what more a row with values takes
EXP_TOP, EXP_BASE = 24.0, 128.0
EXP_SIZE = (380.0, 172.0)
ROOMY = 10  # bars up to which each one's number is written on it
LETTER = 7.0  # room for one letter of a score below its bar
ARRIVE, RISE, OUTLINE, SHRINK, JOIN = range(5)
BEATS = (240, 220, 100, 520, 240)


def charts(shot: OnlineShot) -> tuple[Chart, ...]:
    """Both charts of a state.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> machine = MACHINES["online-softmax"]
    >>> sizes, exps = charts(shot(machine, machine.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> [(mark.role, mark.text) for mark in sizes.marks if mark.key.startswith(("bar", "number"))]
    [('kept', ''), ('number', '0.135'), ('now', ''), ('number', '1'), ('unread', ''), ('none', '')]
    >>> [mark.text for mark in sizes.marks if mark.key in ("m-name", "l-name", "factor")]
    ['m = 3', '× 0.135', 'ℓ = 1.135']
    """
    return sizes(shot), exps(shot)


def sizes(shot: OnlineShot) -> Chart:
    """exp(score − m) for each score read, from 0 to 1, below the scores themselves and above their sum."""
    levels = [(_size_y(size), show(size, 1)) for size in (0.0, 0.5, 1.0)]
    still = (
        Mark("strip", "text", "tick", box(LEFT - 5, (STRIP_TOP + STRIP_BASE) / 2 + 4, 0, 0), "score"),
        *ticks(levels, LEFT, RIGHT),
        Mark("axis", "line", "axis", box(LEFT, BASE, RIGHT - LEFT, 0)),
        Mark("across", "text", "tick", box(LEFT - 5, BASE + 15, 0, 0), "score"),
    )
    marks = (*_highest(shot), *_scores(shot), *_sizes(shot), *_factor(shot), *_sum(shot), *_output(shot))
    size = (SIZE[0], SIZE[1] + VALUED) if shot.spec.width else SIZE
    return Chart("sizes", "Sizes: exp(score − m)", size, still, marks, BEATS)


def exps(shot: OnlineShot) -> Chart:
    """exp(score) for each score read, on a logarithmic axis with the format's largest number as a ceiling."""
    spec = shot.spec
    low, high, ceiling = _log_range(spec)
    every = max(1, math.ceil((ceiling - low) / 4))
    powers = range(math.ceil(low), math.floor(ceiling) + 1, every)
    levels = [(_exp_y((power - low) / (high - low)), f"10{str(power).translate(SUPERSCRIPTS)}") for power in powers]
    limit = _exp_y((ceiling - low) / (high - low))
    still = (
        *ticks(levels, LEFT, RIGHT),
        Mark("beyond", "rect", "beyond", box(LEFT, EXP_TOP, RIGHT - LEFT, limit - EXP_TOP)),
        Mark("limit", "line", "limit", box(LEFT, limit, RIGHT - LEFT, 0)),
        Mark("limit-name", "text", "limit-name", box(RIGHT, EXP_TOP - 6, 0, 0), f"largest {spec.form.name}, {show(spec.form.max)}"),
        Mark("axis", "line", "axis", box(LEFT, EXP_BASE, RIGHT - LEFT, 0)),
        Mark("across", "text", "tick", box(LEFT - 5, EXP_BASE + 15, 0, 0), "score"),
    )
    return Chart("exps", "The old way: exp(score), logarithmic", EXP_SIZE, still, (*_exps(shot, low, high), *_old_sum(shot)), BEATS)


def _highest(shot: OnlineShot) -> Iterator[Mark]:
    """The line of the highest score so far, and its name."""
    event, m = shot.event, shot.state.m
    there = math.isfinite(m)
    y = _score_y(shot.spec, m)
    before = _score_y(shot.spec, event.m_old) if event and math.isfinite(event.m_old) else y
    moved = there and before != y
    value, value_was = (m, event.m_old if moved and event else None) if there else (None, None)
    yield Mark(
        "highest", "line", "level" if there else "none", box(LEFT, y, RIGHT - LEFT, 0),
        was=box(LEFT, before, RIGHT - LEFT, 0) if moved else None, beat=RISE,
    )  # fmt: skip
    yield Mark(
        "m-name", "text", "kept-name-end" if event else "none", box(RIGHT, y - 5, 0, 0), f"m = {show(m)}",
        was=box(RIGHT, before - 5, 0, 0) if moved else None, beat=RISE, value=value, value_was=value_was,
    )  # fmt: skip


def _scores(shot: OnlineShot) -> Iterator[Mark]:
    """A dot for each score read, as high as the score; one just read drops in from above."""
    event, terms = shot.event, shot.state.terms
    yet = _dots(shot.spec)
    for row, (x, width) in enumerate(_slots(shot.spec)):
        if row >= len(terms) or event is None or terms[row].score == MASKED:
            yield yet[row]
            continue
        term, side = terms[row], min(8.0, width)
        left = x + (width - side) / 2
        fresh = row in event.indices
        place = box(left, _score_y(shot.spec, term.score) - side / 2, side, side)
        role = "failed" if not math.isfinite(term.score) else "now" if fresh else "kept"
        yield Mark(f"score/{row}", "dot", role, place, was=box(left, -14, side, side) if fresh else None)


def _sizes(shot: OnlineShot) -> Iterator[Mark]:
    """For each slot the outline of what its bar was, the bar, its number, and the score's name below."""
    event, terms = shot.event, shot.state.terms
    labelled, named, said, yet = len(shot.spec.scores) <= ROOMY, names(shot.spec), _said(shot.spec), _unread(shot.spec)
    for row, (x, width) in enumerate(_slots(shot.spec)):
        if row >= len(terms) or event is None:
            yield from yet[row]
            continue
        middle, name = x + width / 2, named[row]
        term, fresh = terms[row], row in event.indices
        masked, failed = term.score == MASKED, not math.isfinite(term.size)
        size, before = term.size, 0.0 if fresh else term.size if term.size_before is None else term.size_before
        role = "none" if masked else "failed" if failed else "now" if fresh else "kept"
        place, was = _bar(x, width, 1.0 if failed else size), _bar(x, width, before)
        shrinks = event.rescales and not fresh and not masked
        beat = JOIN if fresh else SHRINK
        number = "masked" if masked and name else show(size) if labelled and not masked else ""
        low = (TOP + BASE) / 2 if failed else place[1] - 4
        moves = place != was and not masked
        yield Mark(f"was/{row}", "rect", "was" if shrinks else "none", was, beat=OUTLINE, passing=True)
        yield Mark(
            f"bar/{row}", "rect", role, place, was=was if moves else None, beat=beat, value=None if labelled else size,
            name=f"size of score {said[row]}",
        )  # fmt: skip
        yield Mark(
            f"number/{row}", "text", "none" if not number else "alarm" if failed else "number", box(middle, low, 0, 0), number,
            was=box(middle, was[1] - 4, 0, 0) if moves and not failed else None, beat=beat,
            value=size if number and not masked else None, value_was=before if number and moves and not failed else None,
        )  # fmt: skip
        yield Mark(f"name/{row}", "text", "name", box(middle, BASE + 15, 0, 0), name)


@lru_cache(maxsize=64)
def _dots(spec: Spec) -> tuple[Mark, ...]:
    """The dots of scores not read."""
    slots = ((x + (width - min(8.0, width)) / 2, min(8.0, width)) for x, width in _slots(spec))
    return tuple(Mark(f"score/{row}", "dot", "none", box(left, STRIP_BASE, side, side)) for row, (left, side) in enumerate(slots))


@lru_cache(maxsize=64)
def _unread(spec: Spec, *, old: bool = False) -> tuple[tuple[Mark, ...], ...]:
    """What stands in each slot until its score is read; `old`: in the chart of the old way, where nothing has an outline of what it was."""
    found = []
    for row, ((x, width), name, said) in enumerate(zip(_slots(spec), names(spec), _said(spec), strict=True)):
        middle, told, base = x + width / 2, f"exp({said})" if old else f"size of score {said}", EXP_BASE if old else BASE
        marks = (
            Mark(f"was/{row}", "rect", "none", box(x, base, width, 0), passing=True),
            Mark(f"bar/{row}", "rect", "unread", box(x, base - 14, width, 14), name=told),
            Mark(f"number/{row}", "text", "none", box(middle, base - 4, 0, 0)),
            Mark(f"name/{row}", "text", "name-unread", box(middle, base + 15, 0, 0), name),
        )
        found.append(marks[1:] if old else marks)
    return tuple(found)


def _factor(shot: OnlineShot) -> Iterator[Mark]:
    """The factor, over the bars that it shrinks: it goes down with the tallest of them, into the room that they leave."""
    event = shot.event
    if event is None or not event.rescales:
        yield Mark("factor", "text", "none", box((LEFT + RIGHT) / 2, TOP, 0, 0), passing=True)
        return
    text = f"× {show(event.alpha)}"
    slots = _slots(shot.spec)
    last = max(event.indices[0] - 1, 0)
    middle = max((slots[0][0] + slots[last][0] + slots[last][1]) / 2, LEFT + width_of(text, 17.0, bold=True) / 2)
    tallest = max((term.size for term in shot.state.terms[: last + 1] if math.isfinite(term.size)), default=0.0)
    end = TOP + (_size_y(tallest) - TOP) / 2 + 4
    yield Mark("factor", "text", "factor", box(middle, end, 0, 0), text, was=box(middle, TOP - 14, 0, 0), beat=SHRINK, passing=True)


def _sum(shot: OnlineShot) -> Iterator[Mark]:
    """The sum as it is kept: what was there times the factor, and what this step added to it, rounding and all."""
    event, l = shot.event, shot.state.l
    scale = (RIGHT - LEFT - 84) / _most(shot.spec)
    at = LEFT

    def bar(x: float, part: float) -> Box:
        return box(x, SUM_TOP, scale * part if 0 <= part < math.inf else 0.0, SUM_HIGH)

    if event is None:
        yield Mark("l-was", "rect", "none", bar(at, 0), passing=True)
        yield Mark("l", "rect", "none", bar(at, 0))
        yield Mark("l-added", "rect", "none", bar(at, 0), passing=True)
        yield Mark("l-name", "text", "none", box(at, SUM_TOP + 13, 0, 0))
        return

    def beside(part: float) -> Box:
        return box(at + scale * max(part, 0) + 7, SUM_TOP + 13, 0, 0)

    old, kept, failed = event.l_old, event.l_rescaled, not math.isfinite(l)
    moves = not failed and l != old
    halfway = moves and event.rescales
    yield Mark("l-was", "rect", "was" if halfway else "none", bar(at, old), beat=OUTLINE, passing=True)
    yield Mark(
        "l", "rect", "failed" if failed else "kept" if l else "none", box(at, SUM_TOP, 60, SUM_HIGH) if failed else bar(at, l),
        was=bar(at, old) if moves else None, beat=JOIN, via=(SHRINK, bar(at, kept), kept) if halfway else None,
    )  # fmt: skip
    added = not failed and l > kept
    yield Mark(
        "l-added", "rect", "now" if added else "none", bar(at + scale * kept, l - kept) if added else bar(at, 0),
        was=bar(at + scale * kept, 0) if added else None, beat=JOIN, passing=True,
    )  # fmt: skip
    yield Mark(
        "l-name", "text", "kept-name", beside(60 / scale if failed else l), f"ℓ = {show(l)}", was=beside(old) if moves else None,
        beat=JOIN, value=l, value_was=old if moves else None, via=(SHRINK, beside(kept), kept) if halfway else None,
    )  # fmt: skip


def _output(shot: OnlineShot) -> Iterator[Mark]:
    """Where there are values, what else is kept, and what it would give now."""
    if not shot.spec.width:
        return
    acc, output = (_listed(given) for given in (shot.state.acc, shot.state.output))
    text = f"acc = {acc}" + (f" · output = acc / ℓ = {output}" if output else "")
    yield Mark("acc-name", "text", "kept-name" if shot.event else "none", box(LEFT, SIZE[1] + 10, 0, 0), text, beat=JOIN)


def _listed(given: Shaped | None) -> str:
    if not isinstance(given, Sequence):
        return "" if given is None else show(given)
    return f"[{', '.join(map(show, given[:2]))}{', …' if len(given) > 2 else ''}]"


def _exps(shot: OnlineShot, low: float, high: float) -> Iterator[Mark]:
    spec, event, exps = shot.spec, shot.event, shot.state.naive.exps
    labelled, named, said, yet = len(spec.scores) <= ROOMY, names(spec), _said(spec), _unread(spec, old=True)
    for row, (x, width) in enumerate(_slots(spec)):
        if row >= len(exps) or event is None:
            yield from yet[row]
            continue
        middle, name = x + width / 2, named[row]
        value, masked, fresh = exps[row], shot.state.terms[row].score == MASKED, row in event.indices
        failed = not math.isfinite(value)
        share = (math.log10(value) - low) / (high - low) if 0 < value < math.inf else float(failed)
        place = _exp_bar(x, width, share)
        tall = place[3] > width_of(show(value), 11.0) + 8
        role = "none" if masked else "failed" if failed else "now" if fresh else "kept"
        yield Mark(
            f"bar/{row}", "rect", role, place, was=_exp_bar(x, width, 0) if fresh and not masked else None, value=None if labelled else value,
            name=f"exp({said[row]})",
        )  # fmt: skip
        text = "masked" if masked and name else show(value) if labelled and not masked else ""
        upright = masked or failed
        yield Mark(
            f"number/{row}", "text", "none" if not text else "alarm" if failed else "number" if masked else "turned-in" if tall else "turned",
            box(middle, (EXP_TOP + EXP_BASE) / 2 if failed else place[1] - 4, 0, 0) if upright else box(middle + 4, EXP_BASE - 6 if tall else place[1] - 4, 0, 0),
            text, beat=ARRIVE,
        )  # fmt: skip
        yield Mark(f"name/{row}", "text", "name", box(middle, EXP_BASE + 15, 0, 0), name)


def _old_sum(shot: OnlineShot) -> Iterator[Mark]:
    """The old way's sum, and whether it still gives the right shares."""
    naive = shot.state.naive
    failed = not math.isfinite(naive.sum)
    yield Mark(
        "sum", "text", ("stamp-failed" if failed else "kept-name") if shot.event else "none", box(RIGHT if failed else LEFT, EXP_BASE + 36, 0, 0),
        f"sum of exp(score) = {show(naive.sum)}", beat=ARRIVE,
    )  # fmt: skip


@lru_cache(maxsize=64)
def names(spec: Spec) -> tuple[str, ...]:
    """The score below each bar, an unread one as it will be read; "" where two would run into each other.

    >>> names(Spec(scores=(1.0, 2.5)))
    ('1', '2.500')
    """
    said = _said(spec)
    every = math.ceil((max(map(len, said)) + 1) * LETTER * len(said) / (RIGHT - LEFT))
    return tuple(name if row % every == 0 else "" for row, name in enumerate(said))


@lru_cache(maxsize=64)
def _said(spec: Spec) -> tuple[str, ...]:
    """Each score as it is read."""
    return tuple(show(shifted(spec.form, score, spec.offset)) for score in spec.scores)


@lru_cache(maxsize=64)
def _most(spec: Spec) -> float:
    """The largest sum of the whole run, so that its scale stays from step to step."""
    state, found = online.start(spec), 0.0
    for _ in range(online.steps(spec)):
        state = online.step(spec, state)
        found = max(found, state.l if math.isfinite(state.l) else 0.0)
    return found or 1.0


@lru_cache(maxsize=64)
def _ends(spec: Spec) -> tuple[float, float]:
    """The lowest and the highest finite score, as read."""
    live = [score for score in (shifted(spec.form, one, spec.offset) for one in spec.scores) if math.isfinite(score)]
    return min(live, default=0.0), max(live, default=0.0)


def _score_y(spec: Spec, score: float) -> float:
    if not math.isfinite(score):
        return STRIP_TOP if score > 0 else STRIP_BASE
    low, high = _ends(spec)
    share = (
        (score / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
    )  # halves: the difference of two float64 numbers may overflow
    return STRIP_BASE - share * (STRIP_BASE - STRIP_TOP)


def _size_y(size: float) -> float:
    return BASE - min(max(size, 0.0), 1.0) * (BASE - TOP) if math.isfinite(size) else TOP


def _exp_y(share: float) -> float:
    return EXP_BASE - min(max(share, 0.0), 1.0) * (EXP_BASE - EXP_TOP)


def _bar(x: float, width: float, size: float) -> Box:
    y = min(_size_y(size), BASE - 0.2)  # what has no height at all cannot be seen shrinking to it
    return box(x, y, width, BASE - y)


def _exp_bar(x: float, width: float, share: float) -> Box:
    y = _exp_y(share)
    return box(x, y, width, EXP_BASE - y)


def _log_range(spec: Spec) -> tuple[float, float, float]:
    """Fixed for a list of scores and a format, whatever is added to every score, so that the slider moves bars and not the axis."""
    live = [x for x in spec.scores if math.isfinite(x)]
    least = min([0.0, *live]) / math.log(10)
    low = math.floor(max(least, math.log10(spec.form.smallest_normal)))
    ceiling = math.log10(spec.form.max)
    return low, ceiling + 0.12 * (ceiling - low), ceiling


@lru_cache(maxsize=64)
def _slots(spec: Spec) -> Sequence[tuple[float, float]]:
    n = len(spec.scores)
    slot = (RIGHT - LEFT) / n
    wide = min(0.72 * slot, 60)
    return [(LEFT + (i + 0.5) * slot - wide / 2, wide) for i in range(n)]
