"""A queue of numbered nodes by keys, for compiled loops: least key first, of equals the smaller number; keys may fall.

`heap` holds the nodes, `place` where each one stands in it (-1 outside), `keys` what they are ordered by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["enqueue", "take"]

_Nodes = NDArray[np.int64]


@kernel
def _before(a: int, b: int, keys: NDArray[np.float64]) -> bool:
    return bool(keys[a] < keys[b] or (keys[a] == keys[b] and a < b))


@kernel
def enqueue(node: int, size: int, heap: _Nodes, place: _Nodes, keys: NDArray[np.float64]) -> int:
    """Put a node in, or move one whose key fell; returns the new size.

    Args:
        node: from 0.
        size: nodes in the queue.
        heap: nodes, the first `size` of them; changed.
        place: where each node stands; changed.
        keys: of each node.
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
    """The first node, taken out; the queue has one less then.

    Args:
        size: nodes in the queue, >= 1.
        heap: changed.
        place: changed.
        keys: of each node.
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
