"""What an expression may look at: machines' runs, their snapshots, and JSON data. Nothing here has a method to call."""

import json
import time
from collections.abc import Mapping
from os.path import isfile
from pathlib import Path
from typing import Any

from app.lessons.problems import Invalid
from app.machines import MACHINES
from app.machines.run import Machine
from app.numbers import wire
from app.runs import snapshots
from app.specs import SpecError, fields_of, fits, parse, query

SECONDS = 20.0  # of computing that one lesson may take
MOST_STEPS = 4096  # of one run that a lesson may look at
FEW = 64  # steps up to which a run's snapshots are all made at once
MOST_WORK = 4_000_000  # rows · columns · steps of a run, so that no single one takes long


class Clock:
    """How much computing is left. `tick` is called before each bit of work.

    Time is this thread's own, so that a busy machine does not spend it.

    >>> Clock(0.0).tick()
    Traceback (most recent call last):
    ...
    app.lessons.problems.Invalid: this takes too long: 0 seconds of computing are allowed
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._since = time.thread_time()

    def start(self) -> None:
        """Begin anew, in the thread that computes."""
        self._since = time.thread_time()

    def tick(self) -> None:
        if time.thread_time() - self._since >= self.seconds:
            raise Invalid(f"this takes too long: {self.seconds:g} seconds of computing are allowed")


class Record:
    """An object with named parts, as JSON has them.

    >>> Record({"event": {"alpha": 0.5}}, "step 1").part("event").part("alpha")
    0.5
    """

    def __init__(self, parts: Mapping[str, Any], about: str) -> None:
        self._parts, self._about = parts, about

    def part(self, name: str) -> Any:
        if name not in self._parts:
            raise Invalid(f"{self._about} has no {name!r}: it has {', '.join(map(str, self._parts))}")
        return seen(self._parts[name], f"{self._about}.{name}")

    def __str__(self) -> str:
        raise Invalid(f"{self._about} is no text: name the part that is meant")

    @property
    def whole(self) -> Any:
        return self._parts


class Snapshot(Record):
    """A snapshot: a name is looked for in the state, then among event, ledger, spec, caption, …"""

    def __init__(self, snapshot: dict[str, Any], about: str) -> None:
        super().__init__({**snapshot, **snapshot["state"]}, about)
        self.snapshot = snapshot

    @property
    def whole(self) -> Any:
        return self.snapshot


def seen(x: Any, about: str) -> Any:
    return Record(x, about) if isinstance(x, Mapping) else x


class Run:
    """One run of a machine: `steps`, `spec`, and a snapshot for each step.

    >>> five = Run("five", {"machine": "online-softmax", "scores": "1,3,2", "format": "float64"}, Clock())
    >>> five.part("steps"), five.at(-1).part("m"), round(five.at(2).part("event").part("alpha"), 3)
    (3, 3.0, 0.135)
    """

    def __init__(self, name: str, given: Mapping[str, Any], clock: Clock) -> None:
        fields = dict(given)
        asked = fields.pop("machine", None)
        if asked not in MACHINES:
            raise Invalid(f"run {name!r} names no machine: machine = one of {', '.join(MACHINES)}")
        self.name, self.clock = name, clock
        self.machine: Machine = MACHINES[asked]
        clock.tick()
        try:
            self.spec = parse(self.machine, {key: _given(value) for key, value in fields.items()}, "post")
        except SpecError as error:
            raise Invalid(f"run {name!r}: {'; '.join(fault.message.rstrip('.') for fault in error.faults)}") from None
        self.steps = self.machine.steps(self.spec)
        if self.steps > MOST_STEPS:
            raise Invalid(f"run {name!r} has {self.steps:,} steps: a lesson looks at up to {MOST_STEPS:,}; take larger blocks")
        self._told = wire(fields_of(self.machine, self.spec))
        if self._size() * self.steps > MOST_WORK:
            raise Invalid(f"run {name!r} is too much work for a page: take fewer or shorter rows, or larger blocks")
        self._shots: dict[int, dict[str, Any]] = {}

    def part(self, name: str) -> Any:
        if name == "steps":
            return self.steps
        if name == "spec":
            return Record(self._told, f"{self.name}.spec")
        raise Invalid(
            f"{self.name} is a run: write {self.name}[step].{name} for a snapshot's {name}, or {self.name}.steps, {self.name}.spec"
        )

    def at(self, step: Any) -> Snapshot:
        return Snapshot(self.snapshot(self._place(step)), f"{self.name}[{step}]")

    def snapshot(self, step: int) -> dict[str, Any]:
        """The wire form of one step. Where there are few, all are made in one go."""
        if step not in self._shots:
            for shot in snapshots(self.machine, self.spec, 0 if self.steps <= FEW else step):
                self.clock.tick()
                self._shots[shot["step"]] = shot
                if self.steps > FEW:
                    break
        return self._shots[step]

    @property
    def shown(self) -> bool:
        """Whether the run fits on a page."""
        return fits(self.machine, self.spec, "page")

    def query(self, step: int) -> str:
        return query(self.machine, self.spec, step=step)

    def __str__(self) -> str:
        raise Invalid(f"{self.name} is a run, no text: name the part that is meant")

    def changed(self, fields: Mapping[str, Any]) -> "Run":
        """The same run with other fields."""
        return Run(self.name, {"machine": self.machine.name, **self._told_again(), **fields}, self.clock)

    def _told_again(self) -> dict[str, Any]:
        follows = {one.name for one in self.machine.fields if one.follows and self._told.get(one.name) == self._told[one.follows]}
        return {name: value for name, value in self._told.items() if name not in follows}

    def _place(self, step: Any) -> int:
        if isinstance(step, bool) or not isinstance(step, int) or not -self.steps - 1 <= step <= self.steps:
            raise Invalid(f"{self.name} has no step {step!r}: it has steps 0 to {self.steps}; -1 is the last")
        return step if step >= 0 else self.steps + 1 + step

    def _size(self) -> int:
        """About how many numbers the run is given."""
        lists = [value for value in self._told.values() if isinstance(value, list)]
        return max((len(rows) * (len(rows[0]) if rows and isinstance(rows[0], list) else 1) for rows in lists), default=1)


def _given(value: Any) -> Any:
    """A run's field as the spec's parser takes it: TOML's and an expression's numbers too."""
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
        return seen(self._read[name], f"data({name!r})")


def inside(folder: Path | None, name: Any) -> Path | None:
    """The file of that name in a folder; None where there is none, or where the name would lead out of it."""
    if folder is None or not isinstance(name, str) or not name or "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        return None
    file = folder / name
    return file if isfile(file) and file.resolve().parent == folder.resolve() else None
