"""The lesson splitting-a-row: nothing is wrong with it, its numbers are the machine's and a direct computation's, and its program works."""

import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.lessons.course import LESSONS
from app.lessons.lesson import Lesson
from tests.lessons.read import changed, lesson_of, misconceptions, problems, rows, text

FOLDER = LESSONS / "splitting-a-row"
SCORES, VALUES = (1, 3, 2, 5, 4), (10, 20, 30, 40, 50)


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return lesson_of("splitting-a-row")


def part(scores: tuple[int, ...]) -> tuple[int, float]:
    return max(scores), sum(math.exp(x - max(scores)) for x in scores)


def test_nothing_is_wrong() -> None:
    assert problems("splitting-a-row") == []


@pytest.mark.parametrize("cut", range(1, 5))
@pytest.mark.parametrize("track", ["plain", "deep"])
def test_every_cut_stands_in_the_table(lesson: Lesson, cut: int, track: Any) -> None:
    (m_a, l_a), (m_b, l_b) = part(SCORES[:cut]), part(SCORES[cut:])
    m, l = part(SCORES)
    factors = ", ".join("1" if mine == m else f"{math.exp(mine - m):.4f}" for mine in (m_a, m_b))
    answer = sum(math.exp(x - m) * v for x, v in zip(SCORES, VALUES, strict=True)) / l
    expected = (str(cut), f"{m_a}, {m_b}", f"{l_a:.4f}, {l_b:.4f}", factors, f"{l:.4f}", f"{answer:.4f}")
    assert expected in rows(lesson, track)


def test_every_order_gives_one_answer(lesson: Lesson) -> None:
    found = {row[0]: row[1:] for row in rows(lesson, "plain") if row[0].startswith(("one worker", "four,", "eight,"))}
    assert len(found) == 5
    assert len(set(found.values())) == 1


def test_rounding_differs_from_split_to_split(lesson: Lesson) -> None:
    """The case split-count-changes-bits, and a tree beside it: close to the exact answer, and no two alike."""
    found = [row for row in rows(lesson, "plain") if len(row) == 6 and row[0].isdigit() and row[2].startswith("−0.10")]
    answers = {float(row[2].replace("−", "-")) for row in found}
    assert {-0.10254, -0.10303, -0.10205, -0.10156} <= answers
    assert len(answers) == len(found) == 5
    for row in found:
        assert abs(float(row[2].replace("−", "-")) + 0.101124) == pytest.approx(float(row[3]), abs=1e-5)
    assert "from the same inputs, is −0.10112" in text(lesson, "plain")


def test_lse_and_its_bases(lesson: Lesson) -> None:
    shown, table = text(lesson, "deep"), rows(lesson, "deep")
    lses = [math.log(sum(map(math.exp, some))) for some in (SCORES[:3], SCORES[3:])]
    assert {row[2] for row in table if row[0] in ("first", "second")} == {f"{lse:.4f}" for lse in lses}
    assert f"[{1 / (1 + math.exp(lses[1] - lses[0])):.4f}, {1 / (1 + math.exp(lses[0] - lses[1])):.4f}]" in shown
    assert ("four keys", "1", "ln 4 = 1.3863", "2") in table
    assert ("one key", "11", "ln 1 = 0", "0") in table


def test_claims_in_words(lesson: Lesson) -> None:
    """What the prose says without a number."""
    value = lesson.context("deep").scope.value
    assert value("hole[-1].output == after3[-1].output and hole[-1].l == after3[-1].l")
    assert value("hole[2].parts[1].m == '-Infinity' and masked[2].parts[1].m == '-Infinity'")
    assert value("tree[-1].ledger.reads > one[-1].ledger.reads and tree[-1].ledger.writes > one[-1].ledger.writes")
    assert value("four[-1].event.mixed_bases.weights[0] > four[-1].event.by_lse.weights[0]")
    assert value("f4[-1].error.output.absolute < b4[-1].error.output.absolute")


def test_another_default_gives_another_lesson(lesson: Lesson, tmp_path: Path) -> None:
    """A planted change: with a 6 in the place of the 5, every number that hangs on it is another one."""
    other = changed("splitting-a-row", tmp_path, "lesson.md", lambda text: text.replace('scores = "1,3,2,5,4"', 'scores = "1,3,2,6,4"'))
    shown = text(other, "deep")
    for gone in ("39.9521", "1.5713", "5.3133"):
        assert gone in text(lesson, "deep")
        assert gone not in shown
    scores = (1, 3, 2, 6, 4)
    m, l = part(scores)
    assert f"{l:.4f}" in shown
    assert f"{sum(math.exp(x - m) * v for x, v in zip(scores, VALUES, strict=True)) / l:.4f}" in shown


def test_quizzes_answer_misconceptions() -> None:
    assert {"14", "21", "27"} <= misconceptions("splitting-a-row")


def test_all_lessons_together_answer_fifteen() -> None:
    assert len(set().union(*(misconceptions(file.parent.name) for file in LESSONS.glob("*/quizzes.toml")))) >= 15


# The program


def _student_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # -I keeps this project off the path
        [sys.executable, "-I", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}", str(folder)],
        check=False, cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_the_program_runs_alone(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "code", tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    assert _student_tests(tmp_path / "code").returncode == 0
    said = subprocess.run(
        [sys.executable, "-I", "split_row.py"], cwd=tmp_path / "code", check=False, capture_output=True, text=True, timeout=60
    )
    lines = said.stdout.splitlines()
    assert len(lines) == 7
    assert all("39.952110" in line.split("from")[0] and line.endswith("39.952110") for line in lines)


BUGS = [
    ("factors swapped", "a[1] * factor_a + b[1] * factor_b", "a[1] * factor_b + b[1] * factor_a"),
    ("no guard", "    if a[0] == EMPTY_M:\n        return b\n    if b[0] == EMPTY_M:\n        return a\n", ""),
    ("masked values used", "sizes @ values[live]", "np.where(live, np.exp(scores - m), 0) @ values"),
    ("exp of an lse", "sizes = np.exp(lses[live] - top)", "top = 0.0\n    sizes = np.exp(lses[live])"),
]


@pytest.mark.parametrize(("before", "after"), [bug[1:] for bug in BUGS], ids=[bug[0] for bug in BUGS])
def test_its_tests_catch_a_planted_bug(tmp_path: Path, before: str, after: str) -> None:
    shutil.copytree(FOLDER / "code", tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "code" / "split_row.py"
    assert source.read_text().count(before) == 1
    source.write_text(source.read_text().replace(before, after))
    assert _student_tests(tmp_path / "code").returncode == 1
