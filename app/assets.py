"""Static files, read once and compressed once, served from memory.

Scripts, styles and Plotly lie under a path with a hash of all of them in it, so a browser may keep them for ever and modules
can import each other by relative names. (A library that serves compressed copies wants them on disk beside the
originals; a read-only or full disk, or a checkout nobody wants generated files in, rules that out.)
"""

import gzip
import mimetypes
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import brotli
import plotly
from rcssmin import cssmin
from rjsmin import jsmin

from app.coding import chosen, compressible

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "static"
PLOTLY = "vendor/plotly.js"
_PLOTLY_SMALL = ROOT / "node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js"  # where npm ci put it
_PLOTLY_WHOLE = Path(plotly.__file__).parent / "package_data/plotly.min.js"  # in the wheel
_SLOW_PAST = 300_000  # bytes past which the best compression would hold up the start for seconds


@dataclass(frozen=True)
class Asset:
    """A file: its type, its ETag's core and its bytes by content coding ("" is as it is)."""

    media_type: str
    digest: str
    coded: dict[str, bytes]

    def choose(self, accepted: str) -> tuple[str, bytes]:
        """The coding and the bytes for an Accept-Encoding header."""
        name = chosen(accepted, [coding for coding in self.coded if coding])
        return name, self.coded[name]


@dataclass(frozen=True)
class Assets:
    """Every static file by name, and the stamp that their addresses carry."""

    stamp: str
    files: dict[str, Asset]


def load() -> Assets:
    """Read and compress everything under static/, and Plotly from where set-up has put it."""
    files = {
        path.relative_to(STATIC).as_posix(): path
        for path in sorted(STATIC.rglob("*"))
        if path.is_file() and path.suffix not in (".md", ".ts")
    }
    files[PLOTLY] = _PLOTLY_SMALL if _PLOTLY_SMALL.is_file() else _PLOTLY_WHOLE
    found = {name: _asset(name, _terse(name, path.read_bytes())) for name, path in files.items()}
    stamp = sha256("".join(f"{name}{asset.digest}" for name, asset in found.items()).encode()).hexdigest()[:12]
    return Assets(stamp, found)


def _terse(name: str, raw: bytes) -> bytes:
    """Our own scripts and styles without comments and spare spaces: on a slow phone a quarter of what comes before the first step.

    >>> _terse("js/a.js", b"// why\\nexport const a = 1;\\n"), _terse("icon.svg", b"<!-- -->")
    (b'export const a=1;', b'<!-- -->')
    """
    if name == PLOTLY:
        return raw
    minified = {".js": jsmin, ".css": cssmin}.get(Path(name).suffix)
    return raw if minified is None else bytes(minified(raw))


def _asset(name: str, raw: bytes) -> Asset:
    media_type = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "application/octet-stream"
    coded = {"": raw}
    if compressible(media_type):
        slow = len(raw) > _SLOW_PAST
        coded["br"] = brotli.compress(raw, quality=5 if slow else 11)
        coded["gzip"] = gzip.compress(raw, 6 if slow else 9, mtime=0)
    return Asset(f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type, sha256(raw).hexdigest()[:20], coded)
