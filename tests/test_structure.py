"""Imports point one way only, and nothing in the project reads what is not in it."""

import ast
import re
from pathlib import Path

import pytest

from app.machines import MACHINES
from app.stories import PAGES

ROOT = Path(__file__).parent.parent
PURE = {
    "abc", "bisect", "collections", "dataclasses", "enum", "fractions", "functools", "itertools", "math", "operator", "random", "struct", "typing", "numpy",
}  # fmt: skip
MAY_IMPORT = {
    "app.machines": {"app.machines"},
    "app.numbers": set(),
    "app.paste": {"app.numbers"},
    "app.specs": {"app.machines", "app.numbers", "app.paste"},
    "app.look": set(),
    "app.charts": {"app.charts", "app.numbers"},
    "app.hooks": {"app.look", "app.numbers"},
    "app.stories": {"app.machines", "app.numbers", "app.specs", "app.look", "app.charts", "app.stories"},
    "app.snapshot": {"app.machines", "app.numbers", "app.specs", "app.stories"},
    "app.runs": {"app.machines", "app.numbers", "app.specs", "app.charts", "app.stories", "app.snapshot"},
    "app.templates": {"app.numbers", "app.charts", "app.snapshot"},
    "app.figures": {"app.machines", "app.charts", "app.numbers", "app.stories", "app.snapshot", "app.runs", "app.templates", "app.figures"},
    "app.lessons": {
        "app", "app.machines", "app.numbers", "app.specs", "app.stories", "app.snapshot", "app.runs", "app.figures", "app.templates", "app.lessons",
    },
    "app.embedding": {"app.machines", "app.specs"},
    "app.share": {"app.machines", "app.stories"},
    "app.page": {"app.machines", "app.charts", "app.specs", "app.stories", "app.look", "app.snapshot", "app.runs", "app.embedding", "app.templates"},
    "app.settings": set(),
    "app.export": {"app.assets", "app.charts", "app.embedding", "app.figures", "app.lessons", "app.snapshot", "app.stories", "app.runs", "app.specs", "app.page"},
    "app.coding": set(),
    "app.assets": {"app.coding"},
    "app.http": {"app", "app.specs", "app.figures", "app.coding", "app.http"},
    "app.routes": {
        "app", "app.machines", "app.numbers", "app.specs", "app.stories", "app.look", "app.hooks", "app.snapshot", "app.runs", "app.charts", "app.figures", "app.settings", "app.coding",
        "app.assets", "app.page", "app.lessons", "app.embedding", "app.share", "app.templates", "app.http", "app.routes",
    },
}  # fmt: skip


INSIDE_LESSONS = {  # a room within app/lessons → those it may import
    "problems": set(),
    "source": {"problems"},
    "expressions": {"problems", "source"},
    "markup": {"problems", "source", "expressions"},
    "quiz": {"problems", "source", "expressions", "markup"},
    "lesson": {"problems", "source", "expressions", "markup", "quiz"},
    "course": {"problems", "lesson"},
    "check": {"problems", "source", "expressions", "markup", "quiz", "lesson", "course"},
}


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"app.{alias.name}" for alias in node.names} if node.module == "app" else {node.module}
    return {name for name in found if name != "app.__version__"}


FILES = sorted(path for path in (ROOT / "app").rglob("*.py") if path.name not in ("__main__.py", "main.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    if module == "app":
        return
    ours = {room(name) for name in imported(path) if name.split(".")[0] == "app"}
    assert ours <= MAY_IMPORT[room(module)]


@pytest.mark.parametrize("path", sorted((ROOT / "app/lessons").rglob("*.py")), ids=lambda path: path.relative_to(ROOT / "app").as_posix())
def test_the_rooms_of_lessons_are_in_one_order(path):
    names = [name.split(".") for name in imported(path)]
    own = path.relative_to(ROOT / "app/lessons").with_suffix("").parts[0]
    others = {parts[2] for parts in names if parts[:2] == ["app", "lessons"] and len(parts) > 2} - {own}
    assert others <= INSIDE_LESSONS.get(own, set())


@pytest.mark.parametrize("path", sorted((ROOT / "app/machines").glob("*.py")), ids=lambda path: path.name)
def test_machines_are_pure(path):
    others = {name.split(".")[0] for name in imported(path) if name.split(".")[0] != "app"}
    assert others <= PURE | ({"importlib", "pkgutil"} if path.name == "__init__.py" else set())  # it finds the others


# What each role may build on: those before it. A role is a room, or one file of it that knows less than the rest.
ROLES = [
    ("app.machines", "app.numbers", "app.paste", "app.look", "app.settings", "app.coding", "app.charts", "app.hooks"),
    ("app.specs", "app.assets"),
    ("app.stories",),
    ("app.snapshot",),
    ("app.runs",),
    ("app.templates",),
    ("app.figures",),
    ("app.lessons", "app.page", "app.embedding", "app.share"),
    ("app.export",),
    ("app.http",),
    ("app.routes",),
]


def rank(module: str) -> int:
    """How far up a module stands, by the longest name in ROLES that it begins with."""
    found = {name: place for place, names in enumerate(ROLES) for name in names if f"{module}.".startswith(f"{name}.")}
    return found[max(found, key=len)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_import_points_up(path):
    """machines ← stories ← snapshot ← runs ← figures ← pages."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    if module != "app":
        ours = {name for name in imported(path) if name.startswith("app.")}
        assert {name for name in ours if rank(name) > rank(module)} == set()


def constants(path: Path) -> list[tuple[int, str]]:
    """The texts of a file, each with its line; longer ones that only speak of a name, such as docstrings, are others."""
    return [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_a_machines_name_stands_in_its_machine_and_its_story_alone():
    """So nobody can ask `if name == "…"`: what differs from widget to widget is in its record."""
    homes = {module: name for module, name in (_named(path) for path in (ROOT / "app/machines").glob("*.py")) if name}
    assert len(homes) == len(MACHINES)
    strays = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        room, *inner = path.relative_to(ROOT / "app").with_suffix("").parts
        own = homes.get(inner[0]) if room in ("machines", "stories") and inner else None
        strays += [f"{path.relative_to(ROOT)}:{line} says {text!r}" for line, text in constants(path) if text in MACHINES and text != own]
    assert strays == []


def _named(path: Path) -> tuple[str, str]:
    """A file of app/machines and the name that its MACHINE has there."""
    found = re.search(r'^MACHINE = Machine\(\n    name="([a-z-]+)"', path.read_text(), re.MULTILINE)
    return path.stem, found[1] if found else ""


def test_shared_templates_ask_for_no_machine_by_name():
    shared = [path for path in (ROOT / "templates").iterdir() if path.suffix in (".html", ".jinja")] + [
        ROOT / "templates/widgets/parts.jinja"
    ]
    found = [(path.name, name) for path in shared for name in MACHINES for quote in "\"'" if f"{quote}{name}{quote}" in path.read_text()]
    assert found == []


def named_in(readme: Path) -> set[str]:
    """What stands in backticks in the first column of a README's tables."""
    rows = re.findall(r"^\| (`[^|]+) \|", readme.read_text(), re.MULTILINE)
    return {name.strip("`").rstrip("/") for row in rows for name in row.split(", ")}


@pytest.mark.parametrize("readme", sorted((ROOT / "app").rglob("README.md")), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_readme_names_every_room_and_file_beside_it_and_no_other(readme):
    there = {
        path.name
        for path in readme.parent.iterdir()
        if (path.suffix == ".py" or path.is_dir()) and path.name not in ("__init__.py", "__pycache__")
    }
    named = {name.split("/")[0] for name in named_in(readme)}
    assert named == there


def test_the_readme_names_every_page():
    named = re.findall(r"^\| `/widgets/([a-z-]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert named == list(PAGES)


def test_widgets_never_import_each_other():
    for path in (ROOT / "static/js/widgets").glob("*.js"):
        own = path.name.split(".")[0]
        for target in re.findall(r'(?:from|import\()\s*"\./([^"]+)"', path.read_text()):
            assert target.split(".")[0] == own, f"{path.name} imports {target}"


def test_core_scripts_know_no_widget_and_only_run_fetches():
    for path in (ROOT / "static/js/core").glob("*.js"):
        source = path.read_text()
        assert "widgets/" not in re.sub(r"`\$\{base\}widgets/", "", source)
        assert path.name == "run.js" or not re.search(r"(?<![.\w])fetch\(", source)
    assert "document" not in (ROOT / "static/js/core/player.js").read_text()


def test_core_scripts_know_no_field_of_a_spec():
    """What is special about a field is said where it stands, in its template."""
    fields = {field.name for machine in MACHINES.values() for field in machine.fields}
    assert len(fields) > 20
    for path in (ROOT / "static/js/core").glob("*.js"):
        named = set(re.findall(r'(?:name|data-field|data-part|for)="([^"$]+)"', path.read_text()))
        assert named & fields == set(), path.name
        assert '"offset"' not in path.read_text()


def test_a_page_preloads_every_module_that_its_first_step_needs():
    core = ROOT / "static/js/core"
    needed, found = {"widget"}, set()
    while needed - found:
        name = min(needed - found)
        found.add(name)
        needed |= set(re.findall(r'^import .* from "\./([a-z-]+)\.js";$', (core / f"{name}.js").read_text(), re.MULTILINE))
    listed = re.search(r"for name in \(([^)]*)\)", (ROOT / "templates/modules.html").read_text())
    assert listed
    assert re.findall(r'"([a-z-]+)"', listed[1]) == sorted(found)


@pytest.mark.parametrize("path", sorted((ROOT / "static/js/core").glob("*.js")), ids=lambda path: path.name)
def test_no_function_of_core_is_long(path):
    """By the formatting of these files: what begins at some depth ends with the first brace that closes there."""
    lines = path.read_text().splitlines()
    for start, line in enumerate(lines):
        head = re.match(r"( *)(?:export )?(?:async )?(?:function \w+|(?!if|for|while|switch)#?\w+)\(.*\) \{$", line)
        if head:
            assert next(end for end in range(start, len(lines)) if lines[end] == f"{head[1]}}}") - start < 100, line


def test_the_top_level_is_the_house_and_nothing_else():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert folders - {"node_modules"} <= {"app", "static", "templates", "lessons", "tests", "tilewise.egg-info"}


@pytest.mark.parametrize("path", sorted((ROOT / "static").rglob("*.js")), ids=lambda path: path.name)
def test_no_template_literal_with_a_space_stands_in_another(path):
    """What makes scripts smaller takes the inner one for code, and its spaces go."""
    inner = re.findall(r"\$\{[^}`]*`([^`]*)`", path.read_text())
    assert not [text for text in inner if re.search(r"\s", re.sub(r"\$\{[^}]*\}", "", text))]
