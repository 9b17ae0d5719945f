"""How far one bidder moves an auction of bundles: against arbitrary public histories, and replayed along real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bundle_examples import GRID, auction, capped, classes

from cases import fast
from confide.allocation.bundles import Bidder, CappedAdditiveValuation, OracleRecord, UserOracle
from confide.allocation.bundles import auction as bundle_exposure
from confide.allocation.bundles.auction import BundleRules, Standing, free_reports, joint_distance, report_distance
from confide.allocation.decoding import BundleReplay, replay_bundle
from confide.allocation.palloc import PAlloc
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

_NOBODY = [0.0] * 6


def _rules(rounds: int, bid_cap: int, tests: Any) -> BundleRules:
    return BundleRules(people=1, goods=6, supply=(1,) * 6, increment=1 / 16, rounds=rounds, batch=1, bid_cap=bid_cap,
                       valuation=CappedAdditiveValuation(cap=3), bundle=3, outbid_tests=tests, reports=True)


def _history(draw: np.random.Generator, rounds: int) -> np.ndarray:
    """(2R, 6) rising counts, before her slot of each round and at its end: anybody's bids and any noise."""
    steps = draw.integers(0, 4, (2 * rounds, 6)) * (draw.random((2 * rounds, 6)) < draw.choice([0.2, 0.5]))
    return np.cumsum(steps, axis=0)


def _seen(bidder: Bidder, rules: BundleRules, history: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, k) her bids, and (R,) her reports."""
    standing = Standing()
    bids, reports = np.zeros((rules.rounds, 6), dtype=int), np.zeros(rules.rounds, dtype=int)
    for r in range(rules.rounds):
        for at, end in ((2 * r, False), (2 * r + 1, True)):
            prices = rules.prices(history[at])
            if end:
                reports[r] = standing.round_end(bidder, prices, history[at], rules)
            elif (good := standing.slot(bidder, prices, history[at], rules)) >= 0:
                bids[r, good] += 1
    return bids, reports


def _row(draw: np.random.Generator) -> Bidder:
    return CappedAdditiveValuation(cap=3).bidder(np.floor(draw.random(6) / 3 * GRID) / GRID, 6)


def _fickle(seed: int) -> Bidder:
    """A program that contradicts itself: it answers with anything, whatever prices are."""
    draw = np.random.default_rng(seed)
    return UserOracle(most=3).bidder(OracleRecord(demand=lambda prices, held: int(draw.integers(-2, 6))), 6)


def _largest(rounds: int, bid_cap: int, tests: Any, tries: int, seed: int, *, alone: bool = False) -> tuple[int, ...]:
    """The largest bids, reports but the last, both, and both with the last, over random histories and neighbours."""
    draw, rules = np.random.default_rng(seed), _rules(rounds, bid_cap, tests)
    most = np.zeros(4, dtype=int)
    for number in range(tries):
        history = _history(draw, rounds)
        one = _fickle(number) if number % 5 == 0 else _row(draw)
        other = CappedAdditiveValuation(cap=3).bidder(_NOBODY, 6) if alone else _row(draw)
        (bids, said), (others, replied) = _seen(one, rules, history), _seen(other, rules, history)
        x, y = np.abs(bids - others).sum(axis=1), np.abs(said - replied)
        if tests == "round_end":  # a report that differs leaves one possible bidder
            assert (x[1:] + y[:-1] <= 2).all()
        assert (x <= 2).all()
        most = np.maximum(most, (x.sum(), y[:-1].sum(), x.sum() + y[:-1].sum(), x.sum() + y.sum()))
    return tuple(most.tolist())


@pytest.mark.parametrize(("tests", "seed", "reached"), [("slot", 4, 9), ("round_end", 1, 7)])
def test_without_a_cap_the_print_forgets_a_half(tests: Any, seed: int, reached: int) -> None:
    """Spec allocation 13.6 (T = 3, k = 6): 3T with tests in slots, 2T + 1 at the end of rounds, and never more."""
    *_, both = _largest(3, 9, tests, 600, seed)
    assert both == reached == joint_distance(rounds=3, bid_cap=9, tests=tests, last_report=True)


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["slot", "round_end"])
def test_without_a_cap_over_many_histories(tests: Any) -> None:
    reached = _largest(3, 9, tests, 40_000, 9)
    assert reached[3] == (9 if tests == "slot" else 7)
    assert reached[2] == joint_distance(rounds=3, bid_cap=9, tests=tests)


@pytest.mark.parametrize("tests", ["slot", "round_end"])
@pytest.mark.parametrize(("rounds", "bid_cap"), fast(1, [(6, 2), (6, 3), (8, 2), (5, 1), (4, 4), (5, 3)]))
def test_with_a_cap_reports_stay_within_their_distance(rounds: int, bid_cap: int, tests: Any) -> None:
    bids, reports, both, _ = _largest(rounds, bid_cap, tests, 400, 3)
    assert bids <= 2 * min(bid_cap, rounds)
    assert reports <= report_distance(rounds=rounds, bid_cap=bid_cap, tests=tests)
    assert both <= joint_distance(rounds=rounds, bid_cap=bid_cap, tests=tests)
    _, alone, _, _ = _largest(rounds, bid_cap, tests, 200, 4, alone=True)
    assert alone <= report_distance(rounds=rounds, bid_cap=bid_cap, tests=tests, worlds=1)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "bid_cap", "tests"), [
    (6, 2, "slot"), (8, 3, "slot"), (8, 4, "slot"), (6, 2, "round_end")])
def test_the_distances_with_a_cap_are_reached(rounds: int, bid_cap: int, tests: Any) -> None:
    _, reports, both, _ = _largest(rounds, bid_cap, tests, 6_000, 5)
    assert reports == report_distance(rounds=rounds, bid_cap=bid_cap, tests=tests)
    assert both == joint_distance(rounds=rounds, bid_cap=bid_cap, tests=tests)


def test_distances() -> None:
    assert report_distance(rounds=1, bid_cap=4, tests="slot") == 1
    assert report_distance(rounds=9, bid_cap=3, tests="slot", worlds=1) == 2
    assert report_distance(rounds=9, bid_cap=30, tests="slot") == 8 == report_distance(
        rounds=9, bid_cap=30, tests="round_end")
    assert [joint_distance(rounds=9, bid_cap=3, tests=tests) for tests in ("slot", "round_end")] == [9, 13]
    assert joint_distance(rounds=9, bid_cap=9, tests="round_end") == 18
    assert free_reports(rounds=9, bid_cap=9, tests="round_end", worlds=2)
    assert not free_reports(rounds=9, bid_cap=9, tests="round_end", worlds=1)
    assert not free_reports(rounds=9, bid_cap=8, tests="round_end", worlds=2)
    assert "3R" in (bundle_exposure.__doc__ or "")
    with pytest.raises(InvalidInput, match="outbid_tests"):
        report_distance(rounds=9, bid_cap=3, tests="now")  # type: ignore[arg-type]


# ---- replayed along real histories


def _bids(mechanism: PAlloc, replayed: BundleReplay, steps: int) -> np.ndarray:
    found = np.zeros((mechanism.goods, steps), dtype=np.int64)
    np.add.at(found, (np.array(replayed.bid_on, dtype=int), np.array(replayed.steps, dtype=int) - 1), 1)
    return found


def _cells(mechanism: PAlloc, replayed: BundleReplay, final: np.ndarray) -> np.ndarray:
    edges = np.array(mechanism.clearing.edges)
    found = np.zeros(edges.shape, dtype=np.int64)
    for good, seen in zip(replayed.goods, replayed.seen, strict=True):
        age = int(final[good]) - seen
        if age <= edges[good, -1]:
            found[good, int(np.searchsorted(edges[good], age))] += 1
    return found


@pytest.mark.parametrize("seed", fast(3, range(60)))
def test_a_neighbour_moves_what_is_released_by_no_more_than_is_paid(seed: int) -> None:
    """Spec allocation 13.5, exactly: blocks of bids and reports and cells, along the history of a noisy run."""
    draw = np.random.default_rng(seed)
    free = seed % 3 == 1
    kind, data, records = list(classes(40, 6, seed))[int(draw.integers(4))]
    mechanism = auction(
        valuation=kind, halting="unsatisfied", halt_below=-1000, rounds=5, epsilon=20.0, batch=int(draw.choice([1, 7])),
        arity=int(draw.choice([2, 3])), outbid_tests="round_end" if free else str(draw.choice(["slot", "round_end"])),
        bid_cap=5 if free else int(draw.choice([2, 3, 7])),
        neighbours="replace" if free else str(draw.choice(["replace", "add_or_remove"])))
    assert mechanism.reports_are_free is (free or (mechanism.bid_cap >= 5 and mechanism.neighbours == "replace"
                                                   and mechanism.outbid_tests == "round_end"))
    board = mechanism.run(data, Noise.simulated(seed)).billboard
    assert board.rounds == 5
    reports = mechanism.halting_plan.counter
    for i in range(0, 40, 4):
        rival = records[(i + 1) % 40] if mechanism.l1_sensitivity == 2 else None
        replays = [replay_bundle(kind.bidder(record, 6), i, board) for record in (records[i], rival)]
        one, other = (mechanism.counter.block_sums(_bids(mechanism, replayed, board.steps)) for replayed in replays)
        assert np.abs(one - other).sum() <= mechanism.counter.reach
        said = np.zeros((2, 1, 4), dtype=np.int64)
        for world, replayed in enumerate(replays):
            said[world, 0, [r - 1 for r in replayed.reports if r < 5]] = 1
        assert np.abs(said[0] - said[1]).sum() <= mechanism.report_l1_sensitivity
        blocks = [reports.block_sums(each) for each in said]
        prices, asked = mechanism.counter.replayed_loss(one, other), reports.replayed_loss(*blocks)
        if mechanism.reports_are_free:
            assert prices + asked <= mechanism.counter.loss.epsilon * (1 + 1e-12)
        assert prices <= mechanism.counter.loss.epsilon
        assert asked <= reports.loss.epsilon * (1 + 1e-12)
        cells = np.abs(np.subtract(*(_cells(mechanism, replayed, board.final_counts) for replayed in replays)))
        assert (cells.sum(), (cells**2).sum()) <= mechanism.cell_sensitivities


def test_reports_that_are_free_would_not_be_with_less_noise() -> None:
    """Along any history: noise of q times that of a block of bids is just enough for blocks of one level."""
    mechanism = auction(halting="unsatisfied", outbid_tests="round_end", rounds=4, bid_cap=4)
    reports = mechanism.halting_plan.counter
    assert reports.scale >= reports.levels * mechanism.counter.scale
    assert reports.scale == pytest.approx(reports.levels * mechanism.counter.scale, rel=1e-9)
    paid = auction(halting="unsatisfied", outbid_tests="slot", rounds=4, bid_cap=4)
    assert paid.counter.scale > mechanism.counter.scale
    assert paid.halting_plan.counter.scale > reports.scale
    rows = capped(40, 6, 2, 8)
    board = mechanism.run(rows, Noise.simulated(1)).billboard
    mechanism.check(board)
    assert len(board.reports) == min(board.rounds, 3)
