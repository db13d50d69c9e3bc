"""What a path of a page's hook finds in a snapshot, and how a part of a page is filled."""

import pytest

from tests.js.conftest import Core

SNAPSHOT = {
    "step": 2,
    "caption": "Two are read.",
    "event": {"kind": "read", "alpha": 0.5, "rescales": True},
    "state": {
        "m": 3,
        "l": "Infinity",
        "acc": [1, 2],
        "terms": [{"score": 1, "size": 0.25}, {"score": "-Infinity", "size": 0}],
        "naive": {"sum": 2, "exps": [7, 8], "failed": True, "first_bad": [{"text": "exp(89) is too large"}]},
        "table": [[1, 2], [3, 4]],
    },
    "words": {"m": "max(1, 3) = 3", "moved": ""},
}
ABSENT = "absent"


@pytest.mark.parametrize(
    ("path", "places", "found"),
    [
        ("m", [], 3),
        ("l", [], "Infinity"),
        ("naive.sum", [], 2),
        ("event.alpha", [], 0.5),
        ("step", [], 2),
        ("caption", [], "Two are read."),
        ("words.m", [], "max(1, 3) = 3"),
        ("words.moved", [], ""),
        ("acc", [1], 2),
        ("terms.size", [0], 0.25),
        ("terms.score", [1], "-Infinity"),
        ("naive.exps", [1], 8),
        ("table", [1, 0], 3),
        ("state.naive.first_bad.0.text", [], "exp(89) is too large"),
        ("state.naive.first_bad.1.text", [], ABSENT),
        ("terms.size", [2], ABSENT),
        ("acc", [2], ABSENT),
        ("output", [], ABSENT),
        ("output", [0], ABSENT),
        ("naive.shares", [0], ABSENT),
        ("terms.size_before", [0], ABSENT),
        ("nothing.at.all", [], ABSENT),
    ],
)
def test_look(core: Core, path: str, places: list[int], found: object):
    told = core(
        "bind", "return [module.look(given.snapshot, given.path, given.places)]", {"snapshot": SNAPSHOT, "path": path, "places": places}
    )
    assert told == [None if found == ABSENT else found]


def test_look_skips_a_place_that_is_not_given(core: Core):
    assert core("bind", "return module.look(given, 'acc', [undefined, 1])", SNAPSHOT) == 2


HTML = """
<data data-value="m" value="1">1</data><data data-value="l" value="">–</data><data data-value="acc" data-col="1" value="">–</data>
<data data-value="terms.size" data-row="0" value="">–</data><data data-value="terms.size" data-row="5" value="9">9</data>
<data data-value="naive.sum" value="2.0">2</data>
<p data-text="caption">old</p><p data-text="words.moved" data-hides>moved</p><p data-text="words.m" data-hides hidden></p><p data-text="words.gone">old</p>
<p data-mark="rescales" data-on="no"></p><p data-mark="failed" data-on="no"></p><p data-mark="other" data-on="yes"></p>
"""


def test_bind_fills_numbers_words_and_marks(core: Core):
    told = core(
        "bind",
        """const root = document.createElement("div");
        root.innerHTML = given.html;
        module.bind(root, given.snapshot);
        return {
          numbers: [...root.querySelectorAll("data")].map((d) => [d.value, d.textContent]),
          words: [...root.querySelectorAll("[data-text]")].map((p) => [p.textContent, p.hidden]),
          marks: [...root.querySelectorAll("[data-mark]")].map((p) => p.dataset.on),
        };""",
        {"html": HTML, "snapshot": SNAPSHOT},
    )
    assert told["numbers"] == [["3", "3"], ["Infinity", "∞"], ["2", "2"], ["0.25", "0.250"], ["", "–"], ["2", "2"]]
    assert told["words"] == [["Two are read.", False], ["", True], ["max(1, 3) = 3", False], ["", False]]
    assert told["marks"] == ["yes", "yes", "no"]


def test_bind_leaves_what_already_says_it(core: Core):
    """A part of the page that does not change is not written: a screen reader, or a selection, is not disturbed."""
    changes = core(
        "bind",
        """const root = document.createElement("div");
        root.innerHTML = given.html;
        module.bind(root, given.snapshot);
        let changes = 0;
        const watch = new MutationObserver((list) => (changes += list.length));
        watch.observe(root, { subtree: true, childList: true, characterData: true });
        module.bind(root, given.snapshot);
        changes += watch.takeRecords().length;
        return changes;""",
        {"html": HTML.replace('data-row="5"', 'data-row="1"'), "snapshot": {**SNAPSHOT, "words": {"m": "a", "moved": "b", "gone": "c"}}},
    )
    assert changes == 0
