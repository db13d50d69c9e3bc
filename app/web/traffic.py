"""The page of memory traffic, which shows several machines and so has a route of its own."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.embedding import Options, options
from app.machines.rounding import distances
from app.traffic_page import traffic_page
from app.web.ready import Ready, Wrong, beside, slowly
from app.web.site import Site


def router(site: Site, ready: Ready) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    async def show(request: Request, template: str, said: Options) -> Response:
        given = dict(request.query_params)  # where a name is given twice the last counts: a button's size after the list's
        more: dict[str, Any] = {"projector": given.get("view") == "projector", "keys": said.keys and given.get("keys") != "0"}

        def make() -> bytes:
            made = traffic_page(given, said)
            page = site.render(request, template, w=made, **more)
            if made.faults:
                raise Wrong(page)
            return page

        measured = distances.cache_info().currsize  # the first page runs attention in every format
        try:
            return await ready.shared(request, "text/html", lambda: (beside if measured else slowly)(make))
        except Wrong as wrong:
            return HTMLResponse(wrong.page, 422)

    @routes.get("/widgets/memory-traffic")
    async def page(request: Request) -> Response:
        return await show(request, "memory-traffic.html", Options())

    @routes.get("/embed/memory-traffic")
    async def embed(request: Request) -> Response:
        return await show(request, "memory-traffic-embed.html", options(request.query_params))

    return routes
