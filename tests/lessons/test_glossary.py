"""The glossary: every word that a paper on attention asks for is there, and each symbol of online softmax is one that snapshots have."""

import re

import pytest

from app.lessons.course import Catalog
from app.machines import MACHINES
from app.runs import snapshot
from tests.lessons.read import rows, text

WORDS = """
probabilities|share|softmax weight; denominator|ℓ|normaliser; logits; m; l; acc; alpha; p; lse; block_q; block_k; tile; HBM; SRAM; shared memory; registers; warp;
thread block; kernel; occupancy; tensor core; materialise; ulp; machine epsilon; stagnation; overflow; underflow
"""


@pytest.fixture(scope="module")
def glossary():
    return Catalog().guide("glossary")


@pytest.mark.parametrize("names", [one.strip() for one in WORDS.split(";")])
def test_every_word_is_there(glossary, names):
    shown = text(glossary, "plain")
    for name in names.split("|"):
        assert re.search(rf"(?<!\w){name}(?!\w)", shown), name


def test_what_is_kept_is_what_a_snapshot_keeps(glossary):
    five = MACHINES["online-softmax"].spec(scores=(1.0, 3.0, 2.0, 5.0, 4.0), values=(10.0, 20.0, 30.0, 40.0, 50.0))
    third, fourth = snapshot(MACHINES["online-softmax"], five, 3), snapshot(MACHINES["online-softmax"], five, 4)
    kept = {row[0] for row in rows(glossary, "plain") if len(row) == 6} & {"m", "p", "alpha", "l", "acc", "lse"}
    assert kept == {"m", "p", "alpha", "l", "acc", "lse"} <= set(fourth["state"]) | set(fourth["event"])
    assert f"from {third['state']['l']:.3f} to {fourth['state']['l']:.3f}" in text(glossary, "plain")
    assert fourth["state"]["l"] < third["state"]["l"]
