"""A snapshot as a picture: geometry here, drawing in templates/figures, so that a page and a file show the same."""

from collections.abc import Callable
from typing import Any

from app.figures import division, online, tiled

DRAWN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "online-softmax": online.drawing,
    "tiled-attention": tiled.drawing,
    "division-order": division.drawing,
}
