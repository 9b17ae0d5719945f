"""Letters of people: positions in a list of answers, from whatever holds a column of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise.arguments import as_inputs
from confide.tables._values import as_array
from confide.tables.frames import column_of, is_table
from confide.tables.sources import open_table

__all__ = ["as_letters"]


def as_letters(values: Any, letters: int, *, field: str, kind: str) -> NDArray[np.int64]:
    """(n,) whole numbers below m; no message says what they hold.

    Args:
        values: an array or a list; a column of pandas, Polars or Arrow; or a frame, an Arrow table or a file with one
            column.
        letters: m.
        field: what they are, for errors.
        kind: what one of them is, for errors.

    Raises:
        InvalidInput: a column of text, by its name; an entry that is missing, no whole number, or out of range; or true
            and false, which are no positions.

    Example:
        >>> import pyarrow as pa
        >>> as_letters(pa.table({"answer": [0, 2, 1]}), 3, field="reports", kind="report").tolist()
        [0, 2, 1]
    """
    column = column_of(values)
    if column is None:
        return as_inputs(values, letters, field=field, kind=kind)
    if _truth(values):
        raise InvalidInput(field, "the column holds true and false", "must be whole numbers, positions in the list of "
                           "letters")
    if not np.all(np.isfinite(column)) or np.any(column != np.floor(column)):
        raise InvalidInput(field, "an entry is missing, or no whole number", f"each must be in 0..{letters - 1}")
    return as_inputs(column.astype(np.int64), letters, field=field, kind=kind)


def _truth(values: Any) -> bool:
    """Whether a column is of booleans."""
    if not is_table(values):
        return bool(pa.types.is_boolean(as_array(values).type))
    source = open_table(values)
    return any(pa.types.is_boolean(each.type) for batch in source.batches(source.column_names) for each in batch.schema)
