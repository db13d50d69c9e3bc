"""A question as HTML, before an answer and after one. Its markup is in templates/quiz.jinja."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.lessons.expressions.filters import plain
from app.lessons.markup.context import Context
from app.lessons.markup.figures import live, template
from app.lessons.problems import Invalid
from app.lessons.quiz.questions import Quiz, Verdict, judge, ranks, shuffled, truths


@dataclass(frozen=True)
class Given:
    """What a reader sent: the answer's parts, and whether they ask to be shown the answer."""

    answer: tuple[str, ...] = ()
    show: bool = False

    @property
    def anything(self) -> bool:
        return self.show or bool(self.answer)


@dataclass(frozen=True)
class Choice:
    """One option or item as the form has it."""

    value: str
    html: Markup
    chosen: bool


def section(context: Context, quiz: Quiz, given: Given | None = None) -> str:
    """The question's section. Its texts' faults go to the context, by file and line of quizzes.toml."""
    given = given or Given()
    try:
        verdict = judge(quiz, context.scope, list(given.answer)) if given.answer and not given.show else None
        shown = _shown(context, quiz) if given.show else None
        choices = _choices(context, quiz, given)
        before = _before(context, quiz, bool(shown or (verdict and verdict.right)))
    except Invalid as error:
        context.wrong(quiz.line, f"[{quiz.id}] {error}", quiz.file)
        return ""
    made = template("section", "quiz.jinja")(
        quiz=quiz, slug=context.slug, track=context.track, question=rendered(context, quiz, quiz.given["question"]), choices=choices, given=given,
        verdict=verdict, says=[rendered(context, quiz, words) for words in _says(verdict)], shown=shown, before=before,
        misconception=quiz.given.get("misconception", ""),
    )  # fmt: skip
    return str(made)


def _says(verdict: Verdict | None) -> tuple[str, ...]:
    if verdict is None:
        return ()
    return tuple(after_right(words) for words in verdict.says) if verdict.right else verdict.says


def after_right(words: str) -> str:
    """Feedback without the word that stands above it already.

    >>> after_right("Right: it shrinks."), after_right("It shrinks.")
    ('It shrinks.', 'It shrinks.')
    """
    for start in ("Right: ", "Right, ", "Right. "):
        if words.startswith(start):
            words = words.removeprefix(start)
            return words[:1].upper() + words[1:]
    return words


def rendered(context: Context, quiz: Quiz, words: str) -> Markup:
    line = quiz.line_of(words)
    before = len(context.problems)
    found = Markup(context.inline(context.mark(words, line, quiz.file), line))
    # what the rules of Markdown report they take to be in the lesson's own file
    context.problems[before:] = [
        one if one.file == quiz.file else type(one)(quiz.file, line, one.words) for one in context.problems[before:]
    ]
    return found


def _choices(context: Context, quiz: Quiz, given: Given) -> list[Choice]:
    if quiz.kind == "order":
        sent = list(given.answer) + [""] * len(quiz.given["items"])
        shown = shuffled(quiz, context.scope)
        return [Choice(sent[place], rendered(context, quiz, quiz.given["items"][item]["text"]), False) for place, item in enumerate(shown)]
    return [
        Choice(str(place), rendered(context, quiz, option["text"]), str(place) in given.answer)
        for place, option in enumerate(quiz.given.get("options", ()))
    ]


def _shown(context: Context, quiz: Quiz) -> dict[str, Any]:
    """The answer for who asks for it: the right options or order or number, and what is said to it."""
    scope, given = context.scope, quiz.given
    answers: list[str] = []
    says = given.get("says", "")
    if quiz.kind in ("choice", "several"):
        right = [option for option, truth in zip(given["options"], truths(quiz, scope), strict=True) if truth]
        answers = [option["text"] for option in right]
        says = says or " ".join(option["says"] for option in right)
    elif quiz.kind == "order":
        places = ranks(quiz, scope)
        answers = [given["items"][place]["text"] for place in sorted(range(len(places)), key=lambda place: places[place])]
    told = [rendered(context, quiz, words) for words in answers]
    if quiz.kind == "number":
        told = [Markup.escape(plain(scope.value(given["answer"])))]
    elif quiz.kind == "task":
        told = [Markup.escape(given["example"])]
    says = after_right(says)
    return {"answers": told, "ordered": quiz.kind == "order", "says": rendered(context, quiz, says) if says else ""}


def _before(context: Context, quiz: Quiz, answered: bool) -> Markup:
    """Predict, then reveal: the widget before its step, and after it once the answer is known."""
    if "run" not in quiz.given:
        return Markup("")
    run = context.scope.run(quiz.given["run"])
    step = quiz.given["step"]
    if not 0 <= step < run.steps:
        raise Invalid(f"step {step} of run {run.name!r} has none after it: it has steps 0 to {run.steps}")
    return Markup(live(context, run.machine, run.spec, step + answered, Markup.escape(run.machine.title), quiz.id))
