"""Questions: what quizzes.toml may hold, and what an answer earns. Keys and feedback are computed from the lesson's runs."""

import hashlib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.lessons.expressions.filters import number
from app.lessons.expressions.runs import Run
from app.lessons.expressions.sandbox import Function, Scope
from app.lessons.problems import Invalid, NotANumber, Problem
from app.lessons.quiz.answers import meets, numbers, rounds_to
from app.lessons.source import toml_error
from app.machines import MACHINES
from app.numbers import wire

COMMON = {"kind": True, "question": True, "misconception": False, "run": False, "step": False, "says": False, "otherwise": False}
KINDS: dict[str, dict[str, bool]] = {  # field → whether it must be there
    "number": COMMON | {"answer": True, "says": True, "otherwise": True, "tolerance": False, "mistakes": False},
    "choice": COMMON | {"options": True},
    "several": COMMON | {"options": True},
    "order": COMMON | {"items": True, "says": True, "otherwise": True},
    "task": COMMON | {"machine": True, "spec": False, "field": True, "passes": True, "example": True, "wrong": True, "says": True},
}
ENTRIES = {"mistakes": ("value", "says"), "options": ("text", "right", "says"), "items": ("text", "key"), "passes": ("test", "says_no")}
TYPES: dict[str, tuple[type, ...]] = {"step": (int,), "tolerance": (float, int), "spec": (dict,)} | dict.fromkeys(ENTRIES, (list,))
MISTAKE = 0.005  # how near a typed number must be to a known mistake's to be taken for it


@dataclass(frozen=True)
class Quiz:
    """One question. `given` is its table; `text` its lines, which begin at `line`."""

    id: str
    kind: str
    given: dict[str, Any]
    file: str
    line: int
    text: str = field(repr=False, default="")

    def line_of(self, words: str) -> int:
        """The line that a text of this table is on."""
        pieces = sorted(re.split(r'[\\"\n]', words), key=len)
        place = self.text.find(words)
        if place < 0 and pieces:
            place = self.text.find(pieces[-1])
        return self.line + (self.text.count("\n", 0, place) if place > 0 else 0)


@dataclass(frozen=True)
class Verdict:
    """What an answer earns: right or not, and what is said, as Markdown."""

    right: bool
    says: tuple[str, ...]


def read(file: str, text: str, report: Callable[[Problem], None]) -> dict[str, Quiz]:
    """The questions of a file, without those whose form is wrong: that is reported."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, words = toml_error(error)
        report(Problem(file, line, words))
        return {}
    found = {}
    starts = {name: place for place, name in _tables(text)}
    ends = sorted(starts.values())
    lines = text.split("\n")
    for name, given in tables.items():
        first = starts.get(name, 0)
        last = next((end for end in ends if end > first), len(lines))
        quiz = Quiz(name, "", given if isinstance(given, dict) else {}, file, first + 1, "\n".join(lines[first:last]))
        wrong = list(_misformed(quiz, given))
        for words, needle in wrong:
            report(Problem(file, quiz.line_of(needle) if needle else quiz.line, f"[{name}] {words}"))
        if not wrong:
            found[name] = Quiz(name, given["kind"], given, file, quiz.line, quiz.text)
    return found


def _tables(text: str) -> list[tuple[int, str]]:
    return [
        (place, found[1])
        for place, line in enumerate(text.split("\n"))
        if (found := re.match(r"\s*\[([A-Za-z][\w-]*)\]\s*(#.*)?$", line)) is not None
    ]


def _misformed(quiz: Quiz, given: Any) -> list[tuple[str, str]]:
    """What is wrong with a table's form: words, and what to look for to find the line."""
    if not isinstance(given, dict):
        return [("is not a table", "")]
    if not re.fullmatch(r"[a-z][a-z0-9-]*", quiz.id):
        return [("is not a name: use small letters, digits and hyphens", "")]
    kind = given.get("kind")
    if kind not in KINDS:
        return [(f"has kind {kind!r}: use one of {', '.join(KINDS)}", "kind")]
    fields = KINDS[kind]
    found = [(f"has no field {name!r} where kind is {kind}: use {', '.join(fields)}", name) for name in given if name not in fields]
    found += [(f"needs {name}", "") for name, needed in fields.items() if needed and name not in given]
    for name, value in given.items():
        if name in fields and (not isinstance(value, TYPES.get(name, (str,))) or isinstance(value, bool)):
            found.append((f"has the wrong sort of value for {name}", name))
        elif name in ENTRIES and name in fields:
            for entry in value:
                texts = [one for one in entry.values() if isinstance(one, str)] if isinstance(entry, dict) else []
                if not isinstance(entry, dict) or len(texts) != len(entry) or set(entry) != set(ENTRIES[name]):
                    found.append((f"{name}: each entry has {', '.join(ENTRIES[name])}, as texts", texts[0] if texts else name))
    if found:
        return found
    if kind in ("choice", "several", "order") and len(given["options" if kind != "order" else "items"]) < 2:
        found.append(("needs at least two to choose from", ""))
    if ("run" in given) != ("step" in given):
        found.append(("needs run and step together: the widget stands at that step until the answer is right", ""))
    if kind == "task":
        machine = MACHINES.get(given["machine"])
        if machine is None:
            found.append((f"there is no machine {given['machine']!r}: use one of {', '.join(MACHINES)}", "machine"))
        elif given["field"] not in [one.name for one in machine.fields]:
            found.append((f"{machine.name} has no field {given['field']!r}", "field"))
    return found


def truths(quiz: Quiz, scope: Scope) -> list[bool]:
    """Which options are right. Invalid, with the option's place, where one is neither true nor false."""
    found = []
    for option in quiz.given["options"]:
        value = scope.value(option["right"])
        if not isinstance(value, bool):
            raise Invalid(f"{option['right']!r} is neither true nor false")
        found.append(value)
    return found


def keys(quiz: Quiz, scope: Scope) -> list[float | int]:
    """The numbers that an order's items go by."""
    return [number(scope.value(item["key"])) for item in quiz.given["items"]]


def ranks(quiz: Quiz, scope: Scope) -> list[int]:
    """Each item's place in the right order, from 1."""
    found = keys(quiz, scope)
    return [1 + sum(other < key for other in found) for key in found]


def shuffled(quiz: Quiz, scope: Scope) -> list[int]:
    """The order in which items are shown: always the same one for a question, never the right one."""
    count = len(quiz.given["items"])
    order = sorted(range(count), key=lambda place: hashlib.sha256(f"{quiz.id} {place}".encode()).digest())
    right = sorted(range(count), key=lambda place: ranks(quiz, scope)[place])
    return order if order != right else order[1:] + order[:1]


def judge(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    """What an answer earns. `given` is what the form sent."""
    return _JUDGES[quiz.kind](quiz, scope, given)


def _number(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    typed = given[0] if given else ""
    try:
        values = numbers(typed)
    except NotANumber:
        return Verdict(False, ("Type a number, such as 0.75, 3/4, e^-4 or exp(-4).",))
    answer = number(scope.value(quiz.given["answer"]))
    tolerance = quiz.given.get("tolerance")
    right = Verdict(True, (quiz.given["says"],))
    if any(meets(value, answer, tolerance) for value in values):
        return right
    mistakes = [(number(scope.value(mistake["value"])), mistake["says"]) for mistake in quiz.given.get("mistakes", ())]
    for mistake, says in mistakes:
        if any(meets(value, float(mistake), MISTAKE) for value in values):
            return Verdict(False, (says,))
    if any(rounds_to(typed, value, answer) for value in values):
        return right
    for mistake, says in mistakes:
        if any(rounds_to(typed, value, float(mistake)) for value in values):
            return Verdict(False, (says,))
    return Verdict(False, (quiz.given["otherwise"],))


def _choice(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    options = quiz.given["options"]
    places = _places(given, len(options))
    if len(places) != 1:
        return Verdict(False, ("Choose one first.",))
    place = places[0]
    return Verdict(truths(quiz, scope)[place], (options[place]["says"],))


def _several(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    options, right = quiz.given["options"], truths(quiz, scope)
    chosen = set(_places(given, len(options)))
    if not chosen and any(right):
        return Verdict(False, ("Choose all that apply first.",))
    wrong = [options[place]["says"] for place in sorted(chosen) if not right[place]]
    missing = sum(truth and place not in chosen for place, truth in enumerate(right))
    if not wrong and not missing:
        says = [option["says"] for option, truth in zip(options, right, strict=True) if truth]
        return Verdict(True, ("Right, these and no others.", *([quiz.given["says"]] if "says" in quiz.given else says)))
    if missing:
        wrong.append(f"{'One that applies is' if missing == 1 else f'{missing} that apply are'} not chosen yet.")
    return Verdict(False, tuple(wrong))


def _order(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    shown, right = shuffled(quiz, scope), ranks(quiz, scope)
    if sorted(given) != sorted(str(rank) for rank in range(1, len(shown) + 1)):
        return Verdict(False, (f"Give each place from 1 to {len(shown)} once.",))
    wanted = [str(right[place]) for place in shown]
    if given == wanted:
        return Verdict(True, (quiz.given["says"],))
    good = sum(one == other for one, other in zip(given, wanted, strict=True))
    return Verdict(False, (f"{good} of {len(shown)} stand where they belong.", quiz.given["otherwise"]))


def _places(given: list[str], count: int) -> list[int]:
    return [int(one) for one in dict.fromkeys(given) if re.fullmatch(r"\d{1,3}", one) and int(one) < count]


def attempt(quiz: Quiz, scope: Scope, typed: str) -> Run:
    """The run of a task with what was typed in its field. Invalid with the spec parser's words."""
    given = {key: wire(value) for key, value in quiz.given.get("spec", {}).items()}
    run = Run("your answer", {"machine": quiz.given["machine"], **given, quiz.given["field"]: typed})
    if not run.fits_page:
        raise Invalid("your answer is too long here: shorten it")
    return run


def failing(quiz: Quiz, scope: Scope, run: Run) -> tuple[dict[str, str], Invalid | None] | None:
    """The first of a task's tests that a run does not pass, with what went wrong in it where it failed to give an answer."""
    more = {"attempt": run.at(-1), "steps": run, "again": Function(lambda **changed: run.changed(changed).at(-1))}
    for test in quiz.given["passes"]:
        try:
            if not scope.value(test["test"], more):
                return test, None
        except Invalid as error:
            return test, error
    return None


def _task(quiz: Quiz, scope: Scope, given: list[str]) -> Verdict:
    try:
        run = attempt(quiz, scope, given[0] if given else "")
    except Invalid as error:
        words = str(error).removeprefix("run 'your answer': ")
        return Verdict(False, (_plain(words[:1].upper() + words[1:] + "."),))
    failed = failing(quiz, scope, run)
    return Verdict(False, (failed[0]["says_no"],)) if failed else Verdict(True, (quiz.given["says"],))


def _plain(words: str) -> str:
    """Words that Markdown leaves as they are."""
    return re.sub(r"([\\`*_{}\[\]<>#$~|!&])", r"\\\1", words)


_JUDGES: dict[str, Callable[[Quiz, Scope, list[str]], Verdict]] = {
    "number": _number, "choice": _choice, "several": _several, "order": _order, "task": _task,
}  # fmt: skip
