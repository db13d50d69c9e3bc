"""tiled-attention: the worked example, the scalar model, SciPy, masks, and what must hold of every run."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.machines import tiled
from app.machines.arithmetic import IN_ORDER, Ledger
from app.machines.formats import FORMATS
from app.main import create_app
from app.settings import Settings
from app.specs import text
from tests.machines import scalar_model
from tests.machines import tiled_model as model
from tests.machines.attention_oracle import Oracle
from tests.machines.helpers import GOLDEN, at_places, close, differences, numbers, same, shots
from tests.machines.tiled_specs import NUMBERS, STANDARD, TILED, answer, cut, faults, formats, problems, specs, walk

quick = settings(deadline=None, max_examples=60, database=None)
small = specs(numbers=tuple(NUMBERS), most=9, wide=3)
both = pytest.mark.parametrize("algorithm", ["fa2", "fa1"])
wide = st.sampled_from(["float32", "float64"])

TILES = GOLDEN["tiles_two_queries_four_keys"]
GIVEN = {name: TILES[name] for name in ("q", "k", "v", "block_q", "block_k")} | {"scale": float(TILES["scale"])}
NONE = -math.inf


def rounded(x):
    return at_places(x, TILES["places"])


def check_golden(run):
    for want, shot in zip(TILES["tiles"], run[1:3], strict=True):
        event, state = shot["event"], shot["state"]
        got = {"scores": event["scores"], "p": event["p"], "alpha": event["alpha"]} | {name: state[name] for name in ("m", "l", "acc")}
        assert {name: rounded(x) for name, x in got.items()} == want
        assert event["m_new"] == want["m"]
        assert "output" not in state
    assert "output" not in run[0]["state"]
    assert rounded(run[3]["state"]["output"]) == rounded(run[3]["event"]["output"]) == TILES["output"]
    assert rounded(run[3]["state"]["reference"]["output"]) == TILES["output"]


# The worked example


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_two_queries_and_four_keys_at_each_step(name):
    run = shots(TILED, **GIVEN, format=name)
    assert [shot["event"]["kind"] for shot in run] == ["start", "tile", "tile", "normalise"]
    assert [shot["event"]["k_cols"] for shot in run[1:3]] == [[0, 2], [2, 4]]
    assert {tuple(shot["event"]["q_rows"]) for shot in run[1:]} == {(0, 2)}
    check_golden(run)


def test_two_queries_and_four_keys_over_http():
    """Step by step, and as one run."""
    query = {name: text(tuple(tuple(map(float, row)) for row in TILES[name])) for name in ("q", "k", "v")}
    query |= {"block_q": "2", "block_k": "2", "scale": "1"}
    with TestClient(create_app(Settings())) as client:
        path = "/api/v1/machines/tiled-attention/snapshots"
        run = [client.get(f"{path}/{step}", params=query) for step in range(4)]
        assert [shot.status_code for shot in run] == [200] * 4
        check_golden([numbers(shot.json()) for shot in run])
        check_golden(numbers(client.get(path, params=query).json()["snapshots"]))


@both
@pytest.mark.parametrize("block_q", [1, 2, 3])
@pytest.mark.parametrize("block_k", [1, 2, 3, 4])
@pytest.mark.parametrize("order", ["left", "right"])
def test_the_output_is_the_same_however_it_is_cut(algorithm, block_q, block_k, order):
    run = shots(TILED, **GIVEN | {"block_q": block_q, "block_k": block_k, "algorithm": algorithm, "order": order})
    assert rounded(run[-1]["state"]["output"]) == TILES["output"]


def test_each_row_has_its_own_factor():
    event = shots(TILED, **GIVEN)[2]["event"]
    assert rounded(event["alpha"]) == [0.368, 1.0]
    assert event["new_max"] == [True, False]
    assert event["rescales"]


# The scalar model, one rounding an operation


@quick
@given(
    st.sampled_from(scalar_model.FORMATS), st.floats() | st.integers(-600, 600).map(float), st.floats() | st.integers(-99, 99).map(float)
)
def test_the_models_short_ways_are_the_exact_operations(name, a, b):
    a, b = scalar_model.cast(name, a), scalar_model.cast("float32", b)
    for ours, theirs in ((model.add, scalar_model.add), (model.multiply, scalar_model.multiply)):
        assert same(theirs(name, a, b), ours(name, a, b))
    for x in (a * 1.0625, b, a + 2.0**-12, (a + b) / 3):
        assert same(scalar_model.cast(name, x), model.cast(name, x))


@settings(deadline=None, max_examples=150, database=None)
@given(specs(numbers=tuple(NUMBERS)), formats())
def test_every_number_of_every_event_is_the_scalar_models(spec, forms):
    """Formats alone and mixed, any tiles, masks, corners and orders, fa1 and fa2, overflow, NaN and infinities included."""
    assert not faults(**spec, **forms)[:5]


@settings(deadline=None, max_examples=60, database=None)
@given(small, formats())
def test_every_snapshot_says_what_the_scalar_model_says(spec, forms):
    """Under the names of the wire form: what an event starts from, makes and leaves, and what there is not."""
    run = shots(TILED, **spec, **forms)
    want = model.run(**spec, **forms)
    fa1, sums = spec["algorithm"] == "fa1", forms.get("accumulate", forms["format"])
    n_q, d_v = len(spec["q"]), len(spec["v"][0])
    m, l, acc, output = [NONE] * n_q, [0.0] * n_q, [[0.0] * d_v for _ in range(n_q)], [[]] * n_q
    assert run[0]["event"] == {"kind": "start"}
    assert run[0]["state"]["m"] == m
    for step, (theirs, shot) in enumerate(zip(want, run[1:], strict=True), start=1):
        rows = slice(*theirs["rows"])
        event = {"kind": theirs["kind"], "q_rows": theirs["rows"]}
        if theirs["kind"] == "tile":
            event |= {"k_cols": theirs["cols"], "skipped": theirs["skipped"]}
        if theirs["kind"] == "tile" and not theirs["skipped"]:
            event |= {"m_old": m[rows], "l_old": l[rows], "o_old" if fa1 else "acc_old": acc[rows]}
            event |= {name: x for name, x in theirs.items() if name not in {"rows", "cols", "m", "l", "acc", "reads", "writes"}}
            event["new_max"] = [new > old for new, old in zip(theirs["m_new"], m[rows], strict=True)]
            event["rescales"] = any(new > old != NONE for new, old in zip(theirs["m_new"], m[rows], strict=True))
        elif theirs["kind"] == "normalise":
            event["output"] = theirs["output"]
        m[rows], l[rows], acc[rows] = theirs["m"], theirs["l"], theirs["acc"]
        if theirs["kind"] == "normalise":
            output[rows] = theirs["output"]
        elif fa1:
            output[rows] = [[model.cast(forms["format"], x) for x in row] for row in theirs["acc"]]
        state = {"m": m, "l": l} | ({} if fa1 else {"acc": acc}) | ({"output": output} if any(output) else {})
        assert not list(differences({"event": event, "state": state}, shot, f"step {step}"))
        assert ("output" in shot["state"], "acc" in shot["state"]) == (any(output), not fa1)
        lse = [model.lse(sums, *row) for row in zip(m, l, strict=True)]
        if sums == "float64":  # NumPy's logarithm and Python's may differ in the last bit
            assert all(same(a, b) or abs(a - b) <= 2 * math.ulp(max(abs(a), 1)) for a, b in zip(lse, shot["state"]["lse"], strict=True))
        else:
            assert same(lse, shot["state"]["lse"])


def test_the_largest_tile_of_a_page_is_added_left_to_right_in_float32():
    """64 × 64 cells, d and d_v 16: past that, and only in float32 and float64, sums are left to the linear algebra library."""
    dice = np.random.default_rng(5)
    q, k, v = (dice.normal(size=(64, 16)) for _ in range(3))
    assert IN_ORDER == 64 * 64 * 16
    parts = walk(q=q, k=k, v=v, block_q=64, block_k=64)[1].event.parts
    for i, j in dice.integers(64, size=(40, 2)):
        assert parts["dots"][i, j] == model.dot("float32", parts["q"][i], parts["k"][j])
    for i, column in dice.integers((64, 16), size=(10, 2)):
        assert parts["pv"][i, column] == model.dot("float32", parts["p"][i], parts["v"][:, column])
        assert parts["row_sums"][i] == model.total("float32", parts["p"][i])


def just_past_a_tie():
    """Two float64 factors whose product is just above 1 + 2⁻²⁴, halfway between two float32s; float64 itself rounds it to the tie."""
    tie = 1 + 2.0**-24
    for i in range(1, 1000):
        x = 1 + i * 2.0**-10
        y = tie / x
        if x * y == tie and Fraction(x) * Fraction(y) > Fraction(tie):
            return x, y
    raise AssertionError("no such pair")


@both
def test_a_product_of_wider_numbers_rounds_once_into_compute(algorithm):
    x, y = just_past_a_tie()
    event = walk(q=[[x]], k=[[y]], v=[[1.0]], scale=1.0, format="float64", compute="float32", algorithm=algorithm)[1].event
    assert event.parts["dots"].tolist() == [[1 + 2.0**-23]]


@both
def test_a_sum_of_wider_sizes_rounds_once_into_accumulate(algorithm):
    """The second size is just past half a step of bfloat16 above the sum so far, by less than float64 can hold beside it."""
    spec = {"q": [[1.0]], "k": [[0.0], [0.0], [-60.0], [-0.6892485618591309]], "v": [[1.0]] * 4, "scale": 1.0, "block_k": 4,
            "format": "float32", "accumulate": "bfloat16", "algorithm": algorithm}  # fmt: skip
    assert not faults(**spec)
    spec = {"q": [[1.0]], "k": [[0.0], [-16.635532333438686]], "v": [[1.0], [1.0]], "scale": 1.0, "algorithm": algorithm,
            "format": "float64", "accumulate": "float32"}  # fmt: skip
    assert walk(**spec)[1].event.parts["row_sums"].tolist() == [1 + 2.0**-23]


@both
def test_a_weighted_value_wider_than_accumulate_rounds_once(algorithm):
    """p is 1, so p·v is v; and v is just past a tie of float32 by what only float64 can hold: 1 + 2⁻²⁴ + 2⁻⁵²."""
    spec = {
        "q": [[1.0]],
        "k": [[0.0]],
        "v": [[1 + 2.0**-24 + 2.0**-52]],
        "format": "float64",
        "compute": "float32",
        "accumulate": "float32",
    }
    assert walk(**spec, algorithm=algorithm)[1].event.parts["pv"].tolist() == [[1 + 2.0**-23]]


@both
def test_lse_of_scores_wider_than_the_sums_rounds_once(algorithm):
    """m = 2⁶⁰·(1 + 2⁻⁸) is halfway between two bfloat16s, and log 2 on top decides, though float64 cannot hold both together."""
    spec = {
        "q": [[2.0**30]],
        "k": [[2.0**30 * (1 + 2.0**-8)]] * 2,
        "v": [[1.0]] * 2,
        "scale": 1.0,
        "format": "float32",
        "accumulate": "bfloat16",
    }
    run = shots(TILED, **spec, algorithm=algorithm)
    assert run[1]["state"]["m"] == [2.0**60 * (1 + 2.0**-8)]
    assert run[1]["state"]["l"] == [2.0]
    assert run[1]["state"]["lse"] == [2.0**60 * (1 + 2.0**-7)]


def test_inputs_wider_than_compute_are_not_narrowed_before_they_meet():
    """10²⁰⁰ · 10⁻²⁰⁰ is 1, in a small tile and in one so large that a library multiplies it."""
    for n in (2, 65):
        q, k, v = np.full((n, 16), 1e200), np.full((n, 16), 1e-200), np.ones((n, 1))
        event = walk(q=q, k=k, v=v, block_q=n, block_k=n, format="float64", compute="float32")[1].event
        assert set(event.parts["dots"].ravel()) == {16.0}


def test_as_flashattention_does():
    """Scores, sizes and sums in float32 from float16 inputs: what meets V is p rounded to float16, but l adds p unrounded."""
    spec = {"q": [[1.0]], "k": [[0.0], [-1.0]], "v": [[0.0], [1.0]], "scale": 1.0}
    spec |= {"format": "float16", "p_format": "float16", "compute": "float32", "accumulate": "float32"}
    tile, end = (moment.event for moment in walk(**spec)[1:])
    p = float(np.float32(math.exp(-1)))
    assert tile.parts["p"].tolist() == [[1.0, p]]
    assert tile.parts["pv"].tolist() == [[float(np.float16(p))]]
    assert tile.parts["row_sums"].tolist() == [float(np.float32(1 + p))]
    assert end.parts["output"].tolist() == [[float(np.float16(np.float32(np.float16(p)) / np.float32(1 + p)))]]


# SciPy


@settings(deadline=None, max_examples=200, database=None)
@given(specs(), wide)
def test_scipys_answer_within_the_textbook_bound(spec, name):
    """tests/machines/attention_oracle.py derives the bound. A row with no live key: output 0, m and lse −inf, l 0."""
    oracle, got = Oracle(**spec, format=name), answer(**spec, format=name)
    some = oracle.live.any(axis=1)
    assert (np.abs(got["output"] - oracle.output) <= oracle.allowed()).all()
    assert (np.abs(got["lse"][some] - oracle.lse[some]) <= oracle.allowed_lse()[some]).all()
    assert (np.abs(got["m"][some] - oracle.m[some]) <= oracle.moved[some]).all()
    assert (got["l"][some] >= 1).all()
    for number, want in (("output", 0), ("l", 0), ("m", NONE), ("lse", NONE)):
        assert (got[number][~some] == want).all()


@quick
@given(specs(most=12, wide=4), st.sampled_from(scalar_model.FORMATS))
def test_the_reference_is_scipys_whatever_the_format(spec, name):
    """It starts from the inputs as the format holds them, and is float64 from there on."""
    told = shots(TILED, **spec, format=name)[0]["state"]["reference"]
    held = model.Problem(**{part: spec[part] for part in ("q", "k", "v")}, format=name)
    oracle = Oracle(**spec | {"q": held.q, "k": held.k, "v": held.v}, format="float64")
    assert (np.abs(np.array(told["output"]) - oracle.output) <= oracle.allowed()).all()
    assert all(same(a, b) or abs(a - b) <= more for a, b, more in zip(oracle.lse, told["lse"], oracle.allowed_lse(), strict=True))


@settings(deadline=None, max_examples=80, database=None)
@given(problems(), wide, st.data())
def test_tiles_order_and_algorithm_change_nothing_beyond_rounding(problem, name, data):
    """The scores are the same numbers, so each row's highest is too; and standard attention is as near."""
    one, other = (problem | data.draw(cut(problem)) | {"format": name} for _ in range(2))
    ours, theirs = answer(**one), answer(**other)
    oracles = Oracle(**one), Oracle(**other)
    allowed, allowed_lse = (sum(part) for part in zip(*((x.allowed(), x.allowed_lse()) for x in oracles), strict=True))
    assert np.array_equal(ours["m"], theirs["m"])
    assert (np.abs(ours["output"] - theirs["output"]) <= allowed).all()
    some = ours["m"] != NONE
    assert (np.abs(ours["lse"][some] - theirs["lse"][some]) <= allowed_lse[some]).all()
    assert np.array_equal(ours["lse"][~some], theirs["lse"][~some])
    standard = walk(STANDARD, **problem, format=name)[-1].state.output
    assert (np.abs(standard - ours["output"]) <= oracles[0].allowed() + oracles[0].allowed_standard()).all()


@both
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_a_tile_that_a_library_multiplies_is_as_near(name, algorithm):
    dice = np.random.default_rng(7)
    q, k, v = dice.normal(size=(70, 40)), dice.normal(size=(150, 40)), dice.normal(size=(150, 20))
    spec = {"q": q, "k": k, "v": v, "block_q": 64, "block_k": 64, "causal": "bottom-right", "algorithm": algorithm, "format": name}
    oracle, got = Oracle(**spec), answer(**spec)
    assert (np.abs(got["output"] - oracle.output) <= oracle.allowed()).all()
    assert (np.abs(got["lse"] - oracle.lse) <= oracle.allowed_lse()).all()


# The scale


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
def test_the_scale_goes_by_the_d_that_was_given(d):
    spec = {"q": [[1.0] * d], "k": [[1.0] * d, [-1.0] * d], "v": [[1.0], [0.0]], "format": "float64"}
    scores = walk(**spec)[1].event.parts["scores"]
    assert close([[math.sqrt(d), -math.sqrt(d)]], scores.tolist(), 1e-15 * d)
    share = 1 / (1 + math.exp(-2 * math.sqrt(d)))
    assert close([[share]], answer(**spec)["output"].tolist(), 1e-14)


# Masks


@settings(deadline=None, max_examples=120, database=None)
@given(specs(most=14, wide=3), formats(), st.sampled_from([math.nan, math.inf, NONE]), st.sampled_from(["k", "v"]), st.data())
def test_a_masked_key_or_value_never_reaches_a_row_that_may_not_see_it(spec, forms, bad, where, data):
    """Bit for bit: a row that sees none of the bad keys is as it was. A row that sees a NaN shows it."""
    n_q, n_k = len(spec["q"]), len(spec["k"])
    poisoned = data.draw(st.sets(st.integers(0, n_k - 1), min_size=1))
    dirty = [[bad] * len(row) if j in poisoned else row for j, row in enumerate(spec[where])]
    live = model.Problem(**{name: spec[name] for name in ("q", "k", "v", "causal", "window", "key_lengths")}).live
    safe = [i for i in range(n_q) if not any(live[i][j] for j in poisoned)]
    clean, got = answer(**spec, **forms), answer(**spec | {where: dirty}, **forms)
    for name, number in clean.items():
        assert np.array_equal(number[safe], got[name][safe], equal_nan=True)
    if math.isnan(bad):
        shown = [i for i in range(n_q) if i not in safe]
        assert np.isnan(got["output"][shown]).all()
        assert where == "v" or np.isnan(got["lse"][shown]).all()


@both
@pytest.mark.parametrize("bad", [math.nan, math.inf, NONE])
def test_a_masked_key_and_value_stay_out_of_a_tile_that_a_library_multiplies(algorithm, bad):
    dice = np.random.default_rng(9)
    spec = {"block_q": 64, "block_k": 64, "algorithm": algorithm, "key_lengths": (63,)}
    spec |= {name: dice.normal(size=(64, 20)) for name in ("q", "k", "v")}
    clean = answer(**spec)
    allowed = 2 * Oracle(**spec).allowed()
    spec["k"][63] = spec["v"][63] = bad
    got = answer(**spec)
    assert (np.abs(got["output"] - clean["output"]) <= allowed).all()
    assert np.array_equal(got["lse"], clean["lse"])


@quick
@given(specs(most=14, wide=2), formats())
def test_a_tile_is_skipped_where_no_cell_is_live_and_then_nothing_happens(spec, forms):
    """Nothing is read, written or worked out, and the state is the very one that was there; fa1's first step sets up O, l and m."""
    live = model.Problem(**{name: spec[name] for name in ("q", "k", "v", "causal", "window", "key_lengths")}).live
    run = walk(**spec, **forms)
    for before, after in pairwise(run):
        event = after.event
        cells = [live[i][j] for i in range(event.rows.start, event.rows.stop) for j in range(event.cols.start, event.cols.stop)]
        assert event.skipped == (event.kind == "tile" and not any(cells))
        if event.skipped:
            set_up = len(spec["q"]) * (len(spec["v"][0]) + 2) if spec["algorithm"] == "fa1" and after.step == 1 else 0
            assert event.cost == Ledger(writes=set_up, kept=event.cost.kept)
            assert not event.parts
            assert all(a is b for a, b in zip(before.state.rows, after.state.rows, strict=True))


@both
def test_a_skipped_tile_says_so_in_its_snapshot(algorithm):
    run = shots(TILED, q=[[1.0]] * 4, k=[[1.0]] * 4, v=[[1.0]] * 4, causal="top-left", algorithm=algorithm)
    skipped = [shot for shot in run if shot["event"].get("skipped")]
    assert [(shot["event"]["q_rows"], shot["event"]["k_cols"]) for shot in skipped] == [([0, 2], [2, 4])]
    shot = skipped[0]
    before = run[shot["step"] - 1]
    assert set(shot["event"]) == {"kind", "q_rows", "k_cols", "skipped", "phases", "first_bad"}
    assert shot["event"]["phases"] == []
    assert "skipped" in shot["caption"]
    assert {name: shot["ledger"][name] for name in ("reads", "writes", "ops")} == {
        name: before["ledger"][name] for name in ("reads", "writes", "ops")
    }
    assert all(shot["state"]["cells"][i][j] == "masked" for i in (0, 1) for j in (2, 3))


@both
@pytest.mark.parametrize("name", scalar_model.FORMATS)
def test_rows_that_see_nothing_answer_zero(name, algorithm):
    """Five queries and two keys, bottom right: the first three see none, two of them in a tile with the first that does."""
    spec = {"q": [[1.0]] * 5, "k": [[1.0]] * 2, "v": [[3.0], [3.0]], "causal": "bottom-right", "format": name, "algorithm": algorithm}
    for block_q in (1, 2, 3, 5):
        got = answer(**spec, block_q=block_q)
        assert got["output"].tolist() == [[0.0]] * 3 + [[3.0]] * 2
        assert got["lse"].tolist()[:3] == got["m"].tolist()[:3] == [NONE] * 3
        assert got["l"].tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("looks", "rows"),
    [
        ({"causal": "top-left"}, ["1000", "1100", "1110"]),
        ({"causal": "bottom-right"}, ["1100", "1110", "1111"]),
        ({"window": 2}, ["1000", "1100", "0110"]),
        ({"window": 2, "causal": "bottom-right"}, ["1100", "0110", "0011"]),
        ({"window": 9, "causal": "bottom-right"}, ["1100", "1110", "1111"]),
        ({"window": 1, "causal": "top-left"}, ["1000", "0100", "0010"]),
        ({"key_lengths": (3,)}, ["1110", "1110", "1110"]),
        ({"key_lengths": (0, 4, 1)}, ["0000", "1111", "1000"]),
        ({"key_lengths": (2,), "causal": "bottom-right", "window": 2}, ["1100", "0100", "0000"]),
    ],
)
def test_who_sees_whom_written_out(looks, rows):
    """Three queries and four keys; the machine's map, the scalar model's, and the cells of a snapshot."""
    spec = {"q": [[1.0]] * 3, "k": [[1.0]] * 4, "v": [[1.0]] * 4} | looks
    want = [[cell == "1" for cell in row] for row in rows]
    assert model.Problem(**spec).live == want
    assert (TILED.spec(**spec).live(slice(0, 3), slice(0, 4)) != 0).tolist() == want
    for shot in shots(TILED, **spec):
        assert [[cell != "masked" for cell in row] for row in shot["state"]["cells"]] == want


# The walk


@quick
@given(small)
def test_cells_follow_the_walk(spec):
    """Waiting, live for one step, then consumed; masked from the start."""
    n_q, n_k, fa1 = len(spec["q"]), len(spec["k"]), spec["algorithm"] == "fa1"
    live = model.Problem(**{name: spec[name] for name in ("q", "k", "v", "causal", "window", "key_lengths")}).live
    down, across = model.cuts(n_q, spec["block_q"]), model.cuts(n_k, spec["block_k"])
    across = across if spec["order"] == "left" else across[::-1]
    walked = [(rows, cols) for cols in across for rows in down] if fa1 else [(r, c) for r in down for c in [*across, None]]
    cells = [["waiting" if sees else "masked" for sees in row] for row in live]

    def turn(old, new):
        for i in range(n_q):
            for j in range(n_k):
                if cells[i][j] == old[0] and old[1](i, j):
                    cells[i][j] = new

    run = shots(TILED, **spec)
    assert run[0]["steps"] == len(walked) == len(run) - 1
    assert run[0]["state"]["cells"] == cells
    for place, shot in zip(walked, run[1:], strict=True):
        rows, cols = place
        turn(("live", lambda i, j: True), "consumed")
        if cols is not None:
            turn(("waiting", lambda i, j, rows=rows, cols=cols: rows[0] <= i < rows[1] and cols[0] <= j < cols[1]), "live")
            assert shot["event"]["k_cols"] == list(cols)
        assert shot["event"]["q_rows"] == list(rows)
        assert shot["state"]["cells"] == cells
        assert shot["state"]["consumed"] == [[cell == "consumed" for cell in row] for row in cells]
    assert not any(cell == "waiting" for row in cells for cell in row)


@quick
@given(specs(numbers=("plain", "wild"), most=10, wide=3), formats())
def test_a_step_leaves_what_it_was_given_and_repeats_itself(spec, forms):
    def copied(thing):
        if thing is None or isinstance(thing, (int, float, str)):
            return thing
        if isinstance(thing, tuple):
            return tuple(map(copied, thing))
        return thing.tolist() if isinstance(thing, np.ndarray) else {name: copied(x) for name, x in vars(thing).items()}

    made = TILED.spec(**spec, **forms)
    state, given_ = TILED.start(made), copied(made)
    for _ in range(TILED.steps(made)):
        before = copied(state)
        once, twice = tiled.step(made, state), tiled.step(made, state)
        assert same([before], [copied(state)])
        assert same([copied(once)], [copied(twice)])
        state = once
    assert same([given_], [copied(made)])


@quick
@given(specs(most=12, wide=3))
def test_what_is_kept_is_m_l_and_acc_of_each_row_and_in_fa2_only_while_its_q_tile_stays(spec):
    d_v = len(spec["v"][0])
    for moment in walk(**spec)[1:]:
        event = moment.event
        for i, rows in enumerate(moment.state.rows):
            if rows is not None:
                count = min(spec["block_q"], len(spec["q"]) - i * spec["block_q"])
                assert (rows.m.shape, rows.l.shape, rows.acc.shape) == ((count,), (count,), (count, d_v))
                assert spec["algorithm"] == "fa1" or i * spec["block_q"] == event.rows.start
        if event.kind == "normalise":
            assert all(rows is None for rows in moment.state.rows)


@quick
@given(specs(), wide)
def test_m_never_falls_and_factors_are_at_most_one(spec, name):
    for moment in walk(**spec, format=name)[1:]:
        event = moment.event
        assert (event.now.m >= event.before.m).all()
        if event.parts and event.kind == "tile":
            for part in ("alpha", "p", *(["beta"] if spec["algorithm"] == "fa1" else [])):
                assert ((event.parts[part] >= 0) & (event.parts[part] <= 1)).all()
            kept = event.before.m == event.parts["m_new"]
            assert (event.parts["alpha"][kept & (event.before.m != NONE)] == 1).all()


@both
def test_a_seed_is_the_matrices_that_it_draws(algorithm):
    made = TILED.spec(seed=3, n_q=5, n_k=7, d=3, d_v=2, algorithm=algorithm)
    assert (made.q.shape, made.k.shape, made.v.shape) == ((5, 3), (7, 3), (7, 2))
    told = {name: getattr(made, name) for name in ("q", "k", "v")}
    ours, theirs = (shots(TILED, **given, algorithm=algorithm) for given in ({"seed": 3, "n_q": 5, "n_k": 7, "d": 3, "d_v": 2}, told))
    assert [shot["state"] for shot in ours] == [shot["state"] for shot in theirs]
    assert ours[0]["spec"]["seed"] == 3
    assert "q" not in ours[0]["spec"]


# The ledger

SHAPES = [
    (8, 2, 2, 4),
    (12, 3, 4, 3),
    (16, 4, 16, 2),
    (6, 5, 1, 6),
    (9, 1, 3, 3),
    (10, 2, 3, 4),
]  # n, d, block_q, block_k; the last is ragged


def totals(n, d, block_q, block_k, algorithm):
    """Everything that a run of n queries and n keys has counted at its end."""
    dice = np.random.default_rng(n)
    q, k, v = (dice.normal(size=(n, d)) for _ in range(3))
    return walk(q=q, k=k, v=v, block_q=block_q, block_k=block_k, algorithm=algorithm)[-1].ledger


@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), SHAPES)
def test_fa2_moves_k_and_v_once_a_q_tile(n, d, block_q, block_k):
    ledger = totals(n, d, block_q, block_k, "fa2")
    assert ledger.reads + ledger.writes == 2 * n * d + n + -(-n // block_q) * 2 * n * d
    assert ledger.writes == n * d + n
    assert ledger.div == n * d


@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), SHAPES)
def test_fa1_moves_q_and_o_once_a_column_of_tiles(n, d, block_q, block_k):
    ledger, columns = totals(n, d, block_q, block_k, "fa1"), -(-n // block_k)
    assert ledger.reads + ledger.writes == (n * d + 2 * n) + 2 * n * d + columns * (3 * n * d + 4 * n)
    assert ledger.div == columns * n * d


@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), [one for one in SHAPES if one[3] < one[0]])
def test_fa1_divides_more_than_fa2(n, d, block_q, block_k):
    ours, theirs = (totals(n, d, block_q, block_k, algorithm) for algorithm in ("fa1", "fa2"))
    assert ours.div == -(-n // block_k) * theirs.div > theirs.div
    assert ours.exp > theirs.exp, "beta is one more a row and tile"
    assert ours.mul > theirs.mul


def test_the_counts_of_a_toy_size():
    """N = 8, d = 2, and a chip with room for 32 numbers: tiles of 2 by 4. fa1 moves 224 numbers, where standard attention moves 320."""
    ledger = totals(8, 2, 2, 4, "fa1")
    assert ledger.reads + ledger.writes == 224


def test_operations_of_a_later_tile_counted_by_hand():
    """The second tile of the worked example: two rows by two keys, d = d_v = 2, everything live.

    Dots: 2·2·2 products and as many additions from 0; 4 scalings. Highest: 4. Alpha: 2 differences and 2 exponentials. Sizes: 4 and 4.
    l·alpha 2, acc·alpha 4. The sizes' sum 4 additions; p·V 8 products and 8 additions. l + sum 2, acc + p·V 4.
    """
    before, after, end = (shot["ledger"] for shot in shots(TILED, **GIVEN)[1:])
    by = {name: after["ops"][name] - before["ops"][name] for name in after["ops"]}
    assert by == {"mul": 8 + 4 + 2 + 4 + 8, "add": 8 + 2 + 4 + 4 + 8 + 2 + 4, "exp": 2 + 4, "div": 0, "max": 4}
    assert {name: end["ops"][name] - after["ops"][name] for name in by} == {"mul": 0, "add": 0, "exp": 0, "div": 4, "max": 0}
    assert (before["reads"], after["reads"], end["reads"]) == (2 * 2 + 2 * 4, 2 * 2 + 2 * 2 * 4, 2 * 2 + 2 * 2 * 4)
    assert (before["writes"], after["writes"], end["writes"]) == (0, 0, 2 * 2 + 2)
    assert (before["kept"], after["kept"], end["kept"]) == (2 * (2 + 2 + 2), 2 * (2 + 2 + 2), 0)


@quick
@given(specs(most=12, wide=3), formats())
def test_nothing_is_counted_before_the_first_step_and_counts_never_fall(spec, forms):
    run = walk(**spec, **forms)
    assert run[0].ledger == Ledger()
    for before, after in pairwise(run):
        assert all(getattr(after.ledger, name) >= x for name, x in vars(before.ledger).items() if name != "kept")


@quick
@given(specs(most=12, wide=3))
def test_what_is_used_again_without_being_read_again_was_kept(spec):
    """fa2 keeps the Q tile, m, l and acc from its first live tile to its last, fa1 the K and V tile: one skipped between drops nothing."""
    d, d_v, run = len(spec["q"][0]), len(spec["v"][0]), walk(**spec)[1:]
    outer = (lambda event: event.rows.start) if spec["algorithm"] == "fa2" else (lambda event: event.cols.start)
    live = [moment for moment in run if moment.event.kind == "tile" and not moment.event.skipped]
    for one, other in pairwise(live):
        if outer(one.event) == outer(other.event):
            rows, cols = one.event.rows.stop - one.event.rows.start, one.event.cols.stop - one.event.cols.start
            needed = rows * (d + d_v + 2) if spec["algorithm"] == "fa2" else cols * (d + d_v)
            assert all(moment.ledger.kept >= needed for moment in run[one.step - 1 : other.step - 1])


@pytest.mark.parametrize(
    ("algorithm", "spec", "needed"),
    [
        ("fa2", {"window": 1, "key_lengths": (1, 0, 3), "block_q": 3, "block_k": 1}, 3 * (1 + 1 + 2)),
        ("fa1", {"key_lengths": (2, 0, 2), "block_q": 1, "block_k": 3}, 3 * (1 + 1)),
    ],
)
def test_a_tile_skipped_between_two_live_ones_drops_nothing(algorithm, spec, needed):
    run = walk(q=[[1.0]] * 3, k=[[1.0]] * 3, v=[[1.0]] * 3, algorithm=algorithm, **spec)
    assert [moment.event.skipped for moment in run[1:4]] == [False, True, False]
    assert [moment.ledger.kept for moment in run[1:4]] == [needed] * 3


def test_a_narrower_format_changes_no_count():
    for algorithm in ("fa2", "fa1"):
        spec = {"seed": 4, "n_q": 5, "n_k": 7, "d": 3, "algorithm": algorithm, "causal": "bottom-right"}
        assert len({walk(**spec, format=name)[-1].ledger for name in FORMATS}) == 1
