"""Random specs of attention for hypothesis, running them, and laying a run beside the scalar model's."""

import math
import random
import sys

import numpy as np
from hypothesis import strategies as st

from app.machines import MACHINES, tiled
from app.machines.run import moments
from tests.machines import tiled_model as model
from tests.machines.helpers import differences
from tests.machines.scalar_model import FORMATS

TILED, STANDARD = MACHINES["tiled-attention"], MACHINES["standard-attention"]
EXP_KNOWN = [name for name in FORMATS if name != "float64"]  # where NumPy's exp and Python's are the same once rounded
WILD = [math.nan, math.inf, -math.inf, sys.float_info.max, 65504.0, -448.0, 1e-300]
NUMBERS = {
    "whole": lambda dice: float(dice.randint(-3, 3)),  # many ties
    "plain": lambda dice: dice.uniform(-2, 2),
    "large": lambda dice: dice.uniform(-2, 2) * 2.0 ** dice.randint(-9, 9),  # overflows the shorter formats
    "wild": lambda dice: dice.choice(WILD) if dice.random() < 0.04 else dice.uniform(-2, 2),
}


@st.composite
def masks(draw, n_q, n_k):
    """Causal with either corner, windows, one key length or one each: any of them, often none."""
    length = st.integers(0, n_k)
    return {
        "causal": draw(st.sampled_from(["none", "none", "top-left", "bottom-right"])),
        "window": draw(st.none() | st.integers(1, n_k + 2)),
        "key_lengths": draw(st.none() | length.map(lambda one: (one,)) | st.lists(length, min_size=n_q, max_size=n_q).map(tuple)),
    }


@st.composite
def problems(draw, numbers=("whole", "plain"), most=40, wide=8):
    """q, k, v, a scale and masks. The matrices come from a drawn seed: hypothesis would be slow to draw a thousand numbers."""
    n_q, n_k = draw(st.integers(1, most)), draw(st.integers(1, most))
    d, d_v = draw(st.integers(1, wide)), draw(st.integers(1, wide))
    number, dice = NUMBERS[draw(st.sampled_from(numbers))], random.Random(draw(st.integers(0, 2**32)))
    q, k, v = ([[number(dice) for _ in range(width)] for _ in range(n)] for n, width in ((n_q, d), (n_k, d), (n_k, d_v)))
    scale = draw(st.sampled_from(["auto", "auto", 1.0, 0.3, -0.75, 0.0]))
    return {"q": q, "k": k, "v": v, "scale": scale} | draw(masks(n_q, n_k))


@st.composite
def cut(draw, problem):
    """Any tiles, larger than the whole too, either algorithm and order."""
    n_q, n_k = len(problem["q"]), len(problem["k"])
    return {
        "block_q": draw(st.integers(1, n_q + 2)), "block_k": draw(st.integers(1, n_k + 2)),
        "algorithm": draw(st.sampled_from(["fa2", "fa1"])), "order": draw(st.sampled_from(["left", "right"])),
    }  # fmt: skip


@st.composite
def specs(draw, **kind):
    problem = draw(problems(**kind))
    return problem | draw(cut(problem))


@st.composite
def formats(draw):
    """One format for everything, as FlashAttention mixes them, or any mixture whose exponentials are known."""
    one = draw(st.sampled_from(EXP_KNOWN))
    mixed = {"format": draw(st.sampled_from(FORMATS)), "compute": one} | {
        part: draw(st.sampled_from(FORMATS)) for part in ("p_format", "accumulate")
    }
    short = draw(st.sampled_from(["float16", "bfloat16"]))
    flash = {"format": short, "p_format": short, "compute": "float32", "accumulate": "float32"}
    return draw(st.sampled_from([{"format": one}, {"format": one}, flash, mixed]))


def walk(machine=TILED, **spec):
    """Every moment of a run."""
    return list(moments(machine, machine.spec(**spec)))


def answer(module=tiled, **spec):
    """m, l, lse and output of every query at the end of a run of tiled.py or a mutant of it, as arrays."""
    made = module.Spec(**spec)
    n_q = made.n_q
    m, l, output = np.full(n_q, np.nan), np.full(n_q, np.nan), np.full((n_q, made.d_v), np.nan)
    state = module.start(made)
    for _ in range(module.steps(made)):
        event = module.advance(made, state)
        state = event.after
        m[event.rows], l[event.rows] = event.now.m, event.now.l
        if event.kind == "normalise":
            output[event.rows] = event.parts["output"]
        elif made.algorithm == "fa1":
            output[event.rows] = made.forms[0].round_array(event.now.acc)
    return {"m": m, "l": l, "lse": module.lse(made, m, l), "output": output}


def told(event):
    """An event as the model tells it."""
    found = {"kind": event.kind, "rows": [event.rows.start, event.rows.stop], "cols": [event.cols.start, event.cols.stop]}
    found |= {"skipped": event.skipped, "reads": event.cost.reads, "writes": event.cost.writes}
    found |= {name: part.tolist() for name, part in event.parts.items()}
    return found | {"m": event.now.m.tolist(), "l": event.now.l.tolist(), "acc": event.now.acc.tolist()}


def faults(**spec):
    """Where a tiled run differs from the scalar model's: every number of every event, and what it moved."""
    found = walk(**spec)[1:]
    want = model.run(**spec)
    if len(want) != len(found):
        return [f"{len(found)} steps are not {len(want)}"]
    said = []
    for step, (theirs, moment) in enumerate(zip(want, found, strict=True), start=1):
        ours = told(moment.event)
        said += differences(theirs, ours, f"step {step}")
        said += [f"step {step} has {name}" for name in set(ours) - set(theirs) - {"cols"}]
    return said
