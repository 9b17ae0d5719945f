"""Private selection with exact draws: the exponential mechanism and report-noisy-max.

Both mechanisms select one of k public items with nearly the best score. One neighbour step may move the scores of all
items, each by at most the sensitivity. Only the position of the selected item is released. Scores should be exact
(counts, not counts divided by n), because the proof of privacy is about the scores as given, rounding errors included.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.privacy.accounting import float_up, written
from confide.privacy.charge import DrawCost
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.choices import relative_weights
from confide.privacy.primitives.choosing import draw_by_logits
from confide.privacy.primitives.sessions import pay

__all__ = [
    "exponential_law",
    "exponential_mechanism",
    "largest_law",
    "noisy_max_law",
    "report_noisy_max",
    "selection_error",
]

_ROOM = 2.0**-37  # of epsilon, for the rounding of logits and of exp: four times 2^-40, and more
_PART = 2.0**-48  # of epsilon, for the rounding of the rate itself
_LARGEST = 2**62  # scores are cut here, so that with their noise they stay within 64 bits
_MOST_TERMS, _MOST_PRODUCTS = 2.0**24, 2.0**31  # of an enumerated law: half a GiB, and some ten seconds
_TAIL = 750.0  # scales beyond which discrete Laplace noise has no mass in doubles


def exponential_mechanism(
    scores: ArrayLike, epsilon: float, sensitivity: float, noise: Noise, *, stream: Stream, size: int = 1,
    monotone: bool = False, line: str | None = None,
) -> NDArray[np.int64]:
    """Draw `size` positions r independently, each with probability proportional to exp(epsilon score_r / (2
    sensitivity)).

    Each draw is epsilon-DP, and also (epsilon^2/8)-zCDP because it is of bounded range. All draws together cost `size`
    times as much as one draw. Secure draws follow the weights exactly. The weights are rounded to doubles, and a
    relative margin of 2^-37 of epsilon covers this rounding.

    Args:
        scores: (k,) finite numbers, private; larger is better.
        epsilon: the epsilon of one draw, in nats, > 0.
        sensitivity: the largest distance by which one neighbour step can move any score, > 0.
        noise: the source of randomness.
        stream: the name of the draw; each name can be used only once.
        size: number of independent draws from the same scores.
        monotone: True if every neighbour step moves all scores in one direction (counts, when a record is added or
            removed). For monotone scores the exponent is epsilon score / sensitivity, which is twice as large at the
            same epsilon.
        line: the name of the line of the run's charge that pays for the draws; None if the charge has one line only.

    Returns:
        (size,) positions of the selected items in `scores`.

    Raises:
        InvalidInput: scores that are not finite, no items, or a parameter out of range.
        Overspent: the line cannot pay for the draws.

    Source: McSherry and Talwar 2007; range and zCDP: spec query_release A2 and A3.

    Example:
        >>> counts = [120, 95, 3]  # how many people chose each answer
        >>> int(exponential_mechanism(counts, 1.0, 1.0, Noise.simulated(1), stream="winner")[0])
        0
    """
    logits = _logits(scores, epsilon, sensitivity, monotone=monotone)
    return draw_by_logits(noise, logits, bounded_range=written(epsilon), count=size, stream=stream, line=line)


def _logits(scores: ArrayLike, epsilon: float, sensitivity: float, *, monotone: bool) -> NDArray[np.float64]:
    """The exponents relative to the largest one. The largest score is subtracted from the scores before they are
    scaled, so that rounding errors are relative to at most 700.
    """
    epsilon, sensitivity = positive("epsilon", epsilon), positive("sensitivity", sensitivity)
    values = np.asarray(scores)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "biuf":
        raise InvalidInput("scores", f"an array of shape {values.shape} and type {values.dtype}",
                           "must be one-dimensional numbers, at least one")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInput("scores", "an entry is not finite")
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            below = values.astype(np.float64) - float(values.max())
    else:
        wide = values.astype(np.uint64)  # differences modulo 2^64 are exact: they lie in [0, 2^64)
        below = -(wide[int(np.argmax(values))] - wide).astype(np.float64)
    rate = _used(epsilon) / ((1 if monotone else 2) * sensitivity)
    if math.isinf(rate):
        raise InvalidInput("epsilon", f"{epsilon!r} is too large for a sensitivity of {sensitivity!r}")
    if rate == 0.0:
        return np.zeros(len(below))
    with np.errstate(over="ignore"):
        return np.maximum(below * rate, -1e300)


def _used(epsilon: float) -> float:
    """The epsilon that the exponents use. This epsilon is the promised epsilon minus a margin for rounding, or 0 if the
    margin is larger.
    """
    return max(0.0, epsilon - max(_ROOM, _PART * epsilon))


def exponential_law(
    scores: ArrayLike, epsilon: float, sensitivity: float, *, monotone: bool = False
) -> NDArray[np.float64]:
    """The probabilities with which `exponential_mechanism` selects each item, shape (k,); private, like the scores.

    Example:
        >>> exponential_law([2, 0], 1.0, 1.0).round(6).tolist()
        [0.731059, 0.268941]
    """
    weights = relative_weights(_logits(scores, epsilon, sensitivity, monotone=monotone))
    return np.asarray(weights / weights.sum())


@renamed(failure="failure_probability")
def selection_error(
    items: int, epsilon: float, sensitivity: float, failure_probability: float, *, monotone: bool = False,
) -> float:
    """A bound on the distance of the selected score below the best score, which holds except with the failure
    probability.

    The bound is (2 sensitivity / epsilon) ln(k / beta), with k items and failure probability beta, and half as large
    for monotone scores.

    Args:
        items: the number k of items, >= 1.
        epsilon: the epsilon of one draw, > 0.
        sensitivity: the largest distance by which one neighbour step can move any score, > 0.
        failure_probability: probability beta that the bound fails, in (0, 1).
        monotone: whether every neighbour step moves all scores in one direction, as in `exponential_mechanism`.

    Source: McSherry and Talwar 2007, Theorem 6.

    Example:
        >>> round(selection_error(1000, 1.0, 1.0, 0.01), 2)
        23.03
    """
    width = (1 if monotone else 2) * positive("sensitivity", sensitivity)
    spread = math.log(whole("items", items, at_least=1) / fraction("failure_probability", failure_probability))
    used = _used(positive("epsilon", epsilon))
    return width / used * spread if used else math.inf


def _noise_scale(epsilon: float, sensitivity: int, *, monotone: bool) -> float:
    """The noise scale 2 sensitivity / epsilon, or sensitivity / epsilon for monotone scores, rounded up."""
    move = (1 if monotone else 2) * whole("sensitivity", sensitivity, at_least=1)
    return float_up(Fraction(move) / written(positive("epsilon", epsilon)))


def _whole_scores(scores: ArrayLike) -> NDArray[np.int64]:
    values = np.asarray(scores)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "biu":
        raise InvalidInput("scores", f"an array of shape {values.shape} and type {values.dtype}",
                           "must be one-dimensional whole numbers, at least one")
    # A step moves what is cut to the range of the type no further apart.
    if values.dtype.kind == "u":
        values = np.minimum(values, np.uint64(_LARGEST))
    return np.clip(values.astype(np.int64), -_LARGEST, _LARGEST)


def report_noisy_max(
    scores: ArrayLike, epsilon: float, sensitivity: int, noise: Noise, *, stream: Stream, monotone: bool = False,
    line: str | None = None,
) -> int:
    """The position of the largest score after discrete Laplace noise of scale 2 sensitivity / epsilon is added to each
    score.

    The mechanism is epsilon-DP, and no better than (epsilon^2/2)-zCDP. If many selections are composed, the exponential
    mechanism costs a quarter as much: epsilon^2/8 instead of epsilon^2/2 in zCDP. The smallest position wins a tie. On
    the integers ties have positive probability, so the rule for ties is part of the law.

    Args:
        scores: (k,) whole numbers, private.
        epsilon: the loss in nats, > 0.
        sensitivity: the largest distance by which one neighbour step can move any score, a whole number >= 1.
        noise: the source of randomness.
        stream: the name of the draw; each name can be used only once.
        monotone: True if every neighbour step moves all scores in one direction, which reduces the noise scale to
            sensitivity / epsilon.
        line: the name of the line of the run's charge that pays for the draws; None if the charge has one line only.

    Returns:
        The position of the selected item in `scores`. The noisy scores are not released.

    Raises:
        InvalidInput: scores that are not whole numbers, no items, or a parameter out of range.
        Overspent: the line cannot pay for the draw.

    Source: Dwork and Roth 2014, Claim 3.9; its proof holds word for word on the integers (spec query_release A3).

    Example:
        >>> report_noisy_max([120, 95, 3], 1.0, 1, Noise.simulated(1), stream="winner")
        0
    """
    values = _whole_scores(scores)
    scale = _noise_scale(epsilon, sensitivity, monotone=monotone)
    move = (1 if monotone else 2) * sensitivity
    source = pay(noise, DrawCost.laplace(Fraction(move) / Fraction(scale)), stream=stream, line=line)
    return int(np.argmax(source.discrete_laplace(scale, values.shape, stream=stream, center=values)))


def noisy_max_law(
    scores: ArrayLike, epsilon: float, sensitivity: int, *, monotone: bool = False
) -> NDArray[np.float64]:
    """The probabilities with which `report_noisy_max` selects each item, shape (k,), by a sum over the integers;
    private, like the scores.

    With the noisy scores Z_i = score_i + noise:

        P[r] = sum over z of P[Z_r = z] prod_{i < r} P[Z_i < z] prod_{i > r} P[Z_i <= z]

    Example:
        >>> noisy_max_law([2, 0], 1.0, 1).round(6).tolist()
        [0.771903, 0.228097]
    """
    return largest_law(_whole_scores(scores), _noise_scale(epsilon, sensitivity, monotone=monotone))


def largest_law(values: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """The probability that each value is the largest after discrete Laplace noise of scale `scale` is added to every
    value, shape (k,). If noisy values are equal, the first one counts as the largest.
    """
    reach = math.ceil(_TAIL * scale)
    terms = 2.0 * reach * values.size
    if terms > _MOST_TERMS or terms * values.size > _MOST_PRODUCTS:
        raise InvalidInput("scale", f"{scale:g} is too large to enumerate for {values.size:,} items (a sum over "
                           f"{terms:.2g} integers, {terms * 32 / 2**30:.2g} GiB, with "
                           f"{terms * values.size:.2g} products)",
                           f"the sum can have at most {_MOST_TERMS:.2g} integers and {_MOST_PRODUCTS:.2g} products")
    top = int(values.max())
    # Far below the best score the others decide, and it has no mass that a double could hold.
    grid = np.arange(top - reach, top + reach + 1)
    ratio = math.exp(-1 / scale)
    law = np.empty(values.size)
    at_most = np.array([_at_most(grid - value, ratio) for value in values])
    below = np.array([_at_most(grid - value - 1, ratio) for value in values])
    for r, value in enumerate(values):
        mass = (1 - ratio) / (1 + ratio) * ratio ** np.abs(grid - value)
        others = np.prod(below[:r], axis=0) * np.prod(at_most[r + 1 :], axis=0)
        law[r] = float(np.sum(mass * others))
    return np.asarray(law / law.sum())


def _at_most(z: NDArray[np.int64], ratio: float) -> NDArray[np.float64]:
    """The probability P[noise <= z] of discrete Laplace noise."""
    tail = ratio ** np.abs(z + (z >= 0)) / (1 + ratio)
    return np.asarray(np.where(z >= 0, 1 - tail, tail))
