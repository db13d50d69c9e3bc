"""/static: files from memory, in the best coding the browser accepts."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.assets import Assets
from app.http.cache import CACHE_CONTROL, VARY, matches
from app.http.errors import name_fault
from app.specs import NotFound

FOREVER = "public, max-age=31536000, immutable"


def router(assets: Assets) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/favicon.ico")
    async def icon(request: Request) -> Response:
        return await static(request, "icon.svg")

    @routes.get("/static/{path:path}")
    async def static(request: Request, path: str) -> Response:
        stamp, _, name = path.partition("/")
        stamped = stamp == assets.stamp
        asset = assets.files.get(name if stamped else path)
        if asset is None:
            raise NotFound(name_fault("file", path, ["the addresses that pages of this release name"]))
        coding, body = asset.choose(request.headers.get("accept-encoding", ""))
        etag = f'"{asset.digest}{coding and "-" + coding}"'
        headers = {"ETag": etag, "Cache-Control": FOREVER if stamped else CACHE_CONTROL}
        if matches(request.headers.get("if-none-match"), etag):
            return Response(status_code=304, headers=headers | VARY)
        if coding:
            headers |= {"Content-Encoding": coding} | VARY
        return Response(body, headers=headers, media_type=asset.media_type)

    return routes
