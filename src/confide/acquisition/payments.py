"""Payments that make truth the best report, whatever the others report: t = eps_c + c d + rent.

A person's utility t - c eps_l - (1 - c) eps_c at the truth is their rent, which falls to 0 at the highest report of
their prior: that type is the one who is just willing to take part. People without weight send nothing and get nothing.
What a lie gains at most follows from how near to the optimum the values are (`incentive_bound`).

Source: spec two_part_acquisition section 4.

Rents: what a person earns because the platform does not know how much they mind, the integral of d above their report.

V is concave in a person's virtual cost psi with slope d. So where psi is linear in the report the integral is a
difference of two values over psi's slope, exact though d jumps and is infinite at 0; a flat stretch is d at its level
times its length; a jump of psi is nothing. Where psi is a smooth function, the integral is enclosed.
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
"""(m,) people, (m, k) virtual costs of theirs -> (m, k) values V and (m, k) differences d; the others as they are."""

_FIRST = 4
"""Levels that are looked at together at first; most people are out of the market soon above their own."""

_TABLE = 1 << 22
_CELLS = 4096

_SHARES = np.linspace(0.0, 1.0, 9) ** 2
"""Cells are small near the truth: d is steep at low reports."""


class Sellers(NamedTuple):
    """People with weight under one prior.

    Args:
        people: (m,) positions.
        reports: (m,) c.
        differences: (m,) d at the truth.
        value: V at the truth of all.
    """

    people: NDArray[np.int64]
    reports: Floats
    differences: Floats
    value: float


def exact_rents(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """Rents under a piecewise linear virtual cost, (m,).

    Args:
        cost: virtual cost of all these people.
        sellers: these people.
        replace: values where one of them has another virtual cost.
    """
    found = np.zeros(len(sellers.people))
    block = max(1, _TABLE // (len(cost.levels) + 1))
    for start in range(0, len(found), block):
        part = slice(start, start + block)
        found[part] = _rents_of(cost, sellers._replace(
            people=sellers.people[part], reports=sellers.reports[part], differences=sellers.differences[part]), replace)
    return found


def _rents_of(cost: VirtualCost, sellers: Sellers, replace: Replace) -> Floats:
    """The sum over all pieces; those below a report have no room above it and one value at both ends."""
    values, differences = _at_levels(cost, sellers, replace)
    used = np.flatnonzero((np.diff(cost.bounds) > 0) & np.isfinite(cost.lows))
    rising, flat = used[cost.slopes[used] > 0], used[cost.slopes[used] == 0]
    low, high = (np.searchsorted(cost.levels, ends[rising]) for ends in (cost.lows, cost.highs))
    rents = np.sum(np.maximum(values[:, high] - values[:, low], 0.0) / cost.slopes[rising], axis=1)
    room = np.maximum(cost.bounds[flat + 1] - np.maximum(cost.bounds[flat], sellers.reports[:, None]), 0.0)
    levels = differences[:, np.searchsorted(cost.levels, cost.lows[flat])]
    return np.asarray(rents + np.sum(np.where(room > 0, levels, 0.0) * room, axis=1))


def _at_levels(cost: VirtualCost, sellers: Sellers, replace: Replace) -> tuple[Floats, Floats]:
    """(m, levels) V and d where a person has a level's virtual cost, or her own where that is larger.

    Whoever has no weight at one level has none at a higher one, and V stays as it is.
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
        points: (m,) rents that are paid.
        widths: (m,) upper less lower bound; they take V and d as exact.
    """

    points: Floats
    widths: Floats


def enclosed_rents(cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, tolerance: float) -> Enclosed:
    """Rents under a smooth virtual cost: the range above each report is cut into cells, the widest bounds first.

    Args:
        cost: virtual cost of all these people.
        sellers: these people.
        replace: values where one of them has another virtual cost.
        tolerance: how far apart the bounds of one rent may be.

    Raises:
        SolverFailed: they are still further apart with 4096 cells.
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
            raise SolverFailed("enclosed_rents", f"rents are known to {total.max():.3g} only, not to {tolerance:.3g}; "
                               "give narrower bounds of the slope, or use the prior's virtual_cost()")
        widest = np.where(total[:, None] > tolerance, widths, 0.0).max(axis=0)
        split = np.flatnonzero(widest > min(tolerance / (2.0 * len(widest)), widest.max() / 2.0))
        middles = (shares[split] + shares[split + 1]) / 2.0
        shares = np.insert(shares, split + 1, middles)
        nodes = tuple(np.insert(old, split + 1, new, axis=1)
                      for old, new in zip(nodes, _nodes(cost, sellers, replace, middles), strict=True))


def _nodes(
    cost: SmoothVirtualCost, sellers: Sellers, replace: Replace, shares: Floats
) -> tuple[Floats, ...]:
    """(m, k) psi, V and d at reports that lie by these shares between the truth and the highest report."""
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
    """Lower bound, value to pay and upper bound of the integral of d over each cell."""
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
    """The bound of any report's gain over the truth, where every V that was used is within `value_error` of the
    optimum.

    Rising pieces: each difference of values errs by the error at most, and so does V's tangent at the lie; together
    (pieces + 1) error/least slope. A flat stretch of this length whose level is s away from every other level gains at
    most 2 error length/s more: V is concave, so that slopes of nearly optimal points s apart are nearly in order. Where
    levels come arbitrarily near to a flat one, values alone give no bound: two optima may be tied with different d.

    Args:
        cost: the person's virtual cost.
        value_error: absolute error of the values, >= 0.
        rent_width: how far apart the bounds of an enclosed rent are.
        exact_range: the optimum is exact over a range that does not depend on reports, as under `solve_grid`; d then
            falls in psi, and flat stretches gain nothing.

    Returns:
        In the unit of V; None where there is no bound.

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
"""Relative gap of every V."""

_ROUNDING = 1e-14
"""Of the values on a grid, relative."""


class Offer(NamedTuple):
    """The offer to one person: what they are asked for, and their payment.

    Args:
        payment: t.
        epsilon_local: loss towards the platform, in nats.
        epsilon_central: loss towards the public, in nats.
    """

    payment: float
    epsilon_local: float
    epsilon_central: float

    def utility(self, sensitivity: float) -> float:
        """The utility t - c eps_l - (1 - c) eps_c of a person with this c; 0 eps = 0 for an infinite level."""
        local = sensitivity * self.epsilon_local if sensitivity > 0 else 0.0
        return self.payment - local - (1.0 - sensitivity) * self.epsilon_central


class OfferRule(Protocol):
    """A function from everybody's reports and a person's position to the offer for that person."""

    def __call__(self, reports: Floats, person: int) -> Offer: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Payments:
    """Levels and money of everybody, in the order of the users.

    Args:
        solution: weights and levels.
        payments: (n,) t >= 0; 0 for whom nothing was asked of, and for whoever was left out of `people`.
        rents: (n,) payment of each above their cost.
        rent_width: how far apart the bounds of a rent are at most; 0 where rents are exact.
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
        """One person's."""
        return Offer(float(self.payments[person]), float(self.solution.epsilon_local[person]),
                     float(self.solution.epsilon_central[person]))


@dataclass(frozen=True, kw_only=True)
class WeightCap(Declared):
    """A smaller range to optimise over, fixed before anybody reports: see `capped`."""

    weight_cap: Annotated[float, Parameter("the largest weight", above=0, at_most=1)]
    outside: Annotated[float, Parameter("cost of buying nothing", above=0)]
    psi_floor: Annotated[float, Parameter(
        "least virtual cost of anybody; virtual costs must not exceed 1, but for infinite ones", above=0, at_most=1)]


@renamed(delta="approximation")
@dataclass(frozen=True, eq=False)
class PaymentRule(Declared):
    """The mechanism in terms of reports: virtual costs, the optimum, and ex-post payments.

    Truth is a dominant strategy and nobody loses by it, for every fixed set of absentees: exactly with `approximation`,
    and but for `incentive_bound` without.

    Args:
        virtual_cost: one for everybody, or one for each person; equal ones should be one object.

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
        "optimise over capped weights alone, on their own grid; needs an approximation")] = None
    rent_tolerance: Annotated[float, Parameter(
        "share of V to which rents under smooth virtual costs are enclosed", above=0)] = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_prices(self.variance_price, self.noise_price)
        if self.cap is not None and self.approximation is None:
            raise InvalidInput("approximation", "is missing", "capped weights are optimised over a grid")
        if not isinstance(self.virtual_cost, VirtualCost | SmoothVirtualCost):
            costs = tuple(self.virtual_cost)
            if not costs or not all(isinstance(cost, VirtualCost | SmoothVirtualCost) for cost in costs):
                raise InvalidInput("virtual_cost", "is not of virtual costs", "must be one, or one for each person")
            object.__setattr__(self, "virtual_cost", costs)

    @cached_property
    def _groups(self) -> list[tuple[AnyVirtualCost, NDArray[np.intp] | None]]:
        """The different virtual costs, and whose they are: None for everybody's."""
        if not isinstance(self.virtual_cost, Sequence):
            return [(self.virtual_cost, None)]
        number: dict[int, int] = {}
        group = np.array([number.setdefault(id(cost), len(number)) for cost in self.virtual_cost])
        first = np.unique(group, return_index=True)[1]
        return [(self.virtual_cost[where], np.flatnonzero(group == k)) for k, where in enumerate(first.tolist())]

    def virtual_costs(self, reports: ArrayLike, present: ArrayLike | None = None) -> Floats:
        """The virtual costs psi of reports, (n,); infinite for the absentees, whose reports do not matter.

        Args:
            reports: (n,) c.
            present: (n,) whether each takes part; default all. It must not depend on the contracts.

        Raises:
            InvalidInput: a report that the prior cannot produce; another number of reports than of virtual costs.
        """
        c, here = self._checked(reports, present)
        psi = np.full(len(c), np.inf)
        for cost, people in self._of(np.flatnonzero(here)):
            psi[people] = cost(c[people])
        return psi

    def _of(self, people: NDArray[np.intp]) -> Iterator[tuple[AnyVirtualCost, NDArray[np.intp]]]:
        """These people, ascending, by virtual cost."""
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
            raise InvalidInput("present", "is not true or false for each person", f"must be {c.size} of them")
        return c, here

    def solve(self, virtual_costs: ArrayLike) -> Solution:
        """Weights and levels for given virtual costs."""
        prices = {"variance_price": self.variance_price, "noise_price": self.noise_price}
        if self.approximation is None:
            return solve(virtual_costs, tolerance=_TOLERANCE, **prices)
        if self.cap is not None:
            return solve_capped(virtual_costs, approximation=self.approximation, **prices, **vars(self.cap))
        return solve_grid(virtual_costs, self.approximation, **prices)

    def incentive_bound(self, rent_width: float = 0.0) -> float | None:
        """The bound of any report's gain over the truth, whatever the reports are; None where there is no bound.

        Nobody's V is above g + 2 sqrt(kappa), which one seller costs: so the bound is public. See `incentive_bound`.

        Args:
            rent_width: width of the payments' rents, where these are enclosed.
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
        """Weights, levels and payments.

        Args:
            reports: (n,) c.
            present: (n,) whether each takes part; default all.
            people: positions of those whose payments are needed; default all.

        Raises:
            InvalidInput: see `virtual_costs`; nobody takes part.
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
        """One person's offer, for audits."""
        return self.pay(reports, people=[person]).offer(person)
