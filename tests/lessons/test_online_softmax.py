"""The lesson online-softmax: nothing is wrong with it, every value worked out beforehand stands in it, and none of them is typed."""

import json
import re
from pathlib import Path

import pytest

from app.lessons.course import LESSONS, Catalog
from app.lessons.expressions.functions import gap
from app.lessons.expressions.runs import Run
from app.lessons.lesson import Lesson
from app.machines import MACHINES
from app.machines.formats import FORMATS
from app.machines.run import moments
from tests.lessons.read import changed, lesson_of, misconceptions, problems, rows, text

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "worked_examples.json").read_text())
FIVE = GOLDEN["softmax_five_scores"]
STEPS, HAND = FIVE["steps"], FIVE["by_hand"]
FOLDER = LESSONS / "online-softmax"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return lesson_of("online-softmax")


def short(x: float) -> str:
    """As a trace table writes a factor: 0 and 1 are exact there."""
    return f"{x:g}" if x in (0, 1) else f"{x:.4f}"


def test_nothing_is_wrong() -> None:
    assert problems("online-softmax") == []


@pytest.mark.parametrize("step", range(5))
def test_every_step_stands_in_a_table(lesson: Lesson, step: int) -> None:
    score, m, alpha, p, l, acc, output = (
        column[step] for column in (FIVE["scores"], *(STEPS[name] for name in ("m", "alpha", "p_new", "l", "acc", "output")))
    )
    factor = short(alpha) if step else "–"  # nothing is kept yet at the first
    start = (str(step + 1), str(score), str(m), factor, short(p), f"{l:.4f}")
    assert start in rows(lesson, "plain")
    assert (*start, f"{acc:.4f}", f"{output:.4f}") in rows(lesson, "deep")
    assert f"= {HAND['acc'][step]:.4f} " in text(lesson, "plain") or f"≈ {HAND['acc'][step]:.4f} " in text(lesson, "plain")
    by_hand = {row[5:7] for row in rows(lesson, "deep") if len(row) == 8 and row[0] == str(step + 1)}
    assert (f"{HAND['l'][step]:.4f}", f"{HAND['acc'][step]:.4f}") in by_hand


def test_blocks_shares_and_bars(lesson: Lesson) -> None:
    table = rows(lesson, "plain")
    for step, (m, l) in enumerate(zip(*FIVE["blocks_of_two"].values(), strict=True), 1):
        assert any(row[0] == str(step) and row[2] == str(m) and row[5] == f"{l:.4f}" for row in table if len(row) == 8)
    for score, share in zip(FIVE["scores"], FIVE["shares"]["values"], strict=True):
        assert any(row[0] == str(score) and row[2] == f"{share:.4f}" for row in table if len(row) == 3)
    shown = text(lesson, "plain")
    before, after = ([f"{size:.3f}" for size in FIVE[name]] for name in ("bricks_before_5", "bricks_after_5"))
    assert f"Before: {before[0]}, {before[1]} and {before[2]}, together {FIVE['tally_before_5']:.3f}" in shown
    assert f"{after[0]}, {after[1]} and {after[2]}, and a bar of {after[3]}" in shown
    assert f"to {FIVE['tally_after_5']:.3f}" in shown


def test_overflow_reads_and_the_table(lesson: Lesson) -> None:
    shown, table = text(lesson, "deep"), rows(lesson, "deep")
    for name in ("float16", "float32", "float64"):
        last, first = GOLDEN["overflow"][name]
        row = next(row for row in table if row[0] == name)
        assert row[3].startswith(f"exp({last}) = ")
        assert row[4] == f"exp({first}) = ∞"
    assert "exp(11.0) = 5.987 × 10⁴" in shown
    assert "exp(88.7) = 3.3259769 × 10³⁸" in shown
    plain = text(lesson, "plain")
    for words in ("[1000, 1001, 1002]", "[NaN, NaN, NaN]", "[0.0900, 0.2447, 0.6652]", "1,073,741,824", "4,294,967,296", "4 GiB"):
        assert words in plain
    reads = {row[2] for row in table if len(row) == 3}
    assert {f"{count:,}" for count in GOLDEN["reads_of_1000_scores"].values()} <= reads
    accesses = GOLDEN["accesses_per_element"]
    assert f"touches memory {accesses['safe_softmax']} times" in shown
    assert f"online softmax {accesses['online_softmax']} times" in shown


def test_another_default_gives_another_lesson(lesson: Lesson, tmp_path: Path) -> None:
    """A planted change: with a 6 in the place of the 5, every number that hangs on it is another one."""
    other = changed("online-softmax", tmp_path, "lesson.md", lambda text: text.replace('scores = "1,3,2,5,4"', 'scores = "1,3,2,6,4"'))
    online = MACHINES["online-softmax"]
    spec = online.spec(scores=(1.0, 3.0, 2.0, 6.0, 4.0), values=(10.0, 20.0, 30.0, 40.0, 50.0), format="float64")
    state = list(moments(online, spec))[-1].state
    shown = text(other, "deep")
    assert "[1, 3, 2, 6, 4]" in shown
    assert f"{state.l:.4f}" in shown
    assert f"{state.acc[0]:.4f}" in shown
    for gone in (1.2034, 44.3835, 62.7774, 62.7776):
        assert f"{gone:.4f}" in text(lesson, "deep")
        assert f"{gone:.4f}" not in shown


COURSE = Catalog()
STEPPED = [
    (lesson.slug, name)
    for lesson in COURSE.lessons
    for name in re.findall(r"^\[\[widget (\w+)", (LESSONS / lesson.slug / "lesson.md").read_text(), re.MULTILINE)
    if lesson.front("runs")[name]["machine"] == "online-softmax"
]


PUSHED = [("online-softmax", "row", 84), *((slug, name, 100) for slug, name in STEPPED)]


@pytest.mark.parametrize(("slug", "name", "added"), PUSHED, ids=[f"{name} +{added}" for _, name, added in PUSHED])
def test_the_slider_breaks_the_old_way(slug: str, name: str, added: int) -> None:
    """In every online softmax that a lesson lets the reader step: at the slider's end, and in the five scores at the 84 of the text."""
    lesson = COURSE.lesson(slug)
    assert lesson
    run = Run(name, lesson.front("runs")[name] | {"offset": added})
    last = run.snapshot(run.steps)["state"]
    assert "Infinity" in last["naive"]["exps"]
    assert "NaN" in last["naive"]["shares"]
    assert gap(last["shares"], last["reference"]["shares"]) < 1e-6


def test_the_text_says_how_far_to_push(lesson: Lesson) -> None:
    said = re.search(r"move Added to every score to (\d+).*?The highest score is then (\d+),", text(lesson, "plain"))
    assert said
    added, highest = map(int, said.groups())
    assert highest == max(FIVE["scores"]) + added > FORMATS["float32"].exp_limit


def test_quizzes_answer_misconceptions() -> None:
    assert len(misconceptions("online-softmax")) >= 9
