"""/healthz: the process answers. /readyz: it also computes."""

from fastapi import APIRouter
from starlette.responses import JSONResponse

from app.machines import MACHINES
from app.machines.run import moments


def router() -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/healthz")
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @routes.get("/readyz")
    async def readyz() -> JSONResponse:
        online = MACHINES["online-softmax"]
        *_, last = moments(online, online.spec(scores=(1.0, 3.0, 2.0, 5.0, 4.0), format="float64"))
        good = round(last.state.l, 4) == 1.5713  # the worked example's sum, redone by hand in the lesson
        return JSONResponse({"status": "ready" if good else "wrong arithmetic"}, 200 if good else 503)

    return routes
