"""How far a replaced bidder moves the blocks of the printed counters, to the last block.

The proofs multiply two worst cases: how often her bids and reports differ, and h blocks for each. A step lies in h
blocks in few rounds only, so the print's noise is closer to what it should be than that product says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.privacy.tree_blocks import levels

__all__ = ["blocks_of_slots", "matching_exposure"]


def blocks_of_slots(people: int, rounds: int) -> NDArray[np.int64]:
    """(T, n) in how many finished blocks of a binary tree over N = nT steps each bidder's slot of each round lies.

    Args:
        people: n.
        rounds: T.

    Example:
        >>> blocks_of_slots(2, 2).tolist()
        [[3, 2], [2, 1]]
    """
    n, horizon = whole("people", people, at_least=1), people * whole("rounds", rounds, at_least=1)
    steps = np.arange(1, horizon + 1, dtype=np.int64)
    found = np.zeros(horizon, dtype=np.int64)
    for level in range(levels(horizon, 2)):
        number = ((steps - 1) >> level) + 1  # of the block of this level that holds the step
        found += (number % 2 == 1) & (number << level <= horizon)
    return found.reshape(rounds, n)


def matching_exposure(people: int, rounds: int) -> int:
    """The l1 distance of all finished blocks of prices and reports of Algorithm 4, at most, over places and histories.

    With x_r <= 2 the distance of her bids in round r and y_r <= 1 that of her reports at its end, x_{r+1} + y_r <= 2:
    whoever is free in one world alone bids in one world alone. The report of round r has the place of her bid in it.

    Args:
        people: n.
        rounds: T.

    Source: spec allocation 3.2.

    Example:
        >>> matching_exposure(1024, 8), 2 * 8 * 13, (2 * 8 + 1) * 14
        (215, 208, 238)
    """
    each = blocks_of_slots(people, rounds)
    instead = np.maximum(0, each[:-1] - each[1:]).sum(axis=0)
    return int((2 * each.sum(axis=0) + instead + each[-1]).max())
