"""/lessons and /guide: the course, its lessons in two tracks, their questions and their programs."""

import io
import zipfile
from collections.abc import Callable
from html import escape
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.lessons.course import Catalog
from app.lessons.lesson import Lesson, Page
from app.lessons.markup import code
from app.lessons.markup.context import BASE
from app.lessons.problems import Invalid, InvalidLesson, Problem
from app.lessons.quiz.html import Given
from app.lessons.source import TRACKS, Track
from app.specs import clip
from app.web.failures import NotFound, name_fault
from app.web.ready import Ready
from app.web.site import Site, root_of

HTML = "text/html"
TYPES = {"py": "text/x-python; charset=utf-8"}
LONGEST = 500  # letters of an answer that are read
ITSELF = "https://this-site.example"  # in a guide's snippets: this site, as its reader reaches it
MOST_PARTS = 20  # parts of an answer


def router(site: Site, ready: Ready, catalog: Catalog) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    async def taken_away(request: Request, lesson: Lesson, media_type: str, make: Callable[[], bytes], name: str) -> Response:
        def whole() -> bytes:
            try:
                return make()
            except Invalid as error:
                raise InvalidLesson([Problem(f"{lesson.slug}/code", 1, str(error))]) from None

        answer = await show(request, whole, media_type)
        if answer.status_code < 400:
            answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    async def show(request: Request, make: Callable[[], bytes], media_type: str = HTML) -> Response:
        """A page or a file as kept, or made now off the event loop; where something is wrong with a lesson, its faults."""
        try:
            if not catalog.watching:
                return await ready.shared(request, media_type, lambda: run_in_threadpool(make))
            found = await ready.keep(request, media_type, await run_in_threadpool(make))
        except InvalidLesson as error:
            return site.page(request, "lesson-faults.html", 503, problems=error.problems)
        found.headers["Cache-Control"] = "no-cache"  # an author's next change is seen at once
        return found

    def known(slug: str) -> Lesson:
        lesson = catalog.lesson(slug)
        if lesson is None:
            raise NotFound(name_fault("lesson", slug, [one.slug for one in catalog.lessons]))
        return lesson

    @routes.get("/lessons/")
    async def course(request: Request) -> Response:
        return await show(
            request, lambda: site.render(request, "lessons.html", chapters=catalog.chapters, guides=catalog.guides, tracks=TRACKS)
        )

    @routes.get("/lessons/{slug}")
    async def lesson(request: Request, slug: str) -> Response:
        found = known(slug)
        asked = request.query_params.get("track", TRACKS[0])

        def make() -> bytes:
            track = _track(asked)
            page = whole(found, track)
            before, after = catalog.beside(slug)
            more: dict[str, Any] = {"before": before, "after": after, "asked": "" if asked == track else clip(asked)}
            more["needs"] = [one for one in map(catalog.lesson, found.front("prerequisites", [])) if one is not None]
            return site.render(
                request, "lesson.html", lesson=found, page=page, track=track, tracks=TRACKS, body=_body(request, page.html), **more
            )

        return await show(request, make)

    @routes.get("/lessons/{slug}/quizzes/{name}")
    async def quiz(request: Request, slug: str, name: str) -> Response:
        found = known(slug)
        if name not in found.quizzes:
            raise NotFound(name_fault("question", name, list(found.quizzes)))
        given = _given(request)
        track = _track(request.query_params.get("track", TRACKS[0]))

        def make() -> bytes:
            if found.problems:
                raise InvalidLesson(found.problems)
            section, problems = found.question(name, track, given)
            if problems:
                raise InvalidLesson(problems)
            return site.render(request, "quiz.html", lesson=found, track=track, quiz=found.quizzes[name], body=_body(request, section))

        return await show(request, make)

    @routes.get("/lessons/{slug}/code/{file}")
    async def program(request: Request, slug: str, file: str) -> Response:
        found = known(slug)
        if file not in found.files:
            raise NotFound(name_fault("file", file, found.files))
        media_type = TYPES.get(file.rpartition(".")[2], "text/plain; charset=utf-8")
        return await taken_away(request, found, media_type, lambda: code.content(found.folder, file), file)

    @routes.get("/lessons/{slug}/code.zip")
    async def programs(request: Request, slug: str) -> Response:
        found = known(slug)
        if not found.files:
            raise NotFound(name_fault("file", "code.zip", ["the pages of a lesson that has programs"]))
        return await taken_away(request, found, "application/zip", lambda: packed(found), f"{slug}.zip")

    @routes.get("/guide/{slug}")
    async def guide(request: Request, slug: str) -> Response:
        found = catalog.guide(slug)
        if found is None:
            raise NotFound(name_fault("guide", slug, [one.slug for one in catalog.guides]))

        def make() -> bytes:
            page = whole(found, "plain")
            body = _body(request, page.html.replace(ITSELF, escape(root_of(request))))
            return site.render(request, "guide.html", guide=found, page=page, body=body)

        return await show(request, make)

    return routes


def whole(lesson: Lesson, track: Track) -> Page:
    """A lesson's page; InvalidLesson where there is anything wrong with it."""
    if lesson.problems:
        raise InvalidLesson(_first(lesson.problems))
    page = lesson.page(track)
    if page.problems:
        raise InvalidLesson(_first(list(page.problems)))
    return page


def packed(lesson: Lesson) -> bytes:
    """The lesson's programs as a zip whose bytes depend on nothing but them."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in lesson.files:
            about = zipfile.ZipInfo(f"{lesson.slug}/{name}")  # dated 1980, as a zip without a date is
            about.compress_type, about.external_attr, about.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(about, code.content(lesson.folder, name))
    return found.getvalue()


def _first(problems: list[Problem], most: int = 20) -> list[Problem]:
    return sorted(problems)[:most]


def _track(asked: str) -> Track:
    return next((track for track in TRACKS if track == asked), TRACKS[0])


def _given(request: Request) -> Given:
    """An answer as the form sends it. Empty parts count as absent, unless they hold a place in an order."""
    parts = [clip(part, LONGEST) for part in request.query_params.getlist("answer")[:MOST_PARTS]]
    answered = "answer" in request.query_params
    return Given(tuple(parts) if any(parts) or (answered and parts) else (), request.query_params.get("show") == "1")


def _body(request: Request, html: str) -> Markup:
    return Markup(html.replace(BASE, request.scope.get("root_path", "").rstrip("/")))
