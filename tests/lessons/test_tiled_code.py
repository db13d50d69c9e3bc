"""The program of the lesson output-accumulation: it runs alone, agrees with the machines, and its tests catch planted bugs."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from app.machines import MACHINES
from app.runs import snapshot

CODE = Path(__file__).parents[2] / "lessons" / "output-accumulation" / "code"
SMALL = {"q": [[1, 0], [0, 1]], "k": [[1, 2], [2, 1], [3, 0], [2, 1]], "v": [[2, 0], [0, 2], [0, 2], [1, 1]], "scale": 1.0}


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiled_attention", CODE / "tiled_attention.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "way"), [("fa2", "flash2"), ("fa1", "flash1")])
@pytest.mark.parametrize("blocks", [(2, 2), (1, 3)])
def test_program_agrees_with_the_machine(program: ModuleType, name: str, way: str, blocks: tuple[int, int]) -> None:
    machine = MACHINES["tiled-attention"]
    spec = machine.spec(**SMALL, block_q=blocks[0], block_k=blocks[1], algorithm=name, format="float64")
    given = [np.array(SMALL[part], dtype=float) for part in ("q", "k", "v")]
    output, lse = getattr(program, way)(*given, 1.0, *blocks)
    last = snapshot(machine, spec, machine.steps(spec))["state"]
    np.testing.assert_allclose(output, last["output"], rtol=1e-14)
    np.testing.assert_allclose(lse, last["lse"], rtol=1e-14)


def _student_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # -I keeps this project off the path
        [sys.executable, "-I", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}", str(folder)],
        check=False, cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_it_runs_alone(tmp_path: Path) -> None:
    shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    assert _student_tests(tmp_path / "code").returncode == 0
    said = subprocess.run(
        [sys.executable, "-I", "tiled_attention.py"], cwd=tmp_path / "code", check=False, capture_output=True, text=True, timeout=60
    )
    assert [line.split()[0] for line in said.stdout.splitlines()] == ["standard", "flash2", "flash1"]


BUGS = [
    ("factor inverted", "alpha = np.exp(m - m_new)  #", "alpha = np.exp(m_new - m)  #"),
    ("acc not rescaled", "acc = alpha[:, None] * acc + p @ v[cols]", "acc = acc + p @ v[cols]"),
    ("one maximum for the tile", "m_new = np.maximum(m, s.max(axis=1))", "m_new = np.maximum(m, s.max())"),
    ("m left out of lse", "lse[rows] = m + np.log(l)", "lse[rows] = np.log(l)"),
    ("tail lost", "for start in range(0, n, block)]", "for start in range(0, n - n % block or n, block)]"),
    ("fa1 forgets to undo its division", "weighted = l_rescaled[:, None] * output[rows]", "weighted = alpha[:, None] * output[rows]"),
]


@pytest.mark.parametrize(("old", "new"), [bug[1:] for bug in BUGS], ids=[bug[0] for bug in BUGS])
def test_a_planted_bug_fails_a_students_test(tmp_path: Path, old: str, new: str) -> None:
    shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__"))
    source = (tmp_path / "code" / "tiled_attention.py").read_text()
    assert source.count(old) == 1
    (tmp_path / "code" / "tiled_attention.py").write_text(source.replace(old, new))
    assert _student_tests(tmp_path / "code").returncode == 1
