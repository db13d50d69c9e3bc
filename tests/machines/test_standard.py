"""standard-attention: S whole, P whole, then the output; the same problem as tiled-attention, with nothing left out of memory."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.machines import standard
from app.machines.arithmetic import Ledger
from app.main import create_app
from app.settings import Settings
from tests.machines import tiled_model as model
from tests.machines.attention_oracle import Oracle
from tests.machines.helpers import GOLDEN, at_places, close, differences, numbers, shots
from tests.machines.tiled_specs import NUMBERS, STANDARD, formats, problems, walk

quick = settings(deadline=None, max_examples=60, database=None)
wide = st.sampled_from(["float32", "float64"])
NONE = -math.inf
TILES = GOLDEN["tiles_two_queries_four_keys"]
GIVEN = {name: TILES[name] for name in ("q", "k", "v")} | {"scale": float(TILES["scale"])}


def whole(part):
    """A golden table, whose tiles lie side by side."""
    left, right = (tile[part] for tile in TILES["tiles"])
    return [a + b for a, b in zip(left, right, strict=True)]


def check_golden(run):
    assert [shot["event"]["kind"] for shot in run] == ["start", "scores", "softmax", "output"]
    for step, shot in enumerate(run):
        there = {name for name in ("s", "p", "output") if name in shot["state"]}
        assert there == {"s", "p", "output"}.intersection(("s", "p", "output")[:step]), "what does not exist yet is absent"
        assert at_places(shot["state"]["reference"]["output"], TILES["places"]) == TILES["output"]
    assert run[1]["state"]["s"] == run[3]["state"]["s"] == whole("scores")
    assert at_places(run[3]["state"]["output"], TILES["places"]) == TILES["output"]
    last = TILES["tiles"][1]
    for row, shares, m, l in zip(whole("scores"), run[2]["state"]["p"], last["m"], last["l"], strict=True):
        assert close([math.exp(s - m) / l for s in row], shares, 0.5e-3), "the golden l has three decimals"


# The worked example


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_two_queries_and_four_keys_at_each_step(name):
    check_golden(shots(STANDARD, **GIVEN, format=name))


def test_two_queries_and_four_keys_over_http():
    with TestClient(create_app(Settings())) as client:
        answer = client.get("/api/v1/machines/standard-attention/snapshots?q=1,0;0,1&k=1,2;2,1;3,0;2,1&v=2,0;0,2;0,2;1,1&scale=1")
    assert answer.status_code == 200
    check_golden(numbers(answer.json()["snapshots"]))


# The scalar model, one rounding an operation


@settings(deadline=None, max_examples=100, database=None)
@given(problems(numbers=tuple(NUMBERS)), formats())
def test_every_table_is_the_scalar_models(problem, forms):
    state = walk(STANDARD, **problem, **forms)[-1].state
    assert not list(
        differences(model.standard(**problem, **forms), {name: getattr(state, name).tolist() for name in ("s", "p", "output")})
    )[:5]


# SciPy


@settings(deadline=None, max_examples=120, database=None)
@given(problems(), wide)
def test_scipys_answer_within_the_textbook_bound(problem, name):
    state, oracle = walk(STANDARD, **problem, format=name)[-1].state, Oracle(**problem, format=name)
    assert (np.isfinite(state.s) == oracle.live).all()
    assert (state.s[~oracle.live] == NONE).all()
    off = np.abs(np.where(oracle.live, state.s, 0) - np.where(oracle.live, oracle.scores, 0))
    assert (off <= oracle.moved[:, None]).all()
    assert (np.abs(state.output - oracle.output) <= oracle.allowed_standard()).all()
    unit = Oracle(**problem | {"v": np.eye(len(problem["k"])).tolist()}, format=name)  # with one key a column, the output is P itself
    assert (np.abs(state.p - oracle.shares()) <= unit.allowed_standard()).all()
    assert (state.output[~oracle.live.any(axis=1)] == 0).all()


# Masks


@settings(deadline=None, max_examples=80, database=None)
@given(problems(most=14, wide=3), formats(), st.sampled_from([math.nan, math.inf, NONE]), st.sampled_from(["k", "v"]), st.data())
def test_a_masked_key_or_value_never_reaches_a_row_that_may_not_see_it(problem, forms, bad, where, data):
    """Bit for bit, though P holds a 0 for it; and a row that sees a NaN shows it."""
    n_q, n_k = len(problem["q"]), len(problem["k"])
    poisoned = data.draw(st.sets(st.integers(0, n_k - 1), min_size=1))
    dirty = [[bad] * len(row) if j in poisoned else row for j, row in enumerate(problem[where])]
    live = model.Problem(**{name: problem[name] for name in ("q", "k", "v", "causal", "window", "key_lengths")}).live
    safe = [i for i in range(n_q) if not any(live[i][j] for j in poisoned)]
    clean, got = (walk(STANDARD, **problem | changed, **forms)[-1].state for changed in ({}, {where: dirty}))
    for name in ("s", "p", "output"):
        assert np.array_equal(getattr(clean, name)[safe], getattr(got, name)[safe], equal_nan=True)
    if math.isnan(bad):
        assert np.isnan(got.output[[i for i in range(n_q) if i not in safe]]).all()


def test_a_row_that_sees_nothing_has_no_shares_and_the_answer_0():
    for name in model.TYPES:
        state = shots(STANDARD, q=[[1.0]] * 2, k=[[1.0]], v=[[math.nan]], key_lengths=(0, 0), format=name)[-1]["state"]
        assert state["s"] == [[NONE]] * 2
        assert state["p"] == state["output"] == state["reference"]["output"] == [[0.0]] * 2
        assert state["reference"]["lse"] == [NONE] * 2


# The steps and the ledger


@quick
@given(problems(most=9, wide=3), formats())
def test_a_step_leaves_what_it_was_given_and_repeats_itself(problem, forms):
    made = STANDARD.spec(**problem, **forms)
    state = STANDARD.start(made)

    def tables(state):
        return [None if part is None else part.copy() for part in (state.s, state.p, state.output)]

    for _ in range(STANDARD.steps(made)):
        before = tables(state)
        once, twice = standard.step(made, state), standard.step(made, state)
        for one, other in ((before, tables(state)), (tables(once), tables(twice))):
            assert all((a is b is None) or np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
        state = once
    assert state.step == 3


@pytest.mark.parametrize(("n", "d"), [(8, 2), (12, 3), (16, 4), (5, 5), (1, 1)])
def test_s_and_p_are_each_written_and_read(n, d):
    """Q and K in, S out; S in, P out; P and V in, the output out: 4·n·d + 4·n² in all, 320 for n = 8 and d = 2."""
    run = walk(STANDARD, seed=1, n_q=n, n_k=n, d=d)
    assert run[0].ledger == Ledger()
    assert [moment.ledger.reads for moment in run] == [0, 2 * n * d, 2 * n * d + n * n, 3 * n * d + 2 * n * n]
    assert [moment.ledger.writes for moment in run] == [0, n * n, 2 * n * n, 2 * n * n + n * d]
    assert run[-1].ledger.reads + run[-1].ledger.writes == 4 * n * d + 4 * n * n
    assert run[-1].ledger.div == n * n, "each share is divided; tiles divide each number of the output"


def test_operations_counted_by_hand():
    """The worked example: 2 rows, 4 keys, d = d_v = 2. Scores: 16 products, 16 additions from 0, 8 scalings.

    Softmax: 8 comparisons, 8 differences, 8 exponentials, 8 additions, 8 divisions. Output: 16 products, 16 additions.
    """
    ops = [shot["ledger"]["ops"] for shot in shots(STANDARD, **GIVEN)]
    assert ops[0] == {"mul": 0, "add": 0, "exp": 0, "div": 0, "max": 0}
    assert ops[1] == {"mul": 24, "add": 16, "exp": 0, "div": 0, "max": 0}
    assert ops[2] == {"mul": 24, "add": 32, "exp": 8, "div": 8, "max": 8}
    assert ops[3] == {"mul": 40, "add": 48, "exp": 8, "div": 8, "max": 8}
