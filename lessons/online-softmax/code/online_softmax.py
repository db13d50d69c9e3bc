"""Online softmax in NumPy: from the textbook's formula to attention that never holds a whole row of scores.

Read it from top to bottom; each function adds one thing to those above it.

    python online_softmax.py    prints the numbers of the lesson
    pytest                      runs the tests in test_online_softmax.py

s      scores; a masked one is -inf
m      the highest score so far
l      the sum of exp(s - m) so far
acc    the sum of exp(s - m) * v so far
alpha  exp(m_old - m_new): what mends l and acc when m grows

Shapes: q [d], k [n, d], v [n, d_v]; a block holds B scores.
"""

import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np

# Softmax, three ways


def naive_softmax(s: np.ndarray) -> np.ndarray:
    """exp(s) / Σ exp(s), shape [n]. Overflows early: in float32 past a score of 88.7.

    >>> naive_softmax(np.array([0.0, math.log(3)])).round(2).tolist()
    [0.25, 0.75]
    """
    sizes = np.exp(s)
    return sizes / sizes.sum()


class SlowScores:
    """Scores in a slow memory. A loop over it gets them block by block; `reads` counts every score handed out.

    >>> source = SlowScores([1, 3, 2], block=2)
    >>> [s.tolist() for s in source], source.reads
    ([[1, 3], [2]], 3)
    """

    def __init__(self, scores, block: int = 64):
        self._scores = np.asarray(scores)
        self.block = block
        self.reads = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        for i in range(0, len(self._scores), self.block):
            s = self._scores[i : i + self.block]
            self.reads += len(s)
            yield s


def safe_softmax(source: SlowScores) -> np.ndarray:
    """exp(s - m) / l, shape [n]: the same shares with no overflow, for three reads of every score.

    >>> safe_softmax(SlowScores([1000, 1001, 1002])).round(4).tolist()
    [0.09, 0.2447, 0.6652]
    """
    m, l = -np.inf, 0.0
    for s in source:  # first read
        m = np.maximum(m, s.max())
    for s in source:  # second read
        l += np.exp(s - m).sum()
    return np.hstack([np.exp(s - m) / l for s in source])  # third read


def online_stats(source: SlowScores) -> tuple[float, float]:
    """m and l, for one read. When m grows, alpha turns the old sum into one measured against the new m.

    exp(s - m_old) * exp(m_old - m_new) = exp(s - m_new)

    >>> m, l = online_stats(SlowScores([1, 3, 2, 5, 4], block=1))
    >>> float(m), round(float(l), 4)
    (5.0, 1.5713)
    """
    m, l = -np.inf, 0.0  # nothing read yet
    for s in source:
        m_new = np.maximum(m, s.max())
        if m_new == -np.inf:  # only masked scores so far
            continue
        alpha = np.exp(m - m_new)
        l = alpha * l + np.exp(s - m_new).sum()
        m = m_new
    return m, l


def online_softmax(source: SlowScores) -> np.ndarray:
    """exp(s - m) / l, shape [n], for two reads: one for m and l together, one to write the shares."""
    m, l = online_stats(source)
    return np.hstack([np.exp(s - m) / l for s in source])


# Values carried along


class State(NamedTuple):
    """All that is kept of the scores read so far, however many: d_v + 2 numbers.

    m    the highest of them; -inf before there is one
    l    Σ exp(s - m) over them
    acc  Σ exp(s - m) * v over them, the shape of one value
    """

    m: float
    l: float
    acc: np.ndarray


def empty_state(v: np.ndarray) -> State:
    """Nothing read yet."""
    return State(-np.inf, 0.0, np.zeros(v.shape[1:], v.dtype))


def update(state: State, s: np.ndarray, v: np.ndarray) -> State:
    """The state after one more block: its scores s [B] and their values v [B, d_v], or [B] where a value is one number.

    l_new   = l   * alpha + Σ p          with p = exp(s - m_new)
    acc_new = acc * alpha + p · v
    """
    m, l, acc = state
    m_new = np.maximum(m, s.max())
    if m_new == -np.inf:  # nothing live so far, and -inf - -inf would be nan
        return state
    alpha = np.exp(m - m_new)  # 1 while m stays, 0 for the first live block
    p = np.exp(s - m_new)
    live = s != -np.inf  # a masked value is left out: 0 * nan would still be nan
    l = l * alpha + p.sum()
    acc = acc * alpha + p[live] @ v[live]
    return State(m_new, l, acc)


def output(state: State) -> np.ndarray:
    """acc / l, the only division; 0 where every score was masked."""
    return np.zeros_like(state.acc) if state.m == -np.inf else state.acc / state.l


def running_states(s: np.ndarray, v: np.ndarray, block: int = 1) -> Iterator[State]:
    """The state after each block of the scores s [n] and values v [n] or [n, d_v]; the last one has the answer.

    >>> states = running_states(np.array([1, 3, 2, 5, 4]), np.array([10, 20, 30, 40, 50]))
    >>> [round(float(output(state)), 2) for state in states]
    [10.0, 18.81, 21.55, 36.88, 39.95]
    """
    state = empty_state(v)
    for i in range(0, len(s), block):
        state = update(state, s[i : i + block], v[i : i + block])
        yield state


def merge(a: State, b: State) -> State:
    """The state of two stretches of a row, from the states of each: both are brought to the higher m, then added.

    A side that has seen no live score is left out, not multiplied by 0, so that the other comes through untouched.

    >>> s, v = np.array([1, 3, 2, 5, 4]), np.array([10, 20, 30, 40, 50])
    >>> left, right = (update(empty_state(v), s[part], v[part]) for part in (slice(0, 3), slice(3, 5)))
    >>> round(float(output(merge(left, right))), 2)
    39.95
    """
    if a.m == -np.inf:
        return b
    if b.m == -np.inf:
        return a
    m = np.maximum(a.m, b.m)
    alpha_a, alpha_b = np.exp(a.m - m), np.exp(b.m - m)
    return State(m, a.l * alpha_a + b.l * alpha_b, a.acc * alpha_a + b.acc * alpha_b)


# Attention of one query


def scores_of(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """k · q / √d, shape [n]; √d keeps scores of random vectors about as large whatever d is."""
    return k @ q / math.sqrt(len(q))


def attention_state(q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int, live: np.ndarray | None = None) -> State:
    """The state after all keys, B = block at a time. Slow memory: reads k and v once.

    live  [n] booleans, False where a key is masked; None: all are live
    """
    state = empty_state(v)
    for i in range(0, len(k), block):
        here = slice(i, i + block)
        s = scores_of(q, k[here])  # B scores: made, used once, dropped
        if live is not None:
            s = np.where(live[here], s, -np.inf)
        state = update(state, s, v[here])
    return state


def online_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int = 64, live: np.ndarray | None = None) -> np.ndarray:
    """softmax(k · q / √d) · v, shape [d_v], with no row of n scores anywhere."""
    return output(attention_state(q, k, v, block, live))


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, live: np.ndarray | None = None) -> np.ndarray:
    """The same by the formula, in float64, with the whole row of scores: what the others are measured by."""
    q, k, v = (np.asarray(array, np.float64) for array in (q, k, v))
    if live is not None:
        k, v = k[live], v[live]
    if len(k) == 0:
        return np.zeros(v.shape[1:])
    s = scores_of(q, k)
    sizes = np.exp(s - s.max())
    return sizes / sizes.sum() @ v


# The numbers of the lesson

SCORES, VALUES = np.array([1.0, 3.0, 2.0, 5.0, 4.0]), np.array([10.0, 20.0, 30.0, 40.0, 50.0])


def by_hand(scores, values) -> list[tuple[Decimal, Decimal]]:
    """l and acc after each score as a pencil gets them: exp to five places, each row rounded to four."""
    rows = []
    m, l, acc = scores[0], Decimal(0), Decimal(0)
    for s, v in zip(scores, values, strict=True):
        m_new = max(m, s)
        alpha, p = (round(Decimal(math.exp(x)), 5) for x in (m - m_new, s - m_new))
        l, acc, m = round(l * alpha + p, 4), round(acc * alpha + p * Decimal(v), 4), m_new
        rows.append((l, acc))
    return rows


def seeded(n: int = 1000, d: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q [d], k [n, d] and v [n, d]: standard normal numbers, the same at every run."""
    random = np.random.default_rng(seed)
    return random.normal(size=d), random.normal(size=(n, d)), random.normal(size=(n, d))


def exp_in(dtype: type, x: float) -> np.floating:
    """exp(x) as dtype holds it: taken in float64 and rounded once (NumPy's own may miss the last digit)."""
    return dtype(np.exp(np.float64(dtype(x))))


def rescales(states: list[State]) -> int:
    """How often a higher score made alpha less than 1, the first score aside."""
    return sum(after.m > before.m for before, after in pairwise(states))


def show(label: str, *numbers, form: str = ".4f") -> None:
    print(f"  {label + ':':<42}" + "  ".join(format(x, form) for x in numbers))


def report_big_scores() -> None:
    print("Big scores")
    for dtype in (np.float16, np.float32, np.float64):
        tenths = np.arange(1, 10_000) / 10
        finite = np.isfinite(np.exp(tenths.astype(dtype)))
        last, first = tenths[finite][-1], tenths[~finite][0]
        show(f"{dtype.__name__} exp({last}), exp({first})", str(exp_in(dtype, last)), str(exp_in(dtype, first)), form="s")
    show("float32 exp(89), exp(1000)", exp_in(np.float32, 89), exp_in(np.float32, 1000), form="g")
    show("digits of exp(89)", len(str(int(math.exp(89)))), form="d")
    show("digits of the largest float32", len(str(int(np.finfo(np.float32).max))), form="d")
    big = np.array([1000, 1001, 1002], np.float32)
    show("naive softmax of 1000, 1001, 1002", *naive_softmax(big))
    show("safe softmax of the same", *safe_softmax(SlowScores(big)))
    show("online softmax of the same", *online_softmax(SlowScores(big)))


def report_five_scores() -> None:
    states = list(running_states(SCORES, VALUES))
    m = np.array([state.m for state in states])
    print("Five scores, one at a time")
    show("score", *SCORES, form="g")
    show("value", *VALUES, form="g")
    show("m", *m, form="g")
    show("alpha", *np.exp(np.hstack([-np.inf, m[:-1]]) - m))
    show("new term", *np.exp(SCORES - m))
    show("l", *(state.l for state in states))
    show("acc", *(state.acc for state in states))
    show("output", *map(output, states))
    print("The same by hand, rounded row by row")
    rows = by_hand(SCORES, VALUES)
    show("l", *(l for l, _ in rows))
    show("acc", *(acc for _, acc in rows))
    show("output", *(acc / l for l, acc in rows), form=".2f")
    print("The same scores in other ways")
    show("sizes while 3 is highest", *np.exp(SCORES[:3] - m[2]), form=".3f")
    show("sizes once 5 is", *np.exp(SCORES[:4] - m[3]), form=".3f")
    show("shares", *online_softmax(SlowScores(SCORES)))
    pairs = list(running_states(SCORES, VALUES, block=2))
    show("m, blocks of two", *(state.m for state in pairs), form="g")
    show("l, blocks of two", *(state.l for state in pairs))
    halves = merge(*(list(running_states(SCORES[part], VALUES[part]))[-1] for part in (slice(0, 3), slice(3, 5))))
    show("m, l, acc, output of merged halves", *halves, output(halves))


def report_memory() -> None:
    print("Reads of 1,000 scores")
    q, k, _ = seeded()
    scores = scores_of(q, k)
    safe, stats, online = (SlowScores(scores) for _ in range(3))
    safe_shares, _, online_shares = safe_softmax(safe), online_stats(stats), online_softmax(online)
    show("safe softmax", safe.reads, form=",")
    show("online statistics", stats.reads, form=",")
    show("online softmax, shares written", online.reads, form=",")
    print("Accesses an element, the write of its share included")
    show("safe softmax", (safe.reads + len(safe_shares)) / len(scores), form="g")
    show("online softmax", (online.reads + len(online_shares)) / len(scores), form="g")
    print("The score table of 32,768 tokens")
    entries = 32_768**2
    size = entries * np.dtype(np.float32).itemsize
    show("entries", entries, form=",")
    show("bytes in float32", size, form=",")
    show("GiB", size / 2**30, form="g")


def report_order() -> None:
    rising, ones = np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4)
    print("Rescales")
    show("scores 1, 2, 3, 4", rescales(list(running_states(rising, ones))), form="d")
    show("scores 4, 3, 2, 1", rescales(list(running_states(rising[::-1], ones))), form="d")


def report_differences() -> None:
    q, k, v = seeded()
    scores = scores_of(q, k)
    safe = safe_softmax(SlowScores(scores))
    blocks = [online_softmax(SlowScores(scores, 2**i)) for i in range(11)]
    outputs = online_attention(q, k, v, block=64)
    print("1,000 seeded scores in float64, d = 16, blocks of 64")
    show("attention, first four numbers", *outputs[:4], form=".6f")
    show("largest difference, attention", np.abs(outputs - reference(q, k, v)).max(), form=".1e")
    show("the same, shares in blocks of 1 to 1,024", max(np.abs(shares - safe).max() for shares in blocks), form=".1e")


def main() -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # here overflow is shown on purpose
        report_big_scores()
    report_five_scores()
    report_order()
    report_memory()
    report_differences()


if __name__ == "__main__":
    main()
