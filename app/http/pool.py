"""What takes long is made in processes of their own, a few at a time: it holds Python's lock, and a page must not wait for it."""

import asyncio
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from app.figures.moving import Unwanted
from app.specs import Fault, Refusal

WORKERS = max(1, min(2, os.cpu_count() or 1))
WAITING = 24  # drawings that may wait for a worker; a class that opens one page asks for one drawing
EACH = 3  # of what takes long, that one reader may have under way or waiting
RETRY_AFTER = 2  # seconds
FINISHING = 2  # seconds that what takes long may still have once the site is told to stop
RENEWED = 500  # drawings after which the workers are replaced, since what they keep in memory they do not give back
MOST_SLOW = 8  # slow answers under way or waiting
TURN = 0.0001  # seconds after which a thread that computes gives Python's lock to one that waits: the event loop, most often
# one thread each: every thread that computes takes turns of that lock from the event loop
_BESIDE = ThreadPoolExecutor(1, "beside", sys.setswitchinterval, (TURN,))
_SLOW = ThreadPoolExecutor(1, "slow", sys.setswitchinterval, (TURN,))
_slow: set[asyncio.Future[Any]] = set()

T = TypeVar("T")


class Busy(Refusal):
    """More drawings are waiting than will be answered soon, or the site is stopping."""

    status = 503
    retry_after = RETRY_AFTER

    def __init__(self) -> None:
        message = f"too much is being computed: ask again in {RETRY_AFTER} seconds."
        super().__init__(Fault("busy", message, "request", "", {"seconds": RETRY_AFTER}))


async def beside(make: Callable[..., T], *given: Any) -> T:
    """What `make` gives, made off the event loop, one at a time.

    >>> asyncio.run(beside(max, 1, 2))
    2
    """
    return await asyncio.get_running_loop().run_in_executor(_BESIDE, make, *given)


async def slowly(make: Callable[..., T], *given: Any) -> T:
    """The same for what takes so long that no light answer may wait for it. Raises Busy where too many wait already."""
    if len(_slow) >= MOST_SLOW:
        raise Busy
    making = asyncio.get_running_loop().run_in_executor(_SLOW, make, *given)
    _slow.add(making)
    making.add_done_callback(_slow.discard)
    return await making


class Workers:
    """The processes that all sites of this process share, made when first needed."""

    def __init__(self) -> None:
        self.stopping = False
        self._pool: ProcessPoolExecutor | None = None
        self._left: Any = None
        self._free: list[int] = []
        self._submitted = 0
        self._lock = threading.RLock()  # workers are started from a thread, that the event loop need not wait for them

    def submit(self, make: Callable[..., T], *given: Any) -> "Future[T]":
        """Raises OSError where there is no room for what processes share, as where nothing can be written."""
        self._submitted += 1
        return self._workers().submit(make, *given)

    def submit_stoppable(self, make: Callable[..., T], *given: Any) -> "tuple[Future[T], Callable[[], None]]":
        """The same for what takes long: `make` gets, after what it is given, a function that says whether to go on; and what makes it say no."""
        self._workers()
        if not self._free:
            raise Busy
        place = self._free.pop()
        self._left[place] = 0
        made = self.submit(_told, place, make, *given)
        made.add_done_callback(lambda _: self._free.append(place))

        def stop() -> None:
            self._left[place] = 1

        return made, stop

    def warm(self) -> None:
        """Start every worker, and have it import what drawing needs."""
        with suppress(OSError):
            for one in [self.submit(_imported) for _ in range(WORKERS)]:
                one.add_done_callback(lambda _: None)

    def hurry(self) -> None:
        """What takes long ends soon, unfinished."""
        if self._left is not None:
            self._left[:] = b"\1" * len(self._left)

    def end(self) -> None:
        self.stopping = True
        self.hurry()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def lost(self) -> None:
        """A worker was killed, for its memory say: the next request gets new ones."""
        self._pool = None

    def _workers(self) -> ProcessPoolExecutor:
        with self._lock:
            return self._made()

    def _made(self) -> ProcessPoolExecutor:
        if self._pool is not None and self._submitted > RENEWED:
            self._pool.shutdown(wait=False)  # once what is under way is done
            self.lost()
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            if self._left is None:
                self._left = context.RawArray("c", WORKERS + WAITING)
                self._free = list(range(WORKERS + WAITING))
            self._submitted = 0
            self._pool = ProcessPoolExecutor(WORKERS, context, initializer=_begin, initargs=(self._left,))
        return self._pool


WORKING = Workers()


class DrawingPool:
    """Runs functions in the workers.

    most   how many may be under way or waiting

    >>> asyncio.run(DrawingPool().run(max, 1, 2))
    2
    """

    def __init__(self, most: int = WORKERS + WAITING) -> None:
        self.most = most
        self.under_way = 0

    async def run(self, make: Callable[..., T], *given: Any) -> T:
        """What `make` gives. Raises what it raises, and Busy where too many wait."""
        if self.under_way >= self.most or WORKING.stopping:
            raise Busy
        self.under_way += 1
        try:
            try:
                made = WORKING.submit(make, *given)
            except OSError:
                return await asyncio.to_thread(make, *given)  # in a thread here
            return await asyncio.wrap_future(made)
        except BrokenProcessPool:
            WORKING.lost()
            raise Busy from None
        finally:
            self.under_way -= 1


class Long:
    """Runs functions that take seconds, one at a time, so that a worker stays free for what is quick. They are told when nobody waits any more.

    Readers take turns: each has one of its own in the line at a time, and at most EACH waiting for that.

    >>> asyncio.run(Long().run("192.0.2.1", sorted, "ba"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: ...
    """

    def __init__(self, most: int = 12) -> None:
        self.most = most
        self._asked: Counter[str] = Counter()
        self._own: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._turn = asyncio.Lock()

    async def run(self, reader: str, make: Callable[..., T], *given: Any) -> T:
        """What `make` gives, which is called with a function more, that says whether to go on. Raises what it raises, and Busy where too many wait."""
        if self._asked.total() >= self.most or self._asked[reader] >= EACH:
            raise Busy
        self._asked[reader] += 1
        try:
            async with self._own[reader], self._turn:
                if WORKING.stopping:
                    raise Busy
                return await self._made(make, *given)
        finally:
            self._asked[reader] -= 1
            if not self._asked[reader]:
                del self._asked[reader], self._own[reader]

    async def _made(self, make: Callable[..., T], *given: Any) -> T:
        try:
            made, stop = WORKING.submit_stoppable(make, *given)
        except OSError:
            gone = threading.Event()
            made, stop = asyncio.to_thread(make, *given, lambda: not gone.is_set()), gone.set  # type: ignore[assignment]
        try:
            return await (asyncio.wrap_future(made) if isinstance(made, Future) else made)
        except asyncio.CancelledError:
            stop()
            raise
        except Unwanted:
            raise Busy from None
        except BrokenProcessPool:
            WORKING.lost()
            raise Busy from None


@asynccontextmanager
async def drawing(app: Any) -> AsyncIterator[None]:
    """The lifespan of a process that serves. Its workers are started once it answers, and end before it does, since a signal that ends it leaves no time after."""
    loop = asyncio.get_running_loop()
    warming = loop.create_task(_warm())

    def stopping() -> None:
        """Nothing new is begun; what is under way may be finished, if it soon is."""
        WORKING.stopping = True
        loop.call_later(FINISHING, WORKING.hurry)

    restore = _heard(lambda: loop.call_soon_threadsafe(stopping))
    yield
    restore()
    warming.cancel()
    await asyncio.to_thread(WORKING.end)


async def _warm() -> None:
    await asyncio.sleep(0.1)  # start-up is complete
    await asyncio.to_thread(WORKING.warm)


def _heard(stop: Callable[[], Any]) -> Callable[[], None]:
    """Have `stop` called as soon as this process is told to end; the server's own handlers do the rest. Gives what undoes it."""
    if threading.current_thread() is not threading.main_thread():  # as in tests: only the main thread hears signals
        return lambda: None
    kept = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    def heard(number: int, frame: Any) -> None:
        stop()
        before = kept[signal.Signals(number)]
        if callable(before):
            before(number, frame)

    for one in kept:
        signal.signal(one, heard)

    def restore() -> None:
        for one, before in kept.items():
            signal.signal(one, before)

    return restore


_left: Any = None  # in a worker: for each place, whether what runs there is to stop


def _begin(left: Any) -> None:
    """Ctrl-C, and a stop that is sent to all processes of a service, is for the server, which finishes what is under way; once it has ended, so do they."""
    global _left  # noqa: PLW0603
    _left = left
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()


def _told(place: int, make: Callable[..., T], *given: Any) -> T:
    return make(*given, lambda: _left[place] == b"\0")


def _imported() -> None:
    import app.figures.kinds  # noqa: F401


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        multiprocessing.connection.wait([server.sentinel])
        os._exit(0)
