"""Records as a table of the schema's columns: levels, bins and named bits as texts, other bits as truth values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.release.columns import Bit, Column
from confide.release.packed import PackedBits
from confide.release.schema import Schema

__all__ = ["bits_table", "cells_table", "columns_of"]


def columns_of(schema: object) -> None:
    """Refuse anything but a schema, such as a number of rows.

    Raises:
        InvalidInput: names the type that it is, and how rows are asked for.
    """
    if not isinstance(schema, Schema):
        raise InvalidInput("schema", f"is of type {type(schema).__name__}",
                           "must be the Schema that the attributes came from: rows(schema)")


def bits_table(records: PackedBits, schema: Schema) -> pa.Table:
    """Packed records as a table.

    A record may have no attribute of a column on, or several, where nothing made it one-hot: then that cell is null.

    Args:
        records: of the schema's attributes.
        schema: the public columns that the attributes came from.

    Raises:
        InvalidInput: a schema of another number of attributes.
    """
    columns_of(schema)
    if schema.attributes != records.attributes:
        raise InvalidInput("schema", f"has {schema.attributes} attributes", f"must have {records.attributes}")
    bits = records.unpack()
    columns: dict[str, Any] = {}
    ends = schema.starts.tolist()
    for column, start, end in zip(schema.columns, ends[:-1], ends[1:], strict=True):
        some = bits[:, start:end]
        if isinstance(column, Bit):
            columns[column.column] = _truths(column, some[:, 0])
        else:
            columns[column.column] = _texts(column, np.argmax(some, axis=1), some.sum(axis=1) == 1)
    return pa.table(columns)


def cells_table(cells: NDArray[np.uint16], schema: Schema) -> pa.Table:
    """Records as cells, uint16 (n, m), as a table.

    Example:
        >>> from confide.release import Bit, Levels
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker")))
        >>> cells_table(np.array([[1, 0]], np.uint16), schema).to_pylist()
        [{'sex': 'male', 'smoker': False}]
    """
    columns: dict[str, Any] = {}
    for place, column in enumerate(schema.columns):
        reached = column.reachable[cells[:, place]]
        columns[column.column] = _truths(column, reached == 1) if isinstance(column, Bit) else _texts(
            column, reached, np.ones(len(cells), np.bool_))
    return pa.table(columns)


def _truths(column: Bit, values: NDArray[np.bool_]) -> pa.Array:
    """Truth values, or the texts that are named for them."""
    if column.category is None:
        return pa.array(values)
    return pa.array(column.category.levels, pa.string()).take(pa.array(values.astype(np.int64)))


def _texts(column: Column, places: NDArray[Any], sure: NDArray[np.bool_]) -> pa.Array:
    """The attributes' names without the column's, null where not sure."""
    words = pa.array([name.removeprefix(f"{column.column} ").removeprefix("= ").removeprefix("in ")
                      for name in column.names], pa.string())
    return words.take(pa.array(places.astype(np.int64), mask=~sure))
