"""What a tile's caption says of its rows, read back from the sentence and held against the event, for every kind of sentence."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.numbers import show
from app.stories.tiled import words
from app.stories.voice import WRITTEN
from tests.machines.helpers import REPORTED, shots
from tests.machines.test_mutants import compiled
from tests.machines.tiled_specs import TILED, cut, formats, problems, walk

NONE = -math.inf
FIRST_MASKED = REPORTED["first-tile-masked-then-all-negative"]


@dataclass
class Row:
    """One query of a tile: whether it sees a key of it, and its m before and after."""

    number: int
    sees: bool
    old: float
    new: float

    @property
    def fresh(self):
        return self.old == NONE


def rows_of(shot):
    event = shot["event"]
    (top, bottom), (left, right) = event["q_rows"], event["k_cols"]
    return [
        Row(
            i + 1, any(cell != "masked" for cell in shot["state"]["cells"][i][left:right]), event["m_old"][i - top], event["m_new"][i - top]
        )
        for i in range(top, bottom)
    ]


NAMES = r"(?P<who>quer(?:y|ies) [\d, toand]+?)"
COUNT = r"(?P<count>no|all \d+|\d+) rows?"


def starts(row):
    return row.sees and row.fresh and not math.isnan(row.new) and row.new != NONE


def rises(row):
    return row.sees and not row.fresh and row.new > row.old


CLAIMS = [  # the words, and what they claim of each row that they speak of; a counted claim is untrue of all others
    (r"the first live scores, so nothing is rescaled, and each row starts its own m, ℓ and (acc|output)", starts),
    (rf"{NAMES} (has its|have their) first live scores(, and each)? (and )?starts its own m, ℓ and (acc|output)", starts),
    (rf"{COUNT} (has its|have their) first live scores", starts),
    (rf"{NAMES} sees? none of them and (has|have) no live score yet", lambda row: not row.sees and row.fresh),
    (rf"{COUNT} sees? none of these keys and (has|have) no live score yet", lambda row: not row.sees and row.fresh),
    (rf"{NAMES} sees? none of them and keeps? what (it has|they have)", lambda row: not row.sees and not row.fresh),
    (rf"{COUNT} sees? none of these keys and keeps? what (it has|they have)", lambda row: not row.sees and not row.fresh),
    (rf"{NAMES} (has|have) an m of NaN and keeps? it", lambda row: row.sees and math.isnan(row.old)),
    (rf"{COUNT} (has|have) an m of NaN and keeps? it", lambda row: row.sees and math.isnan(row.old)),
    (rf"{NAMES} meets? a NaN, which is (its|their) m from here on", lambda row: row.sees and math.isnan(row.new) and not math.isnan(row.old)),
    (rf"{COUNT} meets? a NaN", lambda row: row.sees and math.isnan(row.new) and not math.isnan(row.old)),
    (rf"({NAMES}|{COUNT}) (has|have) only scores of −∞, which count as masked", lambda row: row.sees and row.new == NONE),
    (rf"{NAMES} keeps its highest, (?P<old>\S+)", lambda row: row.sees and not row.fresh and row.new == row.old),
    (rf"{COUNT} keeps? (its|their) highest and (is|are) not rescaled", lambda row: row.sees and not row.fresh and row.new == row.old),
    (r"(?P<count>no) row has a new highest, so no row is rescaled", rises),
    (
        rf"{NAMES} has a new highest, (?P<new>\S+) \(it was (?P<old>\S+)\), so (all it kept is|its ℓ is) multiplied by (?P<factor>.+)",
        rises,
    ),
    (rf"{COUNT} (has|have) a new highest,? and (is|each is) rescaled by its own factor", rises),
]  # fmt: skip


def numbers_in(said):
    """The rows that a name stands for: "queries 1, 3 and 4", "queries 2 to 5"."""
    found = [int(x) for x in re.findall(r"\d+", said)]
    return list(range(found[0], found[1] + 1)) if " to " in said else found


def check_tile(shot, sentence):
    rows = rows_of(shot)
    top, bottom = shot["event"]["q_rows"]
    head = re.fullmatch(r"(?P<who>.+?) meets? keys? (?P<keys>[\d to]+): (?P<rest>.+)\.", sentence.split(". ")[0].rstrip(".") + ".")
    assert head, sentence
    left, right = shot["event"]["k_cols"]
    assert numbers_in(f"keys {head['keys']}") == list(range(left + 1, right + 1)) or head["keys"] == str(left + 1)
    seeing = [row.number for row in rows if row.sees]
    counted = re.fullmatch(r"(\d+) of queries (\d+) to (\d+)", head["who"])
    if counted:
        assert list(map(int, counted.groups())) == [len(seeing), top + 1, bottom]
    else:
        assert numbers_in(head["who"]) == seeing
    spoken_of = []
    for clause in head["rest"].split("; "):
        found = [(match, true) for pattern, true in CLAIMS if (match := re.fullmatch(pattern, clause))]
        assert len(found) == 1, f"{clause!r} is of {len(found)} kinds"
        match, true = found[0]
        groups = match.groupdict()
        if groups.get("count"):
            holds = [row for row in rows if true(row)]
            said = groups["count"]
            assert len(holds) == (0 if said == "no" else int(said.removeprefix("all ")))
            assert not said.startswith("all") or len(holds) == len(rows)
            spoken_of += rows if said == "no" else holds
            continue
        named = [row for row in rows if row.number in numbers_in(groups["who"])] if groups.get("who") else rows
        assert named
        assert all(map(true, named)), clause
        for name in ("old", "new"):
            if groups.get(name):
                assert groups[name] == show(getattr(named[0], name))
        spoken_of += named
    assert sorted(row.number for row in spoken_of) == [row.number for row in rows], "each row is spoken of once"


def check_normalise(shot, sentence):
    top, bottom = shot["event"]["q_rows"]
    m = shot["state"]["m"]
    empty = [i + 1 for i in range(top, bottom) if m[i] == NONE]
    said = re.search(r"but (quer(?:y|ies) [\d, toand]+) saw no live score", sentence)
    if len(empty) == bottom - top:
        assert "nothing is divided, and the output is 0" in sentence
    else:
        assert (numbers_in(said[1]) if said else []) == empty
    for i in empty:
        assert set(shot["state"]["output"][i - 1]) == {0.0}


def check(module=words, **spec):
    for shot, moment in zip(shots(TILED, **spec), walk(**spec), strict=True):
        event, sentence = shot["event"], module.sentence(WRITTEN, TILED.spec(**spec), moment)
        assert module is not words or shot["caption"].startswith(sentence)
        if event["kind"] == "normalise":
            check_normalise(shot, sentence)
        elif event["kind"] == "tile" and event["skipped"]:
            (top, bottom), (left, right) = event["q_rows"], event["k_cols"]
            assert all(cell == "masked" for row in shot["state"]["cells"][top:bottom] for cell in row[left:right])
            assert sentence.endswith("the tile is skipped, and nothing is read.")
        elif event["kind"] == "tile":
            check_tile(shot, sentence)


RIGHT_TO_LEFT = {
    "q": [[1.0]] * 4, "k": [[-200.0], [-210.0], [-190.0], [-205.0]], "v": [[1.0], [2.0], [3.0], [4.0]], "scale": 1.0,
    "causal": "top-left", "order": "right", "block_q": 4, "block_k": 2,
}  # fmt: skip
MANY = RIGHT_TO_LEFT | {"q": [[1.0]] * 7, "block_q": 7, "key_lengths": (0, 4, 1, 4, 0, 4, 4), "causal": "none"}


@st.composite
def any_spec(draw):
    problem = draw(problems(numbers=("whole", "plain", "large", "wild"), most=9, wide=2))
    return problem | draw(cut(problem)) | draw(formats())


@settings(deadline=None, max_examples=150, database=None)
@given(any_spec())
@example(RIGHT_TO_LEFT)
@example(MANY)
@example(MANY | {"algorithm": "fa1", "block_k": 1})
@example(RIGHT_TO_LEFT | {"k": [[math.nan], [1.0], [NONE], [math.inf]]})
def test_what_a_caption_says_of_rows_holds_for_each_of_them(spec):
    check(**spec)


def test_first_tile_masked_then_all_negative():
    """As reported: the numbers of every row, and a sentence that is true for each."""
    expected = FIRST_MASKED["expected"]
    run = shots(TILED, **RIGHT_TO_LEFT)
    assert run[1]["event"]["m_new"] == expected["step1_m"]
    assert np.allclose(run[-1]["state"]["output"], expected["output"], rtol=0, atol=4e-7)  # two units of float32 from the exact sums
    assert run[-1]["state"]["output"][3] == [2.9999091625213623]
    assert np.allclose(run[-1]["state"]["lse"], expected["lse"], rtol=0, atol=1e-5)
    assert run[1]["caption"].startswith("Queries 3 and 4 meet keys 3 to 4: queries 1 and 2 see none of them and have no live score yet;")


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("if not event.live[i].any():", "if False:"),
        ("if old == MASKED:", "if (event.before.m == MASKED).all():"),
        ('return "higher" if new > old else "same"', 'return "higher" if new >= old else "same"'),
        ('if set(kinds) == {"first"}:', 'if "first" in kinds:'),
        ('if set(kinds) == {"same"}:', 'if "same" in kinds:'),
        ("rows = _places(event.rows, event.live.any(axis=1))", "rows = _places(event.rows, event.live.any(axis=1) | True)"),
        ("rows = _places(event.rows, empty)", "rows = []"),
    ],
)
def test_a_caption_that_speaks_for_the_whole_tile_is_caught(line, replacement):
    problems = [RIGHT_TO_LEFT, MANY, MANY | {"causal": "top-left", "block_k": 1}, RIGHT_TO_LEFT | {"key_lengths": (0, 4, 4, 4)}]
    for one in problems:
        check(**one)
    mutant = compiled(words, line, replacement)
    caught = 0
    for one in problems:
        try:
            check(mutant, **one)
        except AssertionError:
            caught += 1
    assert caught
