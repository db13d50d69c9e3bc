"""What is wrong with a lesson: which file, which line, and the words."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One thing to mend. `file` is named from the lesson's folder up: online-softmax/lesson.md.

    >>> str(Problem("online-softmax/lesson.md", 12, "there is no run 'fife'"))
    "online-softmax/lesson.md:12: there is no run 'fife'"
    """

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


class LessonError(Exception):
    """Whatever this room raises."""


class Invalid(LessonError):
    """Something an author wrote is wrong: the words of a Problem, raised where file and line are not known; whoever knows them adds them."""


class InvalidLesson(LessonError):
    """A lesson that cannot be shown, with all that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


class NotANumber(LessonError):
    """What a reader typed as an answer is not a number."""
