"""Every published claim about matchings and allocations, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.allocation.evidence_exposure import blocks_of_slots, matching_exposure
from confide.allocation.printed.settings import MatchingSetting
from confide.evidence import Claim
from confide.privacy.tree_blocks import memberships, participation

from claims_tables import cases, check, complete, rows

TABLE = rows("confide.allocation")
NUMBERS = {  # the figures that the table's words quote
    "allocation/others": (0.0, 1.0, 0.0),
    "allocation/ascending-prices": (0.0, 0.094, 5e-4),
    "allocation/theorem-4.1.1": (1e6, 1.8e9, 5e7),
    "allocation/single-copies": (0.0, 0.113, 5e-4),
    "allocation/monotone-counter": (0.0, -14.0, 0.0),
    "allocation/theorem-4.2.4": (1.0, 0.2, 5e-3),
    "allocation/outbid": (0.999, 0.953, 5e-4),
    "allocation/bids-of-one": (1.0, 8.0, 1e-12),
    "allocation/algorithm-4-sizes": (1e6, 4.49196e9, 1e5),  # 2E + 1, spec allocation, acceptance 2
    "allocation/algorithm-4-gamma": (1.0, 2.2, 0.05),
    "allocation/two-symbols": (0.0, 8.0, 0.0),
    "allocation/lemma-4.3.2": (0.7, 0.7, 1e-12),
    "allocation/theorem-4.3.3-prices": (8.0, 16.0, 0.0),
    "allocation/theorem-4.3.3": (1.0, 211 / 208, 1e-12),
    "allocation/theorem-4.3.4": (0.0, 0.445, 5e-4),
    "allocation/theorem-4.3.5": (1.0, 0.09, 5e-3),
    "allocation/theorem-4.3.5-bidders": (5.2e9, 7.7e9, 5e7),
    "allocation/theorem-4.3.5-sizes": (1e7, 7.3e7, 5e5),  # spec allocation 3.3
    "allocation/lemma-4.3.7": (0.0, 0.75, 1e-12),
    "allocation/lemma-4.3.8": (1.0, 2.0, 0.0),
    "allocation/price-ceiling": (1.0, 1.2, 1e-12),
    "allocation/lemma-4.3.9": (1.0, 1.08, 5e-3),
    "allocation/remark-4.3.12": (1.0, 0.25, 5e-3),
    "allocation/theorem-4.4.1": (1.0, 1.38, 5e-3),
    "allocation/algorithm-6-test": (0.0, 24.0, 0.0),
    "allocation/theorem-4.4.2-goods": (9.2e8, 1.845e9, 1e6),
    "allocation/theorem-4.4.2-sizes": (1e7, 6.6e9, 5e7),
    "allocation/remark-4.4.3": (10.0, 12.0, 0.1),
    "allocation/remark-4.4.3-bundles": (1.0, 2.0, 5e-3),
    "allocation/lemma-4.4.5": (0.0, 7.0, 0.0),
    "allocation/lemma-4.4.6": (1.0, 0.75, 1e-12),
    "allocation/lemma-4.4.7": (1.0, 1.52, 5e-3),
    "allocation/theorem-4.5.1": (0.268941, 0.268941, 1e-6),  # spec allocation, acceptance 10
    "allocation/theorem-4.5.1-proof": (0.5, 1.0, 0.0),
    "allocation/half-of-the-bits": (0.5, 0.4987, 5e-5),
    "allocation/theorem-4.5.2": (1.0, 0.5, 0.0),
    "allocation/theorem-4.5.3": (0.268941, 0.268941, 1e-6),
    "allocation/theorem-4.5.4-program": (159 / 256, 159 / 256, 0.0),
    "allocation/theorem-4.5.4-bits": (0.421736, 0.383, 5e-4),
    "allocation/theorem-4.5.4-spies": (79 / 128, 0.725, 1e-12),
    "allocation/theorem-4.5.4": (8.0, 167.0, 0.0),
    "allocation/partial-sums": (1.585, 2.0, 0.0),
    "allocation/dyadic-blocks": (64.0, 7.0, 0.0),
    "allocation/algorithm-7": (0.0, 15.0, 0.0),
    "allocation/levels": (3.0, 4.0, 0.0),
}


@pytest.mark.parametrize("row", cases(
    TABLE, "allocation/outbid", "allocation/theorem-4.5.4-welfare", "allocation/theorem-4.4.1",
    "allocation/theorem-4.3.11"))
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
    assert set(NUMBERS) <= {row.id for row in TABLE}
    told = " ".join(row.ours for row in TABLE)
    assert all(f"(erratum {k})" in told for k in range(1, 12))


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
