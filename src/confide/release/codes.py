"""The records of a table as cells: one small number for each public column."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from confide.contract.errors import InvalidInput
from confide.release._cells import count_distinct, pack_rows
from confide.release.packed import PackedBits
from confide.release.schema import Schema

__all__ = ["Codes"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Codes:
    """n records as cells of a schema's columns. `repr` shows their number, never a record.

    The null record, which stands for one that is missing or unusable, has cell 0 in every column.

    Args:
        schema: the public columns.
        cells: uint16 (n, m), each below its column's size.

    Raises:
        InvalidInput: a shape that does not fit, no record, or a cell that its column does not have.

    Example:
        >>> from confide.release import Bit, Levels, Schema
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker")))
        >>> codes = schema.encode({"sex": ["male", "male", "female"], "smoker": [1, 1, 0]})
        >>> codes, codes.distinct()[1].tolist(), codes.packed().unpack().astype(int).tolist()
        (Codes(3 records of 2 columns), [2, 1], [[0, 1, 1], [0, 1, 1], [1, 0, 0]])
    """

    schema: Schema
    cells: np.ndarray = field(repr=False)

    def __post_init__(self) -> None:
        cells = np.asarray(self.cells)
        columns = len(self.schema.columns)
        if cells.dtype != np.uint16 or cells.ndim != 2 or cells.shape[1] != columns:
            raise InvalidInput("cells", f"are {cells.dtype} of shape {cells.shape}",
                               f"must be uint16 of shape (n, {columns})")
        if not len(cells):
            raise InvalidInput("cells", "there is no record", "must be at least one")
        if np.any(cells.max(axis=0) >= np.array(self.schema.sizes)):
            raise InvalidInput("cells", "a cell is beyond its column's size")
        object.__setattr__(self, "cells", np.ascontiguousarray(cells))

    def __repr__(self) -> str:
        return f"Codes({self.records} records of {len(self.schema.columns)} columns)"

    @property
    def records(self) -> int:
        """n, the number of records."""
        return len(self.cells)

    @property
    def attributes(self) -> int:
        """d, the number of binary attributes."""
        return self.schema.attributes

    def packed(self) -> PackedBits:
        """The records' attributes as packed bits, in the records' order."""
        words = np.zeros((self.attributes, -(-self.records // 64)), np.uint64)
        self._pack(self.cells, np.arange(self.records), words, 0)
        return PackedBits(words=words, records=self.records)

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The different records, uint16 (u, m), in the order in which they come first, and int64 (u,) how many of each.

        Nothing is lost but the order of the records. How many differ is a function of private data.
        """
        first, counts = np.empty(self.records, np.int64), np.empty(self.records, np.int64)
        table = np.full(1 << (2 * self.records).bit_length(), -1, np.int32)
        found = count_distinct(self.cells, first, counts, table)
        return self.cells[first[:found]], counts[:found].copy()

    def planes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """The distinct records by the binary digits of their counts, as packed bits.

        A record that is there 5 times stands in the blocks of weight 1 and 4. There are never more of them than of the
        records themselves, apart from the padding of each block to whole words.

        Returns:
            Words, uint64 (d, w); the first word of each block and w, int64 (b + 1,); the blocks' weights, int64 (b,);
            and the weight of all unused bits.
        """
        cells, counts = self.distinct()
        rows = [np.flatnonzero(counts >> digit & 1) for digit in range(int(counts.max()).bit_length())]
        lengths = np.array([-(-len(each) // 64) for each in rows])
        starts, weights = np.append(0, np.cumsum(lengths)), 1 << np.arange(len(rows))
        words = np.zeros((self.attributes, int(starts[-1])), np.uint64)
        for each, start in zip(rows, starts[:-1].tolist(), strict=True):
            self._pack(cells, each, words, start)
        unused = int((weights * (64 * lengths - [len(each) for each in rows])).sum())
        return words, starts, weights, unused

    def _pack(self, cells: np.ndarray, rows: np.ndarray, words: np.ndarray, word: int) -> None:
        starts, attributes = self._sets
        pack_rows(cells, rows, starts, attributes, words, word)

    @cached_property
    def _sets(self) -> tuple[np.ndarray, np.ndarray]:
        return np.append(0, np.cumsum(self.schema.sizes)), np.concatenate(self.schema.cell_attributes)
