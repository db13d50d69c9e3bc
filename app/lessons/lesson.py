"""A lesson, and each of its tracks made into a page when first asked for."""

import io
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from os.path import isfile
from pathlib import Path
from threading import RLock
from typing import Any

from app.lessons.expressions.runs import Data
from app.lessons.expressions.sandbox import RESERVED, Scope
from app.lessons.markup import code, markdown
from app.lessons.markup.context import Context, Heading
from app.lessons.markup.minutes import minutes
from app.lessons.problems import Invalid, InvalidLesson, Problem
from app.lessons.quiz.html import Given, section
from app.lessons.quiz.questions import Quiz
from app.lessons.quiz.questions import read as read_questions
from app.lessons.source import GUIDE_FIELDS, TRACKS, Source, Track
from app.lessons.source import read as read_source

MAX_PROBLEMS = 20  # that a page lists


@dataclass(frozen=True)
class Page:
    """A track as HTML, where context.BASE stands for the site's root."""

    html: str
    headings: tuple[Heading, ...]
    scripts: frozenset[str]
    problems: tuple[Problem, ...]
    ids: frozenset[str]
    links: tuple[tuple[int, str], ...]
    placed: tuple[tuple[int, str], ...]


@dataclass
class Lesson:
    """One folder of lessons/, or one guide (which has no folder).

    problems   what was wrong as it was read; a page has its own besides
    own        whether it comes from an instructor's folder
    """

    slug: str
    source: Source
    folder: Path | None
    quizzes: dict[str, Quiz] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    own: bool = False
    stamp: Any = None
    _pages: dict[Track, Page] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        runs = self.source.front.get("runs")
        self.scope = Scope(runs if isinstance(runs, dict) else {}, Data(self.folder / "data" if self.folder else None))

    def front(self, name: str, default: Any = "") -> Any:
        return self.source.front.get(name) or default

    @property
    def title(self) -> str:
        return str(self.front("title", self.slug))

    @property
    def order(self) -> int:
        found = self.front("order", 0)
        return found if isinstance(found, int) and found else 10**6

    @cached_property
    def minutes(self) -> dict[Track, int]:
        return {track: minutes(self.source.text, track) for track in TRACKS}

    @property
    def files(self) -> list[str]:
        return code.files(self.folder)

    def page(self, track: Track) -> Page:
        """The page of a track, made once."""
        with self._lock:
            if track not in self._pages:
                self._pages[track] = self._made(track)
            return self._pages[track]

    def whole_page(self, track: Track) -> Page:
        """The page of a track; InvalidLesson where there is anything wrong with the lesson or with it."""
        problems = self.problems or self.page(track).problems
        if problems:
            raise InvalidLesson(sorted(problems)[:MAX_PROBLEMS])
        return self.page(track)

    def judged(self, name: str, track: Track, given: Given) -> str:
        """The section of one question, after an answer; InvalidLesson where the lesson or the question is broken."""
        section, problems = ("", self.problems) if self.problems else self.question(name, track, given)
        if problems:
            raise InvalidLesson(problems)
        return section

    def program(self, file: str) -> bytes:
        """A file of the lesson's code; InvalidLesson where it cannot be read."""
        try:
            return code.content(self.folder, file)
        except Invalid as error:
            raise InvalidLesson([Problem(f"{self.slug}/code", 1, str(error))]) from None

    def zipped_programs(self) -> bytes:
        """All of them as a zip whose bytes depend on nothing but them."""
        found = io.BytesIO()
        with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in self.files:
                about = zipfile.ZipInfo(f"{self.slug}/{name}")  # dated 1980, as a zip without a date is
                about.compress_type, about.external_attr, about.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
                archive.writestr(about, self.program(name))
        return found.getvalue()

    def question(self, name: str, track: Track, given: Given) -> tuple[str, list[Problem]]:
        """One question's section, after an answer, and what is wrong with it."""
        with self._lock:
            context = self.context(track)
            markdown.html("", context)
            return section(context, self.quizzes[name], given), context.problems

    def context(self, track: Track) -> Context:
        context = Context(self.slug, self.source.file, track, self.scope, self.folder)

        def question(name: str) -> str:
            if name not in self.quizzes:
                raise Invalid(f"there is no quiz {name!r} in quizzes.toml{': it has ' + ', '.join(self.quizzes) if self.quizzes else ''}")
            return section(context, self.quizzes[name])

        context.question = question
        return context

    def _made(self, track: Track) -> Page:
        context = self.context(track)
        html = markdown.html(context.mark(self.source.text), context)
        return Page(
            html, tuple(context.headings), frozenset(context.scripts), tuple(sorted(context.problems)), frozenset(context.ids), tuple(context.links),
            tuple(context.placed),
        )  # fmt: skip


def read(folder: Path, *, own: bool = False) -> Lesson:
    """A lesson's folder. Nothing is raised for a broken one: it knows what is wrong with it."""
    slug = folder.name
    problems: list[Problem] = []
    stamp = stamp_of(folder)  # before anything is read, so that a change meanwhile is seen next time
    file = f"{slug}/lesson.md"
    source = read_source(file, _text(folder / "lesson.md", file, problems), report=problems.append)
    questions: dict[str, Quiz] = {}
    if isfile(folder / "quizzes.toml"):  # which says no, and raises nothing, where it may not look
        name = f"{slug}/quizzes.toml"
        questions = read_questions(name, _text(folder / "quizzes.toml", name, problems), problems.append)
    lesson = Lesson(slug, source, folder, questions, problems, own, stamp)
    _runs(lesson)
    return lesson


def read_guide(path: Path) -> Lesson:
    """A page of templates/guides: the same Markdown, with a title and a description."""
    problems: list[Problem] = []
    name = f"guides/{path.name}"
    return Lesson(path.stem, read_source(name, _text(path, name, problems), GUIDE_FIELDS, problems.append), None, {}, problems)


def _runs(lesson: Lesson) -> None:
    """Each run's fields are looked at as the lesson is read; its steps when they are asked for."""
    for name in lesson.scope.names:
        line = lesson.source.line_of(rf"^\s*(\[runs\.)?{name}\b")
        if name in RESERVED or not name.isidentifier():
            words = f"a run cannot be called {name!r}: {'expressions use that name' if name in RESERVED else 'use letters, digits and _'}"
            lesson.problems.append(Problem(lesson.source.file, line, words))
            continue
        try:
            if not isinstance(lesson.front("runs")[name], dict):
                raise Invalid(f'run {name!r} is a table: {{ machine = "online-softmax", scores = "1,3,2" }}')
            lesson.scope.run(name)
        except Invalid as error:
            lesson.problems.append(Problem(lesson.source.file, line, str(error)))


MOST_BYTES = 300_000  # several times the longest lesson of the site; reading one takes time that grows with its length


def _text(path: Path, name: str, problems: list[Problem]) -> str:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            problems.append(Problem(name, 1, f"the file has {size:,} bytes: a lesson has at most {MOST_BYTES:,}, so make two of it"))
            return ""
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problems.append(Problem(name, 1, f"the file is not UTF-8 from byte {error.start} on"))
    except OSError as error:
        problems.append(Problem(name, 1, f"the file cannot be read: {error.strerror}"))
    return ""


def stamp_of(folder: Path) -> tuple[Any, ...]:
    """Changes whenever a file of the lesson does."""
    found = []
    for path in [folder / "lesson.md", folder / "quizzes.toml", *sorted(folder.glob("code/*")), *sorted(folder.glob("data/*.json"))]:
        try:
            about = path.stat()
        except OSError:
            continue
        found.append((path.name, about.st_mtime_ns, about.st_size))
    return tuple(found)
