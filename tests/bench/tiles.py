"""Time for tiled attention against NumPy computing the same product whole: scores, softmax, output, in the same format.

On a busy machine the library's threads wait for one another in small products: OPENBLAS_NUM_THREADS=1 keeps both sides to one.
"""

import time
from collections.abc import Iterator
from statistics import median

import numpy as np
from numpy.typing import NDArray

from app.machines.run import moments
from app.machines.tiled import MACHINE, Spec
from tests.bench.table import Row, row

N, D, BLOCK = 4096, 64, 128
TITLE = f"tiles: one head of tiled attention, n = {N:,}, d = {D}, {BLOCK} × {BLOCK} tiles, against NumPy whole"
TARGET = 3
ROUNDS = 5  # the two in turn, so that a busy moment touches them alike


def rows() -> Iterator[Row | str]:
    dice = np.random.default_rng(3)
    for name in ("float32", "float64"):
        q, k, v = (dice.standard_normal((N, D)).astype(name) for _ in range(3))
        spec = MACHINE.spec(q=q, k=k, v=v, block_q=BLOCK, block_k=BLOCK, format=name)
        tiles, whole = [], []
        for turn in range(ROUNDS + 1):  # the first warms up
            before = time.perf_counter()
            _tiled(spec)
            between = time.perf_counter()
            _whole(q, k, v)
            if turn:
                tiles.append((between - before) * 1e3)
                whole.append((time.perf_counter() - between) * 1e3)
        yield name
        yield row("NumPy, whole", whole)
        yield row("tiled-attention", tiles)
        ratio = median(ours / theirs for ours, theirs in zip(tiles, whole, strict=True))
        yield Row("tiled-attention / NumPy", ratio, unit="×", target=TARGET)


def _tiled(spec: Spec) -> None:
    for _ in moments(MACHINE, spec):
        pass


def _whole(q: NDArray[np.floating], k: NDArray[np.floating], v: NDArray[np.floating]) -> NDArray[np.floating]:
    scores = (q @ k.T) * q.dtype.type(1 / np.sqrt(D))
    sizes = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.floating] = sizes / sizes.sum(axis=1, keepdims=True)
    return shares @ v
