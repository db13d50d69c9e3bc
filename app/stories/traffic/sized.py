"""What is said of any size: what each way moves and sets aside, whether it fits, what grows, and how exact it is."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from app.machines.accuracy import distances
from app.machines.formats import FORMATS
from app.machines.traffic import MACHINE, TOKENS, WAYS, Cost, Spec, bytes_of, counted, fa1_blocks, table_bytes, walked
from app.numbers import amount, size
from app.specs import query
from app.stories.traffic import growth as charted
from app.stories.traffic.words import NAMES, compared, corner, crowded, how_known

# Sizes of memory that graphics cards are sold with, by NVIDIA's data sheets; a GB is taken as 10⁹ bytes, the smaller reading.
CARDS = ((16, "T4"), (24, "GeForce RTX 4090"), (40, "A100, the smaller one"), (80, "A100 and H100"), (141, "H200"))


@dataclass(frozen=True)
class Card:
    """A size of memory, and whether a whole problem fits in it: inputs, output and what a way sets aside; and the most tokens, a power of two, that would."""

    gigabytes: int
    name: str
    fits: dict[str, bool]
    most: dict[str, int]


@dataclass(frozen=True)
class Verdict:
    """Of all tiled runs measured from float64: how many end at least as near as the standard way, and how far the farthest goes beyond it."""

    runs: int
    nearer: int
    worst: float


@dataclass(frozen=True)
class Sized:
    """Everything that is said of one size.

    costs     what each way moves, sets aside and computes, all heads
    tables    bytes of one table of scores, by format: for a head, and for all
    needs     bytes that each way has in slow memory, inputs and output included
    """

    spec: Spec
    costs: dict[str, Cost]

    @property
    def unit(self) -> int:
        return bytes_of(self.spec.format)

    @property
    def sentence(self) -> str:
        return compared(self.spec, self.costs, self.unit)

    @property
    def corner(self) -> str:
        return corner(self.spec, self.costs)

    @property
    def crowded(self) -> str:
        return crowded(self.spec)

    @property
    def known(self) -> str:
        return how_known(self.spec)

    @property
    def all_heads(self) -> int:
        return self.spec.heads * self.spec.batch

    @property
    def blocks(self) -> tuple[int, int]:
        return fa1_blocks(self.spec.memory, self.spec.d)

    @property
    def figures(self) -> dict[str, str]:
        """What a preset's sentence quotes.

        >>> spec = Spec(n=1024, d=128)
        >>> Sized(spec, {way: spec.cost(way) for way in WAYS}).figures["keys"]
        '96'
        """
        rows, keys = self.blocks
        moved = {way: f"{cost.moved / self.costs['standard'].moved:.0%}" for way, cost in self.costs.items()}
        return moved | {
            "n": amount(self.spec.n),
            "block_q": amount(self.spec.block_q),
            "rows": amount(rows),
            "keys": amount(keys),
            "passes": amount(-(-self.spec.n // keys)),
            "chip": size(self.spec.memory * self.unit),
            "table": size(table_bytes(self.spec.n, self.spec.n, self.spec.format)),
            "tables": size(self.costs["standard"].stored * self.unit),
            "aside": size(self.costs["fa2"].stored * self.unit),
        }

    @property
    def tables(self) -> list[tuple[str, int, int, int]]:
        """(format, bytes of a number, bytes of a head's table, bytes of all heads')."""
        n = self.spec.n
        names = sorted(FORMATS, key=bytes_of)
        return [(name, bytes_of(name), table_bytes(n, n, name), table_bytes(n, n, name, self.all_heads)) for name in names]

    def need(self, way: str, n: int | None = None) -> int:
        inputs = 4 * (n or self.spec.n) * self.spec.d * self.all_heads
        return (inputs + self.spec.cost(way, n).stored) * self.unit

    @property
    def needs(self) -> dict[str, int]:
        return {way: self.need(way) for way in WAYS}

    @property
    def cards(self) -> list[Card]:
        return [
            Card(gb, name, {way: need <= gb * 10**9 for way, need in self.needs.items()}, {way: self.most(way, gb * 10**9) for way in WAYS})
            for gb, name in CARDS
        ]

    def most(self, way: str, room: int) -> int:
        """The largest power of two of tokens that fits; 0 where one token does not.

        >>> sized = Sized(Spec(), {})
        >>> sized.most("standard", 16 * 10**9), sized.most("fa2", 16 * 10**9)
        (32768, 8388608)
        """
        n = 1
        while self.need(way, n) <= room:
            n *= 2
        return n // 2

    @cached_property
    def growth(self) -> list[charted.Growth]:
        return charted.growth(self.spec)

    @property
    def sizes(self) -> list[int]:
        return sorted({*charted.TOKENS, self.spec.n})

    @property
    def names(self) -> dict[str, str]:
        return NAMES

    @property
    def example(self) -> dict[str, Cost]:
        """What each way costs on the small example, counted."""
        return {way: counted_example(way) for way in WAYS}

    @property
    def errors(self) -> list[charted.Errors]:
        return charted.errors(distances())

    @property
    def verdict(self) -> Verdict:
        ratios = [x / one.standard for one in distances() for row in one.tiled.values() for x in row]
        return Verdict(len(ratios), sum(ratio <= 1 for ratio in ratios), max(ratios))

    def walking(self, way: str) -> str:
        """The query of the same size with another way walked."""
        return query(MACHINE, replace(self.spec, way=way), step=0)


def counted_example(way: str) -> Cost:
    """The ledger of the walk's last step, with the most that stayed on chip.

    >>> [counted_example(way).moved for way in WAYS]
    [320, 224, 168]
    """
    _, spec = walked(way)
    size = Spec(n=TOKENS, d=spec.d).size("standard")
    return counted(way, size if way == "standard" else replace(size, block_q=spec.block_q, block_k=spec.block_k))  # type: ignore[attr-defined]


@lru_cache(maxsize=64)
def sized(spec: Spec) -> Sized:
    """What is said of a spec's size; the same object for whoever asks again."""
    return Sized(spec, {way: spec.cost(way) for way in WAYS})
