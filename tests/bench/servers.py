"""Servers to measure: child processes on free ports of 127.0.0.1, stopped at the end."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
START = 30  # seconds that a server may take to answer


@dataclass(frozen=True)
class Server:
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def cpu(self) -> float | None:
        """Seconds that it and its children have spent on a processor; None where the system does not tell."""
        try:
            tasks = [task for pid in (self.process.pid, *self.children()) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")]
            return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9 or None
        except OSError:
            return None

    def children(self) -> list[int]:
        """The processes that it has started: workers, and those that draw."""
        found, waiting = [], [self.process.pid]
        while waiting:
            for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
                started = [int(one) for one in task.read_text().split()]
                found += started
                waiting += started
        return found

    def memory(self) -> float:
        """Kilobytes that it and its children hold; 0 where the system does not tell."""
        try:
            return sum(_resident(pid) for pid in (self.process.pid, *self.children()))
        except OSError:
            return 0.0


def _resident(pid: int) -> float:
    return float(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0])


@contextmanager
def site(core: int | tuple[int, ...] | None = None, *arguments: str, **settings: str) -> Iterator[Server]:
    """The site as it is served, without a log line for each request.

    core        the processor that it runs on, or several
    arguments   of `python -m app`; `settings` are TILEWISE_ variables, in small letters
    """
    with _serving([sys.executable, "-m", "app", "--log-level", "warning", *arguments, "--port"], "/healthz", core, settings) as server:
        yield server


@contextmanager
def ready_made(core: int | None = None) -> Iterator[Server]:
    """The route that cached snapshots are compared with."""
    with _serving([sys.executable, "-m", "tests.bench.ready_made"], "/snapshot", core) as server:
        yield server


@contextmanager
def pinned(*cores: int | None) -> Iterator[None]:
    """This process on one core, or some, for a while."""
    if None in cores or not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core for core in cores if core is not None})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def two_cores() -> tuple[int | None, int | None]:
    """A core for a server and another for its client; None where processes cannot be pinned or one core is all there is."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return (cores[0], cores[1]) if len(cores) > 1 else (None, None)


@contextmanager
def _serving(command: list[str], path: str, core: int | tuple[int, ...] | None, settings: Mapping[str, str] = {}) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TILEWISE_")}
    environment |= {f"TILEWISE_{name.upper()}": value for name, value in settings.items()}
    with pinned(*(core if isinstance(core, tuple) else (core,))):  # a child starts on its parent's cores
        process = subprocess.Popen([*command, str(port)], env=environment, stdout=subprocess.DEVNULL)
    try:
        _wait(process, port, path)
        yield Server(port, process)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", port: int, path: str) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and process.poll() is None:
        connection = http.client.HTTPConnection(HOST, port, timeout=5)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    command = " ".join(map(str, process.args))
    raise SystemExit(f"The server on port {port} stopped, or did not answer {path} within {START} s: run `{command}` to see why.")
