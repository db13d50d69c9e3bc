"""How a machine names its spec fields. One table serves the query parser, OpenAPI, the form, links and error messages."""

from dataclasses import dataclass
from typing import Any, Literal

from app.machines.formats import FORMATS

MAX_SCORES = 4096  # by POST
SCORES_BY_GET, SCORES_ON_PAGE = 1024, 64
MAX_WIDTH = 16  # numbers in one value vector

Kind = Literal["vector", "rows", "matrix", "integers", "number", "scale", "integer", "choice"]
LISTS: tuple[Kind, ...] = ("vector", "rows", "matrix")  # kinds of data that people have elsewhere, and paste
Room = Literal["page", "get", "post"]  # where a spec is going: each holds more than the one before


@dataclass(frozen=True)
class Field:
    """One spec field.

    kind       vector: numbers; rows: a vector, or a matrix with a row a score; matrix; integers; number; scale: a number
               or auto; integer; choice: one of `choices`
    required   whether a spec without it is refused; `default` stands in otherwise (None: absent)
    data       data is written into every link; other fields only where they differ from the default
    follows    the field whose value is the default, where there is such
    yields     the field that says it too, where that is given: a form then leaves this one empty
    restarts   whether another choice makes a run of another length
    stands_in  whether it is given in place of other data, not beside it
    least, most          limits of the number, or of how many rows or numbers a list has
    get_most, page_most  the same where less fits: in a URL, on a page
    width, page_width    how many numbers a row of a matrix may have
    label, help          a few words and one sentence, for the form, the API's description and messages
    """

    name: str
    kind: Kind
    label: str
    help: str
    example: str
    required: bool = False
    default: Any = None
    data: bool = False
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()
    follows: str = ""
    yields: str = ""
    stands_in: bool = False
    restarts: bool = False
    get_most: float = 0
    page_most: float = 0
    width: int = MAX_WIDTH
    page_width: int = 0

    def limit(self, room: Room) -> float:
        """The largest number, or the most rows, that fit in a room."""
        get = self.get_most or self.most
        return {"post": self.most, "get": get, "page": self.page_most or get}[room]

    def widest(self, room: Room) -> int:
        """The most numbers in a row of a matrix."""
        return (room == "page" and self.page_width) or self.width


@dataclass(frozen=True)
class Problem:
    """What is wrong with fields that are each right alone: which field to put it beside, what it is, and the way out."""

    field: str
    code: str
    what: str
    way_out: str
    allowed: Any


FORMAT = Field(
    "format", "choice", "Number format", "The format that every operation is rounded in.", "float32",
    default="float32", data=True, choices=tuple(FORMATS),
)  # fmt: skip
SCORES = Field(
    "scores", "vector", "Scores", "The scores in the order they are read; -inf marks a masked one.", "1,3,2",
    required=True, data=True, least=1, most=MAX_SCORES, get_most=SCORES_BY_GET, page_most=SCORES_ON_PAGE,
)  # fmt: skip
BLOCK = Field(
    "block", "integer", "Block size", "How many scores are read in one step; the last block may be shorter.", "2",
    default=1, least=1, most=MAX_SCORES,
)  # fmt: skip
