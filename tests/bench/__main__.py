"""`python -m tests.bench [names…]`: the parts named, or all."""

import argparse
import time

from tests.bench import clicks, figures, loop, noise, phone, snapshots, soak, step, students, table, tiles

PARTS = {part.__name__.rpartition(".")[2]: part for part in (clicks, snapshots, phone, step, tiles, figures, loop, students, soak)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Medians beside their targets; * marks a target missed.")
    parser.add_argument("names", nargs="*", metavar="part", help=f"which of {', '.join(PARTS)} to run (all)")
    names = parser.parse_args().names or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}: use {', '.join(PARTS)}")
    started = time.perf_counter()
    for name in names:
        with noise.noticed():
            table.show(PARTS[name].TITLE, PARTS[name].rows())
    print(f"\n* target missed. Took {time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
