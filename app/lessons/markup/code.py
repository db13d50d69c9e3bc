"""Code as it is shown: highlighted by classes, whole files or one function of them."""

import ast
import os
import re
from os.path import isfile
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from app.lessons.problems import Invalid
from app.lessons.source import inside

_FORMAT = HtmlFormatter(nowrap=True)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def coloured(code: str, language: str) -> str:
    """HTML of code, with a class for each kind of word. Invalid for an unknown language.

    >>> coloured("x = 1", "python")
    '<span class="n">x</span> <span class="o">=</span> <span class="mi">1</span>\\n'
    """
    try:
        return str(highlight(code, get_lexer_by_name(language, stripnl=False), _FORMAT))
    except ClassNotFound:
        raise Invalid(f"there is no language {language!r} to highlight: use python, text, console, json, c, …") from None


def files(folder: Path | None) -> list[str]:
    """The files of a lesson that a reader may take away."""
    code = folder / "code" if folder else None
    try:
        names = sorted(os.listdir(code)) if code else []
    except OSError:  # there is none, or it may not be entered
        return []
    return [
        name
        for name in names
        if name.endswith((".py", ".txt", ".toml")) and inside(code, name) and _NAME.fullmatch(name) and isfile(f"{code}/{name}")
    ]


def content(folder: Path | None, name: str) -> bytes:
    """A file's bytes. Invalid where it is not offered or cannot be read."""
    known = files(folder)
    if name not in known or folder is None:
        raise Invalid(
            f"there is no file code/{name}: {'use ' + ', '.join(known) if known else 'put it into code/, its name in plain letters'}"
        )
    try:
        return (folder / "code" / name).read_bytes()
    except OSError as error:
        raise Invalid(f"code/{name} cannot be read: {error.strerror}") from None


def text(folder: Path | None, name: str) -> str:
    try:
        return content(folder, name).decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"code/{name} is not UTF-8 from byte {error.start} on") from None


def part(source: str, name: str) -> str:
    """The text of one function, class or constant of a Python file, decorators included.

    >>> part("import os\\n\\n\\ndef one():\\n    return 1\\n\\n\\ndef two():\\n    return 2\\n", "one")
    'def one():\\n    return 1\\n'
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise Invalid(f"the file is not Python: {error.msg}, line {error.lineno}") from None
    known = []
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        known += names
        if name in names:
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(one.lineno for one in decorators)])
            return "\n".join(source.splitlines()[first - 1 : node.end_lineno]) + "\n"
    raise Invalid(f"there is no {name!r} in the file: it has {', '.join(known)}")
