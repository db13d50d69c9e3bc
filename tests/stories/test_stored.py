"""Where storing the inputs moves the float64 answer, rows of scores say both answers; the oracle is NumPy in float64."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.machines import MACHINES
from app.main import create_app
from app.numbers import show
from app.runs import shot

STORED = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float8_e5m2": ml_dtypes.float8_e5m2}


def answer(scores: np.ndarray, values: np.ndarray) -> list[str]:
    sizes = np.exp(scores - scores.max())
    return [show(float(x)) for x in (sizes.sum(), scores.max() + np.log(sizes.sum()), sizes @ values / sizes.sum())]


@pytest.mark.parametrize("name", ["online-softmax", "merge", "division-order"])
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=1, max_size=6), st.sampled_from(sorted(STORED)))
def test_both_answers_stand_where_they_differ(name, pairs, form):
    scores, values = map(np.array, zip(*pairs, strict=True))
    machine = MACHINES[name]
    spec = machine.spec(scores=tuple(scores.tolist()), values=tuple(values.tolist()), format=form)
    said = shot(machine, spec, machine.steps(spec)).words["typed"]
    typed = answer(scores, values)
    stored = answer(*(x.astype(STORED[form]).astype(float) for x in (scores, values)))
    for before, after in zip(typed, stored, strict=True):
        if before != after and "10⁻" not in before + after:  # of a sum that cancels, the last digits are each way's own
            assert before in said.partition("As stored")[0]
            assert after in said.partition("As stored")[2]
    assert bool(said) == (typed != stored) or "10⁻" in "".join(typed + stored)


def test_a_page_says_it():
    page = TestClient(create_app()).get("/widgets/online-softmax?scores=0.3,1.1&format=bfloat16&step=2").text
    assert "moves even the float64 answer. As typed: lse 1.471. As stored: lse 1.472." in page
