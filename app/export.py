"""The whole course as plain files: every page is asked of the site itself, and its links are turned into links between files.

Links are relative, so the copy works under any path: on GitHub Pages, in a learning platform's zip. What only a server
can do, the copy says it cannot.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from app.assets import Assets, load
from app.embedding import IDLE
from app.lessons.course import Catalog
from app.page import typed_in
from app.runs import spec_of
from app.snapshot import MAX_COUNT
from app.specs import query
from app.stories import PAGES, PICTURES

_HERE = "http://copy.invalid"  # the address the site is asked under, which stands in no file
_ROOT = "/~copy~"
_LINK = re.compile(r"""(?P<before>\s(?:href|src|srcset|data-live|data-base|data-static|action|content)=")(?P<url>[^"]*)""")
_FOLLOWED = re.compile(r"""<(?:a|link|img|source|script|iframe|figure)\b[^>]*>""")
_TYPES = {"text/html": "index.html", "application/json": "index.json"}
_LEFT = ("/static/", "/oembed", "/share/", "/api/")  # not followed: files are known, and the rest is a server's
_SHARING = re.compile(r'<details\b[^>]*data-part="sharing".*?</details>', re.DOTALL)
_OEMBED = re.compile(r'<link\b[^>]*type="application/json\+oembed"[^>]*>\n?')
_QR = re.compile(r"""<img\b[^>]*src="[^"]*\.qr\.svg[^>]*>""")
_OWN = re.compile(r"<(textarea|input type=\"text\")(?=[^>]* name=\"(?!answer))")
_SAID = '<p class="notice" data-part="copy">This is a copy of the site without its server: it has its own examples only. With the site itself you can enter your own.</p>'


class Refused(Exception):
    """The site does not give what a page links to."""


def export(app: Any, folder: Path, base: str = "") -> int:
    """Write the course to a folder; how many files there are. Raises FileExistsError where something is there already.

    base   where the copy will be, such as https://host/course/, for what must be a whole address; "" where that is not known
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(folder)
    copy = Copy(app, base)
    asyncio.run(copy.gather())
    files = copy.files()
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return len(files)


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
            given = query(PAGES[name].machine, preset.spec)
            yield f"/widgets/{name}?{given}"
            yield f"/embed/{name}?{given}"
            if name in PICTURES:
                yield f"/figures/{name}.svg?{given}&step={PAGES[name].machine.steps(preset.spec)}"


class Copy:
    """Files in the making. `pages` holds what was answered, by address; `names` the file of each address."""

    def __init__(self, app: Any, base: str) -> None:
        self.app, self.base = app, base.rstrip("/")
        self.assets: Assets = load()
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.names: dict[str, str] = {}
        self.aliases: dict[str, str] = {}

    async def gather(self) -> None:
        waiting = deque(starts())
        while waiting:
            address = waiting.popleft()
            if address in self.pages:
                continue
            kind, body = await ask(self.app, address)
            self.pages[address] = kind, body
            self.names[address] = name_of(address, kind)
            if kind == "text/html":
                waiting += self.followed(address, body.decode())
                waiting += self.more(address, body.decode())
        await self.slider()

    def followed(self, address: str, page: str) -> Iterator[str]:
        """The links that the copy follows: all of a lesson's; of a widget's first page those to its presets and switches."""
        widget = address.startswith(("/widgets/", "/embed/"))
        if widget and "?" in address:
            return
        for tag in _FOLLOWED.findall(page):
            for found in _LINK.finditer(tag):
                link = inside(unescape(found["url"]), address)
                if link is None or "data-base" in found["before"] or link.startswith(_LEFT) or ".qr.svg?" in link:
                    continue
                if not (widget and "?" in link and 'data-action="preset"' not in tag):
                    yield link

    def more(self, address: str, page: str) -> Iterator[str]:
        """The parts of a run that its page does not carry."""
        found = re.search(r'<script type="application/json" data-swap="run">(.*?)</script>', page, re.DOTALL)
        if found:
            run = json.loads(found[1])["run"]
            then = run["start"] + run["count"]
            if run["start"] == 0 and then <= run["steps"]:
                yield _part(run["snapshots"][0]["links"]["self"], then)

    async def slider(self) -> None:
        """Each position of the first example's slider, and each format, as the widget's form asks for them and as a link says them."""
        widget = next(one for one in PAGES.values() if one.slider)
        machine, (field, positions) = widget.machine, widget.slider or ("", range(0))
        form = typed_in(machine, widget.presets[0].spec)
        formats = next(one.choices for one in machine.fields if one.name == "format")
        wanted = [{field: str(position)} for position in positions] + [{"format": one} for one in formats]
        for change in wanted:
            given = form | change
            address = f"/widgets/{widget.name}?" + "&".join(f"{name}={quote(value)}" for name, value in given.items() if value)
            kind, body = await ask(self.app, address)
            self.pages[address], self.names[address] = (kind, body), name_of(address, kind)
            self.aliases[key_of(f"/widgets/{widget.name}?{query(machine, spec_of(machine, given))}")] = self.names[address]
        for name in sorted(PAGES):
            for preset in PAGES[name].presets:
                typed = {**typed_in(PAGES[name].machine, preset.spec)}
                self.aliases[key_of(f"/widgets/{name}?" + "&".join(f"{one}={quote(value)}" for one, value in typed.items()))] = self.names[
                    f"/widgets/{name}?{query(PAGES[name].machine, preset.spec)}"
                ]

    def files(self) -> dict[str, bytes]:
        """Every file by its name."""
        found = {f"static/{self.assets.stamp}/{name}": one.coded[""] for name, one in self.assets.files.items()}
        found["static/embed.js"] = self.assets.files["embed.js"].coded[""]
        for address, (kind, body) in self.pages.items():
            name = self.names[address]
            found[name] = self.page(name, address, body.decode()).encode() if kind == "text/html" else body
        known = {key_of(address): name for address, name in self.names.items()}
        found["addresses.json"] = json.dumps({**self.aliases, **known}, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        found[".nojekyll"] = b""
        return found

    def page(self, name: str, address: str, page: str) -> str:
        """A page with its links turned, its own fields shut, and what lets its scripts find files."""
        up = "../" * name.count("/") or "./"

        def turned(found: re.Match[str]) -> str:
            return found["before"] + ", ".join(self.link(one, address, up, "href" in found["before"]) for one in found["url"].split(", "))

        for gone in (_OEMBED, _SHARING, _QR):
            page = gone.sub("", page)
        page = _LINK.sub(turned, page)
        if address.startswith("/widgets/"):
            page = _OWN.sub(r"<\1 readonly", page)
            page = re.sub(r'(<details class="own"[^>]*>\s*<summary>.*?</summary>)', rf"\1{_SAID}", page, flags=re.DOTALL)
        script = f'<script defer src="{up}static/{self.assets.stamp}/js/copy.js"></script>'
        page = page.replace("<head>", f"<head>{script}", 1)
        return (
            re.sub(r"<html\b", f'<html data-copy="{up}"', page, count=1)
            .replace(_HERE + _ROOT, self.base)
            .replace(_HERE, self.base)
            .replace(f"{_ROOT}/", up)
            .replace(_ROOT, up.rstrip("/"))
        )

    def link(self, link: str, address: str, up: str, followed: bool) -> str:
        """Where a link of a page leads in the copy."""
        plain = unescape(link)
        inner = inside(plain, address)
        if inner is None:
            return link
        anchor = plain.partition("#")[2]
        if plain.startswith(_HERE):
            return link.replace(_HERE + _ROOT, self.base) if self.base else link.replace(_HERE + _ROOT, up.rstrip("/"))
        there = self.names.get(inner)
        if there is None:  # a folder, or an address that only script can make out: its page, and the query after it
            where, _, given = inner.partition("?")
            page = self.names.get(where)
            there = (page.removesuffix("index.html") if page else where.lstrip("/")) + (f"?{given}" if given else "")
        elif "track=" in inner or (followed and "?" in inner and inner.startswith("/widgets/")):  # scripts read the query
            there = there.removesuffix("index.html") + "?" + inner.partition("?")[2]
        else:
            there = there.removesuffix("index.html")
        return (up + there + (f"#{anchor}" if anchor else "")).replace("&", "&amp;")


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
    pairs = sorted((name, value) for name, value in parse_qsl(given) if value and name not in IDLE)
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
