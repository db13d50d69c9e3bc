"""Pages and embeds: the home page and each widget, made whole on the server."""

import math
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app import snapshots
from app.figures import DRAWN
from app.figures.file import LIGHT
from app.machines import MACHINES
from app.machines.formats import FORMATS
from app.machines.run import Machine
from app.presets import PRESETS, default_data
from app.snapshots import MAX_COUNT, WIDGETS
from app.specs import Fault, SpecError, fields_of, parse, query, text, whole
from app.web.api import LAST_STEP
from app.web.failures import NotFound, name_fault
from app.web.ready import Ready
from app.web.site import Site

HTML = "text/html"


@dataclass(frozen=True)
class Widget:
    """What a widget's template draws: a snapshot, the run beside it, its figure and its form as last typed."""

    machine: Machine
    shot: dict[str, Any]
    run: dict[str, Any]
    panels: dict[str, Any]
    typed: dict[str, str]
    faults: dict[str, Fault]
    uid: str

    @property
    def ceiling(self) -> float:
        """The largest number of the format, as a power of ten."""
        return math.log10(FORMATS[self.shot["spec"]["format"]].max)

    @property
    def presets(self) -> list[dict[str, str]]:
        return [
            {"title": one.title, "look_for": one.look_for, "query": query(self.machine, one.spec, step=0)}
            for one in PRESETS.get(self.machine.name, ())
        ]


def widget(name: str, given: dict[str, Any], uid: str = "w") -> Widget:
    """A widget as its URL describes it. With faults in the URL: the default, the form as typed and the faults beside it."""
    machine = MACHINES[name]
    default = PRESETS[name][0].spec
    asked = {one.name: given[one.name] for one in machine.fields if one.name in given}
    faults: list[Fault] = []
    spec, step = default, 0
    try:
        spec = parse(machine, default_data(name) | asked, "page", strict=False)
        step = whole("step", given.get("step"), 0, LAST_STEP, 0)
    except SpecError as error:
        faults = error.faults
    shot = snapshots.snapshot(machine, spec, step)
    typed = {name: text(value) for name, value in fields_of(machine, spec).items()}
    if spec.accumulate == spec.format:
        typed.pop("accumulate", None)
    first = step // MAX_COUNT * MAX_COUNT
    run = snapshots.run(machine, spec, first, MAX_COUNT, PAGE_BYTES)
    if step >= first + run["count"]:
        run = snapshots.run(machine, spec, step, MAX_COUNT, PAGE_BYTES)
    return Widget(
        machine,
        shot,
        run,
        DRAWN[name](shot),
        {**typed, **{k: str(v) for k, v in asked.items() if faults}},
        {one.field: one for one in faults},
        uid,
    )


PAGE_BYTES = 250_000  # of the run inlined in a page; the rest is fetched ahead


def router(site: Site, ready: Ready) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def home(request: Request) -> Response:
        online = MACHINES["online-softmax"]
        shot = snapshots.snapshot(online, PRESETS["online-softmax"][0].spec, 6)
        return await ready.answer(
            request, HTML, lambda: site.render(request, "home.html", shot=shot, panels=DRAWN["online-softmax"](shot), ink=LIGHT)
        )

    async def show(request: Request, name: str, template: str) -> Response:
        if name not in WIDGETS:
            raise NotFound(name_fault("widget", name, sorted(WIDGETS)))
        kept = ready.find(request)
        if kept is not None:
            return kept
        given = dict(request.query_params)  # where a name is given twice the last counts: a button's step after the range's
        made = widget(name, given)
        more: dict[str, Any] = {"w": made, "ink": LIGHT, "projector": given.get("view") == "projector", "keys": given.get("keys") != "0"}
        if made.faults:
            return site.page(request, template, 422, **more)
        return ready.keep(request, HTML, site.render(request, template, **more))

    @routes.get("/widgets/{name}")
    async def page(request: Request, name: str) -> Response:
        return await show(request, name, "widget.html")

    @routes.get("/embed/{name}")
    async def embed(request: Request, name: str) -> Response:
        return await show(request, name, "embed.html")

    return routes
