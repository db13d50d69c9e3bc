"""The program that a lesson gives away: it runs alone, what it prints is what the machines say, and its own tests catch mistakes."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from app.machines import division, online, passes, standard, tiled
from app.machines.formats import FORMATS
from app.machines.run import moments

ROOT = Path(__file__).parent.parent.parent
CODE = ROOT / "lessons/online-softmax/code"
PROGRAM = CODE / "online_softmax.py"
GOLDEN = json.loads((ROOT / "tests/data/worked_examples.json").read_text())
BIG = (1000.0, 1001.0, 1002.0)
FIVE, TENS = (1.0, 3.0, 2.0, 5.0, 4.0), (10.0, 20.0, 30.0, 40.0, 50.0)


def alone(folder, *command):
    """A command of Python's in a folder, with nothing of this project in its surroundings."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    env = kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run([sys.executable, *command], check=False, cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def own_tests(folder):
    return alone(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "--tb=no")


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("lesson_online_softmax", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the program prints: (section, label) → the numbers after the colon, as written."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copy(PROGRAM, folder)
    ran = alone(folder, PROGRAM.name)
    assert (ran.returncode, ran.stderr) == (0, "")
    found, section = {}, ""
    for line in ran.stdout.splitlines():
        if not line.startswith(" "):
            section = line
            continue
        label, numbers = line.strip().split(": ")
        assert (section, label) not in found
        found[section, label] = numbers.split()
    return found


def run_of(module, **spec):
    """The events of a run, and its last point."""
    points = list(moments(module.MACHINE, module.Spec(**spec)))
    return [point.event for point in points[1:]], points[-1]


def shares(method, scores, form):
    events, _ = run_of(passes, scores=scores, method=method, format=form)
    return [share for event in events if event.op == "share" for share in event.results]


def big_scores():
    for name in ("float16", "float32", "float64"):
        form = FORMATS[name]
        tenth = int(form.exp_limit * 10)
        pair = tenth / 10, (tenth + 1) / 10
        yield f"{name} exp({pair[0]}), exp({pair[1]})", [form.exp(form.round(x)) for x in pair]
    yield "float32 exp(89), exp(1000)", [FORMATS["float32"].exp(x) for x in (89.0, 1000.0)]
    yield "digits of exp(89)", [len(str(int(FORMATS["float64"].exp(89.0))))]
    yield "digits of the largest float32", [len(str(int(FORMATS["float32"].max)))]
    yield "naive softmax of 1000, 1001, 1002", shares("naive", BIG, "float32")
    yield "safe softmax of the same", shares("safe", BIG, "float32")
    yield "online softmax of the same", shares("online-shares", BIG, "float32")


def one_at_a_time():
    spec = {"scores": FIVE, "values": TENS, "format": "float64"}
    events, _ = run_of(online, **spec)
    states = [event.after for event in events]
    yield "score", FIVE
    yield "value", TENS
    yield "m", [state.m for state in states]
    yield "alpha", [event.alpha for event in events]
    yield "new term", [event.p[0] for event in events]
    yield "l", [state.l for state in states]
    yield "acc", [state.acc[0] for state in states]
    yield "output", [online.output(online.Spec(**spec), state)[0] for state in states]


def by_hand():
    l, acc = (GOLDEN["softmax_five_scores"]["by_hand"][name] for name in ("l", "acc"))
    yield "l", l
    yield "acc", acc
    yield "output", [a / b for a, b in zip(acc, l, strict=True)]


def in_other_ways():
    yield "sizes while 3 is highest", run_of(online, scores=FIVE[:3], block=3, format="float64")[0][-1].p
    yield "sizes once 5 is", run_of(online, scores=FIVE[:4], block=4, format="float64")[0][-1].p
    yield "shares", shares("online-shares", FIVE, "float64")
    pairs, _ = run_of(online, scores=FIVE, block=2, format="float64")
    yield "m, blocks of two", [event.after.m for event in pairs]
    yield "l, blocks of two", [event.after.l for event in pairs]
    _, last = run_of(online, scores=FIVE, values=TENS, format="float64")
    output = run_of(division, scores=FIVE, values=TENS, format="float64")[1].state.last
    yield "m, l, acc, output of merged halves", [last.state.m, last.state.l, *last.state.acc, *output]


def rescales():
    for scores in ((1, 2, 3, 4), (4, 3, 2, 1)):
        events, _ = run_of(online, scores=tuple(map(float, scores)), format="float64")
        yield f"scores {', '.join(map(str, scores))}", [sum(event.rescales for event in events)]


def ledger(method):
    return run_of(passes, scores=(0.0,) * 1000, method=method, block=64)[1].ledger


def reads():
    yield "safe softmax", [ledger("safe").reads]
    yield "online statistics", [ledger("online").reads]
    yield "online softmax, shares written", [ledger("online-shares").reads]


def accesses():
    for name, method in (("safe softmax", "safe"), ("online softmax", "online-shares")):
        counted = ledger(method)
        yield name, [(counted.reads + counted.writes) / 1000]


def score_table():
    few, many = 8, GOLDEN["score_table"]["tokens"]
    row = np.zeros((few, 1))
    events = list(moments(standard.MACHINE, standard.Inputs(q=row, k=row, v=row)))
    entries = events[1].ledger.writes * (many // few) ** 2  # a table grows with the square
    yield "entries", [entries]
    yield "bytes in float32", [entries * 4]
    yield "GiB", [entries * 4 / 2**30]


SECTIONS = {
    "Big scores": big_scores,
    "Five scores, one at a time": one_at_a_time,
    "The same by hand, rounded row by row": by_hand,
    "The same scores in other ways": in_other_ways,
    "Rescales": rescales,
    "Reads of 1,000 scores": reads,
    "Accesses an element, the write of its share included": accesses,
    "The score table of 32,768 tokens": score_table,
}
SEEDED = "1,000 seeded scores in float64, d = 16, blocks of 64"


def agrees(written: str, number: float) -> bool:
    """Whether a number is the one written, to the places it is written with and two units in the last place of a float64."""
    if not np.isfinite(number):
        return float(written) == number or (written == "nan" and np.isnan(number))
    decimal = Decimal(written.replace(",", ""))
    unit = Decimal(1).scaleb(decimal.as_tuple().exponent)
    return abs(decimal - Decimal(number)) <= unit / 2 + abs(decimal) * Decimal(2) ** -51


@pytest.mark.parametrize("section", SECTIONS)
def test_every_printed_number_is_the_machines_own(report, section):
    expected = dict(SECTIONS[section]())
    printed = {label: numbers for (where, label), numbers in report.items() if where == section}
    assert list(printed) == list(expected)
    for label, numbers in expected.items():
        assert len(printed[label]) == len(numbers), label
        assert all(map(agrees, printed[label], numbers)), f"{label}: printed {printed[label]}, machine {numbers}"


def test_no_section_is_left_uncompared(report):
    assert {section for section, _ in report} == {*SECTIONS, SEEDED}


def test_printed_reads_and_worked_example_are_the_golden_ones(report):
    golden = GOLDEN["reads_of_1000_scores"].values()
    assert [int(n[0].replace(",", "")) for (where, _), n in report.items() if where.startswith("Reads")] == list(golden)
    steps = GOLDEN["softmax_five_scores"]["steps"]
    for label, name in (("m", "m"), ("alpha", "alpha"), ("new term", "p_new"), ("l", "l"), ("acc", "acc"), ("output", "output")):
        assert [float(x) for x in report["Five scores, one at a time", label]] == steps[name]


def test_the_seeded_attention_is_the_tiled_machines(report, program):
    q, k, v = program.seeded()
    events, _ = run_of(tiled, q=q[None], k=k, v=v, format="float64", block_q=1, block_k=64)
    (output,) = events[-1].parts["output"]
    printed = {label: numbers for (where, label), numbers in report.items() if where == SEEDED}
    first, *differences = printed.values()
    assert all(map(agrees, first, output[:4].tolist()))
    assert np.abs(program.online_attention(q, k, v) - output).max() < 1e-15
    assert list(printed)[1].startswith("largest difference")
    assert all(0 <= float(one) < 1e-15 for (one,) in differences)


# Its own tests


@pytest.fixture
def copy(tmp_path) -> Iterator[Path]:
    for path in CODE.glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", sorted(CODE.glob("*.py")), ids=lambda path: path.name)
def test_it_needs_numpy_and_pytest_alone(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
        names |= {node.module} if isinstance(node, ast.ImportFrom) else set()
    others = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert others <= {"numpy", "pytest", "online_softmax"}


def test_its_tests_pass_in_any_folder(copy):
    ran = own_tests(copy)
    assert ran.returncode == 0, ran.stdout


def test_two_lessons_merge_by_one_rule(program):
    """An empty part is left out, even one that holds a NaN, by the program of this lesson and by that of splitting a row."""
    spec = importlib.util.spec_from_file_location("lesson_split_row", ROOT / "lessons/splitting-a-row/code/split_row.py")
    split = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(split)
    scores, values = np.array(FIVE), np.array(TENS)[:, None]
    left, right = split.work(scores[:3], values[:3]), split.work(scores[3:], values[3:])
    empty = (-np.inf, 0.0, np.array([np.nan]))
    for a, b in ((left, right), (right, left), (left, empty), (empty, left), (empty, empty)):
        one, other = program.merge(program.State(*a), program.State(*b)), split.merge(a, b)
        assert all(np.array_equal(mine, its, equal_nan=True) for mine, its in zip(one, other, strict=True))


# name: the line, what stands there instead, a test that must fail
BUGS = {
    "l is not rescaled": (
        "l = l * alpha + p.sum()",
        "l = l + p.sum()",
        "test_attention_agrees_with_the_reference",
    ),
    "acc is not rescaled": (
        "acc = acc * alpha + p[live] @ v[live]",
        "acc = acc + p[live] @ v[live]",
        "test_attention_agrees_with_the_reference",
    ),
    "all scores at once": (
        "s = scores_of(q, k[here])  # B scores: made, used once, dropped",
        "s = scores_of(q, k)[here]",
        "test_no_row_of_scores_is_ever_allocated",
    ),
    "p against the old maximum": (
        "p = np.exp(s - m_new)",
        "p = np.exp(s - (m_new if m == -np.inf else m))",
        "test_attention_agrees_with_the_reference",
    ),
    "no guard": (
        "if m_new == -np.inf:  # nothing live so far, and -inf - -inf would be nan",
        "if False:",
        "test_a_first_block_that_is_all_masked_in_attention",
    ),
    "the statistics' l is not rescaled": (
        "l = alpha * l + np.exp(s - m_new).sum()",
        "l = l + np.exp(s - m_new).sum()",
        "test_highest_score_comes_last",
    ),
    "no guard in the statistics": (
        "if m_new == -np.inf:  # only masked scores so far",
        "if False:",
        "test_a_first_block_that_is_all_masked_in_stats",
    ),
    "the maximum left out": (
        "m = np.maximum(m, s.max())",
        "m = np.float32(0)",
        "test_naive_overflows_where_safe_and_online_do_not",
    ),
    "states merged as they are": (
        "alpha_a, alpha_b = np.exp(a.m - m), np.exp(b.m - m)",
        "alpha_a = alpha_b = 1.0",
        "test_merging_two_parts_equals_one_pass",
    ),
    "an empty part is multiplied by 0": (
        "if a.m == -np.inf:",
        "if False:",
        "test_an_empty_part_is_left_out_of_a_merge",
    ),
    "masked values times 0": (
        "acc = acc * alpha + p[live] @ v[live]",
        "acc = acc * alpha + p @ v",
        "test_a_masked_key_is_never_touched",
    ),
    "the row is collected before it is read": (
        "m, l = -np.inf, 0.0  # nothing read yet",
        "m, l, source = -np.inf, 0.0, list(source)",
        "test_stats_hold_one_block_at_a_time",
    ),
}


def planted(source: str, line: str, instead: str) -> str:
    lines = source.splitlines()
    found = [i for i, text in enumerate(lines) if text.strip() == line]
    assert len(found) == 1, f"{line!r} is there {len(found)} times, not once"
    lines[found[0]] = lines[found[0]].replace(line, instead)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("bug", BUGS)
def test_its_tests_catch_the_bug(copy, bug):
    line, instead, catcher = BUGS[bug]
    program = copy / PROGRAM.name
    program.write_text(planted(program.read_text(), line, instead))
    ran = own_tests(copy)
    assert ran.returncode == 1, ran.stdout
    assert any(text.startswith("FAILED") and f"::{catcher}" in text for text in ran.stdout.splitlines()), ran.stdout
