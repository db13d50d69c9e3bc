"""The site as it is started, in processes of its own; a class that steps; and a balancer, as a host might put one before it."""

import http.client
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

STEP = "/api/v1/machines/online-softmax/snapshots/{}?scores=6,5,7,6,7,9,8,6&offset={}"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def serving(*arguments, port=None, **more):
    """A server in a process of its own; its port and the process."""
    port = port or free_port()
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


ONE_HOP = ("connection", "keep-alive", "transfer-encoding", "host", "content-length")  # headers that are between two neighbours


@contextmanager
def balancing(*ports, path="", scheme="http"):
    """A balancer that sends each request to the next of these ports, and to the one after where nobody answers; its address, and who answered what.

    path     what it takes off each address, as nginx does where `proxy_pass` ends with a slash
    scheme   what it says that its readers use
    """
    turn, answered = itertools.count(), []

    class Between(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *given):
            pass

        def do_GET(self):
            if path and not self.path.startswith(f"{path}/"):
                self.tell(404, {}, b"another site")
                return
            length = int(self.headers.get("content-length", 0))
            sent = self.rfile.read(length) if length else None
            first = next(turn)
            for n in range(len(ports)):
                port = ports[(first + n) % len(ports)]
                found = self.ask(port, sent)
                if found is not None:
                    answered.append((port, self.path, found[0]))
                    self.tell(*found)
                    return
            self.tell(502, {}, b"nobody there")

        do_POST = do_HEAD = do_GET  # noqa: N815

        def ask(self, port, sent):
            passed = {name: value for name, value in self.headers.items() if name.lower() not in ONE_HOP}
            told = {"Host": self.headers["host"], "X-Forwarded-Proto": scheme, "X-Forwarded-For": self.client_address[0]}
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                line.request(self.command, self.path.removeprefix(path), sent, {**passed, **told})
                answer = line.getresponse()
                return answer.status, dict(answer.getheaders()), answer.read()
            except (OSError, http.client.HTTPException):
                return None
            finally:
                line.close()

        def tell(self, status, headers, body):
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ONE_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                with suppress(BrokenPipeError, ConnectionResetError):  # the reader has gone on
                    self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Between)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{path}", answered
    server.shutdown()
    server.server_close()
