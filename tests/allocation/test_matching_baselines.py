"""What private matchings are compared with: against direct transcriptions; the auction's guarantees without noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cases import fast
from confide.allocation.baselines import AuctionRun, exact_auction, greedy, lottery, serial_dictatorship
from confide.allocation.duality import dual_bound
from confide.allocation.instances import instance_a, instance_b
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator


def made(seed: int, *, grid: int = 16) -> tuple[NDArray[Any], NDArray[Any]]:
    """A small market with values on a grid, many of them equal, and some bidders who want nothing."""
    draw = study_generator(seed, "market")
    n, k = int(draw.integers(1, 40)), int(draw.integers(1, 6))
    table = draw.integers(0, grid + 1, (n, k)) / grid * (draw.random((n, 1)) < 0.9)
    return table, draw.integers(1, max(2, n // 2), k)


def raffled(table: NDArray[Any], supply: NDArray[Any], order: NDArray[Any]) -> list[int]:
    """Each good to the first of those whose favourite it is."""
    left, held = supply.copy(), [-1] * len(table)
    for i in order.tolist():
        good = int(np.argmax(table[i]))
        if table[i, good] > 0 and left[good] > 0:
            left[good] -= 1
            held[i] = good
    return held


def in_turn(table: NDArray[Any], supply: NDArray[Any], order: NDArray[Any]) -> list[int]:
    """Everybody in turn takes the best good that is left."""
    left, held = supply.copy(), [-1] * len(table)
    for i in order.tolist():
        row = np.where(left > 0, table[i], 0.0)
        if row.max() > 0:
            held[i] = int(np.argmax(row))
            left[held[i]] -= 1
    return held


def by_value(table: NDArray[Any], supply: NDArray[Any]) -> list[int]:
    """All pairs in order of value, then of bidder, then of good."""
    left, held = supply.copy(), [-1] * len(table)
    pairs = sorted((-value, i, j) for (i, j), value in np.ndenumerate(table) if value > 0)
    for _, i, j in pairs:
        if held[i] < 0 and left[j] > 0:
            left[j] -= 1
            held[i] = j
    return held


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_rules_of_thumb_are_what_they_say(seed: int) -> None:
    table, supply = made(seed)
    order = study_generator(seed, "order").permutation(len(table))
    for values in (table, csr_array(table)):
        assert lottery(values, supply, order=order).allocation.tolist() == raffled(table, supply, order)
        assert serial_dictatorship(values, supply, order=order).allocation.tolist() == in_turn(table, supply, order)
        found = greedy(values, supply)
        assert found.allocation.tolist() == by_value(table, supply)
    best = exact_optimum(table, supply).welfare
    assert best / 2 <= found.welfare <= best
    assert found.welfare == pytest.approx(sum(table[i, j] for i, j in enumerate(found.allocation.tolist()) if j >= 0))


def test_orders_come_from_a_seed_and_are_checked() -> None:
    table = instance_a(300, 4)
    for rule in (lottery, serial_dictatorship):
        assert np.array_equal(rule(table, 20, seed=1).allocation, rule(table, 20, seed=1).allocation)
        assert not np.array_equal(rule(table, 20, seed=1).allocation, rule(table, 20, seed=2).allocation)
        for order in ([0, 1], np.zeros(300, dtype=int), np.arange(300.0), np.arange(1, 301)):
            with pytest.raises(InvalidInput, match="order"):
                rule(table, 20, order=order)
    for rule in (lottery, serial_dictatorship, greedy):
        with pytest.raises(InvalidInput, match="supply"):
            rule(table, 0)
        with pytest.raises(InvalidInput, match="values"):
            rule([[2.0]], 1)
        assert not rule(table, 20).release_safe
        assert "not private" in repr(rule(table, 20))


def transcribed(
    table: NDArray[Any], supply: NDArray[Any], alpha: float, *, batch: int, cap: float, rounds: float
) -> tuple[list[int], list[int], list[int]]:
    """Goods, counts and bids of the auction of spec 3.1, line by line."""
    n, k = table.shape
    state: list[int | str] = ["free"] * n
    seen, bids, published, played = [0] * n, [0] * n, [0] * k, 0
    while "free" in state and played < rounds:
        for start in range(0, n, batch):
            before, prices = list(published), [alpha * (published[j] // int(supply[j])) for j in range(k)]
            for i in range(start, min(n, start + batch)):
                if state[i] != "free":
                    continue
                gains = [float(table[i, j]) - prices[j] for j in range(k)]
                j = gains.index(max(gains))
                if gains[j] <= 0 or bids[i] >= cap:
                    state[i] = "out"
                    continue
                state[i], seen[i] = j, before[j]
                bids[i] += 1
                published[j] += 1
        for i in range(n):
            good = state[i]
            if isinstance(good, int) and published[good] - seen[i] > supply[good]:
                state[i] = "free"
        played += 1
    return [each if isinstance(each, int) else -1 for each in state], published, bids


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.25, 0.125, 0.0625]), st.sampled_from([1, 3, 1000]),
       st.sampled_from([None, 2]), st.sampled_from([None, 3]))
def test_the_auction_is_that_of_the_text(
    seed: int, alpha: float, batch: int, cap: int | None, rounds: int | None
) -> None:
    table, supply = made(seed)
    goods, counts, bids = transcribed(table, supply, alpha, batch=batch, cap=cap or math.inf, rounds=rounds or math.inf)
    for values in (table, csr_array(table)):
        found = exact_auction(values, supply, alpha, batch=batch, bid_cap=cap, rounds=rounds)
        assert found.allocation.tolist() == goods
        assert found.counts.tolist() == counts
        assert found.bids.tolist() == bids
        assert found.prices.tolist() == [alpha * (c // int(s)) for c, s in zip(counts, supply, strict=True)]


def check(found: AuctionRun, table: NDArray[Any], supply: Any, alpha: float, *, batch: int = 1) -> None:
    """Spec 3.3 (1) to (4) without noise, and weak duality."""
    n, k = table.shape
    copies, given_out = np.broadcast_to(supply, (k,)), found.given(k)
    assert (given_out <= copies).all()
    priced = found.prices > 0
    assert (given_out[priced] > copies[priced] - batch).all()
    surplus = np.maximum(0.0, (table.astype(float) - found.prices).max(axis=1))
    holds = found.allocation >= 0
    own = table[holds, found.allocation[holds]].astype(float) - found.prices[found.allocation[holds]]
    assert (own >= surplus[holds] - alpha - 1e-12).all()
    best = exact_optimum(table, supply).welfare
    lost = float(found.prices @ np.where(priced, copies - given_out, 0))
    assert found.welfare >= best - alpha * n - found.unsatisfied - lost - 1e-9
    assert dual_bound(Valuations.of(table, people=n, goods=k), copies, found.prices) >= best - 1e-9


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.25, 0.1, 0.0625]), st.sampled_from([1, 4]))
def test_acceptance_without_noise(seed: int, alpha: float, batch: int) -> None:
    """Spec 13.3: run until nobody is unsatisfied."""
    table, supply = made(seed)
    found = exact_auction(table, supply, alpha, batch=batch)
    assert found.unsatisfied == 0
    check(found, table, supply, alpha, batch=batch)
    if batch == 1:
        assert found.welfare >= exact_optimum(table, supply).welfare - alpha * len(table) - 1e-9


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2]), st.sampled_from([1, 3]))
def test_an_auction_that_is_cut_short_loses_the_unsatisfied(seed: int, cap: int | None, rounds: int) -> None:
    table, supply = made(seed)
    check(exact_auction(table, supply, 0.125, bid_cap=cap, rounds=rounds), table, supply, 0.125)


def test_the_auctions_numbers_are_checked() -> None:
    for change, field in [({"increment": 0.0}, "increment"), ({"increment": 1.5}, "increment"), ({"batch": 0}, "batch"),
                          ({"bid_cap": 0}, "bid_cap"), ({"rounds": 0}, "rounds"), ({"supply": 0}, "supply"),
                          ({"values": [[1.5]]}, "values")]:
        asked: dict[str, Any] = {"values": [[0.5]], "supply": 1, "increment": 0.1} | change
        with pytest.raises(InvalidInput) as caught:
            exact_auction(**asked)
        assert caught.value.field == field
    assert exact_auction([[0.0, 0.0]], 1, 0.5).allocation.tolist() == [-1]
    assert exact_auction([[0.5]] * 3, 5, 0.5).allocation.tolist() == [0, 0, 0]
    assert exact_auction([[0.75]] * 3, 1, 1.0).allocation.tolist().count(0) == 1  # s = 1 is matched


@pytest.mark.parametrize(("alpha", "ratio", "bids", "most"),
                         fast(1, [(0.2, 0.970, 3.5, 5), (0.1, 0.986, 6.5, 8), (0.05, 0.995, 12.7, 17)]))
def test_published_ratios_without_noise(alpha: float, ratio: float, bids: float, most: int) -> None:
    """Spec 4.3, instance A with 20,000 bidders, other draws."""
    table = instance_a(20_000, 20)
    found = exact_auction(table, 800, alpha)
    assert found.unsatisfied == 0
    assert found.welfare / exact_optimum(table, 800).welfare == pytest.approx(ratio, abs=0.002)
    assert found.bids.mean() == pytest.approx(bids, abs=0.1)
    assert found.bids.max() <= most
    check(found, table, 800, alpha)


@pytest.mark.slow
def test_published_batches_lose_little() -> None:
    """Spec 4.3: g = s/40, s/8 and s/2 at alpha = .1 lose nothing, .4% and 1%."""
    table = instance_a(20_000, 20)
    ratios = [exact_auction(table, 800, 0.1, batch=g).welfare / exact_optimum(table, 800).welfare
              for g in (1, 20, 100, 400)]
    assert ratios == pytest.approx([0.9860, 0.9856, 0.9818, 0.9763], abs=0.004)
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.slow
def test_published_baselines_at_full_size() -> None:
    """Spec 4.3 and 13.8, with 10^5 bidders, 20 goods and 4,000 copies of each; draws differ by less than .003."""
    a, b = instance_a(100_000, 20), instance_b(100_000, 20)
    best_a, best_b = exact_optimum(a, 4000).welfare, exact_optimum(b, 4000).welfare
    assert lottery(a, 4000).welfare / best_a == pytest.approx(0.489, abs=0.003)
    assert serial_dictatorship(a, 4000).welfare / best_a == pytest.approx(0.916, abs=0.003)
    assert serial_dictatorship(b, 4000).welfare / best_b == pytest.approx(0.780, abs=0.003)
    assert greedy(a, 4000).welfare / best_a == pytest.approx(0.994, abs=0.003)
    assert greedy(b, 4000).welfare / best_b == pytest.approx(0.977, abs=0.003)
    found = exact_auction(a, 4000, 0.05, batch=100)
    assert found.unsatisfied == 0
    assert found.welfare / best_a == pytest.approx(0.995, abs=0.004)
    assert found.bids.max() <= 17
    check(found, a, 4000, 0.05, batch=100)
