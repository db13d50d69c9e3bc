"""Where the tables of a tiled-attention snapshot stand: Q at the left, Kᵀ above, Vᵀ below, the map in the middle, and at the
right what each row keeps. Rows line up by query, columns by token."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.machines.tiled import Spec
from app.numbers import show
from app.stories.record import Shot
from app.stories.tiled.shown import Rows, Tile

TiledShot = Shot[Spec, Tile | None, Rows]

ROOMY = 8  # rows and columns up to which numbers are written
LEVELS = 4  # steps of colour on each side of 0 where they are not


Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Cell:
    """One square. state: of the map's cells; lit: whether it belongs to the tile just taken; level: colour in place of a number."""

    x: float
    y: float
    text: str
    state: str = ""
    lit: bool = False
    level: int = 0
    small: str = ""
    cast: str = ""


@dataclass(frozen=True)
class Table:
    """A table: its name, where the name stands, its cells, and labels as (x, y, text)."""

    name: str
    x: float
    y: float
    cells: tuple[Cell, ...]
    labels: tuple[tuple[float, float, str], ...] = ()

    def patches(self, side: float) -> list[tuple[str, int, str]]:
        """Cells without numbers, those that look alike as one path: state, level, path. Thousands of squares would be slow to draw.

        >>> Table("m", 0, 0, (Cell(0, 0, "", "live"), Cell(6, 0, "", "live"), Cell(12, 0, "", level=2))).patches(6.0)
        [('live', 0, 'M0 0h6v6h-6zM6 0h6v6h-6z'), ('', 2, 'M12 0h6v6h-6z')]
        """
        found: dict[tuple[str, int], list[str]] = {}
        for cell in self.cells:
            found.setdefault((cell.state, cell.level), []).append(f"M{cell.x:g} {cell.y:g}h{side:g}v{side:g}h-{side:g}z")
        return [(state, level, "".join(paths)) for (state, level), paths in found.items()]

    def outline(self, side: float) -> Box | None:
        """The rectangle round the cells of the tile just taken: x, y, width, height."""
        lit = [(cell.x, cell.y) for cell in self.cells if cell.lit]
        if not lit:
            return None
        left, top = min(x for x, _ in lit), min(y for _, y in lit)
        return left, top, max(x for x, _ in lit) + side - left, max(y for _, y in lit) + side - top


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    cell: float
    roomy: bool
    tables: tuple[Table, ...]


def roomy(spec: Spec) -> bool:
    return max(spec.n_q, spec.n_k) <= ROOMY and max(spec.d, spec.d_v) <= 4


def largest(table: list[list[Any]]) -> float:
    """The largest size of a number in a table, of those that are there and finite; 0 where there is none."""
    return max((abs(float(one)) for row in table for one in row if one is not None and np.isfinite(float(one))), default=0.0)


def level(given: Any, most: float) -> int:
    """Which of the colours from −LEVELS to LEVELS a number gets, next to the largest of its table.

    >>> level(2.0, 2.0), level(-0.9, 2.0), level(0.0, 0.0), level(float("nan"), 2.0)
    (4, -2, 0, 0)
    """
    value = float(given)
    return round(LEVELS * value / most) if most and np.isfinite(value) else 0


def drawing(shot: TiledShot) -> Drawing:
    """The tables of a snapshot.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> tiled = MACHINES["tiled-attention"]
    >>> found = drawing(shot(tiled, tiled.spec(q=((1.0,),), k=((1.0,), (2.0,)), v=((1.0,), (2.0,)), block_k=1), 1))
    >>> [table.name for table in found.tables], [cell.state for cell in found.tables[2].cells]
    (['Q', 'Kᵀ', 'map of positions', 'Vᵀ', 'm', 'ℓ', 'acc'], ['live', 'waiting'])
    """
    spec = shot.spec
    room = roomy(spec)
    cell = 44.0 if room else max(6.0, min(22.0, 420 / max(spec.n_k, 1)))
    q, k, v = (x.tolist() for x in spec.stored)
    event, state = shot.event, shot.state
    rows, cols = range(*(event.q_rows if event else (0, 0))), range(*((event and event.k_cols) or (0, 0)))
    gap, left, top = 24.0, 34.0, 22.0
    map_x, map_y = left + spec.d * cell + gap, top + spec.d * cell + gap
    right = map_x + spec.n_k * cell + gap
    tables = [
        _matrix("Q", left, map_y, q, cell, room, rows=rows),
        _matrix("Kᵀ", map_x, top, list(map(list, zip(*k, strict=True))), cell, room, cols=cols),
        _map(shot, map_x, map_y, cell, room),
        _matrix("Vᵀ", map_x, map_y + spec.n_q * cell + gap, list(map(list, zip(*v, strict=True))), cell, room, cols=cols),
    ]
    kept: list[tuple[str, Any, int]] = [("m", [[m] for m in state.m], 1), ("ℓ", [[l] for l in state.l], 1)]
    kept += [("acc", state.acc, spec.d_v)] if state.acc is not None else []
    kept += [("output", [row or [None] * spec.d_v for row in state.output], spec.d_v)] if state.output is not None else []
    wide = cell * 1.25 if room else cell
    for name, found, count in kept:
        tables.append(_matrix(name, right, map_y, found, cell, room, rows=rows, width=wide))
        right += count * wide + gap / 2
    if state.output is None:
        right += spec.d_v * wide + gap / 2  # its place is kept, so that the figure has one size from the first step to the last
    labels = tuple((map_x - 6, map_y + (i + 0.5) * cell + 4, f"{i + 1}") for i in range(spec.n_q) if room)
    tables[2] = Table(tables[2].name, tables[2].x, tables[2].y, tables[2].cells, labels)
    return Drawing(right + 10, map_y + (spec.n_q + spec.d_v) * cell + gap + 16, cell, room, tuple(tables))


def _matrix(
    name: str,
    x: float,
    y: float,
    values: list[list[Any]],
    cell: float,
    room: bool,
    *,
    rows: range = range(0),
    cols: range = range(0),
    width: float = 0,
) -> Table:
    most = largest(values)
    wide = width or cell
    cells = tuple(
        Cell(
            round(x + c * wide, 2), round(y + r * cell, 2), show(one) if room and one is not None else "", "", r in rows or c in cols,
            0 if room or one is None else level(one, most),
        )
        for r, row in enumerate(values)
        for c, one in enumerate(row)
    )  # fmt: skip
    return Table(name, x, y - 5, cells)


def _map(shot: TiledShot, x: float, y: float, cell: float, room: bool) -> Table:
    event, cells = shot.event, []
    rows, cols = (event.q_rows, event.k_cols) if event and event.k_cols else ((0, 0), (0, 0))
    for i, row in enumerate(shot.state.cells):
        for j, state in enumerate(row):
            score, size, cast = None, None, None
            if event and rows[0] <= i < rows[1] and cols[0] <= j < cols[1]:
                at = i - rows[0], j - cols[0]
                score, size, cast = (None if part is None else part[at[0]][at[1]] for part in (event.scores, event.p, event.p_cast))
            text = show(score) if room and state == "live" and score is not None else "consumed" if room and state == "consumed" else ""
            if room and state == "masked":
                text = "–"
            cells.append(
                Cell(
                    round(x + j * cell, 2),
                    round(y + i * cell, 2),
                    text,
                    state,
                    state == "live",
                    0,
                    show(size) if room and size is not None else "",
                    show(cast) if room and cast is not None and state == "live" else "",
                )
            )
    return Table("map of positions", x, y - 5, tuple(cells))
