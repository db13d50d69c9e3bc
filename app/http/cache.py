"""Answers that are pure functions of their URL: made once, kept as bytes, confirmed by ETag."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from app import __version__, coding
from app.http.pool import beside

VARY = {"Vary": "Accept-Encoding"}  # on what is not coded, coding.Gzip says so
CACHE_CONTROL = "public, max-age=300"
LARGE = 100_000  # bytes of an answer past which it is compressed off the event loop
ENTRY = 600  # bytes that an entry of the cache takes beside its body
LEFT = 499  # the status, for the log alone, of an answer that nobody waited for


class Kept(NamedTuple):
    """An answer as it is sent: its body in a content coding, which its ETag names."""

    body: bytes
    coding: str
    etag: str
    media_type: str


@dataclass
class _Making:
    """An answer on its way, and how many wait for it."""

    body: asyncio.Future[bytes]
    waiting: int = 0


class Wrong(Exception):
    """What was asked for is wrong, and this page says so: it is sent with 422 and not kept."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.page = page


class ResponseCache:
    """A cache of ready answers, by address and content coding, no larger than `most_bytes`."""

    def __init__(self, most_bytes: int) -> None:
        self._kept: LRUCache[bytes, Kept] = LRUCache(max(1, most_bytes), getsizeof=lambda kept: len(kept.body) + ENTRY)
        self._making: dict[bytes, _Making] = {}

    async def shared(self, request: Request, media_type: str, make: Callable[[], Awaitable[bytes]]) -> Response:
        """The answer to this URL: as kept, or as `make` makes it now, for all who ask meanwhile. What `make` raises is not kept."""
        found = self.find(request)
        if found is not None:
            return found
        key = _key(request)
        if key not in self._making:
            self._making[key] = _Making(asyncio.ensure_future(make()))
        making = self._making[key]
        gone = asyncio.ensure_future(_gone(request))
        making.waiting += 1
        either: set[asyncio.Future[Any]] = {making.body, gone}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return await self.keep(request, media_type, making.body.result()) if making.body.done() else Response(status_code=LEFT)
        finally:
            gone.cancel()
            making.waiting -= 1
            if not making.waiting:
                making.body.cancel()  # where it is not done, nobody waits for it any more
                self._making.pop(key, None)

    def find(self, request: Request) -> Response | None:
        kept = self._kept.get(_key(request, _coding(request)))
        return kept and _response(request, kept)

    async def keep(self, request: Request, media_type: str, body: bytes) -> Response:
        """The answer with this body, kept in the coding that was asked for: most readers of a state take the same."""
        wanted = _coding(request)
        kept = await beside(_kept, body, media_type, wanted) if len(body) > LARGE else _kept(body, media_type, wanted)
        if len(kept.body) + ENTRY <= self._kept.maxsize:
            self._kept[_key(request, wanted)] = kept
        return _response(request, kept)


def matches(condition: str | None, etag: str) -> bool:
    """Whether an If-None-Match header names this ETag (weakly compared, as the header's rule is).

    >>> matches('W/"a", "b"', '"b"'), matches("*", '"b"'), matches(None, '"b"')
    (True, True, False)
    """
    if condition is None:
        return False
    given = {one.strip().removeprefix("W/") for one in condition.split(",")}
    return etag in given or "*" in given


async def _gone(request: Request) -> None:
    """Returns once the reader has left. The first that a server tells is that the request is whole; what comes next is that."""
    for _ in range(2):
        if (await request.receive())["type"] == "http.disconnect":
            return
    await asyncio.Event().wait()  # it cannot be told here


def _key(request: Request, wanted: str = "") -> bytes:
    # scheme and host are in it because pages name their own full address; the digest, because an address may be long
    scope = request.scope
    told = "\n".join((wanted, scope["scheme"], request.headers.get("host", ""), scope.get("root_path", ""), scope["path"]))
    return sha256(told.encode(errors="surrogatepass") + b"?" + scope["query_string"]).digest()


def _coding(request: Request) -> str:
    return coding.chosen(request.headers.get("accept-encoding", ""))


def _kept(body: bytes, media_type: str, wanted: str) -> Kept:
    small, used = coding.coded(body, media_type, wanted)
    return Kept(small, used, f'"{__version__}-{sha256(body).hexdigest()[:20]}{used and "-" + used}"', media_type)


def _response(request: Request, kept: Kept) -> Response:
    headers = {"ETag": kept.etag, "Cache-Control": CACHE_CONTROL}
    if matches(request.headers.get("if-none-match"), kept.etag):
        return Response(status_code=304, headers=headers | VARY)
    if kept.coding:
        headers |= {"Content-Encoding": kept.coding} | VARY
    return Response(kept.body, media_type=kept.media_type, headers=headers)
