"""`python -m tests.bench [names…]`: the parts named, or all."""

import argparse
import os
import time

from tests.bench import clicks, phone, snapshots, step, table

PARTS = {part.__name__.rpartition(".")[2]: part for part in (clicks, snapshots, phone, step)}

QUIET = 0.7  # processes that want a processor, on average over the last minute


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Medians beside their targets; * marks a target missed.")
    parser.add_argument("names", nargs="*", metavar="part", help=f"which of {', '.join(PARTS)} to run (all)")
    names = parser.parse_args().names or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}: use {', '.join(PARTS)}")
    _say_if_busy()
    started = time.perf_counter()
    for name in names:
        table.show(PARTS[name].TITLE, PARTS[name].rows())
    print(f"\n* target missed. Took {time.perf_counter() - started:.0f} s.")


def _say_if_busy() -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > QUIET:
        print(f"The machine is busy with other things (load {load:.1f}): expect figures that are too slow, the p95 above all.")


if __name__ == "__main__":
    main()
