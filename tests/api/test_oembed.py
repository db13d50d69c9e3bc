"""/oembed as its specification has it, and as a client from outside reads it."""

from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import pytest
from pyoembed import oEmbed
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings

PAGE = "http://testserver/widgets/online-softmax?scores=1,3,2&step=2"


class Tags(HTMLParser):
    """The tags of a page or a snippet, by name."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def all(self, name):
        return [attrs for tag, attrs in self.found if tag == name]


def ask(client, **given):
    return client.get("/oembed", params=given)


def frame(answer):
    (found,) = Tags(answer.json()["html"]).all("iframe")
    return found


def test_a_page_gives_a_frame_at_the_same_step(client):
    answer = ask(client, url=PAGE, format="json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    told = answer.json()
    assert (told["version"], told["type"], told["title"]) == ("1.0", "rich", "Online softmax, step 2 of 3")
    assert (told["provider_name"], told["provider_url"]) == ("Tilewise", "http://testserver/")
    assert told["cache_age"] > 0
    found = frame(answer)
    assert found["src"] == "http://testserver/embed/online-softmax?scores=1,3,2&format=float32&step=2"
    assert (found["width"], found["height"], found["title"]) == (str(told["width"]), str(told["height"]), told["title"])
    assert client.get(found["src"]).status_code == 200
    picture = client.get(told["thumbnail_url"])
    assert picture.headers["content-type"] == "image/png"
    assert (int.from_bytes(picture.content[16:20]), int.from_bytes(picture.content[20:24])) == (
        told["thumbnail_width"], told["thumbnail_height"],
    )  # fmt: skip


def test_an_embed_keeps_its_options(client):
    found = frame(ask(client, url="http://testserver/embed/online-softmax?scores=1,3&theme=dark&hide=note&utm_source=x"))
    assert dict(parse_qsl(urlsplit(found["src"]).query)) == {
        "scores": "1,3",
        "format": "float32",
        "step": "0",
        "theme": "dark",
        "hide": "note",
    }


def test_a_matrix_v_is_no_version(client):
    url = "http://testserver/embed/tiled-attention?q=1,0;0,1&k=1,2;2,1&v=2,0;0,2"
    found = frame(ask(client, url=url))
    assert "&v=2,0;0,2&" in found["src"]


@pytest.mark.parametrize(("wide", "high"), [(300, 200), (500, 5000), (5000, 300), (1, 1), (1200, 630)])
def test_nothing_is_larger_than_asked(client, wide, high):
    answer = ask(client, url=PAGE, maxwidth=wide, maxheight=high)
    told = answer.json()
    assert 0 < told["width"] <= wide
    assert 0 < told["height"] <= high
    assert told.get("thumbnail_width", 0) <= wide
    assert told.get("thumbnail_height", 0) <= high
    assert ("thumbnail_url" in told) == ("thumbnail_width" in told) == ("thumbnail_height" in told)
    assert (frame(answer)["width"], frame(answer)["height"]) == (str(told["width"]), str(told["height"]))


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/widgets/online-softmax", "http://testserver/", "http://testserver/widgets/nope", "http://testserver/lessons/",
        "http://testserver/widgets/online-softmax/more", "ftp://testserver/widgets/online-softmax", "nonsense", "http://[", "javascript:alert(1)",
        "http://testserver/widgets/online-softmax?scores=1,x", "http://testserver/widgets/online-softmax?scores=1&step=9",
        "http://testserver/widgets/online-softmax?v=2", "http://testserver/embed/online-softmax?theme=sepia",
        "http://testserver.elsewhere.example/widgets/online-softmax", "http://testserver@elsewhere.example/widgets/online-softmax",
    ],
)  # fmt: skip
def test_what_is_not_ours_or_not_there_is_404(client, url):
    answer = ask(client, url=url)
    assert answer.status_code == 404
    assert answer.headers["access-control-allow-origin"] == "*"
    assert {"code", "message", "field", "value", "allowed"} == set(answer.json()["error"])


@pytest.mark.parametrize(
    ("given", "status"),
    [({"format": "xml", "url": PAGE}, 501), ({"format": "yaml", "url": PAGE}, 501), ({}, 400), ({"url": PAGE, "maxwidth": "wide"}, 400),
     ({"url": PAGE, "maxheight": "0"}, 400)],
)  # fmt: skip
def test_other_refusals(client, given, status):
    answer = ask(client, **given)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_http_and_https_are_one_site_and_a_port_is_not_another(client):
    for url in (PAGE.replace("http:", "https:"), PAGE.replace("testserver", "TestServer:80")):
        assert ask(client, url=url).status_code == 200
    assert ask(client, url=PAGE.replace("testserver", "testserver:8001")).status_code == 404


def test_a_lesson_gives_a_titled_link(client):
    for track in ("", "?track=deep"):
        answer = ask(client, url=f"https://testserver/lessons/online-softmax{track}")
        assert answer.status_code == 200
        assert answer.json()["type"] == "link"
        assert f"<h1>{answer.json()['title']}" in client.get("/lessons/online-softmax").text
    assert ask(client, url="http://testserver/lessons/nope").status_code == 404
    assert ask(client, url="http://testserver/lessons/online-softmax/code.zip").status_code == 404


def test_below_a_path():
    with TestClient(create_app(Settings(root_path="/tilewise")), root_path="/tilewise") as client:
        answer = client.get("/tilewise/oembed", params={"url": "http://testserver/tilewise/widgets/online-softmax?scores=1,3&step=1"})
        assert frame(answer)["src"].startswith("http://testserver/tilewise/embed/online-softmax?scores=1,3")
        assert client.get("/tilewise/oembed", params={"url": PAGE}).status_code == 404


def test_a_client_from_outside_finds_and_reads_it(site):
    """pyoembed asks for the page, follows its discovery link, and checks the answer by the specification."""
    told = oEmbed(f"{site}/widgets/online-softmax?scores=1,3,2&step=2", maxwidth=600)
    assert (told["type"], told["title"], told["width"]) == ("rich", "Online softmax, step 2 of 3", 600)
    assert f'src="{site}/embed/online-softmax?scores=1,3,2&amp;format=float32&amp;step=2"' in told["html"]


@pytest.mark.parametrize(
    "path", ["/widgets/online-softmax?scores=1,3,2&step=2", "/widgets/tiled-attention?step=1", "/widgets/division-order"]
)
def test_a_page_says_what_its_link_shows(client, path):
    """The Open Graph properties, with their required four, and Twitter's, lead to a card of that very step with its caption."""
    page = Tags(client.get(path).text)
    graph = {tag["property"]: tag["content"] for tag in page.all("meta") if "property" in tag}
    names = {tag["name"]: tag["content"] for tag in page.all("meta") if "name" in tag}
    links = {tag["rel"]: tag for tag in page.all("link")}
    assert {"og:title", "og:type", "og:image", "og:url"} <= graph.keys()
    assert (
        links["canonical"]["href"] == f"http://testserver{urlsplit(path).path}"
    )  # own numbers are no page of their own to a search engine
    assert dict(parse_qsl(urlsplit(links["alternate"]["href"]).query)) == {"format": "json", "url": graph["og:url"]}
    name, query = urlsplit(graph["og:url"]).path.rpartition("/")[2], dict(parse_qsl(urlsplit(graph["og:url"]).query))
    step = query.pop("step")
    shot = client.get(f"/api/v1/machines/{name}/snapshots/{step}", params=query).json()
    assert graph["og:image:alt"] == graph["og:description"] == names["twitter:image:alt"] == names["description"] == shot["caption"]
    picture = client.get(graph["og:image"]).content
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1200, 630)
    assert (graph["og:image:width"], graph["og:image:height"], names["twitter:card"]) == ("1200", "630", "summary_large_image")
    assert names["twitter:image"] == graph["og:image"]
