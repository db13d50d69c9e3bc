"""Security and sharing headers, by one table; what other sites may ask; which methods a path answers; and HEAD, answered as GET without its body."""

from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_SHARED = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After, X-Request-ID",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_PREFLIGHT_SECONDS = 86_400  # that a browser may go by an answer to its preflight
_OURS_ONLY = {"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY"}


def kind(path: str) -> str:
    """What sort of route this is, by its path below the site's root: page, embed (which others may frame) or shared (which others may fetch).

    >>> kind("/widgets/online-softmax"), kind("/embed/online-softmax"), kind("/figures/online-softmax.svg")
    ('page', 'embed', 'shared')
    """
    if path.startswith("/embed/"):
        return "embed"
    return "shared" if path.startswith(("/api/", "/static/", "/figures/", "/oembed")) else "page"


def policy(path: str, frame_ancestors: str) -> dict[str, str]:
    """The headers of a route, by its path below the site's root.

    >>> "X-Frame-Options" in policy("/widgets/online-softmax", "*"), "X-Frame-Options" in policy("/embed/online-softmax", "*")
    (True, False)
    """
    sort = kind(path)
    if sort == "embed":
        return {
            **_ALWAYS,
            **_SHARED,  # a sandboxed frame asks for its own page from an origin that is nobody's
            "Cross-Origin-Embedder-Policy": "require-corp",  # without it a cross-origin isolated host may not frame it
            "Content-Security-Policy": f"{_CONTENT}; frame-ancestors {frame_ancestors}",
        }
    if sort == "shared":
        return {**_ALWAYS, **_SHARED, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
    return {**_ALWAYS, **_OURS_ONLY, "Content-Security-Policy": f"{_CONTENT}; frame-ancestors 'none'"}


def below(scope: Scope) -> str:
    """The path below the site's root."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def allowed(routes: Iterable[BaseRoute], scope: Scope) -> str:
    """The Allow header of a path: every method of the routes that are written as the first that matches it.

    >>> from starlette.routing import Route
    >>> routes = [Route("/a/b", print, methods=["GET"]), Route("/a/b", print, methods=["POST"]), Route("/a/{rest:path}", print, methods=["PUT"])]
    >>> allowed(routes, {"type": "http", "method": "DELETE", "path": "/a/b"})
    'GET, HEAD, OPTIONS, POST'
    """
    found = [route for route in routes if route.matches(scope)[0] is not Match.NONE]
    methods = {"OPTIONS"}
    for route in found:
        if getattr(route, "path", None) == getattr(found[0], "path", None):
            methods |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


class Shared(CORSMiddleware):
    """Answers the preflights of other sites' scripts, for what anybody may fetch and for nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, ["*"], allow_methods=["GET", "HEAD", "POST"], allow_headers=["*"], max_age=_PREFLIGHT_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and kind(below(scope)) == "page":
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class Headers:
    """Adds the policy's headers to every answer, errors included."""

    def __init__(self, app: ASGIApp, frame_ancestors: str) -> None:
        self.app = app
        self.frame_ancestors = frame_ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        added = policy(below(scope), self.frame_ancestors)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added.items():
                    headers.setdefault(name, value)
            elif message["type"] == "http.response.body" and scope["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        await self.app(inner, receive, send_with_headers)
