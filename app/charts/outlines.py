"""Words as shapes, so that a picture looks the same in a browser, a slide, a word processor and a printed page, with no font at hand.

A font inside the file would keep the words as letters, but TeX tools and word processors do not read one, and the site's own
policy would bar it where the picture is opened by itself. Each word stays in the file as the name of its shape.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from xml.etree import ElementTree as Tree

import pymupdf_fonts
import uharfbuzz

SVG = "http://www.w3.org/2000/svg"
REGULAR = ("figo", "notos")  # FiraGO, and Noto Sans for what it lacks
BOLD = ("figbo", "notosbo")
_TEXT, _SPAN, _GROUP, _PATH = (f"{{{SVG}}}{name}" for name in ("text", "tspan", "g", "path"))
_KNOWN = {"x", "y", "font-size", "font-weight", "font-family", "text-anchor", "stroke-width", "transform"}
_SHIFT = {"start": 0.0, "middle": 0.5, "end": 1.0}

Contour = tuple[float, float, str]  # where it starts, and the rest of it relative to there


def outlined(picture: str) -> str:
    """The same picture with every text as a path; the group of a text is named by it.

    >>> found = outlined('<svg xmlns="http://www.w3.org/2000/svg"><text x="5" y="9" font-size="10">m = −∞</text></svg>')
    >>> "<text" in found, 'aria-label="m = −∞"' in found, "<path" in found
    (False, True, True)
    """
    Tree.register_namespace("", SVG)
    root = Tree.fromstring(picture)  # noqa: S314  drawn here, from templates that escape
    _walk(root, {})
    return Tree.tostring(root, encoding="unicode")


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """How wide words are at a letter size.

    >>> round(width_of("0.135", 10), 1), round(width_of("0.135", 10, bold=True), 1)
    (21.2, 22.3)
    """
    return _measured(words, BOLD if bold else REGULAR) * size / 1000


def fitted(texts: Iterable[str], room: float, most: float = 13.0, least: float = 9.0) -> float:
    """The letter size at which each of the texts fits the room, printed bold, too; 0 where that is less than can be read.

    >>> fitted(["1.5", "10"], 40.0), fitted(["−1.00×10⁻⁵"], 50.0), fitted(["0.135"], 12.0)
    (13.0, 10.73, 0.0)
    """
    widest = max((width_of(text, 1.0, bold=True) for text in texts), default=0.0)
    size = most if widest * most <= room else math.floor(100 * room / widest) / 100
    return size if size >= least else 0.0


def in_cells(texts: Sequence[str], room: float) -> tuple[float, tuple[str, ...]]:
    """The letter size for a row of cells, and what is written in each: a text too long for its cell as an ellipsis.

    Where fewer than half of them fit, nothing is written: size 0.

    >>> in_cells(["1", "2", "−1.00×10⁻⁵"], 30.0), in_cells(["0.135", "0.018"], 12.0)
    ((13.0, ('1', '2', '…')), (0.0, ('0.135', '0.018')))
    """
    fit = [text for text in texts if fitted([text], room)]
    if 2 * len(fit) < len(texts):
        return 0.0, tuple(texts)
    return fitted(fit, room), tuple(text if fitted([text], room) else "…" for text in texts)


def lines(words: str, size: float, room: float) -> list[str]:
    """Words on as few lines as the room allows; no line ends at a sign whose number stands on the next.

    >>> lines("so its size is 2 × 0.368 ≈ 0.736", 10, 100)
    ['so its size is', '2 × 0.368 ≈ 0.736']
    """
    held = re.sub(r" ([≈=×÷+−]) ", "\u00a0\\1\u00a0", words)
    found: list[str] = []
    for word in held.split(" "):
        longer = f"{found[-1]} {word}" if found else word
        if found and width_of(longer.replace("\u00a0", " "), size) <= room:
            found[-1] = longer
        else:
            found.append(word)
    return [line.replace("\u00a0", " ") for line in found]


def _walk(node: Tree.Element, above: dict[str, str]) -> None:
    style = above | {name: node.attrib[name] for name in ("font-size", "font-weight", "text-anchor", "stroke-width") if name in node.attrib}
    for at, child in enumerate(list(node)):
        if child.tag == _TEXT:
            node[at] = _group(child, style)
        else:
            _walk(child, style)


def _group(text: Tree.Element, above: dict[str, str]) -> Tree.Element:
    style = above | text.attrib
    size = float(style.get("font-size", 16))
    scale = size / 1000  # both fonts have 1000 units to an em
    group = Tree.Element(_GROUP, {name: value for name, value in text.attrib.items() if name not in _KNOWN})
    group.tail = text.tail
    if "stroke" in group.attrib:
        group.set("stroke-width", f"{float(style.get('stroke-width', 1)) / scale:.4g}")
    if "transform" in text.attrib:
        group.set("transform", text.attrib["transform"])
    pieces = _pieces(text, style.get("font-weight", "normal"))
    words = "".join(words for words, _, _ in pieces)
    if not words:
        return group
    group.set("aria-label", words)
    shapes, along = [], 0.0
    for words, weight, attributes in pieces:
        path, wide = _shaped(words, weight, round(along))
        shapes.append((path, attributes))
        along += wide
    x = float(text.get("x", 0)) - along * scale * _SHIFT[style.get("text-anchor", "start")]
    where = f"translate({x:.6g} {float(text.get('y', 0)):.6g}) scale({scale:.6g} {-scale:.6g})"
    for path, attributes in shapes:
        if path:
            group.append(Tree.Element(_PATH, {"d": path, "transform": where, **attributes}))
    return group


def _pieces(text: Tree.Element, weight: str) -> list[tuple[str, str, dict[str, str]]]:
    """A text's words, weights and colours, with white space run together as SVG does."""
    found: list[tuple[str, str, dict[str, str]]] = [(text.text or "", weight, {})]
    for span in text:
        if span.tag != _SPAN or not set(span.attrib) <= {"fill", "font-weight", "class"}:
            raise ValueError(f"a text has {span.tag} {span.attrib} in it, which cannot be outlined yet")
        own = {name: value for name, value in span.attrib.items() if name != "font-weight"}
        found.append((span.text or "", span.get("font-weight", weight), own))
        found.append((span.tail or "", weight, {}))
    pieces, space = [], True
    for given, heavy, attributes in found:
        words = re.sub(r"[ \t\n]+", " ", given)
        words = words.removeprefix(" ") if space else words
        if words:
            space = words.endswith(" ")
            pieces.append((words, heavy, attributes))
    if space and pieces:
        words, heavy, attributes = pieces.pop()
        pieces += [(words[:-1], heavy, attributes)] if words[:-1] else []
    return pieces


@lru_cache(4096)
def _shaped(words: str, weight: str, along: int) -> tuple[str, float]:
    """The path of some words that start `along` units to the right, and how wide they are."""
    heavy = weight == "bold" or (weight.isdigit() and int(weight) >= 600)
    drawn, x = [], float(along)
    for font, run in _runs(words, BOLD if heavy else REGULAR):
        buffer = _buffer(font, run)
        for glyph, place in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
            drawn += [
                f"M{_short(left + x + place.x_offset)} {_short(low + place.y_offset)}{rest}"
                for left, low, rest in _contours(font, glyph.codepoint)
            ]
            x += place.x_advance
    return "".join(drawn), x - along


@lru_cache(4096)
def _measured(words: str, fonts: tuple[str, ...]) -> int:
    """How wide words are, in thousandths of their size."""
    return sum(place.x_advance for font, run in _runs(words, fonts) for place in _buffer(font, run).glyph_positions)


def _buffer(font: str, run: str) -> uharfbuzz.Buffer:
    buffer = uharfbuzz.Buffer()
    buffer.add_str(run)
    buffer.guess_segment_properties()
    uharfbuzz.shape(_font(font), buffer)
    return buffer


def _runs(words: str, fonts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Words cut where the font changes. A letter that no font has is a mistake of ours, so it raises."""
    runs: list[tuple[str, str]] = []
    for letter in words:
        name = next((name for name in fonts if _font(name).get_nominal_glyph(ord(letter))), None)
        if name is None:
            raise ValueError(f"no font has {letter!r} (U+{ord(letter):04X})")
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + letter)
        else:
            runs.append((name, letter))
    return runs


@cache
def _font(name: str) -> uharfbuzz.Font:
    return uharfbuzz.Font(uharfbuzz.Face(uharfbuzz.Blob(pymupdf_fonts.myfont(name))))


@cache
def _contours(name: str, glyph: int) -> tuple[Contour, ...]:
    pen = _Pen()
    _font(name).draw_glyph(glyph, _drawing(), pen)
    return tuple((x, y, "".join(rest) + "z") for x, y, rest in pen.contours)


class _Pen:
    """Notes a glyph's lines and curves relative to each other, which is short and can be moved."""

    def __init__(self) -> None:
        self.contours: list[tuple[float, float, list[str]]] = []
        self.at = (0.0, 0.0)

    def move(self, x: float, y: float) -> None:
        self.contours.append((x, y, []))
        self.at = (x, y)

    def add(self, letter: str, *points: float) -> None:
        x, y = self.at
        relative = [value - (y if i % 2 else x) for i, value in enumerate(points)]
        self.contours[-1][2].append(letter + " ".join(map(_short, relative)).replace(" -", "-"))
        self.at = (points[-2], points[-1])


@cache
def _drawing() -> uharfbuzz.DrawFuncs:
    found = uharfbuzz.DrawFuncs()
    found.set_move_to_func(lambda x, y, pen: pen.move(x, y))
    found.set_line_to_func(lambda x, y, pen: pen.add("l", x, y))
    found.set_quadratic_to_func(lambda a, b, x, y, pen: pen.add("q", a, b, x, y))
    found.set_cubic_to_func(lambda a, b, c, d, x, y, pen: pen.add("c", a, b, c, d, x, y))
    found.set_close_path_func(lambda pen: None)
    return found


def _short(value: float) -> str:
    return f"{value:.6g}"


def shared(picture: str) -> str:
    """The same outlined picture with each letter's shape in it once, and without what is not seen: short, for browsers.

    Contours that overlap from left to right stay together, so that a hole stays one.

    >>> found = shared(outlined('<svg xmlns="http://www.w3.org/2000/svg"><text x="5" y="9" font-size="10">0000</text></svg>'))
    >>> found.count("<use"), found.count("<path")
    (4, 1)
    """
    Tree.register_namespace("", SVG)
    root = Tree.fromstring(picture)  # noqa: S314  drawn here
    for node in list(root.iter()):
        for child in [one for one in node if one.get("visibility") == "hidden"]:  # is there for script, which no file has
            node.remove(child)
        for name in [name for name in node.attrib if name == "class" or name.startswith("data-")]:
            del node.attrib[name]
    known: dict[str, str] = {}
    halos: list[tuple[Tree.Element, str]] = []
    for group in [one for one in root.iter(_GROUP) if "aria-label" in one.attrib]:
        for at, path in enumerate(list(group)):
            if path.tag == _PATH and path.get("d", "").startswith("M"):
                made = Tree.Element(_GROUP, {name: value for name, value in path.attrib.items() if name != "d"})
                for x, shape in _apart(path.attrib["d"]):
                    name = known.setdefault(shape, f"l{len(known)}")
                    made.append(Tree.Element(f"{{{SVG}}}use", {"href": f"#{name}", "x": _short(x)}))
                group[at] = made
                if "stroke" in group.attrib:  # no letter's halo may lie on the letter before it
                    name = f"w{len(halos)}"
                    made.set("id", name)
                    halos.append((group, name))
    for group, name in halos:
        group.append(Tree.Element(f"{{{SVG}}}use", {"href": f"#{name}", "stroke": "none"}))
    if known:
        defs = Tree.Element(f"{{{SVG}}}defs")
        defs.extend(Tree.Element(_PATH, {"id": name, "d": shape}) for shape, name in known.items())
        root.append(defs)  # a title stays the first
    return Tree.tostring(root, encoding="unicode")


def _apart(path: str) -> list[tuple[float, str]]:
    """A path as shapes that do not overlap from left to right, each with its place and drawn from 0."""
    found: list[tuple[float, float, list[Contour]]] = []
    for contour in path.split("M")[1:]:
        start, letter, rest = re.split(r"([a-z])", contour, maxsplit=1)
        x, y = map(float, start.split())
        least = most = at = x
        for _, numbers in re.findall(r"([lqc])([^a-z]*)", letter + rest):
            across = [at + float(one) for one in re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers)[::2]]
            least, most, at = min(least, *across), max(most, *across), across[-1]
        if found and least <= found[-1][1]:
            before = found[-1]
            found[-1] = (min(before[0], least), max(before[1], most), [*before[2], (x, y, letter + rest)])
        else:
            found.append((least, most, [(x, y, letter + rest)]))
    shapes = []
    for _, _, contours in found:
        left = contours[0][0]
        shapes.append((left, "".join(f"M{_short(x - left)} {_short(y)}{rest}" for x, y, rest in contours)))
    return shapes
