"""The information that a unit of money buys at each privacy level, and Wang's bounds at the level at which a unit of
money buys the most information.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.contract.checks import fraction
from confide.contract.errors import Refused
from confide.market.costs import Cost, as_cost
from confide.market.majority import MajorityMarket
from confide.market.matching import price_floor
from confide.market.signal_model import Reporting, SignalModel

__all__ = ["GRID", "HIGHEST", "ThesisBounds", "best_price_level", "price_floors", "price_ratios", "thesis_bounds"]

_LOWEST, HIGHEST = 1e-6, 60.0  # where levels are searched; tanh(x/2) is 1 above 40
GRID = np.geomspace(_LOWEST, HIGHEST, 2000)


def price_floors(cost: Cost, levels: Any, edge: float) -> Any:
    """The lower bound V_LB on the expected payment to one person, over an array of levels."""
    x = np.asarray(levels, dtype=np.float64)
    with np.errstate(over="ignore"):
        return cost.slope(x) * (np.sinh(x) + (1.0 + np.cosh(x)) / edge)


def price_ratios(cost: Cost, levels: Any, signal_accuracy: float, edge: float) -> Any:
    """The price ratio r = D/V_LB: Chernoff information D of one report per unit of its least payment V_LB."""
    return Reporting.of(signal_accuracy, levels).chernoff / price_floors(cost, levels, edge)


def best_price_level(cost: Cost, signal_accuracy: float) -> float:
    """The smallest level with the best ratio of Chernoff information to least payment (Wang's epsilon tilde).

    Args:
        cost: cost function g with x^2/g'(x) -> 0 at 0.
        signal_accuracy: probability theta that a bit equals the state.

    Raises:
        Refused: x^2/g'(x) does not tend to 0 at 0, so that it is always cheaper to buy from more people at smaller
            levels (erratum E1 of Wang 2016).

    Source: Wang 2016, (3.21); spec data_market section 2.5.

    Example:
        >>> from confide.market import LinearCost
        >>> round(best_price_level(LinearCost(1.0), 0.8), 7)
        1.7307777
    """
    from scipy.optimize import minimize_scalar

    if not cost.has_finite_optimum:
        raise Refused("a cost that is this flat at 0 has no best level: more people at smaller levels are always "
                      "cheaper",
                      "choose criterion 'chernoff' or 'exact' with max_people")
    edge = 2.0 * signal_accuracy - 1.0
    values = price_ratios(cost, GRID, signal_accuracy, edge)
    best = int(np.argmax(values))
    low, high = GRID[max(best - 1, 0)], GRID[min(best + 1, GRID.size - 1)]

    def loss(log_level: float) -> float:
        return -math.log(float(price_ratios(cost, math.exp(log_level), signal_accuracy, edge)))

    found = minimize_scalar(loss, bounds=(math.log(low), math.log(high)), method="bounded", options={"xatol": 1e-12})
    return math.exp(float(found.x))


@dataclass(frozen=True, kw_only=True)
class ThesisBounds:
    """The bounds of Wang 2016, Theorem 5, on the least total payment F(tau) of a market. The sum of the Chernoff
    informations D of the market's reports must satisfy e^(-sum of D) <= tau. V_LB is the lower bound on the payment to
    one person.

    Args:
        epsilon: level epsilon tilde, at which a unit of money buys the most Chernoff information.
        people: number of people N tilde = ceil(ln(1/tau)/D). A market needs at least 2 people even if N tilde is 1.
        lower: lower bound (N tilde - 1) V_LB on the total, as printed.
        tighter: lower bound ln(1/tau) V_LB/D on the total, which the theorem's proof gives.
        total: upper bound: the total of the majority market of max(N tilde, 2) people at epsilon tilde.
    """

    epsilon: float
    people: int
    lower: float
    tighter: float
    total: float


def thesis_bounds(error: float, signal_accuracy: float, prior_one: float, cost: Cost) -> ThesisBounds:
    """The bounds of Wang 2016, Theorem 5, at the target tau = error.

    Raises:
        Refused: the cost has no best level, because x^2/g'(x) does not tend to 0 at 0.

    Source: Wang 2016, Theorem 5; spec data_market section 2.5.

    Example:
        >>> from confide.market import LinearCost
        >>> found = thesis_bounds(0.1, 0.8, 0.7, LinearCost(1.0))
        >>> found.people, round(found.lower, 3), round(found.total, 3)
        (24, 212.806, 229.382)
    """
    tau, signal_model = fraction("error", error), SignalModel(prior_one, signal_accuracy)
    level = best_price_level(as_cost("cost", cost), signal_accuracy)
    information = float(Reporting.of(signal_accuracy, level).chernoff)
    floor, needed = price_floor(cost, level, signal_model.edge), -math.log(tau)
    people = math.ceil(needed / information)
    market = MajorityMarket(max(people, 2), signal_accuracy, prior_one, cost, level)
    return ThesisBounds(epsilon=level, people=people, lower=(people - 1) * floor,
                        tighter=needed * floor / information, total=market.people * market.quote().expected_payment)
