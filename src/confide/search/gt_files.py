"""Files of graph-tool (.gt, .gt.gz): the pairs, and one property of the edges where it is asked for.

A file is a header, for each vertex a list of the neighbours that it names, and property maps one after the other. An
undirected edge stands in one of the two lists. Edges come in the order of the lists, and so do their properties.

Source: spec targeted_search 8; graph-tool's documentation of the format.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.words import cause

__all__ = ["GtPairs", "read_gt"]

_MAGIC = "⛾ gt".encode()
_VERSION = 1
_PACKED = b"\x1f\x8b"
_GRAPH, _VERTEX, _EDGE = 0, 1, 2
_SCALARS = ("u1", "i2", "i4", "i8", "f8", "V16")
"""Types 0 to 5; 6 is text, 7 to 12 are lists of these, 13 lists of text, 14 a pickled object, which is never opened."""
_TEXT, _TEXTS, _OBJECT = 6, 13, 14


class GtPairs(NamedTuple):
    """What a file says.

    Args:
        first: int64 (r,), ranks.
        second: int64 (r,).
        people: n.
        directed: whether the pairs have a direction.
        weight: float64 (r,), the property that was asked for.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    people: int
    directed: bool
    weight: NDArray[np.float64] | None


class _Reader:
    """A place in the bytes, which never goes beyond their end."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path, self.at, self.order = data, path, 0, "<"

    def broken(self) -> NoReturn:
        raise InvalidInput("path", f"{self.path} is no whole file of graph-tool", "must be .gt or .gt.gz, version 1")

    def skip(self, size: int) -> int:
        """Move on; returns where the skipped bytes begin."""
        start = self.at
        if size > len(self.data) - start:
            self.broken()
        self.at += size
        return start

    def byte(self) -> int:
        return self.data[self.skip(1)]

    def number(self) -> int:
        found: int = struct.unpack_from(self.order + "Q", self.data, self.skip(8))[0]
        return found

    def text(self) -> str:
        size = self.number()
        start = self.skip(size)
        return self.data[start : start + size].decode("utf-8", "replace")

    def array(self, kind: str, count: int) -> NDArray[Any]:
        dtype = np.dtype(self.order + kind)
        return np.frombuffer(self.data, dtype, count, self.skip(dtype.itemsize * count))


def read_gt(path: str | os.PathLike[str], weight: str | None = None) -> GtPairs:
    """Read a .gt file, packed with gzip or not.

    Args:
        path: of the file.
        weight: name of a property of the edges that holds numbers.

    Raises:
        InvalidInput: no such file, not one of graph-tool's, cut short, or without such a property.
    """
    place = Path(path)
    try:
        data = place.read_bytes()
        if data.startswith(_PACKED):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput("path", f"{place} cannot be read: {cause(error)}") from None
    reader = _Reader(data, place)
    if data[: reader.skip(6) + 6] != _MAGIC or reader.byte() != _VERSION:
        reader.broken()
    reader.order = ">" if reader.byte() else "<"
    reader.text()
    directed, people = bool(reader.byte()), reader.number()
    if 8 * people > len(data):
        reader.broken()
    first, second = _lists(reader, people)
    found = None if weight is None else _property(reader, weight, people, len(first))
    return GtPairs(first, second, people, directed, found)


def _lists(reader: _Reader, people: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    width = next(bytes_ for bytes_ in (1, 2, 4, 8) if people < 1 << 8 * bytes_)
    lengths, parts = np.zeros(people, np.int64), []
    for v in range(people):
        lengths[v] = size = reader.number()
        start = reader.skip(width * size)
        parts.append(reader.data[start : start + width * size])
    second = np.frombuffer(b"".join(parts), np.dtype(f"{reader.order}u{width}"))
    if len(second) and int(second.max()) >= people:
        reader.broken()
    return np.repeat(np.arange(people), lengths), second.astype(np.int64)


def _property(reader: _Reader, weight: str, people: int, pairs: int) -> NDArray[np.float64]:
    for _ in range(reader.number()):
        owner, name, kind = reader.byte(), reader.text(), reader.byte()
        if owner not in {_GRAPH, _VERTEX, _EDGE} or kind > _OBJECT:
            reader.broken()
        count = {_GRAPH: 1, _VERTEX: people, _EDGE: pairs}[owner]
        if owner == _EDGE and name == weight and kind < len(_SCALARS) - 1:
            return reader.array(_SCALARS[kind], count).astype(np.float64)
        _skip(reader, kind, count)
    raise InvalidInput("weight", f"{reader.path} has no property of the edges {weight!r} that holds numbers")


def _skip(reader: _Reader, kind: int, count: int) -> None:
    if kind < len(_SCALARS):
        reader.skip(np.dtype(_SCALARS[kind]).itemsize * count)
        return
    for _ in range(count):
        if kind == _TEXTS:
            for _ in range(reader.number()):
                reader.skip(reader.number())
        else:
            width = np.dtype(_SCALARS[kind - _TEXT - 1]).itemsize if _TEXT < kind < _TEXTS else 1
            reader.skip(width * reader.number())
