"""Lines in double brackets: a live widget, a figure, a trace table, code, a quiz. Their markup is in templates/blocks.jinja."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.lessons.expressions.runs import Run
from app.lessons.markup import charts, code, traces
from app.lessons.markup.context import Context
from app.lessons.markup.figures import Picture, live, picture, template
from app.lessons.problems import Invalid
from app.machines import MACHINES
from app.machines.run import Machine
from app.specs import SpecError, fields_of, parse, text
from app.stories import PAGES

_WORD = re.compile(r'(?:([a-z_]+)=)?(?:"([^"]*)"|([^\s"]+))(?=\s|$)')


@dataclass(frozen=True)
class Placed:
    """One such line: its name, what it is of, and its settings."""

    name: str
    of: str
    given: dict[str, str]
    line: int


SETTINGS: dict[str, tuple[str, ...]] = {
    "widget": ("step", "title", "widget"),
    "figure": ("step", "kind", "caption"),
    "figures": ("steps", "kind", "caption"),
    "trace": ("columns", "places", "caption", "from", "to", "rounded"),
    "code": (),
    "download": (),
    "quiz": (),
    "chart": ("caption",),
}


def read(content: str, line: int) -> Placed:
    """A line's parts; Invalid where it cannot be read.

    >>> read('[[widget five step=3 title="Five scores"]]', 1)
    Placed(name='widget', of='five', given={'step': '3', 'title': 'Five scores'}, line=1)
    """
    inner = content.strip()[2:-2].strip()
    name, _, rest = inner.partition(" ")
    if name not in SETTINGS:
        raise Invalid(f"there is no block [[{name} …]]: use {', '.join(SETTINGS)}")
    of, given, place = "", {}, 0
    rest = rest.strip()
    while place < len(rest):
        found = _WORD.match(rest, place)
        if found is None:
            raise Invalid(f'[[{name} …]] cannot be read from {rest[place : place + 30]!r} on: write name=value or name="several words"')
        key, value = found[1], found[2] if found[2] is not None else found[3]
        if key is None and not of:
            of = value
        elif key is None or key not in SETTINGS[name]:
            raise Invalid(f"[[{name} …]] has no setting {key or value!r}: it has {', '.join(SETTINGS[name]) or 'none'}")
        else:
            given[key] = value
        place = found.end() + len(rest[found.end() :]) - len(rest[found.end() :].lstrip())
    if not of and name != "download":
        raise Invalid(f"[[{name} …]] does not say of what: name it first")
    return Placed(name, of, given, line)


def made(context: Context, content: str, line: int) -> str:
    """A block's HTML; Invalid with words where it cannot be made."""
    block = read(content, line)
    return str(_MAKERS[block.name](context, block))


def _whole(block: Placed, name: str, default: int) -> int:
    given = block.given.get(name, str(default))
    if not re.fullmatch(r"-?\d{1,9}", given):
        raise Invalid(f"{name}={given} is not a whole number")
    return int(given)


def _words(context: Context, block: Placed, name: str, *, needed: bool = False) -> Markup:
    if needed and not block.given.get(name, "").strip():
        raise Invalid(f'[[{block.name} {block.of} …]] has no {name}: say what to see, {name}="…"')
    return Markup(context.inline(block.given.get(name, ""), block.line))


def widget(context: Context, block: Placed) -> str:
    run = context.scope.run(block.of)
    machine, spec = _shown_by(run, block.given.get("widget", run.machine.name))
    step = run.at(_whole(block, "step", 0)).wire_form["step"] if machine is run.machine else _whole(block, "step", 0)
    return live(context, machine, spec, step, _words(context, block, "title") or Markup.escape(machine.title))


def _shown_by(run: Run, name: str) -> tuple[Machine, Any]:
    if name not in PAGES:
        raise Invalid(f"there is no widget {name!r}: use one of {', '.join(sorted(PAGES))}")
    machine = MACHINES[name]
    if machine is run.machine:
        return machine, run.spec
    known = {one.name for one in machine.fields}
    given = {key: text(value) for key, value in fields_of(run.machine, run.spec).items() if key in known}
    try:
        return machine, parse(machine, given, "page")
    except SpecError as error:
        raise Invalid(f"run {run.name!r} cannot be shown by {name}: {error}") from None


def _picture(context: Context, block: Placed, step: int) -> Picture:
    run = context.scope.run(block.of)
    if not run.fits_page:
        raise Invalid(f"run {block.of!r} is too long for a figure")
    return picture(run.machine, run.spec, run.at(step).wire_form["step"], block.given.get("kind", ""))


def figure(context: Context, block: Placed) -> str:
    caption = _words(context, block, "caption", needed=True)
    return template("figure")(pictures=[_picture(context, block, _whole(block, "step", -1))], caption=caption)


def figures(context: Context, block: Placed) -> str:
    steps = block.given.get("steps", "")
    if not re.fullmatch(r"-?\d+(,\s*-?\d+)+", steps):
        raise Invalid('[[figures …]] needs steps="3,4"')
    caption = _words(context, block, "caption", needed=True)
    return template("figure")(pictures=[_picture(context, block, int(step)) for step in steps.split(",")], caption=caption)


def trace(context: Context, block: Placed) -> str:
    run = context.scope.run(block.of)
    rounded = _whole(block, "rounded", 0) if "rounded" in block.given else None
    table = traces.table(
        run, block.given.get("columns", ""), _whole(block, "places", 4), _whole(block, "from", 1), _whole(block, "to", run.steps), rounded
    )
    heads = [Markup(context.inline(head, block.line)) for head in table.heads]
    return template("trace")(heads=heads, rows=table.rows, note=table.note, caption=_words(context, block, "caption", needed=True))


def code_of(context: Context, block: Placed) -> str:
    name, _, function = block.of.partition("#")
    source = code.text(context.folder, name)
    shown = code.part(source, function) if function else source
    return template("code")(html=Markup(code.coloured(shown, "python")), name=name, function=function, slug=context.slug)


def download(context: Context, block: Placed) -> str:
    known = code.files(context.folder)
    if not known:
        raise Invalid("there is nothing to download: put files into code/")
    return template("download")(files=known, slug=context.slug)


def quiz(context: Context, block: Placed) -> str:
    section = context.question(block.of)
    context.placed.append((block.line, block.of))
    context.name(f"quiz-{block.of}", block.line)
    return section


def chart(context: Context, block: Placed) -> str:
    caption = _words(context, block, "caption", needed=True)
    return template("chart")(
        chart=charts.chart(block.of, context.folder, context.scope),
        name=block.of,
        caption=caption,
        width=charts.WIDTH,
        height=charts.HEIGHT,
    )


_MAKERS: dict[str, Callable[[Context, Placed], str]] = {
    "widget": widget, "figure": figure, "figures": figures, "trace": trace, "code": code_of, "download": download, "quiz": quiz, "chart": chart,
}  # fmt: skip
