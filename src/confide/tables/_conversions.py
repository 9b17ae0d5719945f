"""Conversions of whole columns, cell by cell: texts that spell numbers or dates, codes with labels, and bytes of an
encoding.

As in `confide.tables._cells`, the result for a cell never depends on the cells beside it.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.tables._cells import is_text, places, spells_number, strings
from confide.tables.read_options import ColumnFacts, date_order

__all__ = ["FIRST_DAY", "LAST_DAY", "code_of", "dates_of", "decoded", "labelled_texts", "mask_of", "spelled_dates",
           "spelled_numbers", "without_words"]

FIRST_DAY, LAST_DAY = (int(np.datetime64(day, "D").astype(int)) for day in ("0001-01-01", "9999-12-31"))
"""First and last day of a date, in days since 1970."""

_THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_PART = {"year": ("{4}", "{4}"), "month": ("{1,2}", "{2}"), "day": ("{1,2}", "{2}")}
_TIME = r"(?:[T ]+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}|[aApP][mM]))?)?"
_GARBLED = "[\u0080-\u009f\ufffd]"
"""Pattern of the characters that appear where bytes are read in a wrong encoding."""


def mask_of(condition: pa.Array) -> np.ndarray:
    """An Arrow array of booleans as a numpy array, with False for a null."""
    found: np.ndarray = pc.fill_null(condition, False).to_numpy(zero_copy_only=False)
    return found


def without_words(array: pa.Array, words: Collection[str]) -> pa.Array:
    """A plain column, with a null in place of each text that is one of the words. A column of another type than text is
    unchanged.
    """
    if not words or not is_text(array):
        return array
    empty = pc.is_in(pc.ascii_trim_whitespace(array), value_set=pa.array(list(words), pa.large_string()))
    return pc.if_else(empty, pa.scalar(None, array.type), array)


# ---- numbers


@cache
def _declared(decimal: str, thousands: str) -> str:
    """Pattern of the numbers in a declared style."""
    mark, sign = re.escape(decimal), _THOUSANDS[thousands]
    whole = rf"(?:[0-9]{{1,3}}(?:{sign}[0-9]{{3}})+|[0-9]+)" if sign else "[0-9]+"
    return rf"^[+-]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def spelled_numbers(texts: pa.Array, decimal: str, thousands: str) -> tuple[pa.Array, np.ndarray]:
    """Texts in which the numbers of a declared style are spelled with a decimal point and without signs between
    thousands: `1.234,50` becomes `1234.50`.

    Args:
        texts: large_string array of the m cells.
        decimal: the decimal mark.
        thousands: the sign between thousands; "" for none.

    Returns:
        The texts, and a mask of shape (m,) of the numbers in another style, such as `1234.50` with a decimal comma.
        These cells are null. Other texts that spell no number are unchanged.
    """
    trimmed = pc.ascii_trim_whitespace(texts)
    fits = pc.match_substring_regex(trimmed, _declared(decimal, thousands))
    found = trimmed
    if thousands:
        found = pc.replace_substring_regex(found, pattern=_THOUSANDS[thousands], replacement="")
    if decimal != ".":
        found = pc.replace_substring(found, pattern=decimal, replacement=".")
    wrong = pc.and_not(pc.and_(spells_number(trimmed), pc.match_substring_regex(trimmed, "[0-9]")), fits)
    result = pc.if_else(fits, found, pc.if_else(wrong, pa.scalar(None, texts.type), texts))
    return result, mask_of(wrong)


# ---- dates


@cache
def _date_pattern(order: str) -> str:
    """Pattern of the dates of an order, with a group for each part. A time of day may follow."""
    parts, sign = date_order("dates", order)
    groups = (rf"(?P<{part}>[0-9]{_PART[part][0 if sign else 1]})" for part in parts)
    return "^" + re.escape(sign).join(groups) + _TIME + "$"


def dates_of(column: str, array: pa.Array, order: str) -> tuple[pa.Array, list[tuple[np.ndarray, str]]]:
    """A column of dates, timestamps or texts as date32 of shape (m,). A timestamp becomes the day that it shows.

    Args:
        column: name of the column in messages.
        array: plain Arrow array of the m cells.
        order: order of the parts of a date in a text, as in `ReadOptions.dates`.

    Returns:
        The dates, and pairs of a mask and the problem of the cells in the mask. These cells are null.

    Raises:
        InvalidInput: the column's type holds neither dates nor texts. The error never depends on the values.
    """
    kind, types = array.type, pa.types
    if types.is_null(kind):
        return pa.nulls(len(array), pa.date32()), []
    if is_text(array):
        return _days_of_texts(array, order)
    if types.is_timestamp(kind):
        if kind.tz is not None:
            array = pc.local_timestamp(array)
        unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit] * 86400
        days = _int64(array) // unit
    elif types.is_date64(kind):
        days = _int64(array) // 86_400_000
    elif types.is_date32(kind):
        days = _int64(pc.cast(array, pa.int32()))
    else:
        raise InvalidInput(column, f"the column is of type {kind}", "must be dates, or text that spells them")
    there = mask_of(pc.is_valid(array))
    outside = there & ((days < FIRST_DAY) | (days > LAST_DAY))
    return _date32(days, there & ~outside), [(outside, "a date outside the years 1 to 9999")]


def _int64(array: pa.Array) -> np.ndarray:
    found: np.ndarray = pc.fill_null(pc.cast(array, pa.int64()), 0).to_numpy(zero_copy_only=False)
    return found


def _date32(days: np.ndarray, there: np.ndarray) -> pa.Array:
    return pa.array(np.where(there, days, 0).astype(np.int32), pa.int32(), mask=~there).cast(pa.date32())


def _days_of_texts(texts: pa.Array, order: str) -> tuple[pa.Array, list[tuple[np.ndarray, str]]]:
    trimmed = pc.ascii_trim_whitespace(texts)
    parts = pc.extract_regex(trimmed, _date_pattern(order))
    spelled = mask_of(pc.is_valid(parts))
    numbers = {name: pc.fill_null(pc.cast(pc.if_else(pa.array(spelled), pc.struct_field(parts, name), "0"), pa.int64()),
                                  0).to_numpy(zero_copy_only=False) for name in ("year", "month", "day")}
    year, month, day = numbers["year"], numbers["month"], numbers["day"]
    months = (year - 1970) * 12 + month - 1
    start, following = (each.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
                        for each in (months, months + 1))
    there = spelled & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= following - start)
    other = mask_of(pc.not_equal(trimmed, "")) & ~spelled
    return _date32(start + day - 1, there), [
        (spelled & ~there, "a date that does not exist"), (other, f"no date in the order {order}")]


def spelled_dates(array: pa.Array) -> pa.Array:
    """A column of dates or timestamps as texts of ISO 8601, such as 2024-05-22."""
    return pc.cast(array, pa.large_string())


# ---- labels


def labelled_texts(column: str, array: pa.Array, facts: ColumnFacts, kept: Collection[str]) -> pa.Array:
    """A column of codes as texts: the label of a code that has one, and otherwise the code.

    Args:
        column: name of the column in messages.
        array: the m codes, as an Arrow array of numbers or texts.
        facts: the value labels of the column.
        kept: codes that are kept as codes.

    Raises:
        InvalidInput: two codes of answers have one label, or the column's type cannot be converted to text.
    """
    labels = {code: label for code, label in facts.labels.items() if code not in kept}
    uses = Counter(label for code, label in labels.items() if not facts.is_missing(code))
    twice = next((label for label, count in uses.items() if count > 1), None)
    if twice is not None:
        codes = [code for code, label in labels.items() if label == twice and not facts.is_missing(code)]
        raise InvalidInput(column, f"the codes {' and '.join(codes)} have one label, {twice!r}",
                           "give the column labels = {code = level} that say which codes count as one level")
    texts = strings(column, array)
    at = places(texts, tuple(labels))
    named = pa.array(list(labels.values()), pa.large_string()).take(pa.array(np.maximum(at, 0)))
    return pc.if_else(pa.array(at >= 0), named, texts)


# ---- encodings


def decoded(raw: pa.Array, encodings: tuple[str, ...]) -> tuple[pa.Array, np.ndarray]:
    """Bytes as texts, each decoded separately.

    Args:
        raw: large_binary array of the m cells.
        encodings: encodings that are tried in this order for each cell. With one encoding, a text that was cut within
            its last letter is read without this letter: fields of statistical files have a fixed number of bytes.

    Returns:
        The texts, and a mask of shape (m,) of the cells that are no text in any of the encodings. These cells are null.
        A text counts as wrong too if it holds a control character of Latin-1 or the replacement character, which appear
        where bytes are read in a wrong encoding.
    """
    texts = raw.view(pa.large_string())
    buffer = raw.buffers()[2]
    if buffer is None or not len(raw) or memoryview(buffer).nbytes == 0 or bytes(buffer).isascii():
        return texts, np.zeros(len(raw), np.bool_)
    if encodings[0] == "utf-8":
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            pass
        else:
            wrong = pc.match_substring_regex(texts, _GARBLED)
            return pc.if_else(wrong, pa.scalar(None, texts.type), texts), mask_of(wrong)
    encoded = pc.dictionary_encode(raw)
    found = [_decoded(each, encodings) for each in encoded.dictionary.to_pylist()]
    texts = pa.array(found, pa.large_string()).take(encoded.indices)
    return texts, mask_of(pc.and_(pc.is_valid(raw), pc.is_null(texts)))


def _decoded(raw: bytes, encodings: tuple[str, ...]) -> str | None:
    for each in encodings:
        try:
            text = codecs.getincrementaldecoder(each)().decode(raw, final=len(encodings) > 1)
        except UnicodeDecodeError:
            continue
        if not re.search(_GARBLED, text):
            return text
    return None


def code_of(value: Any) -> str:
    """The text of a code of a statistical file, which is a number or the text of a cell. A whole float is spelled as an
    integer.

    Example:
        >>> code_of(1.0), code_of(99.5), code_of("no "), code_of(-8)
        ('1', '99.5', 'no', '-8')
    """
    if isinstance(value, str):
        return value.strip()
    return str(strings("", pa.array([float(value)], pa.float64()))[0].as_py())
