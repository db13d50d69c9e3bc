"""Imports point one way only, and nothing in the project reads what is not in it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PURE = {
    "abc", "bisect", "collections", "dataclasses", "enum", "fractions", "functools", "itertools", "math", "operator", "random", "struct", "typing", "numpy", "ml_dtypes",
}  # fmt: skip
MAY_IMPORT = {
    "app.machines": {"app.machines"},
    "app.numbers": set(),
    "app.specs": {"app.machines", "app.numbers"},
    "app.look": set(),
    "app.hooks": {"app.look", "app.numbers"},
    "app.stories": {"app.machines", "app.numbers", "app.specs", "app.look", "app.figures", "app.stories"},
    "app.snapshot": {"app.machines", "app.numbers", "app.specs", "app.stories"},
    "app.runs": {"app.machines", "app.numbers", "app.specs", "app.stories", "app.snapshot"},
    "app.templates": {"app.numbers", "app.snapshot"},
    "app.figures": {"app.machines", "app.numbers", "app.stories", "app.snapshot", "app.runs", "app.templates", "app.figures"},
    "app.lessons": {
        "app", "app.machines", "app.numbers", "app.specs", "app.stories", "app.snapshot", "app.runs", "app.figures", "app.templates", "app.lessons",
    },
    "app.embedding": {"app.machines", "app.specs"},
    "app.share": {"app.machines", "app.stories"},
    "app.widgets": {"app.machines", "app.specs", "app.stories", "app.look", "app.snapshot", "app.runs", "app.embedding", "app.templates"},
    "app.settings": set(),
    "app.export": {"app.assets", "app.lessons", "app.snapshot", "app.stories", "app.runs", "app.specs", "app.widgets"},
    "app.coding": set(),
    "app.assets": {"app.coding"},
    "app.web": {
        "app", "app.machines", "app.numbers", "app.specs", "app.stories", "app.look", "app.hooks", "app.snapshot", "app.runs", "app.figures", "app.settings", "app.coding",
        "app.assets", "app.widgets", "app.lessons", "app.embedding", "app.share", "app.templates", "app.web",
    },
}  # fmt: skip


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


@pytest.mark.parametrize("path", sorted((ROOT / "app/machines").glob("*.py")), ids=lambda path: path.name)
def test_machines_are_pure(path):
    others = {name.split(".")[0] for name in imported(path) if name.split(".")[0] != "app"}
    assert others <= PURE


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


def test_the_top_level_is_the_house_and_nothing_else():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert folders - {"node_modules"} <= {"app", "static", "templates", "lessons", "tests", "tilewise.egg-info"}
