"""Letters of people: positions in a list of answers, from whatever holds a column of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise.arguments import as_inputs
from confide.tables.frames import column_of

__all__ = ["as_letters"]


def as_letters(values: Any, letters: int, *, field: str, kind: str) -> NDArray[np.int64]:
    """(n,) whole numbers below m; no message says what they hold.

    Args:
        values: an array or a list; a column of pandas, Polars or Arrow; or a frame, an Arrow table, a mapping or a file
            with one column.
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
    column = column_of(values, field, no_truths="must be whole numbers, positions in the list of letters")
    if column is None:
        return as_inputs(values, letters, field=field, kind=kind)
    if not np.all(np.isfinite(column)) or np.any(column != np.floor(column)):
        raise InvalidInput(field, "an entry is missing, or no whole number", f"each must be in 0..{letters - 1}")
    return as_inputs(column.astype(np.int64), letters, field=field, kind=kind)

