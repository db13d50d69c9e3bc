"""/healthz: the process answers. /readyz: it has lessons, and it computes what mathematics says.

The self-test goes another way than the machines do: each widget's trials say what a closed form gives; and for each
format there is the first whole number that it cannot hold.
"""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from app.lessons.course import Catalog
from app.machines.formats import FORMATS
from app.runs import Run
from app.stories import WIDGETS

CLOSE = 1e-12
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
    for widget in WIDGETS:
        for trial in widget.trials():
            spec = widget.machine.spec(**trial.given)
            run = Run(widget.machine, spec)
            found, exact = _flat(run.snapshot(run.steps)["state"][trial.path]), _flat(trial.exact)
            if len(found) != len(exact) or not all(
                math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in zip(found, exact, strict=True)
            ):
                yield f"{widget.name} {trial.what} gives {found}, and mathematics {exact}"


def _flat(found: Any) -> list[float]:
    """
    >>> _flat([[1.0, 2.0], [3.0]]), _flat(4.0)
    ([1.0, 2.0, 3.0], [4.0])
    """
    return [x for row in found for x in _flat(row)] if isinstance(found, list) else [found]
