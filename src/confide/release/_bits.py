"""Compiled counting on packed bits: AND (or XOR) of whole words, then the number of bits that are set.

Queries come in an order in which neighbours share all literals but the last, so that the words of the shared ones are
combined once. Records are taken in blocks that stay in a core's cache. Nothing here depends on how many threads work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from confide._compiled import Later, kernel

__all__ = ["BLOCK", "add_record", "count_queries", "weigh_queries"]


BLOCK = 256
"""Words of each attribute that are worked on together."""


def _ones(_typing: Any, _word: Any) -> Any:
    """The processor's own count of set bits."""
    from numba import types

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate



def _as_intrinsic() -> Callable[[Any], Any]:
    from numba.extending import intrinsic

    return cast("Callable[[Any], Any]", intrinsic(_ones))


ones = Later(_as_intrinsic)


@kernel
def _same_start(index: np.ndarray, bits: np.ndarray, one: int, other: int, count: int) -> bool:
    for place in range(count):
        if index[one, place] != index[other, place] or bits[one, place] != bits[other, place]:
            return False
    return bool(index[other, count] >= 0 and (count + 1 == index.shape[1] or index[other, count + 1] < 0))


@kernel
def count_queries(
    words: np.ndarray, starts: np.ndarray, weights: np.ndarray, index: np.ndarray, bits: np.ndarray, parity: bool,
    out: np.ndarray,
) -> None:
    """Add, to each query's place in `out`, the weighted number of records that satisfy it.

    For a parity it is the number of records with an odd number of ones. Unused bits count as records without any
    attribute: they satisfy a conjunction without positive literals, and nothing else.

    Args:
        words: uint64 (d, w).
        starts: int64 (b + 1,): the words of block j are starts[j] to starts[j + 1].
        weights: int64 (b,): what a record of each block counts.
        index: int32 (k, r), padded with -1 at the end.
        bits: bool (k, r).
        parity: whether the queries are parities.
        out: int64 (k,), changed in place.
    """
    full, zero = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)
    # One flat array and unsigned offsets: slices would count references, which threads do one at a time.
    flat, stride = words.reshape(-1), np.uint64(words.shape[1])
    shared = np.empty(BLOCK, np.uint64)
    width = index.shape[1]
    for block in range(len(weights)):
        for start in range(starts[block], starts[block + 1], BLOCK):
            size = np.uint64(min(BLOCK, starts[block + 1] - start))
            before = -1
            for query in range(len(index)):
                last = width - 1
                while index[query, last] < 0:
                    last -= 1
                if last > 0 and (before < 0 or not _same_start(index, bits, query, before, last)):
                    at = np.uint64(index[query, 0]) * stride + np.uint64(start)
                    flip = zero if parity or bits[query, 0] else full
                    for w in range(size):
                        shared[w] = flat[at + w] ^ flip
                    for place in range(1, last):
                        at = np.uint64(index[query, place]) * stride + np.uint64(start)
                        flip = zero if parity or bits[query, place] else full
                        if parity:
                            for w in range(size):
                                shared[w] ^= flat[at + w]
                        else:
                            for w in range(size):
                                shared[w] &= flat[at + w] ^ flip
                before = query
                at = np.uint64(index[query, last]) * stride + np.uint64(start)
                flip = zero if parity or bits[query, last] else full
                total = zero
                if last == 0:
                    for w in range(size):
                        total += ones(flat[at + w] ^ flip)
                elif parity:
                    for w in range(size):
                        total += ones(shared[w] ^ flat[at + w])
                else:
                    for w in range(size):
                        total += ones(shared[w] & (flat[at + w] ^ flip))
                out[query] += weights[block] * np.int64(total)


@kernel
def weigh_queries(
    words: np.ndarray, weights: np.ndarray, index: np.ndarray, bits: np.ndarray, parity: bool, first: int, last: int,
    out: np.ndarray,
) -> None:
    """Set out[first:last] to the weight of the records that satisfy each query (parity: with an odd number of ones).

    Args:
        words: uint64 (d, w).
        weights: float64 (64 w,), 0 where there is no record.
        index: int32 (k, r), padded with -1 at the end.
        bits: bool (k, r).
        parity: whether the queries are parities.
        first: first query.
        last: the one behind the last.
        out: float64 (k,), changed in place.
    """
    full = np.uint64(0xFFFFFFFFFFFFFFFF)
    one = np.uint64(1)
    for query in range(first, last):
        total = 0.0
        for w in range(words.shape[1]):
            word: Any = np.uint64(0) if parity else full
            for place in range(index.shape[1]):
                attribute = index[query, place]
                if attribute < 0:
                    break
                if parity:
                    word ^= words[attribute, w]
                else:
                    word &= words[attribute, w] if bits[query, place] else ~words[attribute, w]
            while word:
                lowest = word & (~word + one)
                total += weights[64 * w + np.int64(ones(lowest - one))]
                word ^= lowest
        out[query] = total


@kernel
def add_record(index: np.ndarray, bits: np.ndarray, parity: bool, record: np.ndarray, total: np.ndarray) -> None:
    """total += q(record), in place.

    Args:
        index: int32 (k, r), padded with -1 at the end.
        bits: bool (k, r).
        parity: whether the queries are parities.
        record: bool (d,).
        total: int32 (k,).
    """
    for query in range(len(index)):
        if parity:
            odd = False
            for place in range(index.shape[1]):
                if index[query, place] >= 0:
                    odd ^= record[index[query, place]]
            total[query] += not odd
        else:
            holds = True
            for place in range(index.shape[1]):
                if index[query, place] >= 0:
                    holds &= record[index[query, place]] == bits[query, place]
            total[query] += holds
