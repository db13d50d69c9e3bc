"""How much room letters take, so that no number is drawn wider than its place."""

from collections.abc import Iterable, Sequence

WIDE = 0.6  # of a letter's size, for the digits of the fonts used
NARROW = {".": 0.3, ",": 0.3, " ": 0.28, "⁻": 0.4, "·": 0.3}
SUPERSCRIPT = 0.4


def width(text: str, size: float = 1.0) -> float:
    """About how wide a text is.

    >>> round(width("1.5", 10.0), 1)
    15.0
    """
    return size * sum(NARROW.get(one, SUPERSCRIPT if one in "⁰¹²³⁴⁵⁶⁷⁸⁹" else WIDE) for one in text)


def fitted(texts: Iterable[str], room: float, most: float = 13.0, least: float = 9.0) -> float:
    """The letter size at which each of the texts fits the room; 0 where that is less than can be read.

    >>> fitted(["1.5", "10"], 40.0), round(fitted(["−1.00×10⁻⁵"], 50.0), 1), fitted(["0.135"], 12.0)
    (13.0, 9.4, 0.0)
    """
    widest = max((width(text) for text in texts), default=0.0)
    size = most if widest * most <= room else room / widest
    return round(size, 2) if size >= least else 0.0


def in_cells(texts: Sequence[str], room: float) -> tuple[float, tuple[str, ...]]:
    """The letter size for a row of cells, and what is written in each: a text too long for its cell as an ellipsis.

    Where fewer than half of them fit, nothing is written: size 0.

    >>> in_cells(["1", "2", "−1.00×10⁻⁵"], 30.0), in_cells(["0.135", "0.018"], 12.0)
    ((13.0, ('1', '2', '…')), (0.0, ('0.135', '0.018')))
    """
    fit = [text for text in texts if fitted([text], room)]
    if 2 * len(fit) < len(texts):
        return 0.0, tuple(texts)
    return fitted(fit, room), tuple(text if fitted([text], room) else "…" for text in texts)
