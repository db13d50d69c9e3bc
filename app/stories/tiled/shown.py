"""Tiled attention, looked at: the map of positions, and for every row what is kept or has been written out."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.machines import first_bad, tiled
from app.machines.first_bad import Bad
from app.machines.online import MASKED
from app.machines.run import Moment
from app.machines.tiled import PHASES, Event, Spec
from app.stories.attention import Off, Reference, Row, Table, compared, errors, reference
from app.stories.bad import BadStep, aside, sent
from app.stories.tiled import words
from app.stories.voice import Voice
from app.stories.wire_types import Told


@dataclass(frozen=True)
class Tile(Told):
    """What the step just made did. `kind` is start at step 0, where the rest is absent; a row is a query of the tile."""

    kind: Literal["start", "tile", "normalise"]
    """what was done"""
    q_rows: tuple[int, int]
    """the tile's queries, from the first to before the second, as in Python"""
    first_bad: tuple[BadStep, ...]
    """for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met"""
    k_cols: tuple[int, int] | None = None
    """its keys, likewise"""
    skipped: bool | None = None
    """whether every cell of the tile is masked, so that nothing was read"""
    phases: tuple[str, ...] | None = None
    """what the step did, in order; none for a skipped tile"""
    q: Table | None = None
    """the tile's rows of Q, as loaded"""
    k: Table | None = None
    """its rows of K, as loaded"""
    v: Table | None = None
    """its rows of V, as loaded"""
    dots: Table | None = None
    """q·k"""
    scores: Table | None = None
    """q·k times the scale; -Infinity where masked"""
    m_old: Row | None = None
    """each row's highest score before"""
    m_new: Row | None = None
    """and after"""
    m_tile: Row | None = None
    """fa1: each row's highest score in this tile alone"""
    alpha: Row | None = None
    """exp(m_old − m_new), a row; 0 while nothing is kept"""
    beta: Row | None = None
    """fa1: exp(m_tile − m_new), a row"""
    p: Table | None = None
    """exp(score − m_new), in fa1 exp(score − m_tile); 0 where masked"""
    p_cast: Table | None = None
    """p as it meets V, cast to p_format; where that is another format than compute"""
    l_old: Row | None = None
    """l before"""
    l_rescaled: Row | None = None
    """l_old · alpha"""
    l_tile: Row | None = None
    """fa1: the sum of p, a row"""
    row_sums: Row | None = None
    """the sum of p, a row"""
    acc_old: Table | None = None
    """fa2: acc before"""
    o_old: Table | None = None
    """fa1: the output before"""
    acc_rescaled: Table | None = None
    """fa2: acc_old · alpha; fa1: o_old · l_rescaled"""
    pv: Table | None = None
    """p · V"""
    new_max: list[bool] | None = None
    """whether the row's highest score rose, a row"""
    fresh: list[bool] | None = None
    """whether the row had kept nothing yet, so that its alpha is nothing to rescale, a row"""
    rescales: bool | None = None
    """whether any row shrinks what it keeps"""
    l: Row | None = None
    """normalise: what each row is divided by"""
    acc: Table | None = None
    """normalise: what is divided"""
    output: Table | None = None
    """normalise: the rows finished"""


@dataclass(frozen=True)
class Rows(Told):
    """For every query what is kept or written out, and the map of positions."""

    m: Row
    """the highest score so far, a row; -Infinity before any live one"""
    l: Row
    """the sum of exp(score − m), a row"""
    lse: Row
    """m + log l, a row, natural logarithm"""
    cells: list[list[str]]
    """the map of positions, a row for each query: waiting, live (the tile just taken), consumed or masked, one for each key"""
    consumed: list[list[bool]]
    """the same map: whether a score was used and dropped"""
    first_bad: tuple[BadStep, ...]
    """for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met"""
    reference: Reference
    """the float64 answer"""
    acc: Table | None = None
    """fa2: the sum of exp(score − m) · V, unnormalised; fa1 has none"""
    output: Table | None = None
    """a row of d_v for each query; an empty row where there is no output yet; absent before the first"""
    error: Off | None = None
    """how far rounding carried the output"""


class TiledView:
    """Remembers rows that the machine has written out, and which cells it has passed."""

    form_name, event_type, state_type = "Tiled", Tile, Rows

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        n_q, d_v = spec.n_q, spec.d_v
        self.m, self.l, self.acc = np.full(n_q, MASKED), np.zeros(n_q), np.zeros((n_q, d_v))
        self.output: list[list[float]] = [[] for _ in range(n_q)]
        self.live = spec.live(slice(0, n_q), slice(0, spec.n_k)) != 0
        self.passed = np.zeros((n_q, spec.n_k), dtype=bool)
        self.reference = reference(spec)
        self.bad: list[list[tuple[int, Bad]]] = [[] for _ in range(n_q)]

    def see(self, moment: Moment) -> None:
        event: Event | None = moment.event
        earlier: Event | None = getattr(self, "moment", moment).event
        if earlier is not None and earlier is not event:
            self.passed[earlier.rows, earlier.cols] = True
        self.moment = moment
        if event is None:
            return
        self.m[event.rows], self.l[event.rows], self.acc[event.rows] = event.now.m, event.now.l, event.now.acc
        rows = range(event.rows.start, event.rows.stop)
        known = [tuple(bad for _, bad in self.bad[place]) for place in rows]
        for place, had, found in zip(rows, known, first_bad.after(self.spec, event, known), strict=True):
            self.bad[place] += [(moment.step, bad) for bad in found[len(had) :]]
        if event.kind == "normalise":
            for place, finished in zip(rows, event.parts["output"].tolist(), strict=True):
                self.output[place] = finished
        elif self.spec.algorithm == "fa1":
            for place, current in zip(rows, self.spec.forms[0].round_array(event.now.acc).tolist(), strict=True):
                self.output[place] = current

    def event(self) -> Tile | None:
        event: Event | None = self.moment.event
        if event is None:
            return None
        rows, bad = (event.rows.start, event.rows.stop), sent(self._found(event.rows))
        if event.kind == "normalise":
            return Tile(
                "normalise", rows, bad, l=event.now.l.tolist(), acc=event.now.acc.tolist(), output=event.parts["output"].tolist()
            )  # fmt: skip
        cols = (event.cols.start, event.cols.stop)
        if event.skipped:
            return Tile("tile", rows, bad, cols, True, ())
        risen = event.parts["m_new"] > event.before.m
        fresh = event.before.m == MASKED
        before = event.before.acc.tolist()
        parts = {name: part.tolist() for name, part in event.parts.items()}
        parts["o_old" if self.spec.algorithm == "fa1" else "acc_old"] = before
        return Tile(
            "tile", rows, bad, cols, False, PHASES, m_old=event.before.m.tolist(), l_old=event.before.l.tolist(),
            new_max=risen.tolist(), fresh=fresh.tolist(), rescales=bool((risen & ~fresh).any()), **parts,
        )  # fmt: skip

    def state(self) -> Rows:
        cells = np.where(self.passed, "consumed", "waiting")
        event: Event | None = self.moment.event
        if event is not None and event.kind == "tile":
            cells[event.rows, event.cols] = "live"
        cells = np.where(self.live, cells, "masked")
        return Rows(
            self.m.tolist(),
            self.l.tolist(),
            tiled.lse(self.spec, self.m, self.l).tolist(),
            cells.tolist(),
            (cells == "consumed").tolist(),
            sent(self._found(slice(0, self.spec.n_q))),
            self.reference,
            self.acc.tolist() if self.spec.algorithm == "fa2" else None,
            [list(finished) for finished in self.output] if any(self.output) else None,
            errors(self.spec, np.array(self.output), self.reference) if self._done else None,
        )

    def aside(self, voice: Voice) -> str:
        return aside(voice, self._found(slice(0, self.spec.n_q)), self.moment.step)

    def _found(self, rows: slice) -> dict[int, list[tuple[int, Bad]]]:
        return {place: self.bad[place] for place in range(rows.start, rows.stop) if self.bad[place]}

    @property
    def _done(self) -> bool:
        return self.moment.step == tiled.steps(self.spec)

    def words(self) -> dict[str, str]:
        off = errors(self.spec, np.array(self.output), self.reference) if self._done else None
        return words.phases(self.spec, self.moment) | compared(self.spec, self.reference, off)
