"""What the browser tests share: the site on a free port, Chromium, and a watch on what no page may ever do."""

import os
import re
import shutil
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import BrowserContext, ConsoleMessage, Request

from app.main import create_app
from app.settings import Settings

# the shell is Chromium without the windows, menus and pages of its own that nobody sees here, and takes half the time
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
START = 30  # seconds that the site may take to answer


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the site, served by this process for as long as its tests run."""
    with served() as address:
        yield address


@contextmanager
def served() -> Iterator[str]:
    """A site that this process serves, by its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(create_app(Settings()), log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    end = time.monotonic() + START
    while not _answers(f"{address}/healthz"):
        assert thread.is_alive(), "the site did not start"
        assert time.monotonic() < end, f"the site did not answer within {START} s"
        time.sleep(0.02)
    yield address
    server.should_exit = True
    thread.join(10)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(f"The page tests need a browser ({', '.join(BROWSERS)}): run 'sudo apt-get install chromium'.", pytrace=False)
    args = ["--disable-background-networking"]
    if os.geteuid() == 0:
        args.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": found, "args": args}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], site: str) -> dict[str, Any]:
    return {**browser_context_args, "base_url": site}


class Watch:
    """Notes console errors, script errors, violations of the content security policy and requests that leave the site."""

    def __init__(self, site: str) -> None:
        self.host = urlsplit(site).netloc
        self.wrong: list[str] = []
        self.expected: list[str] = []
        self.allowed: list[str] = []

    def over(self, context: BrowserContext) -> None:
        context.expose_binding("policyBroken", lambda _, what: self.wrong.append(f"policy: {what}"))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => policyBroken(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`))"
        )
        context.on("console", self._console)
        context.on("weberror", lambda error: self.wrong.append(f"script: {error.error}"))
        context.on("request", self._request)

    def expect(self, pattern: str) -> None:
        """An error that this test brings about, as a regular expression. The test fails if it does not come."""
        self.expected.append(pattern)

    def allow(self, pattern: str) -> None:
        """An error that may come, by chance, of what this test does."""
        self.allowed.append(pattern)

    def verdict(self) -> None:
        missing = [pattern for pattern in self.expected if not any(re.search(pattern, one) for one in self.wrong)]
        rest = [one for one in self.wrong if not any(re.search(pattern, one) for pattern in self.expected + self.allowed)]
        assert not rest, "the page did what no page may do:\n" + "\n".join(rest)
        assert not missing, f"expected and not seen: {missing}"

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.wrong.append(f"console: {message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.wrong.append(f"request: {request.url}")


@pytest.fixture
def watch(site: str) -> Iterator[Watch]:
    """Every page of a test is watched; the test fails at its end if one did wrong."""
    found = Watch(site)
    yield found
    found.verdict()


@pytest.fixture
def new_context(watch: Watch, new_context: Callable[..., BrowserContext]) -> Callable[..., BrowserContext]:
    def make(**given: Any) -> BrowserContext:
        context = new_context(**given)
        context.set_default_timeout(10_000)
        watch.over(context)
        return context

    return make
