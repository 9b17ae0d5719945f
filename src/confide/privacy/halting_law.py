"""The exact law of the answer at which a sparse vector halts: a sum over the integers, or an integral over the
threshold's noise.

Let q_j be the answers, T the threshold, and W the independent noise of each answer. Given the threshold's noise z, the
noisy answers are independent, and the probability that a noisy answer exceeds the noisy threshold has a closed form.
The probability of halting at answer i is therefore a sum over z alone:

    P[halt at i] = sum over z of P(z) prod_{j<i} P[q_j + W <= T + z] P[q_i + W > T + z]

All probabilities are kept as logarithms. The ratio of two probabilities is therefore as exact as the probabilities
themselves, however small these are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput

__all__ = ["LaplaceLaw", "WorstStream", "log_halting_law", "log_pattern"]

_REACH = 42.0  # scales beyond the outermost kink: what is left out is a relative e^-42
_ORDER = 24
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_PANEL = 0.5  # panels in units of the smaller scale: 24 nodes then leave a relative 1e-15
_ALL = 2 * _ORDER  # whole numbers that are summed one by one
_MOST = 2**27  # evaluations: about ten seconds
_BYTES = 64  # of a point: its place, its weight, and what comes of them
_MOST_POINTS = 2**23  # half a GiB
_CHUNK = 2**18

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class LaplaceLaw:
    """The law of the Laplace noise that a sparse vector adds.

    Args:
        scale: noise scale, > 0.
        lattice: True for noise on the integers, with P(k) proportional to exp(-|k|/scale); False for noise on the real
            line.
        clamp: bound to which the noise is clamped: values beyond the bound move to the nearest point of [-clamp,
            clamp]. An infinite clamp leaves the noise unchanged.
    """

    scale: float
    lattice: bool
    clamp: float = math.inf

    def log_below(self, x: _Array) -> _Array:
        """The logarithm ln P[noise <= x]; for noise on the integers, x holds whole numbers."""
        return self._tail(x, below=True)

    def log_above(self, x: _Array) -> _Array:
        """The logarithm ln P[noise > x]; for noise on the integers, x holds whole numbers."""
        return self._tail(x, below=False)

    @property
    def _norm(self) -> float:
        return math.log1p(math.exp(-1.0 / self.scale)) if self.lattice else math.log(2.0)

    def _tail(self, x: _Array, *, below: bool) -> _Array:
        left = x < 0
        step = 1.0 if self.lattice else 0.0
        # ln of the tail that x lies in: P[noise <= x] on the left, P[noise > x] on the right; at most ln(1/2)
        small = np.where(left, x, -(x + step)) / self.scale - self._norm
        tail = np.where(left == below, small, np.log1p(-np.exp(small)))
        if math.isfinite(self.clamp):
            sure, never = (x >= self.clamp, x < -self.clamp) if below else (x < -self.clamp, x >= self.clamp)
            tail = np.where(sure, 0.0, np.where(never, -math.inf, tail))
        return tail

    def nodes(self, kinks: _Array, step: float) -> tuple[_Array, _Array]:
        """Quadrature points of this noise and the logarithms of their weights, for a summand with kinks at given
        points.

        Args:
            kinks: the points, besides 0, where the summand is not smooth.
            step: the smallest distance over which the summand changes much. This distance determines the width of the
                intervals of the quadrature.
        """
        reach = _REACH * self.scale
        low, high = min(0.0, float(kinks.min())) - reach, max(0.0, float(kinks.max())) + reach
        low, high = max(low, -self.clamp), min(high, self.clamp)
        if self.lattice:
            return self._whole_nodes(math.floor(low), math.ceil(high), kinks, step)
        cuts = np.unique(np.concatenate([[low, 0.0, high], kinks[(kinks > low) & (kinks < high)]]))
        widths = np.diff(cuts)
        pieces = np.ceil(widths / (_PANEL * step)).astype(np.int64)
        _bounded(float(pieces.sum()) * _ORDER)
        starts = np.repeat(cuts[:-1], pieces)
        sizes = np.repeat(widths / pieces, pieces)
        starts = starts + sizes * (np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces))
        points = (starts[:, None] + sizes[:, None] * (_NODES + 1.0) / 2.0).reshape(-1)
        logs = np.log((sizes[:, None] / 2.0 * _WEIGHTS).reshape(-1)) - np.abs(points) / self.scale
        logs -= math.log(2.0 * self.scale)
        # what the clamp gathers sits in its two ends
        atoms = [end for end in (low, high) if abs(end) == self.clamp]
        mass = [-self.clamp / self.scale - self._norm] * len(atoms)
        return np.concatenate([points, atoms]), np.concatenate([logs, mass])


    def _whole_nodes(self, low: int, high: int, kinks: _Array, step: float) -> tuple[_Array, _Array]:
        """Quadrature points and log weights of noise on the integers. Long stretches between kinks use a Gauss rule for
        sums; short ones are summed term by term.
        """
        # A branch begins with the whole number at a kink. What a clamp gathers sits in its two ends.
        atoms = [float(end) for end in (low, high) if abs(end) == self.clamp]
        first, last = low + (low == -self.clamp), high - (high == self.clamp)
        inside = kinks[(kinks > first) & (kinks <= last)]
        cuts = np.unique(np.concatenate([[first, last + 1], inside, [0.0] if first < 0 <= last else []]))
        lengths = np.diff(cuts)
        pieces = np.ceil(lengths / max(float(_ALL), math.floor(_PANEL * step)))
        _bounded(float(np.minimum(lengths, pieces * _ALL).sum()))
        pieces = pieces.astype(np.int64)
        which = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        each, more = np.repeat(lengths // pieces, pieces), np.repeat(lengths % pieces, pieces)
        starts = np.repeat(cuts[:-1], pieces) + which * each + np.minimum(which, more)
        sizes = (each + (which < more)).astype(np.int64)
        places, logs = [np.array(atoms)], [np.full(len(atoms), -self.clamp / self.scale - self._norm)]
        for size in np.unique(sizes).tolist():
            nodes, weights = (np.arange(float(size)), np.ones(size)) if size <= _ALL else _sum_rule(size)
            at = (starts[sizes == size][:, None] + nodes).reshape(-1)
            places.append(at)
            logs.append(np.tile(np.log(weights), len(at) // len(nodes)) - np.abs(at) / self.scale
                        + math.log(-math.expm1(-1.0 / self.scale)) - self._norm)
        return np.concatenate(places), np.concatenate(logs)


@lru_cache(maxsize=256)
def _sum_rule(size: int) -> tuple[_Array, _Array]:
    """Nodes and weights of a Gauss rule for sums over 0..size-1, exact for polynomials of degree up to 47. The nodes
    and weights come from the three-term recurrence of the discrete Chebyshev polynomials (Golub and Welsch 1969).
    """
    k = np.arange(1.0, _ORDER)
    off = k / 2.0 * np.sqrt((1.0 - (k / size) ** 2) / (4.0 * k**2 - 1.0))
    nodes, vectors = scipy.linalg.eigh_tridiagonal(np.zeros(_ORDER), off)
    return (size - 1) / 2.0 + size * nodes, size * vectors[0] ** 2


def _bounded(points: float, answers: int = 1) -> None:
    """Refuse a computation with too many points or evaluations before any array is made."""
    if points > _MOST_POINTS or points * answers > _MOST:
        many = f" for each of {answers:,} answers" if answers > 1 else ""
        raise InvalidInput("answers", f"spread over {points:,.0f} points of the threshold's noise{many}, which take "
                           f"{points * _BYTES / 2**30:.2g} GiB and {points * answers:.2g} evaluations",
                           f"must take at most {_MOST_POINTS:,} points and {_MOST:,} evaluations; use `halted`, which "
                           "simulates the law")


def _kinks(gaps: _Array, threshold: LaplaceLaw, answer: LaplaceLaw) -> tuple[_Array, float]:
    ends = [gaps] if math.isinf(answer.clamp) else [gaps, gaps - answer.clamp, gaps + answer.clamp]
    return np.concatenate(ends), min(threshold.scale, answer.scale)


def log_halting_law(gaps: _Array, threshold: LaplaceLaw, answer: LaplaceLaw) -> _Array:
    """The natural logarithms of the probabilities of halting at each answer, and of never halting.

    Args:
        gaps: answers minus threshold, shape (k,); whole numbers if the noise is on the integers.
        threshold: the law of the threshold's noise.
        answer: the law of each answer's noise.

    Returns:
        Log probabilities, shape (k+1,); the last entry is for never halting. The absolute error of a logarithm is about
        1e-13.

    Raises:
        InvalidInput: the answers are so many, or spread so widely, that the sum needs more than 2^23 points (half a
            GiB) or 2^27 evaluations (about ten seconds).

    Source: spec query_release A3 ("exact law of the halting index").

    Example:
        >>> law = log_halting_law(np.zeros(3), LaplaceLaw(2.0, False), LaplaceLaw(4.0, False))
        >>> np.allclose(np.exp(law), [1 / 2, 5 / 24, 5 / 48, 3 / 16], atol=1e-12)
        True
    """
    k = len(gaps)
    points, logs = threshold.nodes(*_kinks(gaps, threshold, answer))
    _bounded(float(len(points)), k)
    size = max(1, _CHUNK // (k + 1))
    parts = [
        _log_sums(points[at : at + size], logs[at : at + size], gaps, answer) for at in range(0, len(points), size)
    ]
    law: _Array = np.logaddexp.reduce(parts, axis=0)
    return law


def log_pattern(gaps: _Array, tops: NDArray[np.bool_], threshold: LaplaceLaw, answer: LaplaceLaw) -> float:
    """The natural logarithm of the probability of a given pattern of answers above and below one noisy threshold.

    Args:
        gaps: answers minus threshold, shape (k,); whole numbers if the noise is on the integers.
        tops: True where the noisy answer is above the noisy threshold, shape (k,).
        threshold: the law of the threshold's noise.
        answer: the law of each answer's noise.

    Example:
        >>> two = LaplaceLaw(2.0, False), LaplaceLaw(4.0, False)
        >>> round(math.exp(log_pattern(np.zeros(2), np.array([False, True]), *two)), 12) == round(5 / 24, 12)
        True
    """
    points, logs = threshold.nodes(*_kinks(gaps, threshold, answer))
    _bounded(float(len(points)), len(gaps))
    size = max(1, _CHUNK // len(gaps))
    parts = []
    for at in range(0, len(points), size):
        x = points[at : at + size, None] - gaps
        terms = logs[at : at + size] + np.where(tops, answer.log_above(x), answer.log_below(x)).sum(axis=1)
        parts.append(float(np.logaddexp.reduce(terms)))
    return float(np.logaddexp.reduce(parts))


def _log_sums(points: _Array, logs: _Array, gaps: _Array, answer: LaplaceLaw) -> _Array:
    """The log sums of the halting law over a part of the quadrature points."""
    x = points[:, None] - gaps
    below = logs[:, None] + np.concatenate([np.zeros((len(points), 1)), np.cumsum(answer.log_below(x), axis=1)], axis=1)
    below[:, :-1] += answer.log_above(x)
    top = np.maximum(below.max(axis=0), -1e300)  # a column of -inf stays one
    with np.errstate(divide="ignore"):
        sums: _Array = top + np.log(np.exp(below - top).sum(axis=0))
    return sums


@dataclass(frozen=True)
class WorstStream:
    """The probability that a sparse vector errs by more than a margin alpha, on the worst of all streams of answers.

    A sparse vector says TOP for "above the threshold" and BOT for "not above". An error is TOP at an answer that is at
    most T - alpha, or BOT at the first answer above T + alpha, where T is the threshold. The worst streams lie exactly
    at the margins: either k - 1 low answers followed by a high one, or k low answers. Moving an answer inside the
    margins can only lower the failure probability.

    Args:
        queries: the number k of queries, >= 1.
        threshold: the law of the threshold's noise.
        answer: the law of each answer's noise.
    """

    queries: int
    threshold: LaplaceLaw
    answer: LaplaceLaw

    def failure(self, alpha: float) -> float:
        """The probability of an error beyond the margin.

        Args:
            alpha: the margin, >= 0; a whole number if the noise is on the integers.
        """
        above = alpha + 1.0 if self.threshold.lattice else alpha  # the least answer above T + alpha
        gaps = np.array([-alpha, above])
        points, logs = self.threshold.nodes(*_kinks(gaps, self.threshold, self.answer))
        low, high = self.answer.log_below(points + alpha), self.answer.log_above(points - above)
        mixed = (self.queries - 1) * low + high if self.queries > 1 else high
        return float(max(np.sum(np.exp(logs) * -np.expm1(right)) for right in (mixed, self.queries * low)))
