"""The whole course as plain files: every page is asked of the site itself, and its links are turned into links between files.

Links are relative and name files, so the copy works under any path: on GitHub Pages, in a learning platform's zip, and, as far as a browser
lets files load files, straight from a folder. What only script asks for is packed. What only a server can do, the copy says it cannot.
"""

import asyncio
import gzip
import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from itertools import combinations, permutations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from app.assets import Assets, load
from app.charts.outlines import shared
from app.embedding import IDLE
from app.lessons.course import Catalog
from app.page import typed_in
from app.runs import spec_of
from app.snapshot import MAX_COUNT
from app.specs import query
from app.stories import PAGES, PICTURES

_LINKS_TO_PRESETS = re.compile(rb'<nav class="presets".*?</nav>', re.DOTALL)
_WIDGET = re.compile(rb'<section class="widget".*</section>', re.DOTALL)
_HERE = "http://copy.invalid"  # the address the site is asked under, which stands in no file
_ROOT = "/~copy~"
_LINKS = ("href", "src", "srcset", "data-live", "data-base", "data-static", "action", "content")
_FOLLOWED = ("a", "link", "img", "source", "script", "iframe", "figure")
_TYPES = {"text/html": "index.html", "application/json": "index.json"}
_LEFT = ("/static/", "/oembed", "/share/", "/api/")  # not followed: files are known, and the rest is a server's
_VOID = ("img", "link", "meta", "input", "source", "br", "hr")
_SAID = '<p class="notice" data-part="copy">This is a copy of the site without its server: it has its own examples only. With the site itself you can enter your own.</p>'
_HELD = (
    '<p class="notice" data-part="held" hidden>Opened as a file, or without script, this page shows one step. Steps that this copy holds: {}.</p>'
    '<noscript><style>[data-part="held"][hidden] {{ display: block !important }} .transport {{ display: none }}</style></noscript>'
)
_NO_PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 60" width="700" height="60" role="img" font-family="sans-serif">
<rect width="700" height="60" fill="#fffdf8" /><text x="16" y="26" font-size="15" fill="#1c2330">This copy of Tilewise has no server, so it cannot draw the picture of an address.</text>
<text x="16" y="48" font-size="15" fill="#1c2330">The pictures that it holds stand in its lessons.</text></svg>
"""
JUDGED = 24  # so many answers of a question are judged ahead at the most
EVERY = 3.0  # seconds between two lines on how far it is

Attributes = dict[str, str | None]
Say = Callable[[str], None]


class Refused(Exception):
    """The site does not give what a page links to."""


def export(app: Any, folder: Path, base: str = "", say: Say = lambda words: None) -> tuple[int, int]:
    """Write the course to a folder; how many files there are, and their bytes. Raises FileExistsError where something is there already.

    base   where the copy will be, such as https://host/course/, for what must be a whole address; "" where that is not known
    say    is told how far it is, every few seconds
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(folder)
    copy = Copy(app, base, say)
    asyncio.run(copy.gather())
    files = copy.files()
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return len(files), sum(map(len, files.values()))


def starts() -> Iterator[str]:
    """What is asked for first; the rest is found by following links."""
    yield from ("/", "/lessons/", "/api/v1/machines", "/favicon.ico")
    catalog = Catalog()
    for lesson in catalog.lessons:
        for track in ("", "?track=deep"):
            yield f"/lessons/{lesson.slug}{track}"
        for name in lesson.quizzes:
            yield f"/lessons/{lesson.slug}/quizzes/{name}?show=1"
    for guide in catalog.guides:
        yield f"/guide/{guide.slug}"
    for name in sorted(PAGES):
        yield f"/widgets/{name}"
        yield f"/embed/{name}"
        for preset in PAGES[name].presets:
            yield f"/widgets/{name}?{query(PAGES[name].machine, preset.spec)}"


class Copy:
    """Files in the making. `pages` holds what was answered, by address; `names` the file of each address."""

    def __init__(self, app: Any, base: str, say: Say) -> None:
        self.app, self.base, self.say = app, base.rstrip("/"), say
        self.assets: Assets = load()
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.names: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.runs: dict[str, bytes] = {}
        self.drawn: dict[bytes, str] = {}
        self.judged: dict[str, dict[str, str]] = {}
        self.asked, self.told = 0, time.monotonic()
        self.first = {name: query(PAGES[name].machine, PAGES[name].presets[0].spec) for name in PAGES}

    async def ask(self, address: str, left: int) -> tuple[str, bytes]:
        self.asked += 1
        if time.monotonic() - self.told > EVERY:
            self.told = time.monotonic()
            self.say(f"{self.asked:,} pages and pictures made{f', at most {left:,} to come' if left else ''}")
        return await ask(self.app, address)

    async def gather(self) -> None:
        waiting = deque(starts())
        while waiting:
            address = self.plain(waiting.popleft())
            if address in self.pages:
                continue
            kind, body = await self.ask(address, len({self.plain(one) for one in waiting} - self.pages.keys()))
            self.pages[address] = kind, body
            self.names[address] = name_of(address, kind)
            if kind == "image/svg+xml":  # pictures that are one and the same are one file
                self.names[address] = self.drawn.setdefault(body, self.names[address])
            if kind == "text/html":
                seen = Seen(body.decode())
                waiting += self.followed(address, seen)
                waiting += self.more(seen)
                for slug, quiz, answers in questions(address, seen):
                    await self.judge(slug, quiz, answers)
        await self.slider()

    def plain(self, address: str) -> str:
        """The address under which a page is held: an embed's spec by its widget's page, step 0 and the first example by the page without them."""
        path, _, given = address.partition("?")
        top, _, name = path.strip("/").partition("/")
        if top not in ("widgets", "embed") or not given:
            return address
        given = "&".join(pair for pair in given.split("&") if pair != "step=0")
        return f"/widgets/{name}" + (f"?{given}" if given and given != self.first.get(name) else "")

    def followed(self, address: str, seen: "Seen") -> Iterator[str]:
        """The links that the copy follows: all of a lesson's; of a widget's first page those to its presets and switches."""
        widget = address.startswith(("/widgets/", "/embed/"))
        if widget and "?" in address:
            return
        for tag, given in seen.tags:
            for name in _LINKS if tag in _FOLLOWED else ():
                link = inside(given.get(name) or "", address) if name in given and name != "data-base" else None
                if link is None or link.startswith(_LEFT) or ".qr.svg?" in link:
                    continue
                if not (widget and "?" in link and given.get("data-action") != "preset"):
                    yield link

    def more(self, seen: "Seen") -> Iterator[str]:
        """The parts of a run that its page does not carry."""
        if seen.run:
            run = json.loads(seen.run)["run"]
            then = run["start"] + run["count"]
            if run["start"] == 0 and then <= run["steps"]:
                yield _part(run["snapshots"][0]["links"]["self"], then)

    async def judge(self, slug: str, quiz: str, answers: list[tuple[str, ...]]) -> None:
        """What each answer of a question earns, as the site judges it. The right one is known by its digest only."""
        if f"{slug} {quiz}" in self.judged:
            return
        found: dict[str, str] = {"salt": f"{slug} {quiz}"}
        for answer in answers:
            _, body = await self.ask(f"/lessons/{slug}/quizzes/{quiz}?" + "&".join(f"answer={one}" for one in answer), 0)
            seen = Seen(body.decode())
            verdict = seen.verdicts[quiz]
            head, words = seen.feedback
            found[verdict] = head
            found[f"={','.join(answer)}"] = words
            if verdict == "right":
                found["key"] = digest(f"{found['salt']} {','.join(answer)}")
        self.judged[found["salt"]] = found

    async def slider(self) -> None:
        """Each position of a slider, and each format of its first example, as the widget's form asks for them and as a link says them."""
        for widget in PAGES.values():
            if widget.slider:
                machine, (field, positions) = widget.machine, widget.slider
                form = typed_in(machine, widget.presets[0].spec)
                formats = next(one.choices for one in machine.fields if one.name == "format")
                for change in [{field: str(position)} for position in positions] + [{"format": one} for one in formats]:
                    given = form | change
                    address = f"/widgets/{widget.name}?" + "&".join(f"{name}={quote(value)}" for name, value in given.items() if value)
                    kind, body = await self.ask(address, 0)
                    body = _LINKS_TO_PRESETS.sub(b"", _WIDGET.findall(body)[0])  # all that a script takes from it
                    self.pages[address], self.names[address] = (kind, body), f"{name_of(address, kind)}.gz"
                    self.aliases[key_of(f"/widgets/{widget.name}?{query(machine, spec_of(machine, given))}")] = self.names[address]
        for name in sorted(PAGES):
            for preset in PAGES[name].presets:
                linked = query(PAGES[name].machine, preset.spec)
                file = self.names[self.plain(f"/widgets/{name}?{linked}")]
                typed = "&".join(f"{one}={quote(value)}" for one, value in typed_in(PAGES[name].machine, preset.spec).items())
                self.aliases |= {key_of(f"/widgets/{name}?{one}"): file for one in (linked, typed)}

    def files(self) -> dict[str, bytes]:
        """Every file by its name."""
        shown = {
            name
            for name in self.assets.files
            if not name.endswith((".png", ".gif")) or any(name.encode() in body for _, body in self.pages.values())
        }
        found = {f"static/{self.assets.stamp}/{name}": self.assets.files[name].coded[""] for name in shown}
        found["static/embed.js"] = self.assets.files["embed.js"].coded[""]
        for address, (kind, body) in self.pages.items():
            name = self.names[address]
            made = body
            if kind == "text/html":
                made = self.page(name, address, body.decode()).encode()
            elif kind == "image/svg+xml":
                made = shared(body.decode()).replace('" />', '"/>').encode()
            found[name] = _packed(made) if name.endswith(".gz") else made
        found |= {f"figures/{name}.svg": _NO_PICTURE.encode() for name in PICTURES}
        known = {key_of(address): name for address, name in self.names.items() if "?" in address or address.startswith("/widgets/")}
        found["addresses.json"] = json.dumps({**self.aliases, **known}, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        found[".nojekyll"] = b""
        return found | {name: _packed(body) for name, body in self.runs.items()}

    def page(self, name: str, address: str, page: str) -> str:
        """A page with its links turned, its own fields shut, its run in a file of its own, and what lets its scripts find files."""
        turned = Turned(self, address, "../" * name.count("/") or "./", page)
        up = turned.up
        return (
            "".join(turned.out)
            .replace(_HERE + _ROOT, self.base or up.rstrip("/"))
            .replace(_HERE, self.base or up.rstrip("/"))
            .replace(f"{_ROOT}/", up)
            .replace(_ROOT, up.rstrip("/"))
        )

    def run_file(self, run: str) -> str:
        name = f"runs/{sha256(run.encode()).hexdigest()[:12]}.json.gz"
        self.runs[name] = run.encode()
        return name

    def steps(self, address: str) -> dict[int, str]:
        """The steps of a widget page's run that have files of their own, first to last."""
        spec = {pair for pair in self.plain(address).partition("?")[2].split("&") if not pair.startswith("step=")} - {""}
        path = address.partition("?")[0]
        found = {}
        for other, name in self.names.items():
            where, _, given = other.partition("?")
            pairs = set(given.split("&")) - {""}
            step = next((pair for pair in pairs if pair.startswith("step=")), "step=0")
            rest = pairs - {step}
            same = {frozenset(spec), frozenset() if "&".join(spec) == self.first[path.rpartition("/")[2]] else frozenset(spec)}
            if where == path and frozenset(rest) in same and not name.endswith(".gz"):
                found[int(step[5:])] = name
        return dict(sorted(found.items()))

    def link(self, plain: str, address: str, up: str, to_read: bool) -> str | None:
        """Where a link of a page leads in the copy; None where only a server could answer it."""
        inner = inside(plain, address)
        if inner is None:
            return plain
        anchor = plain.partition("#")[2]
        if plain.startswith(_HERE):
            return plain
        there = self.names.get(self.plain(inner))
        if there is None:  # a folder, or an address that only script can make out: its page, and the query after it
            where, _, given = inner.partition("?")
            if to_read and where.startswith(("/api/", "/share/", "/oembed")):
                return None
            there = (self.names.get(where) or where.lstrip("/")) + (f"?{given}" if given else "")
        elif "track=" in inner or (to_read and "?" in inner and inner.startswith("/widgets/")):  # scripts read the query
            there += "?" + inner.partition("?")[2]
        return up + there + (f"#{anchor}" if anchor else "")


class Seen(HTMLParser):
    """A page as the copy looks at it: tags with their attributes, its run, its questions' verdicts and the first one's feedback."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[tuple[str, Attributes]] = []
        self.run, self.verdicts = "", dict[str, str]()
        self._in_run, self._deep, self._words = False, 0, list[str]()
        self.feed(page)

    @property
    def feedback(self) -> tuple[str, str]:
        """Its heading, and its words as HTML."""
        head, end, words = "".join(self._words).partition("</p>")
        return head + end, words

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self._in_run = tag == "script" and given.get("data-swap") == "run"
        if tag == "section" and given.get("data-quiz"):
            self.verdicts[str(given["data-quiz"])] = given.get("data-verdict") or ""
        if self._deep:
            self._words.append(self.get_starttag_text() or "")
            self._deep += tag == "div"
        elif tag == "div" and (given.get("class") or "").startswith("feedback") and not self._words:
            self._deep = 1

    def handle_endtag(self, tag: str) -> None:
        self._in_run = False
        self._deep -= bool(self._deep) and tag == "div"
        if self._deep:
            self._words.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._in_run:
            self.run += data
        if self._deep:
            self._words.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")


class Turned(HTMLParser):
    """A page as the copy has it, in `out`. What needs no change keeps its very letters."""

    def __init__(self, copy: Copy, address: str, up: str, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.copy, self.address, self.up = copy, address, up
        self.widget = address.startswith(("/widgets/", "/embed/"))
        self.packed = copy.names[address].endswith(".gz")
        self.out: list[str] = []
        self.gone, self.own, self.in_run, self.quiz = 0, False, False, ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: Attributes = dict(attrs)
        if self.gone:
            self.gone += tag == "details"
            return
        if tag == "details" and given.get("data-part") == "sharing":
            self.gone = 1
            return
        previews = (given.get("property") or given.get("name") or "").startswith(
            ("og:image", "twitter:image")
        )  # PNGs, which only a server draws
        if given.get("rel") == "modulepreload" and self.widget:  # static/js/copy.js brings them while the run comes
            return
        if previews or given.get("type") == "application/json+oembed" or (tag == "img" and ".qr.svg" in (given.get("src") or "")):
            return
        before = dict(given)
        for name in _LINKS:
            self.turn(tag, given, name)
        if tag == "html":
            given["data-copy"] = self.up
            if self.widget and "?" in self.address:
                given["data-spec"] = self.address.partition("?")[2]
        elif tag == "script" and given.get("type") == "module" and self.widget:  # after its run: static/js/copy.js
            given["type"] = "text/later"
        elif tag == "script" and given.get("data-swap") == "run" and not self.packed:
            self.in_run = True
            return
        elif self.address.startswith("/widgets/") and (tag == "textarea" or (tag == "input" and given.get("type") == "text")):
            given["readonly"] = None
        self.own = self.own or (tag == "details" and given.get("class") == "own")
        if tag == "section" and given.get("data-quiz") and "/quizzes/" not in self.address:
            self.quiz = f"{self.address.partition('?')[0].removeprefix('/lessons/')} {given['data-quiz']}"
        self.out.append((self.get_starttag_text() or "") if given == before else _tag(tag, given))
        if tag == "head":
            self.out.append(f'<script defer src="{self.up}static/{self.copy.assets.stamp}/js/copy.js"></script>')

    def turn(self, tag: str, given: Attributes, name: str) -> None:
        value = given.get(name)
        if value is None or (name == "data-base" and not value.startswith(_ROOT)):
            return
        links = [self.copy.link(one, self.address, self.up, tag == "a") for one in value.split(", ")]
        if None in links:
            del given[name]
        else:
            given[name] = ", ".join(one for one in links if one is not None)
        if name == "data-base":  # a folder, which script goes on from
            given[name] = self.up

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.gone:
            self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if self.gone:
            self.gone -= tag == "details"
            return
        if tag == "section" and self.quiz in self.copy.judged:
            told = json.dumps(self.copy.judged[self.quiz], ensure_ascii=False).replace("<", "\\u003c")
            self.out.append(f'<script type="application/json" data-part="judged">{told}</script>')
        if tag == "section":
            self.quiz = ""
        self.out.append(f"</{tag}>")
        if tag == "summary" and self.own and self.address.startswith("/widgets/"):
            self.out.append(_SAID)
        self.own = self.own and tag != "summary"
        if tag == "form" and self.widget and self.address.startswith("/widgets/"):
            steps = [
                f'<a href="{self.up}{name}{escape(self.asked(step))}">{step}</a>' for step, name in self.copy.steps(self.address).items()
            ]
            self.out.append(_HELD.format(", ".join(steps)))

    def asked(self, step: int) -> str:
        given = "&".join(pair for pair in self.address.partition("?")[2].split("&") if pair and not pair.startswith("step="))
        return f"?{given}&step={step}" if given else f"?step={step}"

    def handle_data(self, data: str) -> None:
        if self.in_run:
            self.in_run = False
            name = self.copy.run_file(data.replace(_HERE + _ROOT, ""))
            self.out.append(f'<script type="application/json" data-swap="run" data-file="{name}">')
        elif not self.gone:
            self.out.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.out.append(f"<!{decl}>")


def _tag(tag: str, given: Attributes) -> str:
    """
    >>> _tag("a", {"href": "?a=1&b=2", "hidden": None})
    '<a href="?a=1&amp;b=2" hidden>'
    """
    return f"<{tag}" + "".join(f" {name}" if value is None else f' {name}="{escape(value)}"' for name, value in given.items()) + ">"


def questions(address: str, seen: Seen) -> Iterator[tuple[str, str, list[tuple[str, ...]]]]:
    """The questions of a lesson's page whose answers are few enough to be judged ahead: slug, name, and every answer."""
    if not address.startswith("/lessons/") or "/quizzes/" in address:
        return
    slug = address.partition("?")[0].strip("/").partition("/")[2]
    asked: dict[str, tuple[str, list[str], int]] = {}
    quiz = ""
    for tag, given in seen.tags:
        if tag == "section":
            quiz = given.get("data-quiz") or ""
            asked[quiz] = str(given.get("data-kind")), [], 0
        elif quiz and given.get("name") == "answer":
            kind, values, count = asked[quiz]
            asked[quiz] = kind, [*values, given.get("value") or ""], count + 1
    for quiz, (kind, values, count) in asked.items():
        answers: list[tuple[str, ...]] = []
        if kind == "choice":
            answers = [(one,) for one in values]
        elif kind == "several" and 2**count <= JUDGED:
            answers = [some for size in range(1, count + 1) for some in combinations(values, size)]
        elif kind == "order" and count <= 4:
            answers = list(permutations(str(place) for place in range(1, count + 1)))
        if answers:
            yield slug, quiz, answers


def digest(words: str) -> str:
    """A short digest (FNV-1a of 32 bits) that static/js/lesson/questions.js computes too, with no secure context: it hides, and locks nothing.

    >>> digest("online-softmax who 1")
    'cade8aa6'
    """
    found = 0x811C9DC5
    for byte in words.encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{found:08x}"


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)


def inside(link: str, address: str) -> str | None:
    """A link as an address of the site, without its anchor; None where it leads out of it or stays on the page.

    >>> inside("/~copy~/lessons/a?track=deep#b", "/"), inside("?scores=1", "/widgets/merge?x=1"), inside("https://example.org/", "/")
    ('/lessons/a?track=deep', '/widgets/merge?scores=1', None)
    """
    link = link.removeprefix(_HERE).partition("#")[0].split(" ")[0]
    link = link.removesuffix("?track=plain")  # what a lesson without a track is
    if link.startswith("?"):
        return address.partition("?")[0] + link
    if link.startswith(f"{_ROOT}/"):
        return link.removeprefix(_ROOT)
    return None


def name_of(address: str, kind: str) -> str:
    """The file of an address: a folder's index for a page, its own name for a picture or a program.

    >>> name_of("/", "text/html"), name_of("/lessons/a?track=deep", "text/html"), name_of("/lessons/a/code/b.py", "text/x-python")
    ('index.html', 'lessons/a/deep/index.html', 'lessons/a/code/b.py')
    """
    path, _, given = address.partition("?")
    path = unquote(path).strip("/")
    if not given:
        part = ""
    elif given == "track=deep":
        part = "deep"
    elif given == "show=1":
        part = "shown"
    else:
        part = sha256(given.encode()).hexdigest()[:12]
    if kind in _TYPES and path.startswith("api/") and given:
        return f"{path}/{part}.json.gz"
    if kind in _TYPES:
        return "/".join(filter(None, (path, part, _TYPES[kind])))
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{part}{dot}{ending}" if part else path


def key_of(address: str) -> str:
    """An address as static/js/core/run.js looks it up: its fields by name, without what no file goes by.

    >>> key_of("/widgets/merge?scores=1,2&keys=0&offset=&block=2")
    'widgets/merge?block=2&scores=1,2'
    """
    path, _, given = address.partition("?")
    pairs = sorted((name, value) for name, value in parse_qsl(given) if value and name not in IDLE and (name, value) != ("step", "0"))
    return f"{path.lstrip('/')}?{'&'.join(f'{name}={value}' for name, value in pairs)}"


async def ask(app: Any, address: str) -> tuple[str, bytes]:
    """The site's answer: its type and its bytes. Raises Refused where it is none."""
    parts = urlsplit(address)
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    host = urlsplit(_HERE).netloc.encode()
    path = _ROOT + unquote(parts.path)
    await app(
        {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": parts.query.encode(), "root_path": _ROOT, "headers": [(b"host", host)],
            "client": None, "server": None,
        },
        receive, send,
    )  # fmt: skip
    if said[0]["status"] != 200:
        raise Refused(f"{address} is answered with {said[0]['status']}")
    kind = next(value for name, value in said[0]["headers"] if name == b"content-type").decode().partition(";")[0]
    return kind, b"".join(message.get("body", b"") for message in said[1:])


def _part(link: str, start: int) -> str:
    path, _, given = link.partition("?")
    return f"/{path.rpartition('/')[0]}?{given}&start={start}&count={MAX_COUNT}"
