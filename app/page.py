"""A widget as its URL describes it: everything that its template draws and its script starts from."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markupsafe import Markup

from app.charts.marks import still_as_sent
from app.embedding import Options
from app.look import look
from app.machines.run import Machine
from app.runs import Part, Run, spec_of
from app.snapshot import NoSuchStep, encode
from app.specs import LAST_STEP, Fault, SpecError, fields_of, known_version, parse, query, text, whole
from app.stories import BY_NAME
from app.stories.record import Other, Widget
from app.templates import inert

RUN_BYTES = 250_000  # of the run inlined in a page; the rest is fetched ahead
FIRST, FIRST_ROWS, FIRST_IN_ROW = 6, 3, 4  # numbers that are shown of what was read


@dataclass(frozen=True)
class WidgetPage:
    """A snapshot, the run beside it, its figure and its form as last typed.

    run     the part of it that the page carries; whole: all of it, made as far as it was asked for
    beside  a second run to lay beside the first, with its own snapshot
    """

    widget: Widget
    spec: Any
    shot: dict[str, Any]
    run: Part
    whole: Run
    typed: dict[str, str]
    faults: dict[str, Fault]
    uid: str
    beside: "Beside | None" = None
    fields: dict[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    @property
    def machine(self) -> Machine:
        return self.widget.machine

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
        kept = {name: getattr(self.spec, name) for name in self.widget.kept}
        return [
            {"title": one.title, "look_for": one.look_for, "query": query(self.machine, self.machine.spec(**one.given, **kept), step=0)}
            for one in self.widget.presets
        ]

    @property
    def data(self) -> Markup:
        """What the page carries for the script, as JSON that may stand inside a script element."""
        found = b'{"run":%b,"frame":%b' % (self.run.json, encode(self.frame))
        if self.beside:
            found += b',"beside":{"run":%b,"steps":%b}' % (self.beside.run.json, encode(self.beside.steps))
        return inert(found + b"}")

    @property
    def extra(self) -> str:
        """What a link to this page says besides spec and step."""
        return f"&beside={self.beside.name}" if self.beside else ""

    @cached_property
    def panels(self) -> Any:
        """Its picture as data, drawn where its template asks for it: a page of tables only does not."""
        return self.widget.draw(self.whole.shot(self.shot["step"])) if self.widget.draw else None

    @cached_property
    def frame(self) -> dict[str, Any]:
        """What the script needs to know besides snapshots, such as an axis."""
        charts = {one.name: still_as_sent(one) for one in self.whole.charts(0)}
        return self.widget.frame(self.spec, lambda: self.panels) | ({"charts": charts} if charts else {})

    @cached_property
    def charts(self) -> dict[str, Any]:
        """The charts of its state, by name."""
        return {one.name: one for one in self.whole.charts(self.shot["step"])}

    @cached_property
    def more(self) -> Any:
        """What its template shows besides the snapshot, which no step changes."""
        return self.widget.more(self.spec)

    @property
    def canonical(self) -> str:
        return canonical(self.widget, self.spec)

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

    def read(self, name: str) -> dict[str, Any] | None:
        """What a field's text was read as: how many numbers or rows, of what width, and the first of them. None where it has none, or with faults."""
        value = None if self.faults else fields_of(self.machine, self.spec).get(name)
        if value is None:
            return None
        table = isinstance(value[0], tuple)
        rows = (
            [", ".join(map(text, row[:FIRST_IN_ROW])) + (", …" if len(row) > FIRST_IN_ROW else "") for row in value[:FIRST_ROWS]]
            if table
            else []
        )
        first = "; ".join(rows) if table else ", ".join(map(text, value[:FIRST]))
        more = len(value) > (FIRST_ROWS if table else FIRST)
        return {"count": len(value), "width": len(value[0]) if table else 0, "first": first + ("; …" if table else ", …") * more}

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
    run: Part


def page_of(name: str, given: dict[str, Any], uid: str = "w", options: Options | None = None) -> WidgetPage:
    """A widget by its URL's names, at the first step shown where none is given. With faults in them: the default, the form as typed, and the faults beside it.

    >>> found = page_of("online-softmax", {"scores": "1,3,2", "step": "2"})
    >>> found.shot["step"], found.run.count, found.faults
    (2, 4, {})
    >>> list(page_of("online-softmax", {"scores": "1,x"}).faults)
    ['scores']
    """
    record = BY_NAME[name]
    machine = record.machine
    known_version(machine, given)
    asked = {one.name: given[one.name] for one in machine.fields if one.name in given}
    faults: list[Fault] = []
    options = options or Options()
    spec, step = record.presets[0].spec, 0
    try:
        spec = spec_of(machine, asked, pasted=True)
        step = whole("step", given.get("step"), 0, LAST_STEP, min(options.first, machine.steps(spec)))
    except SpecError as error:
        faults = error.faults
    run = Run(machine, spec)
    if step > run.steps:
        raise NoSuchStep(step, run.steps)
    first, last = min(options.first, run.steps), run.steps if options.last is None else min(options.last, run.steps)
    if given.get("step") and not faults and not first <= step <= last:
        message = f"step: '{step}' is not one of the steps shown; give a whole number from {first} to {last}."
        raise SpecError([Fault("out_of_range", message, "step", step, {"least": first, "most": last})])
    inlined = run.around(step, RUN_BYTES)
    shot = run.snapshot(step)
    typed = typed_in(machine, spec) | {name: str(value) for name, value in asked.items() if faults}
    beside = beside_of(record.beside(spec, given.get("beside", "")), step)
    by_field = {one.field: one for one in faults}
    fields = {one.name: one for one in machine.fields}
    return WidgetPage(record, spec, shot, inlined, run, typed, by_field, uid, beside, fields, options)


def canonical(record: Widget, spec: Any) -> str:
    """The page that search engines keep for a spec, relative to the site's root: a preset's own, and the plain page for the first one and for own data.

    >>> online = BY_NAME["online-softmax"]
    >>> canonical(online, online.presets[0].spec), canonical(online, online.machine.spec(scores=(1.0, 3.0)))
    ('widgets/online-softmax', 'widgets/online-softmax')
    >>> canonical(online, online.presets[1].spec)
    'widgets/online-softmax?scores=1,3,2,5,4&values=10,20,30,40,50&format=float32&step=0'
    """
    known = [query(record.machine, one.spec) for one in record.presets[1:]]
    given = query(record.machine, spec)
    return f"widgets/{record.name}" + (f"?{given}&step=0" if given in known else "")


def typed_in(machine: Machine, spec: Any) -> dict[str, str]:
    """The form's fields for a spec; one that only follows another, or that another says too, stays empty."""
    known = fields_of(machine, spec)
    follows = {one.name for one in machine.fields if one.follows and known.get(one.name) == known[one.follows]}
    follows |= {one.name for one in machine.fields if one.yields in known}
    return {name: text(value) for name, value in known.items() if name not in follows}


def beside_of(other: Other | None, step: int) -> Beside | None:
    """The run beside this one, at the step that belongs to this one's."""
    if other is None:
        return None
    run = Run(other.machine, other.spec)
    inlined = run.around(other.steps[step], RUN_BYTES)
    return Beside(other.name, other.title, other.steps, run.snapshot(other.steps[step]), inlined)
