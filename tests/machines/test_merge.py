"""merge: the worked example, the scalar model, SciPy, reported faults, what the rule promises, the ledger, mutants."""

import dataclasses
import math

import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from app import runs
from app.machines import MACHINES, merge, online
from app.machines.formats import FORMATS
from app.machines.reference import error
from app.specs import SpecError, parse, query
from app.stories import BY_NAME
from tests.machines import merge_model as model
from tests.machines import strategies
from tests.machines.bounds import Bounds
from tests.machines.helpers import CASES, GOLDEN, ONLINE, close, differences, end, floats, numbers, same, shots
from tests.machines.strategies import NAMES, element, rows
from tests.machines.test_mutants import compiled

MERGE = MACHINES["merge"]
NONE = -math.inf
FIVE = {"scores": floats(1, 3, 2, 5, 4), "values": floats(10, 20, 30, 40, 50)}
quick = settings(deadline=None, max_examples=60, database=None)


@st.composite
def splittings(draw, n, most=8):
    """How to cut n scores and how to merge the parts; empty parts among them."""
    if draw(st.booleans()):
        parts = draw(st.integers(1, most))
        cut = {"splits": parts}
    else:
        cuts = tuple(sorted(draw(st.lists(st.integers(0, n), min_size=1, max_size=most - 1))))
        parts, cut = len(cuts) + 1, {"cuts": cuts}
    order = draw(st.none() | st.permutations(range(1, parts + 1)).map(tuple))
    return cut | {"merge_order": draw(st.sampled_from(merge.ORDERS)), "order": order}


@st.composite
def specs(draw, specials=True):
    spec = draw(strategies.specs(specials))
    del spec["offset"], spec["block"]
    return spec | draw(splittings(len(spec["scores"])))


def run(module=merge, **spec):
    """Every event of a run of merge.py or a mutant of it, and its spec."""
    made = module.Spec(**spec)
    state, events = module.start(made), []
    for _ in range(module.steps(made)):
        events.append(module.advance(made, state))
        state = events[-1].after
    return events, made


def answer(module=merge, **spec):
    """m, l, acc and output of the whole row."""
    events, made = run(module, **spec)
    kept = events[-1].result.kept
    return [kept.m, kept.l, list(kept.acc), list(online.output(made.row, kept))]


# The worked example


@pytest.mark.parametrize("cut", [{"splits": n} for n in range(1, 9)] + [{"cuts": (c,)} for c in range(6)])
@pytest.mark.parametrize("merge_order", merge.ORDERS)
def test_five_scores_cut_anywhere(cut, merge_order):
    want = GOLDEN["softmax_five_scores"]
    state = end(MERGE, **FIVE, **cut, merge_order=merge_order, format="float64")["state"]
    assert state["m"] == 5
    assert round(state["l"], 4) == want["steps"]["l"][-1]
    assert round(state["acc"], 4) == want["steps"]["acc"][-1]
    assert round(state["output"], 4) == want["steps"]["output"][-1]


def test_two_workers_by_hand():
    """e⁻² + 1 + e⁻¹ and 1 + e⁻¹; the first times e⁻²."""
    run = shots(MERGE, **FIVE, cuts=(3,), format="float64")
    e = math.exp
    a, b = (shot["state"]["parts"][i] for i, shot in ((0, run[1]), (1, run[2])))
    assert close([3, e(-2) + 1 + e(-1), 10 * e(-2) + 20 + 30 * e(-1)], [a["m"], a["l"], a["acc"]], 1e-14)
    assert close([5, 1 + e(-1), 40 + 50 * e(-1)], [b["m"], b["l"], b["acc"]], 1e-14)
    merged = run[3]["event"]
    assert close([e(-2), 1], merged["factors"], 1e-16)
    assert close([a["l"] * e(-2), b["l"]], merged["l_rescaled"], 1e-15)
    assert close([a["acc"] * e(-2), b["acc"]], merged["acc_rescaled"], 1e-14)
    weights = [part["l"] * e(part["m"] - 5) / run[3]["state"]["l"] for part in (a, b)]
    assert close(weights, merged["by_lse"]["weights"], 1e-14)
    assert math.isclose(run[3]["state"]["lse2"], run[3]["state"]["lse"] * math.log2(math.e), rel_tol=1e-15)


# The scalar model


@settings(deadline=None, max_examples=200, database=None)
@given(specs())
def test_every_result_is_the_scalar_models(spec):
    want, (events, made) = model.parts(**spec), run(**spec)
    for one, event in zip(want, events, strict=True):
        kept = event.result.kept
        assert same([one.m, one.l, one.acc], [kept.m, kept.l, list(kept.acc)])
        assert same([one.lse, one.output], [online.lse(made.row, kept), list(online.output(made.row, kept))])
        assert same(one.factors, getattr(event, "factors", ()))


@quick
@given(specs())
def test_every_snapshot_says_so(spec):
    want = model.parts(**spec)
    bare = spec["values"] is not None and not isinstance(spec["values"][0], tuple)
    run = shots(MERGE, **spec)
    assert len(run) == len(want) + 1
    for shot, one in zip(run[1:], want, strict=True):
        told = {"m": one.m, "l": one.l, "lse": one.lse}
        if spec["values"] is not None:
            told |= {"acc": one.acc[0] if bare else one.acc, "output": one.output[0] if bare else one.output}
        assert not list(differences(told, shot["state"]["parts"][-1]))
        if shot["done"]:
            assert not list(differences(told, shot["state"]))
            by_lse = {"lse": one.by_lse[0]}
            if spec["values"] is not None:
                by_lse["output"] = one.by_lse[1][0] if bare else one.by_lse[1]
            assert not list(differences(by_lse, shot["state"]["by_lse"]))


@quick
@given(specs())
def test_one_part_is_online_softmax(spec):
    spec = {name: x for name, x in spec.items() if name in ("scores", "values", "format", "accumulate")}
    one, other = end(MERGE, **spec, splits=1), end(ONLINE, **spec)
    for name in ("m", "l", "lse", "acc", "output"):
        assert (name in one["state"]) == (name in other["state"])
        assert same(one["state"].get(name, 0), other["state"].get(name, 0))
    assert one["ledger"] == other["ledger"]


# SciPy


@settings(deadline=None, max_examples=120, database=None)
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_any_split_agrees_with_scipy_within_the_textbook_bound(name, data):
    """A merge meets what one more block would: bounds.py with as many blocks as scores and merges."""
    scores = data.draw(rows(name))
    n = len(scores)
    values = tuple(FORMATS[name].round(x) for x in data.draw(st.lists(element, min_size=n, max_size=n)))
    state = end(MERGE, scores=scores, values=values, format=name, **data.draw(splittings(n)))["state"]
    bounds = Bounds(scores, 1, name)
    bounds.blocks += 8
    bounds.k += 4 * 8
    lse, shares = float(scipy.special.logsumexp(scores)), scipy.special.softmax(scores)
    l = math.exp(lse - max(scores))
    assert abs(state["l"] - l) <= bounds.sum(l)
    assert abs(state["lse"] - lse) <= bounds.lse(lse, l)
    exact, size = math.fsum(shares * values), math.fsum(shares * [abs(v) for v in values])
    assert abs(state["output"] - exact) <= bounds.output(size, max(map(abs, values)))


@quick
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_finished_outputs_and_their_lse_give_the_same_within_rounding(name, data):
    """exp(lse_i − lse) carries the rounding of lse itself, half a unit of its size at each of at most 7 merges."""
    scores = data.draw(rows(name))
    n = len(scores)
    values = tuple(FORMATS[name].round(x) for x in data.draw(st.lists(element, min_size=n, max_size=n)))
    state = end(MERGE, scores=scores, values=values, format=name, **data.draw(splittings(n)))["state"]
    u, spread = FORMATS[name].unit_roundoff, max(s for s in scores if s != NONE) - min(s for s in scores if s != NONE)
    allowed = (4 * n + 2 * spread + 8 * (12 + 4 * max(abs(s) for s in scores if s != NONE) + math.log(n))) * u
    assert abs(state["by_lse"]["lse"] - state["lse"]) <= allowed
    assert abs(state["by_lse"]["output"] - state["output"]) <= 2 * allowed * max(map(abs, values)) + 8 * FORMATS[name].smallest_subnormal


# What the rule promises


@quick
@given(st.sampled_from(["float32", "float64"]), st.data())
def test_associative_and_commutative_within_rounding(name, data):
    """The same parts, merged in two orders."""
    scores = data.draw(rows(name))
    split = data.draw(splittings(len(scores)))
    parts = len(model.spans(len(scores), split.get("splits"), split.get("cuts")))
    order = data.draw(st.permutations(range(1, parts + 1)).map(tuple))
    other = split | {"order": order, "merge_order": data.draw(st.sampled_from(merge.ORDERS))}
    one, two = (end(MERGE, scores=scores, format=name, **way)["state"] for way in (split, other))
    assert one["m"] == two["m"]
    bounds = Bounds(scores, 1, name)
    bounds.k += 4 * 8
    assert abs(one["l"] - two["l"]) <= 2 * bounds.sum(one["l"])


@quick
@given(specs(), st.data())
def test_two_parts_commute_exactly(spec, data):
    """a + b is b + a in any format, so only grouping can move a result."""
    cuts = (data.draw(st.integers(0, len(spec["scores"]))),)
    spec = {name: x for name, x in spec.items() if name in ("scores", "values", "format", "accumulate")} | {"cuts": cuts}
    assert same(answer(**spec), answer(**spec, order=(2, 1)))


@quick
@given(specs(), st.data())
def test_an_empty_part_is_an_exact_identity(spec, data):
    """In any format, with any numbers, at any place: with no score, or with masked ones only, which may have any value."""
    n, values = len(spec["scores"]), spec["values"]
    spec = {name: x for name, x in spec.items() if name in ("scores", "values", "format", "accumulate")}
    cut, place = data.draw(st.integers(0, n)), data.draw(st.sampled_from([0, 1, 2]))
    plain = answer(**spec, cuts=(cut,))
    where = (0, cut, n)[place]
    assert same(plain, answer(**spec, cuts=tuple(sorted((cut, where)))))
    filler = math.nan if values is None or not isinstance(values[0], tuple) else (math.nan,) * len(values[0])
    gapped = spec | {"scores": spec["scores"][:where] + (NONE,) * 2 + spec["scores"][where:]}
    gapped |= {"values": None if values is None else values[:where] + (filler,) * 2 + values[where:]}
    cuts = ((2, 2 + cut), (cut, cut + 2), (cut, n))[place]
    assert same(plain, answer(**gapped, cuts=cuts))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("merge_order", merge.ORDERS)
def test_nothing_live_at_all(name, merge_order):
    state = end(MERGE, scores=(NONE,) * 3, values=((1.0, math.nan),) * 3, splits=5, merge_order=merge_order, format=name)["state"]
    assert (state["m"], state["l"], state["lse"], state["lse2"]) == (NONE, 0, NONE, NONE)
    assert state["acc"] == state["output"] == state["by_lse"]["output"] == state["reference"]["output"] == [0, 0]
    assert state["error"]["output"] == {"absolute": 0, "relative": 0, "ulps": 0}


def test_a_nan_shows_from_its_worker_on():
    run = shots(MERGE, scores=(1.0, math.nan, 2.0, 3.0), values=floats(1, 2, 3, 4))
    assert math.isnan(run[1]["state"]["parts"][0]["output"])
    assert run[2]["state"]["parts"][1]["m"] == 3
    assert math.isnan(run[3]["state"]["output"])


# Reported faults


def partials(case):
    """The partial results of a case, as states (m = lse, l = 1, acc = out) and as finished outputs with natural lse."""
    for one in case["input"]["partials"]:
        lse = one["lse"] if "lse" in one else one["lse_base2"] * math.log(2)
        yield online.State(1, lse, 0.0 if lse == NONE else 1.0, tuple(one["out"])), (lse, tuple(one["out"]))


def both_ways(case):
    """(lse, out) of a case's two partials merged as m, l, acc, and as finished outputs."""
    (a, done_a), (b, done_b) = partials(case)
    spec = merge.Spec((0.0,), ((0.0,) * len(a.acc),), format=case["dtype"])
    kept = merge.merged(spec, a, b)[3]
    found = merge.by_lse(spec.row.form, spec.row.sums, (done_a[0], done_b[0]), (done_a[1], done_b[1]))
    return [(online.lse(spec.row, kept), online.output(spec.row, kept)), (found.lse, found.output)]


@pytest.mark.parametrize("id_", ["merge-both-empty", "merge-one-empty", "merge-exp-overflow"])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_merge_that_went_wrong_elsewhere(id_, backwards):
    case = CASES[id_]
    if backwards:
        case = case | {"input": case["input"] | {"partials": case["input"]["partials"][::-1]}}
    for lse, out in both_ways(case):
        assert close(case["expected"]["lse"], lse, case.get("tol", 0))
        assert close(case["expected"]["out"], list(out), case.get("tol", 0))


def test_base_2_taken_as_natural():
    case = CASES["merge-base2-as-natural"]
    want, form = case["expected"], FORMATS[case["dtype"]]
    for lse, out in both_ways(case):
        assert close(want["out"], list(out), case["tol"])
        assert close([want["lse_natural"], want["lse_base2"]], [lse, merge.base_2(form, lse)], case["tol"])
    state = end(MERGE, scores=floats(*(0,) * 5), values=floats(1, 1, 1, 1, 11), cuts=(4,))
    assert close([2, 0], [part["lse2"] for part in state["state"]["parts"][:2]], case["tol"])
    assert close(want["weights"], state["event"]["by_lse"]["weights"], case["tol"])
    assert close(want["out"], [state["state"]["output"]], case["tol"])
    wrong, faulty = state["event"]["mixed_bases"], case["faulty"]
    assert close(faulty["weights"], wrong["weights"], case["tol"])
    assert close(faulty["out"], [wrong["output"]], 1e-5)


def test_the_number_of_splits_changes_digits_and_nothing_more():
    case = CASES["split-count-changes-bits"]
    spec = {"scores": floats(*case["input"]["scores"]), "values": floats(*case["input"]["v"]), "format": case["dtype"]}
    want = case["expected"]
    got = {}
    for splits in case["input"]["splits"]:
        state = end(MERGE, **spec, splits=splits)["state"]
        got[str(splits)] = state["output"]
        assert close(want["out_float64"], [state["reference"]["output"]], 1e-9)
        assert close(want["out_float64"], [state["output"]], case["tol"])
        assert state["unsplit"]["output"] == want["out_by_splits"]["1"]
    assert got == want["out_by_splits"]
    assert len(set(got.values())) == 4


# The ledger of errors


@pytest.mark.parametrize("name", NAMES)
def test_an_error_in_units_in_the_last_place(name):
    form = FORMATS[name]
    for exact in (1.0, 1.5, form.smallest_normal, 0.0, form.next_down(2.0)):
        off = form.next_up(exact)
        found = error(form, [exact, off], [exact, exact])
        assert found.ulps == 1
        assert found.absolute == off - exact
        assert found.relative == ((off - exact) / exact if exact else math.inf)
    assert error(form, [form.max], [form.max]).ulps == 0
    assert 0 < error(form, [form.next_down(form.max)], [form.max]).ulps < math.inf


def test_errors_of_what_is_no_number():
    form = FORMATS["float16"]
    assert dataclasses.astuple(error(form, [math.nan, math.inf], [math.nan, math.inf])) == (0, 0, 0)
    for got, exact in ((math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (math.inf, NONE)):
        assert dataclasses.astuple(error(form, [got], [exact])) == (math.inf,) * 3
    assert dataclasses.astuple(error(form, [], [])) == (0, 0, 0)


@quick
@given(specs(specials=False))
def test_errors_are_those_of_the_numbers_shown(spec):
    state = end(MERGE, **spec)["state"]
    for told in (state, state["unsplit"]):
        for name, off in told["error"].items():
            got, exact = ([x] if not isinstance(x, list) else x for x in (told[name], state["reference"][name]))
            form = FORMATS[spec["format"] if name == "output" else spec["accumulate"] or spec["format"]]
            assert off == vars(error(form, got, exact))


# Steps, the ledger, the wire


@quick
@given(specs())
def test_a_step_leaves_what_it_was_given_and_repeats_itself(spec):
    made = MERGE.spec(**spec)
    state = MERGE.start(made)
    for number in range(1, MERGE.steps(made) + 1):
        before = dataclasses.astuple(state)
        once, twice = merge.step(made, state), merge.step(made, state)
        assert same(before, dataclasses.astuple(state))
        assert same(dataclasses.astuple(once), dataclasses.astuple(twice))
        state = once
        assert state.made == number
    assert len(state.waiting) == 1
    assert state.waiting[0].of == tuple(range(1, len(made.spans) + 1))


@given(st.integers(1, 60), st.data())
@quick
def test_spans_and_plan(n, data):
    """Every score is in one part, and every result but the last is merged once."""
    split = data.draw(splittings(n))
    made = MERGE.spec(scores=(0.0,) * n, **split)
    assert list(made.spans) == model.spans(n, split.get("splits"), split.get("cuts"))
    assert [i for first, last in made.spans for i in range(first, last)] == list(range(n))
    parts = len(made.spans)
    assert sorted(x for pair in made.plan for x in pair) == list(range(1, 2 * parts - 1))
    assert all(max(pair) < parts + i for i, pair in enumerate(made.plan, 1))


def test_reads_writes_and_operations_counted_by_hand():
    """Five scores with one-number values, in 3 and 2.

    A worker reads a score and a value each time and writes m, l and acc. A score takes a max, a difference and an exp for
    its size, from the second on alpha's difference and exp, products l·alpha, p·v, acc·alpha and five additions less one:
    0 + p, l, 0 + pv, acc. The merge reads two results and writes the output: a max, two differences, two exps, two products
    and an addition each for l and acc, one division.
    """
    run = shots(MERGE, **FIVE, cuts=(3,))
    assert [shot["ledger"]["reads"] for shot in run] == [0, 6, 10, 16]
    assert [shot["ledger"]["writes"] for shot in run] == [0, 3, 6, 7]
    assert {shot["ledger"]["kept"] for shot in run} == {0}
    assert run[1]["ledger"]["ops"] == {"mul": 9, "add": 3 + 2 + 3 * 4, "exp": 3 + 2, "div": 0, "max": 3}
    assert run[2]["ledger"]["ops"] == {"mul": 15, "add": 17 + 2 + 1 + 2 * 4, "exp": 5 + 3, "div": 0, "max": 5}
    assert run[3]["ledger"]["ops"] == {"mul": 19, "add": 28 + 2 + 2, "exp": 10, "div": 1, "max": 6}


def test_what_does_not_exist_yet_is_absent():
    run = shots(MERGE, **FIVE, splits=3)
    always = {"spans", "plan", "parts", "reference"}
    for shot in run[:-1]:
        assert set(shot["state"]) == always
        assert len(shot["state"]["parts"]) == shot["step"]
    results = {"m", "l", "lse", "lse2", "acc", "output"}
    assert set(run[-1]["state"]) == always | results | {"by_lse", "unsplit", "error"}
    assert set(run[-1]["state"]["parts"][0]) == results | {"number", "of", "from", "to", "waiting"}
    assert set(run[-1]["state"]["parts"][-1]) == results | {"number", "of", "from", "to", "waiting", "factors"}
    assert run[-1]["state"]["parts"][-1]["factors"] == run[-1]["event"]["factors"]
    assert [part["waiting"] for part in run[4]["state"]["parts"]] == [False, False, True, True]
    assert set(shots(MERGE, scores=(1.0,))[-1]["state"]) == always | {"m", "l", "lse", "lse2", "by_lse", "unsplit", "error"}


@quick
@given(specs())
def test_a_link_leads_back_to_the_spec(spec):
    made = MERGE.spec(**spec)
    given = dict(part.split("=", 1) for part in query(MERGE, made).replace("%2B", "+").split("&"))
    again = parse(MERGE, given, "get")
    assert same(dataclasses.astuple(again), dataclasses.astuple(made))


def wrong(**given):
    with pytest.raises(SpecError) as caught:
        parse(MERGE, {"scores": "1,3,2"} | given, "get")
    fault = caught.value.faults[0]
    return fault.field, fault.code


def test_what_cannot_be_split_or_merged_so():
    assert wrong(splits="0") == wrong(splits="9") == ("splits", "out_of_range")
    assert wrong(cuts="4") == wrong(cuts="-1") == ("cuts", "out_of_range")
    assert wrong(cuts="2,1") == ("cuts", "wrong_order")
    assert wrong(cuts="1,1,1,1,1,1,1,1") == ("cuts", "too_many")
    assert wrong(cuts="1,2", splits="4") == ("cuts", "two_sources")
    assert wrong(order="1") == wrong(order="1,1") == wrong(order="1,3") == wrong(splits="1", order="2") == ("order", "wrong_order")
    assert wrong(order="2,1", cuts="1,2") == ("order", "wrong_order")
    assert wrong(values="1,2") == ("values", "wrong_shape")
    for right in (
        {"cuts": "0,0,3,3"},
        {"cuts": "1,2", "splits": "3"},
        {"splits": "8", "order": "8,1,7,2,6,3,5,4"},
        {"splits": "1", "order": "1"},
    ):
        parse(MERGE, {"scores": "1,3,2"} | right, "get")


@quick
@given(specs())
def test_a_caption_has_words_for_everything(spec):
    for shot in runs.snapshots(MERGE, MERGE.spec(**spec)):
        assert shot["caption"].endswith(".")
        assert not set("−×≈∞ℓ") & set(shot["spoken"])
        assert "None" not in shot["caption"] + "".join(shot["words"].values())


# Presets


def preset(name):
    one = next(one for one in BY_NAME["merge"].presets if one.name == name)
    run = numbers(list(runs.snapshots(MERGE, one.spec)))
    return run, run[-1]["state"]


def test_what_each_preset_tells_to_look_for_is_there():
    run, state = preset("default")
    assert run[-1]["event"]["factors"][1] == 1 > run[-1]["event"]["factors"][0]
    assert round(state["output"], 3) == round(state["unsplit"]["output"], 3)
    assert preset("tree")[1]["plan"] == [[1, 2], [3, 4], [5, 6]]
    run, state = preset("empty")
    assert (state["parts"][3]["m"], state["parts"][3]["l"]) == (NONE, 0)
    assert [run[-1]["state"][name] for name in ("m", "l", "acc")] == [run[-2]["state"]["parts"][-1][name] for name in ("m", "l", "acc")]
    run, state = preset("masked")
    assert run[-1]["event"]["empty"] == [True, False]
    assert state["output"] == state["parts"][1]["output"]
    run, state = preset("far")
    assert 0 < run[-1]["event"]["factors"][0] < 1e-40
    assert state["output"] == 2
    _, state = preset("short")
    assert state["output"] != state["unsplit"]["output"]
    assert state["error"]["output"]["relative"] < 0.05 > state["unsplit"]["error"]["output"]["relative"]
    run, state = preset("shuffled")
    assert run[5]["event"]["parts"] == [3, 1]
    assert 2 in run[-1]["event"]["parts"]
    assert state["error"]["l"]["relative"] < 1e-6
    assert [part["to"] - part["from"] for part in preset("cuts")[1]["parts"][:3]] == [1, 4, 3]
    assert {one.name for one in BY_NAME["merge"].presets} == {"default", "tree", "shuffled", "cuts", "empty", "masked", "far", "short"}


# Mutants

L = "l_rescaled = sums.mul(a.l, factors[0]), sums.mul(b.l, factors[1])"
ACC = "acc_rescaled = tuple(sums.mul(x, factors[0]) for x in a.acc), tuple(sums.mul(x, factors[1]) for x in b.acc)"
FACTORS = "factors = form.exp(form.sub(a.m, m)), form.exp(form.sub(b.m, m))"
GUARD = "if a.m == MASKED or b.m == MASKED:"
BOTH = "both = do.add(top, sums.log(total))"
WEIGHTS = "weights = do.exp(do.sub(lse[0], both)), do.exp(do.sub(lse[1], both))"
MUTANTS = {
    "l not rescaled": (L, "l_rescaled = a.l, b.l"),
    "acc not rescaled": (ACC, "acc_rescaled = a.acc, b.acc"),
    "only the second rescaled": (L, L.replace("sums.mul(a.l, factors[0])", "a.l")),
    "the first's maximum kept": ("m = form.max(a.m, b.m)", "m = a.m"),
    "factors crossed": (FACTORS, "factors = form.exp(form.sub(b.m, m)), form.exp(form.sub(a.m, m))"),
    "the inverse factor": (FACTORS, FACTORS.replace("a.m, m", "m, a.m").replace("b.m, m", "m, b.m")),
    "no guard for an empty part": (GUARD, "if False:"),
    "a guard for one side only": (GUARD, "if a.m == MASKED:"),
    "lse added": (BOTH, "both = do.add(*lse)"),
    "the larger lse left out": (BOTH, "both = sums.log(total)"),
    "exponentials of lse as they are": ("top = do.max(*lse)", "top = 0.0"),
    "weights by base 2": (WEIGHTS, WEIGHTS.replace("do.exp(", "2.0 ** (")),
    "a sum wider than its format": (
        "acc = tuple(sums.add(x, y) for x, y in zip(*acc_rescaled, strict=True))", "acc = tuple(x + y for x, y in zip(*acc_rescaled, strict=True))"
    ),
    "a score lost at each cut": ("first, last = spec.spans[state.made]", "first, last = spec.spans[state.made]\nlast -= last < len(spec.scores)"),
}  # fmt: skip


def sound(module):
    """Whether a module gives what the model gives, both ways, for splits that touch every rule."""
    given = [
        FIVE | {"cuts": (3,), "format": "float64"},
        FIVE | {"cuts": (4,), "order": (2, 1), "format": "bfloat16"},
        {"scores": (NONE, NONE, 500.0, 1.0, NONE), "values": ((1.0,),) * 2 + ((2.0,), (3.0,), (math.nan,)), "cuts": (2, 4)},
        {"scores": (0.5, 0.25, 100.0, 88.0, 3.0), "values": floats(1, -2, 3, -4, 5), "splits": 3, "merge_order": "tree"},
        {"scores": (NONE, NONE, 1.0, 2.0), "values": floats(1, 2, 3, 4), "cuts": (1, 2), "order": (3, 1, 2), "format": "float8_e4m3fn"},
        {"scores": (NONE, NONE, 1.0), "cuts": (1, 2)},
    ]
    for spec in given:
        want = model.parts(**spec)
        events, made = run(module, **spec)
        done = {}
        for one, event in zip(want, events, strict=True):
            kept = event.result.kept
            if hasattr(event, "pair"):
                a, b = (done[part.number] for part in event.pair)
                found = module.by_lse(made.row.form, made.row.sums, (a[0], b[0]), (a[1], b[1]))
                done[event.result.number] = found.lse, found.output
            else:
                done[event.result.number] = online.lse(made.row, kept), online.output(made.row, kept)
            if not same([one.m, one.l, one.acc], [kept.m, kept.l, list(kept.acc)]):
                return False
            if not same([one.by_lse[0], list(one.by_lse[1])], [done[event.result.number][0], list(done[event.result.number][1])]):
                return False
    return True


@pytest.mark.parametrize(("line", "replacement"), MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_is_caught_and_the_source_as_it_is_passes(line, replacement):
    assert sound(compiled(merge))
    assert not sound(compiled(merge, line, replacement))
