"""What the tests of the machines share: the data files, numbers back from the wire, comparing, running."""

import json
import math
from pathlib import Path

from app import runs
from app.machines import MACHINES

DATA = Path(__file__).parents[1] / "data"
ONLINE, PASSES = MACHINES["online-softmax"], MACHINES["softmax-passes"]
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def numbers(told):
    """Wire form back to Python: the three strings that stand for numbers become them, all the way down."""
    if isinstance(told, dict):
        return {key: numbers(x) for key, x in told.items()}
    if isinstance(told, list):
        return [numbers(x) for x in told]
    return SPECIAL.get(told, told) if isinstance(told, str) else told


GOLDEN = numbers(json.loads((DATA / "worked_examples.json").read_text()))
CASES = {case["id"]: numbers(case) for case in json.loads((DATA / "known_failures.json").read_text())}
REPORTED = {case["id"]: numbers(case) for case in json.loads((DATA / "reported_2026-12.json").read_text())}


def shots(machine=ONLINE, **spec):
    """Every snapshot of a run, as numbers."""
    return numbers(list(runs.snapshots(machine, machine.spec(**spec))))


def end(machine=ONLINE, **spec):
    """The last snapshot of a run."""
    made = machine.spec(**spec)
    return numbers(runs.snapshot(machine, made, machine.steps(made)))


def last(machine=ONLINE, **spec):
    """The state at the end of a run."""
    return end(machine, **spec)["state"]


def floats(*xs):
    return tuple(map(float, xs))


def differences(want, got, where=""):
    """Where `got` lacks or contradicts `want`; what `want` does not mention may be anything. NaN equals NaN, −0 equals 0."""
    if isinstance(want, dict):
        for key, part in want.items():
            if key not in got:
                yield f"{where}.{key} is missing"
            else:
                yield from differences(part, got[key], f"{where}.{key}")
    elif isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(want) != len(got):
            yield f"{where}: {got} is not {want}"
        else:
            for i, (a, b) in enumerate(zip(want, got, strict=True)):
                yield from differences(a, b, f"{where}[{i}]")
    elif not (want == got or (want != want and got != got)):
        yield f"{where}: {got!r} is not {want!r}"


def same(want, got):
    return not list(differences(want, got))


def close(want, got, tol):
    """Absolutely within tol, all the way down; infinities and NaN must be the same."""
    if isinstance(want, (list, tuple)):
        return len(want) == len(got) and all(close(a, b, tol) for a, b in zip(want, got, strict=True))
    if not math.isfinite(want):
        return same(want, got)
    return abs(got - want) <= tol


def at_places(x, places):
    return [at_places(part, places) for part in x] if isinstance(x, (list, tuple)) else round(x, places)
