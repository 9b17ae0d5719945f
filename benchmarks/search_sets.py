"""The private search as one writes it on networkx: sets of neighbours, a heap, numpy for the noise."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from confide.privacy.noise.simulated import study_generator


class SetSearch:
    """PTarget without a stop, by sets.

    Each part is done in the way that is usual and quick in plain Python: counts of contacts are kept up to date and
    come from a heap; the set of contacts of targets is kept too, and a statistic is the size of one intersection.

    Args:
        graph: of networkx, nodes 0..n-1.
        targets: who is one.
        scale: of the Laplace noise.
        components: k.
    """

    def __init__(self, graph: Any, targets: set[int], scale: float, components: int) -> None:
        self._graph, self._targets, self._scale, self._components = graph, targets, scale, components
        self.queries = 0

    def run(self, start: int, *, seed: int) -> list[int]:
        """Released targets in their order."""
        graph, draw = self._graph, study_generator(seed, "benchmark", "sets")
        order: list[int] = []
        reached: set[int] = set()
        examined: set[int] = set()
        self._component(start, order, reached, examined)
        for _ in range(self._components - 1):
            left = [v for v in graph if v not in examined]
            scores = np.array([len(reached.intersection(graph.adj[v])) for v in left], dtype=np.float64)
            scores += draw.laplace(0.0, self._scale, len(left))
            found = None
            for at in np.argsort(-scores):
                vertex = left[at]
                examined.add(vertex)
                if vertex in self._targets:
                    found = vertex
                    break
            if found is None:
                break
            self._component(found, order, reached, examined)
        self.queries = len(examined) - 1
        return order

    def _component(self, start: int, order: list[int], reached: set[int], examined: set[int]) -> None:
        graph = self._graph
        contacts: dict[int, int] = {}
        heap: list[tuple[int, int]] = []

        def confirm(vertex: int) -> None:
            order.append(vertex)
            for u in graph[vertex]:
                reached.add(u)
                if u not in examined:
                    contacts[u] = contacts.get(u, 0) + 1
                    heapq.heappush(heap, (-contacts[u], u))

        examined.add(start)
        confirm(start)
        while heap:
            count, vertex = heapq.heappop(heap)
            if vertex in examined or -count != contacts[vertex]:
                continue
            examined.add(vertex)
            if vertex in self._targets:
                confirm(vertex)
