"""Words for describing JSON: what each view says of its event and its state, and the OpenAPI document gathers."""

from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(of: Schema, about: str) -> Schema:
    return {"type": "array", "items": of, "description": about}


def number(about: str) -> Schema:
    return {"allOf": [ref("Number")], "description": about}


def kind(kind: str, about: str, /, **more: Any) -> Schema:
    return {"type": kind, "description": about, **more}


def object_of(about: str, optional: tuple[str, ...] = (), /, **fields: Schema) -> Schema:
    names = {name.rstrip("_"): field for name, field in fields.items()}
    return {"type": "object", "description": about, "properties": names, "required": [name for name in names if name not in optional]}


SHAPED = "a number where the values are numbers, a list where they are vectors"
INDICES = list_of(kind("integer", "a score's place, from 0", minimum=0), "which scores this step read")


def shaped(about: str) -> Schema:
    return {"allOf": [ref("Shaped")], "description": f"{about}: {SHAPED}"}


def event_of(kinds: list[str], /, **fields: Schema) -> Schema:
    """An event: its kind, and for all but the start what it did."""
    about = "What the step just made did. `kind` is start at step 0, where the rest is absent."
    return object_of(about, tuple(name.rstrip("_") for name in fields), kind=kind("string", " or ".join(kinds), enum=kinds), **fields)
