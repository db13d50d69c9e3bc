"""Tiled attention, looked at: the map of positions, and for every row what is kept or has been written out."""

from typing import Any

import numpy as np

from app.machines import first_bad, tiled
from app.machines.first_bad import Bad
from app.machines.online import MASKED
from app.machines.run import Moment
from app.machines.tiled import PHASES, Event, Spec
from app.stories.attention import ERROR, REFERENCE, compared, errors, reference, row, table
from app.stories.bad import FIRST_BAD, aside, sent
from app.stories.forms import event_of, kind, list_of, object_of
from app.stories.tiled import words
from app.stories.voice import Voice

_SPAN = {
    **list_of(kind("integer", "a place, from 0", minimum=0), "from the first to before the second, as in Python"),
    "minItems": 2,
    "maxItems": 2,
}
EVENT = event_of(
    ["start", "tile", "normalise"],
    q_rows=_SPAN,
    k_cols=_SPAN,
    skipped=kind("boolean", "whether every cell of the tile is masked, so that nothing was read"),
    phases=list_of(kind("string", "a phase", enum=list(PHASES)), "what the step did, in order; none for a skipped tile"),
    q=table("the tile's rows of Q, as loaded"),
    k=table("its rows of K, as loaded"),
    v=table("its rows of V, as loaded"),
    dots=table("q·k"),
    scores=table("q·k times the scale; -Infinity where masked"),
    m_old=row("each row's highest score before"),
    m_new=row("and after"),
    m_tile=row("fa1: each row's highest score in this tile alone"),
    alpha=row("exp(m_old − m_new), a row; 0 while nothing is kept"),
    beta=row("fa1: exp(m_tile − m_new), a row"),
    p=table("exp(score − m_new), in fa1 exp(score − m_tile); 0 where masked"),
    p_cast=table("p as it meets V, cast to p_format; where that is another format than compute"),
    l_old=row("l before"),
    l_rescaled=row("l_old · alpha"),
    l_tile=row("fa1: the sum of p, a row"),
    row_sums=row("the sum of p, a row"),
    acc_old=table("fa2: acc before"),
    o_old=table("fa1: the output before"),
    acc_rescaled=table("fa2: acc_old · alpha; fa1: o_old · l_rescaled"),
    pv=table("p · V"),
    new_max=list_of(kind("boolean", "whether the row's highest score rose"), "one for each row"),
    fresh=list_of(kind("boolean", "whether the row had kept nothing yet, so that its alpha is nothing to rescale"), "one for each row"),
    rescales=kind("boolean", "whether any row shrinks what it keeps"),
    first_bad=FIRST_BAD,
    l=row("normalise: what each row is divided by"),
    acc=table("normalise: what is divided"),
    output=table("normalise: the rows finished"),
)
STATE = object_of(
    "For every query what is kept or written out, and the map of positions.",
    ("acc", "output", "error"),
    m=row("the highest score so far, a row; -Infinity before any live one"),
    l=row("the sum of exp(score − m), a row"),
    acc=table("fa2: the sum of exp(score − m) · V, unnormalised; fa1 has none"),
    output=table("a row of d_v for each query; an empty row where there is no output yet; absent before the first"),
    lse=row("m + log l, a row, natural logarithm"),
    cells=list_of(
        list_of(kind("string", "a cell", enum=["waiting", "live", "consumed", "masked"]), "one for each key"),
        "the map of positions, a row for each query: live are the cells of the tile just taken",
    ),
    consumed=list_of(list_of(kind("boolean", "whether its score was used and dropped"), "one for each key"), "the same map"),
    first_bad=FIRST_BAD,
    error=ERROR,
    reference=REFERENCE,
)


class TiledView:
    """Remembers rows that the machine has written out, and which cells it has passed."""

    form_name, event_form, state_form = "Tiled", EVENT, STATE

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

    def event(self) -> dict[str, Any]:
        event: Event | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        told: dict[str, Any] = {"kind": event.kind, "q_rows": [event.rows.start, event.rows.stop]}
        if event.kind == "normalise":
            told |= {"l": event.now.l.tolist(), "acc": event.now.acc.tolist(), "output": event.parts["output"].tolist()}
            return told | {"first_bad": sent(self._found(event.rows))}
        told |= {"k_cols": [event.cols.start, event.cols.stop], "skipped": event.skipped, "phases": [] if event.skipped else list(PHASES)}
        told["first_bad"] = sent(self._found(event.rows))
        if event.skipped:
            return told
        told |= {"m_old": event.before.m.tolist(), "l_old": event.before.l.tolist()}
        told["o_old" if self.spec.algorithm == "fa1" else "acc_old"] = event.before.acc.tolist()
        told |= {name: part.tolist() for name, part in event.parts.items()}
        risen = event.parts["m_new"] > event.before.m
        fresh = event.before.m == MASKED
        return told | {"new_max": risen.tolist(), "fresh": fresh.tolist(), "rescales": bool((risen & ~fresh).any())}

    def state(self) -> dict[str, Any]:
        told: dict[str, Any] = {"m": self.m.tolist(), "l": self.l.tolist()}
        if self.spec.algorithm == "fa2":
            told["acc"] = self.acc.tolist()
        if any(self.output):
            told["output"] = [list(finished) for finished in self.output]
        told["lse"] = tiled.lse(self.spec, self.m, self.l).tolist()
        cells = np.where(self.passed, "consumed", "waiting")
        event: Event | None = self.moment.event
        if event is not None and event.kind == "tile":
            cells[event.rows, event.cols] = "live"
        cells = np.where(self.live, cells, "masked")
        told["cells"] = cells.tolist()
        told["consumed"] = (cells == "consumed").tolist()
        told["first_bad"] = sent(self._found(slice(0, self.spec.n_q)))
        if self._done:
            told["error"] = errors(self.spec, np.array(self.output), self.reference)
        told["reference"] = self.reference
        return told

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
