"""`python -m app check`: all that can be wrong with a lesson, each with its file and line."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from app.lessons.course import Catalog
from app.lessons.expressions.filters import number
from app.lessons.lesson import Lesson
from app.lessons.markup import markdown
from app.lessons.markup.context import Context
from app.lessons.problems import Invalid, NotANumber, Problem
from app.lessons.quiz.answers import meets, numbers
from app.lessons.quiz.html import Given, rendered, section
from app.lessons.quiz.questions import ENTRIES, MISTAKE, Quiz, attempt, failing, keys, truths
from app.lessons.source import TRACKS, Track


def check(catalog: Catalog, lessons: Iterable[Lesson]) -> list[Problem]:
    """What is wrong with these lessons. Their links may lead to any lesson and guide of the catalog."""
    found: set[Problem] = set()
    for lesson in lessons:
        found |= set(lesson.problems)
        for track in TRACKS:
            found |= set(lesson.page(track).problems)
            found |= set(_links(catalog, lesson, track, lesson.page(track).links, lesson.source.file))
        found |= set(_front(catalog, lesson))
        found |= set(_questions(catalog, lesson))
    return sorted(found)


def _front(catalog: Catalog, lesson: Lesson) -> Iterator[Problem]:
    line = lesson.source.line_of(r"^\s*prerequisites\b")
    slugs = {one.slug: one for one in catalog.lessons}
    for wanted in lesson.front("prerequisites", []):
        if wanted not in slugs:
            yield Problem(lesson.source.file, line, f"the prerequisite {wanted!r} is no lesson: there are {', '.join(slugs)}")
        elif slugs[wanted].order >= lesson.order:
            yield Problem(lesson.source.file, line, f"the prerequisite {wanted!r} does not come before this lesson: look at order")


def _links(catalog: Catalog, lesson: Lesson, track: Track, links: Iterable[tuple[int, str]], file: str) -> Iterator[Problem]:
    """Links to other pages and to anchors. The plain track has no anchor of the deep one, so it cannot lean on it."""
    for line, href in links:
        scheme, _, rest = href.partition(":")
        if href.startswith("#"):
            yield from _anchor(lesson, track, href[1:], line, file)
        elif scheme == "lesson":
            slug, _, anchor = rest.partition("#")
            other = catalog.lesson(slug)
            if other is None:
                known = ", ".join(one.slug for one in catalog.lessons)
                yield Problem(file, line, f"there is no lesson {slug!r}: there are {known}")
            elif anchor:
                yield from _anchor(other, track, anchor, line, file)
        elif scheme == "guide":
            slug, _, anchor = rest.partition("#")
            other = catalog.guide(slug)
            if other is None:
                yield Problem(file, line, f"there is no guide {slug!r}: there are {', '.join(one.slug for one in catalog.guides)}")
            elif anchor:
                yield from _anchor(other, "plain", anchor, line, file)


def _anchor(lesson: Lesson, track: Track, anchor: str, line: int, file: str) -> Iterator[Problem]:
    if anchor in lesson.page(track).ids:
        return
    where = f"{lesson.slug}, {track} track"
    deep = track == "plain" and anchor in lesson.page("deep").ids
    words = (
        "it is in the deep track only, and plain never leans on deep" if deep else f"there are {', '.join(sorted(lesson.page(track).ids))}"
    )
    yield Problem(file, line, f"nothing is named #{anchor} ({where}): {words}")


def _questions(catalog: Catalog, lesson: Lesson) -> Iterator[Problem]:
    placed: dict[str, Track] = {}
    for track in reversed(TRACKS):
        placed |= {name: track for _, name in lesson.page(track).placed}
    for quiz in lesson.quizzes.values():
        if quiz.id not in placed:
            yield Problem(quiz.file, quiz.line, f"[{quiz.id}] is asked nowhere: write [[quiz {quiz.id}]] where it belongs")
        yield from question(catalog, lesson, quiz, placed.get(quiz.id, "deep"))


def question(catalog: Catalog, lesson: Lesson, quiz: Quiz, track: Track) -> Iterator[Problem]:
    """One question: its key, its distractors, and every text that it may ever show."""
    context = lesson.context(track)
    markdown.html("", context)
    for given in (Given(), Given(show=True)):
        section(context, quiz, given)
    texts = [str(value) for name, value in quiz.given.items() if name in ("says", "otherwise")]
    texts += [
        str(entry[part]) for name in ENTRIES for entry in quiz.given.get(name, ()) for part in ("says", "says_no", "text") if part in entry
    ]
    for words in texts:
        rendered(context, quiz, words)
    yield from context.problems
    yield from _links(catalog, lesson, track, context.links, quiz.file)
    try:
        for words, needle in _wrong(context, quiz):
            yield Problem(quiz.file, quiz.line_of(needle) if needle else quiz.line, f"[{quiz.id}] {words}")
    except Invalid as error:
        yield Problem(quiz.file, quiz.line, f"[{quiz.id}] {error}")


def _wrong(context: Context, quiz: Quiz) -> Iterator[tuple[str, str]]:
    """Words, and what to look for to find the line."""
    for name in ENTRIES:
        for entry in quiz.given.get(name, ()):
            for part in ("value", "right", "key"):
                if part in entry:
                    try:
                        context.scope.value(entry[part])
                    except Invalid as error:
                        yield f"{entry[part][:80]}: {error}", entry[part]
                        return
    yield from {"number": _number, "choice": _options, "several": _options, "order": _order, "task": _task}[quiz.kind](context, quiz)


def _number(context: Context, quiz: Quiz) -> Iterator[tuple[str, str]]:
    answer = number(context.scope.value(quiz.given["answer"]))
    tolerance = quiz.given.get("tolerance")
    seen: list[tuple[str, float]] = []
    for mistake in quiz.given.get("mistakes", ()):
        value = float(number(context.scope.value(mistake["value"])))
        if meets(value, answer, tolerance):
            yield (
                f"the mistake {mistake['value']} is right: it gives {value:g}, and the answer is {float(answer):g}",
                f'"{mistake["value"]}"',
            )
        for other, known in seen:
            if meets(value, known, MISTAKE):
                yield f"the mistakes {other} and {mistake['value']} cannot be told apart: both give {value:g}", f'"{mistake["value"]}"'
        seen.append((mistake["value"], value))


def _options(context: Context, quiz: Quiz) -> Iterator[tuple[str, str]]:
    right = truths(quiz, context.scope)
    options = quiz.given["options"]
    if quiz.kind == "choice" and sum(right) != 1:
        if not any(right):
            yield "no option is right", "options"
        first = right.index(True) if any(right) else 0
        for option, truth in list(zip(options, right, strict=True))[first + 1 :]:
            if truth:
                yield f"the option {option['text'][:60]!r} is also right: exactly one may be", option["text"]
    yield from _alike(context, quiz, [option["text"] for option in options])


def _order(context: Context, quiz: Quiz) -> Iterator[tuple[str, str]]:
    items = quiz.given["items"]
    found = keys(quiz, context.scope)
    for place, key in enumerate(found):
        if key in found[:place]:
            yield f"two items have the key {key:g}: their order is no question", items[place]["key"]
        if key != key:
            yield "an item's key is NaN, which has no place in an order", items[place]["key"]
    yield from _alike(context, quiz, [item["text"] for item in items])


def _alike(context: Context, quiz: Quiz, texts: list[str]) -> Iterator[tuple[str, str]]:
    """Two that a reader could not tell apart, as words or as numbers."""
    seen: list[tuple[str, list[float]]] = []
    for text in texts:
        words = _Words(str(rendered(context, quiz, text))).text
        try:
            values = numbers(words)
        except NotANumber:
            values = []
        for other, known in seen:
            if words == other or (values and values == known):
                yield f"two options read the same: {words[:60]!r}", text
        seen.append((words, values))


def _task(context: Context, quiz: Quiz) -> Iterator[tuple[str, str]]:
    try:
        failed = failing(quiz, context.scope, attempt(quiz, context.scope, quiz.given["example"]))
    except Invalid as error:
        yield f"the example cannot be run: {error}", "example"
        return
    if failed:
        test, cause = failed
        yield f"the example fails the test {test['test'][:60]!r}{f': {cause}' if cause else ''}", test["test"]
    try:
        if failing(quiz, context.scope, attempt(quiz, context.scope, quiz.given["wrong"])) is None:
            yield "the wrong answer passes every test", "wrong ="
    except Invalid as error:
        yield f"the wrong answer cannot be run, so it shows nothing: {error}", "wrong ="


class _Words(HTMLParser):
    """The text of a bit of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.parts)).strip()
