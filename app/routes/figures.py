"""/figures: a state as SVG, PNG or QR code, and its run as GIF, CSV or JSON."""

from collections.abc import Awaitable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from app.figures.kinds import MEDIA_TYPES, SIZES, Job, afforded, make, moving
from app.figures.moving import TooMany
from app.figures.qr import MOST as QR_BYTES
from app.http.cache import ResponseCache
from app.http.errors import name_fault
from app.http.pool import DrawingPool, Long, beside
from app.machines.run import Machine
from app.routes.site import root_of
from app.runs import snapshot, spec_of
from app.snapshot import NoSuchStep, links
from app.specs import LAST_STEP, Fault, NotFound, SpecError, chosen, clip, whole
from app.stories import PAGES, PICTURES


def router(cache: ResponseCache, pool: DrawingPool) -> APIRouter:
    routes = APIRouter(prefix="/figures", include_in_schema=False)
    long = Long()

    @routes.get("/{name}")
    async def figure(request: Request, name: str) -> Response:
        drawn, _, ending = name.partition(".")
        if drawn not in PICTURES or ending not in MEDIA_TYPES:
            raise NotFound(name_fault("figure", name, [f"{one}.{kind}" for one in sorted(PICTURES) for kind in MEDIA_TYPES]))
        kept = cache.find(request)
        if kept is not None:
            return kept
        job = await beside(job_of, drawn, ending, dict(request.query_params), root_of(request))

        def making() -> Awaitable[bytes]:
            return long.run(reader_of(request.scope), moving, job) if ending == "gif" else pool.run(make, ending, job)

        return await cache.shared(request, MEDIA_TYPES[ending], making)

    return routes


def reader_of(scope: Scope) -> str:
    """The address a request came from; of IPv6 the network, since one person has 2⁶⁴ of those.

    >>> [reader_of({"client": (address, 1)}) for address in ("2001:db8::1:2", "192.0.2.7", "::ffff:192.0.2.7", "")]
    ['2001:db8::', '192.0.2.7', '192.0.2.7', '']
    """
    given = (scope.get("client") or ("",))[0]
    try:
        found = ip_address(given)
    except ValueError:
        return str(given)
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
    return str(found)


def job_of(drawn: str, ending: str, given: Mapping[str, Any], root: str = "") -> Job:
    """What a figure's address asks for, checked: making it cannot fail.

    root   where the site is, for a QR code; a figure without a page has none

    >>> job = job_of("online-softmax", "png", {"scores": "1,3,2", "step": "2", "zoom": "1", "theme": "dark"})
    >>> job.step, job.zoom, job.dark, job.size
    (2, 1, True, 'figure')
    """
    machine = PICTURES[drawn].machine
    spec = spec_of(machine, given)
    step = whole("step", given.get("step"), 0, LAST_STEP, 0)
    start = whole("start", given.get("start"), 0, LAST_STEP, 0) if ending in ("csv", "json") else 0
    steps = machine.steps(spec)
    if max(step, start) > steps:
        raise NoSuchStep(max(step, start), steps)
    dark = chosen(given, "theme", ("light", "dark", "auto")) == "dark"
    zoom, size = whole("zoom", given.get("zoom"), 1, 3, 2), chosen(given, "size", SIZES)
    job = Job(drawn, machine.name, spec, step, start, dark, zoom, size, _link(machine, spec, step, root) if ending == "qr.svg" else "")
    if ending == "gif":
        try:
            afforded(job)
        except TooMany as error:
            raise SpecError([Fault("too_much_work", str(error), "steps", error.steps, {"most": error.fit})]) from None
    return job


def _link(machine: Machine, spec: Any, step: int, root: str) -> str:
    if machine.name not in PAGES:
        raise NotFound(name_fault("page", machine.name, sorted(PAGES)))
    link = f"{root}/{links(machine, spec, step)['page']}"
    if len(link) > QR_BYTES:
        message = f"this link has {len(link):,} letters, and a QR code holds {QR_BYTES:,}: give fewer numbers, or a seed."
        raise SpecError([Fault("too_long", message, "link", clip(link), {"most": QR_BYTES})])
    return link


def shot_of(machine: Machine, given: Mapping[str, Any]) -> dict[str, Any]:
    """The snapshot that such a query names."""
    return snapshot(machine, spec_of(machine, given), whole("step", given.get("step"), 0, LAST_STEP, 0))
