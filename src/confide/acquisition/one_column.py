"""One number of each person, from whatever holds a column: an array, a series, an Arrow column or a frame of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.tables._cells import decimals, is_text, numbers, plain
from confide.tables._values import as_array, made_by

__all__ = ["column_of_numbers"]

_TYPED = ("pandas", "polars", "pyarrow")


def column_of_numbers(field: str, values: ArrayLike) -> NDArray[np.float64]:
    """The numbers, nan where one is missing; a narrower float is the decimal that it prints as.

    Args:
        field: what they are, for errors about what has no name of its own.
        values: an array of any shape; or a column of pandas, Polars or Arrow, or a frame with one column, (n,).

    Raises:
        InvalidInput: a column whose type holds no numbers, by its name; more columns than one; or no numbers.

    Example:
        >>> import pyarrow as pa
        >>> column_of_numbers("reports", pa.table({"concern": [0.5, None]})).tolist()
        [0.5, nan]
    """
    if any(made_by(package, values) for package in _TYPED):
        return _of_column(*_one(field, values))
    try:
        found = np.asarray(values)
        return decimals(found) if found.dtype.kind == "f" else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field, "are not numbers", "one for each person, nan for none") from None


def _one(field: str, values: Any) -> tuple[str, Any]:
    """The name and the column of a series or a frame."""
    if not hasattr(values, "columns"):
        return str(getattr(values, "name", None) or field), values
    names = list(values.column_names if hasattr(values, "column_names") else values.columns)
    if len(names) != 1:
        raise InvalidInput(field, f"are a table of {len(names)} columns", "must be one column of numbers")
    return str(names[0]), values[names[0]]


def _of_column(name: str, column: Any) -> NDArray[np.float64]:
    array = plain(as_array(column))
    if is_text(array):  # as every column of Python objects is
        raise InvalidInput(name, "text or Python objects where numbers are expected", "turn the column into numbers")
    return numbers(name, array)
