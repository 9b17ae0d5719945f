"""Counting and weighing the records that satisfy each query: which of the compiled ways, and in what order.

Three ways give the same whole numbers: word by word on packed bits; the same on the distinct records, by the binary
digits of their counts; and from one table for each choice of at most three columns. Which one runs follows from the
cheapest estimate. It changes the time and nothing else, and no time is ever released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.contract.errors import InvalidInput
from confide.numerics.map_reduce import map_blocks
from confide.release._bits import count_queries, weigh_queries
from confide.release._cells import answer_groups
from confide.release.codes import Codes
from confide.release.packed import PackedBits

if TYPE_CHECKING:
    from confide.release.schema import Schema
    from confide.release.workload import Workload

__all__ = ["count_records", "weigh_records"]

_SLICE = 1 << 14  # queries that a thread takes at once
_GROUPS = 64  # tables that a thread takes at once
_TABLE_ROW = 1.5  # cost of one row of one table, in units of one word of one query
_LARGEST_TABLE = 1 << 24  # cells


def count_records(workload: Workload, records: PackedBits | Codes) -> np.ndarray:
    """How many records satisfy each query, int64 (k,)."""
    _fits(workload, records)
    if workload.kind == "predicates":
        return _predicates(workload, records, None).astype(np.int64)
    if isinstance(records, PackedBits):
        ends = np.array([0, records.words.shape[1]])
        unused = 64 * records.words.shape[1] - records.records
        return _count(workload, records.words, ends, np.ones(1, np.int64), unused, records.records)
    if workload.kind == "conjunctions" and workload.width <= 3:
        cells, counts = records.distinct()
        groups = _Groups(workload, records.schema)
        if groups.largest <= _LARGEST_TABLE and groups.cost(len(cells)) < len(workload) * len(cells) / 64 * 2:
            # Sums of whole numbers below 2^53 are exact.
            found: np.ndarray = np.rint(groups.answers(cells, counts.astype(np.float64))).astype(np.int64)
            return found
    words, starts, weights, unused = records.planes()
    return _count(workload, words, starts, weights, unused, records.records)


def weigh_records(workload: Workload, records: PackedBits | Codes, weights: np.ndarray | None) -> np.ndarray:
    """The weight of the records that satisfy each query, float64 (k,); weights None are 1/n each."""
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
            if groups.largest <= _LARGEST_TABLE and groups.cost(records.records) < len(workload) * records.records / 8:
                return groups.answers(records.cells, weights)
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
        raise InvalidInput("workload", f"asks about {workload.attributes} attributes",
                           f"the records have {records.attributes}")


def _count(
    workload: Workload, words: np.ndarray, starts: np.ndarray, weights: np.ndarray, unused: int, records: int
) -> np.ndarray:
    out, parity, order = np.zeros(len(workload), np.int64), workload.kind == "parities", workload.order

    def work(first: int) -> None:
        some = order[first : first + _SLICE]
        count_queries(words, starts, weights, workload.index, workload.bits, parity, some, out)

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
    """The queries by their choice of columns. All of it is public."""

    def __init__(self, workload: Workload, schema: Schema) -> None:
        none, count = len(schema.columns), len(workload)
        index, bits = np.full((count, 3), -1, np.int32), np.ones((count, 3), np.bool_)
        index[:, : workload.width], bits[:, : workload.width] = workload.index, workload.bits
        there = index >= 0
        column = np.where(there, schema.column_of[index], none)
        self.cell, self.bits = np.where(there, schema.cell_of[index], -1).astype(np.int32), bits
        # Attributes ascend, so their columns do: a repeated one stands beside its like.
        places = np.zeros((count, 3), np.int8)
        places[:, 1] = np.where(column[:, 1] == column[:, 0], 0, 1)
        places[:, 2] = np.where(column[:, 2] == column[:, 1], places[:, 1], 2)
        self.places = np.where(there, places, -1).astype(np.int8)
        members = np.where((places == np.arange(3)) & there, column, none)
        key = (members[:, 0].astype(np.int64) * (none + 1) + members[:, 1]) * (none + 1) + members[:, 2]
        self.order = np.argsort(key, kind="stable")
        ordered = key[self.order]
        firsts = np.append(True, ordered[1:] != ordered[:-1])
        self.starts = np.append(np.flatnonzero(firsts), count)
        self.members = members[self.order[self.starts[:-1]]].astype(np.int64)
        self.sizes = np.append(np.array(schema.sizes, np.int64), 1)
        self.cells = np.prod(self.sizes[self.members] + 1, axis=1)
        self.largest = int(self.cells.max())

    def cost(self, rows: int) -> float:
        """Of the tables, in words of one query."""
        return float(_TABLE_ROW * rows * len(self.members) + 2 * self.cells.sum() + 20 * len(self.order))

    def answers(self, cells: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of the rows of cells that satisfy each query."""
        columns = np.zeros((cells.shape[1] + 1, len(cells)), np.uint16)
        columns[:-1] = cells.T
        out = np.zeros(len(self.order))

        def work(first: int) -> None:
            last = min(first + _GROUPS, len(self.members))
            answer_groups(columns, weights, self.sizes, self.members[first:last], self.starts[first : last + 1],
                          self.order, self.places, self.cell, self.bits,
                          np.empty(int(self.cells[first:last].max())), out)

        for _ in map_blocks(work, range(0, len(self.members), _GROUPS)):
            pass
        return out
