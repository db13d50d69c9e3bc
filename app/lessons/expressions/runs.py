"""What an expression sees: machines' runs, their snapshots, and JSON data. None of it is a Python object with methods."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import runs
from app.lessons.problems import Invalid
from app.lessons.source import inside
from app.machines import MACHINES
from app.machines.run import Machine
from app.numbers import wire
from app.specs import SpecError, fields_of, fits, parse, query

MAX_STEPS = 4096  # of a run in a lesson
MAX_WORK = 4_000_000  # numbers given · steps, so that no run keeps a page waiting
ALL_AT_ONCE = 64  # steps up to which all snapshots are made in one pass


class Record:
    """An object with named parts, as JSON has them.

    >>> Record({"event": {"alpha": 0.5}}, "step 1").part("event").part("alpha")
    0.5
    """

    def __init__(self, parts: Mapping[str, Any], name: str) -> None:
        self.parts, self.name = parts, name

    def part(self, name: str) -> Any:
        if name not in self.parts:
            raise Invalid(f"{self.name} has no {name!r}: it has {', '.join(map(str, self.parts))}")
        return record(self.parts[name], f"{self.name}.{name}")

    def __str__(self) -> str:
        raise Invalid(f"{self.name} is no text: name the part that is meant")


class Snapshot(Record):
    """A snapshot: a name is looked for in the state, then among event, ledger, spec, caption, …"""

    def __init__(self, wire_form: dict[str, Any], name: str) -> None:
        super().__init__({**wire_form, **wire_form["state"]}, name)
        self.wire_form = wire_form


def record(x: Any, name: str) -> Any:
    return Record(x, name) if isinstance(x, Mapping) else x


class Run:
    """One run of a machine: `steps`, `spec`, and a snapshot for each step.

    >>> five = Run("five", {"machine": "online-softmax", "scores": "1,3,2", "format": "float64"})
    >>> five.part("steps"), five.at(-1).part("m"), round(five.at(2).part("event").part("alpha"), 3)
    (3, 3.0, 0.135)
    """

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        fields = {key: _field(value) for key, value in given.items()}
        asked = fields.pop("machine", None)
        if asked not in MACHINES:
            raise Invalid(f"run {name!r} names no machine: machine = one of {', '.join(MACHINES)}")
        self.name = name
        self.machine: Machine = MACHINES[asked]
        try:
            self.spec = parse(self.machine, fields, "post")
        except SpecError as error:
            raise Invalid(f"run {name!r}: {'; '.join(fault.message.rstrip('.') for fault in error.faults)}") from None
        self._run = runs.Run(self.machine, self.spec)
        self.steps = self._run.steps
        if self.steps > MAX_STEPS:
            raise Invalid(f"run {name!r} has {self.steps:,} steps: a lesson looks at up to {MAX_STEPS:,}; take larger blocks")
        self._fields = wire(fields_of(self.machine, self.spec))
        if self._numbers_given() * self.steps > MAX_WORK:
            raise Invalid(f"run {name!r} is too much work for a page: take fewer or shorter rows, or larger blocks")
        self._whole = False

    def part(self, name: str) -> Any:
        if name == "steps":
            return self.steps
        if name == "spec":
            return Record(self._fields, f"{self.name}.spec")
        raise Invalid(
            f"{self.name} is a run: write {self.name}[step].{name} for a snapshot's {name}, or {self.name}.steps, {self.name}.spec"
        )

    def at(self, step: Any) -> Snapshot:
        if isinstance(step, bool) or not isinstance(step, int) or not -self.steps - 1 <= step <= self.steps:
            raise Invalid(f"{self.name} has no step {step!r}: it has steps 0 to {self.steps}; -1 is the last")
        return Snapshot(self.snapshot(step if step >= 0 else self.steps + 1 + step), f"{self.name}[{step}]")

    def snapshot(self, step: int) -> dict[str, Any]:
        """The wire form of one step, from 0."""
        if self.steps <= ALL_AT_ONCE and not self._whole:
            for each in range(self.steps + 1):
                self._run.snapshot(each)
            self._whole = True
        return self._run.snapshot(step)

    @property
    def fits_page(self) -> bool:
        return fits(self.machine, self.spec, "page")

    def query(self, step: int) -> str:
        return query(self.machine, self.spec, step=step)

    def changed(self, fields: Mapping[str, Any]) -> "Run":
        """The same run with other fields. A field that follows another one goes on following it."""
        follows = {one.name for one in self.machine.fields if one.follows and self._fields.get(one.name) == self._fields[one.follows]}
        kept = {name: value for name, value in self._fields.items() if name not in follows}
        return Run(self.name, {"machine": self.machine.name, **kept, **fields})

    def __str__(self) -> str:
        raise Invalid(f"{self.name} is a run, no text: name the part that is meant")

    def _numbers_given(self) -> int:
        lists = [value for value in self._fields.values() if isinstance(value, list)]
        return max((len(rows) * (len(rows[0]) if rows and isinstance(rows[0], list) else 1) for rows in lists), default=1)


def _field(value: Any) -> Any:
    """A run's field as the spec's parser takes it: whole numbers as such, which an expression's arithmetic may have made floats."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e9 else value


class Data:
    """The JSON files of a lesson's data folder, each read once."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._read: dict[str, Any] = {}

    def read(self, name: Any) -> Any:
        """The file's content. Invalid where it is not there, outside the folder or no JSON."""
        if name not in self._read:
            file = inside(self.folder, name)
            if file is None or file.suffix != ".json":
                known = sorted(path.name for path in self.folder.glob("*.json")) if self.folder and self.folder.is_dir() else []
                raise Invalid(f"there is no data file {name!r}: {'use one of ' + ', '.join(known) if known else 'put it into data/'}")
            try:
                self._read[name] = wire(json.loads(file.read_text()))
            except ValueError as error:
                raise Invalid(f"data/{name} is not JSON: {error}") from None
            except OSError as error:
                raise Invalid(f"data/{name} cannot be read: {error.strerror}") from None
        return record(self._read[name], f"data({name!r})")
