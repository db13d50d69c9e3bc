"""Lines in double brackets: a live widget, a figure, a trace table, code, a quiz. Their markup is in templates/blocks.jinja."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.lessons import charts, code, quiz_pages, traces
from app.lessons.draft import Draft
from app.lessons.faults import Broken
from app.lessons.looking import Run
from app.lessons.pictures import Picture, live, picture, template
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
    """A line's parts; Broken where it cannot be read.

    >>> read('[[widget five step=3 title="Five scores"]]', 1)
    Placed(name='widget', of='five', given={'step': '3', 'title': 'Five scores'}, line=1)
    """
    inner = content.strip()[2:-2].strip()
    name, _, rest = inner.partition(" ")
    if name not in SETTINGS:
        raise Broken(f"there is no block [[{name} …]]: use {', '.join(SETTINGS)}")
    of, given, place = "", {}, 0
    rest = rest.strip()
    while place < len(rest):
        found = _WORD.match(rest, place)
        if found is None:
            raise Broken(f'[[{name} …]] cannot be read from {rest[place : place + 30]!r} on: write name=value or name="several words"')
        key, value = found[1], found[2] if found[2] is not None else found[3]
        if key is None and not of:
            of = value
        elif key is None or key not in SETTINGS[name]:
            raise Broken(f"[[{name} …]] has no setting {key or value!r}: it has {', '.join(SETTINGS[name]) or 'none'}")
        else:
            given[key] = value
        place = found.end() + len(rest[found.end() :]) - len(rest[found.end() :].lstrip())
    if not of and name != "download":
        raise Broken(f"[[{name} …]] does not say of what: name it first")
    return Placed(name, of, given, line)


def made(draft: Draft, content: str, line: int) -> str:
    """A block's HTML; Broken with words where it cannot be made."""
    block = read(content, line)
    return str(_MAKERS[block.name](draft, block))


def _whole(block: Placed, name: str, default: int) -> int:
    given = block.given.get(name, str(default))
    if not re.fullmatch(r"-?\d{1,9}", given):
        raise Broken(f"{name}={given} is not a whole number")
    return int(given)


def _words(draft: Draft, block: Placed, name: str, *, needed: bool = False) -> Markup:
    if needed and not block.given.get(name, "").strip():
        raise Broken(f'[[{block.name} {block.of} …]] has no {name}: say what to see, {name}="…"')
    return Markup(draft.inline(block.given.get(name, ""), block.line))


def widget(draft: Draft, block: Placed) -> str:
    run = draft.scope.run(block.of)
    machine, spec = _shown_by(run, block.given.get("widget", run.machine.name))
    step = run.at(_whole(block, "step", 0)).snapshot["step"] if machine is run.machine else _whole(block, "step", 0)
    return live(draft, machine, spec, step, _words(draft, block, "title") or Markup.escape(machine.title))


def _shown_by(run: Run, name: str) -> tuple[Machine, Any]:
    if name not in PAGES:
        raise Broken(f"there is no widget {name!r}: use one of {', '.join(sorted(PAGES))}")
    machine = MACHINES[name]
    if machine is run.machine:
        return machine, run.spec
    known = {one.name for one in machine.fields}
    given = {key: text(value) for key, value in fields_of(run.machine, run.spec).items() if key in known}
    try:
        return machine, parse(machine, given, "page")
    except SpecError as error:
        raise Broken(f"run {run.name!r} cannot be shown by {name}: {error}") from None


def _picture(draft: Draft, block: Placed, step: int) -> Picture:
    run = draft.scope.run(block.of)
    if not run.shown:
        raise Broken(f"run {block.of!r} is too long for a figure")
    return picture(run.machine, run.spec, run.at(step).snapshot["step"], block.given.get("kind", ""))


def figure(draft: Draft, block: Placed) -> str:
    caption = _words(draft, block, "caption", needed=True)
    return template("figure")(pictures=[_picture(draft, block, _whole(block, "step", -1))], caption=caption)


def figures(draft: Draft, block: Placed) -> str:
    steps = block.given.get("steps", "")
    if not re.fullmatch(r"-?\d+(,\s*-?\d+)+", steps):
        raise Broken('[[figures …]] needs steps="3,4"')
    caption = _words(draft, block, "caption", needed=True)
    return template("figure")(pictures=[_picture(draft, block, int(step)) for step in steps.split(",")], caption=caption)


def trace(draft: Draft, block: Placed) -> str:
    run = draft.scope.run(block.of)
    rounded = _whole(block, "rounded", 0) if "rounded" in block.given else None
    table = traces.table(
        run, block.given.get("columns", ""), _whole(block, "places", 4), _whole(block, "from", 1), _whole(block, "to", run.steps), rounded
    )
    heads = [Markup(draft.inline(head, block.line)) for head in table.heads]
    return template("trace")(heads=heads, rows=table.rows, note=table.note, caption=_words(draft, block, "caption", needed=True))


def code_of(draft: Draft, block: Placed) -> str:
    name, _, function = block.of.partition("#")
    source = code.text(draft.folder, name)
    shown = code.part(source, function) if function else source
    return template("code")(html=Markup(code.coloured(shown, "python")), name=name, function=function, slug=draft.slug)


def download(draft: Draft, block: Placed) -> str:
    known = code.files(draft.folder)
    if not known:
        raise Broken("there is nothing to download: put files into code/")
    return template("download")(files=known, slug=draft.slug)


def quiz(draft: Draft, block: Placed) -> str:
    found = draft.quizzes.get(block.of)
    if found is None:
        raise Broken(f"there is no quiz {block.of!r} in quizzes.toml{': it has ' + ', '.join(draft.quizzes) if draft.quizzes else ''}")
    draft.placed.append((block.line, block.of))
    draft.name(f"quiz-{block.of}", block.line)
    return quiz_pages.section(draft, found)


def chart(draft: Draft, block: Placed) -> str:
    caption = _words(draft, block, "caption", needed=True)
    return template("chart")(
        chart=charts.chart(block.of, draft.folder, draft.scope), name=block.of, caption=caption, width=charts.WIDTH, height=charts.HEIGHT
    )


_MAKERS: dict[str, Callable[[Draft, Placed], str]] = {
    "widget": widget, "figure": figure, "figures": figures, "trace": trace, "code": code_of, "download": download, "quiz": quiz, "chart": chart,
}  # fmt: skip
