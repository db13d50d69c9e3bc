"""The small example of memory traffic as it is walked: which lines of which arrays each step reads and writes, and what stays on chip.

tests/pages/test_memory_traffic.py holds the lines told here equal to the ledger's counts.
"""

from dataclasses import dataclass
from typing import Literal

from app.machines.run import Moment
from app.machines.traffic import TOKENS, WIDTH, Spec
from app.stories.wire_types import Told

# What lies in slow memory, and how many numbers a line of it has.
ARRAYS = {"q": WIDTH, "k": WIDTH, "v": WIDTH, "s": TOKENS, "p": TOKENS, "o": WIDTH, "m": 1, "l": 1, "lse": 1}
HELD = {"standard": ("q", "k", "v", "s", "p", "o"), "fa1": ("q", "k", "v", "o", "m", "l"), "fa2": ("q", "k", "v", "o", "lse")}
CHIP = ("q", "k", "v", "scores", "state")


@dataclass(frozen=True)
class Move:
    """Lines `first` to `last` (half open) of an array, read or written."""

    array: str
    first: int
    last: int
    written: bool = False

    @property
    def numbers(self) -> int:
        return (self.last - self.first) * ARRAYS[self.array]


def moves(way: str, moment: Moment) -> list[Move]:
    """What a step moves, in order.

    >>> from app.machines.run import moments
    >>> from app.machines.traffic import walked
    >>> first = list(moments(*walked("fa2")))[1]
    >>> [(one.array, one.first, one.last) for one in moves("fa2", first)]
    [('q', 0, 2), ('k', 0, 4), ('v', 0, 4)]
    """
    event = moment.event
    if event is None:
        return []
    if way == "standard":
        read, written = {"scores": ("qk", "s"), "softmax": ("s", "p"), "output": ("pv", "o")}[event.kind]
        return [Move(one, 0, TOKENS, one == written) for one in read + written]
    rows, cols = (event.rows.start, event.rows.stop), (event.cols.start, event.cols.stop)
    if event.kind == "normalise":
        return [Move("o", *rows, True), Move("lse", *rows, True)]
    if way == "fa2":
        return [*([Move("q", *rows)] if cols[0] == 0 else []), Move("k", *cols), Move("v", *cols)]
    set_up = [Move(one, 0, TOKENS, True) for one in "oml"] if moment.step == 1 else []
    keys = [Move("k", *cols), Move("v", *cols)] if rows[0] == 0 else []
    return [*set_up, *keys, *(Move(one, *rows) for one in "qoml"), *(Move(one, *rows, True) for one in "oml")]


@dataclass(frozen=True)
class Moved(Told):
    """What the step just made moved."""

    kind: Literal["start", "scores", "softmax", "output", "tile", "normalise"]
    """what was done"""
    reads: int
    """numbers read in this step"""
    writes: int
    """numbers written in this step"""


@dataclass(frozen=True)
class OnChip(Told):
    """A place on chip."""

    is_: str
    """whether what is there stays to the next step, passes or is dropped; empty where nothing is"""
    rows: str
    """which rows it has"""


@dataclass(frozen=True)
class Said(Told):
    """This step's traffic in words."""

    read: str
    """what is read"""
    written: str
    """what is written"""


@dataclass(frozen=True)
class Memories(Told):
    """The two memories: what lies in the slow one, line by line, and what is on chip."""

    slow: dict[str, list[str]]
    """the arrays of this way in slow memory, by name; a line for each token: none, there, read, written or both"""
    marks: dict[str, str]
    """↓ beside an array that is read, ↑ beside one that is written"""
    chip: dict[str, OnChip]
    """the places on chip, by name"""
    moved: int
    """numbers moved so far, both ways"""
    said: Said
    """this step's traffic in words"""


class TrafficView:
    """The small example as it is walked."""

    form_name, event_type, state_type = "Traffic", Moved, Memories

    def __init__(self, spec: Spec) -> None:
        self.way = spec.way
        self.there = {name: ["there" if name in "qkv" else "none"] * TOKENS for name in HELD[spec.way]}

    def see(self, moment: Moment) -> None:
        self.moment, self.moves = moment, moves(self.way, moment)
        for move in self.moves:
            self.there[move.array][move.first : move.last] = ["there"] * (move.last - move.first)

    def event(self) -> Moved:
        event = self.moment.event
        return Moved(event.kind, event.cost.reads, event.cost.writes) if event else Moved("start", 0, 0)

    def state(self) -> Memories:
        ledger, event = self.moment.ledger, self.event()
        slow = {name: [self._line(name, line, held) for line, held in enumerate(lines)] for name, lines in self.there.items()}
        said = Said(f"{event.reads} read", f"{event.writes} written")
        marks = {name: _mark(lines) for name, lines in slow.items()}
        return Memories(slow, marks, chip(self.way, self.moment), ledger.reads + ledger.writes, said)

    def words(self) -> dict[str, str]:
        return {}

    def _line(self, name: str, line: int, held: str) -> str:
        kinds = {move.written for move in self.moves if move.array == name and move.first <= line < move.last}
        return held if not kinds else "both" if len(kinds) == 2 else "written" if True in kinds else "read"


def _mark(lines: list[str]) -> str:
    """The arrows beside an array: down to the chip, up from it."""
    read = any(one in ("read", "both") for one in lines)
    written = any(one in ("written", "both") for one in lines)
    return "↓" * read + "↑" * written


def chip(way: str, moment: Moment) -> dict[str, OnChip]:
    """What is on chip in a step: for each place, whether it stays to the next step, passes or is dropped, and which rows it has."""
    event = moment.event
    empty = dict.fromkeys(CHIP, OnChip("", ""))
    if event is None or event.kind == "normalise":
        return empty
    if way == "standard":
        used = {"scores": ("q", "k", "scores"), "softmax": ("scores",), "output": ("v", "scores", "state")}[event.kind]
        return empty | dict.fromkeys(used, OnChip("passes", ""))
    rows, keys = f"{event.rows.start + 1}–{event.rows.stop}", f"{event.cols.start + 1}–{event.cols.stop}"
    queries_stay = way == "fa2"
    queries = OnChip("stays" if queries_stay else "passes", rows)
    loaded = OnChip("passes" if queries_stay else "stays", keys)
    return {"q": queries, "k": loaded, "v": loaded, "scores": OnChip("dropped", ""), "state": queries}
