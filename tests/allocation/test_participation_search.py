"""What a replaced row moves, over all public histories: the basis of the noise, nothing more, and attained."""

from __future__ import annotations

import numpy as np
import pytest

from confide.allocation.ascending_auction import Rules
from confide.allocation.audited_reach import (
    BundleBidder,
    Tested,
    auction_reach,
    bids_and_reports,
    bundle_reach,
    reports_of,
    staggered_auction,
    staggered_bundles,
)
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.bundles.auction import joint_distance, report_distance
from confide.allocation.decoding import replay
from confide.allocation.pmatch import PMatch
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator


def test_four_rounds_and_eight_goods() -> None:
    """T = 4: bids 2T, with unsatisfied reports 2T + 1, 2T if the last one is never released, with bid reports 2T."""
    assert auction_reach(4) == 8
    assert auction_reach(4, "unsatisfied") == 9
    assert auction_reach(4, "unsatisfied", last_report=False) == 8
    assert auction_reach(4, "bidding") == 8
    history = staggered_auction(4)
    assert history.billboard.rules.goods == 8
    assert bids_and_reports(history.first, history.second, history.billboard) == (8, 1)


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, pytest.param(12, marks=pytest.mark.slow)])
def test_the_formulas_for_any_number_of_rounds(rounds: int) -> None:
    assert auction_reach(rounds) == 2 * rounds
    assert auction_reach(rounds, "unsatisfied") == 2 * rounds + 1
    assert auction_reach(rounds, "bidding") == 2 * rounds
    assert auction_reach(rounds, absent=True) == rounds
    assert auction_reach(rounds, "unsatisfied", absent=True) == 2 * rounds
    assert bundle_reach(rounds, tested="slot") == 3 * rounds == staggered_bundles(rounds, tested="slot")
    assert bundle_reach(rounds, tested="round_end") == 2 * rounds + 1 == staggered_bundles(rounds, tested="round_end")


@pytest.mark.parametrize(("rounds", "cap"), [(5, 2), (9, 2), (9, 4), (7, 1)])
def test_with_a_cap_it_is_two_bids_and_four_with_reports(rounds: int, cap: int) -> None:
    """2C for bids; 4C with reports as soon as there are 2C + 1 rounds: the worlds are outbid one after the other."""
    assert auction_reach(rounds, bid_cap=cap) == 2 * cap
    assert auction_reach(rounds, "unsatisfied", bid_cap=cap, last_report=False) == 4 * cap
    assert auction_reach(rounds, "unsatisfied", bid_cap=cap, last_report=False, bids_count=False) == 2 * cap
    assert auction_reach(rounds, "unsatisfied", bid_cap=cap, absent=True) == 2 * cap
    history = staggered_auction(rounds, bid_cap=cap, apart=True)
    assert bids_and_reports(history.first, history.second, history.billboard) == (2 * cap, 2 * cap)
    assert history.billboard.rules.rounds > 2 * cap  # so that the last report that counts is released


@pytest.mark.parametrize("rounds", [1, 2, 4, 9])
@pytest.mark.parametrize("cap", [1, 2, 3])
@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
def test_the_noise_of_pmatch_rests_on_no_less(rounds: int, cap: int, neighbours: str) -> None:
    for rule, counted in (("unsatisfied", "unsatisfied"), ("bids", "bidding")):
        auction = PMatch(people=8, goods=2, supply=2, epsilon=1.0, increment=0.3, bid_cap=cap, rounds=rounds, batch=1,
                         arity=2, reclear=0.0, reserve=0, halting=rule, neighbours=neighbours)  # type: ignore[arg-type]
        absent = neighbours == "add_or_remove"
        assert auction.counter.l1_sensitivity >= auction_reach(rounds, bid_cap=cap, absent=absent)
        counter = auction.halting_plan.counter
        if counter is not None:
            assert counter.l1_sensitivity >= auction_reach(rounds, counted, bid_cap=cap, absent=absent,  # type: ignore[arg-type]
                                                     last_report=False, bids_count=False)
        else:
            assert rounds == 1


@pytest.mark.parametrize("rounds", [2, 3, 5, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tested", ["slot", "round_end"])
def test_the_noise_of_palloc_rests_on_no_less(rounds: int, tested: Tested) -> None:
    """Its closed forms for reports, and for bids and reports, are never below the search; without a cap they meet."""
    for cap in (1, 2, 3, rounds):
        for absent in (False, True):
            alone = bundle_reach(rounds, tested=tested, bid_cap=cap, absent=absent, last_report=False,
                                 bids_count=False)
            assert report_distance(rounds=rounds, bid_cap=cap, tests=tested, worlds=2 - absent) >= alone
        together = bundle_reach(rounds, tested=tested, bid_cap=cap, last_report=False)
        assert joint_distance(rounds=rounds, bid_cap=cap, tests=tested) >= together
    assert joint_distance(rounds=rounds, bid_cap=rounds, tests=tested) == bundle_reach(
        rounds, tested=tested, bid_cap=rounds, last_report=False)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_no_random_history_moves_more(seed: int) -> None:
    """Counts that rise at random, in her slots and between them, rows at random: her own walk is within the search."""
    draw, worst = study_generator(seed, "histories"), 0
    for _ in range(60):
        rounds, cap, goods = int(draw.integers(1, 6)), int(draw.integers(1, 4)), int(draw.integers(1, 5))
        rules = Rules(people=3, goods=goods, supply=(1,) * goods, increment=float(draw.choice([2.0**-20, 0.1])),
                      rounds=rounds, batch=1, bid_cap=cap)
        table = np.cumsum(draw.integers(0, 3, (goods, rules.horizon)) * (draw.random((goods, rules.horizon)) < 0.5),
                          axis=1)
        changed = np.diff(table, axis=1, prepend=0) > 0
        good, at = np.nonzero(changed)
        board = AuctionBillboard(rules=rules, rounds=rounds, step=at + 1, good=good.astype(np.int32),
                                 count=table[good, at],
                          reports=np.empty(0, dtype=np.int64))
        first, second = (draw.choice([0.0, 0.3, 0.6, 1.0], goods) for _ in range(2))
        moved = bids_and_reports(first, second, board)
        assert moved[0] <= auction_reach(rounds, bid_cap=cap)
        assert sum(moved) <= auction_reach(rounds, "unsatisfied", bid_cap=cap)
        worst = max(worst, sum(moved))
    assert worst >= 4


def test_reports_are_what_the_auction_counts() -> None:
    """From her bids and the counts alone: she is outbid after the first round in which enough others were counted."""
    history = staggered_auction(6, bid_cap=2, apart=True)
    found = replay(history.first, 0, history.billboard)
    assert found.steps == (1, 2)
    assert reports_of(found.steps, found.goods, history.billboard).tolist() == [1, 1, 0, 0, 0, 0]
    found = replay(history.second, 0, history.billboard)
    assert found.steps == (1, 4)
    assert reports_of(found.steps, found.goods, history.billboard).tolist() == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("tested", ["slot", "round_end"])
def test_no_random_history_of_bundles_moves_more(tested: str) -> None:
    draw, worst = study_generator(3, "bundles", tested), 0
    for _ in range(200):
        rows = draw.choice([0.0, 0.1, 0.2, 0.3], (2, 4))
        bidders = [BundleBidder(row=row, most=int(draw.integers(1, 4)), supply=1, increment=2.0**-20,
                                tested=tested) for row in rows]  # type: ignore[arg-type]
        counts, distance = np.zeros(4, dtype=np.int64), 0
        for _round in range(3):
            bids = [bidder.bid(counts) for bidder in bidders]
            distance += sum(good >= 0 for good in bids) if bids[0] != bids[1] else 0
            counts += draw.integers(0, 3, 4)
            distance += bidders[0].report(counts) != bidders[1].report(counts)
            counts += draw.integers(0, 3, 4)
        worst = max(worst, distance)
    assert worst <= bundle_reach(3, tested=tested)  # type: ignore[arg-type]
    assert worst >= 5


@pytest.mark.parametrize(("call", "field"), [
    (lambda: auction_reach(0), "rounds"), (lambda: auction_reach(2, bid_cap=0), "bid_cap"),
    (lambda: auction_reach(2, "all"), "counted"), (lambda: bundle_reach(0, tested="slot"), "rounds"),  # type: ignore[arg-type]
    (lambda: bundle_reach(2, tested="never"), "tested"), (lambda: staggered_bundles(2, tested="never"), "tested"),  # type: ignore[arg-type]
    (lambda: staggered_bundles(0, tested="slot"), "rounds"),
])
def test_searches_that_are_none(call: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()  # type: ignore[operator]
    assert caught.value.field == field
