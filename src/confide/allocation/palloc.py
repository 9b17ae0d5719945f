"""`PAlloc`: an ascending auction of bundles that publishes noisy bid counts, from which each bidder finds their own
goods.

The auction is for gross-substitutes valuations: a rise in the prices of other goods never makes a bidder drop a good
that they hold.

Source: Wu 2017, Algorithm 6, with its errata corrected, and calibrated as `PMatch` is; spec allocation 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.ascending_auction import COUNTS, Running
from confide.allocation.ascending_mechanism import Ascending
from confide.allocation.billboards import AuctionBillboard, WelfareCertificate
from confide.allocation.bundles.auction import (
    BundleRules,
    OutbidTests,
    favourite_bundles,
    free_reports,
    report_distance,
    start_bundles,
    still_wanting,
)
from confide.allocation.bundles.bidders import BundleClass, Population
from confide.allocation.bundles.rows import population_of
from confide.allocation.decoding import decode_bundle
from confide.allocation.duality import BUNDLES_CERTIFIED, BundleCertificatePlan
from confide.allocation.ending import Halting, HaltingTest
from confide.allocation.market import NEIGHBOURS_WRITTEN
from confide.contract.mechanism import NoiseSource, Phase, Progress, unusable_in
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.charge import DrawCost
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.primitives.sessions import NoiseSession, open_session
from confide.tables.frames import arrow_numbers

__all__ = ["PAlloc"]

_REPORTS = "report"  # part of the joint session


@renamed()
@wire("PAlloc", "people goods supply epsilon delta certify_with gamma on_overflow neighbours increment bid_cap "
      "rounds batch arity reclear reserve law halting halt_below halt_with valuation bundle outbid_tests",
      failure_probability="gamma",
      words={"neighbours": NEIGHBOURS_WRITTEN})
@dataclass(frozen=True, kw_only=True)
class PAlloc(Ascending):
    """An ascending auction that gives each bidder a bundle of at most b goods, out of goods with several copies each.

    Each bidder has one slot (turn to bid) in a round. In their slot bidders drop the goods on which they were outbid,
    and bid on one more good. Held goods keep the price at which they were won. A bidder who has made C bids does not
    bid any more, and keeps the goods on which nobody outbids them. At the end bidders drop outbid goods, or the final
    clearing decides which goods they keep.

    Privacy. A bidder's bids are counted as in `PMatch`, at most one in a round. The final clearing has a cell for each
    good and age. A bidder counts in one cell for each good that they hold, at most b, so replacing a bidder changes the
    cells by at most 2b in l1. If the valuation counts copies, b copies may lie in one cell. The module
    `bundles.auction` bounds the reports of bidders who would bid once more.

    A bidder's valuation may be a program. A bidder who declines to bid is idle until they lose a good, even if their
    program would give another answer in between. So the bids depend only on the program's answers in the bidder's own
    slots and reports.

    The mechanism makes no promise about incentives.

    If `bundle` is smaller than the largest bundle of the class, the value of a set S is the largest value of any
    `bundle` goods of S. If halting is "unsatisfied", `outbid_tests` decides the cost and the meaning of the reports.
    With tests in the slot, a bidder may lose a good after their slot, and then cannot bid on another good in this
    round.

    Raises:
        InvalidInput: a number out of range.
        Refused: a reserve that leaves no copy of a good, or Gaussian noise without a delta.

    Example:
        >>> from confide.allocation import instance_a
        >>> from confide.allocation.bundles import CappedAdditiveValuation
        >>> auction = PAlloc(people=2000, goods=4, supply=800, increment=0.1, epsilon=4.0, bid_cap=6, rounds=12,
        ...                  batch=200, arity=10, valuation=CappedAdditiveValuation(cap=2))
        >>> outcome = auction.run(instance_a(2000, 4, seed=1) / 2, Noise.simulated(1))
        >>> outcome.shares["bundle"].to_pylist()[:3]
        [[3], [2, 3], [3]]
    """

    valuation: Annotated[BundleClass, Parameter("class of everybody's valuation, of `confide.allocation.bundles`")]
    bundle: Annotated[int | None, Parameter("largest number of goods that one bidder may hold; by default, and at "
                                            "most, the largest bundle of the class", symbol="b", at_least=1)] = None
    outbid_tests: Annotated[OutbidTests, Parameter("time at which bidders drop goods after they are outbid: in their "
                                                   "own slot, or at the end of a round")] = "slot"

    phases = (Phase(name="bids", asks="one valuation of bundles, sealed"),)

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, goods: int, supply: int | tuple[int, ...],
        valuation: BundleClass, highest: float | None = None, **options: Any,
    ) -> PAlloc:
        """An auction of bundles with settings that gave high welfare in measurements at similar sizes.

        Args:
            epsilon: privacy loss of the whole outcome, in nats, > 0.
            delta: delta in [0, 1); 0 is pure privacy.
            people: number n >= 1 of public positions for bidders.
            goods: number k >= 1 of goods.
            supply: number of copies s_j >= 1 of each good: one number for all, or k numbers.
            valuation: class of all bidders' valuations.
            highest: publicly known upper bound on the value of one good alone to any bidder, in (0, 1]. The default is
                1 over the number of goods that one person wants.
            options: further parameters, such as bundle or neighbours; they take precedence over the recommended
                settings.

        Raises:
            InvalidInput: a number out of range.
            Refused: a reserve that leaves no copy of a good, or an option that needs a delta.

        Example:
            >>> from confide.allocation.bundles import CappedAdditiveValuation
            >>> one = PAlloc.for_budget(epsilon=5.0, people=10_000, goods=20, supply=800,
            ...                         valuation=CappedAdditiveValuation(cap=2))
            >>> one.bid_cap, one.rounds, one.increment
            (6, 8, 0.05)
        """
        from confide.allocation.settings import bundle_settings

        found: PAlloc = bundle_settings(cls, people=people, goods=goods, supply=supply, epsilon=epsilon,
                                        delta=delta, valuation=valuation, highest=highest, **options)
        return found

    # ---- public arithmetic

    @property
    def largest_bundle(self) -> int:
        """Largest number b of goods that one bidder may hold."""
        most = self.valuation.largest(self.goods)
        return most if self.bundle is None else min(self.bundle, most)

    @property
    def plentiful(self) -> bool:
        """Whether there are enough copies for every bidder to have their favourite bundle."""
        return min(self.copies) >= self.people * (self.largest_bundle if self.valuation.repeats else 1)

    @property
    def _asks(self) -> bool:
        return self.halting in ("unsatisfied", "sparse_vector") and self.rounds > 1

    @property
    def report_l1_sensitivity(self) -> int:
        """L1 sensitivity of the bidders' reports to the halting test: the largest l1 distance between the reports, over
        all rounds together, in two neighbouring data sets with the same published numbers.
        """
        if self.halting == "unsatisfied":
            return report_distance(rounds=self.rounds, bid_cap=self.bid_cap, tests=self.outbid_tests,
                                   worlds=self.l1_sensitivity)
        return super().report_l1_sensitivity

    @property
    def cell_sensitivities(self) -> tuple[int, int]:
        """Sensitivity of the cells of the final clearing, as a pair, for bundles of at most b goods. The l1 sensitivity
        is 2b. The squared l2 sensitivity is also 2b, or 2b^2 if the valuation counts copies. Each sensitivity is half
        as large if neighbours replace a row by zeros.
        """
        b = self.largest_bundle
        one = self.l1_sensitivity * b
        return one, one * (b if self.valuation.repeats else 1)

    @property
    def reports_are_free(self) -> bool:
        """Whether the counter of reports costs no privacy beyond that of the counters of bids; see
        `bundles.auction`.
        """
        return self._asks and self.halting == "unsatisfied" and self.law == "laplace" and free_reports(
            rounds=self.rounds, bid_cap=self.bid_cap, tests=self.outbid_tests, worlds=self.l1_sensitivity)

    @property
    def _halting_share(self) -> float:
        return 0.0 if self.reports_are_free else super()._halting_share

    @cached_property
    def halting_plan(self) -> Halting:
        """Public parameters of the test that may end the auction before its last round."""
        if not self.reports_are_free:
            return super().halting_plan
        # Noise of q levels times the scale of a block of bids: the scale of a counter is distance q/cost.
        asked = min(self.report_l1_sensitivity, self.rounds - 1)
        return self._halting(float(Fraction(asked) / Fraction(self.counter.scale)) * (1.0 - 2.0**-40))

    @cached_property
    def rules(self) -> BundleRules:
        """The public rules of the auction, by which every bidder bids."""
        return BundleRules(people=self.people, goods=self.goods, supply=self.effective_supply, increment=self.increment,
                           rounds=self.rounds, batch=self.batch, bid_cap=self.bid_cap, valuation=self.valuation,
                           bundle=self.largest_bundle, outbid_tests=self.outbid_tests, reports=self._asks)

    @cached_property
    def certificate_plan(self) -> BundleCertificatePlan | None:
        """Public parameters of the releases from which the certificate follows; None without a certificate."""
        if not self.certify_with or self.plentiful:
            return None
        return BundleCertificatePlan(supply=self.copies, failure_probability=self.failure_probability,
                                     measure=self.measure("certificate", self.certify_with, *BUNDLES_CERTIFIED))

    @property
    def _joint(self) -> bool:
        """Whether one session pays for both the counters of bids and the counter of reports."""
        return self.reports_are_free and self.halting_plan.counter is not None

    def _joint_session(self, noise: Noise) -> NoiseSession:
        """A session that pays for bids and reports together. Reports cost nothing if the noise scale of the blocks of
        reports is at least q times the noise scale of the blocks of bids, where q is the number of levels of the tree
        of reports.
        """
        bids, reports = self.counter, self.halting_plan.counter

        def cost(scales: Mapping[str, Fraction]) -> DrawCost:
            spent = bids.cost_at(scales["block"])
            if reports is None or scales[_REPORTS] >= reports.levels * scales["block"]:
                return spent
            return spent + reports.cost_at(scales[_REPORTS])

        parts = {"block": bids.part} | ({} if reports is None else {_REPORTS: reports.part})
        return open_session(noise, cost, parts, stream=COUNTS, line=COUNTS)

    def _halting_test(self, auction: Running, noise: Noise) -> HaltingTest:
        if self._joint:
            return self.halting_plan.start_within(auction.session, _REPORTS)
        return super()._halting_test(auction, noise)

    def _halting_events(self) -> tuple[Event, ...]:
        return () if self.reports_are_free else super()._halting_events()

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None,
    ) -> RunOutcome[AuctionBillboard, WelfareCertificate | None]:
        """Run the auction: its rounds, its clearing, and the bundle of each bidder.

        Args:
            data: n records in the form of the class of valuations, or a `Population` of the class. The data may also be
                a frame, an Arrow table or a file, with a column for each number of a record, or batches of rows that a
                campaign collected.
            noise: source of the noise; `Noise.secure()` for a settlement.
            progress: function that is called after each round with the number of rounds played and the largest number
                of rounds, both public.

        Returns:
            An outcome whose shares have the column "bundle": goods in ascending order, one entry for each copy.
        """
        source = as_noise(noise)
        population = population_of(self.valuation, data, people=self.people, goods=self.goods,
                                   unusable=unusable_in(source))
        board, held = (self._everybody(population) if self.plentiful else
                       self._auction(population, source, progress))
        if progress is not None:
            progress(self.rounds, self.rounds)
        diagnostics = {} if noise.release_safe else self._diagnose(population, board, held)
        return self._outcome(noise, billboard=board, shares=pa.table({"bundle": _lists(held)}),
                             certificate=self.certify(board), diagnostics=diagnostics)

    def _everybody(self, population: Population) -> tuple[AuctionBillboard, NDArray[np.int32]]:
        return self._unplayed(), favourite_bundles(population, self.largest_bundle)

    def _auction(
        self, population: Population, source: Noise, progress: Progress | None
    ) -> tuple[AuctionBillboard, NDArray[np.int32]]:
        auction = start_bundles(self.rules, population, self.counter, source, stepwise=self._stepwise,
                                session=self._joint_session(source) if self._joint else None)
        reports = self._play(auction, source, progress)
        held, seen = auction.units()
        goods = np.maximum(held, 0)
        ages, clearing = np.where(held >= 0, auction.published[goods] - seen, 0), None
        most = np.array(self.rules.supply, dtype=np.int64)
        if self.clearing is not None:
            clearing = self.clearing.clear(held.reshape(-1), ages.reshape(-1), source)
            most = clearing.cuts
        # The last goods are dropped, or what is held may be more than there is.
        held, cutoffs = self.without_overflow(np.where((held >= 0) & (ages <= most[goods]), held, -1))
        plan = self.certificate_plan
        surplus, welfare = (None, None) if plan is None else plan.reported_of(
            population, self.rules.prices(auction.published), held, source)
        return self._board(auction, reports, clearing=clearing, cutoffs=cutoffs, surplus=surplus,
                           welfare=welfare), held.astype(np.int32)

    def _diagnose(self, population: Population, board: AuctionBillboard, held: NDArray[np.int32]) -> dict[str, float]:
        return {"welfare": float(population.worth(held).sum()), "held": float((held >= 0).sum()),
                "over_allocated": float(self._over(held).sum()),
                "unsatisfied": float(still_wanting(population, held, board.prices))}

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        return {"bundle": decode_bundle(record, index, self._own(billboard))}


def _lists(held: NDArray[np.int32]) -> pa.ListArray:
    """The goods of n bidders, shape (n, b), as n ascending lists."""
    ordered = np.sort(held, axis=1)
    there = ordered >= 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(arrow_numbers(offsets), arrow_numbers(ordered[there].astype(np.int32)))
