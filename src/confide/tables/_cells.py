"""Cells: one reading of numbers and text for every Arrow type, which never depends on the cells beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput

__all__ = ["as_array", "integers", "is_text", "numbers", "plain", "strings"]

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|[iI][nN].*|[nN][aA][nN].*)$"
"""Every text that Arrow reads as a number is of this form, and few others."""

_INTEGER = r"^(0|-?[1-9][0-9]{0,18})$"
"""The plain decimal form: 007, +7 and 0x7 are other ids than 7."""

_EXACT = 2.0**53
"""Below it, a float that is whole stands for exactly one integer."""


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The same cells without dictionary, run-end, view, extension or chunk encoding; bytes count as text."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return plain(pc.cast(array, pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()))
    if pa.types.is_fixed_size_binary(kind):
        return plain(pc.cast(array, pa.binary()))
    if pa.types.is_binary(kind):
        return array.view(pa.string())
    if pa.types.is_large_binary(kind):
        return array.view(pa.large_string())
    return array


def is_text(array: pa.Array) -> bool:
    """Whether the cells of a plain array are text."""
    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _parse(array: pa.Array, target: pa.DataType, form: str) -> pa.Array:
    """Text as numbers; a cell that is not of the form, or that the cast refuses, becomes null.

    Arrow's cast fails as a whole on one bad cell. The array is then halved until the bad cells stand alone, so that
    each cell is read as if it were the only one: nobody's typing error changes how another's number is read.
    """
    return _halve(pc.if_else(pc.match_substring_regex(array, form), array, pa.scalar(None, array.type)), target)


def _halve(array: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return pc.cast(array, target)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return pa.nulls(1, target)
        half = len(array) // 2
        return pa.concat_arrays([_halve(array[:half], target), _halve(array[half:], target)])


def _measures(array: pa.Array) -> pa.Array:
    """Text as float64, with the words true and false as 1 and 0, as in a column of booleans."""
    try:
        return pc.cast(array, pa.float64())
    except pa.ArrowInvalid:
        word = pc.index_in(pc.ascii_lower(array), value_set=pa.array(["false", "true"], array.type))
        return pc.if_else(pc.is_valid(word), pc.cast(word, pa.float64()), _parse(array, pa.float64(), _NUMBER))


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def numbers(name: str, array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """A column as numbers of shape (m,), integer or floating; a null, or a text that is no number, is NaN.

    Args:
        name: the column, for the error.
        array: integers, floats, decimals, booleans (0 and 1) or text, dictionary-encoded or not.

    Raises:
        InvalidInput: the column's type holds no numbers at all.
    """
    array = plain(array)
    if is_text(array):
        array = _measures(pc.ascii_trim_whitespace(array))
    elif pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    elif not _numeric(array.type):
        raise InvalidInput(name, f"the column is of type {array.type}", "must be numbers, or text that spells them")
    elif pa.types.is_decimal(array.type):
        array = pc.cast(array, pa.float64())
    elif pa.types.is_boolean(array.type):
        array = pc.cast(array, pa.uint8())
    values: np.ndarray = array.to_numpy(zero_copy_only=False)
    return values


def strings(name: str, array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as text, trimmed: integers as decimal digits, booleans as true and false; null stays null.

    A float that is whole reads as its integer: software that knows no missing integers stores them so.

    Raises:
        InvalidInput: the column's type has no spelling (dates, lists, structures).
    """
    array = plain(array)
    if is_text(array):
        return pc.ascii_trim_whitespace(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.string())
    if not _numeric(array.type):
        raise InvalidInput(name, f"the column is of type {array.type}", "must be text, whole numbers or true/false")
    if pa.types.is_floating(array.type):
        values = pc.cast(array, pa.float64())
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
        whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), pa.scalar(_EXACT)))
        safe = pc.if_else(pc.fill_null(whole, False), values, pa.scalar(0.0))
        return pc.if_else(whole, pc.cast(pc.cast(safe, pa.int64()), pa.string()), pc.cast(values, pa.string()))
    return pc.cast(array, pa.string())


def integers(name: str, array: pa.Array | pa.ChunkedArray, missing: int) -> np.ndarray:
    """A column as int64 of shape (m,); a cell whose text is not the plain decimal form of an integer is `missing`.

    Raises:
        InvalidInput: the column's type has no spelling.
    """
    array = plain(array)
    if not pa.types.is_integer(array.type) or pa.types.is_uint64(array.type):
        array = _parse(strings(name, array), pa.int64(), _INTEGER)
    result: np.ndarray = pc.fill_null(pc.cast(array, pa.int64()), missing).to_numpy(zero_copy_only=False)
    return result


def _spelling(value: Any) -> str | None:
    """One value as text, read back by `numbers` and `strings` as it would be in a column of its own type."""
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        whole = number.is_integer() and abs(number) < _EXACT
        return str(int(number)) if whole else str(pc.cast(pa.scalar(number), pa.string()))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).encode("utf-8", "replace").decode("utf-8")


def as_array(values: Any) -> pa.Array:
    """Values of a sequence or array as Arrow; what has no common type becomes text, cell by cell.

    Raises:
        InvalidInput: no sequence, or more than one dimension.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return plain(values) if isinstance(values, pa.ChunkedArray) else values
    if getattr(values, "ndim", 1) != 1:
        raise InvalidInput("source", f"an array of {values.ndim} dimensions is no column", "must have one dimension")
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise InvalidInput("source", f"{type(values).__name__} is no column", "must be a sequence or an array")
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError):
        return pa.array([_spelling(value) for value in values], pa.string())
    return plain(array) if isinstance(array, pa.ChunkedArray) else array
