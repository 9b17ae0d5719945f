"""Variants of the markets for their audits: payments in whole smallest units of the currency, and injected faults that
the audit must flag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from confide.contract.renamed import renamed
from confide.market.binomials import table_of_errors
from confide.market.majority import MajorityMarket
from confide.market.matching import MatchingPayment, PeerStatistic
from confide.market.pairs.market import PairMarket
from confide.market.threshold.signed_payments import signed_tables
from confide.market.threshold.threshold_market import ThresholdMarket, reporting_of

__all__ = ["Alike", "AsIfAllAtEpsilon", "Asymptotic", "InWholeCoins", "InWholeCoinsByType",
           "NeverAlone", "Noiseless", "OneTooFew", "again", "of_types"]


def again(kind: type[MajorityMarket], sound: MajorityMarket, **more: int) -> MajorityMarket:
    """Build a majority market of a variant class `kind` with the parameters of a sound market."""
    return kind(sound.people, sound.signal_accuracy, sound.prior_one, sound.cost, sound.epsilon, sound.presence, **more)


def of_types(kind: type[ThresholdMarket], sound: ThresholdMarket, **more: int) -> ThresholdMarket:
    """Build a threshold market of a variant class `kind` with the parameters of a sound market."""
    return kind(sound.people, sound.signal_accuracy, sound.prior_one, sound.cost_law, sound.epsilon,
                participation=sound.participation, ceiling=sound.ceiling, **more)


@renamed()
@dataclass(frozen=True)
class InWholeCoins(MajorityMarket):
    """The majority market with payments rounded up to whole smallest units of the currency, as a campaign pays them.

    Args:
        minor_units: number of smallest units, such as cents, in one unit of the currency.

    Example:
        >>> from confide.market import LinearCost, check_equilibrium
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
    """Injected fault: a market that pays as if the majority of the others always equalled the state."""

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sound = super().tariff(least, largest)
        limit, unit = self.signal_model, self.payment_at().unit / self.signal_model.edge
        return np.full_like(sound[0], unit / limit.prior_one), np.full_like(sound[1], unit / limit.prior_zero)


@renamed()
@dataclass(frozen=True)
class OneTooFew(MajorityMarket):
    """Injected fault: a market that pays n participants the amounts that belong to n - 1 participants."""

    def tariff(self, least: int = 2, largest: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        last = self.people if largest is None else int(largest)
        found = super().tariff(max(least - 1, 1), max(last - 1, 1))
        skipped = (last - least + 1) - len(found[0])
        return tuple(np.append(np.repeat(each[:1], skipped), each) for each in found)  # type: ignore[return-value]


@dataclass(frozen=True)
class Noiseless(PairMarket):
    """Injected fault: a market that pays as if the peers reported their bits without noise."""

    @cached_property
    def payment(self) -> MatchingPayment:
        sound = super().payment
        p = self.prior
        one, zero = p.signal_one, p.signal_zero
        return replace(sound, statistic=PeerStatistic(
            *((one, zero) if self.agreement else (zero, one)), abs(p.covariance)))


@dataclass(frozen=True)
class Alike(PairMarket):
    """Injected fault: a market that pays a report of 0 and a report of 1 as if both peer reports were
    equally likely.
    """

    @cached_property
    def payment(self) -> MatchingPayment:
        sound = super().payment
        return replace(sound, statistic=PeerStatistic(0.5, 0.5, sound.statistic.covariance))


@renamed()
@dataclass(frozen=True)
class InWholeCoinsByType(ThresholdMarket):
    """The threshold market with payments rounded up to whole smallest units of the currency, as a campaign pays them.

    Args:
        minor_units: number of smallest units, such as cents, in one unit of the currency.
    """

    minor_units: int = 100

    def payment_tables(self, least: int = 2, largest: int | None = None) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.ceil(super().payment_tables(least, largest) * self.minor_units)
        return found / self.minor_units


@renamed()
@dataclass(frozen=True)
class AsIfAllAtEpsilon(ThresholdMarket):
    """Injected fault: a market whose payments assume that every participant reports at the least level, epsilon."""

    def payment_tables(self, least: int = 2, largest: int | None = None) -> NDArray[np.float64]:
        bent = reporting_of(self.signal_model, float(expit(-self.epsilon)), self.epsilon)
        first, most = max(least, 2), self.people if largest is None else largest
        errors = table_of_errors(most - 1, bent, first - 1)
        return np.concatenate([np.zeros((first - least, 2, 2)),
                               signed_tables(self.terms, self.signal_model, errors, self.company)])


@renamed()
@dataclass(frozen=True)
class NeverAlone(ThresholdMarket):
    """Injected fault: a market whose payments ignore that a participant may be the only one to report."""

    @property
    def company(self) -> float:
        return 1.0
