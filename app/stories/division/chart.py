"""Dividing first or last, as a picture: both ways side by side, line by line."""

from typing import Any

from app.machines.division import Spec
from app.numbers import show
from app.stories.division.shown import Both, Made
from app.stories.record import Shot


def drawing(shot: Shot[Spec, Made | None, Both]) -> dict[str, list[tuple[str, str]]]:
    """The lines of each way that exist so far, as (what, numbers).

    >>> from app.machines import MACHINES
    >>> from app.runs import shot
    >>> division = MACHINES["division-order"]
    >>> drawing(shot(division, division.spec(scores=(1.0, 2.0), values=(2.0, 0.0)), 4))["last"][-1]
    ('divide once by ℓ', '0.538')
    """
    state = shot.state
    common = [("exp(score − m)", _row(state.exponentials)), ("their sum ℓ", show(state.l))] if state.l is not None else []
    ways = {
        "first": (("divide each by ℓ", state.first.shares), ("weigh the values", state.first.output)),
        "last": (("weigh the values", state.last.weighted_sum), ("divide once by ℓ", state.last.output)),
    }
    return {name: common + [(what, _row(found)) for what, found in lines if found is not None] for name, lines in ways.items()}


def _row(values: Any) -> str:
    listed = values if isinstance(values, tuple) else (values,)
    shown = [show(one) for one in listed[:6]]
    return ", ".join(shown) + (", …" if len(listed) > 6 else "")
