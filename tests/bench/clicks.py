"""Clicks on "Read next score", with Plotly loaded: the handler's own time, new numbers on the screen, the bars' first frame."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser

from tests.bench.browser import Slow, chromium, page
from tests.bench.servers import Server, site
from tests.bench.table import Row, row

TITLE = 'clicks: on "Read next score", Plotly loaded, each when the bars of the one before stand still'
CLICKS = 100
MOST = 28  # seconds for the clicks of one case: on a machine too slow for all of them, fewer are made
REST = (
    60,
    110,
)  # milliseconds before the button goes down, and until it comes up again: at random, so as not to fall in step with the screen
HELD = (30, 60)
FAST, SLOW, BARS = 16.7, 33, 33  # milliseconds: new numbers, the same with a quarter of the CPU, bars
SAME = 1.1
EIGHT = "6,5,7,6,7,9,8,6"


@dataclass(frozen=True)
class Case:
    """A run of so many scores, in a browser slowed down so."""

    scores: int
    slow: Slow

    def __str__(self) -> str:
        return f"{self.scores} scores, {self.slow.latency:.0f} ms of latency{', a quarter of the CPU' if self.slow.cpu > 1 else ''}"


CASES = [
    Case(8, Slow()),
    Case(8, Slow(latency=300)),
    Case(8, Slow(cpu=4)),
    Case(64, Slow()),
    Case(64, Slow(latency=300)),
    Case(64, Slow(cpu=4)),
]


def rows() -> Iterator[Row | str]:
    numbers = {}
    with site() as server, chromium() as browser:
        for case in CASES:
            found = _clicks(server, browser, case)
            handler, painted, bars = ([one[name] for one in found if one[name] is not None] for name in ("handler", "numbers", "bars"))
            numbers[case] = median(painted)
            yield f"{case}: {len(found)} clicks"
            yield row("in the click handler", handler, tail=True)
            yield row("click to new numbers painted", painted, tail=True, target=SLOW if case.slow.cpu > 1 else FAST, on_p95=True)
            yield row("click to the bars' first frame", bars, tail=True, target=BARS)
    yield "new numbers, 300 ms of latency / none"
    for near, far in ((CASES[0], CASES[1]), (CASES[3], CASES[4])):
        yield Row(f"{near.scores} scores", numbers[far] / numbers[near], unit="×", target=SAME)


def _clicks(server: Server, browser: Browser, case: Case) -> list[dict[str, float | None]]:
    """What came of each click. The page is loaded at full speed, for only the clicks are measured here."""
    dice = random.Random(1)
    scores = EIGHT if case.scores == 8 else ",".join(f"{dice.gauss(0, 2):.2f}" for _ in range(case.scores))
    with page(browser, Slow(latency=case.slow.latency), viewport={"width": 1280, "height": 900}) as (made, line):
        made.goto(f"{server.url}/widgets/online-softmax?scores={scores}")
        made.wait_for_selector('[data-chart="exps"][data-plotted]', timeout=60_000)
        made.wait_for_timeout(500)
        line.send("Emulation.setCPUThrottlingRate", {"rate": case.slow.cpu})
        made.mouse.move(*made.evaluate("bench.button()"))
        found: list[dict[str, float | None]] = []
        deadline = time.monotonic() + MOST
        while len(found) < CLICKS and time.monotonic() < deadline:
            made.evaluate("bench.startAgain()")
            made.wait_for_timeout(dice.uniform(*REST))
            made.mouse.down()
            made.wait_for_timeout(dice.uniform(*HELD))
            made.mouse.up()
            found.append(made.evaluate("bench.settled()"))
        if not all(one and one["numbers"] for one in found):
            raise SystemExit("A click changed no number within 5 s: is it the page that tests/bench/probe.js knows?")
        return found
