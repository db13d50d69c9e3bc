"""A chart as SVG: for a file, with its looks in it, and for a page, whose style sheet has them."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from markupsafe import Markup

from app.charts.marks import Chart, Mark
from app.charts.roles import ROLES, attributes, pattern


def drawn(chart: Chart, uid: str, ink: Mapping[str, str], *, page: bool = False) -> Markup:
    """A group with everything in it, at the corner.

    uid    begins the names of its patterns, so that two on one page do not share them
    page   whether a style sheet gives the looks: then there are no attributes for it to override, and what script patches has its key.
           Marks that are not there are left out; script makes them

    >>> bar = Mark("bar/0", "rect", "kept", (10.0, 20.0, 5.0, 80.0))
    >>> ink = {"bad": "red", "paper": "white"}
    >>> drawn(Chart("sizes", "Sizes", (100, 110), (), (bar,)), "w", ink, page=True).rpartition("</defs>")[2]
    Markup('<rect data-key="bar/0" data-role="kept" x="10" y="20" width="5" height="80"/></g>')
    """
    defined = "".join(pattern(name, ink, f"{uid}-{chart.name}") for name in chart.patterns)
    found = [f'<g class="chart chart-{chart.name}">', f"<defs>{defined}</defs>" if defined else ""]
    found += [_drawn(mark, f"{uid}-{chart.name}", ink, page, "") for mark in chart.still]
    found += [_drawn(mark, f"{uid}-{chart.name}", ink, page, mark.key) for mark in chart.marks if mark.role != "none"]
    return Markup("".join([*found, "</g>"]))


def _drawn(mark: Mark, uid: str, ink: Mapping[str, str], page: bool, key: str) -> str:
    look = ROLES.get(mark.role)
    told = ({"data-key": key} if key else {}) | {"data-role": mark.role} if page else {}
    told |= {name: f"{x:g}" for name, x in placed(mark).items()}
    if look and look.turned:
        told["transform"] = f"rotate(-90 {mark.box[0]:g} {mark.box[1]:g})"
    if mark.shape == "path":
        told |= {"d": mark.path, "transform": f"translate({mark.box[0]:g} {mark.box[1]:g})"}
    if look and not page:
        told |= attributes(mark.role, ink, uid)
    elif look and look.pattern:
        told["fill"] = f"url(#{uid}-{look.pattern})"
    name = {"rect": "rect", "dot": "circle", "line": "line", "text": "text", "path": "path"}[mark.shape]
    inside = "".join(f' {key}="{escape(said, {chr(34): "&quot;"})}"' for key, said in told.items())
    return f"<{name}{inside}>{escape(mark.text)}</text>" if mark.shape == "text" else f"<{name}{inside}/>"


def placed(mark: Mark) -> dict[str, float]:
    """Where a mark stands, by the names that SVG has for it; static/js/core/chart.js says the same.

    >>> placed(Mark("m", "line", "level", (0, 10, 100, 0)))
    {'x1': 0, 'y1': 10, 'x2': 100, 'y2': 10}
    """
    x, y, width, height = mark.box
    if mark.shape == "rect":
        return {"x": x, "y": y, "width": width, "height": height}
    if mark.shape == "dot":
        return {"cx": x + width / 2, "cy": y + height / 2, "r": width / 2}
    if mark.shape == "line":
        return {"x1": x, "y1": y, "x2": x + width, "y2": y + height}
    return {"x": x, "y": y} if mark.shape == "text" else {}
