"""softmax-passes: four methods against SciPy and the scalar model, and what each reads and writes."""

import dataclasses
import math
from itertools import chain

import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from app.machines import passes
from tests.machines import scalar_model as model
from tests.machines.bounds import Bounds
from tests.machines.helpers import CASES, GOLDEN, ONLINE, PASSES, at_places, end, floats, last, same, shots
from tests.machines.strategies import NAMES, rows, score
from tests.machines.test_online import ReadOnce

quick = settings(deadline=None, max_examples=60, database=None)
METHODS = ("naive", "safe", "online", "online-shares")
WRITING = ("naive", "safe", "online-shares")


def ledger(n=1000, **spec):
    """What a whole run over n scores cost."""
    return end(PASSES, scores=floats(*(i % 7 for i in range(n))), **spec)["ledger"]


def test_the_methods_are_the_four():
    assert tuple(passes.METHODS) == METHODS


@pytest.mark.parametrize("method", METHODS)
@quick
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_each_method_agrees_with_scipy(method, name, data):
    """The bound of bounds.py holds here too: naive and safe meet fewer roundings than the online sum that it was made for.

    exp(±40) and sums of 64 of them fit both formats, so naive does not overflow.
    """
    scores = data.draw(rows(name))
    block = data.draw(st.integers(1, len(scores)))
    state, bounds = last(PASSES, scores=scores, method=method, format=name, block=block), Bounds(scores, block, name)
    top = 0.0 if method == "naive" else max(scores)
    l = math.fsum(math.exp(s - top) for s in scores)
    assert abs(state["l"] - l) <= bounds.sum(l)
    assert ("m" in state) == (method != "naive")
    assert state.get("m", top) == top
    if method in WRITING:
        want = scipy.special.softmax(scores)
        assert all(abs(got - exact) <= bounds.share(exact) for got, exact in zip(state["shares"], want, strict=True))
    else:
        assert "shares" not in state
        lse = float(scipy.special.logsumexp(scores))
        assert abs(state["m"] + math.log(state["l"]) - lse) <= bounds.lse(lse, l)


@quick
@given(st.sampled_from(NAMES), st.lists(st.one_of(score, st.just(-math.inf), st.just(math.nan)), min_size=1, max_size=24))
def test_naive_and_safe_one_score_at_a_time_are_the_scalar_models(name, scores):
    old_way = model.run(scores, format=name)[-1]["state"]["naive"]
    state = last(PASSES, scores=scores, method="naive", format=name)
    assert same(old_way["sum"], state["l"])
    assert same(old_way["shares"], state["shares"])

    s = [x if x == -math.inf else model.cast(name, x) for x in scores]
    m, l = -math.inf, 0.0
    for x in s:
        m = model.higher(m, x)
    for x in s:
        l = model.add(name, l, model.size(name, x, m))
    state = last(PASSES, scores=scores, method="safe", format=name)
    assert same(m, state["m"])
    assert same(l, state["l"])
    assert same([model.divide(name, model.size(name, x, m), l) for x in s], state["shares"])


@quick
@given(st.sampled_from(NAMES), st.lists(st.one_of(score, st.just(-math.inf)), min_size=1, max_size=24), st.integers(1, 25))
def test_online_shares_are_those_of_online_softmax(name, scores, block):
    """The same recurrence written twice must round alike."""
    one = last(ONLINE, scores=scores, format=name, block=block)
    other = last(PASSES, scores=scores, format=name, block=block, method="online-shares")
    assert same([one["m"], one["l"], one["shares"]], [other["m"], other["l"], other["shares"]])


def test_reads_of_a_thousand_scores():
    want = GOLDEN["reads_of_1000_scores"]
    got = {"safe_softmax": "safe", "online_statistics": "online", "online_softmax_with_shares_written": "online-shares"}
    assert {name: ledger(method=method)["reads"] for name, method in got.items()} == want


@pytest.mark.parametrize("block", [1, 7, 256, 1000])
def test_accesses_per_element_do_not_depend_on_the_block(block):
    """Naive reads twice and writes once, as online softmax with its shares does; only the range it can hold differs."""
    want = GOLDEN["accesses_per_element"]
    costs = {method: ledger(method=method, block=block) for method in METHODS}
    accesses = {method: (cost["reads"] + cost["writes"]) / 1000 for method, cost in costs.items()}
    assert accesses == {"safe": want["safe_softmax"], "online-shares": want["online_softmax"], "naive": 3, "online": 1}


def test_what_is_kept_and_that_it_starts_from_nothing():
    for method, kept in {"naive": [0, 1, 1], "safe": [0, 1, 2, 2], "online": [0, 2], "online-shares": [0, 2, 2]}.items():
        run = shots(PASSES, scores=(1.0, 2.0), method=method, block=2)
        assert [shot["ledger"]["kept"] for shot in run] == kept
        assert run[0]["ledger"] == {"reads": 0, "writes": 0, "kept": 0, "ops": {"mul": 0, "add": 0, "exp": 0, "div": 0, "max": 0}}


def test_operations_counted_by_hand():
    """Three scores, one at a time.

    A sum takes an exp a score and two additions (0 + e, l + that); against a maximum, a subtraction first.
    Writing a share takes the exp again, its subtraction and a division. The maximum: 1 a score.
    Both at once adds a product a score, and from the second score on m_old − m_new and its exp.
    """
    counted = {method: shots(PASSES, scores=(1.0, 3.0, 2.0), method=method)[-1]["ledger"]["ops"] for method in METHODS}
    assert counted == {
        "naive": {"mul": 0, "add": 6, "exp": 3 + 3, "div": 3, "max": 0},
        "safe": {"mul": 0, "add": 3 + 6 + 3, "exp": 3 + 3, "div": 3, "max": 3},
        "online": {"mul": 3, "add": 3 + 6 + 2, "exp": 3 + 2, "div": 0, "max": 3},
        "online-shares": {"mul": 3, "add": 3 + 6 + 2 + 3, "exp": 3 + 2 + 3, "div": 3, "max": 3},
    }


@pytest.mark.parametrize("block", [1, 2, 3])
def test_a_thousand_and_its_neighbours(block):
    want = GOLDEN["overflow"]
    scores = floats(*want["naive_float32_of"])
    assert same(want["naive_float32_gives"], last(PASSES, scores=scores, method="naive", block=block)["shares"])
    for method in ("safe", "online-shares"):
        got = last(PASSES, scores=scores, method=method, block=block)["shares"]
        assert at_places(got, want["safe_gives"]["places"]) == want["safe_gives"]["values"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", WRITING)
def test_masked_scores_get_nothing_and_nothing_live_is_nan(method, name):
    none = -math.inf
    scores = floats(*CASES["leading-masked-block"]["input"]["scores"])
    shares = last(PASSES, scores=scores, method=method, format=name, block=2)["shares"]
    assert shares[:2] == [0, 0]
    assert 0 < shares[2] < shares[3] < 1
    assert same([math.nan] * 3, last(PASSES, scores=(none,) * 3, method=method, format=name)["shares"])


@pytest.mark.parametrize("method", METHODS)
def test_passes_and_steps(method):
    """Each pass reads every score once, in order, and says which pass it is."""
    run, per_pass = shots(PASSES, scores=floats(*range(5)), method=method, block=2), 3
    ops = passes.METHODS[method]
    assert run[0]["state"] == {"pass": 0, "passes": len(ops)}
    assert len(run) == 1 + len(ops) * per_pass
    for step, shot in enumerate(run[1:]):
        assert (shot["event"]["pass"], shot["event"]["op"]) == (step // per_pass + 1, ops[step // per_pass])
        assert shot["event"]["indices"] == [[0, 1], [2, 3], [4]][step % per_pass]
        assert shot["event"]["scores"] == [float(i) for i in shot["event"]["indices"]]


def run_to_the_end(method, source):
    spec = PASSES.spec(scores=source, method=method, block=2)
    state = PASSES.start(spec)
    for _ in range(PASSES.steps(spec)):
        state = PASSES.advance(spec, state).after
    return state


def test_only_online_manages_with_one_read():
    scores = floats(1, 3, 2, 5, 4)
    end = run_to_the_end("online", ReadOnce(*scores))
    assert end == run_to_the_end("online", scores)
    for method in WRITING:
        with pytest.raises(AssertionError, match="were read before"):
            run_to_the_end(method, ReadOnce(*scores))


@pytest.mark.parametrize("method", METHODS)
def test_a_step_leaves_what_it_was_given(method):
    spec = PASSES.spec(scores=floats(1, 3, 2), method=method, block=2)
    state = PASSES.start(spec)
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.l = 1.0
    for _ in range(PASSES.steps(spec)):
        before = dataclasses.astuple(state)
        once, twice = passes.step(spec, state), passes.step(spec, state)
        assert dataclasses.astuple(state) == before
        assert once == twice
        state = once


@quick
@given(st.sampled_from(METHODS), st.sampled_from(["float16", "float32"]), st.lists(score, min_size=1, max_size=12), st.integers(1, 4))
def test_what_was_kept_after_each_read_is_what_the_state_was_then(method, name, scores, block):
    run = shots(PASSES, scores=scores, method=method, format=name, block=block)
    for shot in run[1:]:
        then = [
            {one: each["state"][one] for one in ("m", "l") if one in each["state"]}
            for each in run[1 : shot["step"] + 1]
            if each["event"]["op"] != "share"
        ]
        assert same([list(one.values()) for one in chain(*shot["state"].get("kept", []))], [list(one.values()) for one in then])
        cost = shot["ledger"]
        assert shot["state"]["accesses"] == (cost["reads"] + cost["writes"]) / len(scores)
        assert all(shot["words"].values())
        assert "None" not in "".join(shot["words"].values())


def test_a_row_too_long_for_a_page_does_not_repeat_what_was_kept():
    assert "kept" in last(PASSES, scores=(0.0,) * 64)
    assert "kept" not in last(PASSES, scores=(0.0,) * 65)


def test_the_words_of_an_example_by_hand():
    run = shots(PASSES, scores=floats(1, 3, 2), method="online-shares")
    assert [shot["words"]["l"] for shot in run] == [
        "comes in pass 1", "exp(1 − 1) = 1", "1 × exp(1 − 3) + exp(3 − 3) ≈ 1.135", "1.135 + exp(2 − 3) ≈ 1.503", *["as pass 1 left it"] * 3
    ]  # fmt: skip
    assert run[4]["words"]["share"] == "exp(1 − 3) / 1.503 ≈ 0.090"
    assert shots(PASSES, scores=(-math.inf, 2.0), method="safe")[3]["words"]["l"] == "0 (masked) = 0"


def test_side_by_side_is_each_run_to_its_end():
    for form in ("float16", "float64"):
        for one in passes.side_by_side(passes.Spec(floats(1, 3, 2, 5, 4), format=form, block=2)):
            there = end(PASSES, scores=floats(1, 3, 2, 5, 4), method=one.method, format=form, block=2)
            assert (one.cost.reads, one.cost.writes) == (there["ledger"]["reads"], there["ledger"]["writes"])
            assert same(list(one.shares), there["state"].get("shares", []))
    assert [one.cost.reads for one in passes.of_random(1000)] == [2000, 3000, 1000, 2000]
