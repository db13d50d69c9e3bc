"""The lesson memory-traffic: nothing is wrong with it, its counts are the machines', and what was measured is quoted by expression only."""

import ast
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.lessons.check import check
from app.lessons.course import LESSONS, Catalog
from app.lessons.lesson import Lesson, read
from app.machines.traffic import Size, fa1_blocks, fa1_cost, fa2_cost, standard_cost, table_bytes
from tests.lessons.read import rows, text

FOLDER = LESSONS / "memory-traffic"
GPU: dict[str, Any] = json.loads((FOLDER / "data" / "h200.json").read_text())
ATTENTION, SOFTMAX = GPU["attention"], GPU["softmax"]["rows"]
CHARTS = tomllib.loads((FOLDER / "charts.toml").read_text())


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="module")
def lesson(catalog: Catalog) -> Lesson:
    found = catalog.lesson("memory-traffic")
    assert found
    return found


def written_bytes(shown: str) -> float:
    count, unit = shown.split()
    return float(count) * 1024.0 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)


def test_nothing_is_wrong(catalog: Catalog, lesson: Lesson) -> None:
    assert [str(problem) for problem in check(catalog, [lesson])] == []


@pytest.mark.parametrize("n", [512, 4096, 32768, 262144])
def test_growth_is_the_proven_formulas(lesson: Lesson, n: int) -> None:
    (row,) = [row for row in rows(lesson, "plain") if row[0] == f"{n:,}" and len(row) == 5]
    size = Size(n, n, 64, 64, 128, 128)
    plain, tiled = standard_cost(size), fa2_cost(size)
    expected = [4 * count for count in (plain.moved, tiled.moved, plain.stored, tiled.stored)]
    assert [written_bytes(shown) for shown in row[1:]] == pytest.approx(expected, rel=0.005)


def test_the_corner_is_the_proven_formulas(lesson: Lesson) -> None:
    table = {row[:2]: row[2:] for row in rows(lesson, "deep") if len(row) == 6}
    plain = standard_cost(Size(1024, 1024, 128, 128)).moved
    assert table["any", "standard"][2] == f"{plain:,}"
    for memory, queries in ((49152, 128), (16384, 32)):
        size = Size(1024, 1024, 128, 128, *fa1_blocks(memory, 128))
        moved = fa1_cost(size).moved
        assert moved > plain
        assert table[f"{memory:,}", "FA1"] == (f"{size.block_k} keys", str(size.tiles[1]), f"{moved:,}", f"{moved / plain:.2f}")
        size = Size(1024, 1024, 128, 128, queries, 1)
        moved = fa2_cost(size).moved
        assert table[f"{memory:,}", "FA2"] == (f"{queries} queries", str(size.tiles[0]), f"{moved:,}", f"{moved / plain:.2f}")
        assert (moved < plain) == (queries == 128)
        assert fa2_cost(size).ledger.kept < memory


def test_toy_runs_are_the_proven_formulas(lesson: Lesson) -> None:
    size, shown = Size(8, 8, 2, 2, 2, 4), text(lesson, "deep")
    assert f"In all {standard_cost(size).moved} numbers are carried" in shown
    assert f"So {fa2_cost(size).moved} numbers are carried instead of {standard_cost(size).moved}" in shown
    assert f"FA1 carries {fa1_cost(size).moved}, FA2 {fa2_cost(size).moved}" in shown


def test_bytes_of_tables(lesson: Lesson) -> None:
    assert table_bytes(32768, 32768, "float32") == 4 * 2**30
    assert "takes 4 GiB" in text(lesson, "plain")
    answer = lesson.quizzes["heads-and-batch"].given["answer"]
    assert lesson.context("plain").scope.value(answer) * 2**30 == table_bytes(8192, 8192, "float16", 32 * 8)


# What was measured


def leaves(x: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(x, dict):
        for name, value in x.items():
            yield from leaves(value, (*path, name))
    elif not isinstance(x, list):
        yield path, x


def changed(x: Any, by: Callable[[tuple[str, ...], Any], Any], path: tuple[str, ...] = ()) -> Any:
    """The same JSON, every leaf of it put through `by`."""
    if isinstance(x, dict):
        return {name: changed(value, by, (*path, name)) for name, value in x.items()}
    return x if isinstance(x, list) else by(path, x)


def other(folder: Path, gpu: Any) -> Lesson:
    copy = folder / "memory-traffic"
    shutil.copytree(FOLDER, copy, dirs_exist_ok=True)
    (copy / "data" / "h200.json").write_text(json.dumps(gpu))
    return read(copy)


QUOTED = [
    ("attention", "float32", "rows", "32768", "plain", "peak_bytes"),
    ("attention", "float32", "rows", "1024", "fused", "time", "median"),
    ("attention", "float16", "rows", "32768", "plain_over_fused", "median"),
    ("softmax", "rows", "65536", "safe_over_online", "median"),
    ("softmax", "rows", "32768", "online", "rows_at_once_bytes"),
    ("memory_copy", "bytes_per_second"),
    ("device", "name"),
    ("date",),
]


@pytest.mark.parametrize("path", QUOTED, ids=["/".join(path) for path in QUOTED])
def test_a_planted_change_shows(lesson: Lesson, tmp_path: Path, path: tuple[str, ...]) -> None:
    def by(at: tuple[str, ...], value: Any) -> Any:
        if at != path:
            return value
        return f"planted {value}" if isinstance(value, str) else value * 3

    assert path in dict(leaves(GPU))
    assert other(tmp_path, changed(GPU, by)).page("plain").html != lesson.page("plain").html


def written(value: float) -> set[str]:
    """A measured number as prose might have it typed in: three digits or more."""
    found = {f"{value:.{places}f}" for places in range(4)} | {f"{value:,.0f}", f"{value / 1e12:.2f}", f"{value / 2**20:.2f}"}
    return {one for one in found if len(re.sub(r"\D", "", one).lstrip("0")) >= 3}


MEASURED = [value for path, value in leaves({"a": ATTENTION, "s": GPU["softmax"], "c": GPU["memory_copy"]}) if isinstance(value, float)]


@pytest.mark.parametrize("name", ["lesson.md", "quizzes.toml", "charts.toml"])
def test_no_measured_number_is_typed(name: str) -> None:
    """Not in the words, where only sizes and steps stand, and not in what they hold to be right but for its bounds."""
    source = (FOLDER / name).read_text()
    source = source[source.index("\n+++", 3) :] if name == "lesson.md" else source
    source = re.sub(r'right = ".*?"', "", source)
    typed = set(re.findall(r"(?<![\w.,])\d[\d,]*\.?\d*(?![\w])", source))
    wanted = {one for value in MEASURED for one in written(value)}
    sizes = {f"{n:,}" for n in (*map(int, SOFTMAX), *map(int, ATTENTION["float32"]["rows"]))} | {str(n) for n in map(int, SOFTMAX)}
    assert typed & wanted - sizes == set()
    assert GPU["device"]["name"] not in re.sub(r"^seo_title.*$", "", source, flags=re.MULTILINE)
    assert GPU["date"] not in source


def test_charts_show_the_file(lesson: Lesson) -> None:
    shown = lesson.page("plain").html
    frames = [json.loads(found) for found in re.findall(r'<script type="application/json">(\{.*?\})</script>', shown, re.DOTALL)]
    charts = [frame for frame in frames if "series" in frame]
    assert len(charts) == len(CHARTS)
    (ratio,) = [frame for frame in charts if frame["series"][0]["name"] == "safe over online"]
    points = {int(point[0]): point[1:] for point in ratio["series"][0]["points"]}
    assert points == {int(n): [row["safe_over_online"][part] for part in ("median", "q1", "q3")] for n, row in SOFTMAX.items()}
    (memory,) = [frame for frame in charts if frame["y"] == "MiB"]
    assert {int(x): y for x, y, *_ in memory["series"][1]["points"]} == {
        int(n): row["fused"]["peak_bytes"] / 2**20 for n, row in ATTENTION["float32"]["rows"].items()
    }
    assert shown.count("measured on one NVIDIA H200") >= len(CHARTS)


def test_claims_in_words() -> None:
    """What the prose says of the measurement without a number. A new file may say otherwise: then the prose must change."""
    long, short = [n for n in SOFTMAX if int(n) >= 65536], [n for n in SOFTMAX if int(n) <= 16384]
    assert all(abs(SOFTMAX[n]["safe_over_online"]["median"] / (4 / 3) - 1) < 0.05 for n in long)
    assert all(0.9 < SOFTMAX[n]["safe_over_online"]["median"] < 1.02 for n in short)
    assert all(abs(SOFTMAX[n]["naive_over_online"]["median"] - 1) < 0.01 for n in long)
    assert 1.05 < SOFTMAX["32768"]["safe_over_online"]["median"] < 1.2
    assert all(SOFTMAX[n]["online"]["rows_at_once_bytes"] < GPU["device"]["l2_bytes"] for n in short)
    single, half = ATTENTION["float32"]["rows"], ATTENTION["float16"]["rows"]
    assert all(half[n]["plain_over_fused"]["median"] > 1.5 for n in half)
    assert single["1024"]["plain_over_fused"]["median"] < 0.5
    assert abs(single["8192"]["plain_over_fused"]["median"] - 1) < 0.02
    assert 1 < single["32768"]["plain_over_fused"]["median"] < single["65536"]["plain_over_fused"]["median"] < 2
    for n, row in single.items():
        output = int(n) * 64 * 4
        assert (row["plain"]["peak_bytes"], row["fused"]["peak_bytes"]) == (2 * row["score_table_bytes"] + output, output)
    sets = [(half[n]["fused"]["peak_bytes"] - int(n) * 132 - 1024) / (int(n) * 65 * 4) for n in half]
    assert sets == [4, 8, 4, 2, 0, 0, 0]


def test_prediction_and_measurement_meet(lesson: Lesson) -> None:
    value = lesson.context("plain").scope.value
    predicted = value(lesson.quizzes["memory-ratio"].given["answer"])
    assert predicted == ATTENTION["float32"]["rows"]["32768"]["memory_plain_over_fused"]
    assert f"{predicted:,.0f} times" in text(lesson, "plain")


def test_code_shown_is_in_the_program(lesson: Lesson) -> None:
    tree = ast.parse((FOLDER / "code" / "measure_gpu.py").read_text())
    known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(re.findall(r"\[\[code measure_gpu\.py#(\w+)\]\]", (FOLDER / "lesson.md").read_text())) <= known
    assert "softmax_online" in lesson.page("deep").html


def test_quizzes_answer_misconceptions() -> None:
    questions = tomllib.loads((FOLDER / "quizzes.toml").read_text())
    assert {"1", "3", "17"} <= {question["misconception"] for question in questions.values() if "misconception" in question}
