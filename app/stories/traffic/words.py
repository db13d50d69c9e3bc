"""What one step of the small example moves, and what a size costs, in one sentence each."""

from collections.abc import Mapping

from app.machines.run import Moment
from app.machines.traffic import TOKENS, Cost, Spec, fa1_blocks
from app.numbers import amount, size
from app.stories.voice import Voice

NAMES = {"standard": "the standard way", "fa1": "FA1’s order", "fa2": "FA2’s order"}


def sentence(voice: Voice, way: str, moment: Moment) -> str:
    """
    >>> from app.stories.voice import WRITTEN
    >>> from app.machines.run import moments
    >>> from app.machines.traffic import walked
    >>> [sentence(WRITTEN, "standard", moment) for moment in moments(*walked("standard"))][1]
    'Q and K are read, 32 numbers, and the whole table of scores S is written: 64 numbers.'
    >>> [sentence(WRITTEN, "fa2", moment) for moment in moments(*walked("fa2"))][1]
    'Rows 1 to 2 of Q come on chip and stay; keys 1 to 4 and their values are read, used and dropped: 20 numbers in all.'
    """
    event = moment.event
    if event is None:
        return _start(way)
    reads, writes = event.cost.reads, event.cost.writes
    if way == "standard":
        return {
            "scores": f"Q and K are read, {reads} numbers, and the whole table of scores S is written: {writes} numbers.",
            "softmax": f"S is read back, {reads} numbers, turned into shares, and the whole table of shares P is written: {writes} numbers.",
            "output": f"P is read back with V, {reads} numbers, and the output is written: {writes} numbers.",
        }[event.kind]
    rows, keys = f"rows {event.rows.start + 1} to {event.rows.stop}", f"keys {event.cols.start + 1} to {event.cols.stop}"
    if event.kind == "normalise":
        return (
            f"{rows.capitalize()} are finished: their output and lse are written, {writes} numbers, and the chip is free for the next rows."
        )
    if way == "fa2":
        if event.cost.reads > (event.cols.stop - event.cols.start) * 4:
            return f"{rows.capitalize()} of Q come on chip and stay; {keys} and their values are read, used and dropped: {reads} numbers in all."
        return f"The Q tile, m, {voice.sum} and acc stay on chip; {keys} and their values are read, used and dropped: {reads} numbers."
    passing = f"{rows} of Q, O, m and {voice.sum} are read"
    setting_up = f" (with the setting up of O, m and {voice.sum})" if moment.step == 1 else ""
    comes = f"{keys.capitalize()} and their values come on chip and stay" if event.rows.start == 0 else f"{keys.capitalize()} stay on chip"
    return f"{comes}; {passing}, {reads} numbers in all, and O, m and {voice.sum} go back: {writes} written{setting_up}."


def _start(way: str) -> str:
    if way == "standard":
        return "Nothing is moved yet: Q, K and V lie in slow memory, and the standard way will need room there for two tables, S and P."
    stays = "the keys stay on chip and the queries pass" if way == "fa1" else "the queries stay on chip and the keys pass"
    return f"Nothing is moved yet: Q, K and V lie in slow memory, {TOKENS} lines each; tile by tile, {stays}."


def compared(spec: Spec, costs: Mapping[str, Cost], unit: int) -> str:
    """A size in one sentence; `unit`: bytes of a number.

    >>> spec = Spec(n=32768)
    >>> compared(spec, {way: spec.cost(way) for way in NAMES}, 4)
    'At 32,768 tokens the standard way moves 16 GiB, FA1’s order 4.11 GiB (3.9 times less) and FA2’s order 4.02 GiB (4.0 times less).'
    """
    plain = costs["standard"].moved
    said = [f"{NAMES[way]} {size(costs[way].moved * unit)} ({_ratio(plain, costs[way].moved)})" for way in ("fa1", "fa2")]
    return f"At {amount(spec.n)} tokens the standard way moves {size(plain * unit)}, {said[0]} and {said[1]}."


def _ratio(plain: int, tiled: int) -> str:
    ratio = plain / tiled
    if 0.995 < ratio < 1.005:
        return "as much"
    return f"{_times(ratio)} times less" if ratio > 1 else f"{_times(1 / ratio)} times more"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 1.095 else f"{ratio:.2f}"


def corner(spec: Spec, costs: Mapping[str, Cost]) -> str:
    """Why fa1's order moves more than the standard way here; empty where it does not.

    >>> spec = Spec(n=1024, d=128, memory=16384)
    >>> corner(spec, {way: spec.cost(way) for way in NAMES}).split(":")[0]
    'Here FA1’s order moves more than the standard way'
    >>> corner(Spec(n=1024), {way: Spec(n=1024).cost(way) for way in NAMES})
    ''
    """
    if costs["fa1"].moved <= costs["standard"].moved:
        return ""
    _, keys = fa1_blocks(spec.memory, spec.d)
    passes = spec.size("fa1").tiles[1]
    too = ""
    if costs["fa2"].moved > costs["standard"].moved:
        down = spec.size("fa2").tiles[0]
        too = f" FA2’s order moves more too: its {amount(down)} tiles of {amount(spec.block_q)} queries each need all of K and V."
    return (
        f"Here FA1’s order moves more than the standard way: a chip of {amount(spec.memory)} numbers has room for {keys:,} keys at a time, "
        f"so Q is read, and O read and written, {passes:,} times. It pays where d² ({amount(spec.d**2)} here) is small next to M.{too}"
    )


def crowded(spec: Spec) -> str:
    """What is said where fa2's tiles do not fit on the chip; empty where they do.

    >>> crowded(Spec()), crowded(Spec(memory=1024))[:57]
    ('', 'FA2’s tiles of Q, K, V and acc would hold 24,576 numbers,')
    """
    if spec.room <= spec.memory:
        return ""
    return f"FA2’s tiles of Q, K, V and acc would hold {amount(spec.room)} numbers, more than the {amount(spec.memory)} that fit on this chip: make them smaller."


def how_known(spec: Spec) -> str:
    """Where the numbers of a size come from."""
    if spec.runs:
        return f"Counted: all three ways have just been run on {amount(spec.n)} tokens, and these are their ledgers."
    return (
        "By formula: too large to run here. A test holds the formulas equal to the ledgers of the machines on every size up to 40 tokens that it tries, "
        "whatever the tiles."
    )


def where(array: str) -> str:
    """What an array is, in a few words."""
    return {
        "q": "queries", "k": "keys", "v": "values", "s": "the table of scores", "p": "the table of shares", "o": "the output",
        "m": "the highest score of each row", "l": "the sum of sizes of each row", "lse": "m + log ℓ of each row",
    }[array]  # fmt: skip
