"""Faults that attention code has really had, each as the case that was reported and as the whole class it stands for.

`expected` of a case is the right value in exact arithmetic. Where a short format gives another, the machine must show
that one (`faulty`), and the reference beside it the right one.
"""

import json
import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import runs
from app.machines.formats import FORMATS
from app.numbers import wire
from app.snapshot import encode
from tests.machines.bounds import Bounds
from tests.machines.helpers import CASES, ONLINE, close, floats, last, same, shots
from tests.machines.strategies import NAMES, element, rows, specs

quick = settings(deadline=None, max_examples=40, database=None)
NONE = -math.inf
BLOCKS = [1, 2, 3, 64]
WITH_INFINITY = [name for name in NAMES if FORMATS[name].infinite]
SHORT = [name for name in NAMES if FORMATS[name].digits < 24]
KEPT = ("m", "l", "lse", "acc", "output")


def told(case):
    """A case's input as a spec."""
    given = case["input"]
    scores = given["scores"] if "scores" in given else [given["scores_fill"]] * given["n"]
    spec = {"scores": floats(*scores), "format": case["dtype"], "block": given.get("block", 1)}
    if "v" in given:
        spec["values"] = floats(*given["v"])
    return spec


def check_trace(case, run, tol):
    for want, shot in zip(case["expected"]["trace"], run[1:], strict=True):
        for name, number in want.items():
            assert close(number, (shot["event"] if name == "alpha" else shot["state"])[name], tol)


# Nothing live


def test_row_all_masked():
    case = CASES["row-all-masked"]
    run = shots(**told(case))
    state, want = run[-1]["state"], case["expected"]
    for beside in (state, state["reference"]):
        assert [beside["output"]] == want["out"]
        assert beside["lse"] == want["lse"]
        assert same(want["softmax_plain"], beside["shares"])
    assert [term["size"] for term in state["terms"]] == want["softmax_safe"]
    assert same(want["softmax_plain"], state["naive"]["shares"])
    assert not state["naive"]["failed"], "NaN is what exact arithmetic says too"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
def test_nothing_live_in_any_format_and_block(name, block):
    for shot in shots(scores=(NONE,) * 5, values=((1.0, math.nan),) * 5, format=name, block=block)[1:]:
        state = shot["state"]
        assert (state["m"], state["l"], state["lse"]) == (NONE, 0, NONE)
        assert state["acc"] == state["output"] == state["reference"]["output"] == [0, 0]
        assert (shot["event"]["alpha"], set(shot["event"]["p"])) == (0, {0})
        assert "shares" not in state or same([math.nan] * 5, state["shares"])


# Masked blocks


def test_leading_masked_block():
    case = CASES["leading-masked-block"]
    run = shots(**told(case))
    check_trace(case, run, case["tol"])
    for beside in (run[-1]["state"], run[-1]["state"]["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])
        assert close(case["expected"]["lse"], beside["lse"], case["tol"])


def test_trailing_masked_block():
    case = CASES["trailing-masked-block"]
    run = shots(**told(case))
    check_trace(case, run, case["tol"])
    assert close(case["expected"]["out"], [run[-1]["state"]["output"]], case["tol"])
    assert {name: run[1]["state"][name] for name in KEPT} == {name: run[2]["state"][name] for name in KEPT}


@quick
@given(specs(specials=False), st.integers(1, 4), st.integers(0, 4))
def test_a_masked_block_changes_nothing_wherever_it_comes(spec, blocks, before):
    """Before the first live score, between two, or at the end: the run goes on as if the block were not there."""
    block = min(spec["block"], 8)
    place = min(before * block, len(spec["scores"]) // block * block)
    extra = blocks * block

    def with_gap(row, filler):
        return None if row is None else row[:place] + (filler,) * extra + row[place:]

    filler = math.nan if spec["values"] is None or not isinstance(spec["values"][0], tuple) else (math.nan,) * len(spec["values"][0])
    spec = spec | {"block": block}
    plain = shots(**spec)
    gapped = shots(**spec | {"scores": with_gap(spec["scores"], NONE), "values": with_gap(spec["values"], filler)})
    step = place // block
    for shot in gapped[step : step + blocks + 1]:
        for name in KEPT:
            if name in plain[step]["state"]:
                assert same(plain[step]["state"][name], shot["state"][name])
    for one, other in zip(plain[step:], gapped[step + blocks :], strict=True):
        assert same(
            [one["state"].get(name) for name in ("m", "l", "lse", "acc")], [other["state"].get(name) for name in ("m", "l", "lse", "acc")]
        )


# The old way's sum


@pytest.mark.parametrize("id_", ["naive-sum-overflow-float16", "naive-sum-overflow-float32"])
def test_naive_sum_overflow(id_):
    case = CASES[id_]
    state, want = last(**told(case)), case["expected"]
    single = FORMATS[case["dtype"]]
    assert state["naive"]["exps"] == [single.round(want["exp_each"])] * 2
    assert state["naive"]["sum"] == want["sum_in_dtype"]
    assert state["naive"]["shares"] == case["faulty"]["p"]
    assert state["naive"]["failed"]
    assert state["shares"] == state["reference"]["shares"] == want["p"]
    assert close(want["lse"], state["reference"]["lse"], 1e-12)
    assert close(want["lse"], state["lse"], 2 * single.unit_roundoff * want["lse"])


@pytest.mark.parametrize(
    ("name", "score", "n"),
    [
        ("float16", 10.5, 2),
        ("bfloat16", 88.5, 2),
        ("float32", 88.5, 2),
        ("float64", 709.5, 2),
        ("float8_e4m3fn", 6.0, 2),
        ("float8_e5m2", 10.0, 3),
    ],
)
def test_a_sum_overflows_though_no_term_does(name, score, n):
    """Every share is a quiet 0, except where the format has no infinity for the sum to become."""
    state = last(scores=(score,) * n, format=name)
    form, naive = FORMATS[name], state["naive"]
    assert all(map(math.isfinite, naive["exps"]))
    assert same(math.inf if form.infinite else math.nan, naive["sum"])
    assert same([0.0 if form.infinite else math.nan] * n, naive["shares"])
    assert naive["failed"]
    assert (naive["first_bad"][0]["op"], naive["first_bad"][0]["index"]) == ("add", n - 1)
    assert state["shares"] == [form.round(1 / n)] * n
    assert close([1 / n] * n, state["reference"]["shares"], 1e-16)


@pytest.mark.parametrize("name", NAMES)
def test_one_exponential_that_overflows_fails_too_and_one_that_does_not_is_well(name):
    """The highest score whose exp fits works alone, the next number of the format does not, and the way it fails is named."""
    form = FORMATS[name]
    assert not last(scores=(form.exp_limit,), format=name)["naive"]["failed"]
    past = last(scores=(form.next_up(form.exp_limit), 0.0), format=name)
    assert past["naive"]["failed"]
    assert past["naive"]["first_bad"][0]["op"] == "exp"
    assert past["naive"]["first_bad"][0]["index"] == 0
    assert past["shares"][0] == 1
    shares = [math.nan, 0.0] if form.infinite else [math.nan, math.nan]
    assert same(shares, past["naive"]["shares"])


# Sums that stall


@pytest.mark.parametrize("id_", ["uniform-stagnation-bfloat16", "uniform-stagnation-float8_e4m3fn"])
def test_uniform_stagnation(id_):
    case = CASES[id_]
    state, want, faulty = last(**told(case)), case["expected"], case["faulty"]
    assert state["l"] == faulty["l"]
    assert set(state["shares"]) == {faulty["p_each"]}
    assert math.fsum(state["shares"]) == faulty["row_sum"]
    assert state["reference"]["l"] == want["l"]
    assert set(state["reference"]["shares"]) == {want["p_each"]}
    assert close(want["lse"], state["reference"]["lse"], 1e-12)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("whole", [False, True], ids=["one at a time", "in one block"])
def test_ones_stall_in_every_short_format_and_not_in_a_wider_accumulator(name, whole):
    stall = int(FORMATS[name].ones_stall)
    spec = {"scores": (0.0,) * (2 * stall), "format": name, "block": 2 * stall if whole else 1}
    state = last(**spec)
    assert state["l"] == stall
    assert math.fsum(state["shares"]) == 2
    assert state["reference"]["l"] == 2 * stall
    assert math.fsum(state["reference"]["shares"]) == 1
    assert last(**spec, accumulate="float32")["l"] == 2 * stall


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_a_stalled_step_says_so(name):
    stall = int(FORMATS[name].ones_stall)
    run = shots(scores=(0.0,) * (stall + 2), format=name)
    assert [shot["event"]["stalled"] for shot in run[1:]] == [False] * stall + [True] * 2
    assert "stalled" in run[-1]["caption"]


# What rises and what may fall


def test_l_may_decrease():
    case = CASES["l-may-decrease"]
    run = shots(**told(case))
    check_trace(case, run, case["tol"])
    assert run[5]["state"]["l"] < run[4]["state"]["l"]
    assert close(case["expected"]["lse"], run[-1]["state"]["lse"], case["tol"])
    assert close(case["expected"]["lse"], run[-1]["state"]["reference"]["lse"], case["tol"])


@quick
@given(st.integers(2, 40), st.floats(2, 50), st.sampled_from(["float32", "float64"]))
def test_l_falls_while_lse_rises_whenever_a_much_higher_score_comes(n, jump, name):
    """n equal scores have l = n; after a score higher by D it is n·exp(−D) + 1, less than n for every n ≥ 2 and D ≥ 2."""
    before, after = (shot["state"] for shot in shots(scores=(0.0,) * n + (jump,), format=name)[-2:])
    assert after["l"] < before["l"] == n
    assert after["lse"] > before["lse"] or n * math.exp(jump) < 1
    assert after["m"] > before["m"]


def test_ascending_always_rescales():
    case = CASES["ascending-always-rescales"]
    run = shots(**told(case))
    check_trace(case, run, case["tol"])
    assert sum(shot["event"]["rescales"] for shot in run[1:]) == case["expected"]["rescales"]


@quick
@given(st.sampled_from(NAMES), st.sets(st.integers(-8, 8), min_size=1))
def test_rising_scores_always_rescale_and_falling_ones_never(name, found):
    rising = floats(*sorted(found))
    up, down = (shots(scores=scores, format=name)[1:] for scores in (rising, rising[::-1]))
    assert [shot["event"]["rescales"] for shot in up] == [False] + [True] * (len(rising) - 1)
    assert not any(shot["event"]["rescales"] for shot in down)
    assert {shot["event"]["alpha"] for shot in down[1:]} <= {1}
    assert same(up[-1]["state"]["m"], down[-1]["state"]["m"])


# Ties, zeros, small sizes


def test_all_equal():
    case = CASES["all-equal"]
    run, want = shots(**told(case)), case["expected"]
    state = run[-1]["state"]
    assert [shot["event"]["alpha"] for shot in run[1:]] == [0, 1, 1]
    assert all(p == 1 for shot in run[1:] for p in shot["event"]["p"])
    assert state["l"] == state["reference"]["l"] == want["l"]
    assert [state["output"]] == want["out"]
    assert close(want["p"], state["shares"], case["tol"])
    assert close(want["p"], state["reference"]["shares"], 1e-15)
    assert close(want["lse"], state["lse"], case["tol"])
    assert close(want["out"], [state["reference"]["output"]], 1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("score", [-300.0, 0.0, 2.5, 300.0])
def test_equal_scores_count_themselves(name, block, score):
    n = 8  # the smallest stall of all formats
    run = shots(scores=(score,) * n, values=(2.0,) * n, format=name, block=block)
    assert run[-1]["state"]["l"] == n
    assert run[-1]["state"]["shares"] == [1 / n] * n
    assert run[-1]["state"]["output"] == 2
    assert all(shot["event"]["alpha"] == 1 for shot in run[2:])


def test_negative_zero():
    case = CASES["negative-zero"]
    state, want = last(**told(case)), case["expected"]
    assert state["shares"] == state["reference"]["shares"] == want["p"]
    assert state["l"] == want["l"]
    assert close(want["lse"], state["lse"], case["tol"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("scores", [(0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_zeros_tie_whatever_their_sign(name, block, scores):
    run = shots(scores=scores, format=name, block=block)
    assert run[-1]["state"]["m"] == 0
    assert run[-1]["state"]["shares"] == [0.5, 0.5]
    assert not any(shot["event"]["rescales"] for shot in run[1:])
    assert run[-1]["state"]["naive"]["shares"] == [0.5, 0.5]


def test_underflow_is_not_error():
    case = CASES["underflow-is-not-error"]
    want = case["expected"]
    state = last(**told(case))
    assert [term["size"] for term in state["terms"]] == want["p_float32"]
    assert state["shares"] == want["p_float32"]
    assert close(want["p_float64"], state["reference"]["shares"], case["tol"])
    assert not state["naive"]["failed"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", [1, 3])
def test_a_size_that_underflows_is_not_a_mask(name, block):
    """It is 0 by rounding, so its value is multiplied like any other: an infinite one gives NaN, as the format's own 0 · ∞ does."""
    form = FORMATS[name]
    scores = (0.0, form.exp_vanishes, form.next_down(form.exp_vanishes))
    state = last(scores=scores, values=(1.0, 1.0, 1.0), format=name, block=block)
    sizes = [term["size"] for term in state["terms"]]
    assert sizes[0] == 1
    assert 0 < sizes[1] < form.smallest_normal
    assert sizes[2] == 0
    assert state["output"] == 1
    assert state["reference"]["shares"][2] > 0 or name == "float64"
    assert math.isnan(last(scores=scores, values=(1.0, 1.0, math.inf), format=name, block=block)["output"])


# Bad values and bad scores


def test_nan_in_masked_v():
    case = CASES["nan-in-masked-v"]
    spec, live = told(case), case["input"]["kv_len"]
    spec["scores"] = spec["scores"][:live] + (NONE,) * (len(spec["scores"]) - live)
    state = last(**spec)
    for beside in (state, state["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])
        assert close(case["expected"]["p"], beside["shares"], case["tol"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_masked_value_never_touches_acc(name, block, bad):
    for scores in permutations((1.0, 2.0, NONE, NONE)):
        values = tuple((bad, 1.0, bad) if s == NONE else (s, 1.0, -s) for s in scores)
        clean = tuple((0.0, 0.0, 0.0) if s == NONE else row for s, row in zip(scores, values, strict=True))
        dirty = last(scores=scores, values=values, format=name, block=block)
        assert [dirty[part] for part in KEPT] == [last(scores=scores, values=clean, format=name, block=block)[part] for part in KEPT]
        assert all(map(math.isfinite, dirty["reference"]["output"]))


def test_fp16_acc_overflow():
    case = CASES["fp16-acc-overflow"]
    state = last(**told(case))
    assert [state["output"]] == case["faulty"]["out"]
    assert close(case["expected"]["out"], [state["reference"]["output"]], 1e-9)
    cured = last(**told(case), accumulate="float32")
    assert close(case["expected"]["out"], [cured["output"]], case["tol"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
def test_acc_overflows_though_the_average_fits(name, block):
    form = FORMATS[name]
    value = 2.0 ** (math.frexp(form.max)[1] - 1)  # three times the largest power of two is too much
    spec = {"scores": (0.0,) * 3, "values": (value,) * 3, "format": name, "block": block}
    state = last(**spec)
    assert same(math.inf if form.infinite else math.nan, state["output"])
    assert close(value, state["reference"]["output"], value * 1e-15)
    if name != "float64":
        assert last(**spec, accumulate="float64")["output"] == form.round(value)


def test_nan_score_must_show():
    case = CASES["nan-score-must-show"]
    state, want = last(**told(case)), case["expected"]
    assert same(want["m_np_maximum"], state["m"])
    assert not same(want["m_np_fmax"], state["m"])
    assert same(want["p"], state["shares"])
    assert same(want["p"], state["reference"]["shares"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_nan_score_shows_wherever_it_comes(name, block):
    for scores in permutations((math.nan, 0.0, 1.0, NONE)):
        state = last(scores=scores, values=(1.0,) * 4, format=name, block=block)
        for number in ("m", "l", "lse", "output"):
            assert math.isnan(state[number])
        live = [share for share, s in zip(state["shares"], scores, strict=True) if s != NONE]
        assert all(map(math.isnan, live))
        assert all(map(math.isnan, state["reference"]["shares"]))
        assert not state["naive"]["failed"], "NaN is the answer, so the old way agrees"


def test_softmax_plus_inf():
    case = CASES["softmax-plus-inf"]
    state, want = last(**told(case)), case["expected"]
    assert state["m"] == state["reference"]["m"] == want["m"]
    assert same(want["p"], state["shares"])
    assert same(want["p"], state["reference"]["shares"])
    assert state["reference"]["lse"] == want["lse"]
    assert math.isnan(state["lse"]), "m is infinite and l is NaN: the arithmetic's answer is NaN"
    assert not same(case["faulty"]["p_if_guard_tests_isinf"], state["shares"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("others", [(0.0, 1.0), (0.0, math.inf), (NONE, 0.0)])
def test_an_infinite_score_is_not_taken_for_a_mask(name, block, others):
    for scores in permutations((math.inf, *others)):
        state = last(scores=scores, values=(1.0,) * 3, format=name, block=block)
        assert same(math.inf if name in WITH_INFINITY else math.nan, state["m"])
        for number in ("l", "output"):
            assert math.isnan(state[number])
        assert all(math.isnan(share) for share, s in zip(state["shares"], scores, strict=True) if s != NONE)


# Recurrences remembered wrongly


def test_inverse_rescale_factor():
    case = CASES["inverse-rescale-factor"]
    run = shots(**told(case))
    check_trace(case, run, case["tol"])
    for beside in (run[-1]["state"], run[-1]["state"]["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])


def test_rescale_l_but_not_acc():
    case = CASES["rescale-l-but-not-acc"]
    state = last(**told(case))
    for beside in (state, state["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])


def test_alpha_after_m_updated():
    case = CASES["alpha-after-m-updated"]
    run = shots(**told(case))
    assert close(case["expected"]["alpha"], [shot["event"]["alpha"] for shot in run[1:]], case["tol"])
    for beside in (run[-1]["state"], run[-1]["state"]["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])


def test_forgot_final_divide():
    case = CASES["forgot-final-divide"]
    state, want = last(**told(case)), case["expected"]
    assert [state["acc"]] == want["acc"]
    assert state["l"] == want["l"]
    assert [state["output"]] == want["out"]
    assert close(want["out"], [state["reference"]["output"]], case["tol"])


@quick
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_output_is_an_average_at_every_step(name, data):
    """Values all alike come out as they went in, whatever the scores: l and acc took the same factors and one division."""
    scores, block = data.draw(rows(name)), data.draw(st.integers(1, 9))
    value = FORMATS[name].round(data.draw(element))
    for shot in shots(scores=scores, values=(value,) * len(scores), format=name, block=block)[1:]:
        read = [term["score"] for term in shot["state"]["terms"]]
        if shot["state"]["m"] == NONE:
            assert shot["state"]["output"] == 0
        else:
            assert abs(shot["state"]["output"] - value) <= Bounds(read, block, name).output(abs(value), abs(value))


@quick
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_the_order_of_the_scores_does_not_matter_beyond_rounding(name, data):
    """A wrong factor shows where maxima rise and not where they fall, so both orders give the same only if it is right."""
    pairs = sorted(
        zip(
            scores := data.draw(rows(name, most=10.0)),
            data.draw(st.lists(element, min_size=len(scores), max_size=len(scores))),
            strict=True,
        )
    )
    rising = [floats(*column) for column in zip(*pairs, strict=True)]
    up, down = (last(scores=s, values=v, format=name) for s, v in (rising, [column[::-1] for column in rising]))
    bounds = Bounds(scores, 1, name)
    weighted = sum(share * abs(v) for share, v in zip(up["reference"]["shares"], rising[1], strict=True))
    assert up["m"] == down["m"]
    assert abs(up["l"] - down["l"]) <= 2 * bounds.sum(up["reference"]["l"])
    assert abs(up["output"] - down["output"]) <= 2 * bounds.output(weighted, max(map(abs, rising[1])))


def test_clip_instead_of_shift():
    case = CASES["clip-instead-of-shift"]
    state = last(**told(case))
    for beside in (state, state["reference"]):
        assert close(case["expected"]["out"], [beside["output"]], case["tol"])
    assert state["naive"]["failed"]


@quick
@given(
    st.lists(st.integers(-100, 100).map(float) | st.just(NONE), min_size=1, max_size=32),
    st.integers(0, 100),
    st.sampled_from(["float32", "float64"]),
)
def test_an_offset_that_adds_exactly_changes_no_bit(scores, offset, name):
    """Whole scores and offsets add without rounding, so only m and lse may move, however large the scores become."""
    values = tuple(float(i) for i in range(len(scores)))
    plain, moved = (last(scores=scores, values=values, offset=float(d), format=name, block=3) for d in (0, offset))
    for part in ("l", "acc", "output", "shares"):
        assert same(plain[part], moved[part])
    assert moved["m"] == plain["m"] + offset


# JSON


def test_json_nan():
    case = CASES["json-nan"]
    bare = floats(*case["input"]["values"])
    assert json.dumps(bare) == case["expected"]["python_dumps"], "what Python would send"
    with pytest.raises(ValueError, match="Out of range float values"):
        encode(bare)
    assert encode(wire(bare)) == b'["NaN","Infinity","-Infinity",-0.0]'


@quick
@given(specs())
def test_every_snapshot_is_strict_json(spec):
    """No bare NaN or Infinity, and never null; a program that reads no JSON beyond the standard can read it."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    made = ONLINE.spec(**spec)
    for shot in runs.snapshots(ONLINE, made):
        text = encode(shot).decode()
        assert json.loads(text, parse_constant=refuse) == shot
        assert ":null" not in text
        assert "[null" not in text
        assert ",null" not in text
