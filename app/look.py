"""What a path names in a snapshot: the server's half of static/js/core/bind.js, so that both fill the same hooks alike."""

from typing import Any


def look(snapshot: dict[str, Any], path: str, row: int | None = None, col: int | None = None) -> Any:
    """The number at a path, or None where it does not exist.

    Paths start at the state ("naive.sum") unless they name another part of the snapshot ("event.alpha"). Where a list
    is met, the row, and then the column, picks from it. An event that covers only a span of rows and columns has lists
    that long; row and col count from the start of the whole, as everywhere.

    >>> shot = {"event": {"q_rows": [2, 4], "k_cols": [0, 1], "alpha": [0.5, 1.0]}, "state": {"m": [1.0, 2.0, 3.0, 4.0]}}
    >>> look(shot, "m", 3), look(shot, "event.alpha", 3), look(shot, "event.alpha", 0), look(shot, "event.p", 3, 0)
    (4.0, 1.0, None, None)
    """
    names = path.split(".")
    found: Any = snapshot if names[0] in snapshot else snapshot["state"]
    places = [row, col]
    if names[0] == "event":
        spans = (snapshot["event"].get("q_rows", (0, 0)), snapshot["event"].get("k_cols", (0, 0)) if names[-1] in TILES else (0, 0))
        places = [place if place is None else place - span[0] for place, span in zip(places, spans, strict=True)]
    left = [place for place in places if place is not None]
    for name in names:
        while isinstance(found, list) and left:
            found = _pick(found, left.pop(0))
        found = found.get(name) if isinstance(found, dict) else None
    while isinstance(found, list) and left:
        found = _pick(found, left.pop(0))
    return None if isinstance(found, list) else found


TILES = ("dots", "scores", "p", "p_cast")  # an event's tables with a column for each key


def _pick(found: list[Any], place: int) -> Any:
    return found[place] if 0 <= place < len(found) else None
