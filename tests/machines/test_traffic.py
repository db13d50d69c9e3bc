"""The formulas of traffic.py are the ledgers of the machines, on every size that runs; and the published counts."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.machines import traffic
from app.machines.traffic import FORMULAS, WAYS, Size, Spec, counted

ROWS = json.loads((Path(__file__).parent.parent / "data/memory_traffic.json").read_text())["rows"]
count, width = st.integers(1, 40), st.integers(1, 9)


@settings(deadline=None)  # a size with single-number tiles takes a while
@given(st.builds(Size, n_q=count, n_k=count, d=width, d_v=width, block_q=st.integers(1, 42), block_k=st.integers(1, 42)))
def test_formula_and_ledger_agree_on_every_size_that_runs(size):
    for way in WAYS:
        assert FORMULAS[way](size) == counted(way, size), way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", range(1, 8))
def test_every_ragged_tail_of_small_sizes(way, n):
    for block_q in range(1, n + 2):
        for block_k in range(1, n + 2):
            size = Size(n, 8 - n, 2, 3, block_q, block_k)
            assert FORMULAS[way](size) == counted(way, size), size


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['n']}-{row['d']}-{row['memory']}")
def test_published_counts(row):
    n, d = row["n"], row["d"]
    blocks = traffic.fa1_blocks(row["memory"], d)
    assert list(blocks) == row["blocks"]
    assert Size(n, n, d, d, *blocks).tiles[1] == row["fa1_passes"]
    assert FORMULAS["standard"](Size(n, n, d, d)).moved == row["standard"] == 4 * n * d + 4 * n * n
    assert FORMULAS["fa1"](Size(n, n, d, d, *blocks)).moved == row["fa1"]
    if "fa2" in row:
        assert FORMULAS["fa2"](Size(n, n, d, d, 128, 128)).moved == row["fa2"]


def test_the_operation_count_does_not_fall():
    for n in (64, 1024, 131_072):
        spec = Spec(n=n)
        plain = spec.cost("standard", n).computed
        for way in ("fa1", "fa2"):
            assert 0.98 * plain < spec.cost(way, n).computed < 1.2 * plain


def test_what_is_stored_grows_with_the_square_only_the_standard_way():
    small, large = Spec(n=1024), Spec(n=4096)
    assert [large.cost(way).stored // small.cost(way).stored for way in WAYS] == [16, 4, 4]


def test_heads_and_batch_are_factors():
    one, many = Spec(n=2048), Spec(n=2048, heads=3, batch=5)
    for way in WAYS:
        assert many.cost(way).moved == 15 * one.cost(way).moved
        assert many.cost(way).ledger.mul == 15 * one.cost(way).ledger.mul
        assert many.cost(way).ledger.kept == one.cost(way).ledger.kept


@pytest.mark.parametrize(
    ("spec", "runs"), [(Spec(n=64), True), (Spec(n=128), False), (Spec(n=64, memory=4), False), (Spec(n=64, d=128), False)]
)
def test_small_sizes_run(spec, runs):
    assert spec.runs is runs
    assert spec.cost("fa1") == FORMULAS["fa1"](spec.size("fa1")) == spec.cost("fa1", spec.n)


def test_a_table_in_float32_for_32768_tokens_takes_4_gib():
    assert traffic.table_bytes(32768, 32768, "float32") == 4 * 2**30
