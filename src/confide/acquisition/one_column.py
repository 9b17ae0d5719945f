"""One number of each person, from whatever holds a column: an array, a series, or a frame or a file of one column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.tables._cells import decimals, real
from confide.tables.frames import column_of, integers_of, is_table

__all__ = ["column_of_numbers", "messages_of"]


def column_of_numbers(field: str, values: ArrayLike) -> NDArray[np.float64]:
    """The numbers, nan where one is missing, or where a cell is no real number; a narrower float is the decimal that it
    prints as.

    Args:
        field: what they are, for errors about what has no name of its own.
        values: an array of any shape; or a column of pandas, Polars or Arrow, or a frame or a file with one column,
            (n,).

    Raises:
        InvalidInput: a column whose type holds no numbers, by its name; more columns than one; or no numbers.

    Example:
        >>> import pyarrow as pa
        >>> column_of_numbers("reports", pa.table({"concern": [0.5, None]})).tolist()
        [0.5, nan]
    """
    column = column_of(values, field)
    typed = column is not None or hasattr(type(values), "__array__")
    try:
        found = np.asarray(values if column is None else column)
    except ValueError:  # somebody's cell is a list
        found = np.empty(0, dtype=object)
    if found.dtype.kind in "fiub":
        return decimals(found)
    cells = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else []
    read = np.array([real(cell) for cell in cells], dtype=np.float64)
    written = any(cell is not None for cell in cells)
    if not cells or (typed and found.dtype != object) or (written and np.isnan(read).all()):
        raise InvalidInput(field, "are not numbers", "one for each person, nan for none")
    return read


def messages_of(given: Any) -> Mapping[int, int]:
    """Rank -> message, from a mapping, or from a table with the columns `index` and `message`.

    Args:
        given: a mapping; or a frame of pandas, Polars or Arrow, or a file. Who has no message is in no row.

    Raises:
        InvalidInput: no table, another column, text where numbers are expected, a cell that is no whole number of 64
            bits, or somebody who stands twice; whose is not said.

    Example:
        >>> import pyarrow as pa
        >>> messages_of(pa.table({"index": [2, 0], "message": [-5, 7]}))
        {2: -5, 0: 7}
    """
    if isinstance(given, Mapping):
        return given
    if not is_table(given):
        raise InvalidInput("messages", f"{type(given).__name__} is no mapping and no table",
                           "must be rank -> message, or a table of the columns index and message")
    columns = integers_of(given, ("index", "message"), "messages")
    found = dict(zip(columns["index"].tolist(), columns["message"].tolist(), strict=True))
    if len(found) < len(columns["index"]):
        raise InvalidInput("index", "somebody's message stands twice", "two messages of one record compose")
    return found
