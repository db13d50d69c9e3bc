"""Headers by route, static files, health, the command line."""

import re
from html import escape, unescape

import pytest
from starlette.testclient import TestClient

from app import assets
from app.__main__ import command_line, settings_from
from app.http.headers import policy
from app.main import create_app
from app.settings import Settings

PATHS = [
    "/",
    "/widgets/online-softmax",
    "/embed/online-softmax",
    "/figures/online-softmax.svg",
    "/api/v1/machines",
    "/healthz",
    "/nope",
    "/api/v1/nope",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_its_policy(client, path):
    answer = client.get(path)
    for name, value in policy(path, "*").items():
        assert answer.headers[name] == value
    content = answer.headers["content-security-policy"]
    assert "unsafe" not in content
    assert ("frame-ancestors *" in content) == path.startswith("/embed/")
    assert ("x-frame-options" in answer.headers) == (not path.startswith(("/embed/", "/api/", "/figures/")))


def test_only_embeds_may_be_framed_and_a_host_may_narrow_that():
    with TestClient(create_app(Settings(frame_ancestors="https://school.example"))) as client:
        assert "frame-ancestors https://school.example" in client.get("/embed/online-softmax").headers["content-security-policy"]


def test_static_files_are_kept_for_ever_only_under_their_hash(client):
    stamp = assets.load().stamp
    stamped = client.get(f"/static/{stamp}/js/core/player.js", headers={"Accept-Encoding": "br"})
    assert stamped.headers["cache-control"].endswith("immutable")
    assert stamped.headers["content-encoding"] == "br"
    assert stamped.headers["content-type"].startswith("text/javascript")
    plain = client.get("/static/js/core/player.js", headers={"Accept-Encoding": "identity"})
    assert plain.headers["cache-control"] == "public, max-age=300"
    assert "content-encoding" not in plain.headers
    assert plain.content == stamped.content
    assert (
        client.get("/static/js/core/player.js", headers={"If-None-Match": plain.headers["etag"], "Accept-Encoding": "identity"}).status_code
        == 304
    )
    assert client.get("/static/../app/main.py").status_code == 404
    assert client.get("/static/%2e%2e/app/main.py").status_code == 404


def test_plotly_is_the_version_that_the_scripts_were_written_for(client):
    from plotly.offline import get_plotlyjs_version

    body = client.get("/static/vendor/plotly.js").text
    assert f"v{get_plotlyjs_version()}" in body[:300]


def test_health(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_pages_under_a_path_link_below_it():
    with TestClient(create_app(Settings(root_path="/tilewise")), root_path="/tilewise") as client:
        page = client.get("/tilewise/widgets/online-softmax").text
        assert 'href="/tilewise/static/' in page
        assert 'data-base="/tilewise/"' in page
        assert client.get("/tilewise/api/v1/machines").headers["access-control-allow-origin"] == "*"


def test_flags_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("TILEWISE_PORT", "9001")
    monkeypatch.setenv("TILEWISE_HOST", "0.0.0.0")
    found = settings_from(command_line().parse_args(["--port", "9002"]))
    assert (found.host, found.port) == ("0.0.0.0", 9002)


def test_a_wrong_setting_is_said_in_words(monkeypatch, capsys):
    monkeypatch.setenv("TILEWISE_PORT", "soon")
    with pytest.raises(SystemExit):
        settings_from(command_line().parse_args([]))
    assert "port: 'soon' will not do" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/v1/machines", "GET, HEAD, OPTIONS"),
        ("/api/v1/machines/merge/snapshots", "GET, HEAD, OPTIONS, POST"),
        ("/api/v1/machines/merge/snapshots/3", "GET, HEAD, OPTIONS"),
        ("/api/v1/openapi.json", "GET, HEAD, OPTIONS"),
        ("/widgets/merge", "GET, HEAD, OPTIONS"),
        ("/static/embed.js", "GET, HEAD, OPTIONS"),
    ],
)
def test_allow_names_every_method_of_a_path(client, path, methods):
    for method in ("DELETE", "PUT", "POST"):
        if method not in methods:
            answer = client.request(method, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, methods)
    asked = client.options(path)
    assert (asked.status_code, asked.headers["allow"], asked.content) == (204, methods, b"")
    assert client.head(path, params={"scores": "1,2"} if "snapshots" in path else {}).status_code == 200


def test_other_sites_scripts_are_let_in_where_anybody_is(client):
    asked = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    told = client.options("/api/v1/machines/merge/snapshots", headers=asked)
    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == "*"
    assert "POST" in told.headers["access-control-allow-methods"]
    assert told.headers["access-control-allow-headers"] == "content-type"
    for path in ("/", "/widgets/merge", "/lessons/"):
        told = client.options(path, headers=asked)
        assert not any(name.startswith("access-control") for name in told.headers)
        assert "access-control-allow-origin" not in client.get(path, headers=asked).headers


def test_search_engines_are_told_what_to_read(client):
    robots = client.get("/robots.txt").text
    (place,) = re.findall(r"Sitemap: http://testserver(.*)", robots)
    shut = re.findall(r"Disallow: (.*)", robots)
    places = [unescape(one) for one in re.findall("<loc>http://testserver(.*?)</loc>", client.get(place).text)]
    assert len(set(places)) == len(places) > 30
    for one in places:
        assert not one.startswith(tuple(shut))
        answer = client.get(one)
        assert answer.status_code == 200
        assert f'rel="canonical" href="http://testserver{escape(one)}"' in answer.text or one == "/"


def test_own_numbers_are_no_page_of_their_own_to_a_search_engine(client):
    page = client.get("/widgets/online-softmax?scores=7,8,9&step=2").text
    assert 'rel="canonical" href="http://testserver/widgets/online-softmax"' in page
    assert 'property="og:url" content="http://testserver/widgets/online-softmax?scores=7,8,9&amp;format=float32&amp;step=2"' in page


def test_snippets_of_the_guide_are_whole(client):
    page = client.get("/guide/embedding").text
    assert "this-site.example" not in page
    assert "…" not in "".join(re.findall(r"<pre.*?</pre>", page, re.DOTALL))
    shown = unescape(re.sub(r"<[^>]+>", "", "".join(re.findall(r"<pre.*?</pre>", page, re.DOTALL))))
    found = {unescape(one) for one in re.findall(r'http://testserver[^\s"();]*', shown)}
    assert len(found) >= 5
    for url in found - {"http://testserver"}:
        answer = client.post(url, json={"spec": {"scores": [1, 3]}}) if url.endswith("/snapshots") else client.get(url)
        assert answer.status_code == 200, url
