"""Gadgets: what exact outputs tell of secret bits, and what private ones do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from confide.allocation.ascending_auction import Auction, Rules
from confide.allocation.instances import PriceGadgets, SpyGadgets
from confide.allocation.pmatch import PMatch
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise import ForcedNoise, Noise
from confide.privacy.tree_counter import TreeCounter


def exact_optimum(market: SpyGadgets) -> np.ndarray:
    """By assignment to copies."""
    dense = np.repeat(market.values.toarray(), market.supply, axis=1)
    rows, columns = linear_sum_assignment(dense, maximize=True)
    held = np.full(market.people, -1)
    held[rows] = columns // market.supply
    return held


def exact_auction(values: object, people: int, goods: int, supply: int, increment: float, batch: int) -> Auction:
    """Without noise, until nobody is outbid."""
    rounds = math.ceil(2 / increment) + 2
    rules = Rules(people=people, goods=goods, supply=(supply,) * goods, increment=increment, rounds=rounds, batch=batch,
                  bid_cap=rounds)
    run = Auction(rules=rules, values=Valuations.of(values, people=people, goods=goods),
                  counter=TreeCounter(horizon=rules.horizon, scale=1.0, counters=goods), noise=ForcedNoise([]))
    for _ in range(rounds):
        if run.play_round()[1] == 0:
            return run
    raise AssertionError("somebody is still outbid")


def test_exact_prices_reveal_every_bit() -> None:
    market = PriceGadgets.drawn(40, seed=3)
    assert 0 < market.bits.sum() < 40
    run = exact_auction(market.values, market.people, market.goods, market.supply, 1 / 8, 1)
    assert market.recovered(run.rules.prices(run.published)) == 1.0
    assert market.recovered(np.zeros(80)) == market.recovered(np.ones(80)) == 0.5


def test_spies_read_an_exact_optimum() -> None:
    """200 gadgets, s = 4: .75 +- .11, by an own solver and by the gadget's closed form."""
    market = SpyGadgets.drawn(200, 4, seed=1)
    held, known = exact_optimum(market), market.optimum
    values = Valuations.of(market.values, people=market.people, goods=market.goods)
    assert values.welfare(held) == pytest.approx(values.welfare(known), abs=1e-9)
    assert (np.bincount(known[known >= 0], minlength=market.goods) <= market.supply).all()
    agree = (market.bits == market.tastes).mean()
    assert market.recovered(known) == 1 - agree / 2
    assert abs(market.recovered(held) - 0.75) <= 0.11
    assert market.recovered(held) >= 79 / 128


def test_spies_read_an_auction_without_noise() -> None:
    market = SpyGadgets.drawn(100, 4, seed=2)
    run = exact_auction(market.values, market.people, market.goods, market.supply, 1 / 64, 5)
    assert (np.bincount(run.held[run.held >= 0], minlength=market.goods) <= market.supply).all()
    assert abs(market.recovered(np.maximum(run.held, -1)) - 0.75) <= 0.14


def test_spies_learn_nothing_from_a_private_auction() -> None:
    market = SpyGadgets.drawn(240, 4, seed=3)
    auction = PMatch(people=market.people, goods=market.goods, supply=4, epsilon=0.5, increment=0.25, bid_cap=3,
                     rounds=4, batch=50, arity=8, reclear=0.0, reserve=0)
    outcome = auction.run(market.values, Noise.simulated(4))
    assert abs(market.recovered(outcome.shares["good"].to_numpy()) - 0.5) <= 0.12


def test_what_spies_guess() -> None:
    market = SpyGadgets(supply=2, bits=[1, 1, 0, 0, 1], tastes=[0, 1, 0, 1, 1], worth=0.5)
    held = [[1, 0, 0], [3, 3, -1], [4, 5, 5], [6, 6, 6], [8, 2, 2]]
    # all on 0: a 1; one left over: a coin; all on 1: a 0, twice right and wrong; goods of another gadget: a coin
    assert market.right(np.array(held).reshape(-1)).tolist() == [1.0, 0.5, 1.0, 0.0, 0.5]
    assert market.values.toarray()[4].tolist() == [0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("call", "field"), [
    (lambda: PriceGadgets(bits=[0, 2]), "bits"), (lambda: PriceGadgets(bits=[]), "bits"),
    (lambda: PriceGadgets(bits=[0.5]), "bits"), (lambda: PriceGadgets.drawn(0), "gadgets"),
    (lambda: PriceGadgets(bits=[1]).recovered([1.0]), "prices"),
    (lambda: SpyGadgets(supply=0, bits=[1], tastes=[1]), "supply"),
    (lambda: SpyGadgets(supply=1, bits=[1], tastes=[1, 0]), "tastes"),
    (lambda: SpyGadgets(supply=1, bits=[1], tastes=[1], worth=1.5), "worth"),
    (lambda: SpyGadgets(supply=1, bits=[1], tastes=[1]).right([0]), "allocation"),
])
def test_gadgets_that_are_none(call: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()  # type: ignore[operator]
    assert caught.value.field == field
