"""Faults put into tiled.py and attention.py on purpose: each must be caught, and the same check must pass on the source as it is."""

import math
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import app.machines
from app.machines import attention, tiled
from tests.machines.attention_oracle import Oracle
from tests.machines.helpers import CASES, GOLDEN, close
from tests.machines.test_mutants import compiled
from tests.machines.tiled_specs import answer

NONE = -math.inf
TILES = GOLDEN["tiles_two_queries_four_keys"]


def one_query(case_id, **more):
    """A case's scores, each the key of one query of 1."""
    given = CASES[case_id]["input"]
    return {
        "q": [[1.0]],
        "k": [[s] for s in given["scores"]],
        "v": [[v] for v in given["v"]],
        "scale": 1.0,
        "block_k": given["block"],
    } | more


EXAMPLE = {name: TILES[name] for name in ("q", "k", "v", "block_q", "block_k")} | {"scale": float(TILES["scale"])}
RISING = {"q": [[1.0, 0.5], [0.25, -1.0], [1.0, 1.0]], "k": [[0.5 * j, (-1.0) ** j] for j in range(5)],
          "v": [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [-1.0, 1.0], [2.0, 2.0]]}  # fmt: skip
TAIL = one_query("tail-block-zero-padded-keys")
NEGATIVE = {"q": [[1.0]], "k": [[-1.0], [-0.5], [-2.0]], "v": [[1.0], [2.0], [10.0]], "scale": 1.0, "key_lengths": (2,), "block_k": 3}
SENTINEL = {"q": [[-20000.0]], "k": [[1.0], [0.0]], "v": [[1.0], [100.0]], "scale": 1.0, "key_lengths": (1,)}
NAN_KEY = RISING | {"k": [*RISING["k"][:4], [math.nan, 0.0]], "key_lengths": (4,), "block_k": 3}
NAN_VALUE = RISING | {"v": [*RISING["v"][:4], [math.nan, math.inf]], "key_lengths": (4,), "block_k": 3}
EMPTY = RISING | {"causal": "bottom-right", "q": RISING["q"] * 2, "block_q": 3}
LATE = RISING | {"key_lengths": (2, 5, 4), "block_q": 3}
FA1 = RISING | {"algorithm": "fa1"}
PADDED_SIZES = "_sizes(arithmetic, np.pad(scores, ((0, 0), (0, spec.block_k - scores.shape[1]))), m_new)"
SCORES = "scores = np.where(live != 0, arithmetic.mul(dots, spec.factor), MASKED)"
FINITE = SCORES.replace("MASKED", "-1e4")
SUMS = "l_new, acc_new = sums.add(l_rescaled, row_sums), sums.add(acc_rescaled, pv)"
ALPHA = "alpha = _factor(arithmetic, before.m, m_new)"
SCALE = 'return self.forms[1].round(1 / math.sqrt(self.d) if self.scale == "auto" else float(self.scale))'

LENGTHS = "seen &= key < np.array(self.key_lengths if len(self.key_lengths) == 1 else self.key_lengths[rows])[:, None]"


@dataclass(frozen=True)
class Mutant:
    """of: whose line it is; problem: where it must show; makes: the output that this fault gives, where a case tells."""

    name: str
    line: str
    replacement: str
    problem: dict[str, Any] = field(repr=False)
    of: ModuleType = tiled
    makes: Any = None


MUTANTS = [
    Mutant("acc not rescaled", "acc_rescaled = sums.mul(before.acc, alpha[:, None])", "acc_rescaled = before.acc", EXAMPLE),
    Mutant("l not rescaled", SUMS, SUMS.replace("l_rescaled", "before.l"), EXAMPLE),
    Mutant("one factor for the whole tile, the smallest", ALPHA, f"{ALPHA}\nalpha = np.full(len(alpha), alpha.min())", EXAMPLE),
    Mutant("one factor for the whole tile, the first row's", ALPHA, f"{ALPHA}\nalpha = np.full(len(alpha), alpha[0])", EXAMPLE),
    Mutant("the inverse factor", ALPHA, "alpha = _factor(arithmetic, np.where(before.m == MASKED, before.m, m_new), before.m)", EXAMPLE),
    Mutant("p with the old maximum", "p = _sizes(arithmetic, scores, m_new)", "p = _sizes(arithmetic, scores, before.m)", EXAMPLE),
    Mutant("the maximum of the tile alone", "m_new = arithmetic.row_max(before.m, scores)",
           "m_new = arithmetic.row_max(np.full(len(scores), MASKED), scores)", LATE),
    Mutant("a tail padded with scores of 0", "row_sums = sums.row_sum(p)", f"row_sums = sums.row_sum({PADDED_SIZES})", TAIL,
           makes=CASES["tail-block-zero-padded-keys"]["faulty"]["out"]),
    Mutant("a mask that is added", SCORES, "scores = arithmetic.mul(dots, spec.factor) + np.where(live != 0, 0.0, MASKED)", NAN_KEY),
    Mutant("a mask that is multiplied", SCORES, "scores = arithmetic.mul(dots, spec.factor) * np.where(live != 0, 1.0, MASKED)", NEGATIVE,
           makes=CASES["multiply-by-inf-mask"]["faulty"]["out"]),
    Mutant("a mask that is a finite number", SCORES, FINITE, SENTINEL),
    Mutant("a mask that is a finite number, in a row with no key", SCORES, FINITE, LATE | {"key_lengths": (0, 5, 4)}),
    Mutant("a masked value multiplied", SUMS, f'pv = sums.dot(p_cast, parts["v"])\n{SUMS}', NAN_VALUE),
    Mutant("a tile skipped that is masked in part", "skipped = not live.any()", "skipped = not live.all()", EMPTY),
    Mutant("division forgotten", "divided = Arrays(accumulate, ops).div(before.acc, np.where(empty, 1.0, before.l[:, None]))",
           "divided = before.acc", EXAMPLE),
    Mutant("division by the sum of the last tile", SUMS, "l_new, acc_new = row_sums, sums.add(acc_rescaled, pv)", EXAMPLE),
    Mutant("no answer of its own for a row with no key", "empty = (before.m == MASKED)[:, None]",
           "empty = np.zeros((len(before.m), 1), dtype=bool)", EMPTY),
    Mutant("fa1 without its l factor", "acc_rescaled = sums.mul(before.acc, l_rescaled[:, None])",
           "acc_rescaled = sums.mul(before.acc, alpha[:, None])", one_query("fa1-normalised-update", algorithm="fa1"),
           makes=[(1.5 * math.exp(-2) + 3) / (2 * math.exp(-2) + 1)]),
    Mutant("fa1 with the new l in place of the old", "acc_rescaled = sums.mul(before.acc, l_rescaled[:, None])",
           "acc_rescaled = sums.mul(before.acc, l_new[:, None])", FA1),
    Mutant("fa1 without beta on the tile's values", "weighted = sums.add(acc_rescaled, sums.mul(pv, beta[:, None]))",
           "weighted = sums.add(acc_rescaled, pv)", FA1),
    Mutant("fa1 without beta on the tile's sum", "l_new = sums.add(l_rescaled, sums.mul(l_tile, beta))",
           "l_new = sums.add(l_rescaled, l_tile)", FA1),
    Mutant("fa1 that divides by nothing", "o_new = np.where(empty, 0.0, sums.div(weighted, np.where(empty, 1.0, l_new[:, None])))",
           "o_new = weighted", FA1),
    Mutant("the scale of a d padded to a multiple of eight", SCALE, SCALE.replace("self.d)", "-(-self.d // 8) * 8)"), RISING, attention),
    Mutant("the scale of d_v", SCALE, SCALE.replace("self.d)", "self.d_v)"),
           RISING | {"v": [[1.0], [2.0], [3.0], [4.0], [5.0]]}, attention),
    Mutant("bottom right taken for top left", 'own = query + (self.n_k - self.n_q if self.causal == "bottom-right" else 0)', "own = query",
           RISING | {"causal": "bottom-right"}, attention),
    Mutant("a window one too wide", "seen &= key > own - self.window", "seen &= key >= own - self.window",
           RISING | {"causal": "bottom-right", "window": 2}, attention),
    Mutant("a window without its own key", "seen &= key <= own", "seen &= key < own",
           RISING | {"causal": "bottom-right", "window": 2}, attention),
    Mutant("key lengths one too long", LENGTHS, LENGTHS.replace("<", "<="), LATE, attention),
]  # fmt: skip


def module_with(mutant, monkeypatch):
    """tiled.py compiled with the mutant's line in it, or over an attention.py that has it."""
    if mutant.of is tiled:
        return compiled(tiled, mutant.line, mutant.replacement)
    changed = compiled(attention, mutant.line, mutant.replacement)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, attention.__name__, changed)
        patch.setattr(app.machines, "attention", changed)
        found = compiled(tiled)
    assert issubclass(found.Spec, changed.Inputs)
    return found


def check(module, problem):
    """The output, and whether it and lse are SciPy's, in float64."""
    got = answer(module, **problem, format="float64")
    held = {name: np.nan_to_num(problem[name], nan=0.0, posinf=0.0) for name in ("k", "v")}  # bad numbers are all masked
    oracle = Oracle(**problem | held, format="float64")
    return got["output"], bool(
        np.allclose(got["output"], oracle.output, rtol=1e-12, atol=1e-12) and close(oracle.lse.tolist(), got["lse"].tolist(), 1e-11)
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_and_the_source_as_it_is_passes(mutant, monkeypatch):
    with np.errstate(all="ignore"):
        got, right = check(compiled(tiled), mutant.problem)
        assert right, f"the check fails without the fault: {got}"
        got, right = check(module_with(mutant, monkeypatch), mutant.problem)
    assert not right, f"nothing noticed: {got}"
    if mutant.makes is not None:
        assert close([mutant.makes], got.tolist(), 1e-6), f"caught, but {got} is not what this fault should make"


def test_nothing_yet_is_selected_and_not_left_to_a_format_that_cannot_hold_it():
    """exp(−∞ − m) is 0 by arithmetic too, but not where −∞ is NaN."""
    line = "fresh = m_old == MASKED"
    for name, right in (("float32", True), ("float8_e4m3fn", False)):
        assert answer(compiled(tiled), **EXAMPLE, format=name)["output"].tolist() == answer(**EXAMPLE, format=name)["output"].tolist()
        mutant = compiled(tiled, line, "fresh = np.zeros(len(m_old), dtype=bool)")
        assert np.isfinite(answer(mutant, **EXAMPLE, format=name)["output"]).all() == right


def test_a_mutant_leaves_the_machine_alone(monkeypatch):
    mutant = next(one for one in MUTANTS if one.of is attention)
    found = module_with(mutant, monkeypatch)
    assert found.Spec is not tiled.Spec
    assert app.machines.attention is sys.modules[attention.__name__] is attention
    assert check(tiled, mutant.problem)[1]
