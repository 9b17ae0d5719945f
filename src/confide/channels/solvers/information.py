"""The least mutual information at a distortion, for any prior. The solver finds the slope of the trade-off at which the
optimal channel has this distortion.

Source: Wang 2016, (2.19) and Theorem 2; spec privacy_notions 7.

`ClassProduct` computes products with the kernel r^d, where r = e^-slope, over classes of databases with the same letter
counts, for exchangeable priors. A vector has one entry for each class, the total mass of the class.

Entry (a, b) of the table is the mean of r^d(x, y) over databases y in class b, for any x in class a. The exponent d
counts the rows in which x and y differ. Each line is scaled so that its largest entry is 1. Scaling changes the
objective of the slope problem by a constant, and keeps a thousand rows within the range of doubles.

Source: spec privacy_notions 7 ("reduce to n + 1 weight classes").

`HammingProduct` computes products with the kernel r^d over all pairs of databases. The class treats a whole group of
rows in one matrix product, with at most 64 letter combinations in a group. These matrix products are ten times as fast
as one pass over the vector for each row.

Source: spec privacy_notions 7 ("axis operations").

The least information at a slope is a convex problem over output weights q, solved to a certified gap:

    minimise f(q) = -sum_x p(x) ln Z(x) + sum q over q >= 0, where Z = (r^d) q.

At the optimum c = (r^d)(p/Z) is 1 where q > 0, and at most 1 elsewhere. Blahut's iteration q <- q c takes hundreds of
thousands of steps where the support of q changes. The interior-point method of this module keeps all products q (1 - c)
near one common number, which falls from step to step. Scaled by the square root of q, the Newton matrix of this method
has the squared correlations of the channel as eigenvalues. So conjugate gradients need tens of matrix products for each
of about ten steps. The result is certified by the gap between two bounds, not by the size of the last step.

Source: spec privacy_notions 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, gammaln

from confide.channels.channel import ExponentialForm, FiniteChannel, JointTypeChannel, joint_types
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h, h_inverse
from confide.channels.priors import Exchangeable, Prior, compositions
from confide.contract.checks import positive
from confide.contract.errors import SolverFailed, Unsupported
from confide.numerics.map_reduce import one_core_each

__all__ = [
    "LARGEST_SLOPE",
    "MOST_ROWS",
    "ClassProduct",
    "HammingProduct",
    "LeastInformation",
    "SlopePoint",
    "information_seconds",
    "least_information",
    "solve_slope",
]

# ---- class product

_Vector = NDArray[np.float64]
MOST_ROWS = 2000
_NOTHING = 1e-150


class ClassProduct:
    """Products with the kernel r^d over classes of databases with the same letter counts. The kernel is a table with
    one line for each class. Each line of the table is divided by a number, and the logarithm of this number is in
    `log_scale`.

    Args:
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows, n. For two letters n is at most 2,000; for more letters there may be at most 2^17 joint
            types.
        slope: slope lambda >= 0; r = e^-lambda.

    Raises:
        Unsupported: too many rows.
    """

    def __init__(self, letters: int, rows: int, slope: float) -> None:
        self.letters, self.records, self.slope = letters, rows, slope
        log_law, changed = _two_letters(rows, slope) if letters == 2 else _joint(letters, rows, slope)
        ways = gammaln(rows + 1) - gammaln(compositions(rows, letters) + 1).sum(axis=1)
        logs = log_law - ways
        self.log_scale = logs.max(axis=1)
        self._table = np.exp(logs - self.log_scale[:, None])
        self._table[self._table < _NOTHING] = 0.0  # products of such numbers are slow, and nothing
        self._moved = self._table * changed
        self.log_scale = self.log_scale + rows * math.log1p((letters - 1) * math.exp(-slope))

    def forward(self, v: _Vector) -> _Vector:
        """Product of the table with the vector v."""
        return np.asarray(self._table @ v)

    def backward(self, v: _Vector) -> _Vector:
        """Product of the transposed table with the vector v."""
        return np.asarray(self._table.T @ v)

    def gram(self, root: _Vector, curve: _Vector) -> _Vector:
        """The matrix diag(root) table' diag(curve) table diag(root), where table' is the transposed table."""
        half = np.sqrt(curve)[:, None] * self._table * root
        return np.asarray(half.T @ half)

    def changed(self, left: _Vector, right: _Vector) -> float:
        """Sum, over classes a and b, of left(a) times the mean of d r^d between both classes times right(b)."""
        return float(left @ (self._moved @ right))


def _two_letters(rows: int, slope: float) -> tuple[_Vector, _Vector]:
    """Two arrays of shape (n + 1, n + 1), with an entry for each number of ones before the kernel and each number of
    ones after it. The first array has the logarithm of the distribution of the number of ones after the kernel, and the
    second the mean number d of changed rows.

    The distribution is a convolution of two binomial distributions. The tails of the distribution are far below the
    smallest double, and yet they matter. The tails are computed from distributions with odds that are tilted towards
    the tail, and the tilt is removed afterwards.
    """
    from scipy.stats import binom  # slow to import, and only exchangeable priors over two letters need it

    if rows > MOST_ROWS:
        raise Unsupported("records", f"an exchangeable prior of {rows:,} rows", f"at most {MOST_ROWS:,} rows")
    log_law, changed = np.full((rows + 1, rows + 1), -np.inf), np.zeros((rows + 1, rows + 1))
    best = np.full((rows + 1, rows + 1), -1.0)
    number = np.arange(rows + 1)
    for tilt in (-6.0, -2.0, 0.0, 2.0, 6.0) if rows > 50 else (0.0,):
        stay_odds, turn_odds = slope + tilt, tilt - slope
        for ones in range(rows + 1):
            kept, gained = number[: ones + 1], number[: rows - ones + 1]
            stay, turn = binom.pmf(kept, ones, expit(stay_odds)), binom.pmf(gained, rows - ones, expit(turn_odds))
            law = np.convolve(stay, turn)
            moved = np.convolve(stay * (ones - kept), turn) + np.convolve(stay, turn * gained)
            better = (law > best[ones]) & (law > _NOTHING)
            back = (ones * (_log_one_more(stay_odds) - _log_one_more(slope)) + (rows - ones)
                    * (_log_one_more(turn_odds) - _log_one_more(-slope)) - tilt * number)
            best[ones, better] = law[better]
            log_law[ones, better] = np.log(law[better]) + back[better]
            changed[ones, better] = moved[better] / law[better]
    return log_law, changed


def _log_one_more(log_odds: float) -> float:
    """ln(1 + e^t)."""
    return float(np.logaddexp(0.0, log_odds))


def _joint(letters: int, rows: int, slope: float) -> tuple[_Vector, _Vector]:
    types = joint_types(letters, rows)
    number = len(compositions(rows, letters))
    mass = np.exp(types.log_sequences - slope * types.changed - rows * math.log1p((letters - 1) * math.exp(-slope)))
    at = types.inputs * number + types.outputs
    law, moved = np.bincount(at, mass, number**2), np.bincount(at, mass * types.changed, number**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(law).reshape(number, -1), np.where(law > 0, moved / law, 0.0).reshape(number, -1)


# ---- hamming product

_GROUP = 64


class HammingProduct:
    """Product v -> (r^d) v for vectors of m^n cells, where d counts the rows in which two databases differ. The matrix
    of the product is symmetric.

    Args:
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows, n.
        slope: slope lambda >= 0; r = e^-lambda.

    Example:
        >>> HammingProduct(2, 2, math.log(2)).forward(np.array([1.0, 0.0, 0.0, 0.0])).tolist()
        [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, letters: int, rows: int, slope: float) -> None:
        self.letters, self.records, self.slope = letters, rows, slope
        together = max(1, int(math.log(_GROUP) / math.log(letters) + 1e-9))
        parts = -(-rows // together)
        sizes = [rows // parts + (i < rows % parts) for i in range(parts)]
        row = np.full((letters, letters), math.exp(-slope))
        np.fill_diagonal(row, 1.0)
        off = row * (1.0 - np.eye(letters))
        self._tables = [_power(row, off, size) for size in sizes]

    def forward(self, v: _Vector) -> _Vector:
        """Product (r^d) v."""
        for table, _ in self._tables:
            v = (v.reshape(len(table), -1).T @ table).reshape(-1)  # the group moves last; all come round
        return v

    backward = forward

    def squared(self, v: _Vector) -> _Vector:
        """Product with the squared entries of the kernel, (r^2d) v."""
        for table, _ in self._tables:
            v = (v.reshape(len(table), -1).T @ (table * table)).reshape(-1)
        return v

    def changed(self, left: _Vector, right: _Vector) -> float:
        """Sum, over databases x and y that differ in d rows, of left(x) d r^d right(y)."""
        moved = np.zeros_like(right)
        for table, slope in self._tables:
            shape = (len(table), -1)
            moved = (moved.reshape(shape).T @ table + right.reshape(shape).T @ slope).reshape(-1)
            right = (right.reshape(shape).T @ table).reshape(-1)
        return float(left @ moved)


def _power(row: _Vector, off: _Vector, size: int) -> tuple[_Vector, _Vector]:
    """Tables r^d and d r^d over several rows at once."""
    table: _Vector = np.ones((1, 1))
    slope: _Vector = np.zeros((1, 1))
    for _ in range(size):
        slope = np.asarray(np.kron(slope, row) + np.kron(table, off), dtype=np.float64)
        table = np.asarray(np.kron(table, row), dtype=np.float64)
    return table, slope


# ---- slope solver

LARGEST_SLOPE = 2**20
"""Largest number of databases with which the slope solver accepts a prior that is not exchangeable."""

_GAP = 1e-8
_MOST_STEPS, _IDLE = 120, 15
_PRODUCTS = 600  # of a Newton step
_CENTRE, _ACCURATE = 0.1, 0.03
_STAY = 0.99  # of the way to the boundary


@dataclass(frozen=True, eq=False)
class SlopePoint:
    """The optimal channel at one slope of the trade-off between information and distortion.

    Args:
        slope: slope lambda, in nats per changed row.
        weights: weights q of the output databases, summing to 1; for exchangeable priors the mass of each class of
            outputs.
        distortion: distortion D of the optimal channel, in changed rows.
        information: information I(X;Y) of the optimal channel, in nats.
        gap: upper bound, in nats, of the difference between `information` and the least information at `distortion`.
        bound: number b such that b - slope D' is a certified lower bound of eps_m*(D'), the least information at
            distortion D', for every D'.
    """

    slope: float
    weights: _Vector
    distortion: float
    information: float
    gap: float
    bound: float


def solve_slope(prior: Prior, slope: float, start: _Vector | None = None) -> SlopePoint:
    """Solve the convex problem at one slope.

    Args:
        prior: exchangeable prior, or one with at most 2^20 databases.
        slope: slope lambda > 0, in nats per changed row.
        start: weights of the solution at a nearby slope, from which the solver starts; None to start afresh.

    Raises:
        InvalidInput: the slope is not positive.
        Unsupported: the prior is too large.
        SolverFailed: the certified gap stays above 1e-8 times the larger of 1 nat and the information.

    Example:
        >>> point = solve_slope(Exchangeable.mixture([0.5, 0.5], [[0.3, 0.7], [0.7, 0.3]], 10), 0.6)
        >>> round(point.information, 6), round(point.distortion, 6)
        (0.379577, 3.128169)
    """
    slope = positive("slope", slope, at_most=500.0)
    kernel: ClassProduct | HammingProduct
    if isinstance(prior, Exchangeable):
        kernel = ClassProduct(prior.letters, prior.records, slope)
        law, shift = np.exp(prior.log_types), float(np.exp(prior.log_types) @ kernel.log_scale)
    else:
        if prior.cells > LARGEST_SLOPE:
            raise Unsupported("prior", f"a law of {prior.cells:,} databases",
                              f"at most {LARGEST_SLOPE:,} databases; or an exchangeable law")
        kernel, law, shift = HammingProduct(prior.letters, prior.records, slope), prior.vector(), 0.0
    with one_core_each("blas"):  # products are short: threads would wait for each other
        return _Solver(kernel, law / law.sum(), slope, shift).solve(start)


class _Solver:
    def __init__(self, kernel: ClassProduct | HammingProduct, law: _Vector, slope: float, shift: float) -> None:
        self.kernel, self.law, self.slope, self.shift = kernel, law, slope, shift

    def solve(self, start: _Vector | None) -> SlopePoint:
        begin, spread = (self.law, 0.5) if start is None else (start, 0.01)
        q = (1.0 - spread) * begin + spread / len(begin)
        q = q * (1.1 * float(self._excess(q)[1].max()))  # then c < 1 everywhere
        s = 1.0 - self._excess(q)[1]
        best, since = self._point(q, *self._excess(q)), 0
        for _ in range(_MOST_STEPS):
            z, c = self._excess(q)
            point = self._point(q, z, c)
            since += 1
            if point.gap < 0.9 * best.gap:
                best, since = point, 0
            if best.gap <= _GAP or since > _IDLE:
                break
            dq, ds = self._direction(q, s, z, c)
            q, s = q + _reach(q, dq) * dq, s + _reach(s, ds) * ds
        if best.gap > _GAP * max(1.0, best.information):
            raise SolverFailed("mutual information", f"the gap stays at {best.gap:.2g} at slope {self.slope:g}")
        return best

    def _excess(self, q: _Vector) -> tuple[_Vector, _Vector]:
        """The vectors Z = (r^d) q and c = (r^d)(p/Z), where p is the prior and q the law of the output."""
        z = np.maximum(self.kernel.forward(q), 1e-290)
        return z, self.kernel.backward(self.law / z)

    def _point(self, q: _Vector, z: _Vector, c: _Vector) -> SlopePoint:
        """The solution at the weights q, which are first normalised to sum to 1."""
        total = float(q.sum())
        q, z, c = q / total, z / total, c * total
        distortion = self.kernel.changed(self.law / z, q)
        inside = self.law > 0
        bound = -float(self.law[inside] @ np.log(z[inside])) - self.shift
        outputs = q * c
        used = outputs > 0
        given = float(outputs[used] @ np.log(c[used]))
        top = math.log(float(c.max()))
        return SlopePoint(self.slope, q, distortion, max(0.0, bound - self.slope * distortion - given), top - given,
                          bound - top)

    def _direction(self, q: _Vector, s: _Vector, z: _Vector, c: _Vector) -> tuple[_Vector, _Vector]:
        """Newton's direction (dq, ds) towards products q s of a tenth of their mean. The unknown is dq divided by the
        root of q. Conjugate gradients solve the system for databases; classes of databases are solved directly.
        """
        kernel, root, curve = self.kernel, np.sqrt(q), self.law / z**2
        aim = _CENTRE * float(q @ s) / len(q)
        right = root * (c - 1.0) + aim / root
        if isinstance(kernel, ClassProduct):
            t = np.asarray(cho_solve(cho_factor(kernel.gram(root, curve) + np.diag(s)), right))
            return root * t, aim / q - s - s / q * root * t
        diagonal = q * kernel.squared(curve) + s
        t, rest = np.zeros_like(q), right
        scaled = rest / diagonal
        way, size = scaled, float(rest @ scaled)
        enough = _ACCURATE**2 * size
        for _ in range(_PRODUCTS):
            if size <= enough:
                break
            product = root * kernel.backward(curve * kernel.forward(root * way)) + s * way
            length = size / float(way @ product)
            t = t + length * way
            rest = rest - length * product
            scaled = rest / diagonal
            size, before = float(rest @ scaled), size
            way = scaled + (size / before) * way
        dq = root * t
        return dq, aim / q - s - s / q * dq


def _reach(values: _Vector, moves: _Vector) -> float:
    """Largest step length, at most 1, up to which all values stay positive along the moves."""
    falling = moves < 0
    return min(1.0, _STAY * float((values[falling] / -moves[falling]).min())) if falling.any() else 1.0


# ---- information

_CLOSE = 1e-8  # of the distortion, per row
_STEPS = 60
_LEFT = 0.8  # of what is left after a slope, about


@dataclass(frozen=True, eq=False)
class LeastInformation:
    """Least information eps_m*(D) at distortion D, in nats.

    Args:
        lower: certified lower bound of eps_m*(D), in nats.
        upper: information of a channel with distortion at most D, in nats.
        slope: slope lambda of the trade-off at this channel, in nats per changed row.
        channel: channel with the information `upper`; None for exchangeable priors with too many databases for a table.
    """

    lower: float
    upper: float
    slope: float
    channel: FiniteChannel | None


def information_seconds(prior: Prior) -> float:
    """Approximate running time of `least_information` on a usual machine, in seconds, computed from sizes alone. The
    time is 0 for priors that are refused as too large.

    Example:
        >>> from confide.channels.priors import Exchangeable
        >>> [round(information_seconds(Exchangeable.mixture([1.0], [[0.5, 0.5]], n))) for n in (100, 1000)]
        [0, 30]
    """
    if isinstance(prior, Exchangeable):
        return 30.0 * (len(prior.types) / 1000.0) ** 3 if prior.letters > 2 or prior.records <= MOST_ROWS else 0.0
    return 60.0 * prior.records * prior.cells / (18 * 2**18) if prior.cells <= LARGEST_SLOPE else 0.0


def least_information(
    prior: Prior, distortion: float, constants: PriorConstants, progress: Callable[[float], None] | None = None
) -> LeastInformation:
    """Find the least information at a distortion for which no closed form is known. The distortion lies between the
    kernel's distortion at the level `constants.kernel_level`, and `constants.constant_distortion`, from which on a
    constant release suffices.

    The distortion falls as the slope grows. False position and bisection find the slope to a part in 10^8.

    Args:
        prior: exchangeable prior, or one with at most 2^20 databases.
        distortion: distortion D, in changed rows.
        constants: constants of the prior.
        progress: function that is called with the approximate fraction of the work that is done, in [0, 1].

    Raises:
        Unsupported: the prior is too large.
        SolverFailed: the certified gap stays too large; see `solve_slope`.

    Example:
        >>> from confide.channels.priors import FullPrior
        >>> pair = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
        >>> found = least_information(pair, 0.4, PriorConstants.of(pair))
        >>> round(found.upper, 6), round(found.slope, 5)
        (0.218327, 0.80472)
    """
    m, n, close = prior.letters, prior.records, _CLOSE * prior.records
    # Slopes with too much distortion, and with not too much: h bounds the distortion at any slope from above.
    low, high = 0.0, min(constants.kernel_level, h_inverse(distortion, m, n))
    over, under = constants.constant_distortion - distortion, h(high, m, n) - distortion
    lower = 0.0
    best: SlopePoint | None = None
    start, halve = None, False
    for step in range(_STEPS):
        if progress is not None:
            progress(1.0 - _LEFT**step)
        share = 0.5 if halve or not over - under > 0 else min(max(over / (over - under), 0.01), 0.99)
        slope = low + share * (high - low)
        point = solve_slope(prior, slope, start)
        lower, start, off = max(lower, point.bound - slope * distortion), point.weights, point.distortion - distortion
        before = high - low
        if off > 0:
            low, over = slope, off
        else:
            high, under = slope, off
            best = point if best is None or point.information < best.information else best
        halve = high - low > 0.5 * before
        if (best is not None and best.information - lower <= close) or high - low <= 1e-14 * high:
            break
    if best is None:
        raise SolverFailed("mutual information", f"the solver found no slope for a distortion of {distortion:g}")
    return LeastInformation(max(0.0, min(lower, best.information)), best.information, best.slope,
                            _channel(prior, best))


def _channel(prior: Prior, point: SlopePoint) -> FiniteChannel | None:
    if not isinstance(prior, Exchangeable):
        return ExponentialForm(point.weights, point.slope, prior.letters, prior.records)
    try:
        types = joint_types(prior.letters, prior.records)
    except Unsupported:
        return None
    with np.errstate(divide="ignore"):
        ways = gammaln(prior.records + 1) - gammaln(prior.types + 1).sum(axis=1)
        log_q = np.log(point.weights) - ways  # of one output
    logs = types.log_sequences + log_q[types.outputs] - point.slope * types.changed
    top = np.full(len(prior.types), -np.inf)
    np.maximum.at(top, types.inputs, logs)
    mass = np.exp(logs - top[types.inputs])
    return JointTypeChannel(types, mass / np.bincount(types.inputs, mass)[types.inputs])
