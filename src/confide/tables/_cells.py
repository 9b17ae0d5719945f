"""Parsing of cells as numbers or text. The value of a cell never depends on the cells beside it.

All cells of an Arrow type are parsed by the same steps, also in columns without bad cells. With a shortcut for columns
without bad cells, the value of one row, or the reading time, could reveal that another row holds a null or a typing
error.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from numbers import Real

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput

__all__ = ["decimals", "has_other_spellings", "integers", "is_text", "numbers", "places", "plain", "real",
           "spells_number", "strings", "trimmed", "whole_numbers"]

_NUMBER = r"^(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)$"
"""Pattern of the texts that Arrow's cast accepts as numbers. The cast fails for a whole column if some text neither
matches the pattern nor spells NaN.
"""

_INTEGER = r"^(?:0|-?[1-9][0-9]{0,18}|-?[1-9](?:\.[0-9]{1,15})?[eE]\+[0-9]{1,2})$"
"""Pattern of plain decimal integers, and of numbers with an exponent as R writes them, such as 1e+05 for 100000. The
texts 007, +7 and 0x7 do not match the pattern: as ids, they differ from 7.
"""

_LARGEST = str(2**63 - 1)

_DECIMAL = r"^(-?[0-9]+(?:\.[0-9]*[1-9])?)\.?0*(E.*)?$"
"""Pattern of decimals as Arrow spells them. The zeros at the end of a decimal show the scale of the column, not the
value.
"""

_EXPONENT = re.compile(r"(-?[0-9](?:\.[0-9]+)?)[eE]([+-]?)0*([1-9][0-9]*)")

_EXACT = 2.0**53
"""Bound on the absolute value below which a whole float64 stands for exactly one integer."""


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The cells of an array as one plain Arrow array, without dictionary, run-end, view or extension encoding and
    without chunks.

    Text and bytes become large_string; bytes are not checked for valid UTF-8. An index that points outside its
    dictionary becomes a null.
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


def spells_number(texts: pa.Array) -> pa.Array:
    """Whether each text, without surrounding spaces, is spelled as `numbers` accepts it: a boolean array of shape (m,).
    The words true and false are not included.
    """
    return pc.match_substring_regex(texts, _NUMBER)


def _where(condition: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(condition, texts, pa.scalar(None, pa.large_string()))


def _measures(texts: pa.Array) -> pa.Array:
    """Texts as float64, with null for a text that spells no number. The words true and false are 1 and 0, as in a
    column of booleans.
    """
    word = pc.index_in(pc.ascii_lower(texts), value_set=pa.array(["false", "true"], pa.large_string()))
    number = pc.cast(_where(spells_number(texts), texts), pa.float64())
    return pc.coalesce(number, pc.cast(word, pa.float64()))


def _counts(texts: pa.Array) -> pa.Array:
    """Texts as int64, with null for a text that spells no integer strictly between -2^63 and 2^63. Both 7 and 7.0 spell
    the integer 7: data frames write 7.0 in a column of whole numbers with a missing value.
    """
    stem = pc.ascii_rtrim(texts, characters="0")
    pointed = pc.and_(pc.ends_with(stem, pattern="."), pc.invert(pc.ends_with(stem, pattern="..")))
    texts = pc.if_else(pointed, pc.ascii_rtrim(stem, characters="."), texts)
    digits = pc.ascii_ltrim(texts, characters="-")
    small = pc.or_(pc.less(pc.binary_length(digits), len(_LARGEST)), pc.less_equal(digits, _LARGEST))
    spelled, power = pc.match_substring_regex(texts, _INTEGER), pc.match_substring(texts, "+")
    exact = pc.cast(_where(pc.and_not(pc.and_(spelled, small), power), texts), pa.int64())
    powers = pc.cast(_where(pc.and_(spelled, power), texts), pa.float64())
    return pc.coalesce(exact, pc.cast(_whole(powers), pa.int64()))


def _whole(values: pa.Array) -> pa.Array:
    """Floats that stand for exactly one integer; other floats become null."""
    whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), pa.scalar(_EXACT)))
    return pc.if_else(whole, values, pa.scalar(None, pa.float64()))


@cache
def _halves() -> np.ndarray:
    """Table of the decimals that 16-bit floats print as, indexed by the bits of the float."""
    return np.array([float(str(each)) for each in np.arange(1 << 16, dtype=np.uint16).view(np.float16)])


def _doubles(array: pa.Array) -> pa.Array:
    """Floats as float64. A narrower float becomes the decimal that it prints as: the 32-bit float 4.3 becomes 4.3, not
    4.30000019.
    """
    if pa.types.is_float16(array.type):
        bits = pc.fill_null(array.view(pa.uint16()), 0).to_numpy(zero_copy_only=False)
        return pa.array(_halves()[bits], mask=pc.is_null(array).to_numpy(zero_copy_only=False))
    return pc.cast(pc.cast(array, pa.string()) if pa.types.is_float32(array.type) else array, pa.float64())


def _decimals(array: pa.Array) -> pa.Array:
    """Decimals as text. The spelling depends on the value alone, not on the column's scale."""
    texts = pc.cast(array, pa.large_string())
    return texts if array.type.scale <= 0 else trimmed(texts)


def trimmed(texts: pa.Array) -> pa.Array:
    """Texts of decimals without zeros at the end, so that the spelling depends on the value alone: 7.00 becomes "7",
    and 0.50 becomes "0.5".
    """
    texts = pc.replace_substring_regex(texts, pattern=_DECIMAL, replacement=r"\1\2")
    return pc.replace_substring_regex(texts, pattern=r"^-?0E.*$", replacement="0")


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def decimals(values: np.ndarray) -> np.ndarray:
    """Numbers as a float64 array of the same shape. A float of 16 or 32 bits becomes its printed decimal number."""
    if values.dtype.kind != "f" or values.dtype.itemsize >= 8:
        return values.astype(np.float64, copy=False)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    found: np.ndarray = _doubles(pa.array(native.ravel())).to_numpy(zero_copy_only=False)
    return found.reshape(values.shape)


def real(cell: object) -> float:
    """One cell of a list or of an object array as a double. The result is nan if the cell is not a single real number,
    for example a text.

    Args:
        cell: any object. No object raises an error, so that one cell never stops the reading of the other cells.
    """
    try:
        if isinstance(cell, np.generic):  # of which a duration is a whole number to numpy
            if cell.dtype.kind not in "fiub":
                return math.nan
            return float(str(cell)) if cell.dtype.kind == "f" and cell.dtype.itemsize < 8 else float(cell)
        return float(cell) if isinstance(cell, Real | Decimal) else math.nan
    except OverflowError:
        return math.inf
    except Exception:  # noqa: BLE001 - a number may be of anybody's class
        return math.nan


def numbers(name: str, array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """A column as float64 of shape (m,). Each entry is the double nearest to the number in the cell. A null, or a text
    that is no number, becomes NaN.

    A float of 32 or 16 bits becomes its printed decimal number. So 4.3 is the same number in every type.

    Args:
        name: name of the column in the error message.
        array: the column: integers, floats, decimals, booleans (as 0 and 1) or texts, with or without dictionary
            encoding.

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
    elif pa.types.is_floating(array.type):
        array = _doubles(array)
    elif pa.types.is_decimal(array.type):
        # By way of the text, which rounds once: 0.10 is the float 0.1 whatever the scale.
        array = pc.cast(array, pa.string())
    # Unsafe only in name: integers beyond 2^53 are rounded instead of refused as a whole column.
    values: np.ndarray = pc.fill_null(pc.cast(array, pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    return values


def strings(name: str, array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as large_string without surrounding spaces. Integers become decimal digits, booleans become true and
    false, and null stays null.

    A whole float or decimal is spelled as an integer, because some software stores a column of integers with missing
    cells as floats.

    Raises:
        InvalidInput: the column's type, such as dates, lists or structures, cannot be converted to text.
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
        values = _doubles(array)
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
        digits = pc.cast(pc.cast(_whole(values), pa.int64()), pa.large_string())
        return pc.coalesce(digits, pc.cast(values, pa.large_string()))
    return pc.cast(array, pa.large_string())


def integers(name: str, array: pa.Array | pa.ChunkedArray, missing: int) -> np.ndarray:
    """A column as int64 of shape (m,). Both 7 and 7.0 spell an integer. A cell that spells no integer becomes
    `missing`.

    Raises:
        InvalidInput: the column's type cannot be converted to text.
    """
    array = plain(array)
    if not pa.types.is_integer(array.type) or pa.types.is_uint64(array.type):
        array = _counts(strings(name, array))
    result: np.ndarray = pc.fill_null(pc.cast(array, pa.int64()), missing).to_numpy(zero_copy_only=False)
    return result


def whole_numbers(known: Sequence[str]) -> list[int | None]:
    """The whole number that each known text stands for, or None if a text stands for no whole number. The text "7"
    stands for 7. The text "7.0" stands for 7 only if no other known text does.

    Args:
        known: the known texts, all different.
    """
    values = _counts(pa.array(known, pa.large_string())).to_pylist()
    uses = Counter(values)
    return [value if uses[value] == 1 or text == str(value) else None
            for text, value in zip(known, values, strict=True)]


def places(texts: pa.Array, known: tuple[str, ...]) -> np.ndarray:
    """The position of each text in a list of known texts, int64 of shape (m,); -1 for a text that is not listed.

    A text matches the known text of the same spelling. If no known text has the same spelling, a text that spells a
    whole number matches the known text of that number: 1.0 is the level 1. Programs write the exponent of a number as
    1e-7 or as 1e-07, so both spellings count as one text.

    Args:
        texts: the m texts, as an Arrow array of the type large_string.
        known: the public list of known texts, all different.
    """
    spelled, pointed = _spellings(known)
    found = _ranks(texts, spelled)
    if not pointed:
        return found
    return np.where(found < 0, _ranks(pc.ascii_rtrim(texts, characters="0"), pointed), found)


@lru_cache(maxsize=256)
def _spellings(known: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int]]:
    """Two mappings to the rank of a known text: one from its spellings, one from the part before the decimal point of a
    whole number.
    """
    once = {value: rank for rank, value in enumerate(whole_numbers(known)) if value is not None}
    spelled = {other: rank for rank, text in enumerate(known) for other in _exponents(text)}
    spelled |= {text: rank for value, rank in once.items() for text in (str(value), _power(value))}
    pointed = {f"{sign}{value}.": rank for value, rank in once.items() for sign in ("" if value else "-", "")}
    return {**spelled, **{text: rank for rank, text in enumerate(known)}}, pointed


def has_other_spellings(known: tuple[str, ...]) -> bool:
    """Whether `places` accepts another spelling for some known text."""
    spelled, pointed = _spellings(known)
    return bool(pointed) or len(spelled) > len(known)


def _exponents(text: str) -> Iterator[str]:
    """The ways in which programs write a number with an exponent. A text without an exponent has no spellings of an
    exponent.
    """
    if found := _EXPONENT.fullmatch(text):
        digits, sign, power = found.groups()
        for places in (1, 2):
            yield from (f"{digits}e{each}{power:>0{places}}" for each in ((sign,) if sign == "-" else ("", "+")))


def _power(value: int) -> str:
    """A whole number with many zeros at its end, as R writes it, such as 1e+05."""
    if not value:
        return "0"
    digits = str(abs(value))
    more = digits[1:].rstrip("0")
    return f"{'-' if value < 0 else ''}{digits[0]}{'.' if more else ''}{more}e+{len(digits) - 1:02d}"


def _ranks(texts: pa.Array, known: dict[str, int]) -> np.ndarray:
    """The value of each text in a mapping, int64 of shape (m,); -1 for a text that is not in the mapping."""
    found = pc.index_in(texts, value_set=pa.array(list(known), texts.type))
    ranks = pc.take(pa.array(list(known.values()), pa.int64()), found)
    result: np.ndarray = pc.fill_null(ranks, -1).to_numpy(zero_copy_only=False)
    return result
