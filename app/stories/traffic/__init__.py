"""Memory traffic: what moves between slow and fast memory, walked on a small example, and at any size."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.machines.accuracy import distances
from app.machines.traffic import MACHINE, TOKENS, WIDTH, Spec
from app.stories.record import Load, Trial, Widget, presets
from app.stories.traffic import chart, growth
from app.stories.traffic.shown import TrafficView
from app.stories.traffic.sized import sized
from app.stories.traffic.words import sentence

# In braces: what `Sized.figures` computes for the preset's own spec.
_PRESETS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("default", "32,768 tokens", "The table of scores alone takes {table} a head in float32; the tiled ways store none of it.", {}),
    ("small", "Small enough to run", "At {n} tokens all three ways are run on the server, and their ledgers are what you see.",
     {"n": 64, "d": 16, "memory": 1024, "block_q": 16, "block_k": 16}),
    ("chip", "A chip that holds 98,304 numbers", "As a chip of {chip} does in float16: FA1’s tiles have {rows} queries by {keys} keys, and {fa1} of what the standard way moves is moved.",
     {"n": 4096, "memory": 98304, "format": "float16"}),
    ("wide", "Where FA1’s order moves more", "Wide queries on the same chip: only {keys} keys fit at a time, so Q and O pass {passes} times; FA1’s order moves {fa1} of what the standard way moves, FA2’s {fa2}.",
     {"n": 1024, "d": 128}),
    ("narrow", "A chip too small for either", "{keys} keys or {block_q} queries fit at a time: FA1’s order moves {fa1} of what the standard way moves, FA2’s {fa2}. What they set aside stays small.",
     {"n": 1024, "d": 128, "memory": 16384, "block_q": 32, "block_k": 32}),
    ("heads", "32 heads, 131,072 tokens", "The tables would need {tables}; what FA2’s order sets aside takes {aside}.",
     {"n": 131072, "d": 128, "memory": 98304, "format": "bfloat16", "heads": 32}),
]  # fmt: skip


def _figures(spec: Spec) -> Mapping[str, str]:
    return sized(spec).figures


def _trials() -> Iterator[Trial]:
    moved = 4 * TOKENS * WIDTH + 4 * TOKENS**2  # Q, K, V and O once; S and P, each written and read
    yield Trial("walked the standard way", {"way": "standard"}, "moved", moved)


def _load(spec: Spec) -> Load:
    """The walk is the same for every size; the first page of all runs attention in every format besides."""
    return Load(TOKENS * TOKENS * WIDTH, 20 * TOKENS, 200, page=0 if distances.cache_info().currsize else 1_000_000)


WIDGET = Widget(
    machine=MACHINE,
    view=TrafficView,
    sentence=lambda voice, spec, moment: sentence(voice, spec.way, moment),
    presets=presets(MACHINE, _PRESETS, _figures),
    charts=chart.charts,
    nav="Memory traffic",
    pitch="what moves between slow and fast memory, from eight tokens to 131,072.",
    frame=lambda spec, panels: growth.frame(spec, sized(spec).growth),
    more=sized,
    kept=("way",),
    drawn_only=frozenset({"slow", "chip", "marks", "said"}),
    load=_load,
    styles=("css/traffic.css",),
    trials=_trials,
)
