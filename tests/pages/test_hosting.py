"""What a reader sees while a host restarts, loses a worker, puts the site under a path, or puts two machines behind one address."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Watch
from tests.hosting.servers import Class, balancing, free_port, servers, serving, status, until
from tests.pages.driver import DEFAULT, Api, Widget, told, walk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")

LOST = "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED"
LONG = "scores=" + ",".join(str(i % 7) for i in range(64)) + "&format=float32"

GIVES_UP = 15_000  # milliseconds within which a page says that it got no answer

Opened = Callable[[str], AbstractContextManager[tuple[Page, Watch]]]


@pytest.fixture
def opened(browser: Browser) -> Opened:
    """A reader of the site at an address, watched as on every page."""

    @contextmanager
    def reader(address: str) -> Iterator[tuple[Page, Watch]]:
        watch = Watch(address)
        context = browser.new_context()
        context.set_default_timeout(15_000)
        watch.over(context)
        page = context.new_page()
        page.route("**/vendor/plotly.js", lambda route: route.abort())
        watch.allow("vendor/plotly.js")
        yield page, watch
        context.close()
        watch.verdict()

    return reader


def test_a_restart_is_waited_for_and_the_run_goes_on_where_it_was(opened: Opened, api: Api):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    run = api.run(LONG)
    with opened(address) as (page, watch):
        watch.expect(LOST)
        widget = Widget(page)
        with serving(port=port):
            page.goto(f"{address}/widgets/online-softmax?{LONG}")
            widget.ready()
        widget.press("next")
        widget.agrees(run[1])
        widget.keyboard.press("End")  # the one step that did not come with the page
        expect(widget.part("shared")).to_contain_text("server cannot be reached: the steps already loaded still work", timeout=GIVES_UP)
        widget.agrees(run[1])
        with serving(port=port):
            expect(widget.part("position")).to_have_text("64 of 64", timeout=30_000)
            widget.agrees(run[64])
            expect(widget.part("shared")).to_have_text("")


def test_a_changed_amount_comes_once_the_server_is_back(opened: Opened, api: Api):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with opened(address) as (page, watch):
        watch.expect(LOST)
        widget = Widget(page)
        with serving(port=port):
            page.goto(f"{address}/widgets/online-softmax?{DEFAULT}&step=4")
            widget.ready()
        widget.slide("offset", 85)
        expect(widget.part("shared")).to_contain_text("server cannot be reached: what is loaded still steps", timeout=GIVES_UP)
        widget.press("next")
        widget.agrees(api.run(DEFAULT)[5])
        with serving(port=port):
            told(page, offset="85")
            widget.agrees(api.run(f"{DEFAULT}&offset=85")[5])
            expect(widget.part("shared")).to_have_text("")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found by /proc")
def test_no_reader_notices_that_workers_are_killed_under_load(opened: Opened, api: Api):
    with serving("--workers", "2") as (port, process), opened(f"http://127.0.0.1:{port}") as (page, watch):
        watch.allow(LOST)  # the browser says so in its console; the page asks again
        until(lambda: "".join(process.told).count("startup complete") == 2, "both have started", 60)
        page.goto(f"http://127.0.0.1:{port}/widgets/online-softmax?{DEFAULT}")
        widget = Widget(page)
        widget.ready()
        students = Class(port, 3)
        until(lambda: students.answered > 50, "they are answered")
        for turn in range(2):
            before = servers(process.pid)
            for amount in range(3):
                if amount == 1:
                    os.kill(before[turn % 2], signal.SIGKILL)
                offset = 10 * turn + amount + 1
                widget.slide("offset", offset)
                expect(widget.part("offset")).to_have_text(f"+{offset}")
                step = (3 * turn + amount) % 8 + 1
                widget.slide("step", step)
                expect(widget.root).not_to_have_attribute("aria-busy", "true")
                told(page, offset=str(offset), step=str(step))
                widget.agrees(api.run(f"{DEFAULT}&offset={offset}")[step])
            until(lambda before=before: len(now := servers(process.pid)) == 2 and set(now) != set(before), "another in its place", 60)
        students.stop()
        assert not [one for one in students.wrong if "broke off" not in str(one)]


def test_behind_a_proxy_under_a_path(opened: Opened, api: Api):
    with (
        serving("--root-path", "/course/tilewise/") as (port, _),
        balancing(port, path="/course/tilewise", scheme="http") as (address, answered),
    ):
        with opened(address) as (page, watch):
            page.on("request", lambda request: asked.append(request.url))
            asked: list[str] = []
            walk(page, address, api)
            assert {one for one in asked if not one.startswith((f"{address}/", "data:", "blob:"))} == set()
            page.goto(f"{address}/embed/online-softmax?step=3")
            Widget(page).at(3, 8)
            watch.expect("404.*/course/tilewise/nothing")
            page.goto(f"{address}/nothing")
            page.get_by_role("link", name=re.compile("first page|home|Tilewise", re.IGNORECASE)).first.click()
            expect(page).to_have_url(f"{address}/")
        assert all(path.startswith("/course/tilewise/") for _, path, _ in answered)
        assert {code for _, _, code in answered} == {200, 404}


def test_two_machines_behind_a_round_robin(opened: Opened, api: Api):
    with serving() as (one, first), serving() as (other, _), balancing(one, other) as (address, answered), opened(address) as (page, _):
        walk(page, address, api)
        assert {port for port, *_ in answered} == {one, other}
        assert {code for *_, code in answered} == {200}
        # one machine goes, and nobody notices
        page.goto(f"{address}/widgets/online-softmax?{LONG}&step=20")
        widget = Widget(page)
        widget.ready()
        first.kill()
        first.wait()
        assert status(one, "/healthz") == 0
        answered.clear()
        widget.slide("offset", 3)
        expect(widget.part("offset")).to_have_text("+3")
        told(page, offset="3")
        widget.slide("step", 64)
        widget.agrees(api.run(f"{LONG}&offset=3")[64])
        walk(page, address, api)
        assert {port for port, *_ in answered} == {other}
