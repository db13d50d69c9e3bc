"""How a machine names its spec fields. One table serves the query parser, OpenAPI, the form, links and error messages."""

from dataclasses import dataclass
from typing import Any, Literal

from app.machines.formats import FORMATS

MAX_SCORES = 4096  # by POST; a URL holds fewer (app/specs.py)
MAX_WIDTH = 16  # numbers in one value vector

Kind = Literal["vector", "rows", "number", "integer", "choice"]


@dataclass(frozen=True)
class Field:
    """One spec field.

    kind       vector: numbers; rows: a vector, or a matrix with a row a score; number; integer; choice: one of `choices`
    required   whether a spec without it is refused; `default` stands in otherwise (None: absent)
    data       data is written into every link; other fields only where they differ from the default
    least, most   limits of the number, or of how many there are
    label, help   a few words and one sentence, for the form, the API's description and messages
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


FORMAT = Field(
    "format", "choice", "Number format", "The format that every operation is rounded in.", "float32",
    default="float32", data=True, choices=tuple(FORMATS),
)  # fmt: skip
SCORES = Field(
    "scores", "vector", "Scores", "The scores in the order they are read; -inf marks a masked one.", "6,5,7,6,7,9,8,6",
    required=True, data=True, least=1, most=MAX_SCORES,
)  # fmt: skip
BLOCK = Field(
    "block", "integer", "Block size", "How many scores are read in one step; the last block may be shorter.", "2",
    default=1, least=1, most=MAX_SCORES,
)  # fmt: skip
