"""Faults put into the machines on purpose: each must be caught, and the same check must pass on the source as it is.

A mutant replaces one whole line of a source file, which must be there exactly once, and compiles the result as a
module of its own. So a machine needs no hook for this, and a mutant whose line has changed says so.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.machines import formats, naive, online, passes
from tests.machines import scalar_model as model
from tests.machines.helpers import CASES, GOLDEN, close, floats, same
from tests.machines.test_known_failures import told


def compiled(module, line=None, replacement=None):
    """A module compiled afresh from another's source, with one line replaced; a comment after the line does not count."""
    source = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    if line is not None:
        found = [i for i, text in enumerate(source) if text.split("  #")[0].strip() == line]
        assert len(found) == 1, f"{line!r} is there {len(found)} times in {module.__name__}, not once"
        indent = source[found[0]][: -len(source[found[0]].lstrip())]
        source[found[0]] = "\n".join(indent + text for text in replacement.split("\n"))
    fresh = ModuleType(f"{module.__name__}_mutant")
    exec(compile("\n".join(source), fresh.__name__, "exec"), fresh.__dict__)
    return fresh


def ran(module, spec):
    """The readings of a run of online.py or a mutant of it, and the output at its end."""
    spec = module.Spec(**spec)
    state, readings = module.start(spec), []
    for _ in range(module.steps(spec)):
        readings.append(module.advance(spec, state))
        state = readings[-1].after
    return readings, module.output(spec, state), module.lse(spec, state)


def masked_nan():
    spec = told(CASES["nan-in-masked-v"])
    return spec | {"scores": spec["scores"][:2] + (-math.inf,) * 2}


# Checks: each asserts something of a module, and answers with the number that a case's `faulty` speaks of.


def output_of(case_id, spec=None):
    def check(module):
        case = CASES[case_id]
        got = ran(module, spec or told(case))[1]
        return list(got), close(case["expected"]["out"], list(got), case["tol"])

    return check


def trace_of(case_id):
    def check(module):
        case = CASES[case_id]
        readings = ran(module, told(case))[0]
        got = [[reading.after.m, reading.alpha, reading.after.l] for reading in readings]
        return got, close([[want["m"], want["alpha"], want["l"]] for want in case["expected"]["trace"]], got, case["tol"])

    return check


def stalled_sum(module):
    """In one block, where the block's own sum must stall."""
    case = CASES["uniform-stagnation-bfloat16"]
    l = ran(module, told(case) | {"block": 512})[0][-1].after.l
    return l, l == case["faulty"]["l"]


def lse_of_four(module):
    case = CASES["leading-masked-block"]
    got = ran(module, told(case))[2]
    return got, close(case["expected"]["lse"], got, case["tol"])


def first_factor(module):
    """The factor after an infinite score is NaN by arithmetic: a guard for "nothing yet" must not take it for that."""
    spec = {"scores": (math.inf, 0.0)}
    got = [reading.alpha for reading in ran(module, spec)[0]]
    return got, same([shot["event"]["alpha"] for shot in model.run(**spec)[1:]], got)


def old_way_of_thousands(module):
    want, form = GOLDEN["overflow"], formats.FORMATS["float32"]
    way, exps = module.Naive(form, form), []
    for index, score in enumerate(floats(*want["naive_float32_of"])):
        way = way.read(index, score)
        exps.append(way.exp)
    got = list(module.shares(form, form, exps, way.sum))
    return got, same(want["naive_float32_gives"], got)


def old_way_in_passes(module):
    want, spec = GOLDEN["overflow"], module.Spec(scores=floats(*GOLDEN["overflow"]["naive_float32_of"]), method="naive", block=3)
    state = module.start(spec)
    for _ in range(module.steps(spec)):
        reading = module.advance(spec, state)
        state = reading.after
    return list(reading.results), same(want["naive_float32_gives"], reading.results)


def rounding(name, x, want):
    def check(module):
        got = module.FORMATS[name].round(x)
        return got, same(want, got)

    return check


@dataclass(frozen=True)
class Mutant:
    """check: gives what a module makes and whether that is right; makes: what the mutant makes, where a case or sense tells."""

    name: str
    of: ModuleType
    line: str
    replacement: str
    check: Any
    makes: Any = None


def faulty(case_id, name="out"):
    return CASES[case_id]["faulty"][name]


ALPHA = "alpha = form.exp(form.sub(m_old, m_new))"
L = "l_rescaled = sums.mul(state.l, alpha)"
ACC = "acc_rescaled = tuple(sums.mul(element, alpha) for element in state.acc)"
SIZES = "p = tuple(0.0 if x == MASKED else form.exp(form.sub(x, m_new)) for x in s)"
NAIVE = "e = Arithmetic(self.form).exp(score)"
ROUND = "y = math.copysign(math.ldexp(round(math.ldexp(x, -quantum)), quantum), x)"
MUTANTS = [
    Mutant("no rescale of l", online, L, "l_rescaled = state.l", trace_of("l-may-decrease")),
    Mutant("no rescale of acc", online, ACC, "acc_rescaled = state.acc", output_of("rescale-l-but-not-acc"), faulty("rescale-l-but-not-acc")),
    Mutant("sizes against the old maximum", online, SIZES, SIZES.replace("m_new", "(m_new if m_old == MASKED else m_old)"),
           trace_of("ascending-always-rescales")),
    Mutant("sizes against an old maximum of nothing", online, SIZES, SIZES.replace("m_new", "m_old"), output_of("forgot-final-divide"), [math.nan]),
    Mutant("no guard for a masked first block", online, "if m_old == MASKED:", "if False:",
           output_of("leading-masked-block"), faulty("leading-masked-block")),
    Mutant("a guard that takes plus infinity for nothing", online, "if m_old == MASKED:", "if math.isinf(m_old):", first_factor, [0.0, 0.0]),
    Mutant("the inverse factor", online, ALPHA, "alpha = form.exp(form.sub(m_new, m_old))", trace_of("inverse-rescale-factor")),
    Mutant("the inverse factor on acc", online, ACC, "acc_rescaled = tuple(sums.div(element, alpha) for element in state.acc)",
           output_of("inverse-rescale-factor"), faulty("inverse-rescale-factor")),
    Mutant("the inverse factor on acc but for the first", online, ACC,
           "acc_rescaled = tuple(sums.div(element, alpha or 1.0) for element in state.acc)",
           output_of("inverse-rescale-factor"), faulty("inverse-rescale-factor", "out_if_first_block_skipped")),
    Mutant("alpha formed after m is updated", online, ALPHA, "alpha = form.exp(form.sub(m_new, m_new))",
           output_of("alpha-after-m-updated"), faulty("alpha-after-m-updated")),
    Mutant("a masked value multiplied", online, "if x != MASKED:", "if True:", output_of("nan-in-masked-v", masked_nan()), faulty("nan-in-masked-v")),
    Mutant("division forgotten", online, "return tuple(spec.form.round(sums.div(element, state.l)) for element in state.acc)", "return state.acc",
           output_of("forgot-final-divide"), faulty("forgot-final-divide", "out_never")),
    Mutant("a sum kept wider than its format", online, "row_sum = sums.add(row_sum, share)", "row_sum = row_sum + share",
           stalled_sum, CASES["uniform-stagnation-bfloat16"]["expected"]["l"]),
    Mutant("lse without m", online, "return Arithmetic(spec.sums, wider=spec.mixed).add(state.m, spec.sums.log(state.l))", "return spec.sums.log(state.l)", lse_of_four),
    Mutant("naive that subtracts the maximum, 1002 here", naive, NAIVE, "e = Arithmetic(self.form).exp(score - 1002.0)", old_way_of_thousands),
    Mutant("naive that clips", naive, NAIVE, "e = Arithmetic(self.form).exp(min(score, self.form.exp_limit))", old_way_of_thousands),
    Mutant("naive with a pass for the maximum", passes, '"naive": ("sum", "share"),', '"naive": ("max", "sum", "share"),', old_way_in_passes),
    Mutant("bfloat16 by way of float32", formats, ROUND, f'if self.name == "bfloat16":\n    return float(__import__("ml_dtypes").bfloat16(x))\n{ROUND}',
           rounding("bfloat16", 1 + 2**-8 + 2**-40, 1.0078125), 1.0),
    Mutant("ties away from zero", formats, ROUND, ROUND.replace("round(math.ldexp(x, -quantum))", "math.floor(math.ldexp(x, -quantum) + 0.5)"),
           rounding("bfloat16", 257.0, 256.0), 258.0),
    Mutant("subnormals with all their digits", formats, "quantum = max(math.frexp(x)[1], self.emin + 1) - self.digits",
           "quantum = math.frexp(x)[1] - self.digits", rounding("bfloat16", 1.5 * 2.0**-133, 2.0**-132), 1.5 * 2.0**-133),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_and_the_source_as_it_is_passes(mutant):
    got, right = mutant.check(compiled(mutant.of))
    assert right, f"the check fails without the fault: {got}"
    got, right = mutant.check(compiled(mutant.of, mutant.line, mutant.replacement))
    assert not right, f"nothing noticed: {got}"
    if mutant.makes is not None:
        assert close(mutant.makes, got, 1e-9), f"caught, but {got} is not what this fault should make"


def test_a_line_that_is_missing_or_not_alone_is_refused():
    for line, count in (("alpha = 1.5", 0), ("if state.m == MASKED:", 2)):
        with pytest.raises(AssertionError, match=f"there {count} times"):
            compiled(online, line, "pass")


def test_a_mutant_leaves_the_machine_alone():
    before = Path(online.__file__).read_bytes()
    mutant = compiled(online, L, "l_rescaled = 0.0")
    assert mutant.advance is not online.advance
    assert mutant.FORMATS is online.FORMATS, "a mutant of one file still works with the others as they are"
    assert Path(online.__file__).read_bytes() == before
