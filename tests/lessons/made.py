"""Small lessons for tests, written into a folder."""

from pathlib import Path

from app.lessons import check as checks
from app.lessons.course import Catalog
from app.lessons.lesson import Lesson

FRONT = """+++
title = "A small lesson"
description = "One sentence."
topic = "tests"
date = 2026-11-30
chapter = "Tests"
order = {order}
[runs]
five = {{ machine = "online-softmax", scores = "{scores}", values = "10,20,30,40,50", format = "float64" }}
{more}+++
"""
BODY_STARTS = FRONT.count("\n") + 1  # the line of the file that the body begins on, without more runs


def write(
    root: Path, body: str, quizzes: str = "", *, slug: str = "small", order: int = 1, scores: str = "1,3,2,5,4", more: str = ""
) -> Path:
    """A lesson's folder: `body` is what follows the front matter."""
    folder = root / slug
    folder.mkdir(exist_ok=True)
    (folder / "lesson.md").write_text(FRONT.format(order=order, scores=scores, more=more) + body)
    if quizzes:
        (folder / "quizzes.toml").write_text(quizzes)
    return folder


def catalog(root: Path) -> Catalog:
    return Catalog(lessons=root)


def lesson(root: Path, body: str, quizzes: str = "", **more) -> Lesson:
    write(root, body, quizzes, **more)
    found = catalog(root).lesson(more.get("slug", "small"))
    assert found is not None
    return found


def html(root: Path, body: str, track: str = "plain", quizzes: str = "", **more) -> str:
    """The page of a body that has nothing wrong with it."""
    page = lesson(root, body, quizzes, **more)
    made = page.page(track)
    assert not page.problems
    assert not made.problems, made.problems
    return made.html


def wrong(root: Path) -> list[str]:
    """What check prints of all lessons in a folder."""
    found = catalog(root)
    return [str(one) for one in checks.check(found, found.lessons)]
