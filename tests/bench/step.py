"""Time for one step of the online machine, whatever the length of the run: it reads one score, and never what came before."""

import random
import time
from collections.abc import Iterator
from statistics import median

from app.machines.online import Spec, advance, start
from tests.bench.table import Row, row

TITLE = "step: one `advance` of online softmax, float32, block 1"
LENGTHS = (1_000, 10_000, 100_000)
FLAT = 1.1
CHUNK = 500  # steps timed together
MOST = 12  # seconds for each kind
ROUNDS = LENGTHS[-1] // CHUNK  # in each, one chunk of every length, so that a busy moment touches them alike


def rows() -> Iterator[Row | str]:
    dice = random.Random(2)
    for name, valued in (("without values", False), ("with a value each", True)):
        yield name
        taken: dict[int, list[float]] = {n: [] for n in LENGTHS}
        runs = {n: _chunks(_spec(n, valued, dice)) for n in LENGTHS}
        deadline = time.monotonic() + MOST
        while len(taken[LENGTHS[0]]) < ROUNDS and time.monotonic() < deadline:
            for n, chunks in runs.items():
                taken[n].append(next(chunks))
        for n in LENGTHS:
            yield row(f"n = {n:,}", taken[n], tail=True, unit="µs")
        ratio = median(long / short for long, short in zip(taken[LENGTHS[-1]], taken[LENGTHS[0]], strict=True))
        yield Row(f"n = {LENGTHS[-1]:,} / n = {LENGTHS[0]:,}", ratio, unit="×", target=FLAT)


def _spec(n: int, valued: bool, dice: random.Random) -> Spec:
    return Spec(tuple(dice.gauss(0, 3) for _ in range(n)), tuple(dice.random() for _ in range(n)) if valued else None)


def _chunks(spec: Spec) -> Iterator[float]:
    """Microseconds a step, for one chunk of a run after another, and at its end from its start again."""
    while True:
        state = start(spec)
        while state.read < len(spec.scores):
            before = time.perf_counter()
            for _ in range(CHUNK):
                state = advance(spec, state).after
            yield (time.perf_counter() - before) / CHUNK * 1e6
