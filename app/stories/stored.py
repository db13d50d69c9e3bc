"""What storing the inputs does to the float64 answer, for a row of scores."""

from app.machines.reference import Reference
from app.stories.voice import WRITTEN


def moved_by_storing(form: str, typed: Reference, stored: Reference) -> str:
    """One sentence where a reader would see other digits; "" where not.

    form            the number format that the inputs are stored in
    typed, stored   the float64 answers from the inputs as typed and as the format holds them

    >>> from app.machines.reference import softmax
    >>> moved_by_storing("bfloat16", softmax([0.0, 0.3]), softmax([0.0, 0.30078125]))
    'Storing the inputs in bfloat16 moves even the float64 answer. As typed: ℓ 1.741, lse 0.854. As stored: ℓ 1.740, lse 0.855.'
    >>> moved_by_storing("float32", softmax([0.0, 1.0]), softmax([0.0, 1.0]))
    ''
    """
    said = [
        (f"{name} {a}", f"{name} {b}")
        for name, a, b in (
            ("ℓ", WRITTEN.number(typed.l), WRITTEN.number(stored.l)),
            ("lse", WRITTEN.number(typed.lse), WRITTEN.number(stored.lse)),
            ("output", WRITTEN.vector(typed.output or (0.0,)), WRITTEN.vector(stored.output or (0.0,))),
        )
        if a != b
    ]
    if not said:
        return ""
    before, after = (", ".join(part) for part in zip(*said, strict=True))
    return f"Storing the inputs in {form} moves even the float64 answer. As typed: {before}. As stored: {after}."
