"""One row of attention, split over workers and put together again.

    python split_row.py      prints the lesson's example, split in several ways

Only NumPy is needed. scores [n]; values [n, d]. A partial result is (m, l, acc) with acc [d]; a finished one is (lse, output).
"""

import numpy as np

EMPTY_M = -np.inf


def work(scores, values):
    """One worker's part of the row: (m, l, acc). Masked scores are −inf; a part without a live key gives (−inf, 0, 0)."""
    live = scores > EMPTY_M
    if not live.any():
        return EMPTY_M, 0.0, np.zeros(values.shape[1])
    m = scores[live].max()
    sizes = np.exp(scores[live] - m)
    return m, sizes.sum(), sizes @ values[live]


def merge(a, b):
    """Two partial results made one. An empty side is left out, so that the other comes through untouched."""
    if a[0] == EMPTY_M:
        return b
    if b[0] == EMPTY_M:
        return a
    m = max(a[0], b[0])
    factor_a, factor_b = np.exp(a[0] - m), np.exp(b[0] - m)  # one of them is 1
    return m, a[1] * factor_a + b[1] * factor_b, a[2] * factor_a + b[2] * factor_b


def tree(parts):
    """Merge neighbours, round by round."""
    while len(parts) > 1:
        pairs = [merge(*parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(parts) - len(parts) % 2 :]
    return parts[0]


def finish(part):
    """(lse, output) of a partial result; a row without a live key gives (−inf, 0)."""
    m, l, acc = part
    return (m + np.log(l), acc / l) if l > 0 else (EMPTY_M, np.zeros_like(acc))


def merge_finished(lses, outputs):
    """Finished results of all parts made one: natural lse [parts], outputs [parts, d]."""
    lses, outputs = np.asarray(lses), np.asarray(outputs)
    top = lses.max()
    if top == EMPTY_M:
        return EMPTY_M, np.zeros(outputs.shape[1])
    live = lses > EMPTY_M
    sizes = np.exp(lses[live] - top)  # the largest is 1: nothing overflows
    return top + np.log(sizes.sum()), sizes @ outputs[live] / sizes.sum()


def main():
    scores = np.array([1.0, 3, 2, 5, 4])
    values = np.array([[10.0], [20], [30], [40], [50]])
    for cuts in ([], [1], [2], [3], [4], [3, 3], [1, 2, 3, 4]):
        parts = [work(*part) for part in zip(np.split(scores, cuts), np.split(values, cuts), strict=True)]
        lse, output = finish(tree(parts))
        lse_f, output_f = merge_finished(*zip(*map(finish, parts), strict=True))
        print(f"cut after {cuts!s:13} lse {lse:.6f} output {output[0]:.6f}   from finished parts: {lse_f:.6f} {output_f[0]:.6f}")


if __name__ == "__main__":
    main()
