"""/share: everything that an author can paste or download for one state, with a look at what it gives."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.embedding import Options
from app.share import share
from app.snapshots import WIDGETS
from app.web.failures import NotFound, name_fault
from app.web.ready import Ready
from app.web.site import Site
from app.widgets import widget


def router(site: Site, ready: Ready) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/share/{name}")
    async def sharing(request: Request, name: str) -> Response:
        if name not in WIDGETS:
            raise NotFound(name_fault("widget", name, sorted(WIDGETS)))
        kept = ready.find(request)
        if kept is not None:
            return kept
        made = widget(name, dict(request.query_params), options=Options())
        if made.faults:
            return site.failure(request, next(iter(made.faults.values())), 422)
        root = f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '').rstrip('/')}"
        more: dict[str, Any] = {"w": made, "share": share(made.shot, root, extra=made.extra)}
        return ready.keep(request, "text/html", site.render(request, "share.html", **more))

    return routes
