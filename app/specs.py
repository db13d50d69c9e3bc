"""From text to a spec and back, by the machine's table of fields.

One parser for query strings, forms and JSON bodies; one canonical way to write a spec into a link; and the errors,
which name the value, the rule and the way out.
"""

import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from app import paste
from app.machines.fields import Field, Room
from app.machines.run import Machine
from app.numbers import link, number

_ONE = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e-?[0-9]+)?|inf|nan)"  # as a canonical link writes a number
_LIST = re.compile(rf"{_ONE}(?:,{_ONE})*")
_TABLE = re.compile(rf"{_ONE}(?:[,;]{_ONE})*;?")
_SHAPES: dict[str, paste.Shape] = {"vector": "list", "integers": "list", "rows": "either", "matrix": "table"}
LAST_STEP = 10**6  # no address is read that names a later one


@dataclass(frozen=True)
class Fault:
    """What is wrong with one field, in the form the API sends it: `value` as given, `allowed` the rule for programs."""

    code: str
    message: str
    field: str
    value: Any
    allowed: Any

    def wire(self) -> dict[str, Any]:
        return asdict(self)


class Refusal(Exception):
    """What is asked for is not given: the fault says why and what to do, the status is HTTP's number for it.

    >>> str(Refusal(Fault("out_of_range", "step 9 is past the end.", "step", 9, 3))), Refusal.status
    ('step 9 is past the end.', 422)
    """

    status = 422
    retry_after: int | None = None  # seconds after which it may be asked for again

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return self.fault.message


class NotFound(Refusal):
    """A thing that does not exist: its fault's `allowed` says what does."""

    status = 404


class SpecError(Refusal):
    """One or more faults; the first is the one an API answer carries."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults[0])
        self.faults = faults

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it comes whole out of a process that parses."""
        return SpecError, (self.faults,)


def parse(machine: Machine, given: Mapping[str, Any], room: Room, *, strict: bool = True, pasted: bool = False) -> Any:
    """A spec from fields as text or as JSON values.

    machine   whose table to go by
    given     field name → text ("1,3,2") or JSON ([1, "-Infinity"]); an empty optional field counts as absent
    room      where the spec is going, which says how much fits
    strict    refuse names that are not in the table
    pasted    whether text that is not as a link writes it may be anything that people paste

    Raises SpecError with a fault for each field that is wrong.

    >>> from app.machines import MACHINES
    >>> parse(MACHINES["online-softmax"], {"scores": "1, 3\\n2", "format": "float16"}, "page").scores
    (1.0, 3.0, 2.0)
    >>> parse(MACHINES["online-softmax"], {"scores": "np.array([1., 3.])"}, "page", pasted=True).scores
    (1.0, 3.0)
    """
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    if strict:
        names = [one.name for one in machine.fields]
        unknown = next((name for name in given if name not in names), None)
        if unknown is not None:
            faults.append(_unknown(unknown, given[unknown], names))
    for one in machine.fields:
        try:
            value = _value(one, _read(one, given.get(one.name)) if pasted else given.get(one.name), room)
        except SpecError as error:
            faults += error.faults
        else:
            if value is not None:
                values[one.name] = value
    if not faults:
        faults = [
            Fault(one.code, f"{one.what}: {one.way_out}.", one.field, clip(given.get(one.field)), one.allowed)
            for one in machine.problems(values)
        ]
    if faults:
        raise SpecError(faults)
    return machine.spec(**values)


def pasted_in(machine: Machine, given: Mapping[str, Any]) -> list[str]:
    """The names of fields that are not written as a link writes them, so that their text has to be read with care.

    >>> from app.machines import MACHINES
    >>> [pasted_in(MACHINES["online-softmax"], {"scores": one}) for one in ("1,3.5,-inf", "1, 3", "[1,3]", "1,000")]
    [[], ['scores'], ['scores'], ['scores']]
    """
    return [one.name for one in machine.fields if not _is_plain(one, given.get(one.name))]


def known_version(machine: Machine, given: Mapping[str, Any]) -> None:
    """Refuses an address of a version that this release does not know. A machine with a field `v` has no version in its addresses.

    >>> from app.machines import MACHINES
    >>> known_version(MACHINES["online-softmax"], {"v": "1"})
    >>> known_version(MACHINES["tiled-attention"], {"v": "2,0;0,2"})
    >>> known_version(MACHINES["online-softmax"], {"v": "2"})
    Traceback (most recent call last):
    app.specs.SpecError: v: there is no version '2' of this address; use v=1, or leave it out.
    """
    said = given.get("v")
    if said not in (None, "", "1") and not any(one.name == "v" for one in machine.fields):
        raise SpecError(
            [
                Fault(
                    "unknown_version",
                    f"v: there is no version {clip(said)!r} of this address; use v=1, or leave it out.",
                    "v",
                    clip(said),
                    ["1"],
                )
            ]
        )


def chosen(given: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """A choice that is no spec field; the first where it is not given. Raises SpecError for another.

    >>> chosen({}, "theme", ("light", "dark"))
    'light'
    """
    return _choice(Field(name, "choice", name, "", choices[0], choices=choices), given.get(name) or choices[0])


def fits(machine: Machine, spec: Any, room: Room) -> bool:
    """Whether a spec that is right is also small enough for a room.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> [fits(online, online.spec(scores=(1.0,) * 65), room) for room in ("page", "get")]
    [False, True]
    """
    for one in machine.fields:
        value = machine.given(spec).get(one.name)
        if isinstance(value, tuple):
            row = value[0] if value and isinstance(value[0], tuple) else ()
            if len(value) > one.limit(room) or (one.kind == "matrix" and len(row) > one.widest(room)):
                return False
        elif one.kind == "integer" and value is not None and value > one.limit(room):
            return False
    return True


def fields_of(machine: Machine, spec: Any) -> dict[str, Any]:
    """Every field of a spec with its value, defaults filled in; what is absent is left out.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> fields_of(online, online.spec(scores=(1.0,)))
    {'scores': (1.0,), 'offset': 0.0, 'format': 'float32', 'accumulate': 'float32', 'block': 1}
    """
    known = machine.given(spec)
    pairs = ((one.name, known.get(one.name)) for one in machine.fields)
    return {name: value for name, value in pairs if value is not None}


def query(machine: Machine, spec: Any, **more: int | str) -> str:
    """The canonical query string: data always, other fields where they differ from their default and no other says them, in the table's order.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> query(online, online.spec(scores=(1.0, -float("inf")), values=((2.0, 0.5), (0.0, 1.0)), block=2), step=1)
    'scores=1,-inf&values=2,0.5;0,1&format=float32&block=2&step=1'
    """
    parts = []
    known = machine.given(spec)
    for one in machine.fields:
        value = known.get(one.name)
        default = known[one.follows] if one.follows else one.default
        said = one.yields and known.get(one.yields) is not None
        if value is not None and not said and (one.data or value != default):
            parts.append(f"{one.name}={quote(text(value), safe=',;')}")
    parts += [f"{name}={quote(str(value), safe='')}" for name, value in more.items()]
    return "&".join(parts)


def text(value: Any) -> str:
    """A field's value as a form or a link carries it.

    >>> text((1.0, 3.5)), text(((1.0, 0.0),)), text(2.0), text("float16")
    ('1,3.5', '1,0;', '2', 'float16')
    """
    if isinstance(value, float):
        return link(value)
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return ";".join(map(text, value)) + (";" if len(value) == 1 else "")
        return ",".join(map(text, value))
    return str(value)


def whole(name: str, given: Any, least: int, most: int, default: int | None = None) -> int:
    """A whole number that is no spec field (step, start, count).

    >>> whole("step", "3", 0, 100)
    3
    """
    if given in (None, "") and default is not None:
        return default
    if isinstance(given, str) and given != given.strip():
        raise _range(_whole(name, least, most), given, "post")
    return _integer(_whole(name, least, most), given, "post")


def _whole(name: str, least: int, most: int) -> Field:
    return Field(name, "integer", name, "", "3", required=True, least=least, most=most)


def _is_plain(one: Field, given: Any) -> bool:
    if not isinstance(given, str) or not given.strip():
        return True
    if one.kind in _SHAPES:
        return bool((_TABLE if one.kind in ("rows", "matrix") else _LIST).fullmatch(given))
    return given.isascii()


def _read(one: Field, given: Any) -> Any:
    """What was pasted into a field, as the numbers that it is."""
    if _is_plain(one, given):
        return given
    if one.kind not in _SHAPES:
        return paste.in_ascii(given)
    try:
        return paste.read(given, _SHAPES[one.kind])
    except paste.Unread as error:
        raise _fault(one, error.code, given, error.what, error.way_out, "numbers") from None


def _value(one: Field, given: Any, room: Room) -> Any:
    if given is None or (isinstance(given, (str, list)) and not given) or (isinstance(given, str) and not given.strip()):
        if one.required:
            rule = _rule(one, room)
            raise _fault(one, "required", given, f"{one.name} is empty", f"give {rule}, such as {one.name}={one.example}", rule)
        return one.default
    if one.kind == "choice":
        return _choice(one, given)
    if one.kind == "integer":
        return _integer(one, given, room)
    if one.kind == "scale" and isinstance(given, str) and given.strip() == "auto":
        return "auto"
    if one.kind in ("number", "scale"):
        value = _number(one, given, given)
        if not one.least <= value <= one.most:
            raise _range(one, given, room)
        return value + 0.0  # −0 is 0 here: a link leaves out what is the default
    rows = _rows(one, given, room)
    most = one.limit(room)
    if one.kind == "integers":
        return tuple(_integer(one, int(row) if row == row // 1 else given, room) for row in rows)
    if len(rows) > most:
        way_out = f"at most {most:,} fit here: shorten it{_WAY_OUT[room]}"
        raise _fault(one, "too_many", given, f"{one.name} has {_count(len(rows), 'entry', 'entries')}", way_out, {"most": most})
    return rows


_WAY_OUT = {"page": ", or ask the API, which takes more", "get": ", or POST it, where more fit", "post": ""}


def _rows(one: Field, given: Any, room: Room) -> tuple[Any, ...]:
    """A vector, or for "rows" perhaps and for "matrix" always a matrix, from text or from a JSON list."""
    if isinstance(given, str) and one.kind in ("rows", "matrix") and (";" in given or one.kind == "matrix" or _is_table(given)):
        given = _split_rows(given)
        matrix = True
    else:
        matrix = one.kind == "matrix" or (one.kind == "rows" and isinstance(given, list) and any(isinstance(row, list) for row in given))
    if not matrix:
        return tuple(_number(one, entry, given) for entry in _entries(one, given))
    rows = tuple(tuple(_number(one, entry, row) for entry in _entries(one, row)) for row in _entries(one, given))
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1 or widths[0] == 0:
        what = f"the rows of {one.name} have {', '.join(map(str, widths))} numbers"
        raise _fault(one, "wrong_shape", given, what, f"give every row the same count, such as {_matrix(one)}", "rows of one length")
    widest = one.widest(room)
    if widths[0] > widest:
        way_out = f"at most {widest} are allowed{_WAY_OUT[room] if one.page_width else ''}"
        raise _fault(one, "too_many", given, f"a row of {one.name} has {widths[0]} numbers", way_out, {"most": widest})
    return rows


def _split_rows(given: str) -> list[str]:
    """
    >>> _split_rows(" 1,0 ; 0,1;"), _split_rows("1 0\\r\\n\\n0 1\\n")
    (['1,0', '0,1'], ['1 0', '0 1'])
    """
    if ";" in given:
        return [row.strip() for row in given.strip().rstrip(";").split(";")]
    return [row.strip() for row in given.splitlines() if row.strip()]


def _is_table(given: str) -> bool:
    """Whether several lines were pasted with several numbers in each."""
    lines = [line.strip().rstrip(",") for line in given.strip().splitlines()]
    return len(lines) > 1 and any(re.search(r"[,\s]", line) for line in lines)


def _matrix(one: Field) -> str:
    return one.example if ";" in one.example else "2,0;0,2;1,1"


def _entries(one: Field, given: Any) -> list[Any]:
    if isinstance(given, list):
        return given
    if not isinstance(given, str):
        raise _fault(
            one,
            "not_a_list",
            given,
            f"{clip(given)!r} is not a list",
            f"write numbers with commas between them, such as {one.example}",
            "numbers",
        )
    entries = re.split(r"\s*,\s*|\s+", given.strip())
    return entries[:-1] if len(entries) > 1 and not entries[-1] else entries


def _number(one: Field, entry: Any, whole_value: Any) -> float:
    if isinstance(entry, (int, float)) and not isinstance(entry, bool):
        try:
            return float(entry)
        except OverflowError:
            pass
    elif isinstance(entry, str):
        found = number(entry)
        if found is not None:
            return found
    example = "such as 1.5, -2, 1e3, -inf, inf or nan" if one.kind not in ("number", "scale") else f"such as {one.example}"
    shown = clip(entry)
    what = "an entry is empty" if entry == "" else f"{shown!r} is not a number that float64 can hold"
    raise _fault(one, "not_a_number", whole_value, what, f"write a number, {example}", "numbers")


def _integer(one: Field, given: Any, room: Room) -> int:
    if isinstance(given, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", given):
        given = int(given)
    if isinstance(given, float) and given.is_integer():  # 4.0 is a whole number in JSON
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not one.least <= given <= one.limit(room):
        raise _range(one, given, room)
    return given


def _choice(one: Field, given: Any) -> str:
    if given not in one.choices:
        raise _fault(
            one,
            "not_a_choice",
            given,
            f"{clip(given)!r} is not one of the choices",
            f"use one of {', '.join(one.choices)}",
            list(one.choices),
        )
    return str(given)


def _range(one: Field, given: Any, room: Room) -> SpecError:
    limits = {"least": one.least, "most": one.limit(room)}
    return _fault(one, "out_of_range", given, f"{clip(given)!r} is not {_rule(one, room)}", f"give one, such as {one.example}", limits)


def _rule(one: Field, room: Room) -> str:
    most = one.limit(room)
    if one.kind == "choice":
        return f"one of {', '.join(one.choices)}"
    if one.kind in ("integer", "integers"):
        return f"a whole number from {one.least:,g} to {most:,g}"
    if one.kind in ("number", "scale"):
        return f"{'auto or ' * (one.kind == 'scale')}a number from {one.least:,g} to {most:,g}"
    return f"1 to {most:,} {'rows' if one.kind == 'matrix' else 'numbers'}"


def _unknown(name: str, value: Any, names: Iterable[str]) -> Fault:
    known = ", ".join(names)
    return Fault(
        "unknown_field",
        f"there is no field {clip(name)!r} here: leave it out, or use one of {known}.",
        clip(name),
        clip(value),
        list(names),
    )


def _fault(one: Field, code: str, value: Any, what: str, way_out: str, allowed: Any) -> SpecError:
    prefix = "" if what.startswith((one.name, "the rows", "a row")) else f"{one.name}: "
    return SpecError([Fault(code, f"{prefix}{what}; {way_out}.", one.name, clip(value), allowed)])


def clip(value: Any, most: int = 60) -> str:
    """A value as given, fit to be quoted: not endless, and nothing that JSON in UTF-8 could not carry.

    >>> clip("x" * 100, 5), clip(None), clip("\\ud800")
    ('xxxx…', '', '?')
    """
    if isinstance(value, (list, tuple, dict)):  # as much of it as may be seen: all of it as text takes its time
        value = reprlib.repr(value)
    shown = "" if value is None else str(value).encode(errors="replace").decode()
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
