"""The public result of Algorithm 4, with every counter at every step, and the function that computes a bidder's good
from this result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import FREE, OUT
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.wire import wire
from confide.evidence.wu_2017.private_matchings.playing import outbid, price_levels

__all__ = ["PrintedBillboard", "printed_replay"]

_Integers = NDArray[np.int64]


@wire("PrintedBillboard", "people supply increment corrected rounds counts reports")
@dataclass(frozen=True, kw_only=True, eq=False)
class PrintedBillboard(Billboard):
    """The public result of a run, called billboard.

    Args:
        people: number n of bidders.
        supply: effective supply s': copies of each good less the reserve.
        increment: price increment alpha.
        corrected: whether prices and outbidding follow the corrected rules; False for the printed rules.
        rounds: number of rounds that were played, of n steps each.
        counts: (rounds n, k) counts of bids, after each step.
        reports: (rounds n,) counts of reports of outbid bidders, after each bidder's report.
    """

    people: int
    supply: int
    increment: float
    corrected: bool
    rounds: int
    counts: _Integers
    reports: _Integers

    def __post_init__(self) -> None:
        steps = self.rounds * self.people
        if self.counts.ndim != 2 or len(self.counts) != steps or self.reports.shape != (steps,):
            raise InvalidInput("counts", f"{self.counts.shape} counts and {self.reports.shape} reports",
                               f"must be of {self.rounds} rounds of {self.people} steps")
        if self.counts.dtype != np.int64 or self.reports.dtype != np.int64:
            raise InvalidInput("counts", "are no whole numbers")

    @property
    def goods(self) -> int:
        """The number k of goods."""
        return int(self.counts.shape[1])

    @cached_property
    def price_path(self) -> NDArray[np.float64]:
        """The prices before the first step and after each step, shape (rounds n + 1, k)."""
        levels = price_levels(np.ascontiguousarray(self.counts), self.supply, self.corrected)
        return self.increment * levels.astype(np.float64)

    @property
    def prices(self) -> NDArray[np.float64]:
        """The (k,) final prices."""
        prices: NDArray[np.float64] = self.price_path[-1]
        return prices

    def seen(self, step: int) -> _Integers:
        """The (k,) counts of bids after a given number of steps; zeros before the first step."""
        return self.counts[step - 1] if step else np.zeros(self.goods, dtype=np.int64)

    def risen(self) -> _Integers:
        """The (rounds,) increases of the count of reports in each round."""
        ends = self.reports[self.people - 1 :: self.people]
        return np.diff(ends, prepend=0)


def printed_replay(row: NDArray[np.float64], index: int, board: PrintedBillboard) -> int:
    """The good of one bidder, -1 for none, computed from the bidder's own valuations and position and the public
    billboard.

    Args:
        row: (k,) valuations of the bidder in [0, 1], already checked.
        index: index of the bidder in the public order, from 0.
        board: billboard of the run.
    """
    if not 0 <= index < board.people:
        raise InvalidInput("index", f"{index} is no place", f"must be in 0..{board.people - 1}")
    held, before = FREE, 0
    for r in range(board.rounds):
        step = r * board.people + index
        if held == FREE:
            gains = row - board.price_path[step]
            best = int(np.argmax(gains))
            if not gains[best] > 0.0:
                held = OUT
            else:
                held, before = best, int(board.seen(step)[best])
        if held >= 0 and outbid(int(board.seen((r + 1) * board.people)[held]) - before, board.supply, board.corrected):
            held = FREE
    return max(held, -1)
