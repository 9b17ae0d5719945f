"""The private graph: everybody's list of neighbours as two arrays, and the public ids with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.search import graph_files
from confide.search.adjacency import Lists, adjacency, is_sound
from confide.search.graph_files import open_arrays, save_arrays
from confide.search.identifiers import MOST, IdKind, Ids, coded, find, has_nul, ranked
from confide.tables.frames import is_table

__all__ = ["DegreeBoundViolated", "Dropped", "Graph"]


class DegreeBoundViolated(InvalidInput):
    """Error: some vertex has more neighbours than the public bound admits. The message says neither how many vertices
    nor which.

    The promise is made for graphs within the bound, so there is nothing to run: cutting lists short would change other
    people's lists too, and taking the largest degree as the bound would reveal it.

    Args:
        bound: public bound.
        after: consequence, for the end of the message.
    """

    def __init__(self, bound: int, after: str = "") -> None:
        self.bound = bound
        super().__init__("degree_bound", "the graph is not admissible: some vertex has more neighbours than the bound",
                         f"degrees must be at most {bound}{after}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Dropped:
    """Numbers of lines that a graph was built without. They are for the operator alone, since they are about private
    lines.

    Args:
        self_loops: number of lines from somebody to themselves.
        parallel: number of lines beyond the first of the same two people.
    """

    self_loops: int = 0
    parallel: int = 0

    def __repr__(self) -> str:
        return "Dropped(...)"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """An undirected simple graph. Its people are public; their contacts are private.

    Inside, people are 0..n-1: the rank of their id in the public list, integers ascending and texts by code points. So
    "the lowest id" is the lowest rank, whatever order the lines came in. Build one from its edges, with `from_table` or
    from another package's graph; a graph that is given as arrays is checked entry by entry.

    Args:
        edges: as `from_edges` takes them; or None, where `indptr` and `indices` are given.
        people: n, as for `from_edges`.
        vertices: all ids, as for `from_edges`.
        indptr: int64 (n + 1,), where each list of neighbours begins.
        indices: int32 (2m,), neighbours, ascending within each list, both directions of each edge.
        ids: public: None where the ids are 0..n-1 themselves, else int64 (n,) or an Arrow array of texts, ascending.
        dropped: numbers of lines that the graph was built without.

    Raises:
        InvalidInput: the arrays are not the lists of an undirected simple graph.

    Source: spec targeted_search 1, 9.

    Example:
        >>> graph = Graph([("ann", "bob"), ("bob", "cid"), ("ann", "bob")])
        >>> graph, graph.ids_of(graph.neighbours(graph.index_of("bob"))), graph.dropped.parallel
        (Graph(people=3), ['ann', 'cid'], 1)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ids: Ids = None
    dropped: Dropped = Dropped()

    def __init__(
        self, edges: Any = None, *, people: int | None = None, vertices: Any = None,
        indptr: NDArray[np.int64] | None = None, indices: NDArray[np.int32] | None = None, ids: Ids = None,
        dropped: Dropped = Dropped(),
    ) -> None:
        arrays = indptr is not None or indices is not None or ids is not None
        if edges is None and not arrays:
            raise InvalidInput("edges", "are missing", "must be pairs of ids, an (m, 2) array, or a frame, a table or "
                               "a file with two columns")
        if arrays and not (edges is None and people is None and vertices is None):
            raise InvalidInput("indptr", "is given beside edges, people or vertices", "give edges, or arrays")
        if not arrays:
            made = type(self).from_edges(edges, people=people, vertices=vertices)
            indptr, indices, ids, dropped = made.indptr, made.indices, made.ids, made.dropped
        for field, value in (("indptr", indptr), ("indices", indices), ("ids", ids), ("dropped", dropped)):
            object.__setattr__(self, field, value)
        if arrays:
            self._check()

    def _check(self) -> None:
        for field, dtype in (("indptr", np.int64), ("indices", np.int32)):
            found = getattr(self, field)
            if not isinstance(found, np.ndarray) or found.dtype != dtype or found.ndim != 1:
                raise InvalidInput(field, f"must be an array of {np.dtype(dtype)} of one dimension")
            # One form of each compiled loop serves all graphs.
            object.__setattr__(self, field, np.require(found, dtype, ["C", "W", "A"]))
        if not 1 <= len(self.indptr) <= MOST + 1:
            raise InvalidInput("indptr", "is of no length that a graph has")
        if not is_sound(self.indptr, self.indices):
            raise InvalidInput("indices", "are not the lists of an undirected simple graph",
                               "ascending, each edge in both lists, nobody in their own")
        if self.ids is not None and not (len(self.ids) == self.people and _ascend(self.ids)):
            raise InvalidInput("ids", "are not one for each of n vertices, ascending",
                               "must be an int64 array or an Arrow array of large_string")
        _check_nul("ids", self.ids)

    @classmethod
    def _built(cls, lists: Lists, ids: Ids) -> Self:
        """Without the check: for lists that were just made."""
        return cls._held(lists.indptr, lists.indices, ids,
                         Dropped(self_loops=lists.self_loops, parallel=lists.parallel))

    @classmethod
    def _held(cls, indptr: NDArray[np.int64], indices: NDArray[np.int32], ids: Ids, dropped: Dropped) -> Self:
        graph = object.__new__(cls)
        for field, value in (("indptr", indptr), ("indices", indices), ("ids", ids), ("dropped", dropped)):
            object.__setattr__(graph, field, value)
        return graph

    def __repr__(self) -> str:
        return f"Graph(people={self.people})"

    # ---- sizes; all but the first are private

    @property
    def people(self) -> int:
        """Number n of people. Public."""
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        """Number m of edges. Private."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of each vertex, shape (n,). Private."""
        return np.diff(self.indptr)

    @cached_property
    def largest_degree(self) -> int:
        """Private: never a source of the public bound."""
        return int(self.degrees.max(initial=0))

    def check_degree(self, bound: int) -> None:
        """Refuse a graph that the public bound does not admit; before any release.

        Args:
            bound: d >= 0.

        Raises:
            DegreeBoundViolated: some vertex has more neighbours; the error says neither which nor how many.

        Example:
            >>> Graph.from_edges([0, 0], [1, 2]).check_degree(2)
        """
        if self.largest_degree > whole("degree_bound", bound):
            raise DegreeBoundViolated(bound)

    # ---- people

    def neighbours(self, vertex: int) -> NDArray[np.int32]:
        """Private: the ranks of a vertex's neighbours, ascending, as a view.

        Args:
            vertex: rank, in 0..n-1.
        """
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    def index_of(self, id: int | str) -> int:  # noqa: A002
        """The rank of an id.

        Args:
            id: an integer or text, as the graph's ids are.

        Raises:
            InvalidInput: nobody has it.
        """
        found = -1
        if isinstance(self.ids, pa.Array):
            if isinstance(id, str):
                found = int(pc.index(self.ids, pa.scalar(id, self.ids.type)).as_py())
        elif isinstance(id, int | np.integer) and not isinstance(id, bool):
            if self.ids is None:
                found = int(id) if 0 <= id < self.people else -1
            else:
                place = int(np.searchsorted(self.ids, id))
                found = place if place < self.people and self.ids[place] == id else -1
        if found < 0:
            raise InvalidInput("id", f"{id!r} is nobody's id")
        return found

    def id_of(self, index: int) -> int | str:
        """The id at a rank in 0..n-1."""
        if not 0 <= index < self.people:
            raise InvalidInput("index", f"{index} is out of range", f"must be in 0..{self.people - 1}")
        if self.ids is None:
            return int(index)
        found = self.ids[index]
        return found.as_py() if isinstance(self.ids, pa.Array) else int(found)

    def ids_of(self, indices: NDArray[Any] | Sequence[int]) -> list[int] | list[str]:
        """The ids at some ranks, in their order."""
        wanted = np.asarray(indices, np.int64)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= self.people):
            raise InvalidInput("indices", "some are out of range", f"must be in 0..{self.people - 1}")
        if self.ids is None:
            return list(wanted.tolist())
        if isinstance(self.ids, pa.Array):
            return list(self.ids.take(pa.array(wanted)).to_pylist())
        return list(self.ids[wanted].tolist())

    def indices_of(self, ids: Any) -> NDArray[np.int64]:
        """The ranks of many ids, int64 of shape (k,), in their order.

        Args:
            ids: a collection, an array or a column.

        Raises:
            InvalidInput: one of them is nobody's; says at which position.
        """
        return find("ids", coded("ids", ids), self.people, self.ids)

    # ---- on disk

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph into a folder, for its owner alone.

        Args:
            folder: a new one, or one without a graph.

        Raises:
            InvalidInput: it holds a graph already, is within a published folder, or cannot be written.
        """
        save_arrays(folder, self.indptr, self.indices, self.ids, (self.dropped.self_loops, self.dropped.parallel))

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, check: bool = True) -> Self:
        """A saved graph, mapped into memory: processes that open the same folder share its pages.

        Args:
            folder: that `save` wrote.
            check: whether every entry is read and checked, about 0.1 s for a million edges; without it a file that was
                changed can crash the process.

        Raises:
            InvalidInput: no graph, or a damaged one.
        """
        indptr, indices, ids, dropped = open_arrays(folder)
        if check and not is_sound(indptr, indices):
            raise InvalidInput("folder", f"{os.fspath(folder)} holds no graph that can be read",
                               "make it with graph.save(folder)")
        if check:
            _check_nul("folder", ids)
        return cls._held(indptr, indices, ids, Dropped(self_loops=dropped[0], parallel=dropped[1]))

    # ---- where graphs come from

    @classmethod
    def from_edges(
        cls, first: Any, second: Any = None, *, people: int | None = None, vertices: Any = None
    ) -> Self:
        """A graph of pairs, in any order; a pair and its reverse are the same edge.

        Args:
            first: ids of one end of each pair: integers or texts; an array, an Arrow or data frame column, a list. Or,
                without `second`, the edges themselves: any collection of pairs, an (m, 2) array, or a frame, an Arrow
                table, a mapping or a file with two columns.
            second: ids of the other ends, as many.
            people: n, where the ids are 0..n-1.
            vertices: all ids, in any order, where they are others. Who is in it is public. When both are left out the
                people are those that the pairs name, and that list is then treated as public: give one of the two
                where being named in a pair is a secret.

        Raises:
            InvalidInput: an id is missing, or not on the list (says in which row); columns of different lengths or
                kinds.

        Example:
            >>> Graph.from_edges([10, 7, 7], [7, 7, 10], vertices=[7, 10, 12]).degrees.tolist()
            [1, 1, 0]
            >>> Graph.from_edges([(10, 7), (7, 10)], vertices=[7, 10, 12]).degrees.tolist()
            [1, 1, 0]
        """
        if second is None:
            if isinstance(first, Graph):
                raise InvalidInput("edges", "are a Graph already", "use it as it is")
            if is_table(first) or isinstance(first, Mapping):
                names = graph_files.two_columns(first)
                ends = graph_files.of_table(first, *names, None)
                found = ranked(ends[0], ends[1], people=people, vertices=vertices, infer=True)
                return cls._built(adjacency(found.first, found.second, found.people), found.ids)
            first, second = graph_files.of_pairs(first)
        found = ranked(coded("first", first), coded("second", second), people=people, vertices=vertices)
        return cls._built(adjacency(found.first, found.second, found.people), found.ids)

    @classmethod
    def from_table(
        cls, source: Any, first: str = "source", second: str = "target", *, weight: str | None = None,
        at_least: float | None = None, vertices: Any = None, id: IdKind = "auto",  # noqa: A002
    ) -> Self:
        """A graph of the lines of a table, each of which names two people.

        Args:
            source: table in any form that `confide.tables.open_table` takes: a .parquet, .csv or .arrow file, an Arrow
                table, a data frame, a mapping of columns, an ibis table.
            first: the column of one end.
            second: the column of the other.
            weight: a column of numbers from 0 on; the lines of two people are added up, whichever is named first.
            at_least: two people are neighbours when their lines weigh at least this together; without `weight` when
                there are at least so many lines. Lines of no edge are not counted in `dropped`, nor is any line of an
                edge beyond the first.
            vertices: all ids, or n; as in `from_edges`.
            id: type of the ids; "auto" takes them for integers where every one of them is a whole number in plain
                decimal digits, as in a CSV file of numbers, else for text.

        Raises:
            InvalidInput: the table cannot be read, a column is missing, an id or weight is missing or of no use.

        Example:
            >>> lines = {"source": [1, 2, 1], "target": [2, 1, 3], "minutes": [5, 10, 2]}
            >>> Graph.from_table(lines, weight="minutes", at_least=15).edges
            1
        """
        one_of("id", id, ("auto", "integer", "text"))
        every = graph_files.no_weight(at_least, weight)
        ends = graph_files.of_table(source, first, second, weight)
        weights = None if ends[2] is None else graph_files.checked_weights(ends[2])
        found = ranked(ends[0], ends[1], vertices=vertices, kind=id, infer=True)
        del ends
        if every:
            return cls._built(adjacency(found.first, found.second, found.people), found.ids)
        return cls._filtered(found.first, found.second, found.people, weights, at_least, found.ids)

    @classmethod
    def _filtered(
        cls, first: NDArray[np.int32], second: NDArray[np.int32], people: int, weight: NDArray[np.float64] | None,
        at_least: float | None, ids: Ids = None,
    ) -> Self:
        if at_least is None:
            return cls._built(adjacency(first, second, people), ids)
        one, other, loops = graph_files.heavy(first, second, people, weight, at_least)
        lists = adjacency(one, other, people)
        return cls._held(lists.indptr, lists.indices, ids, Dropped(self_loops=loops))

    @classmethod
    def from_scipy(cls, matrix: Any, *, at_least: float | None = None, symmetrise: bool = False) -> Self:
        """A graph of a square sparse matrix: i and j are neighbours where the entry is not 0. The ids are 0..n-1.

        Args:
            matrix: matrix of scipy.sparse, any format; it is not changed.
            at_least: least value of an entry that counts; any but 0 when None.
            symmetrise: whether an entry counts without its mirror image.

        Raises:
            InvalidInput: not square, or the entries that count are not symmetric and `symmetrise` is False.

        Example:
            >>> from scipy.sparse import csr_array
            >>> Graph.from_scipy(csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])).edges
            2
        """
        rows, columns, people, symmetric = graph_files.of_scipy(matrix, at_least)
        if not (symmetric or symmetrise):
            raise InvalidInput("matrix", "is not symmetric", "say symmetrise=True, and every entry counts both ways")
        return cls._built(adjacency(rows, columns, people), None)

    @classmethod
    def from_networkx(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """A graph of networkx; its nodes are the ids, all integers or all texts.

        Args:
            graph: graph of networkx.
            symmetrise: whether a directed edge counts both ways; else a directed graph is refused.

        Raises:
            InvalidInput: another object, a directed graph, or nodes that are no ids.
        """
        return cls._of(graph_files.of_networkx(graph, symmetrise))

    @classmethod
    def from_igraph(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """A graph of igraph; the ids are the vertices' names where they have any, else 0..n-1.

        Args:
            graph: graph of igraph.
            symmetrise: whether a directed edge counts both ways; else a directed graph is refused.

        Raises:
            InvalidInput: another object, a directed graph, or two vertices of one name.
        """
        return cls._of(graph_files.of_igraph(graph, symmetrise))

    @classmethod
    def from_rustworkx(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """A graph of rustworkx; the ids are its node indices.

        Args:
            graph: graph of rustworkx.
            symmetrise: whether a directed edge counts both ways; else a directed graph is refused.

        Raises:
            InvalidInput: another object, or a directed graph.
        """
        return cls._of(graph_files.of_rustworkx(graph, symmetrise))

    @classmethod
    def from_graph_tool(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """A graph of graph-tool; the ids are its vertices' numbers.

        Args:
            graph: graph of graph-tool.
            symmetrise: whether a directed edge counts both ways; else a directed graph is refused.

        Raises:
            InvalidInput: another object, or a directed graph.
        """
        return cls._of(graph_files.of_graph_tool(graph, symmetrise))

    @classmethod
    def _of(cls, pairs: graph_files.Pairs) -> Self:
        return cls.from_edges(pairs.first, pairs.second, vertices=pairs.vertices)

    @classmethod
    def from_gt(
        cls, path: str | os.PathLike[str], *, weight: str | None = None, at_least: float | None = None,
        symmetrise: bool = False,
    ) -> Self:
        """A graph of a file of graph-tool, .gt or .gt.gz; the ids are 0..n-1.

        Args:
            path: path of the file.
            weight: a property of the edges that holds numbers from 0 on; parallel edges are added up.
            at_least: least weight of an edge that counts; without `weight`, the least number of parallel edges.
            symmetrise: whether a directed edge counts both ways; else a directed graph is refused.

        Raises:
            InvalidInput: no such file or property, a damaged file, or a directed graph.

        Source: spec targeted_search 8.
        """
        graph_files.no_weight(at_least, weight)
        first, second, people, weights = graph_files.of_gt(path, weight, symmetrise)
        return cls._filtered(first, second, people, None if weights is None else graph_files.checked_weights(weights),
                             at_least)

    @classmethod
    def from_groups(cls, group: Any, member: Any, *, at_least: int = 1, vertices: Any = None) -> Self:
        """A graph of people who share groups: casts, authors of a paper, classes.

        Every two members of a group make a line, of 16 bytes, before repeated lines are dropped.

        Args:
            group: the group of each line, integers or texts.
            member: member of the group of each line; a person who stands in a group twice counts once.
            at_least: number of groups that two neighbours share at least, from 1.
            vertices: all ids, or n; as in `from_edges`.

        Raises:
            InvalidInput: a group or an id is missing.

        Example:
            >>> Graph.from_groups(["film", "film", "film", "play"], ["ann", "bob", "cid", "ann"]).degrees.tolist()
            [2, 2, 2]
        """
        whole("at_least", at_least, at_least=1)
        groups = coded("group", group)
        shared = ranked(groups, groups)
        column = coded("member", member)
        found = ranked(column, column, vertices=vertices)
        if len(shared.first) != len(found.first):
            raise InvalidInput("member", "the columns have different lengths", "each line is of one group and person")
        first, second = _within(shared.first, found.first, found.people)
        return cls._filtered(first, second, found.people, None, None if at_least == 1 else at_least, found.ids)


def _ascend(ids: Any) -> bool:
    """Whether ids are of a kind that graphs have, each once and in order."""
    if isinstance(ids, np.ndarray):
        return ids.dtype == np.int64 and ids.ndim == 1 and bool((np.diff(ids) > 0).all())
    if not isinstance(ids, pa.Array) or ids.type != pa.large_string() or ids.null_count:
        return False
    return len(ids) < 2 or bool(pc.all(pc.less(ids[:-1], ids[1:])).as_py())


def _check_nul(field: str, ids: Ids) -> None:
    """Refuse texts that numpy would cut: see `has_nul`."""
    cut = has_nul(ids) if isinstance(ids, pa.Array) else np.zeros(0, np.bool_)
    if cut.any():
        raise InvalidInput(field, f"row {int(np.argmax(cut))} (from 0) has an id with a NUL character",
                           "arrays of text would lose it")


def _within(
    group: NDArray[np.int32], member: NDArray[np.int32], people: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Every two members of each group, one line for each group that they share."""
    lines = np.unique(group.astype(np.int64) * people + member)
    group, member = lines // max(1, people), (lines % max(1, people)).astype(np.int32)
    starts = np.searchsorted(group, group)
    ahead = np.arange(len(group)) - starts  # members of the same group that came before
    second = np.repeat(member, ahead)
    offsets = np.arange(len(second)) - np.repeat(np.cumsum(ahead) - ahead, ahead)
    return member[np.repeat(starts, ahead) + offsets], second
