"""The end of an auction: the public test that may end it before its last round, and the final clearing.

*Halting.* A fixed number of rounds costs no privacy and is the usual choice. A test of the published counts costs no
privacy either. Such a test ends the auction after a round with few new bids. A test of the exact number of unsatisfied
bidders, or of bids, needs a noisy counter of its own, with one release after each round. A test that publishes only
whether unsatisfied bidders are few uses the sparse vector technique, with a cost that does not grow with the number of
rounds. A bidder is unsatisfied at the end of a round if they were outbid or, in an auction of bundles, if they would
bid once more.

Source: Wu 2017, Algorithms 4 and 5 (CountUnsatisfied, CountBids), corrected; spec allocation 3.2.

*Final clearing.* A fresh noisy histogram of the bidders, by the good and the age of their last bid, decides which
bidders get the good. The age of a bid is the number of bids on the same good that were counted after it. Without a
clearing the auction needs a reserve of copies, because the number of holders is then known only from the counters of
bids, whose noise must hide all bids of a bidder. In the histogram of an auction of single goods each bidder counts in
at most one cell. So replacing a bidder changes two cells by one each, however often the bidder bids. A bidder gets the
good if the age of their last bid is at most the published limit.

Source: ours; spec allocation 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.billboards import Clearing
from confide.allocation.measuring import Law, Measure
from confide.contract.checks import one_of, positive, whole
from confide.contract.guarantees import Relation
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.sparse_vector import ArmedSparseVector, SparseVector
from confide.privacy.tree_blocks import levels
from confide.privacy.tree_bounds import best_arity
from confide.privacy.tree_counter import RunningCounter, TreeCounter

__all__ = ["HALTING", "HALTING_TEST", "ClearingPlan", "Halting", "HaltingTest", "Reports"]

# ---- halting

Reports = Literal["fixed", "published", "unsatisfied", "bids", "sparse_vector"]

HALTING: tuple[Reports, ...] = ("fixed", "published", "unsatisfied", "bids", "sparse_vector")
"""Names of the halting rules. With "fixed" the auction never ends early. With "published" the auction ends after a
round with few new bids by the published counts. With "unsatisfied" or "bids" the auction ends after a round with few
unsatisfied bidders or few bids, by a noisy counter for this test alone. With "sparse_vector" the auction ends after a
round with few unsatisfied bidders, by the sparse vector technique.
"""

HALTING_TEST = "halting"
"""Name of the privacy charge for the halting test."""


@dataclass(frozen=True, kw_only=True)
class Halting:
    """The public parameters of the halting test.

    Args:
        rule: one of the rules in `HALTING`.
        below: threshold for the noisy number of reports of a round. A round with fewer reports ends the auction. A
            report is a new bid or an unsatisfied bidder, according to the rule.
        rounds: largest number R of rounds.
        l1_sensitivity: largest l1 distance between the reports of neighbouring data sets with the same published
            numbers, over all rounds together.
        law: law of the counter's noise.
        cost: privacy loss of the test: epsilon for Laplace noise, or rho for Gaussian noise. For the sparse vector
            technique the cost is an epsilon under both laws. Rules without a privacy loss ignore `cost`.
    """

    rule: Reports
    below: int = 1
    rounds: int
    l1_sensitivity: int
    law: Law = "laplace"
    cost: float = 0.0

    def __post_init__(self) -> None:
        one_of("halting", self.rule, HALTING)
        whole("halt_below", self.below, at_least=-(2**62))
        whole("rounds", self.rounds, at_least=1)
        if self.costs:
            positive("cost", self.cost)

    @property
    def costs(self) -> bool:
        """Whether the test costs privacy, because the test uses numbers that are not published."""
        return self.rule in ("unsatisfied", "bids", "sparse_vector") and self.rounds > 1

    @cached_property
    def counter(self) -> TreeCounter | None:
        """The counter of the reports, which makes one release after each round except the last; None for halting rules
        without a counter.
        """
        if not self.costs or self.rule == "sparse_vector":
            return None
        # Each round moves the report of a neighbour by one at most.
        asked = self.rounds - 1
        if self.law == "laplace":
            return TreeCounter.for_epsilon(self.cost, l1_sensitivity=min(self.l1_sensitivity, asked), horizon=asked)
        arity = best_arity(asked, 1, noise="gaussian")
        # A round's report moves by one at most, so a block of L of them moves by L, and all of a level by the distance.
        reach = min(self.l1_sensitivity, asked)
        squared = sum(min(reach, arity**level) * reach for level in range(levels(asked, arity)))
        return TreeCounter.for_rho(self.cost, l1_sensitivity=reach, horizon=asked, arity=arity, exposure=squared)

    @cached_property
    def vector(self) -> SparseVector | None:
        """The sparse vector mechanism that tests after each round whether `below` - (number of unsatisfied bidders) >
        0; None for other halting rules. One bidder changes the number of unsatisfied bidders by at most 1.
        """
        if not self.costs or self.rule != "sparse_vector":
            return None
        return SparseVector(threshold=0, epsilon=self.cost)

    def events(self, unit: Relation) -> tuple[Event, ...]:
        """The privacy events of the test."""
        if self.counter is not None:
            return self.counter.events(unit)
        return self.vector.events(unit) if self.vector is not None else ()

    def start(self, noise: Noise) -> HaltingTest:
        """Start the test for one run. The test's privacy loss is charged under the name `HALTING_TEST`.

        Raises:
            Overspent: the budget of this charge is too small for the test.
        """
        counter, vector = self.counter, self.vector
        return HaltingTest(
            self, None if counter is None else counter.start(noise, "halting", line=HALTING_TEST),
            None if vector is None else vector.arm(noise, "halting", line=HALTING_TEST))

    def start_within(self, session: NoiseSession, part: str) -> HaltingTest:
        """Start the test for one run. The test's counter is charged together with the counters of bids.

        Args:
            session: session that charges the privacy loss of the counters of bids.
            part: name of the noise of the test in the session.
        """
        return HaltingTest(self, None if self.counter is None else self.counter.start_within(session, part, "halting"),
                           None)

    def halts(self, counts: Sequence[int]) -> bool:
        """Whether the auction ends after the latest round, because fewer than `below` reports of that round were
        counted.

        Args:
            counts: running counts of the reports that were published after rounds 1, 2, ...
        """
        return len(counts) > 0 and counts[-1] - (counts[-2] if len(counts) > 1 else 0) < self.below


class HaltingTest:
    """A halting test during a run. The halting test draws noise in every round, whatever the results are."""

    def __init__(self, plan: Halting, running: RunningCounter | None, armed: ArmedSparseVector | None) -> None:
        self._plan, self._round = plan, 0
        self._running, self._armed = running, armed
        self._counts: list[int] = []

    @property
    def counts(self) -> NDArray[np.int64]:
        """Published running counts of the reports. The array is empty for halting rules without a counter."""
        return np.array(self._counts if self._running is not None else [], dtype=np.int64)

    def ends(self, *, bids: int, unsatisfied: int, published: int) -> bool:
        """Whether the auction ends after the current round.

        Args:
            bids: number of bids in the current round. Private.
            unsatisfied: number of unsatisfied bidders at the end of the current round: holders who were outbid, or
                bidders who would bid once more in an auction of bundles. Private.
            published: sum of the published counts of all goods after the current round.
        """
        plan = self._plan
        self._round += 1
        if self._round >= plan.rounds or plan.rule == "fixed":
            return self._round >= plan.rounds
        if self._armed is not None:
            return self._armed.ask(plan.below - unsatisfied)
        if self._running is not None:
            self._counts.append(int(self._running.feed([bids if plan.rule == "bids" else unsatisfied])[0]))
        else:
            self._counts.append(published)
        return plan.halts(self._counts)


# ---- reclearing

_Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ClearingPlan:
    """The public parameters of the final clearing.

    Args:
        supply: number s_j of copies of each good j.
        edges: largest age of a bid that is counted in each of the B cells of a good, ascending for each good, shape (k,
            B). A bid with an age above the last bound is in no cell.
        measure: noise of the cells. In an auction of single goods, replacing a bidder's row by another row changes two
            cells by one each, and replacing the row by zeros changes one cell.
        failure_probability: upper bound on the probability that more than s_j copies of some good j are given.
    """

    supply: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    measure: Measure
    failure_probability: float

    @cached_property
    def slacks(self) -> _Integers:
        """Bounds, for b = 1..B, on how far the noisy sum of a good's first b cells falls short of the true sum; shape
        (B,). Except with the failure probability, all bounds hold for all goods together.
        """
        goods, buckets = len(self.edges), len(self.edges[0])
        return np.array([self.measure.reach(self.failure_probability / (goods * buckets),
                                            b) for b in range(1, buckets + 1)],
                        dtype=np.int64)

    def clear(self, latest: NDArray[np.int32], ages: _Integers, noise: Noise, stream: str = "clearing") -> Clearing:
        """Draw the noisy cells, and compute the limits on the age of bids that follow from the cells.

        Args:
            latest: good of each bidder's last bid, with -1 for none, shape (n,). In an auction of bundles, all goods
                that the n bidders hold, at most b each, shape (n b,). Private.
            ages: number of bids that were counted on each good in `latest` after the bidder's bid on that good, same
                shape. Private.
            noise: source of the noise.
            stream: name under which the noise is drawn.
        """
        edges = np.array(self.edges, dtype=np.int64)
        true = _cells(latest, ages, edges)
        cells = self.measure.draw(true, noise, stream)
        return Clearing(edges=edges, cells=cells, cuts=self.cuts(cells))

    def cuts(self, cells: _Integers) -> _Integers:
        """The limit on the age of bids for each good, shape (k,). The limit is the largest bound in `edges` such that
        the supply suffices for all bids up to that age, except with the failure probability. The limit is -1 for a good
        without such a bound.

        Args:
            cells: noisy cells as released, shape (k, B).
        """
        edges, most = np.array(self.edges, dtype=np.int64), np.array(self.supply, dtype=np.int64)
        goods, buckets = edges.shape
        fits = np.cumsum(cells, axis=1) + self.slacks <= most[:, None]
        last = buckets - 1 - np.argmax(fits[:, ::-1], axis=1)
        return np.where(fits.any(axis=1), edges[np.arange(goods), last], -1)


@kernel
def _cells(latest: NDArray[np.int32], ages: _Integers, edges: _Integers) -> _Integers:
    """The number of bidders in each cell of good and age, shape (k, B)."""
    found = np.zeros(edges.shape, dtype=np.int64)
    for i in range(len(latest)):
        j = latest[i]
        if j < 0:
            continue
        for b in range(edges.shape[1]):
            if ages[i] <= edges[j, b]:
                found[j, b] += 1
                break
    return found
