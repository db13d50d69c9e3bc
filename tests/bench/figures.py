"""Figures: each kind of file of the default and of the largest state that a page holds, made without a cache or a server."""

import time
from collections.abc import Iterator

from app.figures.kinds import MEDIA_TYPES, make
from app.routes.figures import job_of
from tests.bench.table import Row, row

TITLE = "figures: the time to make a file; the most that one request may cost a worker"
ROUNDS = 3
ADDRESS = "https://tilewise.example"
STATES = {
    "online-softmax, default": ("online-softmax", {"step": "6"}, 500),
    "online-softmax, 64 scores": ("online-softmax", {"scores": ",".join(str((7 * i) % 13 / 2) for i in range(64)), "step": "64"}, 2_000),
    "tiled-attention, default": ("tiled-attention", {"step": "2"}, 500),
    "tiled-attention, 64 × 64, tiles of one": (
        "tiled-attention",
        dict.fromkeys(("n_q", "n_k"), "64") | {"seed": "1", "d": "16", "d_v": "16", "block_q": "1", "block_k": "1", "step": "4160"},
        5_000,
    ),
}
MOVING = 4  # times the budget: a moving picture is many


def rows() -> Iterator[Row | str]:
    for label, (name, given, budget) in STATES.items():
        yield label
        for ending in MEDIA_TYPES:
            samples = [_made(name, ending, given) for _ in range(ROUNDS)]
            yield row(ending, samples, target=budget * (MOVING if ending == "gif" else 1))


def _made(name: str, ending: str, given: dict[str, str]) -> float:
    begun = time.perf_counter()
    make(ending, job_of(name, ending, given, ADDRESS))
    return 1000 * (time.perf_counter() - begun)
