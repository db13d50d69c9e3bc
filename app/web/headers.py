"""Security and sharing headers, by one table; and HEAD, answered as GET without its body."""

from starlette.datastructures import MutableHeaders
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
_SHARED = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
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
            "Content-Security-Policy": f"{_CONTENT}; frame-ancestors {frame_ancestors}",
        }
    if sort == "shared":
        return {**_ALWAYS, **_SHARED, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
    return {**_ALWAYS, **_OURS_ONLY, "Content-Security-Policy": f"{_CONTENT}; frame-ancestors 'none'"}


class Headers:
    """Adds the policy's headers to every answer, errors included."""

    def __init__(self, app: ASGIApp, frame_ancestors: str) -> None:
        self.app = app
        self.frame_ancestors = frame_ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        added = policy(path, self.frame_ancestors)

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
