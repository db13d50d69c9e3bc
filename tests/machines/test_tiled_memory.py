"""What a run of tiles needs beside its inputs does not grow with the number of keys; a table of scores would.

Measured by tracemalloc, which NumPy tells of its arrays. The inputs are there before it starts, and no moment is kept.
"""

import tracemalloc

import numpy as np
import pytest

from app.machines.run import moments
from tests.machines.tiled_specs import STANDARD, TILED

KEYS, D, ROWS, BLOCK = 100_000, 64, 16, 128
NOISE = 1.1  # ratio of two peaks that are of the same kind


def peak(machine, n_k, **given):
    """Bytes allocated at the worst moment of a run of `n_k` keys."""
    dice = np.random.default_rng(n_k)
    q, k, v = (dice.standard_normal((n, D)) for n in (ROWS, n_k, n_k))
    spec = machine.spec(q=q, k=k, v=v, **given)
    assert spec.k is k, "the inputs were copied"
    tracemalloc.start()
    try:
        for moment in moments(machine, spec):
            finished = moment.step == machine.steps(spec)
        assert finished
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "given",
    [
        {"algorithm": "fa2"},
        {"algorithm": "fa2", "causal": "bottom-right", "window": 4000},
        {"algorithm": "fa1", "causal": "bottom-right", "window": 4000},
        {"algorithm": "fa1", "key_lengths": (4000,)},
    ],
    ids=["fa2", "fa2 with a window", "fa1 with a window", "fa1 with a key length"],
)
def test_one_q_tile_over_100_000_keys_needs_no_more_than_over_a_quarter_of_them(given):
    few, many = (peak(TILED, n_k, block_q=ROWS, block_k=BLOCK, **given) for n_k in (KEYS // 4, KEYS))
    assert many <= NOISE * few, f"{few:,} bytes for {KEYS // 4:,} keys, {many:,} for {KEYS:,}"


def test_the_same_measure_sees_a_table_grow():
    """Standard attention, for which it must: 500 keys and 2,000."""
    few, many = (peak(STANDARD, n_k) for n_k in (500, 2000))
    assert many > 2.5 * few
