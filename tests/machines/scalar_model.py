"""Online softmax once more, for the tests: one number at a time, one rounding an operation, nothing taken from app/.

Every sum, product and quotient is exact (a Fraction) until it is rounded, so an operation cannot round twice whatever
formats its operands come from. Rounding starts from NumPy's or ml_dtypes' own cast and then compares the neighbours exactly.

The conventions are DESIGN.md's, and where it leaves a choice open these:
- a score is rounded to `format`, then the rounded offset is added and the sum is rounded;
- p, alpha, m and the naive exponentials are in `format`; l, acc, row_sum and pv in `accumulate`, and so is each product p·v;
- output and shares divide in `accumulate` and are then cast to `format`; lse is m + log l, both operations in `accumulate`.
"""

import math
from collections import Counter
from fractions import Fraction

import ml_dtypes
import numpy as np

MASKED = -math.inf
TYPES = {
    "float16": (np.float16, np.uint16),
    "bfloat16": (ml_dtypes.bfloat16, np.uint16),
    "float32": (np.float32, np.uint32),
    "float64": (np.float64, np.uint64),
    "float8_e4m3fn": (ml_dtypes.float8_e4m3fn, np.uint8),
    "float8_e5m2": (ml_dtypes.float8_e5m2, np.uint8),
}
FORMATS = tuple(TYPES)
WITHOUT_INFINITY = {"float8_e4m3fn"}


def unit_roundoff(name):
    return 2.0 ** -(int(ml_dtypes.finfo(TYPES[name][0]).nmant) + 1)


def largest(name):
    return float(ml_dtypes.finfo(TYPES[name][0]).max)


def smallest(name):
    return float(ml_dtypes.finfo(TYPES[name][0]).smallest_subnormal)


def infinity(name):
    """What is too large becomes."""
    return math.nan if name in WITHOUT_INFINITY else math.inf


def value(name, pattern):
    """The number with this bit pattern. One past the largest finite number stands for what would come next, had the format more exponents."""
    kind, bits = TYPES[name]
    found = float(np.array(pattern, dtype=bits).view(kind)[()])
    return Fraction(found) if math.isfinite(found) else Fraction(largest(name)) * 2 - Fraction(value(name, pattern - 2))


def pattern_near(name, x):
    """The bit pattern of the library's own cast of x ≥ 0, which may be one off where it rounds twice."""
    kind, bits = TYPES[name]
    with np.errstate(over="ignore"):
        return int(np.array(x, dtype=np.float64).astype(kind).view(bits)[()])


def rounded(name, exact):
    """The number of the format nearest to the Fraction `exact`; of two as near, the one whose bit pattern is even."""
    size, sign = abs(exact), -1.0 if exact < 0 else 1.0
    try:
        guess = float(size)
    except OverflowError:
        return sign * infinity(name)
    if name == "float64":
        return sign * guess
    if size > 2 * Fraction(largest(name)):
        return sign * infinity(name)
    near, past = pattern_near(name, guess), pattern_near(name, largest(name)) + 1
    patterns = range(max(near - 1, 0), min(near + 1, past) + 1)
    best = min(patterns, key=lambda pattern: (abs(value(name, pattern) - size), pattern % 2))
    return sign * (infinity(name) if best == past else float(value(name, best)))


def special(name, result):
    """An infinity or NaN that came of infinities or NaNs, as the format can hold it."""
    return math.nan if math.isnan(result) or name in WITHOUT_INFINITY else result


def cast(name, x):
    return rounded(name, Fraction(x)) if math.isfinite(x) else special(name, x)


def add(name, a, b):
    return rounded(name, Fraction(a) + Fraction(b)) if math.isfinite(a) and math.isfinite(b) else special(name, a + b)


def multiply(name, a, b):
    return rounded(name, Fraction(a) * Fraction(b)) if math.isfinite(a) and math.isfinite(b) else special(name, a * b)


def divide(name, a, b):
    if b == 0:  # never −0 here: only sums of sizes are divided by
        return math.nan if a == 0 or math.isnan(a) else special(name, math.copysign(math.inf, a))
    return rounded(name, Fraction(a) / Fraction(b)) if math.isfinite(a) and math.isfinite(b) else special(name, a / b)


def exp(name, x):
    """In float64, then rounded once."""
    try:
        return cast(name, math.exp(x))
    except OverflowError:
        return infinity(name)


def log(name, x):
    return cast(name, math.log(x)) if x > 0 else (math.nan if math.isnan(x) else -math.inf)


def higher(a, b):
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def size(name, score, m):
    """exp(score − m), and 0 for a masked score, whatever m is."""
    return 0.0 if score == MASKED else exp(name, add(name, score, -m))


def run(scores, values=None, offset=0.0, format="float32", accumulate=None, block=1):
    """Every snapshot of a run, from step 0, as far as the machine decides it: a list of {"event", "state", "ledger"}."""
    sums = accumulate or format
    bare = values is not None and not isinstance(values[0], tuple)
    rows = [] if values is None else [[cast(format, x) for x in ((row,) if bare else row)] for row in values]
    width = len(rows[0]) if rows else 0

    def shaped(row):
        return row[0] if bare else list(row)

    read = []
    m, l, acc = MASKED, 0.0, [0.0] * width
    exps, total = [], 0.0
    cost = Counter(reads=0, writes=0, kept=0, mul=0, add=0, exp=0, div=0, max=0)

    def snapshot(event, m_before):
        state = {"m": m, "l": l, "lse": MASKED if m == MASKED else add(sums, m, log(sums, l))}
        if width:
            state["acc"] = shaped(acc)
            if read:
                state["output"] = shaped([0.0 if m == MASKED else cast(format, divide(sums, a, l)) for a in acc])
        state["terms"] = [{"index": i, "score": s, "size": size(format, s, m)} for i, s in enumerate(read)]
        for term in state["terms"][: event.get("indices", [0])[0]]:
            term["size_before"] = size(format, term["score"], m_before)
        state["naive"] = {"exps": list(exps), "sum": total}
        if len(read) == len(scores):
            state["shares"] = [cast(format, divide(sums, term["size"], l)) for term in state["terms"]]
            state["naive"]["shares"] = [cast(format, divide(sums, e, total)) for e in exps]
        ops = {name: cost[name] for name in ("mul", "add", "exp", "div", "max")}
        return {"event": event, "state": state, "ledger": {name: cost[name] for name in ("reads", "writes", "kept")} | {"ops": ops}}

    shots = [snapshot({"kind": "start"}, MASKED)]
    for first in range(0, len(scores), block):
        s = [MASKED if x == MASKED else add(format, cast(format, x), cast(format, offset)) for x in scores[first : first + block]]
        v = rows[first : first + block] if width else [[] for _ in s]
        live = [x != MASKED for x in s]
        cost["reads"] += len(s) * (1 + width)
        cost["kept"] = 2 + width

        m_old, l_old, acc_old = m, l, acc
        for x in s:
            m = higher(m, x)
            cost["max"] += 1

        if m_old == MASKED:
            alpha = 0.0
        else:
            alpha = exp(format, add(format, m_old, -m))
            cost["add"] += 1
            cost["exp"] += 1
        p = [size(format, x, m) for x in s]
        cost["add"] += sum(live)
        cost["exp"] += sum(live)

        row_sum = 0.0
        for x in p:
            row_sum = add(sums, row_sum, x)
            cost["add"] += 1
        l_rescaled = multiply(sums, l_old, alpha)
        l = add(sums, l_rescaled, row_sum)
        cost["mul"] += 1
        cost["add"] += 1

        pv, acc_rescaled, acc = [], [], []
        for column in range(width):
            total_pv = 0.0
            for x, row, is_live in zip(p, v, live, strict=True):
                if is_live:
                    total_pv = add(sums, total_pv, multiply(sums, x, row[column]))
                    cost["mul"] += 1
                    cost["add"] += 1
            pv.append(total_pv)
            acc_rescaled.append(multiply(sums, acc_old[column], alpha))
            acc.append(add(sums, acc_rescaled[column], total_pv))
            cost["mul"] += 1
            cost["add"] += 1

        for x in s:
            exps.append(exp(format, x))
            total = add(sums, total, exps[-1])
        read += s
        if len(read) == len(scores):
            cost["div"] += width
            cost["writes"] += width
        event = {
            "kind": "read", "indices": list(range(first, first + len(s))), "scores": s, "m_old": m_old, "m_new": m, "alpha": alpha,
            "p": p, "l_old": l_old, "row_sum": row_sum, "l_rescaled": l_rescaled, "new_max": m > m_old,
            "rescales": m > m_old != MASKED, "stalled": row_sum > 0 and 0 < l_rescaled == l,
        }  # fmt: skip
        if width:
            event |= {"values": [shaped(row) for row in v], "acc_old": shaped(acc_old), "pv": shaped(pv)}
            event["acc_rescaled"] = shaped(acc_rescaled)
        shots.append(snapshot(event, m_old))
    return shots
