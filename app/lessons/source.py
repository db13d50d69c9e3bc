"""A lesson's file: front matter, and its lines as one track shows them. Line numbers stay those of the file."""

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from os.path import isfile
from pathlib import Path
from typing import Any, Literal, get_args

from app.lessons.problems import Invalid, Problem

Track = Literal["plain", "deep"]
TRACKS: tuple[Track, ...] = get_args(Track)
ADMONITIONS = ("note", "warning", "tip")
CONTAINERS = (*TRACKS, *ADMONITIONS, "answer", "summary")
WORDS_A_MINUTE = 180
MINUTES_TO_DO = {"quiz": 0.7, "widget": 0.7, "figure": 0.2, "figures": 0.3, "trace": 0.4, "code": 0.7, "download": 0.0, "chart": 0.5}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COLONS = re.compile(r"(:{3,})[ \t]*(\S*)[ \t]*(.*?)[ \t]*$")
_INDENTED = re.compile(r"[ \t]+:{3,}(?:[ \t]|$)")
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


@dataclass(frozen=True)
class Box:
    """A container's extent: the lines of its two marks, from 0."""

    name: str
    title: str
    first: int
    last: int


@dataclass
class Source:
    """A lesson's text. `lines` has the whole file with the front matter blanked, so that a place in it is a line of the file."""

    file: str
    front: dict[str, Any]
    lines: list[str]
    raw: list[str]
    boxes: list[Box] = field(default_factory=list)
    fenced: set[int] = field(default_factory=set)

    def track(self, track: Track) -> tuple[str, dict[int, Box]]:
        """The text of a track, what is not in it blanked; and the containers in it by their first line."""
        lines = list(self.lines)
        boxes = {box.first: box for box in self.boxes}
        for box in self.boxes:
            if box.name in TRACKS:
                gone = range(box.first, box.last + 1) if box.name != track else (box.first, box.last)
                for line in gone:
                    lines[line] = ""
                    boxes.pop(line, None)
        return "\n".join(lines) + "\n", boxes

    def minutes(self, track: Track) -> int:
        """How long it takes to read and do, from its words; never less than one.

        >>> read("a.md", FRONT + "word " * 400).minutes("plain")
        3
        """
        text, _ = self.track(track)
        spent = 0.0
        for number, line in enumerate(text.splitlines()):
            placed = re.match(r"\[\[(\w+)", line)
            if placed:
                spent += MINUTES_TO_DO.get(placed[1], 0.0)
            elif number not in self.fenced:
                spent += len(re.sub(r"\{\{.*?\}\}|\$[^$]*\$", "x", line).split()) / WORDS_A_MINUTE
        return max(1, math.ceil(spent))

    def line_of(self, pattern: str, default: int = 1) -> int:
        """The first line that a pattern matches, from 1."""
        return next((number for number, line in enumerate(self.raw, 1) if re.search(pattern, line)), default)


FRONT = '+++\ntitle = "T"\ndescription = "D."\ntopic = "t"\ndate = 2026-01-01\nchapter = "C"\norder = 1\n+++\n'


def read(file: str, text: str, fields: dict[str, Kind] | None = None, report: Callable[[Problem], None] | None = None) -> Source:
    """Front matter and lines. What is wrong goes to `report`, or raises Invalid.

    >>> read("a.md", FRONT + "::: deep\\nwhy\\n:::").track("plain")[0].strip()
    ''
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
    lines = [""] * end + raw[end:]
    source = Source(file, front, lines, raw)
    _find_boxes(source, wrong)
    return source


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


def _find_boxes(source: Source, wrong: Callable[[int, str], None]) -> None:
    """Containers. A bare line of colons closes the one opened last, however many colons it has."""
    opened: list[tuple[int, str, str]] = []
    fence, fence_line = "", 0
    for number, line in enumerate(source.lines):
        mark = _FENCE.match(line)
        if fence:
            source.fenced.add(number)
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence, fence_line = "", 0
            continue
        if mark:
            fence, fence_line = mark[1], number
            source.fenced.add(number)
            continue
        if _INDENTED.match(line):
            wrong(number + 1, "a container's ::: starts at the left margin")
            continue
        colons = _COLONS.match(line)
        if colons is None:
            continue
        if not colons[2]:
            if not opened:
                wrong(number + 1, "this ::: closes nothing")
                source.lines[number] = ""
                continue
            first, name, title = opened.pop()
            source.boxes.append(Box(name, title, first, number))
        else:
            if colons[2] not in CONTAINERS:
                wrong(number + 1, f"there is no container {colons[2]!r}: use {', '.join(CONTAINERS)}")
            opened.append((number, colons[2], colons[3]))
            within = [name for _, name, _ in opened if name in TRACKS]
            if len(within) > 1 and colons[2] in TRACKS:
                wrong(number + 1, f"::: {colons[2]} inside ::: {within[0]}: tracks do not nest")
    if fence:
        wrong(fence_line + 1, "a code fence is not closed")
    for first, name, _ in opened:
        wrong(first + 1, f"::: {name} is not closed")
        source.lines[first] = ""
    source.boxes.sort(key=lambda box: box.first)


def inside(folder: Path | None, name: Any) -> Path | None:
    """The file of that name in a folder; None where there is none, or where the name would lead out of it."""
    if folder is None or not isinstance(name, str) or not name or "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        return None
    file = folder / name
    return file if isfile(file) and file.resolve().parent == folder.resolve() else None
