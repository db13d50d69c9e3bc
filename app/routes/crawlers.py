"""/robots.txt and /sitemap.xml: what a search engine should read, and what it need not."""

from collections.abc import Iterator
from html import escape

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.http.cache import ResponseCache
from app.http.pool import beside
from app.lessons.course import Catalog
from app.page import canonical
from app.routes.site import root_of
from app.stories import PAGES

# every state is in these too, once more; what links show (pages, figures, embeds) stays open to those who draw previews
LEFT_OUT = ("/api/", "/oembed", "/share/")


def router(cache: ResponseCache, catalog: Catalog) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/robots.txt")
    async def robots(request: Request) -> Response:
        base = request.scope.get("root_path", "").rstrip("/")
        lines = ["User-agent: *", *(f"Disallow: {base}{path}" for path in LEFT_OUT), f"Sitemap: {root_of(request)}/sitemap.xml"]
        return PlainTextResponse("\n".join(lines) + "\n")

    @routes.get("/sitemap.xml")
    async def sitemap(request: Request) -> Response:
        def make() -> bytes:
            places = "".join(f"<url><loc>{escape(root_of(request) + path)}</loc></url>\n" for path in paths(catalog))
            return (
                f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
            ).encode()

        return await cache.shared(request, "application/xml", lambda: beside(make))

    return routes


def paths(catalog: Catalog) -> Iterator[str]:
    """The pages that are not another's with other numbers: each names itself as its canonical address."""
    yield "/"
    yield "/lessons/"
    for lesson in catalog.lessons:
        yield f"/lessons/{lesson.slug}"
        yield f"/lessons/{lesson.slug}?track=deep"
    for guide in catalog.guides:
        yield f"/guide/{guide.slug}"
    for widget in PAGES.values():
        yield from dict.fromkeys(f"/{canonical(widget, preset.spec)}" for preset in widget.presets)
