"""The templates and what every page needs to know."""

import math
from functools import partial
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app import __version__
from app.assets import Assets
from app.charts.svg import drawn
from app.embedding import KEPT
from app.figures.qr import MOST, qr
from app.hooks import shown, value
from app.look import look
from app.machines.formats import FORMATS
from app.numbers import amount, show, size
from app.specs import Fault
from app.stories import PAGES
from app.stories.tiled.chart import largest, level
from app.templates import environment

PLAIN_SCRIPT = "core/plain"  # of a widget that has none of its own: what bind.js fills is all that a step changes


def pages() -> Environment:
    """Jinja with what the templates of pages ask for."""
    found = environment()
    found.filters["amount"] = amount
    found.filters["size"] = size
    found.filters["held"] = held
    found.filters["drawn"] = partial(drawn, page=True)
    found.filters["at"] = look
    found.globals |= {"value": value, "shown": shown, "kept": KEPT}
    found.filters["level"] = level
    found.filters["largest"] = largest
    found.filters["qr"] = lambda link, title="": Markup(qr(link, title)) if len(link) <= MOST else ""
    found.filters["transposed"] = lambda table: [list(row) for row in zip(*table, strict=True)]
    return found


def held(x: float, form: str) -> str:
    """A number as a format holds it, written for a reader.

    >>> held(2.3, "float8_e4m3fn"), held(-math.inf, "float8_e4m3fn")
    ('2.250', '−∞')
    """
    return show(FORMATS[form].round(x) if math.isfinite(x) else x)


def origin_of(request: Request) -> str:
    """Scheme and host as readers see them. (The framework's own reads the query too, and fails where that is no UTF-8.)"""
    scope = request.scope
    host = request.headers.get("host")
    if not host:
        name, port = scope.get("server") or ("localhost", None)
        host = name if port in (None, {"http": 80, "https": 443}.get(scope["scheme"])) else f"{name}:{port}"
    return f"{scope['scheme']}://{host}"


def root_of(request: Request) -> str:
    """The site's whole address as its readers see it, without a slash at its end."""
    return f"{origin_of(request)}{request.scope.get('root_path', '').rstrip('/')}"


class Site:
    """Renders pages. The stamp of the static files is in the address of each."""

    def __init__(self, files: Assets) -> None:
        self.stamp = files.stamp
        self.environment = pages()
        self.environment.filters["script"] = lambda name: own if f"js/{(own := f'widgets/{name}')}.js" in files.files else PLAIN_SCRIPT
        self.environment.globals["widgets"] = tuple(PAGES.values())  # in the ladder's order, for the navigation

    def render(self, request: Request, template: str, /, **more: Any) -> bytes:
        base = request.scope.get("root_path", "").rstrip("/")
        return (
            self.environment.get_template(template)
            .render(
                base=base,
                static=f"{base}/static/{self.stamp}",
                release=__version__,
                origin=origin_of(request),
                **more,
            )
            .encode()
        )

    def page(self, request: Request, template: str, code: int = 200, /, **more: Any) -> Response:
        return HTMLResponse(self.render(request, template, **more), code)

    def failure(self, request: Request, fault: Fault, status: int, headers: dict[str, str] | None = None) -> Response:
        """A page that says what was wrong and where to go."""
        bare = request.scope["path"].removeprefix(request.scope.get("root_path", "")).startswith("/embed/")  # in somebody's frame
        response = self.page(request, "failure.html", status, fault=fault, status=status, bare=bare)
        response.headers.update(headers or {})
        return response
