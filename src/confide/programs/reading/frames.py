"""Records of a run from a frame, an Arrow table or a file: a row for each slot, in the order of the slots.

A missing number makes its row unusable. Text is a number only where a CSV file spells one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.tables._cells import is_text, numbers, plain
from confide.tables.sources import Source, open_table

__all__ = ["columns_of", "fields_of", "is_table"]


def is_table(data: Any) -> bool:
    """Whether data is a frame, an Arrow table or a query, or names a file.

    Args:
        data: what a run was given.
    """
    return isinstance(data, str | os.PathLike | Source) or type(data).__module__.partition(".")[0] == "ibis" or hasattr(
        type(data), "__arrow_c_stream__")


def columns_of(data: Any, count: int) -> NDArray[np.float64]:
    """(rows, count) all numbers of a table.

    Args:
        data: as `is_table` finds it.
        count: of its columns: they are the numbers of a record, in their order.

    Raises:
        InvalidInput: another number of columns; a column without numbers, which is named; or rows that have no order.

    Example:
        >>> columns_of(pa.table({"a": [0.5, None], "b": [1, 0]}), 2).tolist()
        [[0.5, 1.0], [nan, 0.0]]
    """
    source = _opened(data)
    if len(source.column_names) != count:
        raise InvalidInput("data", f"has {len(source.column_names)} columns, {_listed(source.column_names)}",
                           f"must be {count}, the numbers of a record in their order")
    return _read(source, source.column_names)


def fields_of(data: Any, fields: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float64]]:
    """Field -> its numbers, (rows, and then its shape), from a table.

    Args:
        data: as `is_table` finds it. A column has the name of its field; the columns of a field with several numbers
            are called field.0, field.1, and so on.
        fields: name -> shape.

    Raises:
        InvalidInput: a column that is no field, or is missing; or as of `columns_of`.

    Example:
        >>> fields_of(pa.table({"most": [1.0], "needs.0": [0.5], "needs.1": [0.25]}), {"needs": (2,), "most": ()})
        {'needs': array([[0.5 , 0.25]]), 'most': array([1.])}
    """
    source = _opened(data)
    wanted = {name: (name,) if shape == () else tuple(f"{name}.{place}" for place in range(math.prod(shape)))
              for name, shape in fields.items()}
    strange = sorted(set(source.column_names).difference(*wanted.values()))
    if strange:
        raise InvalidInput(strange[0], "is no field of a record", f"fields are {_listed(tuple(fields))}")
    return {name: _read(source, names).reshape(-1, *fields[name]) for name, names in wanted.items()}


def _opened(data: Any) -> Source:
    source = open_table(data)
    if not source.ordered:
        raise InvalidInput("data", f"the rows of {source.name} have no order", "sort them: row i is that of slot i")
    return source


def _read(source: Source, columns: tuple[str, ...]) -> NDArray[np.float64]:
    """(rows, columns) numbers; what is missing is no number."""
    return np.concatenate([np.empty((0, len(columns))), *(
        np.column_stack([_numbers(source, name, batch.column(at)) for at, name in enumerate(columns)])
        for batch in source.batches(columns))])


def _numbers(source: Source, name: str, cells: pa.Array) -> NDArray[np.float64]:
    if is_text(plain(cells)) and not source.name.lower().endswith(".csv"):
        raise InvalidInput(name, "the column holds text", "must be numbers")
    return numbers(name, cells)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
