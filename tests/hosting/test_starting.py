"""The site as it is started: it says where it is, stops without breaking an answer off, outlives a worker, and needs neither disk nor network."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app import __main__ as command
from app.settings import Settings
from tests.hosting.servers import Class, servers, serving, status, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")


def test_it_stops_under_load_and_no_answer_is_cut_short():
    with serving() as (port, process):
        students = Class(port)
        until(lambda: students.answered > 200, "they are answered")
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert process.wait(15) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < 8
        students.stop()
        assert not students.wrong
        told = "".join(process.told)
        assert '"level":"error"' not in told
        assert "Traceback" not in told


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found by /proc")
def test_a_worker_that_is_killed_under_load_is_replaced_and_the_other_serves():
    with serving("--workers", "2") as (port, process):
        until(lambda: "".join(process.told).count("startup complete") == 2, "both have started", 60)
        students = Class(port)
        until(lambda: students.answered > 100, "they are answered")
        victim = servers(process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        before, lost = students.answered, students.lost
        until(lambda: students.answered > before + 200, "the other answers")
        until(lambda: len(servers(process.pid)) == 2 and victim not in servers(process.pid), "a new worker", 60)
        students.stop()
        assert not [one for one in students.wrong if "broke off" not in str(one)]
        assert students.lost - lost <= 2 * len(students.threads), "a lost connection each, and not many tries"
        assert status(port, "/readyz") == 200


def test_a_stop_that_reaches_every_process_of_the_service_lets_pictures_be_finished():
    """As systemd sends it, and Ctrl-C in a terminal."""
    picture = "/figures/online-softmax.gif?scores=" + ",".join(str(i % 9) for i in range(10))
    for told in (signal.SIGTERM, signal.SIGINT):
        with serving(start_new_session=True) as (port, process):
            until(lambda port=port: status(port, "/figures/online-softmax.png") == 200, "the processes that draw have started", 60)
            found = []
            asking = threading.Thread(target=lambda port=port, found=found: found.append(status(port, picture)))
            asking.start()
            time.sleep(0.3)
            os.killpg(process.pid, told)
            asking.join(30)
            assert found == [200]
            assert "resource_tracker" not in "".join(process.told)
            assert process.wait(15) in (0, -told)


def test_it_starts_where_nothing_can_be_written(tmp_path):
    """Not a byte may go into a file: what a full disk, or a read-only one, comes to."""

    def no_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    nowhere = {**os.environ, "HOME": str(tmp_path / "none"), "TMPDIR": str(tmp_path / "none")}
    nowhere.pop("PYTHONDONTWRITEBYTECODE", None)
    with serving(preexec_fn=no_files, env=nowhere) as (port, _):
        for path in ("/readyz", "/widgets/online-softmax", "/lessons/", "/lessons/online-softmax", "/figures/online-softmax.png"):
            assert status(port, path) == 200, path


def test_it_starts_without_a_network():
    script = """
import socket, sys
def refuse(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        raise OSError(f"no network here: {event}")
sys.addaudithook(refuse)
import asyncio
from app.main import create_app
app = create_app()
async def get(path):
    said = []
    async def send(message): said.append(message)
    async def receive(): return {"type": "http.request", "body": b"", "more_body": False}
    await app({"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": [(b"host", b"a")],
               "scheme": "http", "server": ("a", 80), "client": None, "root_path": "", "http_version": "1.1"}, receive, send)
    return said[0]["status"]
print([asyncio.run(get(path)) for path in ("/readyz", "/widgets/online-softmax", "/lessons/online-softmax")])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout.strip() == "[200, 200, 200]", found.stderr


def test_a_lesson_half_written_shows_its_fault_and_the_others_work(tmp_path):
    from starlette.testclient import TestClient

    from app.main import create_app

    head = "+++\ntitle = 'Mine'\ndescription = 'A'\ntopic = 'T'\ndate = 2026-01-01\nchapter = 'C'\norder = 1\n"
    texts = {
        "whole": head + "+++\n\nAll is well.\n",
        "half": head + "+++\n\nOne line.\n\nA sum: {{ nothing[1]",
        "cut": head,
        "bytes": "\xff\xfe",
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "lesson.md").write_bytes(text.encode("latin-1"))
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as client:
        assert client.get("/lessons/whole").status_code == 200
        assert client.get("/lessons/").status_code == 200
        for name in ("cut", "bytes"):
            answer = client.get(f"/lessons/{name}")
            assert answer.status_code == 503
            assert re.search(rf"{name}/lesson\.md", answer.text)
        assert client.get("/readyz").status_code == 200
        (tmp_path / "cut" / "lesson.md").write_text(texts["whole"] + "More.\n")
        assert client.get("/lessons/cut").status_code == 200


def test_it_says_where_others_find_it(monkeypatch, capsys):
    monkeypatch.setattr(command, "lan_address", lambda: "192.0.2.40")
    command.greet(Settings(host="0.0.0.0", port=8123))
    told = capsys.readouterr().out
    assert "http://192.0.2.40:8123/" in told
    assert len([line for line in told.splitlines() if "▄" in line or "█" in line]) > 10
    command.greet(Settings(host="127.0.0.1"))
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(command, "lan_address", lambda: None)
    command.greet(Settings(host="0.0.0.0", port=8123))
    assert "http://ADDRESS:8123/, where `ip addr`" in capsys.readouterr().out


def test_the_browser_is_opened_once_the_site_answers(site, monkeypatch):
    opened = []
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    command.open_browser(Settings(host="0.0.0.0", port=int(site.rpartition(":")[2])))
    assert opened == [f"{site}/"]


@pytest.mark.parametrize(
    ("given", "arguments", "said"),
    [
        ({"TILEWISE_METRICS": "true", "PROMETHEUS_MULTIPROC_DIR": "/no/such/folder"}, [], "PROMETHEUS_MULTIPROC_DIR is '/no/such/folder'"),
        ({}, ["--lessons-dir", "/no/such/folder"], "lessons-dir: '/no/such/folder' is no folder"),
    ],
)
def test_a_folder_that_is_not_there_is_said_at_the_start(given, arguments, said, monkeypatch, capsys):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert said in capsys.readouterr().err


def test_metrics_without_the_extra_are_refused_in_words(monkeypatch, capsys):
    monkeypatch.setenv("TILEWISE_METRICS", "true")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        command.main([])
    assert "pip install 'tilewise[metrics]'" in capsys.readouterr().err


def test_a_slow_worker_has_a_minute_to_start(monkeypatch):
    import uvicorn

    given = {}
    monkeypatch.setattr(uvicorn, "run", lambda *_, **more: given.update(more))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    command.main(["--workers", "2", "--port", "8123"])
    assert given["timeout_worker_healthcheck"] >= 60
    assert (given["timeout_keep_alive"], given["workers"], given["port"]) == (75, 2, 8123)


def test_the_command_imports_the_site_only_where_it_is_needed():
    """A process that serves or draws imports the command's module before anything else can answer for it."""
    look = "import sys, app.__main__; print([one for one in ('fastapi', 'numpy', 'pydantic', 'uvicorn', 'app.main') if one in sys.modules])"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "[]\n"
