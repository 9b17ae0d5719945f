"""`PMatch`: an ascending auction that publishes noisy bid counts, from which everybody finds her own good.

Source: Wu 2017, Algorithm 4, with its errata corrected, and calibrated to work at 10^4 to 10^6 bidders: a cap on bids
with a fixed number of rounds, batches, wide trees, and a final clearing; spec allocation 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.auction import Auction, Rules
from confide.allocation.billboards import Billboard
from confide.allocation.checking import check_billboard
from confide.allocation.decoding import decode
from confide.allocation.favourites import best_goods
from confide.allocation.halting import Halting, Reports
from confide.allocation.market import Market, down
from confide.allocation.measuring import Law
from confide.allocation.reclearing import ClearingPlan
from confide.allocation.reserve import tight_reserve
from confide.allocation.valuations import Valuations
from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Guarantees, Privacy
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.accounting import float_up, written
from confide.privacy.events import Event
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.tree_blocks import participation, participation_squared
from confide.privacy.tree_counter import TreeCounter

__all__ = ["PMatch"]

_BUCKETS = 21
_FIRST = 0.3
_MOST_STEPS = 2**30


@dataclass(frozen=True, kw_only=True)
class PMatch(Market):
    """One good for each bidder at most, out of k goods with several copies each.

    Args:
        increment: alpha, from one price to the next, in (0, 1].
        bid_cap: C >= 1, bids of one bidder at most.
        rounds: R >= 1; that many, unless `halting` ends it before.
        batch: g >= 1, bidders who bid between two releases of the counts.
        arity: of the trees that count, >= 2.
        reclear: f in [0, 1), the share of epsilon for the final clearing; 0 for a reserve in its place.
        reserve: m >= 0, copies of each good that are held back; by default `needed_reserve`, which is none beside a
            final clearing. With less nothing is promised about how many copies are given.
        law: of the counters' noise: "laplace", pure; or "gaussian", which needs a delta.
        halting: one of `halting.HALTING`.
        halt_below: where halting is not "fixed": fewer reports than this in a round end it.
        halt_with: the share of epsilon of halting rules that look at more than is published.
        charge: whether the final price of her good is charged. Then a good that is not worth its price is not taken.

    Raises:
        InvalidInput: a number out of range.
        Refused: the reserve leaves nothing of a good; Gaussian noise without a delta; truncation with a reserve that
            is too small, which would cut off holders far more often than delta says.

    Example:
        >>> from confide.allocation import instance_a
        >>> auction = PMatch(people=2000, goods=4, supply=400, increment=0.3, epsilon=4.0, bid_cap=3, rounds=10,
        ...                  batch=200, arity=10)
        >>> outcome = auction.run(instance_a(2000, 4, seed=1), Noise.simulated(1))
        >>> outcome.shares["good"].to_pylist()[:5]
        [3, 0, 3, 1, 1]
    """

    increment: float
    bid_cap: int
    rounds: int
    batch: int
    arity: int
    reclear: float = 0.3
    reserve: int | None = None
    law: Law = "laplace"
    halting: Reports = "fixed"
    halt_below: int = 1
    halt_with: float = 0.1
    charge: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("increment", self.increment, at_most=1.0)
        whole("bid_cap", self.bid_cap, at_least=1)
        if whole("rounds", self.rounds, at_least=1) * -(-self.people // whole("batch", self.batch, at_least=1)) \
                > _MOST_STEPS:
            raise InvalidInput("rounds", f"{self.rounds} rounds of batches of {self.batch} are too many releases",
                               f"must be at most {_MOST_STEPS:,}")
        whole("arity", self.arity, at_least=2)
        fraction("halt_with", self.halt_with)
        one_of("law", self.law, ("laplace", "gaussian"))
        if fraction("reclear", self.reclear, zero=True) + self.certify_with + self._halting_share >= 1:
            raise InvalidInput("reclear", f"{self.reclear!r} leaves nothing for the prices",
                               "reclear + certify_with + halt_with must be below 1")
        if self.law == "gaussian" and self.delta <= self.overflow_delta:
            raise Refused("Gaussian noise needs a delta", "law = 'laplace', or a delta above that of truncation")
        if self.reserve is not None and whole("reserve", self.reserve) < self.needed_reserve \
                and self.on_overflow == "truncate":
            raise Refused(f"with a reserve of {self.reserve:,} truncation costs more than delta",
                          f"a reserve of {self.needed_reserve:,} or more, or on_overflow = 'flag'")
        if not self.plentiful and min(self.effective_supply) < 1:
            raise Refused(f"a reserve of {self.held_back:,} leaves nothing of {min(self.copies):,} copies",
                          f"at least {self.held_back + 1:,} copies, a larger epsilon, or reclear in its place")

    @classmethod
    def recommended(
        cls, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
    ) -> PMatch:
        """The auction with settings that measured well at these sizes: `settings.recommended_settings`.

        Args:
            people: n.
            goods: k.
            supply: s_j.
            epsilon: > 0.
            options: further fields of the auction, such as gamma, neighbours or certify_with.

        Example:
            >>> PMatch.recommended(100_000, 20, 4_000, 1.0).increment
            0.3
        """
        from confide.allocation.settings import recommended_settings

        found: PMatch = recommended_settings(cls, people=people, goods=goods, supply=supply, epsilon=epsilon, **options)
        return found

    # ---- public arithmetic

    @property
    def plentiful(self) -> bool:
        """Whether everybody can have her favourite: there is a copy of every good for everybody."""
        return min(self.copies) >= self.people

    @property
    def slots(self) -> int:
        """Releases of a round: ceil(n/g)."""
        return -(-self.people // self.batch)

    @property
    def _bids(self) -> int:
        return min(self.bid_cap, self.rounds)

    @property
    def _halting_share(self) -> float:
        return self.halt_with if self._halting(1.0).costs else 0.0

    def _halting(self, cost: float) -> Halting:
        # In each world she bids C times at most, and is outbid as often.
        return Halting(rule=self.halting, below=self.halt_below, rounds=self.rounds,
                       distance=self.distance * self._bids, law=self.law, cost=cost)

    @property
    def noise_law(self) -> Law:
        """Of all noise."""
        return self.law

    @cached_property
    def halting_plan(self) -> Halting:
        """When it ends."""
        if self._halting(1.0).rule == "sparse_vector" and self.law == "gaussian":  # epsilon is epsilon^2/2 of rho
            return self._halting(math.sqrt(2.0 * self.part_down(self.halt_with)) * (1.0 - 2.0**-40))
        return self._halting(self.part_down(self.halt_with))

    @cached_property
    def counter(self) -> TreeCounter:
        """The counters of bids. A bidder bids C times at most in each of two worlds, in her slot of a round."""
        shares = (self.reclear, self.certify_with, self._halting_share)
        left = down(self.budget - sum(map(self.part, shares), Fraction(0)))
        horizon, add_remove = self.rounds * self.slots, self.neighbours == "add_remove"
        count = participation if self.law == "laplace" else participation_squared
        reach = count(horizon, self.arity, rounds=self.rounds, bids=self._bids, add_remove=add_remove)
        common: dict[str, Any] = {"horizon": horizon, "counters": self.goods, "arity": self.arity,
                                  "distance": self.distance * self._bids, "exposure": reach}
        if self.law == "laplace":
            return TreeCounter(scale=float_up(reach / written(left)), **common)
        return TreeCounter.for_rho(left, **common)

    @cached_property
    def error(self) -> float:
        """E: no published count is off by more at any time, but with probability gamma."""
        return self.counter.error_bound(self.gamma)

    @cached_property
    def held_back(self) -> int:
        """m, copies of each good that are not sold."""
        return self.needed_reserve if self.reserve is None else self.reserve

    @cached_property
    def needed_reserve(self) -> int:
        """The least m with which every good is given s_j times at most, but with probability gamma."""
        if self.reclear or self.plentiful:
            return 0
        return tight_reserve(self.counter, self.gamma, stopping=self.halting != "fixed")

    @property
    def failure(self) -> float:
        """Probability that some good is given to more than s_j, at most; 1 where nothing is known of it."""
        return super().failure if self.held_back >= self.needed_reserve else 1.0

    @property
    def effective_supply(self) -> tuple[int, ...]:
        """s'_j = s_j - m."""
        return tuple(copy - self.held_back for copy in self.copies)

    @cached_property
    def rules(self) -> Rules:
        """What everybody bids by."""
        return Rules(people=self.people, goods=self.goods, supply=self.effective_supply, increment=self.increment,
                     rounds=self.rounds, batch=self.batch, bid_cap=self.bid_cap, charge=self.charge)

    @cached_property
    def clearing(self) -> ClearingPlan | None:
        """The final clearing; None where a reserve stands in its place."""
        if not self.reclear:
            return None
        off = 2.0 * self.error / min(self.copies)
        shares = np.linspace(max(_FIRST, 1.0 - off), 1.0 + min(1.0, off), _BUCKETS)
        edges = tuple(tuple(int(share * copy) for share in shares) for copy in self.copies)
        return ClearingPlan(supply=self.copies, edges=edges, gamma=self.gamma,
                            measure=self.measure("final clearing", self.reclear, self.distance, self.distance))

    def _spent(self) -> tuple[Event, ...]:
        if self.plentiful:
            return ()
        found: list[Event] = [*self.counter.events(self.unit), *self.halting_plan.events(self.unit)]
        if self.clearing is not None:
            found.append(self.clearing.measure.event(self.unit))
        if self.certificate_plan is not None:
            found.append(self.certificate_plan.measure.event(self.unit))
        return tuple(found)

    def guarantees(self) -> Guarantees:
        from confide.allocation.guarantees import auction_promises

        common = super().guarantees()
        if self.plentiful:  # nobody's good depends on anybody else
            common = Guarantees(tuple(replace(one, loss=PureDP(0.0)) if isinstance(one, Privacy) else one
                                      for one in common))
        return Guarantees((*common, *auction_promises(self)))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Callable[[int, int], object] | None = None,
    ) -> Outcome | SimulatedOutcome:
        """The auction, its clearing, and everybody's good.

        Args:
            data: (n, k) valuations in [0, 1], dense or sparse, or `Valuations`.
            noise: `Noise.secure()` for a settlement.
            progress: told the rounds played and all of them.

        Returns:
            An outcome whose shares have the column "good", -1 for none, and "price", that of the good where prices are
            charged, else 0.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods)
        board, held = self._everybody(values) if self.plentiful else self._auction(values, source, progress)
        prices = np.where(held >= 0, board.prices[held], 0.0) if self.charge else np.zeros(self.people)
        shares = pa.table({"good": pa.array(held.astype(np.int32)), "price": pa.array(prices)})
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=self.diagnose(values, held))

    def _everybody(self, values: Valuations) -> tuple[Billboard, NDArray[np.int32]]:
        nothing = np.empty(0, dtype=np.int64)
        board = Billboard(rules=self.rules, rounds=0, step=nothing, good=nothing.astype(np.int32), count=nothing,
                          reports=nothing)
        return board, best_goods(values, board.prices)

    def _auction(
        self, values: Valuations, source: Noise, progress: Callable[[int, int], object] | None
    ) -> tuple[Billboard, NDArray[np.int32]]:
        auction = Auction(rules=self.rules, values=values, counter=self.counter, noise=source)
        test, ended = self.halting_plan.start(source), False
        while not ended:
            bids, unsatisfied = auction.play_round()
            ended = test.ends(bids=bids, unsatisfied=unsatisfied, published=int(auction.published.sum()))
            if progress is not None:
                progress(auction.round, self.rounds)
        held, clearing = np.maximum(auction.held, -1), None
        if self.clearing is not None:
            ages = np.where(auction.latest >= 0, auction.published[auction.latest] - auction.seen, 0)
            clearing = self.clearing.clear(auction.latest, ages, source)
            held = np.where((auction.latest >= 0) & (ages <= clearing.cuts[auction.latest]), auction.latest, -1)
        prices = self.rules.prices(auction.published)
        if self.charge:
            held = np.where(values.of_goods(held) >= prices[np.maximum(held, 0)], held, -1)
        cutoffs = self.cut_off(held)
        if cutoffs is not None:
            held = np.where(np.arange(self.people) < cutoffs[np.maximum(held, 0)], held, -1)
        told = (None, None) if self.certificate_plan is None else \
            self.certificate_plan.told(values, prices, held, source)
        changes = auction.changes
        return Billboard(rules=self.rules, rounds=auction.round, step=changes.step, good=changes.good,
                         count=changes.count, reports=test.counts, clearing=clearing, cutoffs=cutoffs,
                         surplus=told[0], welfare=told[1]), held.astype(np.int32)

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        good = decode(record, index, board)
        return {"good": good, "price": float(board.prices[good]) if self.charge and good >= 0 else 0.0}

    def check(self, billboard: AnyBillboard) -> None:
        """Whether it is of this plan: its rounds, its clearing and its cuts follow from what was released.

        Raises:
            InvalidInput: another plan's, or numbers that no run makes.
        """
        check_billboard(self, self._own(billboard))

    def _own(self, billboard: AnyBillboard) -> Billboard:
        if not isinstance(billboard, Billboard) or billboard.rules != self.rules:
            raise InvalidInput("billboard", "is of another auction")
        return billboard
