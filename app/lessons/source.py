"""A lesson's file: front matter, and its lines as one track shows them. Line numbers stay those of the file."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from os.path import isfile
from pathlib import Path
from typing import Any, Literal, get_args

from app.lessons.problems import Invalid, Problem

Track = Literal["plain", "deep"]
TRACKS: tuple[Track, ...] = get_args(Track)
_PRIVATE = re.compile("[\ue000-\uf8ff]")


@dataclass(frozen=True)
class Kind:
    """A front-matter field: its type, whether it may be left out, and how it is described."""

    type: type
    words: str
    required: bool = True
    default: Any = None


FIELDS: dict[str, Kind] = {
    "title": Kind(str, "a text"),
    "seo_title": Kind(str, "a text", required=False),
    "description": Kind(str, "one sentence"),
    "topic": Kind(str, "a text"),
    "date": Kind(date, "a date such as 2026-11-30"),
    "chapter": Kind(str, "a text"),
    "order": Kind(int, "a whole number"),
    "prerequisites": Kind(list, 'a list of slugs such as ["online-softmax"]', required=False, default=[]),
    "runs": Kind(dict, "a table of runs", required=False, default={}),
}
GUIDE_FIELDS = {name: FIELDS[name] for name in ("title", "description", "runs")}


@dataclass
class Source:
    """A lesson's text. `text` has the whole file with the front matter blanked, so that a place in it is a line of the file."""

    file: str
    front: dict[str, Any]
    text: str
    raw: list[str]

    def line_of(self, pattern: str, default: int = 1) -> int:
        """The first line that a pattern matches, from 1."""
        return next((number for number, line in enumerate(self.raw, 1) if re.search(pattern, line)), default)


def read(file: str, text: str, fields: dict[str, Kind] | None = None, report: Callable[[Problem], None] | None = None) -> Source:
    """Front matter and text. What is wrong goes to `report`, or raises Invalid.

    >>> source = read("a.md", "+++\\ntitle = 'T'\\ndescription = 'D.'\\n+++\\nText.", GUIDE_FIELDS)
    >>> source.front["title"], source.text.split("\\n")[4]
    ('T', 'Text.')
    """
    fields = FIELDS if fields is None else fields

    def wrong(line: int, words: str) -> None:
        if report is None:
            raise Invalid(f"line {line}: {words}")
        report(Problem(file, line, words))

    raw = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(raw, 1):
        if _PRIVATE.search(line):
            wrong(number, "a private-use character, which no font shows: delete it")
            raw[number - 1] = _PRIVATE.sub("?", line)
    front, end = _front(raw, wrong)
    for name, value in front.items():
        at = next((n for n, one in enumerate(raw[:end], 1) if re.match(rf"\s*\[?{re.escape(name)}\b", one)), 1)
        if name not in fields:
            wrong(at, f"there is no field {name!r} in the front matter: use {', '.join(fields)}")
        elif not isinstance(value, fields[name].type) or isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
            wrong(at, f"{name} is {fields[name].words}")
    for name, about in fields.items():
        if name not in front:
            if about.required:
                wrong(1, f"the front matter has no {name}: give {about.words}")
            front[name] = about.default
    return Source(file, front, "\n".join([""] * end + raw[end:]) + "\n", raw)


def _front(raw: list[str], wrong: Callable[[int, str], None]) -> tuple[dict[str, Any], int]:
    if not raw or raw[0].strip() != "+++":
        wrong(1, "the file does not begin with front matter: a line +++, TOML, a line +++")
        return {}, 0
    end = next((number for number, line in enumerate(raw[1:], 1) if line.strip() == "+++"), 0)
    if not end:
        wrong(1, "the front matter is not closed by a line +++")
        return {}, len(raw)
    try:
        return tomllib.loads("\n".join(raw[1:end])), end + 1
    except tomllib.TOMLDecodeError as error:
        line, words = toml_error(error)
        wrong(line + 1, words)
        return {}, end + 1


def toml_error(error: tomllib.TOMLDecodeError) -> tuple[int, str]:
    """The line, from 1, and the words of tomllib's error.

    >>> try: tomllib.loads("a = 1\\nb = x")
    ... except tomllib.TOMLDecodeError as error: toml_error(error)
    (2, 'this is not TOML: Invalid value')
    """
    text = str(error)
    found = re.search(r" \(at line (\d+), column \d+\)", text)
    return (int(found[1]) if found else 1), f"this is not TOML: {text[: found.start()] if found else text}"


def inside(folder: Path | None, name: Any) -> Path | None:
    """The file of that name in a folder; None where there is none, or where the name would lead out of it."""
    if folder is None or not isinstance(name, str) or not name or "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        return None
    file = folder / name
    return file if isfile(file) and file.resolve().parent == folder.resolve() else None
