"""The guide's blocks for nginx and Caddy, and the one in compose.yaml, each in the proxy itself before a site that is really served."""

import json
import os
import re
import subprocess
from contextlib import closing
from urllib.parse import quote

import pytest

from tests.hosting.servers import free_port, serving
from tests.outside.proxies import NAME, block, caddy, composed, nginx, put

INSIDE = ("/readyz", "/metrics", "//readyz", "/%72eadyz", "/./metrics", "/x/../readyz")


@pytest.fixture(scope="module")
def site():
    with serving(env={**os.environ, "TILEWISE_METRICS": "true", "TILEWISE_ALLOWED_HOSTS": f"{NAME},tilewise.lan"}) as (port, _):
        yield port


@pytest.fixture(scope="module")
def below():
    """A site that is told it is served under a path."""
    with serving("--root-path", "/tilewise", env={**os.environ, "TILEWISE_METRICS": "true"}) as (port, _):
        yield port


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "privkey.pem",
        "-out",
        "fullchain.pem",
        "-subj",
    ]
    subprocess.run([*command, f"/CN={NAME}"], cwd=folder, check=True, capture_output=True)
    return folder


def whole(site, certificate, port, plain, **more):
    """The guide's file for nginx, on ports of ours."""
    changes = {
        "http://127.0.0.1:8000": f"http://127.0.0.1:{site}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        f"/etc/letsencrypt/live/{NAME}": str(certificate),
    }
    return put(block("limit_req_zone"), **changes, **more)


def served(proxy, path="", scheme="https"):
    """The site is there under its own address, with an id of the proxy's, and what is meant for the inside is not."""
    for name in INSIDE:
        status, _, body = proxy.ask(f"{path}{name}")
        assert status == 404, name
        assert "Tilewise" not in body, f"{name}: the site's own page, so the proxy let it through"
    status, headers, body = proxy.ask(f"{path}/widgets/online-softmax?scores=1,3,2&step=2", X_Request_ID="of-the-visitor")
    root = f"{scheme}://{proxy.name}{path}/"
    assert status == 200
    assert f'<link rel="canonical" href="{root}widgets/online-softmax' in body
    assert headers["x-request-id"] != "of-the-visitor"
    for address in set(re.findall(rf'(?:src|href)="({path}/static/[^"]+)"', body)):
        assert proxy.ask(address)[0] == 200, address
    status, _, body = proxy.ask(f"{path}/oembed?url={quote(f'{root}widgets/merge', safe='')}")
    assert status == 200
    assert f"{root}embed/merge" in json.loads(body)["html"]
    status, headers, _ = proxy.ask(f"{path}/lessons")
    assert (status, headers["location"]) == (307, f"{root}lessons/")


def ends(proxy):
    """Connections that never come to a request, and those that go on after one, are closed by the proxy."""
    whole = f"GET /healthz HTTP/1.1\r\nHost: {proxy.name}\r\n\r\n".encode()
    long = f"POST /api/v1/machines/merge/snapshots HTTP/1.1\r\nHost: {proxy.name}\r\nContent-Length: 9000\r\n\r\n{{".encode()
    for sent in (
        b"",
        b"GET /heal",
        whole[:-2],
        whole,
        whole + b"\r\n",
        whole.replace(b"\r\n\r\n", b"\r\nContent-Length: 900\r\n\r\nx"),
        long,
    ):
        with closing(proxy.line(timeout=40)) as line:
            line.sendall(sent)
            try:
                while line.recv(65_536):
                    pass
            except ConnectionResetError:
                pass
            except TimeoutError:
                pytest.fail(f"still open after {sent!r}")


def test_nginx(site, certificate, tmp_path):
    port, plain = free_port(), free_port()
    with nginx(whole(site, certificate, port, plain), tmp_path, port) as proxy:
        served(proxy)
        proxy.port, proxy.tls = plain, False
        status, headers, _ = proxy.ask("/lessons/?track=deep")
        assert (status, headers["location"]) == (301, f"https://{NAME}/lessons/?track=deep")


def test_nginx_ends_connections_and_limits_an_address(site, certificate, tmp_path):
    port = free_port()
    patience = {
        "_header_timeout 20s": "_header_timeout 1s",
        "_body_timeout 20s": "_body_timeout 1s",
        "keepalive_timeout 75s": "keepalive_timeout 2s",
    }
    few = {"rate=500r/s": "rate=1r/m", "burst=10000": "burst=9"}
    with nginx(whole(site, certificate, port, free_port(), **patience, **few), tmp_path, port) as proxy:
        ends(proxy)
        assert 429 in [proxy.ask("/healthz")[0] for _ in range(11)]


def test_nginx_under_a_path(below, tmp_path):
    port = free_port()
    inner = put(block("location /tilewise/"), **{"http://127.0.0.1:8000/": f"http://127.0.0.1:{below}/"})
    with nginx(f"server {{ listen 127.0.0.1:{port}; server_name {NAME};\n{inner}}}", tmp_path, port, tls=False) as proxy:
        served(proxy, "/tilewise", "http")
        assert proxy.ask("/tilewise")[0] == 301


def test_caddy(site, tmp_path):
    changes = {"127.0.0.1:8000": f"127.0.0.1:{site}"}
    with caddy(put(block("read_header"), **changes), tmp_path) as proxy:
        served(proxy)


def test_caddy_ends_connections(site, tmp_path):
    changes = {
        "127.0.0.1:8000": f"127.0.0.1:{site}",
        "read_header 20s": "read_header 1s",
        "read_body 20s": "read_body 1s",
        "idle 75s": "idle 2s",
    }
    with caddy(put(block("read_header"), **changes), tmp_path) as proxy:
        ends(proxy)


def test_caddy_under_a_path(below, tmp_path):
    with caddy(put(block("handle_path"), **{"127.0.0.1:8000": f"127.0.0.1:{below}"}), tmp_path) as proxy:
        served(proxy, "/tilewise")
        assert proxy.ask("/tilewise")[0] == 302


def test_caddy_signs_for_a_name_inside(site, tmp_path):
    text = put(block("tls internal"), **{"127.0.0.1:8000": f"127.0.0.1:{site}"})
    with caddy(text, tmp_path, "tilewise.lan", own=True) as proxy:
        served(proxy)
    with caddy(
        put(text, **{"tilewise.lan {\n    tls internal": "http://tilewise.lan {"}), tmp_path, "tilewise.lan", scheme="http"
    ) as proxy:
        served(proxy, scheme="http")


def test_caddy_before_several_machines(tmp_path):
    with serving() as (one, first), serving() as (other, _):
        changes = {"10.0.0.1:8000": f"127.0.0.1:{one}", "10.0.0.2:8000": f"127.0.0.1:{other}"}
        with caddy(put(block("round_robin"), **changes), tmp_path) as proxy:
            assert {proxy.ask("/readyz")[0], proxy.ask("/metrics")[0]} == {404}
            assert {proxy.ask("/widgets/merge")[0] for _ in range(4)} == {200}
            first.kill()
            first.wait()
            assert {proxy.ask("/widgets/merge")[0] for _ in range(4)} == {200}


def test_the_proxy_of_compose(site, tmp_path):
    with caddy(put(composed(), **{"site:8000": f"127.0.0.1:{site}"}), tmp_path, "localhost") as proxy:
        served(proxy)


def test_the_unit_is_shut_tight(tmp_path):
    unit = tmp_path / "tilewise.service"
    unit.write_text(
        put(block("[Unit]"), **{"/srv/tilewise/.venv/bin/python": "/bin/true", "WorkingDirectory=/srv/tilewise": "WorkingDirectory=/"})
    )
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    found = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=30", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
