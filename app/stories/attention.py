"""Attention, looked at: what is common to the tiled and the standard way, and the reference beside both."""

from typing import Any

import numpy as np

from app.machines.attention import Inputs
from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.reference import error
from app.numbers import show
from app.stories.forms import list_of, number, object_of, ref
from app.stories.voice import WRITTEN


def table(about: str) -> dict[str, Any]:
    return list_of(list_of(ref("Number"), "one for each column"), about)


def row(about: str) -> dict[str, Any]:
    return list_of(ref("Number"), about)


_ANSWER = {
    "output": table("n_q rows of d_v"),
    "lse": row("log of the sum of exp(score), a row; -Infinity for a row with no live key"),
}
REFERENCE = object_of(
    "The float64 answer for the whole problem, from the inputs as the format holds them.",
    ("typed",),
    **_ANSWER,
    typed=object_of("The same from the inputs as typed; where the output then has other digits when it is shown.", **_ANSWER),
)
ERROR = object_of(
    "How far rounding carried the result from the float64 one; when all of it is there.",
    output=object_of(
        "The largest error of the output.",
        absolute=number("|result − exact|"),
        relative=number("that over |exact|"),
        ulps=number("that in units in the last place of the output's format"),
    ),
)


def reference(spec: Inputs) -> dict[str, Any]:
    """output [n_q, d_v] and lse [n_q] in float64; what is masked takes no part, whatever it holds.

    From q, k and v as the format stores them; `typed`, from them as given, only where a reader would see other digits.

    >>> found = reference(Inputs(q=[[1, 0]], k=[[1, 2], [2, 1]], v=[[2, 0], [0, 2]], scale=1.0))
    >>> [[round(x, 3) for x in row] for row in found["output"]], [round(x, 3) for x in found["lse"]]
    ([[0.538, 1.462]], [2.313])
    >>> found = reference(Inputs(q=[[1]], k=[[1]], v=[[0.3]], format="float8_e5m2"))
    >>> found["output"], found["typed"]["output"]
    ([[0.3125]], [[0.3]])
    """
    stored, typed = spec.stored, (spec.q, spec.k, spec.v)
    found = _exact(spec, *stored)
    if any((a != b).any() for a, b in zip(stored, typed, strict=True)):
        given = _exact(spec, *typed)
        if _apart(given["output"], found["output"]) is not None:
            found["typed"] = given
    return found


def _exact(spec: Inputs, q: Array, k: Array, v: Array) -> dict[str, Any]:
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
    return {"output": output.tolist(), "lse": lse.tolist()}


def _apart(a: list[list[float]], b: list[list[float]]) -> int | None:
    """The first row in which two outputs differ in the digits that are shown; None where none does."""
    for i, (one, other) in enumerate(zip(a, b, strict=True)):
        if one != other and list(map(show, one)) != list(map(show, other)):
            return i
    return None


def errors(spec: Inputs, output: Array, exact: dict[str, Any]) -> dict[str, Any]:
    """How far a whole output is from the float64 one."""
    found = error(spec.forms[0], output.ravel().tolist(), np.array(exact["output"]).ravel().tolist())
    return {"output": {"absolute": found.absolute, "relative": found.relative, "ulps": found.ulps}}


def compared(spec: Inputs, exact: dict[str, Any], off: dict[str, Any] | None) -> dict[str, str]:
    """For a page: what rounding the inputs did to the float64 answer (typed), and how far the result is from it (off); "" where nothing."""
    told = {"typed": "", "off": ""}
    if "typed" in exact:
        i = _apart(exact["typed"]["output"], exact["output"])
        assert i is not None
        given, stored = (_row(answer["output"][i]) for answer in (exact["typed"], exact))
        told["typed"] = (
            f"Storing the inputs in {spec.format} moves even the float64 answer: from the inputs as typed, row {i + 1} of the output is "
            f"{given}; from the inputs as stored, {stored}."
        )
    if off is not None:
        far, n = off["output"], WRITTEN.number
        if not np.isfinite(far["absolute"]):
            told["off"] = "Somewhere the output or the float64 one is not finite while the other is, so there is no largest error."
        elif far["absolute"] == 0:
            told["off"] = "The output has no error: each number is the float64 one."
        else:
            units = "unit" if far["ulps"] == 1 else "units"
            told["off"] = (
                f"Largest error of the output, from float64 on the inputs as stored: {n(far['absolute'])}, "
                f"and nowhere more than {n(far['ulps'])} {units} in the last place of {spec.format}."
            )
    return told


def _row(output: list[float]) -> str:
    return f"[{', '.join(map(show, output))}]"
