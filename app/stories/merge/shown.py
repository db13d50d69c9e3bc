"""A split row, looked at: every partial result made so far, finished outputs merged by lse, and how far rounding carried them."""

import math
from collections.abc import Sequence
from typing import Any

from app.machines import online, reference
from app.machines.merge import Merged, Partial, Spec, Worked, base_2, by_lse
from app.machines.online import MASKED
from app.machines.reference import Error, error
from app.machines.run import Moment
from app.stories.forms import event_of, kind, list_of, number, object_of, ref, shaped
from app.stories.merge import words

_PAIR = "for each of the two that are merged"
_MERGED_BY_LSE = object_of(
    "Finished outputs merged by their lse, where m, l and acc were not handed over.",
    ("output",),
    weights=list_of(ref("Number"), "exp(lse_i − lse)"),
    lse=number("top + log Σ exp(lse_i − top), top the larger"),
    output=shaped("the sum of weight · output"),
)
EVENT = event_of(
    ["start", "worker", "merge"],
    number=kind("integer", "of the result made: the step that made it", minimum=1),
    parts=list_of(kind("integer", "a result's number, from 1", minimum=1), "worker: its part; merge: the two results that are merged"),
    from_=kind("integer", "worker: the first score of its part, from 0", minimum=0),
    to=kind("integer", "worker: the score after its last", minimum=0),
    scores=list_of(ref("Number"), "worker: the scores as read, rounded"),
    values=list_of(ref("Shaped"), "worker: their values as read, rounded"),
    rescales=kind("integer", "worker: how often a new highest score shrank what it kept", minimum=0),
    m_old=list_of(ref("Number"), f"m {_PAIR}"),
    m_new=number("m of the result"),
    factors=list_of(ref("Number"), f"exp(m_old − m_new) {_PAIR}; 0 for an empty one, and then 1 for the other"),
    l_old=list_of(ref("Number"), f"l {_PAIR}"),
    l_rescaled=list_of(ref("Number"), "l_old · factor"),
    acc_old=list_of(ref("Shaped"), f"acc {_PAIR}"),
    acc_rescaled=list_of(ref("Shaped"), "acc_old · factor"),
    empty=list_of(kind("boolean", "whether it has no live key"), f"which are empty, {_PAIR}"),
    by_lse=_MERGED_BY_LSE,
    mixed_bases=object_of(
        "The mistake of taking base-2 logarithms for natural ones, for comparison.",
        ("output",),
        weights=list_of(ref("Number"), "the weights that would come of it"),
        output=shaped("the wrong output"),
    ),
)
_RESULT = {
    "m": number("its highest score; -Infinity where no key is live"),
    "l": number("its sum of exp(score − m)"),
    "lse": number("m + log l, natural logarithm"),
    "lse2": number("the same to base 2: lse / ln 2"),
    "acc": shaped("its sum of exp(score − m) · value"),
    "output": shaped("acc / l"),
}
_ERROR = object_of(
    "The largest error against float64.",
    absolute=number("|result − exact|"),
    relative=number("that over |exact|"),
    ulps=number("that in units in the last place of the result's format"),
)
_ERRORS = object_of("How far rounding carried each result from the float64 one.", ("output",), l=_ERROR, lse=_ERROR, output=_ERROR)
_VALUES = ("acc", "output")
STATE = object_of(
    "The partial results, and once all are merged the row's m, l, lse, acc and output.",
    ("m", "l", "lse", "lse2", "by_lse", "unsplit", "error", *_VALUES),
    spans=list_of(list_of(kind("integer", "a score's place, from 0", minimum=0), "[from, to)"), "the scores of each part"),
    plan=list_of(list_of(kind("integer", "a result's number", minimum=1), "two results"), "which results each merge takes"),
    parts=list_of(
        object_of(
            "A partial result: of one part, or of several merged.",
            ("factors", *_VALUES),
            number=kind("integer", "the step that made it", minimum=1),
            of=list_of(kind("integer", "a part's number", minimum=1), "the parts in it"),
            from_=kind("integer", "its first score, from 0", minimum=0),
            to=kind("integer", "the score after its last", minimum=0),
            waiting=kind("boolean", "whether it is still to be merged"),
            factors=list_of(ref("Number"), "of a merge: what each of the two was multiplied by"),
            **_RESULT,
        ),
        "every result made so far, in the order made: the workers', then the merges'",
    ),
    **_RESULT,
    by_lse=object_of(
        "The row once more, from the workers' finished outputs and their lse alone, merged in the same order.",
        ("output",),
        lse=number("of the row"),
        output=shaped("of the row"),
    ),
    unsplit=object_of("One worker that reads the whole row, in the same formats.", _VALUES, **_RESULT, error=_ERRORS),
    error=_ERRORS,
    reference=object_of(
        "The float64 answer for the whole row, from the inputs as the format holds them.",
        ("output",),
        m=number("highest score"),
        l=number("sum of exp(score − m)"),
        lse=number("log of the sum of exp(score)"),
        output=shaped("weighted average of the values"),
    ),
)


class MergeView:
    """Gathers the results as they are made; the machine keeps only those that wait."""

    form_name, event_form, state_form = "Merge", EVENT, STATE

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.made: list[Partial] = []
        self.factors: dict[int, tuple[float, float]] = {}
        self.finished: dict[int, tuple[float, tuple[float, ...]]] = {}
        form = spec.row.form
        scores = [MASKED if x == MASKED else form.round(x) for x in spec.scores]
        rows = [tuple(map(form.round, row if isinstance(row, Sequence) else (row,))) for row in spec.values or ()]
        self.exact = reference.softmax(scores, rows)
        self._end: dict[str, Any] = {}

    def see(self, moment: Moment) -> None:
        self.moment = moment
        event: Worked | Merged | None = moment.event
        if event is None:
            return
        self.made.append(event.result)
        if isinstance(event, Worked):
            kept = event.result.kept
            self.finished[event.result.number] = online.lse(self.spec.row, kept), online.output(self.spec.row, kept)
        else:
            pair = [self.finished[one.number] for one in event.pair]
            found = by_lse(self.spec.row.form, self.spec.row.sums, (pair[0][0], pair[1][0]), (pair[0][1], pair[1][1]))
            self.finished[event.result.number] = found.lse, found.output
            self.factors[event.result.number] = event.factors

    def event(self) -> dict[str, Any]:
        event: Worked | Merged | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        result = event.result
        told: dict[str, Any] = {"kind": event.kind, "number": result.number}
        if isinstance(event, Worked):
            told |= {"parts": [result.number], "from": result.first, "to": result.last, "scores": event.scores, "rescales": event.rescales}
            told |= {"m_new": result.kept.m}
            return told | {"values": [self._shaped(row) for row in event.values]} if self.spec.width else told
        pair = event.pair
        told |= {
            "parts": [one.number for one in pair],
            "m_old": [one.kept.m for one in pair],
            "m_new": result.kept.m,
            "factors": event.factors,
            "l_old": [one.kept.l for one in pair],
            "l_rescaled": event.l_rescaled,
            "empty": [one.empty for one in pair],
            "by_lse": self._by_lse(pair, mixed=False),
            "mixed_bases": self._by_lse(pair, mixed=True),
        }
        if self.spec.width:
            told |= {"acc_old": [self._shaped(one.kept.acc) for one in pair], "acc_rescaled": [self._shaped(x) for x in event.acc_rescaled]}
        return told

    def state(self) -> dict[str, Any]:
        waiting = {one.number for one in self.moment.state.waiting}
        told: dict[str, Any] = {
            "spans": [list(span) for span in self.spec.spans],
            "plan": [list(pair) for pair in self.spec.plan],
            "parts": [
                {"number": one.number, "of": list(one.of), "from": one.first, "to": one.last, "waiting": one.number in waiting}
                | ({"factors": self.factors[one.number]} if one.number in self.factors else {})
                | self._result(one.kept)
                for one in self.made
            ],
        }
        if self._done:
            told |= self._result(self.made[-1].kept) | self._errors()
        exact = {"m": self.exact.m, "l": self.exact.l, "lse": self.exact.lse}
        if self.spec.width:
            exact["output"] = self._shaped(self.exact.output)
        return told | {"reference": exact}

    def words(self) -> dict[str, str]:
        """Each number's arithmetic, and at the end how far rounding carried the result."""
        told = words.lines(self.spec, self.moment) | {"moved": "", "by_lse": ""}
        if self._done:
            found = self._errors()
            what = "output" if self.spec.width else "lse"
            one, alone = self._result(self.made[-1].kept)[what], found["unsplit"][what]
            off = [Error(**errors[what]) for errors in (found["error"], found["unsplit"]["error"])]
            if math.isfinite(self.exact.lse) and all(map(math.isfinite, self.exact.output)) and math.isfinite(off[0].ulps + off[1].ulps):
                told["moved"] = words.moved(self.spec, off[0], off[1], one == alone)
            if self.spec.width:
                kept = online.output(self.spec.row, self.made[-1].kept)
                told["by_lse"] = words.both_ways(self.spec, kept, self.finished[self.made[-1].number][1])
        return told

    @property
    def _done(self) -> bool:
        return len(self.made) == 2 * len(self.spec.spans) - 1

    def _result(self, kept: online.State) -> dict[str, Any]:
        row = self.spec.row
        lse = online.lse(row, kept)
        told: dict[str, Any] = {"m": kept.m, "l": kept.l, "lse": lse, "lse2": base_2(row.sums, lse)}
        if self.spec.width:
            told |= {"acc": self._shaped(kept.acc), "output": self._shaped(online.output(row, kept))}
        return told

    def _by_lse(self, pair: tuple[Partial, Partial], mixed: bool) -> dict[str, Any]:
        """Two results merged by lse; where bases are mixed up, by their base-2 lse taken for natural ones."""
        row = self.spec.row
        finished = [self.finished[one.number] for one in pair]
        a, b = (base_2(row.sums, lse) if mixed else lse for lse, _ in finished)
        found = by_lse(row.form, row.sums, (a, b), (finished[0][1], finished[1][1]))
        told: dict[str, Any] = {"weights": found.weights} if mixed else {"weights": found.weights, "lse": found.lse}
        return told | {"output": self._shaped(found.output)} if self.spec.width else told

    def _errors(self) -> dict[str, Any]:
        """Once all are merged: the row by lse, the row unsplit, and the errors of both ways."""
        if not self._end:
            row, last = self.spec.row, self.made[-1]
            alone = online.start(row)
            for _ in range(online.steps(row)):
                alone = online.step(row, alone)
            lse, output = self.finished[last.number]
            told: dict[str, Any] = {"lse": lse}
            if self.spec.width:
                told["output"] = self._shaped(output)
            self._end = {"by_lse": told, "unsplit": self._result(alone) | {"error": self._off(alone)}, "error": self._off(last.kept)}
        return self._end

    def _off(self, kept: online.State) -> dict[str, Any]:
        row, exact = self.spec.row, self.exact
        found = {"l": error(row.sums, [kept.l], [exact.l]), "lse": error(row.sums, [online.lse(row, kept)], [exact.lse])}
        if self.spec.width:
            found["output"] = error(row.form, online.output(row, kept), exact.output)
        return {name: vars(one) for name, one in found.items()}

    def _shaped(self, row: tuple[float, ...]) -> Any:
        values = self.spec.values
        return row[0] if values is not None and not isinstance(values[0], Sequence) else row
