"""Every kind of file that a state, or the run it belongs to, can be had as."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from app.charts.outlines import outlined
from app.figures.card import WIDTH, card
from app.figures.file import DARK, LIGHT, png, svg, title
from app.figures.moving import FRAMES, LEAST, SECONDS, TooMany, cheapest, frames, gif, price
from app.figures.qr import qr
from app.figures.tables import table
from app.machines import MACHINES
from app.machines.run import Machine
from app.runs import run, shot, shots, snapshots
from app.snapshot import MAX_BYTES, MAX_COUNT
from app.stories import BY_NAME
from app.stories.record import AnyShot

MEDIA_TYPES = {
    "svg": "image/svg+xml", "png": "image/png", "gif": "image/gif", "csv": "text/csv; charset=utf-8", "json": "application/json",
    "qr.svg": "image/svg+xml",
}  # fmt: skip
SIZES = ("figure", "card", "thumb")
THUMB = 400  # pixels wide
_DRAWN = 0.25  # seconds that the dearest figure takes, beside its numbers
MOST = MAX_COUNT + 1  # steps in a table: the longest row of scores that a page holds, and its start


@dataclass(frozen=True)
class Job:
    """What is to be drawn. It holds plain values only, so that it can be sent to another process.

    figure   a key of PICTURES, for `machine` (a name)
    start    for a table: its first step
    zoom     for a PNG: pixels to each of the figure's own
    size     for a PNG: the figure, or a card or thumb of it
    link     for a QR code: the page's whole address
    """

    figure: str
    machine: str
    spec: Any
    step: int = 0
    start: int = 0
    dark: bool = False
    zoom: int = 2
    size: str = "figure"
    link: str = ""

    @property
    def made(self) -> Machine:
        return MACHINES[self.machine]

    @property
    def shot(self) -> AnyShot:
        return shot(self.made, self.spec, self.step)


def make(ending: str, job: Job) -> bytes:
    """The file's bytes. Raises NoSuchStep past the run's end, and TooLong for a link that no QR code holds.

    >>> online = MACHINES["online-softmax"]
    >>> make("csv", Job("online-softmax", "online-softmax", online.spec(scores=(1.0, 3.0)))).count(b"\\r\\n")
    4
    """
    return _MAKERS[ending](job)


def _svg(job: Job) -> bytes:
    return (outlined(card(job.shot, job.figure, _ink(job))) if job.size != "figure" else svg(job.shot, job.figure, dark=job.dark)).encode()


def _png(job: Job) -> bytes:
    if job.size == "figure":
        return png(svg(job.shot, job.figure, dark=job.dark), job.zoom)
    return png(card(job.shot, job.figure, _ink(job)), 1 if job.size == "card" else THUMB / WIDTH)


def moving(job: Job, wanted: Callable[[], bool] = lambda: True) -> bytes:
    """The run as a GIF. `wanted` is asked again and again whether to go on. Raises TooMany, and Unwanted."""
    seconds, numbers = afforded(job)
    steps = frames(job.made.steps(job.spec), min(FRAMES, int(seconds / cheapest(numbers))))

    def afford(picture: str) -> int:
        return max(LEAST, min(FRAMES, int(seconds / price(picture, numbers))))

    return gif(shots(job.made, job.spec, only=set(steps)), job.figure, _ink(job), afford, wanted)


def afforded(job: Job) -> tuple[float, int]:
    """The seconds left for a GIF's frames once the machine has run, and how many numbers each of its states has. Raises TooMany."""
    steps, load = job.made.steps(job.spec), BY_NAME[job.machine].load(job.spec)
    run, least = (load.touched + steps * load.step) / 1e6, LEAST * (cheapest(load.shown) + _DRAWN)
    if run + least > SECONDS:
        raise TooMany(steps, int((SECONDS - least) / run * steps))
    return SECONDS - run, load.shown


def _csv(job: Job) -> bytes:
    return table(islice(snapshots(job.made, job.spec, job.start), MOST)).encode()


def _json(job: Job) -> bytes:
    return run(job.made, job.spec, job.start, MOST, MAX_BYTES).json


def _qr(job: Job) -> bytes:
    return qr(job.link, f"Link to {title(job.shot, job.figure)}", job.shot.caption).encode()


def _ink(job: Job) -> dict[str, str]:
    return DARK if job.dark else LIGHT


_MAKERS: dict[str, Callable[[Job], bytes]] = {"svg": _svg, "png": _png, "gif": moving, "csv": _csv, "json": _json, "qr.svg": _qr}
