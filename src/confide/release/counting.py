"""Counts and weights of the records that satisfy each query, and the choice among several ways to compute them.

Three ways of counting give the same whole numbers. The first one counts on packed bits, one 64-bit word after another.
The second one counts in the same way on the distinct records, grouped by the binary digits of their multiplicities. The
third one makes a table for each combination of at most three columns that a query names, and reads the counts from
these tables. The way with the lowest estimated running time is used. The choice changes only the running time, and no
running time is ever released.

The compiled loops on packed bits combine whole words by AND (or XOR) and then count the bits that are set. Queries are
sorted so that adjacent queries share all literals but the last. The words of the shared literals are combined once.
Records are processed in blocks that stay in a core's cache. No result depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from confide._compiled import Later, kernel
from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.numerics.map_reduce import map_blocks
from confide.release.records import Codes, PackedBits, answer_groups, key_groups, pack_rows

if TYPE_CHECKING:
    from confide.release.schema import Schema
    from confide.release.workload import Workload

__all__ = [
    "BLOCK",
    "add_record",
    "count_queries",
    "count_records",
    "count_tally",
    "planes",
    "weigh_queries",
    "weigh_records",
]

# ---- bits

BLOCK = 256
"""Number of words of each attribute in one block of work."""


def _ones(_typing: Any, _word: Any) -> Any:
    """The processor's instruction that counts the set bits of a word."""
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
    """Add a weighted number of records to each query's entry of `out`.

    For a conjunction the function counts the records that satisfy it. For a parity the function counts the records with
    an odd number of ones, which do not satisfy it. Unused bits count as records without any attribute. A record without
    any attribute satisfies exactly the conjunctions without positive literals.

    Args:
        words: packed bits, uint64 (d, w).
        starts: int64 (b + 1,): block j has the words from starts[j] to starts[j + 1] - 1.
        weights: int64 (b,): weight of every record in each block.
        index: attributes of each query, int32 (k, r), padded with -1 at the end.
        bits: bits that the literals require, bool (k, r).
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
    """Set out[first:last] to a total weight of records, one number for each query. For a conjunction this is the weight
    of the records that satisfy it. For a parity this is the weight of the records with an odd number of ones, which do
    not satisfy it.

    Args:
        words: packed bits, uint64 (d, w).
        weights: weight of each record, float64 (64 w,); 0 for unused bits.
        index: attributes of each query, int32 (k, r), padded with -1 at the end.
        bits: bits that the literals require, bool (k, r).
        parity: whether the queries are parities.
        first: position of the first query.
        last: position after the last query.
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
    """Add q(record), which is 0 or 1, to the total of each query q, in place.

    Args:
        index: attributes of each query, int32 (k, r), padded with -1 at the end.
        bits: bits that the literals require, bool (k, r).
        parity: whether the queries are parities.
        record: bits of the record, bool (d,).
        total: total of each query, int32 (k,), changed in place.
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


# ---- counting

_SLICE = 1 << 12  # queries that a thread takes at once
_FEW_WORDS = 32  # of each attribute
_GROUPS = 64  # tables that a thread takes at once
_WORD, _VISIT, _ROW, _CELL, _LOOKUP = 0.2, 15.0, 3.0, 1.0, 150.0
"""Approximate times in nanoseconds of five operations: one word of a query, one query in a block, one record in a
table, one cell of a table, and reading the answer to one query from a table.
"""
_LARGEST_TABLE = 1 << 24  # cells


def count_records(workload: Workload, records: PackedBits | Codes) -> np.ndarray:
    """The number of records that satisfy each query, int64 (k,)."""
    _fits(workload, records)
    if workload.kind == "predicates":
        return _predicates(workload, records, None).astype(np.int64)
    if isinstance(records, PackedBits):
        ends = np.array([0, records.words.shape[1]])
        unused = 64 * records.words.shape[1] - records.records
        return _count(workload, records.words, ends, np.ones(1, np.int64), unused, records.records)
    return count_tally(workload, records.schema, *records.distinct())


def count_tally(workload: Workload, schema: Schema, cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The number of records that satisfy each query, int64 (k,), from the distinct records as cells, uint16 (u, m), and
    their multiplicities `counts`, int64 (u,).
    """
    if workload.kind == "predicates":
        weights = counts.astype(np.float64)
        answers: np.ndarray = np.rint(_predicates(workload, Codes(schema=schema, cells=cells), weights))
        return answers.astype(np.int64)
    if workload.kind == "conjunctions" and workload.width <= 3:
        groups = _Groups(workload, schema)
        if groups.largest <= _LARGEST_TABLE and groups.cost(len(cells)) < _cost_of_bits(workload, counts):
            # Sums of whole numbers below 2^53 are exact.
            found: np.ndarray = np.rint(groups.answers(cells, counts.astype(np.float64))).astype(np.int64)
            return found
    words, starts, weights, unused = planes(schema, cells, counts)
    return _count(workload, words, starts, weights, unused, int(counts.sum()))


def planes(schema: Schema, cells: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Distinct records as packed bits, in one block for each binary digit of their multiplicities.

    A record with multiplicity 5 is in the blocks of weight 1 and 4. Apart from the padding of each block to whole
    words, the blocks never hold more rows than there are records.

    Returns:
        The words, uint64 (d, w); the position of each block's first word, followed by w, int64 (b + 1,); the blocks'
        weights, int64 (b,); and the total weight of all unused bits.
    """
    rows = [np.flatnonzero(counts >> digit & 1) for digit in range(int(counts.max()).bit_length())]
    lengths = np.array([-(-len(each) // 64) for each in rows])
    starts, weights = np.append(0, np.cumsum(lengths)), 1 << np.arange(len(rows))
    words = np.zeros((schema.attributes, int(starts[-1])), np.uint64)
    for each, start in zip(rows, starts[:-1].tolist(), strict=True):
        pack_rows(cells, each, *schema.sets, words, start)
    unused = int((weights * (64 * lengths - [len(each) for each in rows])).sum())
    return words, starts, weights, unused


def _cost_of_bits(workload: Workload, counts: np.ndarray) -> float:
    """Estimated time of counting on packed bits, in nanoseconds."""
    return len(workload) * (_WORD * 1.5 * len(counts) / 64 + _VISIT * int(counts.max()).bit_length())


def weigh_records(workload: Workload, records: PackedBits | Codes, weights: np.ndarray | None) -> np.ndarray:
    """The total weight of the records that satisfy each query, float64 (k,). Without weights each record has weight
    1/n.
    """
    if weights is None:
        return count_records(workload, records) / records.records
    _fits(workload, records)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (records.records,) or not np.isfinite(weights).all():
        raise InvalidInput("weights", f"are of shape {weights.shape}", f"must be {records.records} finite numbers")
    if workload.kind == "predicates":
        return _predicates(workload, records, weights)
    if isinstance(records, Codes):
        if workload.kind == "conjunctions" and workload.width <= 3:
            groups = _Groups(workload, records.schema)
            if groups.largest <= _LARGEST_TABLE:
                return groups.answers(*records.weighted(weights))
        records = records.packed()
    words, parity = records.words, workload.kind == "parities"
    padded = np.zeros(64 * words.shape[1])
    padded[: len(weights)] = weights
    out = np.zeros(len(workload))

    def work(first: int) -> None:
        last = min(first + _SLICE, len(workload))
        weigh_queries(words, padded, workload.index, workload.bits, parity, first, last, out)

    for _ in map_blocks(work, range(0, len(workload), _SLICE)):
        pass
    return weights.sum() - out if parity else out


def _fits(workload: Workload, records: PackedBits | Codes) -> None:
    if records.attributes != workload.attributes:
        raise InvalidInput("workload", f"asks about {counted(workload.attributes, 'attribute')}",
                           f"the records have {records.attributes}")


def _count(
    workload: Workload, words: np.ndarray, starts: np.ndarray, weights: np.ndarray, unused: int, records: int
) -> np.ndarray:
    out, parity = np.zeros(len(workload), np.int64), workload.kind == "parities"
    # Words that queries share are worth an order of the queries where there are many words.
    order = workload.order if words.shape[1] > _FEW_WORDS else np.arange(len(workload))

    def work(first: int) -> None:
        some = order[first : first + _SLICE]
        found = np.zeros(len(some), np.int64)
        count_queries(words, starts, weights, workload.index[some], workload.bits[some], parity, found)
        out[some] = found

    for _ in map_blocks(work, range(0, len(workload), _SLICE)):
        pass
    if parity:
        return records - out
    if unused:
        out -= unused * ~np.any(workload.bits & (workload.index >= 0), axis=1)
    return out


def _predicates(workload: Workload, records: PackedBits | Codes, weights: np.ndarray | None) -> np.ndarray:
    bits = (records if isinstance(records, PackedBits) else records.packed()).unpack()
    place = bits @ (1 << np.arange(bits.shape[1], dtype=np.int64))
    histogram = np.bincount(place, weights, minlength=1 << bits.shape[1]).astype(np.float64)
    answers: np.ndarray = workload.truth @ histogram
    return answers


class _Groups:
    """The queries grouped by the columns that they name. The groups are public."""

    def __init__(self, workload: Workload, schema: Schema) -> None:
        none = len(schema.columns)
        self.workload, self.schema = workload, schema
        key = np.empty(len(workload), np.int64)
        key_groups(workload.index, schema.column_of, none, key)
        self.order = np.argsort(key, kind="stable")
        key = key[self.order]
        firsts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        self.starts = np.append(firsts, len(key))
        self.members = key[firsts, None] // (none + 1) ** np.arange(2, -1, -1) % (none + 1)
        self.sizes = np.append(np.array(schema.sizes, np.int64), 1)
        self.cells = np.prod(self.sizes[self.members] + 1, axis=1)
        self.largest = int(self.cells.max())

    def cost(self, rows: int) -> float:
        """Estimated time of counting by tables, in nanoseconds."""
        return float(_ROW * rows * len(self.members) + _CELL * self.cells.sum() + _LOOKUP * len(self.order))

    def answers(self, cells: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The total weight of the rows that satisfy each query. Each row has the cells of one record."""
        columns = np.zeros((cells.shape[1] + 1, len(cells)), np.uint16)
        columns[:-1] = cells.T
        out = np.zeros(len(self.order))

        def work(first: int) -> None:
            last = min(first + _GROUPS, len(self.members))
            answer_groups(columns, weights, self.sizes, self.members[first:last], self.starts[first : last + 1],
                          self.order, self.workload.index, self.workload.bits, self.schema.column_of,
                          self.schema.cell_of, np.empty(int(self.cells[first:last].max())), out)

        for _ in map_blocks(work, range(0, len(self.members), _GROUPS)):
            pass
        return out
