"""A snapshot as a picture: geometry here, drawing in templates/figures, so that a page and a file show the same."""

from collections.abc import Callable
from typing import Any

from app.figures import division, history, merge, online, passes, tiled

DRAWN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "online-softmax": online.drawing,
    "online-softmax-history": history.drawing,
    "softmax-passes": passes.drawing,
    "tiled-attention": tiled.drawing,
    "division-order": division.drawing,
    "merge": merge.drawing,
}
# figures that are not named for their machine: which one, and their title
MACHINE_OF = {"online-softmax-history": "online-softmax"}
TITLES = {"online-softmax-history": "Online softmax: m and ℓ from step to step"}
