"""One page in the making: what its rules and blocks share, and where they report what is wrong."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.lessons.expressions.sandbox import Scope
from app.lessons.problems import Invalid, Problem
from app.lessons.source import Track

BASE = "\ue0ff"  # stands for the site's root in made HTML, which a proxy may put elsewhere
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_EXPRESSION = re.compile(r"\{\{(.+?)\}\}|\\val\{([^{}]+)\}", re.DOTALL)
_SEVERAL = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True)
class Mark:
    """An expression in the text: as typed, its source, its line, and whether it is meant for a formula."""

    typed: str
    source: str
    line: int
    file: str
    maths: bool


@dataclass(frozen=True)
class Heading:
    level: int
    id: str
    title: str


@dataclass
class Context:
    """A page of one track while it is made."""

    slug: str
    file: str
    track: Track
    scope: Scope
    folder: Path | None
    question: Callable[[str], str] = lambda name: ""  # the section of a question, which the lesson knows
    lines: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    links: list[tuple[int, str]] = field(default_factory=list)
    placed: list[tuple[int, str]] = field(default_factory=list)  # quizzes, by line
    scripts: set[str] = field(default_factory=set)  # widgets whose modules the page needs
    inline: Callable[[str, int], str] = lambda text, line: text

    def wrong(self, line: int, words: str, file: str = "") -> None:
        problem = Problem(file or self.file, line, words)
        if problem not in self.problems:
            self.problems.append(problem)

    def mark(self, text: str, line: int = 1, file: str = "") -> str:
        """The text with its expressions replaced by marks, so that no rule of Markdown sees inside them."""

        def marked(found: re.Match[str]) -> str:
            if _SEVERAL.search(found[0]):
                return found[0]
            at = line + text.count("\n", 0, found.start())
            self.marks.append(Mark(found[0], (found[1] or found[2]).strip(), at, file or self.file, found[2] is not None))
            return f"{_OPEN}{len(self.marks) - 1}{_CLOSE}" + "\n" * found[0].count("\n")

        return _EXPRESSION.sub(marked, text)

    def typed(self, text: str) -> str:
        """The text with its expressions as they were typed: inside code and formulas."""
        return _MARK.sub(lambda found: self.marks[int(found[1])].typed, text)

    def filled(self, text: str) -> str:
        """The text with its expressions' values."""
        return _MARK.sub(lambda found: self._written(self.marks[int(found[1])], maths=False), text)

    def filled_maths(self, text: str, write: Callable[[str], str]) -> str:
        """A formula: \\val{…} filled in, and double braces as LaTeX means them."""

        def one(found: re.Match[str]) -> str:
            mark = self.marks[int(found[1])]
            return write(self._written(mark, maths=True)) if mark.maths else mark.typed

        return _MARK.sub(one, text)

    def _written(self, mark: Mark, *, maths: bool) -> str:
        if mark.maths and not maths:
            self.wrong(mark.line, "\\val{…} is for formulas: write {{ … }} here", mark.file)
            return "?"
        try:
            return self.scope.text(mark.source)
        except Invalid as error:
            self.wrong(mark.line, f"{mark.typed[:80]}: {error}", mark.file)
            return "?"

    def line_of(self, span: Any, needle: str) -> int:
        """The line, from 1, on which something stands, within a token's span of lines."""
        first, last = span or (0, 1)
        for number in range(first, min(last, len(self.lines))):
            if needle and needle in self.lines[number]:
                return number + 1
        return int(first) + 1

    def name(self, wanted: str, line: int) -> str:
        """An id for the page; each only once."""
        if wanted in self.ids:
            self.wrong(line, f"#{wanted} is already on line {self.ids[wanted]}: give this one another name, such as {{#{wanted}-2}}")
        self.ids[wanted] = line
        return wanted
