"""/lessons and /guide: the course, its lessons in two tracks, their questions and their programs."""

from collections.abc import Callable
from html import escape

from fastapi import APIRouter
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.http.cache import ResponseCache
from app.http.errors import name_fault
from app.lessons.course import Catalog
from app.lessons.lesson import Lesson
from app.lessons.markup.context import BASE
from app.lessons.problems import InvalidLesson
from app.lessons.quiz.html import Given
from app.lessons.source import TRACKS, Track
from app.routes.site import Site, root_of
from app.specs import NotFound, clip

HTML = "text/html"
TYPES = {"py": "text/x-python; charset=utf-8"}
MAX_LETTERS = 500  # of an answer
MAX_PARTS = 20  # of an answer
ITSELF = "https://this-site.example"  # in a guide's snippets: this site, as its reader reaches it


class _Course:
    """The answers to the addresses of lessons and guides."""

    def __init__(self, site: Site, cache: ResponseCache, catalog: Catalog) -> None:
        self.site, self.cache, self.catalog = site, cache, catalog

    async def course(self, request: Request) -> Response:
        def make() -> bytes:
            return self.site.render(request, "lessons.html", chapters=self.catalog.chapters, guides=self.catalog.guides, tracks=TRACKS)

        return await self._sent(request, make)

    async def lesson(self, request: Request, slug: str) -> Response:
        lesson = self._known(slug)
        asked = request.query_params.get("track", TRACKS[0])
        track = _track(asked)

        def make() -> bytes:
            page = lesson.whole_page(track)
            before, after = self.catalog.beside(slug)
            return self.site.render(
                request, "lesson.html", lesson=lesson, page=page, track=track, tracks=TRACKS, body=_body(request, page.html), before=before,
                after=after, asked="" if asked == track else clip(asked), needs=self.catalog.prerequisites(lesson),
            )  # fmt: skip

        return await self._sent(request, make)

    async def question(self, request: Request, slug: str, name: str) -> Response:
        lesson = self._known(slug)
        if name not in lesson.quizzes:
            raise NotFound(name_fault("question", name, list(lesson.quizzes)))
        track, given = _track(request.query_params.get("track", TRACKS[0])), _given(request)

        def make() -> bytes:
            body = _body(request, lesson.judged(name, track, given))
            return self.site.render(request, "quiz.html", lesson=lesson, track=track, quiz=lesson.quizzes[name], body=body)

        return await self._sent(request, make)

    async def program(self, request: Request, slug: str, file: str) -> Response:
        lesson = self._known(slug)
        if file not in lesson.files:
            raise NotFound(name_fault("file", file, lesson.files))
        media_type = TYPES.get(file.rpartition(".")[2], "text/plain; charset=utf-8")
        return await self._sent(request, lambda: lesson.program(file), media_type, file)

    async def programs(self, request: Request, slug: str) -> Response:
        lesson = self._known(slug)
        if not lesson.files:
            raise NotFound(name_fault("file", "code.zip", ["the pages of a lesson that has programs"]))
        return await self._sent(request, lesson.zipped_programs, "application/zip", f"{slug}.zip")

    async def guide(self, request: Request, slug: str) -> Response:
        guide = self.catalog.guide(slug)
        if guide is None:
            raise NotFound(name_fault("guide", slug, [one.slug for one in self.catalog.guides]))

        def make() -> bytes:
            page = guide.whole_page("plain")
            return self.site.render(
                request, "guide.html", guide=guide, page=page, body=_body(request, page.html.replace(ITSELF, escape(root_of(request))))
            )

        return await self._sent(request, make)

    def _known(self, slug: str) -> Lesson:
        lesson = self.catalog.lesson(slug)
        if lesson is None:
            raise NotFound(name_fault("lesson", slug, [one.slug for one in self.catalog.lessons]))
        return lesson

    async def _sent(self, request: Request, make: Callable[[], bytes], media_type: str = HTML, download: str = "") -> Response:
        """A page or a file as kept, or made now off the event loop; where something is wrong with a lesson, its problems."""
        try:
            if self.catalog.watching:  # an author's next change is seen at once
                answer = await self.cache.keep(request, media_type, await run_in_threadpool(make))
                answer.headers["Cache-Control"] = "no-cache"
            else:
                answer = await self.cache.shared(request, media_type, lambda: run_in_threadpool(make))
        except InvalidLesson as error:
            return self.site.page(request, "lesson-faults.html", 503, problems=error.problems)
        if download:
            answer.headers["Content-Disposition"] = f'attachment; filename="{download}"'
        return answer


def router(site: Site, cache: ResponseCache, catalog: Catalog) -> APIRouter:
    routes, course = APIRouter(include_in_schema=False), _Course(site, cache, catalog)
    routes.get("/lessons/")(course.course)
    routes.get("/lessons/{slug}")(course.lesson)
    routes.get("/lessons/{slug}/quizzes/{name}")(course.question)
    routes.get("/lessons/{slug}/code/{file}")(course.program)
    routes.get("/lessons/{slug}/code.zip")(course.programs)
    routes.get("/guide/{slug}")(course.guide)
    return routes


def _track(asked: str) -> Track:
    return next((track for track in TRACKS if track == asked), TRACKS[0])


def _given(request: Request) -> Given:
    """An answer as the form sends it. Empty parts count as absent, unless they hold a place in an order."""
    parts = [clip(part, MAX_LETTERS) for part in request.query_params.getlist("answer")[:MAX_PARTS]]
    answered = "answer" in request.query_params
    return Given(tuple(parts) if any(parts) or (answered and parts) else (), request.query_params.get("show") == "1")


def _body(request: Request, html: str) -> Markup:
    return Markup(html.replace(BASE, request.scope.get("root_path", "").rstrip("/")))
