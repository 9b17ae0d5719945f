"""The records of a table as cells: one small number for each public column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from confide.contract.errors import InvalidInput
from confide.release._cells import number_distinct, pack_rows
from confide.release._inputs import of_kind, reals
from confide.release.packed import PackedBits
from confide.release.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

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
        of_kind("schema", self.schema, Schema)
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

    def table(self) -> pa.Table:
        """The records as a table of the schema's columns: levels, bins and named bits as texts, other bits as truth
        values.

        Example:
            >>> from confide.release import Levels, Schema
            >>> sexes = Schema((Levels(column="sex", levels=("female", "male")),))
            >>> sexes.encode({"sex": ["male", "female"]}).table().to_pylist()
            [{'sex': 'male'}, {'sex': 'female'}]
        """
        from confide.release.rows import cells_table

        return cells_table(self.cells, self.schema)

    def packed(self) -> PackedBits:
        """The records' attributes as packed bits, in the records' order."""
        words = np.zeros((self.attributes, -(-self.records // 64)), np.uint64)
        pack_rows(self.cells, np.arange(self.records), *self.schema.sets, words, 0)
        return PackedBits(words=words, records=self.records)

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The different records, uint16 (u, m), in the order in which they come first, and int64 (u,) how many of each.

        Nothing is lost but the order of the records. How many differ is a function of private data.
        """
        first, numbers = self._numbered()
        return self.cells[first], np.bincount(numbers, minlength=len(first))

    def weighted(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different records, as `distinct` has them, and the sum of the weights of each, float64 (u,)."""
        given = reals("weights", weights)
        if given.shape != (self.records,):
            raise InvalidInput("weights", f"are of shape {given.shape}", f"must be {self.records} numbers")
        first, numbers = self._numbered()
        return self.cells[first], np.bincount(numbers, given, minlength=len(first))

    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        first, numbers = np.empty(self.records, np.int64), np.empty(self.records, np.int32)
        table = np.full(1 << (2 * self.records).bit_length(), -1, np.int32)
        return first[: number_distinct(self.cells, first, numbers, table)].copy(), numbers
