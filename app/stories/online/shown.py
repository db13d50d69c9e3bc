"""Online softmax, looked at: beside m, l and acc, the bars it has forgotten, the old way and the reference."""

import math
from collections.abc import Sequence
from typing import Any

from app.machines import online, reference
from app.machines.naive import Naive, disagrees, first_bad, shares
from app.machines.online import MASKED, Reading, Spec
from app.machines.run import Moment
from app.stories.forms import INDICES, event_of, kind, list_of, number, object_of, ref, shaped
from app.stories.online import words

EVENT = event_of(
    ["start", "read"],
    indices=INDICES,
    scores=list_of(ref("Number"), "the scores as read: rounded, offset added"),
    values=list_of(ref("Shaped"), "their values as read, rounded to the format"),
    m_old=number("the highest score before"),
    m_new=number("the highest score after"),
    alpha=number("exp(m_old − m_new), the factor on all that was kept; 0 while nothing is"),
    p=list_of(ref("Number"), "exp(score − m_new) for each score read; 0 where masked"),
    l_old=number("l before"),
    row_sum=number("the sum of p"),
    l_rescaled=number("l_old · alpha"),
    acc_old=shaped("acc before"),
    pv=shaped("the sum of p · value"),
    acc_rescaled=shaped("acc_old · alpha"),
    new_max=kind("boolean", "whether the highest score rose"),
    rescales=kind("boolean", "whether it rose when something was already kept"),
    stalled=kind("boolean", "whether row_sum was above 0 and rounded away whole"),
)
_TERM = object_of(
    "A bar: a score that was read.",
    ("size_before",),
    index=kind("integer", "its place, from 0", minimum=0),
    score=number("as read"),
    size=number("exp(score − m)"),
    size_before=number("the same before this step; absent for a score just read"),
)
_BAD = object_of(
    "An operation.",
    gives=number("Infinity or NaN"),
    op=kind("string", "which operation", enum=["exp", "add", "div"]),
    index=kind("integer", "the score it belongs to", minimum=0),
    text=kind("string", "in words"),
)
STATE = object_of(
    "What the algorithm keeps, and what is derived from it for the reader.",
    ("acc", "output", "shares"),
    m=number("the highest score so far; -Infinity before any live one"),
    l=number("the sum of exp(score − m)"),
    lse=number("m + log l, natural logarithm"),
    acc=shaped("the sum of exp(score − m) · value"),
    output=shaped("acc / l"),
    terms=list_of(_TERM, "the scores read so far, which the algorithm has forgotten"),
    shares=list_of(ref("Number"), "size / l for each score, when all are read: a second read, outside the ledger"),
    naive=object_of(
        "The same scores without taking the highest off.",
        ("shares",),
        exps=list_of(ref("Number"), "exp(score)"),
        sum=number("their sum so far"),
        shares=list_of(ref("Number"), "exp / sum, when all are read"),
        failed=kind("boolean", "whether a share of the scores read so far differs from the reference by more than rounding"),
        first_bad=list_of(_BAD, "the operation that first gave an infinity and the one that first gave NaN, in the order met"),
    ),
    reference=object_of(
        "The float64 answer for the scores read so far, as the format holds them.",
        ("output",),
        m=number("highest score"),
        l=number("sum of exp(score − m)"),
        lse=number("log of the sum of exp(score)"),
        output=shaped("weighted average of the values"),
        shares=list_of(ref("Number"), "softmax"),
    ),
)


class OnlineView:
    """Remembers, for the reader, the scores that the machine was handed and let go."""

    form_name, event_form, state_form = "Online", EVENT, STATE

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.scores: list[float] = []
        self.values: list[tuple[float, ...]] = []
        self.exps: list[float] = []
        self.naive = Naive(spec.form, spec.sums)
        self._found: dict[str, Any] = {}

    def see(self, moment: Moment) -> None:
        self.moment = moment
        self._found = {}
        event: Reading | None = moment.event
        if event is None:
            return
        for index, score in enumerate(event.scores, event.first):
            self.naive = self.naive.read(index, score)
            self.exps.append(self.naive.exp)
        self.scores += event.scores
        self.values += event.values

    def event(self) -> dict[str, Any]:
        event: Reading | None = self.moment.event
        if event is None:
            return {"kind": "start"}
        told: dict[str, Any] = {
            "kind": "read",
            "indices": list(range(event.first, event.first + len(event.scores))),
            "scores": event.scores,
            "m_old": event.m_old,
            "m_new": event.m_new,
            "alpha": event.alpha,
            "p": event.p,
            "l_old": event.l_old,
            "row_sum": event.row_sum,
            "l_rescaled": event.l_rescaled,
            "new_max": event.new_max,
            "rescales": event.rescales,
            "stalled": event.stalled,
        }
        if self.spec.width:
            told |= {"values": [self._shaped(row) for row in event.values]}
            told |= {"acc_old": self._shaped(event.acc_old), "pv": self._shaped(event.pv), "acc_rescaled": self._shaped(event.acc_rescaled)}
        return told

    def state(self) -> dict[str, Any]:
        spec, state = self.spec, self.moment.state
        told: dict[str, Any] = {"m": state.m, "l": state.l, "lse": online.lse(spec, state)}
        if spec.width:
            told["acc"] = self._shaped(state.acc)
            if self.scores:
                told["output"] = self._shaped(online.output(spec, state))
        told["terms"] = self._terms()
        if self._done:
            told["shares"] = self._shares()
        told["naive"] = self._old_way()
        told["reference"] = self._reference()
        return told

    def words(self) -> dict[str, str]:
        """Sentences that are more than the caption: each kept number's arithmetic, the old way's fate, what rounding moved."""
        told = words.lines(self.spec, self.moment)
        old = self._old_way()
        told["naive"] = words.old_way(
            read=len(self.scores), failed=old["failed"], done=self._done, shares=self._naive_shares(), exact=self._exact().shares
        )
        told["done"] = words.all_read(self.moment.state, self._shares()) if self._done else ""
        told["moved"] = self._moved()
        return told

    @property
    def _done(self) -> bool:
        return len(self.scores) == len(self.spec.scores)

    def _terms(self) -> list[dict[str, Any]]:
        """The bars: each score read, its size next to the highest now, and next to the highest before this step."""
        m, event = self.moment.state.m, self.moment.event
        terms: list[dict[str, Any]] = []
        for index, score in enumerate(self.scores):
            term = {"index": index, "score": score, "size": self._size(score, m)}
            if index < event.first:
                term["size_before"] = self._size(score, event.m_old)
            terms.append(term)
        return terms

    def _size(self, score: float, m: float) -> float:
        form = self.spec.form
        return 0.0 if score == MASKED else form.exp(form.round(score - m))

    def _shares(self) -> tuple[float, ...]:
        """The sizes over l: what a softmax hands out, at the price of a second read."""
        state = self.moment.state
        return shares(self.spec.form, self.spec.sums, [self._size(score, state.m) for score in self.scores], state.l)

    def _naive_shares(self) -> tuple[float, ...]:
        if "shares" not in self._found:
            self._found["shares"] = shares(self.spec.form, self.spec.sums, self.exps, self.naive.sum)
        return self._found["shares"]  # type: ignore[no-any-return]

    def _exact(self) -> reference.Reference:
        if "exact" not in self._found:
            self._found["exact"] = reference.softmax(self.scores, self.values if self.spec.width else ())
        return self._found["exact"]  # type: ignore[no-any-return]

    def _old_way(self) -> dict[str, Any]:
        if "naive" in self._found:
            return self._found["naive"]  # type: ignore[no-any-return]
        spec, written = self.spec, self._naive_shares()
        count = len(written)
        failed = any(disagrees(got, exact, count, spec.form, spec.sums) for got, exact in zip(written, self._exact().shares, strict=True))
        bad = first_bad(self.naive.bad, self.exps, self.naive.sum, written) if self._done else self.naive.bad
        told: dict[str, Any] = {"exps": list(self.exps), "sum": self.naive.sum}
        if self._done:
            told["shares"] = written
        told["failed"] = failed
        told["first_bad"] = [{"gives": one.gives, "op": one.op, "index": one.index, "text": words.bad(spec, one)} for one in bad]
        self._found["naive"] = told
        return told

    def _reference(self) -> dict[str, Any]:
        exact = self._exact()
        told: dict[str, Any] = {"m": exact.m, "l": exact.l, "lse": exact.lse}
        if self.spec.width and self.scores:
            told["output"] = self._shaped(exact.output)
        told["shares"] = exact.shares
        return told

    def _moved(self) -> str:
        """Softmax does not change when one number is added to every score, unless rounding the sums moves them apart."""
        if not self.scores:
            return ""
        asked = self.spec.scores[: len(self.scores)]
        exact = [math.fsum((score, self.spec.offset)) if math.isfinite(score) else score for score in asked]
        if exact == self.scores or any(math.isnan(score) for score in exact):
            return ""
        return words.moved(self.spec, exact, self.scores, reference.softmax(asked).shares, self._exact().shares)

    def _shaped(self, row: tuple[float, ...]) -> Any:
        """A value-shaped number: bare where the values are bare numbers, a list where they are vectors."""
        values = self.spec.values
        return row[0] if values is not None and not isinstance(values[0], Sequence) else row
