"""Attention one tile at a time, in the two ways that FlashAttention has done it, beside the standard way.

    python tiled_attention.py      prints the lesson's small example by all three

Only NumPy is needed. No mask and no batch, so that the accumulation stands alone.
Shapes: q [n_q, d], k [n_k, d], v [n_k, d_v]; the output is [n_q, d_v] and lse [n_q].
"""

import numpy as np


def standard(q, k, v, scale):
    """The whole table of scores, the whole table of shares, then their sum over values."""
    s = q @ k.T * scale  # [n_q, n_k], stored
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)  # [n_q, n_k], stored
    return p @ v


def spans(n, block):
    """Slices of at most `block` that cover 0 to n; the last may be shorter."""
    return [slice(start, min(start + block, n)) for start in range(0, n, block)]


def flash2(q, k, v, scale, block_q, block_k):
    """FlashAttention-2's order: Q tiles outside, acc undivided inside, one division at the end. Gives output and lse."""
    output, lse = np.empty((len(q), v.shape[1])), np.empty(len(q))
    for rows in spans(len(q), block_q):
        q_tile = q[rows]  # loaded once; it stays
        m = np.full(len(q_tile), -np.inf)
        l = np.zeros(len(q_tile))
        acc = np.zeros((len(q_tile), v.shape[1]))
        for cols in spans(len(k), block_k):
            s = q_tile @ k[cols].T * scale  # the only scores there are
            m_new = np.maximum(m, s.max(axis=1))
            alpha = np.exp(m - m_new)  # one a row; exp(-inf) = 0 at the first tile
            p = np.exp(s - m_new[:, None])
            l = alpha * l + p.sum(axis=1)
            acc = alpha[:, None] * acc + p @ v[cols]
            m = m_new  # s and p are dropped here
        output[rows] = acc / l[:, None]
        lse[rows] = m + np.log(l)
    return output, lse


def flash1(q, k, v, scale, block_q, block_k):
    """FlashAttention-1's order: K/V tiles outside; O, l and m live in slow memory, and O is divided after every tile."""
    output = np.zeros((len(q), v.shape[1]))
    l, m = np.zeros(len(q)), np.full(len(q), -np.inf)
    for cols in spans(len(k), block_k):
        k_tile, v_tile = k[cols], v[cols]  # loaded once; they stay
        for rows in spans(len(q), block_q):
            s = q[rows] @ k_tile.T * scale
            m_tile = s.max(axis=1)
            p = np.exp(s - m_tile[:, None])  # against the tile's own highest
            m_new = np.maximum(m[rows], m_tile)
            alpha, beta = np.exp(m[rows] - m_new), np.exp(m_tile - m_new)
            l_rescaled = alpha * l[rows]
            l_new = l_rescaled + beta * p.sum(axis=1)
            weighted = l_rescaled[:, None] * output[rows] + beta[:, None] * (p @ v_tile)  # l · O: undivided again
            output[rows] = weighted / l_new[:, None]
            l[rows], m[rows] = l_new, m_new
    return output, m + np.log(l)


def main():
    q = np.array([[1.0, 0], [0, 1]])
    k = np.array([[1.0, 2], [2, 1], [3, 0], [2, 1]])
    v = np.array([[2.0, 0], [0, 2], [0, 2], [1, 1]])
    np.set_printoptions(precision=3, suppress=True)
    print("standard", standard(q, k, v, 1).tolist())
    for name, way in (("flash2  ", flash2), ("flash1  ", flash1)):
        output, lse = way(q, k, v, 1, 2, 2)
        print(name, output.tolist(), "lse", lse.tolist())


if __name__ == "__main__":
    main()
