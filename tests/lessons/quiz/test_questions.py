"""Questions: how an answer is read, what it earns, and which questions are refused."""

import math

import pytest

from app.lessons.problems import NotANumber
from app.lessons.quiz.answers import meets, numbers
from app.lessons.quiz.html import Given
from app.lessons.quiz.questions import judge, ranks, shuffled
from tests.lessons.made import lesson, write, wrong

NUMBER = """
[factor]
kind = "number"
question = "After {{ five[1].m }} comes {{ five[2].m }}. Which factor?"
answer = "five[2].event.alpha"
says = "Right: {{ five[2].event.alpha | to(3) }}."
mistakes = [{ value = "1 / five[2].event.alpha", says = "The inverse." }, { value = "1", says = "Forgot." }]
otherwise = "Think of $e$."
"""
CHOICE = """
[pick]
kind = "choice"
question = "Which is largest?"
options = [
    { text = "{{ five[1].l }}", right = "five[1].l > five[2].l", says = "No." },
    { text = "{{ five[2].l | to(3) }}", right = "five[2].l > five[1].l", says = "Yes, the second." },
]
"""
SEVERAL = """
[which]
kind = "several"
question = "Which steps rescale?"
options = [
    { text = "first", right = "five[1].event.rescales", says = "Nothing is kept yet." },
    { text = "second", right = "five[2].event.rescales", says = "A new highest." },
    { text = "fourth", right = "five[4].event.rescales", says = "A new highest too." },
]
"""
ORDER = """
[sort]
kind = "order"
question = "By l."
items = [
    { text = "after one", key = "five[1].l" },
    { text = "after two", key = "five[2].l" },
    { text = "after three", key = "five[3].l" },
]
says = "So it is."
otherwise = "Look again."
"""
TASK = """
[break]
kind = "task"
machine = "online-softmax"
field = "scores"
spec = { format = "float16" }
question = "Overflow float16, not bfloat16."
passes = [
    { test = "len(attempt.spec.scores) == 3", says_no = "Three, please." },
    { test = "attempt.naive.sum == 'Infinity'", says_no = "It fits." },
    { test = "again(format='bfloat16').naive.sum != 'Infinity' and steps[1].step == 1", says_no = "bfloat16 too." },
]
example = "12,1,2"
wrong = "1,2,3"
says = "Invalid."
"""
ALL = NUMBER + CHOICE + SEVERAL + ORDER + TASK
PLACED = "\n" + "\n\n".join(f"[[quiz {name}]]" for name in ("factor", "pick", "which", "sort", "break")) + "\n"


@pytest.mark.parametrize("typed", ["0.135", "0,135", ".1353", "e^-2", "e^(-2)", "exp(-2)", "1/e^2", "1 / e**2", "e⁻²", "0.14", "1.353e-1", "1,353·10^-1", "13.5%", "≈ 0.135", "exp(1-3)", " 0.1353 "])  # fmt: skip
def test_a_number_may_be_typed_in_many_ways(typed):
    assert any(meets(value, math.exp(-2), 0.05) for value in numbers(typed))


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("3,000", [3000.0, 3.0]),
        ("3 000", [3000.0]),
        ("1,073,741,824", [1073741824.0]),
        ("2/3", [2 / 3]),
        ("1e-3", [0.001]),
        ("-2^2", [-4.0]),
        ("2^3^2", [512.0]),
        ("(1+2)*3", [9.0]),
        ("ln(e)", [1.0]),
        ("sqrt(2)", [math.sqrt(2)]),
        ("√4", [2.0]),
        ("ln e", [1.0]),
        ("√ 2e2", [math.sqrt(200)]),
        ("05.10", [5.1]),
        ("٣", [3.0]),
        ("−∞", [-math.inf]),
        ("3.", [3.0]),
    ],
)
def test_how_a_number_is_read(typed, values):
    assert numbers(typed) == pytest.approx(values)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "two",
        "1/0",
        "(1",
        "1)",
        "1 2",
        "e^^2",
        "__import__('os')",
        "lambda: 1",
        "[1][0]",
        "2 if 1 else 3",
        "7 // 2",
        "2(3)",
        "2e",
        "0x10",
        "1j",
        "exp(1, 2)",
        "1_0_0",
        "9^9^9^9",
        "1" * 100,
        "((((" * 30,
        "exp",
        "sqrt(-1)",
        "1..2",
        "10^400",
    ],
)
def test_what_is_no_number_is_not_read(typed):
    with pytest.raises(NotANumber):
        numbers(typed)


@pytest.fixture
def small(tmp_path):
    found = lesson(tmp_path, PLACED, ALL)
    assert not found.problems
    return found


@pytest.mark.parametrize(
    ("name", "given", "right", "says"),
    [
        ("factor", ["0.135"], True, "Right"),
        ("factor", ["e^-2"], True, "Right"),
        ("factor", ["0.14"], True, "Right"),
        ("factor", ["0.1"], False, "Think"),
        ("factor", ["7.39"], False, "inverse"),
        ("factor", ["7.4"], False, "inverse"),
        ("factor", ["1"], False, "Forgot"),
        ("factor", ["0.5"], False, "Think"),
        ("factor", ["what"], False, "Type a number"),
        ("factor", [""], False, "Type a number"),
        ("pick", ["1"], True, "second"),
        ("pick", ["0"], False, "No."),
        ("pick", [], False, "Choose one"),
        ("pick", ["0", "1"], False, "Choose one"),
        ("pick", ["99"], False, "Choose one"),
        ("which", ["1", "2"], True, "these and no others"),
        ("which", ["1"], False, "One that applies"),
        ("which", ["0", "1", "2"], False, "Nothing is kept"),
        ("which", [], False, "all that apply"),
        ("sort", ["1", "1", "2"], False, "once"),
        ("break", ["12,1,2"], True, "Invalid"),
        ("break", ["12,1"], False, "Three"),
        ("break", ["1,2,3"], False, "It fits"),
        ("break", ["100,1,2"], False, "bfloat16"),
        ("break", ["12,x"], False, "is not a number"),
        ("break", [""], False, "is empty"),
        ("break", [",".join(["12"] * 100)], False, "too long"),
    ],
)
def test_a_verdict(small, name, given, right, says):
    found = judge(small.quizzes[name], small.scope, given)
    assert found.right is right
    assert any(says in words for words in found.says), found.says


def test_a_whole_number_is_met_exactly(tmp_path):
    quiz = '[reads]\nkind = "number"\nquestion = "?"\nanswer = "1000 * five[1].ledger.reads"\nsays = "Yes."\notherwise = "No."\n'
    found = lesson(tmp_path, "\n[[quiz reads]]\n", quiz)
    assert [judge(found.quizzes["reads"], found.scope, [typed]).right for typed in ("2000", "2,000", "2001", "1995")] == [
        True,
        True,
        False,
        False,
    ]


def test_an_order_is_never_shown_as_it_is_right_and_always_alike(small):
    quiz = small.quizzes["sort"]
    shown, right = shuffled(quiz, small.scope), ranks(quiz, small.scope)
    assert sorted(shown) == [0, 1, 2]
    assert [right[item] for item in shown] != [1, 2, 3]
    assert shown == shuffled(quiz, small.scope)
    assert judge(quiz, small.scope, [str(right[item]) for item in shown]).right
    first, second = [str(right[item]) for item in shown][:2]
    assert not judge(quiz, small.scope, [second, first, str(right[shown[2]])]).right


@pytest.mark.parametrize("name", ["factor", "pick", "which", "sort", "break"])
def test_every_kind_is_shown_asked_and_told(small, name):
    for given, mark in ((Given(), ""), (Given(show=True), "shown"), (Given(("zzz",)), "wrong")):
        section, problems = small.question(name, "plain", given)
        assert not problems
        assert f'data-verdict="{mark}"' in section
        assert "style=" not in section


def test_the_kinds_above_have_nothing_wrong(tmp_path):
    write(tmp_path, PLACED, ALL)
    assert wrong(tmp_path) == []


FAULTS = [
    (NUMBER, 'value = "1"', 'value = "five[2].event.alpha * 1.001"', "is right"),
    (NUMBER, 'value = "1"', 'value = "1.0001 / five[2].event.alpha"', "cannot be told apart"),
    (NUMBER, "five[2].event.alpha | to(3)", "five[7].event.alpha | to(3)", "no step 7"),
    (NUMBER, 'answer = "five[2]', 'answer = "fife[2]', "'fife' is undefined"),
    (NUMBER, "Think of $e$.", "Think of $\\\\nope$.", "formula cannot be read"),
    (NUMBER, 'otherwise = "Think of $e$."', "", "needs otherwise"),
    (NUMBER, 'kind = "number"', 'kind = "nombre"', "has kind 'nombre'"),
    (NUMBER, "otherwise", 'other = "x"\notherwise', "no field 'other'"),
    (CHOICE, "five[1].l > five[2].l", "five[2].l > five[1].l", "also right"),
    (CHOICE, "five[2].l > five[1].l", "five[2].l < five[1].l", "no option is right"),
    (CHOICE, "five[2].l > five[1].l", "five[2].l", "neither true nor false"),
    (CHOICE, "{{ five[2].l | to(3) }}", "{{ five[1].l | to(0) }}", "read the same"),
    (CHOICE, "{{ five[2].l | to(3) }}", "{{ five[1].l | to(2) }}", "read the same"),
    (CHOICE, 'says = "No."', 'say = "No."', "each entry has text, right, says"),
    (SEVERAL, 'text = "second"', 'text = "first"', "read the same"),
    (ORDER, "five[2].l", "five[1].l", "two items have the key"),
    (ORDER, "five[2].l", "five[2].nope", "no 'nope'"),
    (TASK, 'example = "12,1,2"', 'example = "1,2,3"', "the example fails"),
    (TASK, 'example = "12,1,2"', 'example = "x"', "cannot be run"),
    (TASK, 'wrong = "1,2,3"', 'wrong = "12,1,2"', "passes every test"),
    (TASK, "attempt.naive.sum == 'Infinity'", "attempt.nave.sum == 'Infinity'", "no 'nave'"),
    (TASK, 'field = "scores"', 'field = "score"', "has no field 'score'"),
    (TASK, 'machine = "online-softmax"', 'machine = "online"', "no machine 'online'"),
]


@pytest.mark.parametrize(("quiz", "old", "new", "words"), FAULTS)
def test_a_wrong_question_is_refused_by_its_line(tmp_path, quiz, old, new, words):
    assert quiz.count(old) == 1
    planted = quiz.replace(old, new)
    name = quiz.split("]")[0].strip().removeprefix("[")
    write(tmp_path, f"\n[[quiz {name}]]\n", planted)
    found = [one for one in wrong(tmp_path) if words in one]
    assert found, wrong(tmp_path)
    file, line, _ = found[0].split(":", 2)
    assert file == "small/quizzes.toml"
    on_line = planted.split("\n")[int(line) - 1]
    elsewhere = {"needs otherwise": f"[{name}]", "no option is right": "options = [", "the example fails": "test ="}
    assert elsewhere.get(words, new.split("\n")[0]) in on_line or on_line == f"[{name}]", found


def test_a_question_that_is_asked_nowhere(tmp_path):
    write(tmp_path, "\nNothing.\n", NUMBER)
    assert any("asked nowhere" in one and "quizzes.toml:2:" in one for one in wrong(tmp_path))


def test_a_file_of_questions_that_is_no_toml(tmp_path):
    write(tmp_path, "\nNothing.\n", "[a]\nkind = \n")
    assert any(one.startswith("small/quizzes.toml:2: this is not TOML") for one in wrong(tmp_path))


def test_predict_needs_a_step_after_it(tmp_path):
    write(tmp_path, "\n[[quiz factor]]\n", NUMBER + 'run = "five"\nstep = 5\n')
    assert any("has none after it" in one for one in wrong(tmp_path))


def test_predict_shows_the_step_before_and_then_the_step(tmp_path):
    found = lesson(tmp_path, "\n[[quiz factor]]\n", NUMBER + 'run = "five"\nstep = 1\n')
    before = found.page("plain").html
    after, _ = found.question("factor", "plain", Given(("0.135",)))
    wrong_, _ = found.question("factor", "plain", Given(("7.4",)))
    assert "step=1&amp;theme" in before
    assert "Step 1 of 5." in before
    assert "Step 1 of 5." in wrong_
    assert "Step 2 of 5." in after
