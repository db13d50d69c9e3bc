"""A run as one moving picture for slides.

GIF, not APNG: slide programs play it, and show an APNG's first frame only. It loses nothing to see: a figure has a few flat
colours and the greys of its letters' edges, well within the 256 that a frame may have.
"""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

from PIL import Image

from app.figures.file import LIGHT, figure, png, size_of, wrapped
from app.stories.record import AnyShot

FRAMES = 64
WIDE = 960  # pixels; a projector's half
STEP, LAST = 1200, 4000  # milliseconds that a step, and the last one, stay
_WORK = 6_000_000  # letters of SVG that one moving picture may cost: what is larger gets fewer frames, from start to end


def frames(steps: int, most: int = FRAMES) -> list[int]:
    """Which steps are shown: all, or where there are too many as many as may be, evenly, with the first and the last.

    >>> frames(3), frames(100, 5)
    ([0, 1, 2, 3], [0, 25, 50, 75, 100])
    """
    if steps < most:
        return list(range(steps + 1))
    return sorted({round(at * steps / (most - 1)) for at in range(most)})


def affordable(picture: str) -> int:
    """How many frames like this one fit the work that a moving picture may cost.

    >>> affordable("x" * 10_000), affordable("x" * 3_000_000)
    (64, 2)
    """
    return max(2, min(FRAMES, _WORK // len(picture)))


def gif(shots: Iterable[AnyShot], name: str = "", ink: Mapping[str, str] = LIGHT) -> bytes:
    """Snapshots as an animated GIF that starts over; each is one frame, and the figure stands still while its caption changes."""
    listed = list(shots)
    captions = [wrapped(shot) for shot in listed]
    most = max(map(len, captions))
    pictures = [figure(shot, name, ink, lines=_padded(lines, most))[0] for shot, lines in zip(listed, captions, strict=True)]
    sizes = [size_of(one) for one in pictures]
    width, height = max(wide for wide, _ in sizes), max(high for _, high in sizes)
    scale = WIDE / width
    paper = Image.new("RGB", (WIDE, round(height * scale)), ink["paper"])
    images = []
    for one in pictures:
        image = paper.copy()
        image.paste(Image.open(BytesIO(png(one, scale))).convert("RGB"))
        images.append(image.quantize(256, dither=Image.Dither.NONE))
    out = BytesIO()
    images[0].save(
        out, "GIF", save_all=True, append_images=images[1:], loop=0, optimize=False,
        duration=[STEP] * (len(images) - 1) + [LAST], comment=listed[-1].caption.encode("ascii", "replace"),
    )  # fmt: skip
    return out.getvalue()


def _padded(lines: Sequence[str], most: int) -> list[str]:
    return [*lines, *[""] * (most - len(lines))]
