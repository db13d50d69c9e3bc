"""What an event or a state may be, from its type: pydantic's schema in the form of our OpenAPI document."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter

from app.routes.forms import Schema, ref
from app.stories.wire_types import Told

SHARED = ("Number", "Shaped")  # types that the document names; others are written where they are used


def schema_of(of: type[Told]) -> Schema:
    """The schema of a dataclass: a name that may be None is not required, and what is None is absent, not null.

    >>> from app.stories.online.shown import Kept
    >>> schema_of(Kept)["properties"]["m"]["description"]
    'the highest score so far; -Infinity before any live one'
    """
    told = _schema(of)
    named = told.pop("$defs", {})
    for one in _classes(of):
        _inherit(one, named.get(one.__name__, told))
    found: Schema = _plain(told, named)
    return found


def _schema(of: type) -> Schema:
    return TypeAdapter(of).json_schema(mode="serialization", ref_template="#/components/schemas/{model}")


def _classes(of: Any) -> Iterator[type]:
    """The dataclasses that a type is made of, itself included."""
    if is_dataclass(of) and isinstance(of, type):
        yield of
        for hint in get_type_hints(of).values():
            yield from _classes(hint)
    for inner in get_args(of):
        yield from _classes(inner)


def _inherit(one: type, schema: Schema) -> None:
    """The descriptions of fields that a class has from its bases: pydantic reads only the docstrings of the class itself."""
    for base in one.__mro__[1:]:
        if is_dataclass(base):
            for name, field in _schema(base)["properties"].items():
                if "description" in field:
                    schema["properties"][name].setdefault("description", field["description"])


def _plain(told: Any, named: Schema) -> Any:
    if isinstance(told, list):
        return [_plain(one, named) for one in told]
    if not isinstance(told, dict):
        return told
    about = {"description": told["description"]} if "description" in told else {}
    name = str(told.get("$ref", "")).rpartition("/")[2]
    if name in SHARED:
        return {"allOf": [ref(name)], **about} if about else ref(name)
    if name:
        return _plain(named[name] | about, named)
    there = [one for one in told.get("anyOf", ()) if one != {"type": "null"}]
    if len(there) == 1:
        return _plain(there[0] | about, named)
    found = {key: _plain(value, named) for key, value in told.items() if key not in ("title", "default", "properties", "required")}
    if "properties" in told:
        found["properties"] = {key.rstrip("_"): _plain(value, named) for key, value in told["properties"].items()}
        found["required"] = [key.rstrip("_") for key, value in told["properties"].items() if {"type": "null"} not in value.get("anyOf", ())]
    return found
