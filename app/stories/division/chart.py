"""Dividing first or last, as a picture: both ways side by side, line by line."""

from typing import Any

from app.numbers import show
from app.stories.record import Shot


def drawing(shot: Shot[Any, Any, Any]) -> dict[str, list[tuple[str, str]]]:
    """The lines of each way that exist so far, as (what, numbers).

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> division = MACHINES["division-order"]
    >>> drawing(shot(division, division.spec(scores=(1.0, 2.0), values=(2.0, 0.0)), 4))["last"][-1]
    ('divide once by ℓ', '0.538')
    """
    state = shot.state
    common = [("exp(score − m)", _row(state["exponentials"])), ("their sum ℓ", show(float(state["l"])))] if "l" in state else []
    first, last = list(common), list(common)
    if "shares" in state["first"]:
        first.append(("divide each by ℓ", _row(state["first"]["shares"])))
    if "output" in state["first"]:
        first.append(("weigh the values", _row(state["first"]["output"])))
    if "weighted_sum" in state["last"]:
        last.append(("weigh the values", _row(state["last"]["weighted_sum"])))
    if "output" in state["last"]:
        last.append(("divide once by ℓ", _row(state["last"]["output"])))
    return {"first": first, "last": last}


def _row(values: Any) -> str:
    listed = values if isinstance(values, (list, tuple)) else [values]
    shown = [show(float(one)) for one in listed[:6]]
    return ", ".join(shown) + (", …" if len(listed) > 6 else "")
