"""What a snapshot is, for the scripts: static/js/core/snapshot.d.ts, written from the same dataclasses as the JSON. `python -m tests.typescript` writes it anew."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.routes.told import schema_of
from app.stories import WIDGETS

FILE = Path(__file__).parent.parent / "static/js/core/snapshot.d.ts"
HEAD = """\
// Written by `python -m tests.typescript` from the dataclasses of app/stories; a test holds it to them.

/** A finite number as JSON has it; others as strings. */
export type Num = number | "NaN" | "Infinity" | "-Infinity";

/** A number where the values are numbers, a list where they are vectors. */
export type Shaped = Num | Num[];

/** What every snapshot says alike. */
export interface Told<Event, State> {
  machine: string;
  version: number;
  spec: Record<string, any>;
  step: number;
  steps: number;
  done: boolean;
  event: Event;
  state: State;
  ledger: { reads: number; writes: number; kept: number; ops: Record<"mul" | "add" | "exp" | "div" | "max", number> };
  caption: string;
  spoken: string;
  words: Record<string, string>;
  links: Record<string, string>;
}
"""
NAMED = {"#/components/schemas/Number": "Num", "#/components/schemas/Shaped": "Shaped"}


def written() -> str:
    """The whole file."""
    return "\n".join([HEAD, *_types(), f"export type Snapshot = {' | '.join(f'{one.view.form_name}Snapshot' for one in WIDGETS)};\n"])


def _types() -> Iterator[str]:
    for widget in WIDGETS:
        name = widget.view.form_name
        event, state = schema_of(widget.view.event_type), schema_of(widget.view.state_type)
        yield f"/** {event['description']} */\nexport interface {name}Event {typed(event | {'required': ['kind']})}\n"
        yield f"/** {state['description']} */\nexport interface {name}State {typed(state)}\n"
        yield f"export type {name}Snapshot = Told<{name}Event, {name}State>;\n"


def typed(schema: Any, deep: str = "") -> str:
    """A schema as a type.

    >>> typed({"type": "array", "items": {"$ref": "#/components/schemas/Number"}})
    'Num[]'
    """
    if "allOf" in schema:
        return typed(schema["allOf"][0], deep)
    if "$ref" in schema:
        return NAMED[schema["$ref"]]
    if "enum" in schema:
        return " | ".join(f'"{one}"' for one in schema["enum"])
    kind = schema["type"]
    if kind == "array":
        inner = typed(schema["items"] if "items" in schema else schema["prefixItems"][0], deep)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object" and "additionalProperties" in schema:
        return f"Record<string, {typed(schema['additionalProperties'], deep)}>"
    if kind != "object":
        return {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}[kind]
    inner = deep + "  "
    lines = [
        f"{inner}/** {field['description']} */\n{inner}{name}{'' if name in schema.get('required', ()) else '?'}: {typed(field, inner)};"
        for name, field in schema["properties"].items()
    ]
    return "\n".join(["{", *lines, f"{deep}}}"])


if __name__ == "__main__":
    FILE.write_text(written())
