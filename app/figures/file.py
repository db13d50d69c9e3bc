"""A figure as a file that stands alone: SVG with its words, as shapes, and its colours in it, and PNG of that SVG."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import resvg_py

from app.charts.outlines import lines as lines_of
from app.charts.outlines import outlined
from app.snapshot import wire_of
from app.stories import BY_NAME, PICTURES
from app.stories.record import AnyShot
from app.templates import environment

LIGHT = {
    "paper": "#fffdf8",
    "text": "#1c2330",
    "soft": "#5b6472",
    "line": "#e3ddd0",
    "old": "#2f62c4",
    "new": "#c2500e",
    "bad": "#b3203f",
    "plus": "#2f7d52",
    "minus": "#7a4fb0",
}
DARK = {
    "paper": "#151a22",
    "text": "#edf0f5",
    "soft": "#a3adbb",
    "line": "#323a46",
    "old": "#7fa6ff",
    "new": "#ff9d5c",
    "bad": "#ff7d95",
    "plus": "#6fc795",
    "minus": "#b996ee",
}


def svg(shot: AnyShot, name: str = "", *, dark: bool = False) -> str:
    """A figure of a state, with its caption, described in words. `name`: a key of PICTURES for that machine; its own where left out.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> online = MACHINES["online-softmax"]
    >>> picture = svg(shot(online, online.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> "<title" in picture and "a new highest" in picture
    True
    """
    return outlined(figure(shot, name, DARK if dark else LIGHT)[0])


def figure(
    shot: AnyShot, name: str = "", ink: Mapping[str, str] = LIGHT, lines: Sequence[str] | None = None, panels: Any = None
) -> tuple[str, Any]:
    """A figure with its words as letters, and the panels it was drawn from.

    lines    the caption's, where not wrapped as usual
    panels   what is drawn, where it is not the state itself but a moment on the way to it
    """
    name = name or shot.machine.name
    if PICTURES[name].machine.name != shot.machine.name:
        raise ValueError(f"{name!r} draws another machine than {shot.machine.name}")
    panels = PICTURES[name].draw(shot) if panels is None else panels
    picture: str = template(f"{name}.svg").render(
        shot=wire_of(shot), panels=panels, ink=ink, lines=wrapped(shot) if lines is None else lines, title=title(shot, name)
    )
    return picture, panels


def title(shot: AnyShot, name: str = "") -> str:
    what = PICTURES[name or shot.machine.name].title
    return f"{what}, step {shot.step} of {shot.steps}"


def wrapped(shot: AnyShot) -> list[str]:
    """The caption's lines, as a figure has them."""
    return lines_of(shot.caption, 14, BY_NAME[shot.machine.name].caption_width)


def size_of(picture: str) -> tuple[float, float]:
    """A figure's own width and height.

    >>> size_of('<svg viewBox="0 0 800 340.5" width="800">')
    (800.0, 340.5)
    """
    found = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', picture)
    assert found
    return float(found[1]), float(found[2])


def png(picture: str, scale: float = 2.0) -> bytes:
    """An SVG as PNG, `scale` pixels to each of its own."""
    words = outlined(picture) if "<text" in picture else picture  # resvg has no fonts here, and drops text without a word
    return bytes(resvg_py.svg_to_bytes(svg_string=words, width=round(size_of(picture)[0] * scale), skip_system_fonts=True))


@cache
def template(name: str) -> Any:
    """A figure's template, or that of figures which are rows of words and numbers."""
    return environment().select_template([f"figures/{name}", "figures/rows.svg"])
