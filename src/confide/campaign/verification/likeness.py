"""Comparison of the values in a pack with the values that this machine computes.

Another processor may compute other last digits of a double. Two numbers count as equal if their relative difference is
at most `TOLERANCE`. Numbers of promises other than privacy losses may also differ by `TINY`. In a column of doubles,
all numbers below `ROUNDING` times the largest number count as equal, since numbers that cancel leave only rounding
errors. Whole numbers and words must be exactly equal, and so must digits within words.

A table in CSV is compared cell by cell, according to the type of the column. The types come from the table that is
computed on this machine, never from the stranger's text. Words that contain digits stay words, whole numbers stay
whole, and a large number in one cell does not affect its neighbours.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from confide.campaign.pack import as_csv
from confide.campaign.verification.findings import Broken

__all__ = ["ROUNDING", "TINY", "TOLERANCE", "Difference", "alike", "contradict", "contradicts", "differences",
           "same_doubles", "same_rows", "same_table", "same_text", "same_words", "split_numbers"]

TOLERANCE = 1e-9
"""Largest relative difference between numbers that count as equal. The tolerance applies to privacy losses, too: nobody
can tell losses this close apart.
"""

TINY = 1e-12
"""Largest absolute difference between numbers of promises that count as equal, since numbers that cancel leave only
rounding errors. The absolute difference never applies to a privacy loss.
"""

ROUNDING = 2.0**-46
"""Largest ratio to the largest number of a column at which numbers of the column count as equal: 64 times 2^-52, which
is the machine epsilon of doubles.
"""

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")
_FULL = 15  # digits of a double that is written in full: names and rounded numbers have less
_DIGITS = 25  # letters of a number at most: no double needs more


@dataclass(frozen=True)
class Difference:
    """A place where two JSON values differ.

    Args:
        path: the keys that lead to the place, joined by points; the positions in lists count from 1.
        now: the value that follows from the public files.
        then: the value in the pack.
        numbers: whether both values are numbers and at least one of them is not whole; any other value has no last
            digits in which processors could differ.
    """

    path: str
    now: Any
    then: Any
    numbers: bool

    def __str__(self) -> str:
        return f"{self.path or 'it'} is {_short(self.then)}, not {_short(self.now)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def alike(now: Any, then: Any, absolute: float = 0.0) -> bool:
    """Whether two JSON values, which are neither lists nor objects, are equal or are doubles within the tolerance.

    Args:
        now: the value that follows from the public files.
        then: the value in the pack.
        absolute: the absolute difference up to which doubles count as equal, besides the relative `TOLERANCE`; at least
            0. If `absolute` is above 0, the doubles within two texts may differ as well.
    """
    if _doubles(now, then):
        return math.isclose(now, then, rel_tol=TOLERANCE, abs_tol=absolute)
    if absolute and isinstance(now, str) and isinstance(then, str):
        return same_text(now, then, absolute)
    return type(now) is type(then) and bool(now == then)


def _doubles(now: Any, then: Any) -> bool:
    return {type(now), type(then)} <= {int, float} and float in (type(now), type(then))


def differences(now: Any, then: Any, path: str = "") -> Iterator[Difference]:
    """The places where two JSON values differ by more than the tolerance of `alike`. All paths in the result begin with
    `path`.
    """
    if isinstance(now, dict) and isinstance(then, dict) and now.keys() == then.keys() and (
        now.get("type") == then.get("type")
    ):
        for key in now:
            yield from differences(now[key], then[key], f"{path}.{key}" if path else key)
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for place, (mine, theirs) in enumerate(zip(now, then, strict=True), 1):
            yield from differences(mine, theirs, f"{path}[{place}]")
    elif isinstance(now, dict | list) or isinstance(then, dict | list) or not alike(now, then):
        yield Difference(path, now, then, _doubles(now, then))


def same_text(now: str, then: str, absolute: float = 0.0) -> bool:
    """Whether two texts are the same, except for the last digits of their numbers.

    Args:
        now: the text that follows from the public files.
        then: the text in the pack.
        absolute: the absolute difference up to which numbers count as equal, besides the relative `TOLERANCE`; at least
            0.

    Example:
        >>> same_text("age,0.30000000000000004", "age,0.3"), same_text("age,0.3", "age,0.4"), same_text("17", "18")
        (True, False, False)
    """
    if now == then:
        return True
    if len(then) > 2 * len(now) + _DIGITS:  # a stranger's may be far longer
        return False
    mine, theirs = split_numbers(now), split_numbers(then)
    return len(mine) == len(theirs) and mine[::2] == theirs[::2] and all(
        _same_number(one, other, absolute) for one, other in zip(mine[1::2], theirs[1::2], strict=True))


def contradicts(known: Iterable[str], then: str) -> bool:
    """Whether a text has the same words as at least one known text, but not the numbers of any known text with these
    words.

    Args:
        known: the texts that follow from the public files.
        then: the text in the pack.

    Example:
        >>> contradicts(["3 of 4 bars"], "3 of 5 bars"), contradicts(["3 of 4 bars"], "3 of 5 lines")
        (True, False)
    """
    same = [each for each in known if split_numbers(each)[::2] == split_numbers(then)[::2]]
    return bool(same) and not any(same_text(each, then) for each in same)


def same_words(now: str, then: str) -> bool:
    """Whether two texts are the same, character by character, except for the last digits of doubles that are written
    with all their digits.

    Example:
        >>> same_words("0.30000000000000004 mol", "0.3 mol"), same_words("item 1.1", "item 1.10")
        (True, False)
    """
    if now == then:
        return True
    mine, theirs = split_numbers(now), split_numbers(then)
    return len(mine) == len(theirs) and mine[::2] == theirs[::2] and all(
        one == other or (sum(map(str.isdigit, one)) >= _FULL and same_doubles([one], [other]))
        for one, other in zip(mine[1::2], theirs[1::2], strict=True))


def split_numbers(text: str) -> tuple[str, ...]:
    """The pieces of a text: words and numbers in alternation, beginning and ending with words. A piece of words may be
    empty.
    """
    return tuple(_NUMBER.split(text))


def same_doubles(now: Sequence[str], then: Sequence[str]) -> bool:
    """Whether two columns of doubles are the same, except for the last digits. Each number must be written exactly as
    Python writes it.

    Args:
        now: the column that follows from the public files, as Python writes doubles; empty texts for missing numbers.
        then: the column in the pack.

    Example:
        >>> same_doubles(["0.3", "1e-17"], ["0.3", "-2e-17"]), same_doubles(["1e-17"], ["-2e-17"])
        (True, False)
    """
    if len(now) != len(then):
        return False
    scale = ROUNDING * max((abs(each) for each in map(_double, now) if each is not None), default=0.0)
    return all(one == other or _alike_doubles(_double(one), _double(other), scale)
               for one, other in zip(now, then, strict=True))


def _double(text: str) -> float | None:
    """The finite number that Python writes as this text; None where there is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if repr(value) == text and math.isfinite(value) else None


def _alike_doubles(now: float | None, then: float | None, scale: float) -> bool:
    if now is None or then is None:
        return False
    return math.isclose(now, then, rel_tol=TOLERANCE) or max(abs(now), abs(then)) <= scale


def _same_number(now: str, then: str, absolute: float) -> bool:
    if now == then:
        return True
    if len(then) > _DIGITS or set(now + then) <= set("-0123456789"):
        return False
    return math.isclose(float(now), float(then), rel_tol=TOLERANCE, abs_tol=absolute)


_BATCH = 1 << 16  # rows
_OVERHEAD = 1 << 16  # bytes that a column takes beside its values, at most


def same_table(now: pa.Table, then: str) -> bool:
    """Whether a CSV text holds a given table, except for the last digits of doubles. The text must have the form in
    which packs write tables.

    Args:
        now: the table that follows from the public files.
        then: the text in the pack.
    """
    mine = as_csv(now)
    if mine == then:
        return True
    if len(then) > 2 * len(mine) + 25 * (now.num_rows + 1) * now.num_columns:  # a stranger's may be far longer
        return False
    try:
        rows = list(csv.reader(io.StringIO(then), strict=True))
    except csv.Error:
        return False
    if _text(rows) != then or not rows or rows[0] != now.column_names or len(rows) - 1 != now.num_rows or any(
        len(row) != now.num_columns for row in rows
    ):
        return False
    return all(_same_column(column, [row[k] for row in rows[1:]]) for k, column in enumerate(now.columns))


def contradict(now: pa.Table, then: str) -> bool:
    """Whether a table from another version of confide differs from a given table in a shared column or in the number of
    rows, or has no column in common with the given table.

    Args:
        now: the table that follows from the public files.
        then: the text in the pack.

    Raises:
        Broken: the text is no table.
    """
    try:
        head, *rows = csv.reader(io.StringIO(then), strict=True)
    except (csv.Error, ValueError) as error:
        raise Broken(f"a table is not CSV: {error}") from None
    if len(set(head)) < len(head) or any(len(row) != len(head) for row in rows):
        raise Broken("a table has cells without a heading of their own")
    shared = [name for name in now.column_names if name in head]
    return not shared or len(rows) != now.num_rows or any(
        not _same_column(now[name], [row[head.index(name)] for row in rows]) for name in shared)


def same_rows(now: pa.Table, then: bytes) -> bool:
    """Whether a Parquet file that other software wrote holds exactly the values of a given long table, except for the
    last digits of its doubles.

    Args:
        now: the table that follows from the public files.
        then: the bytes of the file in the pack.
    """
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(then))
        said = file.metadata
        size = sum(said.row_group(k).total_byte_size for k in range(said.num_row_groups))
        if file.schema_arrow.remove_metadata() != now.schema.remove_metadata() or said.num_rows != now.num_rows or (
            size > 4 * now.nbytes + _OVERHEAD * now.num_columns  # what it unpacks to
        ):
            return False
        place = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            mine = now.slice(place, batch.num_rows)
            if not all(_same_values(one, pa.chunked_array([other]))
                       for one, other in zip(mine.columns, batch.columns, strict=True)):
                return False
            place += batch.num_rows
    except (pa.ArrowException, OSError):
        return False
    return bool(place == now.num_rows)


def _same_values(now: pa.ChunkedArray, then: pa.ChunkedArray) -> bool:
    if now.equals(then):
        return True
    return pa.types.is_floating(now.type) and same_doubles(
        *(["" if each is None else repr(each) for each in column.to_pylist()] for column in (now, then)))


def _same_column(now: pa.ChunkedArray, then: Sequence[str]) -> bool:
    mine = [row[0] for row in csv.reader(io.StringIO(_text([[value] for value in now.to_pylist()])))]
    if mine == list(then):
        return True
    return pa.types.is_floating(now.type) and same_doubles(mine, then)


def _text(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
