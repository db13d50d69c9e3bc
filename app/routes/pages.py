"""Pages and embeds: the home page and each widget, made whole on the server."""

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.charts.marks import still_as_sent
from app.embedding import Options, options
from app.figures.file import LIGHT
from app.http.cache import CACHE_CONTROL, ResponseCache, Wrong
from app.http.errors import name_fault
from app.http.pool import beside
from app.machines.fields import LISTS
from app.machines.run import Machine
from app.page import page_of
from app.routes.site import Site
from app.routes.work import made
from app.runs import Run, rewritten
from app.snapshot import encode
from app.specs import NotFound, pasted_in
from app.stories import PAGES, WIDGETS
from app.templates import inert

HTML = "text/html"


class Moved(Exception):
    """What was asked for has another address."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


def _moved(machine: Machine, given: dict[str, str], canonical: str, shown: bool) -> str:
    """Where a query that holds pasted text is sent: the canonical one, with what else was said, and at the words that say what was read."""
    fields = {one.name: one for one in machine.fields}
    more = urlencode([(name, value) for name, value in given.items() if name not in fields])
    read = next((name for name in pasted_in(machine, given) if fields[name].kind in LISTS), None)
    return f"?{canonical}{more and '&'}{more}{f'#w-{read}-read' if shown and read else ''}"


def router(site: Site, cache: ResponseCache) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def home(request: Request) -> Response:
        def make() -> bytes:
            hero = next(one for one in WIDGETS if one.hero is not None and one.charts)
            run, step = Run(hero.machine, hero.presets[0].spec), hero.hero or 0
            first, last = run.charts(0)[0], run.charts(step)[0]
            told = b'{"charts":%b,"snapshots":%b}' % (encode({first.name: still_as_sent(first)}), run.part(0, step + 1, charts=True).json)
            return site.render(request, "home.html", shot=run.snapshot(step), chart=last, told=inert(told), ink=LIGHT)

        return await cache.shared(request, HTML, lambda: beside(make))

    async def show(request: Request, name: str, template: str) -> Response:
        if name not in PAGES:
            raise NotFound(name_fault("widget", name, sorted(PAGES)))
        kept = cache.find(request)
        if kept is not None:
            return kept
        given = dict(request.query_params)  # where a name is given twice the last counts: a button's step after the range's
        said = options(given) if template == "embed.html" else Options()

        def make() -> bytes:
            canonical = rewritten(PAGES[name].machine, given)
            if canonical is not None:
                raise Moved(_moved(PAGES[name].machine, given, canonical, shown=template == "widget.html"))
            w = page_of(name, given, options=said)
            keys = w.options.keys and given.get("keys") != "0"
            more: dict[str, Any] = {"w": w, "ink": LIGHT, "projector": given.get("view") == "projector", "keys": keys}
            page = site.render(request, template, **more)
            if w.faults:
                raise Wrong(page)
            return page

        try:
            return await cache.shared(request, HTML, lambda: made(PAGES[name].machine, given, make))
        except Wrong as wrong:
            return HTMLResponse(wrong.page, 422)
        except Moved as moved:
            return RedirectResponse(moved.location, 303, {"Cache-Control": CACHE_CONTROL})

    @routes.get("/widgets/{name}")
    async def page(request: Request, name: str) -> Response:
        return await show(request, name, "widget.html")

    @routes.get("/embed/{name}")
    async def embed(request: Request, name: str) -> Response:
        return await show(request, name, "embed.html")

    return routes
