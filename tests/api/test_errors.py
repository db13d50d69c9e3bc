"""Bad input gets an answer that names the value, the rule and the way out; never a 500."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.stories import BY_NAME

ONLINE = "/api/v1/machines/online-softmax/snapshots"


def failed(answer, status: int) -> dict:
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "field", "value", "allowed"}
    assert None not in error.values()
    return error


@pytest.mark.parametrize(
    ("query", "code", "field", "says"),
    [
        ("", "required", "scores", "such as scores=1,3,2"),
        ("scores=", "required", "scores", "1 to 1,024 numbers"),
        ("scores=%20", "required", "scores", "scores is empty"),
        ("scores=1,x,3", "not_a_number", "scores", "'x'"),
        ("scores=1,,3", "not_a_number", "scores", "an entry is empty"),
        ("scores=1e999", "not_a_number", "scores", "float64 can hold"),
        ("scores=1_0", "not_a_number", "scores", "'1_0'"),
        ("scores=0x10", "not_a_number", "scores", "'0x10'"),
        ("scores=" + ",".join(["1"] * 1025), "too_many", "scores", "POST it"),
        ("scores=1,2&values=1", "wrong_shape", "values", "1 row but scores has 2 numbers"),
        ("scores=1,2&values=1,2;3", "wrong_shape", "values", "1, 2 numbers"),
        ("scores=1&values=" + ",".join(["1"] * 17) + ";", "too_many", "values", "at most 16"),
        ("scores=1&offset=1001", "out_of_range", "offset", "from -1,000 to 1,000"),
        ("scores=1&offset=nan", "out_of_range", "offset", "'nan'"),
        ("scores=1&offset=x", "not_a_number", "offset", "such as 80"),
        ("scores=1&format=float128", "not_a_choice", "format", "bfloat16"),
        ("scores=1&accumulate=int8", "not_a_choice", "accumulate", "float64"),
        ("scores=1&block=0", "out_of_range", "block", "'0'"),
        ("scores=1&block=1.5", "out_of_range", "block", "'1.5'"),
        ("scores=1&blok=2", "unknown_field", "blok", "use one of scores, values"),
        ("scores=1&scores=2", "given_twice", "scores", "one time"),
    ],
)
@pytest.mark.parametrize("path", [f"{ONLINE}/0", ONLINE])
def test_each_fault_of_a_spec(client, path, query, code, field, says):
    error = failed(client.get(f"{path}?{query}"), 422)
    assert (error["code"], error["field"]) == (code, field)
    assert says in error["message"]


@pytest.mark.parametrize(("step", "status"), [("x", 422), ("-1", 422), ("1.0", 422), ("99999999999", 422), ("4", 404)])
def test_steps_that_are_not(client, step, status):
    error = failed(client.get(f"{ONLINE}/{step}?scores=1,2,3"), status)
    assert error["field"] == "step"
    assert status == 422 or "steps 0 to 3" in error["message"]


def test_windows_that_are_not(client):
    assert failed(client.get(f"{ONLINE}?scores=1&count=65"), 422)["field"] == "count"
    assert failed(client.get(f"{ONLINE}?scores=1&count=0"), 422)["field"] == "count"
    assert failed(client.get(f"{ONLINE}?scores=1&start=-1"), 422)["field"] == "start"
    assert "steps 0 to 1" in failed(client.get(f"{ONLINE}?scores=1&start=2"), 404)["message"]


def test_unknown_machines_and_addresses(client):
    error = failed(client.get("/api/v1/machines/softmax/snapshots/0?scores=1"), 404)
    assert error["allowed"] == list(BY_NAME)
    failed(client.get("/api/v1/machines/online-softmax/shots"), 404)
    failed(client.get("/api/v1/nothing"), 404)
    assert failed(client.put(ONLINE), 405)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"\\ud800": 1, "spec": {}}',
        b"[]",
        b"null",
        b'{"spec": 1}',
        b'{"spec": {"scores": [NaN]}}',
        b'{"spec": {"scores": [1]}, "step": 1}',
        b"[" * 5000,
        b"\xff\xfe",
    ],
)
def test_bodies_that_are_not(client, body):
    assert failed(client.post(ONLINE, content=body, headers={"Content-Type": "application/json"}), 422)["field"] == "body"


@pytest.mark.parametrize(
    "spec",
    [
        {"scores": 1}, {"scores": {"a": 1}}, {"scores": [[1]]}, {"scores": [True]}, {"scores": [None]}, {"scores": ["x"]}, {"scores": [10**400]},
        {"scores": [1], "values": [[]]}, {"scores": [1], "values": [[1], 2]}, {"scores": [1], "block": True}, {"scores": [1], "block": "2x"},
        {"scores": [1], "block": [2]}, {"scores": [1], "format": 16}, {"scores": [1], "format": ["float16"]}, {"scores": [1], "offset": "a"},
        {"scores": [1], "offset": {"a": 1}}, {"scores": [1], "more": 1}, {"scores": [1] * 4097},
    ],
)  # fmt: skip
def test_specs_in_bodies_that_are_not(client, spec):
    failed(client.post(ONLINE, json={"spec": spec}), 422)


def test_half_a_character_in_a_body(client):
    body = b'{"spec": {"scores": ["\\ud800"]}}'
    failed(client.post(ONLINE, content=body, headers={"Content-Type": "application/json"}), 422)


def test_a_body_too_long(client):
    failed(client.post(ONLINE, content=b" " * 1_000_001, headers={"Content-Type": "application/json"}), 413)


@settings(max_examples=200, deadline=None)
@given(query=st.text(max_size=60), raw=st.binary(max_size=30))
def test_no_query_gives_a_500(client, query, raw):
    noise = "".join(f"%{byte:02x}" for byte in raw)
    assert client.get("/figures/online-softmax.svg", params={"scores": query, "offset": raw}).status_code in (200, 422)
    for path in (ONLINE, f"{ONLINE}/0", "/widgets/online-softmax"):
        assert client.get(path, params={"scores": query}).status_code in (200, 422)
        assert client.get(f"{path}?scores=1&{noise}=1&offset={noise}").status_code in (200, 422)
        assert client.get(f"{path}?{noise}").status_code in (200, 422)


def test_pages_say_it_beside_the_field_and_keep_what_was_typed(client):
    answer = client.get("/widgets/online-softmax?scores=1,x,3&format=float16&utm_source=mail")
    assert answer.status_code == 422
    assert 'data-part="error" data-for="scores"' in answer.text
    assert "&#39;x&#39; is not a number" in answer.text
    assert ">1,x,3</textarea>" in answer.text
    assert "<option selected>float16</option>" in answer.text
    assert client.get("/widgets/online-softmax?scores=" + ",".join(["1"] * 65)).status_code == 422
    assert client.get("/widgets/online-softmax?scores=").status_code == 422


def test_pages_ignore_names_they_do_not_know(client):
    assert client.get("/widgets/online-softmax?utm_source=mail&fbclid=1").status_code == 200


def test_pages_for_what_is_not_there(client):
    answer = client.get("/widgets/online-softmax?scores=1,2&step=3")
    assert answer.status_code == 404
    assert "steps 0 to 2" in answer.text
    for path in ("/widgets/nope", "/figures/nope.svg", "/figures/online-softmax.webp", "/embed/nope", "/nope", "/static/nope.js"):
        assert client.get(path).status_code == 404


def test_markup_in_a_value_stays_text(client):
    answer = client.get("/widgets/online-softmax?scores=<script>alert(1)</script>")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "<b>" not in client.get("/<b>nope").text
