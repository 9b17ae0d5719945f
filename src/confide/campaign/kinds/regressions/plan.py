"""The tables of a `regression` campaign file, and the plan of the campaign. Every key is public, and nothing depends on
data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from confide.campaign.kinds.skeleton import MoneyTable, MoneyWords, Positive, Share, ShownPlan
from confide.contract.checks import not_exactly_one
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees
from confide.contract.known_keys import MOST_PEOPLE, DataTable, Keys, PeopleTable, keys_of
from confide.contract.remedies import Remedy, printed
from confide.contract.replanned import in_file, nearest
from confide.regression import planner
from confide.regression.bounds import fewest_moving
from confide.regression.compared_releases import RELEASES
from confide.regression.costs import ExponentialCosts, ParetoCosts
from confide.regression.priors import (
    GaussianBall,
    NoiseLaw,
    Prior,
    TruncatedGaussianNoise,
    UniformBall,
    UniformNoise,
    UniformSphere,
)
from confide.regression.private_truthful_regression import PaymentScheme, PrivateTruthfulRegression
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.setting import Setting
from confide.regression.stand_ins import StandIns, stand_ins
from confide.tables import Category, Design, Numeric

__all__ = ["PlannedRegression", "RegressionConfig", "largest_smallest_eigenvalue", "plan_of"]

Bounds = Literal["reject", "clip"]


class People(PeopleTable):
    """`[people]`: the invited people, who have the ids 1 to count."""

    count: int = Field(ge=4, le=MOST_PEOPLE, description="n, invited slots; fixed and public")


class Data(DataTable):
    """`[data]`: the path of the file of submissions."""


class NumericColumn(Keys):
    """A column of numbers with public bounds."""

    column: str = Field(min_length=1, description="name of the column in the file of records")
    lower: float = Field(allow_inf_nan=False, description="public lower bound, in the column's unit")
    upper: float = Field(allow_inf_nan=False, description="public upper bound, above lower")
    center: float | None = Field(default=None, allow_inf_nan=False, description=
        "number that is scaled to 0; by default the midpoint")
    out_of_bounds: Bounds = Field(default="reject", description=
        "rule for a value outside of the bounds: reject makes the record unusable, clip moves the value to the bound")
    unit: str = Field(default="", description="unit of the column, shown with the coefficients")

    def role(self) -> Numeric:
        """The public role of the column: its coding into a scaled number, with the bounds in the campaign file."""
        return Numeric(**self.model_dump())


class CategoryColumn(Keys):
    """A column in which each cell has one of a few public values, called levels. The first level is the reference."""

    column: str = Field(min_length=1, description="name of the column in the file of records")
    levels: tuple[str | int | bool, ...] = Field(min_length=2, description=
        "public levels; the first level is the reference")

    def role(self) -> Category:
        """The public role of the column: its coding into features, with the levels in the campaign file."""
        return Category(**self.model_dump())


@keys_of(UniformBall, "", parameter_bound="radius")
@keys_of(UniformNoise, "", noise_bound="bound")
@keys_of(GaussianBall, "", optional=True, prior_std="std")
@keys_of(TruncatedGaussianNoise, "noise_std", optional=True)
@keys_of(Setting, "radius largest_eigenvalue spectrum_tolerance")
class Model(Keys):
    """`[model]`: public assumptions about the data, with all columns scaled. The promises of truthfulness and accuracy
    depend on these assumptions. The promise of privacy does not.
    """

    if TYPE_CHECKING:
        parameter_bound: float
        noise_bound: float
        prior_std: float | None
        noise_std: float | None
        radius: float | None
        largest_eigenvalue: float | None
        spectrum_tolerance: float

    prior: Literal["ball", "sphere", "gaussian"] = Field(
        default="ball", description="law of the coefficients: uniform in the ball with radius parameter_bound, uniform "
                                    "on its surface (sphere), or Gaussian with prior_std and cut to the ball"
    )
    noise: Literal["uniform", "truncated gaussian"] = Field(
        default="uniform", description="law of the residuals within noise_bound; 'truncated gaussian' needs noise_std")
    smallest_eigenvalue: Positive = Field(description="mu: lower bound on the eigenvalues of E[x x'], from public "
                                                      "knowledge")

    @model_validator(mode="after")
    def _deviation(self) -> Model:
        if (self.noise == "truncated gaussian") != (self.noise_std is not None):
            raise ValueError("give noise_std if noise = 'truncated gaussian', and only then")
        if (self.prior == "gaussian") != (self.prior_std is not None):
            raise ValueError("give prior_std if prior = 'gaussian', and only then")
        return self

    def coefficients(self, dimension: int) -> Prior:
        """The assumed probability law of the coefficients, with all columns scaled."""
        if self.prior_std is not None:
            return GaussianBall(dimension, self.prior_std, self.parameter_bound)
        return (UniformSphere if self.prior == "sphere" else UniformBall)(dimension, self.parameter_bound)

    def law(self) -> NoiseLaw:
        """The assumed probability law of the residuals, with the answer scaled."""
        if self.noise_std is not None:
            return TruncatedGaussianNoise(noise_std=self.noise_std, bound=self.noise_bound)
        return UniformNoise(bound=self.noise_bound)


@keys_of(PaymentScheme, "", epsilon_payment="epsilon")
@keys_of(AdaSSP, "", epsilon_release="epsilon")
class PrivacyTable(Keys):
    """`[privacy]`: the privacy budget; the epsilons of the release and of the payments add up."""

    if TYPE_CHECKING:
        epsilon_release: float
        epsilon_payment: float

    delta: float = Field(default=0.0, ge=0, lt=1, description="delta; a delta above 0 admits the release 'adassp'")
    release: Literal["auto", "ridge", "averaged", "sufficient statistics", "adassp"] = Field(
        default="auto", description="estimator of the coefficients; 'auto' chooses the least predicted error"
    )


@keys_of(PaymentScheme, "clip ridge", optional=True)
class PaymentTable(MoneyTable):
    """`[payment]`: how strongly payments reward truth. Exactly one of truth_radius and budget must be given."""

    if TYPE_CHECKING:
        clip: float | None
        ridge: float | None

    truth_radius: Positive | None = Field(default=None, description=
        "rho: a lie that moves the prediction by more than rho does not pay")
    budget: Positive | None = Field(default=None, description="bound on the expected total")
    rule: Literal["centred", "source"] = Field(
        default="centred", description="rule for the payment of a prediction; 'source' is the rule as the source "
                                       "prints it")

    @model_validator(mode="after")
    def _one(self) -> PaymentTable:
        if problem := not_exactly_one(truth_radius=self.truth_radius, budget=self.budget):
            raise ValueError(problem)
        return self


class Costs(Keys):
    """`[costs]`: the assumptions about participants' privacy costs c epsilon^2, and about the number of participants
    who do not answer truthfully.
    """

    law: Literal["pareto", "exponential"] = Field(default="pareto", description="law of the cost coefficient c")
    exponent: float = Field(default=4.0, gt=1, description="exponent of law = 'pareto': P[c > t] = (t/scale)^-exponent")
    scale: Positive = Field(default=1.0, description="least c of law = 'pareto', or mean of c of law = 'exponential', "
                                                     "in the currency")
    misreports: Share = Field(default=0.001, description="alpha: tolerated share of lies and absences")
    failure_probability: Share = Field(default=1e-6, description=
        "beta: probability of more lies and absences than the share `misreports`")

    def build(self) -> ParetoCosts | ExponentialCosts:
        """The assumed probability law of the cost coefficient c, where c epsilon^2 is the cost of an epsilon to a
        participant.
        """
        if self.law == "pareto":
            return ParetoCosts(exponent=self.exponent, scale=self.scale)
        return ExponentialCosts(mean=self.scale)


class RegressionConfig(Keys):
    """All tables of the kind `regression`."""

    people: People
    data: Data
    response: NumericColumn
    features: tuple[NumericColumn | CategoryColumn, ...] = Field(min_length=1)
    model: Model
    privacy: PrivacyTable
    payment: PaymentTable
    costs: Costs = Costs()

    def design(self) -> Design:
        """The public coding of the features. The first feature is a constant."""
        for k, feature in enumerate(self.features, 1):
            if feature.column == self.response.column:
                raise InvalidInput(f"features[{k}].column", f"{feature.column!r} is also the response",
                                   "remove it from the features: an answer cannot be predicted from itself")
        design = Design(features=tuple(_role(f"features[{k}]", column) for k, column in enumerate(self.features, 1)))
        possible = largest_smallest_eigenvalue(design)
        if self.model.smallest_eigenvalue > possible:
            raise InvalidInput("model.smallest_eigenvalue",
                               f"{self.model.smallest_eigenvalue:g} is above the smallest eigenvalue of any population "
                               "with these columns",
                               f"must be at most {printed(possible, up=False, digits=3)}; it is far smaller for most "
                               "populations")
        return design

    def response_role(self) -> Numeric:
        """The public role of the column with the answer: its bounds and its scale."""
        role = _role("response", self.response)
        if not isinstance(role, Numeric):
            raise InvalidInput("response", "is not a column of numbers")
        return role


def largest_smallest_eigenvalue(design: Design) -> float:
    """An upper bound on the smallest eigenvalue mu of the second-moment matrix of the coded features, which holds for
    every law of the features. Each column of the file, together with the constant, gives one bound on mu. The result is
    the smallest of these bounds.

    For a category with k + 1 levels, the worst direction is spanned by the constant and the sum of the indicators of
    the k levels other than the reference. By symmetry and concavity, the population that maximises the eigenvalue gives
    each of the k levels the same share s in [0, 1/k]. The bound is the maximum over s of the smaller eigenvalue of this
    matrix:

        [[1, s sqrt(k)], [s sqrt(k), s]]

    A column of numbers gives no bound on mu below 1, since it can have mean 0 and mean square 1.
    """
    most = 1.0
    for feature in design.features:
        if isinstance(feature, Category):
            k = len(feature.levels) - 1
            s = np.linspace(0.0, 1.0 / k, 2001)
            found = (1.0 + s - np.sqrt((1.0 - s) ** 2 + 4.0 * k * s * s)) / 2.0
            most = min(most, float(found.max()) + 1e-6)
    return most * design.weight**2


def _role(place: str, column: NumericColumn | CategoryColumn) -> Numeric | Category:
    """A column's role; an error names the column of the file that is wrong."""
    try:
        return column.role()
    except InvalidInput as error:
        raise InvalidInput(f"{place}.{error.field}", error.problem, error.ways) from None


if set(RELEASES) != set(PrivacyTable.model_fields["release"].annotation.__args__):  # type: ignore[union-attr]
    raise TypeError("the campaign file and the planner have different release estimators")


_KEYS = {
    "people": "people.count", "misreports": "costs.misreports", "failure_probability": "costs.failure_probability",
    "truth_radius": "payment.truth_radius",
    "budget": "payment.budget", "smallest_eigenvalue": "model.smallest_eigenvalue",
    "spectrum_tolerance": "model.spectrum_tolerance", "radius": "model.radius",
    "epsilon_release": "privacy.epsilon_release", "epsilon_payment": "privacy.epsilon_payment"}
"""Mapping from the name of a parameter of the planner to the key in the campaign file."""

_NOTES = {"model.smallest_eigenvalue": ", for other features that really have this smallest eigenvalue",
          "costs.misreports": ", if no larger share of people lies or stays away"}
"""Mapping from a key of the file to the condition on the people or features under which a recommended value of the key
may be used.
"""


@dataclass(frozen=True, kw_only=True)
class PlannedRegression(ShownPlan, MoneyWords):
    """The plan of a `regression` campaign: the calibrated mechanism, and the public coding of the columns."""

    regression: planner.RegressionPlan
    design: Design
    response: Numeric

    @property
    def mechanism(self) -> PrivateTruthfulRegression:
        return self.regression.mechanism

    @property
    def coined(self) -> PaymentScheme:
        return self.mechanism.payment

    @property
    def figures(self) -> Any:
        """The figures behind the plan's promises, such as the truth radius."""
        return self.regression.figures

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.regression.guarantees

    @cached_property
    def stand_ins(self) -> StandIns:
        """The payments of synthetic participants, and the cost of their lies, in the currency."""
        return stand_ins(self.mechanism, self.design, self.response, self.regression.figures.truth_radius)

    @property
    def reach(self) -> tuple[int, float, float, float]:
        """Four numbers: the number of people, the width of the range of answers, the typical error of a prediction, and
        the number of features, which is also the average leverage. Width and error are in the unit of the answer.
        """
        m, response = self.mechanism, self.response
        return (m.setting.people, response.upper - response.lower,
                math.sqrt(m.release.prediction_error(m.setting)) * response.scale, float(m.setting.features))

    @property
    def deciding(self) -> int | None:
        """The smallest number of identities, with average features, that together can change predictions by as much as
        their typical error; None where no number of identities can.
        """
        people, residual, error, leverage = self.reach
        return fewest_moving(error, people, residual, leverage)

    def to_dict(self) -> dict[str, Any]:
        return {**self.regression.to_dict(), "fewest_identities": {"second": 2, "deciding": self.deciding}}


def _cut(response: Numeric, reach: float) -> bool:
    """Whether the column's bounds exclude some scaled answers in [-reach, reach], all of which the model allows."""
    ends = (response.middle - response.lower, response.upper - response.middle)
    return min(ends) / response.scale < reach * (1 - 1e-9)


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def plan_of(config: RegressionConfig, pages: Any) -> PlannedRegression:
    """The plan of a `regression` campaign file, from its public parameters. The argument `pages` is an object with the
    functions that write the pages: see `ShownPlan`.
    """
    return _planned(config, pages)


def _planned(config: RegressionConfig, pages: Any = None) -> PlannedRegression:
    design, model, privacy, payment = config.design(), config.model, config.privacy, config.payment
    response = config.response_role()
    reach = model.parameter_bound + model.noise_bound
    with in_file(config, _planned, _KEYS, lambda: _would_do(config), _NOTES):
        found = planner.plan(
            people=config.people.count,
            features=design.dimension,
            prior=model.coefficients(design.dimension),
            noise=model.law(),
            epsilon_release=privacy.epsilon_release,
            epsilon_payment=privacy.epsilon_payment,
            delta=privacy.delta,
            release=privacy.release,
            radius=model.radius,
            response_bound=min(1.0, reach),  # scaled responses lie in [-1, 1]
            answers_cut=_cut(response, reach),
            smallest_eigenvalue=model.smallest_eigenvalue,
            largest_eigenvalue=model.largest_eigenvalue,
            spectrum_tolerance=model.spectrum_tolerance,
            ridge_payment=payment.ridge,
            costs=config.costs.build(),
            misreports=config.costs.misreports,
            failure_probability=config.costs.failure_probability,
            truth_radius=payment.truth_radius,
            budget=payment.budget,
            centred=payment.rule == "centred",
            clip=payment.clip,
            currency=payment.currency,
            minor_units=payment.minor_units,
        )
    return PlannedRegression(regression=found, design=design, response=response, pages=pages)


def _would_do(config: RegressionConfig) -> list[str | Remedy]:
    """Changes of the number of people or of an epsilon that would make the plan possible; each was tried on the whole
    plan, exactly as printed.
    """
    found = [
        *nearest(config, _planned, "people.count", config.people.count),
        *nearest(config, _planned, "privacy.epsilon_release", config.privacy.epsilon_release),
        *nearest(config, _planned, "privacy.epsilon_payment", config.privacy.epsilon_payment)]
    return [*found] or ["changing only one of [people] count, [privacy] epsilon_release and [privacy] epsilon_payment "
                        "is not enough: change several of them"]
