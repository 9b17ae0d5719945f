"""The audit of a market of pairs: privacy through the clients' door, truth and money by exact expectation in coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditReport, AuditRow, Concern, Control, Verdict, promise_rows
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.market.audit.extremes import least_row
from confide.market.audit.majority import TOO_COARSE, VISIBLE
from confide.market.audit.outcome import outcome_controls, outcome_rows
from confide.market.audit.randomiser import randomiser_controls, randomiser_rows
from confide.market.collection import BitCollection
from confide.market.matching import MatchingPayment, PeerStatistic
from confide.market.pairs.accuracy import failure_probability
from confide.market.pairs.insiders import audit_groups
from confide.market.pairs.market import PairMarket
from confide.market.replies import best_response, utility

__all__ = ["audit_pairs"]

_LARGEST_COUNTS = 300  # people up to whom all counts of reports are gone through
_LARGEST_EXACT = 20_000  # people up to whom the failure of the estimate is computed for every number of ones


def audit_pairs(
    collection: BitCollection, seed: int = 0, progress: Progress | None = None,
    groups: Sequence[tuple[str, int, int]] = (),
) -> AuditReport:
    """Promised against measured for one market, with the planted bugs that the audit must flag.

    Args:
        collection: what a campaign runs.
        seed: of the histories; everything else is exact.
        progress: called as the audit goes on.
        groups: (name, people, ones) of groups that explain why bits go together, where they are known: what truth is
            worth to a member who knows hers, of which nothing is promised, is one row each.
    """
    market: PairMarket = collection.market
    promised = collection.guarantees()
    spent, wrongly = promise_rows(promised, collection.events)
    truth, part = promised.of(Truthfulness)[0], promised.of(Participation)[0]
    budget, accuracy = promised.of(Budget)[0], promised.of(Accuracy)[0]
    rows = [*randomiser_rows(collection, seed), *outcome_rows(collection, seed)]
    advance(progress, 1, 4)
    a, rounding = _in_coins(collection)
    best, earned = best_response(a, market.cost), utility(a, market.strategy, market.cost)
    rows.append(AuditRow.at_most(
        "truth: gain of the best other way of reporting", truth.gain, best.utility - earned + rounding,
        f"the exact best reply over all channels, at level {best.level:.6g}, " + (
            "and a coin for rounding" if rounding else "to payments in whole coins, count by count"),
        vacuous=truth.vacuous, note=TOO_COARSE if truth.vacuous else "", scale=market.liability()[0],
        unit=collection.currency, concern=Concern.INCENTIVES).holding(truth))
    rows.append(AuditRow.at_least("participation: expected payment less the cost of the level", part.utility, earned,
                                  "the exact expectation, before payments are rounded up",
                                  unit=collection.currency, concern=Concern.PARTICIPATION).holding(part))
    mean, largest = _money(collection)
    evidence = "expected over the law of two reports, and all reports alike, paid by the mechanism's own rule"
    rows.append(AuditRow.at_most("money: expected total", budget.expected, mean, evidence,
                                 scale=mean, unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    rows.append(AuditRow.at_most("money: a single payment", budget.highest, largest, evidence,
                                 scale=largest, unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    rows.append(least_row(collection))
    advance(progress, 2, 4)
    if market.people <= _LARGEST_EXACT:
        failure = failure_probability(market.people, market.epsilon, accuracy.bound)
        rows.append(AuditRow.at_most(
            f"accuracy: chance that the estimate is further off than {accuracy.bound:.4g}",
            accuracy.failure_probability, failure, "exact, the worst over all numbers of ones",
            vacuous=accuracy.vacuous, note="the promised distance says nothing" if accuracy.vacuous else "",
            unit="(probability)", concern=Concern.ACCURACY).holding(accuracy))
    else:
        rows.append(AuditRow.unmeasured(
            accuracy, f"beyond {_LARGEST_EXACT:,} people the chance is not computed at each number of ones"))
    rows += _insiders(collection, groups)
    advance(progress, 3, 4)
    out = [*randomiser_controls(collection, seed), *outcome_controls(collection, seed)]
    for bug, broken in (("payments by true bits: the noise of the peers forgotten", Noiseless),
                        ("both reports paid alike", Alike)):
        bent = broken(market.prior, market.cost, market.epsilon)
        table = bent.interim_matrix()
        gain = best_response(table, market.cost).utility - utility(table, market.strategy, market.cost)
        out.append(Control("truth", bug, gain > VISIBLE * market.margin))
    advance(progress, 4, 4)
    return AuditReport((*rows, *spent), (*out, *wrongly))


def _insiders(collection: BitCollection, groups: Sequence[tuple[str, int, int]]) -> list[AuditRow]:
    if not groups:
        return []
    market: PairMarket = collection.market
    names, sizes, ones = zip(*groups, strict=True)
    return [AuditRow(
        f"truth: gain of the best other way of reporting of who knows that she is in group {row.group}", "no promise",
        row.gain, "the exact best reply to peers of her group alone", Verdict.VACUOUS,
        f"her best reply is {row.best.name}" + ("" if row.truthful else ": truth does not pay her"),
        unit=collection.currency, concern=Concern.INCENTIVES)
        for row in audit_groups(market, sizes, ones, list(names))]


def _in_coins(collection: BitCollection) -> tuple[NDArray[np.float64], float]:
    """The interim matrix of rounded payments, and 0; where counts are too many, of unrounded ones, and a coin."""
    market: PairMarket = collection.market
    logs, n = market.prior.log_counts, market.people
    if logs is None or n > _LARGEST_COUNTS or collection.groups > 1:
        return market.interim_matrix(), collection.coin
    keep = float(market.strategy.channel[1, 1])
    ones, law, found = np.arange(n), np.exp(logs), np.zeros((3, 2))
    paid = np.ceil(market.peer_payments(ones, n - 1 - ones) * collection.minor_units) / collection.minor_units
    for bit in (0, 1):
        for k in range(n):  # ones among the other bits: P(S = bit, k) by exchangeability
            mass = law[k + bit] * ((k + 1) if bit else (n - k)) / n
            if mass > 0:
                reports = np.convolve(binom.pmf(np.arange(k + 1), k, keep),
                                      binom.pmf(np.arange(n - k), n - 1 - k, 1.0 - keep))
                found[:, bit] += mass * (paid @ reports)
    return found, 0.0


def _money(collection: BitCollection) -> tuple[float, float]:
    """The expected total when all take part, in unrounded money, and the largest single payment in coins."""
    market: PairMarket = collection.market
    keep = market.strategy.channel[:2]
    reports = keep @ market.prior.pairs @ keep.T  # P(X = x, Y = y)
    n = market.people
    extremes = [(n, 0), (0, n), (n - 1, 1), (1, n - 1), (1, 1), (2, 0), (0, 2)]
    board = collection.pay_counts(*(np.array(each) for each in zip(*extremes, strict=True)))
    largest = max(int(board.for_one.max()), int(board.for_zero.max()))
    return float(n * (reports * market.table).sum()), largest / collection.minor_units


@dataclass(frozen=True)
class Noiseless(PairMarket):
    """It pays as if the peers reported their bits."""

    @cached_property
    def payment(self) -> MatchingPayment:
        sound = super().payment
        p = self.prior
        bits = PeerStatistic(p.signal_one, p.signal_zero, abs(p.covariance))
        return replace(sound, statistic=bits if self.agreement else replace_sides(bits))


@dataclass(frozen=True)
class Alike(PairMarket):
    """It pays both reports the mean of what they should get."""

    @cached_property
    def payment(self) -> MatchingPayment:
        sound = super().payment
        return replace(sound, statistic=PeerStatistic(0.5, 0.5, sound.statistic.covariance))


def replace_sides(bits: PeerStatistic) -> PeerStatistic:
    """M = 1 and M = 0 exchanged."""
    return PeerStatistic(bits.zero, bits.one, bits.covariance)
