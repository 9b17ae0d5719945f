"""What claims are computed on: small instances and graphs, exposures counted to the last block, quoted figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.evidence import claims
from confide.evidence.wang_2016.data_market import claims_unknown_costs
from confide.evidence.wu_2017 import claims_privacy
from confide.evidence.wu_2017.private_matchings.settings import MatchingSetting, blocks_of_slots, matching_exposure
from confide.evidence.wu_2017.private_programs.solved import (
    chain,
    crossroads,
    optimum,
    quiet_run,
    realised_regret,
    values_of,
)
from confide.evidence.wu_2017.targeted_search import small_graphs
from confide.evidence.wu_2017.targeted_search.printed import printed_composition
from confide.evidence.wu_2017.targeted_search.small_graphs import graph_of, selection_loss, toy
from confide.privacy.tree_blocks import memberships, participation
from confide.programs.families.unit_demand import UnitDemand
from confide.search.discovery import (
    components_of,
    in_random_order,
    made_up_group,
    without_noise,
)
from confide.search.statistics import CommonNeighbours


def test_the_spread_at_which_figure_4_2_holds() -> None:
    """Section 6: tripling N saves 99 % iff the standard deviation of ln C is above 4.1057, whatever its mean."""
    assert claims_unknown_costs._fall(4.1056) < 0.99 < claims_unknown_costs._fall(4.1058)


def test_figures_that_are_quoted_beside_the_verdict() -> None:
    # spec query_release A3 and erratum 13
    assert claims_privacy._classic(20.0, 1e-5) == pytest.approx(1.5e-3, abs=5e-5)
    largest, draws = 2 * 2.0 * 15 / 30_162, 15 * 1000
    assert claims_privacy.theorem(largest, draws, 1e-3) == pytest.approx(0.965, abs=5e-4)
    assert claims_privacy.theorem(largest, draws, 1e-6) == pytest.approx(1.340, abs=5e-4)


def test_the_claims_of_chapter_2_that_stand_with_privacy() -> None:
    ids = {row.id for row in claims(family="privacy")}
    assert {"privacy/corollary-2.2.5", "privacy/footnote-4", "privacy/lemma-2.3.4-privacy"} <= ids


@pytest.mark.parametrize(("people", "rounds"), [(1, 1), (3, 5), (8, 8), (20, 7)])
def test_blocks_of_slots(people: int, rounds: int) -> None:
    each = blocks_of_slots(people, rounds)
    assert each.reshape(-1).tolist() == memberships(people * rounds, 2).tolist()
    # bids alone, in all rounds of both worlds; reports add at most one to each round, and the last one
    bids = participation(people * rounds, 2, rounds=rounds, bids=rounds)
    assert bids < matching_exposure(people, rounds) <= bids + each.sum(axis=0).max()


@pytest.mark.parametrize(("rounds", "tolerance"), [(8, 1.0), (12, 8 / 12), (32, 0.25)])
def test_the_proofs_product_is_never_less(rounds: int, tolerance: float) -> None:
    for people in (1, 2, 37, 64, 1024):
        setting = MatchingSetting(people=people, goods=2, epsilon=1.0, failure_probability=0.1, increment=1.0,
                                  tolerance=tolerance)
        assert setting.rounds == rounds
        assert matching_exposure(people, rounds) <= setting.l1_sensitivity * setting.levels


def test_instances_of_the_errata() -> None:
    """Spec convex_programs 7 (errata 7 and 8) and 11.3: what excess is worth there."""
    program, data = chain()
    assert optimum(program, data) == pytest.approx(4.0, abs=1e-6)
    assert optimum(program, data, 4.0) == pytest.approx(4.0, abs=1e-6)
    assert optimum(*chain(0.5)) == pytest.approx(6.0, abs=1e-6)
    flow, users = crossroads(1)
    assert optimum(flow, users) == pytest.approx(6.0 - 2.5, abs=1e-6)
    for price, worth in ((1.0, 5.5), (5.0, 3.5), (6.0, 3.5)):
        assert optimum(flow, users, price) == pytest.approx(worth, abs=1e-6)


def test_regret_of_a_quiet_run() -> None:
    """One price, three rounds: by hand."""
    program = UnitDemand(2, (1.0,))
    board = quiet_run(program, [[0.75], [0.25]], 3, 0).billboard
    prices, slacks = board.prices[:, 0] / 2**24, board.natural_slacks[:, 0]
    assert slacks.tolist() == [-1.0, 0.0, 0.0]  # both want it for nothing, and one of them at 1/sqrt3
    assert prices.tolist() == pytest.approx([0.0, 3**-0.5, 3**-0.5], abs=1e-6)
    assert realised_regret(board, program) == pytest.approx(2.0 / 3.0)  # of the fixed price 2
    assert values_of(3, 2, 1).shape == (3, 2)


def test_small_graphs_of_the_evidence() -> None:
    """Spec targeted_search 11, check 1, and the tightness figures of section 4."""
    found = small_graphs.values_of(CommonNeighbours(), [(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)], 5, (0,))
    assert found[2] == 2
    assert graph_of([], 3).edges == 0
    assert toy().graph.edges == 26
    losses = [selection_loss(1.0, ahead) for ahead in (0.0, 10.0, 20.0)]
    assert losses == pytest.approx([0.9648, 1.8329, 1.9090], abs=5e-5)
    pays = [calls for calls in (110, 111) if printed_composition(calls, 0.2, 1e-6)[0] < 0.2 * calls]
    assert pays == [111]  # spec targeted_search 4


def test_discovery_is_counted() -> None:
    """By hand: a path 0-1-2-3-4-5 with targets 0, 1, 3 (and 5, when nobody leaves)."""
    graph = graph_of([(v, v + 1) for v in range(5)], 6)
    targeted = np.array([True, True, False, True, False, False])
    assert components_of(graph, targeted) == [[0, 1], [3]]
    group = made_up_group(graph, 0, 0.0, 1, join=1.0, rounds=5)
    assert (group.targets, group.sizes, group.investigation.seed_vertex) == (6, (6,), 0)
    found = without_noise(group, 1, 8)
    assert found.curves.tolist() == [[1, 2, 3, 4, 5, 6, 6, 6, 6]]
    assert (found.calls(8), found.queries.tolist(), found.ended_with.tolist()) == (0.0, [5], [6])
    random = in_random_order(group, 3, 8, 4)
    assert random.at((0, 5)).tolist() == [1.0, 6.0]
    assert random.error(5) == 0.0
    assert random.calls(8) == 1.0  # nobody is left to be sought
    assert math.isclose(found.error(0), 0.0)
