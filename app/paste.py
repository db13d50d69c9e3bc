"""Numbers as people have them on the clipboard: lists of Python, NumPy's and PyTorch's print, JSON, CSV, columns of a spreadsheet.

One reader for lists and for tables. It takes time in proportion to the text, and it never guesses: what has two readings is Unread, with both of them and
how to write each. A comma stands between numbers; it is a decimal sign only in a list that tabs, semicolons or line ends separate, and only where it can
be nothing else.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from app.numbers import number

Shape = Literal["list", "either", "table"]
Read = list[float] | list[list[float]]


class Unread(Exception):
    """Text that is no numbers, or numbers in more than one way: what it is, and the way out."""

    def __init__(self, code: str, what: str, way_out: str) -> None:
        super().__init__(f"{what}; {way_out}")
        self.code, self.what, self.way_out = code, what, way_out


class _Characters(dict[int, int | str | None]):
    """Digits of other scripts and widths, other spaces, signs and quotes, as ASCII has them."""

    def __missing__(self, code: int) -> int | str | None:
        one = chr(code)
        made: int | str | None = code
        if 0xFF01 <= code <= 0xFF5E:  # the wide forms of ASCII
            made = code - 0xFEE0
        elif one.isdecimal():
            made = str(int(one))
        elif code > 127 and one.isspace():
            made = "\n" if one in "\x85\u2028\u2029" else " "
        self[code] = made
        return made


_AS_ASCII = _Characters({ord(one): "-" for one in "−‒–—﹣"} | {ord(one): "/" for one in "⁄∕"} | {ord(one): '"' for one in "“”„"})
_AS_ASCII.update({ord(one): "'" for one in "‘’"} | {ord(one): "\n" for one in "\v\f"} | {ord(one): "" for one in "\ufeff\u200b\u2060\xad"})
_AS_ASCII.update({ord("∞"): "inf", ord("…"): "...", ord("、"): ","})

_LEAD = re.compile(r"\s*(?:Out\[\d+\]:|Parameter containing:|>>>)?\s*(?:[A-Za-z_]\w*\s*=(?=\s*[\[(A-Za-z]))?")
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)")
_TOKEN = re.compile(
    r"""(?P<quoted>"[^"\n]*"|'[^'\n]*') | (?P<keyword>[A-Za-z_]\w*=) | (?P<call>[-+]?[A-Za-z_][\w.]*\() | (?P<open>[\[(]) | (?P<close>[\])])
    | (?P<line>\n\s*) | (?P<tab>\t) | (?P<gap>\ +) | (?P<comma>,) | (?P<semi>;) | (?P<word>[^\s,;\[\]()"'=]+) | (?P<other>.)""",
    re.VERBOSE,
)
_ARRAYS = {
    "array",
    "asarray",
    "ndarray",
    "matrix",
    "tensor",
    "as_tensor",
    "Tensor",
    "FloatTensor",
    "Array",
    "DeviceArray",
    "Parameter",
    "list",
    "tuple",
}
_SCALAR = re.compile(r"(?:b?float|u?int)\d*(?:_e\dm\d(?:fn)?)?|double|half|longdouble")
_MODULE = re.compile(r"(?:np|numpy|math|torch|jnp|tf|mx)\.")
_CLOSES = {"[": "]", "(": ")"}
_DEEPEST = 8  # brackets in one another

_WHOLE = re.compile(r"[+-]?\d+")
_TAIL = re.compile(r"\d+(?:[eE][+-]?\d+)?")
_LEADING_ZERO = re.compile(r"0\d+")
_HEAD_OF_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}")
_LAST_OF_THOUSANDS = re.compile(r"\d{3}(?:\.\d*)?(?:[eE][+-]?\d+)?")
_POINTED_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
_LONG_TAIL = 7  # digits after a comma that no score has, and decimals do

Tree = float | list["Tree"]
Word = str | float


class _Frame:
    """What stands between two brackets, or the whole text: entries, each with what separates it from the one before."""

    def __init__(self, opened: str = "", name: str = "", skipped: bool = False) -> None:
        self.opened, self.name, self.skipped = opened, name, skipped
        self.entries: list[tuple[str, str | Tree]] = []
        self.pending: list[str] = []
        self.quoted = False

    def add(self, value: str | Tree, quoted: bool = False) -> None:
        between, first = self.pending, not self.entries
        self.pending = []
        commas, semis, tabs = between.count("comma"), between.count("semi"), between.count("tab")
        lines = "line" in between
        if commas + semis > (0 if first else 1) or (tabs > 1 and not (first or commas or semis or lines)):
            raise Unread("empty_entry", "an entry is empty", "write a number there, or take the extra separator out")
        if first:
            sep = ""
        elif lines:
            sep = "line"
        elif semis:
            sep = "semi"
        elif commas:
            sep = "tab" if quoted or self.quoted else "tight" if between == ["comma"] else "comma"
        else:
            sep = "tab" if tabs else "space"
        if not between and not first and not isinstance(value, list) and not isinstance(self.entries[-1][1], list):
            raise _no_number(f"{self.entries[-1][1]}{value}")
        self.quoted = quoted
        if quoted and isinstance(value, str) and "," in value:
            head, *rest = value.split(",")
            self.entries.append((sep, head.strip()))
            self.entries += [("tight", one.strip()) for one in rest]
        else:
            self.entries.append((sep, value))


def read(text: str, shape: Shape) -> Read:
    """The numbers of a pasted text: a list, a table of them (rows of one or more lengths), or for "either" what it looks like.

    Raises Unread where it is not numbers, or can be read in two ways.

    >>> read("tensor([1.0000, -inf, 2.5000], device='cuda:0')", "list"), read("[[1. 2.]\\n [3. 4.]]", "table")
    ([1.0, -inf, 2.5], [[1.0, 2.0], [3.0, 4.0]])
    >>> read("1/4; ０.５; −1", "list"), read("0,5\\t1\\t-2,25", "list")
    ([0.25, 0.5, -1.0], [0.5, 1.0, -2.25])
    >>> read("1,000, 2,000", "list")
    Traceback (most recent call last):
    app.paste.Unread: '1,000, 2,000' can be read in two ways, as 1000, 2000 or as 1, 0, 2, 0; write 1000 2000 for the first, or 1 0 2 0 for the second
    """
    grouped = _GROUPED.search(text)
    if grouped:
        parts = re.split(r"[\u00a0\u2009\u202f]", grouped.group())
        raise _two_ways(" ".join(parts), "".join(parts), ", ".join(map(_bare, parts)))
    plain = in_ascii(text)
    lead = _LEAD.match(plain)
    top, bracketed = _parsed(plain[lead.end() :] if lead else plain)
    if not top.entries:
        raise Unread("required", "there is no number in it", "give numbers, such as 1, 3, 2")
    if not bracketed:
        return _from_text(_words(top.entries), shape)
    return _from_tree(_closed(top), shape)


def in_ascii(text: str) -> str:
    """A text with its digits, signs, spaces and quotes as ASCII has them.

    >>> in_ascii(" −１２\u00a0… ")
    '-12 ...'
    """
    return text.translate(_AS_ASCII).replace("\r\n", "\n").replace("\r", "\n").strip()


def _parsed(text: str) -> tuple[_Frame, bool]:
    """The outermost frame of a text, and whether there were brackets in it."""
    stack = [_Frame()]
    bracketed = False
    for token in _TOKEN.finditer(text):
        kind, found = str(token.lastgroup), token.group()
        frame = stack[-1]
        if kind in ("open", "call"):
            bracketed = True
            name = found[:-1] if kind == "call" else ""
            if len(stack) > _DEEPEST:
                raise Unread("wrong_shape", f"there are more than {_DEEPEST} brackets in one another", "give a list or a list of lists")
            if name and not frame.skipped and not (_last(name) in _ARRAYS or _SCALAR.fullmatch(_last(name))):
                raise Unread("not_a_number", f"{name + '(…)'!r} is not worked out here", "give the numbers that it comes to")
            stack.append(_Frame(found[-1], name, frame.skipped))
        elif kind == "close":
            if _CLOSES.get(frame.opened) != found:
                raise Unread("wrong_shape", f"a bracket {found!r} has no partner", "copy the list from its first bracket to its last")
            stack.pop()
            if not frame.skipped or not stack[-1].skipped:
                stack[-1].add(_closed(frame))
        elif frame.skipped:
            continue
        elif kind == "keyword" and frame.name:
            frame.skipped, frame.pending = True, []  # dtype=…, device=… and what follows them
        elif kind == "quoted":
            frame.add(found[1:-1].strip(), quoted=True)
        elif kind in ("word", "keyword", "other"):
            if found.startswith("..."):
                raise Unread(
                    "left_out",
                    f"{found[:3]!r} stands for numbers that were left out",
                    "print all of them, in Python with .tolist(), and copy again",
                )
            if not (frame.name and frame.entries and _SCALAR.fullmatch(_last(found))):  # a dtype given by its place
                frame.add(found)
            else:
                frame.pending = []
        else:
            frame.pending.append(kind)
    if len(stack) > 1:
        raise Unread("wrong_shape", f"a bracket {stack[-1].opened!r} is not closed", "copy the list from its first bracket to its last")
    return stack[0], bracketed


def _last(name: str) -> str:
    return name.lstrip("+-").rsplit(".", 1)[-1]


def _closed(frame: _Frame) -> Tree:
    """What a frame comes to: a number, a list of numbers, or a list of lists."""
    lists = [value for _, value in frame.entries if isinstance(value, list)]
    if lists and len(lists) < len(frame.entries):
        stray = next(value for _, value in frame.entries if not isinstance(value, list))
        if isinstance(stray, str):
            _number(stray)
        raise Unread("wrong_shape", f"the number {stray} stands beside a list", "give one list, or a list of lists")
    if lists:
        inner: Tree = lists[0] if len(lists) == 1 and (frame.name or not frame.opened) else [*lists]
        return inner
    words = _words(frame.entries)
    if frame.name and (len(words) == 1 or _SCALAR.fullmatch(_last(frame.name))):
        if len(words) != 1:
            raise Unread(
                "not_a_number", f"{frame.name + '(…)'!r} has not one number in it", "give the numbers themselves, such as [1, 3, 2]"
            )
        value = words[0][1] if isinstance(words[0][1], float) else _number(words[0][1])
        return -value if frame.name.startswith("-") else value
    _commas_apart(_chunks(words))
    if not any(sep == "semi" for sep, _ in words):
        return [_valued(word) for _, word in words]
    rows: list[list[Tree]] = [[]]
    for sep, word in words:
        if sep == "semi":
            rows.append([])
        rows[-1].append(_valued(word))
    return [*rows]


def _words(entries: Sequence[tuple[str, str | Tree]]) -> list[tuple[str, Word]]:
    return [(sep, value) for sep, value in entries if not isinstance(value, list)]


def _from_tree(tree: Tree, shape: Shape) -> Read:
    if isinstance(tree, float):
        tree = [tree]
    while len(tree) == 1 and isinstance(tree[0], list) and tree[0] and isinstance(tree[0][0], list):
        tree = tree[0]  # one of one: a batch of a single matrix
    rows = [row for row in tree if isinstance(row, list)]
    numbers = [one for one in tree if isinstance(one, float)]
    if not any(rows) and not numbers:
        raise Unread("required", "there is no number in it", "give numbers, such as 1, 3, 2")
    if not rows:
        return [numbers] if shape == "table" else numbers
    table = [[one for one in row if isinstance(one, float)] for row in rows]
    if any(len(row) != len(whole) for row, whole in zip(table, rows, strict=True)):
        raise Unread("wrong_shape", "it has three or more levels of brackets", "give one list, or one list of lists")
    return _as_list(table) if shape == "list" else table


def _as_list(rows: list[list[float]]) -> list[float]:
    if len(rows) == 1:
        return rows[0]
    if all(len(row) == 1 for row in rows):
        return [row[0] for row in rows]
    raise Unread("wrong_shape", f"it is a table of {len(rows):,} rows, and a list was asked for", "give one row or one column of it")


class _Chunk:
    """Entries with nothing but commas between them, as in 1,5: one number, or several."""

    def __init__(self, sep: str, word: Word) -> None:
        self.sep, self.words = sep, [word]

    def __str__(self) -> str:
        return ",".join(map(str, self.words))

    @property
    def texts(self) -> list[str]:
        return [word if isinstance(word, str) else "" for word in self.words]

    def is_decimal(self) -> bool:
        texts = self.texts
        return len(texts) == 2 and bool(_WHOLE.fullmatch(texts[0]) and _TAIL.fullmatch(texts[1]))

    def is_thousands(self) -> bool:
        head, *rest = self.texts
        between = all(len(one) == 3 and one.isdecimal() for one in rest[:-1])
        return bool(_HEAD_OF_THOUSANDS.fullmatch(head)) and between and bool(rest) and bool(_LAST_OF_THOUSANDS.fullmatch(rest[-1]))

    def is_pointed(self) -> bool:
        texts = self.texts
        return len(texts) == 2 and bool(_POINTED_THOUSANDS.fullmatch(texts[0]) and _TAIL.fullmatch(texts[1]))

    def has_leading_zero(self) -> bool:
        return any(_LEADING_ZERO.match(one) for one in self.texts[1:])


def _chunks(words: Sequence[tuple[str, Word]]) -> list[_Chunk]:
    found: list[_Chunk] = []
    for sep, word in words:
        if sep == "tight":
            found[-1].words.append(word)
        else:
            found.append(_Chunk(sep, word))
    return found


def _commas_apart(chunks: list[_Chunk]) -> None:
    """Refuses commas that may be part of a number where they should stand between numbers."""
    tight = [one for one in chunks if len(one.words) > 1]
    for before, one in pairwise(chunks):
        parts = [*before.texts, *one.texts]
        if one.sep == "space" and _LEADING_ZERO.fullmatch(parts[-1]) and len(parts) == 2 and parts[0].isdecimal():
            raise _two_ways(" ".join(parts), "".join(parts), ", ".join(map(_bare, parts)))
    if not tight:
        return
    zeros = [one for one in tight if one.has_leading_zero()]
    if all(one.is_thousands() for one in tight) and (len(chunks) > 1 or zeros):
        raise _asked(tight, "thousands")
    if zeros:
        raise _asked(zeros, "decimal" if all(one.is_decimal() for one in zeros) else "zeros")
    if len(chunks) > 1 and all(one.is_pointed() for one in tight):
        raise _asked(tight, "pointed")


def _decimal_commas(chunks: list[_Chunk], shape: Shape) -> bool:
    """Whether the commas of a text without brackets are decimal signs; Unread where they may be and may not."""
    tight = [one for one in chunks if len(one.words) > 1]
    seps = {one.sep for one in chunks[1:]}
    if not tight or not seps or not all(one.is_decimal() for one in tight) or all(one.is_thousands() for one in tight):
        return False
    if shape == "table" and seps <= {"line", "semi"}:
        return _rows_of_commas(chunks)
    if shape == "either" and seps <= {"line", "semi"} and (seps == {"semi"} or len(tight) < len(chunks)):
        return _rows_of_commas(chunks)
    marked = any(_LEADING_ZERO.match(one.texts[1]) or len(one.texts[1]) >= _LONG_TAIL for one in tight)
    pointed = any("." in text for one in chunks for text in one.texts)
    clear = shape == "list" and seps <= {"line", "semi", "tab"} and not pointed and (marked or len(tight) < len(chunks))
    if not clear:
        raise _asked(tight, "decimal", rows=shape != "list" and seps == {"line"})
    return True


def _rows_of_commas(chunks: list[_Chunk]) -> bool:
    """The rows of a table: their commas stand between columns. What a link writes is read so; line ends and semicolons together may be a table of decimals."""
    if {"line", "semi"} <= {one.sep for one in chunks}:
        raise _asked([one for one in chunks if len(one.words) > 1], "decimal", rows=True)
    return False


def _from_text(words: list[tuple[str, Word]], shape: Shape) -> Read:
    """Numbers without brackets, by lines, tabs, semicolons, commas and spaces."""
    chunks = _chunks(words)
    if _decimal_commas(chunks, shape):
        numbers = [(one.sep, _number(".".join(one.texts))) for one in chunks]
    else:
        _commas_apart(chunks)
        numbers = [(sep, _valued(word)) for sep, word in words]
    seps = {sep for sep, _ in numbers}
    rows = _rows(numbers, seps)
    _numbered(rows, seps)
    if shape == "table":
        return rows
    if shape == "either":
        is_table = "semi" in seps or ("line" in seps and any(len(row) > 1 for row in rows))
        return rows if is_table else [one for row in rows for one in row]
    if {"line", "tab"} <= seps or ("semi" in seps and any(len(row) > 1 for row in rows)):
        return _as_list(rows)
    return [one for row in rows for one in row]


def _rows(numbers: list[tuple[str, float]], seps: set[str]) -> list[list[float]]:
    """Numbers in rows. Where line ends and semicolons both separate, as in a spreadsheet's CSV, a semicolon stands between columns."""
    breaks = {"line"} if {"line", "semi"} <= seps else {"line", "semi"}
    if len(breaks) == 1 and seps - {"", "line", "semi"}:
        raise Unread("unclear", "semicolons and line ends both separate rows", "use one of them alone, such as 1,0;0,1")
    rows: list[list[float]] = []
    for sep, value in numbers:
        if not rows or sep in breaks:
            rows.append([])
        rows[-1].append(value)
    return rows


def _numbered(rows: list[list[float]], seps: set[str]) -> None:
    """Refuses a column that seems to number the rows, as pandas prints it."""
    laid_out = "line" in seps and seps & {"space", "tab"} and "comma" not in seps
    if not laid_out or len(rows) < 2 or any(len(row) != 2 for row in rows):
        return
    counts = [row[0] for row in rows] == list(range(len(rows)))
    if counts and not all(row[1].is_integer() for row in rows):
        raise Unread(
            "unclear", "the first column counts 0, 1, 2, as row numbers do", "leave it out; if it is data, write rows as 0,1.5;1,2.5"
        )


def _valued(word: Word) -> float:
    return _number(word) if isinstance(word, str) else word


def _number(word: str) -> float:
    sign, bare = (word[0], word[1:]) if word[:1] in ("+", "-") else ("", word)
    top, slash, bottom = (sign + _MODULE.sub("", bare, count=1)).partition("/")
    found = number(top)
    if slash and found is not None:
        below = number(bottom)
        found = found / below if below and math.isfinite(found) and math.isfinite(below) else None
    if found is None or (slash and not math.isfinite(found)):
        raise _no_number(word)
    return found


def _no_number(word: str) -> Unread:
    shown = word.encode(errors="replace").decode()
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return Unread(
        "not_a_number", f"{shown!r} is not a number that float64 can hold", "write a number, such as 1.5, -2, 1e3, 1/3, -inf, inf or nan"
    )


def _asked(chunks: list[_Chunk], how: str, rows: bool = False) -> Unread:
    """The question for commas with two readings, by its first two numbers."""
    some = chunks[:2]
    more = len(chunks) > 2
    glue = "" if how in ("thousands", "zeros") else "."
    if how == "pointed":
        first = [one.texts[0].replace(".", "") + "." + one.texts[1] for one in some]
    else:
        first = [glue.join(one.texts) for one in some]
    apart = [[_bare(text) for text in one.texts] for one in some]
    flat = [text for row in apart for text in row]
    sample = (", " if some[-1].sep == "comma" else " ").join(map(str, some)) + (" …" if more else "")
    second = "; ".join(", ".join(row) for row in apart) if rows else ", ".join(flat)
    written = ";".join(",".join(row) for row in apart) if rows else " ".join(flat)
    return _two_ways(sample, ", ".join(first), second, " ".join(first), written)


def _two_ways(sample: str, first: str, second: str, write_first: str = "", write_second: str = "") -> Unread:
    what = f"{sample!r} can be read in two ways, as {first} or as {second}"
    return Unread(
        "unclear", what, f"write {write_first or first} for the first, or {write_second or second.replace(',', '')} for the second"
    )


def _bare(word: str) -> str:
    """A part of a number as it stands alone: 000 is 0."""
    return word.lstrip("0") or "0" if word.isdecimal() else word
