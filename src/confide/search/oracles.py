"""Oracles that answer whether a vertex is a target, and the record of their answers.

An answer costs money, and outsiders cannot see the answer. Answers are stored separately from the set I of examined
vertices. An answer may be known before the search uses it, for example from an earlier search or because the question
was asked in advance. Such an answer does not change the release.

Answers can also be read from a table with targets, other people, and people without an answer yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import ConfideError, InvalidInput
from confide.search.graph import Graph
from confide.search.identifiers import lookup
from confide.tables import open_table
from confide.tables._cells import numbers, strings
from confide.tables._values import made_by
from confide.tables.frames import is_table

__all__ = [
    "AnswersSoFar",
    "Investigation",
    "Oracle",
    "OracleInconsistent",
    "OracleUnavailable",
    "SeedNotTargeted",
    "Statuses",
    "answers_of",
    "spelled",
]

# ---- answers

_WORDS = ("no", "yes")  # as well as true and false, 1 and 0; in any capitals


def spelled(name: str, column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The answers in a column as 1, 0, or NaN for an unreadable cell, and whether each cell is empty.

    Args:
        name: name of the column, for error messages.
        column: cells of the column: true, false, yes, no, 1, 0, or nothing.
    """
    words = pc.utf8_lower(pc.utf8_trim_whitespace(strings(name, column)))
    empty = pc.fill_null(pc.equal(words, ""), True).to_numpy(zero_copy_only=False)
    found = pc.index_in(words, value_set=pa.array(_WORDS, pa.large_string())).to_numpy(zero_copy_only=False)
    said = np.where(np.isnan(found), numbers(name, column), found)
    return np.where(np.isin(said, (0.0, 1.0)), said, np.nan), empty


def answers_of(source: Any, graph: Graph) -> NDArray[np.int8]:
    """The private answers about all vertices, shape (n,): 1 for a target, 0 for any other person, -1 for no answer.

    Args:
        source: table with the columns `id` and `targeted`, in any form that `confide.tables.open_table` accepts.
        graph: graph that contains all people in the table.

    Raises:
        InvalidInput: a missing column, an unknown id, an unreadable answer, or two different answers about one person.
            The error message does not name the person.

    Example:
        >>> network = Graph.from_edges(["ann", "bob"], ["bob", "cid"])
        >>> answers_of({"id": ["cid", "ann"], "targeted": [True, False]}, network).tolist()
        [0, -1, 1]
    """
    known, places_of = np.full(graph.people, -1, np.int8), lookup(graph.people, graph.ids)
    for batch in open_table(source).batches(["id", "targeted"]):
        places = places_of(strings("id", batch.column(0)))
        said, empty = spelled("targeted", batch.column(1))
        if (places < 0).any():
            raise InvalidInput("id", "a line has no id, or an id that belongs to nobody")
        if (np.isnan(said) & ~empty).any():
            raise InvalidInput("targeted", "an answer is not one of true, false, yes, no, 1 and 0",
                               "leave the cell of a person without an answer empty")
        where, what = places[~empty], said[~empty].astype(np.int8)
        before = known[where]
        known[where] = what
        if ((before >= 0) & (before != what)).any() or (known[where] != what).any():
            raise InvalidInput("targeted", "two answers about one person differ", "give one status for each person")
    return known


# ---- oracles

Oracle = Callable[[Any], bool] | NDArray[np.bool_] | Mapping[Any, bool] | Collection[Any] | None


class SeedNotTargeted(InvalidInput):
    """Error for a seed that is not a target, or that is not a vertex. The search promises nothing for a seed that is
    not a target.

    Args:
        problem: description of the seed's problem, for the error message.
    """

    def __init__(self, problem: str = "a seed is not targeted") -> None:
        super().__init__("seed_vertex", problem, "every seed must be a confirmed target")


class OracleInconsistent(InvalidInput):
    """Error for an oracle that changed its answer. The status of a person must never change, because the privacy
    promise is meaningless if the answers differ.
    """

    def __init__(self) -> None:
        super().__init__("answers", "contradict an earlier answer for the same vertex",
                         "give the earlier answer, since statuses do not change")


class OracleUnavailable(ConfideError):
    """Error for an oracle that gave no answer. The search pauses. A person without an answer is never treated as a
    person who is not a target.

    Attributes:
        search: the paused search; None if there is none. The call `search.run()` continues the paused search, also
            after `search.answer(...)`.
    """

    def __init__(self) -> None:
        super().__init__("the oracle gave no answer. The search waits and keeps its state: give the answers to "
                         "answer(...), or call run() again")
        self.search: Any = None


@dataclass(frozen=True, eq=False)
class Investigation:
    """A custodian's private data: the network, the public seeds, and the oracle that answers whether a person is a
    target.

    Args:
        graph: private network of contacts: a `Graph`, or edges in any form that `Graph.from_edges` accepts (pairs, an
            (m, 2) array, or a frame or a file with two columns). If edges are given, the set of people in the edges is
            public. If this set is secret, make a `Graph` with all `vertices`.
        seed_vertex: public id of a confirmed target, or several ids, chosen independently of the graph.
        oracle: source of statuses, in one of six forms. (1) A callable from an id to a bool. If the callable has a
            method `statuses`, this method is called with a list of ids, and returns the answers in the same order, with
            None for a missing answer. (2) A mapping from ids to bools, or a pandas series of bools with ids as index.
            An id without an entry has no answer yet. (3) A collection of the ids of all targets. (4) A table with the
            columns `id` and `targeted`: a data frame (pandas, Polars, Arrow) or a file. (5) A bool array of n statuses,
            in the ascending order of `graph.ids` (entry i is for `graph.id_of(i)`). This order may differ from the
            order in which the ids were given. (6) None, if answers are given by hand.
        ahead: number of vertices about which the method `statuses` of the oracle is asked in one call, in a search for
            a new component. Some of the answers may turn out to be unnecessary. Unused answers are kept, and change
            nothing that is released.

    Raises:
        InvalidInput: an unknown id, no seed, or an oracle of another kind.

    Source: spec targeted_search 1, 3.3.

    Example:
        >>> from confide.search.graph import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> Investigation(path, 0, {0, 1, 3}).seeds.tolist()
        [0]
        >>> Investigation([("ann", "bob"), ("bob", "cid")], "ann", {"ann"}).graph
        Graph(people=3)
    """

    graph: Graph
    seed_vertex: Any
    oracle: Oracle
    ahead: int = 1

    if TYPE_CHECKING:  # what it is given may be edges; what it holds is a graph

        def __init__(self, graph: Any, seed_vertex: Any, oracle: Oracle, ahead: int = 1) -> None: ...

    def __post_init__(self) -> None:
        held: Any = self.graph
        if not isinstance(held, Graph):
            object.__setattr__(self, "graph", _graph_of(held))
        whole("ahead", self.ahead, at_least=1)
        given: Any = self.seed_vertex
        if given is None:
            raise InvalidInput("seed_vertex", "is missing", "must be the public id of a confirmed target, or several")
        several = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
        ids = (given.to_pylist() if hasattr(given, "to_pylist") else list(given)) if several else [given]
        if not ids:
            raise InvalidInput("seed_vertex", "is empty", "must have at least one confirmed target")
        seeds = [self._seed(each) for each in ids]
        seeds = sorted(seeds) if isinstance(given, Set) else seeds  # a set has no order of its own
        vars(self)["_seeds"] = np.array(list(dict.fromkeys(seeds)), np.int64)
        vars(self)["_table"] = self._read_table()

    @property
    def seeds(self) -> NDArray[np.int64]:
        """Indices of the seeds in the given order, without repeats, shape (s,)."""
        found: NDArray[np.int64] = vars(self)["_seeds"]
        return found

    def __repr__(self) -> str:
        return f"<Investigation of {self.graph.people:,} vertices>"

    def _seed(self, vertex: Any) -> int:
        try:
            return int(self.graph.index_of(vertex))
        except InvalidInput as error:
            raise SeedNotTargeted(error.problem) from None

    def _read_table(self) -> NDArray[np.int8] | None:
        """All statuses, shape (n,), if the oracle is a table or a collection; None for other oracles."""
        oracle, people = self.oracle, self.graph.people
        if is_table(oracle):
            try:
                return answers_of(oracle, self.graph)
            except InvalidInput as error:
                raise InvalidInput("oracle", f"{error.field}: {error.problem}", error.limit) from None
        if isinstance(oracle, pa.Array | pa.ChunkedArray):
            oracle = oracle.to_pylist()
        if oracle is None or callable(oracle) or hasattr(oracle, "statuses"):
            return None
        if isinstance(oracle, np.ndarray) and oracle.dtype == np.bool_:
            if oracle.shape != (people,):
                raise InvalidInput("oracle", f"an array of shape {oracle.shape}",
                                   f"must be ({people},): one status for each of graph.ids, in their order")
            return oracle.astype(np.int8)
        if isinstance(oracle, Mapping):
            return self._by_id(list(oracle), list(oracle.values()))
        if made_by("pandas", oracle) and hasattr(oracle, "index") and _statuses(list(oracle)):
            return self._by_id(list(oracle.index), list(oracle))
        if not isinstance(oracle, Collection | np.ndarray) or isinstance(oracle, str):
            raise InvalidInput("oracle", f"{type(oracle).__name__} has no statuses",
                               "must be a callable, a mapping from ids to bools, a bool array in the order of "
                               "graph.ids, or the targets' ids")
        table = np.zeros(people, np.int8)
        vertices = list(oracle)
        if any(isinstance(vertex, bool | np.bool_) for vertex in vertices):
            raise InvalidInput("oracle", "is a list of booleans",
                               "give a mapping from ids to bools, or a numpy array of bool in the order of graph.ids")
        try:
            table[self.graph.indices_of(vertices)] = 1
        except InvalidInput as error:
            raise InvalidInput("oracle", error.problem, error.limit) from None
        return table

    def _by_id(self, names: list[Any], answers: list[Any]) -> NDArray[np.int8]:
        """The statuses of the named vertices, with -1 for all others, shape (n,)."""
        table = np.full(self.graph.people, -1, np.int8)
        try:
            places = self.graph.indices_of(names) if names else np.zeros(0, np.int64)
        except InvalidInput as error:
            raise InvalidInput("oracle", f"its keys or index are not ids: {error.problem}",
                               "use graph.ids as keys, or give a numpy array in the order of graph.ids") from None
        if len(np.unique(places)) < len(places):
            raise InvalidInput("oracle", "an id occurs twice in it", "give one status for each person")
        if not _statuses(answers):
            raise InvalidInput("oracle", "has values other than True and False",
                "leave out people without an answer")
        table[places] = [-1 if _missing(answer) else int(answer) for answer in answers]
        return table

    def statuses(self) -> Statuses:
        """The statuses that are known when a search begins: the answers in the table for an oracle that is a table, and
        none for a callable oracle.
        """
        table = vars(self)["_table"]
        return Statuses(self, table if table is None else table.copy())


def _graph_of(edges: Any) -> Graph:
    """The graph of edges that were given in place of a graph."""
    from_other = {"networkx": "from_networkx", "igraph": "from_igraph", "rustworkx": "from_rustworkx",
                  "graph_tool": "from_graph_tool", "scipy": "from_scipy"}
    for package, maker in from_other.items():
        if made_by(package, edges):
            raise InvalidInput("graph", f"{type(edges).__name__} belongs to {package}",
                               f"build a Graph with Graph.{maker}")
    try:
        return Graph.from_edges(edges)
    except InvalidInput as error:
        field = "" if error.field == "edges" else f"{error.field}: "
        raise InvalidInput("graph", f"{field}{error.problem}", error.limit or "must be a Graph, or its edges") from None


def _missing(answer: Any) -> bool:
    return answer is None or (isinstance(answer, float) and math.isnan(answer)) or type(answer).__name__ == "NAType"


def _statuses(answers: list[Any]) -> bool:
    """Whether all answers are True, False or missing, and not all are missing. An empty list counts as valid."""
    kinds = [isinstance(answer, bool | np.bool_) or _missing(answer) for answer in answers]
    return all(kinds) and (not answers or not all(_missing(answer) for answer in answers))


class Statuses:
    """The oracle's answers so far, as one int8 for each vertex: 1 for a target, 0 for any other person, -1 for an
    unknown status.

    Args:
        investigation: investigation with the oracle that is asked.
        table: known statuses of all vertices, int8, shape (n,), with -1 for unknown; None if no status is known.
    """

    def __init__(self, investigation: Investigation, table: NDArray[np.int8] | None = None) -> None:
        self._graph, self._oracle = investigation.graph, investigation.oracle
        self.known: NDArray[np.int8] = (np.full(self._graph.people, -1, np.int8) if table is None else table)
        self._many = getattr(self._oracle, "statuses", None) if table is None else None

    def __repr__(self) -> str:
        return "<Statuses>"  # private

    @property
    def in_batches(self) -> bool:
        """Whether the oracle can answer about many vertices in one call."""
        return self._many is not None

    def learn(self, index: int, answer: Any) -> None:
        """Record one answer.

        Raises:
            InvalidInput: an answer that is not a bool.
            OracleInconsistent: an answer that differs from an earlier one.
        """
        if not (isinstance(answer, bool | np.bool_) or (isinstance(answer, int | np.integer) and answer in (0, 1))):
            raise InvalidInput("answers", f"{type(answer).__name__} is not a status", "must be True or False")
        if self.known[index] >= 0 and self.known[index] != int(answer):
            raise OracleInconsistent
        self.known[index] = int(answer)

    def give(self, answers: Mapping[Any, bool]) -> None:
        """Record several answers by id. If one answer is invalid, none of them is recorded.

        Args:
            answers: mapping from the id of a person to whether they are a target.
        """
        before = self.known.copy()
        try:
            for vertex, answer in answers.items():
                self.learn(int(self._graph.index_of(vertex)), answer)
        except InvalidInput:
            self.known[:] = before
            raise

    def given(self) -> dict[Any, bool]:
        """All answers so far by id. Only the operator may see the answers."""
        known = np.flatnonzero(self.known >= 0)
        return dict(zip(self._graph.ids_of(known), (self.known[known] == 1).tolist(), strict=True))

    def ask(self, indices: NDArray[np.int64]) -> None:
        """Ask the oracle about some vertices, and record its answers.

        Raises:
            OracleUnavailable: an oracle that gives no answer about one of the vertices. The answers about all other
                vertices are recorded.
        """
        vertices = self._graph.ids_of(indices)
        if self._many is not None:
            answers = self._call(self._many, vertices)
            if not isinstance(answers, Sequence | np.ndarray) or len(answers) != len(vertices):
                raise InvalidInput("oracle", "its statuses(ids) did not return one answer for each id")
            for index, answer in zip(indices.tolist(), answers, strict=True):
                if answer is not None:
                    self.learn(index, answer)
            if any(answer is None for answer in answers):
                raise OracleUnavailable
            return
        for index, vertex in zip(indices.tolist(), vertices, strict=True):
            answer = self._call(self._oracle, vertex) if callable(self._oracle) else None
            if answer is None:
                raise OracleUnavailable
            self.learn(index, answer)

    @staticmethod
    def _call(oracle: Callable[[Any], Any], question: Any) -> Any:
        try:
            return oracle(question)
        except Exception as error:
            raise OracleUnavailable from error


class AnswersSoFar:
    """An oracle that answers from an incomplete table. A missing answer stays missing.

    Args:
        known: mapping from the id of a person to whether they are a target.
    """

    def __init__(self, known: Mapping[Any, bool]) -> None:
        self.known = known

    def __repr__(self) -> str:
        return "<AnswersSoFar>"

    def __call__(self, vertex: Any) -> bool:
        """The answer about one vertex.

        Raises:
            LookupError: no answer is known.
        """
        return self.known[vertex]

    def statuses(self, ids: Sequence[Any]) -> list[bool | None]:
        """The answers about several vertices, with None for a missing answer."""
        return [self.known.get(each) for each in ids]
