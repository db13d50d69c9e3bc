"""What each preset tells the reader to look for is there to be seen, in the snapshots that its page shows."""

import math
from itertools import pairwise

import pytest

from app.runs import snapshots
from app.stories import BY_NAME
from tests.machines.helpers import ONLINE, close, numbers, same, shots

NONE = -math.inf
CHECKS = {}


def looks(sentence):
    """Keyed by the sentence itself, so that a changed sentence asks for its check anew."""

    def keep(check):
        CHECKS[sentence] = check
        return check

    return keep


def run_of(preset):
    return numbers(list(snapshots(ONLINE, preset.spec)))


@pytest.mark.parametrize("preset", BY_NAME["online-softmax"].presets, ids=lambda preset: preset.name)
def test_what_to_look_for_is_there(preset):
    CHECKS[preset.look_for](run_of(preset))


def test_every_preset_is_checked_and_every_check_has_its_preset():
    assert set(CHECKS) == {preset.look_for for preset in BY_NAME["online-softmax"].presets}


def events(run):
    return [shot["event"] for shot in run[1:]]


def states(run):
    return [shot["state"] for shot in run[1:]]


@looks("Two new highest scores: all bars shrink together, and the sum falls from one step to the next.")
def two_new_highest(run):
    rescales = [event for event in events(run) if event["rescales"]]
    assert len(rescales) == 2
    assert [round(event["alpha"], 3) for event in rescales] == [0.368, 0.135]
    for shot in run[1:]:
        if shot["event"]["rescales"]:
            old = [term for term in shot["state"]["terms"] if "size_before" in term]
            assert len(old) == shot["event"]["indices"][0]
            for term in old:
                assert 0 < term["size"] < term["size_before"]
                assert math.isclose(term["size"], term["size_before"] * shot["event"]["alpha"], rel_tol=1e-6)
    l = [round(state["l"], 3) for state in states(run)]
    assert (2.871, 1.389) in pairwise(l)
    tie = next(event for event in events(run) if event["scores"][0] == event["m_old"])
    assert (tie["rescales"], tie["alpha"]) == (False, 1)
    assert not states(run)[-1]["naive"]["failed"]


@looks("The same factor shrinks the sum and the weighted sum, so their ratio, the output, stays an average.")
def one_factor_for_both(run):
    for shot in run[1:]:
        event, state = shot["event"], shot["state"]
        assert math.isclose(event["l_rescaled"], event["l_old"] * event["alpha"], rel_tol=1e-7)
        assert math.isclose(event["acc_rescaled"], event["acc_old"] * event["alpha"], rel_tol=1e-7)
        read = [10.0 * (i + 1) for i in range(event["indices"][-1] + 1)]
        assert min(read) <= state["output"] <= max(read)
        assert math.isclose(state["output"], state["acc"] / state["l"], rel_tol=1e-7)
    assert sum(event["rescales"] for event in events(run)) == 2


@looks("Each block adds to ℓ and to every element of acc; the middle block leaves the highest alone.")
def each_block_adds(run):
    assert len(run) == 4
    for event in events(run):
        assert event["row_sum"] > 0
        assert all(x > 0 for x in event["pv"])
    assert [event["new_max"] for event in events(run)] == [True, False, True]
    assert events(run)[1]["alpha"] == 1


@looks("Every score is a new highest: each step but the first rescales.")
def every_step_but_the_first(run):
    assert all(event["new_max"] for event in events(run))
    assert [event["rescales"] for event in events(run)] == [False] + [True] * 5


@looks("The first score stays the highest: nothing is ever rescaled.")
def never(run):
    assert not any(event["rescales"] for event in events(run))
    assert {state["m"] for state in states(run)} == {events(run)[0]["scores"][0]}


@looks("Every size is 1, every factor is 1, and every share is the same.")
def all_one(run):
    """Every size and factor is 1 (the first factor is "nothing to rescale yet"), and the shares are alike."""
    assert all(term["size"] == 1 for state in states(run) for term in state["terms"])
    assert [event["alpha"] for event in events(run)] == [0, 1, 1, 1, 1]
    assert len(set(states(run)[-1]["shares"])) == 1


@looks("The old way gives NaN at once; the online way does not notice how large the scores are.")
def nan_at_once(run):
    """The old way has failed from the first score; online softmax ends as it would for 0, 1, 2."""
    assert all(state["naive"]["failed"] for state in states(run))
    last = states(run)[-1]
    assert same([math.nan] * 3, last["naive"]["shares"])
    assert [(bad["op"], bad["index"]) for bad in last["naive"]["first_bad"]] == [("exp", 0), ("div", 0)]
    small = shots(scores=(0.0, 1.0, 2.0))[-1]["state"]
    assert (last["l"], last["shares"]) == (small["l"], small["shares"])


@looks("Nothing live has come, so m stays at minus infinity: a guard keeps infinity minus infinity from being formed.")
def the_guard(run):
    """Nothing live in the first block: m stays −inf with no NaN, and the live scores are then read as if they came first."""
    first, last = states(run)
    assert (first["m"], first["l"], first["acc"], first["lse"]) == (NONE, 0, 0, NONE)
    assert [event["alpha"] for event in events(run)] == [0, 0]
    assert close(last["reference"]["output"], last["output"], 1e-6)
    assert last["shares"][:2] == [0, 0]


@looks("No score to share out: attention answers 0, a bare softmax answers NaN.")
def nothing_to_share(run):
    last = states(run)[-1]
    assert last["output"] == last["reference"]["output"] == 0
    assert last["lse"] == NONE
    assert same([math.nan] * 3, last["shares"])
    assert same([math.nan] * 3, last["naive"]["shares"])


@looks("In bfloat16 each small size is rounded away as it is added: the sum stays at 1, well below the exact one.")
def stays_at_one(run):
    """The sum stays at 1 in bfloat16, each later step saying so; the exact one is well above."""
    assert {state["l"] for state in states(run)} == {1}
    assert [event["stalled"] for event in events(run)] == [False] + [True] * (len(run) - 2)
    assert all(event["row_sum"] > 0 for event in events(run))
    last = states(run)[-1]
    assert last["reference"]["l"] > 1.09
    assert round(last["reference"]["l"], 2) == 1.1


@looks("No exponential overflows, but their sum does: in the old way every share is a quiet 0.")
def quiet_zeros(run):
    last = states(run)[-1]
    naive = last["naive"]
    assert all(map(math.isfinite, naive["exps"]))
    assert naive["sum"] == math.inf
    assert naive["shares"] == [0, 0]
    assert naive["failed"]
    assert [bad["op"] for bad in naive["first_bad"]] == ["add"]
    assert last["shares"] == [0.5, 0.5]
