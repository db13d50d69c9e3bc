"""How an embed may differ from the page: what its URL says besides a spec and a step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.machines import MACHINES
from app.specs import LAST_STEP, Fault, SpecError, chosen, clip, whole

THEMES = ("auto", "light", "dark")
CONTROLS = ("full", "step", "none")
LANGUAGES = ("en",)

_STEPS = ("reset", "back", "next", "range", "position")
_MORE = ("play", "speed", "share", "projector", "slow", "switches", "fields", "own", "beside", "apply", "presets", "sharing")
_PARTS = ("caption", "legend", "table", "phases", "ledger", "readout", "verdict", "exact", "note", "credit")
FIELDS = tuple(sorted({one.name for machine in MACHINES.values() for one in machine.fields}))
HIDEABLE = (*_STEPS, *_MORE, *_PARTS, *FIELDS)
NAMES = ("theme", "controls", "hide", "keys", "lang", "caption", "autoplay", "from", "to")
KEPT = ("view", *NAMES)  # what an address says besides a spec and a step, and goes on saying
IDLE = (*KEPT, "version")  # what no file of a copy goes by


@dataclass(frozen=True)
class Options:
    """The options as given, checked.

    theme     auto follows the reader's own setting
    hidden    names of what is left out: controls, fields and parts of HIDEABLE
    keys      whether keys step while focus is inside
    autoplay  whether it plays once it is seen, unless the reader wants less motion
    first, last   the part of the run that is shown, in steps; None: to its end
    embedded  whether it is an embed at all
    given     the options as they stood in the URL, to be kept through the forms of a reader without script
    """

    theme: str = "auto"
    hidden: frozenset[str] = frozenset()
    keys: bool = True
    lang: str = "en"
    autoplay: bool = False
    first: int = 0
    last: int | None = None
    given: dict[str, str] = field(default_factory=dict)
    embedded: bool = False


def options(given: Mapping[str, Any]) -> Options:
    """Options from a query. Raises SpecError, with a fault for each that is wrong.

    >>> found = options({"controls": "step", "hide": "legend,note", "caption": "0", "from": "2"})
    >>> "play" in found.hidden, "next" in found.hidden, {"legend", "note", "caption"} <= found.hidden, found.first
    (True, False, True, 2)
    >>> options({"theme": "sepia"})
    Traceback (most recent call last):
    app.specs.SpecError: theme: 'sepia' is not one of the choices; use one of auto, light, dark.
    """
    faults: list[Fault] = []

    def choice(name: str, choices: tuple[str, ...]) -> str:
        try:
            return chosen(given, name, choices)
        except SpecError as error:
            faults.extend(error.faults)
            return choices[0]

    def number(name: str, default: int | None) -> int | None:
        try:
            return whole(name, given[name], 0, LAST_STEP) if given.get(name) else default
        except SpecError as error:
            faults.extend(error.faults)
            return default

    theme, controls, lang = choice("theme", THEMES), choice("controls", CONTROLS), choice("lang", LANGUAGES)
    yes = {
        name: choice(name, choices) == "1" for name, choices in (("keys", ("1", "0")), ("caption", ("1", "0")), ("autoplay", ("0", "1")))
    }
    hide = [name.strip() for name in str(given.get("hide") or "").split(",") if name.strip()]
    for name in hide:
        if name not in HIDEABLE:
            message = f"hide: {clip(name)!r} is not one of the choices; use names from {', '.join(HIDEABLE)}."
            faults.append(Fault("not_a_choice", message, "hide", clip(name), list(HIDEABLE)))
    first, last = number("from", 0) or 0, number("to", None)
    if last is not None and last < first:
        message = f"to: '{last}' is not a step at or after from; give a step from {first} on, or leave it out."
        faults.append(Fault("out_of_range", message, "to", last, {"least": first}))
    if faults:
        raise SpecError(faults)
    hidden = {*hide, *(() if yes["caption"] else ("caption",))}
    if controls != "full":
        hidden |= {*_MORE, *(_STEPS if controls == "none" else ())}
    kept = {name: str(given[name]) for name in NAMES if given.get(name)}
    return Options(theme, frozenset(hidden), yes["keys"], lang, yes["autoplay"], first, last, kept, True)
