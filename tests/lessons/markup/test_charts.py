"""Charts of a lesson's data: their points are the data's, and what is wrong is said."""

import json
from pathlib import Path

import pytest

from app.lessons.expressions.runs import Data
from app.lessons.expressions.sandbox import Scope
from app.lessons.markup.charts import HEIGHT, WIDTH, Chart, chart
from app.lessons.problems import Invalid

ROWS = {
    "1000": {"plain": {"ms": 1.0, "q1": 0.9, "q3": 1.2}, "ratio": 0.5},
    "4000": {"plain": {"ms": 16.0, "q1": 15.0, "q3": 17.0}, "ratio": 1.25},
    "16000": {"failed": "no memory"},
}
TOML = """
[time]
title = "Time"
x = "tokens"
y = "ms"
log = "{log}"
data = "{data}"
rows = "gpu.rows"
line = {{ value = "2 * 2", text = "four" }}
series = [ {{ name = "plain", value = "row.plain.ms", low = "row.plain.q1", high = "row.plain.q3" }}, {{ name = "ratio", value = "row.ratio" }} ]
"""


def made(folder: Path, toml: str = TOML.format(log="xy", data="m.json"), name: str = "time") -> Chart | None:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/m.json").write_text(json.dumps({"rows": ROWS}))
    (folder / "charts.toml").write_text(toml)
    return chart(name, folder, Scope({}, Data(folder / "data")))


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_points_are_the_datas_and_lie_on_the_drawing(tmp_path: Path, log: str):
    found = made(tmp_path, TOML.format(log=log, data="m.json"))
    assert found is not None
    assert [(one.name, [(p.x, p.y, p.low, p.high) for p in one.points]) for one in found.series] == [
        ("plain", [(1000, 1, 0.9, 1.2), (4000, 16, 15, 17)]), ("ratio", [(1000, 0.5, 0.5, 0.5), (4000, 1.25, 1.25, 1.25)]),
    ]  # fmt: skip
    for one in found.series:
        for p in one.points:
            assert 0 <= p.px <= WIDTH
            assert 0 <= p.phigh <= p.py <= p.plow <= HEIGHT
        assert [p.px for p in one.points] == sorted(p.px for p in one.points)
    assert found.line is not None
    assert (found.line[0], found.line[2]) == (4.0, "four")
    assert found.table == [("1,000", ["1", "0.500"]), ("4,000", ["16", "1.250"])]
    assert len(found.xticks) >= 1
    assert 2 <= len(found.yticks) <= 9
    places = [tick.place for tick in found.yticks]
    assert places == sorted(places, reverse=True)


def test_a_change_of_the_data_moves_the_points(tmp_path: Path):
    before = made(tmp_path)
    ROWS["4000"]["ratio"] = 3.0
    try:
        after = made(tmp_path)
    finally:
        ROWS["4000"]["ratio"] = 1.25
    assert before is not None
    assert after is not None
    assert before.series[1].points[1].py > after.series[1].points[1].py


def test_without_its_data_it_is_not_measured_yet(tmp_path: Path):
    assert made(tmp_path, TOML.format(log="", data="other.json")) is None


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("", "there is no chart 'time'"),
        ("[time]\ncolour = 1", "no setting colour"),
        ("[time]\nrows = '1'", "rows must be an object"),
        ("[time", "cannot be read"),
        (TOML.format(log="", data="m.json").replace("row.ratio", "row.none"), "no row has this value"),
        (TOML.format(log="y", data="m.json").replace("row.ratio", "row.ratio - 1"), "logarithmic axis cannot show"),
        (TOML.format(log="", data="../m.json"), "m.json"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, toml: str, words: str):
    (tmp_path / "m.json").write_text("{}")
    with pytest.raises(Invalid, match=words):
        made(tmp_path, toml)
