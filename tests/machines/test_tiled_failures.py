"""Faults that attention code has really had, against tiles: each case as it was reported, and the class that it stands for.

A case gives scores; one query of 1 with each score as a key and scale 1 has exactly those. Its masks are made of key
lengths, windows and causal corners, which are what the machine has; where they cannot, the keys are put in another order.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.machines.formats import FORMATS
from tests.machines.helpers import CASES, close, same, shots
from tests.machines.scalar_model import infinity, largest
from tests.machines.tiled_specs import STANDARD, TILED, answer, formats, walk

quick = settings(deadline=None, max_examples=40, database=None)
NONE = -math.inf
NAMES = tuple(FORMATS)
WAYS = [(algorithm, order) for algorithm in ("fa2", "fa1") for order in ("left", "right")]
ways = pytest.mark.parametrize(("algorithm", "order"), WAYS)


def one_query(scores, values, **more):
    """A problem whose one query meets exactly these scores."""
    rows = [list(v) if isinstance(v, (list, tuple)) else [v] for v in values]
    return {"q": [[1.0]], "k": [[s] for s in scores], "v": rows, "scale": 1.0} | more


def everywhere(**problem):
    """The output and lse of a problem by either algorithm, in either order, in tiles of every size up to four."""
    for algorithm, order in WAYS:
        for block_q in (1, 2, 4):
            for block_k in (1, 2, 3, 4):
                yield answer(**problem, algorithm=algorithm, order=order, block_q=block_q, block_k=block_k)


def standard(**problem):
    return walk(STANDARD, **problem)[-1].state


# No key at all


def test_kv_length_zero():
    case = CASES["kv-length-zero"]
    problem = one_query([3.0, math.nan], [[1.0] * case["input"]["d_v"], [math.nan] * 2], key_lengths=(0,), format=case["dtype"])
    for got in everywhere(**problem):
        assert got["output"].tolist() == [case["expected"]["out"]]
        assert got["lse"].tolist() == [case["expected"]["lse"]]
    assert standard(**problem).output.tolist() == [case["expected"]["out"]]
    run = shots(TILED, **problem)
    assert all(shot["event"]["skipped"] for shot in run if shot["event"]["kind"] == "tile")
    assert run[-1]["ledger"]["reads"] == 0
    assert run[-1]["state"]["reference"] == {"output": [case["expected"]["out"]], "lse": [case["expected"]["lse"]]}


@pytest.mark.parametrize("name", NAMES)
def test_no_key_for_some_rows_beside_rows_with_keys(name):
    problem = {"q": [[1.0]] * 4, "k": [[1.0]] * 3, "v": [[2.0]] * 3, "key_lengths": (0, 3, 0, 1), "format": name}
    for got in everywhere(**problem):
        assert got["output"].tolist() == [[0.0], [2.0], [0.0], [2.0]]
        assert (got["lse"] == NONE).tolist() == [True, False, True, False]
        assert got["l"].tolist() == [0, 3, 0, 1]


# A finite number in place of a mask


def test_finite_sentinel_all_masked_mean_of_v():
    """Nothing live is 0, not the mean of the values: by a key length, and for a query above a corner that sees no key."""
    case = CASES["finite-sentinel-all-masked-mean-of-v"]
    problem = one_query(case["input"]["scores"], case["input"]["v"], format=case["dtype"])
    for got in everywhere(**problem, key_lengths=(0,)):
        assert got["output"].tolist() == [case["expected"]["out"]]
        assert got["lse"].tolist() == [case["expected"]["lse"]]
    taller = problem | {"q": [[1.0]] * 5}
    for got in everywhere(**taller, causal="bottom-right"):
        assert got["output"].tolist()[:2] == [case["expected"]["out"]] * 2
        assert got["lse"].tolist()[:2] == [case["expected"]["lse"]] * 2
        assert (got["output"][2:] != 0).all()
    assert np.mean(case["input"]["v"]) == case["faulty"]["out"][0]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_live_is_zero_in_every_format(name):
    for got in everywhere(**one_query([0.5, 0.25, -1.0], [1.0, 2.0, 6.0], key_lengths=(0,), format=name)):
        assert (got["output"].tolist(), got["lse"].tolist(), got["m"].tolist(), got["l"].tolist()) == ([[0.0]], [NONE], [NONE], [0.0])


def test_finite_mask_sentinel_beats_valid():
    case = CASES["finite-mask-sentinel-beats-valid"]
    given_ = case["input"]
    problem = {"q": [given_["q"]], "k": given_["k"], "v": [[x] for x in given_["v"]], "scale": given_["scale"], "format": case["dtype"]}
    for got in everywhere(**problem, key_lengths=(1,)):
        assert got["output"].tolist() == [case["expected"]["out"]]
        assert got["lse"].tolist() == [case["expected"]["lse"]]
    assert standard(**problem, key_lengths=(1,)).p.tolist() == [case["expected"]["p"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_valid_score_may_be_as_low_as_the_format_goes(name):
    """The masked score is the far higher one, before or behind the valid one."""
    lowest = -largest(name)
    for scores, values, mask in (
        ([lowest, 0.0], [1.0, 2.0], {"key_lengths": (1,)}),
        ([0.0, lowest], [2.0, 1.0], {"causal": "bottom-right", "window": 1}),
    ):
        for got in everywhere(**one_query(scores, values, format=name, **mask)):
            assert got["output"].tolist() == [[1.0]]
            assert got["lse"].tolist() == got["m"].tolist() == [lowest]


def test_fp16_fill_1e9_becomes_inf():
    case = CASES["fp16-fill-1e9-becomes-inf"]
    problem = one_query(case["input"]["scores"], case["input"]["v"], key_lengths=(sum(case["input"]["mask"]),), format=case["dtype"])
    for got in everywhere(**problem):
        assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])
    assert close(case["expected"]["p"], standard(**problem).p.tolist()[0], case["tol"])
    assert FORMATS[case["dtype"]].round(case["input"]["fill"]) == case["faulty"]["fill_as_float16"]


def test_multiply_by_inf_mask():
    """The case masks the middle key. Its keys come here with that one last, and first; negative scores turn no mask around."""
    case = CASES["multiply-by-inf-mask"]
    pairs = list(zip(case["input"]["scores"], case["input"]["v"], strict=True))
    live = [pair for pair, sees in zip(pairs, case["input"]["mask"], strict=True) if sees]
    masked = [pair for pair, sees in zip(pairs, case["input"]["mask"], strict=True) if not sees]
    for order, mask in ((live + masked, {"key_lengths": (2,)}), (masked + live, {"causal": "bottom-right", "window": 2})):
        problem = one_query(*zip(*order, strict=True), format=case["dtype"], **mask)
        for got in everywhere(**problem):
            assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])
        assert close(case["expected"]["out"], standard(**problem).output.tolist()[0], case["tol"])


@quick
@given(st.lists(st.floats(-30, 30), min_size=2, max_size=9), st.integers(1, 8), st.sampled_from(["k", "v"]), formats())
def test_a_mask_selects_whatever_sign_or_size_what_it_hides_has(scores, length, where, forms):
    """What is hidden may be anything, of either sign: the run is that of the live keys alone, but for the tiles' size."""
    length = min(length, len(scores) - 1)
    values = [float(i) for i in range(len(scores))]
    for bad in (-1e30, 1e30, 0.0):
        problem = one_query(scores, values, **forms)
        problem[where] = problem[where][:length] + [[bad]] * (len(scores) - length)
        got = answer(**problem, key_lengths=(length,), block_k=3)
        alone = answer(**one_query(scores[:length], values[:length], **forms), block_k=3)
        assert all(np.array_equal(got[name], alone[name], equal_nan=True) for name in got)


# The format without an infinity


def test_e4m3_has_no_infinity():
    case = CASES["e4m3-has-no-infinity"]
    cast = FORMATS[case["dtype"]].round
    assert same(case["expected"]["ml_dtypes"], list(map(cast, case["input"]["values"])))


@pytest.mark.parametrize(
    ("mask", "live"),
    [
        ({"key_lengths": (2,)}, [0, 1]),
        ({"causal": "bottom-right", "window": 2}, [2, 3]),
        ({"causal": "top-left"}, [0]),
        ({"key_lengths": (3,), "causal": "bottom-right", "window": 3}, [1, 2]),
        ({"key_lengths": (0,)}, []),
    ],
)
def test_masks_work_in_the_format_that_cannot_hold_minus_infinity(mask, live):
    """A mask is selected, not stored: no number of the run is NaN, and scores, m and lse are −inf where nothing is live."""
    scores, values = [1.0, -2.0, 0.5, 3.0], [1.0, 2.0, 3.0, 4.0]
    problem = one_query(scores, values, format="float8_e4m3fn", **mask)
    for algorithm, order in WAYS:
        for block_k in (1, 2, 3, 4):
            for moment in walk(**problem, algorithm=algorithm, order=order, block_k=block_k)[1:]:
                for part in (*moment.event.parts.values(), moment.event.now.m, moment.event.now.l, moment.event.now.acc):
                    assert not np.isnan(part).any()
                if moment.event.parts and moment.event.kind == "tile":
                    seen = [j for j in range(moment.event.cols.start, moment.event.cols.stop) if j in live]
                    assert np.isfinite(moment.event.parts["scores"]).sum() == len(seen)
    got = answer(**problem, block_k=4)
    if live:
        alone = answer(**one_query([scores[j] for j in live], [values[j] for j in live], format="float8_e4m3fn"), block_k=4)
        assert all(np.array_equal(got[name], alone[name]) for name in got)
    else:
        assert (got["output"].tolist(), got["lse"].tolist()) == ([[0.0]], [NONE])


# Overflow before the scale


def overflowing(**forms):
    given_ = CASES["fp16-qk-overflow-before-scale"]["input"]
    return {"q": [given_["q"]], "k": given_["k"], "v": given_["v"], "scale": given_["scale"], "format": "float16"} | forms


def test_fp16_qk_overflow_before_scale():
    case = CASES["fp16-qk-overflow-before-scale"]
    for got in everywhere(**overflowing()):
        assert same([case["faulty"]["out"]], got["output"].tolist())
    narrow = walk(**overflowing())[1].event.parts
    assert narrow["dots"].tolist() == [case["faulty"]["raw_float16"]]
    for got in everywhere(**overflowing(compute="float32", accumulate="float32")):
        assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])
    fits = walk(**overflowing(compute="float32", accumulate="float32"))[1].event.parts
    assert fits["dots"].tolist() == [case["expected"]["raw"]]
    assert fits["scores"].tolist() == [case["expected"]["scaled"]]
    assert close(case["expected"]["p"], standard(**overflowing(compute="float32")).p.tolist()[0], case["tol"])


def test_the_reference_beside_an_overflow_is_right():
    case = CASES["fp16-qk-overflow-before-scale"]
    state = shots(TILED, **overflowing())[-1]["state"]
    assert same([case["faulty"]["out"]], state["output"])
    assert close(case["expected"]["out"], state["reference"]["output"][0], 1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "float64"])
def test_a_dot_overflows_though_its_scaled_score_would_fit(name):
    """Both operands are √(2·max), rounded up to a power of two; the scale would bring the product back."""
    side = 2.0 ** math.ceil(math.log2(2 * largest(name)) / 2)
    problem = {"q": [[side]], "k": [[side], [side / 4]], "v": [[1.0], [0.0]], "scale": 1 / side, "format": name}
    event = walk(**problem)[1].event
    assert same(infinity(name), float(event.parts["dots"][0, 0]))
    assert all(np.isnan(got["output"]).all() for got in everywhere(**problem))
    wide = {"compute": "float64", "accumulate": "float64", "p_format": "float64"}
    for got in everywhere(**problem, **wide):
        assert close([[1 / (1 + math.exp(-0.75 * side))]], got["output"].tolist(), 2.0 ** -FORMATS[name].digits)


# Ragged tails


@ways
def test_tail_block_zero_padded_keys(algorithm, order):
    case = CASES["tail-block-zero-padded-keys"]
    got = answer(**one_query(case["input"]["scores"], case["input"]["v"], format=case["dtype"], block_k=case["input"]["block"]),
                 algorithm=algorithm, order=order)  # fmt: skip
    assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])
    assert close(case["expected"]["lse"], got["lse"].tolist()[0], case["tol"])


@quick
@given(st.integers(1, 12), st.integers(1, 15), st.integers(1, 6), st.integers(1, 6), st.sampled_from(WAYS), st.sampled_from(NAMES))
def test_a_tail_has_its_own_keys_and_queries_only(n_q, n_k, block_q, block_k, way, name):
    """All scores are as low as they go, so a padded score of 0 would take all the weight; a ragged Q tile answers for its own rows."""
    low = -largest(name)
    algorithm, order = way
    problem = {"q": [[1.0]] * n_q, "k": [[low]] * n_k, "v": [[1.0]] * n_k, "scale": 1.0, "format": name}
    for moment in walk(**problem, block_q=block_q, block_k=block_k, algorithm=algorithm, order=order)[1:]:
        event = moment.event
        if event.kind == "tile":
            size = (min(block_q, n_q - event.rows.start), min(block_k, n_k - event.cols.start))
            assert event.parts["scores"].shape == event.parts["p"].shape == size
            assert (event.parts["m_new"] == low).all()
            assert (event.parts["p"] == 1).all()
    got = answer(**problem, block_q=block_q, block_k=block_k, algorithm=algorithm, order=order)
    if n_k <= 8:  # where e5m2's sums of ones stall
        assert (got["l"] == n_k).all()
        assert (got["output"] == 1).all() or algorithm == "fa1"


# The update that stays normalised


def test_fa1_normalised_update():
    case = CASES["fa1-normalised-update"]
    problem = one_query(case["input"]["scores"], case["input"]["v"], format=case["dtype"], block_k=case["input"]["block"])
    run = shots(TILED, **problem, algorithm="fa1")
    assert len(run) == 3, "no step divides at the end"
    for name, shot in zip(("block0", "block1"), run[1:], strict=True):
        want, state = case["expected"][name], shot["state"]
        assert close([want["m"], want["l"], want["o"]], [state["m"][0], state["l"][0], state["output"][0]], case["tol"])
    assert run[2]["event"]["o_old"] == [case["expected"]["block0"]["o"]]
    assert close(case["expected"]["lse"], run[2]["state"]["lse"][0], case["tol"])
    assert close([case["expected"]["block1"]["o"]], answer(**problem)["output"].tolist(), case["tol"])


@quick
@given(
    st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=1, max_size=12), st.integers(1, 5), st.sampled_from(["left", "right"])
)
def test_fa1_is_an_average_of_what_it_has_seen_after_every_tile(pairs, block_k, order):
    """In float64, to 12 digits: after each tile O is the softmax average of the keys so far, and never leaves the range of their values."""
    scores, values = zip(*pairs, strict=True)
    seen = []
    for moment in walk(**one_query(scores, values, block_k=block_k, algorithm="fa1", order=order, format="float64"))[1:]:
        event = moment.event
        seen += range(event.cols.start, event.cols.stop)
        weights = [math.exp(scores[j] - max(scores[j] for j in seen)) for j in seen]
        average = math.fsum(w * values[j] for w, j in zip(weights, seen, strict=True)) / math.fsum(weights)
        assert close([[average]], event.now.acc.tolist(), 1e-12 * 8)


# Causal masks where there are more keys than queries


def causal(case):
    given_ = case["input"]
    return {
        "q": [[given_["scores_fill"]]] * given_["lq"], "k": [[1.0]] * given_["lk"], "v": [[x] for x in given_["v"]], "scale": 1.0,
        "causal": given_["align"], "format": case["dtype"],
    }  # fmt: skip


@pytest.mark.parametrize("case_id", ["causal-lq2-lk5", "causal-boundary-two-blocks"])
def test_causal_from_the_bottom_right_corner(case_id):
    case = CASES[case_id]
    problem = causal(case)
    own = {name: case["input"][name] for name in ("block_q", "block_k")}
    for got in (answer(**problem, **own), answer(**problem, **own, algorithm="fa1"), *everywhere(**problem)):
        assert close(case["expected"]["out"], got["output"].tolist(), case["tol"])
    assert close(case["expected"]["out"], standard(**problem).output.tolist(), case["tol"])
    for shot in shots(TILED, **problem, **own):
        assert [[int(cell != "masked") for cell in row] for row in shot["state"]["cells"]] == case["expected"]["mask"]


def test_causal_lq2_lk5_from_the_top_left_corner():
    case = CASES["causal-lq2-lk5"]
    for got in everywhere(**causal(case) | {"causal": "top-left"}):
        assert close(case["expected"]["out_top_left"], got["output"].tolist(), case["tol"])


@quick
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.sampled_from(WAYS))
def test_either_corner_whatever_the_lengths_and_tiles(n_q, n_k, block_q, block_k, way):
    """Scores are all 0 and key j has the value j, so a row that sees the first c keys answers (c − 1)/2: its triangle can be read off."""
    problem = {"q": [[0.0]] * n_q, "k": [[1.0]] * n_k, "v": [[float(j)] for j in range(n_k)], "format": "float64"}
    for corner, shift in (("top-left", 0), ("bottom-right", n_k - n_q)):
        got = answer(**problem, causal=corner, block_q=block_q, block_k=block_k, algorithm=way[0], order=way[1])
        counts = [max(0, min(n_k, i + shift + 1)) for i in range(n_q)]
        assert got["l"].tolist() == counts
        assert close([max(0, count - 1) / 2 for count in counts], got["output"][:, 0].tolist(), 1e-12)


# Masked blocks, and values that are not numbers


@ways
def test_leading_masked_block(algorithm, order):
    """Two masked keys before two live ones: at a tile's end nothing is kept yet, and nothing is poisoned."""
    case = CASES["leading-masked-block"]
    live = [s for s in case["input"]["scores"] if s != NONE]
    n = len(case["input"]["scores"])
    assert case["input"]["scores"][: n - len(live)] == [NONE] * (n - len(live))
    scores = [0.0] * (n - len(live)) + live
    problem = one_query(scores, case["input"]["v"], causal="bottom-right", window=len(live), format=case["dtype"])
    for block_k in (1, 2, 3, 4):
        got = answer(**problem, algorithm=algorithm, order=order, block_k=block_k)
        assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])
        assert close(case["expected"]["lse"], got["lse"].tolist()[0], case["tol"])


@ways
@pytest.mark.parametrize("name", NAMES)
def test_a_row_whose_first_keys_are_masked_shares_a_tile_with_one_whose_are_not(name, algorithm, order):
    """The tile is not skipped, so the row meets it with every score masked: it adds nothing and leaves what was kept.

    The rows see keys 0 and 1, 1 and 2, 2 and 3, in tiles of two keys.
    """
    problem = {"q": [[1.0]] * 3, "k": [[1.0]] * 4, "v": [[1.0], [1.0], [2.0], [2.0]], "causal": "bottom-right", "window": 2, "format": name}
    for moment in walk(**problem, algorithm=algorithm, order=order, block_q=3)[1:]:
        event = moment.event
        if event.kind == "tile":
            empty = ~(event.live != 0).any(axis=1)
            assert empty.any()
            assert (event.parts["p"][empty] == 0).all()
            assert (event.parts["row_sums"][empty] == 0).all()
            assert (event.parts["pv"][empty] == 0).all()
            assert np.array_equal(event.now.m[empty], event.before.m[empty])
            assert np.array_equal(event.now.l[empty], event.before.l[empty])
    assert answer(**problem, algorithm=algorithm, order=order, block_q=3)["output"].tolist() == [[1.0], [1.5], [2.0]]


@ways
def test_nan_in_masked_v(algorithm, order):
    case = CASES["nan-in-masked-v"]
    given_ = case["input"]
    for block_k in (1, 2, 3, 4):
        got = answer(**one_query(given_["scores"], given_["v"], key_lengths=(given_["kv_len"],), format=case["dtype"]),
                     algorithm=algorithm, order=order, block_k=block_k)  # fmt: skip
        assert close(case["expected"]["out"], got["output"].tolist()[0], case["tol"])


@ways
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", range(4))
def test_a_live_nan_or_infinite_score_shows(name, algorithm, order, place):
    """Never hidden: a row that sees it has NaN, and the row below, which does not, has its average."""
    for bad in (math.nan, math.inf):
        k = [[0.0]] * 4
        k[place] = [bad]
        problem = {"q": [[1.0]] * 2, "k": k, "v": [[2.0]] * 4, "scale": 1.0, "key_lengths": (4, place), "format": name}
        got = answer(**problem, algorithm=algorithm, order=order)
        assert np.isnan(got["output"][0]).all()
        assert got["output"][1].tolist() == ([2.0] if place else [0.0])


def test_fp16_acc_overflow():
    """Unnormalised sums overflow float16; in fa1 too, before its division, but not with a wider accumulator."""
    case = CASES["fp16-acc-overflow"]
    problem = one_query(case["input"]["scores"], case["input"]["v"], format=case["dtype"])
    for got in everywhere(**problem):
        assert got["output"].tolist() == [case["faulty"]["out"]]
    for got in everywhere(**problem, accumulate="float32"):
        assert close([case["expected"]["out"]], got["output"].tolist(), case["tol"])
