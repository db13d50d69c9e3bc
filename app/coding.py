"""Content codings: which of them a reader takes, and bytes in it."""

import gzip
import sys
from collections.abc import Callable, Collection

import brotli

if sys.version_info >= (3, 14):
    from compression.zstd import compress as _zstd
else:
    from zstandard import ZstdCompressor

    def _zstd(data: bytes, level: int) -> bytes:
        return bytes(ZstdCompressor(level).compress(data))


# for what is made as it is asked for: a tenth of a page's time at most
_QUICK: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda data: _zstd(data, 9),
    "br": lambda data: brotli.compress(data, quality=4),
    "gzip": lambda data: gzip.compress(data, 4, mtime=0),
}
_LEAST = 500  # bytes below which it is not worth it
_COMPRESSIBLE = ("text/", "application/javascript", "application/json", "image/svg+xml")


def chosen(accepted: str, offered: Collection[str] = tuple(_QUICK)) -> str:
    """The first coding offered that an Accept-Encoding header takes; "" where it takes none.

    >>> chosen("gzip, deflate, br, zstd"), chosen("gzip;q=1.0, br; q=0"), chosen(""), chosen("gzip, br", ("br", "gzip"))
    ('zstd', 'gzip', '', 'br')
    """
    taken = set()
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if weight.replace(" ", "").rstrip("0.") != "q=":
            taken.add(name.strip())
    return next((name for name in offered if name in taken), "")


def compressible(media_type: str) -> bool:
    """
    >>> compressible("text/html"), compressible("image/png")
    (True, False)
    """
    return media_type.startswith(_COMPRESSIBLE)


def coded(data: bytes, media_type: str, coding: str) -> tuple[bytes, str]:
    """Bytes in a coding, and which that is: none where they are few or of a kind that gets no smaller.

    >>> coded(b"few", "text/html", "gzip")
    (b'few', '')
    """
    if not coding or len(data) < _LEAST or not compressible(media_type):
        return data, ""
    return _QUICK[coding](data), coding
