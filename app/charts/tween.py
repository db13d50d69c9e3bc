"""A step of a chart on its way: where each mark stands at a moment, by the same beats and the same easing as static/js/core/timeline.js."""

from functools import lru_cache

from app.charts.marks import Box, Chart, Mark
from app.numbers import show

_X1, _Y1, _X2, _Y2 = 0.45, 0.05, 0.35, 1.0  # of the cubic curve that motion follows


def length(chart: Chart, before: Chart) -> float:
    """Milliseconds that the step takes; a beat in which nothing moves takes none.

    >>> a = Mark("bar/0", "rect", "kept", (10.0, 0.0, 5.0, 100.0))
    >>> b = a._replace(box=(10.0, 50.0, 5.0, 50.0), was=a.box, beat=1)
    >>> length(*(Chart("sizes", "Sizes", (100, 110), (), (mark,), (200, 300)) for mark in (b, a)))
    300.0
    """
    return _ends(chart, before)[-1]


def at(chart: Chart, before: Chart, time: float) -> Chart:
    """The chart so many milliseconds after the step began.

    >>> a = Mark("bar/0", "rect", "kept", (10.0, 0.0, 5.0, 100.0))
    >>> b = a._replace(box=(10.0, 50.0, 5.0, 50.0), was=a.box)
    >>> first, last = (Chart("sizes", "Sizes", (100, 110), (), (mark,), (200,)) for mark in (a, b))
    >>> [round(at(last, first, time).marks[0].box[3]) for time in (0, 100, 200)]
    [100, 67, 50]
    """
    ends = _ends(chart, before)
    starts = [0.0, *ends[:-1]]
    marks = tuple(
        _on_its_way(mark, mark.passing or old.role == "none", time, starts, ends)
        for mark, old in zip(chart.marks, before.marks, strict=True)
    )
    return Chart(chart.name, chart.title, chart.size, chart.still, marks, chart.beats, chart.patterns, chart.kind)


def _ends(chart: Chart, before: Chart) -> list[float]:
    """When each beat ends."""
    taken: set[int] = set()
    for mark, old in zip(chart.marks, before.marks, strict=True):
        appears = mark.beat and mark.role != "none" and (mark.passing or old.role == "none")
        if mark.was or appears:
            taken |= {mark.beat, *([mark.via[0]] if mark.via else [])}
    found, end = [], 0.0
    for beat, lasts in enumerate(chart.beats):
        end += lasts if beat in taken else 0
        found.append(end)
    return found


def _on_its_way(mark: Mark, fresh: bool, time: float, starts: list[float], ends: list[float]) -> Mark:
    first = mark.via[0] if mark.via else mark.beat
    if fresh and time < starts[first]:
        return mark._replace(role="none")
    if mark.was is None:
        return mark
    if time >= ends[mark.beat]:
        return mark
    role = mark.moving or mark.role
    if mark.via is None:
        part = _eased((time - starts[first]) / max(ends[first] - starts[first], 1))
        return _between(mark, mark.was, mark.box, mark.value_was, mark.value, part, role)
    _, half_way, half = mark.via
    if time < starts[mark.beat]:
        part = _eased((time - starts[first]) / max(ends[first] - starts[first], 1))
        return _between(mark, mark.was, half_way, mark.value_was, half, part, role)
    part = _eased((time - starts[mark.beat]) / max(ends[mark.beat] - starts[mark.beat], 1))
    return _between(mark, half_way, mark.box, half, mark.value, part, role)


def _between(mark: Mark, start: Box, end: Box, value: float | None, to: float | None, part: float, role: str) -> Mark:
    x, y, width, height = (round(a + (b - a) * part, 2) for a, b in zip(start, end, strict=True))
    text = mark.text
    said = "" if mark.value is None else show(mark.value)
    if value is not None and to is not None and said and said in text:
        left, _, right = text.rpartition(said)
        now = value + (to - value) * part
        counts = value == int(value) and to == int(to) and abs(to - value) >= 10  # things, and not a measure
        text = left + show(round(now) if counts else now) + right
    return mark._replace(role=role, box=(x, y, width, height), text=text)


@lru_cache(maxsize=4096)
def _eased(part: float) -> float:
    part = min(max(part, 0.0), 1.0)
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        if _curve(_X1, _X2, middle) < part:
            low = middle
        else:
            high = middle
    return _curve(_Y1, _Y2, low) if part < 1 else 1.0


def _curve(a: float, b: float, t: float) -> float:
    return 3 * a * t * (1 - t) ** 2 + 3 * b * t * t * (1 - t) + t**3
