"""Bounds on the mean squared error of estimating a mean from records that pass through private channels: a lower bound
for any estimator, and the error of the best linear estimator. Each person has a channel of their own with a given local
privacy loss, here called the level of the channel.

Lower bound. The channels are independent, and the Renyi divergence of channel i, of an order of 2 or more, is at most
epsilon_i. Records lie in a range of width 1. Let E = sum(e^epsilon_i - 1). Every estimator of the mean has a worst-case
mean squared error of at least (1 - E/2)/4 if E <= 1, and of at least 1/(8E) if E > 1.

Proof. Take two laws on the ends of the range with means +-d/2. The squared Hellinger distance of one message is at most
d^2 (e^epsilon_i - 1)/2, since int (p-q)^2/(p+q) <= (chi^2(p|q) + chi^2(q|p))/4. The risk of testing two points is at
least d^2 (1 - H^2)/4, where H is the Hellinger distance of all messages. Choose d^2 = min(1, 1/E).

Without any privacy, the error from n records is at least 1/(4 (1 + sqrt n)^2). If the variance of a record is known to
be at most v < 1/4, both lower bounds hold with a factor 4v. For the proof the two laws are placed on an interval of
width 2 sqrt(v), and between its points the divergence of a channel is no larger.

Upper bound. The linear estimator has weights in proportion to 1/(v + alpha/(2 epsilon_i)) on records with Gaussian
noise.

Source: spec two_part_acquisition section 3 (the source's Theorem 1, with constants); the factor 4v is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.release.losses import as_order
from confide.contract.checks import finite, non_negative
from confide.contract.errors import InvalidInput

__all__ = ["LOWER_CONSTANT", "UPPER_CONSTANT", "MinimaxBounds", "minimax_bounds", "shrunk"]

LOWER_CONSTANT = 1.0 / (8.0 * (math.e - 1.0))
"""Constant c of the lower bound in the source's Theorem 1. Where all levels are at most 1, the minimax error is at
least c min(1, 1/sum(epsilon_i)).
"""

UPPER_CONSTANT = 5.0 / 8.0
"""Constant of the upper bound in the source's Theorem 1. For an order alpha of 2 or more, the best linear estimator has
an error of at most this constant times alpha/sum(epsilon_i).
"""


@dataclass(frozen=True, eq=False)
class MinimaxBounds:
    """Bounds on the worst-case mean squared error of estimating a mean. Errors are in units of the squared width of the
    records' range.

    Args:
        lower: lower bound on the worst-case error of any estimator, over all laws of records with at most this
            variance.
        upper: worst-case error of the best unbiased linear estimator; infinite where all levels are 0.
        weights: (n,) weights of the best linear estimator, which sum to 1; zeros where all levels are 0.
        order: order alpha of the Renyi divergence.
        variance: largest variance of a record, for a range of width 1.
        private: whether `lower` follows from the privacy of the channels. The value is False where n records without
            privacy give as large a bound, or where the order is below 2, for which no bound from privacy is known.
        in_theorem: whether `LOWER_CONSTANT` and `UPPER_CONSTANT` hold: all levels are at most 1, and the order is 2 or
            more.
    """

    lower: float
    upper: float
    weights: NDArray[np.float64]
    order: float
    variance: float
    private: bool
    in_theorem: bool

    @property
    def vacuous(self) -> bool:
        """Whether a constant estimate, the middle of the range, is at least as good as the linear estimator: upper >=
        1/4.
        """
        return self.upper >= 0.25

    @property
    def shrink(self) -> float:
        """The factor (1/4)/(upper + 1/4) by which the linear estimate's distance from the middle of the range is
        multiplied.
        """
        return 0.25 / (self.upper + 0.25)

    @property
    def shrunk_upper(self) -> float:
        """The worst-case error upper/(1 + 4 upper) of the estimate that is shrunk by the factor `shrink`. This error is
        below both `upper` and 1/4.
        """
        return 0.25 if math.isinf(self.upper) else self.upper / (1.0 + 4.0 * self.upper)

    @property
    def gap(self) -> float:
        """The ratio `shrunk_upper`/`lower` of the upper to the lower bound.

        The ratio is at most 5 (e - 1) alpha for order alpha, if `in_theorem` is True, the levels sum to 1 or more, and
        the variance is 1/4.
        """
        return self.shrunk_upper / self.lower if self.lower else math.inf


def minimax_bounds(epsilons_local: ArrayLike, *, variance: float = 0.25, order: float = 2.0) -> MinimaxBounds:
    """Bounds on the mean squared error of estimating a mean from records that pass through private channels.

    Args:
        epsilons_local: (n,) local privacy losses (levels) epsilon_i in [0, inf]: bounds on the channels' Renyi
            divergence of the given order. A channel of level 0 sends nothing, and a channel of infinite level sends the
            record itself.
        variance: largest variance of a record in a range of width 1, in [0, 1/4].
        order: finite order alpha > 1 of the Renyi divergence. For orders below 2, the lower bound is that of n records
            without privacy.

    Raises:
        InvalidInput: a parameter is out of range.

    Source: spec two_part_acquisition section 3.

    Example:
        >>> bounds = minimax_bounds([0.5] * 100)
        >>> round(bounds.lower, 6), round(bounds.upper, 6), bounds.vacuous
        (0.002066, 0.0225, False)
        >>> bounds.in_theorem, round(bounds.shrunk_upper, 6)
        (True, 0.020642)
    """
    alpha = as_order(order)
    v = non_negative("variance", variance, at_most=0.25)
    try:
        levels = np.asarray(epsilons_local, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("epsilons_local", "is not an array of numbers") from None
    if levels.ndim != 1 or not levels.size:
        raise InvalidInput("epsilons_local", f"shape {levels.shape}", "must be one-dimensional, one level per person")
    if not (levels >= 0).all():
        raise InvalidInput("epsilons_local", "a negative entry, or one that is not a number", "must be in [0, inf]")
    sampling = 1.0 / (4.0 * (1.0 + math.sqrt(len(levels))) ** 2)
    reported = _two_points(levels) if alpha >= 2 else 0.0
    upper, weights = _linear(levels, v, alpha)
    return MinimaxBounds(4.0 * v * max(reported, sampling), upper, weights, alpha, v, reported > sampling,
                         bool(alpha >= 2 and (levels <= 1).all()))


def shrunk(estimate: float, mse: float, low: float = 0.0, high: float = 1.0) -> float:
    """The estimate that results from moving an unbiased estimate of a mean towards the middle of the range. Shrinking
    an estimate is post-processing, which costs no privacy.

    Args:
        estimate: unbiased estimate, in the unit of the range.
        mse: worst-case mean squared error M >= 0 of the unbiased estimate, in units of the squared width of the range.
        low: lower end of the range.
        high: upper end of the range.

    Returns:
        The shrunk estimate, middle + (1/4)/(M + 1/4) (estimate - middle). The shrunk estimate has a worst-case mean
        squared error of M/(1 + 4M) times the squared width. The shrunk estimate is biased, and the mechanism's
        objective does not contain it.

    Example:
        >>> shrunk(1.1, 0.25)
        0.8
    """
    middle = finite("low", low) / 2 + finite("high", high) / 2
    if not low < high:
        raise InvalidInput("high", f"{high!r} is out of range", f"must be above low, which is {low!r}")
    return middle + 0.25 / (non_negative("mse", mse) + 0.25) * (finite("estimate", estimate) - middle)


def _two_points(levels: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore"):
        reported = float(np.expm1(levels).sum())
    return (1.0 - reported / 2.0) / 4.0 if reported <= 1.0 else 1.0 / (8.0 * reported)


def _linear(levels: NDArray[np.float64], v: float, alpha: float) -> tuple[float, NDArray[np.float64]]:
    """The error and the weights of the best linear estimator."""
    with np.errstate(divide="ignore"):
        precisions = 1.0 / (v + alpha / (2.0 * levels))
    exact = np.isinf(precisions)
    if exact.any():  # records without noise and without variance
        return 0.0, exact / np.count_nonzero(exact)
    total = float(precisions.sum())
    return (1.0 / total, precisions / total) if total else (math.inf, precisions)
