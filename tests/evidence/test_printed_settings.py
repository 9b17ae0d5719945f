"""The source's numbers: rounds, errors, thresholds, and what its noise costs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.optimize import brentq

from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.evidence.wu_2017.private_matchings import (
    BidsSetting,
    Bookkeeping,
    BundleSetting,
    MatchingSetting,
    bids_threshold,
    bundle_threshold,
    least_to_run,
    matching_threshold,
    smallest_epsilon,
    smallest_people,
)
from confide.evidence.wu_2017.private_matchings.settings import as_meant

TABLE = {(0.1, 1.0): 1844357673149, (0.5, 1.0): 7557921927, (0.5, 10.0): 598222168, (0.9, 10.0): 73109866}


def setting(**changes) -> MatchingSetting:
    public = {"people": 10**6, "goods": 100, "epsilon": 1.0, "failure_probability": 0.05, "increment": 1 / 30,
              "tolerance": 1 / 30}
    return MatchingSetting(**{**public, **changes})


# spec allocation, acceptance 2
def test_the_settings_of_the_specification():
    it = setting()
    assert it.rounds == 7200
    assert it.counter_epsilon == 1 / 14400
    by_hand = 2 * math.sqrt(2) * 14400 * (math.log(7.2e9) / math.log(2)) ** 2.5 * (math.log(400) - math.log(0.05))
    assert it.error == pytest.approx(by_hand, rel=1e-9)
    assert it.error == pytest.approx(2.24598e9, rel=1e-6)
    assert it.reserve == 2 * it.error + 1
    assert it.effective_supply(10**6) == math.floor(10**6 - it.reserve) < 0
    assert it.halt_below == pytest.approx(1e6 / 30 - 2 * it.error, rel=1e-12)


@pytest.mark.parametrize("value", [Fraction(1, 30), 1 / 30, 0.1 / 3], ids=str)
def test_rounds_are_rounded_up_from_what_was_meant(value):
    assert as_meant(value) == Fraction(1, 30)
    assert setting(increment=value, tolerance=value).rounds == 7200
    assert setting(increment=0.3, tolerance=0.1).rounds == math.ceil(Fraction(8 * 100, 3))
    assert as_meant(math.pi / 10) == Fraction("0.3141592653589793")


def test_privacy_of_the_printed_noise():
    it = setting()
    h = (10**6 * 7200).bit_length()
    assert (it.levels, it.l1_sensitivity) == (h, 14401)
    scale = math.log2(7.2e9) * 14400
    assert it.printed_scale == pytest.approx(scale, rel=1e-12)
    assert it.strict_scale == 14401 * h
    assert it.proved_epsilon == pytest.approx(14401 * h / scale, rel=1e-12)
    # at the strict scale the same releases cost epsilon
    assert it.l1_sensitivity * it.levels / it.strict_scale == pytest.approx(1.0, rel=1e-12)


@limits(max_examples=60)
@given(st.integers(1, 10**9), st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0.01, 100))
def test_the_print_always_costs_more_than_it_says(people, increment, tolerance, epsilon):
    common = {"people": people, "goods": 3, "epsilon": epsilon, "failure_probability": 0.05, "increment": increment,
              "tolerance": tolerance}
    matching = MatchingSetting(**common)
    assert matching.proved_epsilon > epsilon
    slots, ends = BundleSetting(**common), BundleSetting(**common, tests="round_end")
    assert slots.proved_epsilon > ends.proved_epsilon > epsilon
    assert (slots.l1_sensitivity, ends.l1_sensitivity) == (3 * slots.rounds, 2 * slots.rounds + 1)
    assert slots.rounds >= matching.rounds


def test_bundles():
    it = BundleSetting(people=1000, goods=6, epsilon=2.0, failure_probability=0.05, increment=0.25, tolerance=0.5)
    assert it.rounds == 80
    assert it.error == pytest.approx(2 * math.sqrt(2) * 80 * math.log2(80_000) ** 2.5 * math.log(24 / 0.05) + 1,
                                     rel=1e-12)
    assert it.halt_below(50) == pytest.approx(150 - 2 * it.error)
    assert it.strict_scale == 240 * (80_000).bit_length() / 2.0


def test_bids():
    common = {"people": 300, "goods": 6, "epsilon": 2.0, "failure_probability": 0.05, "increment": 0.125, "least": 0.5}
    it = BidsSetting(**common, optimum=200.0)
    assert (it.rounds, it.l1_sensitivity) == (1536, 3072)
    horizon = 24 * 300 / 0.125**2
    error = 96 * math.sqrt(2) / (0.125**2 * 2.0) * math.log2(horizon) ** 2.5 * math.log(4 * 6 / 0.05)
    assert it.error == pytest.approx(error, rel=1e-12)
    assert it.halt_below == pytest.approx(0.125 * 200 / (2 * 0.5) - 2 * error, rel=1e-12)
    supply, optimum = bids_threshold(it)
    assert supply == pytest.approx(max(12 * error * 8 + 6 * error + 1, (4 * error + 1) * 9), rel=1e-12)
    assert optimum == pytest.approx(16 * 0.5 * error * 8, rel=1e-12)
    # an OPT that is known up to a factor takes as many times more rounds
    assert BidsSetting(**common, optimum=200.0, optimum_at_most=300.0).rounds == 2304


# spec allocation, acceptance 2: Theorem 4.3.5 is about alpha/3 and rho = alpha/3
@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_the_theorems_error_is_that_of_the_settings_at_a_third(alpha):
    third = as_meant(alpha) / 3
    run = setting(increment=third, tolerance=third)
    found = matching_threshold(10**6, 100, alpha, 1.0, 0.05)
    assert run.rounds == 72 / as_meant(alpha) ** 2
    assert found.error == pytest.approx(run.error, rel=1e-9)
    assert found.supply == pytest.approx((16 * run.error + 4) / alpha, rel=1e-9)
    assert found.people == pytest.approx(24 * run.error / alpha, rel=1e-9)
    bundles = BundleSetting(people=10**6, goods=100, epsilon=1.0, failure_probability=0.05, increment=third,
                            tolerance=third)
    theirs = bundle_threshold(10**6, 100, alpha, 1.0, 0.05)
    assert theirs.error == pytest.approx(bundles.error, rel=1e-9)
    assert theirs.supply == pytest.approx((12 * bundles.error + 3) / alpha, rel=1e-9)


def test_the_proof_of_the_theorem_has_room_for_prices_above_one():
    # alpha/3 |S| + p n/(4/alpha - 1) + n - |S| <= alpha n for |S| >= (1 - alpha/3) n, at the highest price p there is
    for alpha in [k / 1000 for k in range(1, 1001)]:
        price = alpha / 3 * math.ceil(Fraction(3000, round(1000 * alpha)))
        for share in (1.0, 1 - alpha / 3):
            assert alpha / 3 * share + price / (4 / alpha - 1) + 1 - share <= alpha * (1 + 1e-12)


@pytest.mark.parametrize(("alpha", "epsilon"), TABLE)
def test_the_fewest_bidders_at_which_the_theorem_says_anything(alpha, epsilon):
    people = smallest_people(100, alpha, epsilon, 0.05)
    assert people == pytest.approx(TABLE[alpha, epsilon], rel=1e-6)

    def room(n: float) -> float:
        error = 288 * math.sqrt(2) / (alpha**2 * epsilon) * math.log2(72 * n / alpha**2) ** 2.5 * math.log(8000)
        return n - 24 * error / alpha

    assert people == math.ceil(brentq(room, 1e5, 1e16, xtol=1e-6, rtol=1e-15))
    found = matching_threshold(people, 100, alpha, epsilon, 0.05)
    assert found.people <= people
    assert matching_threshold(people - 1, 100, alpha, epsilon, 0.05).people > people - 1
    supply = math.ceil(found.supply)
    assert supply < people
    assert smallest_epsilon(people, 100, supply, alpha, 0.05) == pytest.approx(epsilon, rel=1e-6)


def test_no_realistic_size_has_a_theorem():
    assert matching_threshold(10**6, 50, 0.5, 1.0, 0.05).supply == pytest.approx(1.81012e9, rel=1e-5)
    least = smallest_epsilon(10**6, 50, 16_000, 0.5, 0.05)
    assert least > 1e4
    found = matching_threshold(10**6, 50, 0.5, least, 0.05)
    assert found.supply == pytest.approx(16_000, rel=1e-9)
    assert found.people <= 10**6
    assert smallest_epsilon(10**6, 50, 8, 0.5, 0.05) == math.inf
    assert smallest_epsilon(1000, 5, 1000, 0.5, 0.05) == math.inf


def test_where_the_print_can_run():
    it = setting(people=2000, goods=4, increment=0.1, tolerance=0.1)
    least = least_to_run(it, 400)
    there = setting(people=least.people, goods=4, increment=0.1, tolerance=0.1)
    assert there.halt_below > 0
    assert there.effective_supply(least.supply) >= 1 > there.effective_supply(least.supply - 1)
    assert setting(people=least.people - 1, goods=4, increment=0.1, tolerance=0.1).halt_below <= 0
    loose = setting(people=2000, goods=4, increment=0.1, tolerance=0.1, epsilon=least.epsilon)
    assert loose.halt_below > 0
    assert loose.effective_supply(400) >= 1
    tight = setting(people=2000, goods=4, increment=0.1, tolerance=0.1, epsilon=least.epsilon * (1 - 1e-6))
    assert tight.halt_below <= 0 or tight.effective_supply(400) < 1
    assert least_to_run(it, 2).epsilon == math.inf
    ways = least_to_run(it, 2).ways(lambda **each: None)
    assert [set(each.settings) for each in ways] == [{"people", "supply"}]


def test_bookkeeping():
    book = Bookkeeping(people=10**5, error=100.0, increment=0.1, tolerance=0.05)
    assert (book.supply_needed, book.people_needed) == (801.0, 16_000.0)
    assert (book.printed_bids, book.printed_rounds) == (3e6, 1600)
    assert book.bids == 2_100_000
    assert book.rounds == (2_100_000 + 100_000) // (5000 - 400) + 1 <= book.printed_rounds
    # above a third, and with no whole number of increments to 1, there are more bids than the lemma counts
    coarse = Bookkeeping(people=10**5, error=625.0, increment=0.9, tolerance=0.05)
    assert coarse.bids == 500_000 > coarse.printed_bids
    assert coarse.rounds > coarse.printed_rounds
    assert all(Bookkeeping(people=100, error=0.0, increment=k / 300, tolerance=0.5).bids <= 3 * 100 / (k / 300) + 1e-9
               for k in range(1, 101))
    with pytest.raises(NotGuaranteed, match="16,000"):
        _ = Bookkeeping(people=15_999, error=100.0, increment=0.1, tolerance=0.05).rounds


@pytest.mark.parametrize(("field", "value"), [
    ("people", 0), ("goods", 0), ("epsilon", 0.0), ("failure_probability", 1.0), ("increment", 0.0), ("increment", 1.5),
    ("tolerance", 0.0), ("tolerance", 1.1)])
def test_bad_settings(field, value):
    with pytest.raises(InvalidInput, match=field):
        setting(**{field: value})


def test_bad_arguments():
    public = {"people": 300, "goods": 6, "epsilon": 1.0, "failure_probability": 0.05, "increment": 0.1}
    for field, changes in {"least": {"least": 0.0}, "optimum": {"optimum": 0.0},
                           "optimum_at_most": {"optimum_at_most": 9.0}}.items():
        with pytest.raises(InvalidInput, match=field):
            BidsSetting(**public, **{"least": 0.5, "optimum": 10.0, **changes})
    with pytest.raises(InvalidInput, match="tests"):
        BundleSetting(**public, tolerance=0.5, tests="never")
    with pytest.raises(InvalidInput, match="supply"):
        setting().effective_supply(0)
    with pytest.raises(InvalidInput, match="increment"):
        matching_threshold(10, 2, 2.0, 1.0, 0.05)
    with pytest.raises(InvalidInput, match="failure_probability"):
        bundle_threshold(10, 2, 0.5, 1.0, 0.0)
    with pytest.raises(Refused, match="no number of bidders"):
        smallest_people(2, 0.1, 1e-300, 0.05)
