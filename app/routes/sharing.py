"""/share: everything that an author can paste or download for one state, with a look at what it gives."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.http.cache import ResponseCache
from app.http.errors import name_fault
from app.page import page_of
from app.routes.site import Site, root_of
from app.routes.work import made
from app.share import share
from app.specs import NotFound, SpecError
from app.stories import PAGES


def router(site: Site, cache: ResponseCache) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/share/{name}")
    async def sharing(request: Request, name: str) -> Response:
        if name not in PAGES:
            raise NotFound(name_fault("widget", name, sorted(PAGES)))
        given = dict(request.query_params)

        def make() -> bytes:
            w = page_of(name, given)
            if w.faults:
                raise SpecError(list(w.faults.values()))
            state = share(w.shot, root_of(request), extra=w.extra)
            return site.render(request, "share.html", w=w, share=state)

        return await cache.shared(request, "text/html", lambda: made(PAGES[name].machine, given, make))

    return routes
