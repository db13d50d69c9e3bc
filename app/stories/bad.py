"""The first operations of a row that were not finite, in words and as they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.machines.first_bad import Bad
from app.machines.formats import FORMATS
from app.stories.voice import WRITTEN, Voice
from app.stories.wire_types import Number, Told

TOLD = 2  # rows whose operations a caption tells; the others it only counts


@dataclass(frozen=True)
class BadStep(Told):
    """For a row, the operation that first gave an infinity, or the one that first gave NaN."""

    row: int
    """the query, from 0"""
    step: int
    """the step that made it"""
    gives: Number
    """Infinity, -Infinity or NaN"""
    op: str
    """which operation: mul, add, sub, exp, div, or cast, a number stored in a format"""
    text: str
    """in words"""
    index: int | None = None
    """the key it belongs to, from 0; absent for one on what the row keeps"""
    element: int | None = None
    """the element of the vector, from 0, where it belongs to one"""


WHERE = {
    "q": "element {element} of the query",
    "k": "element {element} of key {key}",
    "v": "element {element} of the value of key {key}",
    "dot": "in q · k with key {key}, {made}",
    "scale": "in scaling the score of key {key}, {made}",
    "size": "in the size of key {key}, {made}",
    "factor": "in the factor of what it kept, {made}",
    "sum": "in adding up the sizes, at key {key}, {made}",
    "share": "in the share of key {key}, {made}",
    "l": "in the sum of sizes, {made}",
    "pv": "in size × value of key {key}, element {element}, {made}",
    "acc": "in the weighted sum, element {element}, {made}",
    "divide": "in the division by the sum of sizes, element {element}, {made}",
    "store": "element {element} of the output",
}


def reason(voice: Voice, bad: Bad) -> str:
    """What was done, and why it is not finite.

    >>> reason(WRITTEN, Bad("dot", "mul", "float16", (300.0, 300.0), float("inf"), 1))
    'in q · k with key 2, 300 × 300 is past the largest float16 (65504)'
    >>> reason(WRITTEN, Bad("k", "cast", "float8_e4m3fn", (500.0,), float("nan"), 0, 1))
    'element 2 of key 1, 500, is past the largest float8_e4m3fn (448), which has no infinity: NaN'
    >>> reason(WRITTEN, Bad("size", "sub", "float32", (float("inf"), float("inf")), float("nan"), 0))
    'in the size of key 1, ∞ − ∞ is NaN'
    """
    form, n = FORMATS[bad.form], voice.number
    finite = all(abs(x) < float("inf") for x in bad.operands)
    signs = {"mul": voice.times, "add": voice.plus, "sub": voice.minus, "div": voice.over}
    if bad.op == "cast":
        made = f", {n(bad.operands[0])}," if finite else ""
    elif bad.op == "exp":
        made = voice.exp(bad.operands[0])
    else:
        made = f"{n(bad.operands[0])}{signs[bad.op]}{voice.operand(bad.operands[1])}"
    near = n(form.max) if form.max < 1e6 else f"{voice.about.strip(', ')} {n(form.max)}"
    if not finite or bad.op == "div":
        why = f"is {n(bad.gives)} as given" if bad.op == "cast" else f"is {n(bad.gives)}"
    elif form.infinite:
        why = f"is past the largest {form.name} ({near})"
    else:
        why = f"is past the largest {form.name} ({near}), which has no infinity: NaN"
    said = WHERE[bad.part].format(made=made, key=(bad.key or 0) + 1, element=(bad.element or 0) + 1)
    if voice is not WRITTEN:
        said = said.replace("q · k", "q times k").replace("×", "times")
    return f"{said}{made} {why}" if bad.op == "cast" else f"{said} {why}"


Found = Mapping[int, Sequence[tuple[int, Bad]]]  # of each row, the step that it was met in and what it was


def sent(found: Found) -> tuple[BadStep, ...]:
    """As they stand in a snapshot, row by row, in the order met."""
    return tuple(
        BadStep(row, step, bad.gives, bad.op, f"Query {row + 1}, step {step}: {reason(WRITTEN, bad)}", bad.key, bad.element)
        for row, bads in sorted(found.items())
        for step, bad in bads
    )


def aside(voice: Voice, found: Found, step: int) -> str:
    """What a caption goes on to say: the reasons of the first rows, and which others are not finite."""
    rows = sorted(row for row, bads in found.items() if bads)
    said = []
    for row in rows[:TOLD]:
        reasons = [reason(voice, bad) if met == step else f"{reason(voice, bad)} (step {met})" for met, bad in found[row]]
        meets = "meets" if any(met == step for met, _ in found[row]) else "has met"
        said.append(f" Query {row + 1} {meets} a number that is not finite: {'; then '.join(reasons)}.")
    more = len(rows) - TOLD
    if more > 0:
        said.append(" 1 more query has such a number." if more == 1 else f" {more} more queries have such numbers.")
    return "".join(said)
