"""A shown number as a page has it: in a `data` element that scripts go on filling, style sheets mark and tests read.

Pages hold hundreds of them, so they are made here and not by a macro, which costs several times as much.
"""

from typing import Any

from markupsafe import Markup, escape

from app.look import look
from app.numbers import show


def shown(path: str, x: Any, row: int | None = None, col: int | None = None, empty: str = "–", without: str = "") -> Markup:
    """A number under its path; `empty` stands where there is none.

    row, col   its place, where the path names a list
    without    the path of what keeps it from being shown

    >>> shown("m", 1.5, row=0)
    Markup('<data data-value="m" data-row="0" value="1.5">1.500</data>')
    >>> shown("event.alpha", None, empty="")
    Markup('<data data-value="event.alpha" data-empty="" value=""></data>')
    """
    told = f'<data data-value="{escape(path)}"'
    if row is not None:
        told += f' data-row="{row}"'
    if col is not None:
        told += f' data-col="{col}"'
    if empty != "–":
        told += f' data-empty="{escape(empty)}"'
    if without:
        told += f' data-without="{escape(without)}"'
    exact, said = ("", escape(empty)) if x is None else (escape(x), show(x))
    return Markup(f'{told} value="{exact}">{said}</data>')


def value(page: Any, path: str, row: int | None = None, col: int | None = None, empty: str = "–", without: str = "") -> Markup:
    """The number at a path of a page's snapshot, as static/js/core/bind.js will go on filling it."""
    kept = without and look(page.shot, without, row, col)
    return shown(path, None if kept else look(page.shot, path, row, col), row, col, empty, without)
