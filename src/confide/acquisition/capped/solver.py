"""The cheapest weights and noise where no person may have more than a capped weight, on a fixed grid of S.

A single seller gives sqrt(kappa) to the platform, and a campaign must be charged for the worst that any reports can
lead to, though a typical contract loses far less. So the set that is optimised over is made smaller, in a way that no
report changes:

* people whose virtual cost exceeds a public ceiling, at most 1, are never bought from: psi = inf there, which keeps a
  virtual cost monotone;
* no weight exceeds `weight_cap`, so that 1/weight_cap people at least must take part;
* S is one of `capped_spreads`;
* nothing is bought where that is cheaper, at the fixed cost `outside`.

Everybody's difference of levels still falls in her own virtual cost, and payments by differences of these values make
truth best. Rents run up to the ceiling and no further: beyond it she sells nothing, while the value jumps to that
without her.

With all psi in [phi, 1] every w has phi + (1 - phi)/n <= Q(w) <= 1, since Q rises in every psi and is 1 where all are
1. So the best S of any weights, sqrt(Q/kappa), lies between the ends of the grid: fact 5 of the spec without its g.

Source: confide; spec two_part_acquisition sections 5 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.capped.inner import Best, Crowd, best_at, best_of_all, crowd_at, weights_at
from confide.acquisition.optimum.problem import Levels, checked_prices, levels
from confide.acquisition.optimum.solver import Solution
from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.remedies import printed
from confide.contract.renamed import renamed

__all__ = ["CappedSolution", "capped_spreads", "solve_capped"]

Floats = NDArray[np.float64]

WHOLE = 1e-9
"""A cap that is so close to one over a whole number is taken as that."""
OVER = 1e-12
"""A virtual cost may exceed the ceiling by rounding."""
ANCHORS = 6


def capped_spreads(people: int, approximation: float, *, noise_price: float, psi_floor: float = 0.0) -> Floats:
    """The allowed values of S, ascending.

    Args:
        people: registered users, absentees included.
        approximation: in (0, 1].
        noise_price: kappa > 0.
        psi_floor: phi in [0, 1], the least virtual cost; the larger, the fewer values.

    Example:
        >>> [capped_spreads(10**4, 0.001, noise_price=1.0, psi_floor=floor).size for floor in (0.0, 0.25)]
        [52, 8]
    """
    n = whole("people", people, at_least=1)
    step = 2.0 * math.acosh(1.0 + positive("approximation", approximation, at_most=1.0))
    phi = non_negative("psi_floor", psi_floor, at_most=1.0)
    least = math.sqrt((phi + (1.0 - phi) / n) / positive("noise_price", noise_price))
    count = max(1, math.ceil(math.log(1.0 / (math.sqrt(noise_price) * least)) / step))
    return np.asarray(least * np.exp(step * (np.arange(count) + 0.5)))


@dataclass(frozen=True, eq=False)
class CappedSolution(Solution):
    """As `Solution`; where nothing is bought all weights are 0, the value is that of the outside option, and S is nan.

    Attributes:
        bought: whether anything is.
    """

    @property
    def bought(self) -> bool:
        return bool(self.winners.size)


@renamed(delta="approximation")
def solve_capped(
    virtual_costs: ArrayLike, *, weight_cap: float, variance_price: float, noise_price: float, approximation: float,
    outside: float = math.inf, psi_floor: float = 0.0,
) -> CappedSolution:
    """The cheapest weights that do not exceed a cap, and their levels, with S in `capped_spreads`.

    The cost is at most 1 + approximation times that under the best S. n = 10^5 takes a fraction of a second.

    Args:
        virtual_costs: (n,) psi in [psi_floor, 1]; inf for absentees and whoever is above the ceiling.
        weight_cap: in (0, 1].
        variance_price: g >= 0.
        noise_price: kappa > 0.
        approximation: in (0, 1].
        outside: what it costs to buy nothing, > 0; infinite where that is no option but for want of people.
        psi_floor: public lower bound of all virtual costs.

    Returns:
        Nothing bought where that is cheaper, and where fewer than 1/weight_cap people have a finite virtual cost.

    Raises:
        InvalidInput: a virtual cost that is NaN, below the floor, or finite above 1; a parameter out of range.
        SolverFailed: weights could not be told apart in doubles.

    Example:
        >>> prices = {"variance_price": 0.1, "noise_price": 1.0, "approximation": 0.001}
        >>> solve_capped([0.1, 0.5, 0.8, 0.9], weight_cap=0.4, **prices).weights.round(3).tolist()
        [0.4, 0.293, 0.194, 0.114]
        >>> solve_capped([0.1, 0.5, 0.8, 0.9], weight_cap=0.4, outside=1.0, **prices).bought
        False
    """
    costs = checked_capped_costs(virtual_costs, psi_floor)
    plan = CapPlan.of(costs.size, weight_cap, variance_price, noise_price, approximation, outside, psi_floor)
    people = Sorted.of(costs)
    if people.position.size < plan.room:
        return _nothing(costs.size, plan.outside, plan.outside, 0)
    nodes = solved_nodes(people, plan)
    best = min(range(len(nodes)), key=lambda k: nodes[k].value)
    node = nodes[best]
    value = node.value * plan.unit
    lower = min(value / (1.0 + approximation) * (1.0 - 1e-14), plan.outside)
    if value > plan.outside:
        return _nothing(costs.size, plan.outside, lower, len(nodes))
    crowd = node.crowd(people, plan)
    weights = np.zeros(costs.size)
    weights[people.position] = weights_at(crowd, best_of_all(crowd, node.best.level, node.best.pull))
    return CappedSolution(value, weights, levels(weights, costs, float(plan.spreads[best])), lower, len(nodes))


def _nothing(people: int, value: float, lower: float, evaluations: int) -> CappedSolution:
    none = np.zeros(people)
    return CappedSolution(value, none, Levels(math.nan, none, none, none), lower, evaluations)


def checked_capped_costs(virtual_costs: ArrayLike, psi_floor: float, field: str = "virtual_costs") -> Floats:
    """Virtual costs as an array, rounding above 1 taken off.

    Raises:
        InvalidInput: they are not numbers, or one is NaN, below the floor, or finite above 1.
    """
    floor = non_negative("psi_floor", psi_floor, at_most=1.0)
    try:
        costs = np.asarray(virtual_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field, "they are not numbers") from None
    if not costs.size or (field == "virtual_costs" and costs.ndim != 1):
        raise InvalidInput(field, f"shape {costs.shape}", "one number for each of at least one user")
    if not np.all((costs >= floor) & ((costs <= 1.0 + OVER) | np.isinf(costs))):
        raise InvalidInput(field, "one is out of range",
                           f"must be in [{printed(floor)}, 1], or inf for whoever is above the ceiling")
    return np.where(np.isinf(costs), costs, np.minimum(costs, 1.0))


class CapPlan(NamedTuple):
    """What is public, in units where kappa = 1.

    Args:
        g: price of variance.
        room: 1/weight_cap.
        spreads: allowed values of S, in the caller's units.
        rates: their r.
        outside: cost of buying nothing, in the caller's units.
        unit: sqrt(kappa), by which costs here are multiplied.
    """

    g: float
    room: float
    spreads: Floats
    rates: list[float]
    outside: float
    unit: float

    @classmethod
    def of(cls, people: int, weight_cap: float, variance_price: float, noise_price: float, approximation: float,
           outside: float, psi_floor: float) -> CapPlan:
        """Checked."""
        g, kappa = checked_prices(variance_price, noise_price)
        room = 1.0 / positive("weight_cap", weight_cap, at_most=1.0)
        if abs(room - np.rint(room)) <= WHOLE * room:
            room = float(np.rint(room))
        if outside != math.inf:
            positive("outside", outside)
        spreads, unit = capped_spreads(people, approximation, noise_price=kappa, psi_floor=psi_floor), math.sqrt(kappa)
        return cls(g / unit, room, spreads, (1.0 / (unit * spreads)).tolist(), float(outside), unit)


class Sorted(NamedTuple):
    """Everybody with a finite virtual cost, in the order of (psi, position).

    Args:
        position: (k,) among all users.
        ease: (k,) 1 - sqrt(psi).
        gain: (k,) 1 - psi.
    """

    position: NDArray[np.int64]
    ease: Floats
    gain: Floats

    @classmethod
    def of(cls, costs: Floats) -> Sorted:
        """Sorted."""
        here = np.flatnonzero(np.isfinite(costs))
        here = here[np.argsort(costs[here], kind="stable")]
        gain = 1.0 - costs[here]
        return cls(here, ease_of(costs[here]), gain)


def ease_of(costs: Floats) -> Floats:
    """1 - sqrt(psi), without cancellation."""
    return np.asarray((1.0 - costs) / (1.0 + np.sqrt(costs)))


class Node(NamedTuple):
    """The optimum at one r.

    Args:
        rate: r.
        anchor: where weights end.
        centre: how many are capped.
        best: with everybody there.
        value: 1/r + V(r).
    """

    rate: float
    anchor: float
    centre: int
    best: Best
    value: float

    def crowd(self, people: Sorted, plan: CapPlan) -> Crowd:
        """The sums there."""
        return crowd_at(people.ease, people.gain, plan.g, self.rate, plan.room, self.anchor, self.centre)


def solved_nodes(people: Sorted, plan: CapPlan) -> list[Node]:
    """The optimum at every r, for 1/cap people at least.

    Each is looked for from where weights end at the r before it, and then from where they end here.
    """
    last = float(people.ease[-1])
    anchor, centre = float(people.ease[math.ceil(plan.room) - 1]), 0
    level, pull = 0.0, plan.rates[0] / 2.0
    nodes = []
    for rate in plan.rates:
        for turn in range(ANCHORS):
            at = anchor, centre
            found: Best = best_at(people.ease, people.gain, plan.g, rate, plan.room, anchor, centre, level, pull)
            anchor = max(anchor - found.level / found.pull, last) if found.pull > 0.0 else last
            level, pull, centre = found.level + found.pull * (anchor - at[0]), found.pull, found.first
            if turn and found.settled:
                break
        if not found.settled:
            raise SolverFailed("solve_capped", "weights cannot be told apart; a larger variance_price can help")
        nodes.append(Node(rate, *at, found, 1.0 / rate + found.value))
    return nodes
