"""Headers by route, static files, health, the command line."""

import pytest
from starlette.testclient import TestClient

from app import assets
from app.__main__ import command_line, settings_from
from app.main import create_app
from app.settings import Settings
from app.web.headers import policy

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
