"""Shortest augmenting paths over goods. One copy after another moves from a good with too many holders to a good with a
free copy, along the cheapest chain of bidders who change goods.

*The graph.* The nodes are the goods and one more node, number k, for no good. A bidder need not hold a good, and a copy
need not have a holder. A bidder who holds good j and could hold good l is an arc from j to l. The cost of an arc is
the bidder's loss by the change at the prices. Prices keep all costs at 0 or above, so each path is found by Dijkstra's
algorithm, and prices move by the distances that the algorithm computes. The method is Busacker and Gowen's algorithm on
nodes that are types of goods, not bidders. In the end each bidder holds a best bundle at the prices, and every good
with a positive price is full. By weak duality, the final allocation and the final prices are optimal.

*The arcs.* For each pair of goods a heap keeps the bidders who hold the first and could hold the second. The loss by a
change, apart from prices, is constant, so a heap stays in order while prices move. The heaps are skew heaps (Sleator
and Tarjan 1986). At the top of a heap, an arc is dropped if its bidder no longer holds the good that the arc starts
from.

*The queue* of nodes, for compiled loops, takes out the node with the least key first, and among equal keys the node
with the smallest number. Keys may fall. `heap` holds the nodes of the queue, `place` the position of each node in
`heap` (-1 for a node outside the queue), and `keys` the keys.

Source: ours; spec allocation 12.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.optimum.choices import Window

__all__ = ["Arcs", "Doubts", "balance", "cheapest", "enqueue", "offer", "offer_all", "room_for", "take"]

# ---- arcs

_Integers = NDArray[np.int64]


class Doubts(NamedTuple):
    """The m bidders in doubt, with the goods that they hold and the goods that they could hold. An entry is a pair of a
    bidder and a good. All arrays without another shape have one element for each entry.

    Args:
        bounds: index at which each bidder's entries begin, shape (m + 1,).
        found: good of each entry; k for no good.
        worth: value of the entry's good to its bidder.
        holds: number of copies of the entry's good that its bidder has; updated in place.
        owner: bidder of each entry.
        first: first entry in the list of holders of each good, shape (k + 1,), or -1 for none.
        following: next entry in the same list of holders.
        before: previous entry in the same list of holders.
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
    """Heaps of arcs, one heap for each pair of goods. All arrays without another shape have one element for each arc.

    Args:
        root: cheapest arc from one good to another, shape (k + 1, k + 1), with -1 for none. The shape is (0, 0) if no
            arcs are kept.
        loss: value that the bidder loses by the change of goods, without the prices.
        leaves: index, in `Doubts`, of the entry of the good that the bidder holds.
        enters: index, in `Doubts`, of the entry of the good that the bidder could hold.
        left: left child of each arc in its heap.
        right: right child of each arc in its heap.
        pool: number of array elements that were ever in use, and index of the first element that is free again, or -1
            for none; shape (2,).
    """

    root: _Integers
    loss: NDArray[np.float64]
    leaves: _Integers
    enters: _Integers
    left: _Integers
    right: _Integers
    pool: _Integers


def room_for(nodes: int, size: int) -> Arcs:
    """Empty heaps of arcs, with space for `size` arcs between `nodes` nodes."""
    return Arcs(root=np.full((nodes, nodes), -1, dtype=np.int64), loss=np.empty(size),
                leaves=np.empty(size, dtype=np.int64), enters=np.empty(size, dtype=np.int64),
                left=np.empty(size, dtype=np.int64), right=np.empty(size, dtype=np.int64),
                pool=np.array([0, -1], dtype=np.int64))


@kernel
def _merged(a: int, b: int, arcs: Arcs) -> int:
    """Merge two heaps. Returns the root of the merged heap."""
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
    """Insert an arc, from the good of entry `leaves` to the good of entry `enters` of a bidder, into its heap."""
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
    """Insert all arcs from the good of one entry to the goods that its bidder could hold."""
    row, nothing = doubts.owner[entry], len(doubts.first) - 1
    for x in range(doubts.bounds[row], doubts.bounds[row + 1]):
        if x != entry and (doubts.holds[x] == 0 or doubts.found[x] == nothing):
            offer(entry, x, doubts, arcs)


@kernel
def cheapest(j: int, l: int, doubts: Doubts, arcs: Arcs) -> int:  # noqa: E741
    """The cheapest arc from good j to good l, or -1 for none. Arcs of changes that are no longer possible are dropped
    from the heap.
    """
    nothing = len(doubts.first) - 1
    a = arcs.root[j, l]
    while a >= 0 and (doubts.holds[arcs.leaves[a]] == 0 or (l != nothing and doubts.holds[arcs.enters[a]] > 0)):
        rest = _merged(arcs.left[a], arcs.right[a], arcs)
        arcs.left[a] = arcs.pool[1]
        arcs.pool[1] = a
        a = rest
    arcs.root[j, l] = a
    return int(a)


# ---- priorities

_Nodes = NDArray[np.int64]


@kernel
def _before(a: int, b: int, keys: NDArray[np.float64]) -> bool:
    return bool(keys[a] < keys[b] or (keys[a] == keys[b] and a < b))


@kernel
def enqueue(node: int, size: int, heap: _Nodes, place: _Nodes, keys: NDArray[np.float64]) -> int:
    """Insert a node into the queue, or move a node whose key fell. Returns the new size of the queue.

    Args:
        node: number of the node, from 0.
        size: number of nodes in the queue.
        heap: nodes of the queue in its first `size` elements; updated in place.
        place: position of each node in `heap`; updated in place.
        keys: key of each node.
    """
    at = place[node]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) // 2
        if not _before(node, heap[above], keys):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = node
    place[node] = at
    return size


@kernel
def take(size: int, heap: _Nodes, place: _Nodes, keys: NDArray[np.float64]) -> int:
    """Remove the node with the least key from the queue, and return it. The caller must reduce the size by 1.

    Args:
        size: number of nodes in the queue, >= 1.
        heap: nodes of the queue; updated in place.
        place: position of each node in `heap`; updated in place.
        keys: key of each node.
    """
    first, last = heap[0], heap[size - 1]
    place[first] = -1
    size -= 1
    if size == 0:
        return int(first)
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _before(heap[below + 1], heap[below], keys):
            below += 1
        if not _before(heap[below], last, keys):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = last
    place[last] = at
    return int(first)


# ---- paths

_Reals = NDArray[np.float64]

_FEW = 2000
_SIZE = 2**24
"""Largest number of goods, and of entries of a window, for which arcs are kept. With more goods or entries, each search
goes through all holders of a good.
"""


class _Tree(NamedTuple):
    """The state of a search: the distance of each node, the arc on which the search reached it, and the queue of
    reached nodes.
    """

    distance: _Reals
    leaves: _Integers
    enters: _Integers
    heap: _Integers
    place: _Integers
    touched: _Integers


@kernel
def _link(entry: int, node: int, doubts: Doubts) -> None:
    following = doubts.first[node]
    doubts.following[entry], doubts.before[entry] = following, -1
    if following >= 0:
        doubts.before[following] = entry
    doubts.first[node] = entry


@kernel
def _unlink(entry: int, node: int, doubts: Doubts) -> None:
    before, following = doubts.before[entry], doubts.following[entry]
    if before >= 0:
        doubts.following[before] = following
    else:
        doubts.first[node] = following
    if following >= 0:
        doubts.before[following] = before


@kernel
def _reach(l: int, far: float, leaves: int, enters: int, count: int, tree: _Tree) -> int:  # noqa: E741
    """Record a shorter way to a node. Returns the number of nodes reached so far."""
    if tree.distance[l] == np.inf:
        tree.touched[count] = l
        count += 1
    tree.distance[l], tree.leaves[l], tree.enters[l] = far, leaves, enters
    return count


@kernel
def _search(
    source: int, doubts: Doubts, arcs: Arcs, prices: _Reals, room: NDArray[np.bool_], tree: _Tree
) -> tuple[int, float, int]:
    """The nearest node with room, its distance, and the number of nodes reached. The node is -1 and the distance
    infinite if no node with room can be reached.

    A copy may remain without a holder, at the cost of its price.
    """
    nothing, kept = len(prices) - 1, len(arcs.root) > 0
    best, at = np.inf, -1
    count = _reach(source, 0.0, -1, -1, 0, tree)
    size = enqueue(source, 0, tree.heap, tree.place, tree.distance)
    while size > 0:
        j = take(size, tree.heap, tree.place, tree.distance)
        size -= 1
        so_far = tree.distance[j]
        if so_far >= best:
            break
        if j == nothing:
            for l in range(nothing):  # noqa: E741
                if prices[l] < min(best, tree.distance[l]):
                    count = _reach(l, prices[l], -1, -1, count, tree)
                    if room[l]:
                        best, at = prices[l], l
                    else:
                        size = enqueue(l, size, tree.heap, tree.place, tree.distance)
        if kept:
            for l in range(nothing + 1):  # noqa: E741
                a = arcs.root[j, l]
                if a < 0 or so_far + arcs.loss[a] - (prices[j] - prices[l]) >= min(best, tree.distance[l]):
                    continue  # nor is there a shorter way below the top
                a = cheapest(j, l, doubts, arcs)
                if a < 0:
                    continue
                far = so_far + max(0.0, arcs.loss[a] - (prices[j] - prices[l]))
                if far < tree.distance[l] and far < best:
                    count = _reach(l, far, arcs.leaves[a], arcs.enters[a], count, tree)
                    if room[l]:
                        best, at = far, l
                    else:
                        size = enqueue(l, size, tree.heap, tree.place, tree.distance)
            continue
        entry = doubts.first[j]
        while entry >= 0 and best > so_far:
            row = doubts.owner[entry]
            for x in range(doubts.bounds[row], doubts.bounds[row + 1]):
                l = doubts.found[x]  # noqa: E741
                if l == j or (l < nothing and doubts.holds[x] > 0):
                    continue
                far = so_far + max(0.0, doubts.worth[entry] - doubts.worth[x] - (prices[j] - prices[l]))
                if far < tree.distance[l] and far < best:
                    count = _reach(l, far, entry, x, count, tree)
                    if room[l]:
                        best, at = far, l
                    else:
                        size = enqueue(l, size, tree.heap, tree.place, tree.distance)
            entry = doubts.following[entry]
    for number in range(size):
        tree.place[tree.heap[number]] = -1
    return at, best, count


@kernel
def _change(out: int, into: int, doubts: Doubts, arcs: Arcs) -> None:
    """Let a bidder release one good and take another, and update the bidder's arcs."""
    node, nothing, row = doubts.found[out], len(doubts.first) - 1, doubts.owner[out]
    doubts.holds[out] -= 1
    doubts.holds[into] += 1
    if doubts.holds[out] == 0:
        _unlink(out, node, doubts)
    fresh = doubts.holds[into] == 1
    if fresh:
        _link(into, doubts.found[into], doubts)
    if len(arcs.root) == 0:
        return
    if fresh:
        offer_all(into, doubts, arcs)
    if node < nothing:
        for x in range(doubts.bounds[row], doubts.bounds[row + 1]):
            if doubts.holds[x] > 0 and not (fresh and x == into):
                offer(x, out, doubts, arcs)


@kernel
def _move(
    sink: int, source: int, doubts: Doubts, arcs: Arcs, used: _Integers, tree: _Tree
) -> None:
    """Apply the changes of goods along a path, for one copy."""
    nothing = len(used)
    if sink < nothing:
        used[sink] += 1
    if source < nothing:
        used[source] -= 1
    l = sink  # noqa: E741
    while l != source:
        out = tree.leaves[l]
        if out < 0:  # a copy of l is left over from now on
            used[l] -= 1
            break
        _change(out, tree.enters[l], doubts, arcs)
        l = doubts.found[out]  # noqa: E741


@kernel
def _fill(doubts: Doubts, arcs: Arcs) -> None:
    """Rebuild all heaps of arcs from the entries."""
    arcs.root[:] = -1
    arcs.pool[0], arcs.pool[1] = 0, -1
    for entry in range(len(doubts.found)):
        if doubts.holds[entry] > 0:
            offer_all(entry, doubts, arcs)


@kernel
def _room(prices: _Reals, used: _Integers, supply: _Integers, spending: bool, room: NDArray[np.bool_]) -> bool:
    """Write whether a path may end at each node to `room`, shape (k + 1,). The function returns whether a path may end
    at any good.

    A copy too many may move to a good with a free copy, or to no good. With `spending`, paths end only at goods with a
    free copy and a positive price.
    """
    found = False
    for j in range(len(used)):
        room[j] = used[j] < supply[j] and (not spending or prices[j] > 0.0)
        found = found or room[j]
    room[len(used)] = not spending
    return found


@kernel
def _balance(
    doubts: Doubts, arcs: Arcs, most: int, tree: _Tree, start: _Reals, prices: _Reals, room: NDArray[np.bool_],
    used: _Integers, supply: _Integers, width: float,
) -> tuple[bool, int, float]:
    """The compiled part of `balance`. `most` is the largest number of arcs that one path can insert."""
    nothing, kept = len(supply), len(arcs.root) > 0
    for x in range(len(doubts.found)):
        if doubts.holds[x] > 0:
            _link(x, doubts.found[x], doubts)
    if kept:
        _fill(doubts, arcs)
    _room(prices, used, supply, False, room)
    paths, high, low = 0, 0.0, 0.0
    source = 0
    while high - low <= width:
        while source < nothing and used[source] <= supply[source]:
            source += 1
        if source == nothing and not _room(prices, used, supply, True, room):
            return True, paths, high - low
        if kept and len(arcs.loss) - arcs.pool[0] < most:
            _fill(doubts, arcs)
        sink, far, count = _search(source, doubts, arcs, prices, room, tree)
        if sink < 0:
            far = width  # what is missing from the window costs at least that: prices may rise so far
        if far > 0.0 and source < nothing:
            for number in range(count):
                j = tree.touched[number]
                if tree.distance[j] < far:
                    prices[j] += far - tree.distance[j]
                    high = max(high, prices[j] - start[j])
        elif far > 0.0:
            high = low = 0.0
            for j in range(nothing):
                prices[j] = max(0.0, prices[j] - min(far, tree.distance[j]))
                high, low = max(high, prices[j] - start[j]), min(low, prices[j] - start[j])
        if sink < 0:
            return False, paths, high - low
        _move(sink, source, doubts, arcs, used, tree)
        if sink < nothing:
            room[sink] = used[sink] < supply[sink]
        paths += 1
        for number in range(count):
            tree.distance[tree.touched[number]] = np.inf
    return False, paths, high - low


def balance(
    window: Window, prices: _Reals, used: _Integers, supply: _Integers, width: float
) -> tuple[bool, int, float]:
    """Move copies and prices until no good has more holders than copies, and no good with a positive price has a free
    copy.

    Args:
        window: bidders in doubt and their goods. The goods are updated in place.
        prices: price of each good and, last, 0 for no good; shape (k + 1,), updated in place.
        used: number of holders of each good among all bidders, shape (k,), updated in place.
        supply: number of copies of each good, shape (k,).
        width: largest change of the difference between two prices. If a difference changes by more, goods that are
            missing in the window could matter.

    Returns:
        Three values: whether all goods are balanced, the number of paths, and the largest change of the difference
            between two prices. If some good is not balanced, a new window around the reached prices is needed.
    """
    nodes, size = len(prices), len(window.found)
    sizes = np.diff(window.bounds)
    owner = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    doubts = Doubts(window.bounds, window.found, window.worth, window.holds, owner,
                    np.full(nodes, -1, dtype=np.int64), *np.full((2, size), -1, dtype=np.int64))
    widest = int(sizes.max(initial=0))
    most = 2 * nodes * widest
    held = np.bincount(owner[window.holds > 0], minlength=len(sizes))
    few = nodes <= _FEW and size <= _SIZE
    arcs = room_for(nodes, 3 * int(held @ sizes) // 2 + most) if few else room_for(0, 0)
    number = [np.empty(nodes, dtype=np.int64) for _ in range(4)]
    tree = _Tree(np.full(nodes, np.inf), number[0], number[1], number[2], np.full(nodes, -1, dtype=np.int64), number[3])
    ended = _balance(doubts, arcs, most, tree, prices.copy(), prices, np.empty(nodes, dtype=np.bool_), used, supply,
                     width)
    return bool(ended[0]), int(ended[1]), float(ended[2])
