"""A state as a link's picture: its title and caption in large letters, and the part of its figure that says most."""

import re
from collections.abc import Mapping

from markupsafe import Markup

from app.charts.outlines import lines
from app.figures.file import LIGHT, figure, size_of, template, title
from app.stories import BY_NAME
from app.stories.record import AnyShot

WIDTH, HEIGHT = 1200, 630
_EDGE, _HEAD = 48, 40  # of the card; of a figure, where its own title stands
_LETTERS = ((42, 2), (36, 3), (30, 4))  # letter size, most lines


def card(shot: AnyShot, name: str = "", ink: Mapping[str, str] = LIGHT) -> str:
    """1200 × 630 as SVG. The caption is cut where it is longer than four lines; `desc` has it whole.

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> online = MACHINES["online-softmax"]
    >>> found = card(shot(online, online.spec(scores=(1.0, 3.0, 2.0)), 2))
    >>> 'width="1200" height="630"' in found, "Online softmax, step 2 of 3" in found, found.count("<title")
    (True, True, 1)
    """
    name = name or shot.machine.name
    picture, panels = figure(shot, name, ink, lines=())
    width, height = size_of(picture)
    widget = BY_NAME[shot.machine.name]
    own = name == widget.name  # the part that says most, and the numbers beside it, are of its first picture
    crop = widget.crop(panels, (width, height)) if widget.crop and own else (0, _HEAD, width, height - _HEAD)
    facts = widget.facts(shot) if own else []
    letter, words = _fitted(shot.caption)
    top = 146 + letter * 1.3 * len(words)
    wide, high = WIDTH - 2 * _EDGE - 400 * bool(facts), HEIGHT - top - 24
    scale = min(wide / crop[2], high / crop[3])
    at = {"x": _EDGE, "y": top, "width": round(crop[2] * scale, 2), "height": round(crop[3] * scale, 2)}
    if not facts:
        at["x"] = (WIDTH - at["width"]) / 2
    made: str = template("card.svg").render(
        width=WIDTH, height=HEIGHT, title=title(shot, name), caption=shot.caption, lines=words, letter=letter,
        facts=facts, at=at, crop=crop, body=_inside(picture), ink=ink,
    )  # fmt: skip
    return made


def _inside(picture: str) -> Markup:
    """What is drawn in a figure, without the words that name it: the card has its own."""
    inner = picture[picture.index(">", picture.index("<svg")) + 1 : picture.rindex("</svg>")]
    return Markup(re.sub(r"<(title|desc) .*?</\1>", "", inner, count=2, flags=re.S))


def _fitted(caption: str) -> tuple[int, list[str]]:
    for letter, most in _LETTERS:
        found = lines(caption, letter, WIDTH - 2 * _EDGE)
        if len(found) <= most:
            return letter, found
    return letter, [*found[: most - 1], found[most - 1].rpartition(" ")[0] + " …"]
