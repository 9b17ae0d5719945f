"""How the searches of a made-up group compare: found targets as examinations go on, over many runs.

For studies: what is looked at here is the operator's, and no release tells it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.privacy.noise import Noise
from confide.search.baselines import random_order, target
from confide.search.component_search import sfs
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog
from confide.search.synthetic import infect
from confide.search.targeted import PTarget

__all__ = ["Found", "Group", "compare_searches", "components_of", "in_random_order", "made_up_group", "privately",
           "without_noise"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """A made-up target group, and where its search begins.

    Args:
        investigation: with a table of statuses, and a seed in the second largest component.
        sizes: of the components, falling.
    """

    investigation: Investigation
    sizes: tuple[int, ...]

    @property
    def targets(self) -> int:
        """How many there are."""
        return sum(self.sizes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What runs of one search found.

    Args:
        curves: (runs, last + 1) targets found after q examinations.
        begun: (runs, last + 1) searches for a component that had begun by then.
        queries: (runs,) examinations of a whole run.
        ended_with: (runs,) targets of a whole run.
    """

    curves: NDArray[np.int32]
    begun: NDArray[np.int32]
    queries: NDArray[np.int64]
    ended_with: NDArray[np.int64]

    def at(self, budgets: tuple[int, ...]) -> NDArray[np.float64]:
        """Means at these budgets."""
        return np.asarray(self.curves[:, list(budgets)].mean(axis=0))

    def error(self, budget: int) -> float:
        """Standard error of the mean at a budget."""
        runs = len(self.curves)
        return float(self.curves[:, budget].std(ddof=1) / runs**0.5) if runs > 1 else 0.0

    def calls(self, budget: int) -> float:
        """Searches for a component that had begun after so many examinations, on average."""
        return float(self.begun[:, budget].mean())


def compare_searches(
    investigation: Investigation, search: PTarget, checks: int, *, runs: int = 10, seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """Targets found after each number of checks: without noise, private, and in random order. For studies only.

    All three are functions of the private network: of use with a made-up one, or with one that may be shown. Runs are
    cut off after `checks`, which no release can be.

    Args:
        investigation: whose oracle answers for everybody.
        search: the private search; the others look for as many components.
        checks: how many examinations are looked at, from 1.
        runs: of the private search, and of the one in random order; from 1.
        seed: of the first run; the next ones follow.

    Returns:
        Name -> (checks + 1,) targets, the first seed among them: "without noise"; "private", the mean of the runs, with
        "private, lowest tenth" and "private, highest tenth", their quantiles; and "random order", a mean.

    Raises:
        InvalidInput: a number out of range, or another network than the search's.

    Source: spec targeted_search 6.

    Example:
        >>> path = Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 3])
        >>> found = compare_searches(Investigation(path, 0, {0, 2, 4}), PTarget(5, 3, None, 1.0, None, "none"), 4)
        >>> found["without noise"].tolist()
        [1.0, 1.0, 2.0, 2.0, 3.0]
    """
    whole("checks", checks, at_least=1)
    whole("runs", runs, at_least=1)
    logs = [OperatorLog() for _ in range(runs)]
    for number, log in enumerate(logs, seed):
        search.run(investigation, Noise.simulated(number), log=log, query_cap=checks, without_guarantee=True)
    private = np.array([log.curve(checks) for log in logs], np.float64)
    free = [random_order(investigation, search.components, Noise.simulated(seed + number), cap=checks).log.curve(checks)
            for number in range(runs)]
    return {
        "without noise": target(investigation, search.components, cap=checks).log.curve(checks).astype(np.float64),
        "private": np.asarray(private.mean(axis=0)),
        "private, lowest tenth": np.asarray(np.quantile(private, 0.1, axis=0)),
        "private, highest tenth": np.asarray(np.quantile(private, 0.9, axis=0)),
        "random order": np.asarray(np.mean(free, axis=0)),
    }


def components_of(graph: Graph, targeted: NDArray[np.bool_]) -> list[list[int]]:
    """Indices of the targets of each component among targets: the largest first, of equals the one found first.

    Args:
        graph: with ids 0 ... n-1 or others.
        targeted: (n,) who is a target.
    """
    left, out = targeted.copy(), []
    for vertex in np.flatnonzero(targeted).tolist():
        if left[vertex]:
            part = graph.indices_of(sfs(graph, graph.id_of(vertex), targeted))
            left[part] = False
            out.append(part.tolist())
    return sorted(out, key=len, reverse=True)


def made_up_group(graph: Graph, start: int, leave: float, seed: int, *, join: float = 0.05, rounds: int = 5) -> Group:
    """A contagion, and the search for it from the lowest id of its second largest component.

    Args:
        graph: the network.
        start: index of the vertex where the contagion begins.
        leave: q.
        seed: of the draws.
        join: p.
        rounds: how many.

    Source: spec targeted_search 6.
    """
    targeted = infect(graph, graph.id_of(start), join, leave, rounds, seed=seed)
    parts = components_of(graph, targeted)
    first = min(parts[min(1, len(parts) - 1)])
    return Group(investigation=Investigation(graph, graph.id_of(first), targeted),
                 sizes=tuple(len(part) for part in parts))


def _found(logs: list[OperatorLog], last: int) -> Found:
    steps = np.arange(last + 1)
    return Found(
        curves=np.array([log.curve(last) for log in logs], np.int32),
        begun=np.array([np.searchsorted(log.call_began, steps, side="right") for log in logs], np.int32),
        queries=np.array([log.queries for log in logs]),
        ended_with=np.array([len(log.found_after) for log in logs]))


def without_noise(group: Group, components: int, last: int) -> Found:
    """Target, which is not private: one run.

    Args:
        group: who is searched for.
        components: k.
        last: up to how many examinations.
    """
    return _found([target(group.investigation, components).log], last)


def in_random_order(group: Group, components: int, last: int, runs: int) -> Found:
    """Random order between components: what costs no privacy.

    Args:
        group: who is searched for.
        components: k.
        last: up to how many examinations.
        runs: how many, with seeds 0, 1, ....
    """
    return _found([random_order(group.investigation, components, Noise.simulated(seed)).log for seed in range(runs)],
                  last)


def privately(group: Group, search: PTarget, last: int, runs: int) -> Found:
    """The private search. No run is cut off: the curve of a whole run is looked at.

    Args:
        group: who is searched for.
        search: the mechanism.
        last: up to how many examinations.
        runs: how many, with seeds 0, 1, ....
    """
    logs = []
    for seed in range(runs):
        log = OperatorLog()
        search.run(group.investigation, Noise.simulated(seed), log=log)
        logs.append(log)
    return _found(logs, last)
