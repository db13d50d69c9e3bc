"""A lesson's page as a reader sees it, without its markup."""

import html
import re
from typing import Any

from app.lessons.lesson import Lesson


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
