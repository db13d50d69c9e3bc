"""Pictures are drawn in processes of their own, a few at a time: drawing holds Python's lock, and a page must not wait for it."""

import asyncio
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar

WORKERS = max(1, min(2, os.cpu_count() or 1))
WAITING = 24  # drawings that may wait for a worker; a class that opens one page asks for one drawing
RETRY_AFTER = 2  # seconds

T = TypeVar("T")


class Busy(Exception):
    """More drawings are waiting than will be answered soon."""


class Renders:
    """Runs functions in the workers that all sites of this process share.

    most      how many may be under way or waiting
    at_once   how many of them may have a worker, where what they do takes long

    >>> asyncio.run(Renders().run(max, 1, 2))
    2
    """

    def __init__(self, most: int = WORKERS + WAITING, at_once: int | None = None) -> None:
        self.most = most
        self.under_way = 0
        self._turn = asyncio.Semaphore(at_once or most)

    async def run(self, make: Callable[..., T], *given: Any) -> T:
        """What `make` gives. Raises what it raises, and Busy where too many wait."""
        if self.under_way >= self.most:
            raise Busy
        self.under_way += 1
        try:
            async with self._turn:
                try:
                    pool = _pool()
                except OSError:  # no room for what processes share, as where nothing can be written: it is made in a thread here
                    return await asyncio.to_thread(make, *given)
                return await asyncio.wrap_future(pool.submit(make, *given))
        except BrokenProcessPool:
            _pool.cache_clear()  # a worker was killed, for its memory say: the next request gets a new one
            raise Busy from None
        finally:
            self.under_way -= 1


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"), initializer=_quiet)


@asynccontextmanager
async def drawing(app: Any) -> AsyncIterator[None]:
    """The lifespan of a process that serves: those that draw for it end before it does, since a signal that ends it leaves no time after."""
    yield
    if _pool.cache_info().currsize:
        await asyncio.to_thread(_pool().shutdown, cancel_futures=True)


def _quiet() -> None:
    """Ctrl-C, and a stop that is sent to all processes of a service, is for the server, which finishes what is under way; once it has ended, so do they."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        multiprocessing.connection.wait([server.sentinel])
        os._exit(0)
