"""A reader of SAS transport files (.xpt), versions 5 and 8, as SAS's technical notes TS-140 and its successor describe
them.

General readers give special missing values (.A to .Z, ._) as plain missing ones, and read the header and the rows of a
second data set in the file as rows of the first one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.tables._file_headers import unreadable
from confide.tables._stat_readers import BYTES, RawColumn, StatReader, broken

__all__ = ["Transport"]

_CARD = 80  # bytes of a record of the header
_MOST = 1 << 24  # bytes of the header


class _Variable(NamedTuple):
    text: bool
    width: int
    at: int


class Transport(StatReader):
    """A SAS transport file with one data set.

    Args:
        path: path of the file.

    Raises:
        InvalidInput: the file is damaged, or has several data sets.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.value_labels, self.missing = {}, {}
        try:
            self._read_header(path)
            self._read_end(path)
        except InvalidInput:
            raise
        except (struct.error, ValueError, IndexError, OSError) as error:
            raise broken(path, error) from None

    def _read_header(self, path: Path) -> None:
        with path.open("rb") as file:
            start = file.read(_MOST)
        new = start[:_CARD].startswith(b"HEADER RECORD*******LIBV8")
        at = start.index(b"HEADER RECORD*******NAMSTV8" if new else b"HEADER RECORD*******NAMESTR")
        member = start.index(b"HEADER RECORD*******MEMB")
        count, size = int(start[at + 48 : at + 58]), int(start[member + 74 : member + 78])
        at += _CARD
        self._variables: dict[str, _Variable] = {}
        names, formats, labels, place = list[str](), dict[str, str](), dict[str, str](), 0
        for number in range(count):
            block = start[at + number * size : at + (number + 1) * size]
            kind, _, width, _ = struct.unpack(">hhhh", block[:8])
            name = _text(block[88:120] if new else block[8:16])
            if kind not in (1, 2) or width < 1 or (kind == 1 and width > 8) or name in self._variables:
                raise ValueError
            form, digits, places = _text(block[56:64]), *struct.unpack(">hh", block[64:68])
            formats[name] = form + (str(digits) if digits > 0 else "") + (f".{places}" if places > 0 else "")
            labels[name] = _text(block[16:56])
            self._variables[name] = _Variable(kind == 2, width, place)
            # The positions are sums of the widths: the positions that SAS writes in version 8 have another order.
            place += width
            names.append(name)
        end = start.index(b"HEADER RECORD*******OBSV8" if new else b"HEADER RECORD*******OBS ", at)
        if not names or (end % _CARD):
            raise ValueError
        declared = re.match(rb"\s*(\d{1,15})", start[end + 48 : end + _CARD]) if new else None
        self.names, self.formats = tuple(names), formats
        self.labels = {name: label for name, label in labels.items() if label}
        self.texts = frozenset(name for name, variable in self._variables.items() if variable.text)
        self._length, self._start = place, end + _CARD
        self.rows = int(declared[1]) if declared and int(declared[1]) else None

    def _read_end(self, path: Path) -> None:
        """The number of rows. Blank rows within the last 80 bytes may be padding, and are not read. The record of such
        a row would be empty.
        """
        size = path.stat().st_size - self._start
        if size < 0:
            raise ValueError
        with path.open("rb") as file:
            file.seek(self._start)
            self._refuse_second(file, size)
            count, rest = divmod(size, self._length)
            if self.rows is not None:
                if self.rows > count:
                    raise ValueError
                return
            tail = max(count - _CARD // self._length - 1, 0)
            file.seek(self._start + tail * self._length)
            rows = file.read((count - tail) * self._length)
        last = count
        while last > tail and (count - last + 1) * self._length + rest < _CARD and (
                not rows[(last - 1 - tail) * self._length : (last - tail) * self._length].strip(b" ")):
            last -= 1
        self.rows = last

    def _refuse_second(self, file: Any, size: int) -> None:
        """Refuse a file with a second data set, which has a header of its own at a multiple of 80 bytes."""
        mark, done, before = b"HEADER RECORD*******MEMB", 0, b""
        while done < size:
            chunk = before + file.read(_CARD << 14)
            at = chunk.find(mark)
            while at >= 0:
                if (done - len(before) + at) % _CARD == 0 and b"HEADER RECORD!!!!!!!" in chunk[at : at + _CARD]:
                    raise InvalidInput("source", f"{self._path.name} has more than one data set",
                                       "write one data set to each transport file")
                at = chunk.find(mark, at + 1)
            done += len(chunk) - len(before)
            if len(chunk) == len(before):
                break
            before = chunk[-_CARD:]

    def read(self, columns: Sequence[str], rows: int) -> Iterator[list[RawColumn]]:
        left = self.rows or 0
        try:
            with self._path.open("rb") as file:
                file.seek(self._start)
                while left > 0:
                    count = min(rows, left)
                    data = np.fromfile(file, np.uint8, count * self._length).reshape(count, self._length)
                    yield [self._column(self._variables[name], data) for name in columns]
                    left -= count
        except (OSError, ValueError) as error:
            raise unreadable(self._path, error) from None

    @staticmethod
    def _column(variable: _Variable, data: np.ndarray) -> RawColumn:
        cells = data[:, variable.at : variable.at + variable.width]
        if variable.text:
            return RawColumn(pa.array([row.tobytes().rstrip(b" \0") for row in cells], pa.large_binary()))
        raw = np.zeros((len(cells), 8), np.uint8)
        raw[:, : variable.width] = cells
        values, tags = ibm_floats(raw)
        letters = np.array([*map(chr, range(128))], dtype=object)[np.minimum(tags, 127)]
        return RawColumn(pa.array(np.where(tags > 0, 0.0, values), pa.float64(), mask=tags > 0),
                         pa.array(letters, pa.large_string(), mask=(tags == 0) | (tags == ord("."))))


def _text(raw: bytes) -> str:
    return raw.rstrip(b" \0").decode(BYTES)


def ibm_floats(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Floating-point numbers of IBM mainframes, which have a base of 16.

    Args:
        raw: uint8 of shape (m, 8), the bytes of the m numbers.

    Returns:
        The numbers, float64 of shape (m,), rounded to a double if they have more than 53 bits. The letters of missing
        values, uint8 of shape (m,): "A" to "Z", "_", or "." for a plain missing value; 0 for a number.
    """
    first, rest = raw[:, 0], raw[:, 1:]
    letter = ((first >= ord("A")) & (first <= ord("Z"))) | (first == ord("_")) | (first == ord("."))
    tags = np.where((rest == 0).all(axis=1) & letter, first, 0)
    fraction = np.zeros(len(raw), np.uint64)
    for place in range(7):
        fraction = fraction << np.uint64(8) | rest[:, place].astype(np.uint64)
    values = np.ldexp(fraction.astype(np.float64), 4 * ((first & 127).astype(np.int64) - 64) - 56)
    return np.where(((first & 128) > 0) & (fraction > 0), -values, values), tags
