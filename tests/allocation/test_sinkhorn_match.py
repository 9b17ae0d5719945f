"""`SinkhornMatch`: soft demand, prices, clearing, decode, checks."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import confide.allocation.soft_demand as soft
from cases import fast
from confide.allocation import PMatch, SinkhornMatch, Valuations, decode, instance_a, instance_b, release_prices
from confide.allocation.favourites import PublicBiases, best_goods
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.soft_demand import WHOLE, falling, logarithm, moved_prices, soft_demand, weights
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy
from confide.privacy.accounting import Accountant, written
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.public_randomness import PUBLIC_RANGE
from confide.privacy.required_charge import check_covered


def market(**changes):
    common = {"people": 600, "goods": 5, "supply": 90, "epsilon": 20.0, "rounds": 6, "end_temperature": 0.02}
    return SinkhornMatch(**{**common, **changes})


def of(table) -> Valuations:
    table = np.asarray(table)
    return Valuations.of(table, people=len(table), goods=table.shape[1])


# ---- soft demand


def plain_demand(row, prices, temperature) -> np.ndarray:
    """One row's shares, from the definition."""
    gains = np.where(row > 0, row - prices, -np.inf)
    if not (row > 0).any():
        return np.zeros(len(row))
    weight = np.exp((gains - gains.max()) / temperature)
    return weight / weight.sum() / (1 + np.exp(-gains.max() / temperature))


@pytest.mark.parametrize("temperature", [2.0, 0.1, 0.004])
def test_soft_demand_is_what_it_says(temperature):
    draw = study_generator(1, "rows")
    table = draw.random((300, 7)) * (draw.random((300, 7)) < 0.7)
    prices = draw.random(7)
    wanted = sum(plain_demand(row, prices, temperature) for row in table)
    got = soft_demand(of(table), prices, temperature) / WHOLE
    assert np.abs(got - wanted).max() <= 300 * (2.0 / WHOLE + 1e-4)


values_ = st.one_of(st.just(0.0), st.floats(0.0, 1.0))


@given(arrays(np.float64, (2, 4), elements=values_), arrays(np.float64, 4, elements=st.floats(0.0, 1.0)),
       st.floats(1e-6, 1000.0))
def test_a_row_moves_soft_demand_by_one_bidder_at_most(rows, prices, temperature):
    one, two = (soft_demand(of(row[None, :]), prices, temperature) for row in rows)
    for units, row in ((one, rows[0]), (two, rows[1])):
        assert (units >= 0).all()
        assert units.sum() <= WHOLE
        assert not units[row == 0.0].any()
    assert np.abs(one - two).sum() <= 2 * WHOLE
    assert (soft_demand(of(rows), prices, temperature) == one + two).all()


def test_units_are_given_out_until_they_are_gone(monkeypatch):
    # Exponentials that add up to too much, as no rounding would: a row's units still do not.
    def generous(gains, count, best, rate, weights):
        weights[:count] = 1.0

    def short(numbers, count):
        return 0.5 if (numbers[:count] < 2).all() else float(numbers[:count].sum())

    monkeypatch.setattr(soft, "_exponentials", generous)
    monkeypatch.setattr(soft, "_total", short)
    out = np.zeros(4)
    soft._soft.py_func(0, 1, np.full(4, 0.5), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), True,
                       np.zeros(4), 0.1, float(WHOLE), 0, np.uint64(0), 0.0, out)
    assert out.sum() == WHOLE
    assert (out >= 0).all()


def test_biases_break_ties_among_coarse_values():
    """Yes or no for 20 goods: without biases all who like several ask for the same one, and most goods are left."""
    table = (study_generator(5, "likes").random((20_000, 20)) < 0.4).astype(np.float32)
    best = exact_optimum(table, 800).welfare
    shares = []
    for spread in (0.0, 0.05):
        one = SinkhornMatch.for_budget(people=20_000, goods=20, supply=800, epsilon=1.0, spread=spread)
        outcome = one.run(table, Noise.simulated(1))
        one.check(outcome.billboard)
        held = outcome.shares["good"].to_numpy()
        assert all(one.decode(table[i], i, outcome.billboard)["good"] == held[i] for i in range(0, 20_000, 199))
        assert outcome.diagnostics["over_allocated"] == 0.0
        shares.append(outcome.diagnostics["welfare"] / best)
    assert shares[0] < 0.6
    assert shares[1] > 0.85


@pytest.mark.parametrize("spread", [-0.1, 1.5, np.nan])
def test_spreads_out_of_range_are_refused(spread):
    with pytest.raises(InvalidInput, match="spread"):
        market(spread=spread)


def test_a_row_of_zeros_asks_for_nothing_at_any_price():
    biases = PublicBiases.of("5a" * 32, 0.5)
    assert not soft_demand(of(np.zeros((3, 4))), np.zeros(4), 5.0, biases).any()
    assert best_goods(of(np.zeros((3, 4))), np.zeros(4), biases).tolist() == [-1] * 3


def test_sparse_and_dense_tables_ask_for_the_same():
    draw = study_generator(2, "rows")
    table = (draw.random((200, 30)) * (draw.random((200, 30)) < 0.2)).astype(np.float32)
    sparse = Valuations.of(scipy.sparse.csr_array(table), people=200, goods=30)
    prices = draw.random(30) * 0.5
    assert np.abs(soft_demand(of(table), prices, 0.1) - soft_demand(sparse, prices, 0.1)).max() <= 200


def test_threads_change_nothing(monkeypatch):
    draw = study_generator(3, "rows")
    values, prices = of(draw.random((5000, 6))), draw.random(6)
    alone = soft_demand(values, prices, 0.05)
    monkeypatch.setattr(soft, "_ALONE", 1)
    monkeypatch.setattr(soft, "threads", lambda: 3)
    assert (soft_demand(values, prices, 0.05) == alone).all()


# ---- public arithmetic


@given(arrays(np.float64, 5, elements=st.floats(1e-9, 1e9)))
def test_the_logarithm_of_sums_and_products(numbers):
    assert np.allclose(logarithm(numbers), np.log(numbers), rtol=1e-14, atol=1e-15)


def test_prices_move_as_the_formula_says():
    path = np.array([0, 1 << 18, 1 << 19], dtype=np.int64)
    demand = np.array([50, 120, 10]) * WHOLE
    found = moved_prices(path, demand, (100, 100, 100), 400, 0.1)
    # the first has no price and is not sold out: sold are 50, 100 and 100, and 150 are to go without; 220 do
    common = math.log(150 / 220)
    expected = [0.0, 0.25 + 0.1 * (math.log(1.2) + common), 0.5 + 0.1 * (math.log(0.2) + common)]
    assert np.abs(found / 2**20 - expected).max() < 1e-6
    everybody = moved_prices(path, demand, (100, 100, 300), 400, 0.1)  # enough for all
    assert abs(everybody[1] / 2**20 - (0.25 + 0.1 * math.log(1.2))) < 1e-6
    assert (moved_prices(path, np.full(3, -(2**60)), (100,) * 3, 400, 5.0) == 0).all()
    assert (moved_prices(path, np.full(3, 2**40), (100,) * 3, 400, 50.0) == 1 << 20).all()


def test_temperatures_and_budgets():
    assert falling(0.2, 0.2, 4) == (0.2,) * 4
    assert falling(0.3, 0.1, 1) == (0.3,)
    assert falling(0.4, 0.1, 3) == (0.4, 0.2, 0.1)
    assert sum(weights(1.3, 16)) == 1
    assert weights(1.2, 2)[1] / weights(1.2, 2)[0] == Fraction(6, 5)
    one = market(growth=1.7)
    assert sum(one.budgets) + one.part(one.clear) + one.part(one.certify_with) <= written(one.epsilon)


@pytest.mark.parametrize("changes", [{}, {"epsilon": 0.37}, {"epsilon": 1 / 3, "clear": 0.41, "certify_with": 0.0},
                                     {"neighbours": "add_or_remove"}])
def test_a_run_costs_what_is_promised(changes):
    one = market(**changes)
    spent = Accountant(one.events()).epsilon()
    assert 0.999 * one.epsilon < spent <= one.epsilon
    assert one.loss == PureDP(one.epsilon) == one.guarantees().privacy[0].loss


# ---- exact loss: one bidder replaced, along one history


@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
def test_the_loss_along_a_history_is_within_epsilon(neighbours):
    one = market(people=40, goods=4, supply=6, epsilon=2.0, neighbours=neighbours, certify_with=0.0)
    draw = study_generator(4, "rows")
    for run in range(12):
        table = draw.random((40, 4))
        other = table.copy()
        other[3] = 0.0 if neighbours == "add_or_remove" else draw.random(4) ** 3
        board = one.run(table, Noise.simulated(run)).billboard
        moved = 0.0
        for r, budget in enumerate(one.budgets):
            prices = board.paths[r] / 2**20
            apart = np.abs(soft_demand(of(table), prices, one.temperatures[r])
                           - soft_demand(of(other), prices, one.temperatures[r])).sum()
            assert apart <= one.l1_sensitivity * WHOLE
            moved += float(apart / one.scale(budget / WHOLE))
        asked = [np.bincount([g for g in asks(rows, board.prices) if g >= 0], minlength=4) for rows in (table, other)]
        moved += np.abs(asked[0] - asked[1]).sum() / one.scale(one.part(one.clear))
        assert moved <= one.epsilon * (1 + 1e-12)


def asks(table, prices) -> list[int]:
    gains = table - prices
    return [int(np.argmax(gain)) if gain.max() > 0 else -1 for gain in gains]


# ---- runs and decodes


@pytest.mark.parametrize("changes", fast(4, [
    {}, {"on_overflow": "truncate", "delta": 1e-2, "failure_probability": 1e-12, "epsilon": 15.0},
    {"supply": (90, 1, 700, 30, 60)},
    {"supply": 600}, {"supply": (600, 600, 700, 601, 600)}, {"neighbours": "add_or_remove"}, {"certify_with": 0.0},
    {"epsilon": 0.01}, {"rounds": 1}]))
def test_decodes_equal_the_run(changes):
    one = market(**changes)
    table = instance_b(600, 5, seed=2)
    table[::50] = 0.0
    outcome = one.run(table, Noise.simulated(2))
    one.check(outcome.billboard)
    decoded = [one.decode(row, i, outcome.billboard)["good"] for i, row in enumerate(table)]
    assert decoded == outcome.shares["good"].to_pylist()
    assert set(decoded[::50]) == {-1}
    assert (outcome.certificate is None) == (one.certificate_plan is None)


def test_prices_are_charged_to_those_who_hold_a_good_and_never_above_its_worth():
    table = instance_b(600, 5, seed=2)
    free, charged = (market(charge=charge).run(table, Noise.simulated(2)) for charge in (False, True))
    assert (charged.shares["good"].to_numpy() >= 0).mean() > 0.9 * (free.shares["good"].to_numpy() >= 0).mean()
    assert not any(free.shares["price"].to_pylist())
    held, paid = charged.shares["good"].to_numpy(), charged.shares["price"].to_numpy()
    assert (paid[held < 0] == 0).all()
    assert paid.max() > 0
    assert (paid[held >= 0] <= table[np.flatnonzero(held >= 0), held[held >= 0]]).all()
    one = market(charge=True)
    assert [one.decode(row, i, charged.billboard)["price"] for i, row in enumerate(table)] == paid.tolist()


@pytest.mark.parametrize(("people", "goods"), [(1, 1), (1, 3), (7, 1)])
def test_the_smallest_markets_run(people, goods):
    one = SinkhornMatch.for_budget(people=people, goods=goods, supply=1, epsilon=1.0)
    outcome = one.run(np.full((people, goods), 0.5), Noise.simulated(1))
    one.check(outcome.billboard)
    assert [one.decode([0.5] * goods, i, outcome.billboard)["good"] for i in range(people)] == \
        outcome.shares["good"].to_pylist()


def test_sparse_tables_run_and_decode():
    draw = study_generator(6, "rows")
    table = scipy.sparse.csr_array(draw.random((400, 20)) * (draw.random((400, 20)) < 0.3))
    one = SinkhornMatch(people=400, goods=20, supply=15, epsilon=30.0)
    outcome = one.run(table, Noise.simulated(1))
    goods = outcome.shares["good"].to_pylist()
    assert [one.decode(row, i, outcome.billboard)["good"] for i, row in enumerate(table.toarray())] == goods
    assert max(goods) >= 0


def test_plenty_is_given_without_noise_or_cost():
    one = market(supply=600)
    outcome = one.run(instance_a(600, 5, seed=1), Noise.replayed({}))
    assert one.events() == ()
    assert one.guarantees().privacy[0].loss == PureDP(0.0)
    assert outcome.shares["good"].to_pylist() == instance_a(600, 5, seed=1).argmax(axis=1).tolist()
    assert outcome.billboard.demands.shape == (0, 5)


def test_a_run_with_secure_noise_can_be_decoded():
    one = market(rounds=2)
    table = instance_a(600, 5, seed=3)
    outcome = one.run(table, Noise.secure())
    one.check(outcome.billboard)
    assert outcome.release_safe
    assert [one.decode(row, i, outcome.billboard)["good"] for i, row in enumerate(table[:40])] == \
        outcome.shares["good"].to_pylist()[:40]


def test_nothing_is_given_beyond_its_supply():
    one = market(people=2000, supply=250, epsilon=5.0)
    for seed in range(20):  # gamma = .01: three failures of twenty have a probability below 1.1e-3, and seeds are fixed
        assert one.run(instance_a(2000, 5, seed=seed), Noise.simulated(seed)).diagnostics["over_allocated"] == 0.0
    promise = one.guarantees().of(Accuracy)[0]
    assert promise.failure_probability == one.failure_probability


def test_truncation_cuts_the_last_holders():
    one = market(on_overflow="truncate", delta=0.5, failure_probability=1e-3, epsilon=5.0)
    held = np.array([0] * 95 + [1] * 5)
    cut = one.cut_off(held)
    assert cut is not None
    assert cut[0] == 90
    assert cut[1] == one.people
    board = one.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    first = next(i for i, row in enumerate(instance_a(600, 5, seed=1)) if one.decode(row, i, board)["good"] == 4)
    none = replace(board, cutoffs=np.zeros(5, dtype=np.int64))
    assert one.decode(instance_a(600, 5, seed=1)[first], first, none) == {"good": -1, "price": 0.0}


@pytest.mark.parametrize(("make", "goods", "supply", "least"),
                         fast(2, [(instance_a, 10, 1600, 0.94), (instance_b, 10, 1600, 0.95),
                                  (instance_a, 20, 4000, 0.975), (instance_b, 20, 4000, 0.975),
                                  (instance_a, 100, 800, 0.90)]))
def test_welfare_near_the_optimum_at_epsilon_one(make, goods, supply, least):
    from confide.allocation.predicted import upper_bound

    people = goods * supply * 5 // 4
    values = Valuations.of(make(people, goods, seed=1), people=people, goods=goods)
    one = SinkhornMatch.for_budget(people=people, goods=goods, supply=supply, epsilon=1.0)
    most = upper_bound(values, one.copies)
    found = [one.run(values, Noise.simulated(seed)).diagnostics for seed in (1, 2)]
    assert np.mean([one["welfare"] for one in found]) >= least * most
    assert not any(one["over_allocated"] for one in found)


# ---- bad input


@pytest.mark.parametrize(("changes", "field"), [
    ({"rounds": 0}, "rounds"), ({"rounds": 1001}, "rounds"), ({"rounds": 2.5}, "rounds"),
    ({"start_temperature": 0.0}, "start_temperature"), ({"start_temperature": 1001.0}, "start_temperature"),
    ({"end_temperature": 0.3}, "end_temperature"),
    ({"end_temperature": 1e-9}, "end_temperature"), ({"end_temperature": math.nan}, "end_temperature"),
    ({"step": 0.0}, "step"),
    ({"step": 101.0}, "step"), ({"growth": 0.001}, "growth"), ({"growth": 200.0}, "growth"), ({"clear": 0.0}, "clear"),
    ({"clear": 0.99}, "clear"), ({"clear": 1.0}, "clear"), ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": 1e-14}, "epsilon"),
    ({"supply": 0}, "supply"), ({"supply": (1, 2)}, "supply"), ({"failure_probability": 0.0}, "failure_probability"),
    ({"failure_probability": 1.0}, "failure_probability"),
    ({"people": 0}, "people"), ({"goods": 0}, "goods"), ({"neighbours": "all"}, "neighbours")])
def test_parameters_out_of_range(changes, field):
    with pytest.raises(InvalidInput) as caught:
        market(**changes)
    assert caught.value.field == field


def test_truncation_needs_its_delta():
    with pytest.raises(Refused, match="truncation"):
        market(on_overflow="truncate", delta=1e-6)


def test_bad_records_and_places():
    one = market()
    board = one.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    for record, index in (([0.5] * 4, 0), ([1.5] * 5, 0), ([math.nan] * 5, 0), ([0.5] * 5, -1), ([0.5] * 5, 600)):
        with pytest.raises(InvalidInput):
            one.decode(record, index, board)
    assert one.decode(None, 0, board) == {"good": -1, "price": 0.0}
    for table in (np.full((600, 4), 0.5), np.full((599, 5), 0.5), np.full((600, 5), 1.01)):
        with pytest.raises(InvalidInput):
            one.run(table, Noise.simulated(1))


@pytest.mark.parametrize(("change", "field"), [
    (lambda b: {"demands": b.demands + 2**40}, "paths"), (lambda b: {"demands": b.demands.astype(float)}, "demands"),
    (lambda b: {"demands": b.demands[:-1]}, "demands"), (lambda b: {"paths": b.paths + 1}, "paths"),
    (lambda b: {"paths": b.paths[1:]}, "paths"), (lambda b: {"rates": b.rates + 1}, "rates"),
    (lambda b: {"rates": b.rates.astype(np.int32)}, "rates"), (lambda b: {"asked": b.asked + 50}, "rates"),
    (lambda b: {"asked": b.asked[:2]}, "asked"), (lambda b: {"public_seed": "0" * 63}, "public_seed"),
    (lambda b: {"cutoffs": np.zeros(5, dtype=np.int64)}, "cutoffs"), (lambda b: {"surplus": None}, "surplus"),
    (lambda b: {"welfare": math.inf}, "surplus"), (lambda b: {"people": 601}, "billboard"),
    (lambda b: {"goods": 6}, "billboard")])
def test_forged_billboards_are_found(change, field):
    one = market()
    board = one.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    with pytest.raises(InvalidInput) as caught:
        one.check(replace(board, **change(board)))
    assert caught.value.field == field


def test_forged_cutoffs_and_plenty():
    cut = market(on_overflow="truncate", delta=0.5, failure_probability=1e-3, epsilon=5.0)
    board = cut.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    cut.check(board)
    for cutoffs in (None, np.full(5, 601), np.full(4, 600), np.full(5, 600.0)):
        with pytest.raises(InvalidInput, match="cutoffs"):
            cut.check(replace(board, cutoffs=cutoffs))
    plenty = market(supply=600)
    free = plenty.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    for change in ({"rates": np.full(5, PUBLIC_RANGE - 1)}, {"asked": np.ones(5, dtype=np.int64)},
                   {"public_seed": "00" * 32}):
        with pytest.raises(InvalidInput, match="rates"):
            plenty.check(replace(free, **change))


def test_a_billboard_of_another_kind():

    auction = PMatch(people=600, goods=5, supply=90, epsilon=2.0, increment=1.0, bid_cap=1, rounds=1, batch=45, arity=9)
    board = auction.run(instance_a(600, 5, seed=1), Noise.simulated(1)).billboard
    with pytest.raises(InvalidInput, match="another"):
        market().decode([0.5] * 5, 0, board)


def test_an_outcome_is_saved_and_progress_is_reported(tmp_path):
    one, reported = market(), []
    outcome = one.run(instance_a(600, 5, seed=1), Noise.simulated(1), progress=lambda *at: reported.append(at))
    assert reported == [(r, 6) for r in range(1, 7)]
    assert outcome.to_dict()["mechanism"]


def test_what_is_no_billboard_is_reported_so():
    market = SinkhornMatch.for_budget(people=300, goods=3, supply=60, epsilon=8.0)
    outcome = market.run(instance_a(300, 3, seed=1), Noise.simulated(1))
    for given_, name in ((None, "None"), (outcome, "SimulatedOutcome"), ("x", "str")):
        with pytest.raises(InvalidInput, match=f"{name} is no billboard; give the published billboard of the run"):
            market.decode([1.0, 0.5, 0.0], 0, given_)
    with pytest.raises(InvalidInput, match="is no billboard"):
        decode([1.0, 0.5, 0.0], 0, outcome)
    other = replace(market, people=301)
    with pytest.raises(InvalidInput, match="another market: 300 people and 3 goods; this one has 301 and 3"):
        other.decode([1.0, 0.5, 0.0], 0, outcome.billboard)
    for nothing in ("x", None, outcome):
        with pytest.raises(InvalidInput, match=r"auction: .* is no matching; give one with its public parameters"):
            release_prices(nothing, [[1.0]], Noise.simulated(1))


def test_a_delta_that_nothing_needs_is_not_promised() -> None:
    """Laplace noise without truncation is pure, whatever may be spent, and is charged for without a delta."""
    it = market(delta=1e-6)
    assert it.loss == PureDP(it.epsilon)
    check_covered(it.events(), it.guarantees().privacy)
