"""The lesson memory-traffic: nothing is wrong with it, its counts are the machines', and what was measured is quoted by expression only."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.lessons.course import LESSONS
from app.lessons.lesson import Lesson
from app.machines.traffic import Size, fa1_blocks, fa1_cost, fa2_cost, standard_cost, table_bytes
from tests.lessons.read import changed, lesson_of, misconceptions, problems, rows, text

FOLDER = LESSONS / "memory-traffic"
GPU: dict[str, Any] = json.loads((FOLDER / "data" / "h200.json").read_text())
ATTENTION, SOFTMAX = GPU["attention"], GPU["softmax"]["rows"]
CHARTS = tomllib.loads((FOLDER / "charts.toml").read_text())


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return lesson_of("memory-traffic")


def written_bytes(shown: str) -> float:
    count, unit = shown.split()
    return float(count) * 1024.0 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)


def test_nothing_is_wrong() -> None:
    assert problems("memory-traffic") == []


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


def with_leaves(x: Any, by: Callable[[tuple[str, ...], Any], Any], path: tuple[str, ...] = ()) -> Any:
    """The same JSON, every leaf of it put through `by`."""
    if isinstance(x, dict):
        return {name: with_leaves(value, by, (*path, name)) for name, value in x.items()}
    return x if isinstance(x, list) else by(path, x)


def other(folder: Path, gpu: Any) -> Lesson:
    return changed("memory-traffic", folder, "data/h200.json", lambda text: json.dumps(gpu))


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
    assert other(tmp_path, with_leaves(GPU, by)).page("plain").html != lesson.page("plain").html


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


KERNELS = {"FLASH_ATTENTION": "FlashAttention", "EFFICIENT_ATTENTION": "memory-efficient"}
SIZES = list(ATTENTION["float16"]["rows"])


def taken(gpu: Any, form: str, way: str, n: str) -> float:
    return float(gpu["attention"][form]["rows"][n][way]["time"]["median"])


def grows(gpu: Any, form: str, way: str, n: str, more: str) -> float:
    return taken(gpu, form, way, more) / taken(gpu, form, way, n)


def lead(gpu: Any, form: str) -> list[float]:
    """Plain over fused, a size after the other."""
    return [row["plain_over_fused"]["median"] for row in gpu["attention"][form]["rows"].values()]


def over_journeys(gpu: Any, n: str) -> float:
    """Plain time in float16 over what six journeys of a table take at the rate of a copy."""
    return taken(gpu, "float16", "plain", n) / (1000 * 6 * 2 * int(n) ** 2 / gpu["memory_copy"]["bytes_per_second"])


def carried(gpu: Any, form: str, block_q: int, item: int) -> float:
    """The part of a kernel's time at 32,768 tokens that its traffic takes at the rate of a copy, where no cache helps."""
    moved = item * fa2_cost(Size(32768, 32768, 64, 64, block_q, 64)).moved
    return 1000 * moved / gpu["memory_copy"]["bytes_per_second"] / taken(gpu, form, "fused", "32768")


def over_online(gpu: Any, way: str, least: int, most: int = 2**30) -> list[float]:
    rows = gpu["softmax"]["rows"].items()
    return [row[f"{way}_over_online"]["median"] for n, row in rows if least <= int(n) <= most]


def settings_differ(gpu: Any) -> int:
    found = [{(row[way]["block"], row[way]["warps"]) for way in ("naive", "safe", "online")} for row in gpu["softmax"]["rows"].values()]
    return sum(len(one) > 1 for one in found)


def outputs_only(gpu: Any) -> bool:
    rows = gpu["attention"]["float32"]["rows"]
    return all(
        (row["plain"]["peak_bytes"], row["fused"]["peak_bytes"]) == (2 * row["score_table_bytes"] + int(n) * 256, int(n) * 256)
        for n, row in rows.items()
    )


def partial_sets(gpu: Any) -> list[float]:
    rows = gpu["attention"]["float16"]["rows"]
    return [(row["fused"]["peak_bytes"] - int(n) * 132 - 1024) / (int(n) * 65 * 4) for n, row in rows.items()]


# What the words of a sentence say of the measurement, beside its numbers, which are expressions.
CLAIMS: dict[str, Callable[[Any], bool]] = {
    "So no float32 figure on this page is FlashAttention's": lambda gpu: gpu["attention"]["float32"]["backend"] == "EFFICIENT_ATTENTION",
    "there FlashAttention itself can be measured": lambda gpu: gpu["attention"]["float16"]["backend"] == "FLASH_ATTENTION",
    "a case where it saves much and a case where it saves little": lambda gpu: (
        min(lead(gpu, "float16")[2:]) > 3 > 2 > max(lead(gpu, "float32"))
    ),
    "The prediction is met to the byte": outputs_only,
    "FlashAttention in float16 writes an lse for each token": lambda gpu: (
        gpu["attention"]["float16"]["rows"]["32768"]["fused"]["peak_bytes"] - 1024 == 32768 * (64 * 2 + 4)
    ),
    "the plain one only": lambda gpu: lead(gpu, "float32")[0] < 0.5,
    "At 8,192 they are equal": lambda gpu: abs(lead(gpu, "float32")[3] - 1) < 0.02,
    "the work is fourfold, and the time only doubles": lambda gpu: all(
        abs(grows(gpu, "float32", "fused", n, more) - 2) < 0.1 for n, more in pairwise(SIZES[:4])
    ),
    "With long texts the gain stays modest": lambda gpu: 1 < lead(gpu, "float32")[5] < lead(gpu, "float32")[6] < 2,
    "because carrying is the smaller part of the kernel's time": lambda gpu: carried(gpu, "float32", 64, 4) < 1 / 3,
    "FlashAttention is ahead at every size": lambda gpu: min(lead(gpu, "float16")) > 1.5,
    "It has its peak at 8,192 tokens": lambda gpu: max(lead(gpu, "float16")) == lead(gpu, "float16")[3],
    "then a dip at 16,384": lambda gpu: lead(gpu, "float16")[4] < min(lead(gpu, "float16")[i] for i in (2, 3, 5, 6)),
    "times for the two longest texts": lambda gpu: len({f"{one:.1f}" for one in lead(gpu, "float16")[5:]}) == 1,
    "nearly the fourfold of the work": lambda gpu: 3.6 < grows(gpu, "float16", "fused", "8192", "16384") <= 4,
    "though its table grows fourfold as well": lambda gpu: grows(gpu, "float16", "plain", "8192", "16384") < 3,
    "it's the plain way that is unusually slow before the dip": lambda gpu: (
        over_journeys(gpu, "8192") > 1.4 * max(over_journeys(gpu, n) for n in SIZES[4:])
    ),
    "The rise after the dip is FlashAttention's": lambda gpu: (
        grows(gpu, "float16", "fused", "16384", "32768") < 3.5 < grows(gpu, "float16", "plain", "16384", "32768")
    ),
    "So at most lengths these differ as well": lambda gpu: settings_differ(gpu) > len(gpu["softmax"]["rows"]) / 2,
    "For long rows the prediction nearly holds": lambda gpu: all(abs(one / (4 / 3) - 1) < 0.05 for one in over_online(gpu, "safe", 65536)),
    "at each of seven lengths": lambda gpu: len(over_online(gpu, "safe", 65536)) == 7,
    "The naive way is no faster there than the online one": lambda gpu: all(
        abs(one - 1) < 0.01 for one in over_online(gpu, "naive", 65536)
    ),
    "So in long rows safety costs nothing with the online way": lambda gpu: min(over_online(gpu, "naive", 65536)) > 0.995,
    "In shorter rows it may have a price": lambda gpu: min(over_online(gpu, "naive", 0, 32768)) < 0.97,
    "at 2,048 nothing": lambda gpu: over_online(gpu, "naive", 2048, 2048)[0] >= 1,
    "For short rows the safe way is as fast or faster": lambda gpu: all(0.9 < one < 1.02 for one in over_online(gpu, "safe", 0, 16384)),
    "The second and third pass find their row still there": lambda gpu: all(
        row["online"]["rows_at_once_bytes"] < gpu["device"]["l2_bytes"] for n, row in gpu["softmax"]["rows"].items() if int(n) <= 16384
    ),
    "you see the change half done": lambda gpu: 1.05 < over_online(gpu, "safe", 32768, 32768)[0] < 1.2,
    "So neither limit was reached": lambda gpu: (
        carried(gpu, "float16", 128, 2) < 0.7 and 4 * 32768**2 * 64 / taken(gpu, "float16", "fused", "32768") * 1e3 < 0.5 * 740e12 / 0.75
    ),
    "All three are at the memory's limit": lambda gpu: all(
        gpu["softmax"]["rows"]["4194304"][way]["bytes_per_second"] > 0.95 * gpu["memory_copy"]["bytes_per_second"]
        for way in ("safe", "online")
    ),
    "nearly one for each of the": lambda gpu: partial_sets(gpu) == [4, 8, 4, 2, 0, 0, 0],
}


@pytest.mark.parametrize("words", CLAIMS)
def test_claims_in_words(lesson: Lesson, words: str) -> None:
    """The sentence is on the page and true of the file. A new file may say otherwise: then the sentence must change."""
    assert words in re.sub(r" ([.,;:])", r"\1", text(lesson, "deep"))
    assert CLAIMS[words](GPU)


F16, F32 = ("attention", "float16", "rows"), ("attention", "float32", "rows")
OTHERWISE: list[tuple[tuple[str, ...], float | str, str]] = [
    (("attention", "float32", "backend"), "FLASH_ATTENTION", "So no float32 figure on this page is FlashAttention's"),
    ((*F16, "4096", "plain_over_fused", "median"), 2, "It has its peak at 8,192 tokens"),
    ((*F16, "16384", "plain_over_fused", "median"), 1.2, "then a dip at 16,384"),
    ((*F16, "1024", "plain_over_fused", "median"), 0.5, "FlashAttention is ahead at every size"),
    ((*F16, "8192", "plain", "time", "median"), 0.6, "it's the plain way that is unusually slow before the dip"),
    ((*F32, "4096", "fused", "time", "median"), 1.5, "the work is fourfold, and the time only doubles"),
    ((*F32, "8192", "plain_over_fused", "median"), 1.1, "At 8,192 they are equal"),
    ((*F32, "32768", "fused", "time", "median"), 0.5, "because carrying is the smaller part of the kernel's time"),
    (("softmax", "rows", "65536", "safe_over_online", "median"), 1.1, "For long rows the prediction nearly holds"),
    (("softmax", "rows", "1048576", "naive_over_online", "median"), 0.95, "So in long rows safety costs nothing with the online way"),
    (("softmax", "rows", "2048", "naive_over_online", "median"), 0.95, "at 2,048 nothing"),
]


@pytest.mark.parametrize(("path", "by", "words"), OTHERWISE, ids=[words for _, _, words in OTHERWISE])
def test_another_measurement_makes_a_claim_false(path: tuple[str, ...], by: float | str, words: str) -> None:
    def planted(at: tuple[str, ...], value: Any) -> Any:
        return value if at != path else by if isinstance(by, str) else value * by

    assert path in dict(leaves(GPU))
    assert not CLAIMS[words](with_leaves(GPU, planted))


@pytest.mark.parametrize("chart", [name for name, one in CHARTS.items() if "attention" in one["rows"]])
def test_every_curve_names_its_kernel(lesson: Lesson, chart: str) -> None:
    """Title, legend and caption, by the kernel that the file names for the chart's format."""
    form = CHARTS[chart]["rows"].split(".")[2]
    kernel = KERNELS[ATTENTION[form]["backend"]]
    others = set(KERNELS.values()) - {kernel}
    (caption,) = re.findall(rf'\[\[chart {chart} caption="(.*?)"\]\]', (FOLDER / "lesson.md").read_text())
    assert [one["name"] for one in CHARTS[chart]["series"]] == ["plain", f"{kernel} kernel"]
    for words in (CHARTS[chart]["title"], caption):
        assert form in words
        assert kernel in words
        assert not any(other in words for other in others)
    assert f"data('h200.json').attention.{form}.backend" in caption


def test_the_page_names_both_kernels(lesson: Lesson) -> None:
    named = {row[0]: row[1:] for row in rows(lesson, "plain") if len(row) == 3}
    for form, table in ATTENTION.items():
        kernel, name = named[form]
        assert kernel.startswith(KERNELS[table["backend"]])
        assert name == table["backend"]
        assert KERNELS[table["backend"]] in tomllib.loads((FOLDER / "lesson.md").read_text().split("+++")[1])["seo_title"]


def test_the_lead_is_shown_at_every_size(lesson: Lesson) -> None:
    shown = {row[0]: row[3] for row in rows(lesson, "plain") if len(row) == 4}
    assert {n: shown[f"{int(n):,}"] for n in SIZES} == {n: f"{one:.1f}" for n, one in zip(SIZES, lead(GPU, "float16"), strict=True)}


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
    assert {"1", "3", "17"} <= misconceptions("memory-traffic")
