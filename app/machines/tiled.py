"""Attention one tile at a time: scores are made, used once and dropped, and no table of them is ever stored.

What it adds to online.py: the scores come from Q and K, a step is a tile of block_q rows by block_k columns, and each
row of it is an online softmax with its own m, l and factor.

fa2   Q tiles outermost; acc is divided by l once, at the end.          Dao (2023), "FlashAttention-2", Algorithm 1
fa1   K/V tiles outermost; O is divided by l again after every tile.    Dao et al. (2022), "FlashAttention", Algorithm 1

(Line 10 of the first, as printed, inverts the factor; the factor is exp(m_old − m_new) ≤ 1.)
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from app.machines import attention
from app.machines.arithmetic import Arrays, Ledger
from app.machines.attention import Inputs, arithmetics
from app.machines.fields import Field
from app.machines.formats import Array
from app.machines.online import MASKED
from app.machines.run import Machine

# Which numbers make which: "row" those of the same query, "cell" the same place, "key" those of the same key, "column" the
# same element of every live key's value. Pages light them; nothing else needs to know.
MADE_OF = {
    "scores": (("q", "row"), ("k", "key")),
    "p": (("scores", "cell"), ("m", "row")),
    "m": (("m_old", "row"), ("scores", "row")),
    "alpha": (("m_old", "row"), ("m", "row")),
    "l": (("alpha", "row"), ("p", "row")),
    "acc": (("alpha", "row"), ("p", "row"), ("v", "column")),
    "output": (("acc", "cell"), ("l", "row")),
}
# fa1 keeps no acc: a tile's own sizes go into the output, which is weighted anew and divided.
MADE_OF_FA1 = {
    **{name: made for name, made in MADE_OF.items() if name != "acc"},
    "p": (("scores", "row"),),
    "output": (("alpha", "row"), ("p", "row"), ("v", "column"), ("l", "row")),
}
PHASES = ("load", "score", "max", "rescale", "exponentiate", "accumulate", "consume")


@dataclass(frozen=True, eq=False)
class Spec(Inputs):
    """Inputs, and how they are cut: block_q rows by block_k columns a tile; algorithm fa2 or fa1; keys from left or right.

    >>> Spec(np.zeros((3, 2)), np.zeros((5, 2)), np.zeros((5, 1)), block_q=2, block_k=2).tiles
    (2, 3)
    """

    block_q: int = 2
    block_k: int = 2
    algorithm: str = "fa2"
    order: str = "left"

    @property
    def tiles(self) -> tuple[int, int]:
        """T_r and T_c: how many tiles there are of queries and of keys."""
        return -(-self.n_q // self.block_q), -(-self.n_k // self.block_k)


@dataclass(frozen=True, eq=False)
class Rows:
    """What is kept for one Q tile: m and l a row, and acc a row of d_v (fa2: unnormalised; fa1: O, normalised)."""

    m: Array
    l: Array
    acc: Array


@dataclass(frozen=True, eq=False)
class State:
    """The step reached, and for each Q tile what is kept: None before it is begun and, in fa2, once it is written out."""

    step: int
    rows: tuple[Rows | None, ...]


@dataclass(frozen=True, eq=False)
class Event:
    """One step. kind: "tile" or "normalise"; rows and cols: which part of the map; before and now: the Q tile's rows.

    A tile that was not skipped also has, in the order in which they are formed: q, k, v (as loaded), dots (q·k), scores
    (scaled and masked), m_new, alpha, p, p_cast (p in `p_format`, where that differs), row_sums, l_rescaled, acc_rescaled and pv. In fa1 p is measured against m_tile,
    the tile's own maximum, l_tile is its sum, and beta = exp(m_tile − m_new). A normalise step has `output`.
    """

    kind: str
    rows: slice
    cols: slice
    live: Array
    before: Rows
    now: Rows
    parts: dict[str, Array]
    after: State
    cost: Ledger

    @property
    def skipped(self) -> bool:
        return self.kind == "tile" and not self.parts


def start(spec: Spec) -> State:
    """Nothing loaded."""
    return State(0, (None,) * spec.tiles[0])


def steps(spec: Spec) -> int:
    """fa2: T_r · (T_c + 1), a normalise step after each row of tiles; fa1: T_r · T_c."""
    down, across = spec.tiles
    return down * (across + (spec.algorithm == "fa2"))


def place(spec: Spec, step: int) -> tuple[int, int | None]:
    """The Q tile and the K/V tile that step number `step` (from 0) takes; None for a normalise step."""
    down, across = spec.tiles
    i, j = divmod(step, across + 1) if spec.algorithm == "fa2" else divmod(step, down)[::-1]
    if j == across:
        return i, None
    return i, j if spec.order == "left" else across - 1 - j


def advance(spec: Spec, state: State) -> Event:
    """Take the next tile, or normalise.

    >>> spec = Spec(q=[[1, 0], [0, 1]], k=[[1, 2], [2, 1], [3, 0], [2, 1]], v=[[2, 0], [0, 2], [0, 2], [1, 1]], scale=1.0, format="float64")
    >>> second = advance(spec, step(spec, start(spec)))
    >>> second.parts["scores"].tolist(), second.parts["alpha"].round(3).tolist()
    ([[3.0, 2.0], [0.0, 1.0]], [0.368, 1.0])
    """
    i, j = place(spec, state.step)
    rows = slice(i * spec.block_q, min((i + 1) * spec.block_q, spec.n_q))
    before = state.rows[i] or _fresh(rows.stop - rows.start, spec.d_v)
    if j is None:
        return _normalise(spec, state, i, rows, before)
    cols = slice(j * spec.block_k, min((j + 1) * spec.block_k, spec.n_k))
    live = spec.live(rows, cols)
    skipped = not live.any()
    traffic = _traffic(spec, state, i, rows, cols, skipped)
    if skipped:
        return Event("tile", rows, cols, live, before, before, {}, _with(state, i, state.rows[i]), traffic)
    ops: Counter[str] = Counter()
    parts = _scores(spec, rows, cols, live, ops)
    now = (_fold_fa2 if spec.algorithm == "fa2" else _fold_fa1)(spec, before, parts, live, ops)
    return Event("tile", rows, cols, live, before, now, parts, _with(state, i, now), Ledger(**ops) + traffic)


def step(spec: Spec, state: State) -> State:
    """The state after the next tile or normalise step."""
    return advance(spec, state).after


def other_algorithm(spec: Spec) -> Spec:
    """The same problem and tiles by the other of fa1 and fa2."""
    return replace(spec, algorithm="fa1" if spec.algorithm == "fa2" else "fa2")


def same_tiles(spec: Spec, step: int) -> int:
    """How many steps of the other algorithm take as many tiles as `step` steps of this one.

    >>> spec = Spec(np.zeros((4, 1)), np.zeros((4, 1)), np.zeros((4, 1)))
    >>> [same_tiles(spec, step) for step in range(7)], [same_tiles(other_algorithm(spec), step) for step in range(5)]
    ([0, 1, 2, 2, 3, 4, 4], [0, 1, 3, 4, 6])
    """
    _, across = spec.tiles
    if spec.algorithm == "fa2":
        return step - step // (across + 1)
    return step + step // across


def lse(spec: Spec, m: Array, l: Array) -> Array:
    """m + log l, natural logarithm, in the accumulator's format; −inf for a row with no live key."""
    _, sums = attention.arithmetics(spec, Counter())
    empty = m == MASKED
    with np.errstate(divide="ignore", invalid="ignore"):
        log = sums.form.round_array(np.log(np.where(empty, 1.0, l)))
    return np.where(empty, MASKED, sums.add(np.where(empty, 0.0, m), log))


def _fresh(count: int, d_v: int) -> Rows:
    return Rows(np.full(count, MASKED), np.zeros(count), np.zeros((count, d_v)))


def _with(state: State, i: int, rows: Rows | None) -> State:
    return State(state.step + 1, (*state.rows[:i], rows, *state.rows[i + 1 :]))


def _scores(spec: Spec, rows: slice, cols: slice, live: Array, ops: Counter[str]) -> dict[str, Array]:
    """Load a tile of Q, K and V, and make its scores: scaled, then masked by selection."""
    form = spec.forms[0]
    with np.errstate(over="ignore", invalid="ignore"):
        q, k, v = form.rounded(spec.q[rows]), form.rounded(spec.k[cols]), form.rounded(spec.v[cols])
    arithmetic, _ = arithmetics(spec, ops)
    dots = arithmetic.dot(q, k.T)
    scores = np.where(live != 0, arithmetic.mul(dots, spec.factor), MASKED)
    return {"q": q, "k": k, "v": v, "dots": dots, "scores": scores}


def _sizes(arithmetic: Arrays, scores: Array, m: Array) -> Array:
    """exp(score − m), 0 where masked. 0 stands in for m = −inf, but only in here."""
    masked = scores == MASKED
    against = np.where(m == MASKED, 0.0, m)[:, None]
    sizes = arithmetic.exp(arithmetic.sub(np.where(masked, against, scores), against))
    return np.where(masked, 0.0, sizes)


def _factor(arithmetic: Arrays, m_old: Array, m_new: Array) -> Array:
    """exp(m_old − m_new), one a row; 0 where nothing is kept yet."""
    fresh = m_old == MASKED
    against = np.where(m_new == MASKED, 0.0, m_new)
    return np.where(fresh, 0.0, arithmetic.exp(arithmetic.sub(np.where(fresh, against, m_old), against)))


def _fold_fa2(spec: Spec, before: Rows, parts: dict[str, Array], live: Array, ops: Counter[str]) -> Rows:
    p_format = spec.forms[2]
    arithmetic, sums = arithmetics(spec, ops)
    scores = parts["scores"]
    m_new = arithmetic.row_max(before.m, scores)
    alpha = _factor(arithmetic, before.m, m_new)
    l_rescaled = sums.mul(before.l, alpha)
    acc_rescaled = sums.mul(before.acc, alpha[:, None])
    p = _sizes(arithmetic, scores, m_new)
    row_sums = sums.row_sum(p)
    p_cast = p_format.round_array(p)
    pv = sums.dot(p_cast, parts["v"], live)
    l_new, acc_new = sums.add(l_rescaled, row_sums), sums.add(acc_rescaled, pv)
    parts |= {
        "m_new": m_new,
        "alpha": alpha,
        "l_rescaled": l_rescaled,
        "acc_rescaled": acc_rescaled,
        "p": p,
        **_cast(spec, p_cast),
        "row_sums": row_sums,
        "pv": pv,
    }
    return Rows(m_new, l_new, acc_new)


def _fold_fa1(spec: Spec, before: Rows, parts: dict[str, Array], live: Array, ops: Counter[str]) -> Rows:
    p_format = spec.forms[2]
    arithmetic, sums = arithmetics(spec, ops)
    scores = parts["scores"]
    m_tile = arithmetic.row_max(np.full(len(scores), MASKED), scores)
    p = _sizes(arithmetic, scores, m_tile)
    l_tile = sums.row_sum(p)
    m_new = arithmetic.max(before.m, m_tile)
    alpha, beta = _factor(arithmetic, before.m, m_new), _factor(arithmetic, m_tile, m_new)
    l_rescaled = sums.mul(before.l, alpha)
    l_new = sums.add(l_rescaled, sums.mul(l_tile, beta))
    p_cast = p_format.round_array(p)
    pv = sums.dot(p_cast, parts["v"], live)
    acc_rescaled = sums.mul(before.acc, l_rescaled[:, None])  # O was divided by l_old: times l_old · alpha it is a weighted sum again
    weighted = sums.add(acc_rescaled, sums.mul(pv, beta[:, None]))
    empty = (m_new == MASKED)[:, None]
    o_new = np.where(empty, 0.0, sums.div(weighted, np.where(empty, 1.0, l_new[:, None])))
    parts |= {
        "m_tile": m_tile,
        "p": p,
        **_cast(spec, p_cast),
        "l_tile": l_tile,
        "m_new": m_new,
        "alpha": alpha,
        "beta": beta,
        "l_rescaled": l_rescaled,
    }
    parts |= {"acc_rescaled": acc_rescaled, "row_sums": l_tile, "pv": pv}
    return Rows(m_new, l_new, o_new)


def _cast(spec: Spec, p_cast: Array) -> dict[str, Array]:
    """p as it meets V, where its format is another than that of p."""
    return {"p_cast": p_cast} if spec.p_format != spec.compute else {}


def _normalise(spec: Spec, state: State, i: int, rows: slice, before: Rows) -> Event:
    """One division for each number of the output, in the accumulator's format, then cast to `format`."""
    ops: Counter[str] = Counter()
    form, _, _, accumulate = spec.forms
    empty = (before.m == MASKED)[:, None]
    divided = Arrays(accumulate, ops).div(before.acc, np.where(empty, 1.0, before.l[:, None]))
    output = np.where(empty, 0.0, form.round_array(divided))
    count = rows.stop - rows.start
    cost = Ledger(writes=count * (spec.d_v + 1), **ops)  # the output and lse
    return Event("normalise", rows, slice(0, 0), np.zeros((count, 0)), before, before, {"output": output}, _with(state, i, None), cost)


def _traffic(spec: Spec, state: State, i: int, rows: slice, cols: slice, skipped: bool) -> Ledger:
    """Numbers moved between slow memory and the chip by one tile, and kept there after it; a skipped tile moves none.

    fa2: the Q tile comes with the first tile that needs it and stays, with its m, l and acc; K and V pass. fa1: the K and V
    tile comes with the first tile that needs it and stays; Q, and O, l and m, which live in slow memory, pass.
    """
    count, keys = rows.stop - rows.start, (cols.stop - cols.start) * (spec.d + spec.d_v)
    if spec.algorithm == "fa2":
        begun = state.rows[i] is not None
        kept = count * (spec.d + spec.d_v + 2) * (begun or not skipped)
        return Ledger(reads=0 if skipped else keys + count * spec.d * (not begun), kept=kept)
    begun = _keys_are_there(spec, state.step, cols)
    setting_up = spec.n_q * (spec.d_v + 2) * (state.step == 0)
    kept = keys * (begun or not skipped)
    if skipped:
        return Ledger(writes=setting_up, kept=kept)
    return Ledger(keys * (not begun) + count * (spec.d + spec.d_v + 2), setting_up + count * (spec.d_v + 2), kept)


def _keys_are_there(spec: Spec, step: int, cols: slice) -> bool:
    """fa1: whether an earlier tile of this column was live, so that its K and V are on chip."""
    earlier = (place(spec, before)[0] for before in range(step - step % spec.tiles[0], step))
    return any(spec.live(slice(i * spec.block_q, min((i + 1) * spec.block_q, spec.n_q)), cols).any() for i in earlier)


MACHINE = Machine(
    name="tiled-attention",
    title="Tiled attention",
    about="Attention one tile of scores at a time: each row keeps its own m, l and acc, and no table of scores is stored.",
    fields=(
        *attention.DATA,
        Field("block_q", "integer", "Rows of a tile", "How many queries a tile has.", "2", default=2, least=1, most=attention.MAX_TOKENS),
        Field("block_k", "integer", "Columns of a tile", "How many keys a tile has.", "2", default=2, least=1, most=attention.MAX_TOKENS),
        *attention.LOOKS,
        Field("algorithm", "choice", "Algorithm", "fa2: Q tiles outermost, one division at the end; fa1: K/V tiles outermost, a division a tile.", "fa1", default="fa2", choices=("fa2", "fa1"), restarts=True),
        Field("order", "choice", "Order of the keys", "Which end of the keys comes first.", "right", default="left", choices=("left", "right")),
        *attention.FORMS,
    ),
    spec=lambda **given: attention.build(Spec, given), start=start, advance=advance, steps=steps,
    problems=attention.problems, given=attention.given,
)  # fmt: skip
