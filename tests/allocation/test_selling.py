"""Where goods are sold: the promise with its condition, and the lie that it does not cover, measured anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from campaign.forging import words
from confide.allocation import PMatch, SinkhornMatch
from confide.allocation.guarantees import mean_shift, prices_loss
from confide.allocation.instances import instance_a
from confide.allocation.second_identities import lone_lies, over_crowds
from confide.campaign.kinds.allocation.plan import group_gain
from confide.contract import Guarantees, InvalidInput, Truthfulness
from confide.contract.offering import lies
from confide.privacy import PureDP
from confide.privacy.noise import Noise
from people.all_kinds import campaign_of


@pytest.fixture(scope="module")
def auction() -> PMatch:
    found: PMatch = PMatch.for_budget(people=20_000, goods=6, supply=2_500, epsilon=0.2, charge=True)
    return found


def promised(market: Any) -> Truthfulness:
    (found,) = market.guarantees().of(Truthfulness)
    assert isinstance(found, Truthfulness)
    return found


def test_the_promise_is_printed_with_what_it_leaves_out(auction: PMatch) -> None:
    said = lies(Guarantees((promised(auction),)))
    assert "no lie gains more than 0.248".lower() in said.lower()
    assert "is not included, and has no bound" in said
    assert "Condition: the bidder ends satisfied" in said
    assert "does not help a participant to decide" in said


@pytest.mark.slow
def test_a_truthful_bidder_left_with_nothing_gains_more_than_is_promised(auction: PMatch) -> None:
    """Measured twice: by the search of the plan, and here by hand on runs of other noise."""
    values = instance_a(20_000, 6, seed=1)
    found = lone_lies(auction, [values, *(instance_a(20_000, 6, seed=seed) for seed in (2, 3, 4, 5))])
    assert found.gain - 3 * found.gain_error > promised(auction).gain
    assert found.left > 0.2
    assert found.second.gain > 3 * found.second.error
    assert found.second.alone > found.second.gain
    boards = [auction.run(values, Noise.simulated(seed)) for seed in range(100, 106)]
    nothing = np.all([run.shares["good"].to_numpy() < 0 for run in boards[:3]], axis=0)
    gains = []
    for person in np.flatnonzero(nothing)[:60].tolist():
        def worth(report: Any, run: Any, person: int = person) -> float:
            share = auction.decode(report, person, run.billboard)
            return float(values[person, share["good"]] - share["price"]) if share["good"] >= 0 else 0.0

        lone = [np.where(np.arange(6) == good, values[person], 0.0) for good in range(6)]
        best = max(lone, key=lambda report: sum(worth(report, run) for run in boards[:3]))
        gains.append(np.mean([worth(best, run) - worth(values[person], run) for run in boards[3:]]))
    assert np.mean(gains) == pytest.approx(found.gain, abs=0.12)


def test_a_mechanism_whose_lots_are_fair_shows_no_such_gain() -> None:
    market = SinkhornMatch.for_budget(people=2_000, goods=4, supply=400, epsilon=1.0, charge=True)
    found = lone_lies(market, [instance_a(2_000, 4, seed=seed) for seed in (1, 2, 3)])
    assert abs(found.gain) <= 3 * found.gain_error + 1e-3
    assert found.second.gain < 0  # whoever needs one good pays for two
    assert found.second.alone > 0  # and whoever can use both gains


@pytest.mark.slow
def test_the_standard_error_is_between_drawn_sets_of_bidders(auction: PMatch) -> None:
    """Other crowds give what is said, within its error; runs of one crowd alone differ by far less than crowds do."""
    found, again = (lone_lies(auction, [instance_a(20_000, 6, seed=seed) for seed in range(first, first + 5)])
                    for first in (1, 31))
    assert abs(found.gain - again.gain) < 4 * np.hypot(found.gain_error, again.gain_error)
    assert abs(found.second.gain - again.second.gain) < 4 * np.hypot(found.second.error, again.second.error)
    assert (found.crowds, found.runs) == (5, 10)
    single = [lone_lies(auction, [instance_a(20_000, 6, seed=seed)]) for seed in range(1, 4)]
    assert all(each.gain_error == np.inf for each in single)  # one crowd tells nothing of others
    assert over_crowds([1.0, 2.0, 4.0]) == (pytest.approx(7 / 3), pytest.approx(np.sqrt(7 / 9)))


@pytest.mark.slow
def test_a_second_id_is_what_a_run_with_it_gives() -> None:
    """Decoded from the same billboard, as is told; beside runs in which the second id really is there."""
    market = SinkhornMatch.for_budget(people=600, goods=4, supply=(110, 120, 120, 120), epsilon=4.0)
    crowds = [instance_a(600, 4, seed=seed) for seed in range(1, 6)]
    found = lone_lies(market, crowds).second
    assert found.gain > 2 * found.error
    gains = []
    for seed, values in enumerate(crowds):
        for person in range(0, 600, 60):
            twice = values.copy()
            twice[(person + 300) % 600] = values[person]
            goods = market.run(twice, Noise.simulated(seed)).shares["good"].to_numpy()[[person, (person + 300) % 600]]
            worth = [float(values[person, good]) if good >= 0 else 0.0 for good in goods]
            gains.append(max(worth) - worth[0])
    assert np.mean(gains) == pytest.approx(found.gain, abs=4 * np.hypot(np.std(gains) / 7, found.error))


def test_what_groups_gain_follows_from_what_the_prices_lose(auction: PMatch) -> None:
    alone = promised(auction).gain
    loss = prices_loss(auction)
    assert isinstance(loss, PureDP)

    class Plan:
        market, guarantees = auction, auction.guarantees()

    for size in (1, 2, 5, 10):
        by_hand = alone + np.tanh(size * loss.epsilon / 2) - np.tanh(loss.epsilon / 2)
        assert group_gain(Plan, size) == pytest.approx(by_hand, rel=1e-9)  # type: ignore[arg-type]
    assert mean_shift(PureDP(0.2)) == pytest.approx(np.tanh(0.1))


def test_zero_drawn_sets_of_bidders_are_refused() -> None:
    market = SinkhornMatch.for_budget(people=200, goods=2, supply=50, epsilon=5.0)
    with pytest.raises(InvalidInput, match="crowds"):
        lone_lies(market, [])


def test_the_plan_of_a_sale_says_it() -> None:
    plan = campaign_of("matching", *CHARGED).plan
    said, offer = words(plan.sections()), words(plan.offer())
    assert "Second identities and agreements" in said
    assert "measured on 5 simulated populations of 600 people each" in said
    assert "one standard error, between populations" in said
    assert "each gains at most" in said
    assert "people who misreport together" in said
    assert "Condition:" in offer
    assert "Nobody can know this before the run" in offer


@pytest.mark.parametrize("name", ["matching", "bundles"])
def test_a_plan_that_gives_says_it_too(name: str) -> None:
    """Nothing is charged: a second id is a second chance."""
    plan = campaign_of(name).plan
    assert not plan.charges
    found = plan.second
    assert found.gain > 2 * found.error
    assert found.alone > found.gain
    assert 0 < found.both <= 1
    said = words(plan.sections())
    assert f"gains {found.gain:.3f} +- {found.error:.3f} more than with one id, on average" in said
    assert "no promise about the gain from a lie" in said
    assert "can take all of its copies" in said
    assert plan.to_dict()["second_ids"]["crowds"] == 5


CHARGED = (("# charge = false", "charge = true   "),)
