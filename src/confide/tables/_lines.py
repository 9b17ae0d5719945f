"""CSV by lines: one line is one row, whatever stands in it, so that nobody's cell can move or swallow another's row.

A general reader lets an open quote run over the following lines and fails as a whole on a wrong encoding. Here every
line that is not well-formed by itself (RFC 4180, UTF-8, no line break inside quotes) is one row without values.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from confide.contract.errors import InvalidInput

__all__ = ["read_blocks", "read_header"]

_BLOCK = 1 << 22
LONGEST = 1 << 20
"""Longest line in bytes; a longer one is not well-formed."""

_FIELD = rb'(?>"(?:[^"\r\n]++|"")*+"|[^",\r\n][^,\r\n]*+|)'
_LINE = re.compile(_FIELD + rb"(?:," + _FIELD + rb")*+")
_NEWLINE, _RETURN, _QUOTE, _COMMA = b'\n\r",'
_BOM = b"\xef\xbb\xbf"
_OTHER = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "unpack it, or save the sheet as CSV"),
    b"PK\x05\x06": ("an empty zip archive", "save the table as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "save the sheet as CSV"),
    b"\x1f\x8b": ("compressed with gzip", "unpack it (gunzip)"),
}
"""How files begin that often bear the wrong name: what they are, and what to do."""


def read_header(path: Path) -> tuple[tuple[str, ...], int]:
    """The names in the first line, and the byte at which the rows begin.

    Raises:
        InvalidInput: no header, not UTF-8, no commas, or no text at all.
    """
    with path.open("rb") as file:
        line = file.readline(LONGEST + 1)
    for magic, (what, remedy) in _OTHER.items():
        if line.startswith(magic):
            raise InvalidInput("source", f"{path.name} is {what}, not a CSV file", remedy)
    if len(line) > LONGEST:
        raise InvalidInput("source", f"the first line of {path.name} is longer than {LONGEST} bytes")
    try:
        text = line.removeprefix(_BOM).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("source", f"the header of {path.name} is not UTF-8", "save the file as UTF-8") from None
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if separator in text.strip() and "," not in text:
            problem = f"the header of {path.name} has {word} and no comma"
            raise InvalidInput("source", problem, "the separator must be a comma: save the file with commas")
    try:
        names = next(csv.reader([text], strict=True), [])
    except csv.Error:
        raise InvalidInput("source", f"the header of {path.name} is malformed") from None
    if not any(name.strip() for name in names):
        raise InvalidInput("source", f"{path.name} has no header", "the first line must name the columns")
    return tuple(name.strip() for name in names), len(line)


def _blocks(path: Path, start: int) -> Iterator[bytes]:
    """Whole lines from byte `start` on; every line ends with a newline, and none is longer than LONGEST."""
    rest, skipping = b"", False
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(_BLOCK):
            head, newline, tail = chunk.rpartition(b"\n")
            if not newline:
                if skipping or len(rest) + len(chunk) > LONGEST + 1:
                    rest, skipping = b"", True
                else:
                    rest += chunk
                continue
            if skipping:
                head, skipping = b"\n" + head.partition(b"\n")[2] if b"\n" in head else b"", False
            yield _clean(rest + head + b"\n")
            rest = tail
    if skipping or rest:
        yield _clean(b"\n" if skipping else rest + b"\n")


def _clean(block: bytes) -> bytes:
    """Every line that is not well-formed becomes an empty one."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        block = block.decode("utf-8", "replace").encode("utf-8")
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    pieces, done = [], 0
    for line in _doubtful(data, ends):
        start, end = int(ends[line - 1]) + 1 if line else 0, int(ends[line])
        if end - start > LONGEST or not _LINE.fullmatch(block, start, end):
            pieces.append(block[done:start])
            done = end
    return b"".join([*pieces, block[done:]]) if done else block


def _doubtful(data: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The numbers of the lines that may be malformed; all others surely are not.

    In a well-formed line every other quote opens, at the start of a field or right after a closing one (an escaped
    quote), and the next one closes, before a comma, the end, or right before an opening one.
    """
    doubtful = [np.flatnonzero(np.diff(ends, prepend=-1) > LONGEST + 1)]
    returns = np.flatnonzero(data == _RETURN)
    if len(returns):
        doubtful.append(np.searchsorted(ends, returns))
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes):
        line = np.searchsorted(ends, quotes)
        place = np.arange(len(quotes))
        last = np.append(line[1:] != line[:-1], True)
        first = np.append(True, last[:-1])
        odd = (place - np.maximum.accumulate(np.where(first, place, 0))) % 2 == 1
        before, after = np.where(quotes > 0, data[quotes - 1], _NEWLINE), data[quotes + 1]
        beside = np.where(odd, after, before)
        fine = ((beside == _COMMA) | (beside == _NEWLINE) | (beside == _QUOTE)) & (odd | ~last)
        doubtful.append(line[~fine])
    return np.unique(np.concatenate(doubtful))


def read_blocks(path: Path, header: tuple[str, ...], start: int, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The rows as text, in blocks of a few megabytes; a row with a wrong number of fields is null throughout.

    Args:
        path: the file.
        header: the names of all columns.
        start: the byte at which the rows begin.
        columns: the columns wanted.
    """
    for block in _blocks(path, start):
        yield from _rows(block, header, columns).to_batches()


def _rows(block: bytes, header: tuple[str, ...], columns: tuple[str, ...]) -> pa.Table:
    """As many rows as the block has lines: where the parser sees another number, it reads line by line."""
    table = _parse(block, header, columns)
    if table is not None:
        return table
    null = pa.table({column: pa.nulls(1, pa.string()) for column in columns})
    lines = (_parse(line + b"\n", header, columns) for line in block.split(b"\n")[:-1])
    return pa.concat_tables([null if line is None else line for line in lines]).combine_chunks()


def _parse(block: bytes, header: tuple[str, ...], columns: tuple[str, ...]) -> pa.Table | None:
    """The rows of a block; None unless there is exactly one for each of its lines."""
    bad: list[int] = []

    def skip(row: Any) -> str:
        bad.append(row.number - 2)
        return "skip"

    # The parser drops a byte order mark at its beginning, and with it would see a quote behind the mark as an opening
    # one. A row of empty fields goes ahead, so that the mark is a character like any other.
    block = b"," * (len(header) - 1) + b"\n" + block
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(block),
            read_options=pa.csv.ReadOptions(column_names=list(header), block_size=len(block) + 1, use_threads=False),
            parse_options=pa.csv.ParseOptions(ignore_empty_lines=False, invalid_row_handler=skip),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), include_columns=list(columns), null_values=[""],
                strings_can_be_null=True, check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows + len(bad) != block.count(b"\n"):
        return None
    table = table.slice(1).combine_chunks()
    if bad:
        source = np.full(table.num_rows + len(bad), -1)
        there = np.ones(len(source), np.bool_)
        there[bad] = False
        source[there] = np.arange(table.num_rows)
        table = table.take(pa.array(source, mask=~there)).combine_chunks()
    return table
