"""A small HTTP client that costs less than the servers it measures: a few connections kept alive, a request under way on each."""

import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench.servers import HOST

CONNECTIONS = 8


@dataclass(frozen=True)
class Load:
    """Answers that came in so many seconds, and how busy this client's own processor was (1: it could not have gone faster)."""

    done: int
    took: float
    busy: float


def request(path: str, accept_encoding: str = "") -> bytes:
    """
    >>> request("/a")
    b'GET /a HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n'
    """
    coding = f"Accept-Encoding: {accept_encoding}\r\n" if accept_encoding else ""
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{coding}\r\n".encode()


def load(port: int, requests: Iterator[bytes], seconds: float) -> Load:
    """How many of these requests are answered in a time. Anything but a 200 with a length is an error."""
    with selectors.DefaultSelector() as ready:
        half: dict[socket.socket, bytes] = {}
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((HOST, port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(connection, selectors.EVENT_READ)
            half[connection] = b""
            connection.sendall(next(requests))
        try:
            done = 0
            started, used = time.perf_counter(), time.process_time()
            while time.perf_counter() - started < seconds:
                for key, _ in ready.select(1):
                    connection: socket.socket = key.fileobj  # type: ignore[assignment]
                    got = half[connection] + connection.recv(1 << 17)
                    if _whole(got):
                        done += 1
                        got = b""
                        connection.sendall(next(requests))
                    half[connection] = got
            took = time.perf_counter() - started
            return Load(done, took, (time.process_time() - used) / took)
        finally:
            for connection in half:
                connection.close()


def fetch(port: int, asked: bytes) -> bytes:
    """One answer's body."""
    with socket.create_connection((HOST, port), timeout=10) as connection:
        connection.sendall(asked)
        got = b""
        while not _whole(got):
            got += connection.recv(1 << 17)
    return got.partition(b"\r\n\r\n")[2]


def _whole(answer: bytes) -> bool:
    """
    >>> _whole(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nab"), _whole(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\na")
    (True, False)
    """
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"The server answered {answer[:300]!r}")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return len(body) >= int(length)
