"""This project's lessons for their tests: what is wrong with one, and its page as a reader sees it, without its markup."""

import html
import re
import shutil
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from app.lessons.check import check
from app.lessons.course import LESSONS, Catalog
from app.lessons.lesson import Lesson
from app.lessons.lesson import read as read_lesson


@cache
def catalog() -> Catalog:
    return Catalog()


def lesson_of(slug: str) -> Lesson:
    found = catalog().lesson(slug)
    assert found
    return found


def problems(slug: str) -> list[str]:
    return [str(problem) for problem in check(catalog(), [lesson_of(slug)])]


def changed(slug: str, folder: Path, file: str, change: Callable[[str], str]) -> Lesson:
    """A copy of the lesson in which one file is another."""
    copy = folder / slug
    shutil.copytree(LESSONS / slug, copy, dirs_exist_ok=True)
    (copy / file).write_text(change((copy / file).read_text()))
    return read_lesson(copy)


def misconceptions(slug: str) -> set[str]:
    questions = tomllib.loads((LESSONS / slug / "quizzes.toml").read_text())
    return {question["misconception"] for question in questions.values() if "misconception" in question}


def text(lesson: Lesson, track: Any) -> str:
    """All words of a track."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", lesson.page(track).html)))


def rows(lesson: Lesson, track: Any) -> list[tuple[str, ...]]:
    """The rows of all tables of a track."""
    found = re.findall(r"<tr>(.*?)</tr>", lesson.page(track).html, re.DOTALL)
    return [
        tuple(html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL))
        for row in found
    ]
