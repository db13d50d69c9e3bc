"""Snapshots a second of one worker on one core, made anew and from the cache, beside a route that returns one ready made."""

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, repeat
from statistics import median

from tests.bench import keepalive
from tests.bench.ready_made import STEP
from tests.bench.servers import Server, pinned, ready_made, site, two_cores
from tests.bench.table import Row, row

TITLE = "snapshots: of the default eight scores, a second, from one worker on one core"
ROUNDS = 7
SECONDS = 0.5
WARM = 0.3  # seconds, for the first round, which does not count
BROWSER = "gzip, deflate, br, zstd"  # what a browser says it accepts
_PATH = "/api/v1/machines/online-softmax/snapshots/{}?scores=6,5,7,6,7,9,8,6&format=float32"


def rows() -> Iterator[Row | str]:
    server_core, client_core = two_cores()
    if client_core is None:
        yield "server and client share their cores here: the figures are too low"
    with site(server_core) as ours, ready_made(server_core) as plain, pinned(client_core):
        yield from _rows(ours, plain)


def _rows(ours: Server, plain: Server) -> Iterator[Row | str]:
    kept = _PATH.format(STEP)
    cached = keepalive.fetch(ours.port, keepalive.request(kept))
    made = keepalive.fetch(plain.port, keepalive.request("/snapshot"))
    if json.loads(cached) != json.loads(made):
        raise SystemExit("The ready-made route does not return the same snapshot: mend tests/bench/ready_made.py")
    fresh = _fresh()
    kinds = {
        "made anew": (ours, fresh),
        "cached": (ours, repeat(keepalive.request(kept))),
        "ready made": (plain, repeat(keepalive.request("/snapshot"))),
        "cached, compressed": (ours, repeat(keepalive.request(kept, BROWSER))),
    }
    rates: dict[str, list[float]] = defaultdict(list)
    busy: list[float] = []
    for turn in range(ROUNDS + 1):
        for name, (server, requests) in kinds.items():
            before = server.cpu()
            found = keepalive.load(server.port, requests, SECONDS if turn else WARM)
            after = server.cpu()
            if turn:
                rates[name].append(found.done / (after - before if before and after else found.took))
                busy.append(found.busy)
    yield row("made anew (each URL new)", rates["made anew"], unit="/s", target=400, floor=True)
    yield row("cached", rates["cached"], unit="/s")
    yield row("a FastAPI route, its model ready made", rates["ready made"], unit="/s")
    yield Row("cached / ready made", _ratio(rates["cached"], rates["ready made"]), unit="×", target=0.8, floor=True)
    yield row("cached, asked as browsers ask (br, …)", rates["cached, compressed"], unit="/s")
    yield Row("  the same / ready made", _ratio(rates["cached, compressed"], rates["ready made"]), unit="×")
    yield f"a second of the server's processor time; {len(made):,} bytes each; the client's core was busy {max(busy):.0%} at most"
    if max(busy) > 0.9:
        yield "the client was the bottleneck: the true figures are higher"


def _ratio(a: list[float], b: list[float]) -> float:
    """The median of the ratios of neighbours in time."""
    return median(x / y for x, y in zip(a, b, strict=True))


def _fresh() -> Iterator[bytes]:
    """The run's steps in turn, each under an address not seen before: 0 can be written 0e0, 0e1, 0e2, …"""
    for n in count():
        yield keepalive.request(f"{_PATH.format(1 + n % 8)}&offset=0e{n}")
