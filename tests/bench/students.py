"""A class at once: each student opens a widget as a browser does, then steps once a second through the API, which is the worst case (no run came with the page)."""

import os
import random
import re
import selectors
import socket
import time
import urllib.request
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from tests.bench.servers import HOST, Server, pinned, site, two_cores
from tests.bench.table import Row, row

STUDENTS = 500
OPENING = 5  # seconds within which all open their page
MOST = 100.0  # milliseconds at p95
SECONDS = int(os.environ.get("BENCH_SECONDS", "12"))
LADDER = (500, 1000, 1500, 2000, 2500, 3000, 4000)
TITLE = f"students: {STUDENTS} of them on one worker on one core, a step a second each, for {SECONDS} s"
_MODULES = re.search(r"for name in \(([^)]*)\)", (Path(__file__).parents[2] / "templates/modules.html").read_text())
_STATIC = (
    "css/site.css",
    "js/core/plain.js",
    *(f"js/core/{name}.js" for name in re.findall(r'"([a-z-]+)"', _MODULES[1] if _MODULES else "")),
)


@dataclass
class Student:
    """One browser: a connection, what it has still to ask for, and when."""

    line: socket.socket
    asks: list[str]
    due: float
    sent: float = 0
    got: bytearray = field(default_factory=bytearray)
    stepping: bool = False


@dataclass
class Found:
    opened: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    errors: int = 0
    late: int = 0


def rows() -> Iterator[Row | str]:
    server_core, client_core = two_cores()
    if client_core is None:
        yield "server and students share their cores here: the figures are too high"
    with site(server_core) as server, pinned(client_core):
        yield from _kind("cold: one example for all, the server just started", server, True)
        yield from _kind("warm: the same again", server, True)
        one = yield from _held(server, LADDER)
        yield Row("students held at p95 under 100 ms", one, unit="", target=STUDENTS, floor=True)
    with site(server_core) as server, pinned(client_core):
        yield from _kind("each student with scores of their own, the server just started", server, False)
    yield from _two_workers(one)


def _kind(label: str, server: Server, same: bool) -> Iterator[Row | str]:
    yield label
    idle, cpu = server.memory(), server.cpu() or 0.0
    found = a_class(server, STUDENTS, SECONDS, same)
    used = (server.cpu() or 0.0) - cpu
    yield row("a page opened, with its scripts", found.opened, tail=True)
    yield row("a step", found.steps, tail=True, target=MOST, on_p95=True)
    yield Row("errors", found.errors, unit="", target=0.5)
    yield Row("processor time a student and second", used / STUDENTS / (SECONDS + OPENING) * 1e3, unit="ms")
    yield Row("memory a student", (server.memory() - idle) / STUDENTS, unit="kB")


def _held(server: Server, ladder: tuple[int, ...]) -> Generator[Row | str, None, int]:
    """Ever larger classes until one waits too long; the largest that did not."""
    held = 0
    for students in ladder:
        began = time.process_time()
        found = a_class(server, students, min(SECONDS, 6), True)
        busy = (time.process_time() - began) / (min(SECONDS, 6) + OPENING)
        p95 = quantiles(found.steps, n=20)[-1]
        yield f"{students:,} students: p95 {p95:.0f} ms, {found.errors} errors (their own processor was busy {busy:.0%})"
        if found.errors or p95 > MOST:
            break
        held = students
    return held


def _two_workers(one: int) -> Iterator[Row | str]:
    """Two workers have two cores; the students a third, where there is one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2:
        yield "two workers: not measured, for want of a second processor"
        return
    yield "two workers on two cores" + ("" if len(cores) > 2 else "; the students share one of them here, so fewer are held than on three")
    with site((cores[0], cores[1]), "--workers", "2") as server, pinned(cores[min(2, len(cores) - 1)]):
        a_class(server, 100, 2, True)  # both have what all ask for
        before = [_processor(pid) for pid in server.children()]
        found = a_class(server, STUDENTS, SECONDS, True)
        used = sorted((now - then for now, then in zip((_processor(pid) for pid in server.children()), before, strict=True)), reverse=True)[
            :2
        ]
        yield row("a step", found.steps, tail=True, target=MOST, on_p95=True)
        yield Row("errors", found.errors, unit="", target=0.5)
        yield Row("processor time a student and second", sum(used) / STUDENTS / (SECONDS + OPENING) * 1e3, unit="ms")
        yield Row("part of it that the busier worker took", used[0] / sum(used) * 100, unit="%")
        two = yield from _held(server, tuple(2 * n for n in LADDER[1:]))
        yield Row("students held at p95 under 100 ms", two, unit="")
        yield Row("  of those that one worker held", two / one if one else 0.0, unit="×")


def _processor(pid: int) -> float:
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def a_class(server: Server, students: int, seconds: float, same: bool) -> Found:
    """Everybody opens the page within OPENING seconds, then steps at a moment of their own in each second."""
    dice = random.Random(students + 7 * same)
    found, ready, everyone = Found(), selectors.DefaultSelector(), []
    stamp = _stamp(server)
    start = time.perf_counter()
    end = start + OPENING + seconds
    for _ in range(students):
        scores = "6,5,7,6,7,9,8,6" if same else ",".join(f"{dice.gauss(5, 2):.2f}" for _ in range(8))
        asks = [f"/widgets/online-softmax?scores={scores}", *(f"/static/{stamp}/{name}" for name in _STATIC), scores]
        line = socket.create_connection((HOST, server.port))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one = Student(line, asks, start + OPENING * dice.random())
        ready.register(line, selectors.EVENT_READ, one)
        everyone.append(one)
    waiting = sorted(everyone, key=lambda one: -one.due)
    begun: dict[int, float] = {}
    while (now := time.perf_counter()) < end:
        while waiting and waiting[-1].due <= now:
            one = waiting.pop()
            begun.setdefault(id(one), now)
            _send(one, now)
        pause = max(0.0, min((waiting[-1].due if waiting else end) - now, 0.05))
        again = []
        for key, _ in ready.select(pause):
            one = key.data
            part = one.line.recv(1 << 18)
            one.got += part
            if not part:
                found.errors += 1
                ready.unregister(one.line)
                continue
            if not _whole(bytes(one.got)):
                continue
            now = time.perf_counter()
            found.errors += not one.got.startswith(b"HTTP/1.1 200")
            if one.stepping:
                found.steps.append((now - max(one.sent, one.due)) * 1e3)
                one.due += 1
            elif len(one.asks) == 1:
                found.opened.append((now - begun[id(one)]) * 1e3)
                one.stepping, one.due = True, now + dice.random()
            else:
                one.due = now
            again.append(one)
        if again:
            waiting = sorted([*waiting, *again], key=lambda one: -one.due)
    for one in everyone:
        one.line.close()
    return found


def _send(one: Student, now: float) -> None:
    if one.stepping:
        one.asks.append("")
        path = f"/api/v1/machines/online-softmax/snapshots/{len(one.asks) % 9}?scores={one.asks[0]}"
    else:
        path = one.asks.pop(0)
    one.got.clear()
    one.sent = now
    one.line.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n".encode())


def _whole(answer: bytes) -> bool:
    """
    >>> _whole(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nab"), _whole(b"HTTP/1.1 200 OK\\r\\n\\r\\n2\\r\\nab\\r\\n0\\r\\n\\r\\n")
    (True, True)
    """
    head, gap, body = answer.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return bool(gap) and (len(body) >= int(length) if length else body.endswith(b"0\r\n\r\n"))


def _stamp(server: Server) -> str:
    with urllib.request.urlopen(f"{server.url}/") as answer:
        return str(answer.read().decode().partition("/static/")[2].partition("/")[0])
