"""The log names no one, ids lead from an answer to its line, mistakes of ours are answered in the house's form, and counters count."""

import json
import logging

import pytest
from starlette.testclient import TestClient

from app.http.access_log import JsonFormatter, logging_for
from app.main import create_app
from app.routes import health
from app.settings import Settings

SECRET = "4.25,1.75"


@pytest.fixture
def lines():
    found = []

    class Keep(logging.Handler):
        def emit(self, record):
            found.append(JsonFormatter().format(record))

    keep = Keep()
    loggers = [logging.getLogger(f"tilewise.{name}") for name in ("access", "error")]
    for one in loggers:
        one.addHandler(keep)
        one.setLevel(logging.INFO)
    yield found
    for one in loggers:
        one.removeHandler(keep)
        one.setLevel(logging.NOTSET)


def test_a_line_for_each_request_and_nothing_about_who_asked(lines):
    with TestClient(create_app(Settings()), client=("203.0.113.9", 4711)) as client:
        answers = [
            client.get(
                f"/widgets/online-softmax?scores={SECRET}", headers={"User-Agent": "Their-Browser", "Referer": "https://their.example/"}
            ),
            client.get("/lessons/someone@example.org"),
            client.head("/healthz"),
        ]
    told = [json.loads(line) for line in lines]
    assert [one["route"] for one in told] == ["/widgets/{name}", "/lessons/{slug}", "/healthz"]
    assert [one["status"] for one in told] == [200, 404, 200]
    assert [one["id"] for one in told] == [answer.headers["x-request-id"] for answer in answers]
    assert told[0]["bytes"] > 0
    assert set(told[0]) == {"time", "level", "logger", "message", "id", "method", "route", "status", "ms", "bytes"}
    for given in ("203.0.113.9", "4711", SECRET, "4.25", "Their-Browser", "their.example", "someone"):
        assert not any(given in line for line in lines)


def test_a_proxys_id_is_kept_if_it_is_one(lines):
    with TestClient(create_app(Settings())) as client:
        assert client.get("/healthz", headers={"X-Request-ID": "0a1b2c3d-4e5f"}).headers["x-request-id"] == "0a1b2c3d-4e5f"
        assert client.get("/healthz", headers={"X-Request-ID": 'a","level":"error'}).headers["x-request-id"] != 'a","level":"error'
    assert json.loads(lines[0])["id"] == "0a1b2c3d-4e5f"


def test_a_mistake_of_ours_is_answered_in_words_and_logged_under_its_id(lines, monkeypatch):
    monkeypatch.setattr(health, "wrong_results", lambda: 1 / 0)
    with TestClient(create_app(Settings())) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 500
    error = answer.json()["error"]
    assert error["code"] == "broken"
    assert answer.headers["x-request-id"] in error["message"]
    assert answer.headers["content-security-policy"]
    assert "ZeroDivisionError" not in answer.text
    assert any("ZeroDivisionError" in line and answer.headers["x-request-id"] in line for line in lines)


def test_not_ready_says_what_is_wrong(monkeypatch):
    monkeypatch.setattr(health, "wrong_results", lambda: ("float16 rounds 2049 to 2050",))
    with TestClient(create_app(Settings())) as client:
        assert client.get("/readyz").status_code == 503
        assert client.get("/readyz").json()["wrong"] == ["float16 rounds 2049 to 2050"]
        assert client.get("/healthz").status_code == 200


def test_the_self_test_finds_a_machine_that_errs(monkeypatch):
    class Off(health.Run):
        def snapshot(self, step):
            shot = super().snapshot(step)
            if self.machine.name == "merge":
                shot["state"]["output"][0] *= 1 + 1e-9
            return shot

    monkeypatch.setattr(health, "Run", Off)
    assert [one.split(" gives")[0] for one in health._wrong()] == ["merge of 1", "merge of 2", "merge of 5"]
    monkeypatch.setitem(health.TIES, "float16", (2049, 2050))
    assert "float16 rounds 2049 to 2048.0" in list(health._wrong())


def test_counters():
    with TestClient(create_app(Settings(metrics=True))) as client:
        client.get("/widgets/online-softmax")
        client.get("/widgets/nope")
        client.get("/nope/203.0.113.9")
        text = client.get("/metrics").text
    assert 'tilewise_requests_total{method="GET",route="/widgets/{name}",status="200"} 1.0' in text
    assert 'tilewise_requests_total{method="GET",route="/widgets/{name}",status="404"} 1.0' in text
    assert 'route="(none)"' in text
    assert "203.0.113.9" not in text
    with TestClient(create_app(Settings())) as client:
        assert client.get("/metrics").status_code == 404


def test_the_access_line_can_be_switched_off():
    for wanted in (True, False):
        found = logging_for("json", "info", wanted)["loggers"]
        assert bool(found["tilewise.access"]["handlers"]) is wanted
        assert found["uvicorn.access"]["handlers"] == [], "uvicorn's own line has the address of whoever asks"
