"""The public record of an auction: every published count, as it changed, and how the goods were cleared in the end.

Prices follow from counts. Bidders find their own good from this and their own valuations alone (`decoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import Rules
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Certificate
from confide.contract.renamed import renamed
from confide.contract.wire import wire

__all__ = ["AuctionBillboard", "Clearing", "WelfareCertificate"]

_Integers = NDArray[np.int64]


@wire("Clearing", "edges cells cuts")
@dataclass(frozen=True, kw_only=True, eq=False)
class Clearing:
    """The final clearing: of each good, those are admitted after whose last bid few enough others were counted.

    Args:
        edges: (k, B) public ages, ascending for each good.
        cells: (k, B) noisy numbers of bidders by good and age.
        cuts: (k,) the age up to which bidders are admitted; -1 for none.
    """

    edges: _Integers
    cells: _Integers
    cuts: _Integers


@wire("Billboard", "rules rounds step good count reports clearing cutoffs surplus welfare")
@dataclass(frozen=True, kw_only=True, eq=False)
class AuctionBillboard(AnyBillboard):
    """The public record of an auction.

    Args:
        rules: the rules that everybody bid by.
        rounds: number of rounds played.
        step: (c,) the release at which a count changed, from 1; by good, then by step.
        good: (c,) the good that is counted.
        count: (c,) its count from then on.
        reports: (rounds but the last,) running counts of the halting test; empty without a counter of its own.
        clearing: the final clearing; None where whoever holds a good keeps it.
        cutoffs: (k,) of each good's holders, those from this place on go without: n, unless there were too many; None
            where nobody is ever cut off.
        surplus: noisy sum of what everybody would gain at the final prices, on the certificate's grid; None without
            one.
        welfare: noisy sum of the worth of everybody's good to its holder; None without a certificate.
    """

    rules: Rules
    rounds: int
    step: _Integers
    good: NDArray[np.int32]
    count: _Integers
    reports: _Integers
    clearing: Clearing | None = None
    cutoffs: _Integers | None = None
    surplus: float | None = None
    welfare: float | None = None

    def __post_init__(self) -> None:
        rules, c = self.rules, len(self.step)
        if len(self.good) != c or len(self.count) != c:
            raise InvalidInput("step", f"{c} steps for {len(self.good)} goods and {len(self.count)} counts")
        if not 0 <= self.rounds <= rules.rounds:
            raise InvalidInput("rounds", f"{self.rounds} of {rules.rounds} were played")
        if c and not (self.step.min() >= 1 and self.step.max() <= self.steps and self.good.min() >= 0
                      and self.good.max() < rules.goods):
            raise InvalidInput("step", "names a release or a good that there is not")
        if (np.diff(self._keys) <= 0).any():
            raise InvalidInput("step", "changes are not in order of goods and steps")

    @property
    def steps(self) -> int:
        """Releases there were."""
        return self.rounds * self.rules.slots

    @cached_property
    def _keys(self) -> _Integers:
        return self.good.astype(np.int64) * (self.rules.horizon + 1) + self.step

    def after_rounds(self) -> _Integers:
        """Published counts, (rounds + 1, k), before the first round and after each."""
        return self.counts(np.arange(self.rounds + 1, dtype=np.int64) * self.rules.slots)

    def counts(self, steps: _Integers, goods: _Integers | None = None) -> _Integers:
        """Published counts after some releases.

        Args:
            steps: (s,) 0 is before the first.
            goods: (g,) some goods; all where left out.

        Returns:
            Shape (s, g).
        """
        rules = self.rules
        wanted = np.arange(rules.goods, dtype=np.int64) if goods is None else np.asarray(goods, dtype=np.int64)
        keys = wanted[None, :] * (rules.horizon + 1) + np.asarray(steps, dtype=np.int64)[:, None]
        if not len(self.count):
            return np.zeros(keys.shape, dtype=np.int64)
        at = np.searchsorted(self._keys, keys, side="right") - 1
        found = np.where((at >= 0) & (self.good[at] == wanted[None, :]), self.count[at], 0)
        return np.asarray(found, dtype=np.int64)

    @property
    def final_counts(self) -> _Integers:
        """Published counts after the last release, (k,)."""
        last: _Integers = self.counts(np.array([self.steps]))[0]
        return last

    @property
    def prices(self) -> NDArray[np.float64]:
        """Prices after the last release, (k,)."""
        return self.rules.prices(self.final_counts)


@renamed(gamma="failure_probability")
@wire("WelfareCertificate", "ratio welfare optimum gamma", failure_probability="gamma")
@dataclass(frozen=True, kw_only=True, eq=False)
class WelfareCertificate(Certificate):
    """Bounds of the welfare by weak duality, at any prices, from two noisy sums.

    Args:
        ratio: share of the optimum that the welfare reaches at least.
        welfare: lower bound of the welfare, in value.
        optimum: upper bound of the optimum, in value.
        failure_probability: failure probability of all three together.
    """

    ratio: float
    welfare: float
    optimum: float
    failure_probability: float

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing."""
        return self.ratio <= 0.0
