"""The operation that is named where a row stops being finite: it is there for each such row, it is the first, and it gives what it is said to."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.machines import first_bad
from tests.machines import scalar_model as model
from tests.machines.helpers import shots
from tests.machines.test_mutants import compiled
from tests.machines.tiled_specs import STANDARD, TILED, cut, formats, problems, walk

OVERFLOW = {
    "q": [[300.0, 1.0], [1.0, 0.0]], "k": [[1.0, 2.0], [2.0, 1.0], [300.0, 0.0], [2.0, 1.0]], "v": [[2.0], [0.0], [0.0], [1.0]],
    "scale": 0.001, "format": "float16",
}  # fmt: skip
MASKED_NAN = {
    "q": [[1.0]] * 3, "k": [[math.nan], [1.0], [0.0], [math.inf]], "v": [[1.0], [2.0], [math.nan], [3.0]], "causal": "bottom-right",
    "window": 2, "block_q": 3,
}  # fmt: skip
FAR_APART = {"q": [[1.0]], "k": [[-440.0], [440.0]], "v": [[1.0], [2.0]], "scale": 1.0, "block_k": 1, "format": "float8_e4m3fn"}
LATE_KEY = {"q": [[1.0]], "k": [[0.0], [0.0], [0.0], [70000.0]], "v": [[1.0]] * 4, "scale": 1.0, "format": "float16"}
DIFFERENCE = {"q": [[1.0]], "k": [[-60000.0], [60000.0]], "v": [[1.0], [math.nan]], "scale": 1.0, "format": "float16", "block_k": 2}
OPS = {"mul": model.multiply, "add": model.add, "sub": lambda name, a, b: model.add(name, a, -b), "div": model.divide}


def bad_numbers(values):
    return {("NaN" if math.isnan(x) else "∞") for x in values if not math.isfinite(x)}


def check(module=first_bad, **given):
    """Of a tiled run, row by row: each event's rows, as the module finds them, against the numbers that the row holds."""
    spec = TILED.spec(**given)
    known = [() for _ in range(spec.n_q)]
    live = spec.live(slice(0, spec.n_q), slice(0, spec.n_k)) != 0
    for moment in walk(**given)[1:]:
        event = moment.event
        rows = range(event.rows.start, event.rows.stop)
        found = module.after(spec, event, [known[row] for row in rows])
        for i, (row, bads) in enumerate(zip(rows, found, strict=True)):
            holds = bad_numbers([event.now.l[i], *event.now.acc[i], *(event.parts["output"][i] if "output" in event.parts else [])])
            holds |= bad_numbers([event.now.m[i]]) if event.now.m[i] != -math.inf else set()
            kinds = bad_numbers(one.gives for one in bads)
            assert holds <= kinds, "a number that is not finite stands alone"
            assert len(bads) == len(kinds) <= 2
            assert bads[: len(known[row])] == known[row]
            for one in bads[len(known[row]) :]:
                if one.key is not None:
                    assert event.cols.start <= one.key < event.cols.stop
                    assert live[row, one.key], "a masked key is blamed"
                assert not (one.op == "sub" and one.gives == -math.inf), "a difference of −∞ is only a size of 0"
                if one.op in OPS:
                    want = OPS[one.op](one.form, *one.operands)
                    assert one.gives == want or (math.isnan(one.gives) and math.isnan(want))
            if bads and not known[row] and bads[0].op not in ("cast", "div"):
                assert all(map(math.isfinite, bads[0].operands)), "an earlier operation was not finite"
            known[row] = bads
    return known


@st.composite
def any_spec(draw):
    problem = draw(problems(numbers=("plain", "large", "wild"), most=7, wide=3))
    return problem | draw(cut(problem)) | draw(formats())


@settings(deadline=None, max_examples=120, database=None)
@given(any_spec())
@example(OVERFLOW)
@example(OVERFLOW | {"algorithm": "fa1"})
@example(MASKED_NAN)
@example(FAR_APART)
@example(DIFFERENCE)
def test_what_is_not_finite_is_named_by_the_operation_that_made_it_so(spec):
    check(**spec)


@settings(deadline=None, max_examples=40, database=None)
@given(problems(numbers=("plain", "large", "wild"), most=6, wide=3), formats())
def test_the_standard_way_too(problem, form):
    shot = shots(STANDARD, **problem, **form)[-1]
    named = {}
    for one in shot["state"]["first_bad"]:
        named.setdefault(one["row"], []).append(one)
    for row, output in enumerate(shot["state"]["output"]):
        assert bad_numbers(output) <= bad_numbers(one["gives"] for one in named.get(row, []))


def test_an_overflow_is_told_in_event_state_caption_and_for_the_ear():
    run = shots(TILED, **OVERFLOW)
    for step, shot in enumerate(run):
        named = shot["state"]["first_bad"]
        assert [one["row"] for one in named] == ([0, 0] if step >= 2 else [])
        if step < 2:
            continue
        assert shot["event"]["first_bad"] == named
        assert named[0] == {
            "row": 0, "step": 2, "gives": math.inf, "op": "mul", "index": 2,
            "text": "Query 1, step 2: in q · k with key 3, 300 × 300 is past the largest float16 (65504)",
        }  # fmt: skip
        assert "in q · k with key 3, 300 × 300 is past the largest float16 (65504)" in shot["caption"]
        assert "in the size of key 3, ∞ − ∞ is NaN" in shot["caption"]
        assert "infinity minus infinity is not a number" in shot["spoken"]
        assert not set("×·∞−≈") & set(shot["spoken"])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"k": [[500.0]], "format": "float8_e4m3fn"}, "element 1 of key 1, 500, is past the largest float8_e4m3fn (448), which has no infinity: NaN"),
        ({"v": [[math.inf]]}, "element 1 of the value of key 1 is ∞ as given"),
        ({"q": [[math.nan]]}, "element 1 of the query is NaN as given"),
        ({"q": [[200.0]], "k": [[200.0]], "scale": 2.0, "format": "float16"}, "in scaling the score of key 1, 40000 × 2 is past the largest float16 (65504)"),
        ({"q": [[2e38]], "k": [[2.0]]}, "in q · k with key 1, 2.00×10³⁸ × 2 is past the largest float32 (≈ 3.40×10³⁸)"),
        ({"k": [[0.0], [0.0]], "v": [[40000.0], [40000.0]], "format": "float16"},
         "in size × value of key 2, element 1, 40000 + 40000 is past the largest float16 (65504)"),
        ({"k": [[0.0], [0.0]], "v": [[40000.0], [40000.0]], "format": "float16", "block_k": 1},
         "in the weighted sum, element 1, 40000 + 40000 is past the largest float16 (65504)"),
    ],
)  # fmt: skip
def test_what_an_operation_did(spec, said):
    problem = {"q": [[1.0]], "k": [[1.0]], "v": [[1.0]], "scale": 1.0} | spec
    for algorithm in ("fa2", "fa1"):
        assert shots(TILED, **problem, algorithm=algorithm)[-1]["state"]["first_bad"][0]["text"].split(": ", 1)[1] == said


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("places = np.flatnonzero(event.live[i]).tolist()", "places = list(range(event.live.shape[1]))"),
        ("keys = [event.cols.start + j for j in places]", "keys = [event.cols.start + j + 1 for j in places]"),
        ("if apart.gives != -math.inf:", "if True:"),
        ("factor = [] if old == MASKED else list(do.size(\"factor\", old, new))", "factor = list(do.size(\"factor\", new, old))"),
        ("if not math.isfinite(bad.gives) and not any(math.isnan(one.gives) == math.isnan(bad.gives) for one in known):",
         "if not math.isfinite(bad.gives):"),
        ("return bool((held[0] and not infinite) or (held[1] and not nan))", "return bool(held[0] and not infinite)"),
        ("yield from _scores(spec, do, event.rows.start + i, keys)", "pass"),
    ],
)  # fmt: skip
def test_a_fault_in_looking_for_it_is_caught(line, replacement):
    mutant = compiled(first_bad, line, replacement)
    caught = 0
    for one in (OVERFLOW, MASKED_NAN, FAR_APART, LATE_KEY, DIFFERENCE, MASKED_NAN | {"algorithm": "fa1"}):
        check(**one)
        try:
            check(mutant, **one)
        except (AssertionError, IndexError):
            caught += 1
    assert caught


def test_a_row_that_stays_finite_costs_no_second_look(monkeypatch):
    """Only rows that hold an infinity or NaN are worked once more."""
    monkeypatch.setattr(first_bad, "in_tile", lambda *given: pytest.fail("looked again"))
    spec = TILED.spec(q=np.eye(4).tolist(), k=np.eye(4).tolist(), v=np.eye(4).tolist())
    for moment in walk(q=np.eye(4).tolist(), k=np.eye(4).tolist(), v=np.eye(4).tolist())[1:]:
        first_bad.after(spec, moment.event, [()] * (moment.event.rows.stop - moment.event.rows.start))
