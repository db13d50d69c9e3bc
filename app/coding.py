"""Content codings: which of them a reader takes, bytes in it, and gzip for the answers that no cache has coded."""

import gzip
from collections.abc import Callable, Collection

import brotli
from starlette.datastructures import Headers
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware, IdentityResponder
from starlette.types import ASGIApp, Receive, Scope, Send

# for what is made as it is asked for: a tenth of a page's time at most
_QUICK: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda data: brotli.compress(data, quality=5),
    "gzip": lambda data: gzip.compress(data, 4, mtime=0),
}
_LEAST = 500  # bytes below which it is not worth it


def chosen(accepted: str, offered: Collection[str] = tuple(_QUICK)) -> str:
    """The first coding offered that an Accept-Encoding header takes; "" where it takes none.

    >>> chosen("gzip, deflate, br, zstd"), chosen("gzip;q=1.0, br; q=0"), chosen(""), chosen("gzip, br", ("gzip",))
    ('br', 'gzip', '', 'gzip')
    """
    taken = set()
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if weight.replace(" ", "").rstrip("0.") != "q=":
            taken.add(name.strip())
    return next((name for name in offered if name in taken), "")


def compressible(media_type: str) -> bool:
    """Whether a type gets smaller and may be held back: the framework's own list, which leaves a stream of events alone.

    >>> [compressible(one) for one in ("text/html; charset=utf-8", "application/xml", "image/png", "text/event-stream")]
    [True, True, False, False]
    """
    kind = media_type.partition(";")[0]
    return not {kind, f"{kind.partition('/')[0]}/*"} & set(DEFAULT_EXCLUDED_CONTENT_TYPES)


def coded(data: bytes, media_type: str, coding: str) -> tuple[bytes, str]:
    """Bytes in a coding, and which that is: none where they are few or of a kind that gets no smaller.

    >>> coded(b"few", "text/html", "gzip")
    (b'few', '')
    """
    if not coding or len(data) < _LEAST or not compressible(media_type):
        return data, ""
    return _QUICK[coding](data), coding


class Gzip(GZipMiddleware):
    """Starlette's own, for what the cache and the static files have not coded; it goes by the reader's weights, as they do."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, _LEAST, compresslevel=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not chosen(Headers(scope=scope).get("accept-encoding", ""), ("gzip",)):
            await IdentityResponder(self.app, self.minimum_size)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
