"""Constants of a prior before any release. The constants state how much the prior probabilities of neighbouring
databases differ, and the level from which on the symmetric kernel can be the posterior distribution of the database.

The three levels of `PriorConstants` satisfy eps_X <= eps^_X <= eps~_X for every prior. All three are 0 for the uniform
prior.

Source: Wang 2016, Section 2.3 (eps_X, eps~_X); spec privacy_notions 2 (algorithm, eps^_X, D_0).

For exchangeable priors over two letters, the inverse of the kernel is computed with more digits than doubles have.

Let g(k) be the probability of one sequence with k ones, which are rows with letter 1, and let r = e^-epsilon. The mass
of all outputs with w ones is the coefficient of t^w in the sum over k of C(n,k) g(k) (t - r)^k (1 - r t)^(n-k), divided
by (1-r)^n. A further division by C(n,w) gives the mass of one output. The terms of the sum over k alternate in sign,
and the sum is computed with enough bits to make its sign certain.

Source: spec privacy_notions 2 ("exchangeable m=2, large n").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_poly, ctx
from numpy.typing import ArrayLike, NDArray

from confide.channels.kernels import axes, inverse_cell, inverse_kernel, masses_by_distance, ratio
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_prior
from confide.contract.errors import Unsupported
from confide.contract.wire import wire

__all__ = ["PriorConstants", "alternating_sums", "kernel_inverse_law", "kernel_level", "prior_level", "row_level"]

# ---- polynomials

_MOST_BITS = 1 << 15


def alternating_sums(log_sequence: NDArray[np.float64], epsilon: float) -> tuple[NDArray[np.float64], bool]:
    """Masses p_Y of one output sequence with w ones (rows with letter 1), for w = 0..n, and whether these masses form a
    probability distribution.

    Args:
        log_sequence: ln g(k), where g(k) is the probability of one sequence with k ones, shape (n + 1,).
        epsilon: level of the kernel in nats, > 0.

    Returns:
        The masses as doubles, shape (n + 1,), and whether no mass is negative. A mass that cannot be distinguished from
        0 counts as 0.
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


# ---- constants

_STEP = 1e-12
_EXPANDED = 2**20  # exchangeable priors over three letters and more are listed up to here


@wire("PriorConstants", "prior_level row_level kernel_level constant_distortion")
@dataclass(frozen=True, kw_only=True)
class PriorConstants:
    """The constants of a prior. Levels are in nats, and infinite where some database is impossible.

    Args:
        prior_level: eps_X, the largest log ratio of the prior probabilities of two neighbouring databases. Before the
            release, eps_X bounds the log odds between two letters of a row for an attacker who knows all other rows.
        row_level: eps^_X = ln(1/c - (m-1)), where c is the least conditional probability of a letter given all other
            rows. At levels from eps^_X on, the kernel has the best differential privacy at its distortion.
        kernel_level: eps~_X, the least level at which the kernel can be the posterior. At levels from eps~_X on, the
            kernel mechanism is optimal for identifiability and information.
        constant_distortion: D_0, expected number of changed rows of the release that ignores the data and changes the
            fewest rows.

    Example:
        >>> from confide.channels import FullPrior
        >>> found = PriorConstants.of(FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2))
        >>> round(found.prior_level, 6), round(found.kernel_level, 9), found.constant_distortion
        (2.197225, 2.88727095, 1.0)
    """

    prior_level: float
    row_level: float
    kernel_level: float
    constant_distortion: float

    @classmethod
    def of(cls, prior: Prior | ArrayLike) -> PriorConstants:
        """The constants of a prior, or of anything that `as_prior` accepts."""
        prior = as_prior(prior)
        laws, counts = prior.marginals()
        return cls(prior_level=prior_level(prior), row_level=row_level(prior), kernel_level=kernel_level(prior),
                   constant_distortion=float(counts @ (1.0 - laws.max(axis=1))))


def prior_level(prior: Prior) -> float:
    """Level of the prior: eps_X, the maximum of ln p(x)/p(x') over neighbouring databases x and x'."""
    if not prior.positive:
        return math.inf
    match prior:
        case IndependentRows():
            return float(np.log(prior.laws.max(axis=1) / prior.laws.min(axis=1)).max())
        case Exchangeable():
            logs = prior.last_row_logs
            return float((logs.max(axis=1) - logs.min(axis=1)).max())
        case _:
            logs = np.log(prior.vector())
            return max(float((view.max(axis=1) - view.min(axis=1)).max())
                       for view in axes(logs, prior.letters, prior.records))


def row_level(prior: Prior) -> float:
    """Level eps^_X = ln(1/c - (m-1)) of the rows, where c is the least conditional probability of a letter given all
    other rows, and m the number of letters.
    """
    if not prior.positive:
        return math.inf
    match prior:
        case IndependentRows():
            least = float(prior.laws.min())
        case Exchangeable():
            logs = prior.last_row_logs
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            least = float((shares / shares.sum(axis=1, keepdims=True)).min())
        case _:
            least = 1.0
            for view in axes(prior.vector(), prior.letters, prior.records):
                least = min(least, float((view.min(axis=1) / view.sum(axis=1)).min()))
    return _level_of(least, prior.letters)


def kernel_level(prior: Prior) -> float:
    """Kernel level eps~_X, to 1e-12: the least level at which the symmetric kernel can be the posterior distribution of
    the database. For independent rows a formula gives the level. In all other cases a search finds the level, since
    every level above a feasible level is feasible.

    Raises:
        Unsupported: an exchangeable prior over three or more letters with more than 2^20 databases.
    """
    if not prior.positive:
        return math.inf
    match prior:
        case IndependentRows():
            return _level_of(float(prior.laws.min()), prior.letters)
        case Exchangeable() if prior.letters == 2:
            return _least(lambda epsilon: alternating_sums(prior.log_sequence, epsilon)[1], row_level(prior))
        case Exchangeable() if prior.cells > _EXPANDED:
            raise Unsupported("prior", f"a law of {prior.letters}^{prior.records} databases",
                              f"eps~_X of an exchangeable prior over three letters or more needs at most {_EXPANDED:,} "
                              "databases")
        case _:
            table, m, n = prior.vector(), prior.letters, prior.records
            if np.ptp(table) <= 4 * np.finfo(float).eps * table.max():
                return 0.0
            return _least_by_cells(table, m, n, row_level(prior))


def _least_by_cells(table: NDArray[np.float64], letters: int, rows: int, low: float) -> float:
    """The least feasible level of a full vector. At each level the search finds the most negative cell, and then the
    level at which this one cell is 0, which is cheap. The search ends when no cell is negative. So a few sweeps over
    the vector suffice, where bisection needs one sweep for each bit.
    """
    level, step = max(0.0, low, _STEP), _STEP
    while True:
        _, cell = inverse_kernel(table, ratio(level), letters, rows)
        if cell is None:
            return level
        masses = masses_by_distance(table, cell, letters, rows)
        found = _least(lambda epsilon, masses=masses: inverse_cell(masses, ratio(epsilon), letters), level)  # type: ignore[misc]
        if found <= level:  # where two ways of rounding disagree
            found, step = level + step * max(1.0, level), 2.0 * step
        level = found


def kernel_inverse_law(prior: Prior, epsilon: float) -> NDArray[np.float64]:
    """Distribution p_Y of the output that the symmetric kernel maps to the prior, shape (N,) for N databases. Masses
    that are negative by rounding are set to 0.

    Args:
        prior: prior with at most 2^24 databases.
        epsilon: level of the kernel, at least `kernel_level(prior)`; the function does not check this condition.
    """
    found, _ = inverse_kernel(prior.vector(), ratio(epsilon), prior.letters, prior.records)
    return np.maximum(found, 0.0, out=found)


def _level_of(least: float, letters: int) -> float:
    """The level ln(1/c - (m-1)); 0 where rounding puts c above 1/m."""
    return math.log(max(1.0, 1.0 / least - (letters - 1)))


def _least(feasible: Callable[[float], bool], low: float) -> float:
    """The least feasible level: the level is doubled until it is feasible, and bisection narrows it down to 1e-12."""
    low = max(0.0, low)
    step, high = max(low, 1e-3), low
    if low > 0 and feasible(low):
        return low
    while True:
        high = low + step
        if feasible(high):
            break
        low, step = high, 2 * step
    while high - low > _STEP * max(1.0, high):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high
