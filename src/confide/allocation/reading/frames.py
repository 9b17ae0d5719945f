"""Frames, Arrow tables and files as arrays of valuations, with a column for each good in the order of the goods."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.tables import Source, open_table
from confide.tables._cells import is_text, numbers, plain

__all__ = ["as_numbers", "is_table"]


def is_table(data: Any) -> bool:
    """Whether data is a frame, an Arrow table, a mapping of columns, a file or a query, and no array.

    Args:
        data: anything.
    """
    if isinstance(data, Source | str | os.PathLike | Mapping) or hasattr(data, "__arrow_c_stream__"):
        return True
    return type(data).__module__.partition(".")[0] in ("ibis", "pandas")


def as_numbers(data: Any) -> NDArray[Any]:
    """The numbers of a table, bit for bit: float32 where all columns are, else float64; NaN where one is missing.

    Args:
        data: of `is_table`. The index of a pandas frame is no column.

    Returns:
        (n, columns).

    Raises:
        InvalidInput: a column of text, or of another type without numbers, by its name; never for a value. In a CSV
            file, which has no types, a cell that spells no number is NaN.

    Example:
        >>> as_numbers({"art": [0.5, 1.0], "law": [0, 1]}).tolist()
        [[0.5, 0.0], [1.0, 1.0]]
        >>> as_numbers({"art": [0.5, 1.0], "name": ["a", "b"]})
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: name: the column holds text; must be numbers
    """
    if isinstance(data, Mapping):  # so that a list of numbers has a type
        data = {name: np.asarray(column) for name, column in data.items()}
    source = open_table(data.reset_index(drop=True) if hasattr(data, "reset_index") else data)
    names = source.column_names
    untyped = isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(".csv")
    parts = [np.stack([_column(name, batch.column(place), untyped) for place, name in enumerate(names)], axis=1)
             for batch in source.batches(names)]
    return np.concatenate(parts) if parts else np.empty((0, len(names)))


def _column(name: str, cells: pa.Array, untyped: bool) -> NDArray[Any]:
    cells = plain(cells)
    if is_text(cells) and not untyped:
        raise InvalidInput(name, "the column holds text", "must be numbers")
    if is_text(cells) or not pa.types.is_floating(cells.type):
        return numbers(name, cells)
    kind = pa.float32() if pa.types.is_float32(cells.type) else pa.float64()
    missing = pa.scalar(float("nan"), kind)
    found: NDArray[Any] = pc.fill_null(pc.cast(cells, kind), missing).to_numpy(zero_copy_only=False)
    return found
