"""Everything at once, for as long as SOAK_MINUTES says (1; 20 before a release): what a site meets in a term, and some that nobody should send.

Students step, pages and pictures are asked for, long runs are posted, bad and oversized input comes, clients read and write slowly or
hang up. No answer may be a 5xx but the deliberate 503, which says when to come again; a part of the right answers is computed again by
the tests' own model, which shares no code with the site; and memory may not grow.
"""

import asyncio
import contextlib
import json
import math
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

from tests.bench.servers import HOST, Server, pinned, site, two_cores
from tests.bench.table import Row, row
from tests.machines import scalar_model

MINUTES = float(os.environ.get("SOAK_MINUTES", "1"))
TITLE = f"soak: mixed load for {MINUTES:g} minutes on one worker on one core; a full cache from the start"
CACHE = "8000000"  # bytes: soon full, so that what grows is not the cache
WARM = 0.25  # the part of the time after which memory is read first
CHECKED = 0.25  # the part of the steps that is computed again
STUDENTS = 60
FORMATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
PAGES = ("/", "/lessons/", "/lessons/online-softmax", "/lessons/splitting-a-row?track=deep", "/guide/hosting", "/widgets/memory-traffic")
ROWS = ("online-softmax", "softmax-passes", "merge")
WIDGETS = (*ROWS, "division-order", "tiled-attention")
BAD = {
    "/api/v1/machines/online-softmax/snapshots/1?scores=1,x": 422,
    "/api/v1/machines/online-softmax/snapshots/99?scores=1,2": 404,
    "/api/v1/machines/tiled-attention/snapshots/60000?seed=1&n_q=256&n_k=256&d=64&d_v=64&block_q=1&block_k=1": 422,
    "/widgets/online-softmax?scores=%ff%fe%00&format=%F0%9F%98%80": 422,
    "/widgets/merge?splits=-1": 422,
    "/figures/online-softmax.png?zoom=9": 422,
    "/figures/nothing.svg": 404,
    "/lessons/..%2f..%2fetc/passwd": 404,
    "/static/..%2f..%2fapp/main.py": 404,
    "/oembed?url=http://127.0.0.1/%3Cscript%3E": 404,
    "/nothing/here": 404,
}


@dataclass
class Found:
    """What came of it. `light` is in milliseconds."""

    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    light: list[float] = field(default_factory=list)
    checked: int = 0
    busy: int = 0
    hung_up: int = 0


class Client:
    """A connection kept alive, opened again when it is gone."""

    def __init__(self, server: Server, found: Found) -> None:
        self.server, self.found = server, found
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, kind: str, path: str, body: bytes | None = None, expected: int = 200) -> bytes | None:
        """The body of the answer; None where it is not the one expected, which is noted unless it is a 503 that says when to come again."""
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: {HOST}\r\n" + (
            f"Content-Length: {len(body)}\r\n" if body is not None else ""
        )
        for _ in range(2):
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection(HOST, self.server.port)
            assert self.reader is not None
            try:
                self.writer.write(f"{head}\r\n".encode() + (body or b""))
                status, headers, got = await answer(self.reader)
                break
            except (OSError, asyncio.IncompleteReadError):
                self.writer.close()
                self.writer = None
        else:
            self.found.wrong.append(f"{kind}: no answer to {path[:80]}")
            return None
        if headers.get("connection") == "close":
            self.writer.close()
            self.writer = None
        self.found.answers[f"{kind} {status}"] += 1
        if status == 503 and headers.get("retry-after", "").isdigit():
            self.found.busy += 1
            return None
        if status != expected:
            self.found.wrong.append(f"{kind}: {status} and not {expected} for {path[:80]}: {got[:200]!r}")
            return None
        return got


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
    if "content-length" in headers:
        return int(head[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return int(head[0].split()[1]), headers, body


def rows() -> Iterator[Row | str]:
    server_core, client_core = two_cores()
    with site(server_core, cache_bytes=CACHE) as server, pinned(client_core):
        found, memory = asyncio.run(soak(server, MINUTES * 60))
        yield f"{sum(found.answers.values()):,} answers: " + ", ".join(f"{n:,} {kind}" for kind, n in sorted(found.answers.items()))
        yield f"{found.hung_up:,} connections were broken off by their client; {found.busy:,} answers were 503 with Retry-After"
        yield row("a step, in the midst of it", found.light, tail=True)
        yield Row("  at p99", quantiles(found.light, n=100)[-1])
        yield Row("answers that were wrong", len(found.wrong), unit="", target=0.5)
        yield Row("steps computed again and equal", found.checked, unit="")
        yield "memory of all its processes, in MB, over time: " + ", ".join(f"{kilobytes / 1e3:.0f}" for _, kilobytes in memory)
        before, after = memory[int(len(memory) * WARM)][1], memory[-1][1]
        yield Row(f"memory after {WARM:.0%} of the time", before / 1e3, unit="MB")
        yield Row("memory at the end", after / 1e3, unit="MB")
        yield Row("  of that before", after / before if before else math.nan, unit="×", target=1.1)
        for one in found.wrong[:20]:
            yield f"wrong: {one}"


async def soak(server: Server, seconds: float) -> tuple[Found, list[tuple[float, float]]]:
    found, memory = Found(), list[tuple[float, float]]()
    began = time.monotonic()

    async def going(make: Callable[[random.Random, Client], Awaitable[None]], seed: str, pause: float) -> None:
        dice, client = random.Random(seed), Client(server, found)
        await asyncio.sleep(dice.random() * pause)
        while time.monotonic() - began < seconds:
            await make(dice, client)
            await asyncio.sleep(pause * (0.5 + dice.random()))
        if client.writer:
            client.writer.close()

    async def remembering() -> None:
        while time.monotonic() - began < seconds:
            memory.append((time.monotonic() - began, server.memory()))
            await asyncio.sleep(seconds / 20)
        memory.append((seconds, server.memory()))

    kinds = ((step, STUDENTS, 1.0), (page, 6, 1.0), (picture, 2, 1.5), (moving, 1, 20.0), (heavy, 2, 5.0), (posted, 2, 2.0), (bad, 4, 1.0),
             (oversized, 1, 3.0), (slow, 6, 1.0), (dropped, 4, 1.0))  # fmt: skip
    tasks = [going(make, f"{make.__name__} {n}", pause) for make, many, pause in kinds for n in range(many)]
    await asyncio.gather(remembering(), *tasks)
    return found, memory


async def step(dice: random.Random, client: Client) -> None:
    """One step of a row of a student's own, computed again now and then."""
    scores = tuple(round(dice.gauss(3, 4), 2) for _ in range(dice.randint(1, 12)))
    form, block, n = dice.choice(FORMATS), dice.choice((1, 1, 2, 3)), dice.randint(0, 4)
    n = min(n, -(-len(scores) // block))
    path = f"/api/v1/machines/online-softmax/snapshots/{n}?scores={','.join(map(str, scores))}&format={form}&block={block}"
    began = time.perf_counter()
    got = await client.ask("step", path)
    client.found.light.append((time.perf_counter() - began) * 1e3)
    if got is not None and dice.random() < CHECKED:
        client.found.checked += 1
        shot, model = json.loads(got), scalar_model.run(scores, format=form, block=block)[n]
        told, known = shot["state"], model["state"]
        same = all(agree(told[name], known[name]) for name in ("m", "l", "lse")) and agree(told["naive"]["sum"], known["naive"]["sum"])
        if not same or shot["step"] != n:
            client.found.wrong.append(f"step: {path} gave {told['m']}, {told['l']}, and the model {known['m']}, {known['l']}")


def agree(told: Any, known: float) -> bool:
    """
    >>> agree("-Infinity", -math.inf), agree("NaN", math.nan), agree(1.0, 1.5)
    (True, True, False)
    """
    x = float(told)
    return x == known or (math.isnan(x) and math.isnan(known)) or math.isclose(x, known, rel_tol=4e-16)


async def page(dice: random.Random, client: Client) -> None:
    path = dice.choice(PAGES)
    if dice.random() < 0.6:
        scores = ",".join(f"{dice.gauss(5, 2):.2f}" for _ in range(8))
        room, name = dice.choice(("widgets", "embed", "share")), dice.choice(WIDGETS)
        own = name in ROWS and dice.random() < 0.8
        path = f"/{room}/{name}?{f'scores={scores}' if own else f'step=1&turn={dice.randint(0, 999)}'}"
    got = await client.ask("page", path)
    if got is not None and not got.rstrip().endswith(b"</html>"):
        client.found.wrong.append(f"page: {path} ends with {got[-40:]!r}")


async def picture(dice: random.Random, client: Client) -> None:
    kind, start = dice.choice((("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b""), ("json", b"{")))
    scores = ",".join(f"{dice.gauss(5, 2):.2f}" for _ in range(6))
    got = await client.ask("picture", f"/figures/online-softmax.{kind}?scores={scores}&step={dice.randint(0, 6)}")
    if got is not None and not got.lstrip().startswith(start):
        client.found.wrong.append(f"picture: {kind} starts with {got[:20]!r}")


async def moving(dice: random.Random, client: Client) -> None:
    scores = ",".join(f"{dice.gauss(5, 2):.2f}" for _ in range(6))
    got = await client.ask("moving", f"/figures/online-softmax.gif?scores={scores}")
    if got is not None and not got.startswith(b"GIF89a"):
        client.found.wrong.append(f"moving: starts with {got[:20]!r}")


async def heavy(dice: random.Random, client: Client) -> None:
    seed = dice.randint(0, 999_999)
    path = f"/api/v1/machines/tiled-attention/snapshots?seed={seed}&n_q=24&n_k=24&d=4&d_v=4&block_q=2&block_k=2&start=70&count=1"
    got = await client.ask("heavy", path)
    if got is None:
        return
    rows_of = json.loads(got)["snapshots"][0]["state"]
    done = [
        math.isclose(sum(a), sum(b), rel_tol=1e-4, abs_tol=1e-4)
        for a, b in zip(rows_of["output"], rows_of["reference"]["output"], strict=True)
        if a
    ]
    if not done or not all(done):
        client.found.wrong.append(f"heavy: {path} is not near its reference")


async def posted(dice: random.Random, client: Client) -> None:
    scores = [round(dice.gauss(0, 3), 3) for _ in range(dice.choice((100, 1000, 4000)))]
    body = json.dumps({"spec": {"scores": scores, "format": "float64", "block": 64}, "start": -(-len(scores) // 64), "count": 1}).encode()
    got = await client.ask("posted", "/api/v1/machines/online-softmax/snapshots", body)
    if got is None:
        return
    state, top = json.loads(got)["snapshots"][0]["state"], max(scores)
    exact = math.fsum(math.exp(score - top) for score in scores)
    client.found.checked += 1
    if state["m"] != top or not math.isclose(state["l"], exact, rel_tol=1e-12):
        client.found.wrong.append(f"posted: {len(scores)} scores gave {state['m']}, {state['l']}, and mathematics {top}, {exact}")


async def bad(dice: random.Random, client: Client) -> None:
    path = dice.choice(list(BAD))
    await client.ask("bad", path, expected=BAD[path])
    if dice.random() < 0.3:
        body = dice.choice((b"{", b"[]", b'{"spec": {"scores": [1, null]}}', b"\xff" * 50, b'{"spec": {}, "more": 1}', b"[" * 3_000))
        await client.ask("bad", "/api/v1/machines/online-softmax/snapshots", body, expected=422)


async def oversized(dice: random.Random, client: Client) -> None:
    if dice.random() < 0.5:
        await client.ask("oversized", "/widgets/online-softmax?scores=" + "1," * 20_000, expected=414)
        return
    _, writer = await asyncio.open_connection(HOST, client.server.port)  # no end of a head, or of a body that was said to be shorter
    try:
        writer.write(f"GET / HTTP/1.1\r\nHost: {HOST}\r\n".encode())
        for _ in range(40):
            writer.write(b"a: " + b"b" * 8_000 + b"\r\n")
            await writer.drain()
    except OSError:
        pass
    client.found.hung_up += 1
    writer.close()


async def slow(dice: random.Random, client: Client) -> None:
    """A request that comes byte by byte, and an answer that is read as slowly."""
    reader, writer = await asyncio.open_connection(HOST, client.server.port)
    try:
        for byte in f"GET /widgets/online-softmax?step={dice.randint(0, 8)} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode():
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
        got = b""
        while part := await reader.read(2_000):
            got += part
            await asyncio.sleep(0.05)
        client.found.answers["slow 200"] += got.startswith(b"HTTP/1.1 200")
        if not got.startswith(b"HTTP/1.1 200") or not got.rstrip().endswith(b"</html>"):
            client.found.wrong.append(f"slow: {got[:60]!r} … {got[-60:]!r}")
    except OSError as error:
        client.found.wrong.append(f"slow: {error!r}")
    writer.close()


async def dropped(dice: random.Random, client: Client) -> None:
    """Hung up in the midst of asking, of waiting or of reading."""
    reader, writer = await asyncio.open_connection(HOST, client.server.port)
    path = dice.choice(
        ("/widgets/tiled-attention?seed={}&n_q=24&n_k=24&block_q=1&block_k=1", "/figures/merge.png?seed={}", "/lessons/online-softmax?a={}")
    )
    asked = f"GET {path.format(dice.randint(0, 9_999))} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
    writer.write(asked[: dice.choice((5, 30, len(asked), len(asked)))])
    await asyncio.sleep(dice.random() * 0.1)
    if dice.random() < 0.3:
        with contextlib.suppress(TimeoutError, OSError):
            await asyncio.wait_for(reader.read(500), 0.5)
    client.found.hung_up += 1
    writer.transport.abort()
