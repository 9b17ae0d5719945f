"""Recommended settings: from public sizes alone, near the best of the ladder."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from cases import fast
from confide.allocation import PMatch, SinkhornMatch, Valuations, instance_a, instance_b
from confide.allocation.predicted import upper_bound
from confide.allocation.settings import CHARGED, LADDER, arities, typical, usual_error
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise import Noise
from confide.privacy.tree_blocks import levels
from confide.privacy.tree_counter import TreeCounter

RUNGS = (*LADDER, (0.1, 8, 30, 0.3, 0.0), (0.2, 5, 20, 0.3, 0.0), (0.3, 3, 10, 0.3, 0.0), (1.0, 1, 1, 0.45, 0.0),
         (0.1, 3, 10, 0.5, 0.0), (0.3, 1, 1, 0.65, 0.0))


def of_the_rung(one) -> tuple:
    return one.increment, one.bid_cap, one.rounds, one.reclear


def error_over_supply(one) -> float:
    return usual_error(one.counter, one.failure_probability) / typical(one.copies)


def welfare(kind, values, supply, epsilon, runs=(1, 2), **options) -> float:
    one = kind.for_budget(people=values.people, goods=values.goods, supply=supply, epsilon=epsilon, **options)
    return float(np.mean([one.run(values, Noise.simulated(run)).diagnostics["welfare"] for run in runs]))


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 100, 500, 4097])
def test_arities_are_the_least_of_each_height(horizon):
    found = arities(horizon)
    heights = [levels(horizon, arity) for arity in found]
    assert heights == sorted(set(heights), reverse=True)
    assert heights[-1] == 1
    assert all(arity == 2 or levels(horizon, arity - 1) > height
               for arity, height in zip(found, heights, strict=True))


@pytest.mark.parametrize(("supply", "found"), [(7, 7), ((7,), 7), ((1, 50, 100, 100), 100), ((1, 1, 1), 1),
                                               ((10, 1, 1, 1, 1, 1, 1, 1, 1, 1), 10), ((3, 2, 2), 2)])
def test_the_usual_supply(supply, found):
    assert typical(supply) == found


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_the_usual_error_is_the_exact_one_nearly(law):
    counter = TreeCounter(horizon=300, counters=20, arity=8, scale=90.0, law=law)
    assert usual_error(counter, 0.01) == pytest.approx(counter.error_bound(0.01, "exact"), rel=0.01)
    assert counter.error_bound(0.01) > 1.03 * usual_error(counter, 0.01)


@pytest.mark.parametrize(("goods", "signal"), fast(1, [(20, 4000), (8, 400), (20, 800), (50, 1600), (100, 4000),
                                                       (8, 40_000), (20, 40_000)]))
def test_the_rung_is_the_finest_whose_error_is_small_enough(goods, signal):
    sizes = {"people": 1000 * goods, "goods": goods, "supply": 800, "epsilon": signal / 800}
    one = PMatch.for_budget(**sizes)
    rung = next(r for r in LADDER if r[0] == one.increment)
    assert (one.bid_cap, one.rounds, one.reclear) == rung[1:4]
    assert one.batch == 400
    assert usual_error(one.counter, one.failure_probability) / 800 <= rung[4]
    for finer in LADDER[:LADDER.index(rung)]:
        options = dict(zip(("increment", "bid_cap", "rounds", "reclear"), finer[:4], strict=True))
        assert error_over_supply(PMatch.for_budget(**sizes, **options)) > finer[4]
    # the arity is the best one: no other tree has a smaller bound
    for arity in arities(one.counter.horizon):
        if arity <= 512:
            other = PMatch(**{**{f: getattr(one, f) for f in ("people", "goods", "supply", "epsilon", "increment",
                                                              "bid_cap", "rounds", "batch", "reclear")},
                              "arity": arity})
            assert other.error >= one.error


def test_one_bid_is_not_taken_too_early():
    # of the supply, times epsilon: from 40,000 to 400
    for epsilon, rung in ((10.0, 0), (4.0, 1), (1.0, 2), (0.4, 2), (0.1, 4)):
        assert of_the_rung(PMatch.for_budget(people=100_000, goods=20, supply=4_000,
                                             epsilon=epsilon)) == LADDER[rung][:4]
    assert of_the_rung(PMatch.for_budget(people=8_000, goods=8, supply=800, epsilon=1.0)) == LADDER[3][:4]
    assert [rung[1] for rung in LADDER] == [14, 6, 3, 2, 1]


def test_more_epsilon_never_makes_the_prices_coarser():
    found = [PMatch.for_budget(people=20_000, goods=20, supply=800,
                               epsilon=epsilon).increment for epsilon in (0.1, 1.0, 2.0, 5.0, 20.0, 80.0)]
    assert all(after <= before for before, after in pairwise(found))
    assert found[0] == LADDER[-1][0] == 0.4
    assert found[-1] == 0.05


@pytest.mark.parametrize("options", fast(5, [
    {"charge": True}, {"neighbours": "add_or_remove"}, {"law": "gaussian", "delta": 1e-6}, {"halting": "published"},
    {"halting": "bids"}, {"halting": "unsatisfied"}, {"halting": "sparse_vector"}, {"certify_with": 0.0},
    {"on_overflow": "truncate", "delta": 1e-3, "failure_probability": 1e-5}, {"increment": 0.4},
    {"bid_cap": 2, "rounds": 7},
    {"batch": 13}, {"arity": 5}, {"reclear": 0.5}, {"failure_probability": 1e-6}]))
def test_options_win_and_every_one_works(options):
    one = PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=4.0, **options)
    assert all(getattr(one, name) == value for name, value in options.items())
    outcome = one.run(instance_a(4000, 5, seed=1), Noise.simulated(1))
    one.check(outcome.billboard)
    assert outcome.diagnostics["welfare"] > 0.2 * 4000


@pytest.mark.slow
def test_a_reserve_in_place_of_the_clearing():
    one = PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=10.0, reclear=0.0)
    assert one.clearing is None
    assert 0 < one.effective_reserve < 600
    with pytest.raises(Refused, match="reserve"):
        PMatch.for_budget(people=40, goods=5, supply=6, epsilon=0.1, reclear=0.0)
    assert PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=10.0, reclear=0.0,
                             reserve=9).effective_reserve == 9
    with pytest.raises(Refused, match="delta"):
        PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=1.0, law="gaussian")


@pytest.mark.parametrize(("people", "goods", "supply"), [(1, 1, 1), (1, 7, 1), (9, 1, 2), (50, 3, 60),
                                                         (40, 3, (1, 30, 2)), (30, 2, (1, 1))])
@pytest.mark.parametrize("kind", [PMatch, SinkhornMatch])
def test_the_smallest_and_the_uneven_markets(kind, people, goods, supply):
    one = kind.for_budget(people=people, goods=goods, supply=supply, epsilon=1.0)
    outcome = one.run(np.full((people, goods), 0.5), Noise.simulated(1))
    one.check(outcome.billboard)
    assert len(outcome.shares) == people


def test_the_temperature_falls_as_far_as_the_noise_allows():
    found = [SinkhornMatch.for_budget(people=20_000, goods=20, supply=800,
                                      epsilon=epsilon).end_temperature for epsilon in (1e-4, 0.5, 1.0, 5.0, 1e4)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 0.02
    assert found[-1] == 0.002
    assert SinkhornMatch.for_budget(people=20_000, goods=20, supply=800, epsilon=1.0,
                                    end_temperature=0.4).start_temperature == 0.4
    assert SinkhornMatch.for_budget(people=20_000, goods=20, supply=800, epsilon=1.0, clear=0.3, rounds=3).clear == 0.3


def test_prices_that_are_charged_are_fine():
    for epsilon, rung in ((80.0, 0), (8.0, 1), (2.4, 2), (1.2, 3), (0.4, 4)):
        assert of_the_rung(PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=epsilon,
                                             charge=True)) == CHARGED[rung][:4]
        assert CHARGED[rung][0] < LADDER[rung][0]
    table = instance_b(4000, 5, seed=1)
    found = {increment: PMatch.for_budget(people=4000, goods=5, supply=600, epsilon=20.0, charge=True,
                                          increment=increment).run(
        table, Noise.simulated(1)).diagnostics["welfare"] for increment in (0.02, 0.3)}
    assert found[0.02] > 1.3 * found[0.3]


def test_bad_sizes():
    for kind in (PMatch, SinkhornMatch):
        for sizes in ((0, 3, 5, 1.0), (10, 0, 5, 1.0), (10, 3, 0, 1.0), (10, 3, (), 1.0), (10, 3, (1, 2), 1.0),
                      (10, 3, 5, 0.0), (10, 3, 5, math.inf), (10, 3, 2.5, 1.0)):
            with pytest.raises(InvalidInput):
                kind.for_budget(**dict(zip(("people", "goods", "supply", "epsilon"), sizes, strict=True)))


@pytest.mark.parametrize(("goods", "supply", "signal"), fast(0, [
    (8, 800, 800), (8, 800, 400), (8, 800, 4000), (8, 800, 12_000), (20, 400, 400), (20, 400, 1600), (20, 400, 3200),
    (20, 400, 8000), (20, 800, 40_000), (50, 160, 800), (50, 160, 3840), (50, 640, 38_400), (100, 100, 1600)]))
def test_the_rule_is_within_a_few_percent_of_the_best_rung(goods, supply, signal):
    people, epsilon = goods * supply * 5 // 4, signal / supply
    best: dict[tuple, list[float]] = {}
    rule, smooth = [], []
    for make in (instance_a, instance_b):
        values = Valuations.of(make(people, goods, seed=1), people=people, goods=goods)
        most = upper_bound(values, (supply,) * goods)
        rule.append(welfare(PMatch, values, supply, epsilon) / most)
        smooth.append(welfare(SinkhornMatch, values, supply, epsilon, spread=0.0) / most)  # fine values: no ties
        for rung in RUNGS:
            options = dict(zip(("increment", "bid_cap", "rounds", "reclear"), rung[:4], strict=True))
            best.setdefault(rung, []).append(welfare(PMatch, values, supply, epsilon, **options) / most)
    assert np.mean(rule) >= max(np.mean(found) for found in best.values()) - 0.03
    assert np.mean(smooth) > np.mean(rule)


@pytest.mark.parametrize(("goods", "supply", "signal", "least"), fast(0, [
    (8, 800, 400, 0.62), (8, 800, 1600, 0.81), (20, 800, 800, 0.71), (20, 800, 8000, 0.9), (8, 800, 40_000, 0.93)]))
def test_the_rule_is_near_the_best_rung_where_prices_are_charged(goods, supply, signal, least):
    people, epsilon = goods * supply * 5 // 4, signal / supply
    best: dict[tuple, list[float]] = {}
    rule = []
    for make in (instance_a, instance_b):
        values = Valuations.of(make(people, goods, seed=1), people=people, goods=goods)
        most = upper_bound(values, (supply,) * goods)
        rule.append(welfare(PMatch, values, supply, epsilon, charge=True) / most)
        for rung in CHARGED:
            options = dict(zip(("increment", "bid_cap", "rounds", "reclear"), rung[:4], strict=True))
            best.setdefault(rung, []).append(welfare(PMatch, values, supply, epsilon, charge=True, **options) / most)
    assert np.mean(rule) >= max(least, max(np.mean(found) for found in best.values()) - 0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "people", "goods", "supply", "optimum", "least"), [
    (instance_a, 100_000, 20, 4000, 0.626042, 0.87), (instance_b, 100_000, 20, 4000, 0.403920, 0.86),
    (instance_a, 1_000_000, 50, 16_000, None, 0.94)])
def test_welfare_at_epsilon_one(make, people, goods, supply, optimum, least):
    values = Valuations.of(make(people, goods, seed=1), people=people, goods=goods)
    most = optimum * people if optimum else upper_bound(values, (supply,) * goods)
    assert welfare(PMatch, values, supply, 1.0, runs=(1, 2, 3)) >= least * most
    assert welfare(SinkhornMatch, values, supply, 1.0, runs=(1,)) >= 0.98 * most
