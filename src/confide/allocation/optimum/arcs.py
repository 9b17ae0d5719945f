"""The cheapest bidder between any two goods: for each pair a heap of those who hold one and could hold the other.

What a change-over costs a bidder, apart from prices, never changes, so a heap is in order whatever prices do. Arcs of
bidders who have moved on are dropped where they come to the top (skew heaps, Sleator and Tarjan 1986).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["Arcs", "Doubts", "cheapest", "offer", "offer_all", "room_for"]

_Integers = NDArray[np.int64]


class Doubts(NamedTuple):
    """Bidders and the goods they could hold or let go, and who holds what: `entries` are pairs of both.

    Args:
        bounds: (m + 1,) where each bidder's entries begin.
        found: the goods; k for nothing.
        worth: to her.
        holds: how many she has; changed.
        owner: of each entry.
        first: (k + 1,) an entry that holds each good, -1 for none; the others follow.
        following: the next of them.
        before: the one before.
    """

    bounds: _Integers
    found: _Integers
    worth: NDArray[np.float64]
    holds: _Integers
    owner: _Integers
    first: _Integers
    following: _Integers
    before: _Integers


class Arcs(NamedTuple):
    """Heaps of arcs.

    Args:
        root: (k + 1, k + 1) the cheapest arc from one good to another, -1 for none; (0, 0) where none are kept.
        loss: what an arc costs her apart from prices.
        leaves: the entry she holds.
        enters: the one she could hold.
        left: arcs below it.
        right: arcs below it.
        pool: (2,) arcs that were ever in use, and the first of those that are free again.
    """

    root: _Integers
    loss: NDArray[np.float64]
    leaves: _Integers
    enters: _Integers
    left: _Integers
    right: _Integers
    pool: _Integers


def room_for(nodes: int, size: int) -> Arcs:
    """No arcs yet, and room for some between some nodes."""
    return Arcs(root=np.full((nodes, nodes), -1, dtype=np.int64), loss=np.empty(size),
                leaves=np.empty(size, dtype=np.int64), enters=np.empty(size, dtype=np.int64),
                left=np.empty(size, dtype=np.int64), right=np.empty(size, dtype=np.int64),
                pool=np.array([0, -1], dtype=np.int64))


@kernel
def _merged(a: int, b: int, arcs: Arcs) -> int:
    """One heap of two."""
    if a < 0:
        return b
    if b < 0:
        return a
    if arcs.loss[b] < arcs.loss[a]:
        a, b = b, a
    top = a
    while True:
        below = arcs.right[a]
        arcs.right[a] = arcs.left[a]
        if below < 0:
            arcs.left[a] = b
            return top
        if arcs.loss[b] < arcs.loss[below]:
            below, b = b, below
        arcs.left[a] = below
        a = below


@kernel
def offer(leaves: int, enters: int, doubts: Doubts, arcs: Arcs) -> None:
    """An arc of one bidder, into its heap."""
    a = arcs.pool[1]
    if a >= 0:
        arcs.pool[1] = arcs.left[a]
    else:
        a = arcs.pool[0]
        arcs.pool[0] += 1
    arcs.loss[a] = doubts.worth[leaves] - doubts.worth[enters]
    arcs.leaves[a], arcs.enters[a], arcs.left[a], arcs.right[a] = leaves, enters, -1, -1
    j, l = doubts.found[leaves], doubts.found[enters]  # noqa: E741
    arcs.root[j, l] = _merged(arcs.root[j, l], a, arcs)


@kernel
def offer_all(entry: int, doubts: Doubts, arcs: Arcs) -> None:
    """All arcs from what one bidder holds to what she could."""
    row, nothing = doubts.owner[entry], len(doubts.first) - 1
    for x in range(doubts.bounds[row], doubts.bounds[row + 1]):
        if x != entry and (doubts.holds[x] == 0 or doubts.found[x] == nothing):
            offer(entry, x, doubts, arcs)


@kernel
def cheapest(j: int, l: int, doubts: Doubts, arcs: Arcs) -> int:  # noqa: E741
    """The arc from j to l that costs least, -1 for none; what is no arc any more is dropped."""
    nothing = len(doubts.first) - 1
    a = arcs.root[j, l]
    while a >= 0 and (doubts.holds[arcs.leaves[a]] == 0 or (l != nothing and doubts.holds[arcs.enters[a]] > 0)):
        rest = _merged(arcs.left[a], arcs.right[a], arcs)
        arcs.left[a] = arcs.pool[1]
        arcs.pool[1] = a
        a = rest
    arcs.root[j, l] = a
    return int(a)
