"""What comes from outside is read in a time that grows with its length and no faster."""

import asyncio
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.__main__ import command_line, settings_from
from app.coding import Gzip
from app.http.cache import ResponseCache
from app.machines import MACHINES
from app.main import create_app
from app.settings import Settings
from app.stories import PAGES

# each of these took from seconds to hours when its time grew with the square of its length
HOSTILE = """
import json, sys
from starlette.testclient import TestClient
from app.main import create_app
from app.settings import Settings
api = "/api/v1/machines/{}/snapshots"
with TestClient(create_app(Settings(max_body_bytes=3_000_000))) as client:
    for text in ("1" * 900_000 + "x", "." * 900_000, "1e" + "1" * 900_000, "-" * 900_000, " " * 900_000 + "x", "1" + " " * 900_000 + "2;x", "1" + chr(10) * 900_000 + "2 2 x",
                 "1" + ", " * 450_000, ";" * 900_000, "1,2" + "\\t\\n" * 450_000 + "x"):
        for name, field in (("online-softmax", "scores"), ("online-softmax", "values"), ("tiled-attention", "q")):
            answer = client.post(api.format(name), json={"spec": {"scores": "1,2", field: text} if name != "tiled-attention" else {field: text}})
            assert answer.status_code == 422, (text[:20], answer.status_code)
            assert len(answer.content) < 3000
    many = "&".join(f"a{n}=1" for n in range(3_500))
    for query in (many, many + "&a1=2", "scores=" + "1" * 30_000 + "x", "scores=" + "+" * 30_000 + "x", "values=1" + "+" * 30_000 + "1;2", "step=" + "9" * 30_000):
        for path in ("/widgets/online-softmax?", api.format("online-softmax") + "?", "/figures/online-softmax.svg?", "/share/online-softmax?"):
            status = client.get(path + query).status_code
            assert status in (200, 422), (path, query[:30], status)
    for body in ("[" * 900_000, "{" + '"a":' * 200_000, '{"spec": {"scores": ' + "[" * 900_000, json.dumps({"spec": {}, "start": [1] * 300_000}), json.dumps({"spec": {"scores": [[1]] * 200_000}})):
        assert client.post(api.format("online-softmax"), content=body).status_code == 422, body[:30]
print("read")
"""


def test_no_input_takes_longer_than_its_length():
    found = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=100, check=False)
    assert found.stdout.strip() == "read", found.stderr[-2000:]


PATHS = [
    *(f"/{room}/{name}" for room in ("widgets", "embed", "share") for name in PAGES),
    *(f"/api/v1/machines/{name}/snapshots{rest}" for name in MACHINES for rest in ("", "/1")),
    *(f"/figures/{name}" for name in ("online-softmax.svg", "merge.csv", "tiled-attention.qr.svg")),
    "/", "/oembed", "/lessons/", "/lessons/online-softmax", "/api/v1/machines", "/guide/hosting", "/healthz",
]  # fmt: skip
NAMES = (
    b"scores",
    b"values",
    b"q",
    b"k",
    b"v",
    b"seed",
    b"format",
    b"step",
    b"start",
    b"count",
    b"offset",
    b"url",
    b"track",
    b"answer",
    b"theme",
    b"hide",
    b"view",
)
HEADERS = (b"accept-encoding", b"if-none-match", b"host", b"x-request-id", b"content-length")


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    query=st.binary(max_size=60) | st.builds(lambda name, value: name + b"=" + value, st.sampled_from(NAMES), st.binary(max_size=40)),
    headers=st.lists(st.tuples(st.sampled_from(HEADERS), st.binary(max_size=30)), max_size=2),
)
def test_no_bytes_give_a_500(client, path, query, headers):
    """In a query and in headers, as they come over the wire and no client would send them."""
    status = asked(client.app, path, query, headers)
    assert status < 500 or (status == 501 and path == "/oembed")  # what its standard asks for where a format is not known


def asked(app, path, query, headers):
    told = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        told.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query, "headers": headers, "scheme": "http",
        "server": ("a", 80), "client": None, "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return told[0]["status"]


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings())) as found:
        yield found


def test_each_coding_has_an_etag_of_its_own_and_is_confirmed_by_it(client):
    path = "/widgets/online-softmax?scores=1,3,2"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    found = {"": plain}
    for coding in ("br", "gzip"):
        answer = found[coding] = client.get(path, headers={"Accept-Encoding": coding})
        assert answer.headers["content-encoding"] == coding
        assert answer.headers["etag"].endswith(f'-{coding}"')
        assert answer.content == plain.content
    assert len({answer.headers["etag"] for answer in found.values()}) == 3
    for coding, answer in found.items():
        again = client.get(path, headers={"Accept-Encoding": coding or "identity", "If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        assert {again.headers["vary"], answer.headers["vary"]} == {"Accept-Encoding"}
        assert again.headers["etag"] == answer.headers["etag"]


@pytest.mark.parametrize(
    "path", ["/sitemap.xml", "/figures/merge.svg", "/figures/merge.csv?step=0", "/api/v1/machines", "/static/site.css", "/icon"]
)
def test_nothing_is_coded_but_as_its_reader_takes_it_and_its_etag_says(client, path):
    """Also where no cache codes it: nothing is coded twice, and a reader who refuses gzip gets none."""
    plain = client.get(path, headers={"Accept-Encoding": "gzip;q=0, br;q=0"})
    assert "content-encoding" not in plain.headers
    for accepted in ("gzip", "br", "br, gzip", "zstd, gzip"):
        answer = client.get(path, headers={"Accept-Encoding": accepted})
        coding = answer.headers.get("content-encoding", "")
        assert answer.content == plain.content
        assert answer.headers.get("vary", "").count("Accept-Encoding") == (len(plain.content) >= 500)
        assert coding in ("", *accepted.split(", "))
        assert answer.headers.get("etag", "").endswith(f'{coding and "-" + coding}"' if "etag" in answer.headers else "")


def test_a_stream_of_events_is_sent_as_it_comes():
    async def stream(request):
        return StreamingResponse(iter(["data: 1\n\n" * 200, "data: 2\n\n"]), media_type="text/event-stream")

    with TestClient(Gzip(Starlette(routes=[Route("/", stream)]))) as client:
        assert "content-encoding" not in client.get("/", headers={"Accept-Encoding": "gzip"}).headers


def test_a_page_names_the_scheme_it_was_asked_by():
    app = create_app(Settings())
    for scheme in ("http", "https", "http"):
        with TestClient(app, base_url=f"{scheme}://class.example") as client:
            text = client.get("/widgets/online-softmax?scores=1,3,2").text
        assert f"{scheme}://class.example/" in text
        assert f"{'http' if scheme == 'https' else 'https'}://class.example/" not in text


def test_the_cache_holds_no_more_than_it_may_whatever_the_addresses_are(monkeypatch):
    kept = []
    before = ResponseCache.__init__

    def noted(self, most):
        before(self, most)
        kept.append(self)

    monkeypatch.setattr(ResponseCache, "__init__", noted)
    with TestClient(create_app(Settings(cache_bytes=60_000))) as client:
        for n in range(60):
            assert client.get(f"/api/v1/machines/online-softmax/snapshots/1?scores=1,2{'+' * 20_000}&offset={n}").status_code == 200
    (ready,) = kept
    assert 2 < len(ready._kept) < 60
    assert sum(len(key) + len(entry.body) + len(entry.etag) for key, entry in ready._kept.items()) < 60_000


@pytest.mark.parametrize("host", [b"\x80\xff", b"a b", b"a/b", b"<script>", b"a" * 256, b"someone@example.org"])
def test_a_host_that_is_none_is_refused_in_words(client, host):
    for path in ("/widgets/online-softmax", "/api/v1/machines", "/healthz"):
        assert asked(client.app, path, b"", [(b"host", host)]) == 400
    assert asked(client.app, "/", b"", [(b"host", b"[2001:db8::1]:8000")]) == 200


def test_a_site_that_knows_its_names_answers_to_no_other():
    with TestClient(create_app(Settings(allowed_hosts="class.example.org,*.example.net"))) as client:

        def to(host):
            return client.get("/oembed?url=http://evil.example/widgets/merge", headers={"Host": host}).status_code

        assert [to(host) for host in ("evil.example", "class.example.org.evil.example", "example.net", "www.class.example.org")] == [
            400
        ] * 4
        for host in ("class.example.org", "Class.example.org:8443", "a.example.net", "127.0.0.1:8000", "[::1]:8000"):
            assert client.get("/healthz", headers={"Host": host}).status_code == 200, host
        assert client.get("/", headers={"Host": "evil.example"}).headers["content-security-policy"]


@pytest.mark.parametrize("wrong", ["https://class.example.org", "class.example.org:443", "a,,b", "a.*.org", "class.example.org/x"])
def test_a_name_that_is_none_is_said_at_the_start(wrong, monkeypatch, capsys):
    monkeypatch.setenv("TILEWISE_ALLOWED_HOSTS", wrong)
    with pytest.raises(SystemExit):
        settings_from(command_line().parse_args([]))
    assert "is not a host name: write names alone" in capsys.readouterr().err
