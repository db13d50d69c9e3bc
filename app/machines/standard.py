"""Attention the standard way: the whole table of scores S, the whole table of shares P, then P · V. Three steps.

The yardstick for tiled.py: the same inputs, formats and masks, and a ledger that counts S written and read, P written and read.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from app.machines import attention
from app.machines.arithmetic import Ledger
from app.machines.attention import Inputs, arithmetics
from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.run import Machine

KINDS = ("scores", "softmax", "output")


@dataclass(frozen=True, eq=False)
class State:
    """How many of the three steps are done, and the tables in slow memory: s and p [n_q, n_k], output [n_q, d_v]."""

    step: int
    s: Array | None = None
    p: Array | None = None
    output: Array | None = None


@dataclass(frozen=True, eq=False)
class Event:
    """kind: of KINDS; shares: of a softmax step, before they are cast to p_format."""

    kind: str
    after: State
    cost: Ledger
    shares: Array | None = None


def start(spec: Inputs) -> State:
    return State(0)


def steps(spec: Inputs) -> int:
    return 3


def advance(spec: Inputs, state: State) -> Event:
    """Scores, then softmax, then output.

    >>> spec = Inputs(q=[[1, 0]], k=[[1, 2], [2, 1]], v=[[2, 0], [0, 2]], scale=1.0, format="float64")
    >>> step(spec, step(spec, step(spec, start(spec)))).output.round(3).tolist()
    [[0.538, 1.462]]
    """
    form, _, p_format, _ = spec.forms
    ops: Counter[str] = Counter()
    arithmetic, sums = arithmetics(spec, ops)
    n_q, n_k, d, d_v = spec.n_q, spec.n_k, spec.d, spec.d_v
    table, every = n_q * n_k, (slice(0, n_q), slice(0, n_k))
    live = spec.live(*every)
    if state.s is None:
        dots = arithmetic.dot(form.round_array(spec.q), form.round_array(spec.k).T)
        s = np.where(live != 0, arithmetic.mul(dots, spec.factor), MASKED)
        return Event("scores", State(1, s), Ledger((n_q + n_k) * d, table, 0, **ops))
    if state.p is None:
        m = arithmetic.row_max(np.full(n_q, MASKED), state.s)
        masked, against = state.s == MASKED, np.where(m == MASKED, 0.0, m)[:, None]
        sizes = np.where(masked, 0.0, arithmetic.exp(arithmetic.sub(np.where(masked, against, state.s), against)))
        l = sums.row_sum(sizes)
        shares = sums.div(sizes, np.where(m == MASKED, 1.0, l)[:, None])
        return Event("softmax", State(2, state.s, p_format.round_array(shares)), Ledger(table, table, 0, **ops), shares)
    output = form.round_array(sums.dot(state.p, form.round_array(spec.v), live))
    return Event("output", State(3, state.s, state.p, output), Ledger(table + n_k * d_v, n_q * d_v, 0, **ops))


def step(spec: Inputs, state: State) -> State:
    """The state after the next step."""
    return advance(spec, state).after


MACHINE = Machine(
    name="standard-attention",
    title="Standard attention",
    about="The whole table of scores, the whole table of shares, then the output: what tiled attention never stores.",
    fields=(*attention.DATA, *attention.LOOKS, *attention.FORMS),
    spec=lambda **given: attention.build(Inputs, given), start=start, advance=advance, steps=steps,
    problems=attention.problems, given=attention.given,
)  # fmt: skip
