"""What events and states are made of, so that JSON, its description and the scripts' types come from one place: dataclasses.

A field's docstring is its description in the OpenAPI document. A field that is None does not exist yet and is left out of JSON;
an underscore at the end of a name (`pass_`) is Python's need and left out too.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import WithJsonSchema
from typing_extensions import TypeAliasType

Number = TypeAliasType(
    "Number",
    Annotated[
        float,
        WithJsonSchema({
            "description": "A finite number as JSON has it, the exact value of the rounded result; others as strings.",
            "oneOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}],
        }),
    ],
)  # fmt: skip
Shaped = TypeAliasType("Shaped", Number | Sequence[Number])  # a number where the values are numbers, a list where they are vectors


class Told:
    """What is told of a step; pydantic reads the docstrings under its fields."""

    __pydantic_config__: ClassVar[dict[str, bool]] = {"use_attribute_docstrings": True}
