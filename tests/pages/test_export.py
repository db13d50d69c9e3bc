"""The course as plain files, served under a path by a server that knows nothing but files, and walked."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import resvg_py
from PIL import Image, ImageChops
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
    (top / "said").write_text(made.stderr + made.stdout)
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


def test_it_is_small_and_says_how_far_it_is(folder: Path):
    sizes = [one.stat().st_size for one in (folder / "a/course").rglob("*") if one.is_file()]
    assert sum(sizes) <= 10_000_000
    said = (folder / "said").read_text()
    assert re.search(r"export: \d+ pages and pictures made", said)
    assert f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB" in said


def test_every_address_has_its_file(folder: Path):
    root = folder / "a" / "course"
    known = json.loads((root / "addresses.json").read_text())
    assert len(known) > 200
    assert all((root / name).is_file() for name in known.values())
    assert sum("offset=" in one for one in known) > 90


def test_a_picture_without_its_server_says_so_and_shows_no_other(folder: Path):
    assert "no server" in (folder / "a/course/figures/online-softmax.svg").read_text()


def test_a_picture_looks_as_the_site_draws_it(folder: Path, site: str):
    lesson = (folder / "a/course/lessons/splitting-a-row/index.html").read_text()
    file = re.search(r'src="\.\./\.\./(figures/merge-\w+\.svg)"', lesson)
    known = json.loads((folder / "a/course/addresses.json").read_text())
    assert file
    address = next(one for one, name in known.items() if name == file[1])
    with urllib.request.urlopen(f"{site}/{address}", timeout=30) as answer:
        there = answer.read().decode()
    pixels = [
        Image.open(BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=one)))).convert("L")
        for one in (there, (folder / "a/course" / file[1]).read_text())
    ]
    assert (
        max(value for value, count in enumerate(ImageChops.difference(*pixels).histogram()) if count) < 40
    )  # edges are smoothed otherwise


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


@pytest.mark.parametrize("where", ["embed", "widgets"])
def test_an_address_that_it_does_not_hold_is_said_and_shows_no_other_example(reader: Page, copy: str, where: str):
    reader.goto(f"{copy}{where}/online-softmax/?scores=2,7,1&step=1")
    expect(reader.locator('[data-part="error"]')).to_contain_text("scores=2,7,1")
    expect(reader.locator("[data-widget]")).to_have_count(0)


def test_an_embed_of_a_preset_takes_it_from_the_widgets_page(reader: Page, copy: str):
    reader.goto(f"{copy}embed/online-softmax/?scores=6,5,4,3,2,1&format=float32&step=3")
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
    other = reader.locator('section[data-kind="number"]').nth(1)
    other.locator("[name=answer]").fill("3")
    other.locator('[data-action="check"]').click()
    expect(other.locator('[data-part="feedback"]')).to_contain_text("not part of this copy")
    expect(other.locator('[data-part="feedback"]')).not_to_contain_text("try again")


def test_a_choice_is_judged_without_a_server_and_its_key_is_not_in_the_page(reader: Page, copy: str, site: str):
    reader.goto(f"{copy}lessons/online-softmax/")
    question = reader.locator('section[data-kind="choice"]:has(script[data-part="judged"])').first
    name = question.get_attribute("data-quiz")
    held = json.loads(question.locator('script[data-part="judged"]').text_content() or "")
    answers = [one.removeprefix("=") for one in held if one.startswith("=")]
    assert len(answers) > 1
    assert held["key"] not in answers
    verdicts = []
    for place in answers:
        question.locator(f'[name=answer][value="{place}"]').check()
        question.locator('[data-action="check"]').click()
        with urllib.request.urlopen(f"{site}/lessons/online-softmax/quizzes/{name}?answer={place}", timeout=30) as answer:
            there = re.search(rf'data-quiz="{name}"[^>]* data-verdict="(\w+)"', answer.read().decode())
        assert there
        expect(question).to_have_attribute("data-verdict", there[1])
        expect(question.locator('[data-part="feedback"]')).to_contain_text("Right" if there[1] == "right" else "Not yet")
        verdicts.append(there[1])
    assert verdicts.count("right") == 1


def test_opened_as_files_its_pages_are_read_with_pictures_links_and_held_steps(browser: Browser, folder: Path):
    page = browser.new_page()
    page.goto((folder / "a/course/index.html").as_uri())
    page.locator("header.site").get_by_role("link", name="Lessons").click()
    page.get_by_role("link", name=re.compile("online softmax", re.IGNORECASE)).last.click()
    picture = page.locator("figure[data-live] img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('figure[data-live] img').naturalWidth > 0")
    page.locator('figure[data-live] [data-part="how"] a').first.click()
    page.wait_for_url(re.compile(r"/widgets/.*index\.html\?"))
    expect(page.locator('[data-part="caption"]')).to_be_visible()
    expect(page.locator(".transport").first).to_be_hidden()
    expect(page.locator('[data-part="held"] a').first).to_be_visible()
    page.goto((folder / "a/course/embed/online-softmax/index.html").as_uri() + "?scores=2,7,1")
    expect(page.locator('[data-part="error"]')).to_contain_text("does not hold")
    page.goto((folder / "a/course/lessons/online-softmax/index.html").as_uri())
    page.locator("section[data-quiz]").first.locator('[data-action="show"]').click()
    expect(page.locator('[data-part="feedback"] .feedback')).to_be_visible()
    page.close()


def test_without_script_a_preset_is_a_page(browser: Browser, copy: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{copy}widgets/online-softmax/")
    page.get_by_role("link", name="Falling", exact=True).click()
    expect(page.locator('[data-part="position"]')).to_have_text("0 of 6")
    context.close()
