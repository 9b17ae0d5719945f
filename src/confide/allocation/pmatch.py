"""`PMatch`: an ascending auction that publishes noisy bid counts, from which everybody finds her own good.

Source: Wu 2017, Algorithm 4, with its errata corrected, and calibrated to work at 10^4 to 10^6 bidders: a cap on bids
with a fixed number of rounds, batches, wide trees, and a final clearing; spec allocation 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending.auction import Auction
from confide.allocation.ascending.mechanism import Ascending
from confide.allocation.ascending.running import Rules
from confide.allocation.billboards import Billboard
from confide.allocation.decoding import decode
from confide.allocation.favourites import best_goods
from confide.allocation.valuations import Valuations
from confide.contract.guarantees import Guarantees
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.unusable import unusable_in
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise

__all__ = ["PMatch"]


@dataclass(frozen=True, kw_only=True)
class PMatch(Ascending):
    """One good for each bidder at most, out of k goods with several copies each.

    Args:
        charge: whether the final price of her good is charged. Then a good that is not worth its price is not taken.

    Raises:
        InvalidInput: a number out of range.
        Refused: as `Ascending`.

    Example:
        >>> from confide.allocation import instance_a
        >>> auction = PMatch(people=2000, goods=4, supply=400, increment=0.3, epsilon=4.0, bid_cap=3, rounds=10,
        ...                  batch=200, arity=10)
        >>> outcome = auction.run(instance_a(2000, 4, seed=1), Noise.simulated(1))
        >>> outcome.shares["good"].to_pylist()[:5]
        [-1, 3, -1, 1, 0]
    """

    charge: bool = False

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
            0.15
        """
        from confide.allocation.planning.settings import recommended_settings

        found: PMatch = recommended_settings(cls, people=people, goods=goods, supply=supply, epsilon=epsilon, **options)
        return found

    # ---- public arithmetic

    @cached_property
    def rules(self) -> Rules:
        """What everybody bids by."""
        return Rules(people=self.people, goods=self.goods, supply=self.effective_supply, increment=self.increment,
                     rounds=self.rounds, batch=self.batch, bid_cap=self.bid_cap, charge=self.charge)

    def guarantees(self) -> Guarantees:
        from confide.allocation.guarantees import auction_promises

        return Guarantees((*super().guarantees(), *auction_promises(self)))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Callable[[int, int], object] | None = None,
    ) -> Outcome | SimulatedOutcome:
        """The auction, its clearing, and everybody's good.

        Args:
            data: (n, k) valuations in [0, 1], dense or sparse, or `Valuations`. A row that cannot be used counts as
                zeros in a release, whoever's it is; a study refuses it.
            noise: `Noise.secure()` for a settlement.
            progress: told the rounds played and all of them.

        Returns:
            An outcome whose shares have the column "good", -1 for none, and "price", that of the good where prices are
            charged, else 0.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods, unusable=unusable_in(source))
        board, held = self._everybody(values) if self.plentiful else self._auction(values, source, progress)
        return self._handed_out(noise, values, board, held, charge=self.charge)

    def _everybody(self, values: Valuations) -> tuple[Billboard, NDArray[np.int32]]:
        board = self._unplayed()
        return board, best_goods(values, board.prices)

    def _auction(
        self, values: Valuations, source: Noise, progress: Callable[[int, int], object] | None
    ) -> tuple[Billboard, NDArray[np.int32]]:
        auction = Auction(self.rules, values, self.counter, source, stepwise=self._stepwise)
        reports = self._play(auction, source, progress)
        held, clearing = np.maximum(auction.held, -1), None
        if self.clearing is not None:
            ages = np.where(auction.latest >= 0, auction.published[auction.latest] - auction.seen, 0)
            clearing = self.clearing.clear(auction.latest, ages, source)
            held = np.where((auction.latest >= 0) & (ages <= clearing.cuts[auction.latest]), auction.latest, -1)
        prices = self.rules.prices(auction.published)
        if self.charge:
            held = np.where(values.of_goods(held) >= prices[np.maximum(held, 0)], held, -1)
        held, cutoffs = self.without_overflow(held)
        told = self._told(values, prices, held, source)
        return self._board(auction, reports, clearing=clearing, cutoffs=cutoffs, **told), held.astype(np.int32)

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        good = decode(record, index, board)
        return {"good": good, "price": float(board.prices[good]) if self.charge and good >= 0 else 0.0}
