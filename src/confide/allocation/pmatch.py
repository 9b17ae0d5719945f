"""`PMatch`: an ascending auction that publishes noisy bid counts, from which everybody finds her own good.

Source: Wu 2017, Algorithm 4, with its errata corrected, and calibrated to work at 10^4 to 10^6 bidders: a cap on bids
with a fixed number of rounds, batches, wide trees, and a final clearing; spec allocation 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.auction import Auction, Rules
from confide.allocation.billboards import Billboard, Clearing
from confide.allocation.decoding import decode
from confide.allocation.market import Market
from confide.allocation.reclearing import ClearingPlan
from confide.allocation.reserve import tight_reserve
from confide.allocation.valuations import Valuations
from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.accounting import float_up
from confide.privacy.events import Event, PureEvent
from confide.privacy.noise.base import as_noise
from confide.privacy.tree_blocks import participation
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
        rounds: R >= 1, fixed.
        batch: g >= 1, bidders who bid between two releases of the counts.
        arity: of the trees that count, >= 2.
        reclear: f in (0, 1), the share of epsilon for the final clearing; 0 for a reserve in its place.

    Raises:
        InvalidInput: a number out of range.
        Refused: the reserve leaves nothing of a good.
    """

    increment: float
    bid_cap: int
    rounds: int
    batch: int
    arity: int
    reclear: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("increment", self.increment, at_most=1.0)
        whole("bid_cap", self.bid_cap, at_least=1)
        if whole("rounds", self.rounds, at_least=1) * -(-self.people // whole("batch", self.batch, at_least=1)) \
                > _MOST_STEPS:
            raise InvalidInput("rounds", f"{self.rounds} rounds of batches of {self.batch} are too many releases",
                               f"must be at most {_MOST_STEPS:,}")
        whole("arity", self.arity, at_least=2)
        if fraction("reclear", self.reclear, zero=True) + self.certify_with >= 1:
            raise InvalidInput("reclear", f"{self.reclear!r} leaves nothing for the prices",
                               "reclear + certify_with must be below 1")
        if min(self.effective_supply) < 1:
            raise Refused(f"a reserve of {self.reserve:,} leaves nothing of {min(self.copies):,} copies",
                          "more copies, a larger epsilon, or reclear in its place")

    # ---- public arithmetic

    @cached_property
    def counter(self) -> TreeCounter:
        """The counters of bids. A bidder bids C times at most in each of two worlds, in her slot of a round."""
        left = self.part(1.0) - self.part(self.reclear) - self.part(self.certify_with)
        slots = -(-self.people // self.batch)
        horizon, worlds = self.rounds * slots, self.distance  # she bids in each of so many worlds
        reach = participation(horizon, self.arity, rounds=self.rounds, bids=min(self.bid_cap, self.rounds),
                              add_remove=worlds == 1)
        scale = float_up(Fraction(reach) / left)
        return TreeCounter(horizon=horizon, scale=scale, counters=self.goods, arity=self.arity,
                           distance=worlds * self.bid_cap, exposure=reach)

    @cached_property
    def error(self) -> float:
        """E: no published count is off by more at any time, but with probability gamma."""
        return self.counter.error_bound(self.gamma)

    @cached_property
    def reserve(self) -> int:
        """m, copies of each good that are held back; 0 with a final clearing."""
        return 0 if self.reclear else tight_reserve(self.counter, self.gamma)

    @property
    def effective_supply(self) -> tuple[int, ...]:
        """s'_j = s_j - m."""
        return tuple(copy - self.reserve for copy in self.copies)

    @cached_property
    def rules(self) -> Rules:
        """What everybody bids by."""
        return Rules(people=self.people, goods=self.goods, supply=self.effective_supply, increment=self.increment,
                     rounds=self.rounds, batch=self.batch, bid_cap=self.bid_cap)

    @cached_property
    def clearing(self) -> ClearingPlan | None:
        """The final clearing; None where a reserve stands in its place."""
        if not self.reclear:
            return None
        off = 2.0 * self.error / min(self.copies)
        shares = np.linspace(max(_FIRST, 1.0 - off), 1.0 + min(1.0, off), _BUCKETS)
        edges = tuple(tuple(int(share * copy) for share in shares) for copy in self.copies)
        return ClearingPlan(supply=self.copies, edges=edges, epsilon=float(self.part(self.reclear)),
                            distance=self.distance, gamma=self.gamma)

    def events(self) -> tuple[Event, ...]:
        """Counts, clearing and certificate; their epsilon add up to that of the plan at most."""
        found: list[Event] = list(self.counter.events(self.unit))
        if self.clearing is not None:
            found.append(PureEvent(epsilon=self.clearing.epsilon, neighbours=self.unit, label="final clearing"))
        if self.certificate_plan is not None:
            found.append(PureEvent(epsilon=self.certificate_plan.epsilon, neighbours=self.unit, label="certificate"))
        return tuple(found)

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Callable[[int, int], object] | None = None,
    ) -> Outcome | SimulatedOutcome:
        """The auction, its clearing, and everybody's good.

        Args:
            data: (n, k) valuations in [0, 1], dense or sparse, or `Valuations`.
            noise: `Noise.secure()` for a settlement.
            progress: told the rounds played and all of them.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods)
        auction = Auction(rules=self.rules, values=values, counter=self.counter, noise=source)
        for played in range(self.rounds):
            auction.play_round()
            if progress is not None:
                progress(played + 1, self.rounds)
        held, clearing = np.maximum(auction.held, -1), None
        if self.clearing is not None:
            ages = np.where(auction.latest >= 0, auction.published[auction.latest] - auction.seen, 0)
            clearing = self.clearing.clear(auction.latest, ages, source)
            held = np.where((auction.latest >= 0) & (ages <= clearing.cuts[auction.latest]), auction.latest, -1)
        board = self._board(auction, clearing, values, held, source)
        shares = pa.table({"good": pa.array(held.astype(np.int32))})
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=self.diagnose(values, held))

    def _board(self, auction: Auction, clearing: Clearing | None, values: Valuations, held: NDArray[Any],
               source: Any) -> Billboard:
        changes = auction.changes
        plan, told = self.certificate_plan, (None, None)
        if plan is not None:
            told = plan.measure(values, self.rules.prices(auction.published), held, source)
        return Billboard(rules=self.rules, rounds=auction.round, step=changes.step, good=changes.good,
                         count=changes.count, clearing=clearing, surplus=told[0], welfare=told[1])

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        return {"good": decode(record, index, self._own(billboard))}

    def _own(self, billboard: AnyBillboard) -> Billboard:
        if not isinstance(billboard, Billboard) or billboard.rules != self.rules:
            raise InvalidInput("billboard", "is of another auction")
        return billboard
