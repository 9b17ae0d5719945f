"""Statistic-first search, the search without noise, and common neighbours, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_network import (
    FIRST,
    FIRST_SEEN,
    TARGETS,
    TOY,
    common_neighbours,
    plain_component,
    plain_target,
    random_network,
    toy,
)

from confide.contract import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search.baselines import target
from confide.search.component_search import sfs
from confide.search.component_walk import FINISHED, Walk
from confide.search.graph import Graph
from confide.search.oracles import Investigation, SeedNotTargeted
from confide.search.releases import OperatorLog
from confide.search.statistics import CommonNeighbours, LargestFlow, Triangles


def walked(examined=()):
    """The toy network after its first component; more vertices may count as examined."""
    walk = Walk(TOY, np.array([v in TARGETS for v in range(16)], np.int8))
    walk.add(np.zeros(0, np.int64), np.array(list(examined), np.int64))
    assert walk.explore(0) == FINISHED
    return walk


def test_the_toy_component_is_released_and_examined_in_the_order_of_the_specification():
    log, examined = OperatorLog(), set()
    assert sfs(TOY, 0, TARGETS, examined=examined, log=log) == FIRST
    assert log.examined.tolist() == FIRST_SEEN
    assert log.targeted.tolist() == [v in TARGETS for v in FIRST_SEEN]
    assert log.curve().tolist() == [1, 2, 3, 4, 4, 4, 4, 4]
    assert log.curve(9).tolist()[-2:] == [4, 4]
    assert examined == {0, *FIRST_SEEN}


def test_common_neighbours_of_the_toy_after_its_first_component():
    walk = walked()
    left = [5, 6, 7, 9, 10, 11, 12, 15]
    assert np.flatnonzero(~walk.examined).tolist() == left
    assert walk.common_neighbours()[left].tolist() == [2, 1, 1, 2, 1, 2, 1, 0]
    assert LargestFlow(2).values(TOY, walk.order)[left].tolist() == [2, 1, 1, 2, 1, 2, 1, 0]
    assert not walk.outside[[0, 1, 2, 14, 3, 4, 8, 13]].any()
    assert walk.outside[left].all()


@given(st.integers(0, 2**32), st.integers(2, 60), st.sampled_from([0.03, 0.1, 0.3]))
@settings(max_examples=25, deadline=None)
def test_walks_equal_plain_python(seed, people, chance):
    generator = study_generator(seed)
    graph, neighbours = random_network(generator, people, chance)
    targets = {int(v) for v in np.flatnonzero(generator.random(people) < 0.4)} | {0}
    before = {int(v) for v in np.flatnonzero(generator.random(people) < 0.2)} - targets
    log, shared, own = OperatorLog(), set(before), set(before)
    assert (sfs(graph, 0, targets, examined=shared, log=log), log.examined.tolist()) == \
        plain_component(neighbours, targets, 0, own)
    assert shared == own
    for give_up_after in (None, 1, 5):
        found = target(Investigation(graph, 0, targets), 4, give_up_after)
        assert (found.order.tolist(), found.log.examined.tolist()) == \
            plain_target(neighbours, targets, 0, 4, give_up_after)


@given(st.integers(0, 2**32), st.integers(2, 40), st.sampled_from([0.05, 0.2]))
@settings(max_examples=15, deadline=None)
def test_common_neighbours_are_kept_up_to_date(seed, people, chance):
    generator = study_generator(seed)
    graph, neighbours = random_network(generator, people, chance)
    known = (generator.random(people) < 0.3).astype(np.int8)
    walk = Walk(graph, known)
    for start in np.flatnonzero(known).tolist():
        if not walk.confirmed[start]:
            assert walk.explore(start) == FINISHED
            counts, found = walk.common_neighbours(), walk.order.tolist()
            assert counts.tolist() == [common_neighbours(neighbours, v, found) for v in range(people)]
            assert CommonNeighbours().values(graph, walk.order).tolist() == counts.tolist()
            near = set(found).union(*(neighbours[t] for t in found))
            assert set(np.flatnonzero(walk.outside).tolist()) == set(range(people)) - near


@pytest.mark.parametrize("leaves", [500, 1024, 1500, 5000])
def test_the_heap_of_contacts_grows(leaves):
    hub = Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1))
    assert sfs(hub, 0, range(leaves + 1)) == list(range(leaves + 1))


@pytest.mark.parametrize(("give_up_after", "order", "queries"), [
    (16, [0, 1, 14, 2, 5, 6, 15, 9], 13), (1, [0, 1, 14, 2, 5, 6, 15], 12)])
def test_the_toy_search_without_noise(give_up_after, order, queries):
    found = target(toy(), 3, give_up_after)
    assert found.order.tolist() == order
    assert found.log.queries == queries
    assert found.joined.tolist() == [0, 4, 7][: len(found.joined)]
    assert found.ended == ("all components" if give_up_after == 16 else "nothing found")
    assert found.guarantees.privacy[0].vacuous
    assert "not private" in found.guarantees.privacy[0].note


@pytest.mark.parametrize("cap", [0, 1, 5, 9, 12])
def test_a_capped_search_is_the_beginning_of_the_whole_one(cap):
    whole, part = target(toy(), 3), target(toy(), 3, cap=cap)
    assert part.log.examined.tolist() == whole.log.examined.tolist()[:cap]
    assert part.ended == "query cap"
    assert part.order.tolist() == whole.order.tolist()[: whole.log.curve()[cap]]


def test_valid_extremes():
    alone = Graph.from_edges([1], [2], people=3)
    assert sfs(alone, 0, {0}) == [0]
    found = target(Investigation(alone, 0, {0}), 5)
    assert found.order.tolist() == [0]
    assert found.calls == 1
    assert found.ended == "nothing found"
    assert target(Investigation(alone, 0, {0}), 1).calls == 0


def test_several_seeds_come_first_and_one_in_a_component_already_found_is_no_component():
    found = target(toy(seeds=[0, 2, 9]), 1)
    assert found.order.tolist() == [0, 1, 14, 2, 9]
    assert found.joined.tolist() == [0, 4]
    assert found.calls == 0


def test_ids_may_be_texts():
    path = Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
    found = target(Investigation(path, "dan", ["dan", "ann", "cyd"]), 2)
    assert found.order.tolist() == ["dan", "cyd", "ann"]
    assert target(Investigation(path, ("dan",), np.array([True, False, True, True])), 2).order.tolist() == \
        found.order.tolist()


@pytest.mark.parametrize(("seeds", "oracle", "field", "error"), [
    (99, TARGETS, "seed_vertex", InvalidInput), ("x", TARGETS, "seed_vertex", InvalidInput),
    ([], TARGETS, "seed_vertex", InvalidInput), (3, TARGETS, "seed_vertex", SeedNotTargeted),
    ([0, 3], TARGETS, "seed_vertex", SeedNotTargeted), (0, {99}, "oracle", InvalidInput),
    (0, np.ones(15, bool), "oracle", InvalidInput), (0, [True, False], "oracle", InvalidInput),
    (0, 7, "oracle", InvalidInput), (0, "text", "oracle", InvalidInput), (0, {0: "yes"}, "oracle", InvalidInput)])
def test_what_no_investigation_is_made_of_is_refused(seeds, oracle, field, error):
    with pytest.raises(error) as caught:
        target(toy(oracle, seeds), 2)
    assert caught.value.field == field


@pytest.mark.parametrize("bad", [
    lambda: target(toy(), 0), lambda: target(toy(), 2, -1), lambda: target(toy(), 2, cap=-1),
    lambda: target(toy(), 2, statistic=Triangles(2)), lambda: target(toy(), 2, statistic="flow"),
    lambda: target("graph", 2), lambda: Investigation("graph", 0, TARGETS), lambda: toy(ahead=0)])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InvalidInput):
        bad()
