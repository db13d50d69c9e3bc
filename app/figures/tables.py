"""A run as a table: one row a step, one column a number."""

import csv
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Any

from app.stories import BY_NAME

_MOST = 256  # columns of one name: a spreadsheet is no place for a matrix of thousands


def table(shots: Iterable[Mapping[str, Any]]) -> str:
    """Snapshots as CSV. Columns are named as a page names its numbers (`m`, `acc.0`, `event.alpha`, `ledger.reads`); empty: not there yet.

    Numbers are written so that reading them gives the same bits; the others are Infinity, -Infinity and NaN.

    >>> from app.machines import MACHINES
    >>> from app.runs import snapshots
    >>> online = MACHINES["online-softmax"]
    >>> rows = table(snapshots(online, online.spec(scores=(1.0, 3.0)))).splitlines()
    >>> rows[0].split(",")[:6], rows[2].split(",")[:2]
    (['step', 'steps', 'event', 'm', 'l', 'lse'], ['1', '2'])
    """
    rows, columns = [], {"step": 0, "steps": 0, "event": 0}
    for shot in shots:
        row: dict[str, Any] = {"step": shot["step"], "steps": shot["steps"], "event": shot["event"]["kind"]}
        parts = (("", shot["state"]), ("event.", shot["event"]), ("ledger.", shot["ledger"]))
        left_out = BY_NAME[shot["machine"]].drawn_only
        for prefix, part in parts:
            for name, value in part.items():
                if name not in left_out and name != "kind":
                    row |= dict(list(_flat(prefix + name, value))[:_MOST])
        row["caption"] = shot["caption"]
        columns |= dict.fromkeys(row, 0)
        rows.append(row)
    columns["caption"] = columns.pop("caption", 0)  # last: it is long
    out = StringIO()
    writer = csv.DictWriter(out, list(columns), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _flat(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(f"{name}.{key}", one)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _flat(f"{name}.{at}", one)
    else:
        yield name, str(value).lower() if isinstance(value, bool) else value
