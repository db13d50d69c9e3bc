"""`python -m app check`: what it finds, where, and that prose follows its machines."""

import os
import re
import shutil

import pytest

from app.__main__ import main
from app.lessons import check as checks
from app.lessons.course import LESSONS, Catalog
from app.lessons.markup.code import files
from tests.lessons.made import BODY_STARTS, catalog, html, lesson, write, wrong


def test_a_good_lesson_has_nothing_wrong(tmp_path):
    write(tmp_path, '\n## A {#a}\n\n{{ five[1].l }} [a](#a)\n\n[[figure five step=2 caption="See."]]\n')
    assert wrong(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "down", "words"),
    [
        ("\n## A\n\nsee [b](#b)\n", 3, "nothing is named #b"),
        ("\n::: note\nsee [b](lesson:gone)\n:::\n", 2, "no lesson 'gone'"),
        ("\n| a |\n|--|\n| x |\n| [b](lesson:other#gone) |\n", 4, "nothing is named #gone"),
        ("\nsee [b](guide:gone)\n", 1, "no guide 'gone'"),
        ("\na [b](lesson:other#deep-one)\n", 1, "deep track only"),
        ("\n[c](#inner)\n\n::: deep\n## B {#inner}\n:::\n", 1, "deep track only"),
        ("\nx [b](run:five@9)\n", 1, "no step 9"),
    ],
)
def test_links_are_followed(tmp_path, body, down, words):
    write(tmp_path, "\n::: deep\n## D {#deep-one}\n:::\n", slug="other", order=2)
    write(tmp_path, body)
    found = [one for one in wrong(tmp_path) if words in one]
    assert found, wrong(tmp_path)
    assert all(one.startswith(f"small/lesson.md:{BODY_STARTS + down}: ") for one in found), found


def test_a_link_of_the_deep_track_may_lead_into_it(tmp_path):
    write(tmp_path, "\n::: deep\n## D {#deep-one}\n\n[d](#deep-one) [e](lesson:small#deep-one)\n:::\n")
    assert wrong(tmp_path) == []


def test_prerequisites_come_before(tmp_path):
    write(tmp_path, "\nx\n", slug="late", order=9)
    folder = write(tmp_path, "\nx\n")
    text = (folder / "lesson.md").read_text()
    (folder / "lesson.md").write_text(text.replace("order = 1\n", 'order = 1\nprerequisites = ["late", "gone"]\n'))
    found = wrong(tmp_path)
    assert [one.split(": ", 1)[0] for one in found] == ["small/lesson.md:8", "small/lesson.md:8"]
    assert "is no lesson" in found[0]
    assert "does not come before" in found[1]


def test_changing_the_scores_changes_the_prose(tmp_path):
    body = (
        '\nThe sum is {{ five[-1].l | to(4) }}.\n\n[[trace five columns="step,l" places=4 caption="Ends at {{ five[-1].l | to(4) }}."]]\n'
    )
    assert html(tmp_path, body).count("1.5713") == 3
    changed = html(tmp_path, body, scores="1,3,2,5,5")
    assert "1.5713" not in changed
    assert changed.count("2.2034") == 3


@pytest.mark.parametrize("slug", [path.parent.name for path in sorted(LESSONS.glob("*/lesson.md")) if ", scores = " in path.read_text()])
def test_changing_the_runs_changes_the_lesson_itself(tmp_path, slug):
    """This project's lessons too: other scores in every run that has scores, and their numbers go from the page."""
    folder = tmp_path / slug
    shutil.copytree(LESSONS / slug, folder)
    text = (folder / "lesson.md").read_text()

    def other(found: re.Match[str]) -> str:
        return found[1] + ",".join(score if "inf" in score else repr(float(score) * 0.75 + 0.125) for score in found[2].split(","))

    changed = re.sub(r'(\bscores = ")([^"]+)', other, text)
    (folder / "lesson.md").write_text(changed)
    pages = [one.lesson(slug).page("deep").html for one in (Catalog(), catalog(tmp_path))]
    shown = [set(re.findall(r"\d+\.\d{3,}", page)) for page in pages]
    assert len(shown[0] - shown[1]) > 0.2 * len(shown[0])


def test_the_projects_own_lessons_have_nothing_wrong():
    found = Catalog()
    assert [str(one) for one in checks.check(found, found.checkable)] == []


def test_the_command(tmp_path, capsys):
    write(tmp_path, "\n{{ five[-1].l }}\n")
    main(["check", str(tmp_path)])
    assert "nothing wrong in small" in capsys.readouterr().out
    write(tmp_path, "\n{{ five[9].l }}\n")
    for given in (tmp_path, tmp_path / "small"):
        with pytest.raises(SystemExit) as stopped:
            main(["check", str(given)])
        assert stopped.value.code == 1
        assert capsys.readouterr().out.startswith(f"small/lesson.md:{BODY_STARTS + 1}: {{{{ five[9].l }}}}: five has no step 9")
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(tmp_path / "small" / "code")])
    assert stopped.value.code == 2


def test_a_folder_that_is_no_lesson_is_left_alone(tmp_path):
    (tmp_path / "Not A Slug").mkdir()
    (tmp_path / "Not A Slug" / "lesson.md").write_text("x")
    (tmp_path / "empty").mkdir()
    write(tmp_path, "\nx\n")
    assert [one.slug for one in catalog(tmp_path).lessons] == ["small"]


def test_a_host_cannot_take_a_lessons_name(tmp_path):
    slug = Catalog().lessons[0].slug
    write(tmp_path, "\nMine.\n", slug=slug)
    found = Catalog(tmp_path)
    assert not found.lesson(slug).own
    assert any("has this name" in str(one) for one in checks.check(found, found.checkable))


def test_a_lesson_that_is_far_too_long_is_said_and_not_read(tmp_path):
    write(tmp_path, "\n" + "*a " * 200_000)
    assert any("at most 300,000" in str(one) for one in checks.check(catalog(tmp_path), catalog(tmp_path).checkable))


def test_a_lesson_that_is_a_link_to_itself_is_said(tmp_path):
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "lesson.md").symlink_to("lesson.md")
    assert any("cannot be read" in str(one) for one in checks.check(catalog(tmp_path), catalog(tmp_path).checkable))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_what_never_ends_is_no_file_to_take_away(tmp_path):
    folder = write(tmp_path, "\nx\n")
    (folder / "code").mkdir()
    os.mkfifo(folder / "code" / "pipe.py")
    (folder / "code" / "real.py").write_text("x = 1\n")
    assert files(folder) == ["real.py"]


def test_lessons_in_order_with_those_beside_them(tmp_path):
    for slug, order in (("b", 1), ("a", 2), ("c", 3)):
        write(tmp_path, "\nx\n", slug=slug, order=order)
    found = catalog(tmp_path)
    assert [one.slug for one in found.lessons] == ["b", "a", "c"]
    assert [one and one.slug for one in found.beside("a")] == ["b", "c"]
    assert found.beside("b")[0] is None
    assert lesson(tmp_path, "\nx\n", slug="d", order=4).order == 4
