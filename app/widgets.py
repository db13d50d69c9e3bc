"""A widget as its URL describes it: everything that its template draws and its script starts from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app import snapshots
from app.embedding import Options
from app.figures import DRAWN
from app.figures import merge as merge_figure
from app.figures import online as online_figure
from app.machines import MACHINES, passes, tiled
from app.machines.run import Machine
from app.numbers import wire
from app.presets import PRESETS, spec_of
from app.snapshots import MAX_COUNT
from app.snapshots.look import look
from app.specs import Fault, SpecError, fields_of, known_version, parse, query, text, whole

RUN_BYTES = 250_000  # of the run inlined in a page; the rest is fetched ahead
LAST_STEP = 10**6
MANY = 1000  # scores of the longer row that passes are counted on


@dataclass(frozen=True)
class Widget:
    """A snapshot, the run beside it, its figure and its form as last typed.

    frame   what the script needs to know besides snapshots, such as an axis
    beside  a second run to lay beside the first, with its own snapshot
    """

    machine: Machine
    spec: Any
    shot: dict[str, Any]
    run: dict[str, Any]
    panels: Any
    frame: dict[str, Any]
    typed: dict[str, str]
    faults: dict[str, Fault]
    uid: str
    beside: "Beside | None" = None
    fields: dict[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    @property
    def first(self) -> int:
        """The first step that is shown."""
        return min(self.options.first, self.last)

    @property
    def last(self) -> int:
        """The last step that is shown."""
        steps: int = self.shot["steps"]
        return steps if self.options.last is None else min(self.options.last, steps)

    @property
    def template(self) -> str:
        return f"widgets/{self.machine.name}.html"

    @property
    def presets(self) -> list[dict[str, str]]:
        return [
            {"title": one.title, "look_for": one.look_for, "query": query(self.machine, one.spec, step=0)}
            for one in PRESETS.get(self.machine.name, ())
        ]

    @property
    def data(self) -> dict[str, Any]:
        """What the page carries for the script."""
        found = {"run": self.run, "frame": self.frame}
        return found | {"beside": {"run": self.beside.run, "steps": self.beside.steps}} if self.beside else found

    @property
    def extra(self) -> str:
        """What a link to this page says besides spec and step."""
        return f"&beside={self.beside.name}" if self.beside else ""

    @property
    def more(self) -> Any:
        """What its template shows besides the snapshot, which no step changes."""
        return MORE[self.machine.name](self.spec)

    @property
    def clears(self) -> dict[str, list[str]]:
        """For each field the fields that say the same in another way, which a form empties when this one is filled."""
        fields = self.machine.fields
        instead = [one.name for one in fields if one.stands_in]
        data = [one.name for one in fields if one.data and one.kind != "choice" and not one.stands_in]
        found = {one.name: data if one.stands_in else instead if one.name in data else [] for one in fields}
        for one in fields:
            if one.yields:
                found[one.name], found[one.yields] = [one.yields], [one.name]
        return found

    def look(self, path: str, row: int | None = None, col: int | None = None) -> Any:
        return look(self.shot, path, row, col)

    def changed(self, **fields: Any) -> str:
        """The query of this spec with some fields changed (None: left out), for a switch that is a link; from the start."""
        given = {**{name: text(value) for name, value in fields_of(self.machine, self.spec).items()}, **fields}
        spec = parse(self.machine, {name: value for name, value in given.items() if value is not None}, "page", strict=False)
        return query(self.machine, spec, step=0)


@dataclass(frozen=True)
class Beside:
    """A second machine on the same inputs, laid beside the first.

    name    what was asked for: "other" (algorithm) or "standard"
    title   what it is called
    steps   which step of it belongs to each step of the first
    """

    name: str
    title: str
    steps: list[int]
    shot: dict[str, Any]
    run: dict[str, Any]


FRAMES: dict[str, Callable[[Any, dict[str, Any], Any], dict[str, Any]]] = {
    "online-softmax": lambda spec, shot, panels: online_figure.frame(shot, panels["exps"]),
    "tiled-attention": lambda spec, shot, panels: tiled_frame(spec),
}

MORE: dict[str, Callable[[Any], Any]] = {
    "softmax-passes": lambda spec: {
        "here": passes.side_by_side(spec), "many": passes.of_random(MANY), "n": MANY, "ops": passes.METHODS[spec.method],
    },
    "merge": lambda spec: merge_figure.tree(len(spec.spans), spec.plan, spec.order),
}  # fmt: skip


def widget(name: str, given: dict[str, Any], uid: str = "w", options: Options | None = None) -> Widget:
    """A widget by its URL's names, at the first step shown where none is given. With faults in them: the default, the form as typed, and the faults beside it.

    >>> found = widget("online-softmax", {"scores": "1,3,2", "step": "2"})
    >>> found.shot["step"], found.run["count"], found.faults
    (2, 4, {})
    >>> list(widget("online-softmax", {"scores": "1,x"}).faults)
    ['scores']
    """
    machine = MACHINES[name]
    known_version(machine, given)
    asked = {one.name: given[one.name] for one in machine.fields if one.name in given}
    faults: list[Fault] = []
    options = options or Options()
    spec, step = PRESETS[name][0].spec, 0
    try:
        spec = spec_of(machine, asked)
        step = whole("step", given.get("step"), 0, LAST_STEP, min(options.first, machine.steps(spec)))
    except SpecError as error:
        faults = error.faults
    shot = snapshots.snapshot(machine, spec, step)
    panels = DRAWN[name](shot)
    frame = FRAMES[name](spec, shot, panels) if name in FRAMES else {}
    typed = typed_in(machine, spec) | {name: str(value) for name, value in asked.items() if faults}
    beside = beside_of(spec, step, given.get("beside", "")) if name == "tiled-attention" else None
    by_field = {one.field: one for one in faults}
    fields = {one.name: one for one in machine.fields}
    return Widget(machine, spec, shot, part(machine, spec, step), panels, frame, typed, by_field, uid, beside, fields, options)


def typed_in(machine: Machine, spec: Any) -> dict[str, str]:
    """The form's fields for a spec; one that only follows another, or that another says too, stays empty."""
    known = fields_of(machine, spec)
    follows = {one.name for one in machine.fields if one.follows and known.get(one.name) == known[one.follows]}
    follows |= {one.name for one in machine.fields if one.yields in known}
    return {name: text(value) for name, value in known.items() if name not in follows}


def part(machine: Machine, spec: Any, step: int) -> dict[str, Any]:
    """The part of a run that a page at this step carries: from the start, or where the step is far from it, around it."""
    first = step // MAX_COUNT * MAX_COUNT
    found = snapshots.run(machine, spec, first, MAX_COUNT, RUN_BYTES)
    return found if step < first + found["count"] else snapshots.run(machine, spec, step, MAX_COUNT, RUN_BYTES)


def tiled_frame(spec: tiled.Spec) -> dict[str, Any]:
    """The rounded inputs, the shape of the map, and which numbers make which, as the machine declares it."""
    form = spec.forms[0]
    q, k, v = (form.round_array(x).tolist() for x in (spec.q, spec.k, spec.v))
    found: dict[str, Any] = wire({"q": q, "k": k, "v": v, "block": [spec.block_q, spec.block_k], "factor": spec.factor})
    return found | {"made_of": tiled.MADE_OF if spec.algorithm == "fa2" else tiled.MADE_OF_FA1}


def beside_of(spec: tiled.Spec, step: int, name: str) -> Beside | None:
    """The other algorithm, or the standard way, on the same tiles."""
    if name not in ("other", "standard"):
        return None
    last = MACHINES["tiled-attention"].steps(spec)
    if name == "standard":
        machine, other, title = MACHINES["standard-attention"], spec, "The standard way: whole tables"
        steps = [min(one, machine.steps(spec)) for one in range(last + 1)]
    else:
        machine, other = MACHINES["tiled-attention"], tiled.other_algorithm(spec)
        title = f"{other.algorithm} on the same tiles"
        steps = [tiled.same_tiles(spec, one) for one in range(last + 1)]
    shot = snapshots.snapshot(machine, other, steps[step])
    return Beside(name, title, steps, shot, part(machine, other, steps[step]))
