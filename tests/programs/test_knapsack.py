"""Knapsack: whose item pays, in exact arithmetic; its constants, its program, its records, its step."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from family_checks import least_dual, moves_at_most_sigma, played, shares_are_decodes, solver_agrees
from highs_reference import optimum
from hypothesis import given
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import Knapsack, PrivDude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT


def items(draw: Any, people: int, k: int, least: float = 0.2) -> np.ndarray:
    """A value, then weights, about half of them 0."""
    weights = np.where(draw.random((people, k)) < 0.5, draw.uniform(least, 1.0, (people, k)), 0.0)
    return np.concatenate([draw.random((people, 1)), weights], axis=1)


def test_an_item_is_in_when_it_is_worth_more_than_it_costs() -> None:
    """In fractions; what costs as much as it is worth stays out."""
    ties = 0
    for seed in range(100):
        draw = study_generator(seed)
        k = int(draw.integers(1, 6))
        program = Knapsack(8, 1, rows=k, least_weight=0.125)
        table = items(draw, 8, k, 0.125)
        table[:4] = np.round(table[:4] * 8) / 8
        records, prices = program.read(table), draw.integers(0, 9, k) * (PRICE_UNIT // 8)
        if seed % 2:
            prices += draw.integers(0, 9, k)
        chosen = program.respond(records, prices)
        for i in range(8):
            cost = sum(Fraction(int(one), LOAD_UNIT) * Fraction(int(price), PRICE_UNIT)
                       for one, price in zip(records.weights[i], prices, strict=True))
            worth = Fraction(int(records.worth[i]), PRICE_UNIT)
            assert chosen[i, 0] == (0 if worth > cost else -1)
            ties += worth == cost and worth > 0
            assert all(0 <= Fraction(int(up), LOAD_UNIT) - Fraction(one) < Fraction(1, LOAD_UNIT)
                       for up, one in zip(records.weights[i], table[i, 1:], strict=True))
        assert np.array_equal(program.load_at(records, prices), program.load(records, chosen))
    assert ties > 0
    even = Knapsack(1, 1, rows=2, least_weight=0.25)
    at = np.array([PRICE_UNIT, PRICE_UNIT])
    assert even.respond(even.one([0.75, 0.25, 0.5]), at).tolist() == [[-1]]
    assert even.respond(even.one([0.75, 0.25, 0.5]), at - [0, 1]).tolist() == [[0]]


@pytest.mark.parametrize("seed", fast(2, range(8)))
def test_without_noise_it_finds_the_optimum(seed: int) -> None:
    """Spec convex_programs 11.4, with the step that it names."""
    draw = study_generator(seed)
    program = Knapsack(60, tuple(map(float, draw.integers(6, 12, 5))), least_weight=0.2, step_scale=120.0)
    found = played(program, items(draw, 60, 5))
    assert abs(found.gap) < 0.005
    assert found.excess < 0.001


@pytest.mark.parametrize(("k", "share", "least", "supply"), fast(1, [
    (10, 1.0, 0.1, 1 / 8), (10, 0.3, 0.1, 1 / 32), (10, 1.0, 0.5, 1 / 8), (2, 1.0, 0.1, 1 / 8)]))
def test_the_usual_step_finds_the_prices_of_heavy_and_of_light_items(
    k: int, share: float, least: float, supply: float
) -> None:
    """Where tau is 10 and items are heavy, a step by the number of participants alone loses half of the optimum."""
    draw = study_generator(7)
    n = 20_000
    data = draw.random(n), np.where(draw.random((n, k)) < share, draw.uniform(least, 1.0, (n, k)), 0.0)

    def lost(**options: float) -> float:
        program = Knapsack(n, n * supply, rows=k, least_weight=least, **options)
        outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(data, Noise.simulated(2))
        found, prices = outcome.diagnostics, outcome.billboard.main_prices.mean(axis=0) / PRICE_UNIT
        # The dual value at any prices bounds the optimum from above, without a solver.
        most = prices.sum() * n * supply + np.maximum(0.0, data[0] - data[1] @ prices).sum()
        assert found is not None
        assert found["excess"].sum() < 0.02 * k * n * supply
        return float(1 - found["value"] / most)

    assert abs(lost()) < 0.02
    if least == 0.1 and share == 1.0 and k == 10:
        assert lost(step_scale=float(n)) > 0.1


@pytest.mark.parametrize("least", [0.1, 0.2, 0.3, 0.7, 1.0])
def test_the_dual_bound_is_one_over_the_least_weight(least: float) -> None:
    """Spec convex_programs 7.9: the source's corollary passes 1, which one light item refutes."""
    program = Knapsack(1, least / 2, rows=1, least_weight=least)
    records = program.read([[1.0, least]])
    found = least_dual(program.linear_program(records), (1.0,))
    assert found == pytest.approx(1 / least, rel=1e-4)
    assert found <= program.taus[0] * (1 + 1e-6)
    assert Fraction(program.taus[0]) * Fraction(least) >= 1


def test_the_dual_bound_holds_of_random_items() -> None:
    for seed in range(10):
        draw = study_generator(seed)
        program = Knapsack(20, tuple(draw.uniform(0.1, 4.0, 3)), least_weight=(0.2, 0.2, 0.4))
        table = items(draw, 20, 3, 0.4)
        assert program.taus == (5.0, 5.0, 2.5)
        assert least_dual(program.linear_program(program.read(table)), program.taus) <= 1 + 1e-6


@given(st.integers(0, 10**6))
def test_responses_move_loads_by_sigma_at_most(seed: int) -> None:
    draw = study_generator(seed)
    k = int(draw.integers(1, 7))
    program = Knapsack(2, 1, rows=k, least_weight=0.2, most_weight=None if seed % 2 else max(1.0, k / 3))
    table = items(draw, 2, k)
    table[:, 1:] = np.minimum(table[:, 1:], 1 if seed % 2 else 1 / 3)
    one, other = (program.one(row) for row in table)
    moves_at_most_sigma(program, one, other, *draw.integers(0, PRICE_UNIT // 4, (2, k)))


def test_sigma_is_reached() -> None:
    none = np.zeros(4, np.int64)
    program = Knapsack(2, 1, rows=4, least_weight=1.0)
    assert moves_at_most_sigma(program, program.one([1.0] * 5), program.one(None), none, none) == pytest.approx(1)
    light = Knapsack(2, 1, rows=4, least_weight=1.0, most_weight=1.0)
    one, other = light.one([1, 0, 1, 0, 0]), light.one([1, 1, 0, 0, 0])
    assert moves_at_most_sigma(light, one, other, none, none) == pytest.approx(1, rel=1e-5)
    assert light.constants.l2_sensitivity("replace") == pytest.approx(2**0.5, rel=1e-5)


def test_the_program_for_a_solver() -> None:
    draw = study_generator(4)
    program = Knapsack(30, 2.5, rows=4, least_weight=0.2)
    table = items(draw, 30, 4)
    records = program.read(table)
    for prices in draw.integers(0, PRICE_UNIT, (3, 4)):
        solver_agrees(program, records, prices)
    linear = program.linear_program(records)
    actions = np.where(draw.random((30, 1)) < 0.5, 0, -1).astype(np.int32)
    taken = actions[:, 0] == 0
    assert program.values(records, actions).sum() / PRICE_UNIT == pytest.approx(float(linear.objective @ taken))
    assert np.allclose(linear.coupling @ taken, program.contributions(records, actions).sum(axis=0) / LOAD_UNIT)
    assert np.abs(program.contributions(records, actions) / LOAD_UNIT - table[:, 1:] * taken[:, None]).max() < 2**-20
    assert 0 < optimum(linear) <= linear.objective.sum()


def test_shares() -> None:
    table = items(study_generator(1), 300, 3)
    program = Knapsack(300, 12.0, rows=3, least_weight=0.2)
    shares_are_decodes(program, table, lambda i: table[i])
    shares_are_decodes(program, (table[:, 0], table[:, 1:]), lambda i: (table[i, 0], table[i, 1:].tolist()))


def test_both_ways_to_write_records() -> None:
    table = items(study_generator(2), 2, 2)
    program = Knapsack(2, 1, rows=2, least_weight=0.2)
    every = [program.read(table), program.read((table[0], table[1])), program.read((table[:, 0], table[:, 1:])),
             program.read(table.tolist())]
    for one in every[1:]:
        assert np.array_equal(one.worth, every[0].worth)
        assert np.array_equal(one.weights, every[0].weights)
    assert program.one((0.5, [0.25, 0.0])).weights.tolist() == program.one([0.5, 0.25, 0.0]).weights.tolist()


@pytest.mark.parametrize(("place", "bad"), [
    (0, np.nan), (0, -1e-9), (0, 1.0000001), (2, np.nan), (2, np.inf), (2, -0.5), (2, 1.0000001), (2, 0.1999999),
    (2, 1e-12), (1, 1.0)])
def test_bad_records(place: int, bad: float) -> None:
    program = Knapsack(3, 1, rows=3, least_weight=0.2, most_weight=1.5)
    table = np.full((3, 4), 0.5)
    table[1] = [0.5, 0.2, 0.3, 1.0]
    program.read(table)
    table[1, place] = bad
    with pytest.raises(InvalidInput, match="row 1"):
        program.read(table)
    records = program.read(table, unusable="null")
    assert records.worth.tolist() == [PRICE_UNIT // 2, 0, PRICE_UNIT // 2]
    assert not records.weights[1].any()
    with pytest.raises(InvalidInput, match="record"):
        program.one(table[1])
    with pytest.raises(InvalidInput, match="record"):
        program.one((table[1, 0], table[1, 1:]))


@pytest.mark.parametrize("data", [
    np.zeros((3, 3)), np.zeros((2, 4)), None, "abc", (np.zeros(3), np.zeros((3, 2))), (np.zeros(2), np.zeros((3, 3)))])
def test_records_of_another_shape(data: Any) -> None:
    program = Knapsack(3, 1, rows=3, least_weight=0.2)
    with pytest.raises(InvalidInput, match="records"):
        program.read(data, unusable="null")
    for record in ([0.5] * 3, "abc", (0.5, [0.5] * 2), ([0.5], [0.5] * 3)):
        with pytest.raises(InvalidInput, match="record"):
            program.one(record)


@pytest.mark.parametrize("options", [
    {"least_weight": 0.0}, {"least_weight": 1.1}, {"least_weight": np.nan}, {"least_weight": (0.5, 0.5)},
    {"most_weight": 0.4}, {"most_weight": np.inf}, {"rows": 2}, {"rows": 0}, {"step_scale": 0.0},
    {"step_scale": (1.0, 1.0)}, {"tau": 0.0}, {"least_weight": 1e-7}])
def test_public_faults(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Knapsack(3, (1.0, 1.0, 1.0), **{"least_weight": 0.5, **options})
    with pytest.raises(InvalidInput, match="rows"):
        Knapsack(3, 1.0, least_weight=0.5)
