"""The small example of memory traffic as it is walked: which lines of which arrays each step reads and writes, and what stays on chip.

A snapshot like any machine's, so that the same script steps it. tests/pages/test_memory_traffic.py holds the lines told here equal to the ledger's counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.captions.traffic import sentence
from app.captions.voice import SPOKEN, WRITTEN
from app.machines.run import Moment, moments
from app.machines.traffic import MACHINE, TOKENS, WIDTH, Spec, walked
from app.specs import fields_of, query

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


def run(spec: Spec) -> dict[str, Any]:
    """All steps of the walk."""
    shots = list(snapshots(spec))
    return {"steps": len(shots) - 1, "start": 0, "count": len(shots), "snapshots": shots}


def snapshots(spec: Spec) -> Iterator[dict[str, Any]]:
    """Each step: `state.slow` has a word for each line of each array, `state.chip` what stays and what passes, and with which rows."""
    machine, example = walked(spec.way)
    steps = machine.steps(example)
    there = {name: ["there" if name in "qkv" else "none"] * TOKENS for name in HELD[spec.way]}
    told, here = fields_of(MACHINE, spec), query(MACHINE, spec)
    for moment in moments(machine, example):
        step_moves = moves(spec.way, moment)
        for move in step_moves:
            there[move.array][move.first : move.last] = ["there"] * (move.last - move.first)
        now = {name: list(lines) for name, lines in there.items()}
        for name, lines in now.items():
            for line in range(TOKENS):
                kinds = {move.written for move in step_moves if move.array == name and move.first <= line < move.last}
                if kinds:
                    lines[line] = "both" if len(kinds) == 2 else "written" if True in kinds else "read"
        ledger = moment.ledger
        cost = moment.event.cost if moment.event else None
        yield {
            "machine": MACHINE.name,
            "version": 1,
            "spec": told,
            "step": moment.step,
            "steps": steps,
            "done": moment.step == steps,
            "event": {
                "kind": moment.event.kind if moment.event else "start",
                "reads": cost.reads if cost else 0,
                "writes": cost.writes if cost else 0,
            },
            "state": {
                "slow": now,
                "marks": {name: _mark(now[name]) for name in now},
                "chip": chip(spec.way, moment),
                "moved": ledger.reads + ledger.writes,
                "said": {"read": f"{cost.reads if cost else 0} read", "written": f"{cost.writes if cost else 0} written"},
            },
            "ledger": {
                "reads": ledger.reads, "writes": ledger.writes, "kept": ledger.kept,
                "ops": {"mul": ledger.mul, "add": ledger.add, "exp": ledger.exp, "div": ledger.div, "max": ledger.max},
            },
            "caption": sentence(WRITTEN, spec.way, moment),
            "spoken": sentence(SPOKEN, spec.way, moment),
            "links": {
                "page": f"widgets/{MACHINE.name}?{here}&step={moment.step}",
                "embed": f"embed/{MACHINE.name}?{here}&step={moment.step}",
                "self": f"widgets/{MACHINE.name}?{here}&step={moment.step}",
            },
        }  # fmt: skip


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
