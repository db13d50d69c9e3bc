"""The application, wired by hand in one place."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response

from app import __version__, assets
from app.coding import Gzip
from app.http import access_log
from app.http.access_log import AccessLog, Metrics
from app.http.cache import ResponseCache
from app.http.errors import error, for_programs, http_fault
from app.http.headers import Headers, Shared, allowed
from app.http.middleware import Limits
from app.http.pool import DrawingPool, drawing
from app.lessons.course import Catalog
from app.machines import MACHINES
from app.routes import api, crawlers, figures, health, lessons, oembed, pages, schema, sharing, static
from app.routes.site import Site
from app.routes.work import Budget
from app.settings import Settings
from app.specs import Fault, Refusal

HERE = ("127.0.0.1", "localhost", "[::1]")  # by which health checks ask
ABOUT = "Online softmax and FlashAttention, one step at a time, in real arithmetic. A spec and a step number determine a snapshot; nothing is kept."


def served() -> FastAPI:
    """The site of a process that does nothing but serve it: `uvicorn --factory app.main:served`."""
    return create_app(lifespan=drawing)


def create_app(settings: Settings | None = None, lifespan: Any = None) -> FastAPI:
    """The whole site. Everything it needs is made here and handed on.

    >>> [route for route in create_app().openapi()["paths"]][:2]
    ['/api/v1/machines', '/api/v1/machines/softmax-passes/snapshots/{step}']
    """
    settings = settings or Settings()
    app = FastAPI(
        title="Tilewise", version=__version__, description=ABOUT, docs_url=None, redoc_url=None,
        openapi_url="/api/v1/openapi.json", lifespan=lifespan,
    )  # fmt: skip
    files = assets.load()
    cache = ResponseCache(settings.cache_bytes)
    site = Site(files)
    catalog = Catalog(settings.lessons_dir)
    pool = DrawingPool()
    metrics = Metrics() if settings.metrics else None

    routers = (  # what is asked for most, first: routes are tried in turn
        static.router(files),
        api.router(cache, pool, Budget(settings.max_work), settings.max_body_bytes),
        pages.router(site, cache),
        lessons.router(site, cache, catalog),
        figures.router(cache, pool),
        oembed.router(cache, catalog),
        sharing.router(site, cache),
        health.router(catalog),
        access_log.router(metrics),
        crawlers.router(cache, catalog),
    )
    answering = [*app.routes, *(route for router in routers for route in router.routes)]
    for router in routers:
        app.include_router(router)

    async def failed(request: Request, fault: Fault, status: int, headers: dict[str, str] | None = None) -> Response:
        return error(status, fault, headers) if for_programs(request) else site.failure(request, fault, status, headers)

    # the last one added is the first that a request meets
    app.add_middleware(Gzip)
    app.add_middleware(Limits, failing=failed, most_url=settings.max_url_bytes, most_body=settings.max_body_bytes)
    if settings.hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*settings.hosts, *HERE], www_redirect=False)
    app.add_middleware(Shared)
    app.add_middleware(AccessLog, failing=failed, metrics=metrics)
    app.add_middleware(Headers, frame_ancestors=settings.frame_ancestors)

    async def on_refusal(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, Refusal)
        return await failed(request, exc.fault, exc.status, {"Retry-After": str(exc.retry_after)} if exc.retry_after else None)

    async def on_http(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)
        if exc.status_code == 405:
            allow = {"Allow": allowed(answering, request.scope)}
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=allow)
            return await failed(request, http_fault(request, 405, ""), 405, allow)
        return await failed(request, http_fault(request, exc.status_code, str(exc.detail)), exc.status_code, dict(exc.headers or {}))

    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(HTTPException, on_http)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            app.openapi_schema = schema.finish(document, MACHINES)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    return app
