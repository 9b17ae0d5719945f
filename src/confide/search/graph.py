"""The private graph: lists of neighbours as two arrays, together with the public ids."""

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
    """Error for a graph in which some vertex has more neighbours than the public bound admits. The message reveals
    neither the vertices nor their number.

    The privacy promise holds only for graphs within the degree bound, so no run on a graph above the bound is possible.
    To shorten the list of one vertex would change the lists of other people too. To take the largest degree as the
    bound would reveal the largest degree.

    Args:
        bound: public bound on the number of neighbours of a vertex.
        after: text about the consequence, which ends the error message.
    """

    def __init__(self, bound: int, after: str = "") -> None:
        self.bound = bound
        super().__init__("degree_bound", "the graph is not admissible: some vertex has more neighbours than the bound",
                         f"degrees must be at most {bound}{after}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Dropped:
    """Counts of the lines of the input that were left out of a graph. Only the operator may see these counts, since the
    lines are private.

    Args:
        self_loops: number of lines from a person to the same person.
        parallel: number of repeated lines between the same two people.
    """

    self_loops: int = 0
    parallel: int = 0

    def __repr__(self) -> str:
        return "Dropped(...)"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """An undirected simple graph. The people of a graph are public, and their contacts are private.

    Internally people are numbered 0..n-1 by the rank of their id in the public list: integers ascending, texts by code
    points. Therefore "the lowest id" means the lowest rank, whatever the order of the lines in the input. Graphs are
    built from edges, with `from_table`, or from another package's graph. A graph given as arrays is checked entry by
    entry.

    Args:
        edges: edges in any form that `from_edges` accepts; or None if `indptr` and `indices` are given.
        people: number n of people, if the ids are 0..n-1, as in `from_edges`.
        vertices: public list of all ids, as in `from_edges`.
        indptr: index in `indices` at which each vertex's list of neighbours begins, and the end of the last list,
            int64, shape (n + 1,).
        indices: neighbours, ascending within each list, with both directions of each edge, int32, shape (2m,).
        ids: public ids, ascending: int64 of shape (n,), or an Arrow array of texts; None if the ids are 0..n-1.
        dropped: counts of the input lines that were left out of the graph.

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
            raise InvalidInput("indptr", "is given together with edges, people or vertices", "give edges, or arrays")
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
                raise InvalidInput(field, "cannot be used", f"must be an array of {np.dtype(dtype)} of one dimension")
            # One form of each compiled loop serves all graphs.
            object.__setattr__(self, field, np.require(found, dtype, ["C", "W", "A"]))
        if not 1 <= len(self.indptr) <= MOST + 1:
            raise InvalidInput("indptr", "has a length that fits no graph")
        if not is_sound(self.indptr, self.indices):
            raise InvalidInput("indices", "are not the lists of an undirected simple graph",
                               "each list must be ascending, each edge in the lists of both ends, and no vertex in "
                               "its own list")
        if self.ids is not None and not (len(self.ids) == self.people and _ascend(self.ids)):
            raise InvalidInput("ids", "are not one for each of n vertices, ascending",
                               "must be an int64 array or an Arrow array of large_string")
        _check_nul("ids", self.ids)

    @classmethod
    def _built(cls, lists: Lists, ids: Ids) -> Self:
        """A graph from lists that were just made, without a check."""
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
        """Number n of people, which is public."""
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        """Number m of edges, which is private."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of each vertex, shape (n,). The degrees are private."""
        return np.diff(self.indptr)

    @cached_property
    def largest_degree(self) -> int:
        """Largest degree of any vertex. The largest degree is private, so the public bound must never be derived from
        this number.
        """
        return int(self.degrees.max(initial=0))

    def check_degree(self, bound: int) -> None:
        """Refuse a graph that violates the public bound, before any release.

        Args:
            bound: public degree bound d >= 0.

        Raises:
            DegreeBoundViolated: some vertex has more neighbours than the public bound admits. The error reveals neither
                the vertices nor their number.

        Example:
            >>> Graph.from_edges([0, 0], [1, 2]).check_degree(2)
        """
        if self.largest_degree > whole("degree_bound", bound):
            raise DegreeBoundViolated(bound)

    # ---- people

    def neighbours(self, vertex: int) -> NDArray[np.int32]:
        """Ranks of a vertex's neighbours, ascending, as a view of the array `indices`. The neighbours are private.

        Args:
            vertex: rank of the vertex, in 0..n-1.
        """
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    def index_of(self, id: int | str) -> int:  # noqa: A002
        """The rank of an id.

        Args:
            id: integer or text, of the same kind as the graph's ids.

        Raises:
            InvalidInput: an id that nobody has.
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
            raise InvalidInput("id", f"{id!r} belongs to nobody")
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
        """The ids at given ranks, in the order in which the ranks are given."""
        wanted = np.asarray(indices, np.int64)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= self.people):
            raise InvalidInput("indices", "an index is out of range", f"must be in 0..{self.people - 1}")
        if self.ids is None:
            return list(wanted.tolist())
        if isinstance(self.ids, pa.Array):
            return list(self.ids.take(pa.array(wanted)).to_pylist())
        return list(self.ids[wanted].tolist())

    def indices_of(self, ids: Any) -> NDArray[np.int64]:
        """The ranks of k ids, in the order in which the ids are given, int64, shape (k,).

        Args:
            ids: ids as a collection, an array or a column.

        Raises:
            InvalidInput: an id that nobody has. The error message names the position of the id.
        """
        return find("ids", coded("ids", ids), self.people, self.ids)

    # ---- on disk

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph into a folder that only its owner may enter.

        Args:
            folder: new folder, or a folder without a graph.

        Raises:
            InvalidInput: a folder that holds a graph already, lies within a published folder, or cannot be written.
        """
        save_arrays(folder, self.indptr, self.indices, self.ids, (self.dropped.self_loops, self.dropped.parallel))

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, check: bool = True) -> Self:
        """Open a saved graph, mapped into memory. Processes that open the same folder share the memory of the arrays.

        Args:
            folder: folder that `save` wrote.
            check: whether every entry is read and checked, in about 0.1 s for a million edges. Without the check a file
                that was changed can crash the process.

        Raises:
            InvalidInput: the folder has no graph, or the graph is damaged.
        """
        indptr, indices, ids, dropped = open_arrays(folder)
        if check and not is_sound(indptr, indices):
            raise InvalidInput("folder", f"{os.fspath(folder)} has no readable graph",
                               "make it with graph.save(folder)")
        if check:
            _check_nul("folder", ids)
        return cls._held(indptr, indices, ids, Dropped(self_loops=dropped[0], parallel=dropped[1]))

    # ---- where graphs come from

    @classmethod
    def from_edges(
        cls, first: Any, second: Any = None, *, people: int | None = None, vertices: Any = None
    ) -> Self:
        """Build a graph from pairs, in any order. A pair and its reverse are the same edge.

        Args:
            first: id of the first person of each pair, integers or texts: an array, an Arrow or data frame column, or a
                list. Without `second`, `first` holds the edges themselves: any collection of pairs, an (m, 2) array, or
                a frame, an Arrow table, a mapping or a file with two columns.
            second: id of the second person of each pair, of the same length.
            people: number n of people, if the ids are 0..n-1.
            vertices: all ids, in any order, if the ids are not 0..n-1. Membership in the list of vertices is public.
                Without `people` and `vertices`, the graph has only the people in the pairs, and the list of these
                people counts as public. If this list is secret, give `people` or `vertices`.

        Raises:
            InvalidInput: an id that is missing, or not on the list (the message names the row); or columns of different
                lengths or kinds.

        Example:
            >>> Graph.from_edges([10, 7, 7], [7, 7, 10], vertices=[7, 10, 12]).degrees.tolist()
            [1, 1, 0]
            >>> Graph.from_edges([(10, 7), (7, 10)], vertices=[7, 10, 12]).degrees.tolist()
            [1, 1, 0]
        """
        if second is None:
            if isinstance(first, Graph):
                raise InvalidInput("edges", "are a Graph already", "use the Graph directly")
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
        """Build a graph from the lines of a table, each of which names two people.

        Args:
            source: table in any form that `confide.tables.open_table` accepts: a .parquet, .csv or .arrow file, an
                Arrow table, a data frame, a mapping of columns, an ibis table.
            first: name of the column with the id of the first person of each line.
            second: name of the column with the id of the second person.
            weight: name of a column of numbers >= 0. The numbers of all lines between two people are added up, for both
                orders of the two ids.
            at_least: least total weight at which two people are neighbours; without `weight`, least number of lines
                between them. With `at_least`, `dropped` counts only the lines from a person to the same person.
            vertices: public list of all ids, as in `from_edges`, or a number n for the ids 0..n-1.
            id: type of the ids. With "auto" the ids are integers if every id is a whole number in plain decimal digits,
                as in a CSV file of numbers, and otherwise texts.

        Raises:
            InvalidInput: a table that cannot be read, a missing column, or an id or weight that is missing or unusable.

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
        """Build a graph from a square sparse matrix: i and j are neighbours if the entry (i, j) is not 0 (or is at
        least `at_least`). The ids are 0..n-1.

        Args:
            matrix: matrix of scipy.sparse in any format. The matrix is not changed.
            at_least: least value of an entry that counts; None counts all entries but 0.
            symmetrise: whether i and j are neighbours if only one of the entries (i, j) and (j, i) counts.

        Raises:
            InvalidInput: a matrix that is not square, or entries that are not symmetric although `symmetrise` is False.

        Example:
            >>> from scipy.sparse import csr_array
            >>> Graph.from_scipy(csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])).edges
            2
        """
        rows, columns, people, symmetric = graph_files.of_scipy(matrix, at_least)
        if not (symmetric or symmetrise):
            raise InvalidInput("matrix", "is not symmetric",
                               "set symmetrise=True, so that every entry counts in both directions")
        return cls._built(adjacency(rows, columns, people), None)

    @classmethod
    def from_networkx(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """Build a graph from a networkx graph. The nodes of the networkx graph are the ids, all integers or all texts.

        Args:
            graph: graph of networkx.
            symmetrise: whether directed edges count in both directions. If False, a directed graph is refused.

        Raises:
            InvalidInput: another kind of object, a directed graph, or nodes that are not ids.
        """
        return cls._of(graph_files.of_networkx(graph, symmetrise))

    @classmethod
    def from_igraph(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """Build a graph from an igraph graph. The ids are the names of the vertices, or 0..n-1 for vertices without
        names.

        Args:
            graph: graph of igraph.
            symmetrise: whether directed edges count in both directions. If False, a directed graph is refused.

        Raises:
            InvalidInput: another kind of object, a directed graph, or two vertices with the same name.
        """
        return cls._of(graph_files.of_igraph(graph, symmetrise))

    @classmethod
    def from_rustworkx(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """Build a graph from a rustworkx graph. The ids are the node indices of the rustworkx graph.

        Args:
            graph: graph of rustworkx.
            symmetrise: whether directed edges count in both directions. If False, a directed graph is refused.

        Raises:
            InvalidInput: another kind of object, or a directed graph.
        """
        return cls._of(graph_files.of_rustworkx(graph, symmetrise))

    @classmethod
    def from_graph_tool(cls, graph: Any, *, symmetrise: bool = False) -> Self:
        """Build a graph from a graph-tool graph. The ids are the vertex numbers of the graph-tool graph.

        Args:
            graph: graph of graph-tool.
            symmetrise: whether directed edges count in both directions. If False, a directed graph is refused.

        Raises:
            InvalidInput: another kind of object, or a directed graph.
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
        """Build a graph from a file of graph-tool, .gt or .gt.gz. The ids are 0..n-1.

        Args:
            path: path of the file.
            weight: name of an edge property with numbers >= 0. The numbers of parallel edges are added up.
            at_least: least total weight at which two vertices are neighbours; without `weight`, least number of
                parallel edges.
            symmetrise: whether directed edges count in both directions. If False, a directed graph is refused.

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
        """Build a graph of people who share groups, such as the cast of a film, the authors of a paper, or a class.

        Every two members of a group make one pair. Each pair takes 16 bytes of memory until repeated pairs are dropped.

        Args:
            group: id of the group in each line, integers or texts.
            member: id of the person in each line, who belongs to the line's group. A person who is listed twice in a
                group counts once.
            at_least: least number >= 1 of groups that two neighbours share.
            vertices: public list of all ids, as in `from_edges`, or a number n for the ids 0..n-1.

        Raises:
            InvalidInput: a missing group or id.

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
            raise InvalidInput("member", "the columns have different lengths",
                               "each line must have one group and one person")
        first, second = _within(shared.first, found.first, found.people)
        return cls._filtered(first, second, found.people, None, None if at_least == 1 else at_least, found.ids)


def _ascend(ids: Any) -> bool:
    """Whether ids have a valid type, and are distinct and in order."""
    if isinstance(ids, np.ndarray):
        return ids.dtype == np.int64 and ids.ndim == 1 and bool((np.diff(ids) > 0).all())
    if not isinstance(ids, pa.Array) or ids.type != pa.large_string() or ids.null_count:
        return False
    return len(ids) < 2 or bool(pc.all(pc.less(ids[:-1], ids[1:])).as_py())


def _check_nul(field: str, ids: Ids) -> None:
    """Refuse texts with a NUL character, which numpy would cut; see `has_nul`."""
    cut = has_nul(ids) if isinstance(ids, pa.Array) else np.zeros(0, np.bool_)
    if cut.any():
        raise InvalidInput(field, f"row {int(np.argmax(cut))} (from 0) has an id with a NUL character",
                           "remove the character, since arrays of text would lose it")


def _within(
    group: NDArray[np.int32], member: NDArray[np.int32], people: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All pairs of members of each group, with one line for each group that a pair shares."""
    lines = np.unique(group.astype(np.int64) * people + member)
    group, member = lines // max(1, people), (lines % max(1, people)).astype(np.int32)
    starts = np.searchsorted(group, group)
    ahead = np.arange(len(group)) - starts  # members of the same group that came before
    second = np.repeat(member, ahead)
    offsets = np.arange(len(second)) - np.repeat(np.cumsum(ahead) - ahead, ahead)
    return member[np.repeat(starts, ahead) + offsets], second
