"""Sums over neighbours, triangles and simple paths on a graph in compressed rows: what the statistics are made of."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["Adjacency", "neighbour_sums", "simple_paths", "triangles"]


class Adjacency(Protocol):
    """An undirected simple graph on the vertices 0..n-1, in compressed rows."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """(n + 1,) where each vertex's row of neighbours begins."""
        ...

    @property
    def indices(self) -> NDArray[np.int32]:
        """(2m,) neighbours, sorted within a row."""
        ...

    @property
    def people(self) -> int:
        """n, the number of vertices."""
        ...


@kernel
def neighbour_sums(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) the sum of the neighbours' weights; rows of weight 0 are not read."""
    out = np.zeros(weights.size, dtype=np.int64)
    for u in range(weights.size):
        weight = weights[u]
        if weight:
            for place in range(indptr[u], indptr[u + 1]):
                out[indices[place]] += weight
    return out


@kernel
def triangles(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], inside: NDArray[np.int64], ends: int
) -> NDArray[np.int64]:
    """(n,) triangles {v, a, b} of which at least `ends` (1 or 2) of a and b are inside."""
    count = inside.size
    near = np.zeros(count, dtype=np.int64)
    out = np.zeros(count, dtype=np.int64)
    for v in range(count):
        for place in range(indptr[v], indptr[v + 1]):
            near[indices[place]] = 1
        for place in range(indptr[v], indptr[v + 1]):
            a = indices[place]
            if inside[a]:
                for other in range(indptr[a], indptr[a + 1]):
                    b = indices[other]
                    # With both ends inside, the pair is met twice: from a and from b.
                    if near[b] and ((inside[b] and a < b) or (not inside[b] and ends == 1)):
                        out[v] += 1
        for place in range(indptr[v], indptr[v + 1]):
            near[indices[place]] = 0
    return out


@kernel
def simple_paths(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], starts: NDArray[np.int64], length: int
) -> NDArray[np.int64]:
    """(n,) simple paths of 1..length edges that begin at any of `starts` and end at v. Takes their number in time."""
    out = np.zeros(indptr.size - 1, dtype=np.int64)
    on_path = np.zeros(indptr.size - 1, dtype=np.int64)
    stack = np.zeros(length + 1, dtype=np.int64)
    places = np.zeros(length + 1, dtype=np.int64)
    for start in starts:
        depth = 0
        stack[0] = start
        places[0] = indptr[start]
        on_path[start] = 1
        while depth >= 0:
            u = stack[depth]
            if depth == length or places[depth] == indptr[u + 1]:
                on_path[u] = 0
                depth -= 1
                continue
            v = indices[places[depth]]
            places[depth] += 1
            if not on_path[v]:
                out[v] += 1
                depth += 1
                stack[depth] = v
                places[depth] = indptr[v]
                on_path[v] = 1
    return out
