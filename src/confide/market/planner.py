"""The cheapest way to learn the state with a given error probability: how many people, at which level, for how much
money.

There are three criteria for the choice of people and level. `thesis` takes Wang's choice of level and number of people.
`chernoff` takes the cheapest market that meets Wang's target e^(-N D) <= error, where N is the number of people and D
the Chernoff information of one report. `exact` takes the cheapest market whose best guess has at most the given error
probability. The criteria `thesis` and `chernoff` use loose bounds, so their plans cost more. `plan(...).compared` shows
the plans by all three criteria.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import exactly_one, fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import tried, trying
from confide.market.binomials import MajorityErrors, errors_at, majority_errors
from confide.market.costs import Cost, as_cost
from confide.market.majority import MajorityMarket, excess
from confide.market.planned import ERROR, LEVEL, MONEY, TOTAL, NoPurchase, PlannedMarket, around, by_criterion, picture
from confide.market.price_levels import GRID, HIGHEST, best_price_level, price_floors, price_ratios, thesis_bounds
from confide.market.signal_model import LARGEST_LEVEL, Reporting, SignalModel
from confide.numerics.fewest import fewest

__all__ = [
    "CRITERIA",
    "MarketPlan",
    "TargetUnreachable",
    "least_people",
    "plan",
]

CRITERIA = ("exact", "chernoff", "thesis")

LARGEST_PLAN = 10_000
"""Default of the largest number of people in a plan."""

_POINTS = 64  # of the grid over levels for one N
_CLOSELY, _ROUGHLY = 7, 4  # zooms into a grid: prices to a relative 1e-13, and better than
_ROOM = 1e-7
_EACH = 1000  # people up to whom every number is looked at where ranges follow
_WHOLE = {"chernoff": 10_000, "exact": 2500}  # people for whom every number is looked at more quickly than ranges
_RANGES = 256  # of numbers of people, at first
_NARROW = 1e-5  # a range of numbers that differ by a smaller part of them is not divided: one of them stands for all
_TRIED = 32  # of many ranges, the most promising
_MOST_PEOPLE = 2**40  # that a refusal names
_LEAST_ERROR = 1e-280
_CLOSE = 1e-5  # relative, within which the least error for a budget is found
_PLOTTED = "Accuracy of more people"
_AT_ONCE = 2048  # rows of levels: 1 MiB for each array


class TargetUnreachable(InvalidInput):
    """A target that no market with the allowed number of people reaches.

    Args:
        error: error probability that was asked for.
        max_people: largest number of people that may be asked.
        reachable: least error probability that `max_people` people can reach, if everybody reports their bit unchanged.
        people: smallest number of people that would suffice; None where 2^40 people do not suffice.
        attempt: function that plans again with another number `people` or another `error`.
        seconds: approximate time of another attempt, in seconds for each person in the plan.
    """

    def __init__(
        self, error: float, max_people: int, reachable: float, people: int | None, attempt: Callable[..., Any],
        seconds: float = 0.0,
    ) -> None:
        ways = [*tried("choose people >= {people}", attempt, seconds=(people or 0) * seconds, people=people),
                *tried("error >= {error}", attempt, digits=6, seconds=max_people * seconds, error=reachable)]
        reported = [each.settings["people"] for each in ways if "people" in each.settings]
        self.error, self.max_people, self.reachable = error, max_people, reachable
        self.people = int(reported[0]) if reported else people
        super().__init__("error", f"{error:g} is out of reach with {max_people} people, who reach {reachable:.6g} at "
                                  "best",
                         ways or "no number of people is enough")


@dataclass(frozen=True, kw_only=True)
class MarketPlan(PlannedMarket):
    """A market that reaches a target error, that keeps to a budget, or that buys a given level.

    Args:
        target: error that was asked for, or the least error that the budget or the level allows.
        criterion: criterion of the plan: exact, chernoff or thesis.
        people: number N of people; 0 where nothing is bought because the prior alone is accurate enough.
        epsilon: privacy level that is bought from each person, in nats.
        total: expected sum of all payments.
        error: exact probability that the best guess of the state is wrong.
        lower_bound: lower bound on the expected total of any market, of any size, that meets the criterion.
        searched: largest number N of people that the search examined.
        complete: whether it is proved that no larger N is cheaper. The level for each N is the best level that the
            search found. From 10^5 people on, the total may exceed the least total by a relative 2e-5.
        market: market to run; None where nothing is bought.
        max_payment: the user's cap on single payments, if any.
    """

    target: float
    criterion: str
    people: int
    epsilon: float
    total: float
    error: float
    lower_bound: float
    searched: int
    complete: bool
    market: MajorityMarket | None
    max_payment: float | None = None
    _inputs: tuple[float, float, Cost, int] | None = field(default=None, repr=False, compare=False)
    _guess: int = field(default=0, repr=False, compare=False)

    @property
    def _market(self) -> MajorityMarket | NoPurchase:
        return NoPurchase(self.error, self._guess) if self.market is None else self.market

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        return {TOTAL: Predicted(self.total, MONEY), ERROR: Predicted(self.error),
                "people": Predicted(self.people, "people"), LEVEL: Predicted(self.epsilon, "nats")}

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The plans by the other criteria at the same target; none where the level was given."""
        return () if self._inputs is None else by_criterion(self.compared, self.criterion)

    def plot(self) -> Picture:
        """A picture of the expected total payment and the error probability at the plan's level, for other numbers of
        people.
        """
        it = self.market
        if it is None:
            return picture([(0.0, self.error)], (0.0, self.error), title=_PLOTTED, x="expected total",
                           y=ERROR, alt="The market buys nothing, since the prior alone is good enough.")
        people = sorted({max(2, round(each)) for each in around(float(self.people), math.inf)})
        others = [replace(it, people=each) for each in people]
        return picture([(each.people * each.quote().expected_payment, each.error_probability()) for each in others],
                       (self.total, self.error), title=_PLOTTED, x="expected total", y=ERROR,
                       alt="The probability of a wrong guess falls as more people are paid for the same level; the "
                       "plan is marked.")

    def _warned(self) -> Sequence[str]:
        found = []
        if self.market is not None:
            largest, present = self.market.worst_payment()
            if self.max_payment is not None and largest > self.max_payment:
                found.append(f"a single payment can be {largest:.6g}, above the cap of {self.max_payment:g}, "
                             f"if {present} of {self.people} take part")
            if not self.complete:
                found.append(f"the plan did not examine markets of more than {self.searched} people, which may be "
                             "cheaper")
        return found

    @cached_property
    def compared(self) -> dict[str, MarketPlan | str]:
        """Mapping from each criterion to its plan, or to the reason why it has none."""
        found: dict[str, MarketPlan | str] = {}
        for criterion in CRITERIA:
            if criterion == self.criterion:
                found[criterion] = self
            elif self._inputs is not None:
                theta, prior, cost, limit = self._inputs
                try:
                    found[criterion] = plan(self.target, theta, prior, cost, criterion, max_people=limit,
                                            max_payment=self.max_payment)
                except (TargetUnreachable, Refused) as refusal:
                    found[criterion] = str(refusal)
        return found

    def _own_figures(self) -> Mapping[str, Any]:
        out: dict[str, Any] = {key: getattr(self, key) for key in (
            "target", "criterion", "people", "epsilon", "total", "error", "lower_bound", "searched", "complete")}
        if self.market is not None:
            budget = self.market.total_payment()
            out["budget"] = {"mean": budget.mean, "sd": budget.sd, "q95": budget.quantile(0.95), "max": budget.largest}
            out["liability"] = list(self.market.liability())
            out["quote"] = self.market.quote().to_dict()
        return out


def _exact_levels(people: NDArray[np.int64], error: float, signal_model: SignalModel, low: NDArray[np.float64],
                  high: NDArray[np.float64], steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bisect, on a logarithmic scale, the brackets of the least levels at which the best guess errs with probability at
    most `error`.
    """
    a, b = np.log(low), np.log(high)
    for _ in range(steps):
        middle = (a + b) / 2.0
        good = errors_at(people, signal_model, Reporting.of(signal_model.signal_accuracy, np.exp(middle))) <= error
        a, b = np.where(good, a, middle), np.where(good, middle, b)
    return np.exp(a), np.exp(b)


class _Search:
    """The search for the cheapest (N, epsilon): it examines every N that no bound rules out, until no larger N can be
    cheaper.
    """

    def __init__(self, error: float, signal_model: SignalModel, cost: Cost, criterion: str, limit: int) -> None:
        self.error, self.signal_model, self.cost = error, signal_model, cost
        self.criterion, self.limit = criterion, limit
        self.best: tuple[float, int, float] = (math.inf, 0, math.nan)
        self.searched, self.complete = 1, False
        odds = signal_model.prior_one * signal_model.prior_zero
        # Every feasible market has N D >= quality (exact: p (1 - p) >= P1 P0 e^(-2 N D)).
        self.quality = -math.log(error) if criterion == "chernoff" else 0.5 * math.log(odds / (error * (1 - error)))
        informations = Reporting.of(signal_model.signal_accuracy, GRID).chernoff
        floors = price_floors(cost, GRID, signal_model.edge)
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = np.append(informations[1:] / floors[:-1], informations[-1] / floors[-1])
        # Below the grid D <= edge^2 e^2/8 (1 + tiny) and V_LB >= 2 g'(e)/edge, whose ratio falls with e (named costs).
        first = informations[0] / floors[0] * 1.001 if cost.has_finite_optimum else math.inf
        self.informations, self.ratios = informations, np.maximum.accumulate(np.append(first, cells))

    def floor_from(self, people: int) -> float:
        """A lower bound on the expected total of every market of at least `people` people."""
        where = int(np.searchsorted(self.informations, self.quality / people, side="left"))
        most = float(self.ratios[min(where, self.ratios.size - 1)])
        return self.quality / most if most > 0 else math.inf

    def price_of(self, levels: Any, errors: MajorityErrors) -> Any:
        """The expected payment E[R] to one person at the given levels, given the error probabilities of the majority of
        the others.
        """
        x = np.asarray(levels, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            unit = self.cost.slope(x) * (1.0 + np.cosh(x))
            price = price_floors(self.cost, x, self.signal_model.edge) + unit * excess(self.signal_model, errors)
        return np.where(np.isfinite(price), price, np.inf)

    def cost_of(self, people: Any, levels: Any) -> Any:
        """The expected total N E[R] of markets of N = `people` people at the given levels."""
        errors = majority_errors(people - 1, Reporting.of(self.signal_model.signal_accuracy, levels))
        return people * self.price_of(levels, errors)

    def level_of(self, information: NDArray[np.float64]) -> NDArray[np.float64]:
        """The levels with the given Chernoff informations; infinite where even an unchanged bit has less
        information.
        """
        ratio = np.sqrt(-np.expm1(-2.0 * information)) / self.signal_model.edge
        return np.where(ratio < 1.0, 2.0 * np.arctanh(np.minimum(ratio, 1.0 - 1e-16)), np.inf)

    def brackets(self, people: NDArray[np.int64], steps: int = 20) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A level below and a level above epsilon_N, the least level at which N people reach the target; infinite where
        no level suffices.

        Args:
            people: numbers N of people.
            steps: number of bisections for the exact criterion.
        """
        signal_model = self.signal_model
        least = self.level_of(self.quality / people)
        if self.criterion == "chernoff":
            return least, least
        low, high = np.full(people.size, np.inf), np.full(people.size, np.inf)
        at_best = errors_at(people, signal_model, Reporting.of(signal_model.signal_accuracy, LARGEST_LEVEL))
        reached = at_best <= self.error
        n = people[reached]
        # No best guess errs more often than sqrt(P1 P0) e^(-N D).
        enough = self.level_of(math.log(math.sqrt(signal_model.prior_one * signal_model.prior_zero) / self.error) / n)
        low[reached], high[reached] = _exact_levels(n, self.error, signal_model, least[reached] * (1.0 - 1e-9),
                                                    np.minimum(enough * (1.0 + 1e-9), HIGHEST), steps)
        return low, high

    def levels_from(self, low: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, 64) levels from each lowest level `low` up. The second level is only slightly above the first, and shows
        whether prices rise from the start.
        """
        levels = np.exp(np.log(low)[:, None] + np.linspace(0.0, 1.0, _POINTS)
                        * np.log(np.maximum(HIGHEST / low, 2.0))[:, None])
        levels[:, 0], levels[:, 1] = low, low * (1 + 1e-6)
        return levels

    def cheapest(self, price: Callable[[NDArray[np.int64], Any], Any], levels: NDArray[np.float64],
                 found: NDArray[np.float64], zooms: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least price in each row of levels, and the level at which it is reached.

        Args:
            price: function of two arguments that returns prices. The first argument has numbers of rows, and the second
                a row of levels for each of these numbers.
            levels: rising along each row, from `levels_from`.
            found: prices of the levels.
            zooms: number of refinements around the best level. Each refinement divides the distance of the levels by 8,
                and the error of the least price is of second order in that distance.
        """
        best = np.argmin(found, axis=1)
        least, at = (each[np.arange(len(each)), best] for each in (found, levels))
        rows = np.flatnonzero(best > 0)  # all other prices rise from the start
        levels, best = levels[rows], best[rows]
        for _ in range(zooms if rows.size else 0):
            here = np.arange(rows.size)
            low = levels[here, np.maximum(best - 1, 0)]
            high = levels[here, np.minimum(best + 1, levels.shape[1] - 1)]
            levels = np.exp(np.linspace(np.log(low), np.log(high), 17, axis=1))
            levels[:, 0], levels[:, -1] = low, high  # so that no level falls below the least one by rounding
            prices = price(rows, levels)
            best = np.argmin(prices, axis=1)
            least[rows], at[rows] = prices[here, best], levels[here, best]
        return least, at

    def look(self, people: NDArray[np.int64]) -> None:
        """Examine the markets of the given sizes, and keep the best market. The bound V_LB at the least level rules
        most sizes out.
        """
        low, high = self.brackets(people)
        possible = np.isfinite(high)
        people, low, high = people[possible], low[possible], high[possible]
        with np.errstate(over="ignore"):
            floors = people * price_floors(self.cost, low, self.signal_model.edge)
        known = min(self.best[0], float(np.min(self.cost_of(people, high), initial=math.inf)))
        keep = floors <= known
        people, low, high = people[keep], low[keep], high[keep]
        if self.criterion == "exact":
            low, high = _exact_levels(people, self.error, self.signal_model, low, high, 32)  # to 1e-14
        levels = self.levels_from(high)
        totals = self.cost_of(people[:, None], levels)
        rough = totals.min(axis=1, initial=math.inf)
        # The grid's steps are 1.3 at most: between two of its points the total falls by a few per cent at best.
        near = rough <= 1.05 * min(self.best[0], float(rough.min(initial=math.inf)))
        people = people[near]
        least, at = self.cheapest(lambda rows, x: self.cost_of(people[rows, None], x), levels[near], totals[near],
                                  _CLOSELY)
        self.best = min([self.best, *zip(least.tolist(), people.tolist(), at.tolist(), strict=True)])

    def least_of(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
        """A lower bound on the expected total of every market of first, first + 2,..., or last people, for many such
        ranges at once.

        Every market in the range needs at least the level that suffices for `last` people. At one level, each step by
        two people makes both error probabilities of the majority smaller, with one exception. A majority of an even
        number of others wrongly says 1 with a probability that first rises and then falls, so that its least value is
        at one end of the range. Kappa is largest at `last`.
        """
        low = self.brackets(last)[0]
        out = np.full(low.size, np.inf)
        some = np.flatnonzero(np.isfinite(low))
        few, many = first[some, None], last[some, None]

        def price(rows: Any, x: Any) -> Any:
            reporting = Reporting.of(self.signal_model.signal_accuracy, x)
            most, fewest = (majority_errors(size[rows] - 1, reporting) for size in (many, few))
            errors = MajorityErrors(low=most.low, high=np.minimum(most.high, fewest.high), kappa=most.kappa)
            return self.price_of(x, errors)

        levels = self.levels_from(low[some])
        found = self.cheapest(price, levels, price(slice(None), levels), _ROUGHLY)[0]
        out[some] = first[some] * found * (1.0 - _ROOM)
        return out

    def run(self) -> None:
        """Examine ever larger markets until the lower bound for all larger ones is above the best market found.

        If many thousand sizes are allowed, the search examines only the sizes up to a thousand one by one. Beyond a
        thousand it examines ranges of sizes, and divides those ranges that may hold a cheaper market.
        """
        each = self.limit if self.limit <= _WHOLE[self.criterion] else _EACH
        start, size = 2, 64 if self.cost.has_finite_optimum else each  # without an optimum, many people are cheapest
        while start <= each and not self.complete:
            people = np.arange(start, min(start + size, self.limit + 1))
            self.look(people)
            self.searched = int(people[-1])
            self.complete = self.floor_from(self.searched + 1) >= self.best[0]
            start, size = self.searched + 1, 2 * size
        if not self.complete and self.searched < self.limit:
            self.divide(self.searched + 1)
            self.searched = self.limit
            self.complete = self.floor_from(self.limit + 1) >= self.best[0]

    def divide(self, start: int) -> None:
        """Examine the sizes from `start` to the limit that no range's bound rules out, the most promising first."""
        ends = np.unique(np.geomspace(start, self.limit, _RANGES).astype(np.int64))
        self.look(ends)
        first = np.concatenate([ends[:-1] + 1, ends[:-1] + 2])  # of either parity
        last = np.concatenate([ends[1:], ends[1:]])
        narrow = [(first[:0], np.empty(0))]
        while first.size:
            last -= (last - first) % 2
            first, last = first[first <= last], last[first <= last]
            bounds = np.concatenate([np.empty(0), *(self.least_of(first[at:at + _AT_ONCE], last[at:at + _AT_ONCE])
                                                    for at in range(0, first.size, _AT_ONCE))])
            some = np.argsort(bounds)[:_TRIED]
            self.look((first[some] + last[some]) // 2)
            done = last - first <= _NARROW * first
            narrow.append((first[done], bounds[done]))
            open_ = ~done & (bounds < self.best[0])
            first, last = first[open_], last[open_]
            middle = first + (last - first) // 4 * 2
            first, last = np.concatenate([first, middle + 2]), np.concatenate([middle, last])
        people, bounds = (np.concatenate(each) for each in zip(*narrow, strict=True))
        order = np.argsort(bounds)
        for at in range(0, order.size, _TRIED):
            some = order[at:at + _TRIED]
            # The numbers in a wide range pay alike: the first one stands for all, and the next ranges differ by less.
            if bounds[some[0]] >= self.best[0] * (1.0 - (0.0 if self.best[1] * _NARROW < 1 else 2.0 * _NARROW)):
                break
            self.look(people[some])


def least_people(reaches: Callable[[int], bool]) -> int | None:
    """The least number of people for which `reaches` is true, found by doubling and bisection; None where 2^40 people
    do not suffice.
    """
    return fewest(lambda people: people > 1 and reaches(people), _MOST_PEOPLE, singly=2)


def _refuse_infeasible(
    error: float, signal_model: SignalModel, criterion: str, limit: int, again: Callable[..., Any]
) -> None:
    """Raise an error if the target is out of reach even when everybody reports their bit unchanged."""
    bits = Reporting.of(signal_model.signal_accuracy, LARGEST_LEVEL)
    if criterion == "exact":
        def reach(people: int) -> float:
            return float(errors_at(people, signal_model, bits))
    else:
        def reach(people: int) -> float:
            return math.exp(-people * float(bits.chernoff))

    def reached(people: int) -> bool:
        return reach(people) <= error if criterion == "exact" else reach(people) < error

    if not reached(limit):
        raise TargetUnreachable(error, limit, reach(limit), None if trying() else least_people(reached), again)


@names_missing("error | budget | epsilon", "signal_accuracy", "prior_one", "cost", people="epsilon")
def plan(error: float | None = None, signal_accuracy: float | None = None, prior_one: float | None = None,
         cost: Cost | None = None, criterion: str = "exact", *, budget: float | None = None,
         epsilon: float | None = None, people: int | None = None, max_people: int = LARGEST_PLAN,
         max_payment: float | None = None) -> MarketPlan:
    """The cheapest majority market for an error, the most accurate majority market for a budget, or the majority market
    of a given level.

    Give `error`, or `budget`, or `epsilon` with `people`. There is no delta, because every report is randomised alone
    and satisfies pure differential privacy at level epsilon.

    Args:
        error: target in (0, 1). For `exact` the target is the probability of a wrong guess. For `chernoff` and `thesis`
            the target is the number tau in e^(-N D) <= tau, where e^(-N D) bounds the probability of a wrong guess.
        signal_accuracy: probability theta in (0.5, 1) that a bit equals the state W.
        prior_one: prior probability P(W = 1) that the state W is 1.
        cost: cost function g of a privacy level, the same for everybody.
        criterion: "exact", "chernoff" or "thesis"; with `epsilon` only "exact".
        budget: largest expected total payment, > 0, in the unit of the costs.
        epsilon: privacy level that is bought from each person, in (0, 700] nats.
        people: number N of people, >= 2; given only with `epsilon`.
        max_people: largest number of people that can be asked, >= 2.
        max_payment: amount in the unit of the costs. The plan warns if a single payment can be larger; None for no
            warning.

    Returns:
        The plan. A plan has 0 people where the guess of the state by the prior alone meets an exact target, or where
        the budget buys no market that beats this guess.

    Raises:
        InvalidInput: a parameter is out of range, or not exactly one of error, budget and epsilon is given. If several
            arguments are missing, the message names all of them (`MissingArguments`).
        TargetUnreachable: `max_people` people cannot reach the target; the message gives the number of people that
            would suffice.
        Refused: the criterion is "thesis", and the cost has no best level (erratum E1 of Wang 2016).

    Source: Wang 2016, section 3.4; exact criterion and stop rule ours; spec data_market section 2.5.

    Example:
        >>> from confide.market import LinearCost
        >>> belief = {"signal_accuracy": 0.8, "prior_one": 0.7, "cost": LinearCost(1.0)}
        >>> found = plan(error=0.01, **belief)
        >>> found.people, round(found.total, 2), found.complete
        (26, 251.8, True)
        >>> round(plan(error=0.01, **belief, criterion="thesis").total, 2)
        445.17
        >>> round(plan(budget=251.8, **belief).error, 4)
        0.01
        >>> found = plan(epsilon=1.0, people=100, **belief)
        >>> round(found.total, 2), round(found.error, 6)
        (544.18, 0.0021)
    """
    exactly_one(error=error, budget=budget, epsilon=epsilon)
    signal_model = SignalModel(prior_one, signal_accuracy)  # type: ignore[arg-type]
    price = as_cost("cost", cost)
    chosen, limit = one_of("criterion", criterion, CRITERIA), whole("max_people", max_people, at_least=2)
    cap = None if max_payment is None else positive("max_payment", max_payment)
    if epsilon is not None:
        return _at_level(signal_model, price, chosen, epsilon, people, cap)  # type: ignore[arg-type]
    if people is not None:
        raise InvalidInput("people", "has no effect without epsilon", "give max_people instead, or also epsilon")
    if budget is not None:
        return _within(positive("budget", budget), signal_model, price, chosen, limit, cap)
    return _reaching(fraction("error", error), signal_model, price, chosen, limit, cap)


def _nothing(signal_model: SignalModel, target: float, criterion: str, cap: float | None,
             inputs: tuple[float, float, Cost, int] | None) -> MarketPlan:
    """The plan in which nobody is asked, because the prior alone is accurate enough, or because nothing better can be
    bought.
    """
    return MarketPlan(target=target, criterion=criterion, people=0, epsilon=0.0, total=0.0,
                      error=min(signal_model.prior_one, signal_model.prior_zero), lower_bound=0.0, searched=0,
                      complete=True, market=None, max_payment=cap, _inputs=inputs,
                      _guess=int(signal_model.prior_one > signal_model.prior_zero))


def _at_level(signal_model: SignalModel, cost: Cost, criterion: str, epsilon: float, people: int,
              cap: float | None) -> MarketPlan:
    """The plan of the market with a given level and a given number of people."""
    if criterion != "exact":
        raise InvalidInput("criterion", f"{criterion!r} has no effect, since epsilon is given", "must be 'exact'")
    market = MajorityMarket(people, signal_model.signal_accuracy, signal_model.prior_one, cost, epsilon)
    quote, error = market.quote(), market.error_probability()
    return MarketPlan(target=error, criterion=criterion, people=market.people, epsilon=market.epsilon,
                      total=market.people * quote.expected_payment, error=error,
                      lower_bound=market.people * quote.lower_bound, searched=market.people, complete=True,
                      market=market, max_payment=cap)


def _within(budget: float, signal_model: SignalModel, cost: Cost, criterion: str, limit: int,
            cap: float | None) -> MarketPlan:
    """The plan of the most accurate market within a budget, found by bisection: a smaller error never costs less."""
    best: MarketPlan | None = None

    def affordable(error: float) -> bool:
        nonlocal best
        try:
            found = _reaching(error, signal_model, cost, criterion, limit, cap)
        except TargetUnreachable:
            return False
        if found.total > budget:
            return False
        best = found if best is None or found.error <= best.error else best
        return True

    blind = min(signal_model.prior_one, signal_model.prior_zero)
    high = blind if criterion == "exact" else 1.0 - _NARROW
    if not affordable(high):
        return _nothing(signal_model, blind, criterion, cap, None)
    low = high / 2.0
    while low > _LEAST_ERROR and affordable(low):
        low, high = low * low, low
    while high - low > _CLOSE * high:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return best if best is not None else _nothing(signal_model, blind, criterion, cap, None)


def _reaching(target: float, signal_model: SignalModel, cost: Cost, chosen: str, limit: int,
              cap: float | None) -> MarketPlan:
    """The plan of the cheapest market for a target."""
    signal_accuracy, prior_one = signal_model.signal_accuracy, signal_model.prior_one
    inputs = (signal_accuracy, prior_one, cost, limit)

    def again(people: int = limit, error: float = target) -> MarketPlan:
        return plan(error, signal_accuracy, prior_one, cost, chosen, max_people=people, max_payment=cap)

    if chosen == "exact" and min(prior_one, signal_model.prior_zero) <= target * (1 + 1e-12):  # 1 - 0.7 is not 0.3
        return _nothing(signal_model, target, chosen, cap, inputs)
    if chosen == "thesis":
        bounds = thesis_bounds(target, signal_accuracy, prior_one, cost)
        people, level, lower, searched, complete = max(bounds.people, 2), bounds.epsilon, bounds.tighter, 0, True
        if people > limit:
            reached = math.exp(-limit * float(Reporting.of(signal_accuracy, level).chernoff))
            raise TargetUnreachable(target, limit, reached, people, again)
    else:
        _refuse_infeasible(target, signal_model, chosen, limit, again)
        search = _Search(target, signal_model, cost, chosen, limit)
        search.run()
        _, people, level = search.best
        lower, searched, complete = search.floor_from(2), search.searched, search.complete
        if cost.has_finite_optimum:
            best = best_price_level(cost, signal_model.signal_accuracy)
            lower = search.quality / float(price_ratios(cost, best, signal_model.signal_accuracy, signal_model.edge))
    market = MajorityMarket(people, signal_accuracy, prior_one, cost, level)
    return MarketPlan(target=target, criterion=chosen, people=people, epsilon=level,
                      total=people * market.quote().expected_payment, error=market.error_probability(),
                      lower_bound=lower, searched=searched, complete=complete, market=market, max_payment=cap,
                      _inputs=inputs)
