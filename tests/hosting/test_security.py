"""Headers of every route by the guide's table, and nothing that is given to the site becomes markup, a path or a script."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.http.headers import kind, policy
from app.machines import MACHINES
from app.main import create_app
from app.settings import Settings
from app.stories import PICTURES

GUIDE = (Path(__file__).parent.parent.parent / "templates/guides/hosting.md").read_text()
TABLE = dict(re.findall(r"^\| `(/[^`]*)` \| (page|embed|shared) \|$", GUIDE, re.MULTILINE))
PLACES = {
    "name": "online-softmax",
    "slug": "online-softmax",
    "file": "online_softmax.py",
    "path:path": "css/site.css",
    "step": "1",
    "rest:path": "nothing",
}
QUERIES = {"snapshots": "?scores=1,3", "sweeps": "?scores=1,3", "/oembed": "?url=http://testserver/widgets/online-softmax"}
MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings(metrics=True))) as found:
        yield found


def routes(app):
    for one in app.routes:
        yield from getattr(getattr(one, "original_router", None), "routes", None) or [one]


def test_every_route_is_in_the_guides_table(client):
    by_machine = "|".join(MACHINES)
    found = {re.sub(rf"/machines/({by_machine})/", "/machines/{machine}/", one.path) for one in routes(client.app)}
    assert found == set(TABLE)


@pytest.mark.parametrize("route", TABLE)
def test_every_route_has_the_headers_of_its_kind(client, route):
    path = (
        route.replace("/guide/{slug}", "/guide/hosting")
        .replace("/machines/{machine}/", "/machines/online-softmax/")
        .replace("/figures/{name}", "/figures/online-softmax.csv")
    )
    if route == "/lessons/{slug}/quizzes/{name}":
        path = path.replace(
            "{name}", re.findall(r"^\[([\w-]+)\]", Path("lessons/online-softmax/quizzes.toml").read_text(), re.MULTILINE)[0]
        )
    for name, value in PLACES.items():
        path = path.replace(f"{{{name}}}", value)
    answer = client.get(path + next((query for part, query in QUERIES.items() if part in path), ""))
    assert answer.status_code == (404 if "rest" in route else 200), answer.text
    assert kind(path) == TABLE[route]
    for name, value in policy(path, "*").items():
        assert answer.headers[name] == value, name
    content = answer.headers["content-security-policy"]
    assert "unsafe" not in content
    assert content.startswith("default-src 'none'")
    assert ("frame-ancestors 'none'" in content) == (TABLE[route] != "embed")
    assert ("access-control-allow-origin" in answer.headers) == (TABLE[route] != "page")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])


def test_the_guide_says_the_limits_that_hold():
    for name in ("cache_bytes", "max_body_bytes", "max_url_bytes", "max_work", "stop_seconds"):
        row = next(line for line in GUIDE.splitlines() if line.startswith("|") and f"`TILEWISE_{name.upper()}`" in line)
        assert re.search(rf"\b{Settings.model_fields[name].default}\b", row), row


def test_every_setting_is_in_the_guide():
    for name in Settings.model_fields:
        assert f"`TILEWISE_{name.upper()}`" in GUIDE


@pytest.mark.parametrize(
    "path",
    [
        "/widgets/online-softmax?scores={}",
        "/widgets/online-softmax?scores=1,2&format={}",
        "/widgets/tiled-attention?q={}&k=1;&v=1;",
        "/embed/online-softmax?theme={}",
        "/embed/online-softmax?hide={}",
        "/lessons/online-softmax?track={}",
        "/lessons/{}",
        "/guide/{}",
        "/widgets/{}",
        "/{}",
        "/share/online-softmax?scores={}",
    ],
)
def test_markup_in_an_address_stays_text(client, path):
    answer = client.get(path.replace("{}", "%3Cscript%3Ealert(1)%3C/script%3E%22'%3E%3Cimg src=x onerror=alert(1)%3E"))
    assert answer.headers["content-type"].startswith("text/html")
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text


def test_markup_in_an_oembed_address_stays_json(client):
    answer = client.get("/oembed", params={"url": f"http://testserver/widgets/online-softmax?scores=1,3&beside={MARKUP}&theme={MARKUP}"})
    assert answer.headers["content-type"].startswith("application/json")
    assert "<script>alert" not in answer.json().get("html", "")


def test_markup_in_a_lesson_stays_text(tmp_path):
    lesson = tmp_path / "mine"
    lesson.mkdir()
    (lesson / "lesson.md").write_text(
        f"+++\ntitle = '''{MARKUP}'''\ndescription = '''{MARKUP}'''\ntopic = '''{MARKUP}'''\ndate = 2026-01-01\nchapter = '''{MARKUP}'''\norder = 1\n+++\n\n"
        f"Text {MARKUP}\n\n## A heading {MARKUP}\n\n[a link](javascript:alert(1))\n"
    )
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as client:
        for path in ("/lessons/mine", "/lessons/", "/lessons/online-softmax"):
            text = client.get(path).text
            assert "<script>alert" not in text
            assert "<img src=x" not in text
            assert 'href="javascript' not in text


@pytest.mark.parametrize("folder", ["/lessons/online-softmax/code/", "/static/", "/figures/", "/lessons/", "/guide/"])
@pytest.mark.parametrize(
    "way", ["../lesson.md", "..%2flesson.md", "%2e%2e/lesson.md", "..%5clesson.md", "%2fetc/passwd", "....//lesson.md", "%00", "a%00.py"]
)
def test_no_path_leads_out(client, folder, way):
    answer = client.get(folder + way)
    assert answer.status_code in (404, 422)
    assert "root:" not in answer.text


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_pictures_carry_no_script(client, name):
    answer = client.get(f"/figures/{name}.svg?step=1&theme=%3Cscript%3E")
    if answer.status_code == 422:
        answer = client.get(f"/figures/{name}.svg?step=1&utm=%3Cscript%3E")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert not re.search(r"<script|\son\w+=|javascript:|<foreignObject|href=\"http", answer.text, re.IGNORECASE)
