"""Tiled attention as a chart: Q at the left, Kᵀ above, Vᵀ below, the map of positions in the middle, and at the right what each row keeps.
Rows line up by query, columns by token.

A step's beats are the machine's phases: Q and K travel to their tile, scores appear, the highest rises, what is kept shrinks row by row,
scores turn into sizes, V comes and all is added up. At the next step the tile is empty. Where there is no room for numbers a tile of the
map is one mark, and what a row keeps is two bars.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from app.charts.marks import Box, Chart, Mark, box
from app.charts.outlines import fitted
from app.machines.tiled import PHASES, Spec
from app.numbers import show
from app.stories.record import Shot
from app.stories.tiled.shown import Rows, Tile

TiledShot = Shot[Spec, Tile | None, Rows]

ROOMY = 8  # rows and columns up to which numbers are written
LEVELS = 4  # steps of colour on each side of 0 where they are not
CELL, WIDE, GAP, LEFT, TOP = 31.0, 42.0, 13.0, 22.0, 6.0
BARS = 64.0  # the room for a row's bars, where there are no numbers
LOAD, SCORE, MAX, RESCALE, EXPONENTIATE, ACCUMULATE, CONSUME = range(len(PHASES))
BEATS = (260, 140, 160, 260, 140, 300, 60)
_STATES = {"waiting": "plain-cell", "live": "now-cell", "consumed": "gone", "masked": "masked"}


def roomy(spec: Spec) -> bool:
    return max(spec.n_q, spec.n_k) <= ROOMY and max(spec.d, spec.d_v) <= 4


def largest(table: Sequence[Sequence[object]]) -> float:
    """The largest size of a number in a table, of those that are there and finite; 0 where there is none."""
    return max((abs(float(one)) for row in table for one in row if one is not None and np.isfinite(float(one))), default=0.0)  # type: ignore[arg-type]


def level(given: object, most: float) -> int:
    """Which of the colours from −LEVELS to LEVELS a number gets, next to the largest of its table.

    >>> level(2.0, 2.0), level(-0.9, 2.0), level(0.0, 0.0), level(float("nan"), 2.0)
    (4, -2, 0, 0)
    """
    value = float(given)  # type: ignore[arg-type]
    return round(LEVELS * value / most) if most and np.isfinite(value) else 0


def charts(shot: TiledShot) -> tuple[Chart, ...]:
    """The tables of a state.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> tiled = MACHINES["tiled-attention"]
    >>> (found,) = charts(shot(tiled, tiled.spec(q=((1.0,),), k=((1.0,), (2.0,)), v=((1.0,), (2.0,)), block_k=1), 2))
    >>> [mark.role for mark in found.marks if mark.key.startswith("cell/")]
    ['gone', 'now-cell']
    """
    plan = _plan(shot.spec)
    marks = (*(_cells if plan.roomy else _tiles)(shot, plan), *(_numbers if plan.roomy else _bars)(shot, plan), *_travelling(shot, plan))
    return (
        Chart(
            "tiles",
            "Q, K, V, the map of positions and what each row keeps",
            plan.size,
            plan.still,
            marks,
            BEATS,
            ("gone", "failed"),
            "cells",
        ),
    )


class Plan(NamedTuple):
    """What no step changes. cell: its side; q, k, v, map: where the tables stand; kept: the left edges of what a row keeps, by name."""

    roomy: bool
    cell: float
    size: tuple[float, float]
    q: Box
    k: Box
    v: Box
    map: Box
    kept: dict[str, tuple[float, int]]
    still: tuple[Mark, ...]


@lru_cache(maxsize=16)
def _plan(spec: Spec) -> Plan:
    room = roomy(spec)
    cell = CELL if room else max(3.0, min(14.0, 240 / max(spec.n_q, spec.n_k)))
    left, top = LEFT + spec.d * cell + GAP, TOP + spec.d * cell + GAP
    right = left + spec.n_k * cell + GAP
    foot = top + spec.n_q * cell + GAP
    kept, x = {}, right
    wide = WIDE if room else BARS
    names = ["m", "alpha", "l", *(["acc"] if spec.algorithm == "fa2" else []), "output"] if room else ["m", "l", "output"]
    for name in names:
        count = spec.d_v if name in ("acc", "output") and room else 1
        kept[name] = x, count
        x += count * (wide if room or name != "output" else cell) + 5
    size = (x + 4, max(foot + spec.d_v * cell, top + spec.n_q * cell) + 6)
    plan = Plan(
        room, cell, size, (LEFT, top, spec.d * cell, spec.n_q * cell), (left, TOP, spec.n_k * cell, spec.d * cell),
        (left, foot, spec.n_k * cell, spec.d_v * cell), (left, top, spec.n_k * cell, spec.n_q * cell), kept, (),
    )  # fmt: skip
    return plan._replace(still=tuple(_still(spec, plan)))


def _still(spec: Spec, plan: Plan) -> Iterator[Mark]:
    q, k, v = (table.tolist() for table in spec.stored)
    turned_k, turned_v = (list(map(list, zip(*table, strict=True))) for table in (k, v))
    for name, where, table in (("Q", plan.q, q), ("Kᵀ", plan.k, turned_k), ("Vᵀ", plan.v, turned_v)):
        place = box(where[0] - 5, where[1] + 12, 0, 0) if name != "Q" else box(where[0] + where[2] - 2, where[1] - 4, 0, 0)
        yield Mark(f"name/{name}", "text", "tick", place, name)
        yield from _matrix(name, where, table, plan)
    titles = {"m": "m", "alpha": "factor", "l": "ℓ", "acc": "acc", "output": "output" if plan.roomy else "out"}
    for name, (x, count) in plan.kept.items():
        wide = count * (WIDE if plan.roomy else plan.cell if name == "output" else BARS)
        yield Mark(f"title/{name}", "text", "name-unread", box(x + wide / 2, plan.map[1] - 4, 0, 0), titles[name])
        if plan.roomy:
            for row in range(spec.n_q):
                for column in range(count):
                    yield Mark(
                        f"kept/{name}/{row}/{column}", "rect", "plain-cell", box(x + column * WIDE, plan.map[1] + row * CELL, WIDE, CELL)
                    )
        else:
            yield Mark(f"kept/{name}", "rect", "plain-cell", box(x, plan.map[1], wide, plan.map[3]))


def _matrix(name: str, where: Box, table: Sequence[Sequence[float]], plan: Plan) -> Iterator[Mark]:
    """A table that no step changes: its numbers, or where there is no room for them its signs, in colours of their own."""
    cell = plan.cell
    if plan.roomy:
        for r, row in enumerate(table):
            for c, one in enumerate(row):
                x, y, text = where[0] + c * cell, where[1] + r * cell, show(one)
                yield Mark(f"{name}/{r}/{c}", "rect", "plain-cell", box(x, y, cell, cell))
                role = "cell" if fitted([text], cell - 5, 12.0) >= 11.5 else "cell-small"
                yield Mark(f"{name}/{r}/{c}#", "text", role, box(x + cell / 2, y + cell / 2 + 4, 0, 0), text)
        return
    yield Mark(f"{name}/table", "rect", "plain-cell", box(*where))
    most = largest(table)
    found: dict[int, list[str]] = {}
    for r, row in enumerate(table):
        for c, one in enumerate(row):
            if shade := level(one, most):
                found.setdefault(shade, []).append(f"M{c * cell:g} {r * cell:g}h{cell:g}v{cell:g}h-{cell:g}z")
    for shade, paths in sorted(found.items()):
        yield Mark(
            f"{name}/{shade}",
            "path",
            f"{'plus' if shade > 0 else 'minus'}-{abs(shade)}",
            box(where[0], where[1], 0, 0),
            path="".join(paths),
        )


def _cells(shot: TiledShot, plan: Plan) -> Iterator[Mark]:
    """The map with a mark for each score: the score, its size below it, and what the size is cast to."""
    event, cell = shot.event, plan.cell
    rows, cols = (event.q_rows, event.k_cols) if event and event.k_cols else ((0, 0), (0, 0))
    cast = shot.spec.p_format != shot.spec.compute
    for i, states in enumerate(shot.state.cells):
        for j, state in enumerate(states):
            x, y, middle = plan.map[0] + j * cell, plan.map[1] + i * cell, plan.map[0] + (j + 0.5) * cell
            yield Mark(f"cell/{i}/{j}", "rect", _STATES[state], box(x, y, cell, cell))
            inside = event is not None and state == "live" and rows[0] <= i < rows[1] and cols[0] <= j < cols[1]
            at = i - rows[0], j - cols[0]
            lines = 3 if cast else 2
            for line, (name, beat) in enumerate((("scores", SCORE), ("p", EXPONENTIATE), ("p_cast", EXPONENTIATE))[:lines]):
                table = getattr(event, name) if inside and event is not None else None
                text = "" if table is None else ("↓ " if name == "p_cast" else "") + show(table[at[0]][at[1]])
                role = "none" if not text else "cell" if name == "scores" and fitted([text], cell - 4, 12.0) >= 11.5 and not cast else "cell-small" if name == "scores" else "cell-cast" if name == "p_cast" else "cell-new"  # fmt: skip
                where = box(middle, y + cell / 2 + (line - (lines - 1) / 2) * (cell / lines - 0.5) + 4, 0, 0)
                yield Mark(f"{name}/{i}/{j}", "text", role, where, text, beat=beat, passing=True)


def _tiles(shot: TiledShot, plan: Plan) -> Iterator[Mark]:
    """The map with a mark for each tile: those of its cells that a mask lets through; the others below it."""
    spec, states = shot.spec, np.array(shot.state.cells)
    for i, j, path, masked in _paths(spec):
        tile = states[i * spec.block_q : (i + 1) * spec.block_q, j * spec.block_k : (j + 1) * spec.block_k]
        live = tile[tile != "masked"]
        place = box(plan.map[0] + j * spec.block_k * plan.cell, plan.map[1] + i * spec.block_q * plan.cell, 0, 0)
        yield Mark(f"masked/{i}/{j}", "path", "masked" if masked else "none", place, path=masked)
        yield Mark(f"cell/{i}/{j}", "path", _STATES[str(live[0])] if live.size else "none", place, path=path)


@lru_cache(maxsize=16)
def _paths(spec: Spec) -> tuple[tuple[int, int, str, str], ...]:
    """Each tile of the map: its place, the squares that a mask lets through, and those that it does not."""
    cell = _plan(spec).cell
    live = np.asarray(spec.live(slice(0, spec.n_q), slice(0, spec.n_k))) != 0
    live = np.broadcast_to(live, (spec.n_q, spec.n_k))
    found = []
    for i in range(spec.tiles[0]):
        for j in range(spec.tiles[1]):
            part = live[i * spec.block_q : (i + 1) * spec.block_q, j * spec.block_k : (j + 1) * spec.block_k]
            found.append((i, j, _runs(part, cell), _runs(~part, cell)))
    return tuple(found)


def _runs(part: np.ndarray, cell: float) -> str:
    """The squares of a table that are set, as one path with a rectangle for each run of them in a row."""
    found = []
    for r, row in enumerate(part.tolist()):
        c = 0
        while c < len(row):
            start = c
            while c < len(row) and row[c]:
                c += 1
            if c > start:
                found.append(f"M{start * cell:g} {r * cell:g}h{(c - start) * cell:g}v{cell:g}h-{(c - start) * cell:g}z")
            c += 1
    return "".join(found)


def _numbers(shot: TiledShot, plan: Plan) -> Iterator[Mark]:
    """What each row keeps, counting as it changes: m rises, the factor comes, ℓ and acc shrink by it and grow by the tile."""
    spec, event, state = shot.spec, shot.event, shot.state
    first, last = event.q_rows if event else (0, 0)
    tile = event is not None and event.kind == "tile" and not event.skipped
    for row in range(spec.n_q):
        mine = tile and first <= row < last
        at = row - first
        y = plan.map[1] + row * CELL + CELL / 2 + 4

        def cell(
            name: str, value: float | None, column: int = 0, before: float | None = None, half: float | None = None, beat: int = 0
        ) -> Mark:
            middle = box(plan.kept[name][0] + (column + 0.5) * WIDE, y, 0, 0)  # noqa: B023
            text = "" if value is None else show(value)
            role = "none" if not text else ("cell-bold" if mine else "cell") if fitted([text], WIDE - 11, 12.0) >= 11.5 else "cell-small"  # noqa: B023
            counts = before is not None and value is not None and before != value and math.isfinite(before) and math.isfinite(value)
            via = (RESCALE, middle, half) if counts and half is not None else None
            return Mark(
                f"{name}/{row}/{column}", "text", role, middle, text, was=middle if counts else None, beat=beat,  # noqa: B023
                value=value if counts else None, value_was=before if counts else None, via=via,
            )  # fmt: skip

        def old(name: str, column: int | None = None) -> float | None:
            table = getattr(event, name) if mine else None  # noqa: B023
            found = None if table is None else table[at]  # noqa: B023
            return found if column is None or found is None else found[column]

        yield cell("m", state.m[row], before=old("m_old"), beat=MAX)
        factor = old("alpha")
        fresh = bool(event and event.fresh and mine and event.fresh[at])
        said = "" if factor is None or fresh else f"× {show(factor)}"
        shrinks = bool(said) and factor != 1
        middle = box(plan.kept["alpha"][0] + WIDE / 2, y, 0, 0)
        yield Mark(
            f"alpha/{row}/0",
            "text",
            "none" if not said else "cell-factor" if shrinks else "cell-small",
            middle,
            said,
            beat=RESCALE,
            passing=True,
        )
        yield cell("l", state.l[row], before=old("l_old"), half=old("l_rescaled"), beat=ACCUMULATE)
        for column in range(spec.d_v):
            if state.acc is not None:
                yield cell("acc", state.acc[row][column], column, old("acc_old", column), old("acc_rescaled", column), ACCUMULATE)
            output = state.output[row][column] if state.output is not None and state.output[row] else None
            yield cell(
                "output", output, column, old("o_old", column) if spec.algorithm == "fa1" else None, None, ACCUMULATE if tile else SCORE
            )


def _bars(shot: TiledShot, plan: Plan) -> Iterator[Mark]:
    """What each row keeps, without numbers: how high m is among the scores' range, ℓ next to the largest it can be, and whether its output is there."""
    spec, event, state = shot.spec, shot.event, shot.state
    first, last = event.q_rows if event else (0, 0)
    cell = plan.cell
    live = [m for m in state.m if math.isfinite(m)]
    most = max(map(abs, live), default=1.0) or 1.0
    for row in range(spec.n_q):
        y, now = plan.map[1] + row * cell, first <= row < last
        for name, value, reach in (("m", state.m[row], most), ("l", state.l[row], float(spec.n_k))):
            share = min(max(abs(value) / reach, 0.0), 1.0) if math.isfinite(value) else 0.0
            role = "failed" if value != value or value == math.inf else "none" if not share else "now" if now else "kept"
            yield Mark(f"bar/{name}/{row}", "rect", role, box(plan.kept[name][0], y + 0.5, max(share * BARS, 0.3), max(cell - 1, 1)))
        done = state.output is not None and bool(state.output[row])
        yield Mark(
            f"bar/output/{row}",
            "rect",
            "none" if not done else "now" if now else "kept",
            box(plan.kept["output"][0], y + 0.5, cell, max(cell - 1, 1)),
        )


def _travelling(shot: TiledShot, plan: Plan) -> Iterator[Mark]:
    """The tile of Q and of K on their way to the map, that of V on its way to what is kept, and what each of them is taken from."""
    event, cell = shot.event, plan.cell
    tile = event is not None and event.kind == "tile" and not event.skipped and event.k_cols is not None
    if not tile or event is None or event.k_cols is None:
        for name in ("q", "k", "v"):
            yield Mark(f"lit/{name}", "rect", "none", box(0, 0, 1, 1))
            yield Mark(f"travels/{name}", "rect", "none", box(0, 0, 1, 1), passing=True)
        return
    (top, bottom), (left, right) = event.q_rows, event.k_cols
    x, y, wide, high = plan.map[0] + left * cell, plan.map[1] + top * cell, (right - left) * cell, (bottom - top) * cell
    target = box(x, y, wide, high)
    into = plan.kept["acc" if "acc" in plan.kept else "output"]
    sums = box(into[0], y, into[1] * WIDE if plan.roomy else cell, high)
    for name, start, end, beat in (
        ("q", box(plan.q[0], y, plan.q[2], high), target, LOAD),
        ("k", box(x, plan.k[1], wide, plan.k[3]), target, LOAD),
        ("v", box(x, plan.v[1], wide, plan.v[3]), sums, ACCUMULATE),
    ):
        yield Mark(f"lit/{name}", "rect", "lit", start)
        yield Mark(f"travels/{name}", "rect", "none", end, was=start, beat=beat, moving="now-cell", passing=True)
