"""What is said when something is wrong: one error form for programs, one page for people. Never a 500 for bad input."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from app.specs import Fault, clip


def error(status: int, fault: Fault, headers: dict[str, str] | None = None) -> JSONResponse:
    """The API's error form."""
    return JSONResponse({"error": fault.wire()}, status, headers)


def for_programs(request: Request) -> bool:
    path: str = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    return path.startswith(("/api/", "/static/", "/oembed", "/healthz", "/readyz"))


def http_fault(request: Request, status: int, detail: str) -> Fault:
    """A fault for what the framework itself refuses: an unknown path, a method, a body too long."""
    path = request.scope["path"]
    shown = clip(path)
    if status == 404:
        return Fault(
            "not_found", f"there is nothing at {shown!r}: start at / or at /api/v1/machines.", "path", shown, ["/", "/api/v1/machines"]
        )
    if status == 405:
        return Fault(
            "method_not_allowed",
            f"{request.method} is not answered at {shown!r}: the Allow header says what is.",
            "method",
            request.method,
            "see Allow",
        )
    return Fault("refused", f"{detail}.", "request", shown, "a well-formed request")


def name_fault(kind: str, name: Any, known: list[str]) -> Fault:
    shown = clip(name)
    return Fault(f"unknown_{kind}", f"there is no {kind} {shown!r}: use one of {', '.join(known)}.", kind, shown, known)
