"""SciPy's answer to an attention problem, and how far rounding may carry a machine's answer from it.

The notation is that of tests/machines/bounds.py: u, γ(k), η, R = max(s) − min(s) over a row's live scores, T tiles, blocks of b keys.

    scores   each term q·k meets its product, at most d additions, the scale's own rounding and the product with it:
             |ŝ − s| ≤ γ(d + 4)·scale·Σ|q||k| + (d + 1)·η.    D is the largest of these in a row, the oracle's own included.
    softmax  of scores moved by at most D: each share changes by a factor between exp(−2D) and exp(2D), lse by at most D.
    fa2      factors met by one term of l: its exponential 2, b additions in its tile, and for each tile the addition,
             then alpha 2 and the product; all arguments together R + 2D:    k = b + 4T + 4 + R + 2D;  acc one more for p·v
    fa1      the same, and for each tile O · l_rescaled and the division; l_old drops out, as the same rounded l divides
             and multiplies. beta adds an exponential and a product:         k = b + 7T + 7 + R + 2D
    output   both sums and the division:  γ(2k + 3)·W̃ on the moved scores, with W̃ ≤ exp(2D)·W, W = Σ share·|v|
    standard l: n additions, 2, R; each share that and a division; the sum a product and n additions: γ(3n + 8 + 2R + 4D)·W̃
"""

import math

import numpy as np
import scipy.special

from tests.machines import tiled_model as model
from tests.machines.bounds import gamma
from tests.machines.scalar_model import smallest, unit_roundoff

DOUBLE = 2.0**-53


class Oracle:
    """For a spec in which every format is the same: float32 or float64.

    output [n_q, d_v], lse [n_q], m [n_q]   exact up to float64's rounding; 0, −inf and −inf where no key is live
    """

    def __init__(self, block_q=2, block_k=2, algorithm="fa2", order="left", **given):
        problem = model.Problem(**given)
        self.problem = problem
        self.q, self.k, self.v = map(np.array, (problem.q, problem.k, problem.v))
        self.live = np.array(problem.live)
        self.u, self.eta = unit_roundoff(problem.format), smallest(problem.format)
        scale = 1 / math.sqrt(problem.d) if given.get("scale", "auto") == "auto" else given["scale"]
        self.scores = np.where(self.live, (self.q @ self.k.T) * scale, -np.inf)
        sizes = (np.abs(self.q) @ np.abs(self.k).T) * abs(scale)
        d = problem.d
        self.moved = np.where(self.live, (gamma(d + 4, self.u) + gamma(d + 4, DOUBLE)) * sizes + (d + 1) * self.eta, 0).max(axis=1)
        some = self.live.any(axis=1)
        self.output, self.weight = np.zeros((2, problem.n_q, problem.d_v))
        self.m, self.lse, self.spread = np.full(problem.n_q, -np.inf), np.full(problem.n_q, -np.inf), np.zeros(problem.n_q)
        if some.any():
            shares = scipy.special.softmax(self.scores[some], axis=1)
            self.output[some], self.weight[some] = shares @ self.v, shares @ np.abs(self.v)
            self.lse[some] = scipy.special.logsumexp(self.scores[some], axis=1)
            self.m[some] = self.scores[some].max(axis=1)
            self.spread[some] = self.m[some] - np.where(self.live, self.scores, np.inf)[some].min(axis=1)
        self.tiles = -(-problem.n_k // block_k)
        self.longest = min(block_k, problem.n_k)
        self.k_of = {"fa2": self.longest + 4 * self.tiles + 4, "fa1": self.longest + 7 * self.tiles + 7}[algorithm]

    def _output(self, factors):
        own = gamma(4 * self.problem.n_k + 20 + 4 * float(self.spread.max()), DOUBLE)
        moved = np.exp(2 * self.moved)
        relative = np.array([gamma(k, self.u) for k in factors]) * moved + (moved - 1) + own
        lost = 4 * (self.problem.n_k + self.tiles) * (1 + np.abs(self.v).max()) * self.eta
        return relative[:, None] * self.weight + lost

    def allowed(self):
        """How far each number of a tiled output may be away."""
        return self._output(2 * (self.k_of + self.spread + 2 * self.moved) + 3)

    def allowed_standard(self):
        return self._output(3 * self.problem.n_k + 8 + 2 * self.spread + 4 * self.moved)

    def allowed_lse(self):
        factors = self.k_of + self.spread + 2 * self.moved
        logs = 2 * math.log(self.problem.n_k) + np.where(np.isfinite(self.lse), np.abs(self.lse), 0) + self.moved
        rounding = np.array([gamma(k, self.u) for k in factors]) + self.u * logs
        own = gamma(4 * self.problem.n_k + 20, DOUBLE) * (1 + logs)
        return 1.01 * rounding + self.moved + own + self.problem.n_k * self.eta

    def shares(self):
        """P in full, with rows of 0 where no key is live."""
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(scipy.special.softmax(self.scores, axis=1), nan=0.0)
