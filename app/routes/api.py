"""/api/v1: machines and their snapshots, one route a machine."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from app.http.cache import ResponseCache
from app.http.errors import name_fault
from app.http.pool import DrawingPool, beside
from app.machines import MACHINES
from app.machines.fields import Room
from app.machines.run import Machine
from app.routes import schema
from app.routes.work import AT_ONCE, BESIDE, Budget
from app.runs import Run, snapshot
from app.runs import run as run_of
from app.snapshot import MAX_COUNT, NoSuchStep, encode
from app.specs import LAST_STEP, Fault, NotFound, SpecError, clip, parse, query, text, whole
from app.stories import BY_NAME, WIDGETS

JSON = "application/json"
BODY_SECONDS = 20  # that a body may take to come
LONG = 400  # bytes of query past which an answer is made off the event loop
LARGE = 40_000  # bytes of a body past which it is read, too, in a process of its own
QUOTED = 200  # bytes of a body that are quoted at most


def router(cache: ResponseCache, pool: DrawingPool, budget: Budget, most_body_bytes: int) -> APIRouter:
    api = APIRouter(prefix="/api/v1")

    async def machines(request: Request) -> Response:
        def make() -> bytes:
            return encode({"machines": [described(one.machine) for one in WIDGETS]})

        return await cache.shared(request, JSON, lambda: beside(make))

    api.add_api_route(
        "/machines", machines, summary="The machines", responses=schema.MACHINES_ANSWER, operation_id="machines", response_class=Response
    )
    for one in WIDGETS:
        _add(api, one.machine, cache, pool, budget, most_body_bytes)

    @api.get("/machines/{machine}/{rest:path}", include_in_schema=False)
    @api.post("/machines/{machine}/{rest:path}", include_in_schema=False)
    async def unknown(machine: str, rest: str) -> Response:
        if machine in MACHINES:
            if re.fullmatch(r"snapshots/\d+", rest):  # only GET has a route for it
                raise HTTPException(405)
            raise NotFound(
                name_fault("address", f"machines/{machine}/{rest}", [f"machines/{machine}/snapshots", f"machines/{machine}/snapshots/0"])
            )
        raise NotFound(name_fault("machine", machine, list(BY_NAME)))

    return api


def described(machine: Machine) -> dict[str, Any]:
    """A machine as /machines lists it: its fields with their limits, and its presets."""
    fields = []
    for one in machine.fields:
        told: dict[str, Any] = {
            "name": one.name,
            "kind": one.kind,
            "label": one.label,
            "help": one.help,
            "required": one.required,
            "example": one.example,
        }
        if one.default is not None:
            told["default"] = one.default
        if one.choices:
            told["choices"] = list(one.choices)
        if one.most:
            told["limits"] = {"least": one.least, "most": one.most}
        fields.append(told)
    presets = [
        {
            "name": one.name,
            "title": one.title,
            "look_for": one.look_for,
            "query": query(machine, one.spec),
            "spec": {k: text(v) for k, v in one.given.items()},
        }
        for one in BY_NAME[machine.name].presets
    ]
    return {"name": machine.name, "title": machine.title, "about": machine.about, "fields": fields, "presets": presets}


def _add(api: APIRouter, machine: Machine, cache: ResponseCache, pool: DrawingPool, budget: Budget, most_body_bytes: int) -> None:
    path = f"/machines/{machine.name}/snapshots"
    name = machine.name.replace("-", "_")

    async def run(request: Request, room: Room, given: dict[str, Any], start: int, count: int, show: Callable[..., bytes]) -> Response:
        """A spec's snapshots, made where their work belongs: on the event loop, beside it, or in a process of its own."""
        drawn = any(one.stands_in and one.name in given for one in machine.fields)  # data that has first to be made
        long = room == "post" or drawn or len(request.scope["query_string"]) > LONG
        asked = machine, given, room, start, count, budget
        spec, load = await beside(weighed, *asked) if long else weighed(*asked)

        def here() -> bytes:
            return show(machine.name, spec, start, count)

        async def made() -> bytes:
            return await (beside(here) if load <= BESIDE else pool.run(show, machine.name, spec, start, count))

        if room == "post":
            return Response(here() if load <= AT_ONCE else await made(), media_type=JSON)
        return await cache.keep(request, JSON, here()) if load <= AT_ONCE else await cache.shared(request, JSON, made)

    async def one(request: Request) -> Response:
        kept = cache.find(request)
        if kept is not None:
            return kept
        step = whole("step", request.path_params["step"], 0, LAST_STEP)
        return await run(request, "get", _given(request), step, 1, _shot)

    async def swept(request: Request) -> Response:
        """A state at each position of the widget's slider, for a page whose reader drags it."""
        step = whole("step", request.path_params["step"], 0, LAST_STEP)
        spec, _ = weighed(machine, _given(request), "page", step, 1, budget)
        return await cache.shared(request, JSON, lambda: pool.run(_swept, machine.name, spec, step))

    async def many(request: Request) -> Response:
        kept = cache.find(request)
        if kept is not None:
            return kept
        given = _given(request)
        start, count = _window(given.pop("start", None), given.pop("count", None))
        charts = whole("charts", given.pop("charts", None), 0, 1, 0)
        return await run(request, "get", given, start, count, _charted if charts else _run)

    async def posted(request: Request) -> Response:
        raw = await _raw(request, most_body_bytes)
        if len(raw) > LARGE:
            return Response(await pool.run(_answered, machine.name, raw, budget), media_type=JSON)
        given, start, count = await beside(_told, raw)
        return await run(request, "post", given, start, count, _run)

    def add(
        path: str,
        endpoint: Callable[[Request], Coroutine[Any, Any, Response]],
        method: str,
        operation: str,
        summary: str,
        extra: dict[str, Any],
    ) -> None:
        api.add_api_route(
            path, endpoint, methods=[method], operation_id=f"{name}_{operation}", summary=f"{machine.title}: {summary}", tags=[machine.name],
            responses=schema.answers(operation), openapi_extra=extra, response_class=Response,
        )  # fmt: skip

    add(f"{path}/{{step}}", one, "GET", "snapshot", "one snapshot", schema.one_parameters(machine))
    if BY_NAME[machine.name].slider:
        api.add_api_route(f"/machines/{machine.name}/sweeps/{{step}}", swept, include_in_schema=False, response_class=Response)
    add(path, many, "GET", "run", "a run of snapshots", schema.many_parameters(machine))
    add(path, posted, "POST", "long_run", "a run of snapshots of a spec too long for a URL", schema.body(machine))


def weighed(machine: Machine, given: dict[str, Any], room: Room, start: int, count: int, budget: Budget) -> tuple[Any, int]:
    """The spec that was asked for, and how much work it is. Raises SpecError and NoSuchStep."""
    spec = parse(machine, given, room)
    steps = machine.steps(spec)
    if start > steps:
        raise NoSuchStep(start, steps)
    return spec, budget.weigh(machine, spec, min(start + count - 1, steps), count)


def _answered(name: str, raw: bytes, budget: Budget) -> bytes:
    """All of an answer to a long body: reading that alone would hold up whoever shares the process."""
    given, start, count = _told(raw)
    spec, _ = weighed(MACHINES[name], given, "post", start, count, budget)
    return _run(name, spec, start, count)


def _shot(name: str, spec: Any, step: int, count: int) -> bytes:
    return encode(snapshot(MACHINES[name], spec, step))


def _run(name: str, spec: Any, start: int, count: int) -> bytes:
    return run_of(MACHINES[name], spec, start, count).json


def _charted(name: str, spec: Any, start: int, count: int) -> bytes:
    return run_of(MACHINES[name], spec, start, count, charts=True).json


def _swept(name: str, spec: Any, step: int) -> bytes:
    return Run(MACHINES[name], spec).swept(step)


def _given(request: Request) -> dict[str, str]:
    pairs = request.query_params.multi_items()
    given = dict(pairs)
    if len(given) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise SpecError(
            [
                Fault(
                    "given_twice",
                    f"{clip(twice)} is given more than once: give it one time.",
                    clip(twice),
                    clip(given[twice]),
                    "each name once",
                )
            ]
        )
    return given


def _window(start: Any, count: Any) -> tuple[int, int]:
    return whole("start", start, 0, LAST_STEP, 0), whole("count", count, 1, MAX_COUNT, MAX_COUNT)


async def _raw(request: Request, most: int) -> bytes:
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > most:
                    raise HTTPException(413, f"the body is longer than {most:,} bytes: send fewer scores", {"Connection": "close"})
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {BODY_SECONDS} seconds: send it again", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the body broke off: send it again") from None
    return bytes(raw)


def _told(raw: bytes) -> tuple[dict[str, Any], int, int]:
    """What a body says: the spec's fields, the first step and how many."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _body_error(f"the body is not JSON ({error})", raw[:QUOTED].decode(errors="replace")) from None
    if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
        raise _body_error("the body is not an object with a spec in it", raw[:QUOTED].decode(errors="replace"))
    unknown = [name for name in body if name not in ("spec", "start", "count")]
    if unknown:
        raise _body_error(f"there is no {clip(unknown[0])!r} in the body's form", unknown[0])
    return body["spec"], *_window(body.get("start"), body.get("count"))


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number: send it as the string {name!r}")


def _body_error(what: str, value: str) -> SpecError:
    example = '{"spec": {"scores": [1, 3, 2]}, "start": 0, "count": 4}'
    return SpecError([Fault("bad_body", f"{what}; send {example}.", "body", clip(value), example)])
