"""The kind `regression`: from a campaign file to a plan, records, results, a participant's share, a study, an audit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from confide import regression
from confide.audit import AuditReport, audit
from confide.campaign.kinds.regressions import pages
from confide.campaign.kinds.regressions.config import RegressionConfig
from confide.campaign.kinds.regressions.pages import deciding, study_sections
from confide.campaign.kinds.regressions.stand_ins import StandIns, stand_ins
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.guarantees import Guarantees
from confide.contract.kinds import Collection, PayoutTerms, Progress
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome, settled_coins
from confide.contract.presentation import Section
from confide.contract.remedies import Remedy
from confide.contract.replanned import in_file, nearest
from confide.contract.wire import wire_types
from confide.people import PeoplesKind
from confide.people.column_fields import field_of
from confide.regression import audited, planner
from confide.regression.private_truthful_regression import PrivateTruthfulRegression, RegressionBillboard
from confide.tables import Design, Numeric, Records, Roster, TableSource, read_records
from confide.tables.cell_problems import Judged, ids_of, judged
from confide.tables.column_rows import check_typed, typed_cells
from confide.tables.slot_rows import cell_bytes, cells_of

__all__ = ["KIND", "PlannedRegression", "RecordCodec", "RegressionKind", "parse_record"]

_ROWS = 65536  # of a batch

_KEYS = {
    "people": "people.count", "misreports": "costs.misreports", "failure_probability": "costs.failure_probability",
    "truth_radius": "payment.truth_radius",
    "budget": "payment.budget", "smallest_eigenvalue": "model.smallest_eigenvalue",
    "spectrum_tolerance": "model.spectrum_tolerance", "radius": "model.radius",
    "epsilon_release": "privacy.epsilon_release", "epsilon_payment": "privacy.epsilon_payment"}
"""What the planner calls a setting -> its key in the file."""

_NOTES = {"model.smallest_eigenvalue": ", for other features that really have it",
          "costs.misreports": ", where so many really lie or stay away at most"}
"""Key of the file -> what has to be true of the people, besides."""


@dataclass(frozen=True, kw_only=True)
class PlannedRegression:
    """A regression plan together with the public coding of the columns."""

    regression: planner.RegressionPlan
    design: Design
    response: Numeric

    @property
    def mechanism(self) -> PrivateTruthfulRegression:
        return self.regression.mechanism

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.regression.guarantees

    @cached_property
    def stand_ins(self) -> StandIns:
        """Made-up participants, for what is typical."""
        return stand_ins(self.mechanism, self.design, self.response, self.regression.figures.truth_radius)

    def sections(self) -> Sequence[Section]:
        return pages.plan_sections(self.regression, self.design, self.response, self.stand_ins)

    def offer(self) -> Sequence[Section]:
        return pages.offer_sections(self.regression, self.design, self.response, self.stand_ins)

    def to_dict(self) -> dict[str, Any]:
        fewest = {"second": 2, "deciding": deciding(self.regression, self.response)}
        return {**self.regression.to_dict(), "fewest_identities": fewest}


_STORED = (
    "AdaSSP", "Atoms", "Averaged", "Behaviour", "BernoulliBillboard", "BernoulliPeers", "BetaPrior",
    "DependentCosts", "EmpiricalCosts", "ExponentialCosts", "FinitePrior", "GaussianBall",
    "LeastSquaresBillboard", "ParetoCosts", "PaymentScheme", "PrivateTruthfulRegression",
    "QuadraticCosts", "RegressionBillboard", "RidgeRelease", "SampledPrior", "ScoringRule", "Setting",
    "SufficientStatistics", "TabulatedNoise", "TruncatedGaussianNoise", "TruthfulRegression", "UniformBall",
    "UniformBox", "UniformNoise", "UniformSphere",
)
"""What an outcome of this family's mechanisms may hold."""


class RegressionKind(PeoplesKind):
    """Buy a private regression from people who could lie."""

    name = "regression"
    template_file = "templates/regression.toml"
    summary = "buy answers for a linear regression from people who care about privacy and could lie"
    config = RegressionConfig
    file_words = FileWords(keys={
        "model.prior_deviation": "prior_std", "model.noise_deviation": "noise_std",
        "costs.misreports_failure": "failure_probability"})
    types: ClassVar[Mapping[str, type]] = wire_types(*(getattr(regression, name) for name in _STORED))

    def plan(self, config: RegressionConfig) -> PlannedRegression:
        """Calibrate from the file's public parameters."""
        return _plan(config)

    def codec(self, plan: PlannedRegression) -> RecordCodec:
        """A record is stored as its coded features and its scaled answer."""
        return RecordCodec(plan.design.dimension)

    def payouts(self, plan: PlannedRegression) -> PayoutTerms:
        """Payments of both signs are paid out together with the deposit, which makes them non-negative."""
        payment, figures = plan.mechanism.payment, plan.regression.figures
        return PayoutTerms(column="payment", currency=payment.currency, minor_units=payment.minor_units,
                           highest=math.ceil(figures.highest / figures.coin), deposit=figures.deposit_coins)

    # ---- records

    def asked(self, config: RegressionConfig, plan: PlannedRegression) -> Sequence[Field]:
        """Her answer, and the columns beside it that the operator checks."""
        return [*(field_of(role, note="The operator checks it.") for role in plan.design.features),
                field_of(plan.response)]

    def read(
        self, config: RegressionConfig, plan: PlannedRegression, source: TableSource, *, roster: Roster,
        rejected: dict[str, str], counted: list[int], rows: int | None = None,
    ) -> Iterator[Records]:
        return read_records(source, design=plan.design, response=plan.response, roster=roster, id=config.people.id,
                            rows=_ROWS if rows is None else rows, rejected=rejected)

    def judged(self, config: RegressionConfig, plan: PlannedRegression) -> Sequence[Judged]:
        return [*judged([*plan.design.features, plan.response]), *ids_of(self.roster(config), config.people.id)]

    def typed(
        self, config: RegressionConfig, plan: PlannedRegression, index: int, values: Mapping[str, str]
    ) -> Records:
        x, y = parse_record(plan.design, plan.response, values)
        return Records(np.array([index]), x[None], np.array([y]))

    def retyped(self, config: RegressionConfig, plan: PlannedRegression, batch: Records) -> Mapping[str, str | float]:
        cells = [*plan.design.cells(batch.X[0]), float(batch.y[0])]
        return typed_cells(cells, (*plan.design.features, plan.response))

    def one(self, plan: PlannedRegression, batch: Records, place: int) -> tuple[np.ndarray, float]:
        return np.array(batch.X[place]), float(batch.y[place])

    def tolerated(self, config: RegressionConfig) -> int:
        return int(config.costs.misreports * config.people.count)

    # ---- results

    def result(self, plan: PlannedRegression, outcome: PublicOutcome | SimulatedOutcome) -> Sequence[Section]:
        return pages.result_sections(_as_settled(plan, outcome), _billboard(outcome), plan.design, plan.response)

    def tables(self, plan: PlannedRegression, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
        """`coefficients`: each with the interval of noise, sampling and largest bias together."""
        mechanism, billboard = _as_settled(plan, outcome).mechanism, _billboard(outcome)
        natural = plan.design.natural(billboard.coef, plan.response)
        reach = np.array([mechanism.interval(billboard, row, pages.LEVEL).total for row in natural.matrix])
        return {"coefficients": pa.table({
            "name": list(plan.design.natural_names()),
            "value": natural.coefficients,
            "lower": natural.coefficients - reach,
            "upper": natural.coefficients + reach,
            "unit": list(plan.design.natural_units(plan.response)),
        })}

    def explain(
        self, plan: PlannedRegression, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
    ) -> Sequence[Section]:
        # Of what was settled, nothing is known in public but what follows from the billboard.
        stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
        return pages.explain(_as_settled(plan, outcome), _billboard(outcome), record, index, str(index + 1),
                             plan.response, stored)

    def study(self, plan: PlannedRegression, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        billboard = _billboard(outcome)
        return study_sections(plan.regression, billboard, collection.data, outcome, plan.design, plan.response)

    def audit(self, plan: PlannedRegression, seed: int, progress: Progress | None = None) -> AuditReport:
        return audit(audited.regression(plan.regression.mechanism, seed), progress)


def _cut(response: Numeric, reach: float) -> bool:
    """Whether the column's bounds keep out scaled answers in [-reach, reach], which the model allows."""
    ends = (response.middle - response.lower, response.upper - response.middle)
    return min(ends) / response.scale < reach * (1 - 1e-9)


def _as_settled(plan: PlannedRegression, outcome: Outcome | PublicOutcome | SimulatedOutcome) -> planner.RegressionPlan:
    """The plan with the mechanism that really ran, whatever this version would calibrate today."""
    if not isinstance(outcome.mechanism, PrivateTruthfulRegression):
        raise TypeError("the outcome is not a regression's")
    return replace(plan.regression, mechanism=outcome.mechanism)


def _billboard(outcome: Outcome | PublicOutcome | SimulatedOutcome) -> RegressionBillboard:
    if not isinstance(outcome.billboard, RegressionBillboard):
        raise TypeError("the outcome is not a regression's")
    return outcome.billboard


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def _plan(config: RegressionConfig) -> PlannedRegression:
    return _planned(config)


def _planned(config: RegressionConfig) -> PlannedRegression:
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
    return PlannedRegression(regression=found, design=design, response=response)


def _would_do(config: RegressionConfig) -> list[str | Remedy]:
    """How many people, or what epsilon, would do; each was tried on the whole plan as printed."""
    found = [
        *nearest(config, _planned, "people.count", config.people.count),
        *nearest(config, _planned, "privacy.epsilon_release", config.privacy.epsilon_release),
        *nearest(config, _planned, "privacy.epsilon_payment", config.privacy.epsilon_payment)]
    return [*found] or ["no other [people] count and no other epsilon was found that does alone"]


KIND = RegressionKind()


def parse_record(design: Design, response: Numeric, values: Mapping[str, str]) -> tuple[np.ndarray, float]:
    """(x, y) of one participant, on her own side.

    Args:
        design: coding of the features.
        response: role of the response.
        values: column -> what she typed.

    Raises:
        InvalidInput: a column that the campaign does not ask for, or a value that it cannot use. The message is hers.
    """
    check_typed(values, (*design.columns, response.column))
    x, problem = design.encode_one(values)
    y, wrong = response.encode_one(values[response.column])
    if problem or wrong:
        raise InvalidInput("record", str(problem or wrong), "such a record counts as empty and is paid nothing")
    return x, y


@dataclass(frozen=True)
class RecordCodec:
    """Records as bytes: the features and the response of one row as little-endian doubles.

    Args:
        dimension: d, the number of coded features.

    Example:
        >>> codec = RecordCodec(2)
        >>> slots, reports = codec.pack(Records(np.array([4]), np.array([[0.5, -0.25]]), np.array([1.0])))
        >>> back = codec.unpack(slots, reports)
        >>> back.index.tolist(), back.X.tolist(), back.y.tolist()
        ([4], [[0.5, -0.25]], [1.0])
    """

    dimension: int

    def pack(self, batch: Records) -> tuple[np.ndarray, list[bytes]]:
        """(slots, reports) of a batch."""
        return batch.index, cell_bytes(np.column_stack([batch.X, batch.y]))

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Records:
        """The batch of some slots."""
        rows = cells_of(reports, self.dimension + 1)
        return Records(slots, rows[:, :-1], rows[:, -1])
