"""Measure on a GPU what this lesson counts: memory traffic, memory used, and the time both take.

You need an NVIDIA GPU, PyTorch and Triton (Triton comes with PyTorch on Linux). Then:

    python measure_gpu.py --quick               few sizes, few repetitions: a first try
    python measure_gpu.py --out measured.json   all sizes: under a minute on an H200, longer on a smaller card

Two things are measured.

(a) Attention for one head of 64 numbers. The plain way writes the table of scores to the GPU's memory and reads it back; PyTorch's
    fused kernels never store that table. float16 runs the flash kernel. float32 runs the memory-efficient one, because the flash
    kernel takes no float32.
(b) Softmax over long rows by three Triton kernels whose code differs only in its passes: naive (sum, shares), safe (max, sum, shares)
    and online (max and sum together, shares). Each runs with the block size and the warps that a short trial finds quickest for it.

The result is one JSON file; `problems` says what its shape must be. Times are milliseconds by CUDA events.
Exit status: 0 when the file was written, and also when there is no GPU, PyTorch or Triton (a message says which, nothing is
written); 1 when the result does not have the right shape.
"""

import argparse
import ast
import hashlib
import json
import math
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

SCHEMA = 1
SEED = 7
HEAD_DIM = 64
TOKENS = tuple(2**power for power in range(10, 17))
BACKENDS = {"float16": "FLASH_ATTENTION", "float32": "EFFICIENT_ATTENTION"}
ITEM_BYTES = {"float16": 2, "float32": 4}

LENGTHS = (1_000, *(2**power for power in range(11, 23)))
ELEMENTS = 2**27
PROGRAMS_WANTED = 4
READS = {"naive": 2, "safe": 3, "online": 2}
WRITES = 1
SETTINGS = tuple(
    (block, warps) for block in (1024, 2048, 4096, 8192, 16384) for warps in (4, 8, 16, 32) if 4 <= block // (32 * warps) <= 32
)

REPETITIONS, WARM_UP = 100, 20
QUICK: dict[str, Any] = {"tokens": (1024, 4096), "lengths": (1_000, 32_768), "repetitions": 10}

NOTES = {
    "time": "CUDA events around one call. Before each call a large buffer is zeroed: that empties the L2 cache, and it keeps the GPU busy "
    "while the call's kernels queue, so waiting for the processor is not counted. Methods take turns, round by round.",
    "spread": "q1 and q3 are the quartiles over the repetitions. A ratio is taken round by round, then summarised the same way.",
    "memory": "peak_bytes is the most that was allocated during one call beyond what was there before it (inputs and cuBLAS workspace), "
    "the output included.",
    "difference": "Attention: from the same computation in float64 on the same inputs. Softmax: from torch.softmax in float32. "
    "relative_error is the norm of the difference over the norm of the reference.",
    "traffic": "bytes counts every pass over the scores as a read from global memory, plus one write of the shares. loads_per_store, "
    "counted in the compiled kernel, shows that no pass was optimised away.",
    "cache": "rows_at_once_bytes is what the rows being worked on at one moment take up. Where it is well below l2_bytes, a later pass finds "
    "its row still in the cache, so bytes_per_second can exceed what memory delivers and a pass saved brings little or nothing.",
}


# Sizes and traffic


def rows_for(length: int, multiprocessors: int, free_bytes: int) -> int:
    """How many rows of `length` float32 scores to run, one row a program.

    About 2**27 scores in all, but never fewer than four rows for each multiprocessor, and always a whole number of such waves, so that no
    multiprocessor idles at the end. Fewer where three such tables (scores, shares, torch's shares) would take over half of the free memory.

    >>> rows_for(32_768, multiprocessors=132, free_bytes=140 * 10**9)
    4224
    >>> rows_for(4_194_304, multiprocessors=132, free_bytes=140 * 10**9)
    528
    >>> rows_for(4_194_304, multiprocessors=132, free_bytes=16 * 10**9)
    158
    """
    wave = PROGRAMS_WANTED * multiprocessors
    wanted = math.ceil(ELEMENTS / length / wave) * wave
    fitting = free_bytes // 2 // (3 * 4 * length)
    if fitting >= wanted:
        return wanted
    return fitting // wave * wave if fitting >= wave else max(1, fitting)


def settings_for(length: int) -> list[tuple[int, int]]:
    """The (block, warps) worth trying: a block may overhang a short row, but not by more than the row.

    >>> settings_for(1_000)
    [(1024, 4), (1024, 8)]
    """
    return [(block, warps) for block, warps in SETTINGS if block < 2 * length]


def traffic_bytes(method: str, length: int, rows: int) -> int:
    """Bytes moved by a method in float32 if every pass goes to global memory.

    >>> [traffic_bytes(method, length=1_000, rows=1) // 4_000 for method in READS]
    [3, 4, 3]
    """
    return (READS[method] + WRITES) * length * rows * ITEM_BYTES["float32"]


def score_table_bytes(tokens: int, form: str) -> int:
    """Bytes of one table of scores, every token against every token.

    >>> score_table_bytes(32_768, "float32") / 2**30
    4.0
    """
    return tokens * tokens * ITEM_BYTES[form]


def programs_per_multiprocessor(warps: int, registers: int, threads_limit: int, registers_limit: int) -> int:
    """How many programs of `warps` warps can be at work on one multiprocessor, by its threads and by its registers.

    >>> programs_per_multiprocessor(warps=8, registers=32, threads_limit=2048, registers_limit=65536)
    8
    >>> programs_per_multiprocessor(warps=8, registers=64, threads_limit=2048, registers_limit=65536)
    4
    """
    by_threads = threads_limit // (32 * warps)
    by_registers = registers_limit // (math.ceil(max(registers, 1) / 8) * 8 * 32 * warps)
    return max(1, min(by_threads, by_registers, 32))


# Statistics


def digits(value: float, places: int = 6) -> float:
    """Six significant digits: more would be noise.

    >>> digits(1.23456789)
    1.23457
    """
    return float(f"{value:.{places}g}")


def summary(samples: Iterable[float]) -> dict[str, float]:
    """Median, quartiles and extremes of at least two samples.

    >>> summary([4.0, 1.0, 2.0, 3.0, 100.0])
    {'median': 3.0, 'q1': 2.0, 'q3': 4.0, 'min': 1.0, 'max': 100.0}
    """
    ordered = sorted(samples)
    q1, median, q3 = statistics.quantiles(ordered, n=4, method="inclusive")
    return {name: digits(value) for name, value in {"median": median, "q1": q1, "q3": q3, "min": ordered[0], "max": ordered[-1]}.items()}


def ratio(above: list[float], below: list[float]) -> dict[str, float]:
    """Summary of above / below, round by round: what slows a whole round cancels.

    >>> ratio([3.0, 4.0, 6.0], [2.0, 2.0, 4.0])["median"]
    1.5
    """
    return summary(a / b for a, b in zip(above, below, strict=True))


# (b) The three kernels. One program works on one row, block by block; the loads of a later pass go to memory (or cache) again.
# `tl` is triton.language, bound by `compiled_kernels`.

tl: Any = None


def softmax_naive(scores, shares, n, block: "tl.constexpr"):
    """Two passes and no maximum: an exp overflows float32 from a score of about 89 on."""
    row = tl.program_id(0).to(tl.int64) * n
    lane = tl.arange(0, block)
    l = 0.0
    for first in range(0, n, block):  # read n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        l += tl.sum(tl.exp(x), 0)
    for first in range(0, n, block):  # read n; write n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        tl.store(shares + row + first + lane, tl.exp(x) / l, mask=live)


def softmax_safe(scores, shares, n, block: "tl.constexpr"):
    """Three passes: the maximum, the sum, the shares."""
    row = tl.program_id(0).to(tl.int64) * n
    lane = tl.arange(0, block)
    m = -float("inf")
    for first in range(0, n, block):  # read n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        m = tl.maximum(m, tl.max(x, 0))
    l = 0.0
    for first in range(0, n, block):  # read n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        l += tl.sum(tl.exp(x - m), 0)
    for first in range(0, n, block):  # read n; write n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        tl.store(shares + row + first + lane, tl.exp(x - m) / l, mask=live)


def softmax_online(scores, shares, n, block: "tl.constexpr"):
    """Two passes: maximum and sum together, rescaling the sum when the maximum grows; then the shares."""
    row = tl.program_id(0).to(tl.int64) * n
    lane = tl.arange(0, block)
    m = -float("inf")
    l = 0.0
    for first in range(0, n, block):  # read n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    for first in range(0, n, block):  # read n; write n
        live = first + lane < n
        x = tl.load(scores + row + first + lane, mask=live, other=-float("inf"))
        tl.store(shares + row + first + lane, tl.exp(x - m) / l, mask=live)


@cache
def compiled_kernels() -> dict[str, Any]:
    """The three kernels as Triton's. Only here is Triton needed, so that the rest can be read and tested without it."""
    global tl  # noqa: PLW0603  Triton looks names up where a kernel was defined
    import triton
    import triton.language

    tl = triton.language
    return {"naive": triton.jit(softmax_naive), "safe": triton.jit(softmax_safe), "online": triton.jit(softmax_online)}


# Time


def flushing_buffer() -> Any:
    """A buffer several times the L2 cache; zeroing it throws everything else out."""
    import torch

    size = max(2**29, 4 * torch.cuda.get_device_properties(0).L2_cache_size)
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def time_in_turns(calls: Mapping[Any, Callable[[], Any]], repetitions: int, warm_up: int, flush: Any) -> dict[Any, list[float]]:
    """Milliseconds of each call in each round, the warm-up rounds left out."""
    import torch

    events: dict[Any, list[Any]] = {name: [] for name in calls}
    for _ in range(warm_up + repetitions):
        for name, call in calls.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            call()
            end.record()
            events[name].append((start, end))
    torch.cuda.synchronize()
    return {name: [start.elapsed_time(end) for start, end in pairs[warm_up:]] for name, pairs in events.items()}


def measure_copy(repetitions: int, flush: Any) -> dict[str, Any]:
    """One read and one write of 2 GiB (less on a small card): what the memory delivers at best."""
    import torch

    count = min(2**29, torch.cuda.mem_get_info()[0] // 16)
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    times = time_in_turns({"copy": lambda: target.copy_(source)}, repetitions, WARM_UP, flush)["copy"]
    moved = 2 * 4 * count
    return {"bytes": moved, "time": summary(times), "bytes_per_second": digits(moved / statistics.median(times) * 1e3)}


# (a) Attention


def plain_attention(q: Any, k: Any, v: Any, scale: float) -> Any:
    """Scores, shares, output, each a tensor of its own in the GPU's memory."""
    import torch

    scores = q @ k.T * scale
    return torch.softmax(scores, dim=-1) @ v


def fused_attention(q: Any, k: Any, v: Any, scale: float) -> Any:
    """PyTorch's own, with the kernel that `sdpa_kernel` has chosen."""
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], scale=scale)[0, 0]


def exact_attention(q: Any, k: Any, v: Any, scale: float) -> Any:
    """The same in float64, some queries at a time so that it fits at every size."""
    import torch

    q, k, v = q.double(), k.double(), v.double()
    chunk = max(1, 2**27 // len(k))
    return torch.cat([plain_attention(part, k, v, scale) for part in q.split(chunk)])


def peak_bytes(call: Callable[[], Any]) -> int:
    """The most memory allocated during a call, beyond what was allocated before it."""
    import torch

    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def error_of(result: Any, exact: Any) -> dict[str, float]:
    """Largest difference, and the norm of the difference over the norm of what is right."""
    wrong = result.double() - exact
    return {"largest_difference": digits(wrong.abs().max().item()), "relative_error": digits((wrong.norm() / exact.norm()).item())}


def try_once(call: Callable[[], Any], exact: Any) -> dict[str, Any]:
    """Memory and error of one call, or why it failed. The first call is left to the libraries' set-up."""
    import torch

    try:
        error = error_of(call(), exact)
        return {"peak_bytes": peak_bytes(call), **error}
    except torch.cuda.OutOfMemoryError:
        return {"failed": "out of memory"}
    except RuntimeError as problem:
        return {"failed": str(problem).splitlines()[0]}


def measure_attention(tokens: int, form: str, repetitions: int, flush: Any) -> dict[str, Any]:
    """One size in one format, both ways."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.cuda.empty_cache()
    generator = torch.Generator("cuda").manual_seed(SEED)
    q, k, v = (torch.randn(tokens, HEAD_DIM, generator=generator, device="cuda").to(getattr(torch, form)) for _ in range(3))
    scale = 1 / math.sqrt(HEAD_DIM)
    calls = {"plain": lambda: plain_attention(q, k, v, scale), "fused": lambda: fused_attention(q, k, v, scale)}

    with torch.inference_mode(), sdpa_kernel(getattr(SDPBackend, BACKENDS[form])):
        exact = exact_attention(q, k, v, scale)
        found = {name: try_once(call, exact) for name, call in calls.items()}
        largest = digits(exact.abs().max().item())
        del exact
        times = time_in_turns({name: calls[name] for name in calls if "failed" not in found[name]}, repetitions, WARM_UP, flush)
    return attention_row(tokens, form, largest, found, times)


def attention_row(
    tokens: int, form: str, largest_output: float, found: dict[str, dict[str, Any]], times: dict[str, list[float]]
) -> dict[str, Any]:
    """One size's entry in the JSON."""
    row: dict[str, Any] = {"tokens": tokens, "score_table_bytes": score_table_bytes(tokens, form), "largest_output": largest_output}
    for name, facts in found.items():
        row[name] = {"time": summary(times[name]), **facts} if name in times else facts
    if len(times) == 2:
        row["plain_over_fused"] = ratio(times["plain"], times["fused"])
        row["memory_plain_over_fused"] = digits(found["plain"]["peak_bytes"] / found["fused"]["peak_bytes"])
    return row


# (b) Softmax


def difference_from(shares: Any, expected: Any) -> dict[str, float]:
    """Largest difference from the expected shares, and largest beside its own share; some rows at a time."""
    largest = relative = 0.0
    chunk = max(1, ELEMENTS // shares.shape[1])
    for got, right in zip(shares.split(chunk), expected.split(chunk), strict=True):
        wrong = (got - right).abs()
        largest = max(largest, wrong.max().item())
        relative = max(relative, (wrong / right).max().item())
        if not wrong.isfinite().all():
            raise ArithmeticError("a softmax kernel left a share unwritten, or gave NaN")
    return {"largest_difference": digits(largest), "largest_relative_difference": digits(relative)}


def loads_per_store(ptx: str) -> float:
    """Global loads for each global store in a compiled kernel: the compiler has kept every pass if this is the method's reads.

    >>> loads_per_store("ld.global.b32 a; ld.global.b32 b; st.global.b32 c;")
    2.0
    """
    return ptx.count("ld.global") / ptx.count("st.global")


def launch(kernel: Any, scores: Any, shares: Any, setting: tuple[int, int]) -> Any:
    """Run a kernel over all rows, one program a row."""
    rows, length = scores.shape
    block, warps = setting
    return kernel[(rows,)](scores, shares, length, block=block, num_warps=warps)


def best_setting(kernel: Any, scores: Any, shares: Any, flush: Any) -> tuple[int, int]:
    """The (block, warps) with the smallest median in a short trial. It is timed afresh later, so a lucky trial does not count."""
    trials = {setting: partial(launch, kernel, scores, shares, setting) for setting in settings_for(scores.shape[1])}
    times = time_in_turns(trials, repetitions=5, warm_up=2, flush=flush)
    return min(trials, key=lambda setting: statistics.median(times[setting]))


def check_kernel(kernel: Any, scores: Any, shares: Any, setting: tuple[int, int]) -> dict[str, Any]:
    """What one setting of a kernel takes up, and how far its shares are from torch's."""
    import torch

    shares.fill_(math.nan)
    compiled = launch(kernel, scores, shares, setting)
    limits = torch.cuda.get_device_properties(0)
    rows, length = scores.shape
    resident = programs_per_multiprocessor(
        setting[1], compiled.n_regs, limits.max_threads_per_multi_processor, limits.regs_per_multiprocessor
    )
    return {
        "block": setting[0],
        "warps": setting[1],
        "registers": compiled.n_regs,
        "loads_per_store": loads_per_store(compiled.asm["ptx"]),
        "rows_at_once_bytes": min(rows, resident * limits.multi_processor_count) * length * ITEM_BYTES["float32"],
        **difference_from(shares, torch.softmax(scores, dim=-1)),
    }


def measure_softmax(length: int, repetitions: int, flush: Any) -> dict[str, Any]:
    """One row length: the best setting of each kernel by a short trial, then all methods in turns."""
    import torch

    torch.cuda.empty_cache()
    rows = rows_for(length, torch.cuda.get_device_properties(0).multi_processor_count, torch.cuda.mem_get_info()[0])
    scores = torch.randn(rows, length, generator=torch.Generator("cuda").manual_seed(SEED), device="cuda")
    shares = torch.empty_like(scores)
    kernels = compiled_kernels()
    settings = {method: best_setting(kernel, scores, shares, flush) for method, kernel in kernels.items()}
    found = {method: check_kernel(kernel, scores, shares, settings[method]) for method, kernel in kernels.items()}
    calls = {method: partial(launch, kernel, scores, shares, settings[method]) for method, kernel in kernels.items()}
    calls["torch"] = partial(torch.softmax, scores, dim=-1)
    return softmax_row(length, rows, found, time_in_turns(calls, repetitions, WARM_UP, flush))


def softmax_row(length: int, rows: int, found: dict[str, dict[str, Any]], times: dict[str, list[float]]) -> dict[str, Any]:
    """One row length's entry in the JSON."""
    row: dict[str, Any] = {"length": length, "rows": rows}
    for method, facts in found.items():
        moved = traffic_bytes(method, length, rows)
        rate = digits(moved / statistics.median(times[method]) * 1e3)
        row[method] = {"time": summary(times[method]), "bytes": moved, "bytes_per_second": rate, **facts}
    row["torch"] = {"time": summary(times["torch"])}
    row["safe_over_online"] = ratio(times["safe"], times["online"])
    row["naive_over_online"] = ratio(times["naive"], times["online"])
    return row


# The JSON


def fingerprint(source: str) -> str:
    """sha256 of a program without its comments, docstrings and layout: the same as long as the program does the same.

    >>> fingerprint("x = 1  # one") == fingerprint("x   =   1") != fingerprint("x = 2")
    True
    """

    def skeleton(node: Any) -> Any:
        if isinstance(node, list):
            return [skeleton(part) for part in node if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
        if isinstance(node, ast.AST):
            return [type(node).__name__, *([name, skeleton(part)] for name, part in ast.iter_fields(node) if part not in (None, []))]
        return repr(node)

    return hashlib.sha256(json.dumps(skeleton(ast.parse(source))).encode()).hexdigest()


def driver_version() -> str:
    """The NVIDIA driver's version; PyTorch does not tell it."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def describe_device() -> dict[str, Any]:
    import torch

    limits = torch.cuda.get_device_properties(0)
    return {
        "name": limits.name,
        "memory_bytes": limits.total_memory,
        "multiprocessors": limits.multi_processor_count,
        "l2_bytes": limits.L2_cache_size,
        "capability": f"{limits.major}.{limits.minor}",
        "driver": driver_version(),
    }


def describe_versions() -> dict[str, str]:
    import torch
    import triton

    return {"python": platform.python_version(), "torch": torch.__version__, "cuda": str(torch.version.cuda), "triton": triton.__version__}


def assemble(
    device: dict[str, Any],
    versions: dict[str, str],
    settings: dict[str, Any],
    memory_copy: dict[str, Any],
    attention: dict[str, dict[str, Any]],
    softmax: dict[str, Any],
) -> dict[str, Any]:
    """The whole JSON. Sizes are keys, as text: `attention["float32"]["rows"]["32768"]`."""
    return {
        "schema": SCHEMA,
        "script": {"name": Path(__file__).name, "fingerprint": fingerprint(Path(__file__).read_text(encoding="utf-8"))},
        "date": datetime.now(UTC).date().isoformat(),
        "device": device,
        "versions": versions,
        "settings": settings,
        "notes": NOTES,
        "memory_copy": memory_copy,
        "attention": {form: {"backend": BACKENDS[form], "rows": rows} for form, rows in attention.items()},
        "softmax": {
            "format": "float32",
            "scores": "standard normal",
            "tried": [{"block": block, "warps": warps} for block, warps in SETTINGS],
            "reads": READS,
            "writes": WRITES,
            "rows": softmax,
        },
    }


SUMMARY = {"median": float, "q1": float, "q3": float, "min": float, "max": float}
SHAPE: dict[str, Any] = {
    "schema": int,
    "script": {"name": str, "fingerprint": str},
    "date": str,
    "device": {"name": str, "memory_bytes": int, "multiprocessors": int, "l2_bytes": int, "capability": str, "driver": str},
    "versions": {"python": str, "torch": str, "cuda": str, "triton": str},
    "settings": {
        "quick": bool, "repetitions": int, "warm_up": int, "seed": int, "heads": int, "head_dim": int, "scale": float, "flush_bytes": int,
        "tf32": bool, "float32_matmul_precision": str, "float16_reduced_precision_reduction": bool,
    },
    "notes": dict.fromkeys(NOTES, str),
    "memory_copy": {"bytes": int, "time": SUMMARY, "bytes_per_second": float},
    "attention": {form: {"backend": str, "rows": dict} for form in BACKENDS},
    "softmax": {"format": str, "scores": str, "tried": list, "reads": dict.fromkeys(READS, int), "writes": int, "rows": dict},
}  # fmt: skip
WAY = {"time": SUMMARY, "peak_bytes": int, "largest_difference": float, "relative_error": float}
ATTENTION_ROW = {"tokens": int, "score_table_bytes": int, "largest_output": float}
BOTH_WAYS = {"plain_over_fused": SUMMARY, "memory_plain_over_fused": float}
METHOD = {
    "time": SUMMARY, "bytes": int, "bytes_per_second": float, "block": int, "warps": int, "registers": int, "loads_per_store": float,
    "rows_at_once_bytes": int, "largest_difference": float, "largest_relative_difference": float,
}  # fmt: skip
SOFTMAX_ROW = {
    "length": int, "rows": int, **dict.fromkeys(READS, METHOD), "torch": {"time": SUMMARY}, "safe_over_online": SUMMARY,
    "naive_over_online": SUMMARY,
}  # fmt: skip


def problems(measured: Any) -> list[str]:
    """What is wrong with the shape of a result; empty when nothing is.

    >>> problems({"schema": 2})[0]
    'schema: 2, not 1'
    """
    if not isinstance(measured, dict) or measured.get("schema") != SCHEMA:
        return [f"schema: {measured.get('schema') if isinstance(measured, dict) else measured!r}, not {SCHEMA}"]
    found = mismatches(measured, SHAPE, "")
    if found:
        return found
    for form, table in measured["attention"].items():
        for key, row in table["rows"].items():
            found += attention_problems(row, key, f"attention.{form}.rows.{key}")
    for key, row in measured["softmax"]["rows"].items():
        at = f"softmax.rows.{key}"
        found += mismatches(row, SOFTMAX_ROW, at) or ([] if str(row["length"]) == key else [f"{at}.length: {row['length']}"])
    if not measured["softmax"]["rows"] or not all(table["rows"] for table in measured["attention"].values()):
        found.append("rows: none")
    return found


def attention_problems(row: Any, key: str, at: str) -> list[str]:
    """As `problems`, for one size. A way that failed says why and has nothing else."""
    if not isinstance(row, dict):
        return [f"{at}: not an object"]
    ways = {name: {"failed": str} if "failed" in row.get(name, ()) else WAY for name in ("plain", "fused")}
    both = {} if {"failed": str} in ways.values() else BOTH_WAYS
    found = mismatches(row, {**ATTENTION_ROW, **ways, **both}, at)
    return found or ([] if str(row["tokens"]) == key else [f"{at}.tokens: {row['tokens']}"])


def mismatches(value: Any, shape: Any, at: str) -> list[str]:
    """Where a value differs from a shape: a type, or a dict of shapes with exactly its keys. Numbers are finite and not negative.

    >>> mismatches({"a": 1, "b": -2.0}, {"a": int, "b": float, "c": str}, "x")
    ['x.c: missing', 'x.b: -2.0']
    """
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{at}: not an object"]
        path = f"{at}." if at else ""
        found = [f"{path}{key}: missing" for key in shape if key not in value]
        found += [f"{path}{key}: unknown" for key in value if key not in shape]
        found += [words for key in shape if key in value for words in mismatches(value[key], shape[key], path + key)]
        if shape is SUMMARY and not found and not value["min"] <= value["q1"] <= value["median"] <= value["q3"] <= value["max"]:
            found.append(f"{at}: out of order")
        return found
    allowed = (int, float) if shape is float else shape
    if not isinstance(value, allowed) or (isinstance(value, bool) and shape is not bool):
        return [f"{at}: {value!r}, not {shape.__name__}"]
    if isinstance(value, int | float) and not (math.isfinite(value) and value >= 0):
        return [f"{at}: {value}"]
    return []


# The run


def what_is_missing() -> str | None:
    """Why nothing can be measured here, or None."""
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed"
    if not torch.cuda.is_available() or torch.version.cuda is None:
        return "PyTorch finds no NVIDIA GPU"
    try:
        import triton  # noqa: F401
    except ImportError:
        return "Triton is not installed"
    return None


def measure(tokens: Iterable[int], lengths: Iterable[int], repetitions: int, quick: bool) -> dict[str, Any]:
    """Everything, with a line on stderr as each part is done."""
    import torch

    torch.set_float32_matmul_precision("highest")  # no TF32: float32 products are float32's own
    flush = flushing_buffer()
    settings = {
        "quick": quick,
        "repetitions": repetitions,
        "warm_up": WARM_UP,
        "seed": SEED,
        "heads": 1,
        "head_dim": HEAD_DIM,
        "scale": 1 / math.sqrt(HEAD_DIM),
        "flush_bytes": flush.numel(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "float16_reduced_precision_reduction": bool(torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction),
    }
    memory_copy = measure_copy(repetitions, flush)
    say(f"copy: {memory_copy['bytes_per_second'] / 1e12:.2f} TB/s")

    attention: dict[str, dict[str, Any]] = {}
    for form in BACKENDS:
        attention[form] = {}
        for count in tokens:
            attention[form][str(count)] = row = measure_attention(count, form, repetitions, flush)
            say(f"attention {form} {count:>9,}: " + ", ".join(f"{name} {in_words(row[name])}" for name in ("plain", "fused")))

    softmax: dict[str, Any] = {}
    for length in lengths:
        softmax[str(length)] = row = measure_softmax(length, repetitions, flush)
        times = ", ".join(f"{method} {row[method]['time']['median']:.3f}" for method in (*READS, "torch"))
        say(f"softmax {length:>9,}: {times} ms; safe/online {row['safe_over_online']['median']:.3f}")
    return assemble(describe_device(), describe_versions(), settings, memory_copy, attention, softmax)


def in_words(way: dict[str, Any]) -> str:
    """One way at one size, for the progress line.

    >>> in_words({"failed": "out of memory"})
    'out of memory'
    """
    return way.get("failed") or f"{way['time']['median']:.4f} ms {way['peak_bytes'] / 1e6:,.1f} MB"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("measured.json"), help="the file to write (default: measured.json)")
    parser.add_argument("--quick", action="store_true", help="few sizes, few repetitions")
    parser.add_argument("--repetitions", type=int, help=f"timed rounds, at least 2 (default: {REPETITIONS}, quick {QUICK['repetitions']})")
    chosen = parser.parse_args(arguments)
    if chosen.repetitions is not None and chosen.repetitions < 2:
        parser.error("--repetitions: at least 2, since a spread is wanted")
    missing = what_is_missing()
    if missing:
        print(f"Nothing measured: {missing}. This program needs an NVIDIA GPU with PyTorch and Triton.")
        return 0

    plan: dict[str, Any] = QUICK if chosen.quick else {"tokens": TOKENS, "lengths": LENGTHS, "repetitions": REPETITIONS}
    measured = measure(plan["tokens"], plan["lengths"], chosen.repetitions or plan["repetitions"], chosen.quick)
    wrong = problems(measured)
    chosen.out.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(f"{chosen.out}: written")
    for line in wrong:
        print(f"wrong shape: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
