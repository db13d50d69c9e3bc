"""What people paste into a page's form is read as what it says, or asked about: never as something else."""

import csv
import io
import json
import math
import re
import sys
from html import unescape
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.machines import MACHINES
from app.paste import Unread, read
from app.specs import pasted_in, query
from app.stories import BY_NAME
from tests.api.test_addresses import number

ONLINE = "/widgets/online-softmax"
inf, nan = math.inf, math.nan

LISTS = {
    "[1.0, 2.5]": [1, 2.5],
    "(1.0, 2.5)": [1, 2.5],
    "[ 1.   2.5 -3. ]": [1, 2.5, -3],
    "[1. 2.\n 3. 4.]": [1, 2, 3, 4],
    "array([1. , 2.5])": [1, 2.5],
    "array([1., 2.], dtype=float32)": [1, 2],
    "np.array([1, 2], np.float16)": [1, 2],
    "tensor([1.0000, 2.5000])": [1, 2.5],
    "tensor([1., -inf], dtype=torch.float16, device='cuda:0', grad_fn=<AddBackward0>)": [1, -inf],
    "Parameter containing:\ntensor([1., 2.], requires_grad=True)": [1, 2],
    "[np.float64(1.5), np.float64(-inf)]": [1.5, -inf],
    "[tensor(1.5), tensor(2.)]": [1.5, 2],
    "[1, float('-inf'), -np.inf, math.nan]": [1, -inf, -inf, nan],
    "scores = [1, 2]": [1, 2],
    "Out[3]: array([1., 2.])": [1, 2],
    '[1, "-Infinity", NaN]': [1, -inf, nan],
    '"1.5","2.5"': [1.5, 2.5],
    "[[1], [2]]": [1, 2],
    "tensor([[[1., 2.]]])": [1, 2],
    "1;2;3": [1, 2, 3],
    "1\t2\t3": [1, 2, 3],
    "1\r\n2\r\n\r\n3\r\n": [1, 2, 3],
    "1 2 3": [1, 2, 3],
    "1, 2, 3,": [1, 2, 3],
    "1/3": [1 / 3],
    "[1/4, -3/4]": [0.25, -0.75],
    "１，２．５，−３": [1, 2.5, -3],
    "−1 – 2".replace(" – ", ", –"): [-1, -2],
    "∞, −∞": [inf, -inf],
    "1\u00a02\u20093": [1, 2, 3],
    "1,5,2,5": [1, 5, 2, 5],
    "0,5\t1\t2,25": [0.5, 1, 2.25],
    "1,5\n-inf\n2,5": [1.5, -inf, 2.5],
    "1,05;2,5": [1.05, 2.5],
    "0,3333333;0,25": [0.3333333, 0.25],
    "1.5,2.5\n3.5,4.5": [1.5, 2.5, 3.5, 4.5],
}
TABLES = {
    "[[1, 2], [3, 4]]": [[1, 2], [3, 4]],
    "[[1. 2.]\n [3. 4.]]": [[1, 2], [3, 4]],
    "[1. 2.]\n[3. 4.]": [[1, 2], [3, 4]],
    "array([[1., 2.],\n       [3., 4.]], dtype=float32)": [[1, 2], [3, 4]],
    "tensor([[1., 2.],\n        [3., 4.]], device='cuda:0')": [[1, 2], [3, 4]],
    "tensor([[[1., 2.],\n         [3., 4.]]])": [[1, 2], [3, 4]],
    "[1 2; 3 4]": [[1, 2], [3, 4]],
    "1\t2\r\n3\t4\r\n": [[1, 2], [3, 4]],
    "1,2\n3,4\n": [[1, 2], [3, 4]],
    "1;2\n3;4": [[1, 2], [3, 4]],
    "1,5;2,5": [[1, 5], [2, 5]],
    "1,5;\n2,5": [[1, 5], [2, 5]],
    "1 0; 0 1": [[1, 0], [0, 1]],
    "[1, 2]": [[1, 2]],
    "1,0;": [[1, 0]],
}
# two readings, each with how to write it; shape, text, the two
ASKED = [
    ("list", "1,000, 2,000", "1000 2000", "1 0 2 0"),
    ("list", "[1,000, 2,000]", "1000 2000", "1 0 2 0"),
    ("list", "1,000", "1000", "1 0"),
    ("list", "1,000\n2,500", "1000 2500", "1 0 2 500"),
    ("list", "1,234.5\t2,345.5", "1234.5 2345.5", "1 234.5 2 345.5"),
    ("list", "1.234,5\t2.345,5", "1234.5 2345.5", "1.234 5 2.345 5"),
    ("list", "1,5\t2,5", "1.5 2.5", "1 5 2 5"),
    ("list", "1,5\t2,5\t3,5", "1.5 2.5", "1 5 2 5"),
    ("list", "1,5\n2,5", "1.5 2.5", "1 5 2 5"),
    ("list", "1,5;2,5", "1.5 2.5", "1 5 2 5"),
    ("list", "1,5 2,5", "1.5 2.5", "1 5 2 5"),
    ("list", "1,5, 2,5", "1.5 2.5", "1 5 2 5"),
    ("list", '"1,5","2,5"', "1.5 2.5", "1 5 2 5"),
    ("list", "1 000", "1000", "1 0"),
    ("list", "1\u202f000 2", "1000", "1 0"),
    ("either", "1,5\n2,5", "1.5 2.5", "1,5;2,5"),
    ("either", "1,5\t2,5", "1.5 2.5", "1 5 2 5"),
    ("table", "1,5\t2,5\n3,5\t4,5", "1.5 2.5", "1 5 2 5"),
    ("table", "1,5;2,5\n3,5;4,5", "1.5 2.5", "1,5;2,5"),
    ("table", "1,05;2,5", "1.05", "1 5"),
]
REFUSED = {
    "[1. 2. ... 3.]": "left out",
    "1\t2\n3\t4": "table of 2 rows",
    "[[1, 2], [3, 4]]": "table of 2 rows",
    "0    1.5\n1    2.5": "row numbers",
    "0    1.5\n1    2.5\ndtype: float64": "'dtype:'",
    "1,,2": "entry is empty",
    "1\t\t2": "entry is empty",
    "[1, 2": "not closed",
    "1]": "no partner",
    "range(3)": "range",
    "[1, [2]]": "beside a list",
    "[]": "no number",
    "[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]": "three or more levels",
    "[" * 5000: "brackets",
    **{text: f"'{text}'" for text in ("½", "1½", "10²", "5%", "1_000", "0x10", "True", "None", "1/0", "1e400", "3j")},
}


def attempt(text, shape):
    """What was read, or the code of the refusal."""
    try:
        return read(text, shape)
    except Unread as error:
        return error.code if error.what and error.way_out else ""


def same(found, wanted):
    return np.array_equal(np.array(found, float), np.array(wanted, float), equal_nan=True)


@pytest.mark.parametrize(("text", "wanted"), LISTS.items())
def test_lists(text, wanted):
    assert same(read(text, "list"), wanted)


@pytest.mark.parametrize(("text", "wanted"), TABLES.items())
def test_tables(text, wanted):
    assert same(read(text, "table"), wanted)


@pytest.mark.parametrize(("shape", "text", "first", "second"), ASKED)
def test_two_readings_are_asked_about(shape, text, first, second):
    with pytest.raises(Unread) as asked:
        read(text, shape)
    assert asked.value.code == "unclear"
    assert "two ways" in asked.value.what
    assert asked.value.way_out == f"write {first} for the first, or {second} for the second"
    for way in (first, second):  # and each way out is one
        wanted = [[float(x) for x in row.split(",")] for row in way.split(";")] if ";" in way else [float(x) for x in way.split()]
        assert same(read(way, "either"), wanted)


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_refused_in_words(text, said):
    with pytest.raises(Unread) as refused:
        read(text, "list")
    assert said in refused.value.what
    assert refused.value.way_out


numbers = st.lists(number, min_size=1, max_size=12)
tables = st.integers(1, 4).flatmap(lambda wide: st.lists(st.lists(number, min_size=wide, max_size=wide), min_size=1, max_size=4))


def printed(cells):
    """What Python, NumPy, JSON and a CSV file make of numbers, and the numbers as they are printed there."""
    exact = np.array(cells)
    with np.printoptions(floatmode="unique", threshold=sys.maxsize):
        yield from ((form, cells) for form in (repr(cells), str(exact), repr(exact), json.dumps(cells), json.dumps(cells, indent=1)))
        yield repr([np.float64(x) for x in cells]) if exact.ndim == 1 else repr(list(map(tuple, cells))), cells
    out = io.StringIO()
    csv.writer(out).writerows(cells if exact.ndim == 2 else [cells])
    yield out.getvalue(), cells


@settings(max_examples=150, deadline=None)
@given(numbers)
@example([1.0, 5.0])
def test_a_list_comes_back_whoever_printed_it(cells):
    for text, wanted in printed(cells):
        assert same(read(text, "list"), wanted), text
    for text in ("\n".join(map(str, cells)), "\t".join(map(str, cells)), ";".join(map(str, cells)), "\r\n".join(map(repr, cells))):
        assert same(read(text, "list"), cells), text


@settings(max_examples=150, deadline=None)
@given(tables)
def test_a_matrix_comes_back_whoever_printed_it(cells):
    for text, wanted in printed(cells):
        assert same(read(text, "table"), wanted), text
    assert same(read("\n".join("\t".join(map(str, row)) for row in cells), "table"), cells)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: f"{x:.2f}"), min_size=2, max_size=9), st.sampled_from("\t;\n"))
def test_decimal_commas_are_read_right_or_asked_about(cells, between):
    found = attempt(between.join(cells).replace(".", ","), "list")
    assert found == "unclear" or same(found, [float(x) for x in cells])


@pytest.mark.parametrize(("name", "machine"), MACHINES.items())
def test_what_a_link_writes_is_its_own_form(name, machine):
    """Whatever is in a canonical link, the page's reader leaves it to the parser of links."""
    for preset in BY_NAME[name].presets:
        assert pasted_in(machine, dict(parse_qsl(query(machine, preset.spec)))) == []


GARBAGE = st.lists(
    st.sampled_from(
        [
            *"[]()'\"=,;\t\n ./-+",
            "1",
            "1,000",
            "0,5",
            "2.5",
            "array(",
            "tensor(",
            "dtype=",
            "nan",
            "...",
            "½",
            "x",
            "\ud800",
            "１",
            "\u00a0000",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(GARBAGE, st.text(max_size=40)), shape=st.sampled_from(["list", "either", "table"]))
def test_garbage_is_numbers_or_a_message(text, shape):
    found = attempt(text, shape)
    assert found
    assert isinstance(found, str) or all(isinstance(x, float) for row in found for x in (row if isinstance(row, list) else [row]))


@settings(max_examples=60, deadline=None)
@given(GARBAGE)
def test_a_page_says_what_is_wrong_with_garbage(client, text):
    answer = client.get(ONLINE, params={"scores": text.replace("\ud800", "?")}, follow_redirects=True)
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert 'data-part="error" data-for="scores"' in answer.text


@pytest.mark.parametrize(
    "text", ["1,5\t", "[1,", "((", "'", '"1,', "1,000, ", "tensor(", "0 1.5\n", "1e", "a.", "\u00a0000", "1/", "dtype=", "00 "]
)
def test_the_work_goes_by_the_length(text):
    """Counted, not timed: ten times the text is at most about ten times the calls."""
    calls = []
    for times in (300, 3000):
        counted = 0

        def count(frame, event, arg):
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            attempt(text * times, "list")
        finally:
            sys.setprofile(None)
        calls.append(counted)
    assert calls[1] <= 12 * calls[0] + 2000


class TestPages:
    def test_an_address_with_pasted_text_leads_to_the_canonical_one(self, client):
        given = {"scores": "tensor([1., 3.])", "format": "float16", "view": "projector", "step": "1"}
        answer = client.get(ONLINE, params=given, follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"] == "?scores=1,3&format=float16&view=projector&step=1#w-scores-read"
        embed = client.get("/embed/online-softmax", params={**given, "theme": "dark"}, follow_redirects=False)
        assert embed.headers["location"] == "?scores=1,3&format=float16&view=projector&step=1&theme=dark"

    @pytest.mark.parametrize(
        "query", ["scores=1,3", "scores=1,%203%0A2", "scores=1+3+2", "scores=1,3&values=1,5;2,5", "", "block=2", "scores=−1,2"]
    )
    def test_what_reads_as_it_stands_stays(self, client, query):
        assert client.get(f"{ONLINE}?{query}", follow_redirects=False).status_code == 200

    def test_the_page_says_what_was_read(self, client):
        told = self.read(client.get(f"{ONLINE}?scores=[1,2,3]&values=[[1,2],[3,4],[5,6]]"))
        assert told == {"scores": "Read as 3 numbers: 1, 2, 3", "values": "Read as a table of 3 rows and 2 columns: 1, 2; 3, 4; 5, 6"}
        long = ",".join(map(str, range(40)))
        assert self.read(client.get(f"{ONLINE}?scores={long}"))["scores"] == "Read as 40 numbers: 0, 1, 2, 3, 4, 5, …"
        assert self.read(client.get(f"{ONLINE}?scores=7"))["scores"] == "Read as 1 number: 7"

    def test_matrices(self, client):
        q = "[[1. 0.]\n [0. 1.]]"
        answer = client.get(
            "/widgets/tiled-attention", params={"q": q, "k": f"tensor({q.replace('. ', '., ')})".replace("\n", ",\n"), "v": "1\t2\n3\t4"}
        )
        assert self.read(answer) == {
            "q": "Read as a table of 2 rows and 2 columns: 1, 0; 0, 1",
            "k": "Read as a table of 2 rows and 2 columns: 1, 0; 0, 1",
            "v": "Read as a table of 2 rows and 2 columns: 1, 2; 3, 4",
        }
        assert "q=1,0;0,1&k=1,0;0,1&v=1,2;3,4" in str(answer.url)

    def test_a_question_stands_beside_the_field(self, client):
        answer = client.get(ONLINE, params={"scores": "1,000, 2,000"})
        assert answer.status_code == 422
        words = unescape(answer.text)
        assert "Scores: '1,000, 2,000' can be read in two ways, as 1000, 2000 or as 1, 0, 2, 0; write 1000 2000 for the first" in words
        assert ">1,000, 2,000</textarea>" in words
        assert self.read(answer) == {"scores": "", "values": ""}

    def test_one_line_fields_take_wide_digits(self, client):
        answer = client.get(ONLINE, params={"scores": "1,2", "block": "２"}, follow_redirects=False)
        assert answer.headers["location"] == "?scores=1,2&format=float32&block=2"

    @staticmethod
    def read(answer):
        return dict(re.findall(r'data-part="read" id="w-(\w+)-read" role="status">([^<]*)</p>', unescape(answer.text)))


class TestTheApiStaysStrict:
    @pytest.mark.parametrize("scores", ["[1,2]", "1;2", "1/3", "tensor([1])", "１,２", "٣"])
    def test_scores(self, client, scores):
        assert client.get("/api/v1/machines/online-softmax/snapshots/0", params={"scores": scores}).status_code == 422

    @pytest.mark.parametrize("given", ["５", " 5", "5 ", "٥", "0x5", "1_0", "5.0"])
    def test_start_and_count_take_ascii_digits(self, client, given):
        for name in ("start", "count"):
            answer = client.get("/api/v1/machines/online-softmax/snapshots", params={"scores": "1,2,3,4,5,6,7,8", name: given})
            assert (answer.status_code, answer.json()["error"]["field"]) == (422, name)
