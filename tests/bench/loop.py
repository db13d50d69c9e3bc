"""How long the event loop stands still while an answer is made: a light step that comes at that moment waits so long."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

from app.main import create_app
from app.settings import Settings
from tests.bench.table import Row, row

TITLE = "loop: the longest that the event loop stands still while one answer is made"
MOST = 20.0  # milliseconds
BEAT = 0.001
TURNS = 5

_ROW = ",".join(f"{i % 7}.{i % 10}" for i in range(64))
_LONG = ",".join("1.25" for _ in range(1024))
_TILES = "seed={turn}&n_q=64&n_k=64&d=8&d_v=8&block_q=1&block_k=1"
BODY = json.dumps(
    {"spec": {"scores": [i % 7 + 0.25 for i in range(4000)], "values": [[1.5] * 16] * 4000, "block": 100}, "count": 2}
).encode()
KINDS = {
    "a step of eight scores": "/api/v1/machines/online-softmax/snapshots/8?scores=6,5,7,6,7,9,8,6&offset={turn}",
    "a page of eight scores": "/widgets/online-softmax?scores=6,5,7,6,7,9,8,6&offset={turn}",
    "a page of 64 scores": f"/widgets/online-softmax?scores={_ROW}&offset={{turn}}",
    "a lesson": "/lessons/online-softmax?track=deep&turn={turn}",
    "1,024 scores by GET, 64 snapshots": f"/api/v1/machines/online-softmax/snapshots?scores={_LONG}&offset={{turn}}",
    "a page of 64 by 64 tiles": f"/widgets/tiled-attention?{_TILES}",
    "a picture": "/figures/online-softmax.png?scores=6,5,7,6,7,9,8,6&offset={turn}",
    "64 snapshots of 64 by 64 tiles": f"/api/v1/machines/tiled-attention/snapshots?{_TILES}",
    "a body of 350 kB": "/api/v1/machines/online-softmax/snapshots",
    "bad input: 16,000 scores": "/widgets/online-softmax?turn={turn}&scores=" + "1," * 16_000 + "1",
    "bad input: 5,000 names": "/api/v1/machines/online-softmax/snapshots?turn={turn}&" + "&".join(f"a{i}" for i in range(5_000)),
    "bad input: one number of 32,000 digits": "/widgets/online-softmax?turn={turn}&scores=" + "1" * 32_000 + "x",
}


def rows() -> Iterator[Row | str]:
    for label, found in asyncio.run(stalls()).items():
        yield row(label, found, target=MOST)


async def stalls() -> dict[str, list[float]]:
    """Milliseconds by which a heartbeat of the loop came late, at most, for each of a few answers of each kind."""
    app = create_app(Settings())
    await get(app, "/widgets/online-softmax")
    found: dict[str, list[float]] = {}
    for label, path in KINDS.items():
        bad = label.startswith("bad input")
        if (status := await get(app, path.format(turn=9))) != (
            422 if bad else 200
        ):  # what is made once, such as a process to draw in, is made here
            raise SystemExit(f"{label}: the site answered {status}")
        found[label] = [await late(app, path.format(turn=turn + 10)) for turn in range(TURNS)]
    return found


async def late(app: Any, path: str) -> float:
    worst, going = 0.0, True

    async def beat() -> None:
        nonlocal worst
        while going:
            before = time.perf_counter()
            await asyncio.sleep(BEAT)
            worst = max(worst, time.perf_counter() - before - BEAT)

    heart = asyncio.ensure_future(beat())
    await asyncio.sleep(0.02)
    await get(app, path)
    going = False
    await heart
    return worst * 1e3


async def get(app: Any, path: str) -> int:
    """The status of an answer. A path without a query, to a machine's snapshots, is a POST of a long body."""
    status = 0
    path, _, query = path.partition("?")
    body = b"" if query or not path.endswith("snapshots") else BODY

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http", "method": "POST" if body else "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"a"), (b"accept-encoding", b"gzip, deflate, br, zstd")], "scheme": "http", "server": ("a", 80), "client": None,
        "http_version": "1.1",
    }  # fmt: skip
    await app(scope, receive, send)
    return status
