"""Run with `pytest` beside split_row.py."""

from functools import reduce
from itertools import permutations

import numpy as np
import pytest
from split_row import finish, merge, merge_finished, tree, work

EMPTY = (-np.inf, 0.0, np.zeros(2))


def row(n=12, spread=3.0):
    draw = np.random.default_rng(0)
    return draw.normal(size=n) * spread, draw.normal(size=(n, 2))


def split(scores, values, cuts):
    return [work(*part) for part in zip(np.split(scores, cuts), np.split(values, cuts), strict=True)]


def plain(scores, values):
    sizes = np.exp(scores - scores.max())
    return sizes @ values / sizes.sum()


@pytest.mark.parametrize("cuts", [[], [1], [5], [3, 3, 9], [0, 12], list(range(1, 12))])
def test_a_row_may_be_cut_anywhere(cuts):
    """Catches a factor on the wrong side and a part that is lost."""
    scores, values = row()
    parts = split(scores, values, cuts)
    for merged in (tree(parts), reduce(merge, parts)):
        np.testing.assert_allclose(finish(merged)[1], plain(scores, values), rtol=1e-12)
    np.testing.assert_allclose(merge_finished(*zip(*map(finish, parts), strict=True))[1], plain(scores, values), rtol=1e-12)


def test_any_order_within_rounding():
    parts = split(*row(), [2, 5, 9])
    found = [finish(reduce(merge, some))[1] for some in permutations(parts)]
    np.testing.assert_allclose(found, found[:1] * len(found), rtol=1e-12)


def test_empty_changes_nothing():
    """Catches −inf − (−inf), and an empty part that is multiplied instead of left out."""
    part = work(*row())
    for merged in (merge(part, EMPTY), merge(EMPTY, part)):
        assert merged[:2] == part[:2]
        np.testing.assert_array_equal(merged[2], part[2])
    assert merge(EMPTY, EMPTY)[:2] == (-np.inf, 0.0)
    assert merge_finished([-np.inf, -np.inf], np.zeros((2, 2)))[0] == -np.inf


def test_masked_values_are_never_touched():
    """Catches 0 × NaN."""
    m, l, acc = work(np.array([-np.inf, 1.0]), np.array([[np.nan, np.nan], [2.0, 3.0]]))
    assert (m, l, acc.tolist()) == (1.0, 1.0, [2.0, 3.0])


def test_finished_parts_far_apart():
    """Catches exp of an lse that is not measured from the largest."""
    lse, output = merge_finished([0.0, 1000.0], [[1.0], [2.0]])
    assert (lse, output.tolist()) == (1000.0, [2.0])
