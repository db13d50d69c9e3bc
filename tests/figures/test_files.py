"""Figures as files: each stands alone, says itself in words, keeps its look, and cannot be asked for without end."""

import csv
import io
import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
from PIL import Image, ImageChops, ImageStat
from starlette.testclient import TestClient

from app.__main__ import main
from app.charts.outlines import outlined
from app.embedding import NAMES
from app.figures.file import png, svg
from app.figures.kinds import MEDIA_TYPES
from app.figures.moving import FRAMES
from app.machines import MACHINES
from app.main import create_app
from app.runs import shots
from app.stories import BY_NAME, PAGES, PICTURES

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parent.parent / "data/golden"
GOLDENS = {
    "online-softmax": "step=6",
    "tiled-attention": "step=2",
    "division-order": "step=4",
    "softmax-passes": "scores=1,3,2,5,4&method=safe&step=9",
    "merge": "step=3",
    "online-softmax-history": "step=8",
    "online-softmax-dark": "step=6&theme=dark",
    "online-softmax-card": "step=6&size=card",
}


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app()) as found:
        yield found


def default(name):
    machine = PICTURES[name].machine
    return machine, BY_NAME[machine.name].presets[0].spec


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_every_step_stands_alone_and_says_itself(name):
    machine, spec = default(name)
    for shot in shots(machine, spec):
        for dark in (False, True):
            picture = svg(shot, name, dark=dark)
            root = Tree.fromstring(picture)
            assert root.find(f"{SVG}title").text.endswith(f"step {shot.step} of {shot.steps}")
            assert root.find(f"{SVG}desc").text.count(shot.caption) == 1
            names = {node.tag.removeprefix(SVG) for node in root.iter()}
            assert not names & {"text", "tspan", "style", "image", "script", "foreignObject", "use", "a"}
            assert len(root.findall(f".//{SVG}g[@aria-label]")) > 4  # its words, as shapes
            outside = [value for node in root.iter() for value in node.attrib.values() if re.search(r"url\((?!#)|https?:", value)]
            assert outside == []


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_the_figure_has_one_width_from_the_first_step_to_the_last(name):
    machine, spec = default(name)
    assert len({Tree.fromstring(svg(shot, name)).get("width") for shot in shots(machine, spec)}) == 1


def test_words_stand_where_their_letters_stood():
    """Shapes end where a text anchored at its end ends, a middle one is centred, and white space is run together."""
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 40" width="200" height="40"><rect width="200" height="40" fill="#fff"/>{}</svg>'
    boxes = {}
    for anchor, x in (("start", 20), ("middle", 100), ("end", 180)):
        picture = drawn.format(
            f'<text x="{x}" y="30" font-size="20" text-anchor="{anchor}">H<tspan font-weight="bold">  H </tspan>  H</text>'
        )
        shape = Image.open(io.BytesIO(png(outlined(picture), 4))).convert("L")
        boxes[anchor] = ImageChops.invert(shape).getbbox()
    widths = {right - left for left, _, right, _ in boxes.values()}
    assert max(widths) - min(widths) <= 1
    left, _, right, low = boxes["middle"]
    assert (left + right) / 2 == pytest.approx(400, abs=4)
    assert low == pytest.approx(120, abs=2)  # the baseline
    assert boxes["start"][0] == pytest.approx(80, abs=12)
    assert boxes["end"][2] == pytest.approx(720, abs=12)


def test_a_letter_that_no_font_has_is_a_mistake_and_not_a_gap():
    with pytest.raises(ValueError, match="no font has"):
        outlined('<svg xmlns="http://www.w3.org/2000/svg"><text>\U0001f600</text></svg>')


@pytest.mark.parametrize("golden", sorted(GOLDENS))
def test_it_looks_as_it_did(golden, tmp_path):
    """To draw the golden picture anew: python -m app figure 'NAME?QUERY&zoom=1' tests/data/golden/GOLDEN.png"""
    name = golden.removesuffix("-dark").removesuffix("-card")
    made = tmp_path / "made.png"
    main(["figure", f"{name}?{GOLDENS[golden]}&zoom=1", str(made)])
    want = Image.open(GOLDEN / f"{golden}.png").convert("RGB")
    found = Image.open(made).convert("RGB")
    assert (GOLDEN / f"{golden}.png").stat().st_size < 60_000
    assert found.size == want.size
    apart = ImageChops.difference(found, want).convert("L")
    assert ImageStat.Stat(apart).mean[0] < 0.5  # of 255, over the picture: edges may be smoothed otherwise
    assert sum(apart.histogram()[64:]) < 0.002 * found.size[0] * found.size[1]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_card_is_light_large_and_padded(client, name):
    steps = MACHINES[name].steps(default(name)[1])
    for step in (0, steps // 2, steps):
        answer = client.get(f"/figures/{name}.png?size=card&step={step}")
        picture = Image.open(io.BytesIO(answer.content)).convert("RGB")
        assert picture.size == (1200, 630)
        paper = picture.getpixel((5, 300))
        assert min(paper) > 240
        inked = ImageChops.difference(picture, Image.new("RGB", picture.size, paper)).crop((0, 20, 1200, 630)).getbbox()
        assert inked[0] >= 20
        assert inked[2] <= 1190
        assert len(answer.content) < 300_000
    assert Image.open(io.BytesIO(client.get(f"/figures/{name}.png?size=thumb").content)).size == (400, 210)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_each_kind_has_an_address_that_is_kept(client, name):
    for ending, media in MEDIA_TYPES.items():
        if ending == "qr.svg" and name not in PAGES:
            continue
        answer = client.get(f"/figures/{name}.{ending}?step=1")
        assert answer.status_code == 200, (name, ending)
        assert answer.headers["content-type"] == media
        assert "max-age" in answer.headers["cache-control"]
        again = client.get(f"/figures/{name}.{ending}?step=1", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_zoom_multiplies_the_pixels(client):
    sizes = [Image.open(io.BytesIO(client.get(f"/figures/online-softmax.png?zoom={zoom}").content)).size for zoom in (1, 2, 3)]
    assert [wide for wide, _ in sizes] == [800, 1600, 2400]
    assert Image.open(io.BytesIO(client.get("/figures/online-softmax.png").content)).size == sizes[1]


def test_a_moving_picture_has_a_frame_a_step(client):
    moving = Image.open(io.BytesIO(client.get("/figures/online-softmax.gif?scores=1,3,2").content))
    assert moving.n_frames == 4
    long = ",".join(str(i % 7) for i in range(64))
    assert Image.open(io.BytesIO(client.get(f"/figures/online-softmax.gif?scores={long}").content)).n_frames <= FRAMES
    moving.seek(3)
    assert moving.info["duration"] > 3000  # the last stays


def test_a_table_reads_back_as_the_run(client):
    rows = list(csv.DictReader(io.StringIO(client.get("/figures/online-softmax.csv?scores=1,3,2,-inf&values=10,20,30,nan").text)))
    run = client.get("/figures/online-softmax.json?scores=1,3,2,-inf&values=10,20,30,nan").json()
    assert len(rows) == len(run["snapshots"]) == 5
    for row, shot in zip(rows, run["snapshots"], strict=True):
        assert (int(row["step"]), row["caption"], row["event"]) == (shot["step"], shot["caption"], shot["event"]["kind"])
        for name, value in (("m", shot["state"]["m"]), ("l", shot["state"]["l"]), ("ledger.reads", shot["ledger"]["reads"])):
            assert float(row[name]) == float(value)
    assert rows[0]["event.alpha"] == ""


def test_a_table_is_a_page_of_a_long_run_and_goes_on(client):
    query = "seed=1&n_q=12&n_k=12&d=1&d_v=1&block_q=1&block_k=1"
    rows = list(csv.DictReader(io.StringIO(client.get(f"/figures/tiled-attention.csv?{query}").text)))
    assert (len(rows), rows[-1]["steps"]) == (65, "156")
    more = list(csv.DictReader(io.StringIO(client.get(f"/figures/tiled-attention.csv?{query}&start=130").text)))
    assert [row["step"] for row in more] == [str(step) for step in range(130, 157)]
    assert json.loads(client.get(f"/figures/tiled-attention.json?{query}&start=150").content)["start"] == 150


def test_a_code_names_its_page(client):
    answer = client.get("/figures/online-softmax.qr.svg?scores=1,3&step=1")
    root = Tree.fromstring(answer.text)
    assert root.find(f"{SVG}title").text == "Link to Online softmax, step 1 of 2"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    long = ";".join(",".join(str(math.sin(i * 16 + j)) for j in range(16)) for i in range(20))
    refused = client.get(f"/figures/tiled-attention.qr.svg?q={long}&k={long}&v={long}")
    assert refused.status_code == 422
    assert "a QR code holds" in refused.text


@pytest.mark.parametrize(
    ("query", "said"),
    [("theme=sepia", "light, dark"), ("zoom=9", "from 1 to 3"), ("size=huge", "figure, card, thumb"), ("v=2", "use v=1"), ("step=99", "past the end")],
)  # fmt: skip
def test_an_option_that_is_not_there_is_said(client, query, said):
    answer = client.get(f"/figures/online-softmax.png?{query}")
    assert answer.status_code == (404 if "step" in query else 422)
    assert said in answer.text


@pytest.mark.parametrize("place", ["widgets", "embed", "figures"])
def test_version_one_is_known_and_no_other(client, place):
    name = "online-softmax.svg" if place == "figures" else "online-softmax"
    assert client.get(f"/{place}/{name}?v=1").status_code == 200
    answer = client.get(f"/{place}/{name}?v=2")
    assert answer.status_code == 422
    assert "<h1" in answer.text
    assert "&#39;2&#39;" in answer.text


def test_no_option_has_the_name_of_a_field():
    """`v` alone is both: where a machine has a field v, it is that field."""
    fields = {one.name for machine in MACHINES.values() for one in machine.fields}
    assert not fields & {"theme", "zoom", "size", "start", "step"}
    assert fields & set(NAMES) <= {"v"}


@pytest.mark.parametrize("ending", MEDIA_TYPES)
def test_the_command_line_makes_each_kind(tmp_path, ending):
    made = tmp_path / f"made.{ending}"
    main(["figure", "online-softmax?scores=1,3,2&step=2", str(made), "--site", "https://tilewise.example"])
    assert made.stat().st_size > 300


@pytest.mark.parametrize(
    ("arguments", "said"), [(["online-softmax", "out.bmp"], "end it with"), (["online-softmax", "out.qr.svg"], "--site")]
)
def test_the_command_line_says_what_is_missing(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(["figure", *arguments])
    assert said in capsys.readouterr().err
