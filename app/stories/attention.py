"""Attention, looked at: what is common to the tiled and the standard way, and the reference beside both."""

from dataclasses import dataclass

import numpy as np

from app.machines.attention import Inputs
from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.reference import error
from app.numbers import show
from app.stories.voice import WRITTEN
from app.stories.wire_types import Number, Told

Row = list[Number]  # one for each query
Table = list[list[Number]]  # a row for each query, one for each column


@dataclass(frozen=True)
class Answer(Told):
    """A float64 answer."""

    output: Table
    """n_q rows of d_v"""
    lse: Row
    """log of the sum of exp(score), a row; -Infinity for a row with no live key"""


@dataclass(frozen=True)
class Reference(Answer):
    """The float64 answer for the whole problem, from the inputs as the format holds them."""

    typed: Answer | None = None
    """the same from the inputs as typed; where the output then has other digits when it is shown"""


@dataclass(frozen=True)
class Far(Told):
    """The largest error of the output."""

    absolute: Number
    """|result − exact|"""
    relative: Number
    """that over |exact|"""
    ulps: Number
    """that in units in the last place of the output's format"""


@dataclass(frozen=True)
class Off(Told):
    """How far rounding carried the result from the float64 one; when all of it is there."""

    output: Far
    """of the output"""


def reference(spec: Inputs) -> Reference:
    """output [n_q, d_v] and lse [n_q] in float64; what is masked takes no part, whatever it holds.

    From q, k and v as the format stores them; `typed`, from them as given, only where a reader would see other digits.

    >>> found = reference(Inputs(q=[[1, 0]], k=[[1, 2], [2, 1]], v=[[2, 0], [0, 2]], scale=1.0))
    >>> [[round(x, 3) for x in row] for row in found.output], [round(x, 3) for x in found.lse]
    ([[0.538, 1.462]], [2.313])
    >>> found = reference(Inputs(q=[[1]], k=[[1]], v=[[0.3]], format="float8_e5m2"))
    >>> found.output, found.typed.output
    ([[0.3125]], [[0.3]])
    """
    stored, typed = spec.stored, (spec.q, spec.k, spec.v)
    found, given = _exact(spec, *stored), None
    if any((a != b).any() for a, b in zip(stored, typed, strict=True)):
        given = _exact(spec, *typed)
        if _apart(given.output, found.output) is None:
            given = None
    return Reference(found.output, found.lse, given)


def _exact(spec: Inputs, q: Array, k: Array, v: Array) -> Answer:
    factor = 1 / np.sqrt(spec.d) if spec.scale == "auto" else float(spec.scale)
    live = spec.live(slice(0, spec.n_q), slice(0, spec.n_k)) != 0
    output, lse = np.zeros((spec.n_q, spec.d_v)), np.full(spec.n_q, MASKED)
    with np.errstate(all="ignore"):
        for i in range(spec.n_q):
            if live[i].any():
                s = (k[live[i]] @ q[i]) * factor
                m = s.max()
                sizes = np.exp(s - m)
                output[i] = (sizes / sizes.sum()) @ v[live[i]]
                lse[i] = m + np.log(sizes.sum())
    return Answer(output.tolist(), lse.tolist())


def _apart(a: list[list[float]], b: list[list[float]]) -> int | None:
    """The first row in which two outputs differ in the digits that are shown; None where none does."""
    for i, (one, other) in enumerate(zip(a, b, strict=True)):
        if one != other and list(map(show, one)) != list(map(show, other)):
            return i
    return None


def errors(spec: Inputs, output: Array, exact: Answer) -> Off:
    """How far a whole output is from the float64 one."""
    found = error(spec.forms[0], output.ravel().tolist(), np.array(exact.output).ravel().tolist())
    return Off(Far(found.absolute, found.relative, found.ulps))


def compared(spec: Inputs, exact: Reference, off: Off | None) -> dict[str, str]:
    """For a page: what rounding the inputs did to the float64 answer (typed), and how far the result is from it (off); "" where nothing."""
    told = {"typed": "", "off": ""}
    if exact.typed is not None:
        i = _apart(exact.typed.output, exact.output)
        assert i is not None
        given, stored = (_row(answer.output[i]) for answer in (exact.typed, exact))
        told["typed"] = (
            f"Storing the inputs in {spec.format} moves even the float64 answer: from the inputs as typed, row {i + 1} of the output is "
            f"{given}; from the inputs as stored, {stored}."
        )
    if off is not None:
        far, n = off.output, WRITTEN.number
        if not np.isfinite(far.absolute):
            told["off"] = "Somewhere the output or the float64 one is not finite while the other is, so there is no largest error."
        elif far.absolute == 0:
            told["off"] = "The output has no error: each number is the float64 one."
        else:
            units = "unit" if far.ulps == 1 else "units"
            told["off"] = (
                f"Largest error of the output, from float64 on the inputs as stored: {n(far.absolute)}, "
                f"and nowhere more than {n(far.ulps)} {units} in the last place of {spec.format}."
            )
    return told


def _row(output: list[float]) -> str:
    return f"[{', '.join(map(show, output))}]"
