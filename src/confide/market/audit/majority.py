"""The audit of a majority market: privacy through the clients' door, truth, money and accuracy by exact enumeration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditReport, AuditRow, Concern, Control, promise_rows
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.renamed import renamed
from confide.market.audit.extremes import least_row
from confide.market.audit.outcome import outcome_controls, outcome_rows
from confide.market.audit.randomiser import randomiser_controls, randomiser_rows
from confide.market.collection import BitCollection
from confide.market.counts import binomial_weights
from confide.market.equilibrium import EquilibriumReport, check_equilibrium
from confide.market.majority import MajorityMarket
from confide.market.totals import TotalPayment

__all__ = ["TOO_COARSE", "VISIBLE", "audit_majority"]

_LARGEST = 2_000_000  # counts of reports that are gone through

VISIBLE = 1e-3
"""Share of a market's margin that a planted bug must be worth to count as found."""

TOO_COARSE = "a coin is worth more than what truth earns over reports that ignore the bit"


def audit_majority(collection: BitCollection, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one market, in whole coins, with the planted bugs that the audit must flag.

    Args:
        collection: what a campaign runs.
        seed: of the histories; everything else is exact.
        progress: called as the audit goes on.
    """
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, 5)

    market: MajorityMarket = collection.market
    promised = collection.guarantees()
    spent, wrongly = promise_rows(promised, collection.events)
    truth, part = promised.of(Truthfulness)[0], promised.of(Participation)[0]
    budget, accuracy = promised.of(Budget)[0], promised.of(Accuracy)[0]
    rows = [*randomiser_rows(collection, seed), *outcome_rows(collection, seed)]
    step()
    found = _equilibrium(market, collection.minor_units)
    rows.append(AuditRow.at_most(
        "truth: gain of the best other way of reporting", truth.gain, found.regret,
        f"the exact best reply over all channels, to payments in whole coins; its level is "
        f"{found.rows[0].best.level:.6g}, {market.epsilon:g} is bought",
        vacuous=truth.vacuous, note=TOO_COARSE if truth.vacuous else "", scale=market.liability()[1],
        unit=collection.currency, concern=Concern.INCENTIVES).holding(truth))
    rows.append(AuditRow.at_least("participation: expected payment less the cost of the level", part.utility,
                                  found.rows[0].utility, "the exact expectation, in whole coins",
                                  unit=collection.currency, concern=Concern.PARTICIPATION).holding(part))
    step()
    mean, largest, wrong, evidence = _money(collection)
    rows.append(AuditRow.at_most("money: expected total", budget.expected, mean, evidence,
                                 scale=mean, unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    rows.append(AuditRow.at_most("money: a single payment", budget.highest, largest, evidence,
                                 scale=largest, unit=collection.currency, concern=Concern.BUDGET).holding(budget))
    rows.append(least_row(collection))
    rows.append(AuditRow.at_most(accuracy.measure, accuracy.bound, wrong, f"{evidence}; the better guess of each",
                                 vacuous=accuracy.vacuous, scale=accuracy.bound,
                                 note="no better than guessing by the prior" if accuracy.vacuous else "",
                                 unit="(probability)", concern=Concern.ACCURACY).holding(accuracy))
    step()
    out = [*randomiser_controls(collection, seed), *outcome_controls(collection, seed)]
    step()
    # Bugs that vanish with the number of people are planted in a small market, before rounding.
    small = replace(market, people=5, presence=1.0, epsilon=1.0)
    for bug, broken in (("payments as if infinitely many took part", Asymptotic),
                        ("payments for one person too few", OneTooFew)):
        gain = check_equilibrium(_planted(broken, small), tolerance=0.0).regret
        out.append(Control("truth", f"{bug} (planted at 5 people)", gain > VISIBLE * small.margin))
    step()
    return AuditReport((*rows, *spent), (*out, *wrongly))


def _planted(kind: type[MajorityMarket], sound: MajorityMarket, **more: int) -> MajorityMarket:
    """Another market with the parameters of a sound one."""
    return kind(sound.people, sound.signal_accuracy, sound.prior_one, sound.cost, sound.epsilon, sound.presence, **more)


def _equilibrium(market: MajorityMarket, minor_units: int) -> EquilibriumReport:
    return check_equilibrium(_planted(InWholeCoins, market, minor_units=minor_units), tolerance=0.0)


def _money(collection: BitCollection) -> tuple[float, float, float, str]:
    """The expected total, the largest single payment, the error of the best guess, and how they were found."""
    market: MajorityMarket = collection.market
    n, weights = (np.array([market.people]), np.ones(1)) if market.presence == 1 else binomial_weights(
        market.people, market.presence)
    mean, largest, wrong = 0.0, 0.0, 0.0
    enumerated = float(n.sum()) <= _LARGEST
    for size, weight in zip(n.tolist(), weights.tolist(), strict=True):
        laws = [prior * binom.pmf(np.arange(size + 1), size, float(p)) for prior, p in (
            (market.signal_model.prior_zero, market.reporting.miss),
            (market.signal_model.prior_one, market.reporting.agree)
        )] if enumerated else []
        if enumerated:
            wrong += weight * float(np.minimum(*laws).sum())
        if size < 2:
            continue
        one, zero = _coins(collection, size)
        largest = max(largest, one, zero)
        if enumerated:
            mean += weight * float((laws[0] + laws[1]) @ _totals(collection, size, one, zero))
        else:
            mean += weight * TotalPayment(size, market.signal_model, market.reporting, float(one), float(zero)).mean
    evidence = "all counts of reports gone through, paid by the mechanism's own rule" if enumerated else (
        "closed forms at each number of participants, with the mechanism's own coins: too many counts to go through")
    return (mean / collection.minor_units, largest / collection.minor_units,
            wrong if enumerated else market.error_probability(), evidence)


def _coins(collection: BitCollection, n: int) -> tuple[int, int]:
    """What a matching 1 and a matching 0 of n participants are paid, by the mechanism's own rule."""
    boards = [collection.pay_counts(np.array([k]), np.array([n - k])) for k in (0, n)]
    return int(boards[1].for_one[0]), int(boards[0].for_zero[0])


def _totals(collection: BitCollection, n: int, one: int, zero: int) -> NDArray[np.int64]:
    """The total in coins at each count of ones."""
    ones = np.arange(n + 1)
    # Where payments change sides the rule itself says what is paid; elsewhere it is the same for all counts.
    total = np.where(2 * ones > n, one * ones, zero * (n - ones))
    near = ones[max(0, n // 2 - 2) : n // 2 + 4]
    board = collection.pay_counts(near, n - near)
    total[near] = board.for_one * near + board.for_zero * (n - near)
    return total


@renamed()
@dataclass(frozen=True)
class InWholeCoins(MajorityMarket):
    """The market as it really pays.

    Args:
        minor_units: smallest coins per unit.

    Example:
        >>> from confide.market import LinearCost
        >>> market = (10, 0.8, 0.7, LinearCost(1.0), 1.0)
        >>> [round(check_equilibrium(InWholeCoins(*market, minor_units=coins)).regret, 6) for coins in (1, 100)]
        [0.002423, 0.0]
    """

    minor_units: int = 100

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        for_one, for_zero = (np.ceil(each * self.minor_units) / self.minor_units
                             for each in super().tariff(least, largest))
        return for_one, for_zero


@renamed()
@dataclass(frozen=True)
class Asymptotic(MajorityMarket):
    """It pays as if the majority were always right."""

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sound = super().tariff(least, largest)
        limit, unit = self.signal_model, self.payment_at().unit / self.signal_model.edge
        return np.full_like(sound[0], unit / limit.prior_one), np.full_like(sound[1], unit / limit.prior_zero)


@renamed()
@dataclass(frozen=True)
class OneTooFew(MajorityMarket):
    """It pays n participants what n - 1 should get."""

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        last = self.people if largest is None else int(largest)
        found = super().tariff(max(least - 1, 1), max(last - 1, 1))
        skipped = (last - least + 1) - len(found[0])
        return tuple(np.append(np.repeat(each[:1], skipped), each) for each in found)  # type: ignore[return-value]
