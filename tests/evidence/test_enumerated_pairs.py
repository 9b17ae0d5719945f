"""Sensitivities by all pairs of small graphs."""

from __future__ import annotations

import numpy as np
import pytest

from confide.evidence.wu_2017.targeted_search.enumerated import SHIFTED_BRIDGE, enumerate_pairs
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
from search import reference_search as reference

ALL = [CommonNeighbours(), CommonNeighboursMulti(), Paths(2), Paths(3), Walks(2), Walks(3), LargestFlow(2),
       LargestFlow(3),
       Contacts(), Triangles(1), Triangles(2)]


def rows(friends: reference.Friends) -> Rows:
    return Rows(*reference.arrays_of(friends))


def test_one_rewiring_changes_seven_values_where_the_print_says_four() -> None:
    first, second, confirmed = SHIFTED_BRIDGE
    changed = [CommonNeighbours().values(rows(reference.friends_of(7, edges)), np.array(confirmed))
               for edges in (first, second)]
    assert int((changed[0] != changed[1]).sum()) == 7 == CommonNeighbours().impact_cardinality(3)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ALL, ids=str)
def test_no_pair_of_five_vertices_moves_a_value_further(statistic: Statistic) -> None:
    for bound in (1, 2, 3, 4):
        found = enumerate_pairs(statistic, bound, every=24 if statistic == LargestFlow(3) else 1)
        assert found.target_change <= statistic.sensitivity(bound) + 1e-5
        assert found.count_outside <= statistic.count_sensitivity(bound)
        assert found.changed <= statistic.impact_cardinality(bound)


@pytest.mark.slow
def test_bounds_of_common_neighbours_are_attained() -> None:
    found = {bound: enumerate_pairs(CommonNeighbours(), bound) for bound in (2, 3, 4)}
    assert [each.target_change for each in found.values()] == [1, 1, 1]
    assert [each.count_unconfirmed for each in found.values()] == [2, 3, 4]  # over V minus S: d
    assert [each.target_change for each in (enumerate_pairs(Contacts(), 4), enumerate_pairs(Triangles(2), 4))] == [0, 0]
    assert enumerate_pairs(CommonNeighboursMulti(), 3).target_change == 2
