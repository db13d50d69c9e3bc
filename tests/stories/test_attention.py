"""What stands beside an attention result: p as it meets V, the float64 answer of which inputs, and the distance from it."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import softmax

from app.numbers import show
from tests.machines.helpers import REPORTED, shots
from tests.machines.tiled_specs import STANDARD, TILED, problems

FP8 = {
    "q": [[1.0]], "k": [[0.0], *[[-7.7]] * 15], "v": [[1.0], *[[-50.0]] * 15], "scale": 1.0, "block_q": 1, "block_k": 4,
    "format": "float32", "p_format": "float8_e4m3fn",
}  # fmt: skip


def matrix(text):
    return [[float(x) for x in row.split(",")] for row in text.split(";")]


def test_fp8_p_loses_the_numerator():
    """As reported: p before the cast, p after it, and p · V, which goes with the second."""
    expected = REPORTED["fp8-p-loses-the-numerator"]["expected"]
    run = shots(TILED, **FP8)
    event = run[1]["event"]
    assert [show(x) for x in event["p"][0]] == ["1", *["4.53×10⁻⁴"] * 3]
    assert event["p_cast"] == [[1.0, 0.0, 0.0, 0.0]]
    assert event["pv"] == [[1.0]]
    assert run[-1]["state"]["output"] == expected["output"]
    assert run[-1]["state"]["lse"] == expected["lse"]
    assert np.allclose(run[-1]["state"]["reference"]["output"], expected["exact"], rtol=0, atol=1e-6)  # of −7.7 as float32 stores it
    assert "p_cast" not in shots(TILED, **FP8 | {"p_format": "float32"})[1]["event"]


@pytest.mark.parametrize("algorithm", ["fa2", "fa1"])
def test_pv_is_made_of_p_after_its_cast(algorithm):
    for shot in shots(TILED, **FP8, algorithm=algorithm):
        if "p_cast" in shot["event"]:
            assert np.allclose(np.array(shot["event"]["p_cast"]) @ np.array(shot["event"]["v"]), shot["event"]["pv"], rtol=1e-6)


def test_the_standard_way_tells_its_cast_too():
    spec = {name: x for name, x in FP8.items() if not name.startswith("block")}
    shot = shots(STANDARD, **spec)[2]
    assert shot["event"]["p_cast"] == shot["state"]["p"]
    assert shot["event"]["p"] != shot["event"]["p_cast"]
    assert "p_cast" not in shots(STANDARD, **spec | {"p_format": "float32"})[2]["event"]


def test_half_precision_standard_is_no_yardstick():
    """As reported: each way's largest error from float64 is told, and it is the tiled way that is nearer."""
    case = REPORTED["half-precision-standard-is-no-yardstick"]
    problem = {name.lower(): matrix(case["input"][name]) for name in ("Q", "K", "V")} | {"format": "float16"}
    standard = shots(STANDARD, **problem)[-1]
    tiled = shots(TILED, **problem, compute="float32", accumulate="float32")[-1]
    exact = np.array(case["expected"]["float64_of_inputs_as_stored"])
    for shot, want in ((standard, case["expected"]["standard"]), (tiled, case["expected"]["tiled"])):
        assert shot["state"]["output"] == want
        apart = float(np.abs(np.array(want) - exact).max())
        assert shot["state"]["error"]["output"]["absolute"] == pytest.approx(apart, rel=1e-9)
        assert f"from float64 on the inputs as stored: {show(apart)}, " in shot["words"]["off"]
    assert standard["state"]["error"]["output"]["absolute"] > 2 * tiled["state"]["error"]["output"]["absolute"]


@pytest.mark.parametrize("form", ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
def test_float64_says_of_which_inputs_it_is(form):
    """SciPy's softmax of the numbers as typed, wherever a reader would see other digits than from those stored."""
    dice = np.random.default_rng(5)
    given = {name: dice.uniform(-2, 2, (5, 3)).round(3).tolist() for name in ("q", "k", "v")}
    typed = softmax(np.array(given["q"]) @ np.array(given["k"]).T / np.sqrt(3), axis=1) @ np.array(given["v"])
    for machine in (TILED, STANDARD):
        shot = shots(machine, **given, format=form)[1]
        reference = shot["state"]["reference"]
        apart = [[show(x) for x in row] for row in typed.tolist()] != [[show(x) for x in row] for row in reference["output"]]
        assert ("typed" in reference) == apart == bool(shot["words"]["typed"])
        if apart:
            assert np.allclose(reference["typed"]["output"], typed, rtol=0, atol=1e-12)
    assert apart == (form not in ("float32", "float64"))


def test_an_output_that_is_not_finite_has_no_largest_error():
    shot = shots(TILED, q=[[300.0]], k=[[300.0]], v=[[1.0]], scale=0.001, format="float16")[-1]
    assert shot["state"]["error"]["output"]["absolute"] == float("inf")
    assert "no largest error" in shot["words"]["off"]
    assert shots(TILED, q=[[1.0]], k=[[1.0]], v=[[1.0]])[-1]["words"]["off"] == "The output has no error: each number is the float64 one."


@settings(deadline=None, max_examples=60, database=None)
@given(problems(most=6, wide=2))
def test_what_the_standard_way_says_of_masked_scores_and_empty_rows_holds(problem):
    """Every count in the sentence is the table's own."""
    _, scores, softmaxed, output = shots(STANDARD, **problem)
    s = np.array(scores["state"]["s"])
    masked, empty = int((s == -np.inf).sum()), int((s == -np.inf).all(axis=1).sum())
    said = re.search(r"(\d+) of them masked", scores["caption"])
    assert (int(said[1]) if said else 0) == masked
    assert ("meets every key:" in scores["caption"]) == (masked == 0)
    for shot in (softmaxed, output):
        said = re.search(r"(\d+) rows? (has|have) no live key, and (is|are) 0", shot["caption"])
        assert (int(said[1]) if said else 0) == empty
    for row in np.flatnonzero((s == -np.inf).all(axis=1)):
        assert set(softmaxed["state"]["p"][row]) == set(output["state"]["output"][row]) == {0.0}
