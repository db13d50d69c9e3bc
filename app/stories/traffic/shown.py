"""The small example of memory traffic as it is walked: which lines of which arrays each step reads and writes, and what stays on chip.

tests/pages/test_memory_traffic.py holds the lines told here equal to the ledger's counts.
"""

from dataclasses import dataclass
from typing import Any

from app.machines.run import Moment
from app.machines.traffic import TOKENS, WIDTH, Spec
from app.stories.forms import event_of, kind, list_of, object_of

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


_LINES = list_of(kind("string", "a line", enum=["none", "there", "read", "written", "both"]), "one for each token")
_PLACE = object_of(
    "A place on chip.",
    is_=kind("string", "whether what is there stays to the next step, passes or is dropped; empty where nothing is"),
    rows=kind("string", "which rows it has"),
)
EVENT = event_of(
    ["start", "scores", "softmax", "output", "tile", "normalise"],
    reads=kind("integer", "numbers read in this step", minimum=0),
    writes=kind("integer", "numbers written in this step", minimum=0),
)
STATE = object_of(
    "The two memories: what lies in the slow one, line by line, and what is on chip.",
    slow={"type": "object", "description": "the arrays of this way in slow memory, by name", "additionalProperties": _LINES},
    marks={
        "type": "object",
        "description": "↓ beside an array that is read, ↑ beside one that is written",
        "additionalProperties": {"type": "string"},
    },
    chip={"type": "object", "description": "the places on chip, by name", "additionalProperties": _PLACE},
    moved=kind("integer", "numbers moved so far, both ways", minimum=0),
    said=object_of("This step’s traffic in words.", read=kind("string", "what is read"), written=kind("string", "what is written")),
)


class TrafficView:
    """The small example as it is walked: `slow` has a word for each line of each array, `chip` what stays and what passes, and with which rows."""

    form_name, event_form, state_form = "Traffic", EVENT, STATE

    def __init__(self, spec: Spec) -> None:
        self.way = spec.way
        self.there = {name: ["there" if name in "qkv" else "none"] * TOKENS for name in HELD[spec.way]}

    def see(self, moment: Moment) -> None:
        self.moment, self.moves = moment, moves(self.way, moment)
        for move in self.moves:
            self.there[move.array][move.first : move.last] = ["there"] * (move.last - move.first)

    def event(self) -> dict[str, Any]:
        event = self.moment.event
        return {"kind": event.kind if event else "start"} | self._counts()

    def state(self) -> dict[str, Any]:
        ledger, counts = self.moment.ledger, self._counts()
        slow = {name: [self._line(name, line, held) for line, held in enumerate(lines)] for name, lines in self.there.items()}
        return {
            "slow": slow,
            "marks": {name: _mark(lines) for name, lines in slow.items()},
            "chip": chip(self.way, self.moment),
            "moved": ledger.reads + ledger.writes,
            "said": {"read": f"{counts['reads']} read", "written": f"{counts['writes']} written"},
        }

    def words(self) -> dict[str, str]:
        return {}

    def _counts(self) -> dict[str, int]:
        event = self.moment.event
        return {"reads": event.cost.reads, "writes": event.cost.writes} if event else {"reads": 0, "writes": 0}

    def _line(self, name: str, line: int, held: str) -> str:
        kinds = {move.written for move in self.moves if move.array == name and move.first <= line < move.last}
        return held if not kinds else "both" if len(kinds) == 2 else "written" if True in kinds else "read"


def _mark(lines: list[str]) -> str:
    """The arrows beside an array: down to the chip, up from it."""
    read = any(one in ("read", "both") for one in lines)
    written = any(one in ("written", "both") for one in lines)
    return "↓" * read + "↑" * written


def chip(way: str, moment: Moment) -> dict[str, dict[str, str]]:
    """What is on chip in a step: for each place, whether it stays to the next step, passes or is dropped, and which rows it has."""
    event = moment.event
    empty = {name: {"is": "", "rows": ""} for name in CHIP}
    if event is None or event.kind == "normalise":
        return empty
    if way == "standard":
        used = {"scores": ("q", "k", "scores"), "softmax": ("scores",), "output": ("v", "scores", "state")}[event.kind]
        return empty | {name: {"is": "passes", "rows": ""} for name in used}
    rows, keys = f"{event.rows.start + 1}–{event.rows.stop}", f"{event.cols.start + 1}–{event.cols.stop}"
    queries_stay = way == "fa2"
    queries = {"is": "stays" if queries_stay else "passes", "rows": rows}
    loaded = {"is": "passes" if queries_stay else "stays", "rows": keys}
    return {"q": queries, "k": loaded, "v": loaded, "scores": {"is": "dropped", "rows": ""}, "state": queries}
