"""Delimited text files (CSV, TSV) of any declared dialect and encoding as tables of texts."""

from __future__ import annotations

import codecs
import io
import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.tables import _lines
from confide.tables._conversions import mask_of
from confide.tables._file_headers import refuse_other_formats, unreadable
from confide.tables.read_options import ReadOptions, codec, is_superset_of_ascii
from confide.tables.table_source import Faults, TableSource, slices

__all__ = ["SUFFIXES", "Delimited"]

SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
"""Suffixes of delimited text files."""

_SETTINGS = ("separator", "decimal", "thousands", "quote", "encoding", "dates", "missing", "header_row", "labels",
             "codebook")
_CHUNK = 1 << 22


class Delimited(TableSource):
    """A delimited text file. Every cell is a text, and a cell that is empty is null.

    Args:
        path: path of the file.
        options: the settings of the file.

    Raises:
        InvalidInput: the file has no header, has another dialect or encoding, or is not a text file.
    """

    untyped = True

    def __init__(self, path: Path, options: ReadOptions) -> None:
        options.allow_only(_SETTINGS, "a text file")
        self.name, self.options, self._path = path.name, options, path
        separator = options.separator or ("," if path.suffix.lower() == ".csv" else "\t")
        self._dialect = _lines.Dialect(separator, options.quote)
        self._odd = Counter[int]()
        refuse_other_formats(path)
        encoding = codec("encoding", options.encoding) if options.encoding else "utf-8"
        try:
            self._opened = _opener(path, encoding)
            self.column_names, self._start = _lines.read_header(self._opened, path.name, self._dialect,
                                                                options.header_row)
        except OSError as error:
            raise unreadable(self._path, error) from None

    @property
    def odd_rows(self) -> Counter[int]:
        return self._odd

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        self._odd = odd = Counter[int]()
        faults, first = self._faults or Faults(), 1
        try:
            for block in _lines.read_blocks(self._opened, self.column_names, self._start, columns, odd, self._dialect):
                self._look(block, first, faults)
                first += block.num_rows
                yield from slices(block, rows)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self._path, error) from None

    def _look(self, block: pa.RecordBatch, first: int, faults: Faults) -> None:
        """List the cells with a replacement character, which stands in place of bytes that are no text."""
        for name, cells in zip(block.schema.names, block.columns, strict=True):
            wrong = mask_of(pc.match_substring(cells, "\ufffd"))
            faults.add_all(name, "bytes that are no text in the encoding of the file", "set encoding to the encoding "
                           'of the file, such as "cp1252", or save the file as UTF-8', wrong, first, cells, empty=False)


def _opener(path: Path, encoding: str) -> _lines.Opened:
    """A function that opens a file as UTF-8. A file in another encoding is converted once, into an unnamed temporary
    file.
    """
    if encoding in ("utf-8", "utf-8-sig", "ascii"):
        return lambda: path.open("rb")
    wide = encoding.startswith(("utf-16", "utf-32"))
    if not wide and not is_superset_of_ascii(encoding):
        raise InvalidInput("encoding", f"{encoding!r} has other line ends and separators than ASCII",
                           "save the file as UTF-8")
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it is read as long as the opener is there
    with path.open("rb") as source:
        for text in _decoded(source, encoding) if wide else _decoded_by_lines(source, encoding):
            file.write(text.encode("utf-8", "replace"))
    file.flush()

    def opened() -> io.BufferedReader:
        return io.BufferedReader(_View(file))

    weakref.finalize(opened, file.close)
    return opened


def _decoded(source: Any, encoding: str) -> Iterator[str]:
    """The text of a file in an encoding of 2 or 4 bytes a character. A broken character spoils itself alone."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while chunk := source.read(_CHUNK):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _decoded_by_lines(source: Any, encoding: str) -> Iterator[str]:
    """The text of a file in a superset of ASCII, in which the byte of a line end is nothing else. Bytes that are no
    text are replaced within their line, and never reach another line.
    """
    rest = b""
    while True:
        chunk = source.read(_CHUNK)
        rest += chunk
        done = rest.rfind(b"\n") + 1 if chunk else len(rest)
        block, rest = rest[:done], rest[done:]
        try:
            yield block.decode(encoding)
        except UnicodeDecodeError:
            # Without its end: a decoder may take the end of a line for a part of a broken character.
            yield "\n".join(line.decode(encoding, "replace") for line in block.split(b"\n"))
        if not chunk:
            return


class _View(io.RawIOBase):
    """A reader of a file with a position of its own, so that several passes can read the file at the same time."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        number: int = self._file.fileno()
        return number

    def seek(self, position: int, whence: int = 0) -> int:
        start = (0, self._at, os.fstat(self.fileno()).st_size)[whence]
        self._at = start + position
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self.fileno(), len(buffer), self._at)
        memoryview(buffer)[: len(data)] = data
        self._at += len(data)
        return len(data)
