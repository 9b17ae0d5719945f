"""One number of each person, from whatever holds a column: an array, a series, or a frame or a file of one column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.tables._cells import decimals, integers, is_text, numbers, plain
from confide.tables._opened import opened
from confide.tables._values import as_array, made_by

__all__ = ["column_of_numbers", "messages_of"]

_TYPED = ("pandas", "polars", "pyarrow")
_NONE = -(2**63)  # no device sends that


def column_of_numbers(field: str, values: ArrayLike) -> NDArray[np.float64]:
    """The numbers, nan where one is missing; a narrower float is the decimal that it prints as.

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
    values = opened(values)
    if any(made_by(package, values) for package in _TYPED):
        return _of_column(*_one(field, values))
    try:
        found = np.asarray(values)
        return decimals(found) if found.dtype.kind == "f" else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field, "are not numbers", "one for each person, nan for none") from None


def messages_of(given: Any) -> Mapping[int, int]:
    """Rank -> message, from a mapping, or from a table with the columns `index` and `message`.

    Args:
        given: a mapping; or a frame of pandas, Polars or Arrow, or a file. Who has no message is in no row.

    Raises:
        InvalidInput: another column, text where numbers are expected, a cell that is no whole number of 64 bits, or
            somebody who stands twice; whose is not said.

    Example:
        >>> import pyarrow as pa
        >>> messages_of(pa.table({"index": [2, 0], "message": [-5, 7]}))
        {2: -5, 0: 7}
    """
    if isinstance(given, Mapping):
        return given
    table = opened(given, doubles=False)
    spelled = table is not given and str(given).lower().endswith(".csv")
    names = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if sorted(map(str, names)) != ["index", "message"]:
        raise InvalidInput("messages", f"have the columns {', '.join(map(str, names)) or 'of no table'}",
                           "must be index and message")
    index, message = (_whole(name, table[name], spelled) for name in ("index", "message"))
    found = dict(zip(index, message, strict=True))
    if len(found) < len(index):
        raise InvalidInput("index", "somebody's message stands twice", "two messages of one record compose")
    return found


def _whole(name: str, column: Any, spelled: bool) -> list[int]:
    """The whole numbers of a column, which may be text only where that spells them, as in a CSV file."""
    array = plain(as_array(column))
    if is_text(array) and not spelled:
        raise InvalidInput(name, "text or Python objects where numbers are expected", "turn the column into numbers")
    found = integers(name, array, _NONE)
    if (found == _NONE).any():
        raise InvalidInput(name, "a cell is no whole number of 64 bits", "leave out who sent nothing")
    whole: list[int] = found.tolist()
    return whole


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
