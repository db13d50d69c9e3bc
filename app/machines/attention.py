"""What every attention machine is given: Q, K and V, the scale, who may see whom, and the number formats.

Vaswani et al. (2017), "Attention Is All You Need", §3.2.1: softmax(Q Kᵀ · scale) V, with scale 1/√d.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.machines.arithmetic import Arrays
from app.machines.fields import Field, Problem
from app.machines.formats import FORMATS, Array, Format

CAUSAL = ("none", "top-left", "bottom-right")
MAX_TOKENS, MAX_D = 256, 64


@dataclass(frozen=True, eq=False)
class Inputs:
    """One head's attention problem.

    q [n_q, d], k [n_k, d], v [n_k, d_v]   float64; rounded to `format` as they are loaded, not before
    scale         a number, or "auto": 1/√d
    causal        none; top-left: key j for query i where j ≤ i; bottom-right: j ≤ i + n_k − n_q
    window        None, or how many of the newest keys up to its own a query sees, its own included
    key_lengths   None, or how many keys are real: one number for all rows, or one a row; 0 is allowed
    format        of q, k, v and the output
    compute       of q·k sums, scores, m, alpha and exp; None: as `format`
    p_format      what p is cast to before P·V; None: as `format`
    accumulate    of l, acc and their sums; None: as `format`
    """

    q: Array
    k: Array
    v: Array
    scale: float | str = "auto"
    causal: str = "none"
    window: int | None = None
    key_lengths: tuple[int, ...] | None = None
    format: str = "float32"
    compute: str | None = None
    p_format: str | None = None
    accumulate: str | None = None
    seed: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("q", "k", "v"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        for name in ("compute", "p_format", "accumulate"):
            object.__setattr__(self, name, getattr(self, name) or self.format)

    @property
    def n_q(self) -> int:
        return len(self.q)

    @property
    def n_k(self) -> int:
        return len(self.k)

    @property
    def d(self) -> int:
        return int(self.q.shape[1])

    @property
    def d_v(self) -> int:
        return int(self.v.shape[1])

    @property
    def forms(self) -> tuple[Format, Format, Format, Format]:
        """format, compute, p_format, accumulate."""
        return FORMATS[self.format], FORMATS[str(self.compute)], FORMATS[str(self.p_format)], FORMATS[str(self.accumulate)]

    @property
    def stored(self) -> tuple[Array, Array, Array]:
        """q, k and v as slow memory holds them: rounded to `format`."""
        form = self.forms[0]
        return form.round_array(self.q), form.round_array(self.k), form.round_array(self.v)

    @property
    def factor(self) -> float:
        """What scores are multiplied by, in the compute format; 1/√d goes by the d that was given, never a padded one."""
        return self.forms[1].round(1 / math.sqrt(self.d) if self.scale == "auto" else float(self.scale))

    def live(self, rows: slice, cols: slice) -> Array:
        """1 where a query of `rows` may see a key of `cols`, else 0.

        >>> two_by_five = Inputs(np.zeros((2, 1)), np.zeros((5, 1)), np.zeros((5, 1)), causal="bottom-right")
        >>> two_by_five.live(slice(0, 2), slice(0, 5)).astype(int).tolist()
        [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
        """
        query = np.arange(*rows.indices(self.n_q))[:, None]
        key = np.arange(*cols.indices(self.n_k))[None, :]
        own = query + (self.n_k - self.n_q if self.causal == "bottom-right" else 0)
        seen = np.ones((query.size, key.size), dtype=bool)
        if self.causal != "none" or self.window is not None:
            seen &= key <= own
        if self.window is not None:
            seen &= key > own - self.window
        if self.key_lengths is not None:
            seen &= key < np.array(self.key_lengths if len(self.key_lengths) == 1 else self.key_lengths[rows])[:, None]
        return seen.astype(np.float64)


def arithmetics(spec: Inputs, ops: Counter[str]) -> tuple[Arrays, Arrays]:
    """The operations on scores, in `compute`, and those on sums, in `accumulate`, counted together.

    q and k are in `format`; what is summed is in `compute` or `p_format`, weighted values in `format`.
    """
    form, compute, p_format, accumulate = spec.forms
    widest = max(form.digits, compute.digits, p_format.digits)
    return Arrays(compute, ops, form.digits > compute.digits), Arrays(accumulate, ops, widest > accumulate.digits)


def build(kind: type[Inputs], given: Mapping[str, Any]) -> Any:
    """A spec from parsed fields: with q, k and v, or with a seed and sizes that make them.

    The numbers of a seed are uniform on [−2, 2], to two decimals, from Python's Mersenne Twister, whose stream is
    promised never to change, so a published link keeps its meaning.

    >>> build(Inputs, {"seed": 1, "n_q": 1, "n_k": 1, "d": 2, "d_v": 1}).q.tolist()
    [[-1.46, 1.39]]
    """
    sizes = {name: given.get(name) for name in ("n_q", "n_k", "d", "d_v")}
    rest = {name: value for name, value in given.items() if name not in sizes}
    if given.get("q") is None:
        draw = random.Random(given.get("seed") or 0)  # noqa: S311 (numbers to look at, not secrets)
        n_q, n_k, d = (sizes[name] or DEFAULT_SIZES[name] for name in ("n_q", "n_k", "d"))
        for name, shape in (("q", (n_q, d)), ("k", (n_k, d)), ("v", (n_k, sizes["d_v"] or d))):
            rest[name] = np.array([[round(4 * draw.random() - 2, 2) for _ in range(shape[1])] for _ in range(shape[0])])
        rest["seed"] = given.get("seed") or 0
    else:
        rest.pop("seed", None)
    return kind(**rest)


def given(spec: Inputs) -> dict[str, Any]:
    """The fields that a spec is written with: q, k and v, or the seed and sizes that made them."""
    found = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    if spec.seed is None:
        return found | {name: tuple(map(tuple, getattr(spec, name).tolist())) for name in ("q", "k", "v")}
    for name in ("q", "k", "v"):
        del found[name]
    return found | {"n_q": spec.n_q, "n_k": spec.n_k, "d": spec.d, "d_v": spec.d_v}


DEFAULT_SIZES = {"n_q": 8, "n_k": 8, "d": 4}


def problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with fields that are each right alone."""
    q, k, v = (given.get(name) for name in ("q", "k", "v"))
    there = [name for name in ("q", "k", "v") if given.get(name) is not None]
    if not there and given.get("seed") is None:
        yield Problem(
            "q", "required", "q, k and v are empty", "give all three (q=1,0;0,1 and so on), or a seed such as seed=1", "q, k and v, or seed"
        )
    elif there and (given.get("seed") is not None or any(given.get(name) is not None for name in ("n_q", "n_k", "d", "d_v"))):
        yield Problem(
            "seed", "two_sources", "both a seed (or sizes for one) and q, k, v are given", "keep one of the two", "q, k and v, or seed"
        )
    elif there and len(there) < 3:
        missing = next(name for name in ("q", "k", "v") if name not in there)
        yield Problem(missing, "required", f"{missing} is empty", "give q, k and v together", "q, k and v")
    elif q and k and v:
        if len(q[0]) != len(k[0]):
            yield Problem(
                "k",
                "wrong_shape",
                f"k has rows of {len(k[0])} but q has rows of {len(q[0])}",
                "give both the same d",
                f"rows of {len(q[0])}",
            )
        if len(v) != len(k):
            yield Problem("v", "wrong_shape", f"v has {len(v)} rows but k has {len(k)}", "give each key one value", f"{len(k)} rows")
    lengths = given.get("key_lengths")
    n_q = len(q) if q else given.get("n_q") or DEFAULT_SIZES["n_q"]
    n_k = len(k) if k else given.get("n_k") or DEFAULT_SIZES["n_k"]
    if lengths and len(lengths) not in (1, n_q):
        yield Problem(
            "key_lengths",
            "wrong_shape",
            f"key_lengths has {len(lengths)} numbers",
            f"give one, or one for each of the {n_q} queries",
            f"1 or {n_q} numbers",
        )
    elif lengths and max(lengths) > n_k:
        yield Problem(
            "key_lengths",
            "out_of_range",
            f"key_lengths has {max(lengths)}",
            f"there are only {n_k} keys: give 0 to {n_k}",
            {"least": 0, "most": n_k},
        )


def _form(name: str, label: str, help_: str) -> Field:
    return Field(
        name, "choice", label, f"{help_}; empty: the same as the number format.", "float32", choices=tuple(FORMATS), follows="format"
    )


def _size(name: str, label: str, most: int, page: int) -> Field:
    return Field(name, "integer", label, f"{label}, with a seed.", "4", data=True, stands_in=True, least=1, most=most, page_most=page)


_MATRICES = tuple(
    Field(name, "matrix", label, help_, example, data=True, least=1, most=MAX_TOKENS, page_most=64, width=MAX_D, page_width=16)
    for name, label, help_, example in (
        ("q", "Q", "A row for each query; rows end with a semicolon.", "1,0;0,1"),
        ("k", "K", "A row for each key, as long as a query.", "1,2;2,1;3,0;2,1"),
        ("v", "V", "A row for each key: its value.", "2,0;0,2;0,2;1,1"),
    )
)  # fmt: skip
DATA = (
    *_MATRICES,
    Field("seed", "integer", "Seed", "In place of q, k and v: numbers drawn from this seed.", "1", data=True, stands_in=True, least=0, most=999_999_999),
    _size("n_q", "Queries", MAX_TOKENS, 64),
    _size("n_k", "Keys", MAX_TOKENS, 64),
    _size("d", "Length of a query and a key", MAX_D, 16),
    _size("d_v", "Length of a value", MAX_D, 16),
)  # fmt: skip
LOOKS = (
    Field("scale", "scale", "Scale", "What every score is multiplied by; auto is 1 over the root of d.", "auto", default="auto", least=-1000, most=1000),
    Field("causal", "choice", "Causal mask", "Which corner the triangle of visible keys is set in.", "bottom-right", default="none", choices=CAUSAL),
    Field("window", "integer", "Window", "A query sees this many of the newest keys up to its own; empty: all.", "2", least=1, most=MAX_TOKENS),
    Field(
        "key_lengths", "integers", "Key lengths", "How many keys are real: one number, or one for each query; empty: all.", "3",
        least=0, most=MAX_TOKENS,
    ),
)  # fmt: skip
FORMS = (
    Field(
        "format",
        "choice",
        "Number format",
        "The format of q, k, v and the output, and of all else unless said.",
        "float32",
        default="float32",
        data=True,
        choices=tuple(FORMATS),
    ),
    _form("compute", "Format of scores", "The format of q·k sums, scores, m, alpha and exp"),
    _form("p_format", "Format of p", "What p is cast to before it meets V"),
    _form("accumulate", "Format of ℓ and acc", "The format of ℓ, acc and their sums"),
)
