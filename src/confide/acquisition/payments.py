"""Payments that make truth the best report for any reports of the others.

The payment is t = eps_c + c d + rent, where c is the person's report, eps_l and eps_c are the person's local and
central losses, and d = eps_l - eps_c.

At the truth, a person's utility t - c eps_l - (1 - c) eps_c equals their rent. The rent falls to 0 at the highest
report of their prior, so a person with the highest report is just willing to take part. People without weight send
nothing and are paid nothing. `incentive_bound` bounds the gain of a lie from the distance of the computed values to the
optimum.

Source: spec two_part_acquisition section 4.

A rent is a person's gain from the fact that the platform does not know their sensitivity: the integral of d over all
reports above their own.

Let V be the least cost of the platform. V is concave in a person's virtual cost psi, with slope d. Where psi is linear
in the report, the integral is a difference of two values divided by the slope of psi. This formula is exact even though
d jumps and is infinite at psi = 0. On an interval where psi is constant, the integral of d is d times the length of the
interval. A jump of psi contributes nothing to a rent. Where psi is a smooth function, the integral of d is enclosed
between two bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.capped import solve_capped
from confide.acquisition.optimum.capped_replacement import replaced_capped_values
from confide.acquisition.optimum.problem import checked_prices, single_seller_value
from confide.acquisition.optimum.replacement import replaced_values
from confide.acquisition.optimum.solver import Solution, solve, solve_grid
from confide.acquisition.smooth_prior import SmoothVirtualCost
from confide.acquisition.virtual_cost import VirtualCost
from confide.contract.checks import non_negative
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed

__all__ = [
    "AnyVirtualCost",
    "Enclosed",
    "Offer",
    "OfferRule",
    "PaymentRule",
    "Payments",
    "Replace",
    "Sellers",
    "WeightCap",
    "enclosed_rents",
    "exact_rents",
    "incentive_bound",
]

# ---- rents

Floats = NDArray[np.float64]

Replace = Callable[[NDArray[np.int64], Floats], tuple[Floats, Floats]]
"""Function from (m,) people and (m, k) virtual costs to (m, k) values V and (m, k) differences d. Each result is for
one person with one replaced virtual cost.
"""

_FIRST = 4
"""Number of levels of virtual cost that are computed together at first. Most people have no weight at levels of virtual
cost somewhat above their own.
"""

_TABLE = 1 << 22
_CELLS = 4096

_SHARES = np.linspace(0.0, 1.0, 9) ** 2
"""Ends of the first cells, as shares of the range above the report. Cells are small near the person's own report, since
the integrand d is steep at low reports.
"""


class Sellers(NamedTuple):
    """People with weight who share one prior.

    Args:
        people: (m,) positions of the people.
        reports: (m,) reports c.
        differences: (m,) differences d at the truth.
        value: value V if everybody reports the truth.
    """

    people: NDArray[np.int64]
    reports: Floats
    differences: Floats
    value: float


def exact_rents(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """Rents under a piecewise linear virtual cost, shape (m,).

    Args:
        cost: virtual cost of all people in `sellers`.
        sellers: people whose rents are computed.
        replace: function that gives V and d if one person has another virtual cost; see `Replace`.
    """
    found = np.zeros(len(sellers.people))
    block = max(1, _TABLE // (len(cost.levels) + 1))
    for start in range(0, len(found), block):
        part = slice(start, start + block)
        found[part] = _rents_of(cost, sellers._replace(
            people=sellers.people[part], reports=sellers.reports[part], differences=sellers.differences[part]), replace)
    return found


def _rents_of(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """Rents as sums over all pieces of the virtual cost. A piece of the virtual cost below a person's report
    contributes 0 to their rent.
    """
    values, differences = _at_levels(cost, sellers, replace)
    used = np.flatnonzero((np.diff(cost.bounds) > 0) & np.isfinite(cost.lows))
    rising, flat = used[cost.slopes[used] > 0], used[cost.slopes[used] == 0]
    low, high = (np.searchsorted(cost.levels, ends[rising]) for ends in (cost.lows, cost.highs))
    rents = np.sum(np.maximum(values[:, high] - values[:, low], 0.0) / cost.slopes[rising], axis=1)
    room = np.maximum(cost.bounds[flat + 1] - np.maximum(cost.bounds[flat], sellers.reports[:, None]), 0.0)
    levels = differences[:, np.searchsorted(cost.levels, cost.lows[flat])]
    return np.asarray(rents + np.sum(np.where(room > 0, levels, 0.0) * room, axis=1))


def _at_levels(cost: VirtualCost, sellers: Sellers, replace: Replace) -> tuple[Floats, Floats]:
    """Values V and differences d of local and central loss, each of shape (m, levels), where a person's virtual cost is
    raised to each level. A level below the person's own virtual cost changes nothing.

    A person without weight at one level of virtual cost has none at a higher level, and V does not change above that
    level.
    """
    levels, psi = cost.levels, cost(sellers.reports)
    values = np.full((len(psi), len(levels)), sellers.value)
    differences = np.repeat(sellers.differences[:, None], len(levels), axis=1)
    inside = np.ones(len(psi), dtype=bool)
    start, size = 0, _FIRST
    while start < len(levels) and inside.any():
        stop = min(start + size, len(levels))
        rows = np.flatnonzero(inside & (psi < levels[stop - 1]))
        if len(rows):
            asked = np.maximum(levels[start:stop], psi[rows, None])
            higher = asked > psi[rows, None]
            found = replace(sellers.people[rows], asked)
            for table, each in zip((values, differences), found, strict=True):
                table[rows, start:stop] = np.where(higher, each, table[rows, start:stop])
                table[rows, stop:] = table[rows, stop - 1, None]
            inside[rows] = differences[rows, stop - 1] > 0
        start, size = stop, 2 * size
    return values, differences


class Enclosed(NamedTuple):
    """Rents between two bounds.

    Args:
        points: (m,) rents that are paid, between the bounds.
        widths: (m,) upper bound less lower bound of each rent. The bounds treat the computed values V and differences d
            as exact.
    """

    points: Floats
    widths: Floats


def enclosed_rents(cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, tolerance: float) -> Enclosed:
    """Rents under a smooth virtual cost. The range above each report is divided into cells, and the cells with the
    widest bounds are divided first.

    Args:
        cost: virtual cost of all people in `sellers`.
        sellers: people whose rents are computed.
        replace: function that gives V and d if one person has another virtual cost; see `Replace`.
        tolerance: largest difference between the upper and the lower bound of a rent.

    Raises:
        SolverFailed: with 4096 cells the bounds still differ by more than the tolerance.
    """
    room = (cost.support[1] - sellers.reports)[:, None]
    shares = _SHARES
    nodes = _nodes(cost, sellers, replace, shares)
    while True:
        low, point, high = _cells(cost, sellers.reports[:, None] + room * shares, *nodes)
        widths = high - low
        total = widths.sum(axis=1)
        if not np.any(total > tolerance):
            return Enclosed(point.sum(axis=1), total)
        if len(shares) > _CELLS:
            raise SolverFailed("enclosed_rents", f"the error of the rents is up to {total.max():.3g}, not "
                                                 f"{tolerance:.3g}; give narrower bounds on the slope, or use the "
                                                 "prior's virtual_cost()")
        widest = np.where(total[:, None] > tolerance, widths, 0.0).max(axis=0)
        split = np.flatnonzero(widest > min(tolerance / (2.0 * len(widest)), widest.max() / 2.0))
        middles = (shares[split] + shares[split + 1]) / 2.0
        shares = np.insert(shares, split + 1, middles)
        nodes = tuple(np.insert(old, split + 1, new, axis=1)
                      for old, new in zip(nodes, _nodes(cost, sellers, replace, middles), strict=True))


def _nodes(
    cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, shares: Floats
) -> tuple[Floats, ...]:
    """Virtual cost psi, value V and difference d, each of shape (m, k), at reports between the truth and the highest
    report, placed by `shares`.
    """
    c, top = sellers.reports[:, None], cost.support[1]
    psi = cost(np.minimum(c + (top - c) * shares, top))
    known = np.isfinite(psi) & (shares > 0)
    values, differences = replace(sellers.people, np.where(known, psi, cost(c)))
    values = np.where(shares > 0, np.where(known, values, np.nan), sellers.value)
    differences = np.where(shares > 0, np.where(known, differences, 0.0), sellers.differences[:, None])
    return psi, values, differences


def _cells(
    cost: SmoothVirtualCost, reports: Floats, psi: Floats, values: Floats, differences: Floats
) -> tuple[Floats, Floats, Floats]:
    """Lower bound, paid value and upper bound of the integral of d over each cell."""
    left, right = reports[:, :-1], np.minimum(reports[:, 1:], cost.support[1])
    slopes = [cost.slope_bounds(*ends) for ends in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)]
    least, most = np.array(slopes, dtype=np.float64).reshape(*left.shape, 2).transpose(2, 0, 1)
    length, rise = right - left, np.maximum(np.diff(values), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.fmax(length * differences[:, 1:], rise / most)
        high = np.fmin(length * differences[:, :-1], rise / least)
        point = rise * length / np.diff(psi)
    low, high = np.minimum(low, high), np.maximum(low, high)
    return low, np.where(np.isfinite(point), np.clip(point, low, high), (low + high) / 2.0), high


# ---- payments

AnyVirtualCost = VirtualCost | SmoothVirtualCost


def incentive_bound(
    cost: AnyVirtualCost, value_error: float, *, rent_width: float = 0.0, exact_range: bool = False
) -> float | None:
    """Upper bound on the gain of any lie over the truth, if every value V used is within `value_error` of the optimum.

    On rising pieces of the virtual cost, each difference of values has an error of at most `value_error`, and so has
    the tangent of V at the lie. The errors of the values and of the tangent contribute (pieces + 1) error/least slope
    to the bound. A constant piece of some length, with a level at distance s from every other level, adds at most 2
    error length/s. The bound holds because V is concave, so that the slopes at two nearly optimal points at distance s
    are nearly in falling order. Where other levels come arbitrarily near to the level of a constant piece, there is no
    bound, because two optima with different d may be tied.

    Args:
        cost: the person's virtual cost.
        value_error: absolute error of the values, >= 0.
        rent_width: largest difference between the bounds of an enclosed rent.
        exact_range: whether the optimum is exact over a range that does not depend on reports, as under `solve_grid`.
            With an exact range the difference d falls in psi, and a lie gains nothing on constant pieces.

    Returns:
        The bound in the unit of V; None where there is no bound.

    Example:
        >>> from confide.acquisition.priors import HistogramPrior, UniformPrior
        >>> incentive_bound(UniformPrior().virtual_cost(), 1e-12)
        1e-12
        >>> ironed = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.3, 0.2, 0.5)).virtual_cost()
        >>> print(incentive_bound(ironed, 1e-12))
        None
    """
    error, width = non_negative("value_error", value_error), non_negative("rent_width", rent_width)
    if not isinstance(cost, VirtualCost):
        slope = float(cost.slope_bounds(*cost.support)[0])
        return 2.0 * error / slope + 2.0 * width if slope > 0 else None
    rising = cost.slopes > 0
    gain = (np.count_nonzero(rising) + 1) * error / float(cost.slopes[rising].min()) if rising.any() else 0.0
    if exact_range:
        return float(gain)
    lengths = np.diff(cost.bounds)
    flat = np.flatnonzero(~rising & (lengths > 0) & np.isfinite(cost.lows))
    below = cost.lows[flat] - np.append(-np.inf, cost.highs)[flat]
    above = np.append(cost.lows, np.inf)[flat + 1] - cost.lows[flat]
    apart = np.minimum(below, above)
    if np.any(apart <= 0):
        return None
    return float(gain + 2.0 * error * np.sum(lengths[flat] / apart))


_TOLERANCE = 1e-13
"""Relative gap of every value V that is computed."""

_ROUNDING = 1e-14
"""Relative rounding error of the values on a grid."""


class Offer(NamedTuple):
    """The offer to one person: privacy losses that the person accepts, and the payment for them.

    Args:
        payment: payment t.
        epsilon_local: loss towards the platform, in nats.
        epsilon_central: loss towards the public, in nats.
    """

    payment: float
    epsilon_local: float
    epsilon_central: float

    def utility(self, sensitivity: float) -> float:
        """The utility t - c eps_l - (1 - c) eps_c of a person with sensitivity c. The product 0 eps counts as 0 for an
        infinite level.
        """
        local = sensitivity * self.epsilon_local if sensitivity > 0 else 0.0
        return self.payment - local - (1.0 - sensitivity) * self.epsilon_central


class OfferRule(Protocol):
    """A function from everybody's reports and a person's position to the offer for that person."""

    def __call__(self, reports: Floats, person: int) -> Offer: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Payments:
    """Levels and payments of all people, in the order of the users.

    Args:
        solution: weights and privacy levels.
        payments: (n,) payments t >= 0; 0 for people who are asked for nothing, and for people whose payments were not
            requested.
        rents: (n,) rent of each person: the payment less the cost of the person's privacy losses.
        rent_width: largest difference between the bounds of a rent; 0 where rents are exact.
    """

    solution: Solution
    payments: Floats
    rents: Floats
    rent_width: float

    @property
    def total(self) -> float:
        """The sum of all payments."""
        return float(np.sum(self.payments))

    def offer(self, person: int) -> Offer:
        """The offer to one person."""
        return Offer(float(self.payments[person]), float(self.solution.epsilon_local[person]),
                     float(self.solution.epsilon_central[person]))


@dataclass(frozen=True, kw_only=True)
class WeightCap(Declared):
    """Limits on the weights and virtual costs to optimise over, fixed before anybody reports: see `capped`."""

    weight_cap: Annotated[float, Parameter("the largest weight", above=0, at_most=1)]
    outside: Annotated[float, Parameter("cost of buying nothing", above=0)]
    psi_floor: Annotated[float, Parameter(
        "least virtual cost of anybody; virtual costs must be at most 1, or infinite", above=0, at_most=1)]


@renamed(delta="approximation")
@dataclass(frozen=True, eq=False)
class PaymentRule(Declared):
    """The mechanism as a function of reports: virtual costs, the optimum, and ex-post payments.

    For every fixed set of absentees, truth is a dominant strategy and a truthful person's utility is never negative.
    Truthfulness and participation hold exactly with `approximation`, and up to `incentive_bound` without it.

    Args:
        virtual_cost: one virtual cost for everybody, or one for each person. Equal virtual costs should be the same
            object.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> found = rule.pay([0.05, 0.5])
        >>> found.solution.epsilon_local.round(4).tolist(), found.payments.round(4).tolist()[:1]
        ([4.0562, 1.2827], [1.9338])
    """

    virtual_cost: AnyVirtualCost | Sequence[AnyVirtualCost]
    variance_price: Annotated[float, Parameter("gamma VAR", symbol="g", at_least=0)]
    noise_price: Annotated[float, Parameter("gamma alpha/2", symbol="kappa", above=0)]
    approximation: Annotated[float | None, Parameter(
        "optimise over a grid that does not depend on the reports, at most 1 + approximation times the least cost; "
        "None for the optimum", above=0, at_most=1)] = None
    cap: Annotated[WeightCap | None, Parameter(
        "optimise only over capped weights, on their own grid; needs an approximation")] = None
    rent_tolerance: Annotated[float, Parameter(
        "largest error of the rents under smooth virtual costs, as a share of V", above=0)] = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_prices(self.variance_price, self.noise_price)
        if self.cap is not None and self.approximation is None:
            raise InvalidInput("approximation", "is missing",
                               "capped weights need an approximation, since the weights are optimised over a grid")
        if not isinstance(self.virtual_cost, VirtualCost | SmoothVirtualCost):
            costs = tuple(self.virtual_cost)
            if not costs or not all(isinstance(cost, VirtualCost | SmoothVirtualCost) for cost in costs):
                raise InvalidInput("virtual_cost", "is not a virtual cost, or a list of virtual costs",
                                   "must be one virtual cost, or one for each person")
            object.__setattr__(self, "virtual_cost", costs)

    @cached_property
    def _groups(self) -> list[tuple[AnyVirtualCost, NDArray[np.intp] | None]]:
        """The different virtual costs, each with the positions of its people; None stands for everybody."""
        if not isinstance(self.virtual_cost, Sequence):
            return [(self.virtual_cost, None)]
        number: dict[int, int] = {}
        group = np.array([number.setdefault(id(cost), len(number)) for cost in self.virtual_cost])
        first = np.unique(group, return_index=True)[1]
        return [(self.virtual_cost[where], np.flatnonzero(group == k)) for k, where in enumerate(first.tolist())]

    def virtual_costs(self, reports: ArrayLike, present: ArrayLike | None = None) -> Floats:
        """The virtual costs psi of reports, shape (n,). Virtual costs are infinite for absentees, whose reports do not
        matter.

        Args:
            reports: (n,) reports c.
            present: (n,) whether each person takes part; by default everybody does. Presence must not depend on the
                contracts.

        Raises:
            InvalidInput: a report that the prior cannot produce; the number of reports differs from the number of
                virtual costs.
        """
        c, here = self._checked(reports, present)
        psi = np.full(len(c), np.inf)
        for cost, people in self._of(np.flatnonzero(here)):
            psi[people] = cost(c[people])
        return psi

    def _of(self, people: NDArray[np.intp]) -> Iterator[tuple[AnyVirtualCost, NDArray[np.intp]]]:
        """The given people, in ascending order, grouped by virtual cost."""
        for cost, whose in self._groups:
            yield cost, people if whose is None else np.intersect1d(people, whose, assume_unique=True)

    def _checked(self, reports: ArrayLike, present: ArrayLike | None) -> tuple[Floats, NDArray[np.bool_]]:
        c = np.asarray(reports, dtype=np.float64)
        if c.ndim != 1 or not c.size:
            raise InvalidInput("reports", f"are of shape {c.shape}", "must be a number for each of at least one person")
        if isinstance(self.virtual_cost, Sequence) and len(self.virtual_cost) != c.size:
            raise InvalidInput("reports", f"are {c.size} for {len(self.virtual_cost)} virtual costs",
                               "must be one for each person")
        here = np.ones(c.size, dtype=bool) if present is None else np.asarray(present)
        if here.dtype != bool or here.shape != c.shape:
            raise InvalidInput("present", "is not true or false for each person", f"must have {c.size} entries")
        return c, here

    def solve(self, virtual_costs: ArrayLike) -> Solution:
        """The best weights and privacy levels for given virtual costs."""
        prices = {"variance_price": self.variance_price, "noise_price": self.noise_price}
        if self.approximation is None:
            return solve(virtual_costs, tolerance=_TOLERANCE, **prices)
        if self.cap is not None:
            return solve_capped(virtual_costs, approximation=self.approximation, **prices, **vars(self.cap))
        return solve_grid(virtual_costs, self.approximation, **prices)

    def incentive_bound(self, rent_width: float = 0.0) -> float | None:
        """Upper bound on the gain of any lie over the truth, for any reports; None where there is no bound.

        The value V is never above g + 2 sqrt(kappa), the cost of a single seller, so the bound is public. The function
        `incentive_bound` has the formula.

        Args:
            rent_width: difference between the bounds of a rent, where rents are enclosed.
        """
        most = single_seller_value(variance_price=self.variance_price, noise_price=self.noise_price)
        if self.cap is not None:
            most = self.cap.outside
        error = most * (_TOLERANCE if self.approximation is None else (1.0 + self.approximation) * _ROUNDING)
        bounds = [incentive_bound(cost, error, rent_width=rent_width, exact_range=self.approximation is not None)
                  for cost, _ in self._groups]
        known = [bound for bound in bounds if bound is not None]
        return max(known) if len(known) == len(bounds) else None

    def pay(
        self, reports: ArrayLike, *, present: ArrayLike | None = None, people: ArrayLike | None = None
    ) -> Payments:
        """The weights, privacy levels and payments of all people for given reports.

        Args:
            reports: (n,) reports c.
            present: (n,) whether each person takes part; by default everybody does.
            people: positions of people whose payments are needed; by default everybody.

        Raises:
            InvalidInput: a report or a number of reports that `virtual_costs` rejects; nobody takes part.
        """
        c, here = self._checked(reports, present)
        psi = self.virtual_costs(c, here)
        solution = self.solve(psi)
        chosen = solution.winners
        if people is not None:
            chosen = np.intersect1d(chosen, np.asarray(people, dtype=np.int64))

        def replace(who: NDArray[np.int64], levels: Floats) -> tuple[Floats, Floats]:
            prices = {"variance_price": self.variance_price, "noise_price": self.noise_price}
            if self.cap is not None and self.approximation is not None:
                return replaced_capped_values(
                    psi, who, levels, approximation=self.approximation, **prices, **vars(self.cap))
            return replaced_values(psi, who, levels, approximation=self.approximation, **prices)

        rents, width = np.zeros(c.size), 0.0
        for cost, who in self._of(chosen):
            if not who.size:
                continue
            sellers = Sellers(who, c[who], solution.difference[who], solution.value)
            if isinstance(cost, VirtualCost):
                rents[who] = exact_rents(cost, sellers, replace)
            else:
                found = enclosed_rents(cost, sellers, replace, self.rent_tolerance * solution.value)
                rents[who], width = found.points, max(width, float(found.widths.max()))
        payments = np.zeros(c.size)
        costly = np.multiply(c, solution.difference, out=np.zeros(c.size), where=c > 0)  # 0 d = 0 for an infinite d
        payments[chosen] = (solution.epsilon_central + costly + rents)[chosen]
        return Payments(solution=solution, payments=payments, rents=rents, rent_width=width)

    def __call__(self, reports: Floats, person: int) -> Offer:
        """The offer to one person, for audits."""
        return self.pay(reports, people=[person]).offer(person)
