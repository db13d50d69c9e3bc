"""The names of the wire form are a contract: these tests hold each of them."""

import json
import math

import pytest

from app.stories import BY_NAME

ONLINE = "/api/v1/machines/online-softmax/snapshots"
FIVE = "scores=1,3,2,5,4&values=10,20,30,40,50"


def get(client, path: str):
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_snapshot_has_every_name_of_the_contract(client):
    shot = get(client, f"{ONLINE}/4?{FIVE}")
    assert {"machine", "version", "spec", "step", "steps", "done", "event", "state", "ledger", "caption", "spoken", "links"} <= set(shot)
    assert (shot["machine"], shot["version"], shot["step"], shot["steps"], shot["done"]) == ("online-softmax", 1, 4, 5, False)
    assert shot["spec"] == {
        "scores": [1, 3, 2, 5, 4], "values": [10, 20, 30, 40, 50], "offset": 0, "format": "float32", "accumulate": "float32", "block": 1,
    }  # fmt: skip
    assert {"kind", "indices", "scores", "m_old", "m_new", "alpha", "p", "row_sum", "pv", "l_rescaled", "acc_rescaled", "new_max"} <= set(
        shot["event"]
    )
    assert {"m", "l", "lse", "acc", "output", "terms", "naive", "reference"} <= set(shot["state"])
    assert set(shot["state"]["naive"]) == {"exps", "sum", "failed", "first_bad"}
    assert set(shot["state"]["reference"]) == {"m", "l", "lse", "output", "shares"}
    assert set(shot["ledger"]) == {"reads", "writes", "kept", "ops"}
    assert set(shot["ledger"]["ops"]) == {"mul", "add", "exp", "div", "max"}
    assert set(shot["links"]) == {"self", "page", "embed", "svg", "png"}
    assert shot["state"]["terms"][0].keys() == {"index", "score", "size", "size_before"}
    assert shot["state"]["terms"][-1].keys() == {"index", "score", "size"}


def test_what_does_not_exist_yet_is_absent(client):
    start = get(client, f"{ONLINE}/0?scores=1,2")
    assert start["event"] == {"kind": "start"}
    assert start["state"]["m"] == "-Infinity"
    assert start["state"]["terms"] == []
    assert not {"acc", "output", "shares"} & set(start["state"])
    assert start["ledger"] == {"reads": 0, "writes": 0, "kept": 0, "ops": {"mul": 0, "add": 0, "exp": 0, "div": 0, "max": 0}}
    assert "values" not in start["spec"]
    assert "shares" in get(client, f"{ONLINE}/2?scores=1,2")["state"]


def test_numbers_that_are_not_finite_are_strings_and_never_null(client):
    raw = client.get(f"{ONLINE}?scores=nan,inf,-inf,-Infinity,NaN,Infinity").text
    json.loads(raw, parse_constant=lambda name: pytest.fail(f"bare {name}"))
    assert "null" not in raw
    assert get(client, f"{ONLINE}/1?scores=nan")["state"]["m"] == "NaN"
    assert get(client, f"{ONLINE}/1?scores=-inf")["state"]["lse"] == "-Infinity"


def test_scalar_values_give_scalars_and_vectors_give_lists(client):
    assert get(client, f"{ONLINE}/1?scores=1,2&values=3,4")["state"]["acc"] == 3
    assert get(client, f"{ONLINE}/1?scores=1,2&values=3,4;5,6")["state"]["acc"] == [3, 4]
    assert get(client, f"{ONLINE}/1?scores=1&values=3;")["state"]["acc"] == [3]


@pytest.mark.parametrize("scores", ["1,3,2", "1, 3, 2", "1 3 2", "1%0A3%0A2%0A", "1,3,2,", "%2B1,3.0,2e0", ",".join(["1", "3", "2 "])])
def test_every_way_to_write_a_list(client, scores):
    assert get(client, f"{ONLINE}/0?scores={scores}")["spec"]["scores"] == [1, 3, 2]


def test_an_empty_optional_field_counts_as_absent(client):
    shot = get(client, f"{ONLINE}/0?scores=1&values=&offset=&format=&accumulate=&block=")
    assert shot["spec"] == {"scores": [1], "offset": 0, "format": "float32", "accumulate": "float32", "block": 1}


def test_a_run_is_a_window_of_the_same_snapshots(client):
    run = get(client, f"{ONLINE}?{FIVE}&start=2&count=3")
    assert (run["steps"], run["start"], run["count"]) == (5, 2, 3)
    assert run["snapshots"] == [get(client, f"{ONLINE}/{step}?{FIVE}") for step in (2, 3, 4)]
    assert get(client, f"{ONLINE}?{FIVE}&start=5")["count"] == 1


def test_a_run_stops_at_64_snapshots(client):
    run = get(client, f"{ONLINE}?scores={','.join(['0'] * 100)}")
    assert (run["steps"], run["count"]) == (100, 64)


def test_a_run_stops_where_two_megabytes_end(client):
    answer = client.post(ONLINE, json={"spec": {"scores": [0.1 + i / 7 for i in range(4096)]}, "start": 4000})
    assert answer.status_code == 200
    assert len(answer.content) <= 2_000_000
    assert 1 <= answer.json()["count"] < 64


def test_post_takes_what_get_gives(client):
    shot = get(client, f"{ONLINE}/1?scores=-inf,1&values=1,2;nan,4")
    answer = client.post(ONLINE, json={"spec": shot["spec"], "start": 1, "count": 1})
    assert answer.status_code == 200
    assert answer.json()["snapshots"] == [shot]


def test_links_lead_to_the_same_state(client):
    shot = get(client, f"{ONLINE}/3?scores=1,-inf,0.1&values=1,2;3,4;5,6&block=1&offset=2.5&accumulate=float64")
    assert shot["links"]["self"] == (
        "api/v1/machines/online-softmax/snapshots/3?scores=1,-inf,0.1&values=1,2;3,4;5,6&offset=2.5&format=float32&accumulate=float64"
    )
    assert get(client, "/" + shot["links"]["self"]) == shot
    for name, kind in (("page", "text/html"), ("embed", "text/html"), ("svg", "image/svg+xml"), ("png", "image/png")):
        answer = client.get("/" + shot["links"][name])
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)


def test_a_run_too_long_for_a_page_has_only_its_own_address(client):
    assert set(get(client, f"{ONLINE}/0?scores={','.join(['1'] * 65)}")["links"]) == {"self"}


def test_machines_are_listed_with_fields_and_presets(client):
    listed = {one["name"]: one for one in get(client, "/api/v1/machines")["machines"]}
    assert list(listed) == list(BY_NAME)
    contract = {"online-softmax", "softmax-passes", "division-order", "merge", "tiled-attention", "standard-attention", "memory-traffic"}
    assert contract <= set(listed)
    fields = {one["name"]: one for one in listed["online-softmax"]["fields"]}
    assert list(fields) == ["scores", "values", "offset", "format", "accumulate", "block"]
    assert fields["format"]["default"] == "float32"
    assert fields["block"]["limits"] == {"least": 1, "most": 4096}
    for name, machine in listed.items():
        for preset in machine["presets"]:
            assert get(client, f"/api/v1/machines/{name}/snapshots/0?{preset['query']}")["step"] == 0


def test_a_split_row_has_every_name_of_the_contract(client):
    run = get(client, f"/api/v1/machines/merge/snapshots?{FIVE}&cuts=3")
    assert [shot["event"]["kind"] for shot in run["snapshots"]] == ["start", "worker", "worker", "merge"]
    shot = run["snapshots"][-1]
    assert {"parts", "factors"} <= set(shot["event"])
    assert {"m", "l", "lse", "acc", "output", "parts", "reference"} <= set(shot["state"])
    assert {"from", "to", "m", "l", "lse", "acc", "output"} <= set(shot["state"]["parts"][0])
    assert set(shot["state"]["error"]["output"]) == {"absolute", "relative", "ulps"}
    assert (shot["spec"]["splits"], shot["spec"]["cuts"]) == (2, [3])
    assert get(client, "/api/v1/machines/merge/snapshots/0?scores=1,2")["spec"] == {
        "scores": [1, 2], "splits": 2, "merge_order": "left", "format": "float32", "accumulate": "float32",
    }  # fmt: skip
    answer = client.post("/api/v1/machines/merge/snapshots", json={"spec": shot["spec"], "start": 3, "count": 1})
    assert answer.json()["snapshots"] == [shot]


def test_caption_and_spoken_say_the_same_in_signs_and_in_words(client):
    shot = get(client, f"{ONLINE}/6?scores=6,5,7,6,7,9,8,6")
    assert "exp(7 − 9) ≈ 0.135" in shot["caption"]
    assert "2.871 × 0.135 + 1 ≈ 1.389" in shot["caption"]
    assert "e to the power of 7 minus 9, about 0.135" in shot["spoken"]
    assert not set("−×≈∞ℓ") & set(shot["spoken"])


@pytest.mark.parametrize(
    "path", [f"{ONLINE}/3?{FIVE}", f"{ONLINE}?{FIVE}", "/widgets/online-softmax", "/figures/online-softmax.svg", "/api/v1/machines", "/"]
)
def test_answers_are_confirmed_by_a_strong_etag_with_the_release_in_it(client, path):
    first = client.get(path)
    etag = first.headers["etag"]
    assert etag.startswith('"0.1.0-')
    assert first.headers["cache-control"] == "public, max-age=300"
    again = client.get(path, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path).content == first.content
    assert client.head(path).headers["etag"] == etag


def test_the_naive_way_fails_in_each_of_its_faces(client):
    def old(query: str) -> dict:
        steps = get(client, f"{ONLINE}/0?{query}")["steps"]
        return get(client, f"{ONLINE}/{steps}?{query}")["state"]["naive"]

    one_nan = old("scores=6,5,7,6,7,9,8,6&offset=80")
    assert one_nan["shares"] == [0, 0, 0, 0, 0, "NaN", 0, 0]
    assert one_nan["failed"]
    assert [bad["text"] for bad in one_nan["first_bad"]] == ["exp(89) is past the largest float32", "∞ / ∞ is NaN"]
    assert not old("scores=6,5,7,6,7,9,8,6&offset=79")["failed"]
    assert set(old("scores=1000,1001,1002")["shares"]) == {"NaN"}
    quiet = old("scores=10.5,10.5&format=float16")
    assert (quiet["shares"], quiet["failed"], quiet["sum"]) == ([0, 0], True, "Infinity")
    at_once = old("scores=6.5,1&format=float8_e4m3fn")
    assert at_once["exps"][0] == "NaN"
    assert at_once["first_bad"][0]["text"] == "exp(6.500) is past the largest float8_e4m3fn, which has no infinity: NaN"
    vanished = old("scores=-200,-201")
    assert (vanished["shares"], vanished["failed"]) == (["NaN", "NaN"], True)
    assert vanished["first_bad"] == [{"gives": "NaN", "op": "div", "index": 0, "text": "0 / 0 is NaN"}]


def test_exact_values_travel_whole(client):
    shot = get(client, f"{ONLINE}/2?scores=0,1&format=float64")
    assert shot["state"]["l"] == 1 + math.exp(-1)
