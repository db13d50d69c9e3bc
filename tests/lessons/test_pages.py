"""Lessons on the site: pages, tracks, questions, programs, a host's own folder."""

import gzip
import io
import os
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.lessons.course import Catalog
from app.main import create_app
from app.settings import Settings
from tests.lessons.made import BODY_STARTS, write
from tests.lessons.quiz.test_questions import ALL, PLACED

SLUGS = [one.slug for one in Catalog().lessons]


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings())) as found:
        yield found


@pytest.fixture
def own(tmp_path):
    """A site with a host's own folder, with one lesson in it."""
    folder = write(tmp_path, PLACED + "\n## Sum {#sum}\n\nIt is {{ five[-1].l | to(4) }}.\n\n::: deep\nDeeper.\n:::\n", ALL, order=90)
    (folder / "code").mkdir()
    (folder / "code" / "a.py").write_text("print('a')\n")
    (folder / "code" / "b.py").write_text("print('é')\n")
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as found:
        yield found


def test_a_hosts_program_is_as_it_was_last_written(own, tmp_path):
    path = "/lessons/small/code/a.py"
    assert own.get(path).text == "print('a')\n"
    (tmp_path / "small" / "code" / "a.py").write_text("print('another')\n")
    assert own.get(path).text == "print('another')\n"
    assert "no-cache" in own.get(path).headers["cache-control"]
    with zipfile.ZipFile(io.BytesIO(own.get("/lessons/small/code.zip").content)) as archive:
        assert archive.read("small/a.py") == b"print('another')\n"


def test_programs_of_any_name_and_content_do_no_harm(own, tmp_path):
    code = tmp_path / "small" / "code"
    for name in ("数.py", 'q"q.py', "a b.py"):
        (code / name).write_text("print()\n")
    (code / "latin.py").write_bytes("print('é')\n".encode("latin-1"))
    assert own.get("/lessons/small").status_code == 200
    for name in ("数.py", 'q"q.py', "a b.py"):
        assert own.get(f"/lessons/small/code/{name}").status_code == 404
    assert own.get("/lessons/small/code/latin.py").content == "print('é')\n".encode("latin-1")
    with zipfile.ZipFile(io.BytesIO(own.get("/lessons/small/code.zip").content)) as archive:
        assert archive.namelist() == ["small/a.py", "small/b.py", "small/latin.py"]


def test_half_a_letter_is_said_to_be_one(tmp_path):
    write(tmp_path, "Half: {{ '\\ud800' }}\n", order=90)
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as client:
        answer = client.get("/lessons/small")
    assert answer.status_code == 503
    assert "half of a letter" in answer.text


@pytest.mark.parametrize("shut", ["folder", "lesson.md", "data"])
def test_a_folder_that_may_not_be_read_is_that_lessons_fault_alone(tmp_path, monkeypatch, shut):
    folder = write(tmp_path, "It is {{ data('a.json').b }}.\n", order=90)
    (folder / "data").mkdir()
    (folder / "data" / "a.json").write_text('{"b": 1}')

    def refusing(real):  # the tests may run as root, whom no permission stops
        def asked(self, *given, **more):
            if self == folder / "data" / "a.json" if shut == "data" else folder in self.parents and (shut == "folder" or self.name == shut):
                raise PermissionError(13, "Permission denied", str(self))
            return real(self, *given, **more)

        return asked

    if shut == "folder":
        monkeypatch.setattr(Path, "is_file", refusing(Path.is_file))
        monkeypatch.setattr(Path, "stat", refusing(Path.stat))
    monkeypatch.setattr(Path, "read_text", refusing(Path.read_text))
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get("/lessons/").status_code == 200
        assert client.get("/lessons/online-softmax").status_code == 200
        answer = client.get("/lessons/small")
        assert answer.status_code == 503
        assert "cannot be read: Permission denied" in answer.text


def test_the_course_lists_every_lesson(client):
    page = client.get("/lessons/").text
    for slug in SLUGS:
        assert f'href="/lessons/{slug}"' in page
        assert f'data-course-lesson="{slug}"' in page
    assert re.search(r"Plain</a>, \d+ min", page)
    assert '<a href="/lessons/">Lessons</a>' in client.get("/").text


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("track", ["plain", "deep"])
def test_a_lesson_is_whole_before_any_script(client, slug, track):
    answer = client.get(f"/lessons/{slug}?track={track}")
    page = answer.text
    assert answer.status_code == 200
    assert len(gzip.compress(answer.content)) < 60_000
    assert not re.search(r"\sstyle=|<style|\son\w+=", page)
    assert not re.search(r"<script(?![^>]*(src=|application/json))", page)
    assert "{{" not in re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", page, flags=re.DOTALL)
    assert "\ue000" not in page
    assert "\ue0ff" not in page
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert all(re.search(r'alt="[^"]{10,}"', image) for image in re.findall(r"<img [^>]+>", page))


def test_the_etag_confirms_a_page(client):
    address = f"/lessons/{SLUGS[0]}"
    first = client.get(address)
    again = client.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert first.headers["cache-control"] == "public, max-age=300"


def test_an_unknown_track_is_the_plain_one_and_says_so(client):
    page = client.get(f"/lessons/{SLUGS[0]}?track=<b>")
    assert page.status_code == 200
    assert "There is no track “&lt;b&gt;”" in page.text
    assert 'data-track="plain" data-base' in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/lessons/no-such",
        f"/lessons/{SLUGS[0]}/quizzes/no-such",
        f"/lessons/{SLUGS[0]}/code/no-such.py",
        f"/lessons/{SLUGS[0]}/code/..%2flesson.md",
        f"/lessons/{SLUGS[0]}/code/%2e%2e%2fquizzes.toml",
        f"/lessons/{SLUGS[0]}/code/%2fetc%2fpasswd",
        "/lessons/no-such/code.zip",
        "/lessons/..%2fapp/code/main.py",
        "/guide/no-such",
        "/guide/..%2fREADME",
    ],
)
def test_what_is_not_there(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "That is not here" in answer.text


def test_a_program_is_handed_out(client):
    answer = client.get("/lessons/online-softmax/code/online_softmax.py")
    assert answer.headers["content-type"] == "text/x-python; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="online_softmax.py"'
    assert "def " in answer.text


def test_the_zip_is_the_same_every_time(own, tmp_path):
    first = own.get("/lessons/small/code.zip")
    assert first.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
        assert archive.namelist() == ["small/a.py", "small/b.py"]
        assert archive.read("small/b.py").decode() == "print('é')\n"
    os.utime(tmp_path / "small" / "code" / "a.py", (1, 1))
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as other:
        assert other.get("/lessons/small/code.zip").content == first.content


@pytest.mark.parametrize(
    ("name", "answer", "verdict", "words"),
    [
        ("factor", "answer=0.135", "right", "0.135"),
        ("factor", "answer=7.39", "wrong", "The inverse."),
        ("factor", "show=1", "shown", "0.135"),
        ("factor", "", "", "Which factor?"),
        ("pick", "answer=1", "right", "Yes, the second."),
        ("which", "answer=1&answer=2", "right", "These and no others"),
        ("sort", "answer=1&answer=2&answer=", "wrong", "once"),
        ("break", "answer=12,1,2", "right", "Invalid."),
        ("break", "answer=%3Cscript%3E", "wrong", "&lt;script&gt;"),
        ("factor", "answer=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "wrong", "Type a number"),
        ("factor", "answer=" + "9" * 5000, "wrong", "Type a number"),
        ("which", "&".join("answer=1" for _ in range(100)), "wrong", "One that applies"),
    ],
)
def test_a_question_is_judged_without_script(own, name, answer, verdict, words):
    found = own.get(f"/lessons/small/quizzes/{name}?{answer}")
    assert found.status_code == 200
    assert f'data-verdict="{verdict}"' in found.text
    assert words in found.text
    assert "<script>" not in found.text
    assert 'href="/lessons/small#quiz-' in found.text


def test_the_track_goes_along(own):
    assert '<input type="hidden" name="track" value="deep">' in own.get("/lessons/small?track=deep").text
    assert 'href="/lessons/small?track=deep#quiz-factor"' in own.get("/lessons/small/quizzes/factor?track=deep&answer=1").text
    assert "Deeper." not in own.get("/lessons/small").text


def test_a_lesson_of_the_hosts_own_is_read_again_when_it_changes(own, tmp_path):
    assert "1.5713" in own.get("/lessons/small").text
    assert own.get("/lessons/small").headers["cache-control"] == "no-cache"
    write(tmp_path, "\nNow {{ five[2].l | to(4) }} and half of {{ fiv", order=90)
    (tmp_path / "small" / "quizzes.toml").unlink()
    write(tmp_path, "\nNow {{ fiv[2].l }}.\n", order=90)
    broken = own.get("/lessons/small")
    assert broken.status_code == 503
    assert f"<code>small/lesson.md:{BODY_STARTS + 1}</code>" in broken.text
    assert "&#39;fiv&#39; is undefined" in broken.text
    assert "Traceback" not in broken.text
    assert str(tmp_path) not in broken.text
    assert own.get(f"/lessons/{SLUGS[0]}").status_code in (200, 503)
    assert own.get("/lessons/").status_code == 200
    write(tmp_path, "\nNow {{ five[2].l | to(4) }}.\n", order=90)
    assert "Now 1.1353." in own.get("/lessons/small").text
    write(tmp_path, "\nNew.\n", slug="newcomer", order=91)
    assert "newcomer" in own.get("/lessons/").text


@pytest.mark.parametrize(
    "text", ["", "+++", "+++\n+++\n", "+++\ntitle = 3\n+++\n::: deep", "\x00", "+++\n[runs]\na = { machine = 1 }\n+++\n"]
)
def test_a_half_written_lesson_stops_no_other(tmp_path, text):
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "lesson.md").write_text(text)
    write(tmp_path, "\nWhole.\n", order=90)
    with TestClient(create_app(Settings(lessons_dir=tmp_path))) as client:
        broken = client.get("/lessons/half")
        assert broken.status_code == 503
        assert "half/lesson.md:1" in broken.text
        assert client.get("/lessons/").status_code == 200
        assert "Whole." in client.get("/lessons/small").text


def test_under_a_proxys_path_every_link_has_it(tmp_path):
    write(tmp_path, '\n[x](lesson:small)\n\n[[widget five step=1 title="T"]]\n')
    with TestClient(create_app(Settings(lessons_dir=tmp_path)), root_path="/site") as client:
        page = client.get("/site/lessons/small").text
        assert 'href="/site/lessons/small"' in page
        assert 'src="/site/figures/online-softmax.svg?' in page
        assert 'data-live="/site/embed/online-softmax?' in page
        assert not re.search(r'(href|src|action|data-live)="/(?!site/)', page)


def test_the_guides(client):
    for one in Catalog().guides:
        page = client.get(f"/guide/{one.slug}")
        assert page.status_code == 200
        assert f"<h1>{one.title}</h1>" in page.text
    assert "TILEWISE_LESSONS_DIR" in client.get("/guide/own-lessons").text
