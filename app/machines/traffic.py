"""What attention of any size moves, keeps and computes: the standard way, and tiles in fa1's order and in fa2's.

A ledger is counted by a run, and a run of 131,072 tokens takes too long. The formulas below give the same numbers; tests/machines/test_traffic.py
holds them equal to the ledgers of standard.py and tiled.py wherever those run, ragged tails included. No mask: every query sees every key.

Block sizes of fa1 from the size of the chip: Dao et al. (2022), "FlashAttention", Algorithm 1, where M counts numbers, not bytes.
"""

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import lru_cache

import numpy as np

from app.machines import standard, tiled
from app.machines.arithmetic import Ledger
from app.machines.attention import Inputs
from app.machines.fields import FORMAT, Field
from app.machines.formats import FORMATS
from app.machines.run import Machine, moments

WAYS = ("standard", "fa1", "fa2")
LEAST_TOKENS, MOST_TOKENS = 8, 2**17
RUNS = 64  # tokens up to which a size is run for real
_TILES, _WIDTH = 256, 64  # as long as it has no more tiles, and d is no more, than this


@dataclass(frozen=True)
class Size:
    """n_q queries and n_k keys of d numbers, values of d_v, in tiles of block_q by block_k (which the standard way does not have)."""

    n_q: int
    n_k: int
    d: int
    d_v: int
    block_q: int = 1
    block_k: int = 1

    @property
    def tiles(self) -> tuple[int, int]:
        """T_r and T_c."""
        return -(-self.n_q // self.block_q), -(-self.n_k // self.block_k)


@dataclass(frozen=True)
class Cost:
    """The ledger of a whole run, in numbers (not bytes).

    ledger   reads, writes and operations; `kept` is the most that had to stay on chip from one step to the next
    stored   what stands in slow memory beside the inputs and the output: S and P, or fa1's m and l, or fa2's lse
    """

    ledger: Ledger
    stored: int

    @property
    def moved(self) -> int:
        return self.ledger.reads + self.ledger.writes

    @property
    def computed(self) -> int:
        """Operations of every kind."""
        return sum(astuple(self.ledger)[3:])

    def times(self, heads: int) -> "Cost":
        """The same for several heads, one after the other: what stays on chip is one head's."""
        reads, writes, kept, *ops = astuple(self.ledger)
        return Cost(Ledger(reads * heads, writes * heads, kept, *(one * heads for one in ops)), self.stored * heads)


def standard_cost(size: Size) -> Cost:
    """S = Q Kᵀ, P = softmax S, O = P V, each step from slow memory and back.

    >>> standard_cost(Size(8, 8, 2, 2)).moved, standard_cost(Size(1024, 1024, 64, 64)).moved
    (320, 4456448)
    """
    n_q, n_k, d, d_v = size.n_q, size.n_k, size.d, size.d_v
    table = n_q * n_k
    return Cost(
        Ledger(
            reads=(n_q + n_k) * d + table + table + n_k * d_v,  # Q and K; S; P; V
            writes=table + table + n_q * d_v,  # S; P; O
            kept=0,
            mul=table * (d + 1 + d_v),  # q · k; the scale; P V
            add=table * (d + 2 + d_v),  # q · k; the highest taken off, the sum of sizes; P V
            exp=table,
            div=table,
            max=table,
        ),
        stored=2 * table,
    )


def fa1_cost(size: Size) -> Cost:
    """K/V tiles outermost: Q, and O, m and l with it, pass once for each of the T_c tiles of keys.

    >>> fa1_cost(Size(8, 8, 2, 2, *fa1_blocks(32, 2))).moved, fa1_cost(Size(1024, 1024, 64, 64, *fa1_blocks(98304, 64))).moved
    (224, 800768)
    """
    n_q, n_k, d, d_v = size.n_q, size.n_k, size.d, size.d_v
    _, across = size.tiles
    table, passes = n_q * n_k, across * n_q
    return Cost(
        Ledger(
            reads=n_k * (d + d_v) + passes * (d + d_v + 2),
            writes=n_q * (d_v + 2) + passes * (d_v + 2),  # O, m and l set up; and after each tile
            kept=min(size.block_k, n_k) * (d + d_v),
            mul=table * (d + 1 + d_v) + passes * (2 + 2 * d_v),
            add=table * (d + 2 + d_v) + passes * (3 + d_v),
            exp=table + 2 * passes,  # two factors a row
            div=passes * d_v,
            max=table + passes,
        ),
        stored=2 * n_q,
    )


def fa2_cost(size: Size) -> Cost:
    """Q tiles outermost: K and V pass once for each of the T_r tiles of queries; what a row keeps never leaves the chip.

    >>> fa2_cost(Size(8, 8, 2, 2, 2, 4)).moved, fa2_cost(Size(1024, 1024, 64, 64, 128, 128)).moved
    (168, 1180672)
    """
    n_q, n_k, d, d_v = size.n_q, size.n_k, size.d, size.d_v
    down, across = size.tiles
    table, folds = n_q * n_k, across * n_q
    return Cost(
        Ledger(
            reads=n_q * d + down * n_k * (d + d_v),
            writes=n_q * (d_v + 1),  # O and lse
            kept=min(size.block_q, n_q) * (d + d_v + 2),
            mul=table * (d + 1 + d_v) + folds * (1 + d_v),
            add=table * (d + 2 + d_v) + folds * (2 + d_v),
            exp=table + folds,
            div=n_q * d_v,
            max=table,
        ),
        stored=n_q,
    )


FORMULAS: dict[str, Callable[[Size], Cost]] = {"standard": standard_cost, "fa1": fa1_cost, "fa2": fa2_cost}


def fa1_blocks(memory: int, d: int) -> tuple[int, int]:
    """fa1's B_r and B_c for a chip that holds `memory` numbers: a quarter each for tiles of Q, K, V and O.

    >>> fa1_blocks(98304, 64), fa1_blocks(49152, 128), fa1_blocks(16384, 128), fa1_blocks(32, 2)
    ((64, 384), (96, 96), (32, 32), (2, 4))
    """
    keys = -(-memory // (4 * d))
    return min(keys, d), keys


def bytes_of(format_: str) -> int:
    """Bytes that a number takes.

    >>> [bytes_of(name) for name in ("float8_e5m2", "bfloat16", "float32", "float64")]
    [1, 2, 4, 8]
    """
    return FORMATS[format_].bits // 8


def table_bytes(n_q: int, n_k: int, format_: str, heads: int = 1) -> int:
    """Bytes of a table of scores, one for each query and key.

    >>> table_bytes(32768, 32768, "float32") / 2**30
    4.0
    """
    return n_q * n_k * bytes_of(format_) * heads


@lru_cache(maxsize=256)
def counted(way: str, size: Size) -> Cost:
    """The same from a run: what the machine's own ledger says at its end."""
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal(shape) for shape in ((size.n_q, size.d), (size.n_k, size.d), (size.n_k, size.d_v)))
    if way == "standard":
        machine, spec = standard.MACHINE, Inputs(q, k, v, format="float64")
    else:
        machine, spec = tiled.MACHINE, tiled.Spec(q, k, v, format="float64", block_q=size.block_q, block_k=size.block_k, algorithm=way)
    kept = 0
    for moment in moments(machine, spec):
        kept = max(kept, moment.ledger.kept)
    ledger, state = replace(moment.ledger, kept=kept), moment.state
    if way == "standard":
        return Cost(ledger, state.s.size + state.p.size)
    if way == "fa1":
        return Cost(ledger, sum(rows.m.size + rows.l.size for rows in state.rows))
    return Cost(ledger, ledger.writes - size.n_q * size.d_v)


@dataclass(frozen=True)
class Spec:
    """A size, how it is cut, and which way the small example is walked.

    way               whose steps are walked
    n, d              tokens, and numbers in a query, a key and a value
    memory            numbers that fit on chip: fa1's M
    block_q, block_k  fa2's tile
    format            what a number takes in slow memory
    heads, batch      how often all of it is done
    """

    way: str = "standard"
    n: int = 32768
    d: int = 64
    memory: int = 49152
    block_q: int = 128
    block_k: int = 64
    format: str = "float32"
    heads: int = 1
    batch: int = 1

    def size(self, way: str, n: int | None = None) -> Size:
        """One head's size, for one of the ways, of this or another number of tokens."""
        tokens = n or self.n
        blocks = fa1_blocks(self.memory, self.d) if way == "fa1" else (self.block_q, self.block_k)
        return Size(tokens, tokens, self.d, self.d, *blocks)

    @property
    def runs(self) -> bool:
        """Whether this size is small enough to be run."""
        return self.n <= RUNS and self.d <= _WIDTH and all(np.prod(self.size(way).tiles) <= _TILES for way in WAYS[1:])

    @property
    def room(self) -> int:
        """Numbers that fa2's tiles of Q, K, V and acc hold, counted as fa1's block sizes count theirs.

        >>> Spec().room <= Spec().memory
        True
        """
        return 2 * self.d * (self.block_q + self.block_k)

    def cost(self, way: str, n: int | None = None) -> Cost:
        """All heads' cost: counted by a run where this size runs, and by formula otherwise or for another number of tokens."""
        one = counted(way, self.size(way)) if self.runs and n is None else FORMULAS[way](self.size(way, n))
        return one.times(self.heads * self.batch)


# The small example that is walked: two numbers a token, and a chip that holds 32.
TOKENS, WIDTH, CHIP = 8, 2, 32


def walked(way: str) -> tuple[Machine, Inputs]:
    """The machine and the inputs of the small example.

    >>> machine, spec = walked("fa1")
    >>> machine.steps(spec), spec.tiles
    (8, (4, 2))
    """
    draw = np.random.default_rng(1)
    q, k, v = (draw.standard_normal((TOKENS, WIDTH)).round(2) for _ in range(3))
    if way == "standard":
        return standard.MACHINE, Inputs(q, k, v)
    rows, keys = fa1_blocks(CHIP, WIDTH)
    return tiled.MACHINE, tiled.Spec(q, k, v, block_q=rows, block_k=keys, algorithm=way)


def _whole(name: str, label: str, help_: str, default: int, least: int, most: int, data: bool = False) -> Field:
    return Field(name, "integer", label, help_, str(default), default=default, least=least, most=most, data=data)


MACHINE = Machine(
    name="memory-traffic",
    title="Memory traffic",
    about="What attention moves between slow memory and the chip: the standard way, and tiles in two orders, at any number of tokens.",
    fields=(
        Field("way", "choice", "Walk", "Which way the small example is walked.", "fa2", default="standard", choices=WAYS, restarts=True),
        _whole("n", "Tokens", "How many queries, and as many keys.", Spec.n, LEAST_TOKENS, MOST_TOKENS, data=True),
        _whole("d", "Numbers in a query", "Keys and values are as long.", Spec.d, 1, 512),
        _whole("memory", "Numbers that fit on chip", "M in the formulas of FlashAttention; it counts numbers, not bytes.", Spec.memory, 4, 2**24),
        _whole("block_q", "Rows of a tile, FA2", "How many queries stay on chip while the keys pass.", Spec.block_q, 1, 4096),
        _whole("block_k", "Columns of a tile, FA2", "How many keys pass at a time; it changes what is computed, not what is moved.", Spec.block_k, 1, 4096),
        replace(FORMAT, help="How many bytes a number takes in slow memory."),
        _whole("heads", "Heads", "Attention is done this often for each text.", Spec.heads, 1, 1024),
        _whole("batch", "Texts at a time", "The batch.", Spec.batch, 1, 1024),
    ),
    spec=Spec,
    start=lambda spec: walked(spec.way)[0].start(walked(spec.way)[1]),
    advance=lambda spec, state: walked(spec.way)[0].advance(walked(spec.way)[1], state),
    steps=lambda spec: walked(spec.way)[0].steps(walked(spec.way)[1]),
)  # fmt: skip
