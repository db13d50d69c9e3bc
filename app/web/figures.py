"""/figures: a state as SVG or PNG."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.figures import DRAWN, MACHINE_OF
from app.figures.file import png, svg
from app.machines import MACHINES
from app.machines.run import Machine
from app.presets import default_data
from app.snapshots import snapshot
from app.specs import parse, whole
from app.web.failures import NotFound, name_fault
from app.web.ready import Ready
from app.widgets import LAST_STEP


def router(ready: Ready) -> APIRouter:
    routes = APIRouter(prefix="/figures", include_in_schema=False)

    @routes.get("/{name}")
    async def figure(request: Request, name: str) -> Response:
        drawn, _, kind = name.rpartition(".")
        if drawn not in DRAWN or kind not in ("svg", "png"):
            raise NotFound(name_fault("figure", name, [f"{one}.{end}" for one in sorted(DRAWN) for end in ("svg", "png")]))
        given = dict(request.query_params)

        def picture() -> str:
            return svg(shot_of(MACHINES[MACHINE_OF.get(drawn, drawn)], given), drawn, dark=given.get("theme") == "dark")

        if kind == "svg":
            return await ready.answer(request, "image/svg+xml", lambda: picture().encode())
        return await ready.answer(request, "image/png", lambda: png(picture()), heavy=True)

    return routes


def shot_of(machine: Machine, given: dict[str, Any]) -> dict[str, Any]:
    """The snapshot that a page's or a figure's query names; what is no field of the machine is left alone."""
    spec = parse(machine, default_data(machine, given) | given, "page", strict=False)
    return snapshot(machine, spec, whole("step", given.get("step"), 0, LAST_STEP, 0))
