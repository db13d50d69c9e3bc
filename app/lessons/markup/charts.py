"""A chart of a lesson's data: declared in charts.toml, its points computed by expressions, drawn here and again by Plotly."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any

from app.lessons.expressions.runs import Record
from app.lessons.expressions.sandbox import Scope
from app.lessons.problems import Invalid
from app.numbers import show

WIDTH, HEIGHT = 680, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
MOST_TICKS = 9
_FIELDS = {"title", "x", "y", "log", "data", "as", "rows", "series", "line"}


@dataclass(frozen=True)
class Point:
    """x and y, and where half of the repetitions lie; places on the drawing as px, py, plow, phigh."""

    x: float
    y: float
    low: float
    high: float
    px: float = 0
    py: float = 0
    plow: float = 0
    phigh: float = 0


@dataclass(frozen=True)
class Series:
    name: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        return " ".join(f"{'L' if i else 'M'}{point.px:.1f} {point.py:.1f}" for i, point in enumerate(self.points))


@dataclass(frozen=True)
class Tick:
    value: float
    place: float
    text: str


@dataclass(frozen=True)
class Chart:
    """Everything that the template draws and the script starts from.

    log     which axes are logarithmic: "", "x", "y" or "xy"
    line    a level to compare with: its value, its place and its words, or None
    ranges  of x and of y, as powers of ten on a logarithmic axis
    """

    title: str
    x: str
    y: str
    log: str
    series: tuple[Series, ...]
    xticks: tuple[Tick, ...]
    yticks: tuple[Tick, ...]
    line: tuple[float, float, str] | None
    ranges: tuple[tuple[float, float], tuple[float, float]]

    @property
    def frame(self) -> dict[str, Any]:
        """What the script needs."""
        return {
            "x": self.x, "y": self.y, "log": self.log,
            "xticks": [[tick.value, tick.text] for tick in self.xticks], "yticks": [[tick.value, tick.text] for tick in self.yticks],
            "ranges": self.ranges, "line": self.line and [self.line[0], self.line[2]],
            "series": [{"name": one.name, "points": [[p.x, p.y, p.low, p.high] for p in one.points]} for one in self.series],
        }  # fmt: skip

    @property
    def table(self) -> list[tuple[str, list[str]]]:
        """A row for each x: it, and every series' value there."""
        found = []
        for x in sorted({point.x for one in self.series for point in one.points}):
            at = [next((show(point.y) for point in one.points if point.x == x), "–") for one in self.series]
            found.append((_grouped(x), at))
        return found


def chart(name: str, folder: Path | None, scope: Scope) -> Chart | None:
    """A chart of charts.toml; None where its data file does not exist yet. Invalid with words where it cannot be made."""
    given = _declared(name, folder)
    more: dict[str, Any] = {}
    if "data" in given:
        assert folder is not None
        if not isfile(folder / "data" / str(given["data"])):
            return None
        more[str(given.get("as", "gpu"))] = scope.value(f"data({str(given['data'])!r})")
    rows = scope.value(str(given.get("rows", "")), more)
    if not isinstance(rows, Record):
        raise Invalid(f"chart {name}: rows must be an object whose names are numbers")
    series = [_series(name, one, rows, scope, more) for one in given.get("series", [])]
    if not series:
        raise Invalid(f'chart {name} has no series: add series = [{{ name = "…", value = "row.…" }}]')
    log = str(given.get("log", ""))
    line = given.get("line")
    level = float(scope.value(str(line["value"]), more)) if line else None
    points = [point for _, found in series for point in found]
    xs = [point.x for point in points]
    ys = [y for point in points for y in (point.low, point.high)] + ([level] if level is not None else [])
    across, down = _Axis(xs, "x" in log, LEFT, WIDTH - RIGHT, tight=True), _Axis(ys, "y" in log, HEIGHT - BOTTOM, TOP)
    placed = tuple(
        Series(said, tuple(Point(p.x, p.y, p.low, p.high, across.at(p.x), down.at(p.y), down.at(p.low), down.at(p.high)) for p in found))
        for said, found in series
    )
    return Chart(
        str(given.get("title", name)), str(given.get("x", "")), str(given.get("y", "")), log, placed,
        across.ticks(sorted(set(xs)) if "x" in log else None), down.ticks(), (level, down.at(level), str(line["text"])) if line and level is not None else None, ((across.low, across.high), (down.low, down.high)),
    )  # fmt: skip


def _declared(name: str, folder: Path | None) -> dict[str, Any]:
    path = folder and folder / "charts.toml"
    if path is None or not isfile(path):
        raise Invalid("there is no charts.toml beside this lesson: declare the chart there")
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"charts.toml cannot be read: {error}") from None
    if name not in known:
        raise Invalid(f"there is no chart {name!r} in charts.toml: it has {', '.join(known)}")
    given: dict[str, Any] = known[name]
    unknown = set(given) - _FIELDS
    if unknown:
        raise Invalid(f"chart {name} has no setting {', '.join(sorted(unknown))}: use {', '.join(sorted(_FIELDS))}")
    return given


def _series(name: str, given: Mapping[str, Any], rows: Record, scope: Scope, more: Mapping[str, Any]) -> tuple[str, list[Point]]:
    """A point for each row that has the value; a row where the measurement failed has none."""
    found, last = [], "it has no rows"
    for key in rows.parts:
        at = {**more, "row": rows.part(key)}
        try:
            y = float(scope.value(str(given.get("value", "")), at))
        except Invalid as error:
            last = str(error)
            continue
        low, high = (float(scope.value(str(given[side]), at)) if side in given else y for side in ("low", "high"))
        found.append(Point(float(key), y, low, high))
    if not found:
        raise Invalid(f"chart {name}, series {given.get('name')}: no row has this value: {last}")
    return str(given.get("name", "")), sorted(found, key=lambda point: point.x)


class _Axis:
    """From values to places. A logarithmic one needs positive values."""

    def __init__(self, values: list[float], log: bool, start: float, end: float, *, tight: bool = False) -> None:
        if log and min(values) <= 0:
            raise Invalid(f"a logarithmic axis cannot show {min(values):g}")
        self.log, self.start, self.end = log, start, end
        low, high = min(values), max(values)
        if log:
            low, high = math.log10(low), math.log10(high)
            spare = 0.04 * (high - low or 1) if tight else 0.08 * (high - low or 1)
        else:
            low = min(low, 0.0)
            spare = 0.06 * (high - low or 1)
        self.low = low - spare if log or low < 0 else low
        self.high = high + spare

    def at(self, value: float) -> float:
        x = math.log10(value) if self.log else value
        return self.start + (self.end - self.start) * (x - self.low) / (self.high - self.low)

    def ticks(self, at: list[float] | None = None) -> tuple[Tick, ...]:
        values = at if at is not None else self._decades() if self.log else self._even()
        while len(values) > MOST_TICKS:
            values = values[::2]
        return tuple(Tick(value, self.at(value), _grouped(value)) for value in values)

    def _decades(self) -> list[float]:
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1, 2, 5) if self.high - self.low < 1.5 else (1,)
        found = [step * 10.0**power for power in powers for step in steps]
        return [value for value in found if self.low <= math.log10(value) <= self.high]

    def _even(self) -> list[float]:
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
        step = next(step * by for by in (0.5, 1, 2, 5) if (self.high - self.low) / (step * by) <= 6)
        return [step * i for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _grouped(x: float) -> str:
    """A tick's number: thousands apart, no needless places.

    >>> _grouped(65536.0), _grouped(0.5), _grouped(1.25)
    ('65,536', '0.5', '1.25')
    """
    return f"{x:,.0f}" if x == int(x) else f"{x:,.10g}"
