"""When an auction ends before its last round: a public test after each round, and what it costs.

A fixed number of rounds costs nothing and is the usual choice. So does a look at the published counts: few new bids
were counted. To count those who are outbid, or who bid, takes a counter of its own that ticks once a round; to ask
only whether they are few, sparse vector, whose cost does not grow with the rounds.

Source: Wu 2017, Algorithms 4 and 5 (CountUnsatisfied, CountBids), corrected; spec allocation 3.2.

Final clearing: a fresh noisy histogram of who bid last on what, and how long ago, says who is admitted.

A reserve is needed only because the number of holders is known through counters that count every bid. In the end each
bidder lies in one cell at most: the good of their last bid, and its age, the bids that were counted since. Replacing a
bidder moves two cells by one, however often they bid. Whoever is admitted sees it from the public cut and their own
cell.

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
"""The rules: never early; few bids by the published counts; few outbid holders, or few bids, by a counter of its own;
few outbid holders, by sparse vector.
"""

HALTING_TEST = "halting"
"""The line of the charge that pays for it."""


@dataclass(frozen=True, kw_only=True)
class Halting:
    """The public half of the test.

    Args:
        rule: one of `HALTING`.
        below: the auction ends after a round with fewer reports than this, noise included.
        rounds: R, the number of rounds at most.
        l1_sensitivity: how far one neighbour step moves the reports of all rounds together, in l1, along any history.
        law: law of a counter's noise.
        cost: epsilon, or rho, of the test; of sparse vector epsilon under both laws.
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
        """Whether it looks at anything that is not public."""
        return self.rule in ("unsatisfied", "bids", "sparse_vector") and self.rounds > 1

    @cached_property
    def counter(self) -> TreeCounter | None:
        """The counter of the reports, one tick a round; nobody asks after the last one."""
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
        """Asked for below - (those who are outbid) > 0, of which one bidder moves each by one."""
        if not self.costs or self.rule != "sparse_vector":
            return None
        return SparseVector(threshold=0, epsilon=self.cost)

    def events(self, unit: Relation) -> tuple[Event, ...]:
        """The events that the test spends."""
        if self.counter is not None:
            return self.counter.events(unit)
        return self.vector.events(unit) if self.vector is not None else ()

    def start(self, noise: Noise) -> HaltingTest:
        """A test for one run, on a line of its own.

        Raises:
            Overspent: the line does not pay for it.
        """
        counter, vector = self.counter, self.vector
        return HaltingTest(
            self, None if counter is None else counter.start(noise, "halting", line=HALTING_TEST),
            None if vector is None else vector.arm(noise, "halting", line=HALTING_TEST))

    def start_within(self, session: NoiseSession, part: str) -> HaltingTest:
        """A test whose counter is paid for together with the counters of bids.

        Args:
            session: the session that pays for these counters.
            part: name of the part that the session declared for the test.
        """
        return HaltingTest(self, None if self.counter is None else self.counter.start_within(session, part, "halting"),
                           None)

    def halts(self, counts: Sequence[int]) -> bool:
        """Whether the auction ends after as many rounds as there are reports, by the last one.

        Args:
            counts: running counts of the reports that were published after rounds 1, 2, ...
        """
        return len(counts) > 0 and counts[-1] - (counts[-2] if len(counts) > 1 else 0) < self.below


class HaltingTest:
    """A test at work. It draws in every round, whatever comes out."""

    def __init__(self, plan: Halting, running: RunningCounter | None, armed: ArmedSparseVector | None) -> None:
        self._plan, self._round = plan, 0
        self._running, self._armed = running, armed
        self._counts: list[int] = []

    @property
    def counts(self) -> NDArray[np.int64]:
        """Running counts of the reports, as published; of the rules without a counter, none."""
        return np.array(self._counts if self._running is not None else [], dtype=np.int64)

    def ends(self, *, bids: int, unsatisfied: int, published: int) -> bool:
        """Whether the auction ends after this round.

        Args:
            bids: number of bids in this round. Private.
            unsatisfied: holders that this round left without their good. Private.
            published: the sum of all published counts, so far.
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
    """The public half of the clearing.

    Args:
        supply: s_j.
        edges: (k, B) ages, ascending for each good; whoever's is above the last is in no cell.
        measure: the noise of the cells, of which one neighbour step moves two by one each: one of a bidder who is
            replaced by zeros.
        failure_probability: probability that some good is given to more than s_j bidders.
    """

    supply: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    measure: Measure
    failure_probability: float

    @cached_property
    def slacks(self) -> _Integers:
        """How far a sum of the first b cells of any good may fall short of the truth, together, (B,)."""
        goods, buckets = len(self.edges), len(self.edges[0])
        return np.array([self.measure.reach(self.failure_probability / (goods * buckets),
                                            b) for b in range(1, buckets + 1)],
                        dtype=np.int64)

    def clear(self, latest: NDArray[np.int32], ages: _Integers, noise: Noise, stream: str = "clearing") -> Clearing:
        """Noisy cells, and the cuts that follow from them.

        Args:
            latest: (n,) the good of each one's last bid, -1 for none. Private.
            ages: (n,) bids on it that were counted since. Private.
            noise: source of the noise.
            stream: name of the draw.
        """
        edges = np.array(self.edges, dtype=np.int64)
        true = _cells(latest, ages, edges)
        cells = self.measure.draw(true, noise, stream)
        return Clearing(edges=edges, cells=cells, cuts=self.cuts(cells))

    def cuts(self, cells: _Integers) -> _Integers:
        """The largest age up to which surely few enough wait, (k,); -1 where there is none.

        Args:
            cells: (k, B) noisy cells as released.
        """
        edges, most = np.array(self.edges, dtype=np.int64), np.array(self.supply, dtype=np.int64)
        goods, buckets = edges.shape
        fits = np.cumsum(cells, axis=1) + self.slacks <= most[:, None]
        last = buckets - 1 - np.argmax(fits[:, ::-1], axis=1)
        return np.where(fits.any(axis=1), edges[np.arange(goods), last], -1)


@kernel
def _cells(latest: NDArray[np.int32], ages: _Integers, edges: _Integers) -> _Integers:
    """(k, B) how many bidders there are of each good and age."""
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
