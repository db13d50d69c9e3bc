"""A state at each position of a slider: what a page shows while the slider is dragged."""

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.stories import BY_NAME, WIDGETS

SPEC = "scores=6,5,7,6,7,9,8,6&format=float32"
PATH = "/api/v1/machines/online-softmax/sweeps"


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app()) as found:
        yield found


def test_each_position_is_the_state_that_its_own_address_gives(client):
    found = client.get(f"{PATH}/6?{SPEC}").json()
    _, positions = BY_NAME["online-softmax"].slider
    assert (found["field"], found["values"]) == ("offset", list(positions))
    for offset in (0, 1, 79, 80, 100):
        shot = found["snapshots"][offset]
        charts = shot["charts"]
        shot = {name: part for name, part in shot.items() if name != "charts"}
        assert shot == client.get(f"/api/v1/machines/online-softmax/snapshots/6?{SPEC}&offset={offset}").json()
        assert set(charts) == {"sizes", "exps"}
    assert found["turn"] == {"at": 80, "said": "In float32 the old way fails from +80 on."}
    roles = [{change[1] for change in found["snapshots"][offset]["charts"]["exps"]} for offset in (79, 80)]
    assert "failed" not in roles[0]
    assert "failed" in roles[1]


def test_what_is_wrong_is_said(client):
    assert client.get(f"{PATH}/9?{SPEC}").json()["error"]["code"] == "no_such_step"
    assert client.get(f"{PATH}/x?{SPEC}").status_code in (404, 422)
    assert client.get(f"{PATH}/1?scores=1,x").json()["error"]["field"] == "scores"
    for one in WIDGETS:
        if one.slider is None:
            assert client.get(f"/api/v1/machines/{one.name}/sweeps/1").status_code == 404
