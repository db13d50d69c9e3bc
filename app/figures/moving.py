"""A run as one moving picture for slides.

GIF, not APNG: slide programs play it, and show an APNG's first frame only. It loses little to see: a figure has a few flat
colours and the greys of its letters' edges, and one palette of 256, made once, serves all its frames.

A moving picture costs at most SECONDS of one core, whatever its address. What it will cost is worked out and not clocked, so
that an address always gives the same picture: a run too long for a frame a step has fewer, and one that leaves no room for a
few frames is refused.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TypeVar

from PIL import Image, ImageColor

from app.charts import tween
from app.charts.outlines import outlined
from app.figures.file import LIGHT, figure, png, size_of, wrapped
from app.stories import BY_NAME
from app.stories.record import AnyShot

SECONDS = 3.0
FRAMES, LEAST = 64, 4
WIDE = 960  # pixels; a projector's half
STEP, LAST = 1200, 4000  # milliseconds that a step, and the last one, stay
FRAME, LOOKED_AT = 70, 2200  # of a film: milliseconds between two frames, and those that a step is looked at once it is made
# seconds of a frame, as measured: by itself, for a million pixels, for a million letters of SVG, and for a million numbers of its state
EACH, PIXELS, LETTERS, NUMBERS = 0.04, 0.06, 0.45, 8.0
_SAMPLES = 3  # frames that the palette is made from
_BLENDS = 12  # steps from the paper to each ink that it has besides

T = TypeVar("T")


class TooMany(ValueError):
    """A run of more steps than a moving picture may have; about how many may be."""

    def __init__(self, steps: int, fit: int) -> None:
        super().__init__(
            f"a moving picture of these {steps:,} steps takes longer to draw than one may: give larger blocks or fewer numbers, "
            f"so that there are at most about {fit:,} steps. A table (.csv, .json) and a picture of each step (.svg, .png) can be had of this run too."
        )
        self.steps, self.fit = steps, fit


class Unwanted(Exception):
    """Nobody waits for this picture any more."""


def frames(steps: int, most: int = FRAMES) -> list[int]:
    """Which steps are shown: all, or where there are too many as many as may be, evenly, with the first and the last.

    >>> frames(3), frames(100, 5)
    ([0, 1, 2, 3], [0, 25, 50, 75, 100])
    """
    if steps < most:
        return list(range(steps + 1))
    return sorted({round(at * steps / (most - 1)) for at in range(most)})


def price(picture: str, numbers: int = 0) -> float:
    """Seconds of one core that a frame takes: its state, its figure, its raster and its part of the file.

    >>> round(price('<svg viewBox="0 0 960 500" width="960">' + "x" * 100_000, 1000), 3)
    0.122
    """
    width, height = size_of(picture)
    return cheapest(numbers) + (PIXELS * WIDE**2 * height / width + LETTERS * len(picture)) / 1e6


def cheapest(numbers: int) -> float:
    """What the frame of a state with so many numbers takes at the least."""
    return EACH + NUMBERS * numbers / 1e6


def gif(
    shots: Iterable[AnyShot],
    name: str = "",
    ink: Mapping[str, str] = LIGHT,
    afford: Callable[[str], int] = lambda picture: FRAMES,
    wanted: Callable[[], bool] = lambda: True,
) -> bytes:
    """States as an animated GIF that starts over; each is one frame, and the figure stands still while its caption changes.

    afford   how many frames like the last one, given as SVG, may be drawn: where there are more states, these are taken evenly
    wanted   asked before each frame whether to go on. Raises Unwanted where not.
    """
    listed = list(_while(wanted, shots))
    listed = [listed[place] for place in frames(len(listed) - 1, afford(outlined(figure(listed[-1], name, ink)[0])))]
    captions = [wrapped(shot) for shot in listed]
    most = max(map(len, captions))
    pictures = [
        figure(shot, name, ink, lines=_padded(lines, most))[0] for shot, lines in _while(wanted, zip(listed, captions, strict=True))
    ]
    return _animated(pictures, [STEP] * (len(listed) - 1) + [LAST], listed[-1].caption, ink, wanted)


def film(shots: Sequence[AnyShot], ink: Mapping[str, str] = LIGHT) -> bytes:
    """Steps in a row as an animated GIF in which each of them moves, as it does on its page: for slides and articles, made by hand.

    The first state stands still for a moment; then each step runs through its beats and is looked at. Raises ValueError where there is
    no chart to move.
    """
    charts = BY_NAME[shots[0].machine.name].charts
    if charts is None:
        raise ValueError(f"{shots[0].machine.name} has no picture that moves")
    captions = [wrapped(shot) for shot in shots]
    most = max(map(len, captions))
    drawn = [charts(shot) for shot in shots]
    pictures, lasts = [figure(shots[0], ink=ink, lines=_padded(captions[0], most))[0]], [STEP]
    for shot, lines, before, now in zip(shots[1:], captions[1:], drawn, drawn[1:], strict=False):
        end = max(tween.length(*pair) for pair in zip(now, before, strict=True))
        for time in [*range(0, round(end), FRAME), end]:
            moment = tuple(tween.at(*pair, time) for pair in zip(now, before, strict=True))
            pictures.append(figure(shot, ink=ink, lines=_padded(lines, most), panels=moment)[0])
            lasts.append(FRAME if time < end else LOOKED_AT)
    return _animated(pictures, lasts, shots[-1].caption, ink, lambda: True)


def _animated(pictures: Sequence[str], lasts: Sequence[int], caption: str, ink: Mapping[str, str], wanted: Callable[[], bool]) -> bytes:
    """Figures as one GIF; each stays so many milliseconds."""
    sizes = [size_of(one) for one in pictures]
    width, height = max(wide for wide, _ in sizes), max(high for _, high in sizes)
    scale = WIDE / width
    paper = Image.new("RGB", (WIDE, round(height * scale)), ink["paper"])

    def drawn(picture: str) -> Image.Image:
        image = paper.copy()
        image.paste(Image.open(BytesIO(png(picture, scale))).convert("RGB"))
        return image

    sampled = {place: drawn(pictures[place]) for place in _while(wanted, frames(len(pictures) - 1, _SAMPLES))}
    palette = _palette(sampled.values(), ink)
    images = [
        (sampled.pop(place, None) or drawn(one)).quantize(palette=palette, dither=Image.Dither.NONE)
        for place, one in _while(wanted, enumerate(pictures))
    ]
    out = BytesIO()
    images[0].save(
        out, "GIF", save_all=True, append_images=images[1:], loop=0, optimize=False,
        duration=list(lasts), comment=caption.encode("ascii", "replace"),
    )  # fmt: skip
    return out.getvalue()


def _palette(samples: Iterable[Image.Image], ink: Mapping[str, str]) -> Image.Image:
    """256 colours for every frame: each ink and its blends with the paper, and what is seen most in the samples."""
    paper = ImageColor.getrgb(ink["paper"])
    found = dict.fromkeys(
        tuple(round(a + (b - a) * part / _BLENDS) for a, b in zip(paper, ImageColor.getrgb(code), strict=True))
        for code in ink.values()
        for part in range(_BLENDS + 1)
    )
    seen: Counter[tuple[int, ...]] = Counter()
    for sample in samples:
        for count, colour in sample.getcolors(sample.width * sample.height) or ():
            seen[colour] += count  # type: ignore[index]
    found |= dict.fromkeys(colour for colour, _ in seen.most_common(256))
    listed = list(found)[:256]
    made = Image.new("P", (1, 1))
    made.putpalette([part for colour in listed + listed[:1] * (256 - len(listed)) for part in colour])
    return made


def _while(wanted: Callable[[], bool], given: Iterable[T]) -> Iterator[T]:
    for one in given:
        if not wanted():
            raise Unwanted
        yield one


def _padded(lines: Sequence[str], most: int) -> list[str]:
    return [*lines, *[""] * (most - len(lines))]
