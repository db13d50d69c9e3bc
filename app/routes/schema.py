"""The OpenAPI document's parts: parameters from each machine's table of fields, and every field of an answer described."""

from typing import Any

from app.machines.fields import Field, Room
from app.machines.run import Machine
from app.routes.forms import SHAPED, Schema, kind, list_of, object_of, ref
from app.routes.told import schema_of
from app.snapshot import MAX_COUNT, VERSION, link_names
from app.specs import LAST_STEP
from app.stories import BY_NAME

# what float64 can hold: digits and a fraction, or one digit, a fraction and a power of ten up to 307
_NUMBER = r"(-?([0-9]+(\.[0-9]*)?|[0-9](\.[0-9]*)?[eE]([+]?([0-2]?[0-9]{1,2}|30[0-7])|-[0-9]{1,3}))|-?[iI]nf(inity)?|[nN]a[nN])"

_LEDGER = object_of(
    "What the run has cost so far, added up by the run itself.",
    reads=kind("integer", "numbers read from slow memory", minimum=0),
    writes=kind("integer", "numbers written to slow memory", minimum=0),
    kept=kind("integer", "numbers that live on chip until the next step", minimum=0),
    ops=object_of(
        "Operations.", **{name: kind("integer", f"{name} operations", minimum=0) for name in ("mul", "add", "exp", "div", "max")}
    ),
)


def _snapshot(machine: Machine) -> Schema:
    view = BY_NAME[machine.name].view
    names = link_names(machine)
    return object_of(
        f"One state of {machine.title}.",
        machine=kind("string", "the machine's name", enum=[machine.name]),
        version=kind("integer", "of this form", enum=[VERSION]),
        spec=object_of(
            "Every field, defaults filled in.",
            tuple(one.name for one in machine.fields if not one.required and one.default is None and one.name != "accumulate"),
            **{one.name: _json_field(one) for one in machine.fields},
        ),
        step=kind("integer", "this step; 0 is before anything is read", minimum=0),
        steps=kind("integer", "how many there are", minimum=1),
        done=kind("boolean", "whether this is the last"),
        event=schema_of(view.event_type) | {"required": ["kind"]},
        state=schema_of(view.state_type),
        ledger=_LEDGER,
        caption=kind("string", "the step in one sentence"),
        spoken=kind("string", "the same for the ear"),
        words={"type": "object", "description": "More sentences for a page, by name.", "additionalProperties": {"type": "string"}},
        links={
            "type": "object",
            "description": "Where this state lives, relative to the site's root. A run too long for a page has only self.",
            "properties": {name: kind("string", name) for name in names},
            "required": ["self"],
        },
    )  # fmt: skip


def components(machines: dict[str, Machine]) -> Schema:
    """The named schemas of the document."""
    found: Schema = {
        "Number": {
            "description": "A finite number as JSON has it, the exact value of the rounded result; others as strings.",
            "oneOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}],
        },
        "Shaped": {
            "description": f"{SHAPED.capitalize()}.",
            "oneOf": [ref("Number"), {"type": "array", "items": ref("Number")}],
        },
        "Error": object_of(
            "What was wrong.",
            error=object_of(
                "The value, the rule and the way out.",
                code=kind("string", "for programs"),
                message=kind("string", "for people"),
                field=kind("string", "the field or part of the request"),
                value={"description": "as given, shortened where it is long"},
                allowed={"description": "the rule, for programs"},
            ),
        ),
    }
    for machine in machines.values():
        name = BY_NAME[machine.name].view.form_name
        found[f"{name}Snapshot"] = _snapshot(machine)
        found[f"{name}Run"] = object_of(
            "Snapshots in a row. `count` is how many came: fewer than asked for at the end, or where 2 MB run out.",
            steps=kind("integer", "how many steps the run has", minimum=1),
            start=kind("integer", "the first step here", minimum=0),
            count=kind("integer", "how many are here", minimum=1, maximum=MAX_COUNT),
            snapshots=list_of(ref(f"{name}Snapshot"), "in order"),
        )
    return found


def one_parameters(machine: Machine) -> Schema:
    step = {
        "name": "step",
        "in": "path",
        "required": True,
        "description": "Which step; 0 is before anything is read. Past the end: 404.",
        "example": 1,
    }
    return {"parameters": [{**step, "schema": {"type": "integer", "minimum": 0, "maximum": LAST_STEP}}, *map(_query_field, machine.fields)]}


def many_parameters(machine: Machine) -> Schema:
    return {
        "parameters": [
            *map(_query_field, machine.fields),
            *({"name": name, "in": "query", "required": False, **about} for name, about in {**_WINDOW, **_CHARTS}.items()),
        ]
    }


def body(machine: Machine) -> Schema:
    example = {one.name: _example(one) for one in machine.fields if one.required or one.kind == "matrix"} | {"format": "float16"}
    form = {
        "type": "object",
        "required": ["spec"],
        "additionalProperties": False,
        "properties": {
            "spec": {
                "type": "object",
                "description": machine.about,
                "required": [one.name for one in machine.fields if one.required],
                "additionalProperties": False,
                "properties": {one.name: _json_field(one) for one in machine.fields},
            },
            **{name: {**about["schema"], "description": about["description"]} for name, about in _WINDOW.items()},
        },
    }
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": form, "example": {"spec": example, "start": 0, "count": 4}}},
        }
    }


def answers(operation: str) -> dict[int | str, dict[str, Any]]:
    """Responses of a machine's route; the 200 schema is filled in by `finish`, which knows the machine."""
    fail = {"content": {"application/json": {"schema": ref("Error")}}}
    found: dict[int | str, dict[str, Any]] = {
        200: {
            "description": "One snapshot." if operation == "snapshot" else "A run of snapshots.",
            "content": {"application/json": {"schema": {}}},
        },
        404: {"description": "A step past the end.", **fail},
        422: {"description": "A field that is wrong, unknown, missing or too long, or more work than one request may be.", **fail},
        429: {"description": "More requests than this host answers to one address: Retry-After says when to come again.", **fail},
        503: {"description": "Too much is being computed: Retry-After says when to come again.", **fail},
    }
    if operation == "long_run":
        slow = {"description": "A body that did not come in time.", **fail}
        broken = {"description": "A body that broke off.", **fail}
        return found | {400: broken, 408: slow, 413: {"description": "A body too long.", **fail}}
    return found | {
        414: {"description": "An address too long.", **fail},
        304: {"description": "Unchanged since the ETag in If-None-Match."},
    }


MACHINES_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every machine, its fields with their defaults and limits, and its presets.",
        "content": {
            "application/json": {
                "schema": object_of(
                    "The machines.",
                    machines=list_of(
                        object_of(
                            "A machine.",
                            name=kind("string", "as in its address"),
                            title=kind("string", "for people"),
                            about=kind("string", "what it does"),
                            fields=list_of(
                                {"type": "object"}, "its spec fields: name, kind, label, help, required, example, default, choices, limits"
                            ),
                            presets=list_of({"type": "object"}, "starting points: name, title, look_for, query, spec"),
                        ),
                        "by name",
                    ),
                )
            }
        },
    },
    304: {"description": "Unchanged since the ETag in If-None-Match."},
}

_CHARTS: dict[str, Schema] = {
    "charts": {
        "description": "1: with what a drawing of each step has that the drawing of step 0 has not, for the site's own scripts.",
        "schema": {"type": "integer", "minimum": 0, "maximum": 1, "default": 0},
    }
}
_WINDOW: dict[str, Schema] = {
    "start": {"description": "The first step wanted.", "schema": {"type": "integer", "minimum": 0, "maximum": LAST_STEP, "default": 0}},
    "count": {
        "description": "How many snapshots at most.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": MAX_COUNT},
    },
}


def finish(document: Schema, machines: dict[str, Machine]) -> Schema:
    """FastAPI's document with our named schemas in it, and each machine's answer pointing to its own."""
    document.setdefault("components", {}).setdefault("schemas", {}).update(components(machines))
    for machine in machines.values():
        name = BY_NAME[machine.name].view.form_name
        base = f"/api/v1/machines/{machine.name}/snapshots"
        for path, method, answer in ((f"{base}/{{step}}", "get", "Snapshot"), (base, "get", "Run"), (base, "post", "Run")):
            content = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]
            content["schema"] = ref(f"{name}{answer}")
    return document


def _query_field(one: Field) -> Schema:
    return {
        "name": one.name, "in": "query", "required": one.required, "description": f"{one.help} {_limits(one, 'get')}".strip(),
        "schema": _text_schema(one, "get"), **({} if one.stands_in else {"example": int(one.example) if one.kind == "integer" else one.example}),
    }  # fmt: skip


def _text_schema(one: Field, room: Room) -> Schema:
    """A field as a query or a form carries it."""
    default = {"default": one.default} if one.default is not None else {}
    if one.kind == "choice":
        return {"type": "string", "enum": list(one.choices), **default}
    if one.kind in ("integer", "number"):
        return {"type": one.kind, "minimum": one.least, "maximum": one.limit(room), **default}
    return {"type": "string", "pattern": pattern(one), **default}


def pattern(one: Field) -> str:
    """How a list, a matrix or a scale is written in an address: the wire form. An optional one may be empty, as forms send it.

    >>> import re
    >>> vector = Field("scores", "vector", "", "", "1,3", required=True, most=3)
    >>> [bool(re.search(pattern(vector), given)) for given in ("1,-2.5e-3,-inf", "NaN", "1,x", "1e308", "")]
    [True, True, False, False, False]
    >>> matrix = Field("q", "matrix", "", "", "1,0;", most=2, width=2)
    >>> [bool(re.search(pattern(matrix), given)) for given in ("1,0;0,1", "1,0;", "", "1;;0")]
    [True, True, True, False]
    """
    row = f"{_NUMBER}(,{_NUMBER})*"  # how many there may be stands in the description: as counts they make a pattern that checkers refuse to build
    form = {
        "vector": row,
        "rows": f"{row}(;{row})*;?",
        "matrix": f"{row}(;{row})*;?",
        "integers": "[0-9]{1,9}(,[0-9]{1,9})*",
        "scale": f"(auto|{_NUMBER})",
    }[one.kind]
    return f"^{form}$" if one.required else f"^({form})?$"


def _json_field(one: Field) -> Schema:
    """A field as a JSON body carries it."""
    about = f"{one.help} {_limits(one, 'post')}".strip()
    if one.kind == "scale":
        allowed = [{"type": "string", "enum": ["auto"]}, {"type": "number", "minimum": one.least, "maximum": one.most}]
        return {"oneOf": allowed, "default": one.default, "description": about}
    if one.kind not in ("vector", "rows", "matrix", "integers"):
        return {**_text_schema(one, "post"), "description": about}
    row = {"type": "array", "items": ref("Number"), "minItems": 1, "maxItems": one.width}
    whole = {"type": "integer", "minimum": one.least, "maximum": one.most}
    items = {"vector": ref("Number"), "rows": {"oneOf": [ref("Number"), row]}, "matrix": row, "integers": whole}[one.kind]
    return {
        "type": "array",
        "items": items,
        "minItems": 1,
        "description": about,
        **({} if one.kind == "integers" else {"maxItems": one.most}),
    }


def _limits(one: Field, room: Room) -> str:
    if one.kind in ("vector", "rows", "matrix"):
        return f"At most {one.limit(room):,}."
    return ""


def _example(one: Field) -> Any:
    if one.kind in ("vector", "rows"):
        return [float(x) for x in one.example.split(",")]
    if one.kind == "matrix":
        return [[float(x) for x in row.split(",")] for row in one.example.split(";")]
    return one.example
