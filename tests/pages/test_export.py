"""The course as plain files, served under a path by a server that knows nothing but files, and walked."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Watch
from tests.hosting.servers import until
from tests.pages.driver import Api, Widget, walk


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Path:
    """The copy, made by the first of the test processes that wants it."""
    top = tmp_path_factory.getbasetemp().parent / f"copy-{testrun_uid}"
    whole = top / "whole"
    try:
        top.mkdir()
    except FileExistsError:
        until(whole.exists, "another process has made the copy", 200)
        return top
    made = subprocess.run(
        [sys.executable, "-m", "app", "export", str(top / "a" / "course"), "--base", "https://me.example/course/"],
        capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "TILEWISE_LOG_LEVEL": "error"},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    whole.touch()
    return top


@pytest.fixture(scope="session")
def copy(folder: Path) -> Iterator[str]:
    """Where the copy is served, under a path."""

    class Files(SimpleHTTPRequestHandler):
        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/a/course/"
    server.shutdown()


@pytest.fixture
def reader(browser: Browser, copy: str) -> Iterator[Page]:
    """A page that may ask for nothing outside the copy; at the end nothing may have gone wrong on it."""
    watch = Watch(copy)
    context = browser.new_context()
    context.set_default_timeout(15_000)
    watch.over(context)
    yield context.new_page()
    context.close()
    watch.verdict()


def test_every_link_of_every_page_leads_to_a_file(folder: Path):
    root = folder / "a" / "course"
    pages = sorted(root.rglob("*.html"))
    assert len(pages) > 100
    missing = set()
    for page in pages:
        text = page.read_text()
        assert "copy.invalid" not in text
        assert "~copy~" not in text
        for link in re.findall(r'\s(?:href|src|srcset|data-live)="([^"]*)"', text):
            plain = unescape(link).split(" ")[0]
            if urlsplit(plain).scheme or plain.startswith("#"):
                continue
            assert not plain.startswith("/"), f"{page}: {plain} is not relative"
            path = unquote(urlsplit(plain).path)
            there = (page.parent / path).resolve() if path else page
            if not (there.is_file() or (there / "index.html").is_file() or (there / "index.json").is_file()):
                missing.add(re.sub(r"\?.*", "", str(there.relative_to(root))))
    assert not {one for one in missing if not one.startswith(("share", "oembed", "api"))}


def test_every_address_has_its_file(folder: Path):
    root = folder / "a" / "course"
    known = json.loads((root / "addresses.json").read_text())
    assert len(known) > 200
    assert all((root / name).is_file() for name in known.values())
    assert sum("offset=" in one for one in known) > 90


def test_whole_addresses_are_where_the_copy_will_be(folder: Path):
    text = (folder / "a/course/lessons/online-softmax/index.html").read_text()
    assert re.search(r'rel="canonical" href="https://me\.example/course/', text)


def test_nothing_is_written_over(folder: Path):
    again = subprocess.run(
        [sys.executable, "-m", "app", "export", str(folder / "a" / "course")], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_a_reader_walks_it_as_the_site_itself(reader: Page, copy: str, api: Api):
    walk(reader, copy.rstrip("/"), api, live=False)


def test_presets_and_the_slider_work_and_own_scores_are_refused_in_words(reader: Page, copy: str):
    reader.goto(f"{copy}widgets/online-softmax/")
    widget = Widget(reader)
    widget.ready()
    widget.slide("offset", 90)
    expect(widget.mark("failed")).to_have_attribute("data-on", re.compile("yes|no"))
    expect(widget.part("offset")).to_have_text("+90")
    widget.slide("step", 8)
    expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
    widget.press("back")
    widget.at(7, 8)
    reader.get_by_role("link", name="Falling", exact=True).click()
    widget.at(0, 6)
    widget.field("offset").fill("7")
    expect(widget.part("shared")).to_contain_text("not part of this copy")
    reader.locator("details.own summary").click()
    expect(reader.locator('[data-part="copy"]')).to_contain_text("without its server")
    expect(widget.field("scores")).not_to_be_editable()


def test_a_link_to_a_state_opens_it(reader: Page, copy: str):
    reader.goto(f"{copy}widgets/online-softmax/?scores=6,5,4,3,2,1&format=float32&step=3")
    Widget(reader).at(3, 6)


def test_an_embed(reader: Page, copy: str):
    reader.goto(f"{copy}embed/online-softmax/")
    widget = Widget(reader)
    widget.ready()
    widget.press("next")
    widget.at(1, 8)


def test_a_question_shows_its_answer_and_says_who_would_judge(reader: Page, copy: str):
    reader.goto(f"{copy}lessons/online-softmax/")
    question = reader.locator("section[data-quiz]").first
    question.locator('[data-action="show"]').click()
    expect(question.locator('[data-part="feedback"] .feedback')).to_be_visible()
    other = reader.locator("section[data-quiz]").nth(1)
    other.locator('[data-action="check"]').click()
    expect(other.locator('[data-part="feedback"]')).to_contain_text("not part of this copy")


def test_without_script_a_preset_is_a_page(browser: Browser, copy: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{copy}widgets/online-softmax/")
    page.get_by_role("link", name="Falling", exact=True).click()
    expect(page.locator('[data-part="position"]')).to_have_text("0 of 6")
    context.close()
