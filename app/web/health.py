"""/healthz: the process answers. /readyz: it has lessons, and it computes what mathematics says.

The self-test goes another way than the machines do: softmax in closed form, in float64, summed without rounding; and
for each format the first whole number that it cannot hold.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from app.lessons.catalog import Catalog
from app.machines import MACHINES
from app.machines.formats import FORMATS
from app.snapshots import snapshot

CLOSE = 1e-12
SCORES, VALUES = (1.0, 3.0, 2.0, 5.0, 4.0), ((10.0, 1.0), (20.0, -2.0), (30.0, 0.5), (40.0, 0.0), (50.0, 7.0))
Q, K = ((1.0, -0.5), (0.25, 2.0)), ((1.0, 2.0), (0.0, 1.0), (3.0, -1.0), (0.5, 0.5), (-2.0, 1.5))
# a whole number between two that the format has, and the even one of the two, to which it goes
TIES = {
    "float16": (2049, 2048), "bfloat16": (257, 256), "float32": (16777217, 16777216),
    "float8_e4m3fn": (17, 16), "float8_e5m2": (9, 8),
}  # fmt: skip


def router(catalog: Catalog) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/healthz")
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})

    @routes.get("/readyz")
    async def readyz() -> JSONResponse:
        wrong = list(await run_in_threadpool(wrong_results))
        if not catalog.lessons:
            wrong.append("no lesson was found")
        answer = {"status": "not ready", "wrong": wrong} if wrong else {"status": "ready"}
        return JSONResponse(answer, 503 if wrong else 200, {"Cache-Control": "no-store"})

    return routes


@cache
def wrong_results() -> tuple[str, ...]:
    """What the machines compute otherwise than mathematics; asked once a process, since it cannot change.

    >>> wrong_results()
    ()
    """
    return tuple(_wrong())


def _wrong() -> Iterator[str]:
    for name, (given, held) in TIES.items():
        if FORMATS[name].round(float(given)) != held:
            yield f"{name} rounds {given} to {FORMATS[name].round(float(given))}"
    shares, mean = softmax(SCORES), weighted(SCORES, VALUES)
    row: dict[str, Any] = {"scores": SCORES, "values": VALUES, "format": "float64"}
    for block in (1, 2, 5):
        yield from _differs(f"online-softmax in blocks of {block}", _end("online-softmax", **row, block=block)["output"], mean)
    for method in ("naive", "safe", "online", "online-shares"):
        found = _end("softmax-passes", scores=SCORES, method=method, format="float64")
        yield from _differs(
            f"softmax-passes {method}", [found["l"]], [1 / shares[3] if method != "naive" else math.fsum(map(math.exp, SCORES))]
        )
    yield from _differs("division-order", _end("division-order", **row)["output"], mean)
    for splits in (1, 2, 5):
        yield from _differs(f"merge of {splits}", _end("merge", **row, splits=splits)["output"], mean)
    seen = [weighted([sum(map(math.prod, zip(q, k, strict=True))) / math.sqrt(2) for k in K], VALUES) for q in Q]
    attention: dict[str, Any] = {"q": Q, "k": K, "v": VALUES, "format": "float64"}
    for algorithm in ("fa2", "fa1"):
        found = _end("tiled-attention", **attention, algorithm=algorithm, block_q=1, block_k=2)["output"]
        yield from _differs(f"tiled-attention {algorithm}", flat(found), flat(seen))
    yield from _differs("standard-attention", flat(_end("standard-attention", **attention)["output"]), flat(seen))


def softmax(scores: Sequence[float]) -> list[float]:
    """The shares in closed form.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(scores)
    sizes = [math.exp(score - top) for score in scores]
    whole = math.fsum(sizes)
    return [size / whole for size in sizes]


def weighted(scores: Sequence[float], values: Sequence[Sequence[float]]) -> list[float]:
    """The average of the values, weighted by the shares of the scores."""
    return [math.fsum(map(math.prod, zip(softmax(scores), column, strict=True))) for column in zip(*values, strict=True)]


def flat(table: Sequence[Sequence[float]]) -> list[float]:
    return [x for row in table for x in row]


def _end(name: str, **given: Any) -> Any:
    machine = MACHINES[name]
    spec = machine.spec(**given)
    return snapshot(machine, spec, machine.steps(spec))["state"]


def _differs(what: str, found: Sequence[float], exact: Sequence[float]) -> Iterator[str]:
    if len(found) != len(exact) or not all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in zip(found, exact, strict=True)):
        yield f"{what} gives {list(found)}, and mathematics {list(exact)}"
