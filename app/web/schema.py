"""The OpenAPI document's parts: parameters from each machine's table of fields, and every field of an answer described."""

from typing import Any

from app.machines.fields import MAX_SCORES, MAX_WIDTH, Field
from app.machines.run import Machine
from app.snapshots import MAX_COUNT, VERSION, WIDGETS
from app.specs import MAX_SCORES_BY_GET

Schema = dict[str, Any]

_STEP = 10**6


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Schema, about: str) -> Schema:
    return {"type": "array", "items": of, "description": about}


def _number(about: str) -> Schema:
    return {"allOf": [_ref("Number")], "description": about}


def _kind(kind: str, about: str, /, **more: Any) -> Schema:
    return {"type": kind, "description": about, **more}


def _object(about: str, optional: tuple[str, ...] = (), /, **fields: Schema) -> Schema:
    names = {name.rstrip("_"): field for name, field in fields.items()}
    return {"type": "object", "description": about, "properties": names, "required": [name for name in names if name not in optional]}


_SHAPED = "a number where the values are numbers, a list where they are vectors"
_INDICES = _list(_kind("integer", "a score's place, from 0", minimum=0), "which scores this step read")

_ONLINE_EVENT = _object(
    "What the step just made did. `kind` is start at step 0, where the rest is absent.",
    tuple("indices scores m_old m_new alpha p l_old row_sum l_rescaled new_max rescales stalled values acc_old pv acc_rescaled".split()),
    kind=_kind("string", "start or read", enum=["start", "read"]),
    indices=_INDICES,
    scores=_list(_ref("Number"), "the scores as read: rounded, offset added"),
    values=_list(_ref("Shaped"), "their values as read, rounded to the format"),
    m_old=_number("the highest score before"),
    m_new=_number("the highest score after"),
    alpha=_number("exp(m_old − m_new), the factor on all that was kept; 0 while nothing is"),
    p=_list(_ref("Number"), "exp(score − m_new) for each score read; 0 where masked"),
    l_old=_number("l before"),
    row_sum=_number("the sum of p"),
    l_rescaled=_number("l_old · alpha"),
    acc_old={"allOf": [_ref("Shaped")], "description": f"acc before: {_SHAPED}"},
    pv={"allOf": [_ref("Shaped")], "description": f"the sum of p · value: {_SHAPED}"},
    acc_rescaled={"allOf": [_ref("Shaped")], "description": f"acc_old · alpha: {_SHAPED}"},
    new_max=_kind("boolean", "whether the highest score rose"),
    rescales=_kind("boolean", "whether it rose when something was already kept"),
    stalled=_kind("boolean", "whether row_sum was above 0 and rounded away whole"),
)
_BAD = _object(
    "An operation.",
    gives=_number("Infinity or NaN"),
    op=_kind("string", "which operation", enum=["exp", "add", "div"]),
    index=_kind("integer", "the score it belongs to", minimum=0),
    text=_kind("string", "in words"),
)
_ONLINE_STATE = _object(
    "What the algorithm keeps, and what is derived from it for the reader.",
    ("acc", "output", "shares"),
    m=_number("the highest score so far; -Infinity before any live one"),
    l=_number("the sum of exp(score − m)"),
    lse=_number("m + log l, natural logarithm"),
    acc={"allOf": [_ref("Shaped")], "description": f"the sum of exp(score − m) · value: {_SHAPED}"},
    output={"allOf": [_ref("Shaped")], "description": f"acc / l: {_SHAPED}"},
    terms=_list(
        _object(
            "A bar: a score that was read.", ("size_before",),
            index=_kind("integer", "its place, from 0", minimum=0), score=_number("as read"),
            size=_number("exp(score − m)"), size_before=_number("the same before this step; absent for a score just read"),
        ),
        "the scores read so far, which the algorithm has forgotten",
    ),
    shares=_list(_ref("Number"), "size / l for each score, when all are read: a second read, outside the ledger"),
    naive=_object(
        "The same scores without taking the highest off.", ("shares",),
        exps=_list(_ref("Number"), "exp(score)"), sum=_number("their sum so far"), shares=_list(_ref("Number"), "exp / sum, when all are read"),
        failed=_kind("boolean", "whether a share of the scores read so far differs from the reference by more than rounding"),
        first_bad=_list(_BAD, "the operation that first gave an infinity and the one that first gave NaN, in the order met"),
    ),
    reference=_object(
        "The float64 answer for the scores read so far, as the format holds them.", ("output",),
        m=_number("highest score"), l=_number("sum of exp(score − m)"), lse=_number("log of the sum of exp(score)"),
        output={"allOf": [_ref("Shaped")], "description": f"weighted average of the values: {_SHAPED}"}, shares=_list(_ref("Number"), "softmax"),
    ),
)  # fmt: skip
_PASSES_EVENT = _object(
    "What the step just made did. `kind` is start at step 0, where the rest is absent.",
    ("pass", "indices", "op", "scores", "results"),
    kind=_kind("string", "start or read", enum=["start", "read"]),
    pass_=_kind("integer", "which pass over the scores, from 1", minimum=1),
    indices=_INDICES,
    op=_kind("string", "what the pass does: find the highest, sum sizes, both at once, or write shares", enum=["max", "sum", "both", "share"]),
    scores=_list(_ref("Number"), "the scores as read, rounded"),
    results=_list(_ref("Number"), "one for each score: itself (max), its size (sum, both) or its share (share)"),
)
_PASSES_STATE = _object(
    "What is kept, which pass is under way, and the shares written so far.", ("m", "l", "shares"),
    m=_number("the highest score so far"), l=_number("the sum of sizes so far"),
    pass_=_kind("integer", "the pass of the step just made; 0 before any", minimum=0), passes=_kind("integer", "how many passes the method makes", minimum=1),
    shares=_list(_ref("Number"), "the shares written so far"),
)  # fmt: skip
_BY_MACHINE = {"online-softmax": ("Online", _ONLINE_EVENT, _ONLINE_STATE), "softmax-passes": ("Passes", _PASSES_EVENT, _PASSES_STATE)}

_LEDGER = _object(
    "What the run has cost so far, added up by the run itself.",
    reads=_kind("integer", "numbers read from slow memory", minimum=0),
    writes=_kind("integer", "numbers written to slow memory", minimum=0),
    kept=_kind("integer", "numbers that live on chip until the next step", minimum=0),
    ops=_object("Operations.", **{name: _kind("integer", f"{name} operations", minimum=0) for name in ("mul", "add", "exp", "div", "max")}),
)


def _snapshot(machine: Machine) -> Schema:
    _, event, state = _BY_MACHINE[machine.name]
    names = ["self", "page", "embed", "svg", "png"] if machine.name in WIDGETS else ["self"]
    return _object(
        f"One state of {machine.title}.",
        machine=_kind("string", "the machine's name", enum=[machine.name]),
        version=_kind("integer", "of this form", enum=[VERSION]),
        spec=_object(
            "Every field, defaults filled in.",
            tuple(one.name for one in machine.fields if not one.required and one.default is None and one.name != "accumulate"),
            **{one.name: _json_field(one) for one in machine.fields},
        ),
        step=_kind("integer", "this step; 0 is before anything is read", minimum=0),
        steps=_kind("integer", "how many there are", minimum=1),
        done=_kind("boolean", "whether this is the last"),
        event=event,
        state=state,
        ledger=_LEDGER,
        caption=_kind("string", "the step in one sentence"),
        spoken=_kind("string", "the same for the ear"),
        words={"type": "object", "description": "More sentences for a page, by name.", "additionalProperties": {"type": "string"}},
        links={
            "type": "object",
            "description": "Where this state lives, relative to the site's root. A run too long for a page has only self.",
            "properties": {name: _kind("string", name) for name in names},
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
        "Shaped": {"description": f"{_SHAPED[0].upper()}{_SHAPED[1:]}.", "oneOf": [_ref("Number"), {"type": "array", "items": _ref("Number")}]},
        "Error": _object(
            "What was wrong.",
            error=_object(
                "The value, the rule and the way out.",
                code=_kind("string", "for programs"),
                message=_kind("string", "for people"),
                field=_kind("string", "the field or part of the request"),
                value={"description": "as given, shortened where it is long"},
                allowed={"description": "the rule, for programs"},
            ),
        ),
    }
    for machine in machines.values():
        name = _BY_MACHINE[machine.name][0]
        found[f"{name}Snapshot"] = _snapshot(machine)
        found[f"{name}Run"] = _object(
            "Snapshots in a row. `count` is how many came: fewer than asked for at the end, or where 2 MB run out.",
            steps=_kind("integer", "how many steps the run has", minimum=1),
            start=_kind("integer", "the first step here", minimum=0),
            count=_kind("integer", "how many are here", minimum=1, maximum=MAX_COUNT),
            snapshots=_list(_ref(f"{name}Snapshot"), "in order"),
        )
    return found


def one_parameters(machine: Machine) -> Schema:
    step = {"name": "step", "in": "path", "required": True, "description": "Which step; 0 is before anything is read. Past the end: 404.", "example": 3}
    return {"parameters": [{**step, "schema": {"type": "integer", "minimum": 0, "maximum": _STEP}}, *map(_query_field, machine.fields)]}


def many_parameters(machine: Machine) -> Schema:
    return {"parameters": [*map(_query_field, machine.fields), *({"name": name, "in": "query", "required": False, **about} for name, about in _WINDOW.items())]}


def body(machine: Machine) -> Schema:
    example = {one.name: _example(one) for one in machine.fields if one.required} | {"format": "float16"}
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
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": form, "example": {"spec": example, "start": 0, "count": 4}}}}}


def answers(operation: str) -> dict[int | str, dict[str, Any]]:
    """Responses of a machine's route; the 200 schema is filled in by `finish`, which knows the machine."""
    fail = {"content": {"application/json": {"schema": _ref("Error")}}}
    found: dict[int | str, dict[str, Any]] = {
        200: {"description": "One snapshot." if operation == "snapshot" else "A run of snapshots.", "content": {"application/json": {"schema": {}}}},
        404: {"description": "A step past the end.", **fail},
        422: {"description": "A field that is wrong, unknown, missing or too long.", **fail},
    }
    if operation == "long_run":
        return found | {413: {"description": "A body too long.", **fail}}
    return found | {304: {"description": "Unchanged since the ETag in If-None-Match."}}


MACHINES_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every machine, its fields with their defaults and limits, and its presets.",
        "content": {
            "application/json": {
                "schema": _object(
                    "The machines.",
                    machines=_list(
                        _object(
                            "A machine.",
                            name=_kind("string", "as in its address"),
                            title=_kind("string", "for people"),
                            about=_kind("string", "what it does"),
                            fields=_list({"type": "object"}, "its spec fields: name, kind, label, help, required, example, default, choices, limits"),
                            presets=_list({"type": "object"}, "starting points: name, title, look_for, query, spec"),
                        ),
                        "by name",
                    ),
                )
            }
        },
    },
    304: {"description": "Unchanged since the ETag in If-None-Match."},
}

_WINDOW: dict[str, Schema] = {
    "start": {"description": "The first step wanted.", "schema": {"type": "integer", "minimum": 0, "maximum": _STEP, "default": 0}},
    "count": {"description": "How many snapshots at most.", "schema": {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": MAX_COUNT}},
}


def finish(document: Schema, machines: dict[str, Machine]) -> Schema:
    """FastAPI's document with our named schemas in it, and each machine's answer pointing to its own."""
    document.setdefault("components", {}).setdefault("schemas", {}).update(components(machines))
    for machine in machines.values():
        name = _BY_MACHINE[machine.name][0]
        base = f"/api/v1/machines/{machine.name}/snapshots"
        for path, method, answer in ((f"{base}/{{step}}", "get", "Snapshot"), (base, "get", "Run"), (base, "post", "Run")):
            content = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]
            content["schema"] = _ref(f"{name}{answer}")
    return document


def _query_field(one: Field) -> Schema:
    return {
        "name": one.name, "in": "query", "required": one.required, "description": f"{one.help} {_limits(one, MAX_SCORES_BY_GET)}".strip(),
        "schema": _text_schema(one), "example": one.example if one.kind in ("vector", "rows", "choice") else _example(one),
    }  # fmt: skip


def _text_schema(one: Field) -> Schema:
    if one.kind == "choice":
        return {"type": "string", "enum": list(one.choices), **({"default": one.default} if one.default else {})}
    if one.kind in ("integer", "number"):
        return {"type": one.kind, "minimum": one.least, "maximum": one.most, "default": one.default}
    return {"type": "string", **({"minLength": 1} if one.required else {})}


def _json_field(one: Field) -> Schema:
    about = f"{one.help} {_limits(one, MAX_SCORES)}".strip()
    if one.kind == "vector":
        return {"type": "array", "items": _ref("Number"), "minItems": 1, "maxItems": MAX_SCORES, "description": about}
    if one.kind == "rows":
        rows = {"type": "array", "items": _ref("Number"), "minItems": 1, "maxItems": MAX_WIDTH}
        return {"type": "array", "items": {"oneOf": [_ref("Number"), rows]}, "minItems": 1, "maxItems": MAX_SCORES, "description": about}
    return {**_text_schema(one), "description": about}


def _limits(one: Field, most: int) -> str:
    if one.kind in ("vector", "rows"):
        return f"At most {most:,}."
    return ""


def _example(one: Field) -> Any:
    if one.kind == "vector":
        return [float(x) for x in one.example.split(",")]
    if one.kind == "integer":
        return int(one.example)
    return float(one.example) if one.kind == "number" else one.example


