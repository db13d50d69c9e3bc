"""Pages and embeds: the home page and each widget, made whole on the server."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.embedding import Options, options
from app.figures.file import LIGHT
from app.runs import Run
from app.stories import PAGES, WIDGETS
from app.web.failures import NotFound, name_fault
from app.web.limits import made
from app.web.ready import Ready, Wrong, beside
from app.web.site import Site
from app.widgets import widget

HTML = "text/html"


def router(site: Site, ready: Ready) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def home(request: Request) -> Response:
        def make() -> bytes:
            hero = next(one for one in WIDGETS if one.hero is not None and one.draw)
            run, step = Run(hero.machine, hero.presets[0].spec), hero.hero or 0
            panels = hero.draw(run.shot(step)) if hero.draw else None
            return site.render(request, "home.html", shot=run.snapshot(step), panels=panels, ink=LIGHT)

        return await ready.shared(request, HTML, lambda: beside(make))

    async def show(request: Request, name: str, template: str) -> Response:
        if name not in PAGES:
            raise NotFound(name_fault("widget", name, sorted(PAGES)))
        kept = ready.find(request)
        if kept is not None:
            return kept
        given = dict(request.query_params)  # where a name is given twice the last counts: a button's step after the range's
        said = options(given) if template == "embed.html" else Options()

        def make() -> bytes:
            w = widget(name, given, options=said)
            keys = w.options.keys and given.get("keys") != "0"
            more: dict[str, Any] = {"w": w, "ink": LIGHT, "projector": given.get("view") == "projector", "keys": keys}
            page = site.render(request, template, **more)
            if w.faults:
                raise Wrong(page)
            return page

        try:
            return await ready.shared(request, HTML, lambda: made(PAGES[name].machine, given, make))
        except Wrong as wrong:
            return HTMLResponse(wrong.page, 422)

    @routes.get("/widgets/{name}")
    async def page(request: Request, name: str) -> Response:
        return await show(request, name, "widget.html")

    @routes.get("/embed/{name}")
    async def embed(request: Request, name: str) -> Response:
        return await show(request, name, "embed.html")

    return routes
