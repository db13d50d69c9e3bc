"""Run with `pytest` beside tiled_attention.py."""

import numpy as np
import pytest
from tiled_attention import flash1, flash2, spans, standard


def problem(n_q=7, n_k=10, d=4, d_v=3, spread=1.0):
    draw = np.random.default_rng(0)
    q, k = draw.normal(size=(n_q, d)) * spread, draw.normal(size=(n_k, d)) * spread
    return q, k, draw.normal(size=(n_k, d_v)), d**-0.5


@pytest.mark.parametrize("way", [flash1, flash2])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (7, 10), (16, 16)])
def test_every_tiling_agrees_with_the_whole_table(way, blocks):
    """Catches a wrong factor, a lost tile and a ragged tail."""
    given = problem()
    np.testing.assert_allclose(way(*given, *blocks)[0], standard(*given), rtol=1e-12)


@pytest.mark.parametrize("way", [flash1, flash2])
def test_rows_rescale_alone(way):
    """Catches one maximum shared by all the rows of a tile: the second row underflows beside the first."""
    q, k = np.array([[1000.0], [1.0]]), np.array([[1.0], [2.0], [3.0]])
    v = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(way(q, k, v, 1.0, 2, 1)[0], standard(q, k, v, 1.0))


@pytest.mark.parametrize("way", [flash1, flash2])
def test_lse_is_that_of_the_plain_scores(way):
    """Catches log l alone, which leaves m out."""
    q, k, v, scale = problem(spread=0.5)
    expected = np.log(np.exp(q @ k.T * scale).sum(axis=1))
    np.testing.assert_allclose(way(q, k, v, scale, 2, 3)[1], expected, rtol=1e-12)


@pytest.mark.parametrize("way", [flash1, flash2])
def test_large_scores(way):
    """Catches a missing maximum: exp of these scores alone is infinite."""
    q, k, v, scale = problem(spread=100.0)
    output, lse = way(q, k, v, scale, 2, 3)
    np.testing.assert_allclose(output, standard(q, k, v, scale), rtol=1e-9)
    assert np.isfinite(lse).all()


def test_spans_cover_everything_once():
    assert [i for span in spans(10, 4) for i in range(10)[span]] == list(range(10))
