"""SearchCom: a search for one target outside the components that were found, by noisy statistics of proximity.

Every unexamined vertex gets fresh noise. Vertices are examined in decreasing order of their noisy values, until a
vertex is a target or the fake target is next. The fake target is an additional item with noise whose only purpose is to
end the search. The release is the target, or nothing. The law of the release is a function of the graph and the
released list alone.

Source: Wu 2017, Algorithm 13, hardened; spec targeted_search 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Relation
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.privacy.accounting import written
from confide.privacy.events import BoundedRangeEvent, Event, PureEvent
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.search.component_walk import FOUND, STOPPED, UNKNOWN, SearchState, Walk
from confide.search.graph import Graph
from confide.search.noise_kinds import NoiseKind
from confide.search.noisy_order import NoisyOrder
from confide.search.oracles import Investigation, Oracle, Statuses
from confide.search.releases import OperatorLog, keep_call
from confide.search.statistics import CommonNeighbours, Statistic
from confide.search.stopping import Stop, ThresholdRule

__all__ = [
    "DEGREE_BOUND",
    "LARGEST_THRESHOLD",
    "NOISE_KIND",
    "PEOPLE",
    "PUBLIC_THRESHOLD",
    "STATISTIC",
    "STOP",
    "STOPPING_TARGET",
    "ComponentSearch",
    "NoisyCandidates",
    "call_epsilon",
    "search_component",
    "sfs",
]

_MOST_EPSILON = 1e12
"""Largest accepted epsilon. With a larger epsilon, sums over calls and levels approach the largest doubles; far smaller
values already promise nothing.
"""

PEOPLE = Parameter("people in the network, public", symbol="n", at_least=1)
STOPPING_TARGET = Parameter(
    "approximate number of people before a search for another component gives up; needed if the threshold is drawn, "
    "and unused otherwise", symbol="K", at_least=0)
DEGREE_BOUND = Parameter(
    "largest number of contacts of one person; public, from outside knowledge and never from this graph; None if "
    "neither the stop nor the statistic needs it", symbol="d", at_least=1)
STOP = Parameter(
    'rule for the end of a search for another component. "none": no end; "public": at a fake target with the value '
    'public_threshold and its own noise; "private": at a fake target with a drawn value that about K people exceed; '
    '"smoothed": at a fake target with a drawn value before which about K people are expected')
STATISTIC = Parameter("statistic of proximity that compares people")
NOISE_KIND = Parameter(
    'law of the noise on the values; "gumbel" makes a selection an exponential mechanism, with a quarter of the '
    "cost if delta is above 0")
PUBLIC_THRESHOLD = Parameter('approximate value at which a search gives up, for stop = "public"')
LARGEST_THRESHOLD = Parameter(
    "end of the grid 0, 1, ... for the drawn threshold; if left out, the largest value that degree_bound allows, and b "
    "ln n more with a smoothed stop. Privacy does not depend on it. If the grid is much longer than the thresholds "
    "that fit K, most draws stop a search at once", at_least=0)


def call_epsilon(words: str) -> Parameter:
    """The parameter `epsilon` of one search for a component.

    Args:
        words: description of the parameter for the class that declares the parameter.
    """
    return Parameter(words, unit="nats", above=0, at_most=_MOST_EPSILON)


_ROOM = 2.0**-38
"""Part of epsilon that covers the rounding of doubles: noisy values of up to 2^12 scales are within 2^-40 scales of
ideal ones (spec 3.2).
"""
_RELATIVE = 2.0**-50
"""Part of epsilon, for each scale of the largest value, that covers the rounding of larger values."""
_BLOCK = 4096


class NoisyCandidates:
    """Unexamined vertices in decreasing order of their noisy values. Only as many vertices are drawn as are needed. The
    entry -1 stands for the fake target.
    """

    def __init__(self, items: NDArray[np.int64], order: NoisyOrder, threshold: float | None) -> None:
        self._vertices = np.append(items, -1)
        self._order, self._threshold = order, threshold

    @property
    def threshold(self) -> float | None:
        """Value of the fake target before noise; None if there is no fake target."""
        return self._threshold

    def take(self, count: int) -> NDArray[np.int64]:
        """Draw the next `count` vertices in the order, or fewer at the end."""
        return np.asarray(self._vertices[self._order.take(count)])


@renamed(delta="sensitivity", scale="noise_scale")
@dataclass(frozen=True, kw_only=True)
class ComponentSearch(Declared):
    """The public parameters of one call: a search for one component outside the components that were found.

    The class has no `for_budget`, because a budget covers the whole list: `PTarget.for_budget` divides it among calls.

    Raises:
        InvalidInput: a parameter out of range, a statistic without signal, or a missing degree bound.
    """

    people: Annotated[int, PEOPLE]
    stopping_target: Annotated[int | None, STOPPING_TARGET]
    epsilon: Annotated[float, call_epsilon("cost of the call")]
    degree_bound: Annotated[int | None, DEGREE_BOUND]
    stop: Annotated[Stop, STOP] = "private"
    statistic: Annotated[Statistic, STATISTIC] = field(default_factory=CommonNeighbours)
    noise_kind: Annotated[NoiseKind, NOISE_KIND] = "laplace"
    public_threshold: Annotated[float | None, PUBLIC_THRESHOLD] = None
    largest_threshold: Annotated[int | None, LARGEST_THRESHOLD] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "people", int(self.people))
        object.__setattr__(self, "epsilon", float(self.epsilon))
        self._check_statistic()
        if self.draws_threshold:
            if self.degree_bound is None:
                raise InvalidInput("degree_bound", "is missing", f"a {self.stop} stop needs a public bound on degrees")
            if self.stopping_target is None:
                raise InvalidInput("stopping_target", "is missing", f"a {self.stop} stop needs this number")
        if (self.stop == "public") != (self.public_threshold is not None):
            raise InvalidInput("public_threshold", "is missing" if self.stop == "public" else "has no effect",
                               'public_threshold belongs to stop="public"')
        if self.largest_threshold is not None and not self.draws_threshold:
            raise InvalidInput("largest_threshold", "has no effect",
                               "largest_threshold belongs to a private or smoothed stop")
        if self.noise_kind == "discrete_laplace":
            values = (self.sensitivity, 0.0 if self.public_threshold is None else self.public_threshold)
            if not self.statistic.whole or any(value != int(value) for value in values):
                raise InvalidInput("noise_kind", "discrete_laplace needs whole values",
                                   "statistic, sensitivity and threshold must be whole numbers")
        if not self.selection_epsilon - self.room > self.selection_epsilon / 2:
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too small",
                               "must be far above the rounding of 64-bit floats")
        if self.draws_threshold:
            _ = self.rule

    def _check_statistic(self) -> None:
        if not self.statistic.signal:
            raise InvalidInput("statistic", f"{self.statistic.name} carry no signal, since they are 0 for every "
                                            "unexamined vertex",
                               "take CommonNeighbours()")
        if not self.sensitivity > 0:
            raise InvalidInput("statistic", f"{self.statistic.name} have sensitivity {self.sensitivity:g} at this "
                               "degree_bound", "the sensitivity must be above 0")

    @property
    def draws_threshold(self) -> bool:
        """Whether the value of the fake target is drawn from private counts."""
        return self.stop in {"private", "smoothed"}

    @cached_property
    def sensitivity(self) -> float:
        """Targeted sensitivity of the statistic: the largest change of the value of an unconfirmed target by one
        protected vertex.
        """
        return float(self.statistic.sensitivity(self.degree_bound))

    @property
    def selection_epsilon(self) -> float:
        """Largest privacy loss of the noisy order, in nats: half of epsilon, rounded down, if a threshold is drawn;
        otherwise all of epsilon.
        """
        if not self.draws_threshold:
            return self.epsilon
        half = written(self.epsilon) / 2
        nearest = float(half)
        return nearest if written(nearest) <= half else math.nextafter(nearest, 0.0)

    @property
    def room(self) -> float:
        """Part of `selection_epsilon` that covers the rounding of doubles, in nats: 2^-38, or more if scores can be
        thousands of noise scales.
        """
        most = self.statistic.most(self.degree_bound)
        reach = max(self.people if most is None else most, abs(self.public_threshold or 0.0),
                    self.largest_threshold or 0)
        scales = reach * self.selection_epsilon / (2 * self.sensitivity)
        if self.draws_threshold:  # a smoothed threshold goes ln n scales further
            scales += math.log(self.people) + 2
        return max(_ROOM, _RELATIVE * scales)

    @cached_property
    def noise_scale(self) -> float:
        """Noise scale b, rounded up. The selection of one call costs 2 Delta / b plus `room`, where Delta is the
        sensitivity of the scores.
        """
        return math.nextafter(2 * self.sensitivity / (self.selection_epsilon - self.room), math.inf)

    @cached_property
    def rule(self) -> ThresholdRule:
        """The rule by which the value of the fake target is drawn, for a private or smoothed stop."""
        most = self.statistic.most(self.degree_bound)
        if not self.draws_threshold or most is None or self.stopping_target is None:
            raise InvalidInput("stop", f"{self.stop!r} draws no threshold")
        return ThresholdRule(
            stop=self.stop, epsilon=self.selection_epsilon, stopping_target=self.stopping_target, people=self.people,
            most=most, count_sensitivity=self.statistic.count_sensitivity(self.degree_bound),
            smooth=isinstance(self.statistic, CommonNeighbours), noise_kind=self.noise_kind,
            noise_scale=self.noise_scale, largest_threshold=self.largest_threshold)

    def events(self) -> tuple[Event, ...]:
        """The privacy events of one call. If the rule `stop` draws a threshold, the first event is this draw, which is
        charged as a bounded-range event. The last event is the selection, which is charged in pure differential
        privacy.

        With Gumbel noise the selection has bounded range too, because the choice of the largest noisy value is an
        exponential mechanism.
        """
        kind = BoundedRangeEvent if self.noise_kind == "gumbel" else PureEvent
        unit, each = Relation.EDGES_OF_ONE, self.selection_epsilon
        selection = kind(epsilon=each, neighbours=unit, label="selection")
        if not self.draws_threshold:
            return (selection,)
        return (BoundedRangeEvent(epsilon=each, neighbours=unit, label="threshold"), selection)

    def values(self, walk: Walk) -> NDArray[np.float64] | NDArray[np.int32]:
        """The private statistic of each vertex with respect to the confirmed targets, shape (n,)."""
        if isinstance(self.statistic, CommonNeighbours):
            return walk.common_neighbours()
        return self.statistic.values(walk.graph, np.sort(walk.order))

    def look(self, walk: Walk, noise: Noise, call: int) -> NoisyCandidates:
        """The unexamined vertices in noisy order, with the fake target among them.

        Args:
            walk: private state of the search.
            noise: source of noise, which must be fresh in every call.
            call: number of the call, from 0; the names of the call's random streams contain this number.
        """
        values = self.values(walk)
        threshold = None if self.public_threshold is None else float(self.public_threshold)
        if self.draws_threshold:
            threshold = float(self.rule.draw(values[walk.outside], noise, ("component", call, "threshold")))
        items = np.flatnonzero(~walk.examined)
        order = self.order(values[items].astype(np.float64), self.noise_scale, noise, call, threshold)
        return NoisyCandidates(items, order, threshold)

    @renamed(scale="noise_scale")
    def order(self, values: NDArray[np.float64], noise_scale: float, noise: Noise, call: int,
              threshold: float | None) -> NoisyOrder:
        """The noisy order of given values.

        Args:
            values: private statistics of the unexamined vertices.
            noise_scale: noise scale b.
            noise: source of noise, which must be fresh in every call.
            call: number of the call.
            threshold: value of the fake target before noise; None for no fake target.
        """
        return NoisyOrder(values, noise_scale, self.noise_kind, noise, stream=("component", call, "order"),
                          fake=threshold, plain=not self.statistic.whole, sensitivity=self.sensitivity, room=self.room,
                          line="selections")


def search_component(
    graph: Graph, released: Sequence[Any], oracle: Oracle, noise: Noise, *, epsilon: float,
    examined: set[Any] | None = None, stopping_target: int | None = None, degree_bound: int | None = None,
    stop: Stop = "private", statistic: Statistic | None = None, noise_kind: NoiseKind = "laplace",
    public_threshold: float | None = None, largest_threshold: int | None = None, call: int = 0,
    log: OperatorLog | None = None,
) -> Any:
    """Make one call of SearchCom. The result is the id of a target that is not among the released targets, or None.

    Args:
        graph: private network of contacts between people.
        released: ids of all confirmed targets, the set T. The component of each target in T must have been searched by
            `sfs`.
        oracle: source of statuses, in any form that `Investigation` accepts.
        noise: source of the random draws, such as `Noise.secure()`.
        epsilon: privacy loss of the call, in nats, > 0.
        examined: ids of the examined vertices, the set I, to which the targets in T always belong. The call adds the
            vertices that it examines to this set. All targets in this set must be in T. A vertex counts as examined
            only if the search used the oracle's answer about this vertex.
        stopping_target: approximate number K of people after which the search gives up, for a private or smoothed stop.
        degree_bound: public bound d on the number of contacts of each person.
        stop: rule by which the search gives up: "none", "public", "private" or "smoothed".
        statistic: statistic of proximity; common neighbours by default.
        noise_kind: kind of the noise: "laplace", "exponential", "discrete_laplace" or "gumbel".
        public_threshold: public value of the fake target before noise, for the stop "public".
        largest_threshold: largest value that a drawn threshold may have.
        call: number of the call. Calls with the same source of noise must have different numbers.
        log: log that is filled with the examined vertices and other records that only the operator may see.

    Raises:
        InvalidInput: a parameter out of range, an unknown id, or a released or examined vertex with a wrong status.
        OracleUnavailable: an oracle that gives no answer. `PTarget.start` makes calls that can be resumed.

    Source: Wu 2017, Algorithm 13, hardened; spec targeted_search 3.2.

    Example:
        >>> from confide.search.graph import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> search_component(path, [0], {0, 2}, Noise.simulated(1), epsilon=1.0, examined={1}, stop="none")
        2
    """
    investigation = Investigation(graph, released, oracle)
    settings = ComponentSearch(
        people=graph.people, stopping_target=stopping_target, epsilon=epsilon, degree_bound=degree_bound, stop=stop,
        statistic=CommonNeighbours() if statistic is None else statistic, noise_kind=noise_kind,
        public_threshold=public_threshold, largest_threshold=largest_threshold)
    if degree_bound is not None:
        graph.check_degree(degree_bound)
    whole("call", call)
    inside = set() if examined is None else examined
    statuses, targets = investigation.statuses(), investigation.seeds
    for target in targets.tolist():
        statuses.learn(target, True)
    seen = graph.indices_of(sorted(inside))
    if (statuses.known[np.setdiff1d(seen, targets)] == 1).any():
        raise InvalidInput("examined", "has a target that is not released",
                           "leave out answers that the search has not used yet")
    walk = Walk(graph, statuses.known)
    walk.add(targets, seen)
    keep_call(as_noise(noise), call, walk.order, settings, graph)
    candidates = settings.look(walk, as_noise(noise), call)
    found = _seek(walk, candidates, statuses)
    inside.update(graph.ids_of(walk.seen), graph.ids_of(targets))
    if log is not None:
        log.fill(walk.seen, statuses.known[walk.seen] == 1, graph=graph)
        log.call_began.append(0)
        log.thresholds.append(candidates.threshold)
    return None if found is None else graph.ids_of(np.array([found]))[0]


def _seek(walk: Walk, candidates: NoisyCandidates, statuses: Statuses) -> int | None:
    """Examine candidates until one is a target. Returns None if the fake target comes first or the candidates end."""
    while len(block := candidates.take(_BLOCK)):
        at, ended = 0, UNKNOWN
        while ended == UNKNOWN:
            at, ended = walk.examine(block, at)
            if ended == UNKNOWN:
                statuses.ask(block[at : at + 1])
        if ended == FOUND:
            return int(block[at])
        if ended == STOPPED:
            return None
    return None


def sfs(
    graph: Graph, seed_vertex: Any, oracle: Oracle, *, examined: set[Any] | None = None, log: OperatorLog | None = None
) -> list[Any]:
    """Statistic-first search: all targets in the component of a given target, in the order in which they are found.

    The next vertex to examine is the unexamined contact with the most contacts among the targets found so far. Among
    vertices with equally many contacts the lowest id comes first. The search costs no privacy, because it ends only
    when all contacts of the found targets are examined. Therefore the search has no option that limits its length.

    Args:
        graph: private network of contacts between people.
        seed_vertex: id of a confirmed target, or several ids, whose components are searched one after another.
        oracle: source of statuses, in any form that `Investigation` accepts.
        examined: ids of vertices that were examined before, the set I, shared with the caller. The search adds the
            vertices that it examines to the set I. The set may hold released targets of other components, but no target
            of the searched component.
        log: log that is filled with the examined vertices and other records that only the operator may see.

    Returns:
        Ids of the targets.

    Raises:
        InvalidInput: `examined` holds a vertex of the searched component that is known to be a target.
        SeedNotTargeted: a seed that is not a target, by the oracle's answer.
        OracleUnavailable: an oracle that gives no answer.

    Source: Wu 2017, Algorithm 12; spec targeted_search 3.1.

    Example:
        >>> from confide.search.graph import Graph
        >>> sfs(Graph.from_edges([0, 1, 2], [1, 2, 3]), 0, {0, 1, 3})
        [0, 1]
    """
    investigation = Investigation(graph, seed_vertex, oracle)
    inside = set() if examined is None else examined
    state = SearchState(investigation, _never, 1, log=log)
    state.walk.add(np.zeros(0, np.int64), graph.indices_of(sorted(inside)))
    state.run()
    walk = state.walk
    passed_over = walk.examined & ~walk.confirmed & (walk.contacts > 0) & (state.statuses.known == 1)
    if passed_over.any():  # the list would end before it, as if it were no target
        raise InvalidInput("examined", "has a target of this component that is not released",
                           "leave out answers that the search has not used yet")
    inside.update(graph.ids_of(state.walk.seen), graph.ids_of(state.order))
    return graph.ids_of(state.order)


def _never(walk: Walk, call: int) -> NoisyCandidates:
    raise NotImplementedError
