"""A query as a run: parsed once, stepped once, and asked for its snapshots."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from app.charts.marks import Chart, changes_as_sent, still_as_sent
from app.machines.run import Machine, Moment, moments
from app.snapshot import MAX_BYTES, MAX_COUNT, NoSuchStep, encode, told_of, wire_of
from app.specs import SpecError, known_version, parse, pasted_in, query, text
from app.stories import BY_NAME
from app.stories.record import Shot, Widget
from app.stories.voice import SPOKEN, WRITTEN

BRACES = 200  # bytes of JSON that a run has beside its snapshots


def default_data(machine: Machine, given: Mapping[str, Any]) -> dict[str, str]:
    """The data a page or a figure shows where its URL gives none: the whole example, so that scores and values belong together.

    >>> from app.machines import MACHINES
    >>> default_data(MACHINES["online-softmax"], {"format": "float16"})
    {'scores': '6,5,7,6,7,9,8,6'}
    >>> default_data(MACHINES["tiled-attention"], {"seed": "1"})
    {}
    >>> default_data(MACHINES["tiled-attention"], {"q": "1,2;", "k": "1,0;", "v": "1,1;"})  # and no scale of the example's
    {}
    """
    if any(one.data and one.kind != "choice" and given.get(one.name) for one in machine.fields):
        return {}
    return {name: text(value) for name, value in BY_NAME[machine.name].presets[0].given.items()}


def spec_of(machine: Machine, given: Mapping[str, Any], *, pasted: bool = False) -> Any:
    """The spec that a page's or a figure's query names; what is no field of the machine is left alone. Raises SpecError.

    pasted  whether its fields may hold what people paste, as a page's form does

    >>> from app.machines import MACHINES
    >>> spec_of(MACHINES["online-softmax"], {"format": "float16", "step": "3"}).scores[:2]
    (6.0, 5.0)
    """
    known_version(machine, given)
    return parse(machine, {**default_data(machine, given), **given}, "page", strict=False, pasted=pasted)


def rewritten(machine: Machine, given: Mapping[str, Any]) -> str | None:
    """The canonical query for one that says its spec as people paste it; None where the query reads as it stands, or cannot be read.

    >>> from app.machines import MACHINES
    >>> rewritten(MACHINES["online-softmax"], {"scores": "[1.0, 3.0]", "block": "2"})
    'scores=1,3&format=float32&block=2'
    >>> rewritten(MACHINES["online-softmax"], {"scores": "1, 3"})
    """
    if not pasted_in(machine, given):
        return None
    try:
        spec = spec_of(machine, given, pasted=True)
    except SpecError:
        return None
    with suppress(SpecError):
        if repr(spec_of(machine, given)) == repr(spec):
            return None
    return query(machine, spec)


class Run:
    """A spec and its machine, stepped as far as somebody asked, once. Each snapshot is made when it is first asked for.

    >>> from app.machines import MACHINES
    >>> run = Run(MACHINES["online-softmax"], MACHINES["online-softmax"].spec(scores=(1.0, 3.0, 2.0)))
    >>> run.steps, run.snapshot(2)["state"]["m"], run.part(1, 2).count
    (3, 3.0, 2)
    """

    def __init__(self, machine: Machine, spec: Any) -> None:
        self.machine, self.spec = machine, spec
        self.widget: Widget = BY_NAME[machine.name]
        self.steps = machine.steps(spec)
        self._shots: dict[int, Shot[Any, Any, Any]] = {}
        self._wired: dict[int, dict[str, Any]] = {}
        self._encoded: dict[int, bytes] = {}
        self._charts: dict[int, tuple[Chart, ...]] = {}
        self._told = told_of(machine, spec)
        self._begin()

    def snapshot(self, step: int) -> dict[str, Any]:
        """The state at a step as it is sent. Raises NoSuchStep past the end."""
        if step not in self._wired:
            self._wired[step] = wire_of(self.shot(step), self._told)
        return self._wired[step]

    def shot(self, step: int) -> Shot[Any, Any, Any]:
        """The state at a step. Raises NoSuchStep past the end."""
        if step not in self._shots:
            if step > self.steps:
                raise NoSuchStep(step, self.steps)
            if step < self._next:  # passed without being asked for: a view remembers, so it must see the run again
                self._begin()
            while self._next <= step:
                moment = next(self._coming)
                self._view.see(moment)
                self._next += 1
            view, widget = self._view, self.widget
            written, spoken = (widget.sentence(voice, self.spec, moment) + widget.aside(view, voice) for voice in (WRITTEN, SPOKEN))
            self._shots[step] = Shot(
                self.machine, self.spec, step, self.steps, view.event(), view.state(), moment.ledger, written, spoken, view.words()
            )
        return self._shots[step]

    def encoded(self, step: int) -> bytes:
        """The state at a step as JSON."""
        if step not in self._encoded:
            self._encoded[step] = encode(self.snapshot(step))
        return self._encoded[step]

    def charts(self, step: int) -> tuple[Chart, ...]:
        """The picture of a step as data; nothing where its widget has none."""
        if step not in self._charts:
            self._charts[step] = self.widget.charts(self.shot(step)) if self.widget.charts else ()
        return self._charts[step]

    def drawn(self, step: int) -> bytes:
        """The state at a step as JSON, with what its charts have that those of step 0 have not."""
        first = self.charts(0)
        if not first:
            return self.encoded(step)
        changes = {one.name: changes_as_sent(one, before) for one, before in zip(self.charts(step), first, strict=True)}
        return self.encoded(step)[:-1] + b',"charts":' + encode(changes) + b"}"

    def swept(self, step: int) -> bytes:
        """The state at a step for each position of its widget's slider, as JSON: charts are told apart from those of step 0 here."""
        if self.widget.slider is None:
            return b'{"field":"","values":[],"charts":{},"snapshots":[]}'
        field, positions = self.widget.slider
        first, found = self.charts(0), []
        turn: dict[str, object] = {}
        for position in positions:
            other = Run(self.machine, replace(self.spec, **{field: float(position)}))
            if self.widget.turns and not turn and self.widget.turns[0](other.shot(step)):
                turn = {"at": position, "said": self.widget.turns[1](self.spec, position)}
            changes = {one.name: changes_as_sent(one, before) for one, before in zip(other.charts(step), first, strict=True)}
            found.append(other.encoded(step)[:-1] + b',"charts":' + encode(changes) + b"}")
        told = encode({one.name: still_as_sent(one) for one in first})
        head = b'{"field":%b,"values":%b,"turn":%b,"charts":%b' % (encode(field), encode(list(positions)), encode(turn), told)
        return head + b',"snapshots":[' + b",".join(found) + b"]}"

    def part(self, start: int, count: int = MAX_COUNT, most_bytes: int = MAX_BYTES, *, charts: bool = False) -> "Part":
        """At most `count` steps, and fewer where `most_bytes` of JSON run out; never none. `charts`: with their charts, for scripts that draw."""
        size, end = BRACES, start
        while end < min(start + count, self.steps + 1):
            size += len(self.drawn(end) if charts else self.encoded(end)) + 1
            if end > start and size > most_bytes:
                break
            end += 1
        return Part(self, start, end - start, charts)

    def around(self, step: int, most_bytes: int) -> "Part":
        """The part that a page at this step carries, charts and all: from the start, or where the step is far from it, around it."""
        self.charts(0)  # before a later step, so that the run is not made twice
        first = step // MAX_COUNT * MAX_COUNT
        if (step - first) * len(self.encoded(first)) > most_bytes:  # as large as it is, the part would end before this step
            return self.part(step, MAX_COUNT, most_bytes, charts=True)
        found = self.part(first, MAX_COUNT, most_bytes, charts=True)
        return found if step < first + found.count else self.part(step, MAX_COUNT, most_bytes, charts=True)

    def _begin(self) -> None:
        self._next, self._view = 0, self.widget.view(self.spec)
        self._coming: Iterator[Moment] = moments(self.machine, self.spec)


@dataclass(frozen=True)
class Part:
    """Some steps of a run, in a row: from `start`, `count` of them."""

    run: Run
    start: int
    count: int
    charts: bool = False

    @property
    def json(self) -> bytes:
        """As the API answers it, each snapshot encoded once whoever asks."""
        one = self.run.drawn if self.charts else self.run.encoded
        shots = b",".join(map(one, range(self.start, self.start + self.count)))
        return b'{"steps":%d,"start":%d,"count":%d,"snapshots":[%b]}' % (self.run.steps, self.start, self.count, shots)


def shot(machine: Machine, spec: Any, step: int) -> Shot[Any, Any, Any]:
    """The state at one step; NoSuchStep past the end.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> found = shot(online, online.spec(scores=(1.0, 3.0)), 2)
    >>> found.event.new_max, found.state.m, round(found.state.l, 3)
    (True, 3.0, 1.135)
    """
    return Run(machine, spec).shot(step)


def shots(machine: Machine, spec: Any, start: int = 0, only: Collection[int] | None = None) -> Iterator[Shot[Any, Any, Any]]:
    """States from step `start` on, or of these of them alone, each made when asked for."""
    made = Run(machine, spec)
    if start > made.steps:
        raise NoSuchStep(start, made.steps)
    return (made.shot(step) for step in range(start, made.steps + 1) if only is None or step in only)


def snapshot(machine: Machine, spec: Any, step: int) -> dict[str, Any]:
    """The snapshot at one step; NoSuchStep past the end.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> shot = snapshot(online, online.spec(scores=(1.0, 3.0)), 2)
    >>> shot["event"]["new_max"], shot["state"]["m"], round(shot["state"]["l"], 3), shot["links"]["self"]
    (True, 3.0, 1.135, 'api/v1/machines/online-softmax/snapshots/2?scores=1,3&format=float32')
    """
    return Run(machine, spec).snapshot(step)


def snapshots(machine: Machine, spec: Any, start: int = 0) -> Iterator[dict[str, Any]]:
    """Snapshots from step `start` on, as they are sent, each made when asked for."""
    made = Run(machine, spec)
    if start > made.steps:
        raise NoSuchStep(start, made.steps)
    return map(made.snapshot, range(start, made.steps + 1))


def run(machine: Machine, spec: Any, start: int, count: int, most_bytes: int = MAX_BYTES, *, charts: bool = False) -> Part:
    """A run of snapshots, as the API answers it; with their charts, for scripts that draw.

    >>> from app.machines import MACHINES
    >>> online = MACHINES["online-softmax"]
    >>> part = run(online, online.spec(scores=(1.0, 3.0, 2.0)), 1, 2)
    >>> part.start, part.count, part.json[:50]
    (1, 2, b'{"steps":3,"start":1,"count":2,"snapshots":[{"mach')
    """
    made = Run(machine, spec)
    if start > made.steps:
        raise NoSuchStep(start, made.steps)
    if charts:
        made.charts(0)
    return made.part(start, count, most_bytes, charts=charts)
