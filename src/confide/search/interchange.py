"""Graphs of other packages as pairs of ids; none of these packages is imported for it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite
from confide.contract.errors import InvalidInput
from confide.search.gt_files import read_gt
from confide.search.identifiers import Column, coded, rows_of
from confide.tables import open_table
from confide.tables._cells import is_text, numbers, plain
from confide.tables._values import made_by
from confide.tables.frames import is_table

__all__ = ["Pairs", "checked_weights", "heavy", "no_weight", "of_graph_tool", "of_gt", "of_igraph", "of_networkx",
           "of_pairs", "of_rustworkx", "of_scipy", "of_table", "two_columns"]

_ROWS = 1 << 20


class Pairs(NamedTuple):
    """Both ends of each pair, and everybody there is.

    Args:
        first: ids, any sequence.
        second: ids, as many.
        vertices: all ids, or n for 0..n-1.
    """

    first: Any
    second: Any
    vertices: Any


def heavy(
    first: NDArray[np.int32], second: NDArray[np.int32], people: int, weight: NDArray[np.float64] | None,
    at_least: float,
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """The pairs whose lines weigh enough together, each once, and how many self-loops were among the lines.

    Args:
        first: ranks.
        second: ranks.
        people: n.
        weight: of each line, at least 0 or infinite; None counts lines.
        at_least: what a pair must weigh.
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
    """Weights of lines: numbers from 0 on; infinity is one."""
    wrong = ~(weight >= 0)
    if wrong.any():
        raise InvalidInput("weight", f"row {int(np.argmax(wrong))} (from 0) has no weight of at least 0")
    return weight


def of_table(source: Any, first: str, second: str, weight: str | None) -> tuple[Column, Column, Any]:
    """Two columns of ids and one of weights."""
    table = open_table(source)
    names = [first, second, *([] if weight is None else [weight])]
    typed = is_table(source) and not table.name.lower().endswith(".csv")  # other cells have no types
    ends: tuple[list[Column], list[Column]] = ([], [])
    weights = []
    for batch in table.batches(names, _ROWS):
        before = sum(len(part.values) for part in ends[0])
        for place, name in enumerate(names[:2]):
            column = coded(name, batch.column(place), before=before)
            if column.words is not None and len(column.values) and int(column.values.min()) < 0:
                row = before + int(np.argmax(column.values < 0))
                raise InvalidInput(name, f"row {row} (from 0) has no id", "each end of each pair has one")
            ends[place].append(column)
        if weight is not None:
            if typed and is_text(plain(batch.column(2))):
                raise InvalidInput(weight, "the column holds text", "must be numbers")
            weights.append(numbers(weight, batch.column(2)))
    return rows_of(ends[0]), rows_of(ends[1]), np.concatenate(weights or [np.zeros(0)]) if weight else None


def of_pairs(edges: Any) -> tuple[Any, Any]:
    """Both ends of each pair, from an (m, 2) array or from any collection of pairs.

    Raises:
        InvalidInput: something else; says in which row.
    """
    if hasattr(type(edges), "__array__") or isinstance(edges, np.ndarray):
        table = np.asarray(edges)
        if table.ndim != 2 or table.shape[1] != 2:
            raise InvalidInput("edges", f"an array of shape {table.shape}", "must be (m, 2): both ends of each pair")
        return table[:, 0], table[:, 1]
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidInput("edges", f"{type(edges).__name__} is no list of pairs", "must be pairs of ids, an (m, 2) "
                           "array, or a frame, a table or a file with two columns")
    pairs = list(edges)
    for row, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list | np.ndarray | set | frozenset) or len(pair) != 2:
            raise InvalidInput("edges", f"row {row} (from 0) is no pair", "each edge has two ends; weights are for "
                               "Graph.from_table")
    ends = [tuple(pair) for pair in pairs]
    return [one for one, _ in ends], [other for _, other in ends]


def two_columns(source: Any) -> tuple[str, str]:
    """The names of the columns of a table of pairs.

    Args:
        source: as for `of_table`.

    Raises:
        InvalidInput: other than two columns.
    """
    names = open_table(source).column_names
    if len(names) != 2:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise InvalidInput("edges", f"has {len(names)} columns, {shown}",
                           "must be two, both ends of each pair; Graph.from_table takes their names")
    return names[0], names[1]


def _undirected(directed: bool, symmetrise: bool) -> None:
    if directed and not symmetrise:
        raise InvalidInput("graph", "has directed edges", "say symmetrise=True, and every edge counts both ways")


def _made_by(package: str, graph: Any) -> None:
    if not made_by(package, graph):
        raise InvalidInput("graph", f"{type(graph).__name__} is no graph of {package}")


def of_scipy(matrix: Any, at_least: float | None) -> tuple[NDArray[np.int32], NDArray[np.int32], int, bool]:
    """Rows and columns of the entries, n, and whether every entry has its mirror image."""
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
    """Nodes are ids: integers or texts."""
    _made_by("networkx", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = list(graph.edges())
    return Pairs([end[0] for end in ends], [end[1] for end in ends], list(graph.nodes()))


def of_igraph(graph: Any, symmetrise: bool) -> Pairs:
    """Ids are the vertices' attribute "name", where they have one."""
    _made_by("igraph", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if "name" not in graph.vs.attributes():
        return Pairs(ends[:, 0], ends[:, 1], int(graph.vcount()))
    names = graph.vs["name"]
    return Pairs([names[k] for k in ends[:, 0].tolist()], [names[k] for k in ends[:, 1].tolist()], names)


def of_rustworkx(graph: Any, symmetrise: bool) -> Pairs:
    """Ids are the node indices, which may have gaps."""
    _made_by("rustworkx", graph)
    _undirected(any("DiGraph" in base.__name__ for base in type(graph).__mro__), symmetrise)
    ends = np.array(list(graph.edge_list()), np.int64).reshape(-1, 2)
    return Pairs(ends[:, 0], ends[:, 1], np.array(list(graph.node_indices()), np.int64))


def of_graph_tool(graph: Any, symmetrise: bool) -> Pairs:
    """Ids are the vertices' numbers."""
    _made_by("graph_tool", graph)
    _undirected(graph.is_directed(), symmetrise)
    ends = np.asarray(graph.get_edges())[:, :2] if graph.num_edges() else np.zeros((0, 2), np.int64)
    return Pairs(ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64), int(graph.num_vertices()))


def of_gt(
    path: str | os.PathLike[str], weight: str | None, symmetrise: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], int, NDArray[np.float64] | None]:
    """Ranks of both ends, n, and weights."""
    found = read_gt(path, weight)
    _undirected(found.directed, symmetrise)
    return found.first.astype(np.int32), found.second.astype(np.int32), found.people, found.weight


def no_weight(at_least: float | None, weight: str | None) -> bool:
    """Whether every line counts; weights without a threshold decide nothing.

    Raises:
        InvalidInput: weights were named, and what they must reach was not.
    """
    if at_least is None and weight is not None:
        raise InvalidInput("at_least", "is missing", "say what a pair must weigh to count")
    if at_least is not None and math.isnan(at_least):
        raise InvalidInput("at_least", "is not a number")
    return at_least is None

