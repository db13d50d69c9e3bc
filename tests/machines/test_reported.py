"""What readers reported or asked in December 2026 and could be posed: each case with the numbers that it names.

The cases whose fault was in what is said stand with the captions, in tests/stories. Those that no field can pose yet are not
tested: packed documents, a bias for each key, a chosen mistake, a factor on P.
"""

import pytest

from app.machines import MACHINES
from app.machines.traffic import Spec
from tests.machines.helpers import REPORTED, end, last
from tests.machines.tiled_specs import STANDARD, TILED

ROW = (3.0, 1.0, 6.0, 2.0, 2.0, 0.0, -2.0, 5.0)


def test_one_maximum_for_all_rows():
    """Each row has its own: a row far below the table's highest keeps its average."""
    problem = {"q": [[200.0], [0.0]], "k": [[1.0], [0.5]], "v": [[10.0], [20.0]], "scale": 1.0}
    for algorithm in ("fa2", "fa1"):
        assert last(TILED, **problem, algorithm=algorithm)["output"] == REPORTED["one-maximum-for-all-rows"]["expected"]["output"]
    assert last(STANDARD, **problem)["output"] == REPORTED["one-maximum-for-all-rows"]["expected"]["output"]


def test_row_worked_in_a_notebook():
    expected = REPORTED["row-worked-in-a-notebook"]["expected"]
    one = last(scores=ROW, format="float64")
    assert one["m"] == expected["m"]
    assert one["l"] == pytest.approx(expected["l"], rel=2.3e-16)
    tree = end(MACHINES["merge"], scores=ROW, splits=8, merge_order="tree", format="float64")
    assert tree["step"] == 15
    assert tree["state"]["m"] == expected["m"]
    assert tree["state"]["l"] == pytest.approx(expected["l"], rel=2.3e-16)


def test_large_mask_values_swallow_the_score():
    expected = REPORTED["large-mask-values-swallow-the-score"]["expected"]
    for given, want in (
        ({"scores": (3.2, 1.1), "offset": 1000.0}, expected["offset1000"]),
        ({"scores": (30003.2, 30001.1)}, expected["added_by_hand"]),
    ):
        shot = end(**given, format="bfloat16", block=2)
        assert shot["event"]["scores"] == want["stored"]
        assert shot["state"]["shares"] == want["shares"]
        assert shot["words"]["moved"].startswith("Rounding moved the shares themselves")


@pytest.mark.parametrize(("name", "n", "memory"), [("n1024_M49152", 1024, 49152), ("n1024_M98304", 1024, 98304), ("n2048", 2048, 49152)])
def test_reads_and_writes_of_each_order(name, n, memory):
    expected = REPORTED["reads-and-writes-of-each-order"]["expected"][name]
    spec = Spec(n=n, d=64, memory=memory)
    cost = spec.cost("fa1").ledger
    assert (cost.reads, cost.writes) == (expected["fa1_reads"], expected["fa1_writes"])
    if "standard" in expected:
        assert spec.cost("standard").moved == expected["standard"]
