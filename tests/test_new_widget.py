"""A widget is four files and one line: CONTRIBUTING.md's own example, put into a copy of the project, has all that a widget has."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASK = """
import asyncio, json, re
from app import export
from app.lessons.course import Catalog
from app.main import create_app
from app.numbers import show
from starlette.testclient import TestClient

NAME, LESSON = "welford-mean", "running-mean"


def text(path, status=200):
    answer = client.get(path)
    assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
    return answer.text


def everything():
    assert f'href="/widgets/{NAME}">Running mean</a>' in text("/"), "navigation"
    assert text("/").count(f'href="/widgets/{NAME}"') == 2, "the home page lists it besides"

    page = text(f"/widgets/{NAME}?scores=1,3,2,5&step=4")
    assert re.findall(r'<data data-value="mean"[^>]* value="2.75"', page)
    assert 'data-part="stage"' in page and 'data-part="caption"' in page, "the stage, with the step's sentence"
    script, = re.findall(r'<script type="module" src="([^"]+)"', page)
    assert "mountAll" in text(script)
    assert "x" in text(f"/widgets/{NAME}?scores=1,x", 422)
    assert "0 to 2" in text(f"/widgets/{NAME}?scores=1,3&step=3", 404)
    assert f'data-widget="{NAME}"' in text(f"/embed/{NAME}?scores=1,3,2,5&step=4&theme=dark")

    shot = client.get(f"/api/v1/machines/{NAME}/snapshots/4?scores=1,3,2,5").json()
    assert (shot["state"]["mean"], shot["event"]["part"], shot["ledger"]["reads"], shot["done"]) == (2.75, 0.75, 4, True)
    for link in shot["links"].values():
        text(f"/{link}") if not link.startswith("figures") else None
    assert shot["caption"] in text(f"/figures/{NAME}.svg?scores=1,3,2,5&step=4")
    assert shot["caption"] in text(f"/figures/{NAME}.csv?scores=1,3,2,5")
    assert client.get(f"/figures/{NAME}.png?size=card").content[:4] == b"\\x89PNG"
    oembed = client.get("/oembed", params={"url": f"http://testserver/widgets/{NAME}?scores=1,3,2,5&step=4"}).json()
    assert f"/embed/{NAME}?scores=1,3,2,5" in oembed["html"]
    assert f"/embed/{NAME}?scores=1,3,2,5" in text(f"/share/{NAME}?scores=1,3,2,5&step=4")

    listed = {one["name"]: one for one in client.get("/api/v1/machines").json()["machines"]}
    assert [preset["name"] for preset in listed[NAME]["presets"]] == ["default", "large"]
    document = client.get("/api/v1/openapi.json").json()
    assert {f"/api/v1/machines/{NAME}/snapshots", f"/api/v1/machines/{NAME}/snapshots/{{step}}"} <= set(document["paths"])
    told = document["components"]["schemas"]["WelfordSnapshot"]["properties"]
    assert told["state"]["properties"]["mean"]["description"] == "their mean"
    assert told["event"]["required"] == ["kind"]
    assert client.get("/readyz").json() == {"status": "ready"}

    lesson = text(f"/lessons/{LESSON}")
    assert f'data-live="/embed/{NAME}?' in lesson
    assert "running mean is 60000" in " ".join(lesson.split()), "a number from a run"
    assert LESSON in text("/lessons/")

    starts = list(export.starts())
    assert {f"/widgets/{NAME}", f"/embed/{NAME}", f"/lessons/{LESSON}"} <= set(starts)
    copy = export.Copy(create_app(), "", lambda words: None)
    for address in (one for one in starts if one.partition("?")[0] in (f"/widgets/{NAME}", f"/embed/{NAME}")):
        kind, body = asyncio.run(export.ask(copy.app, address))
        copy.pages[address], copy.names[address] = (kind, body), export.name_of(address, kind)
    assert f"widgets/{NAME}/index.html" in copy.files()


if __name__ == "__main__":  # pictures are drawn in processes that import this file
    with TestClient(create_app()) as client:
        everything()
    print("all there")
"""


@pytest.fixture(scope="module")
def blocks() -> dict[str, str]:
    return dict(BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text()))


def test_the_guide_says_four_files_and_one_line(blocks: dict[str, str]) -> None:
    assert len(blocks["line"].splitlines()) == 1
    files = sorted(blocks.keys() - {"line"})
    assert [path.partition("/")[0] for path in files] == ["app", "app", "lessons", "templates"]


def test_they_are_enough(blocks: dict[str, str], tmp_path: Path) -> None:
    for room in ("app", "static", "templates", "lessons"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    if (ROOT / "node_modules").is_dir():
        (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    line = blocks["line"]
    for path, body in blocks.items():
        if path != "line":
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(body)
    (held,) = (path for path in (tmp_path / "app").rglob("*.py") if re.search(r"^WIDGETS\b.*= \($", path.read_text(), re.MULTILINE))
    source = re.sub(r"(^WIDGETS\b.*= \(\n.*?)(^\))", rf"\1{line}\2", held.read_text(), flags=re.MULTILINE | re.DOTALL)
    held.write_text(source.replace("\nfrom app.stories import ", "\nfrom app.stories import welford\nfrom app.stories import ", 1))

    (tmp_path / "ask.py").write_text(ASK)
    asked = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:app", "ask.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert asked.stdout.strip().endswith("all there"), asked.stderr[-3000:]
    examples = [sys.executable, "-m", "doctest", "app/machines/welford.py"]
    worked = subprocess.run(
        examples, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert worked.returncode == 0, worked.stdout + worked.stderr
