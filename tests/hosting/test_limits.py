"""What is too long or too much work is refused in words; while heavy work runs, light steps are answered."""

import asyncio
import itertools
import json
import time

import httpx2
import pytest
from starlette.testclient import TestClient

from app.machines import MACHINES
from app.main import create_app
from app.routes.site import Site
from app.routes.work import AT_ONCE, Budget, work
from app.settings import Settings
from app.specs import SpecError
from app.stories import BY_NAME, PAGES

LIGHT = "/api/v1/machines/online-softmax/snapshots/{}?scores=6,5,7,6,7,9,8,6"
HEAVY = "/api/v1/machines/tiled-attention/snapshots?seed={}&n_q=24&n_k=24&d=4&d_v=4&block_q=2&block_k=2&start=70&count=1"
TOO_MUCH = "/api/v1/machines/tiled-attention/snapshots/60000?seed=1&n_q=256&n_k=256&d=64&d_v=64&block_q=1&block_k=1"


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(Settings())) as found:
        yield found


def fault(answer, status):
    assert answer.status_code == status, answer.text
    return answer.json()["error"]


def test_too_much_work_is_refused_before_it_starts(client):
    began = time.perf_counter()
    error = fault(client.get(TOO_MUCH), 422)
    assert time.perf_counter() - began < 2
    assert (error["code"], error["field"]) == ("too_much_work", "q")
    assert "larger blocks" in error["message"]
    body = {"spec": {"seed": 1, "n_q": 256, "n_k": 256, "d": 64, "block_q": 1, "block_k": 1}, "start": 50000, "count": 1}
    assert fault(client.post("/api/v1/machines/tiled-attention/snapshots", json=body), 422)["code"] == "too_much_work"


def test_every_preset_is_within_the_budget_and_its_first_step_is_light():
    for widget in PAGES.values():
        machine = widget.machine
        for preset in widget.presets:
            steps = machine.steps(preset.spec)
            assert Budget(Settings().max_work).weigh(machine, preset.spec, steps, 64) < 300_000
        assert work(machine, widget.presets[0].spec, 1) <= AT_ONCE


ROWS = [machine for machine in MACHINES.values() if any(one.name == "scores" for one in machine.fields)]


@pytest.mark.parametrize("machine", ROWS, ids=lambda machine: machine.name)
def test_rows_of_any_allowed_length_are_within_it(machine):
    given = {"scores": (1.0,) * 4096}
    if any(one.name == "values" for one in machine.fields):
        given["values"] = ((1.0,) * 16,) * 4096
    spec = machine.spec(**given)
    Budget(Settings().max_work).weigh(machine, spec, machine.steps(spec), 64)


def test_work_grows_with_step_and_count():
    machine = MACHINES["tiled-attention"]
    spec = BY_NAME["tiled-attention"].presets[0].spec
    found = [work(machine, spec, step, count) for step, count in itertools.product((0, 1, 2), (1, 2, 3))]
    assert found[0] == min(found)
    assert found[-1] == max(found)
    with pytest.raises(SpecError, match="may touch 10"):
        Budget(10).weigh(machine, spec, 2, 1)


def test_a_long_address(client):
    error = fault(client.get("/api/v1/machines/online-softmax/snapshots/0?scores=" + "1," * 20_000), 414)
    assert (error["code"], error["field"]) == ("url_too_long", "address")
    page = client.get("/widgets/online-softmax?scores=" + "1," * 20_000)
    assert page.status_code == 414
    assert "At most" in page.text or "at most" in page.text
    assert page.headers["content-security-policy"]


def test_a_long_body_is_refused_by_its_header_alone(client):
    post = "/api/v1/machines/online-softmax/snapshots"
    assert fault(client.post(post, content=b"", headers={"Content-Length": "2000000"}), 413)["code"] == "body_too_long"
    assert fault(client.post(post, content=b"{}", headers={"Content-Length": "9" * 30}), 413)["code"] == "body_too_long"
    assert fault(client.post(post, content=b"{}", headers={"Content-Length": "-1"}), 413)["code"] == "body_too_long"


def test_while_heavy_runs_are_made_light_steps_go_on_and_too_many_are_told_when_to_come_again():
    async def go():
        transport = httpx2.ASGITransport(app=create_app(Settings()))
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as client:
            heavy = [asyncio.ensure_future(client.get(HEAVY.format(seed))) for seed in range(40)]
            await asyncio.sleep(0.1)
            waits, under_way = [], 0
            for n in range(60):
                began = time.perf_counter()
                answer = await client.get(LIGHT.format(n % 9) + f"&offset={n}")
                waits.append(time.perf_counter() - began)
                assert answer.status_code == 200
                under_way += not all(one.done() for one in heavy)
                await asyncio.sleep(0.005)
            answers = await asyncio.gather(*heavy)
            return sorted(waits), under_way, answers

    waits, under_way, answers = asyncio.run(go())
    assert {answer.status_code for answer in answers} == {200, 503}
    assert all(1 <= int(answer.headers["retry-after"]) <= 10 for answer in answers if answer.status_code == 503)
    assert all(answer.json()["error"]["code"] == "busy" for answer in answers if answer.status_code == 503)
    assert under_way >= 15, "the light steps were answered while the heavy runs were being made"
    assert waits[len(waits) // 2] < 0.25


@pytest.mark.parametrize(
    "path", ["/widgets/online-softmax?scores=1,2,3", "/lessons/online-softmax", "/share/merge", "/", "/api/v1/machines"]
)
def test_a_class_that_opens_a_page_at_once_has_it_made_once(path, monkeypatch):
    made = []
    monkeypatch.setattr(
        Site, "render", lambda self, request, *given, _real=Site.render, **more: made.append(given) or _real(self, request, *given, **more)
    )

    async def go():
        transport = httpx2.ASGITransport(app=create_app(Settings()))
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as client:
            return await asyncio.gather(*(client.get(path) for _ in range(50)))

    answers = asyncio.run(go())
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len(made) == (0 if "api" in path else 1)


def test_a_class_that_asks_the_same_wrong_thing_is_told_what_is_wrong():
    async def go():
        transport = httpx2.ASGITransport(app=create_app(Settings()))
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as client:
            return await asyncio.gather(*(client.get("/widgets/online-softmax?scores=1,x") for _ in range(20)))

    answers = asyncio.run(go())
    assert {answer.status_code for answer in answers} == {422}
    assert all("is not a number" in answer.text for answer in answers)


def test_a_long_body_is_answered_and_refused_as_a_short_one_is(client):
    """It is read in a process of its own, and what is wrong with it comes back whole."""
    path, spaces = "/api/v1/machines/online-softmax/snapshots", b" " * 60_000

    def post(body):
        short, long = (client.post(path, content=json.dumps(body).encode() + more) for more in (b"", spaces))
        assert short.json() == long.json()
        assert short.status_code == long.status_code
        return long

    assert post({"spec": {"scores": [1, 3, 2], "values": [10, 20, 30]}, "count": 2}).json()["count"] == 2
    assert fault(post({"spec": {"scores": [1, 3, "x"]}}), 422)["field"] == "scores"
    assert fault(post({"spec": {"scores": [1, 3]}, "start": 9}), 404)["code"] == "no_such_step"
    assert fault(post({"spec": {"scores": [1, 3]}, "more": 9}), 422)["code"] == "bad_body"
    assert fault(post({"spec": {"scores": [1, 3]}, "count": 1.5}), 422)["field"] == "count"
    assert fault(client.post(path, content=b"[" + spaces), 422)["code"] == "bad_body"
    assert fault(client.post(path, content=b"\xff" * 60_000), 422)["code"] == "bad_body"
    much = {"spec": {"seed": 1, "n_q": 256, "n_k": 256, "d": 64, "block_q": 1, "block_k": 1}, "start": 50000, "count": 1}
    assert (
        fault(client.post(path.replace("online-softmax", "tiled-attention"), content=json.dumps(much).encode() + spaces), 422)["code"]
        == "too_much_work"
    )
