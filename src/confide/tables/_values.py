"""Conversion of any Python sequence to an Arrow column. A sequence without a data type, such as a list, is converted
value by value.

A data type that is inferred from all values could change with a single value: one date among numbers would change, or
stop, the reading of every other value. In this module a value that cannot be used becomes a null, and never raises an
error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.tables._cells import plain, strings

__all__ = ["as_array", "cell", "cells", "made_by"]

Cell = bytes | float | None
"""A cell: the UTF-8 text of a value, or a float that is spelled later; None for a value that cannot be used."""

Reader = Callable[[Any], Cell]

_BITS = 4096
"""Largest number of bits of an integer that is converted to text. The limit is far beyond the range of a float, and
below the length at which Python refuses the conversion.
"""

_ZEROS = re.compile(r"(\.[0-9]*?)0+(?=E|$)")


def _text(value: str) -> Cell:
    try:
        return str.encode(value, "utf-8")
    except UnicodeEncodeError:
        return None


def _integer(value: int) -> Cell:
    return b"%d" % value if int.bit_length(value) <= _BITS else None


def _decimal(value: Decimal) -> Cell:
    if not value.is_finite():
        return float(value) if value.is_infinite() else None
    if not value:
        return b"0"
    if 0 <= value.adjusted() < 80 and value == value.to_integral_value():
        return b"%d" % int(value)
    return _ZEROS.sub(r"\1", str(value)).replace(".E", "E").encode()


_READERS: tuple[tuple[type | tuple[type, ...], Reader], ...] = (
    (np.timedelta64, lambda _: None),  # an integer to numpy
    (str, _text),
    (bool, lambda value: b"true" if value else b"false"),
    (np.bool_, lambda value: b"true" if value else b"false"),
    (float, float),
    ((np.float32, np.float16), lambda value: float(str(value))),  # the decimal that it prints as
    (np.floating, float),
    (int, _integer),
    (np.integer, lambda value: b"%d" % int(value)),
    (bytes, bytes),
    (Decimal, _decimal),
    (object, lambda _: None),
)


class _Readers(dict[type, Reader]):
    """Cache of the reader function of each Python type."""

    def __missing__(self, kind: type) -> Reader:
        self[kind] = reader = next(reader for base, reader in _READERS if issubclass(kind, base))
        return reader


def cells(values: Iterable[object]) -> pa.Array:
    """Python and numpy values as texts, each converted separately. A value that is no text, number or boolean becomes
    null.

    `numbers` and `strings` give the same result for the text as for the value itself in a column of its type. Whole
    floats and decimals are spelled as integers, and bytes are kept unchanged.
    """
    reader = _Readers()
    found = [reader[type(value)](value) for value in values]
    texts = [None if type(cell) is float else cell for cell in found]
    floats = [cell if type(cell) is float else None for cell in found]
    spelled = strings("", pa.array(floats, pa.float64()))
    return pc.coalesce(pa.array(texts, pa.large_binary()).view(pa.large_string()), spelled)


def cell(value: object) -> pa.Array:
    """One value that a person types, converted as in `cells`, as an array of length 1."""
    found = _Readers()[type(value)](value)
    return cells([value]) if type(found) is float else pa.array([found], pa.large_binary()).view(pa.large_string())


def made_by(package: str, value: object) -> bool:
    """Whether the value's class, or one of its base classes, comes from a package. The check does not import the
    package.
    """
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def _from_numpy(array: np.ndarray) -> pa.Array:
    kind = array.dtype.kind
    if kind in "Mm":
        return _no_number(len(array), kind)
    if kind not in "biuf":
        return cells(array)
    wanted = np.dtype(np.float64) if array.dtype.itemsize > 8 else array.dtype.newbyteorder("=")
    with np.errstate(all="ignore"):  # a number too long for float64 is infinite, without a word
        return pa.array(array.astype(wanted, copy=False))


def _no_number(length: int, kind: str) -> pa.Array:
    """A column of dates or durations with placeholder values. No role accepts a column of dates or durations, so the
    values are never examined.
    """
    return pa.nulls(length, pa.timestamp("s") if kind == "M" else pa.duration("s"))


def _from_pandas(values: Any) -> pa.Array | pa.ChunkedArray:
    array = getattr(values, "array", values)  # of a series or an index
    dtype = array.dtype
    if dtype.kind in "Mm":
        return _no_number(len(array), dtype.kind)
    if hasattr(dtype, "categories") and hasattr(array, "codes"):
        # The type of the categories is inferred from the values, too.
        codes = np.asarray(array.codes)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), cells(np.asarray(dtype.categories, dtype=object))
        )
    typed = dtype.kind in "biuf" or hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow"
    if typed and hasattr(array, "__arrow_array__"):
        return pa.array(array)
    return cells(np.asarray(array, dtype=object))


def _from_polars(values: Any) -> pa.Array | pa.ChunkedArray:
    if str(values.dtype) in {"Object", "Int128", "UInt128"}:  # the types without an Arrow type
        return cells(values.to_list())
    return values.to_arrow()


def as_array(values: Any) -> pa.Array:
    """The values of a sequence or array as an Arrow array. The type of the result depends on the type of the sequence
    alone, not on the values.

    Sequences and arrays of Python objects become text, cell by cell.

    Raises:
        InvalidInput: the values are no sequence, or have more than one dimension.
    """
    if isinstance(values, pa.Array):
        return values
    if isinstance(values, pa.ChunkedArray):
        return plain(values)
    if getattr(values, "ndim", 1) != 1:
        raise InvalidInput("source", f"an array of {counted(values.ndim, 'dimension')} is not a column",
                           "must have one dimension")
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise InvalidInput("source", f"{type(values).__name__} is not a column", "must be a sequence or an array")
    if isinstance(getattr(values, "dtype", None), np.dtype):
        return _from_numpy(np.asanyarray(values))
    if made_by("polars", values):
        array = _from_polars(values)
    elif made_by("pandas", values):
        array = _from_pandas(values)
    elif hasattr(values, "__arrow_c_stream__"):
        array = pa.chunked_array(values)
    elif hasattr(values, "__arrow_c_array__"):
        array = pa.array(values)
    elif hasattr(values, "__array__"):
        array = _from_numpy(np.asarray(values))
    else:
        array = cells(values)
    return plain(array) if isinstance(array, pa.ChunkedArray) else array
