"""Words for describing JSON in the OpenAPI document."""

from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(of: Schema, about: str) -> Schema:
    return {"type": "array", "items": of, "description": about}


def kind(kind: str, about: str, /, **more: Any) -> Schema:
    return {"type": kind, "description": about, **more}


def object_of(about: str, optional: tuple[str, ...] = (), /, **fields: Schema) -> Schema:
    return {"type": "object", "description": about, "properties": fields, "required": [name for name in fields if name not in optional]}


SHAPED = "a number where the values are numbers, a list where they are vectors"
