"""Tests of online_softmax.py. Each says which mistake it would catch; break a line of the program and see."""

import tracemalloc

import numpy as np
import pytest
from online_softmax import (
    SCORES,
    VALUES,
    SlowScores,
    State,
    attention_state,
    by_hand,
    empty_state,
    merge,
    naive_softmax,
    online_attention,
    online_softmax,
    online_stats,
    output,
    reference,
    rescales,
    running_states,
    safe_softmax,
    scores_of,
    seeded,
    update,
)

BLOCKS = (1, 2, 7, 64, 999, 1000, 5000)
NONE = -np.inf


def normal(n, seed=1):
    return np.random.default_rng(seed).normal(scale=3, size=n)


def test_naive_overflows_where_safe_and_online_do_not():
    """A version that leaves the maximum out: nan for each of these scores."""
    big = np.array([1000, 1001, 1002], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(naive_softmax(big)).all()
    for softmax in (safe_softmax, online_softmax):
        shares = softmax(SlowScores(big, block=1))
        assert shares.dtype == np.float32
        assert shares.round(4) == pytest.approx([0.0900, 0.2447, 0.6652], abs=1e-6)


@pytest.mark.parametrize("block", BLOCKS)
def test_stats_are_right_after_one_read(block):
    """A wrong m or l, or a second pass that nobody mentions."""
    s = normal(1000)
    source = SlowScores(s, block)
    m, l = online_stats(source)
    assert m == s.max()
    assert l == pytest.approx(np.exp(s - s.max()).sum(), rel=1e-12)
    assert source.reads == 1000


def test_highest_score_comes_last():
    """An old sum that is not rescaled."""
    s = np.append(np.zeros(99), 4.0)
    _, l = online_stats(SlowScores(s, block=10))
    assert l == pytest.approx(1 + 99 * np.exp(-4))


def test_reads_of_each_softmax():
    """Counts that are no longer those the lesson gives."""
    safe, online = SlowScores(normal(1000)), SlowScores(normal(1000))
    assert online_softmax(online) == pytest.approx(safe_softmax(safe), rel=1e-12)
    assert (safe.reads, online.reads) == (3000, 2000)


def test_a_first_block_that_is_all_masked_in_stats():
    """nan from -inf - -inf in online_stats."""
    m, l = online_stats(SlowScores([NONE, NONE, 2.0, 1.0], block=2))
    assert m == 2
    assert l == pytest.approx(1 + np.exp(-1))
    assert online_stats(SlowScores([NONE, NONE])) == (NONE, 0)


def test_a_first_block_that_is_all_masked_in_attention():
    """The same nan on its way into l and acc."""
    q, k, v = seeded(n=10, d=4)
    live = np.arange(10) >= 5
    state = attention_state(q, k, v, block=2, live=live)
    assert np.isfinite(state.l)
    assert output(state) == pytest.approx(reference(q, k, v, live))


def test_the_five_scores_of_the_lesson():
    """A table of the lesson that is no longer true."""
    states = list(running_states(SCORES, VALUES))
    m = np.array([state.m for state in states])
    assert m.tolist() == [1, 3, 3, 5, 5]
    assert np.exp(np.append(NONE, m[:-1]) - m).round(4).tolist() == [0, 0.1353, 1, 0.1353, 1]
    assert np.exp(SCORES - m).round(4).tolist() == [1, 1, 0.3679, 1, 0.3679]
    assert [round(float(state.l), 4) for state in states] == [1, 1.1353, 1.5032, 1.2034, 1.5713]
    assert [round(float(state.acc), 4) for state in states] == [10, 21.3534, 32.3897, 44.3835, 62.7774]
    assert [round(float(output(state)), 2) for state in states] == [10, 18.81, 21.55, 36.88, 39.95]
    assert online_softmax(SlowScores(SCORES)).round(4).tolist() == [0.0117, 0.0861, 0.0317, 0.6364, 0.2341]


def test_the_five_scores_by_hand():
    """The pencil's table: its last digits are not those of full precision."""
    l, acc = zip(*by_hand(SCORES, VALUES), strict=True)
    assert [float(x) for x in l] == [1, 1.1353, 1.5032, 1.2034, 1.5713]
    assert [float(x) for x in acc] == [10, 21.3534, 32.3898, 44.3836, 62.7776]


def test_blocks_of_two_meet_the_single_steps():
    """A state that depends on how the scores were cut."""
    pairs = list(running_states(SCORES, VALUES, block=2))
    singles = list(running_states(SCORES, VALUES))
    for pair, single in zip(pairs, (singles[1], singles[3], singles[4]), strict=True):
        assert pair == pytest.approx(single)


def test_the_promise_holds_after_every_step():
    """A running state that comes right only at the end."""
    s, v = normal(50), normal((50, 3), seed=2)
    for n, state in enumerate(running_states(s, v), start=1):
        sizes = np.exp(s[:n] - s[:n].max())
        assert state.m == s[:n].max()
        assert state.l == pytest.approx(sizes.sum())
        assert state.acc == pytest.approx(sizes @ v[:n])


@pytest.mark.parametrize("block", BLOCKS)
def test_attention_agrees_with_the_reference(block):
    """An acc that is not rescaled, or p measured against the old maximum."""
    q, k, v = seeded()
    assert np.abs(online_attention(q, k, v, block) - reference(q, k, v)).max() < 1e-15


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_attention_with_random_masks(seed, dtype):
    """A mask that is off by a block, or that changes the dtype."""
    q, k, v = (array.astype(dtype) for array in seeded(n=100, d=8, seed=seed))
    live = np.random.default_rng(seed).random(100) < 0.3
    for block in (1, 3, 32, 100):
        got = online_attention(q, k, v, block, live)
        assert got.dtype == dtype
        assert got == pytest.approx(reference(q, k, v, live), abs=20 * float(np.finfo(dtype).eps))


def test_nothing_live_gives_zero():
    """0 / 0 where every key is masked."""
    q, k, v = seeded(n=6, d=4)
    assert online_attention(q, k, v, 2, np.zeros(6, bool)).tolist() == [0, 0, 0, 0]
    assert reference(q, k, v, np.zeros(6, bool)).tolist() == [0, 0, 0, 0]


def test_a_masked_key_is_never_touched():
    """Masking that multiplies by 0: 0 * nan is nan."""
    q, k, v = seeded(n=6, d=4)
    live = np.array([True, True, False, True, True, True])
    expected = online_attention(q, k, v, 2, live)
    k[2], v[2] = np.nan, np.nan
    assert online_attention(q, k, v, 2, live).tolist() == expected.tolist()


def test_large_scores_stay_finite_in_float32():
    """An exponent that is not measured against the maximum somewhere on the way."""
    q, k, v = (array.astype(np.float32) for array in seeded(n=200))
    q = q * np.float32(300)
    assert np.abs(scores_of(q, k)).max() > 500
    assert online_attention(q, k, v, block=16) == pytest.approx(reference(q, k, v), abs=1e-3)


@pytest.mark.parametrize("cut", [1, 64, 500, 999])
def test_merging_two_parts_equals_one_pass(cut):
    """States added without bringing both to one maximum."""
    q, k, v = seeded()
    k[cut:] += q  # the second part has the higher scores
    left, right = attention_state(q, k[:cut], v[:cut], 64), attention_state(q, k[cut:], v[cut:], 64)
    assert left.m < right.m
    whole = attention_state(q, k, v, 64)
    for merged in (merge(left, right), merge(right, left)):
        assert merged.m == pytest.approx(whole.m)
        assert merged.l == pytest.approx(whole.l)
        assert merged.acc == pytest.approx(whole.acc)


def test_merging_with_nothing_changes_nothing():
    """nan where one part, or each, is all masked."""
    some, nothing = update(empty_state(VALUES), SCORES, VALUES), empty_state(VALUES)
    assert merge(some, nothing) == merge(nothing, some) == some
    assert merge(nothing, nothing) == nothing


def test_an_empty_part_is_left_out_of_a_merge():
    """An empty part that is multiplied by 0: 0 * nan is nan."""
    some, empty = update(empty_state(VALUES), SCORES, VALUES), State(NONE, 0.0, np.array(np.nan))
    assert merge(some, empty) == merge(empty, some) == some


def test_rising_scores_rescale_and_falling_ones_do_not():
    """An order of the scores that changes the answer, or a count that differs from the lesson's."""
    s, v = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [5.0, 3.0]])
    rising, falling = list(running_states(s, v)), list(running_states(s[::-1], v[::-1]))
    assert (rescales(rising), rescales(falling)) == (3, 0)
    assert output(rising[-1]) == pytest.approx(output(falling[-1]))


def peak_bytes(work):
    """The most memory that `work` held at once, beyond what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_row_of_scores_is_ever_allocated():
    """Streaming in name only: all n scores made first, blocks cut from them afterwards."""
    n = 20_000
    q, k, v = seeded(n=n, d=2)
    row, live = n * k.itemsize, np.arange(n) % 3 > 0
    assert peak_bytes(lambda: reference(q, k, v)) > row  # so a row would show
    assert peak_bytes(lambda: online_attention(q, k, v, block=64)) < row / 10
    assert peak_bytes(lambda: online_attention(q, k, v, block=64, live=live)) < row / 10


def test_stats_hold_one_block_at_a_time():
    """The same for a row that is read, not made: a source that can only ever give its next block."""
    n, block = 20_000, 64

    class Stream:
        def __iter__(self):
            return (normal(block, seed=i) for i in range(n // block))

    assert peak_bytes(lambda: online_stats(Stream())) < n * 8 / 10
