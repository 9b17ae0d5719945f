"""The 16 people of the specification, and searches written out in plain Python."""

from __future__ import annotations

import numpy as np

from confide.search.graph import Graph
from confide.search.oracles import Investigation

EDGES = [(0, 1), (0, 2), (1, 14), (2, 14), (0, 14), (5, 6), (6, 15), (1, 3), (3, 5), (3, 7), (0, 4), (4, 5), (4, 6),
         (2, 8), (8, 9), (8, 11), (14, 13), (7, 9), (7, 10), (10, 6), (10, 12), (11, 12), (11, 13), (12, 13), (13, 9),
         (3, 10)]
TARGETS = frozenset({0, 1, 2, 14, 5, 6, 15, 9})
TOY = Graph.from_edges([a for a, _ in EDGES], [b for _, b in EDGES], people=16)
FIRST = [0, 1, 14, 2]  # the seed's component, in the order in which it is found
FIRST_SEEN = [1, 14, 2, 3, 4, 8, 13]


def toy(oracle=TARGETS, seeds=0, **rest):
    return Investigation(TOY, seeds, oracle, **rest)


def random_network(generator, people, chance):
    """(graph, neighbours of each) of independent edges."""
    first, second = np.nonzero(np.triu(generator.random((people, people)) < chance, 1))
    neighbours = [set() for _ in range(people)]
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    return Graph.from_edges(first, second, people=people), neighbours


def plain_component(neighbours, targets, start, examined):
    """Algorithm 12 with sets: (targets in order, examined in order); `examined` is shared."""
    found, seen = [start], []
    examined.add(start)
    while frontier := {x for t in found for x in neighbours[t]} - examined:
        vertex = min(frontier, key=lambda x: (-len(neighbours[x] & set(found)), x))
        examined.add(vertex)
        seen.append(vertex)
        if vertex in targets:
            found.append(vertex)
    return found, seen


def common_neighbours(neighbours, vertex, found):
    return len(neighbours[vertex] & {x for t in found for x in neighbours[t]})


def plain_target(neighbours, targets, seed, components, give_up_after):
    """Algorithm 16 with sets: (targets in order, examined in order)."""
    examined = set()
    found, seen = plain_component(neighbours, targets, seed, examined)
    for _ in range(components - 1):
        left = [v for v in range(len(neighbours)) if v not in examined]
        left.sort(key=lambda v: (-common_neighbours(neighbours, v, found), v))
        start = None
        for vertex in left[:give_up_after]:
            examined.add(vertex)
            seen.append(vertex)
            if vertex in targets:
                start = vertex
                break
        if start is None:
            break
        more, also = plain_component(neighbours, targets, start, examined)
        found += more
        seen += also
    return found, seen
