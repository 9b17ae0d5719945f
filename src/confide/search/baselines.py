"""Baselines of a private search: the search without noise, and a search in random order, which costs no privacy.

Source: Wu 2017, Algorithm 16; spec targeted_search 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation, Source
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.search.component_walk import SearchState, Walk, as_cap, as_components, check_investigation
from confide.search.noisy_order import NoisyOrder
from confide.search.oracles import Investigation
from confide.search.releases import Ended, OperatorLog, keep_search, no_guarantee
from confide.search.statistics import CommonNeighbours, Statistic

__all__ = ["FoundTargets", "finish", "random_order", "target"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoundTargets:
    """Result of a baseline search. The order of the found targets may be released only if `guarantees` contain a
    privacy promise.

    Args:
        order: ids of the confirmed targets in the order in which they were found.
        joined: positions in `order` at which each component begins.
        calls: number of searches for a new component that were made.
        ended: reason why the search ended.
        guarantees: promises about a release of `order`; empty if nothing is promised.
        log: record that only the operator may see.
    """

    order: NDArray[Any]
    joined: NDArray[np.int64]
    calls: int
    ended: Ended
    guarantees: Guarantees
    log: OperatorLog

    def __repr__(self) -> str:
        return f"<FoundTargets, {len(self.guarantees)} guarantees>"


class _Listed:
    """Candidates in a list that is known from the start. After the last listed candidate the search ends, as it does
    after a fake target.
    """

    threshold = None

    def __init__(self, vertices: NDArray[np.int64]) -> None:
        self._vertices, self._taken = vertices, 0

    def take(self, count: int) -> NDArray[np.int64]:
        taken = self._vertices[self._taken : self._taken + count]
        self._taken += count
        return taken


class _Shuffled:
    """Unexamined vertices in a uniformly random order. Equal scores with independent noise give such an order."""

    threshold = None

    def __init__(self, items: NDArray[np.int64], noise: Noise, call: int) -> None:
        self._items = items
        self._order = NoisyOrder(np.zeros(len(items)), 1.0, "gumbel", noise, stream=("component", call, "order"))

    def take(self, count: int) -> NDArray[np.int64]:
        return np.asarray(self._items[self._order.take(count)])


def finish(state: SearchState, guarantees: Guarantees) -> FoundTargets:
    """Run a search to its end, and return its result."""
    state.run()
    order = np.array(state.investigation.graph.ids_of(state.order))
    return FoundTargets(order=order, joined=np.array(state.joined, np.int64), calls=state.calls,
                    ended=state.ended or "nothing found", guarantees=guarantees, log=state.log)


def target(
    investigation: Investigation, components: int, give_up_after: int | None = None,
    statistic: Statistic | None = None, *, cap: int | None = None, answers: Mapping[Any, bool] | None = None,
) -> FoundTargets:
    """Run the search without noise, which has no privacy guarantee. To find a new component, the search examines
    vertices by decreasing statistic.

    Among vertices with equal statistics the lowest id comes first. The statistic is not recomputed until a target is
    found.

    Args:
        investigation: graph, seeds and oracle.
        components: largest number k >= 1 of components to find; at most k - 1 searches for a new component are made.
        give_up_after: number K of examinations after which a search for a component gives up; None for no limit.
        statistic: statistic of proximity; common neighbours by default.
        cap: number of examinations after which the whole search ends; None for no limit.
        answers: mapping from the id of a person to whether they are a target, with answers to earlier questions.

    Raises:
        InvalidInput: a number out of range, or a statistic without signal.
        SeedNotTargeted: a seed that is not a target, by the oracle's answer.
        OracleUnavailable: an oracle that gives no answer.

    Source: Wu 2017, Algorithm 16; spec targeted_search 3.4.

    Example:
        >>> from confide.search.graph import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> target(Investigation(path, 0, {0, 2}), components=2).order.tolist()
        [0, 2]
    """
    statistic = CommonNeighbours() if statistic is None else statistic
    if not isinstance(statistic, Statistic):
        raise InvalidInput("statistic", f"{type(statistic).__name__} is not a Statistic",
                           "give one such as CommonNeighbours()")
    if not statistic.signal:
        raise InvalidInput("statistic", f"{statistic.name} carry no signal, since they are 0 for every unexamined "
                                        "vertex",
                           "take CommonNeighbours()")
    most = None if give_up_after is None else whole("give_up_after", give_up_after)

    def look(walk: Walk, _: int) -> _Listed:
        items = np.flatnonzero(~walk.examined)
        known = isinstance(statistic, CommonNeighbours)
        values = walk.common_neighbours() if known else statistic.values(walk.graph, np.sort(walk.order))
        return _Listed(items[np.argsort(-values[items], kind="stable")][:most])

    state = SearchState(check_investigation(investigation), look, as_components(components), cap=as_cap(cap),
                         answers=answers)
    return finish(state, no_guarantee("this search is not private"))


def random_order(
    investigation: Investigation, components: int, noise: Noise, *, cap: int | None = None,
    answers: Mapping[Any, bool] | None = None,
) -> FoundTargets:
    """Run the search that costs no privacy. To find a new component, the search examines vertices in a uniformly random
    order.

    The next target is uniform among the remaining targets, for any contacts. Therefore, without a cap, the order of the
    found targets says nothing about a protected vertex. The comparison with a private search shows the benefit of the
    privacy budget that the private search spends.

    Args:
        investigation: graph, seeds and oracle.
        components: largest number k >= 1 of components to find.
        noise: source of the random draws, such as `Noise.secure()`.
        cap: number of examinations after which the search ends; None for no limit. With a cap the result has no privacy
            promise.
        answers: mapping from the id of a person to whether they are a target, with answers to earlier questions.

    Raises:
        InvalidInput: a number out of range.
        SeedNotTargeted: a seed that is not a target, by the oracle's answer.
        OracleUnavailable: an oracle that gives no answer.

    Source: spec targeted_search 3.4.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.search.graph import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> found = random_order(Investigation(path, 0, {0, 3}), 2, Noise.simulated(1))
        >>> found.order.tolist(), found.guarantees.privacy[0].loss
        ([0, 3], PureDP(epsilon=0.0))
    """
    source, limit = as_noise(noise), as_cap(cap)

    def look(walk: Walk, call: int) -> _Shuffled:
        return _Shuffled(np.flatnonzero(~walk.examined), source, call)

    state = SearchState(check_investigation(investigation), look, as_components(components), cap=limit, answers=answers)
    keep_search(source, "random order", investigation.graph, investigation.seeds)
    free = Guarantees((Privacy(
        loss=PureDP(0.0), neighbours=Relation.EDGES_OF_ONE, audience=Audience.PUBLIC, part="the released list",
        source=Source(document="confide", statement="the next target is uniform", spec="targeted_search 3.4"),
        note="the promise covers the list and its order, but not the time at which the list or its next line "
             "appears"),))
    return finish(state, free if limit is None else no_guarantee("this search has a query cap"))
