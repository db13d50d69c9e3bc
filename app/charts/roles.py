"""The legend of the whole site: what each role of a mark looks like, in a file, on a page, in Plotly.

    python -m app.charts.roles     prints the style sheet of pages, static/css/roles.css; a test holds the two together

States differ by shape or pattern as well as by hue: now is solid with a thick edge, kept is solid, gone is hatched, failed is
crossed, unread is a dotted outline, and where something was before is dashed.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """fill, stroke: an ink, or "" for none; a pattern's name stands in for a fill. size, anchor, bold, turned: of a text. halo: paper round its letters."""

    fill: str = ""
    stroke: str = ""
    width: float = 0
    dash: str = ""
    opacity: float = 1
    pattern: str = ""
    size: float = 0
    anchor: str = "start"
    bold: bool = False
    turned: bool = False
    halo: bool = False


ROLES: dict[str, Look] = {
    # states of things
    "now": Look(fill="new", stroke="new", width=1.5),
    "kept": Look(fill="old"),
    "now-grid": Look(fill="new", stroke="paper", width=0.8),
    "gone": Look(stroke="soft", width=0.7, pattern="gone"),
    "failed": Look(stroke="bad", width=1.5, pattern="failed"),
    "unread": Look(stroke="soft", width=1, dash="1 2"),
    "was": Look(stroke="old", width=1.2, dash="3 2"),
    "masked": Look(fill="line", stroke="soft", width=0.7),
    # the same with numbers written in them: thin washes
    "now-cell": Look(fill="new", stroke="new", width=2, opacity=0.22),
    "kept-cell": Look(fill="old", stroke="old", width=1, opacity=0.16),
    "failed-cell": Look(fill="bad", stroke="bad", width=1.5, opacity=0.2),
    "ground": Look(fill="paper"),
    "plain-cell": Look(fill="paper", stroke="soft", width=1),
    "lit": Look(stroke="new", width=2),
    # the sign and the size of a number where there is no room to write it
    **{f"plus-{part}": Look(fill="plus", opacity=part / 4 if part < 4 else 1) for part in range(1, 5)},
    **{f"minus-{part}": Look(fill="minus", opacity=part / 4 if part < 4 else 1) for part in range(1, 5)},
    # frames
    "rule": Look(stroke="line", width=1),
    "axis": Look(stroke="text", width=1),
    "room": Look(stroke="soft", width=1),
    "level": Look(stroke="text", width=1.5, dash="5 3"),
    "limit": Look(stroke="bad", width=1.5, dash="6 3"),
    "beyond": Look(fill="bad", opacity=0.1),
    "link": Look(stroke="soft", width=1.25),
    "link-now": Look(stroke="new", width=2),
    "link-later": Look(stroke="line", width=1.25, dash="3 3"),
    "head": Look(fill="new"),
    # words
    "tick": Look(fill="soft", size=11, anchor="end"),
    "name": Look(fill="text", size=11, anchor="middle"),
    "name-unread": Look(fill="soft", size=11, anchor="middle"),
    "title": Look(fill="soft", size=11, anchor="middle"),
    "limit-name": Look(fill="bad", size=11, anchor="end"),
    "number": Look(fill="text", size=11, anchor="middle", halo=True),
    "turned": Look(fill="text", size=11, turned=True),
    "turned-in": Look(fill="paper", size=11, turned=True),
    "alarm": Look(fill="bad", size=15, anchor="middle", bold=True, halo=True),
    "factor": Look(fill="new", size=17, anchor="middle", bold=True, halo=True),
    "factor-small": Look(fill="new", size=12.5, anchor="end", bold=True, halo=True),
    "factor-start": Look(fill="new", size=12.5, bold=True, halo=True),
    "kept-name": Look(fill="text", size=12.5, bold=True, halo=True),
    "kept-name-end": Look(fill="text", size=12.5, anchor="end", bold=True, halo=True),
    "stamp": Look(fill="old", size=13, anchor="end", bold=True, halo=True),
    "stamp-failed": Look(fill="bad", size=13, anchor="end", bold=True, halo=True),
    "note": Look(fill="soft", size=11),
    "note-end": Look(fill="soft", size=11, anchor="end"),
    "note-now": Look(fill="new", size=12, anchor="middle", bold=True),
    "note-now-end": Look(fill="new", size=11, anchor="end", bold=True),
    "head-name": Look(fill="text", size=12.5, bold=True),
    "cell": Look(fill="text", size=12, anchor="middle"),
    "cell-bold": Look(fill="text", size=12, anchor="middle", bold=True),
    "cell-soft": Look(fill="soft", size=12, anchor="middle"),
    "cell-end": Look(fill="text", size=12, anchor="end"),
    "cell-end-bold": Look(fill="text", size=12, anchor="end", bold=True),
    "cell-end-small": Look(fill="text", size=8.5, anchor="end"),
    "cell-small": Look(fill="text", size=9, anchor="middle"),
    "cell-bold-small": Look(fill="text", size=9, anchor="middle", bold=True),
    "cell-soft-small": Look(fill="soft", size=9, anchor="middle"),
    "cell-factor": Look(fill="new", size=10, anchor="middle", bold=True),
    "cell-cast": Look(fill="new", size=7.5, anchor="middle"),
    "cell-new": Look(fill="new", size=10, anchor="middle"),
}


def attributes(role: str, ink: Mapping[str, str], uid: str) -> dict[str, str]:
    """How a role looks, as attributes of an SVG element.

    >>> attributes("was", {"old": "#00f"}, "f")
    {'fill': 'none', 'stroke': '#00f', 'stroke-width': '1.2', 'stroke-dasharray': '3 2'}
    """
    look = ROLES[role]
    found = {"fill": f"url(#{uid}-{look.pattern})" if look.pattern else ink[look.fill] if look.fill else "none"}
    if look.opacity < 1:
        found["fill-opacity"] = f"{look.opacity:g}"
    if look.stroke:
        found |= {"stroke": ink[look.stroke], "stroke-width": f"{look.width:g}"}
    if look.dash:
        found["stroke-dasharray"] = look.dash
    if look.size:
        found |= {"font-size": f"{look.size:g}", "text-anchor": look.anchor}
    if look.bold:
        found["font-weight"] = "bold"
    if look.halo:
        found |= {"stroke": ink["paper"], "stroke-width": "3", "paint-order": "stroke"}
    return found


def pattern(name: str, ink: Mapping[str, str], uid: str) -> str:
    """What the roles of a pattern are filled with."""
    size, drawn = _PATTERNS[name]
    return f'<pattern id="{uid}-{name}" width="{size}" height="{size}" patternUnits="userSpaceOnUse">{drawn.format_map(ink)}</pattern>'


_PATTERNS = {
    "failed": (6, '<rect width="6" height="6" fill="{bad}" class="fill-bad"/><path d="M0 0L6 6M6 0L0 6" stroke="{paper}" stroke-width="1" class="line-paper"/>'),
    "gone": (5, '<path d="M0 5L5 0" stroke="{soft}" stroke-width="0.8" stroke-opacity="0.6" class="line-soft"/>'),
}  # fmt: skip


def sheet() -> str:
    """The style sheet of pages: the same looks, in the page's inks."""
    found = ["/* Made by `python -m app.charts.roles` from app/charts/roles.py: do not edit. */"]
    for role, look in ROLES.items():
        rules = [] if look.pattern else [f"fill: {_of(look.fill)}"]
        rules += [f"fill-opacity: {look.opacity:g}"] if look.opacity < 1 else []
        if look.stroke:
            rules += [f"stroke: {_of(look.stroke)}", f"stroke-width: {look.width:g}px"]
        if look.dash:
            rules.append(f"stroke-dasharray: {look.dash}")
        if look.size:
            rules += [f"font-size: {look.size:g}px", f"text-anchor: {look.anchor}"]
        if look.bold:
            rules.append("font-weight: 700")
        if look.halo:
            rules += ["stroke: var(--ground)", "stroke-width: 3px", "paint-order: stroke"]
        found.append(f'.chart [data-role="{role}"] {{ {"; ".join(rules)}; }}')
    solid = ", ".join(f'[data-role="{role}"]' for role, look in ROLES.items() if (look.fill or look.pattern) and not look.size)
    found += [
        '.chart [data-role="none"] { visibility: hidden; }',
        ".chart rect { vector-effect: non-scaling-stroke; }",
        f"@media not print {{ [data-plotted] .chart :is(rect[data-key]:not([data-moving]):is({solid}), [data-role=rule]) {{ visibility: hidden; }} }}",
    ]
    return "\n".join([*found, ""])


def _of(ink: str) -> str:
    return "none" if not ink else f"var(--{'ground' if ink == 'paper' else ink})"


if __name__ == "__main__":
    print(sheet(), end="")
