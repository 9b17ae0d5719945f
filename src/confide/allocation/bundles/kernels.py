"""The slots of an auction of bundles for valuations that are tables: `bundle_slots`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending.running import publish
from confide.numerics.compiled import kernel

__all__ = ["bid", "end_round", "play"]

_Integers = NDArray[np.int64]
_Goods = NDArray[np.int32]
_Reals = NDArray[np.float64]


@kernel
def _pick(
    i: int, size: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool,
    prices: _Reals, held: _Goods,
) -> int:
    """What a bidder who holds `size` goods bids on; -1 for nothing."""
    goods = len(prices)
    best, surplus = -1, 0.0
    if counted:
        more = values[starts[i] + size + 1] - values[starts[i] + size]
        for j in range(goods):
            if more - prices[j] > surplus:
                best, surplus = j, more - prices[j]
        return best
    first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
    for x in range(first, last):
        j = x - first if dense else named[x]
        gain = np.float64(values[x]) - prices[j]
        if gain > surplus:
            mine = False
            for place in range(size):
                mine = mine or held[i, place] == j
            if not mine:
                best, surplus = j, gain
    return best


@kernel
def _drop(i: int, published: _Integers, supply: _Integers, held: _Goods, seen: _Integers, sizes: _Goods) -> bool:
    """Goods after whose bid too many others were counted are gone; whether there were any."""
    kept = 0
    for place in range(sizes[i]):
        j = held[i, place]
        if published[j] - seen[i, place] <= supply[j]:
            held[i, kept], seen[i, kept] = j, seen[i, place]
            kept += 1
    lost: bool = kept < sizes[i]
    for place in range(kept, sizes[i]):
        held[i, place] = -1
    sizes[i] = kept
    return lost


@kernel
def bid(
    first: int, last: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool,
    prices: _Reals, published: _Integers, supply: _Integers, cap: int, in_slot: bool, held: _Goods, seen: _Integers,
    sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_], increments: _Integers,
) -> None:
    """The slots of bidders `first` to `last`: drop what was outbid where that is tested there, then bid."""
    increments[:] = 0
    for i in range(first, last):
        if bids[i] >= cap:
            continue
        if in_slot and _drop(i, published, supply, held, seen, sizes):
            idle[i] = False
        if idle[i] or sizes[i] >= held.shape[1]:
            continue
        j = _pick(i, sizes[i], values, starts, named, dense, counted, prices, held)
        if j < 0:
            idle[i] = True
            continue
        held[i, sizes[i]], seen[i, sizes[i]] = j, published[j]
        sizes[i] += 1
        bids[i] += 1
        increments[j] += 1


@kernel
def end_round(
    values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool, counted: bool, prices: _Reals,
    published: _Integers, supply: _Integers, cap: int, dropping: bool, asking: bool, held: _Goods, seen: _Integers,
    sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_],
) -> int:
    """The end of a round: drop what was outbid where that is tested there; how many would bid once more, if asked."""
    found = 0
    for i in range(len(sizes)):
        if bids[i] >= cap:
            continue
        if dropping and _drop(i, published, supply, held, seen, sizes):
            idle[i] = False
        if not asking or idle[i] or sizes[i] >= held.shape[1]:
            continue
        if _pick(i, sizes[i], values, starts, named, dense, counted, prices, held) >= 0:
            found += 1
        else:
            idle[i] = True
    return found


@kernel
def play(
    step: int, slot: int, batch: int, values: NDArray[Any], starts: _Integers, named: _Goods, dense: bool,
    counted: bool, increment: float, supply: _Integers, cap: int, in_slot: bool, arity: int, grid: int,
    noise: _Integers, held: _Goods, seen: _Integers, sizes: _Goods, bids: _Goods, idle: NDArray[np.bool_],
    sums: _Integers, noisy: _Integers, published: _Integers, prices: _Reals, changes: _Integers,
) -> int:
    """Some slots of a round, one release each; returns how many counts changed, written to `changes` (.., 3)."""
    goods, people = len(prices), len(sizes)
    increments, before = np.zeros(goods, dtype=np.int64), np.empty(goods, dtype=np.int64)
    drawn = np.empty(goods, dtype=np.int64)
    found = 0
    for number in range(noise.shape[1]):
        start = (slot + number) * batch
        bid(start, min(people, start + batch), values, starts, named, dense, counted, prices, published, supply, cap,
            in_slot, held, seen, sizes, bids, idle, increments)
        drawn[:] = noise[:, number]
        found = publish(step + number + 1, arity, grid, increment, supply, increments, drawn, sums, noisy, published,
                        before, prices, changes, found)
    return found
