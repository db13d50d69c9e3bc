"""/api/v1: machines and their snapshots, one route a machine."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app import snapshots
from app.machines import MACHINES
from app.machines.run import Machine
from app.presets import PRESETS
from app.snapshots import MAX_COUNT
from app.specs import Fault, SpecError, clip, parse, query, text, whole
from app.web import schema
from app.web.failures import NotFound, name_fault
from app.web.ready import Ready
from app.widgets import LAST_STEP

JSON = "application/json"


def router(ready: Ready, most_body_bytes: int) -> APIRouter:
    api = APIRouter(prefix="/api/v1")

    async def machines(request: Request) -> Response:
        return await ready.answer(
            request, JSON, lambda: snapshots.encode({"machines": [described(machine) for machine in MACHINES.values()]})
        )

    api.add_api_route(
        "/machines", machines, summary="The machines", responses=schema.MACHINES_ANSWER, operation_id="machines", response_class=Response
    )
    for machine in MACHINES.values():
        _add(api, machine, ready, most_body_bytes)

    @api.get("/machines/{machine}/{rest:path}", include_in_schema=False)
    @api.post("/machines/{machine}/{rest:path}", include_in_schema=False)
    async def unknown(machine: str, rest: str) -> Response:
        if machine in MACHINES:
            raise NotFound(
                name_fault("address", f"machines/{machine}/{rest}", [f"machines/{machine}/snapshots", f"machines/{machine}/snapshots/0"])
            )
        raise NotFound(name_fault("machine", machine, list(MACHINES)))

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
        for one in PRESETS.get(machine.name, ())
    ]
    return {"name": machine.name, "title": machine.title, "about": machine.about, "fields": fields, "presets": presets}


def _add(api: APIRouter, machine: Machine, ready: Ready, most_body_bytes: int) -> None:
    path = f"/machines/{machine.name}/snapshots"
    name = machine.name.replace("-", "_")

    async def one(request: Request) -> Response:
        def make() -> bytes:
            step = whole("step", request.path_params["step"], 0, LAST_STEP)
            return snapshots.encode(snapshots.snapshot(machine, parse(machine, _given(request), "get"), step))

        return await ready.answer(request, JSON, make)

    async def many(request: Request) -> Response:
        def make() -> bytes:
            given = _given(request)
            start, count = _window(given.pop("start", None), given.pop("count", None))
            return _run(machine, parse(machine, given, "get"), start, count)

        return await ready.answer(request, JSON, make)

    async def posted(request: Request) -> Response:
        body = await _body(request, most_body_bytes)
        start, count = _window(body.get("start"), body.get("count"))
        spec = parse(machine, body["spec"], "post")
        return Response(await run_in_threadpool(_run, machine, spec, start, count), media_type=JSON)

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
    add(path, many, "GET", "run", "a run of snapshots", schema.many_parameters(machine))
    add(path, posted, "POST", "long_run", "a run of snapshots of a spec too long for a URL", schema.body(machine))


def _run(machine: Machine, spec: Any, start: int, count: int) -> bytes:
    return snapshots.encode(snapshots.run(machine, spec, start, count))


def _given(request: Request) -> dict[str, str]:
    pairs = request.query_params.multi_items()
    given = dict(pairs)
    if len(given) < len(pairs):
        twice = next(name for name in given if sum(name == other for other, _ in pairs) > 1)
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


async def _body(request: Request, most: int) -> dict[str, Any]:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > most:
            raise HTTPException(413, f"the body is longer than {most:,} bytes: send fewer scores")
    try:
        body = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _body_error(f"the body is not JSON ({error})", raw.decode(errors="replace")) from None
    if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
        raise _body_error("the body is not an object with a spec in it", raw.decode(errors="replace"))
    unknown = [name for name in body if name not in ("spec", "start", "count")]
    if unknown:
        raise _body_error(f"there is no {clip(unknown[0])!r} in the body's form", unknown[0])
    return body


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number: send it as the string {name!r}")


def _body_error(what: str, value: str) -> SpecError:
    example = '{"spec": {"scores": [1, 3, 2]}, "start": 0, "count": 4}'
    return SpecError([Fault("bad_body", f"{what}; send {example}.", "body", clip(value), example)])
