"""The kind `regression`: it buys a private linear regression from people. This module connects all steps of a campaign:
the plan of its file, records, results, a participant's payment, a study, and an audit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from confide import regression
from confide.audit import AuditReport
from confide.campaign.kinds import PeoplesKind
from confide.campaign.kinds.regressions import pages
from confide.campaign.kinds.regressions.plan import PlannedRegression, RegressionConfig, plan_of
from confide.campaign.kinds.skeleton import AnyOutcome, KindSkeleton
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.kinds import Progress
from confide.contract.payout_terms import PayoutTerms
from confide.contract.wire import wire_types
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.tables import Design, Numeric, Records, Roster, TableSource, read_records
from confide.tables.cell_problems import Judged, ids_of, judged
from confide.tables.column_rows import check_typed, field_of, typed_cells
from confide.tables.records import RecordCodec

__all__ = ["KIND", "RegressionKind", "parse_record"]

_ROWS = 65536  # of a batch

_STORED = (
    "AdaSSP", "Atoms", "Averaged", "Behaviour", "BernoulliBillboard", "BernoulliPeers", "BetaPrior",
    "DependentCosts", "EmpiricalCosts", "ExponentialCosts", "FinitePrior", "GaussianBall",
    "LeastSquaresBillboard", "ParetoCosts", "PaymentScheme", "PrivateTruthfulRegression",
    "QuadraticCosts", "RegressionBillboard", "RidgeRelease", "SampledPrior", "ScoringRule", "Setting",
    "SufficientStatistics", "TabulatedNoise", "TruncatedGaussianNoise", "TruthfulRegression", "UniformBall",
    "UniformBox", "UniformNoise", "UniformSphere",
)
"""Names of the classes whose objects may occur in the stored outcome of a regression."""


class RegressionKind(KindSkeleton, PeoplesKind):
    """Buy a private linear regression from participants who could lie about their answer."""

    name = "regression"
    summary = "buy answers for a linear regression from people who care about privacy and could lie"
    config = RegressionConfig
    runs = PrivateTruthfulRegression
    file_words = FileWords(keys={
        "model.prior_deviation": "prior_std", "model.noise_deviation": "noise_std",
        "costs.misreports_failure": "failure_probability"})
    types: ClassVar[Mapping[str, type]] = wire_types(*(getattr(regression, name) for name in _STORED))

    def plan(self, config: RegressionConfig) -> PlannedRegression:
        """Calibrate the mechanism from the public parameters of the campaign file."""
        return plan_of(config, pages)

    def codec(self, plan: PlannedRegression) -> RecordCodec:
        """The codec that stores a record as bytes: the coded features, and the scaled answer."""
        return RecordCodec(plan.design.dimension)

    def payouts(self, plan: PlannedRegression) -> PayoutTerms:
        """The terms of the payouts. A payment may be negative. The participant's deposit is returned together with the
        payment, so no payout is negative.
        """
        payment, figures = plan.mechanism.payment, plan.regression.figures
        return PayoutTerms(column="payment", currency=payment.currency, minor_units=payment.minor_units,
                           highest=math.ceil(figures.highest / figures.coin), deposit=figures.deposit_coins)

    # ---- records

    def asked(self, config: RegressionConfig, plan: PlannedRegression) -> Sequence[Field]:
        """Form fields for the participant's answer, and for the features, which the operator checks."""
        return [*(field_of(role, note="The operator checks this value.") for role in plan.design.features),
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

    def settled(self, plan: PlannedRegression, outcome: AnyOutcome) -> PlannedRegression:
        ran = super().settled(plan.regression, outcome)
        return plan if ran is plan.regression else replace(plan, regression=ran)

    def audit(self, plan: PlannedRegression, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.regression import audited

        return audit(audited.regression(plan.regression.mechanism, seed), progress)


KIND = RegressionKind()


def parse_record(design: Design, response: Numeric, values: Mapping[str, str]) -> tuple[np.ndarray, float]:
    """The coded features x, shape (d,), and the scaled answer y of one participant, computed from typed values on the
    participant's own computer.

    Args:
        design: public coding of the d features.
        response: public role of the column with the answer: its bounds and its scale.
        values: mapping from the name of a column to the text that the participant typed.

    Raises:
        InvalidInput: the campaign does not ask for one of the columns, or a value cannot be used. The message repeats
            private data, and is for the participant alone.
    """
    check_typed(values, (*design.columns, response.column))
    x, problem = design.encode_one(values)
    y, wrong = response.encode_one(values[response.column])
    if problem or wrong:
        raise InvalidInput("record", str(problem or wrong),
                           "change the value: such a record counts as empty, and is paid nothing")
    return x, y
