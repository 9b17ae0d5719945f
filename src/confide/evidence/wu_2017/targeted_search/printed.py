"""The private search as the source prints it, for comparison, and as a mechanism in which an audit must find the error.
The printed search guarantees nothing.

Three mistakes break the printed claim. The threshold counts unexamined vertices, and the set of these vertices depends
on earlier noise and on protected edges. If many targets can be reached only through one person, the privacy loss is a
multiple of the claimed loss (erratum E3). The text and the experiments use a quarter of the noise in the algorithm
(erratum E2). The statistic of the experiments has sensitivity up to d - 1, not 1 (erratum E1).

Source: Wu 2017, Algorithms 13 and 14, lines 6064 and 6294-6299; spec targeted_search 5.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation, Source
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.selection import exponential_mechanism
from confide.search.baselines import FoundTargets, finish
from confide.search.component_search import NoisyCandidates, sfs
from confide.search.component_walk import SearchState, as_cap, as_components, check_investigation
from confide.search.noisy_order import NoisyOrder
from confide.search.oracles import Investigation
from confide.search.releases import Ended, OperatorLog, no_guarantee
from confide.search.statistics import CommonNeighbours, CommonNeighboursMulti, Statistic

__all__ = ["printed_composition", "printed_search"]

Form = Literal["algorithm", "text", "experiments"]
_FORMS: tuple[Form, ...] = ("algorithm", "text", "experiments")


class _Printed:
    """The random draws of one call of the printed algorithm SearchCom."""

    def __init__(self, form: Form, statistic: Statistic, stopping_target: int, epsilon: float, degree_bound: int,
                 noise: Noise) -> None:
        self._statistic, self._noise = statistic, noise
        self._target, self._epsilon, self._bound = stopping_target, epsilon, degree_bound
        self._stops = form != "experiments"
        counted = isinstance(statistic, CommonNeighbours | CommonNeighboursMulti)
        delta = 1.0 if counted else statistic.sensitivity(degree_bound)  # of both, by the print
        self._scale = (4.0 if form == "algorithm" else 1.0) * delta / epsilon

    def candidates(self, graph: Any, confirmed: NDArray[np.int64], examined: NDArray[np.bool_],
                   call: int) -> NoisyCandidates:
        """The vertices outside the examined set I in noisy order, with the fake vertex among them."""
        values = self._statistic.values(graph, np.sort(confirmed))
        items = np.flatnonzero(~examined)
        threshold = float(self._threshold(values[items], call)) if self._stops else None
        order = NoisyOrder(values[items], self._scale, "laplace", self._noise, stream=("component", call, "order"),
                           fake=threshold)
        return NoisyCandidates(items, order, threshold)

    def _threshold(self, values: NDArray[np.float64], call: int) -> int:
        """The threshold, drawn by counts over V minus I, with the printed impact cardinality d + 1."""
        most = self._statistic.most(self._bound) or 0
        levels = np.clip(values, 0, most).astype(np.int64)
        at_least = np.cumsum(np.bincount(levels, minlength=most + 1)[::-1])[::-1]
        drawn = exponential_mechanism(-np.abs(at_least - self._target), self._epsilon / 2, float(self._bound + 1),
                                      self._noise, stream=("component", call, "threshold"))
        return int(drawn[0])


def printed_search(
    investigation: Investigation, components: int, stopping_target: int, epsilon: float, degree_bound: int,
    noise: Noise, *, form: Form = "algorithm", statistic: Statistic | None = None, reset: bool = False,
    cap: int | None = None,
) -> FoundTargets:
    """Run the private search as printed. As guarantees, the result contains the printed privacy claim, marked as false,
    and a statement that promises no privacy.

    Args:
        investigation: graph, seeds (known targets), and the oracle that says whether an examined vertex is a target.
        components: number k >= 1 of components of targets to find, including that of the seed.
        stopping_target: number K of vertices, approximately, with a value above the randomly drawn threshold (N in
            Algorithm 14). A search gives up below this threshold.
        epsilon: privacy loss of one call, as printed, in nats.
        degree_bound: public bound d on the degrees of all vertices.
        noise: source of all random draws.
        form: scale of the Laplace noise, for sensitivity Delta. "algorithm": 4 Delta/epsilon, as in Algorithm 13.
            "text": Delta/epsilon, as in line 6064 of the source. "experiments": Delta/epsilon and no stopping rule, as
            in the experiments with noise Lap(20) for epsilon = 1/20.
        statistic: statistic of proximity; by default the number of common neighbours. For this statistic and for the
            sum of common neighbours over targets, the noise is scaled for the printed sensitivity 1.
        reset: whether each search within a component has an examined set of its own, as Algorithm 14 says. If True,
            vertices are examined repeatedly, and a search for a component can find a known target, which uses up its
            round (erratum E7). If False, all searches share one set.
        cap: number of examinations after which the search ends; None for no limit. If `reset` is True, `cap` has no
            effect.

    Raises:
        InvalidInput: a number is out of range.
        SeedNotTargeted: the oracle says that a seed is no target.
        OracleUnavailable: the oracle gave no answer.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.search.graph import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> found = printed_search(Investigation(path, 0, {0, 3}), 2, 4, 0.5, 2, Noise.simulated(1))
        >>> found.guarantees.privacy[0].vacuous, found.guarantees.of(Privacy, claimable=False)[0].loss
        (True, PureDP(epsilon=0.5))
    """
    check_investigation(investigation)
    calls, limit = as_components(components) - 1, as_cap(cap)
    one_of("form", form, _FORMS)
    printed = _Printed(form, CommonNeighbours() if statistic is None else statistic,
                       whole("stopping_target", stopping_target), positive("epsilon", epsilon),
                       whole("degree_bound", degree_bound, at_least=1), as_noise(noise))
    claim = Privacy(
        loss=PureDP(calls * epsilon), neighbours=Relation.EDGES_OF_ONE, audience=Audience.PUBLIC,
        part="the released list",
        source=Source(document="Wu 2017", statement="Theorem 7.3.3", spec="targeted_search 5",
                      erratum="counts over unexamined vertices depend on what is not released (E3)"),
        claimable=False, note="printed; false")
    nothing = no_guarantee("the printed threshold depends on who was examined" if form != "experiments" else
                           "the printed noise is half of what its claim needs")
    guarantees = Guarantees((*nothing, claim))
    if reset:
        return _with_resets(investigation, printed, calls, guarantees)
    state = SearchState(
        investigation, lambda walk, call: printed.candidates(walk.graph, walk.order, walk.examined, call), components,
        cap=limit)
    return finish(state, guarantees)


def _with_resets(investigation: Investigation, printed: _Printed, calls: int, guarantees: Guarantees) -> FoundTargets:
    """Algorithm 14 word by word. The set I is {S} at first, and only searches for a component add vertices to it."""
    graph, statuses = investigation.graph, investigation.statuses()
    log = OperatorLog()
    examined = np.zeros(graph.people, np.bool_)
    examined[investigation.seeds] = True
    seen: list[Any] = []
    ended: Ended = "all components"

    def component(start: Any) -> list[Any]:
        part = OperatorLog()
        found = sfs(graph, start, investigation.oracle, log=part)
        seen.extend(np.asarray(part.examined).tolist())
        return found

    order, joined, made = component(investigation.seed_vertex), [0], 0
    for call in range(calls):
        made += 1
        log.call_began.append(len(seen))
        confirmed = np.array([graph.index_of(vertex) for vertex in order], np.int64)
        candidates = printed.candidates(graph, confirmed, examined, call)
        log.thresholds.append(candidates.threshold)
        start = None
        while start is None and len(block := candidates.take(1)) and block[0] >= 0:
            if statuses.known[block[0]] < 0:
                statuses.ask(block)
            examined[block] = True
            vertex = graph.ids_of(block)[0]
            seen.append(vertex)
            start = vertex if statuses.known[block[0]] == 1 else None
        if start is None:
            ended = "nothing found"
            break
        known = set(order)
        fresh = [vertex for vertex in component(start) if vertex not in known]
        joined += [len(order)] if fresh else []
        order += fresh
    released = set(order)
    log.fill(np.array(seen), np.array([vertex in released for vertex in seen], np.bool_))
    return FoundTargets(order=np.array(order), joined=np.array(joined, np.int64), calls=made, ended=ended,
                    guarantees=guarantees, log=log)


def printed_composition(calls: int, epsilon: float, delta: float) -> tuple[float, bool]:
    """The printed epsilon_2 = 2 sqrt(2 m ln(1/delta)) epsilon for the composition of m calls, and whether advanced
    composition proves this number at the given parameters.

    The proof needs sqrt(m) (e^epsilon - 1) <= sqrt(2 ln(1/delta)), a condition that the source omits. The printed
    epsilon_2 is below m epsilon only for m > 8 ln(1/delta) calls.

    Args:
        calls: number m >= 1 of calls.
        epsilon: privacy loss of one call, in nats.
        delta: parameter delta of approximate differential privacy, in (0, 1).

    Source: Wu 2017, Theorem 7.3.3; spec targeted_search 4 and 5, erratum E5.

    Example:
        >>> printed, proved = printed_composition(1000, 1.0, 0.5)
        >>> round(printed, 1), proved
        (74.5, False)
    """
    number, cost, slack = whole("calls", calls, at_least=1), positive("epsilon", epsilon), fraction("delta", delta)
    spread = math.sqrt(-2 * math.log(slack))
    return 2 * math.sqrt(number) * spread * cost, math.sqrt(number) * math.expm1(cost) <= spread
