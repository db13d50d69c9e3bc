"""Where a row of attention first stops being finite: one row of a step, worked once more a number at a time.

The machines work on arrays; this looks only at rows in which they left an infinity or NaN, so that a step still costs O(block · d).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from app.machines import standard, tiled
from app.machines.arithmetic import Arithmetic
from app.machines.attention import Inputs
from app.machines.formats import Array
from app.machines.online import MASKED


@dataclass(frozen=True)
class Bad:
    """An operation that was the first of its row to give an infinity, or the first to give NaN.

    part      what was being made: "q", "k" or "v" (a number stored), "dot", "scale", "size", "factor", "sum", "l", "pv", "acc",
              "share", "divide" or "store"
    op        "cast", "mul", "add", "sub", "exp" or "div"
    form      the format that it was rounded to
    key, element   its place, from 0, where it belongs to one key or to one element of a vector
    """

    part: str
    op: str
    form: str
    operands: tuple[float, ...]
    gives: float
    key: int | None = None
    element: int | None = None


Tried = Iterator[Bad]


def suspects(spec: tiled.Spec, event: tiled.Event) -> Array:
    """Which rows of a tile or normalise step hold an infinity (column 0) or NaN (column 1), shaped [rows, 2].

    A live score of −∞ counts: it is an infinity, though it is then treated as masked.
    """
    parts, now = event.parts, event.now
    looked: list[Array] = [now.l, now.acc]
    if event.kind == "normalise":
        looked.append(parts["output"])
    elif parts:
        looked += [np.where(event.live != 0, parts["scores"], 0.0), parts["alpha"], parts["p"], parts["pv"], parts["row_sums"]]
        looked.append(spec.forms[0].round_array(now.acc) if spec.algorithm == "fa1" else now.acc)
    return _holds(looked)


def _holds(looked: Iterable[Array]) -> Array:
    found = [np.stack([np.isinf(x), np.isnan(x)], axis=-1) for x in looked]
    flat = [one if one.ndim == 2 else one.any(axis=1) for one in found]
    held: Array = np.any(np.stack(flat), axis=0)
    return held


def in_tile(spec: tiled.Spec, event: tiled.Event, i: int, known: tuple[Bad, ...]) -> tuple[Bad, ...]:
    """`known` of row i of a step, and what this step adds to it.

    >>> spec = tiled.Spec(q=[[300.0]], k=[[300.0]], v=[[1.0]], format="float16")
    >>> event = tiled.advance(spec, tiled.start(spec))
    >>> [(bad.part, bad.op, bad.operands, bad.gives) for bad in in_tile(spec, event, 0, ())]
    [('dot', 'mul', (300.0, 300.0), inf), ('size', 'sub', (inf, inf), nan)]
    """
    return _first(known, _normalise(spec, event, i) if event.kind == "normalise" else _tile(spec, event, i))


def in_table(spec: Inputs, event: standard.Event, known: list[tuple[Bad, ...]]) -> list[tuple[Bad, ...]]:
    """The same for every row of a step of the standard way."""
    live = spec.live(slice(0, spec.n_q), slice(0, spec.n_k)) != 0
    after = event.after
    made = {"scores": after.s, "softmax": event.shares, "output": after.output}[event.kind]
    assert made is not None
    held = _holds([np.where(live, made, 0.0) if event.kind == "scores" else made])
    return [_first(bad, _row(spec, event, i, live[i])) if _new(bad, held[i]) else bad for i, bad in enumerate(known)]


def _new(known: tuple[Bad, ...], held: Array) -> bool:
    infinite, nan = (any(math.isnan(bad.gives) == which for bad in known) for which in (False, True))
    return bool((held[0] and not infinite) or (held[1] and not nan))


def after(spec: tiled.Spec, event: tiled.Event, known: list[tuple[Bad, ...]]) -> list[tuple[Bad, ...]]:
    """`known` of each row of a step, and what the step adds."""
    held = suspects(spec, event)
    return [in_tile(spec, event, i, bad) if _new(bad, held[i]) else bad for i, bad in enumerate(known)]


def _first(known: tuple[Bad, ...], tried: Tried) -> tuple[Bad, ...]:
    for bad in tried:
        if not math.isfinite(bad.gives) and not any(math.isnan(one.gives) == math.isnan(bad.gives) for one in known):
            known = (*known, bad)
            if len(known) == 2:
                break
    return known


class _Doing:
    """Operations of one format, each told as what it was."""

    def __init__(self, do: Arithmetic) -> None:
        self.do, self.form = do, do.form.name

    def __call__(self, part: str, op: str, *operands: float, key: int | None = None, element: int | None = None) -> Bad:
        return Bad(part, op, self.form, operands, getattr(self.do, op)(*operands), key, element)

    def dot(
        self, part: str, a: list[float], b: list[float], keys: list[int] | None = None, element: int | None = None, key: int | None = None
    ) -> Tried:
        """Products and their sum, left to right; the last one told is the whole sum."""
        total = 0.0
        for c, (x, y) in enumerate(zip(a, b, strict=True)):
            where = keys[c] if keys else key
            product = self(part, "mul", x, y, key=where, element=element)
            yield product
            added = self(part, "add", total, product.gives, key=where, element=element)
            yield added
            total = added.gives

    def size(self, part: str, x: float, m: float, key: int | None = None) -> Tried:
        """exp(x − m). A difference of −∞ is none: its size is 0, as it should be."""
        apart = self(part, "sub", x, m, key=key)
        if apart.gives != -math.inf:
            yield apart
        yield self(part, "exp", apart.gives, key=key)

    def sum(self, part: str, terms: list[float], keys: list[int]) -> Tried:
        total = 0.0
        for x, key in zip(terms, keys, strict=True):
            added = self(part, "add", total, x, key=key)
            yield added
            total = added.gives


def _doing(spec: Inputs) -> tuple[_Doing, _Doing]:
    form, compute, p_format, accumulate = spec.forms
    widest = max(form.digits, compute.digits, p_format.digits)
    return _Doing(Arithmetic(compute, wider=form.digits > compute.digits)), _Doing(Arithmetic(accumulate, wider=widest > accumulate.digits))


def _stored(spec: Inputs, part: str, given: Array, stored: Array, key: int | None) -> Tried:
    for c, (x, y) in enumerate(zip(given.tolist(), stored.tolist(), strict=True)):
        yield Bad(part, "cast", spec.format, (x,), y, key, c)


def _scores(spec: Inputs, do: _Doing, i: int, keys: list[int]) -> Tried:
    q, k, _ = spec.stored
    row = q[i].tolist()
    yield from _stored(spec, "q", spec.q[i], q[i], None)
    for j in keys:
        yield from _stored(spec, "k", spec.k[j], k[j], j)
        total = 0.0
        for one in do.dot("dot", row, k[j].tolist(), key=j):
            yield one
            total = one.gives
        yield do("scale", "mul", total, spec.factor, key=j)


def _weighted(spec: Inputs, sums: _Doing, weights: list[float], keys: list[int]) -> Tried:
    v = spec.stored[2]
    for j in keys:
        yield from _stored(spec, "v", spec.v[j], v[j], j)
    for c in range(spec.d_v):
        yield from sums.dot("pv", weights, v[keys, c].tolist(), keys, c)


def _tile(spec: tiled.Spec, event: tiled.Event, i: int) -> Tried:
    do, sums = _doing(spec)
    parts, fa1 = event.parts, spec.algorithm == "fa1"
    places = np.flatnonzero(event.live[i]).tolist()
    keys = [event.cols.start + j for j in places]
    yield from _scores(spec, do, event.rows.start + i, keys)
    old, new = float(event.before.m[i]), float(parts["m_new"][i])
    against = float(parts["m_tile"][i]) if fa1 else new
    p = parts["p"][i, places].tolist()
    sizes = [
        one
        for j, key in zip(places, keys, strict=True)
        if (x := float(parts["scores"][i, j])) != MASKED
        for one in do.size("size", x, against, key)
    ]
    factor = [] if old == MASKED else list(do.size("factor", old, new))
    if fa1:
        yield from sizes
        yield from sums.sum("sum", p, keys)
        yield from factor
        if against != MASKED:
            yield from do.size("factor", against, new)
    else:
        yield from factor
    alpha = float(parts["alpha"][i])
    rescaled = sums("l", "mul", float(event.before.l[i]), alpha)
    yield rescaled
    kept = event.before.acc[i].tolist()
    by = rescaled.gives if fa1 else alpha
    acc = [sums("acc", "mul", x, by, element=c) for c, x in enumerate(kept)]
    if not fa1:
        yield from acc
        yield from sizes
        yield from sums.sum("sum", p, keys)
    cast = parts.get("p_cast", parts["p"])[i, places].tolist()
    yield from _weighted(spec, sums, cast, keys)
    added, beta = parts["pv"][i].tolist(), 1.0
    row_sum = float(parts["row_sums"][i])
    if fa1:
        beta = float(parts["beta"][i])
        scaled = sums("l", "mul", row_sum, beta)
        yield scaled
        row_sum = scaled.gives
    l = sums("l", "add", rescaled.gives, row_sum)
    yield l
    for c, (one, x) in enumerate(zip(acc, added, strict=True)):
        yield one
        term = sums("acc", "mul", x, beta, element=c) if fa1 else None
        if term:
            yield term
        total = sums("acc", "add", one.gives, term.gives if term else x, element=c)
        yield total
        if fa1 and new != MASKED:
            divided = sums("divide", "div", total.gives, l.gives, element=c)
            yield divided
            yield _written(spec, divided.gives, c)


def _normalise(spec: tiled.Spec, event: tiled.Event, i: int) -> Tried:
    do = _Doing(Arithmetic(spec.forms[3]))
    for c, x in enumerate(event.before.acc[i].tolist()):
        divided = do("divide", "div", x, float(event.before.l[i]), element=c)
        yield divided
        yield _written(spec, divided.gives, c)


def _written(spec: Inputs, x: float, element: int) -> Bad:
    return Bad("store", "cast", spec.format, (x,), spec.forms[0].round(x), None, element)


def _row(spec: Inputs, event: standard.Event, i: int, live: Array) -> Tried:
    do, sums = _doing(spec)
    keys = np.flatnonzero(live).tolist()
    state = event.after
    assert state.s is not None
    if event.kind == "scores":
        yield from _scores(spec, do, i, keys)
    elif event.kind == "softmax":
        s = state.s[i].tolist()
        m = math.nan if any(map(math.isnan, s)) else max(s)
        sizes = []
        for j in keys:
            size = 0.0
            for one in do.size("size", s[j], m, j) if s[j] != MASKED else ():
                yield one
                size = one.gives
            sizes.append(size)
        l = 0.0
        for one in sums.sum("sum", sizes, keys):
            yield one
            l = one.gives
        for x, j in zip(sizes, keys, strict=True):
            yield sums("share", "div", x, l, key=j)
    else:
        assert state.p is not None
        yield from _weighted(spec, sums, state.p[i, keys].tolist(), keys)
        for c in range(spec.d_v):
            total = 0.0
            for one in sums.dot("pv", state.p[i, keys].tolist(), spec.stored[2][keys, c].tolist(), keys, c):
                total = one.gives
            yield _written(spec, total, c)
