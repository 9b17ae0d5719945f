"""Networks to measure on: a real one where its file is, and made-up ones."""

from __future__ import annotations

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.search import Graph, affiliation_network
from confide.search.adjacency import is_sound
from real_networks import real_coauthors


def test_people_who_share_groups() -> None:
    group, member = ["x", "y", "x", "x", "y", "y", "z", "x"], [3, 1, 1, 2, 3, 1, 9, 3]
    graph = Graph.from_groups(group, member)
    assert graph.ids.tolist() == [1, 2, 3, 9]
    assert [graph.ids_of(graph.neighbours(v)) for v in range(4)] == [[2, 3], [1, 3], [1, 2], []]
    twice = Graph.from_groups(group, member, at_least=2)
    assert [twice.ids_of(twice.neighbours(v)) for v in range(4)] == [[3], [], [1], []]
    for wrong in ({"at_least": 0}, {"vertices": [1, 2, 3]}):
        with pytest.raises(InvalidInput):
            Graph.from_groups(group, member, **wrong)
    with pytest.raises(InvalidInput, match="different lengths"):
        Graph.from_groups(group, member[1:])


def test_the_real_coauthors() -> None:
    graph = real_coauthors()
    assert (graph.people, graph.edges, graph.largest_degree) == (40_421, 175_693, 278)
    assert is_sound(graph.indptr, graph.indices)


def test_a_made_up_network_is_of_its_parameters() -> None:
    one, same, other = (affiliation_network(2000, 400, 20, 3.0, seed=seed) for seed in (1, 1, 2))
    assert one.people == 2000
    assert np.array_equal(one.indices, same.indices)
    assert not np.array_equal(one.indices, other.indices)
    assert affiliation_network(2000, 400, 20, 3.0, seed=1, at_least=2).edges < one.edges


def test_communities_keep_to_themselves() -> None:
    """Nobody appears outside: no component is larger than a community, and all of these are equally large."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = affiliation_network(300, 4000, 3, 8.0, outside=0.0, inequality=0.0, seed=3)
    matrix = csr_array((np.ones(2 * graph.edges), graph.indices, graph.indptr), shape=(300, 300))
    assert sorted(np.bincount(connected_components(matrix)[1]).tolist()) == [100, 100, 100]


def test_active_people_know_more() -> None:
    alike = affiliation_network(3000, 2000, 1, 6.0, inequality=0.0, seed=4)
    apart = affiliation_network(3000, 2000, 1, 6.0, inequality=0.8, seed=4)
    assert apart.largest_degree > 3 * alike.largest_degree


@pytest.mark.parametrize("wrong", [
    {"people": 0}, {"groups": 0}, {"communities": 0}, {"communities": 11}, {"mean_extra": 0.5}, {"outside": 1.5},
    {"inequality": -1.0}, {"at_least": 0}, {"seed": -1}])
def test_sizes_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        affiliation_network(**{"people": 10, "groups": 5, "communities": 2, "mean_extra": 2.0, **wrong})
