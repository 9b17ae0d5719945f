"""Exact divergences between two finite laws. If both laws can be enumerated, such a divergence measures how well an
attacker can distinguish two neighbours.

Every function takes two laws over the same outcomes, as arrays of probabilities in the same order. A function is not
symmetric unless its docstring says so; a privacy claim has to bound both directions. The functions serve to test
discrete mechanisms: enumerate the output laws for two neighbouring data sets, and measure the divergence of these laws.
Losses are in nats. Where the support is infinite, merge each tail into one outcome. Merging outcomes never increases a
divergence, so the measured value is a lower bound of the divergence.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive
from confide.contract.errors import InvalidInput
from confide.contract.probabilities import as_probabilities
from confide.contract.words import counted

__all__ = [
    "approx_max_divergence",
    "exact_epsilon",
    "exact_mu",
    "hockey_stick",
    "max_divergence",
    "renyi_divergence",
]

_MASS = 1e-9  # how far the probabilities of one law may be from summing to 1
_Law = NDArray[np.float64]


def _law(field: str, value: ArrayLike) -> _Law:
    try:
        law = as_probabilities(value)
    except (TypeError, ValueError):
        raise InvalidInput(field, "is not an array of numbers", "must be the probabilities of the outcomes") from None
    if law.ndim != 1 or law.size == 0:
        raise InvalidInput(field, f"shape {law.shape}", "must be one-dimensional, one probability per outcome")
    if not np.all(np.isfinite(law)) or np.any(law < 0):
        raise InvalidInput(field, "holds a negative or non-finite probability", "must lie in [0, 1]")
    total = math.fsum(law)
    if abs(total - 1.0) > _MASS:
        raise InvalidInput(field, f"sums to {total!r}", f"must sum to 1 within {_MASS:g}")
    return law


def _laws(p: ArrayLike, q: ArrayLike) -> tuple[_Law, _Law]:
    first, second = _law("p", p), _law("q", q)
    if first.shape != second.shape:
        raise InvalidInput("q", f"has {counted(second.size, 'outcome')}, but p has {first.size}",
                           "must be over the same outcomes")
    held = (first > 0) | (second > 0)
    return first[held], second[held]


def _log_ratio(p: _Law, q: _Law) -> _Law:
    """The logarithm ln(p/q) for outcomes that are not impossible under both laws. The quotient is computed before the
    logarithm, because it is exact to one rounding.
    """
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        quotient = p / q
        plain = (quotient > np.finfo(np.float64).tiny) & (quotient < math.inf)
        return np.where(plain, np.log(quotient), np.log(p) - np.log(q))


def max_divergence(p: ArrayLike, q: ArrayLike) -> float:
    """Largest log-likelihood ratio: max over outcomes o of ln(p_o / q_o).

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.

    Returns:
        The divergence in nats, in [0, inf]; infinity where an outcome of `p` is impossible under `q`.

    Raises:
        InvalidInput: not two laws over the same outcomes.

    Source: Dwork and Roth 2014, section 3.5.1; spec query_release A1.

    Example:
        >>> round(max_divergence([0.75, 0.25], [0.25, 0.75]), 12) == round(math.log(3), 12)
        True
    """
    return max(0.0, float(np.max(_log_ratio(*_laws(p, q)))))


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """The least delta at this epsilon: the sum over outcomes o of max(p_o - e^epsilon q_o, 0), which is the maximum of
    P(S) - e^epsilon Q(S) over all events S.

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.
        epsilon: the loss in nats, any real number or +-infinity; 0 gives the total variation distance.

    Returns:
        The least delta, in [0, 1].

    Raises:
        InvalidInput: not two laws over the same outcomes, or epsilon is not a number.

    Source: Balle and Wang 2018, Theorem 5; spec query_release A1.

    Example:
        >>> hockey_stick([0.75, 0.25], [0.25, 0.75], 0.0)
        0.5
    """
    if math.isnan(epsilon):
        raise InvalidInput("epsilon", "nan is not a number")
    first, second = _laws(p, q)
    loss = _log_ratio(first, second)
    beyond = (loss > epsilon) & (second > 0)
    parts = np.where(second > 0, 0.0, first)
    parts[beyond] = first[beyond] * -np.expm1(epsilon - loss[beyond])
    return min(1.0, math.fsum(parts))


def approx_max_divergence(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """The least epsilon at this delta: the maximum over events S with P(S) > delta of ln((P(S) - delta) / Q(S)).

    An event of all outcomes with a likelihood ratio above some threshold attains the maximum. Only events of this form
    are therefore examined. The function is the inverse of `hockey_stick` in epsilon. The value can be negative: for
    equal laws the value is ln(1 - delta).

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.
        delta: a probability in [0, 1).

    Returns:
        The divergence in nats, in [ln(1 - delta), inf]; infinity where more than `delta` of `p` is impossible under
        `q`.

    Raises:
        InvalidInput: not two laws over the same outcomes, or delta out of range.

    Source: Dwork and Roth 2014, section 3.5.1; spec query_release A1.

    Example:
        >>> round(approx_max_divergence([0.5, 0.5], [0.5, 0.5], 0.1), 12) == round(math.log(0.9), 12)
        True
    """
    delta = fraction("delta", delta, zero=True)
    first, second = _laws(p, q)
    if delta == 0:
        return max_divergence(first, second)
    if math.fsum(first[second == 0]) > delta:
        return math.inf
    order = np.argsort(-_log_ratio(first, second), kind="stable")
    inside, outside = np.cumsum(first[order]), np.cumsum(second[order])
    useful = (inside > delta) & (outside > 0)
    losses = _log_ratio(inside[useful] - delta, outside[useful])
    return float(np.max(losses, initial=math.log1p(-delta)))  # the event of all outcomes is always there


def exact_epsilon(p: ArrayLike, q: ArrayLike) -> float:
    """The pure privacy loss of a pair of laws: the larger of the two directions of `max_divergence`, so the function is
    symmetric.

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.

    Returns:
        The divergence in nats, in [0, inf].

    Raises:
        InvalidInput: not two laws over the same outcomes.

    Source: spec query_release A1 (Claim 2.1.2: check both directions).

    Example:
        >>> round(exact_epsilon([0.5, 0.5], [0.25, 0.75]), 12) == round(math.log(2), 12)
        True
    """
    return max(max_divergence(p, q), max_divergence(q, p))


def renyi_divergence(p: ArrayLike, q: ArrayLike, alpha: float) -> float:
    """The Rényi divergence of order alpha: ln(sum over outcomes o of p_o^alpha q_o^(1-alpha)) / (alpha - 1).

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.
        alpha: the order, in [1, inf); order 1 gives the limit, which is the Kullback-Leibler divergence.

    Returns:
        The divergence in nats, in [0, inf]; infinity where an outcome of `p` is impossible under `q`.

    Raises:
        InvalidInput: not two laws over the same outcomes, or an order below 1.

    Source: van Erven and Harremoes 2014, equation 1; spec query_release A2.

    Example:
        >>> round(renyi_divergence([0.75, 0.25], [0.25, 0.75], 2.0), 12) == round(math.log(7 / 3), 12)
        True
    """
    if positive("alpha", alpha) < 1:
        raise InvalidInput("alpha", f"{alpha!r} is out of range", "must be at least 1")
    first, second = _laws(p, q)
    held = first > 0
    first, second = first[held], second[held]
    if np.any(second == 0):
        return math.inf
    loss = _log_ratio(first, second)
    excess = alpha - 1.0
    if excess == 0:
        return max(0.0, math.fsum(first * loss))
    tilt = excess * loss
    if np.max(tilt) < 1.0:  # near order 1 the logarithm's argument is near 1: keep the small part
        return max(0.0, math.log1p(math.fsum(first * np.expm1(tilt))) / excess)
    top = float(np.max(tilt))
    return max(0.0, (top + math.log(math.fsum(first * np.exp(tilt - top)))) / excess)


def exact_mu(p: ArrayLike, q: ArrayLike) -> float:
    """The Gaussian privacy loss mu of a pair of laws: the maximum over events S of Phi^-1(P(S)) - Phi^-1(Q(S)). The
    function is symmetric.

    The pair is mu-Gaussian DP if and only if every likelihood-ratio test between the two laws is no stronger than the
    test of N(0,1) against N(mu,1). Sort the outcomes by likelihood ratio. The exact trade-off curve between the two
    error probabilities is piecewise linear, with a corner for each prefix of the sorted outcomes. The Gaussian
    trade-off curve is convex. To find mu, it therefore suffices to examine the corners.

    Args:
        p: probabilities under one data set, shape (outcomes,), summing to 1.
        q: probabilities under a neighbour, same shape.

    Returns:
        The loss mu, in [0, inf].

    Raises:
        InvalidInput: not two laws over the same outcomes.

    Source: Dong, Roth and Su 2022 (Gaussian differential privacy); the argument about corners is ours.

    Example:
        >>> from scipy.special import ndtr
        >>> round(exact_mu([ndtr(0.5), ndtr(-0.5)], [ndtr(-0.5), ndtr(0.5)]), 12)
        1.0
    """
    first, second = _laws(p, q)
    order = np.argsort(-_log_ratio(first, second), kind="stable")
    first, second = first[order], second[order]
    with np.errstate(invalid="ignore"):
        gaps = _normal_scores(first)[:-1] - _normal_scores(second)[:-1]
    return float(np.max(gaps[~np.isnan(gaps)], initial=0.0))  # nan: both events certain or both impossible


def _normal_scores(law: _Law) -> _Law:
    """Phi^-1 of the probability of every prefix of the outcomes, computed from the smaller tail to keep precision."""
    mass = np.cumsum(law)
    rest = np.append(np.cumsum(law[:0:-1])[::-1], 0.0)
    scores: _Law = np.where(mass < rest, scipy.special.ndtri(np.minimum(mass, 1.0)),
                            -scipy.special.ndtri(np.minimum(rest, 1.0)))
    return scores
