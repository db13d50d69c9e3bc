"""All lessons, in the order of the course, and the guides. An instructor's own folder is looked at again at every visit."""

import re
from dataclasses import dataclass
from pathlib import Path

from app.lessons.lesson import Lesson, read, read_guide, stamp_of
from app.lessons.problems import Problem

ROOT = Path(__file__).parent.parent.parent
LESSONS, GUIDES = ROOT / "lessons", ROOT / "templates" / "guides"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Chapter:
    title: str
    lessons: tuple[Lesson, ...]


class Catalog:
    """The lessons of this project, and those of a folder of the host's.

    >>> catalog = Catalog()
    >>> catalog.lesson("no-such-lesson") is None
    True
    """

    def __init__(self, own: Path | None = None, lessons: Path = LESSONS, guides: Path = GUIDES) -> None:
        self.own = own
        self._lessons = {folder.name: read(folder) for folder in _folders(lessons)}
        self._guides = {path.stem: read_guide(path) for path in sorted(guides.glob("*.md"))}
        self._owned: dict[str, Lesson] = {}
        self.refresh()

    @property
    def watching(self) -> bool:
        """Whether a page may change while the site runs."""
        return self.own is not None

    def refresh(self) -> None:
        """Read what is new or changed in the host's folder, and forget what has gone."""
        if self.own is None:
            return
        found: dict[str, Lesson] = {}
        for folder in _folders(self.own):
            known = self._owned.get(folder.name)
            lesson = known if known is not None and known.stamp == stamp_of(folder) else read(folder, own=True)
            if folder.name in self._lessons and not lesson.problems:
                lesson.problems.append(Problem(f"{folder.name}/lesson.md", 1, "a lesson of the site has this name: rename the folder"))
            found[folder.name] = lesson
        self._owned = found

    @property
    def lessons(self) -> list[Lesson]:
        """In the order of the course. Where two have one name, the site's own stands."""
        self.refresh()
        return sorted({**self._owned, **self._lessons}.values(), key=lambda lesson: (lesson.order, lesson.slug))

    @property
    def chapters(self) -> list[Chapter]:
        found: dict[str, list[Lesson]] = {}
        for lesson in self.lessons:
            found.setdefault(str(lesson.front("chapter", "Not in order yet")), []).append(lesson)
        return [Chapter(title, tuple(lessons)) for title, lessons in found.items()]

    @property
    def guides(self) -> list[Lesson]:
        return list(self._guides.values())

    def lesson(self, slug: str) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.slug == slug), None)

    def guide(self, slug: str) -> Lesson | None:
        return self._guides.get(slug)

    def beside(self, slug: str) -> tuple[Lesson | None, Lesson | None]:
        """The lesson before and the lesson after."""
        found = self.lessons
        place = next((place for place, lesson in enumerate(found) if lesson.slug == slug), None)
        if place is None:
            return None, None
        return (found[place - 1] if place else None), (found[place + 1] if place + 1 < len(found) else None)

    def prerequisites(self, lesson: Lesson) -> list[Lesson]:
        return [one for one in map(self.lesson, lesson.front("prerequisites", [])) if one is not None]

    @property
    def checkable(self) -> list[Lesson]:
        """The lessons to check: the host's where there is such a folder, else the site's and the guides."""
        return list(self._owned.values()) if self.own is not None else [*self._lessons.values(), *self._guides.values()]


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(path for path in root.iterdir() if _SLUG.fullmatch(path.name) and _written(path))
    except OSError:  # a folder that may not be read, or has just gone: the site's own lessons are served
        return []


def _written(folder: Path) -> bool:
    """Whether there is a lesson in a folder. One that may not be entered counts: its page says what is wrong."""
    try:
        lesson = folder / "lesson.md"
        return lesson.is_file() or lesson.is_symlink()  # a link that leads nowhere, or to itself, is a lesson that cannot be read
    except OSError:
        return True
