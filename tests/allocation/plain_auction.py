"""The corrected auction, written down as the spec's pseudo-code has it, one bidder after the other: to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confide.allocation import PMatch
from confide.privacy.noise import Noise


@dataclass
class Bidder:
    """What the auction keeps of one bidder."""

    state: int = -1  # a good, -1 free, -2 out
    seen: int = 0
    last: int = -1
    bids: int = 0


@dataclass
class Played:
    """How it ended."""

    published: NDArray[np.int64]
    bidders: list[Bidder]
    rounds: int
    increments: list[list[int]] = field(default_factory=list)
    history: list[list[int]] = field(default_factory=list)


def play(auction: PMatch, values: NDArray[np.floating], noise: Noise) -> Played:
    """All rounds of a fixed auction, each slot fed to the counters, zeros included."""
    running = auction.counter.start(noise, "counts")
    n, k = values.shape
    bidders = [Bidder() for _ in range(n)]
    published, supply = np.zeros(k, dtype=np.int64), auction.effective_supply
    played = Played(published, bidders, 0)
    for _ in range(auction.rounds):
        for start in range(0, n, auction.batch):
            arrived = [0] * k
            for i in range(start, min(n, start + auction.batch)):
                _bid(auction, bidders[i], values[i], published, arrived)
            published = running.feed(np.array(arrived))
            played.increments.append(arrived)
            played.history.append(published.tolist())
        for bidder in bidders:
            if bidder.state >= 0 and published[bidder.state] - bidder.seen > supply[bidder.state]:
                bidder.state = -1
        played.rounds += 1
    played.published = published
    return played


def _bid(
    auction: PMatch, bidder: Bidder, row: NDArray[np.floating], published: NDArray[np.int64], arrived: list[int]
) -> None:
    if bidder.state != -1:
        return
    supply = auction.effective_supply
    gains = [float(row[j]) - auction.increment * float(published[j] // supply[j]) for j in range(len(row))]
    best = max(range(len(row)), key=lambda j: (gains[j], -j))
    if gains[best] <= 0:
        bidder.state, bidder.last = -2, -1
    elif bidder.bids >= auction.bid_cap:
        bidder.state = -2
    else:
        bidder.state = bidder.last = best
        bidder.seen = int(published[best])
        bidder.bids += 1
        arrived[best] += 1
