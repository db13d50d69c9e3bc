"""The noun of the house: a widget is one record, written at the end of the file that tells its story."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from app.charts.marks import Chart
from app.machines.arithmetic import Ledger
from app.machines.run import Machine, Moment
from app.stories.voice import Voice

S = TypeVar("S")  # a machine's spec
E = TypeVar("E")  # its view's event
T = TypeVar("T")  # and state
Draw = Callable[["AnyShot"], Any]
Box = tuple[float, float, float, float]  # x, y, width, height in a figure


class View(Protocol):
    """What one machine's run looks like. `see` is shown every moment in order; event (None at step 0) and state describe the last one.

    form_name                how the OpenAPI document calls it
    event_type, state_type   dataclasses of wire_types.Told: what event and state are of
    """

    form_name: str
    event_type: type[Any]
    state_type: type[Any]

    def __init__(self, spec: Any) -> None: ...
    def see(self, moment: Moment) -> None: ...
    def event(self) -> Any: ...
    def state(self) -> Any: ...
    def words(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class Shot(Generic[S, E, T]):
    """One state of a run, with everything that is shown of it. A drawing, a card and a table are functions of one Shot."""

    machine: Machine
    spec: S
    step: int
    steps: int
    event: E
    state: T
    ledger: Ledger
    caption: str
    spoken: str
    words: Mapping[str, str]

    @property
    def done(self) -> bool:
        return self.step == self.steps


AnyShot = Shot[Any, Any, Any]


@dataclass(frozen=True)
class Preset:
    """A starting point, and one line on what to look for; `quotes` computes the numbers that stand in braces in that line."""

    machine: Machine
    name: str
    title: str
    said: str
    given: dict[str, Any]
    quotes: Callable[[Any], Mapping[str, str]] | None = None

    @property
    def spec(self) -> Any:
        return self.machine.spec(**self.given)

    @property
    def look_for(self) -> str:
        return self.said.format(**self.quotes(self.spec)) if self.quotes else self.said


def presets(
    machine: Machine, rows: Sequence[tuple[str, str, str, dict[str, Any]]], quotes: Callable[[Any], Mapping[str, str]] | None = None
) -> tuple[Preset, ...]:
    """A table of (name, title, what to look for, fields) as presets; the first is what a page shows where its URL gives no data."""
    return tuple(Preset(machine, *row, quotes) for row in rows)


def vector(*numbers: float) -> tuple[float, ...]:
    """
    >>> vector(1, 2)
    (1.0, 2.0)
    """
    return tuple(map(float, numbers))


@dataclass(frozen=True)
class Other:
    """A second run to lay beside the first, and which step of it belongs to each step of the first."""

    name: str
    title: str
    machine: Machine
    spec: Any
    steps: list[int]


@dataclass(frozen=True)
class Trial:
    """What the self-test runs to its end, and what mathematics says stands at a path of its state."""

    what: str
    given: Mapping[str, Any]
    path: str
    exact: Any


@dataclass(frozen=True)
class Picture:
    """A figure of a widget's states: its address's name, its title, and what is drawn, which templates/figures/{name}.svg draws."""

    name: str
    title: str
    machine: Machine
    draw: Draw


@dataclass(frozen=True)
class Load:
    """About what a run costs to make: numbers touched from its start to its end, numbers in one snapshot, what a step costs beside,
    and what its page computes besides the run."""

    touched: int
    shown: int
    step: int
    page: int = 0


_ROWS = 12  # how often a number of a row is touched: rounded, compared, measured, weighted, beside the exact one


def row_load(spec: Any) -> Load:
    """Of a row of scores, with or without values."""
    values = getattr(spec, "values", None)
    width = len(values[0]) if values and isinstance(values[0], tuple) else int(bool(values))
    numbers = len(spec.scores) * (1 + width)
    return Load(_ROWS * numbers, numbers + 9 * len(spec.scores), 200)


def table_load(spec: Any) -> Load:
    """Of queries that each meet every key. A step is mostly NumPy's calls, and there are more where a format is no type of NumPy's."""
    step = 1_000 if {form.name for form in spec.forms} <= {"float16", "float32", "float64"} else 1_500
    return Load(spec.n_q * spec.n_k * (spec.d + spec.d_v), spec.n_q * (2 * spec.n_k + 3 * spec.d_v), step)


def _nothing(*given: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Widget:
    """All that the site knows of one machine beside its arithmetic. Only `machine`, `view` and `sentence` are needed for the API;
    `draw` gives it a page, a picture, an embed and all that loops over pages.

    sentence      one sentence for a moment, written or spoken
    aside         what the sentence is followed by, from what the view has seen so far; "" for nothing
    presets       starting points; the first is the default
    charts        its picture as data, from a snapshot: what pages, files and scripts draw
    draw          what stands in its picture, from a snapshot, where that is no chart
    pictures      more pictures: what their name adds, title, draw
    nav, pitch    its name in the navigation, and a line for the home page
    hero          the step of the default that the home page shows
    frame         what the script needs to know besides snapshots, from spec and what makes the drawing
    more          what the template shows besides the snapshot, which no step changes
    beside        a second run on the same inputs, by the name that a URL gives it
    kept          fields that a preset leaves as they are
    crop, facts   the part of its picture that a link's card shows, and the numbers beside it
    caption_width pixels that a picture's caption may take before it is broken
    drawn_only    names in event and state that are for drawing, or the input again: a table of the run leaves them out
    frame_height  of an embed whose host does not listen, in pixels
    scripts, styles   that its page loads besides what every widget does
    slider        a number field whose positions a copy without a server holds: its name and its positions
    turns         what a state at one of the slider's positions may turn into, and the sentence for the first at which it has
    load          about what a run of a spec costs
    trials        what the self-test runs
    """

    machine: Machine
    view: type[View]
    sentence: Callable[[Voice, Any, Moment], str]
    aside: Callable[[Any, Voice], str] = lambda view, voice: ""
    presets: tuple[Preset, ...] = ()
    charts: Callable[[Any], tuple[Chart, ...]] | None = None
    draw: Draw | None = None
    pictures: tuple[tuple[str, str, Draw], ...] = ()
    nav: str = ""
    pitch: str = ""
    hero: int | None = None
    frame: Callable[[Any, Callable[[], Any]], dict[str, Any]] = _nothing
    more: Callable[[Any], Any] = _nothing
    beside: Callable[[Any, str], Other | None] = lambda spec, name: None
    kept: tuple[str, ...] = ()
    crop: Callable[[Any, tuple[float, float]], Box] | None = None
    facts: Callable[[AnyShot], list[tuple[str, str]]] = lambda shot: []
    caption_width: float = 700
    drawn_only: frozenset[str] = frozenset()
    frame_height: int = 700
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    slider: tuple[str, range] | None = None
    turns: tuple[Callable[[Any], bool], Callable[[Any, float], str]] | None = None
    load: Callable[[Any], Load] = row_load
    trials: Callable[[], Iterator[Trial]] = lambda: iter(())

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def drawn(self) -> tuple[Picture, ...]:
        """Its pictures; none where it has no page."""
        draw = self.charts or self.draw
        if draw is None:
            return ()
        return (
            Picture(self.name, self.machine.title, self.machine, draw),
            *(Picture(f"{self.name}-{more}", title, self.machine, draw) for more, title, draw in self.pictures),
        )
