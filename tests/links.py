"""`python -m tests.links`: every inner link of the site's pages and of the Markdown files leads somewhere."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from starlette.testclient import TestClient

from app.main import create_app

ROOT = Path(__file__).parent.parent
SITE = "http://testserver"
MOST = 2000  # pages and files visited: more means that links have no end


class Page(HTMLParser):
    """The links out of a page, and the names inside it that a link may point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.names.add(value)
            if value and name in ("href", "src"):
                self.links.add(value)


def broken_on_site() -> list[str]:
    wrong: list[str] = []
    with TestClient(create_app()) as client:
        pages: dict[str, Page | None] = {}
        waiting = [(SITE + "/", "the start")]
        while waiting and len(pages) < MOST:
            address, origin = waiting.pop()
            url, anchor = urldefrag(address)
            if urlsplit(url).netloc != urlsplit(SITE).netloc:
                continue
            if url not in pages:
                answer = client.get(url)
                if answer.status_code != 200:
                    wrong.append(f"{origin}: {address} answers {answer.status_code}")
                is_page = answer.headers.get("content-type", "").startswith("text/html")
                pages[url] = page = Page(answer.text) if is_page else None
                if page:
                    onward = [urljoin(url, link) for link in sorted(page.links)]
                    waiting += [(link, url) for link in onward if not (is_state(url) and is_state(link))]
            found = pages[url]
            if anchor and found and anchor not in found.names:
                wrong.append(f"{origin}: nothing is named #{anchor} in {url}")
        if waiting:
            wrong.append(f"more than {MOST} addresses: links have no end")
    return wrong


def is_state(url: str) -> bool:
    """One of the endless many states of a widget: each is visited where a lesson or a bare page leads to it, and not from one another."""
    parts = urlsplit(url)
    return bool(parts.query) and parts.path.startswith(("/widgets/", "/embed/", "/share/", "/figures/"))


def broken_in_files() -> list[str]:
    wrong = []
    for file in sorted(ROOT.glob("*.md")) + sorted(
        path for room in ("app", "static", "templates", "lessons", "tests") for path in (ROOT / room).rglob("*.md")
    ):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text()):
            if re.match(r"(lesson|run|widget|guide|code):", target):
                continue  # `python -m app check` follows these
            if "://" not in target and not (file.parent / target).exists():
                wrong.append(f"{file.relative_to(ROOT)}: {target} is not there")
    return wrong


if __name__ == "__main__":
    broken = broken_on_site() + broken_in_files()
    print("\n".join(broken) or "links: none broken")
    sys.exit(bool(broken))
