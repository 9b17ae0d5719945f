"""Statistics of proximity against their definitions, and their sensitivities by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
import reference_search as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract.errors import InvalidInput
from confide.search.exact_laws import Rows
from confide.search.statistics import (
    CommonNeighbours,
    CommonNeighboursMulti,
    Contacts,
    LargestFlow,
    Paths,
    Statistic,
    Triangles,
    Walks,
)

ALL = [CommonNeighbours(), CommonNeighboursMulti(), Paths(2), Paths(3), Walks(2), Walks(3), LargestFlow(2),
       LargestFlow(3),
       Contacts(), Triangles(1), Triangles(2)]


def rows(friends: reference.Friends) -> Rows:
    return Rows(*reference.arrays_of(friends))


def toy() -> reference.Friends:
    return reference.friends_of(16, reference.TOY)


@st.composite
def networks(draw: st.DrawFn) -> tuple[reference.Friends, set[int]]:
    people = draw(st.integers(2, 8))
    pairs = [(u, v) for u in range(people) for v in range(u)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    confirmed = draw(st.sets(st.integers(0, people - 1), min_size=1, max_size=people - 1))
    return reference.friends_of(people, chosen), confirmed


@settings(max_examples=40, deadline=None)
@given(networks())
def test_values_are_those_of_the_definitions(made: tuple[reference.Friends, set[int]]) -> None:
    friends, confirmed = made
    graph, some = rows(friends), np.array(sorted(confirmed))
    for v in set(friends) - confirmed:
        found = {each: each.values(graph, some)[v] for each in ALL if each != LargestFlow(3)}
        assert found[CommonNeighbours()] == reference.common_neighbours(friends, v, confirmed)
        assert found[CommonNeighboursMulti()] == reference.common_neighbours_multi(friends, v, confirmed)
        assert found[Contacts()] == reference.contacts(friends, v, confirmed)
        for length in (2, 3):
            assert found[Paths(length)] == len(reference.short_paths(friends, v, confirmed, length))
            assert found[Walks(length)] == reference.walks(friends, v, confirmed, length)
        for ends in (1, 2):
            assert found[Triangles(ends)] == reference.triangles(friends, v, confirmed, ends)
        assert found[LargestFlow(2)] == len(friends[v] & (reference.around(friends, confirmed) | confirmed))


@settings(max_examples=8, deadline=None)
@given(networks(), st.integers(3, 4))
def test_flow_over_short_paths_is_the_linear_program_over_all_paths(
    made: tuple[reference.Friends, set[int]], length: int
) -> None:
    friends, confirmed = made
    found = LargestFlow(length).values(rows(friends), np.array(sorted(confirmed)))
    for v in set(friends) - confirmed:
        assert found[v] == pytest.approx(reference.flow(friends, v, confirmed, length), abs=2e-6)


def test_toy_network_as_in_the_specification() -> None:
    graph, released, ids = rows(toy()), np.array([0, 1, 14, 2]), [5, 6, 7, 9, 10, 11, 12, 15]
    assert CommonNeighbours().values(graph, released)[ids].tolist() == [2, 1, 1, 2, 1, 2, 1, 0]
    assert LargestFlow(2).values(graph, released)[ids].tolist() == [2, 1, 1, 2, 1, 2, 1, 0]
    assert (Paths(2).values(graph, released)[ids] == CommonNeighboursMulti().values(graph, released)[ids]).all()


@settings(max_examples=25, deadline=None)
@given(networks())
def test_outside_the_neighbourhood_some_are_blind_and_some_are_the_same(
    made: tuple[reference.Friends, set[int]]
) -> None:
    friends, confirmed = made
    graph, some = rows(friends), np.array(sorted(confirmed))
    outside = sorted(set(friends) - confirmed - reference.around(friends, confirmed))
    blind = [Contacts(), Triangles(1), Triangles(2)]
    assert not any(each.values(graph, some)[outside].any() for each in blind)
    assert not any(each.signal for each in blind)
    assert (LargestFlow(2).values(graph, some)[outside] == CommonNeighbours().values(graph, some)[outside]).all()
    assert (Paths(2).values(graph, some)[outside] == CommonNeighboursMulti().values(graph, some)[outside]).all()


@pytest.mark.parametrize("statistic", ALL, ids=str)
def test_largest_values_stay_within_the_grid(statistic: Statistic) -> None:
    friends = toy()
    confirmed = {0, 1, 14, 2}
    outside = sorted(set(friends) - confirmed - reference.around(friends, confirmed))
    values = statistic.values(rows(friends), np.array(sorted(confirmed)))[outside]
    most = statistic.most(5)
    assert most is not None
    assert values.max() <= most + 1e-6


def test_sensitivities_as_printed_in_the_table() -> None:
    d = 6
    assert CommonNeighbours().sensitivity(None) == 1
    assert CommonNeighboursMulti().sensitivity(d) == d - 1
    assert Paths(3).sensitivity(d) == (d - 1) + (d - 1) * ((d - 1) + d)
    assert Walks(3).sensitivity(d) == d + 2 * d**2
    assert LargestFlow(2).sensitivity(None) == 1
    assert d / 2 < LargestFlow(3).sensitivity(d) < d / 2 + 1e-5
    assert Triangles(1).sensitivity(d) == d - 1
    assert Contacts().sensitivity(None) == Triangles(2).sensitivity(None) == 0
    for k in (2, 3, 4):  # the printed bound on paths is not below ours
        assert Paths(k).sensitivity(d) <= (k - 1) * d ** (k - 1)
    assert CommonNeighbours().count_sensitivity(1) == 1
    assert CommonNeighbours().impact_cardinality(d) == 2 * d + 1


def test_what_is_refused() -> None:
    for statistic in (CommonNeighboursMulti(), Paths(2), Walks(2), LargestFlow(3), Triangles(1)):
        with pytest.raises(InvalidInput, match="degree_bound"):
            statistic.sensitivity(None)
    for make in (Paths, Walks, LargestFlow):
        for length in (1, 7, 2.5):
            with pytest.raises(InvalidInput, match="length"):
                make(length)
    with pytest.raises(InvalidInput, match="ends"):
        Triangles(3)
    with pytest.raises(InvalidInput, match="degree_bound"):
        CommonNeighbours().count_sensitivity(None)
    with pytest.raises(InvalidInput, match="walks of 6 edges"):
        Walks(6).sensitivity(1000)
    assert Walks(6).sensitivity(100) > 0
