"""The price of an error, chosen before any report is read, such that a budget or a target error is met in expectation.

For every profile of reports, payments rise and the mean squared error falls with the error's price gamma. Therefore
bisection finds the price, on the same profiles from the public priors at every step. The promised numbers are means
under the priors with standard errors, measured on further profiles. No real report is used, so the truth remains
everybody's best report.

The module also has the option to buy nothing where that is cheaper. The rule for this option is fixed in advance, as
gamma is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.comparisons import error_cost
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.optimum.solver import solve
from confide.acquisition.priors import ConcernPrior, prior_draws
from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import tried

__all__ = ["Bought", "ChosenPrice", "Expected", "PriceSetting", "bought", "edge", "expected", "outside_option",
           "price_for_budget", "price_for_error"]

_STEP = 4.0  # by which a price is raised or lowered until it brackets the target
_TOLERANCE = 1e-5  # relative, of the price


def outside_option(
    values: ArrayLike, differences: ArrayLike, *, error_price: float, outside_mse: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Costs and allocations where the platform buys nothing if that is cheaper.

    Args:
        values: (...,) costs V of the platform where it buys.
        differences: (...,) or (..., n) differences d = epsilon_local - epsilon_central.
        error_price: price gamma > 0 of an error.
        outside_mse: m0 >= 0, the squared error without buying, such as the variance of the platform's prior belief.

    Returns:
        min(V, gamma m0), and d with 0 where nothing is bought. The cost with the option not to buy is still a minimum
        over a range that no report changes. Therefore payments by differences of these costs keep truth the best
        report.

    Example:
        >>> values, differences = outside_option([2.0, 5.0], [1.0, 0.5], error_price=10.0, outside_mse=0.3)
        >>> values.tolist(), differences.tolist()
        ([2.0, 3.0], [1.0, 0.0])
    """
    limit = positive("error_price", error_price) * non_negative("outside_mse", outside_mse)
    v, d = np.asarray(values, dtype=np.float64), np.asarray(differences, dtype=np.float64)
    bought = (v <= limit).reshape(v.shape + (1,) * (d.ndim - v.ndim))
    return np.minimum(v, limit), np.where(bought, d, 0.0)


@dataclass(frozen=True, kw_only=True)
class PriceSetting(Declared):
    """The public parameters of a campaign that buys a mean, which are fixed before anybody reports.

    Args:
        prior: prior of everybody's sensitivity, or one prior for each person.

    Raises:
        InvalidInput: a parameter is out of range.
    """

    prior: ConcernPrior | Sequence[ConcernPrior]
    people: Annotated[int, Parameter("people who report", symbol="n", at_least=1)]
    variance: Annotated[float, Parameter("variance of a scaled record", symbol="VAR", at_least=0, at_most=0.25)]
    order: Annotated[float, Parameter("order of the Renyi divergence", symbol="alpha", above=1)] = 2.0
    psi_floor: Annotated[float, Parameter("least virtual cost", at_least=0)] = 0.0
    outside_mse: Annotated[float, Parameter(
        "squared error of not buying; infinite if this is no option", above=0, infinite=True)] = math.inf


@dataclass(frozen=True, kw_only=True)
class ChosenPrice:
    """A price of an error and its mean results over reports, measured on draws that were not used to choose the price.

    Args:
        error_price: price gamma.
        payments: mean total of all payments.
        payments_error: standard error of `payments`.
        mse: mean of the estimate's mean squared error.
        mse_error: standard error of the mean `mse`.
        bought: share of the draws in which anything is bought.
        draws: number of draws from which the price was chosen. As many further draws measured the results.
        seed: seed of the draws that measured the results.
    """

    error_price: float
    payments: float
    payments_error: float
    mse: float
    mse_error: float
    bought: float
    draws: int
    seed: int


class _Means:
    """Payments and squared errors over fixed profiles, as functions of the price of an error."""

    def __init__(self, setting: PriceSetting, draws: int, seed: int, stream: str) -> None:
        self._setting = setting
        self._profiles = [psi for _, psi in prior_draws(setting.prior, setting.people, draws, seed, stream=stream,
                                                        psi_floor=setting.psi_floor)]

    def rows(self, gamma: float) -> NDArray[np.float64]:
        """Table of shape (draws, 3): virtual payments, which have the same mean as payments; squared error; 1 where
        anything is bought.
        """
        it = self._setting
        prices = {"variance_price": gamma * it.variance, "noise_price": gamma * it.order / 2.0}
        found = np.empty((len(self._profiles), 3))
        for k, psi in enumerate(self._profiles):
            best = solve(psi, **prices)
            if best.value > gamma * it.outside_mse:
                found[k] = 0.0, it.outside_mse, 0.0
            else:
                error = error_cost(best, **prices)
                found[k] = best.value - error, error / gamma, 1.0
        return found

    def mean(self, gamma: float, column: int) -> float:
        return float(self.rows(gamma)[:, column].mean())


def price_for_budget(setting: PriceSetting, budget: float, *, draws: int = 100, seed: int = 0) -> ChosenPrice:
    """The highest price of an error at which payments stay within a budget, on average over reports.

    Args:
        setting: the public parameters.
        budget: budget B > 0 for the total of all payments. The budget holds in expectation, not for each profile of
            reports.
        draws: number of profiles of reports from which the price is chosen, at least 2. As many further profiles
            measure the payments and the error.
        seed: seed of the profiles of reports.

    Raises:
        InvalidInput: a parameter is out of range.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> setting = PriceSetting(prior=UniformPrior(), people=20, variance=0.1)
        >>> found = price_for_budget(setting, 2.0, draws=10)
        >>> abs(found.payments - 2.0) < 3 * found.payments_error
        True
    """
    positive("budget", budget)
    means = _means(setting, draws, seed)
    # Pooling pays sqrt(gamma alpha/2): a price from which it is not far.
    low, _ = edge(lambda gamma: means.mean(gamma, 0) > budget, 2.0 * budget**2 / setting.order)
    return _measured(setting, low, draws, seed)


def price_for_error(setting: PriceSetting, mse: float, *, draws: int = 100, seed: int = 0) -> ChosenPrice:
    """The lowest price of an error at which the mean squared error reaches a target, on average over reports.

    Args:
        setting: the public parameters.
        mse: target mean squared error, above VAR/n, the error of records without any noise, and below the error without
            buying.
        draws: number of profiles of reports from which the price is chosen, at least 2. As many further profiles
            measure the payments and the error.
        seed: seed of the profiles of reports.

    Raises:
        InvalidInput: a parameter is out of range, or no price reaches the target.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> setting = PriceSetting(prior=UniformPrior(), people=20, variance=0.1)
        >>> found = price_for_error(setting, 0.1, draws=10)
        >>> abs(found.mse - 0.1) < 3 * found.mse_error
        True
    """
    positive("mse", mse)
    again = partial(price_for_error, setting, draws=draws, seed=seed)
    least = setting.variance / setting.people
    if mse <= least * (1.0 + 1e-6):
        raise InvalidInput("mse",
                           f"{mse:g} is out of reach: the error of {setting.people} records without any noise is "
                           f"{least:g}",
                           tried("must be at least {mse}", again, mse=least * (1.0 + 2e-6)) or "ask more people")
    if mse >= setting.outside_mse:
        raise InvalidInput("mse", f"{mse:g} needs no records: the error without any records is {setting.outside_mse:g}",
                           tried("must be at most {mse}", again, up=False, mse=setting.outside_mse))
    means = _means(setting, draws, seed)
    _, high = edge(lambda gamma: means.mean(gamma, 1) <= mse, setting.order / (2.0 * (mse - least) ** 2))
    return _measured(setting, high, draws, seed)


def _means(setting: PriceSetting, draws: int, seed: int) -> _Means:
    return _Means(setting, whole("draws", draws, at_least=2), seed, "choosing")


def edge(reached: Callable[[float], bool], start: float) -> tuple[float, float]:
    """Two neighbouring prices between which a condition begins to hold. The condition must hold at all prices above
    some price.

    Args:
        reached: the condition as a function of the price.
        start: a price near the place where the condition begins to hold.
    """
    low = high = start
    if reached(start):
        while reached(low := low / _STEP):
            high = low
    else:
        while not reached(high := high * _STEP):
            low = high
    while high > low * (1.0 + _TOLERANCE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return low, high


def _measured(setting: PriceSetting, gamma: float, draws: int, seed: int) -> ChosenPrice:
    rows = _Means(setting, draws, seed, "measuring").rows(gamma)
    (paid, mse, bought), errors = rows.mean(axis=0), rows.std(axis=0, ddof=1) / math.sqrt(draws)
    return ChosenPrice(error_price=gamma, payments=float(paid), payments_error=float(errors[0]), mse=float(mse),
                       mse_error=float(errors[1]), bought=float(bought), draws=draws, seed=seed)


class Bought(NamedTuple):
    """Payments, error and losses for one profile of reports.

    Args:
        payments: sum of all virtual payments, in the currency. Virtual payments have the same mean as payments.
        mse: mean squared error of the estimate, in squared units of a record. Where nothing is bought, `mse` is the
            mean squared error of the best guess without buying.
        asked: number of people who are asked for a record; 0 where nothing is bought.
        local: the largest local loss.
        central: the largest central loss.
        few: whether too few people have a low enough virtual cost to keep `largest_local_loss`.
    """

    payments: float
    mse: float
    asked: int
    local: float
    central: float
    few: bool


def bought(it: TwoPartMechanism, reports: NDArray[np.float64]) -> Bought:
    """Payments, error and losses for one profile of reports, without making any contract.

    Args:
        it: mechanism of the campaign.
        reports: (n,) reports c.
    """
    psi = it.payment_rule.virtual_costs(reports)
    best = it.payment_rule.solve(psi)
    few = it.weight_cap is not None and bool(np.count_nonzero(np.isfinite(psi)) * it.weight_cap < 1.0)
    if not best.winners.size:
        return Bought(0.0, it.outside / it.error_price * it.width**2, 0, 0.0, 0.0, few)
    error = error_cost(best, variance_price=it.variance_price, noise_price=it.noise_price)
    return Bought(it.price_per_nat * (best.value - error), error / it.error_price * it.width**2, int(best.winners.size),
                  float(best.epsilon_local.max()), float(best.epsilon_central.max()), few)


_WORK = 400_000  # people, over all made-up profiles of a plan
_MOST, _FEWEST = 200, 3


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Means over profiles of reports drawn from the belief, at one price of an error.

    Args:
        setting: description of the changed setting.
        root_error: root of the mean squared error of the estimate, in the unit of a record. Where nothing is bought,
            the error is that of the best guess without buying.
        payments: mean total of payments, in the currency.
        payments_error: standard error of `payments`.
        largest_payments: largest total of payments in any profile.
        asked: mean number of people who are asked for a record.
        local: mean over profiles of the largest local loss.
        central: mean over profiles of the largest central loss.
        bought: share of the profiles in which anything is bought.
        why: reason why nothing is bought in some profiles; empty where the mean is bought in all profiles.
        draws: number of profiles; 0 where the setting is out of reach, or where the mean is bought in too few profiles.
    """

    setting: str
    bought: float
    why: str
    root_error: float = math.nan
    payments: float = math.nan
    payments_error: float = math.nan
    largest_payments: float = math.nan
    asked: float = math.nan
    local: float = math.nan
    central: float = math.nan
    draws: int = 0

    def row(self) -> tuple[str | float | None, ...]:
        """The means as a row of a table."""
        if not self.draws:
            return self.setting, None, None, None, None, None, self.why
        return (self.setting, self.root_error, self.payments, self.asked, self.local, self.bought, self.why)


def expected(setting: str, planned: TwoPartMechanism, least: float = 0.0, **changes: Any) -> Expected:
    """Means over profiles at changed parameters. The result has no numbers where the mean is bought in less than the
    share `least` of the profiles.
    """
    try:
        it = replace(planned, **changes)
    except InvalidInput:
        return Expected(setting=setting, bought=0.0,
                        why="out of reach: largest_local_loss is too small for so few people")
    draws = int(min(_MOST, max(_FEWEST, _WORK // it.people)))
    found, missed = list[Any](), 0
    for reports, _ in prior_draws(it.prior, it.people, draws, 0):
        found.append(bought(it, reports))
        missed += not found[-1].asked > 0
        if missed > (1.0 - least) * draws + 1e-9:
            return Expected(setting=setting, bought=0.0, why="the campaign buys records too seldom")
    table = np.array([(*each, each.asked > 0) for each in found], dtype=np.float64)
    paid, mse, asked, local, central, few, share = table.mean(axis=0).tolist()
    why = "" if share == 1 else (
        "too few people are cheap enough: to stay within largest_local_loss, the campaign must buy from at least "
        f"{math.ceil(1 / (it.weight_cap or 1.0)):,} people"
        if few >= (1 - share) / 2 else "guessing without any records costs less than buying the mean")
    return Expected(
        setting=setting, root_error=math.sqrt(mse), payments=paid, largest_payments=float(table[:, 0].max()),
        payments_error=float(table[:, 0].std(ddof=1)) / math.sqrt(draws), asked=asked, local=local, central=central,
        bought=share, why=why, draws=draws)
