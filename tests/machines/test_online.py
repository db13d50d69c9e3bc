"""online-softmax: the worked examples, the scalar model, SciPy, and what must hold of every run."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.special
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.machines import online, reference
from app.machines.arithmetic import Ledger
from app.machines.formats import FORMATS
from app.machines.run import moments
from tests.machines import scalar_model as model
from tests.machines.bounds import Bounds
from tests.machines.helpers import GOLDEN, ONLINE, at_places, close, differences, floats, last, same, shots
from tests.machines.strategies import NAMES, element, rows, specs

quick = settings(deadline=None, max_examples=60, database=None)
exact_formats = st.sampled_from(["float32", "float64"])

FIVE = GOLDEN["softmax_five_scores"]
SIX = GOLDEN["six_scores_two_at_a_time"]
DIVIDE = GOLDEN["divide_first_or_last"]
OVERFLOW = GOLDEN["overflow"]


# The worked examples


def five(**more):
    return {"scores": floats(*FIVE["scores"]), "values": floats(*FIVE["values"]), "format": FIVE["format"]} | more


@pytest.mark.parametrize("step", range(1, 6))
def test_five_scores_at_each_step(step):
    want, shot = FIVE["steps"], shots(**five())[step]
    got = {"m": shot["state"]["m"], "alpha": shot["event"]["alpha"], "p_new": shot["event"]["p"][0]}
    got |= {name: shot["state"][name] for name in ("l", "acc", "output")}
    assert {name: round(x, want["places"]) for name, x in got.items()} == {name: want[name][step - 1] for name in got}


def test_five_scores_redone_on_paper_stay_near():
    """The hand's numbers are rounded to four places after every row: five roundings of half a unit each, at most."""
    states = [shot["state"] for shot in shots(**five())[1:]]
    assert close(FIVE["by_hand"]["l"], [state["l"] for state in states], 2.5e-4)
    assert close(FIVE["by_hand"]["acc"], [state["acc"] for state in states], 2.5e-4)


def test_five_scores_shares_and_bricks():
    run = shots(**five())
    before, after = run[3]["state"], run[4]["state"]
    assert at_places([term["size"] for term in before["terms"]], 3) == FIVE["bricks_before_5"]
    assert at_places([term["size"] for term in after["terms"]], 3) == FIVE["bricks_after_5"]
    assert at_places([term["size_before"] for term in after["terms"][:3]], 3) == FIVE["bricks_before_5"]
    assert (round(before["l"], 3), round(after["l"], 3)) == (FIVE["tally_before_5"], FIVE["tally_after_5"])
    assert at_places(run[5]["state"]["shares"], FIVE["shares"]["places"]) == FIVE["shares"]["values"]
    assert at_places(run[5]["state"]["reference"]["shares"], FIVE["shares"]["places"]) == FIVE["shares"]["values"]


def test_five_scores_in_blocks_of_two():
    run = shots(**five(block=2))[1:]
    assert [shot["state"]["m"] for shot in run] == FIVE["blocks_of_two"]["m"]
    assert at_places([shot["state"]["l"] for shot in run], 4) == FIVE["blocks_of_two"]["l"]
    assert round(run[-1]["state"]["output"], 4) == FIVE["steps"]["output"][-1]


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_two_scores_as_one_block_with_values(name):
    shot = shots(scores=floats(*DIVIDE["scores"]), values=tuple(floats(*row) for row in DIVIDE["values"]), block=2, format=name)[1]
    places, state = DIVIDE["places"], shot["state"]
    assert at_places(shot["event"]["p"], places) == DIVIDE["exponentials"]
    assert round(state["l"], places) == DIVIDE["l"]
    assert at_places(state["shares"], places) == DIVIDE["shares"]
    assert at_places(state["acc"], places) == DIVIDE["weighted_sum"]
    assert at_places(state["output"], places) == DIVIDE["output"]


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_six_scores_two_at_a_time_at_each_step(step, name):
    given = {"scores": floats(*SIX["scores"]), "values": tuple(floats(*row) for row in SIX["values"]), "block": SIX["block"]}
    shot = shots(**given, format=name)[step]
    seen = shot["event"] | shot["state"]
    want = SIX["steps"][step - 1]
    assert {name: at_places(seen[name], SIX["places"]) for name in want} == want
    if step == 3:
        assert at_places(seen["output"], SIX["places"]) == SIX["output"]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_the_tenth_at_which_the_old_way_overflows(name):
    holds, fails = OVERFLOW[name]
    for x, overflows in ((holds, False), (fails, True)):
        state = last(scores=(x,), format=name)
        assert math.isinf(state["naive"]["exps"][0]) == overflows == state["naive"]["failed"]
        assert state["shares"] == [1.0]


def test_three_thousands_in_float32():
    state = last(scores=floats(*OVERFLOW["naive_float32_of"]))
    assert same(OVERFLOW["naive_float32_gives"], state["naive"]["shares"])
    assert at_places(state["shares"], OVERFLOW["safe_gives"]["places"]) == OVERFLOW["safe_gives"]["values"]


# The scalar model


@settings(deadline=None, max_examples=150, database=None)
@given(specs())
@example({"scores": (-math.inf, 5.0, math.nan, 1.0), "values": (math.nan, 1.0, 2.0, 3.0), "block": 1})
@example({"scores": (-60000.0, -1.0), "offset": -6000.0, "format": "float16"})
@example({"scores": (400.0, -400.0), "offset": 100.0, "format": "float8_e4m3fn", "accumulate": "float64"})
@example({"scores": (0.0, -30.0), "values": (1.0, math.inf), "format": "float8_e5m2", "block": 2})
def test_every_snapshot_is_the_scalar_models(spec):
    want, got = model.run(**spec), shots(**spec)
    assert len(got) == len(want)
    for step, (theirs, ours) in enumerate(zip(want, got, strict=True)):
        assert not list(differences(theirs, ours, f"step {step}"))
        assert (ours["step"], ours["steps"], ours["done"]) == (step, len(want) - 1, step == len(want) - 1)
        for part in ("output", "acc", "shares"):
            assert (part in ours["state"]) == (part in theirs["state"])
        assert ("shares" in ours["state"]["naive"]) == ours["done"]
        assert set(ours["event"]) == set(theirs["event"])


def test_a_sum_narrower_than_its_terms_rounds_once_float64_into_float32():
    """1 + p, with p just above half a step of float32: float64 cannot hold that sum, so rounding it first makes a false tie."""
    spec = {"scores": (0.0, -16.635532333438686), "format": "float64", "accumulate": "float32", "block": 2}
    assert model.run(**spec)[1]["event"]["row_sum"] == 1 + 2**-23
    assert shots(**spec)[1]["event"]["row_sum"] == 1 + 2**-23


def test_a_sum_narrower_than_its_terms_rounds_once_float32_into_bfloat16():
    """A size halfway between two bfloat16s on top of a tiny sum: the exact total is past the tie."""
    spec = {"scores": (0.0, 0.0, -60.0, -0.6892485618591309), "format": "float32", "accumulate": "bfloat16", "block": 2}
    assert model.run(**spec)[2]["event"]["row_sum"] == 0.50390625
    assert shots(**spec)[2]["event"]["row_sum"] == 0.50390625


def test_a_product_narrower_than_its_factors_rounds_once_float64_into_float32():
    """p · v has 106 digits; float64 keeps 53 of them, just those that look like a tie to float32."""
    spec = {
        "scores": (0.0, -0.9677999949201714),
        "values": (0.0, 2.8677568802324878),
        "format": "float64",
        "accumulate": "float32",
        "block": 2,
    }
    assert model.run(**spec)[1]["event"]["pv"] == 1.0895122289657593
    assert shots(**spec)[1]["event"]["pv"] == 1.0895122289657593


@pytest.mark.parametrize("name", NAMES)
def test_the_largest_float64_as_a_score_and_as_a_value(name):
    """The reader may type any float64; every format must answer, with an overflow where it has one."""
    spec = {"scores": (1.7976931348623157e308, 1.0), "values": (1.0, -1.7976931348623157e308), "format": name}
    assert not list(differences(model.run(**spec), shots(**spec)))


def test_the_reference_of_values_at_the_top_of_float64():
    """Shares that round up may carry an average past the largest float64; that is no reason to have no answer."""
    state = last(scores=(3.0, -3.0), values=(1.7976931348623157e308,) * 2, format="float64")
    assert state["reference"]["output"] >= 1.797693134862315e308


def test_vectors_may_be_lists():
    """Spec takes any sequence of sequences, so a snapshot of lists shows whole vectors too."""
    assert (
        last(scores=(1.0, 2.0), values=[[1.0, 2.0], [3.0, 4.0]])["acc"] == last(scores=(1.0, 2.0), values=((1.0, 2.0), (3.0, 4.0)))["acc"]
    )


# SciPy


@settings(deadline=None, max_examples=40, database=None)
@given(exact_formats, st.data())
def test_every_block_size_agrees_with_scipy_within_the_textbook_bound(name, data):
    """tests/machines/bounds.py derives the bound."""
    scores = data.draw(rows(name))
    values = [FORMATS[name].round(x) for x in data.draw(st.lists(element, min_size=len(scores), max_size=len(scores)))]
    shares = scipy.special.softmax(scores)
    lse = float(scipy.special.logsumexp(scores))
    l = math.fsum(math.exp(s - max(scores)) for s in scores)
    for block in range(1, len(scores) + 1):
        bounds = Bounds(scores, block, name)
        state = last(scores=scores, values=tuple(values), block=block, format=name)
        assert state["m"] == max(scores)
        assert abs(state["l"] - l) <= bounds.sum(l)
        assert abs(state["lse"] - lse) <= bounds.lse(lse, l)
        assert all(abs(got - want) <= bounds.share(want) for got, want in zip(state["shares"], shares, strict=True))
        output, weighted = float(shares @ values), float(shares @ np.abs(values))
        assert abs(state["output"] - output) <= bounds.output(weighted, max(map(abs, values)))


@quick
@given(st.sampled_from(NAMES), st.data())
def test_the_reference_is_scipys_whatever_the_format(name, data):
    """It starts from the inputs as the format holds them, and is float64 from there on."""
    scores = data.draw(rows(name))
    values = [FORMATS[name].round(x) for x in data.draw(st.lists(st.floats(-100, 100), min_size=len(scores), max_size=len(scores)))]
    state = last(scores=scores, values=tuple(values), format=name)
    bounds, shares = Bounds(scores, len(scores), "float64"), scipy.special.softmax(scores)
    told = state["reference"]
    assert told["m"] == max(scores)
    assert abs(told["lse"] - float(scipy.special.logsumexp(scores))) <= bounds.lse(told["lse"], told["l"])
    assert all(abs(got - want) <= bounds.share(want) for got, want in zip(told["shares"], shares, strict=True))
    assert abs(told["output"] - float(shares @ values)) <= bounds.output(float(shares @ np.abs(values)), 100.0)


def test_the_reference_shows_what_a_bad_score_does():
    assert same((math.nan,) * 2, reference.softmax([math.nan, 0.0]).shares)
    assert same((math.nan,) * 2, reference.softmax([math.inf, 0.0]).shares)
    nothing = reference.softmax([-math.inf] * 2, [[1.0], [2.0]])
    assert same((-math.inf, 0.0, -math.inf, (0.0,), (math.nan,) * 2), dataclasses.astuple(nothing))


# One read


class ReadOnce:
    """Scores that are gone once read: a second read of any of them raises."""

    def __init__(self, *scores):
        self.scores, self.gone = scores, set()

    def __len__(self):
        return len(self.scores)

    def __getitem__(self, where):
        places = range(len(self))[where] if isinstance(where, slice) else [range(len(self))[where]]
        again = self.gone.intersection(places)
        assert not again, f"scores {sorted(again)} were read before"
        self.gone.update(places)
        return self.scores[where]


def test_the_source_refuses_a_second_read():
    source = ReadOnce(1.0, 2.0, 3.0)
    assert source[0:2] == (1.0, 2.0)
    for again in (slice(1, 3), 0, -3):
        with pytest.raises(AssertionError, match="were read before"):
            source[again]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("values", [None, floats(*range(8))])
def test_scores_are_read_once(block, values):
    scores = floats(6, 5, 7, -math.inf, 7, 9, 8, 6)
    source = ReadOnce(*scores)
    spec = ONLINE.spec(scores=source, values=values, block=block)
    state = ONLINE.start(spec)
    for step in range(1, ONLINE.steps(spec) + 1):
        state = ONLINE.advance(spec, state).after
        assert source.gone == set(range(min(step * block, 8)))
    assert state == [moment.state for moment in moments(ONLINE, ONLINE.spec(scores=scores, values=values, block=block))][-1]


# A step


@quick
@given(specs())
def test_a_step_leaves_what_it_was_given_and_repeats_itself(spec):
    made = ONLINE.spec(**spec)
    state = ONLINE.start(made)
    for _ in range(ONLINE.steps(made)):
        before = dataclasses.astuple(state)
        once, twice = online.step(made, state), online.step(made, state)
        assert same(before, dataclasses.astuple(state))
        assert same(dataclasses.astuple(once), dataclasses.astuple(twice))
        state = once


def test_spec_state_and_event_are_frozen():
    spec = ONLINE.spec(scores=(1.0, 2.0), values=(1.0, 2.0))
    state = ONLINE.start(spec)
    for thing, name in ((spec, "scores"), (state, "m"), (ONLINE.advance(spec, state), "alpha"), (Ledger(), "reads")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, 0.0)
    assert isinstance(state.acc, tuple)


def test_a_state_holds_what_the_algorithm_keeps_and_nothing_else():
    assert [field.name for field in dataclasses.fields(online.State)] == ["read", "m", "l", "acc"]
    spec = ONLINE.spec(scores=(1.0,) * 64, values=((1.0, 2.0, 3.0),) * 64)
    assert all(len(moment.state.acc) == 3 for moment in moments(ONLINE, spec))


# What holds of every run


@quick
@given(specs(specials=False))
def test_m_never_falls_and_lse_falls_by_no_more_than_rounding(spec):
    """How far it may: one step gives l_new ≥ l_old·exp(−D)·(1 − u)⁴ with D = m_new − m_old, and alpha's argument adds D·u.

    An alpha so small that it underflows comes with a block sum of at least 1, which is more than what it loses. Then each
    lse is computed: the logarithm within two roundings of |log l|, the addition within one of |lse|.
    """
    run = shots(**spec)
    form, sums = run[0]["spec"]["format"], run[0]["spec"]["accumulate"]
    u = max(model.unit_roundoff(form), model.unit_roundoff(sums))
    for before, after in pairwise([shot["state"] for shot in run]):
        assert not after["m"] < before["m"]
        if math.isfinite(before["lse"]) and math.isfinite(after["lse"]):
            logs = sum(2 * abs(math.log(state["l"])) + abs(state["lse"]) for state in (before, after))
            allowed = 1.1 * u * (5 + (after["m"] - before["m"]) + logs)
            assert after["lse"] >= before["lse"] - allowed


def differences_fit(spec, run):
    """Whether no score − m overflows to NaN, as it can where there is no infinity (test_a_difference_past_448…)."""
    read = [term["score"] for term in run[-1]["state"]["terms"] if term["score"] != -math.inf]
    return spec["format"] not in model.WITHOUT_INFINITY or not read or max(read) - min(read) <= model.largest(spec["format"])


def test_a_difference_past_448_is_nan_in_the_format_that_has_no_infinity():
    """Two scores that fit, 448 and −448, are 896 apart, which does not: elsewhere that is −inf and a size of 0."""
    spec = {"scores": (448.0, -448.0), "block": 2}
    assert same([1.0, math.nan], shots(**spec, format="float8_e4m3fn")[1]["event"]["p"])
    assert shots(**spec, format="float8_e5m2")[1]["event"]["p"] == [1.0, 0.0]
    state = last(**spec, format="float8_e4m3fn")
    assert math.isnan(state["l"])
    assert state["reference"]["shares"] == [1.0, 0.0]


@quick
@given(specs(specials=False))
def test_l_is_at_least_one_once_a_score_is_live(spec):
    run = shots(**spec)
    for shot in run if differences_fit(spec, run) else []:
        state = shot["state"]
        if math.isfinite(state["m"]):
            assert state["l"] >= 1
        elif state["m"] == -math.inf:
            assert state["l"] == 0
            assert state["lse"] == -math.inf


@quick
@given(specs(specials=False))
def test_factor_and_sizes_lie_between_zero_and_one(spec):
    run = shots(**spec)
    for shot in run[1:] if differences_fit(spec, run) else []:
        event = shot["event"]
        if math.isfinite(event["m_new"]):
            assert 0 <= event["alpha"] <= 1
            assert all(0 <= p <= 1 for p in event["p"])
            assert event["m_old"] == -math.inf or event["new_max"] or event["alpha"] == 1
            assert event["m_new"] in event["scores"] or event["m_new"] == event["m_old"]


# The ledger


@quick
@given(specs())
def test_reads_are_one_a_score_and_value_element_and_nothing_is_counted_before_the_first(spec):
    """The operations are counted by the scalar model as it does them, and compared in its test above."""
    run = shots(**spec)
    values = spec["values"]
    width = 0 if values is None else len(values[0]) if isinstance(values[0], tuple) else 1
    n, block = len(spec["scores"]), spec["block"]
    assert run[0]["ledger"] == {"reads": 0, "writes": 0, "kept": 0, "ops": {"mul": 0, "add": 0, "exp": 0, "div": 0, "max": 0}}
    assert [shot["ledger"]["reads"] for shot in run] == [min(step * block, n) * (1 + width) for step in range(len(run))]
    assert {shot["ledger"]["kept"] for shot in run[1:]} == {2 + width}
    assert [shot["ledger"]["writes"] for shot in run] == [0] * (len(run) - 1) + [width]


def test_operations_counted_by_hand_without_values():
    """Scores 1, 3, 2 one at a time. Each step: 1 max; score − m and its exp; the block's sum, 0 + p; l·alpha; l + sum.

    From the second step on also m_old − m_new and its exp. So 3 max, 3 + 2 exp, 3 mul, and 3·3 + 2 additions.
    """
    assert shots(scores=(1.0, 3.0, 2.0))[-1]["ledger"]["ops"] == {"mul": 3, "add": 11, "exp": 5, "div": 0, "max": 3}


def test_operations_counted_by_hand_with_vectors_and_a_mask():
    """Scores 1, −inf, 2 in blocks of two, values of two elements.

    Block 1 (one live, one masked, nothing kept yet): 2 max; 1 subtraction and 1 exp; 2 additions to the sum, the masked
    size being an exact 0; l: 1 mul, 1 add; the live value's two elements: 2 mul, 2 add; acc: 2 mul, 2 add.
    Block 2 (one live): 1 max; alpha: 1 subtraction, 1 exp; the size: 1 and 1; sum 1 add; l: 1 mul, 1 add; value 2 and 2;
    acc 2 and 2; at the end 2 divisions.
    Totals: max 3; exp 1 + 2; mul 5 + 5; add (1 + 2 + 1 + 2 + 2) + (1 + 1 + 1 + 1 + 2 + 2).
    """
    run = shots(scores=(1.0, -math.inf, 2.0), values=((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)), block=2)
    assert run[1]["ledger"]["ops"] == {"mul": 5, "add": 8, "exp": 1, "div": 0, "max": 2}
    assert run[2]["ledger"]["ops"] == {"mul": 10, "add": 16, "exp": 3, "div": 2, "max": 3}
