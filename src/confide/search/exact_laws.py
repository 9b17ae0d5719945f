"""The exact law of the released list on small graphs, and all graphs that differ in one protected vertex.

The next target depends on the graph and on the released list, never on the vertices that were examined before this
target. Therefore the law is a tree over released lists. Each node has the law of one call, followed by the whole
component of the target that was found. The order inside a component is fixed by the edges between targets.

All targets must be known. The computation visits every possible list. If t components of targets exist and k components
are searched for, there are up to t^(k-1) lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.search.adjacency import Adjacency
from confide.search.noise_kinds import NoiseKind, Threshold, call_law
from confide.search.statistics import Statistic

__all__ = ["CallSettings", "Hidden", "LawTree", "Rows", "component_order", "exact_law", "rewirings"]

_Ints = NDArray[np.int64]
_Array = NDArray[np.float64]


class ThresholdLaw(Protocol):
    """The law by which the value of the fake target is drawn."""

    def law(self, values: _Array) -> _Array:
        """Probabilities of the values 0, 1, ... of the fake target, given the statistics of all vertices outside N[T],
        which are neither confirmed targets nor their contacts.
        """
        ...


class CallSettings(Protocol):
    """The public parameters of one call, a search for a component, on which the law of its result depends."""

    @property
    def statistic(self) -> Statistic: ...

    @property
    def noise_kind(self) -> NoiseKind: ...

    @property
    def noise_scale(self) -> float: ...

    @property
    def draws_threshold(self) -> bool: ...

    @property
    def public_threshold(self) -> float | None: ...

    @property
    def rule(self) -> ThresholdLaw: ...


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """A small private graph, stored as lists of neighbours in two arrays (compressed rows).

    Args:
        indptr: index in `indices` at which each vertex's list begins, and the end of the last list, int64, shape (n +
            1,).
        indices: neighbours, ascending within each list, int32, shape (2m,) for m edges.
    """

    indptr: _Ints
    indices: NDArray[np.int32]

    @property
    def people(self) -> int:
        """Number n of vertices."""
        return self.indptr.size - 1

    @classmethod
    def of_matrix(cls, joined: NDArray[np.bool_]) -> Rows:
        """Compressed rows of a symmetric adjacency matrix."""
        indptr = np.zeros(len(joined) + 1, dtype=np.int64)
        np.cumsum(joined.sum(axis=1), out=indptr[1:])
        return cls(indptr, np.nonzero(joined)[1].astype(np.int32))


def _matrix(graph: Adjacency) -> NDArray[np.bool_]:
    out = np.zeros((graph.people, graph.people), dtype=np.bool_)
    out[np.repeat(np.arange(graph.people), np.diff(graph.indptr)), graph.indices] = True
    return out


def rewirings(graph: Adjacency, vertex: int, degree_bound: int) -> Iterator[Rows]:
    """All graphs that differ from the given one only in the edges of one vertex, with all degrees within the bound. The
    given graph itself is included if its degrees are within the bound.

    Every two of the rewired graphs are neighbours.

    Args:
        graph: compressed rows of the graph.
        vertex: vertex that is rewired.
        degree_bound: public bound d on all degrees.

    Raises:
        InvalidInput: no such vertex, or a graph that no rewiring brings within the bound.

    Source: spec targeted_search 1 (line 5847 of the source) and 11, check 5.

    Example:
        >>> path = Rows.of_matrix(np.eye(4, k=1, dtype=bool) | np.eye(4, k=-1, dtype=bool))
        >>> len(list(rewirings(path, 0, 2)))  # vertex 2 is full, so vertex 0 gets no contact, 1, 3, or both
        4
    """
    people = graph.people
    if whole("vertex", vertex) >= people:
        raise InvalidInput("vertex", f"{vertex} is not in the graph", f"must be below {people}")
    whole("degree_bound", degree_bound)
    base = _matrix(graph)
    base[vertex, :] = base[:, vertex] = False
    degrees = base.sum(axis=1)
    if degrees.max(initial=0) > degree_bound:
        raise InvalidInput("degree_bound", f"{degree_bound} is too small: another vertex has more neighbours, even "
                                           f"without the edges of {vertex}")
    free = [v for v in range(people) if v != vertex and degrees[v] < degree_bound]
    for count in range(min(degree_bound, len(free)) + 1):
        for chosen in combinations(free, count):
            joined = base.copy()
            joined[vertex, list(chosen)] = joined[list(chosen), vertex] = True
            yield Rows.of_matrix(joined)


def component_order(graph: Adjacency, start: int, targeted: NDArray[np.bool_]) -> tuple[int, ...]:
    """The order in which the search of a component releases its targets, as a function of the edges between targets.

    A protected vertex changes neither the set T of confirmed targets nor a target's number of contacts in T. Protected
    vertices are therefore left out.

    Args:
        graph: compressed rows of the graph.
        start: target at which the search of the component begins.
        targeted: whether each vertex is a target, shape (n,).

    Source: spec targeted_search 3.1.
    """
    order, contacts = [start], dict[int, int]()
    while True:
        for v in graph.indices[graph.indptr[order[-1]] : graph.indptr[order[-1] + 1]].tolist():
            if targeted[v] and v not in order:
                contacts[v] = contacts.get(v, 0) + 1
        if not contacts:
            return tuple(order)
        following = min(contacts, key=lambda v: (-contacts[v], v))
        del contacts[following]
        order.append(following)


@dataclass(frozen=True)
class Hidden:
    """The targets that one call (a search for a component) can find, and the threshold of this call. The targets and
    the threshold are private.

    Args:
        targets: indices of the targets that are not found yet, ascending.
        scores: statistics of the targets in `targets`, shape (t,).
        threshold: value of the fake target before noise: a number, an array of the probabilities of 0, 1, ..., or None
            for no fake target.
    """

    targets: tuple[int, ...]
    scores: _Array
    threshold: Threshold


@dataclass
class LawTree:
    """The exact laws of released lists for one set of targets, on any number of graphs with the same edges between
    targets.

    Args:
        one: public parameters of one call, a search for a component.
        components: largest number k of components to find.
        seeds: indices of the seeds.
        targeted: whether each vertex is a target, shape (n,).
    """

    one: CallSettings
    components: int
    seeds: tuple[int, ...]
    targeted: NDArray[np.bool_]
    _orders: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _calls: dict[Any, _Array] = field(default_factory=dict, repr=False)
    _thresholds: dict[bytes, tuple[bytes, _Array]] = field(default_factory=dict, repr=False)

    def law(self, graph: Adjacency) -> dict[tuple[int, ...], float]:
        """Mapping from each list of indices that can be released to its probability."""
        order: tuple[int, ...] = ()
        for seed in self.seeds:
            if seed not in order:
                order += self._component(graph, seed)
        out: dict[tuple[int, ...], float] = {}
        self._replay(graph, order, self.components - 1, 1.0, out)
        return out

    def hidden(self, graph: Adjacency, order: tuple[int, ...]) -> Hidden:
        """The targets from which the next call chooses, and its threshold, after the list `order` was released."""
        released = np.array(sorted(order), dtype=np.int64)
        values = self.one.statistic.values(graph, released)
        left = self.targeted.copy()
        left[released] = False
        targets = np.flatnonzero(left)
        return Hidden(tuple(targets.tolist()), values[targets], self._threshold(graph, released, values))

    def call(self, hidden: Hidden) -> _Array:
        """Probabilities of the outcomes of one call, shape (t + 1,): each of the t targets that are not found yet, and
        nothing found.
        """
        threshold = hidden.threshold
        key = (hidden.scores.tobytes(),
               threshold.tobytes() if isinstance(threshold, np.ndarray) else threshold)
        if key not in self._calls:
            self._calls[key] = call_law(hidden.scores, self.one.noise_scale, self.one.noise_kind, threshold)
        return self._calls[key]

    def _threshold(self, graph: Adjacency, released: _Ints, values: _Array) -> Threshold:
        if not self.one.draws_threshold:
            return self.one.public_threshold
        outside = np.ones(graph.people, dtype=np.bool_)
        outside[released] = False
        for t in released:
            outside[graph.indices[graph.indptr[t] : graph.indptr[t + 1]]] = False
        counted = np.sort(values[outside])
        key = counted.tobytes()
        if key not in self._thresholds:
            self._thresholds[key] = (key, np.asarray(self.one.rule.law(counted)))
        return self._thresholds[key][1]

    def _component(self, graph: Adjacency, start: int) -> tuple[int, ...]:
        if start not in self._orders:
            self._orders[start] = component_order(graph, start, self.targeted)
        return self._orders[start]

    def _replay(
        self, graph: Adjacency, order: tuple[int, ...], calls: int, chance: float,
        out: dict[tuple[int, ...], float],
    ) -> None:
        if calls == 0:
            out[order] = out.get(order, 0.0) + chance
            return
        hidden = self.hidden(graph, order)
        law = self.call(hidden)
        for target, part in zip(hidden.targets, law[:-1].tolist(), strict=True):
            if part > 0:
                self._replay(graph, order + self._component(graph, target), calls - 1, chance * part, out)
        if law[-1] > 0:
            out[order] = out.get(order, 0.0) + chance * float(law[-1])


def exact_law(mechanism: Any, investigation: Any) -> dict[tuple[Any, ...], float]:
    """All lists that a private search can release, with their probabilities. The enumeration is for small graphs, and
    for studies only.

    Args:
        mechanism: the `PTarget` for which the law is computed.
        investigation: an `Investigation` with graph, seeds and oracle. The oracle is asked about every vertex.

    Returns:
        A mapping from lists of ids in the order of release to probabilities, with relative errors below 1e-10.

    Source: spec targeted_search 4, 10 (trap 9) and 11 (checks 3 and 4).
    """
    statuses = investigation.statuses()
    unknown = np.flatnonzero(statuses.known < 0)
    if unknown.size:
        statuses.ask(unknown)
    graph = investigation.graph
    tree = LawTree(mechanism.call, mechanism.components, tuple(int(v) for v in investigation.seeds),
                   statuses.known == 1)
    names = graph.ids_of(np.arange(graph.people))
    names = names.to_pylist() if hasattr(names, "to_pylist") else np.asarray(names).tolist()
    return {tuple(names[v] for v in order): chance for order, chance in tree.law(graph).items()}
