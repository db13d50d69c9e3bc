"""The pure parts of the GPU measurement, without a GPU, PyTorch or Triton; and the shape of what it wrote."""

import ast
import copy
import doctest
import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LESSON = Path(__file__).parents[2] / "lessons/memory-traffic"
SCRIPT = LESSON / "code/measure_gpu.py"
MEASURED = LESSON / "data/h200.json"


def load(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gpu = load("measure_gpu")


def made_up(tokens=gpu.TOKENS, lengths=gpu.LENGTHS):
    """A result with the shape of a real one and times that no GPU gave."""
    times = [1.0, 2.0, 4.0]
    way = {"peak_bytes": 1_000, "largest_difference": 1e-7, "relative_error": 1e-6}
    kernel = {
        "block": 1024, "warps": 4, "registers": 32, "loads_per_store": 2.0, "rows_at_once_bytes": 4_000, "largest_difference": 0.0,
        "largest_relative_difference": 0.0,
    }  # fmt: skip
    attention = {
        form: {str(n): gpu.attention_row(n, form, 0.5, {"plain": way, "fused": way}, {"plain": times, "fused": times}) for n in tokens}
        for form in gpu.BACKENDS
    }
    softmax = {
        str(n): gpu.softmax_row(n, 2, dict.fromkeys(gpu.READS, kernel), dict.fromkeys((*gpu.READS, "torch"), times)) for n in lengths
    }
    return gpu.assemble(
        {"name": "none", "memory_bytes": 1, "multiprocessors": 1, "l2_bytes": 1, "capability": "0.0", "driver": "0"},
        dict.fromkeys(("python", "torch", "cuda", "triton"), "0"),
        {
            "quick": False, "repetitions": 3, "warm_up": 1, "seed": 7, "heads": 1, "head_dim": 64, "scale": 0.125, "flush_bytes": 1,
            "tf32": False, "float32_matmul_precision": "highest", "float16_reduced_precision_reduction": True,
        },
        {"bytes": 8, "time": gpu.summary(times), "bytes_per_second": 1.0},
        attention,
        softmax,
    )  # fmt: skip


def changed(result, path, value):
    """A copy of a result with one entry changed, or taken out where value is None."""
    result = copy.deepcopy(result)
    *way, last = path.split("/")
    inner = result
    for key in way:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return result


def test_its_examples_run():
    outcome = doctest.testmod(gpu)
    assert outcome.attempted >= 15
    assert outcome.failed == 0


def test_torch_and_triton_are_imported_inside_functions_only():
    tops = {
        name.split(".")[0]
        for node in ast.parse(SCRIPT.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert tops <= set(sys.stdlib_module_names)
    everywhere = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(ast.parse(SCRIPT.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert everywhere - tops <= {"torch", "triton"}


@pytest.mark.parametrize(
    ("torch", "says"),
    [
        ("raise ImportError", "PyTorch is not installed"),
        ("class cuda:\n    is_available = staticmethod(lambda: False)", "PyTorch finds no NVIDIA GPU"),
        (
            "class cuda:\n    is_available = staticmethod(lambda: True)\nclass version:\n    cuda = '13.0'",
            "Triton is not installed",
        ),
    ],
    ids=["no torch", "no gpu", "no triton"],
)
def test_without_what_it_needs_it_says_so_and_ends_cleanly(tmp_path, torch, says):
    (tmp_path / "torch.py").write_text(torch)
    (tmp_path / "triton.py").write_text("raise ImportError")
    ran = subprocess.run(
        [sys.executable, SCRIPT, "--out", tmp_path / "out.json"],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert says in ran.stdout
    assert not (tmp_path / "out.json").exists()


def test_one_repetition_is_refused_because_it_has_no_spread(capsys):
    with pytest.raises(SystemExit):
        gpu.main(["--repetitions", "1"])
    assert "at least 2" in capsys.readouterr().err


def test_sizes_are_those_of_the_lesson():
    assert gpu.TOKENS == (1024, 2048, 4096, 8192, 16384, 32768, 65536)
    assert (gpu.LENGTHS[0], gpu.LENGTHS[-1]) == (1_000, 4_194_304)
    assert set(gpu.QUICK["tokens"]) <= set(gpu.TOKENS)
    assert set(gpu.QUICK["lengths"]) <= set(gpu.LENGTHS)


@pytest.mark.parametrize("length", gpu.LENGTHS)
@pytest.mark.parametrize("multiprocessors", [16, 108, 132])
def test_rows_are_whole_waves_and_enough(length, multiprocessors):
    rows = gpu.rows_for(length, multiprocessors, free_bytes=10**15)
    wave = 4 * multiprocessors
    assert rows % wave == 0
    assert rows >= wave
    assert rows * length >= gpu.ELEMENTS
    assert rows == wave or (rows - wave) * length < gpu.ELEMENTS


@pytest.mark.parametrize("length", gpu.LENGTHS)
@pytest.mark.parametrize("free", [10**6, 8 * 10**9, 24 * 10**9])
def test_rows_fit_a_small_card(length, free):
    rows = gpu.rows_for(length, 60, free)
    assert rows == 1 or rows * length * 4 * 3 <= free / 2


@pytest.mark.parametrize("length", gpu.LENGTHS)
def test_every_length_has_settings_that_triton_takes(length):
    settings = gpu.settings_for(length)
    assert len(settings) >= 2
    for block, warps in settings:
        assert block & (block - 1) == 0
        assert warps in (1, 2, 4, 8, 16, 32)
        assert block < 2 * length
    if length >= 2 * max(block for block, _ in gpu.SETTINGS):
        assert settings == list(gpu.SETTINGS)


def test_traffic_agrees_with_the_counted_reads_of_the_machine():
    from app.machines import passes

    for method, reads in gpu.READS.items():
        steps = passes.METHODS["online-shares" if method == "online" else method]
        assert reads == len(steps)
        assert steps.count("share") == gpu.WRITES
        assert gpu.traffic_bytes(method, 1_000, 3) == (len(steps) + 1) * 3 * 1_000 * 4
    assert gpu.traffic_bytes("safe", 10, 1) / gpu.traffic_bytes("online", 10, 1) == 4 / 3


def test_summary_agrees_with_numpy():
    samples = np.random.default_rng(3).lognormal(size=101)
    found = gpu.summary(samples)
    wanted = [*np.quantile(samples, [0.5, 0.25, 0.75]), samples.min(), samples.max()]
    assert list(found.values()) == pytest.approx(wanted, rel=1e-5)


def test_a_ratio_is_taken_round_by_round():
    slow_round = gpu.ratio([4.0, 40.0, 4.0], [3.0, 30.0, 3.0])
    assert list(slow_round.values()) == pytest.approx([4 / 3] * 5, rel=1e-5)
    with pytest.raises(ValueError, match="shorter"):
        gpu.ratio([1.0, 2.0], [1.0])


class TritonOfNumPy:
    """What the kernels ask of triton.language, in NumPy, for the one program that is running."""

    int64 = np.int64
    arange = staticmethod(np.arange)
    exp = staticmethod(np.exp)
    maximum = staticmethod(np.maximum)

    def __init__(self):
        self.program = 0
        self.reads = 0

    def program_id(self, axis):
        return ProgramId(self.program)

    def load(self, address, mask, other):
        self.reads += int(mask.sum())
        memory, offsets = address
        return np.where(mask, memory[np.where(mask, offsets, 0)], np.float32(other))

    def store(self, address, value, mask):
        memory, offsets = address
        memory[offsets[mask]] = value[mask]

    def sum(self, x, axis):
        return x.sum(axis, dtype=np.float32)

    def max(self, x, axis):
        return x.max(axis)


class ProgramId(int):
    def to(self, kind):
        return int(self)


class Pointer:
    def __init__(self, memory, offset=0):
        self.memory, self.offset = memory, offset

    def __add__(self, more):
        return Pointer(self.memory, self.offset + more)

    def __iter__(self):
        return iter((self.memory, self.offset))


@pytest.mark.parametrize("method", gpu.READS)
@pytest.mark.parametrize(("rows", "length", "block"), [(3, 1, 4), (2, 7, 8), (2, 8, 8), (3, 33, 8), (1, 100, 16)])
def test_the_kernels_code_gives_softmax_and_reads_as_counted(method, rows, length, block):
    module = load("measure_gpu_on_numpy")
    module.tl = TritonOfNumPy()
    scores = np.random.default_rng(length).normal(size=(rows, length)).astype(np.float32)
    shares = np.full_like(scores, np.nan)
    for module.tl.program in range(rows):
        getattr(module, f"softmax_{method}")(Pointer(scores.reshape(-1)), Pointer(shares.reshape(-1)), length, block)
    size = np.exp(scores.astype(np.float64) - scores.max(1, keepdims=True))
    assert shares == pytest.approx(size / size.sum(1, keepdims=True), rel=1e-5)
    assert module.tl.reads == gpu.READS[method] * scores.size


def test_only_the_naive_kernel_fails_on_large_scores():
    module = load("measure_gpu_on_numpy")
    module.tl = TritonOfNumPy()
    scores = np.array([100.0, 101.0, 99.0], np.float32)
    sound = {}
    for method in gpu.READS:
        shares = np.full_like(scores, np.nan)
        with np.errstate(all="ignore"):
            getattr(module, f"softmax_{method}")(Pointer(scores), Pointer(shares), 3, 2)
        sound[method] = bool(np.isfinite(shares).all())
    assert sound == {"naive": False, "safe": True, "online": True}


def test_an_assembled_result_has_the_right_shape_and_is_strict_json():
    result = made_up()
    assert gpu.problems(result) == []
    assert gpu.problems(json.loads(json.dumps(result, allow_nan=False))) == []
    row = result["softmax"]["rows"]["1000"]
    assert row["safe"]["bytes_per_second"] == pytest.approx(row["safe"]["bytes"] / 2e-3)
    assert result["attention"]["float32"]["rows"]["32768"]["score_table_bytes"] == 4 * 2**30


def test_a_way_that_ran_out_of_memory_is_recorded_and_allowed():
    result = made_up()
    fused = {"peak_bytes": 1, "largest_difference": 0.0, "relative_error": 0.0}
    found = {"plain": {"failed": "out of memory"}, "fused": fused}
    row = gpu.attention_row(65536, "float32", 0.5, found, {"fused": [1.0, 2.0]})
    assert row["plain"] == {"failed": "out of memory"}
    assert "plain_over_fused" not in row
    result["attention"]["float32"]["rows"]["65536"] = row
    assert gpu.problems(result) == []


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("schema", 2, "schema: 2"),
        ("device/driver", None, "device.driver: missing"),
        ("device/host", "x", "device.host: unknown"),
        ("settings/tf32", 0, "settings.tf32"),
        ("settings/repetitions", True, "settings.repetitions"),
        ("memory_copy/time/median", math.nan, "memory_copy.time.median: nan"),
        ("memory_copy/time/median", 9.0, "memory_copy.time: out of order"),
        ("attention/float16/rows", {}, "rows: none"),
        ("attention/float16/rows/1024/tokens", 7, "attention.float16.rows.1024.tokens: 7"),
        ("attention/float16/rows/1024/plain/peak_bytes", "1", "attention.float16.rows.1024.plain.peak_bytes: '1'"),
        ("attention/float16/rows/1024/plain_over_fused", None, "plain_over_fused: missing"),
        ("attention/float16/rows/1024", 3, "attention.float16.rows.1024: not an object"),
        ("softmax/rows/1000/online/largest_difference", math.inf, "softmax.rows.1000.online.largest_difference: inf"),
        ("softmax/rows/1000/naive", None, "softmax.rows.1000.naive: missing"),
    ],
)
def test_a_wrong_shape_is_named(path, value, says):
    found = gpu.problems(changed(made_up(), path, value))
    assert any(says in line for line in found), found


@pytest.mark.parametrize("nonsense", [None, [], 3, "x"])
def test_nonsense_has_the_wrong_shape(nonsense):
    assert gpu.problems(nonsense)


def test_the_fingerprint_sees_what_a_program_does_and_nothing_else():
    source = SCRIPT.read_text()
    assert gpu.fingerprint(source) == gpu.fingerprint(
        source.replace("# Statistics", "# Other words").replace("Median, quartiles", "The median")
    )
    assert gpu.fingerprint(source) != gpu.fingerprint(source.replace("l * alpha + ", "l + ", 1))


# What it wrote on an H200.


@pytest.fixture(scope="module")
def measured():
    return json.loads(MEASURED.read_text())


def test_the_committed_numbers_have_the_right_shape_and_all_sizes(measured):
    assert gpu.problems(measured) == []
    assert measured["settings"]["quick"] is False
    assert measured["settings"]["tf32"] is False
    assert measured["settings"]["repetitions"] == gpu.REPETITIONS
    assert "H200" in measured["device"]["name"]
    assert list(measured["softmax"]["rows"]) == [str(n) for n in gpu.LENGTHS]
    for table in measured["attention"].values():
        assert list(table["rows"]) == [str(n) for n in gpu.TOKENS]


def test_the_committed_numbers_were_made_by_this_script(measured):
    assert measured["script"] == {"name": SCRIPT.name, "fingerprint": gpu.fingerprint(SCRIPT.read_text())}


def test_the_committed_results_were_right_and_no_pass_was_optimised_away(measured):
    for row in measured["softmax"]["rows"].values():
        for method, reads in gpu.READS.items():
            assert row[method]["loads_per_store"] == reads
            assert row[method]["largest_relative_difference"] < 1e-5
            assert row[method]["bytes"] == gpu.traffic_bytes(method, row["length"], row["rows"])
    for form, bound in {"float16": 2e-3, "float32": 1e-5}.items():
        for row in measured["attention"][form]["rows"].values():
            for way in ("plain", "fused"):
                assert "failed" in row[way] or row[way]["relative_error"] < bound
