"""What agreement with another report costs the collector, level by level, and the bound that no prior enters.

E[R] - g'(e^epsilon + 1) is a sum of positive terms. The printed one, (5.19)-(5.21), has another last bracket and is
wrong (erratum E3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confide.market.costs import Cost
from confide.market.pairs.prior import PairPrior
from confide.market.signal_model import LARGEST_LEVEL

__all__ = ["cheapest_level", "pair_excess", "pair_floor", "pair_prices"]

_LOWEST, _HIGHEST, _POINTS = 1e-6, 60.0, 64  # where levels are searched


def pair_floor(cost: Cost, levels: ArrayLike) -> Any:
    """g'(epsilon)(e^epsilon + 1): no nonnegative mechanism buys the level from one person for less, whatever the prior.

    Source: Wang 2016, Proposition 1, (5.17).
    """
    x = np.asarray(levels, dtype=np.float64)
    with np.errstate(over="ignore"):
        return cost.slope(x) * (np.exp(x) + 1.0)


def pair_excess(prior: PairPrior, levels: ArrayLike) -> Any:
    """(E[R] - g'(e^epsilon + 1))/c(epsilon) > 0, as a sum of positive terms.

    Source: spec data_market, erratum E3.
    """
    x = np.asarray(levels, dtype=np.float64)
    keep, flip = scipy.special.expit(x), scipy.special.expit(-x)
    p, z, d = prior.signal_one, prior.signal_zero, abs(prior.covariance)
    terms = keep**2 * max(p * z - d, 0.0) + keep * flip * (p * p + z * z) + flip**2 * (p * z + d)
    with np.errstate(divide="ignore"):
        return terms / (d * np.tanh(x / 2.0))


def pair_prices(prior: PairPrior, cost: Cost, levels: ArrayLike) -> Any:
    """E[R] of one person, for arrays of levels; infinite where it leaves the doubles.

    Example:
        >>> from confide.market import LinearCost
        >>> round(float(pair_prices(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0), 1.0)), 10)
        35.2758260272
    """
    x = np.asarray(levels, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = pair_floor(cost, x) + cost.slope(x) * (1.0 + np.cosh(x)) * pair_excess(prior, x)
    return np.where(np.isfinite(found), found, np.inf)


def cheapest_level(prior: PairPrior, cost: Cost, least: float = 0.0) -> float:
    """The level of least E[R] among those from `least` on: a higher one is often cheaper, and never less accurate by a
    bound that falls with the level.

    The best of 64 levels in equal ratios, and Brent's method around it.

    Args:
        prior: what people believe.
        cost: g.
        least: in [0, 700].

    Example:
        >>> from confide.market import LinearCost
        >>> round(cheapest_level(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0)), 5)
        1.27362
    """
    from scipy.optimize import minimize_scalar

    low = max(least, _LOWEST)
    levels = np.geomspace(low, min(max(_HIGHEST, 2.0 * low), LARGEST_LEVEL), _POINTS)
    levels[0] = low
    prices = pair_prices(prior, cost, levels)
    best = int(np.argmin(prices))
    if best == 0 and pair_prices(prior, cost, low * (1 + 1e-6)) >= prices[0]:
        return low
    around = (math.log(levels[max(best - 1, 0)]), math.log(levels[min(best + 1, _POINTS - 1)]))
    brent = minimize_scalar(lambda log_level: float(pair_prices(prior, cost, math.exp(log_level))),
                            bounds=around, method="bounded", options={"xatol": 1e-10})
    return math.exp(float(brent.x)) if brent.fun < prices[best] else float(levels[best])
