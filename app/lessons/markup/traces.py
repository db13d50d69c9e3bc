"""Trace tables: one row a step of a run, its numbers from the machine (or from the by-hand variant)."""

from dataclasses import dataclass
from typing import Any

from app.lessons.expressions.by_hand import Row, worked
from app.lessons.expressions.filters import number, plain, to
from app.lessons.expressions.runs import Run
from app.lessons.problems import Invalid
from app.machines.online import MACHINE as ONLINE
from app.numbers import wire

HEADS = {
    "step": "step", "indices": "place", "score": "score", "scores": "scores", "value": "value", "m_old": "m before", "m": "m", "alpha": "α",
    "p": "size", "term": "new term", "l": "ℓ", "pv": "size × value", "acc": "acc", "output": "acc / ℓ", "lse": "lse",
}  # fmt: skip
EVENT = {"indices": "indices", "score": "scores", "scores": "scores", "value": "values", "m_old": "m_old", "alpha": "alpha", "p": "p",
         "term": "row_sum", "pv": "pv"}  # fmt: skip
GIVEN = ("step", "indices", "score", "scores", "value", "m_old", "m")  # written as they are, not to a number of places
FACTORS = ("alpha", "p", "term", "pv")  # a 0 or a 1 among these is exact, and says so without zeros behind it


@dataclass(frozen=True)
class Table:
    heads: list[str]
    rows: list[list[str]]
    note: str


def table(run: Run, columns: str, places: int, first: int, last: int, rounded: int | None = None) -> Table:
    """The table of some steps. Invalid for a column that there is not, or steps that there are not.

    >>> five = Run("five", {"machine": "online-softmax", "scores": "1,3,2", "format": "float64"})
    >>> table(five, "step,score,m:highest,alpha,l", 3, 1, 2).rows
    [['1', '1', '1', '–', '1.000'], ['2', '3', '3', '0.135', '1.135']]
    """
    if run.machine is not ONLINE:
        raise Invalid(f"a trace is of a run of {ONLINE.name}, and {run.name!r} is one of {run.machine.name}")
    if not columns:
        raise Invalid('[[trace …]] has no columns: write columns="step,score,m,l"')
    if not 0 <= first <= last <= run.steps:
        raise Invalid(f"from={first} to={last}: this run has steps 1 to {run.steps}")
    named = [column.strip().partition(":") for column in columns.split(",")]
    for name, _, _ in named:
        if name not in HEADS:
            raise Invalid(f"there is no column {name!r}: use {', '.join(HEADS)}")
    hand = worked(run, rounded) if rounded is not None else None
    rows = [[_cell(run, step, name, places, hand, rounded) for name, _, _ in named] for step in range(first, last + 1)]
    note = f"Worked by hand: sums rounded to {rounded} places in every row before going on." if rounded is not None else ""
    return Table([head or HEADS[name] for name, _, head in named], rows, note)


def _cell(run: Run, step: int, name: str, places: int, hand: list[Row] | None, rounded: int | None) -> str:
    if name == "step":
        return str(step)
    shot = run.snapshot(step)
    found = shot["event"].get(EVENT[name]) if name in EVENT else shot["state"].get(name)
    if hand is not None and rounded is not None and name not in ("indices", "score", "scores", "value", "m_old"):
        if name == "lse":
            raise Invalid("a by-hand trace has no column 'lse'")
        found, places = wire(getattr(hand[step], name, None)), rounded + (name in ("alpha", "p", "term"))
    if found is None or (name == "alpha" and shot["event"].get("m_old") == "-Infinity"):
        return "–"  # nothing was kept yet, so nothing is rescaled
    if name == "indices":
        return ", ".join(str(place + 1) for place in found)
    return _written(found, name, places)


def _written(found: Any, name: str, places: int) -> str:
    if isinstance(found, list):
        inner = [_written(one, name, places) for one in found]
        return f"[{', '.join(inner)}]" if name in ("acc", "output", "pv") else ", ".join(inner)
    if name in GIVEN or (name in FACTORS and number(found) in (0, 1)):
        return plain(found)
    return to(found, places)
