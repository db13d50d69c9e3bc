"""Attention once more, for the tests: one number at a time, one rounding an operation, nothing taken from app/.

The order of operations is the one DESIGN.md fixes. Where it leaves a choice open, these:
- q, k and v are rounded to `format`; products q·k and their sums, scores, m, alpha and p to `compute`;
- sums start from 0 and go left to right; a score is the finished dot times the scale, which is itself rounded to `compute`;
- a masked cell has a dot like any other, but its score is −inf and its p is 0, whatever the dot is; its value is left out of p·V;
- row_sums add p as it is, in `accumulate`; what meets V is p cast to `p_format`; the products and their sums are in `accumulate`;
- a row whose m is −inf has output 0 and lse −inf; exp(m_old − m_new) is 0 while m_old is −inf.

The operations are scalar_model's, exact until they are rounded. `cast`, `add` and `multiply` here give the same results by
a shorter way where float64 holds the exact one, so that whole tiles can be afforded (test_tiled.py compares the two).
"""

import bisect
import math
import struct

import numpy as np

from tests.machines import scalar_model as exact
from tests.machines.scalar_model import MASKED, TYPES, divide, higher, infinity, largest, pattern_near


def _table(name):
    """Every finite number ≥ 0 of a short format, each at the place that its bit pattern says, and what would come next."""
    kind, bits = TYPES[name]
    patterns = np.arange(pattern_near(name, largest(name)) + 1).astype(bits)
    found = patterns.view(kind).astype(np.float64).tolist()
    return [*found, 2 * found[-1] - found[-2]]


PACKED = {"float16": "<e", "float32": "<f"}  # Python's own conversions round once, to even
TABLES = {name: _table(name) for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}


def cast(name, x):
    """The float64 x rounded once."""
    if name == "float64" or x == 0:
        return x
    if not math.isfinite(x):
        return exact.special(name, x)
    if name in PACKED:
        try:
            return float(struct.unpack(PACKED[name], struct.pack(PACKED[name], x))[0])
        except OverflowError:
            return math.copysign(math.inf, x)
    table, size = TABLES[name], abs(x)
    place = bisect.bisect_left(table, size)
    if place < len(table) and table[place] != size:
        middle = (table[place - 1] + table[place]) / 2
        place -= size < middle or (size == middle and place % 2 == 1)
    return math.copysign(table[place] if place < len(table) - 1 else infinity(name), x)


def add(name, a, b):
    total = a + b
    if math.isfinite(total):
        part = total - a
        if name == "float64" or (a - (total - part)) + (b - part) == 0:  # Knuth's TwoSum: nothing was rounded away
            return cast(name, total)
    return exact.add(name, a, b)


def multiply(name, a, b):
    product = a * b
    if name == "float64":
        return product
    if abs(product) > 2.0**-900 and math.frexp(a)[0] * 2**26 % 1 == 0 and math.frexp(b)[0] * 2**26 % 1 == 0:  # 26 + 26 bits fit in 53
        return cast(name, product)
    return exact.multiply(name, a, b)


def exp(name, x):
    try:
        return cast(name, math.exp(x))
    except OverflowError:
        return infinity(name)


def log(name, x):
    return cast(name, math.log(x)) if 0 < x < math.inf else exact.log(name, x)


def total(name, numbers):
    found = 0.0
    for x in numbers:
        found = add(name, found, x)
    return found


def dot(name, a, b):
    return total(name, [multiply(name, x, y) for x, y in zip(a, b, strict=True)])


def highest(numbers):
    found = MASKED
    for x in numbers:
        found = higher(found, x)
    return found


def size(name, score, m):
    """exp(score − m), and 0 for a score of −inf, whatever m is."""
    return 0.0 if score == MASKED else exp(name, add(name, score, -m))


def factor(name, m_old, m_new):
    """exp(m_old − m_new), and 0 while nothing is kept."""
    return 0.0 if m_old == MASKED else exp(name, add(name, m_old, -m_new))


def lse(name, m, l):
    return MASKED if m == MASKED else add(name, m, log(name, l))


def sees(i, j, n_q, n_k, causal="none", window=None, key_lengths=None):
    """Whether query i may see key j."""
    own = i + (n_k - n_q if causal == "bottom-right" else 0)
    if (causal != "none" or window is not None) and j > own:
        return False
    if window is not None and own - j >= window:
        return False
    return key_lengths is None or j < key_lengths[i if len(key_lengths) > 1 else 0]


def cuts(n, block):
    return [(first, min(first + block, n)) for first in range(0, n, block)]


class Problem:
    """The matrices as `format` holds them, who sees whom, and the formats' names."""

    def __init__(self, q, k, v, scale="auto", causal="none", window=None, key_lengths=None, format="float32", compute=None,
                 p_format=None, accumulate=None):  # fmt: skip
        self.q, self.k, self.v = ([[cast(format, float(x)) for x in row] for row in rows] for rows in (q, k, v))
        self.n_q, self.n_k, self.d, self.d_v = len(q), len(k), len(q[0]), len(v[0])
        self.live = [[sees(i, j, self.n_q, self.n_k, causal, window, key_lengths) for j in range(self.n_k)] for i in range(self.n_q)]
        self.format, self.compute, self.p_format, self.accumulate = format, compute or format, p_format or format, accumulate or format
        self.scale = cast(self.compute, 1 / math.sqrt(self.d) if scale == "auto" else float(scale))

    def dots_and_scores(self, rows, cols):
        dots = [[dot(self.compute, self.q[i], self.k[j]) for j in cols] for i in rows]
        scores = [[multiply(self.compute, x, self.scale) if self.live[i][j] else MASKED for j, x in zip(cols, row, strict=True)]
                  for i, row in zip(rows, dots, strict=True)]  # fmt: skip
        return dots, scores

    def shown_cast(self, p_cast):
        """p as it meets V is told where it is in another format than p."""
        return {"p_cast": p_cast} if self.p_format != self.compute else {}

    def weighted(self, i, cols, weights):
        """The sum of weight · value over the live keys of `cols`, an element at a time."""
        live = [(self.v[j], weight) for j, weight in zip(cols, weights, strict=True) if self.live[i][j]]
        return [dot(self.accumulate, [weight for _, weight in live], [value[column] for value, _ in live]) for column in range(self.d_v)]


def run(block_q=2, block_k=2, algorithm="fa2", order="left", **given):
    """Every step of tiled attention: a list of what happened, with every intermediate, what is kept after it and what it moved."""
    problem = Problem(**given)
    walk = fa2 if algorithm == "fa2" else fa1
    across = cuts(problem.n_k, block_k)
    return list(walk(problem, cuts(problem.n_q, block_q), across if order == "left" else across[::-1]))


def skipped(problem, rows, cols):
    return not any(problem.live[i][j] for i in range(*rows) for j in range(*cols))


def tile(problem, rows, cols):
    i_s, j_s = range(*rows), range(*cols)
    dots, scores = problem.dots_and_scores(i_s, j_s)
    return {
        "kind": "tile", "rows": list(rows), "cols": list(cols), "skipped": False, "q": [problem.q[i] for i in i_s],
        "k": [problem.k[j] for j in j_s], "v": [problem.v[j] for j in j_s], "dots": dots, "scores": scores,
    }  # fmt: skip


def nothing(rows, cols, kept, moved):
    m, l, acc = map(list, zip(*kept, strict=True))
    return {"kind": "tile", "rows": list(rows), "cols": list(cols), "skipped": True, "m": m, "l": l, "acc": acc} | moved


def columns(found):
    """A list of dicts, one a row, as a dict of lists."""
    return {name: [row[name] for row in found] for name in found[0]}


def fa2(problem, down, across):
    """FlashAttention-2, Algorithm 1, with the factor exp(m_old − m_new): a Q tile stays while the keys pass; one division at its end."""
    compute, sums = problem.compute, problem.accumulate
    for rows in down:
        kept = [(MASKED, 0.0, [0.0] * problem.d_v) for _ in range(*rows)]
        on_chip = False
        for cols in across:
            if skipped(problem, rows, cols):
                yield nothing(rows, cols, kept, {"reads": 0, "writes": 0})
                continue
            event = tile(problem, rows, cols)
            found = []
            for i, scores, (m_old, l_old, acc_old) in zip(range(*rows), event["scores"], kept, strict=True):
                m = higher(m_old, highest(scores))
                alpha = factor(compute, m_old, m)
                p = [size(compute, s, m) for s in scores]
                row_sum = total(sums, p)
                p_cast = [cast(problem.p_format, x) for x in p]
                pv = problem.weighted(i, range(*cols), p_cast)
                l_rescaled = multiply(sums, l_old, alpha)
                acc_rescaled = [multiply(sums, x, alpha) for x in acc_old]
                found.append({
                    "m_new": m, "alpha": alpha, "l_rescaled": l_rescaled, "acc_rescaled": acc_rescaled, "p": p, **problem.shown_cast(p_cast), "row_sums": row_sum,
                    "pv": pv, "m": m, "l": add(sums, l_rescaled, row_sum),
                    "acc": [add(sums, x, y) for x, y in zip(acc_rescaled, pv, strict=True)],
                })  # fmt: skip
            kept = [(row["m"], row["l"], row["acc"]) for row in found]
            loads = (rows[1] - rows[0]) * problem.d * (not on_chip) + (cols[1] - cols[0]) * (problem.d + problem.d_v)
            on_chip = True
            yield event | columns(found) | {"reads": loads, "writes": 0}
        output = [
            [0.0 if m == MASKED else cast(problem.format, divide(sums, x, l)) for x in acc] for m, l, acc in kept
        ]  # fmt: skip
        m, l, acc = map(list, zip(*kept, strict=True))
        yield {
            "kind": "normalise", "rows": list(rows), "skipped": False, "output": output, "m": m, "l": l, "acc": acc, "reads": 0,
            "writes": len(output) * (problem.d_v + 1),
        }  # fmt: skip


def fa1(problem, down, across):
    """FlashAttention, Algorithm 1: a K/V tile stays while the Q tiles pass, and O, l and m travel; O is an average after every tile.

    O_new = (l·exp(m − m_new)·O + exp(m_tile − m_new)·P V) / l_new.
    """
    compute, sums = problem.compute, problem.accumulate
    memory = {rows: [(MASKED, 0.0, [0.0] * problem.d_v) for _ in range(*rows)] for rows in down}
    first = True
    for cols in across:
        on_chip = False
        for rows in down:
            set_up = problem.n_q * (problem.d_v + 2) if first else 0
            first = False
            if skipped(problem, rows, cols):
                yield nothing(rows, cols, memory[rows], {"reads": 0, "writes": set_up})
                continue
            event = tile(problem, rows, cols)
            found = []
            for i, scores, (m_old, l_old, o_old) in zip(range(*rows), event["scores"], memory[rows], strict=True):
                m_tile = highest(scores)
                p = [size(compute, s, m_tile) for s in scores]
                l_tile = total(sums, p)
                p_cast = [cast(problem.p_format, x) for x in p]
                pv = problem.weighted(i, range(*cols), p_cast)
                m = higher(m_old, m_tile)
                alpha, beta = factor(compute, m_old, m), factor(compute, m_tile, m)
                l_rescaled = multiply(sums, l_old, alpha)
                l = add(sums, l_rescaled, multiply(sums, l_tile, beta))
                o_rescaled = [multiply(sums, x, l_rescaled) for x in o_old]
                weighted = [add(sums, x, multiply(sums, y, beta)) for x, y in zip(o_rescaled, pv, strict=True)]
                found.append({
                    "m_tile": m_tile, "p": p, **problem.shown_cast(p_cast), "l_tile": l_tile, "row_sums": l_tile, "pv": pv, "m_new": m, "alpha": alpha, "beta": beta,
                    "l_rescaled": l_rescaled, "acc_rescaled": o_rescaled, "m": m, "l": l,
                    "acc": [0.0 if m == MASKED else divide(sums, x, l) for x in weighted],
                })  # fmt: skip
            memory[rows] = [(row["m"], row["l"], row["acc"]) for row in found]
            n, d, d_v = rows[1] - rows[0], problem.d, problem.d_v
            loads = (cols[1] - cols[0]) * (d + d_v) * (not on_chip) + n * (d + d_v + 2)
            on_chip = True
            yield event | columns(found) | {"reads": loads, "writes": set_up + n * (d_v + 2)}


def standard(**given):
    """S, P and the output, each whole. P is divided in `accumulate` and kept in `p_format`."""
    problem = Problem(**given)
    compute, sums = problem.compute, problem.accumulate
    cols = range(problem.n_k)
    _, s = problem.dots_and_scores(range(problem.n_q), cols)
    p, output = [], []
    for i, scores in enumerate(s):
        m = highest(scores)
        sizes = [size(compute, x, m) for x in scores]
        l = total(sums, sizes)
        p.append([0.0 if m == MASKED else cast(problem.p_format, divide(sums, x, l)) for x in sizes])
        output.append([cast(problem.format, x) for x in problem.weighted(i, cols, p[-1])])
    return {"s": s, "p": p, "output": output}


def twice_divided(scores, values, format="float32"):
    """division-order: one average with shares made first, and with one division of each element at the end."""
    rows = [[cast(format, x) for x in (row if isinstance(row, (list, tuple)) else (row,))] for row in values]
    s = [cast(format, x) if x != MASKED else x for x in scores]
    m = highest(s)
    exponentials = [size(format, x, m) for x in s]
    l = total(format, exponentials)
    shares = [divide(format, x, l) for x in exponentials]

    def weigh(weights):
        live = [(weight, row) for weight, row, x in zip(weights, rows, s, strict=True) if x != MASKED]
        return [dot(format, [weight for weight, _ in live], [row[column] for _, row in live]) for column in range(len(rows[0]))]

    weighted = weigh(exponentials)
    return {
        "m": m, "l": l, "exponentials": exponentials, "shares": shares, "first": weigh(shares), "weighted": weighted,
        "last": [0.0 if m == MASKED else divide(format, x, l) for x in weighted],
    }  # fmt: skip
