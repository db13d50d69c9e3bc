"""Lessons as they are written: front matter, tracks, containers, formulas, blocks, and where their faults are."""

import re

import pytest

from app.lessons.lesson import read
from app.lessons.markup.context import BASE
from app.lessons.quiz.html import Given
from tests.lessons.made import BODY_STARTS, html, lesson, write


def test_a_number_stands_where_its_expression_stood(tmp_path):
    made = html(
        tmp_path,
        "\n## At {{ five[4].m }} {#top}\n\nThe *sum* is **{{ five[-1].l | to(4) }}**, [{{ five.steps }} steps](#top).\n\n- {{ five[1].l }}\n",
    )
    assert '<h2 id="top">At 5</h2>' in made
    assert "<strong>1.5713</strong>" in made
    assert '<a href="#top">5 steps</a>' in made
    assert "<li>1</li>" in made


def test_a_bar_inside_an_expression_does_not_split_a_table(tmp_path):
    made = html(tmp_path, "\n| l | acc |\n|--:|:--|\n| {{ five[-1].l | to(4) }} | {{ five[-1].acc | to(2) }} |\n")
    assert '<td class="right">1.5713</td>' in made
    assert '<td class="left">62.78</td>' in made
    assert " style=" not in made


def test_code_and_formulas_keep_their_braces(tmp_path):
    made = html(
        tmp_path,
        "\n`{{ five[1].l }}` and ${{a}}^2$\n\n```text\n{{ five[-1].l }}\n```\n\n```text values\nl = {{ five[-1].l | to(4) }}\n```\n",
    )
    assert "<code>{{ five[1].l }}</code>" in made
    assert "{{ five[-1].l }}" in made
    assert "l = 1.5713" in made
    assert "<msup>" in made


def test_a_formula_may_hold_a_value(tmp_path):
    made = html(tmp_path, "\n$\\alpha = \\val{five[4].event.alpha | to(3)}$ and\n\n$$x = \\val{limits('float32').max | sci(1)}$$\n")
    assert "<mn>0.135</mn>" in made
    assert "<mn>38</mn>" in made


def test_aligned_formulas_carry_classes_and_no_style(tmp_path):
    made = html(tmp_path, "\n$$\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}$$\n")
    assert 'class="cell-right"' in made
    assert " style=" not in made


def test_tracks_show_their_own_and_lines_stay(tmp_path):
    body = "\n## Both\n\n::: plain\nEasy.\n:::\n\n:::: deep\n### More\n\nHard[^1].\n\n::: note Mind\nInner.\n:::\n::::\n\n[^1]: Aside.\n"
    plain, deep = (html(tmp_path, body, track) for track in ("plain", "deep"))
    assert "Easy." in plain
    assert "Hard" not in plain
    assert "Aside" not in plain
    assert "Easy." not in deep
    assert "Inner." in deep
    assert '<span class="word">Note: </span>Mind' in deep
    assert 'class="footnotes"' in deep


def test_a_track_leaves_nothing_of_itself_behind(tmp_path):
    body = "\nText[^a].\n\n::: deep\n[^a]: Deep aside.\n\n## Named {#named}\n\n{{ fife }} $\\nope$ [x](what:x)\n:::\n\n```text\n::: deep\n```\n"
    made = html(tmp_path, body)
    assert "Text[^a]." in made
    assert "footnote" not in made
    assert "named" not in made
    assert "::: deep" in made


def test_containers_nest_by_the_one_opened_last(tmp_path):
    made = html(tmp_path, "\n::: tip Outer\nA.\n\n::: answer\nHidden {{ five[1].l }}.\n:::\n\nB.\n:::\n\nAfter.\n")
    assert (
        made.index("A.")
        < made.index("<details")
        < made.index("Hidden 1.")
        < made.index("</details>")
        < made.index("B.")
        < made.index("After.")
    )
    assert "<summary>Show the answer</summary>" in made


def test_html_in_a_lesson_is_text(tmp_path):
    made = html(tmp_path, '\n<script>alert(1)</script> and <b onclick="x()">b</b>\n\n<iframe src="x"></iframe>\n')
    assert "<script" not in made
    assert "<b " not in made
    assert "<iframe" not in made
    assert "&lt;script&gt;" in made


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/lessons/", "../x", "ftp://x"]
)
def test_a_link_goes_where_links_may_go(tmp_path, target):
    made = lesson(tmp_path, f"\n[x]({target})\n").page("plain")
    assert made.problems or "<a " not in made.html


def test_links_by_name(tmp_path):
    body = "\n## A {#a}\n\n[1](lesson:small#a) [2](run:five@3) [3](widget:tiled-attention) [4](guide:own-lessons) [5](https://arxiv.org/abs/1805.02867)\n"
    plain, deep = (html(tmp_path, body, track) for track in ("plain", "deep"))
    assert f'href="{BASE}/lessons/small#a"' in plain
    assert f'href="{BASE}/lessons/small?track=deep#a"' in deep
    assert f'href="{BASE}/widgets/online-softmax?scores=1,3,2,5,4&amp;values=10,20,30,40,50&amp;format=float64&amp;step=3"' in plain
    assert f'href="{BASE}/widgets/tiled-attention"' in plain
    assert f'href="{BASE}/guide/own-lessons"' in plain


def test_a_widget_is_a_picture_and_a_link_first(tmp_path):
    made = html(tmp_path, '\n[[widget five step=-1 title="At {{ five.steps }}"]]\n')
    assert 'class="live-title">At 5<' in made
    assert f'data-live="{BASE}/embed/online-softmax?' in made
    assert "step=5" in made
    assert re.search(r'<img src="[^"]+\.svg\?[^"]+" width="\d+" height="\d+" alt="[^"]{20,}"', made)
    assert "Step it yourself</a>" in made


def test_figures_and_captions_over_several_lines(tmp_path):
    made = html(tmp_path, '\n[[figures five steps="3,4" caption="From {{ five[3].l | to(3) }}\nto *{{ five[4].l | to(3) }}*."]]\n')
    assert made.count("<img ") == 2
    assert "From 1.503 to <em>1.203</em>." in made


def test_a_trace_table_has_a_row_a_step(tmp_path):
    made = html(tmp_path, '\n[[trace five columns="step,score,m,alpha:factor,term,l,acc,output" places=4 from=2 caption="C"]]\n')
    assert made.count("<tr>") == 5
    assert '<th scope="col">factor</th>' in made
    for cell in ("1.1353", "44.3835", "62.7774", "39.9521"):
        assert f"<td>{cell}</td>" in made


def test_the_by_hand_trace_goes_on_from_rounded_rows(tmp_path):
    made = html(tmp_path, '\n[[trace five columns="step,alpha,l,acc" rounded=4 caption="C"]]\n')
    assert "<td>62.7776</td>" in made
    assert "<td>0.13534</td>" in made
    assert "Worked by hand" in made


def test_code_is_shown_whole_or_by_function(tmp_path):
    folder = write(tmp_path, "\n[[code a.py#two]]\n\n[[download]]\n")
    (folder / "code").mkdir()
    (folder / "code" / "a.py").write_text('def one():\n    pass\n\n\n@cache\ndef two():\n    return "é"\n')
    made = read(folder).page("plain")
    assert not made.problems
    assert "two" in made.html
    assert "@cache" in made.html
    assert "one" not in made.html
    assert f'href="{BASE}/lessons/small/code.zip"' in made.html
    assert " style=" not in made.html


def test_minutes_count_a_tracks_own_words(tmp_path):
    found = lesson(tmp_path, "\n" + "word " * 360 + "\n\n::: deep\n" + "word " * 900 + "\n:::\n")
    assert found.minutes == {"plain": 2, "deep": 7}
    fenced = lesson(
        tmp_path, "\n```text\n" + "word " * 900 + '\n```\n\n[[trace five columns="l" caption="C"]]\n\n' + "{{ five[1].l }} " * 90
    )
    assert fenced.minutes == {"plain": 1, "deep": 1}


FAULTS = [
    ("a {{ five[9].l }}", 0, "no step 9"),
    ("a\nb\n{{ fife }} c", 2, "'fife' is undefined"),
    ("| a | b |\n|--|--|\n| 1 | 2 |\n| 3 | {{ nope }} |", 3, "'nope' is undefined"),
    ("| a | b |\n|--|--|\n| 1 | 2 |\n| 3 | [x](#gone) [y](what:x) |", 3, "leads nowhere"),
    ("::: note T\n\nx\n\n$\\nope$\n:::", 4, "formula cannot be read"),
    ("::: deep\nok\n:::\n\n::: tip\nx [y](code:none.py)\n:::", 5, "no file code/none.py"),
    ("$$\na\n$$\n\n$$\n\\nope\n$$", 5, "formula cannot be read"),
    ("text\n\n[[widget fife]]", 2, "no run 'fife'"),
    ("[[widget five step=9]]", 0, "no step 9"),
    ("[[figure five step=1]]", 0, "has no caption"),
    ("[[figure five step=1 kind=nope caption=\"x\"]]", 0, "no figure 'online-softmax-nope'"),
    ("[[figures five caption=\"x\"]]", 0, "needs steps"),
    ("[[trace five columns=\"step,nope\" caption=\"x\"]]", 0, "no column 'nope'"),
    ("[[trace five columns=\"step\" from=9 caption=\"x\"]]", 0, "steps 1 to 5"),
    ("[[nope five]]", 0, "no block"),
    ("[[widget five sep=3]]", 0, "no setting 'sep'"),
    ("[[widget five title=\"open]]", 0, "cannot be read"),
    ("[[quiz gone]]", 0, "no quiz 'gone'"),
    ("[[code gone.py]]", 0, "no file code/gone.py"),
    ("[[download]]", 0, "nothing to download"),
    ("# Title", 0, "start at ##"),
    ("## A\n\n#### B", 2, "none may be skipped"),
    ("## A\n\n## A", 2, "already on line"),
    ("::: nope\nx\n:::", 0, "no container 'nope'"),
    ("x\n\n:::", 2, "closes nothing"),
    ("x\n\n::: note", 2, "is not closed"),
    ("::: deep\n::: plain\nx\n:::\n:::", 1, "do not nest"),
    ("- a\n\n  ::: note\n  x\n  :::", 2, "left margin"),
    ("x\n\n> ::: note\n> x", 2, "left margin"),
    ("x\n\n```python\nx", 2, "fence is not closed"),
    ("```nolanguage\nx\n```", 0, "no language 'nolanguage'"),
    ("![x](a.png)", 0, "pictures come from the machines"),
    ("\\val{five[1].l}", 0, "is for formulas"),
    ("$\\color{red} x$", 0, "colour or a style"),
    ("a \ue000 b", 0, "private-use"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "down", "words"), FAULTS)
def test_a_fault_has_its_line(tmp_path, body, down, words):
    found = lesson(tmp_path, body + "\n")
    problems = [*found.problems, *found.page("plain").problems, *found.page("deep").problems]
    assert [one for one in problems if words in one.words and one.line == BODY_STARTS + down and one.file == "small/lesson.md"], problems


@pytest.mark.parametrize(
    ("front", "line", "words"),
    [
        ("title = 'x'", 1, "does not begin with front matter"),
        ("+++\ntitle = 'x'\n", 1, "not closed"),
        ("+++\ntitle = \n+++\n", 2, "not TOML"),
        ("+++\ntitle = 'x'\nnope = 1\n+++\n", 3, "no field 'nope'"),
        ("+++\ntitle = 'x'\norder = 'one'\n+++\n", 3, "order is a whole number"),
        ("+++\ntitle = 'x'\n+++\n", 1, "has no description"),
        ('+++\ntitle = "x"\n[runs]\nfive = { machine = "online-softmax", scores = "x" }\n+++\n', 4, "is not a number"),
        ('+++\ntitle = "x"\n[runs]\nexp = { machine = "online-softmax", scores = "1" }\n+++\n', 4, "expressions use that name"),
        ('+++\ntitle = "x"\n[runs]\nfive = { machine = "online", scores = "1" }\n+++\n', 4, "names no machine"),
        ('+++\ntitle = "x"\n[runs]\nfive = { machine = "online-softmax", scores = "1", blok = "1" }\n+++\n', 4, "no field 'blok'"),
        ('+++\ntitle = "x"\n[runs]\nfive = 3\n+++\n', 4, "is a table"),
    ],
)
def test_a_fault_of_the_front_matter_has_its_line(tmp_path, front, line, words):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "lesson.md").write_text(front)
    found = read(tmp_path / "small").problems
    assert [one for one in found if words in one.words and one.line == line], found


def test_a_file_that_is_no_text_is_a_fault_too(tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "lesson.md").write_bytes(b"+++\n\xff\xfe")
    assert "not UTF-8" in str(read(tmp_path / "small").problems[0])


def test_questions_are_made_with_their_lesson(tmp_path):
    quiz = '[q]\nkind = "number"\nquestion = "After {{ five[1].m }}?"\nanswer = "five[2].event.alpha"\nsays = "Yes."\notherwise = "No."\n'
    made = html(tmp_path, "\n[[quiz q]]\n", quizzes=quiz)
    assert 'id="quiz-q"' in made
    assert "After 1?" in made
    section, problems = lesson(tmp_path, "\n[[quiz q]]\n", quiz).question("q", "plain", Given(("0.135",)))
    assert not problems
    assert 'data-verdict="right"' in section
