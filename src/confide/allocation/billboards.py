"""The public record of an auction: every change of a published count, and the final clearing of the goods.

Prices follow from the counts. Each bidder finds the good that they were assigned from the billboard and their own
valuations alone; see `decoding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import Rules
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Certificate
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted

__all__ = ["AuctionBillboard", "Clearing", "WelfareCertificate", "require_integers", "require_sums"]

_Integers = NDArray[np.int64]


@wire("Clearing", "edges cells cuts")
@dataclass(frozen=True, kw_only=True, eq=False)
class Clearing:
    """The final clearing, which decides which bidders get a good. The age of a bid is the number of bids on the same
    good that were counted after it. A bidder gets a good if the age of their bid on the good is at most the good's
    limit.

    Args:
        edges: public upper bounds of B classes of ages, ascending for each good, shape (k, B).
        cells: noisy number of bidders for each good and class of ages, shape (k, B).
        cuts: largest age of a bid with which a bidder still gets the good, for each good, shape (k,); -1 if nobody gets
            the good.
    """

    edges: _Integers
    cells: _Integers
    cuts: _Integers


@wire("Billboard", "rules rounds step good count reports clearing cutoffs surplus welfare")
@dataclass(frozen=True, kw_only=True, eq=False)
class AuctionBillboard(AnyBillboard):
    """The public record of an auction.

    Args:
        rules: public rules of the auction.
        rounds: number of rounds played.
        step: number of the release, from 1, at which each of c changes of a count was published, shape (c,). Changes
            are ordered by good, then by release.
        good: for each change, the good with the changed count, shape (c,).
        count: for each change, the published count of the good from this release on, shape (c,).
        reports: noisy running counts of bidders' reports to the halting test, one for each round after which the test
            was made. The array is empty if the halting test has no counter of reports.
        clearing: final clearing; None if every holder keeps their good.
        cutoffs: one position in the public order of bidders for each good, shape (k,). From this position on, holders
            do not get the good, because the supply is used up. The position is n for a good with enough copies.
            `cutoffs` is None if the mechanism never takes goods from holders.
        surplus: noisy sum of all bidders' best gains (value less price) at the final prices, in units of value, as a
            multiple of 2^-20; None without a certificate.
        welfare: noisy sum of the values of all assigned goods to their holders, in units of value, as a multiple of
            2^-20; None without a certificate.
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
            raise InvalidInput("step",
                               f"there are {c} steps, but {counted(len(self.good), 'good')} and "
                               f"{counted(len(self.count), 'count')}")
        if not 0 <= self.rounds <= rules.rounds:
            raise InvalidInput("rounds", f"{self.rounds} is not in 0..{rules.rounds}")
        if c and not (self.step.min() >= 1 and self.step.max() <= self.steps and self.good.min() >= 0
                      and self.good.max() < rules.goods):
            raise InvalidInput("step", "names a release or a good that does not exist")
        if (np.diff(self._keys) <= 0).any():
            raise InvalidInput("step", "changes are not in order of goods and steps")

    @property
    def steps(self) -> int:
        """Number of releases in the run."""
        return self.rounds * self.rules.slots

    @cached_property
    def _keys(self) -> _Integers:
        return self.good.astype(np.int64) * (self.rules.horizon + 1) + self.step

    def after_rounds(self) -> _Integers:
        """Published counts before the first round and after each round, shape (rounds + 1, k)."""
        return self.counts(np.arange(self.rounds + 1, dtype=np.int64) * self.rules.slots)

    def counts(self, steps: _Integers, goods: _Integers | None = None) -> _Integers:
        """Published counts after some releases.

        Args:
            steps: numbers of the releases, shape (s,); 0 stands for the time before the first release.
            goods: goods of interest, shape (g,). By default the counts of all goods are returned.

        Returns:
            Published counts, shape (s, g).
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
        """Published counts after the last release, shape (k,)."""
        last: _Integers = self.counts(np.array([self.steps]))[0]
        return last

    @property
    def prices(self) -> NDArray[np.float64]:
        """Prices after the last release, shape (k,)."""
        return self.rules.prices(self.final_counts)


@renamed(gamma="failure_probability")
@wire("WelfareCertificate", "ratio welfare optimum gamma", failure_probability="gamma")
@dataclass(frozen=True, kw_only=True, eq=False)
class WelfareCertificate(Certificate):
    """Bounds on the welfare of a run, from two noisy sums by weak duality. The bounds hold for any prices.

    Args:
        ratio: lower bound on the ratio of the welfare to the optimal welfare.
        welfare: lower bound on the welfare, in units of value.
        optimum: upper bound on the optimal welfare, in units of value.
        failure_probability: upper bound on the probability that any of the three bounds fails.
    """

    ratio: float
    welfare: float
    optimum: float
    failure_probability: float

    @property
    def vacuous(self) -> bool:
        """Whether the certificate claims nothing."""
        return self.ratio <= 0.0


def require_integers(name: str, numbers: Any, shape: tuple[int, ...]) -> None:
    """Check that a field of a billboard is an array of int64 with the given shape.

    Raises:
        InvalidInput: the field has another type or shape.
    """
    if not isinstance(numbers, np.ndarray):
        raise InvalidInput(name, f"is of type {type(numbers).__name__}", f"must be an int64 array of shape {shape}")
    if numbers.shape != shape or numbers.dtype != np.int64:
        raise InvalidInput(name, f"has shape {numbers.shape} and type {numbers.dtype}",
                           f"must have shape {shape} and type int64")


def require_sums(surplus: float | None, welfare: float | None, *, certified: bool) -> None:
    """Check that a billboard has the two noisy sums of a certificate exactly if the auction has a certificate.

    Raises:
        InvalidInput: a sum is missing or superfluous.
    """
    for name, number in (("surplus", surplus), ("welfare", welfare)):
        if (number is not None) is not certified:
            raise InvalidInput(name, "is missing, but the auction has a certificate" if certified else
                               "is present, but the auction has no certificate")
