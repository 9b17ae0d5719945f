"""`PMatch`: an ascending auction that publishes noisy bid counts, from which each bidder finds their own good.

Source: Wu 2017, Algorithm 4, with its errata corrected, and calibrated to work at 10^4 to 10^6 bidders: a cap on bids
with a fixed number of rounds, batches, wide trees, and a final clearing; spec allocation 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import Auction, Rules
from confide.allocation.ascending_mechanism import Ascending
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.decoding import decode
from confide.allocation.market import NEIGHBOURS_WRITTEN, OneGood
from confide.allocation.valuations import Valuations
from confide.contract.guarantees import Guarantees
from confide.contract.mechanism import Progress
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.noise import Noise

__all__ = ["PMatch"]


@renamed()
@wire("PMatch", "people goods supply epsilon delta certify_with gamma on_overflow neighbours increment bid_cap "
      "rounds batch arity reclear reserve law halting halt_below halt_with charge", failure_probability="gamma",
      words={"neighbours": NEIGHBOURS_WRITTEN})
@dataclass(frozen=True, kw_only=True)
class PMatch(OneGood[AuctionBillboard], Ascending):
    """An ascending auction that gives each bidder at most one good, out of goods with several copies each.

    Raises:
        InvalidInput: a number out of range.
        Refused: parameters that `Ascending` refuses, such as a reserve that leaves no copy of a good.

    Example:
        >>> from confide.allocation import instance_a
        >>> auction = PMatch(people=2000, goods=4, supply=400, increment=0.3, epsilon=4.0, bid_cap=3, rounds=10,
        ...                  batch=200, arity=10)
        >>> outcome = auction.run(instance_a(2000, 4, seed=1), Noise.simulated(1))
        >>> outcome.shares["good"].to_pylist()[:5]
        [-1, 3, -1, 1, 0]
    """

    charge: Annotated[bool, Parameter("true if the final price is charged; nobody then takes a good with a value below "
                                      "its price")] = False

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, goods: int, supply: int | tuple[int, ...],
        **options: Any,
    ) -> PMatch:
        """An auction of single goods with settings that gave high welfare in measurements at similar sizes.

        Args:
            epsilon: privacy loss of the whole outcome, in nats, > 0.
            delta: delta in [0, 1); 0 is pure privacy.
            people: number n >= 1 of public positions for bidders.
            goods: number k >= 1 of goods.
            supply: number of copies s_j >= 1 of each good: one number for all, or k numbers.
            options: further parameters, such as neighbours or certify_with; they take precedence over the recommended
                settings.

        Raises:
            InvalidInput: a number out of range.
            Refused: a reserve that leaves no copy of a good, or an option that needs a delta.

        Example:
            >>> PMatch.for_budget(epsilon=1.0, people=100_000, goods=20, supply=4_000).increment
            0.15
        """
        from confide.allocation.settings import recommended_settings

        found: PMatch = recommended_settings(cls, people=people, goods=goods, supply=supply, epsilon=epsilon,
                                             delta=delta, **options)
        return found

    # ---- public arithmetic

    @cached_property
    def rules(self) -> Rules:
        """The public rules of the auction, by which every bidder bids."""
        return Rules(people=self.people, goods=self.goods, supply=self.effective_supply, increment=self.increment,
                     rounds=self.rounds, batch=self.batch, bid_cap=self.bid_cap, charge=self.charge)

    def guarantees(self) -> Guarantees:
        from confide.allocation.guarantees import auction_promises

        return Guarantees((*super().guarantees(), *auction_promises(self)))

    # ---- the run

    def _of_plenty(self) -> AuctionBillboard:
        return self._unplayed()

    def _matched(self, values: Valuations, source: Noise, progress: Progress | None) -> tuple[AuctionBillboard,
                                                                                              NDArray[Any]]:
        auction = Auction(self.rules, values, self.counter, source, stepwise=self._stepwise)
        reports = self._play(auction, source, progress)
        held, clearing = np.maximum(auction.held, -1), None
        if self.clearing is not None:
            ages = np.where(auction.latest >= 0, auction.published[auction.latest] - auction.seen, 0)
            clearing = self.clearing.clear(auction.latest, ages, source)
            held = np.where((auction.latest >= 0) & (ages <= clearing.cuts[auction.latest]), auction.latest, -1)
        prices = self.rules.prices(auction.published)
        held, cutoffs = self.without_overflow(self._worth_it(values, prices, held))
        reported = self._reported(values, prices, held, source)
        return self._board(auction, reports, clearing=clearing, cutoffs=cutoffs, **reported), held

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        good = decode(record, index, board)
        return {"good": good, "price": float(board.prices[good]) if self.charge and good >= 0 else 0.0}
