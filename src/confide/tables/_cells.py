"""Cells: one reading of numbers and text for every Arrow type, which never depends on the cells beside it.

There is one path for every cell of a type, without a shorter one for columns that happen to be clean: what is read in
one row, and how long the reading takes, must not tell that another row holds a null or a typing error.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput

__all__ = ["integers", "is_text", "numbers", "plain", "strings"]

_NUMBER = r"^(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)$"
"""Every text of this form is a number to Arrow's cast, which fails as a whole on any other text but NaN."""

_INTEGER = r"^(?:0|-?[1-9][0-9]{0,18})$"
"""The plain decimal form: 007, +7 and 0x7 are other ids than 7."""

_LARGEST = str(2**63 - 1)

_DECIMAL = r"^(-?[0-9]+(?:\.[0-9]*[1-9])?)\.?0*(E.*)?$"
"""Arrow's spelling of a decimal, whose zeros at the end tell the column's scale and not the value."""

_EXACT = 2.0**53
"""Below it, a float that is whole stands for exactly one integer."""


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The same cells without dictionary, run-end, view, extension or chunk encoding.

    Text and bytes become large_string (bytes unchecked). An index that points outside its dictionary is a null.
    """
    if isinstance(array, pa.ChunkedArray):
        return pa.concat_arrays([plain(chunk) for chunk in array.chunks or [array.combine_chunks()]])
    kind, types = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if types.is_dictionary(kind):
        inside = pc.and_(pc.greater_equal(array.indices, 0), pc.less(array.indices, len(array.dictionary)))
        return plain(array.dictionary).take(pc.if_else(inside, array.indices, pa.scalar(None, array.indices.type)))
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if types.is_fixed_size_binary(kind):
        array = pc.cast(array, pa.binary())
    elif types.is_binary_view(kind):
        array = pc.cast(array, pa.large_binary())
    # Bytes are viewed, not cast: a cast would refuse the whole column for one cell that is not UTF-8.
    if types.is_binary(array.type):
        array = array.view(pa.string())
    elif types.is_large_binary(array.type):
        array = array.view(pa.large_string())
    if types.is_string(array.type) or types.is_string_view(array.type):
        array = pc.cast(array, pa.large_string())
    return array


def is_text(array: pa.Array) -> bool:
    """Whether the cells of a plain array are text."""
    return bool(pa.types.is_large_string(array.type))


def _where(condition: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(condition, texts, pa.scalar(None, pa.large_string()))


def _measures(texts: pa.Array) -> pa.Array:
    """Text as float64, null where it spells no number; true and false are 1 and 0, as in a column of booleans."""
    word = pc.index_in(pc.ascii_lower(texts), value_set=pa.array(["false", "true"], pa.large_string()))
    number = pc.cast(_where(pc.match_substring_regex(texts, _NUMBER), texts), pa.float64())
    return pc.coalesce(number, pc.cast(word, pa.float64()))


def _counts(texts: pa.Array) -> pa.Array:
    """Text as int64, null where it is not the plain decimal form of an integer above -2^63 and below 2^63."""
    digits = pc.ascii_ltrim(texts, characters="-")
    small = pc.or_(pc.less(pc.binary_length(digits), len(_LARGEST)), pc.less_equal(digits, _LARGEST))
    return pc.cast(_where(pc.and_(pc.match_substring_regex(texts, _INTEGER), small), texts), pa.int64())


def _decimals(array: pa.Array) -> pa.Array:
    """Decimals as text, each spelled by its value alone: 7.00 is "7", and 0.50 is "0.5"."""
    texts = pc.cast(array, pa.large_string())
    if array.type.scale <= 0:
        return texts
    texts = pc.replace_substring_regex(texts, pattern=_DECIMAL, replacement=r"\1\2")
    return pc.replace_substring_regex(texts, pattern=r"^-?0E.*$", replacement="0")


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def numbers(name: str, array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """A column as float64 of shape (m,), each the nearest to its cell; a null, or a text that is no number, is NaN.

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
        # By way of the text, which rounds once: 0.10 is the float 0.1 whatever the scale.
        array = pc.cast(array, pa.string())
    # Unsafe only in name: integers beyond 2^53 are rounded instead of refused as a whole column.
    values: np.ndarray = pc.fill_null(pc.cast(array, pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    return values


def strings(name: str, array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as large_string, trimmed: integers as decimal digits, booleans as true and false; null stays null.

    A float or decimal that is whole reads as its integer: software that knows no missing integers stores them so.

    Raises:
        InvalidInput: the column's type has no spelling (dates, lists, structures).
    """
    array = plain(array)
    if is_text(array):
        return pc.ascii_trim_whitespace(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.large_string())
    if not _numeric(array.type):
        raise InvalidInput(name, f"the column is of type {array.type}", "must be text, whole numbers or true/false")
    if pa.types.is_decimal(array.type):
        return _decimals(array)
    if pa.types.is_floating(array.type):
        values = pc.cast(array, pa.float64())
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
        whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), pa.scalar(_EXACT)))
        safe = pc.if_else(pc.fill_null(whole, False), values, pa.scalar(0.0))
        digits = pc.cast(pc.cast(safe, pa.int64()), pa.large_string())
        return pc.if_else(whole, digits, pc.cast(values, pa.large_string()))
    return pc.cast(array, pa.large_string())


def integers(name: str, array: pa.Array | pa.ChunkedArray, missing: int) -> np.ndarray:
    """A column as int64 of shape (m,); a cell whose text is not the plain decimal form of an integer is `missing`.

    Raises:
        InvalidInput: the column's type has no spelling.
    """
    array = plain(array)
    if not pa.types.is_integer(array.type) or pa.types.is_uint64(array.type):
        array = _counts(strings(name, array))
    result: np.ndarray = pc.fill_null(pc.cast(array, pa.int64()), missing).to_numpy(zero_copy_only=False)
    return result
