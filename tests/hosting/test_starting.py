"""The site as it is started: it says where it is, stops without breaking an answer off, outlives a worker, and needs neither disk nor network."""

import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import __main__ as command
from app.settings import Settings

STEP = "/api/v1/machines/online-softmax/snapshots/{}?scores=6,5,7,6,7,9,8,6&offset={}"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def serving(*arguments, **more):
    """A server in a process of its own; its port and the process."""
    port = free_port()
    command = [sys.executable, "-m", "app", "--port", str(port), "--log-format", "json", *arguments]
    environment = {**more.pop("env", os.environ), "TILEWISE_ACCESS_LOG": "false"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, **more)
    process.told = []
    threading.Thread(target=lambda: process.told.extend(process.stdout), daemon=True).start()
    try:
        until(lambda: status(port, "/healthz") == 200 or process.poll() is not None, "it answers", 60)
        assert process.poll() is None, process.told
        yield port, process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def status(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except OSError:
        return 0
    except http.client.HTTPException:
        return 0
    finally:
        connection.close()


def until(true, what, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Class:
    """Students who step as fast as they are answered, each on a connection of its own; what went wrong is noted."""

    def __init__(self, port, students=6):
        self.port, self.going, self.answered, self.wrong, self.lost = port, True, 0, [], 0
        self.threads = [threading.Thread(target=self.student, args=(n,), daemon=True) for n in range(students)]
        for one in self.threads:
            one.start()

    def student(self, n):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        turn = 0
        while self.going:
            turn += 1
            begun = False
            try:
                connection.request("GET", STEP.format(turn % 9, f"{n}.{turn}"))
                answer = connection.getresponse()
                begun = True
                body = answer.read()
                if answer.status != 200 or not body.endswith(b"}"):
                    self.wrong.append((answer.status, body[:80]))
                self.answered += 1
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.lost += 1
                if begun:
                    self.wrong.append(f"an answer broke off: {error!r}")
                time.sleep(0.05)

    def stop(self):
        self.going = False
        for one in self.threads:
            one.join(20)


def children(pid):
    return [int(one) for task in Path(f"/proc/{pid}/task").glob("*/children") for one in task.read_text().split()]


def servers(pid):
    """The workers among a parent's children: those that the port's answers come from, and not Python's own helper."""
    return [one for one in children(pid) if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


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
    monkeypatch.setattr(command, "lan_address", lambda: None)
    command.greet(Settings(host="0.0.0.0"))
    assert capsys.readouterr().out == ""


def test_the_browser_is_opened_once_the_site_answers(site, monkeypatch):
    opened = []
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    command.open_browser(Settings(host="0.0.0.0", port=int(site.rpartition(":")[2])))
    assert opened == [f"{site}/"]


def test_metrics_without_the_extra_are_refused_in_words(monkeypatch, capsys):
    monkeypatch.setenv("TILEWISE_METRICS", "true")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        command.serve([])
    assert "pip install 'tilewise[metrics]'" in capsys.readouterr().err
