"""Attention, looked at: what is common to the tiled and the standard way, and the reference beside both."""

from typing import Any

import numpy as np

from app.machines.attention import Inputs
from app.machines.online import MASKED
from app.stories.forms import list_of, object_of, ref


def table(about: str) -> dict[str, Any]:
    return list_of(list_of(ref("Number"), "one for each column"), about)


def row(about: str) -> dict[str, Any]:
    return list_of(ref("Number"), about)


REFERENCE = object_of(
    "The float64 answer for the whole problem, from the inputs as the format holds them.",
    output=table("n_q rows of d_v"),
    lse=row("log of the sum of exp(score), a row; -Infinity for a row with no live key"),
)


def reference(spec: Inputs) -> dict[str, Any]:
    """output [n_q, d_v] and lse [n_q] in float64; what is masked takes no part, whatever it holds.

    >>> found = reference(Inputs(q=[[1, 0]], k=[[1, 2], [2, 1]], v=[[2, 0], [0, 2]], scale=1.0))
    >>> [[round(x, 3) for x in row] for row in found["output"]], [round(x, 3) for x in found["lse"]]
    ([[0.538, 1.462]], [2.313])
    """
    q, k, v = spec.stored
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
