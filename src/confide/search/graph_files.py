"""Graphs on disk, graphs of other packages, and files of graph-tool.

*Other packages.* A graph of another package is read as pairs of ids. The module does not import these packages.

*Graphs on disk.* A saved graph is a folder that only its owner may enter. The folder holds arrays that are mapped into
memory, and a short note.

*Files of graph-tool* (.gt, .gt.gz). The module reads the pairs and, on request, one property of the edges. A file holds
a header, then a list of neighbours for each vertex, and then the property maps one after the other. An undirected edge
is in the list of only one of its two vertices. Edges and their properties come in the order of the lists.

Source: spec targeted_search 8; graph-tool's documentation of the format.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import finite
from confide.contract.errors import InvalidInput
from confide.contract.files import check_unpublished, parse_json, private_folder, write_new
from confide.contract.words import cause, counted
from confide.search.identifiers import Column, Ids, coded, rows_of
from confide.tables import open_table
from confide.tables._cells import is_text, numbers, plain
from confide.tables._values import made_by
from confide.tables.frames import is_table

__all__ = [
    "GtPairs",
    "Pairs",
    "checked_weights",
    "heavy",
    "no_weight",
    "of_graph_tool",
    "of_gt",
    "of_igraph",
    "of_networkx",
    "of_pairs",
    "of_rustworkx",
    "of_scipy",
    "of_table",
    "open_arrays",
    "read_gt",
    "save_arrays",
    "two_columns",
]

# ---- graph folder

_NOTE, _STARTS, _LISTS, _NUMBERS, _WORDS = "graph.json", "indptr.npy", "indices.npy", "ids.npy", "ids.arrow"
_FORMAT = 1
_KEYS = {"format", "people", "entries", "ids", "self_loops", "parallel"}


@contextmanager
def _new(path: Path) -> Iterator[BinaryIO]:
    path.unlink(missing_ok=True)  # left by a save that was cut short: the note is written last
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def save_arrays(
    folder: str | os.PathLike[str], indptr: NDArray[np.int64], indices: NDArray[np.int32], ids: Ids,
    dropped: tuple[int, int],
) -> None:
    """Write the arrays of a graph into a folder, as described in `Graph.save`."""
    path = Path(folder)
    if (path / _NOTE).exists():
        raise InvalidInput("folder", f"{path} already has a graph", "choose another folder")
    check_unpublished("folder", path / _NOTE)
    kind = "rank" if ids is None else "integer" if isinstance(ids, np.ndarray) else "text"
    note = {"format": _FORMAT, "people": len(indptr) - 1, "entries": len(indices), "ids": kind,
            "self_loops": dropped[0], "parallel": dropped[1]}
    try:
        private_folder(path)
        arrays = {_STARTS: indptr, _LISTS: indices, **({_NUMBERS: ids} if kind == "integer" else {})}
        for name, array in arrays.items():
            with _new(path / name) as file:
                np.save(file, array, allow_pickle=False)
        if kind == "text":
            with _new(path / _WORDS) as file, pa.ipc.new_file(file, pa.schema([("id", pa.large_string())])) as out:
                out.write_batch(pa.record_batch([ids], names=["id"]))
    except OSError as error:
        raise InvalidInput("folder", f"{path} cannot be written: {cause(error)}") from None
    write_new("folder", path / _NOTE, json.dumps(note, indent=1) + "\n", private=True)


def open_arrays(
    folder: str | os.PathLike[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Ids, tuple[int, int]]:
    """Read the arrays of a saved graph, as described in `Graph.open`."""
    path = Path(folder)
    try:
        note = parse_json((path / _NOTE).read_bytes())
        if not isinstance(note, dict) or set(note) != _KEYS or note["format"] != _FORMAT:
            raise _broken(path)
        counts = [note[key] for key in ("people", "entries", "self_loops", "parallel")]
        if any(type(count) is not int or count < 0 for count in counts):
            raise _broken(path)
        people, entries, loops, parallel = counts
        indptr = _mapped(path, _STARTS, np.int64, people + 1)
        indices = _mapped(path, _LISTS, np.int32, entries)
        ids: Ids = None
        if note["ids"] == "integer":
            ids = _mapped(path, _NUMBERS, np.int64, people)
        elif note["ids"] == "text":
            ids = pa.ipc.open_file(pa.memory_map(str(path / _WORDS))).get_batch(0).column(0)
            if len(ids) != people or ids.type != pa.large_string():
                raise _broken(path)
        elif note["ids"] != "rank":
            raise _broken(path)
    except (OSError, pa.ArrowException, ValueError, EOFError) as error:
        if isinstance(error, InvalidInput) and error.field == "folder":
            raise
        raise _broken(path) from None
    return indptr, indices, ids, (loops, parallel)


def _mapped(path: Path, name: str, dtype: Any, length: int) -> NDArray[Any]:
    """An array of a saved graph, mapped into memory copy-on-write. The pages are shared between processes, and all
    arrays of one type use the same compiled loops.
    """
    found = np.load(path / name, mmap_mode="c" if length else None, allow_pickle=False)
    if found.dtype != dtype or found.shape != (length,):
        raise _broken(path)
    return np.asarray(found).view(np.ndarray)


def _broken(path: Path) -> InvalidInput:
    return InvalidInput("folder", f"{path} has no readable graph", "make it with graph.save(folder)")


# ---- gt files

_MAGIC = "⛾ gt".encode()
_VERSION = 1
_PACKED = b"\x1f\x8b"
_GRAPH, _VERTEX, _EDGE = 0, 1, 2
_SCALARS = ("u1", "i2", "i4", "i8", "f8", "V16")
"""Element types of property maps with the codes 0 to 5 of the file format. Code 6 is text, 7 to 12 are lists of types 0
to 5, 13 is a list of texts, and 14 is a pickled object, which is never opened.
"""
_TEXT, _TEXTS, _OBJECT = 6, 13, 14


class GtPairs(NamedTuple):
    """Contents of a file of graph-tool with r edges.

    Args:
        first: number of the first vertex of each edge, int64, in 0..n-1, shape (r,).
        second: number of the second vertex of each edge, int64, in 0..n-1, shape (r,).
        people: number n of vertices.
        directed: whether the edges have a direction.
        weight: requested property of the edges, float64, shape (r,); None if no property was requested.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    people: int
    directed: bool
    weight: NDArray[np.float64] | None


class _Reader:
    """A position in the bytes of a file. The position never moves beyond the end of the file."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path, self.at, self.order = data, path, 0, "<"

    def broken(self) -> NoReturn:
        raise InvalidInput("path", f"{self.path} is not a complete file of graph-tool",
                           "must be .gt or .gt.gz, version 1")

    def skip(self, size: int) -> int:
        """Move forward by `size` bytes. Returns the position before the move."""
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
    """Read a .gt file, compressed with gzip or not.

    Args:
        path: path of the file.
        weight: name of an edge property that holds numbers; None to read no property.

    Raises:
        InvalidInput: no such file, another format, a truncated file, or a missing property.
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
    raise InvalidInput("weight", f"{reader.path} has no numeric edge property {weight!r}")


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


# ---- interchange

_ROWS = 1 << 20


class Pairs(NamedTuple):
    """Ids of both vertices of each pair, and all vertices of the graph.

    Args:
        first: id of the first vertex of each pair, as any sequence.
        second: id of the second vertex of each pair, of the same length.
        vertices: all ids, or a number n for the ids 0..n-1.
    """

    first: Any
    second: Any
    vertices: Any


def heavy(
    first: NDArray[np.int32], second: NDArray[np.int32], people: int, weight: NDArray[np.float64] | None,
    at_least: float,
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """The pairs of people with a total weight of at least `at_least`, each pair once, and the number of lines from a
    person to the same person.

    Args:
        first: rank of the first person of each line.
        second: rank of the second person of each line.
        people: number n of vertices.
        weight: weight of each line, >= 0 or infinite; None gives each line the weight 1.
        at_least: least total weight of a pair.
    """
    finite("at_least", at_least)
    one, other = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    apart = one != other
    keys = (one * people + other)[apart]
    total: NDArray[Any]
    if weight is None:
        pairs, total = np.unique(keys, return_counts=True)
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        pairs = keys[starts]
        total = np.add.reduceat(weight[apart][order], starts) if len(starts) else np.zeros(0)
    pairs = pairs[total >= at_least]
    return ((pairs // max(1, people)).astype(np.int32), (pairs % max(1, people)).astype(np.int32),
            len(apart) - int(apart.sum()))


def checked_weights(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Check that the weights of lines are numbers >= 0, and return them. Infinity is allowed."""
    wrong = ~(weight >= 0)
    if wrong.any():
        raise InvalidInput("weight", f"row {int(np.argmax(wrong))} (from 0) has no weight of at least 0")
    return weight


def of_table(source: Any, first: str, second: str, weight: str | None) -> tuple[Column, Column, Any]:
    """The two columns of ids of a table, and its column of weights if one is named."""
    table = open_table(source)
    names = [first, second, *([] if weight is None else [weight])]
    typed = is_table(source) and not table.untyped
    ends: tuple[list[Column], list[Column]] = ([], [])
    weights = []
    for batch in table.batches(names, _ROWS):
        before = sum(len(part.values) for part in ends[0])
        for place, name in enumerate(names[:2]):
            column = coded(name, batch.column(place), before=before)
            if column.words is not None and len(column.values) and int(column.values.min()) < 0:
                row = before + int(np.argmax(column.values < 0))
                raise InvalidInput(name, f"row {row} (from 0) has no id", "each end of each pair must have an id")
            ends[place].append(column)
        if weight is not None:
            if typed and is_text(plain(batch.column(2))):
                raise InvalidInput(weight, "the column holds text", "must be numbers")
            weights.append(numbers(weight, batch.column(2)))
    return rows_of(ends[0]), rows_of(ends[1]), np.concatenate(weights or [np.zeros(0)]) if weight else None


def of_pairs(edges: Any) -> tuple[Any, Any]:
    """Both ends of each pair, from an (m, 2) array or from any collection of pairs.

    Raises:
        InvalidInput: an entry that is not a pair. The error message names the row.
    """
    if hasattr(type(edges), "__array__") or isinstance(edges, np.ndarray):
        table = np.asarray(edges)
        if table.ndim != 2 or table.shape[1] != 2:
            raise InvalidInput("edges", f"an array of shape {table.shape}", "must be (m, 2): both ends of each pair")
        return table[:, 0], table[:, 1]
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidInput("edges", f"{type(edges).__name__} is not a list of pairs", "must be pairs of ids, an (m, 2) "
                           "array, or a frame, a table or a file with two columns")
    pairs = list(edges)
    for row, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list | np.ndarray | set | frozenset) or len(pair) != 2:
            raise InvalidInput("edges", f"row {row} (from 0) is not a pair",
                               "each edge must have two ends; use Graph.from_table for weights")
    ends = [tuple(pair) for pair in pairs]
    return [one for one, _ in ends], [other for _, other in ends]


def two_columns(source: Any) -> tuple[str, str]:
    """The names of the two columns of a table of pairs.

    Args:
        source: table in any form that `of_table` accepts.

    Raises:
        InvalidInput: a table with more or fewer than two columns.
    """
    names = open_table(source).column_names
    if len(names) != 2:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise InvalidInput("edges", f"has {counted(len(names), 'column')}, {shown}",
                           "must be two columns, for both ends of each pair; Graph.from_table accepts their names")
    return names[0], names[1]


def _undirected(directed: bool, symmetrise: bool) -> None:
    if directed and not symmetrise:
        raise InvalidInput("graph", "has directed edges", "set symmetrise=True, so that every edge counts in both "
                                                          "directions")


def _made_by(package: str, graph: Any) -> None:
    if not made_by(package, graph):
        raise InvalidInput("graph", f"{type(graph).__name__} is not a graph of {package}")


def of_scipy(matrix: Any, at_least: float | None) -> tuple[NDArray[np.int32], NDArray[np.int32], int, bool]:
    """Rows and columns of the entries that count as edges, the size n of the matrix, and whether these entries are
    symmetric, so that (j, i) counts whenever (i, j) counts.
    """
    _made_by("scipy", matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput("matrix", f"its shape is {matrix.shape}", "must be square")
    found = matrix.tocoo(copy=True)
    found.sum_duplicates()
    kept = found.data != 0
    if at_least is not None:
        kept &= found.data >= finite("at_least", at_least)
    rows, columns = found.row[kept].astype(np.int32), found.col[kept].astype(np.int32)
    people = int(matrix.shape[0])
    ahead = np.sort(rows.astype(np.int64) * people + columns)
    back = np.sort(columns.astype(np.int64) * people + rows)
    symmetric = bool(np.array_equal(ahead, back))
    upper = rows <= columns if symmetric else slice(None)
    return rows[upper], columns[upper], people, symmetric


def of_networkx(graph: Any, symmetrise: bool) -> Pairs:
    """The pairs of a networkx graph, whose nodes are the ids: integers or texts."""
    _made_by("networkx", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = list(graph.edges())
    return Pairs([end[0] for end in ends], [end[1] for end in ends], list(graph.nodes()))


def of_igraph(graph: Any, symmetrise: bool) -> Pairs:
    """The pairs of an igraph graph. The ids are the values of the attribute "name" of the vertices, if the vertices
    have this attribute.
    """
    _made_by("igraph", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if "name" not in graph.vs.attributes():
        return Pairs(ends[:, 0], ends[:, 1], int(graph.vcount()))
    names = graph.vs["name"]
    return Pairs([names[k] for k in ends[:, 0].tolist()], [names[k] for k in ends[:, 1].tolist()], names)


def of_rustworkx(graph: Any, symmetrise: bool) -> Pairs:
    """The pairs of a rustworkx graph. The ids are the node indices, which may have gaps."""
    _made_by("rustworkx", graph)
    _undirected(any("DiGraph" in base.__name__ for base in type(graph).__mro__), symmetrise)
    ends = np.array(list(graph.edge_list()), np.int64).reshape(-1, 2)
    return Pairs(ends[:, 0], ends[:, 1], np.array(list(graph.node_indices()), np.int64))


def of_graph_tool(graph: Any, symmetrise: bool) -> Pairs:
    """The pairs of a graph-tool graph. The ids are the vertex numbers."""
    _made_by("graph_tool", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = np.asarray(graph.get_edges())[:, :2] if graph.num_edges() else np.zeros((0, 2), np.int64)
    return Pairs(ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64), int(graph.num_vertices()))


def of_gt(
    path: str | os.PathLike[str], weight: str | None, symmetrise: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], int, NDArray[np.float64] | None]:
    """The edges of a file of graph-tool: the ranks of both vertices of each edge, the number n of vertices, and the
    weights.
    """
    found = read_gt(path, weight)
    _undirected(found.directed, symmetrise)
    return found.first.astype(np.int32), found.second.astype(np.int32), found.people, found.weight


def no_weight(at_least: float | None, weight: str | None) -> bool:
    """Whether every line of the input makes an edge, because neither the threshold `at_least` nor weights are given.

    Raises:
        InvalidInput: weights are given without a threshold, so they would have no effect.
    """
    if at_least is None and weight is not None:
        raise InvalidInput("at_least", "is missing", "give the least weight of a pair in contact")
    if at_least is not None and math.isnan(at_least):
        raise InvalidInput("at_least", "is not a number")
    return at_least is None
