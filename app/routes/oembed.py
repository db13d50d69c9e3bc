"""/oembed: what a blog or a course page asks when an author pastes one of our links (oembed.com, version 1.0)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.embedding import options
from app.figures.card import HEIGHT, WIDTH
from app.figures.kinds import THUMB
from app.http.cache import ResponseCache
from app.http.errors import error, name_fault
from app.lessons.course import Catalog
from app.lessons.lesson import Lesson
from app.machines import MACHINES
from app.routes.figures import shot_of
from app.routes.site import root_of
from app.routes.work import made
from app.share import FRAME_WIDTH, frame_height, iframe, share
from app.snapshot import NoSuchStep, encode
from app.specs import Fault, NotFound, SpecError, clip, whole
from app.stories import PAGES

CACHE_AGE = 86_400  # seconds; a state's answer changes only with a release
_LEAST, _MOST = 1, 10_000  # pixels
_ANYONE = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


def router(cache: ResponseCache, catalog: Catalog) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/oembed")
    async def oembed(request: Request) -> Response:
        given = request.query_params
        kind = given.get("format", "json")
        if kind != "json":
            message = f"format: {clip(kind)!r} is not answered here; use format=json."
            return error(501, Fault("not_implemented", message, "format", clip(kind), ["json"]), _ANYONE)
        if not given.get("url"):
            message = "url is empty: give the address of a widget's page or embed."
            return error(400, Fault("required", message, "url", "", "an address of this site"), _ANYONE)
        try:
            limits = {name: whole(name, given.get(name), _LEAST, _MOST, _MOST) for name in ("maxwidth", "maxheight")}
        except SpecError as wrong:
            return error(400, wrong.faults[0], _ANYONE)
        root = root_of(request)

        def make() -> bytes:
            return encode(rich(given["url"], root, limits["maxwidth"], limits["maxheight"]))

        lesson = _lesson(given["url"], root, catalog)
        if lesson is not None:
            found = await cache.keep(request, "application/json", encode(_titled("link", lesson.title, root)))
            found.headers.update(_ANYONE)
            return found

        try:
            name, query = _ours(given["url"], root)
            found = await cache.shared(request, "application/json", lambda: made(MACHINES[name], query, make))
        except (SpecError, NotFound) as wrong:
            if not isinstance(wrong, SpecError | NoSuchStep):
                return error(404, wrong.fault, _ANYONE)
            # an address of ours with nothing at it
            return error(404, Fault("not_found", str(wrong), "url", clip(given["url"]), "an address that has a page"), _ANYONE)
        found.headers.update(_ANYONE)
        return found

    return routes


def rich(url: str, root: str, most_wide: int, most_high: int) -> dict[str, Any]:
    """The answer for a page or an embed: a frame with the same spec, step and options, no larger than asked.

    url    as the author pasted it
    root   where the site is, as the consumer reached it

    Raises NotFound for an address that is not ours or leads to no widget, SpecError and NoSuchStep for one with nothing at it.

    >>> found = rich("https://a.example/widgets/online-softmax?scores=1,3&step=2", "https://a.example", 500, 10_000)
    >>> found["type"], found["width"], found["title"]
    ('rich', 500, 'Online softmax, step 2 of 2')
    """
    name, given = _ours(url, root)
    state = share(shot_of(MACHINES[name], given), root, options(given).given)
    width, height = min(FRAME_WIDTH, most_wide), min(frame_height(name), most_high)
    html = iframe(state.embed, state.page, state.title, width, height)
    answer = _titled("rich", state.title, root) | {"html": html, "width": width, "height": height}
    for size, wide in (("card", WIDTH), ("thumb", THUMB)):
        high = HEIGHT * wide // WIDTH
        if wide <= most_wide and high <= most_high:
            return answer | {"thumbnail_url": f"{state.png}&size={size}", "thumbnail_width": wide, "thumbnail_height": high}
    return answer


def _titled(sort: str, title: str, root: str) -> dict[str, Any]:
    return {
        "version": "1.0", "type": sort, "title": title, "provider_name": "Tilewise", "provider_url": f"{root}/", "cache_age": CACHE_AGE,
    }  # fmt: skip


def _lesson(url: str, root: str, catalog: Catalog) -> Lesson | None:
    """The lesson that an address leads to: it is no frame, so its title is all that is told."""
    place = _below(url, root) or ""
    return catalog.lesson(place.removeprefix("/lessons/")) if place.startswith("/lessons/") else None


def _below(url: str, root: str) -> str | None:
    """The path of an address below this site's root, None where it is another site's; http and https are one site, since a proxy may end TLS."""
    try:
        given, ours = urlsplit(url.strip()), urlsplit(root)
    except ValueError:  # such as a bracket left open
        return None
    same = given.scheme in ("http", "https") and _host(given.netloc) == _host(ours.netloc)
    return given.path.removeprefix(ours.path) if same and given.path.startswith(f"{ours.path}/") else None


def _ours(url: str, root: str) -> tuple[str, Mapping[str, Any]]:
    """The widget and the query of an address of this site."""
    place = _below(url, root)
    if place is None or not place.startswith(("/widgets/", "/embed/")):
        shown = clip(url)
        raise NotFound(
            Fault(
                "not_found",
                f"{shown!r} is no widget of this site: give an address under {root}/widgets/.",
                "url",
                shown,
                f"{root}/widgets/",
            )
        )
    name = place.rpartition("/")[2]
    if name not in PAGES or place.count("/") != 2:
        raise NotFound(name_fault("widget", name, sorted(PAGES)))
    return name, dict(parse_qsl(urlsplit(url.strip()).query, keep_blank_values=True))


def _host(netloc: str) -> str:
    return netloc.lower().removesuffix(":80").removesuffix(":443")
