"""A slow phone that has never been here: how soon it shows something, how soon a click works, and how much it fetched before."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from playwright.sync_api import Browser, CDPSession, Error

from tests.bench.browser import Slow, chromium, page
from tests.bench.servers import site
from tests.bench.table import Row, row

TITLE = "phone: cold, 1.6 Mbit/s, 150 ms of latency, a quarter of the CPU"
PHONE = Slow(latency=150, down=1.6e6 / 8, up=0.75e6 / 8, cpu=4)
SCREEN: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
LOADS = 5
GIVE_UP = 15
SOON, LIGHT = 0.8, 30.0  # seconds; kB
PATH = "/widgets/online-softmax"


PRESSES = {"seen": "the button can be seen", "ready": "the script has taken over too"}
MEASURES: dict[str, tuple[str, str, float | None]] = {
    "paint": ("first contentful paint", "s", None),
    "ready": ("the script has taken over", "s", None),
    "pressed": ("first press", "s", None),
    "numbers": ("its numbers on the screen", "s", SOON),
    "bars": ("its first bar on the screen", "s", SOON),
    "before": ("bytes before its numbers", "kB", LIGHT),
}


def rows() -> Iterator[Row | str]:
    with site() as server, chromium() as browser:
        url = server.url + PATH
        with page(browser, Slow()) as (made, _):  # the phone is cold, the server is not
            made.goto(url)
        for when, said in PRESSES.items():
            found = [_load(browser, url, when) for _ in range(LOADS)]
            native = sum(one["native"] for one in found)
            yield f"pressed as soon as {said} (answered by the {'plain form' if native > LOADS / 2 else 'script'})"
            for name, (label, unit, target) in MEASURES.items():
                samples = [one[name] for one in found if name in one]
                if samples:
                    yield row(label, samples, unit=unit, target=target)


def _load(browser: Browser, url: str, when: str) -> dict[str, Any]:
    """One cold load: what was measured, in seconds and kB since it began, and whether a plain form answered the press."""
    with page(browser, PHONE, **SCREEN) as (made, line):
        wire = Wire(line)
        made.goto(url, wait_until="commit")
        origin = made.evaluate(f"(bench.press('{when}'), performance.timeOrigin)")
        deadline = time.monotonic() + GIVE_UP
        while time.monotonic() < deadline:
            made.wait_for_timeout(200)
            with suppress(Error):  # a page on its way to the next one cannot be asked
                worked = made.evaluate("bench.worked()")
                if worked:
                    times = {name: worked[name] / 1000 for name in MEASURES if name in worked}
                    return {**times, "native": worked["native"], "before": wire.before((origin + worked["numbers"]) / 1000)}
        raise SystemExit(f"No press of the button changed a number within {GIVE_UP} s.")


class Wire:
    """What came over the network and when: bytes as transferred, headers included."""

    def __init__(self, line: CDPSession) -> None:
        self.came: list[tuple[float, str, int]] = []
        self._counted: dict[str, int] = {}
        self._ahead = 0.0  # of DevTools' clock, the wall's
        line.on("Network.requestWillBeSent", self._sent)
        line.on("Network.responseReceived", lambda event: self._add(event, event["response"]["encodedDataLength"]))
        line.on("Network.dataReceived", lambda event: self._add(event, event["encodedDataLength"]))
        line.on("Network.loadingFinished", self._ended)

    def before(self, wall: float) -> float:
        """kB that had come by a moment of the wall's clock."""
        return sum(size for at, _, size in self.came if at + self._ahead <= wall) / 1000

    def _sent(self, event: dict[str, Any]) -> None:
        self._ahead = event["wallTime"] - event["timestamp"]

    def _ended(self, event: dict[str, Any]) -> None:
        self._add(event, event["encodedDataLength"] - self._counted.get(event["requestId"], 0))

    def _add(self, event: dict[str, Any], size: float) -> None:
        request = event["requestId"]
        self._counted[request] = self._counted.get(request, 0) + int(size)
        self.came.append((event["timestamp"], request, int(size)))
