"""The kernel's inverse on exchangeable priors over two letters, where doubles lose all digits.

With Q(z) = sum C(n,k) g(k) z^k, the mass of an output with w ones is the coefficient of t^w in the sum of
C(n,k) g(k) (t - r)^k (1 - r t)^(n-k), over C(n,w) (1-r)^n: an alternating sum. It is taken with so many bits that its
sign is certain.

Source: spec privacy_notions 2 ("exchangeable m=2, large n").
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, arb_poly, ctx
from numpy.typing import NDArray

__all__ = ["alternating_sums"]

_MOST_BITS = 1 << 15


def alternating_sums(log_sequence: NDArray[np.float64], epsilon: float) -> tuple[NDArray[np.float64], bool]:
    """p_Y of one sequence with w ones, for w = 0..n, and whether it is a law.

    Args:
        log_sequence: (n + 1,) ln g(k), the probability of one sequence with k ones.
        epsilon: of the kernel, > 0.

    Returns:
        (masses, feasible): (n + 1,) doubles, and whether none is negative. What cannot be told from 0 counts as 0.
    """
    n = len(log_sequence) - 1
    if epsilon <= 0:
        return np.full(n + 1, 2.0**-n), bool(np.ptp(log_sequence) == 0)
    bits = 128 + math.ceil(2 * n * math.log2(1.0 / -math.expm1(-epsilon)) + 2 * n)
    while True:
        found = _sums(log_sequence, epsilon, min(bits, _MOST_BITS))
        if bits >= _MOST_BITS or all(_certain(each) for each in found):
            break
        bits *= 2
    masses = np.array([float(each.mid()) if _certain(each) else 0.0 for each in found])
    return masses, bool((masses >= 0).all())


def _certain(value: arb) -> bool:
    return not value.contains(0) or value.is_zero()


def _sums(log_sequence: NDArray[np.float64], epsilon: float, bits: int) -> list[arb]:
    n = len(log_sequence) - 1
    before = ctx.prec
    ctx.prec = bits
    try:
        r = (-arb(epsilon)).exp()
        # The numbers that the prior was given by are taken as exact: doubles of ln g.
        g = [arb(float(value)).exp() if value > -math.inf else arb(0) for value in log_sequence]
        # P(t) = (1 - r t)^n Q((t - r)/(1 - r t)) = (1 - r t)^n Q(-1/r + (1/r - r)/(1 - r t)): two linear substitutions.
        ways = [arb.bin_uiui(n, k) for k in range(n + 1)]
        sums = arb_poly([value * count for value, count in zip(g, ways, strict=True)])
        inner = [*sums(arb_poly([-1 / r, 1 / r - r])).coeffs()]
        inner += [arb(0)] * (n + 1 - len(inner))
        outer = [*arb_poly(inner[::-1])(arb_poly([1, -r])).coeffs()]
        outer += [arb(0)] * (n + 1 - len(outer))
        scale = (1 - r) ** n
        return [value / count / scale for value, count in zip(outer, ways, strict=True)]
    finally:
        ctx.prec = before
