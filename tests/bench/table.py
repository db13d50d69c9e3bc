"""What a benchmark prints: medians, each beside its target and their ratio, in at most 100 columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

HEAD = f"{'':<41}{'median':>12}{'p95':>12}{'target':>15}{'of target':>11}"


@dataclass(frozen=True)
class Row:
    """One thing measured.

    unit        written after each number
    target      what it should be: at most this, or with `floor` at least this
    on_p95      whether the target is for the 95th percentile, and the ratio with it
    """

    label: str
    median: float
    p95: float | None = None
    unit: str = "ms"
    target: float | None = None
    floor: bool = False
    on_p95: bool = False

    @property
    def ratio(self) -> float | None:
        got = self.p95 if self.on_p95 and self.p95 is not None else self.median
        return None if self.target is None else got / self.target

    @property
    def missed(self) -> bool:
        return self.ratio is not None and (self.ratio < 1 if self.floor else self.ratio > 1)

    def __str__(self) -> str:
        """
        >>> print(Row("numbers painted", 3.42, 18.0, target=16.7, on_p95=True))
          numbers painted                             3.4 ms     18.0 ms   at most 16.7       1.08 *
        """
        target = "" if self.target is None else f"{'at least' if self.floor else 'at most'} {_short(self.target)}"
        p95 = "" if self.p95 is None else f"{_short(self.p95)} {self.unit}"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        middle = f"{_short(self.median)} {self.unit}"
        return f"  {self.label:<39}{middle:>12}{p95:>12}{target:>15}{ratio:>11}{' *' if self.missed else ''}".rstrip()


def row(label: str, samples: Sequence[float], *, tail: bool = False, **more: object) -> Row:
    """A row from samples; with `tail` their 95th percentile too.

    >>> row("a", [1.0, 2.0, 9.0]).median, row("a", [float(x) for x in range(101)], tail=True).p95
    (2.0, 95.0)
    """
    p95 = quantiles(samples, n=20, method="inclusive")[-1] if tail and len(samples) > 1 else None
    return Row(label, median(samples), p95, **more)  # type: ignore[arg-type]


def show(title: str, lines: Iterable[Row | str]) -> None:
    """Print a part as it comes: rows, and plain lines that name a group or add a note."""
    print(f"\n{title}\n{HEAD}")
    for line in lines:
        print(line if isinstance(line, Row) else f" {line}", flush=True)


def _short(x: float) -> str:
    """
    >>> [_short(x) for x in (0.05, 3.42, 18.0, 300, 1234.5)]
    ['0.050', '3.4', '18.0', '300', '1,234']
    """
    if x == int(x) and x >= 100:
        return f"{x:,.0f}"
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 2 else f"{x:.2f}" if x >= 0.1 else f"{x:.3f}"
