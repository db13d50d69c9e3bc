"""Memory traffic as a chart: slow memory above, the chip below, and the squares that travel between them. A square is a number, a row of
squares what one token has in an array.

A step has three beats: what is read travels down, the chip works, what is written travels up.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from app.charts.marks import Chart, Mark, box
from app.machines.traffic import TOKENS, Spec
from app.stories.record import Shot
from app.stories.traffic.shown import ARRAYS, HELD, Memories, Moved

TrafficShot = Shot[Spec, Moved, Memories]

SIZE = (400.0, 304.0)
CELL = 10.0
SLOW, CHIP = 38.0, 226.0  # the tops of what lies there
_LEFT = {"q": 14, "k": 46, "v": 78, "s": 118, "p": 210, "o": 310, "m": 350, "l": 376, "lse": 356}
_NAMES = {"q": "Q", "k": "K", "v": "V", "s": "S", "p": "P", "o": "O", "m": "m", "l": "ℓ", "lse": "lse"}
# Places on chip: left edge, lines, numbers a line; and which arrays travel to and from each.
_PLACES: Mapping[str, tuple[int, int, int]] = {
    "q": (40, 2, 2),
    "k": (98, 4, 2),
    "v": (156, 4, 2),
    "scores": (208, 2, 4),
    "state": (290, 2, 2),
}
_HOME = {"q": "q", "k": "k", "v": "v", "s": "scores", "p": "scores", "o": "state", "m": "state", "l": "state", "lse": "state"}
_STATE = {
    "standard": (("O", 290, 2),),
    "fa1": (("m", 290, 1), ("ℓ", 310, 1), ("O", 330, 2)),
    "fa2": (("m", 290, 1), ("ℓ", 310, 1), ("acc", 330, 2)),
}
_CHIP_NAMES = {"q": "Q", "k": "K", "v": "V", "scores": "scores"}
DOWN, WORK, UP = range(3)
BEATS = (520, 260, 520)
_HELD = {"none": "unread", "there": "kept-cell", "read": "now-cell", "written": "unread", "both": "now-cell"}
_USED = {"": "unread", "stays": "kept", "passes": "now-cell", "dropped": "gone"}


def charts(shot: TrafficShot) -> tuple[Chart, ...]:
    """Both memories.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> traffic = MACHINES["memory-traffic"]
    >>> (found,) = charts(shot(traffic, traffic.spec(way="fa2"), 1))
    >>> [mark.key for mark in found.marks if mark.moving]
    ['travels/q/read', 'travels/k/read', 'travels/v/read']
    """
    marks = (*_slow(shot), *_chip(shot), *_travelling(shot))
    return (Chart("memories", "Slow memory, the chip, and what travels", SIZE, _still(shot.spec.way), marks, BEATS, ("gone",), "boxes"),)


@lru_cache
def _still(way: str) -> tuple[Mark, ...]:
    found = [
        Mark("room/slow", "rect", "room", box(3, 3, 394, 148)),
        Mark("name/slow", "text", "head-name", box(12, 18, 0, 0), "Slow memory (HBM): large, far away"),
        Mark("room/chip", "rect", "room", box(24, 192, 352, 108)),
        Mark("name/chip", "text", "head-name", box(33, 207, 0, 0), "On chip (SRAM): small, near"),
    ]
    for array in (*HELD[way], *(one for one in "sp" if one not in HELD[way])):
        x, wide = _LEFT[array], ARRAYS[array] * CELL
        there = array in HELD[way]
        found.append(Mark(f"name/{array}", "text", "name" if there else "name-unread", box(x + wide / 2, SLOW - 5, 0, 0), _NAMES[array]))
        if not there:
            found.append(Mark(f"never/{array}", "rect", "was", box(x, SLOW, wide, TOKENS * CELL)))
            found.append(
                Mark(f"never-said/{array}", "text", "name-unread", box(x + wide / 2, SLOW + TOKENS * CELL / 2 + 4, 0, 0), "never stored")
            )
    for name, x, wide in [*((_CHIP_NAMES[one], left, wide) for one, (left, _, wide) in _PLACES.items() if one != "state"), *_STATE[way]]:
        found.append(Mark(f"chip-name/{name}", "text", "name", box(x + wide * CELL / 2, CHIP - 5, 0, 0), name))
    return tuple(found)


@lru_cache
def _squares(count: int) -> str:
    """So many squares in a row."""
    return "".join(f"M{i * CELL:g} 0h{CELL:g}v{CELL:g}h-{CELL:g}z" for i in range(count))


def _slow(shot: TrafficShot) -> Iterator[Mark]:
    for array in HELD[shot.spec.way]:
        lines, x, width = shot.state.slow[array], _LEFT[array], ARRAYS[array]
        for line, held in enumerate(lines):
            place = box(x, SLOW + line * CELL, width * CELL, CELL)
            yield Mark(f"line/{array}/{line}", "path", _HELD[held], place, path=_squares(width))
            written = held in ("written", "both")  # it is there once it has travelled
            yield Mark(
                f"wrote/{array}/{line}", "path", "now-grid" if written else "none", place, beat=UP, path=_squares(width), passing=True
            )
        yield Mark(
            f"arrow/{array}", "text", "note-now", box(x + width * CELL / 2, SLOW + TOKENS * CELL + 15, 0, 0), shot.state.marks[array]
        )


def _chip(shot: TrafficShot) -> Iterator[Mark]:
    for place, (x, lines, width) in _PLACES.items():
        found = shot.state.chip[place]
        parts = [(x, width)] if place != "state" else [(left, wide) for _, left, wide in _STATE[shot.spec.way]]
        for at, (left, wide) in enumerate(parts):
            for line in range(lines):
                where = box(left, CHIP + line * CELL, wide * CELL, CELL)
                yield Mark(f"chip/{place}/{at}/{line}", "path", _USED[found.is_], where, beat=WORK if found.is_ else 0, path=_squares(wide))
        right = parts[-1][0] + parts[-1][1] * CELL
        yield Mark(
            f"is/{place}", "text", "name-unread" if found.is_ else "none", box((x + right) / 2, CHIP + 4 * CELL + 14, 0, 0), found.is_, beat=WORK
        )  # fmt: skip
    read, written = shot.event.reads, shot.event.writes
    yield Mark("down", "path", "head" if read else "link-later", box(100, 156, 26, 32), path="M6 0h14v18h6L13 32 0 18h6z")
    yield Mark("read", "text", "head-name" if read else "note", box(134, 177, 0, 0), shot.state.said.read)
    yield Mark("up", "path", "head" if written else "link-later", box(236, 156, 26, 32), path="M6 32h14V14h6L13 0 0 14h6z")
    yield Mark("written", "text", "head-name" if written else "note", box(270, 177, 0, 0), shot.state.said.written)
    before = shot.state.moved - read - written
    yield Mark(
        "moved", "text", "stamp", box(392, 18, 0, 0), f"{shot.state.moved} moved so far", beat=UP,
        value=float(shot.state.moved), value_was=float(before) if shot.step else None, was=box(392, 18, 0, 0) if shot.step else None,
    )  # fmt: skip


def _travelling(shot: TrafficShot) -> Iterator[Mark]:
    """Of each array the lines that are read, on their way down, and those that are written, on their way up."""
    for array in HELD[shot.spec.way]:
        lines, (x, height, width) = shot.state.slow[array], _PLACES[_HOME[array]]
        chip = box(x, CHIP, width * CELL, height * CELL)
        for what, kinds in (("read", ("read", "both")), ("written", ("written", "both"))):
            found = [line for line, held in enumerate(lines) if held in kinds]
            key = f"travels/{array}/{what}"
            if not found:
                yield Mark(key, "rect", "none", chip, passing=True)
                continue
            slow = box(_LEFT[array], SLOW + found[0] * CELL, ARRAYS[array] * CELL, (found[-1] + 1 - found[0]) * CELL)
            start, end = (slow, chip) if what == "read" else (chip, slow)
            yield Mark(key, "rect", "none", end, was=start, beat=DOWN if what == "read" else UP, moving="now-cell", passing=True)
