"""Whether the machine had other things to do: times are worth little where others take the processors."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK = 0.7  # seconds
MUCH = 0.1  # of all processors' time


@contextmanager
def noticed() -> Iterator[None]:
    """Look before and after, when nothing of ours runs, and say so where others took more than a little."""
    before = _taken()
    yield
    others = max(before, _taken())
    if others > MUCH:
        print(f" Other processes took {others:.0%} of the processors before or after: on a quiet machine these times are shorter.")


def _taken() -> float:
    """The part of all processors' time that is used while this process waits; 0 where the system does not tell."""
    used, started = _used(), time.monotonic()
    time.sleep(LOOK)
    return (_used() - used) / (time.monotonic() - started) / (os.cpu_count() or 1)


def _used() -> float:
    """Seconds of processor time used since the machine started."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, *interrupts = map(int, fields)
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
