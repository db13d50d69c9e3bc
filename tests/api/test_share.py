"""What authors paste: read back by the parsers of the places it is pasted into, whatever is in it."""

import ast
import re
import unicodedata
from html.parser import HTMLParser
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from app.embedding import options
from app.machines import MACHINES
from app.runs import snapshot, snapshots
from app.share import FRAME_WIDTH, frame_height, share, tex
from app.specs import parse
from app.stories import BY_NAME, PAGES

ROOT = "https://tilewise.example/a_path"
NASTY = '50% of a_b & #1 <b>"it\'s"</b> ]($x^2$) ~ {\\end} `c` *d*'
ONLINE = MACHINES["online-softmax"]


class Read(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words += data

    def one(self, tag):
        (found,) = [attrs for name, attrs in self.tags if name == tag]
        return found


def shot(step=2, **spec):
    return snapshot(ONLINE, ONLINE.spec(**({"scores": (1.0, 3.0, 2.0)} | spec)), step)


@pytest.fixture
def nasty():
    """A state whose caption has in it what each kind of text is afraid of."""
    return share(shot() | {"caption": NASTY}, ROOT)


def test_the_frame_says_what_a_host_needs():
    found = share(shot(), ROOT)
    frame = Read(found.iframe)
    assert frame.one("iframe") == {
        "src": found.embed, "title": "Online softmax, step 2 of 3", "loading": "lazy", "style": "max-width:100%;border:0",
        "width": str(FRAME_WIDTH), "height": str(frame_height("online-softmax")),
    }  # fmt: skip
    assert frame.one("a") == {"href": found.page}
    assert frame.words.strip() == "Online softmax, step 2 of 3"


def test_where_frames_are_filtered_out_the_link_is_left():
    found = share(shot(), ROOT)
    for text in (found.iframe, found.slide, found.jsx):
        left = Read(re.sub(r"<iframe\b.*?(</iframe>|/>)", "", text, flags=re.DOTALL))
        assert [tag for tag, _ in left.tags] == ["p", "a"]
        assert left.one("a")["href"] == found.page
        assert left.words.strip() == found.title


def test_a_slide_has_few_controls_and_a_fixed_height():
    found = share(shot(), ROOT, {"theme": "dark"})
    frame = Read(found.slide).one("iframe")
    given = parse_qs(urlsplit(frame["src"]).query)
    assert (given["controls"], given["theme"], frame["height"]) == (["step"], ["dark"], "540")
    options({name: values[0] for name, values in given.items()})


def test_jsx_has_no_style_and_closes_every_tag(nasty):
    assert "style=" not in nasty.jsx
    assert not re.search(r"[{}]", nasty.jsx)
    assert Read(nasty.jsx).one("iframe")["src"] == nasty.embed


def test_a_notebook_cell_is_python():
    found = share(shot(), ROOT)
    (line,) = [one for one in ast.parse(found.notebook).body if isinstance(one, ast.Expr)]
    assert ast.literal_eval(line.value.args[0]) == found.embed


def test_options_go_into_the_embed_alone():
    found = share(shot(), ROOT, {"theme": "dark", "hide": "legend,note", "caption": ""})
    assert found.embed.endswith("&step=2&theme=dark&hide=legend,note")
    assert "theme" not in found.page + found.html + found.markdown
    assert Read(found.script).one("tilewise-widget")["theme"] == "dark"


def test_the_picture_has_words_and_a_size(nasty):
    picture = Read(nasty.html)
    assert picture.one("img")["alt"] == NASTY
    assert picture.one("img")["width"].isdigit()
    assert picture.one("a")["href"] == nasty.page
    assert Read(share(shot(), ROOT, size=(800, 340)).html).one("img")["height"] == "340"


def test_the_script_element_names_the_spec_as_the_link_does(nasty):
    element = Read(nasty.script)
    assert element.one("script") == {"src": f"{ROOT}/static/embed.js", "async": None}
    given = element.one("tilewise-widget")
    assert given == {"machine": "online-softmax", "scores": "1,3,2", "format": "float32", "step": "2"}
    assert element.one("img")["alt"] == NASTY
    assert element.one("a")["href"] == nasty.page


def test_markdown_makes_one_linked_picture(nasty):
    page = Read(MarkdownIt("commonmark").render(nasty.markdown))
    assert [tag for tag, _ in page.tags] == ["p", "a", "img"]
    assert page.one("img") == {"src": nasty.png, "alt": NASTY}
    assert page.one("a")["href"] == nasty.page


def test_latex_leaves_nothing_bare(nasty):
    for line in nasty.latex.splitlines():
        if line.startswith("%"):
            continue
        assert not re.search(r"(?<!\\)[%#&~]", line)
        depth = 0
        for sign in re.findall(r"\\[{}]|[{}]", line):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            assert depth >= 0
        assert depth == 0
    target = re.search(r"\\href\{(.*?)\}\{\\includegraphics", nasty.latex)[1]
    assert re.sub(r"\\([%#&])", r"\1", target) == nasty.page


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_caption_is_plain_letters_to_tex(name):
    machine = MACHINES[name]
    for preset in BY_NAME[name].presets:
        for step, one in enumerate(snapshots(machine, preset.spec)):
            said = tex(one["caption"])
            strange = {f"{letter} {unicodedata.name(letter)}" for letter in said if ord(letter) > 126}
            assert not strange, (preset.name, step)
            if step == 12:
                break


@pytest.mark.parametrize("name", sorted(PAGES))
def test_each_address_leads_back_to_its_state(client, name):
    machine = MACHINES[name]
    for preset in BY_NAME[name].presets:
        steps = machine.steps(preset.spec)
        one = snapshot(machine, preset.spec, steps // 2)
        found = share(one, "http://testserver")
        for url in (found.page, found.embed):
            given = {key: values[-1] for key, values in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}
            assert int(given.pop("step")) == one["step"]
            spec = parse(machine, given, "page")
            assert snapshot(machine, spec, one["step"]) == one
        assert client.get(found.svg).status_code == 200
        assert found.oembed.startswith("http://testserver/oembed?url=http%3A%2F%2Ftestserver%2Fwidgets%2F")
        assert unquote(found.oembed.partition("url=")[2].partition("&format=")[0]) == found.page


def test_what_is_listed_is_what_is_made():
    found = share(shot(), ROOT)
    assert [name for name, _, _ in found.snippets] == ["link", "iframe", "script", "slide", "jsx", "notebook", "html", "markdown", "latex"]
    assert [name for name, _, _ in found.downloads] == ["svg", "png", "gif", "csv", "json", "qr"]
    assert "step=" not in found.gif + found.csv + found.json


def test_a_run_too_long_for_a_page_is_not_shared():
    with pytest.raises(KeyError):
        share(shot(scores=(1.0,) * 65), ROOT)
