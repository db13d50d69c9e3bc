"""The lesson output-accumulation: nothing is wrong with it, and every value worked out beforehand stands in both tracks."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.lessons.lesson import Lesson
from tests.lessons.read import lesson_of, misconceptions, problems

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "worked_examples.json").read_text())
EXAMPLES = ("divide_first_or_last", "six_scores_two_at_a_time", "tiles_two_queries_four_keys")
SETTINGS = ("places", "block", "block_q", "block_k", "scale")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return lesson_of("output-accumulation")


def vectors(x: Any) -> Iterator[list[float]]:
    """Every row of numbers of an example; a number alone is a row of one."""
    if isinstance(x, dict):
        for name, value in x.items():
            if name not in SETTINGS:
                yield from vectors(value)
    elif isinstance(x, list) and isinstance(x[0], (list, dict)):
        for one in x:
            yield from vectors(one)
    else:
        yield x if isinstance(x, list) else [x]


def test_nothing_is_wrong() -> None:
    assert problems("output-accumulation") == []


@pytest.mark.parametrize("track", ["plain", "deep"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_worked_value_is_there(lesson: Lesson, example: str, track: Any) -> None:
    shown = html.unescape(re.sub(r"<[^>]+>", " ", lesson.page(track).html))
    known = {round(float(number), 3) for number in re.findall(r"(?<![\d.,])\d+(?:\.\d+)?(?![\d.]*\d)", shown)}
    wanted = {number for row in vectors(GOLDEN[example]) for number in row}
    assert wanted - known == set()


def test_quizzes_answer_misconceptions() -> None:
    assert len(misconceptions("output-accumulation")) >= 7
