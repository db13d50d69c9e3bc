"""How far rounding may carry a result from the exact one: the textbook bound, for the online recurrence.

Each operation gives the exact result times (1 + δ), |δ| ≤ u. A product of k such factors differs from 1 by at most
γ(k) = k·u / (1 − k·u) (Higham, Accuracy and Stability of Numerical Algorithms, Lemma 3.1). Sums of terms of one sign keep
that relative bound. So count, for one term exp(s_i − m) of l, the factors it meets:

- its exponential: math.exp is within one ulp, 2u; in a shorter format the rounding, u, and next to nothing before it;
- the argument: fl(s − m) = (s − m)(1 + δ), which multiplies the exponential by exp((s − m)·δ): |s − m| factors;
- the block's sum: at most `block` additions; then one addition to l;
- each of the T − 1 blocks after it: alpha's exponential 2, the product 1, the addition 1, and alpha's argument
  |m_old − m_new| factors. The maxima only rise, so all these arguments of one term add up to at most R = max(s) − min(s).

    factors of l    k = block + 4·T + R
    factors of acc  k + 1, for the product p·v; relative to Σ p·|v|, since values may cancel
    output          both, and one for the division:  γ(2k + 2)·Σ share·|v|
    shares          size 2 + R, l, the division:     γ(k + 3 + R)·share
    lse             γ(k) from l, 2u·|log l| from the logarithm, u·|lse| from the addition

What underflows loses up to half a smallest subnormal η absolutely; l ≥ 1, so that does not grow.
SciPy's own answer, in float64, is allowed the same kind of bound with n additions in place of the blocks.
"""

import math

from tests.machines.scalar_model import smallest, unit_roundoff


def gamma(k, u):
    assert k * u < 1, "the bound says nothing here"
    return k * u / (1 - k * u)


class Bounds:
    """For one row of live and masked scores, as the format holds them."""

    def __init__(self, scores, block, name):
        live = [s for s in scores if s != -math.inf]
        self.spread = max(live) - min(live)
        self.n, self.blocks = len(scores), -(-len(scores) // block)
        self.k = block + 4 * self.blocks + self.spread
        self.u, self.eta = unit_roundoff(name), smallest(name)
        self.oracle = gamma(2 * self.n + 16 + 2 * self.spread, 2.0**-53)

    def sum(self, exact):
        return (gamma(self.k, self.u) + self.oracle) * exact + self.n * self.eta

    def share(self, exact):
        return (gamma(self.k + 3 + self.spread, self.u) + self.oracle) * exact + 2 * self.eta

    def lse(self, exact, l):
        rounding = gamma(self.k, self.u) + 2 * self.u * abs(math.log(l)) + self.u * abs(exact)
        return 1.01 * rounding + self.oracle * (1 + abs(exact)) + self.n * self.eta

    def output(self, weighted_size, largest_value):
        """weighted_size: Σ share·|v|."""
        lost = (self.n + self.blocks) * (1 + largest_value) * self.eta
        return (gamma(2 * self.k + 2, self.u) + self.oracle) * weighted_size + 2 * lost
