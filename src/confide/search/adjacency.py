"""Graphs as sorted lists of neighbours in two arrays (compressed rows): construction from pairs of vertices, and counts
for the proximity statistics.

*Construction.* Pairs are sorted into blocks of vertices, and each block is finished on its own. The lists of a block
fit into a core's cache, where it is fast to sort the lists and to remove repeated neighbours. The pairs themselves are
read and written one after the other. The result does not depend on the number of threads.

*Statistics.* The module also computes sums over neighbours, triangles and simple paths.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.numerics.map_reduce import threads

__all__ = ["Adjacency", "Lists", "adjacency", "is_sound", "neighbour_sums", "simple_paths", "triangles"]

# ---- adjacency

_Ranks = NDArray[np.int32]
_Places = NDArray[np.int64]

_BLOCK = 1 << 18  # entries of a block, about: with its counters it stays in a core's second cache
_MOST_BLOCKS = 512  # streams that are written side by side: each needs a page of its own in the core's tables
_SHORT = 48  # a list that is sorted by insertion


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """The neighbours of all vertices as sorted lists. The lists are private.

    Args:
        indptr: index in `indices` at which the list of each of the n vertices begins, and the end of the last list,
            int64, shape (n + 1,).
        indices: neighbours, ascending within a list, int32, shape (2m,). Each of the m pairs appears in both
            directions.
        self_loops: number of pairs of a vertex with itself, which were dropped.
        parallel: number of repeated pairs of the same two vertices, which were dropped.
    """

    indptr: _Places
    indices: _Ranks
    self_loops: int
    parallel: int


def adjacency(first: _Ranks, second: _Ranks, people: int) -> Lists:
    """The lists of neighbours of an undirected graph.

    The computation needs 16 bytes of memory for each pair, besides the arguments and the result.

    Args:
        first: first vertex of each pair, int32, in 0..n-1. Pairs may be in any order, and (u, v) is the same pair as
            (v, u).
        second: second vertex of each pair, int32, of the same length.
        people: number n of vertices, below 2^31.

    Source: spec targeted_search 9.

    Example:
        >>> lists = adjacency(np.array([2, 0, 0, 1], np.int32), np.array([0, 2, 1, 1], np.int32), 3)
        >>> lists.indptr.tolist(), lists.indices.tolist(), lists.self_loops, lists.parallel
        ([0, 2, 3, 4], [1, 2, 0, 0], 1, 1)
    """
    pairs = len(first)
    shift = max(0, (people - 1).bit_length() - min(_MOST_BLOCKS, 1 + 2 * pairs // _BLOCK).bit_length() + 1)
    blocks = ((people - 1) >> shift) + 1 if people else 0
    workers = threads() if blocks > 1 else 1
    cuts = [pairs * each // workers for each in range(workers + 1)]
    parts = [(first[low:high], second[low:high]) for low, high in pairwise(cuts)]
    indptr = np.zeros(people + 1, np.int64)
    with ThreadPoolExecutor(workers) as pool:
        tallies = np.zeros((workers, blocks), np.int64)
        loops = sum(pool.map(lambda k: int(_tally(*parts[k], shift, tallies[k])), range(workers)))
        ends = np.append(0, np.cumsum(tallies.sum(axis=0)))
        # Each thread writes its own part of every block's stream.
        starts = ends[:-1] + np.cumsum(tallies, axis=0) - tallies
        dealt = np.empty(int(ends[-1]), np.int64)
        list(pool.map(lambda k: _deal(*parts[k], shift, starts[k], dealt), range(workers)))
        indices = np.empty(int(ends[-1]), np.int32)

        def settle(block: int) -> int:
            low, high = block << shift, min(people, (block + 1) << shift)
            part = slice(int(ends[block]), int(ends[block + 1]))
            return int(_settle(dealt[part], low, indices[part], indptr[low + 1 : high + 1]))

        kept = list(pool.map(settle, range(blocks)))
    np.cumsum(indptr, out=indptr)
    end = 0
    for block, size in enumerate(kept):  # only lists that lost somebody leave room to close up
        start = int(ends[block])
        if start > end:
            indices[end : end + size] = indices[start : start + size]
        end += size
    parallel = (len(indices) - end) // 2
    if parallel:
        indices.resize(end, refcheck=False)
    return Lists(indptr, indices, loops, parallel)


@kernel
def _tally(first: _Ranks, second: _Ranks, shift: int, tally: _Places) -> int:
    """Count the entries of each block of vertices. Returns the number of self-loops."""
    loops = 0
    for k in range(len(first)):
        if first[k] == second[k]:
            loops += 1
        else:
            tally[first[k] >> shift] += 1
            tally[second[k] >> shift] += 1
    return loops


@kernel
def _deal(first: _Ranks, second: _Ranks, shift: int, at: _Places, dealt: _Places) -> None:
    """Write every pair into the streams of its two blocks, each time as vertex * 2^32 + neighbour."""
    for k in range(len(first)):
        one, other = np.int64(first[k]), np.int64(second[k])
        if one != other:
            dealt[at[one >> shift]] = one << 32 | other
            at[one >> shift] += 1
            dealt[at[other >> shift]] = other << 32 | one
            at[other >> shift] += 1


@kernel
def _settle(dealt: _Places, low: int, indices: _Ranks, degrees: _Places) -> int:
    """Sort the entries of one block into lists without repetition, from the start of `indices`. Returns the number of
    entries that are kept.

    The array `degrees` must hold zeros, and receives the length of each list.
    """
    vertices = len(degrees)
    ends = np.zeros(vertices, np.int64)
    for entry in dealt:
        ends[(entry >> 32) - low] += 1
    total = 0
    for v in range(vertices):
        total += ends[v]
        ends[v] = total - ends[v]
    for entry in dealt:
        v = (entry >> 32) - low
        indices[ends[v]] = np.int32(entry & 0xFFFFFFFF)
        ends[v] += 1
    start = kept = 0
    for v in range(vertices):
        row = indices[start : ends[v]]
        if len(row) > _SHORT:
            row.sort()
        else:
            for i in range(1, len(row)):
                item, j = row[i], i
                while j > 0 and row[j - 1] > item:
                    row[j] = row[j - 1]
                    j -= 1
                row[j] = item
        last, before = -1, kept
        for item in row:
            if item != last:
                last = item
                indices[kept] = item
                kept += 1
        degrees[v] = kept - before
        start = ends[v]
    return kept


@kernel
def is_sound(indptr: _Places, indices: _Ranks) -> bool:
    """Whether the adjacency lists describe an undirected simple graph: ascending, in range, symmetric, and without
    self-loops.

    Args:
        indptr: index in `indices` at which the list of each of the n >= 0 vertices begins, and the end of the last
            list, int64, shape (n + 1,).
        indices: neighbours of all vertices, list after list, int32, of any length.
    """
    people = len(indptr) - 1
    if indptr[0] != 0 or indptr[people] != len(indices):
        return False
    for v in range(people):
        if indptr[v + 1] < indptr[v]:
            return False
    # The vertices that name u come by in ascending order, which is the order of u's own list.
    unread = indptr[:-1].copy()
    for v in range(people):
        last = -1
        for place in range(indptr[v], indptr[v + 1]):
            u = indices[place]
            if u <= last or u >= people or u == v:
                return False
            last = u
            if unread[u] == indptr[u + 1] or indices[unread[u]] != v:
                return False
            unread[u] += 1
    return True


# ---- neighbourhoods


class Adjacency(Protocol):
    """An undirected simple graph on the vertices 0..n-1, in compressed rows."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Index in `indices` at which each vertex's list of neighbours begins, and the end of the last list, shape (n +
        1,).
        """
        ...

    @property
    def indices(self) -> NDArray[np.int32]:
        """Neighbours of all vertices, ascending within each vertex's list, shape (2m,) for m edges."""
        ...

    @property
    def people(self) -> int:
        """Number n of vertices."""
        ...


@kernel
def neighbour_sums(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Sum of the weights of each vertex's neighbours, shape (n,). Neighbours of vertices with weight 0 are not read."""
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
    """Number of triangles {v, a, b} of each vertex v in which at least `ends` (1 or 2) of the vertices a and b belong
    to a set, shape (n,). The array `inside` is nonzero for the vertices of the set.
    """
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
    """Number of simple paths of 1 to `length` edges from any of `starts` to each vertex, shape (n,). The running time
    is proportional to the number of these paths.
    """
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
