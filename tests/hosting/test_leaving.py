"""What takes long: readers take turns, what nobody waits for any more is stopped, and a stop of the site is clean."""

import asyncio
import signal
import threading
import time

import pytest
from starlette.requests import Request

from app.http.cache import LEFT, ResponseCache
from app.http.pool import EACH, WORKING, Busy, Long
from tests.hosting.servers import serving, status, until

GIF = "/figures/tiled-attention.gif?n_q=16&n_k=16&d=8&d_v=8&block_q=1&block_k=1&seed={}"


def request(leaves: asyncio.Event) -> Request:
    told = iter(({"type": "http.request", "body": b"", "more_body": False},))

    async def receive():
        for one in told:
            return one
        await leaves.wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/a", "query_string": b"", "headers": []}
    return Request(scope, receive)


def test_it_is_made_as_long_as_one_waits():
    async def go():
        ready, ended, finish = ResponseCache(10_000), [], asyncio.Event()

        async def make():
            try:
                await finish.wait()
            except asyncio.CancelledError:
                ended.append("stopped")
                raise
            return b"made"

        first, second = asyncio.Event(), asyncio.Event()
        asked = [asyncio.ensure_future(ready.shared(request(one), "text/plain", make)) for one in (first, second)]
        await asyncio.sleep(0)
        first.set()
        assert (await asked[0]).status_code == LEFT
        assert ended == []
        second.set()
        assert (await asked[1]).status_code == LEFT
        await asyncio.sleep(0)
        assert ended == ["stopped"]
        finish.set()
        assert (await ready.shared(request(asyncio.Event()), "text/plain", make)).body == b"made"

    asyncio.run(go())


def spin(wanted):
    while wanted():
        time.sleep(0.01)
    return "told"


def test_a_worker_is_told_that_nobody_waits():
    made, stop = WORKING.submit_stoppable(spin)
    assert not made.done()
    stop()
    assert made.result(30) == "told"


def test_readers_take_turns_and_none_fills_the_line(monkeypatch):
    order = []

    async def made(self, make, *given):
        await asyncio.sleep(0)
        order.append(given[0])

    monkeypatch.setattr(Long, "_made", made)

    async def go():
        long = Long()
        asked = [long.run("192.0.2.1", spin, f"a{n}") for n in range(EACH + 2)] + [long.run("192.0.2.2", spin, "b")]
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(go())
    assert [isinstance(one, Busy) for one in found] == [False] * EACH + [True, True, False]
    assert order.index("b") == 1, "one who comes later waits for one picture, not for all of another's"


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_with_pictures_in_the_line_is_clean(told):
    with serving(start_new_session=True) as (port, process):
        asking = [threading.Thread(target=status, args=(port, GIF.format(seed))) for seed in range(3)]
        for one in asking:
            one.start()
        until(lambda: status(port, "/figures/online-softmax.png") == 200, "it draws")
        process.send_signal(told)
        assert process.wait(30) in (0, -told)
        for one in asking:
            one.join(30)
        said = "".join(process.told)
        assert "Traceback" not in said
        assert "exceeded" not in said
