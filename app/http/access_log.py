"""What a host can watch: a line for each request, with an id and nothing about who asked, and counters for Prometheus.

A line names the route, never the address with its query, and no IP address, so nothing in it is about a person.
"""

import json
import logging
import os
import re
import secrets
import time
from contextvars import ContextVar
from typing import Any, Protocol

from fastapi import APIRouter
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.specs import Fault

ACCESS, FAILED = logging.getLogger("tilewise.access"), logging.getLogger("tilewise.error")
NO_ROUTE = "(none)"
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # seconds
_asked: ContextVar[str] = ContextVar("asked", default="")


class Failing(Protocol):
    """How a fault is answered: in the API's form, or as a page."""

    async def __call__(self, request: Request, fault: Fault, status: int, headers: dict[str, str] | None = None, /) -> Response: ...


class AccessLog:
    """Gives each request an id (or keeps the one a proxy gave), tells of it when it is answered, and answers what fails inside.

    failing   how a fault is answered
    metrics   where requests are counted; None: nowhere
    """

    def __init__(self, app: ASGIApp, failing: Failing, metrics: "Metrics | None" = None) -> None:
        self.app, self.failing, self.metrics = app, failing, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        mine = request_id(scope)
        _asked.set(mine)
        status, size = 0, 0

        async def told(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = mine
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, told)
        except Exception:
            FAILED.exception("a request failed", extra={"told": {"id": mine, "route": route_of(scope)}})
            if status:  # part of the answer has gone: breaking off is all that is left
                raise
            await (await self.failing(Request(scope), broken(mine), 500))(scope, receive, told)
        finally:
            took = time.perf_counter() - began
            if self.metrics is not None:
                self.metrics.count(route_of(scope), scope["method"], status, took)
            if ACCESS.isEnabledFor(logging.INFO):
                about = {"id": mine, "method": scope["method"], "route": route_of(scope), "status": status}
                ACCESS.info("request", extra={"told": {**about, "ms": round(took * 1e3, 2), "bytes": size}})


def request_id(scope: Scope) -> str:
    """The id that a proxy gave this request, where it is a plain one, or a new one.

    >>> request_id({"headers": [(b"x-request-id", b"2f8a91c0")]})
    '2f8a91c0'
    >>> len(request_id({"headers": [(b"x-request-id", b"someone@example.org")]}))
    16
    """
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(given := value.decode("latin-1")):
            return str(given)
    return secrets.token_hex(8)


def route_of(scope: Scope) -> str:
    """The route that answered, as it is declared.

    >>> route_of({})
    '(none)'
    """
    return getattr(scope.get("route"), "path", NO_ROUTE)


def broken(mine: str) -> Fault:
    """What is said of a mistake of ours."""
    return Fault("broken", f"that is a mistake of this site, not yours: its log has it under {mine}.", "request", mine, "any other request")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON.

    >>> JsonFormatter().format(logging.makeLogRecord({"msg": "begun", "levelname": "INFO", "name": "a", "created": 0}))
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","logger":"a","message":"begun"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{moment}.{int(record.created % 1 * 1000):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if _asked.get():
            line["id"] = _asked.get()
        line |= getattr(record, "told", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


class TextFormatter(logging.Formatter):
    """A record as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = getattr(record, "told", {})
        if "ms" in told:
            return f"{told['method']} {told['route']} {told['status']} {told['ms']} ms, {told['bytes']:,} bytes ({told['id']})"
        words = f"{record.levelname.lower()}: {record.getMessage()}"
        if told:
            words += f" ({told['route']}, {told['id']})"
        return f"{words}\n{self.formatException(record.exc_info)}" if record.exc_info else words


def logging_for(log_format: str, log_level: str, access_log: bool) -> dict[str, Any]:
    """The logging configuration of a server: everything to standard output, in lines of one form; uvicorn's own access line, which has addresses, is off."""
    level = log_level.upper()
    quiet = {"handlers": [], "level": "CRITICAL", "propagate": False}
    loud = {"handlers": ["out"], "level": level, "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": JsonFormatter if log_format == "json" else TextFormatter}},
        "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stdout"}},
        "loggers": {"uvicorn": loud, "uvicorn.error": loud, "uvicorn.access": quiet, "tilewise": loud, "tilewise.access": loud if access_log else quiet},
    }  # fmt: skip


class Metrics:
    """Counters in Prometheus' form. With several workers set PROMETHEUS_MULTIPROC_DIR, and a look at one worker shows them all."""

    def __init__(self) -> None:
        import prometheus_client as prometheus  # an extra: only who asks for metrics needs it

        self._prometheus = prometheus
        self.registry = prometheus.CollectorRegistry()
        self._requests = prometheus.Counter(
            "tilewise_requests", "Requests answered.", ("route", "method", "status"), registry=self.registry
        )
        self._seconds = prometheus.Histogram(
            "tilewise_request_seconds", "Time until a request was answered.", ("route",), buckets=_BUCKETS, registry=self.registry
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        shown = self.registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            from prometheus_client import multiprocess

            shown = self._prometheus.CollectorRegistry()
            multiprocess.MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
        return self._prometheus.generate_latest(shown)


def router(metrics: Metrics | None) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    if metrics is not None:

        @routes.get("/metrics")
        async def shown() -> Response:
            return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8", headers={"Cache-Control": "no-store"})

    return routes
