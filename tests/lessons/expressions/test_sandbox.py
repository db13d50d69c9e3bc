"""Expressions: what they see, how they are written, and what they cannot reach."""

import json
import math

import pytest

from app.lessons.expressions.runs import Data
from app.lessons.expressions.sandbox import Scope
from app.lessons.problems import Invalid

FIVE = {"machine": "online-softmax", "scores": "1,3,2,5,4", "values": "10,20,30,40,50", "format": "float64"}


@pytest.fixture
def scope() -> Scope:
    three = {"machine": "softmax-passes", "scores": "1,3,2,5,4", "method": "safe", "format": "float64"}
    big = {"machine": "online-softmax", "scores": "1000,1001,1002"}
    return Scope({"five": FIVE, "three": three, "big": big})


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("five.steps", "5"),
        ("five[-1].l | to(4)", "1.5713"),
        ("five[4].event.alpha | to(3)", "0.135"),
        ("five[-1].output | to(2)", "39.95"),
        ("three[-1].ledger.reads", "15"),
        ("five.spec.scores | rows(0)", "[1, 3, 2, 5, 4]"),
        ("exp(89) | digitcount", "39"),
        ("exp(20) | whole", "485,165,195"),
        ("(32768 * 32768 * 4) | bytes", "4 GiB"),
        ("limits('float32').max | sci(2)", "3.40\xa0×\xa010³⁸"),
        ("limits('float16').exp_max | to(2)", "11.09"),
        ("expin(1000, 'float32')", "∞"),
        ("big[-1].naive.shares", "[NaN, NaN, NaN]"),
        ("big[-1].naive.shares[0] == 'NaN'", "yes"),
        ("rnd(0.1, 'bfloat16') | digits(6)", "0.100098"),
        ("gap(five[-1].shares, five[-1].reference.shares) < 1e-12", "yes"),
        ("by_hand(five, 4)[-1].acc | to(4)", "62.7776"),
        ("sum([five[2].event.rescales, five[3].event.rescales, five[4].event.rescales])", "2"),
        ("5 in five.spec.scores", "yes"),
        ("five[1].event.alpha", "0"),
        ("-five[4].l | to(2)", "−1.20"),
        ("max(big[-1].naive.shares[0], 1)", "NaN"),
        ("max([1, 'Infinity']) + min(1, '-Infinity', 0)", "NaN"),
        ("abs(-2) + len(five.spec.scores) + sum(range(4))", "13"),
        ("1001 | bytes", "1001 B"),
        ("2 ** 0.5 * 1.0 == sqrt(2)", "yes"),
        ("run('online-softmax', scores=[1, 3], format='float64')[-1].m", "3"),
        ("five[2].caption", None),
    ],
)
def test_an_expression_reads_a_machine(scope, source, text):
    found = scope.text(source)
    assert found == text if text is not None else "3" in found


def test_a_name_that_is_a_dicts_method_is_still_a_name(scope):
    assert scope.value("five.spec.values") == [10.0, 20.0, 30.0, 40.0, 50.0]
    with pytest.raises(Invalid, match=r"no 'items'"):
        scope.value("five.spec.items")


def test_data_comes_from_the_lessons_own_folder_only(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ten.json").write_text(json.dumps({"scores": [1.0, 2.0], "most": float(10)}))
    (tmp_path / "data" / "bad.json").write_text("{")
    (tmp_path / "secret.json").write_text("[1]")
    (tmp_path / "data" / "link.json").symlink_to(tmp_path / "secret.json")
    scope = Scope({}, Data(tmp_path / "data"))
    assert scope.text("data('ten.json').most") == "10"
    assert scope.value("run('online-softmax', scores=data('ten.json').scores)[-1].m") == 2.0
    for name in ("../secret.json", "link.json", "nothing.json", "/etc/passwd", ".", ""):
        with pytest.raises(Invalid, match="no data file"):
            scope.value(f"data({name!r})")
    with pytest.raises(Invalid, match="not JSON"):
        scope.value("data('bad.json')")


@pytest.mark.parametrize(
    "source",
    [
        "''.__class__",
        "''.__class__.__mro__[1].__subclasses__()",
        "().__class__.__base__",
        "five.__class__",
        "five['__class__']",
        "five.name",
        "five._fields",
        "five.machine.start",
        "five[1].wire_form",
        "five[1].parts",
        "run.__globals__",
        "exp.__globals__['__builtins__']",
        "self.__init__",
        "self._TemplateReference__context",
        "cycler.__init__",
        "lipsum",
        "namespace()",
        "dict(a=1)",
        "'{0.__class__}'.format(five)",
        "'%s' % five",
        "five | string",
        "five | attr('__class__')",
        "[1] | map('upper')",
        "five ~ ''",
        "(five[1]) ~ ''",
        "five()",
        "'x'()",
        "five[1].event()",
        "five | upper",
        "range(3).start",
        "five is defined",
        "loop.index",
        "caller()",
        "import('os')",
        "open('/etc/passwd')",
        "five is callable",
        "{{ 1 }}",
        "1 }} {% for x in range(3) %}{{ x",
        "[].append(1)",
        "five.spec.scores.append(1)",
        "five.spec.update(a=1)",
    ],
)
def test_the_sandbox_offers_nothing_else(scope, source):
    with pytest.raises(Invalid):
        scope.text(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("2 ** 99999999", "thousand digits"),
        ("9 ** 99 ** 99", "thousand digits"),
        ("((9 ** 999) ** 999) ** 999", "thousand digits"),
        ("(10 ** 1000) * (10 ** 1000) * (10 ** 1000) * (10 ** 1000) * (10 ** 1000)", "fails"),
        ("'a' * 99999999", "a number is needed"),
        ("[0] * 99999999", "a number is needed"),
        ("range(10 ** 9)", "Range too big"),
        ("1" + "+1" * 2000, "nested too deeply"),
        ("(" * 600 + "1" + ")" * 600, "nested too deeply"),
        ("-" * 600 + "1", "nested too deeply"),
        ("run('online-softmax', scores=range(1000), block=0)", "block"),
        ("run('online-softmax', scores=range(4097))", "4,096"),
        ("run('tiled-attention', seed=1, n_q=10 ** 6, n_k=4, d=4, d_v=4)", "n_q"),
        ("round(1, 10 ** 9)", "number of places"),
        ("five[1].l | to(10 ** 9)", "number of places"),
    ],
)
def test_what_is_plainly_wrong_is_refused_before_it_is_computed(scope, source, words):
    with pytest.raises(Invalid, match=words):
        scope.text(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("fife[1]", "'fife' is undefined"),
        ("five[9].l", "steps 0 to 5"),
        ("five[1].nope", "has no 'nope'"),
        ("five", "not a number"),
        ("1 / 0", "division by zero"),
        ("five[1].l | upper", "No filter named"),
        ("five[1].l |", "cannot be read"),
        ("rnd(1, 'float12')", "no number format"),
        ("exp()", "wrong arguments"),
        ("run('online')", "names no machine"),
        ("run('online-softmax', scores='x')", "is not a number"),
        ("run('online-softmax', scores='1', blocks=2)", "no field"),
        ("log(-1)", "below 0"),
        ("(-8) ** 0.5", "below 0"),
        ("five[1.5].l", "no step"),
        ("five.spec.scores[7]", "no place 7"),
    ],
)
def test_a_fault_says_what_is_wrong(scope, source, words):
    with pytest.raises(Invalid, match=words.replace("(", r"\(")):
        scope.text(source)


def test_special_numbers_go_through_arithmetic(scope):
    assert scope.value("limits('float32').max * 'Infinity'") == math.inf
    assert scope.text("('-Infinity') | to(2)") == "−∞"
    assert math.isnan(scope.value("big[-1].naive.shares[0] + 1"))
