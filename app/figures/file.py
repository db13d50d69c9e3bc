"""A figure as a file that stands alone: SVG with its words and colours in it, and PNG of that SVG."""

import tempfile
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf_fonts
import resvg_py
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.figures import DRAWN, MACHINE_OF, TITLES
from app.machines import MACHINES
from app.numbers import show

LIGHT = {"paper": "#fffdf8", "text": "#1c2330", "soft": "#5b6472", "line": "#e3ddd0", "old": "#2f62c4", "new": "#c2500e", "bad": "#b3203f"}
DARK = {"paper": "#151a22", "text": "#edf0f5", "soft": "#a3adbb", "line": "#323a46", "old": "#7fa6ff", "new": "#ff9d5c", "bad": "#ff7d95"}
LINE = 92  # letters of the caption that fit on one line
FONTS = ("figo", "figbo", "notos")  # FiraGO, and Noto Sans for what it lacks


def svg(snapshot: dict[str, Any], name: str = "", *, dark: bool = False) -> str:
    """A figure of the snapshot, with its caption, described in words. `name`: a key of DRAWN for that machine; its own where left out.

    >>> from app.snapshots import snapshot
    >>> online = MACHINES["online-softmax"]
    >>> picture = svg(snapshot(online, online.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> "<title" in picture and "a new highest" in picture
    True
    """
    return figure(snapshot, name, DARK if dark else LIGHT)[0]


def figure(snapshot: dict[str, Any], name: str = "", ink: Mapping[str, str] = LIGHT) -> tuple[str, Any]:
    """A figure, and the panels it was drawn from."""
    name = name or snapshot["machine"]
    if MACHINE_OF.get(name, name) != snapshot["machine"]:
        raise ValueError(f"{name!r} draws another machine than {snapshot['machine']}")
    panels = DRAWN[name](snapshot)
    what = TITLES.get(name, MACHINES[snapshot["machine"]].title)
    picture: str = _template(f"{name}.svg").render(
        shot=snapshot, panels=panels, ink=ink, lines=textwrap.wrap(snapshot["caption"], LINE),
        title=f"{what}, step {snapshot['step']} of {snapshot['steps']}",
    )  # fmt: skip
    return picture, panels


def png(picture: str, width: int = 1600) -> bytes:
    """That SVG as PNG. The fonts are handed over as files, since resvg drops text that it has no font for."""
    return bytes(
        resvg_py.svg_to_bytes(svg_string=picture, width=width, font_files=_font_files(), skip_system_fonts=True, sans_serif_family="FiraGO")
    )


@cache
def _template(name: str) -> Any:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent.parent.parent / "templates"),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.filters["show"] = show
    return found.get_template(f"figures/{name}")


@cache
def _font_files() -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="tilewise-fonts-"))
    files = []
    for name in FONTS:
        file = folder / f"{name}.otf"
        file.write_bytes(pymupdf_fonts.myfont(name))
        files.append(str(file))
    return files
