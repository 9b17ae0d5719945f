"""A reader of delimited text (CSV, TSV) that works record by record. Every record is one row, so that no content of one
person's record can move or remove another person's row.

The separator of the cells is one ASCII character, such as a comma. The quote is one ASCII character, or absent. Without
a quote, every line is a record. The file is in UTF-8 (`confide.tables._delimited` converts other encodings). The rows
are defined as follows, from the first line after the header on:

- A line that leaves no quoted cell open is a row. The row has the line's cells if the line is well-formed (RFC 4180,
  UTF-8), and otherwise no values.
- A line that leaves a quoted cell open goes on over the following lines, up to the end of the line on which the cell
  closes. Together the line and the following lines are one row if they are strict RFC 4180 and have exactly as many
  cells as the header. Strict means that a quote opens only at the start of a cell, and closes only before a separator
  or the end of the record. Line breaks inside the row are text.
- If the lines up to the closing quote are not strict, or the file ends before the cell closes, the first line alone is
  a row without values. Reading goes on at the next line.

A row longer than `LONGEST` bytes has no values. The reader finds the end of such a row at any distance.

The rules have a reason: CSV writers quote a cell that holds a line break. If every line were a row, a cell with a line
break would shift the rows of all other people, and a line inside the cell could pose as the row of another person. In a
file from a CSV writer, every record is read as it was written, and no cell can influence where another record begins.

A general CSV reader would also read the file of a CSV writer, but fails as a whole on a malformed line or a wrong
encoding. With the rules above, only the row of a broken line is lost. (No CSV writer makes a broken line.) An open
quote removes the following records only if a later quote closes it. The opening quotes of other cells do not close an
open quote, since content follows them. There are two exceptions. A cell that begins with a line break or a separator
closes an open quote, and so does a second broken line. If a second broken line closes the quote of a first one, nothing
distinguishes the two lines from a cell with line breaks.
"""

from __future__ import annotations

import csv
import io
import itertools
import mmap
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from confide.contract.errors import InvalidInput

__all__ = ["COMMAS", "Dialect", "Opened", "read_blocks", "read_header"]

Opened = Callable[[], io.RawIOBase | io.BufferedIOBase]
"""Function that opens the file of a table for one pass, at its beginning."""

_BLOCK = 1 << 22
LONGEST = 1 << 20
"""Longest record in bytes. A longer record is a row without values."""

_NEWLINE, _RETURN = b"\n\r"
_BOM = b"\xef\xbb\xbf"
_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "vertical bars"}
"""Common separators, with their names in messages."""


@dataclass(frozen=True)
class Dialect:
    """The signs of a delimited text, with the patterns of its records.

    Args:
        separator: the ASCII character between two cells.
        quote: the ASCII character around a cell that holds a separator or a line break; "" for none.
    """

    separator: str = ","
    quote: str = '"'

    @property
    def separator_byte(self) -> int:
        """The separator as a byte."""
        return ord(self.separator)

    @property
    def quote_byte(self) -> int:
        """The quote as a byte; -1 without a quote."""
        return ord(self.quote) if self.quote else -1

    @property
    def line(self) -> re.Pattern[bytes]:
        """Pattern of a well-formed line without its end, or of a record of several lines. Quotes inside an unquoted
        cell are accepted.
        """
        return _patterns(self)[0]

    @property
    def open(self) -> re.Pattern[bytes]:
        """Pattern of the beginning of a strict record, up to a place within a quoted cell."""
        return _patterns(self)[1]

    def record(self, cells: int | None) -> re.Pattern[bytes]:
        """Pattern of a strict record with a given number of cells, up to its newline. The value None stands for any
        number of cells. Quoted cells may hold line breaks.
        """
        return _record(self, cells)

    def names(self, header: str) -> list[str]:
        """The cells of a header, which is one record without its end.

        Raises:
            csv.Error: the header is malformed.
        """
        if not self.quote:
            return header.split(self.separator)
        return next(csv.reader([header], delimiter=self.separator, quotechar=self.quote, strict=True), [])


COMMAS = Dialect()
"""The dialect of RFC 4180."""


def _signs(dialect: Dialect) -> tuple[bytes, bytes, bytes]:
    """The separator and the quote within a class of a pattern, and the pattern of a quoted cell."""
    separator, quote = re.escape(dialect.separator.encode()), re.escape(dialect.quote.encode())
    quoted = quote + rb"(?:[^" + quote + rb"]++|" + quote + quote + rb")*+" + quote if quote else rb"(?!)"
    return separator, quote, quoted


@cache
def _patterns(dialect: Dialect) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """The patterns of `Dialect.line` and `Dialect.open`."""
    separator, quote, quoted = _signs(dialect)
    plain = rb"[^" + separator + rb"\r\n]*+"
    field = rb"(?>" + quoted + rb"|[^" + quote + separator + rb"\r\n]" + plain + rb"|)"
    line = re.compile(field + rb"(?:" + separator + field + rb")*+")
    if not quote:
        return line, re.compile(rb"(?!)")
    strict = rb"(?>" + quoted + rb"|[^" + quote + separator + rb"\r\n]*+)"
    return line, re.compile(rb"(?:" + strict + separator + rb")*+" + quoted.removesuffix(quote))


@cache
def _record(dialect: Dialect, cells: int | None) -> re.Pattern[bytes]:
    separator, quote, quoted = _signs(dialect)
    strict = rb"(?>" + quoted + rb"|[^" + quote + separator + rb"\r\n]*+)"
    more = rb"*+" if cells is None else b"{%d}+" % (cells - 1)
    return re.compile(strict + rb"(?:" + separator + strict + rb")" + more + rb"\r?")


def read_header(opened: Opened, name: str, dialect: Dialect = COMMAS, row: int = 1) -> tuple[tuple[str, ...], int]:
    """The names of the columns in the header, and the position in bytes at which the rows begin.

    A first line such as `sep=;`, which Excel reads, is left out.

    Args:
        opened: function that opens the file.
        name: name of the file in messages.
        dialect: the signs of the file.
        row: number of the line that is the header, from 1.

    Raises:
        InvalidInput: the file has no header, is not in UTF-8, or has other signs than the dialect.
    """
    with opened() as file:
        skipped = _start(file, name, dialect, row)
        file.seek(skipped)
        start = file.read(LONGEST + 1) or b""
    line = start[: start.find(b"\n") + 1] or start
    bare = start.removeprefix(_BOM)
    names_over_lines = dialect.record(None).match(bare)
    if dialect.open.fullmatch(line.removeprefix(_BOM)) and names_over_lines and (
            bare[names_over_lines.end() :][:1] in b"\n"):
        line = start[: len(start) - len(bare) + names_over_lines.end() + 1]
    if len(line) > LONGEST:
        raise InvalidInput("source", f"the first line of {name} is longer than {LONGEST} bytes")
    text = _header_text(line, name)
    _other_separator(text, name, dialect)
    try:
        names = [each.strip() for each in dialect.names(text)]
    except csv.Error:
        raise InvalidInput("source", f"the header of {name} is malformed") from None
    if not any(names):
        raise InvalidInput("source", f"{name} has no header", f"line {row} must name the columns" if row > 1 else
                           "the first line must name the columns")
    return tuple(names), skipped + len(line)


def _start(file: Any, name: str, dialect: Dialect, row: int) -> int:
    """Position in bytes of the line that is the header."""
    first = file.read(16)
    sign = re.match(rb"(?:\xef\xbb\xbf)?sep=(.)\r?\n", first, re.DOTALL)
    if sign and sign[1] != dialect.separator.encode():
        raise InvalidInput("separator", f"{name} says that its separator is {sign[1].decode('latin-1')!r}",
                           f"set separator = {sign[1].decode('latin-1')!r}")
    position = sign.end() if sign else 0
    file.seek(position)
    for line in range(1, row):
        rest = LONGEST
        while rest > 0 and not (chunk := file.readline(rest)).endswith(b"\n"):
            rest -= len(chunk)
            if not chunk:
                raise InvalidInput("header_row", f"{name} has {line - 1} {'line' if line == 2 else 'lines'}",
                                   f"must be at most {max(line - 1, 1)}")
        position = file.tell()
    return int(position)


def _header_text(line: bytes, name: str) -> str:
    try:
        text = line.removeprefix(_BOM).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        wide = line.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise InvalidInput("source", f"the header of {name} is not UTF-8", 'set encoding = "utf-16"' if wide else
                           'set encoding to the encoding of the file, such as "cp1252", or save the file as UTF-8'
                           ) from None
    if "\x00" in text:
        raise InvalidInput("source", f"the header of {name} has zero bytes, as UTF-16 has them",
                           'set encoding = "utf-16-le", or save the file as UTF-8')
    if "\r" in text and b"\n" not in line:
        raise InvalidInput("source", f"the lines of {name} end with a carriage return alone",
                           "save the file with the line ends of Windows or Unix")
    return text


def _other_separator(text: str, name: str, dialect: Dialect) -> None:
    """Refuse a header that has another common separator, but not the declared one."""
    if dialect.separator in text:
        return
    for separator, word in _SEPARATORS.items():
        if separator in text.strip():
            declared = _SEPARATORS.get(dialect.separator, f"{dialect.separator!r}").removesuffix("s")
            shown = "\\t" if separator == "\t" else separator
            raise InvalidInput("source", f"the header of {name} has {word} and no {declared}",
                               f'set separator = "{shown}"')


def _blocks(
    opened: Opened, start: int, cells: int, dialect: Dialect
) -> Iterator[tuple[bytes, np.ndarray | None]]:
    """The records from byte `start` on, cleaned, each with a newline behind it.

    Yields:
        Whole records, and the positions of the newlines that end them. None in place of the positions means that every
        newline ends a record.
    """
    rest, ended = b"", False
    with opened() as file:
        file.seek(start)
        while not ended:
            chunk = file.read(_BLOCK) or b""
            ended = not chunk
            rest += b"\n" if ended and rest and not rest.endswith(b"\n") else chunk
            done = rest.rfind(b"\n") + 1
            cleaned = _clean(rest[:done], dialect)
            if cleaned is None:
                inner, done = _inner(rest, cells, ended, dialect)
                cleaned = _clean(rest[:done], dialect, inner)
            if done and cleaned:
                yield cleaned
                start += done
                rest = rest[done:]
            # What is left begins a record, and none of it ends one.
            if len(rest) > LONGEST + 1:
                yield b"\n", None
                rest, start = b"", _behind(file.fileno(), start, cells, dialect)
                file.seek(start)


def _inner(block: bytes, cells: int, ended: bool, dialect: Dialect = COMMAS) -> tuple[np.ndarray, int]:
    """The newlines of a block that lie inside cells, by their number in the block, and the position up to which the
    list is certain.

    In a strict record every quote opens or closes a cell; an escaped quote counts as two. Therefore a line with an even
    number of quotes changes nothing. A record that a line leaves open ends at the next line with an odd number of
    quotes, or never. Therefore no line is examined more than twice, however many lines are broken.
    """
    inner: list[int] = []
    done = block.rfind(b"\n") + 1
    data = np.frombuffer(block, np.uint8, done)
    ends = np.flatnonzero(data == _NEWLINE)
    counts = np.searchsorted(np.flatnonzero(data == dialect.quote_byte), ends)
    odd: list[int] = np.flatnonzero(np.diff(counts, prepend=0) & 1).tolist()
    record, closed = dialect.record(cells), -1
    for line, following in itertools.zip_longest(odd, odd[1:]):
        if line == closed:
            continue
        start = int(ends[line - 1]) + 1 if line else 0
        if following is None:
            if not ended and dialect.open.fullmatch(block, start, done):
                return np.array(inner, np.int64), start
        elif record.fullmatch(block, start, int(ends[following])):
            inner.extend(range(line, following))
            closed = following
    return np.array(inner, np.int64), done


def _behind(file: int, start: int, cells: int, dialect: Dialect) -> int:
    """Position of the byte behind the record that begins at `start`. The record may be longer than memory."""
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as whole:
        match = dialect.record(cells).match(whole, start)
        end = match.end() if match else start
        del match  # it holds the map
        if end == start or whole[end : end + 1] not in (b"", b"\n"):
            end = whole.find(b"\n", start)
        return end + 1 if end >= 0 else len(whole)


def _clean(
    block: bytes, dialect: Dialect = COMMAS, inner: np.ndarray | None = None
) -> tuple[bytes, np.ndarray | None] | None:
    """Replace every record that is not well-formed by an empty record. The function also returns the ends of the
    records, or None if every newline is an end.

    Without `inner`, the newlines inside cells, the result is None if the block may have newlines inside cells. Most
    blocks have no newlines inside cells, and are therefore read once.
    """
    if b"\r" in block:
        if inner is not None:
            data = np.frombuffer(block, np.uint8)
            ends = np.delete(np.flatnonzero(data == _NEWLINE), inner)
            block = np.delete(data, ends[data[ends - 1] == _RETURN] - 1).tobytes()
        else:
            block = block.replace(b"\r\n", b"\n")
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        block = block.decode("utf-8", "replace").encode("utf-8")
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    if inner is not None:
        ends = np.delete(ends, inner)
        sizes = np.diff(ends, prepend=-1)
    pieces, done, quote = [], 0, dialect.quote.encode()
    for record in _doubtful(data, ends, dialect):
        start, end = int(ends[record - 1]) + 1 if record else 0, int(ends[record])
        if inner is None and dialect.quote and block.count(quote, start, end) % 2:
            return None
        if end - start > LONGEST or not dialect.line.fullmatch(block, start, end):
            pieces.append(block[done:start])
            done = end
            if inner is not None:
                sizes[record] = 1
    block = b"".join([*pieces, block[done:]]) if done else block
    return block, None if inner is None else np.cumsum(sizes) - 1


def _doubtful(data: np.ndarray, ends: np.ndarray, dialect: Dialect) -> np.ndarray:
    """The numbers of the records that may be malformed. All other records are certainly well-formed.

    In a well-formed record the quotes alternate between opening and closing. An opening quote stands at the start of a
    field or directly after a closing quote (an escaped quote). A closing quote stands before a separator, before the
    end, or directly before an opening quote.
    """
    doubtful = [np.flatnonzero(np.diff(ends, prepend=-1) > LONGEST + 1)]
    returns = np.flatnonzero(data == _RETURN)
    if len(returns):
        doubtful.append(np.searchsorted(ends, returns))
    quotes = np.flatnonzero(data == dialect.quote_byte)
    if len(quotes):
        line = np.searchsorted(ends, quotes)
        place = np.arange(len(quotes))
        last = np.append(line[1:] != line[:-1], True)
        first = np.append(True, last[:-1])
        odd = (place - np.maximum.accumulate(np.where(first, place, 0))) % 2 == 1
        before, after = np.where(quotes > 0, data[quotes - 1], _NEWLINE), data[quotes + 1]
        beside = np.where(odd, after, before)
        fine = np.isin(beside, (dialect.separator_byte, _NEWLINE, dialect.quote_byte)) & (odd | ~last)
        doubtful.append(line[~fine])
    return np.unique(np.concatenate(doubtful))


def read_blocks(
    opened: Opened, header: tuple[str, ...], start: int, columns: tuple[str, ...], odd: Counter[int] | None = None,
    dialect: Dialect = COMMAS,
) -> Iterator[pa.RecordBatch]:
    """The rows as texts, in blocks of a few megabytes. A row with a wrong number of cells is null in every column.

    Args:
        opened: function that opens the file.
        header: the names of all columns.
        start: position in bytes at which the rows begin.
        columns: names of the wanted columns.
        odd: counter of rows with a wrong number of cells. The function adds the number of such rows under the key of
            their number of cells. The key 0 stands for empty and malformed lines. In a file of one column an empty line
            is a row.
        dialect: the signs of the file.
    """
    odd = Counter() if odd is None else odd
    for block, ends in _blocks(opened, start, len(header), dialect):
        if len(header) > 1 and (block.startswith(b"\n") or b"\n\n" in block):
            lines = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) if ends is None else ends
            odd[0] += int(np.count_nonzero(np.diff(lines, prepend=-1) == 1))
        yield from _rows(block, ends, header, columns, odd, dialect).to_batches()


def _rows(
    block: bytes, ends: np.ndarray | None, header: tuple[str, ...], columns: tuple[str, ...], odd: Counter[int],
    dialect: Dialect = COMMAS,
) -> pa.Table:
    """The rows of a block, one for each record. If Arrow's parser finds another number of rows, the records are read
    one by one.
    """
    count = block.count(b"\n") if ends is None else len(ends)
    several = ends is not None
    table = _parse(block, count, header, columns, several, odd, dialect)
    if table is not None:
        return table
    if ends is None:
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
    null = pa.table({column: pa.nulls(1, pa.string()) for column in columns})
    cuts = [0, *(ends + 1).tolist()]
    rows = [_parse(block[start:end], 1, header, columns, several, odd, dialect)
            for start, end in itertools.pairwise(cuts)]
    odd[0] += sum(row is None for row in rows)
    return pa.concat_tables([null if row is None else row for row in rows]).combine_chunks()


def _parse(
    block: bytes, count: int, header: tuple[str, ...], columns: tuple[str, ...], several: bool, odd: Counter[int],
    dialect: Dialect = COMMAS,
) -> pa.Table | None:
    """The rows of a block, whose records may span several lines; None if there are not exactly `count` rows."""
    bad: list[int] = []
    lengths: list[int] = []

    def skip(row: Any) -> str:
        bad.append(row.number - 2)
        lengths.append(row.actual_columns)
        return "skip"

    # The parser drops a byte order mark at its beginning, and with it would see a quote behind the mark as an opening
    # one. A row of empty fields goes ahead, so that the mark is a character like any other.
    block = dialect.separator.encode() * (len(header) - 1) + b"\n" + block
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(block),
            read_options=pa.csv.ReadOptions(column_names=list(header), block_size=len(block) + 1, use_threads=False),
            parse_options=pa.csv.ParseOptions(delimiter=dialect.separator, quote_char=dialect.quote or False,
                                              ignore_empty_lines=False, invalid_row_handler=skip,
                                              newlines_in_values=several),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), include_columns=list(columns), null_values=[""],
                strings_can_be_null=True, check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows + len(bad) != count + 1:
        return None
    table = table.slice(1).combine_chunks()
    odd.update(lengths)
    if bad:
        source = np.full(table.num_rows + len(bad), -1)
        there = np.ones(len(source), np.bool_)
        there[bad] = False
        source[there] = np.arange(table.num_rows)
        table = table.take(pa.array(source, mask=~there)).combine_chunks()
    return table
