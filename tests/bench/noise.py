"""What else the machine was doing meanwhile: times are worth little where others take the processors."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MUCH = 0.1  # of all processors' time


@contextmanager
def noticed() -> Iterator[None]:
    """Say so at the end where other processes took more than a little; where the system does not tell, say nothing."""
    all_before, ours_before, started = _all(), _ours(), time.monotonic()
    yield
    took = (time.monotonic() - started) * (os.cpu_count() or 1)
    others = (_all() - all_before - (_ours() - ours_before)) / took
    if others > MUCH:
        print(f" Other processes took {others:.0%} of the processors meanwhile: on a quiet machine these times are shorter.")


def _all() -> float:
    """Seconds of processor time that everything has used since the machine started; 0 where the system does not tell."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, *interrupts = map(int, fields)
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _ours() -> float:
    """The same of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
