"""Chromium, slowed down as asked, with the probe in every page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

PROBE = Path(__file__).with_name("probe.js")
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Slow:
    """A network and a processor: milliseconds of latency, bytes a second (−1: as many as there are), times slower."""

    latency: float = 0
    down: float = -1
    up: float = -1
    cpu: float = 1


@contextmanager
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit(f"These benchmarks need Chromium on the path, under one of the names {', '.join(NAMES)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page(browser: Browser, slow: Slow, **more: Any) -> Iterator[tuple[Page, CDPSession]]:
    """A page with nothing cached or kept, and the line to its DevTools."""
    context = browser.new_context(**more)
    try:
        context.add_init_script(path=PROBE)
        made = context.new_page()
        line = context.new_cdp_session(made)
        line.send("Network.enable")
        line.send("Network.setCacheDisabled", {"cacheDisabled": True})
        conditions = {"offline": False, "latency": slow.latency, "downloadThroughput": slow.down, "uploadThroughput": slow.up}
        line.send("Network.emulateNetworkConditions", conditions)
        line.send("Emulation.setCPUThrottlingRate", {"rate": slow.cpu})
        yield made, line
    finally:
        context.close()
