"""Plan of a campaign that buys a mean: the price of an error that meets a budget or a target, chosen before anybody is
asked.

For every profile of reports, payments rise and the mean squared error falls with the price of an error. Therefore
bisection finds the price, on the same profiles from the public prior at every step. Further profiles measure the
payments and the error at the chosen price. No real report is used, so the truth remains everybody's best report. The
module `confide.acquisition.targeting` chooses the price within the mathematical model alone, without integer contracts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.comparisons import Benchmark, central_only, pooling
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.priors import prior_draws
from confide.acquisition.targeting import bought, edge
from confide.charts import intervals
from confide.contract.checks import exactly_one, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import tried
from confide.contract.renamed import warn_of_old
from confide.privacy.losses import ZCDP

__all__ = ["AcquisitionPlan", "design_for_budget", "design_for_error", "plan"]

_DELTA = 1e-6
"""Delta at which the plan also states the largest local loss as an epsilon."""


@dataclass(frozen=True, kw_only=True)
class AcquisitionPlan(Plan[TwoPartMechanism]):
    """A mechanism with a chosen price of an error, and its mean results over new draws of reports.

    Args:
        mechanism: the mechanism with its `mse_price`.
        payments: mean total of all payments, in the mechanism's currency, before payments are rounded up to whole
            smallest units.
        payments_error: standard error of `payments`.
        root_error: root of the mean squared error of the estimate, in the unit of a record. Where nothing is bought,
            the error is the error of the best guess without buying.
        bought: share of the draws in which anything is bought.
        draws: number of draws from which the price was chosen. As many further draws measured the results.
    """

    mechanism: TwoPartMechanism
    payments: float
    payments_error: float
    root_error: float
    bought: float
    draws: int

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        """Root mean squared error and money on average over reports, and upper bounds that hold for any reports."""
        it = self.mechanism
        return {
            **_figures(self.root_error, self.payments, it.currency, "simulated"),
            "bought": Predicted(self.bought, "share of the draws", "simulated"),
            "largest local loss": Predicted(it.caps.local, f"nats at order {it.order:g}", "bound"),
            "largest payment": Predicted(it.largest_payment, it.currency, "bound"),
        }

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Two alternatives: equal contracts for all people without reports, and central noise, which needs trust in the
        platform.
        """
        it = self.mechanism
        prices = {"variance_price": it.variance_price, "noise_price": it.noise_price}
        return (
            Alternative(name="equal contracts, without reports",
                        predicted=_of_model(it, pooling(it.people, **prices)),
                        refused="everybody would be paid as much as the most concerned person needs"),
            Alternative(name="central noise", predicted=_of_model(it, central_only(it.people, **prices)),
                        refused="everybody would have to trust the platform with their exact record"),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the buyer."""
        it, found = self.mechanism, []
        if self.bought < 1:
            found.append(f"the buyer buys nothing in {1 - self.bought:.1%} of the draws: too few people accept the "
                         "price, or the guess without records is cheaper")
        if it.largest_local_loss is None:
            found.append("losses have no separate limit: some reports lead to a contract with the whole weight on one "
                         f"person. A campaign is charged for this case, epsilon = {self._epsilon:.3g} at delta = "
                         f"{_DELTA:g}. Set largest_local_loss")
        if self.root_error >= it.width / 2:
            found.append("on average, the estimated mean would be no better than the middle of the range")
        return tuple(found)

    @property
    def _epsilon(self) -> float:
        it = self.mechanism
        return ZCDP(it.concentrated(it.caps.local)).epsilon_at(_DELTA)

    def _own_figures(self) -> Mapping[str, Any]:
        it = self.mechanism
        return {
            "people": it.people, "mse_price": it.mse_price, "currency": it.currency, "payments": self.payments,
            "payments_error": self.payments_error, "root_error": self.root_error, "bought": self.bought,
            "draws": self.draws, "largest_local_loss": it.caps.local, "largest_central_loss": it.caps.central,
            "largest_payment": it.largest_payment}

    def plot(self) -> Picture:
        """The root mean squared error of the plan, and of each alternative at the same price of an error."""
        rows = [("this plan", self.root_error), *(
            (each.name, each.predicted[_ERROR].value) for each in self.alternatives)]
        said = "; ".join(f"{name}: {value:.3g}" for name, value in rows)
        return intervals([(name, "error", value, 0.0, value) for name, value in rows], title="Error at the same price",
                         axis="root mean squared error, in the unit of a record",
                         alt=f"Root mean squared error of the plan and its alternatives: {said}.")[0]


_ERROR = "root mean squared error"


def _figures(root_error: float, payments: float, currency: str, basis: str) -> dict[str, Predicted]:
    return {_ERROR: Predicted(root_error, "unit of a record", basis),
            "expected total": Predicted(payments, currency, basis)}


def _of_model(it: TwoPartMechanism, found: Benchmark) -> dict[str, Predicted]:
    """A design's figures in the units of a mechanism."""
    return _figures(math.sqrt(found.error_cost / it.error_price) * it.width, found.payments * it.price_per_nat,
                    it.currency, "exact")


@names_missing("budget | error")
def plan(
    design: TwoPartMechanism, *, budget: float | None = None, error: float | None = None, draws: int = 100,
    seed: int = 0,
) -> AcquisitionPlan:
    """Choose the price of an error for a budget or for a target error, on average over reports.

    For a budget, the plan has the highest price at which payments stay within the budget; with `largest_local_loss`,
    enough people must also have a low enough virtual cost in every draw. For a target error, the plan has the lowest
    price that reaches the target. Epsilon is no input: each person's loss follows from the reports and from the price,
    up to `largest_local_loss`.

    Args:
        design: the mechanism to plan for; its `mse_price` is not used.
        budget: limit on all payments together, in the design's currency, above 0; the limit holds in expectation over
            reports, not for each profile of reports.
        error: root of the mean squared error that is wanted, in the unit of a record, above 0. Give either `error` or
            `budget`.
        draws: number of profiles of reports from which the price is chosen, at least 2. As many further profiles
            measure the payments and the error.
        seed: seed of the simulated profiles.

    Raises:
        InvalidInput: a value is out of range, both or none of budget and error are given, or no price reaches the
            error. A target can be out of reach for lack of records or, with `largest_local_loss`, for lack of people
            with a low enough virtual cost.

    Example:
        >>> from confide.acquisition import UniformPrior
        >>> found = plan(TwoPartMechanism(people=20, prior=UniformPrior(), mse_price=1.0), budget=2.0, draws=10)
        >>> abs(found.payments - 2.0) < 3 * found.payments_error
        True
    """
    given: Any = design
    if not isinstance(given, TwoPartMechanism):
        what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise InvalidInput("design", f"{what} is not a mechanism", "must be a TwoPartMechanism with the people, their "
                           "prior and any mse_price, such as 1.0: the plan chooses the price")
    exactly_one(budget=budget, error=error)
    if budget is not None:
        return _for_budget(design, positive("budget", budget), draws, seed)
    return _for_error(design, positive("error", error), draws, seed)


def _for_budget(design: TwoPartMechanism, budget: float, draws: int, seed: int) -> AcquisitionPlan:
    means = _Means(design, draws, seed, "choosing")

    def beyond(price: float) -> bool:
        rows = means.rows(price)
        return rows is None or float(rows[:, 0].mean()) > budget or bool(rows[:, 3].any())

    low, _ = edge(beyond, 2.0 * budget**2 / design.order / design.width**2 / design.price_per_nat)
    return _measured(design, low, draws, seed)


def _for_error(design: TwoPartMechanism, error: float, draws: int, seed: int) -> AcquisitionPlan:
    target = error**2
    least = design.scaled_variance / design.people * design.width**2
    if target <= least * (1.0 + 1e-6):
        raise InvalidInput(
            "error", f"{error:g} is out of reach: the error of {design.people} records without any noise is "
            f"{math.sqrt(least):g}",
            tried("must be at least {error}", lambda error: plan(design, error=error, draws=draws, seed=seed),
                  error=math.sqrt(least) * (1.0 + 1e-6)) or "ask more people")
    means = _Means(design, draws, seed, "choosing")

    def reached(price: float) -> bool:
        rows = means.rows(price)
        return rows is None or bool(rows[:, 3].any()) or float(rows[:, 1].mean()) <= target

    start = design.order * design.price_per_nat / (2.0 * (target - least) ** 2) * design.width**2
    _, high = edge(reached, start)
    rows = means.rows(high)
    if rows is None or float(rows[:, 1].mean()) > target:
        raise InvalidInput("error", f"{error:g} is out of reach under largest_local_loss",
                           "choose a larger largest_local_loss, or invite more people")
    return _measured(design, high, draws, seed)


class _Means:
    """Payments and squared errors of a mechanism over fixed profiles, as functions of the price of an error."""

    def __init__(self, design: TwoPartMechanism, draws: int, seed: int, stream: str) -> None:
        self._design = design
        self._profiles = [reports for reports, _ in prior_draws(
            design.prior, design.people, whole("draws", draws, at_least=2), seed, stream=stream)]

    def rows(self, price: float) -> NDArray[np.float64] | None:
        """Table of shape (draws, 4) with the payments, the squared error, 1 where anything is bought, and 1 where too
        few people have a low enough virtual cost.

        The result is None where no reports can keep `largest_local_loss` at the price.
        """
        try:
            it = replace(self._design, mse_price=price)
        except InvalidInput:
            return None
        found = [bought(it, reports) for reports in self._profiles]
        return np.array([(each.payments, each.mse, each.asked > 0, each.few) for each in found], dtype=np.float64)


def _measured(design: TwoPartMechanism, price: float, draws: int, seed: int) -> AcquisitionPlan:
    rows = _Means(design, draws, seed, "measuring").rows(price)
    if rows is None:
        raise InvalidInput("largest_local_loss", "is out of reach",
                           "choose a larger largest_local_loss, or invite more people")
    paid, mse, share, _ = rows.mean(axis=0).tolist()
    return AcquisitionPlan(
        mechanism=replace(design, mse_price=price), payments=paid, root_error=math.sqrt(mse),
        payments_error=float(rows[:, 0].std(ddof=1)) / math.sqrt(draws), bought=share, draws=draws)


# ---- old names


def design_for_budget(design: TwoPartMechanism, budget: float, *, draws: int = 100, seed: int = 0) -> AcquisitionPlan:
    """Former name of `plan(design, budget=budget)`, available until 1.0.0."""
    warn_of_old("confide.acquisition", "design_for_budget(design, budget)", "plan(design, budget=budget)")
    return plan(design, budget=budget, draws=draws, seed=seed)


def design_for_error(
    design: TwoPartMechanism, root_error: float, *, draws: int = 100, seed: int = 0
) -> AcquisitionPlan:
    """Former name of `plan(design, error=root_error)`, available until 1.0.0."""
    warn_of_old("confide.acquisition", "design_for_error(design, root_error)", "plan(design, error=root_error)")
    return plan(design, error=root_error, draws=draws, seed=seed)
