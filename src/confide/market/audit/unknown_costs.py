"""The audit of a threshold market: privacy through the clients' door for many types, truth and money exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from confide.audit import AuditReport, AuditRow, Concern, Control, promise_rows
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.contract.renamed import renamed
from confide.market.audit.extremes import extremes, least_row
from confide.market.audit.majority import TOO_COARSE, VISIBLE
from confide.market.audit.outcome import outcome_controls, outcome_rows
from confide.market.audit.randomiser import randomiser_controls, randomiser_rows
from confide.market.binomials import table_of_errors
from confide.market.collection import BitCollection
from confide.market.threshold.signed_payments import signed_tables
from confide.market.threshold.threshold_market import ThresholdMarket, reporting_of
from confide.market.threshold.type_equilibrium import check_types
from confide.privacy.noise.simulated import study_generator

__all__ = ["audit_unknown_costs"]

_TYPES = (1e-6, 0.1, 0.5, 0.9, 1.0)  # of the threshold: who is tried at the door
_BETWEEN = 50  # types besides, one of each part of the range, and of its logarithm
_LARGEST = 400  # people up to whom all counts of reports are gone through


def audit_unknown_costs(collection: BitCollection, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one market, with the planted bugs that the audit must flag.

    Args:
        collection: what a campaign runs.
        seed: of the histories; everything else is exact.
        progress: called as the audit goes on.
    """
    market: ThresholdMarket = collection.market
    promised = collection.guarantees()
    spent, wrongly = promise_rows(promised, collection.events)
    truth, part = promised.of(Truthfulness)[0], promised.of(Participation)[0]
    budget, accuracy = promised.of(Budget)[0], promised.of(Accuracy)[0]
    worths = [share * market.cost_threshold for share in _TYPES]
    between = [share * market.cost_threshold for share in _between(seed)]
    rows = [*randomiser_rows(collection, seed, worths, between), *outcome_rows(collection, seed, worths)]
    advance(progress, 1, 4)
    types = check_types(_planted(InWholeCoins, market, minor_units=collection.minor_units))
    rows.append(AuditRow.at_most(
        "truth: gain of the best other way of reporting", truth.gain, types.regret,
        f"the exact best reply over all channels up to the ceiling, of {len(types.rows)} types, to payments in whole "
        "coins",
        vacuous=truth.vacuous, note=TOO_COARSE if truth.vacuous else "", scale=market.terms.stake,
        unit=collection.currency, concern=Concern.INCENTIVES).holding(truth))
    utility = min(row.utility for row in types.rows)
    rows.append(AuditRow.at_least("participation: expected payment less the cost of the level", part.utility,
                                  utility, "the exact expectation of each type, in whole coins",
                                  unit=collection.currency, concern=Concern.PARTICIPATION).holding(part))
    advance(progress, 2, 4)
    if market.people <= _LARGEST:
        mean, wrong = _enumerated(market)
        evidence = "all counts of reports gone through, paid by the market's own rule"
    else:
        mean, wrong = market.total_payment().mean, market.error_probability()
        evidence = "the law of the counts, state by state"
    rows.append(AuditRow.at_most("money: expected total", budget.expected, mean, evidence,
                                 scale=abs(market.total_bound),
                                 unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    _, high = extremes(collection)
    rows.append(AuditRow.at_most("money: a single payment", budget.highest, high,
                                 "all counts of up to 40 reports, in whole coins", scale=high,
                                 unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    rows.append(least_row(collection))
    rows.append(AuditRow.at_most(accuracy.measure, accuracy.bound, wrong, evidence, vacuous=accuracy.vacuous,
                                 note="no better than guessing by the prior" if accuracy.vacuous else "",
                                 scale=accuracy.bound,
                                 unit="(probability)", concern=Concern.ACCURACY).holding(accuracy))
    advance(progress, 3, 4)
    out = [*randomiser_controls(collection, seed, worths), *outcome_controls(collection, seed, worths)]
    for bug, broken in (("payments for people who all report at epsilon", AsIfAllAtEpsilon),
                        ("payments as if somebody were always there", NeverAlone)):
        small = replace(market, people=3, participation=0.5, threshold=None)
        gain = check_types(_planted(broken, small)).regret
        out.append(Control("truth", f"{bug} (planted at 3 people)", gain > VISIBLE * small.margin))
    advance(progress, 4, 4)
    return AuditReport((*rows, *spent), (*out, *wrongly))


def _between(seed: int) -> list[float]:
    """Types between those that are tried in any case, as shares of the threshold: nobody knows them beforehand."""
    draw = study_generator(seed, "types")
    even = (np.arange(_BETWEEN) + draw.random((2, _BETWEEN))) / _BETWEEN
    return [*even[0].tolist(), *(_TYPES[0] ** (1.0 - even[1])).tolist()]


def _planted(kind: type[ThresholdMarket], sound: ThresholdMarket, **more: int) -> ThresholdMarket:
    """Another market with the parameters of a sound one."""
    return kind(sound.people, sound.signal_accuracy, sound.prior_one, sound.cost_law, sound.epsilon,
                participation=sound.participation, ceiling=sound.ceiling, **more)


def _enumerated(market: ThresholdMarket) -> tuple[float, float]:
    """The expected total and the probability that the majority is wrong, over all counts of reports."""
    n, mean, wrong = market.people, 0.0, 0.0
    present = binom.pmf(np.arange(n + 1), n, market.presence)
    for k in range(n + 1):
        ones = np.arange(k + 1)
        laws = [prior * binom.pmf(ones, k, float(p)) for prior, p in (
            (market.signal_model.prior_zero, market.reporting.miss),
            (market.signal_model.prior_one, market.reporting.agree))]
        wrong += present[k] * float(laws[1][2 * ones < k].sum() + laws[0][2 * ones >= k].sum())
        if k >= 2:
            for_one = market.peer_payments(np.maximum(ones - 1, 0), k - 1 - np.maximum(ones - 1, 0))[1]
            for_zero = market.peer_payments(np.minimum(ones, k - 1), k - 1 - np.minimum(ones, k - 1))[0]
            total = np.where(ones > 0, ones * for_one, 0.0) + np.where(ones < k, (k - ones) * for_zero, 0.0)
            mean += present[k] * float((laws[0] + laws[1]) @ total)
    return mean, wrong


@renamed()
@dataclass(frozen=True)
class InWholeCoins(ThresholdMarket):
    """The market as it really pays.

    Args:
        minor_units: smallest coins per unit.
    """

    minor_units: int = 100

    def payment_tables(self, least: int = 2, largest: int | None = None) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.ceil(super().payment_tables(least, largest) * self.minor_units)
        return found / self.minor_units


@renamed()
@dataclass(frozen=True)
class AsIfAllAtEpsilon(ThresholdMarket):
    """Its payments take every participant to report at the least level."""

    def payment_tables(self, least: int = 2, largest: int | None = None) -> NDArray[np.float64]:
        bent = reporting_of(self.signal_model, float(expit(-self.epsilon)), self.epsilon)
        first, most = max(least, 2), self.people if largest is None else largest
        errors = table_of_errors(most - 1, bent, first - 1)
        return np.concatenate([np.zeros((first - least, 2, 2)),
                               signed_tables(self.terms, self.signal_model, errors, self.company)])


@renamed()
@dataclass(frozen=True)
class NeverAlone(ThresholdMarket):
    """Its payments leave out that a participant can be alone."""

    @property
    def company(self) -> float:
        return 1.0
