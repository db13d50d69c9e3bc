"""A state as a lesson shows it: an image of it, and a place where script puts the live widget."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup

from app.figures.file import svg
from app.lessons.markup.context import BASE, Context
from app.lessons.problems import Invalid
from app.machines.run import Machine
from app.runs import Run, snapshot
from app.specs import query
from app.stories import PICTURES
from app.templates import environment


@dataclass(frozen=True)
class Picture:
    """A figure as an image: its address below the root, the size it is drawn at, and its words."""

    src: str
    width: int
    height: int
    alt: str


def picture(machine: Machine, spec: Any, step: int, kind: str = "") -> Picture:
    """A state as an image. Invalid for a machine that is not drawn, or a kind of picture that it does not have."""
    name = f"{machine.name}-{kind}" if kind else machine.name
    if name not in PICTURES:
        drawn = [one for one in PICTURES if one.startswith(machine.name)]
        raise Invalid(f"there is no figure {name!r}: {'there is ' + ', '.join(drawn) if drawn else 'drawn are ' + ', '.join(PICTURES)}")
    try:
        shot = Run(machine, spec).shot(step)
    except LookupError as error:
        raise Invalid(str(error)) from None
    found = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', svg(shot, name) if kind else svg(shot))
    width, height = (round(float(found[1])), round(float(found[2]))) if found else (16, 9)
    return Picture(f"figures/{name}.svg?{query(machine, spec, step=step)}", width, height, shot.caption)


def live(context: Context, machine: Machine, spec: Any, step: int, title: Markup, quiz: str = "") -> str:
    """A widget's place: its picture and a link to its page; script puts the widget there."""
    shot = snapshot(machine, spec, step)
    if "embed" not in shot["links"]:
        raise Invalid("this run is too long for a widget: take fewer scores or smaller tables")
    context.scripts.add(machine.name)
    return template("widget")(shot=shot, picture=picture(machine, spec, step), title=title, name=machine.name, quiz=quiz)


def template(macro: str, file: str = "blocks.jinja") -> Callable[..., str]:
    """A macro of templates/blocks.jinja, or of another file there."""
    found: Callable[..., str] = getattr(_module(file), macro)
    return found


@cache
def _module(file: str) -> Any:
    found = environment()
    found.globals["base"] = BASE
    return found.get_template(file).module
