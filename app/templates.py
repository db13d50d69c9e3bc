"""Jinja as pages, figures and lessons use it: everything escaped, an undefined name an error."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.charts.outlines import lines
from app.charts.svg import drawn
from app.numbers import show
from app.snapshot import encode

ROOM = Path(__file__).parent.parent / "templates"


def environment() -> Environment:
    """A new one, so that a room may add filters of its own."""
    found = Environment(
        loader=FileSystemLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, auto_reload=False
    )
    found.filters["show"] = show
    found.filters["data"] = data
    found.filters["drawn"] = drawn
    found.filters["folded"] = lambda words, size, room: lines(words, size, room) if words else []
    return found


def data(answer: Any) -> Markup:
    r"""
    >>> data({"a": "</script>"})
    Markup('{"a":"\\u003c/script>"}')
    """
    return inert(encode(answer))


def inert(json: bytes) -> Markup:
    """JSON that may stand inside a script element: nothing in it can end that element."""
    return Markup(json.decode().replace("<", "\\u003c"))
