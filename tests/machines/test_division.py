"""division-order: the worked example, the scalar model, SciPy, masks, and what each way divides."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.machines import MACHINES, division
from app.machines.arithmetic import Ledger
from app.machines.formats import FORMATS
from app.main import create_app
from app.settings import Settings
from tests.machines import tiled_model as model
from tests.machines.bounds import gamma
from tests.machines.helpers import GOLDEN, at_places, differences, numbers, same, shots
from tests.machines.scalar_model import smallest, unit_roundoff
from tests.machines.strategies import NAMES, element, rows, score, wild
from tests.machines.test_mutants import compiled

DIVISION = MACHINES["division-order"]
DIVIDE = GOLDEN["divide_first_or_last"]
GIVEN = {"scores": tuple(map(float, DIVIDE["scores"])), "values": tuple(tuple(map(float, row)) for row in DIVIDE["values"])}
NONE = -math.inf
quick = settings(deadline=None, max_examples=60, database=None)


@st.composite
def specs(draw):
    """1 to 24 scores in any format, masked and wild ones among them, values bare or vectors."""
    n = draw(st.integers(1, 24))
    one = draw(st.sampled_from([score, st.one_of(score, st.just(NONE)), st.one_of(score, wild)]))
    part = draw(st.sampled_from([element, st.one_of(element, wild)]))
    width = draw(st.sampled_from([None, 1, 2, 3]))
    value = part if width is None else st.tuples(*[part] * width)
    return {
        "scores": tuple(draw(st.lists(one, min_size=n, max_size=n))), "values": tuple(draw(st.lists(value, min_size=n, max_size=n))),
        "format": draw(st.sampled_from(NAMES)),
    }  # fmt: skip


def end(module=division, **spec):
    made = module.Spec(**spec)
    state = module.start(made)
    for _ in range(module.steps(made)):
        state = module.step(made, state)
    return state


# The worked example


def check_golden(run):
    assert [shot["event"]["kind"] for shot in run] == ["start", "exponentials", "shares", "weigh", "divide"]
    states = [shot["state"] for shot in run]
    assert at_places(states[1]["exponentials"], DIVIDE["places"]) == DIVIDE["exponentials"]
    assert round(states[1]["l"], DIVIDE["places"]) == DIVIDE["l"]
    assert at_places(states[2]["first"]["shares"], DIVIDE["places"]) == DIVIDE["shares"]
    assert at_places(states[3]["first"]["output"], DIVIDE["places"]) == DIVIDE["output"]
    assert at_places(states[3]["last"]["weighted_sum"], DIVIDE["places"]) == DIVIDE["weighted_sum"]
    assert at_places(states[4]["last"]["output"], DIVIDE["places"]) == DIVIDE["output"]
    assert at_places(states[4]["output"], DIVIDE["places"]) == DIVIDE["output"]
    for state in states:
        told = state["reference"]
        assert round(told["l"], DIVIDE["places"]) == DIVIDE["l"]
        assert at_places([told["output"], told["shares"]], DIVIDE["places"]) == [DIVIDE["output"], DIVIDE["shares"]]


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_divide_first_or_last_at_each_step(name):
    check_golden(shots(DIVISION, **GIVEN, format=name))


def test_divide_first_or_last_over_http():
    with TestClient(create_app(Settings())) as client:
        path = "/api/v1/machines/division-order/snapshots"
        run = client.get(f"{path}?scores=1,2&values=2,0;0,2")
        one = client.get(f"{path}/4?scores=1,2&values=2,0;0,2")
    assert (run.status_code, one.status_code) == (200, 200)
    check_golden(numbers(run.json()["snapshots"]))
    assert numbers(one.json())["state"] == numbers(run.json()["snapshots"])[4]["state"]


def test_what_does_not_exist_yet_is_absent():
    parts = [set(shot["state"]) | {f"first.{x}" for x in shot["state"]["first"]} | {f"last.{x}" for x in shot["state"]["last"]}
             for shot in shots(DIVISION, **GIVEN)]  # fmt: skip
    always = {"first", "last", "reference"}
    assert parts[0] == always
    assert parts[1] - parts[0] == {"m", "l", "exponentials"}
    assert parts[2] - parts[1] == {"first.shares"}
    assert parts[3] - parts[2] == {"first.output", "last.weighted_sum"}
    assert parts[4] - parts[3] == {"last.output", "output"}


# The scalar model, one rounding an operation


@settings(deadline=None, max_examples=150, database=None)
@given(specs())
def test_both_ways_are_the_scalar_models(spec):
    want, state = model.twice_divided(**spec), end(**spec)
    assert not list(differences(want, dataclasses.asdict(state)))


@quick
@given(specs())
def test_a_snapshot_shapes_its_outputs_as_the_values_are(spec):
    want, state = model.twice_divided(**spec), shots(DIVISION, **spec)[-1]["state"]
    bare = not isinstance(spec["values"][0], tuple)
    first, weighted, last = (want[name][0] if bare else want[name] for name in ("first", "weighted", "last"))
    told = {"m": want["m"], "l": want["l"], "exponentials": want["exponentials"], "output": last,
            "first": {"shares": want["shares"], "output": first}, "last": {"weighted_sum": weighted, "output": last}}  # fmt: skip
    assert not list(differences(told, state))


@pytest.mark.parametrize("name", NAMES)
def test_a_bare_value_is_a_vector_of_one(name):
    bare, vector = (
        end(scores=(1.0, 3.0, NONE, 2.5), values=values, format=name)
        for values in ((1.0, 2.0, 3.0, -4.0), ((1.0,), (2.0,), (3.0,), (-4.0,)))
    )
    assert bare == vector


# SciPy


@settings(deadline=None, max_examples=120, database=None)
@given(st.sampled_from(["float32", "float64"]), st.booleans(), st.data())
def test_both_ways_agree_with_scipy_within_the_textbook_bound(name, vectors, data):
    """In the terms of tests/machines/bounds.py, R being the scores' spread: an exponential meets 2 + R factors and l n more.

    A share is one over the other, so γ(n + 5 + 2R); first adds a product and n additions, last too, and its division comes after.
    """
    scores = data.draw(rows(name))
    n, width = len(scores), 2 if vectors else 1
    flat = data.draw(st.lists(element, min_size=n * width, max_size=n * width))
    values = np.array([FORMATS[name].round(x) for x in flat]).reshape(n, width)
    state = end(scores=scores, values=tuple(map(tuple, values.tolist())) if vectors else tuple(values[:, 0].tolist()), format=name)
    shares = scipy.special.softmax(scores)
    live = [s for s in scores if s != NONE]
    spread, u, eta = max(live) - min(live), unit_roundoff(name), smallest(name)
    own = gamma(2 * n + 16 + 2 * spread, 2.0**-53)
    assert (np.abs(np.array(state.shares) - shares) <= (gamma(n + 5 + 2 * spread, u) + own) * shares + 2 * eta).all()
    allowed = (gamma(2 * n + 6 + 2 * spread, u) + own) * (shares @ np.abs(values)) + 2 * n * (1 + np.abs(values).max()) * eta
    for way in (state.first, state.last):
        assert (np.abs(np.array(way) - shares @ values) <= allowed).all()


def test_the_two_ways_round_differently_where_digits_are_few():
    """Sevenths of 1 in bfloat16: a share is 146/1024, and adding them up loses half a step three times; ones add up to an exact 7."""
    state = end(scores=(0.0,) * 7, values=(1.0,) * 7, format="bfloat16")
    assert state.shares == (146 / 1024,) * 7
    assert state.first == (1016 / 1024,)
    assert state.last == (1.0,)


# Masks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, NONE])
def test_a_masked_value_touches_neither_way(name, bad):
    scores = (NONE, 1.0, NONE, 2.0, NONE)
    dirty = end(scores=scores, values=tuple((bad, 1.0) if s == NONE else (s, -s) for s in scores), format=name)
    assert dirty == end(scores=scores, values=tuple((0.0, 0.0) if s == NONE else (s, -s) for s in scores), format=name)
    assert all(map(math.isfinite, (*dirty.first, *dirty.last)))
    assert [x for x, s in zip(dirty.shares, scores, strict=True) if s == NONE] == [0, 0, 0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("values", [(1.0, 2.0), ((1.0, math.nan), (2.0, math.inf))])
def test_nothing_live_answers_zero_both_ways(name, values):
    state = end(scores=(NONE, NONE), values=values, format=name)
    assert (state.m, state.l, state.exponentials) == (NONE, 0, (0, 0))
    assert same([math.nan] * 2, state.shares), "a bare softmax of nothing is 0 / 0"
    assert set(state.first) == set(state.last) == {0}
    told = shots(DIVISION, scores=(NONE, NONE), values=values, format=name)[-1]["state"]["reference"]
    assert same([math.nan] * 2, told["shares"])


def test_a_nan_or_infinite_score_shows_in_both_ways():
    for bad in (math.nan, math.inf):
        state = end(scores=(0.0, bad), values=(1.0, 2.0))
        assert math.isnan(state.first[0])
        assert math.isnan(state.last[0])


# The steps and the ledger


@quick
@given(specs())
def test_a_step_leaves_what_it_was_given_and_repeats_itself(spec):
    made = DIVISION.spec(**spec)
    state = DIVISION.start(made)
    for _ in range(DIVISION.steps(made)):
        before = dataclasses.astuple(state)
        once, twice = division.step(made, state), division.step(made, state)
        assert same(before, dataclasses.astuple(state))
        assert same(dataclasses.astuple(once), dataclasses.astuple(twice))
        state = once
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.l = 0.0


def test_operations_counted_by_hand():
    """Three live scores, vectors of two. Exponentials: 3 max, 3 differences, 3 exp, 3 additions from 0. Shares: 3 divisions.

    Weigh: each way 3·2 products and additions. Divide: 2 divisions, for as many numbers as the output has.
    """
    run = shots(DIVISION, scores=(1.0, 2.0, 0.0), values=((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)))
    ops = [shot["ledger"]["ops"] for shot in run]
    assert ops[0] == {"mul": 0, "add": 0, "exp": 0, "div": 0, "max": 0}
    assert ops[1] == {"mul": 0, "add": 6, "exp": 3, "div": 0, "max": 3}
    assert ops[2] == ops[1] | {"div": 3}
    assert ops[3] == {"mul": 12, "add": 18, "exp": 3, "div": 3, "max": 3}
    assert ops[4] == ops[3] | {"div": 5}
    assert [shot["ledger"]["reads"] for shot in run] == [0, 3, 3, 9, 9]
    assert [shot["ledger"]["writes"] for shot in run] == [0, 0, 0, 0, 2]


@quick
@given(specs())
def test_one_division_a_score_or_one_an_element(spec):
    """With no live key there is nothing to divide at the end."""
    made = DIVISION.spec(**spec)
    state, divisions, total = DIVISION.start(made), [], Ledger()
    for _ in range(DIVISION.steps(made)):
        event = DIVISION.advance(made, state)
        divisions.append(event.cost.div)
        total, state = total + event.cost, event.after
    assert divisions == [0, len(spec["scores"]), 0, len(state.last) if state.m != NONE else 0]
    assert total.writes == len(state.last)


# Mutants

SHARES = "after = replace(state, shares=tuple(form.div(e, state.l) for e in state.exponentials))"
LAST = "after = replace(state, last=tuple(0.0 if state.m == MASKED else form.div(x, state.l) for x in state.weighted))"
SIZES = "exponentials = tuple(0.0 if x == MASKED else form.exp(form.sub(x, m)) for x in s)"
WEIGHTED = "weighted=_weighted(form, s, state.exponentials, spec.rows),"
MUTANTS = {
    "shares not divided": (SHARES, "after = replace(state, shares=state.exponentials)"),
    "last not divided": (LAST, "after = replace(state, last=state.weighted)"),
    "a sum kept wider than its format": ("l = form.add(l, e)", "l = l + e"),
    "both ways weigh with shares": (WEIGHTED, WEIGHTED.replace("exponentials", "shares")),
    "a masked value multiplied": ("if score != MASKED:", "if True:"),
    "the highest not subtracted": (SIZES, SIZES.replace("form.sub(x, m)", "x")),
}


@pytest.mark.parametrize(("line", "replacement"), MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_is_caught_and_the_source_as_it_is_passes(line, replacement):
    specs = [
        {"scores": (0.5, 2.0, NONE, -1.0), "values": ((1.0, 2.0), (3.0, -4.0), (math.nan, 1.0), (0.5, 0.25)), "format": "float32"},
        {"scores": (0.3,) + (0.0,) * 40, "values": (1.0,) * 41, "format": "float8_e5m2"},
    ]

    def right(module):
        return all(same(model.twice_divided(**spec), dataclasses.asdict(end(module, **spec))) for spec in specs)

    assert right(compiled(division))
    assert not right(compiled(division, line, replacement))
