"""CappedAdditive: the best goods by enumeration and by sorting, its constants, its program, its records."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from family_checks import least_dual, moves_at_most_sigma, played, shares_are_decodes, solver_agrees
from hypothesis import given
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.programs import CappedAdditive, UnitDemand
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT


def coarse(draw, shape, top=4) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Numbers with many ties, some of them small on the grid."""
    return draw.integers(0, top + 1, shape) / 4 + draw.integers(0, 2, shape) / PRICE_UNIT


def sorted_best(gains: np.ndarray, cap: int) -> list[int]:
    """The `cap` largest positive gains, the first of equals, by a full sort."""
    best = [j for j in np.lexsort((np.arange(len(gains)), -gains)) if gains[j] > 0][:cap]
    return sorted(map(int, best)) + [-1] * (cap - len(best))


def test_best_sets_by_enumeration() -> None:
    for seed in range(100):
        draw = study_generator(seed)
        k = int(draw.integers(1, 7))
        cap = int(draw.integers(1, k + 1))
        program = CappedAdditive(1, 1, goods=k, cap=cap)
        records = program.one(np.minimum(1.0, coarse(draw, k)))
        prices = np.round(coarse(draw, k, 2) * PRICE_UNIT).astype(np.int64)
        gains = records.worth[0] - prices
        [chosen] = program.respond(records, prices).tolist()
        assert chosen == sorted_best(gains, cap)
        goods = [j for j in chosen if j >= 0]
        assert gains[goods].sum() == max(
            sum(gains[j] for j in bundle) for d in range(cap + 1) for bundle in combinations(range(k), d))


@pytest.mark.parametrize("cap", [1, 2, 15, 16, 17, 60, 199, 200])
def test_best_sets_of_many_goods(cap: int) -> None:
    draw = study_generator(cap)
    program = CappedAdditive(40, 1, goods=200, cap=cap)
    values = np.concatenate([np.minimum(1.0, coarse(draw, (20, 200))), draw.random((18, 200)), np.zeros((1, 200)),
                             np.ones((1, 200))])
    records = program.read(values)
    for prices in (np.zeros(200, np.int64), draw.integers(0, PRICE_UNIT, 200), np.full(200, 2 * PRICE_UNIT)):
        chosen = program.respond(records, prices)
        assert chosen.tolist() == [sorted_best(row - prices, cap) for row in records.worth]
        assert np.array_equal(program.load_at(records, prices), program.load(records, chosen))


def test_with_a_cap_of_one_it_is_unit_demand() -> None:
    draw = study_generator(5)
    values, prices = np.minimum(1.0, coarse(draw, (300, 6))), np.round(coarse(draw, 6, 2) * PRICE_UNIT).astype(int)
    one, other = CappedAdditive(300, 20, goods=6, cap=1), UnitDemand(300, 20, goods=6)
    assert one.constants == other.constants
    assert np.array_equal(one.respond(one.read(values), prices), other.respond(other.read(values), prices))


@pytest.mark.parametrize("seed", fast(2, range(8)))
def test_without_noise_it_finds_the_optimum(seed: int) -> None:
    """Spec convex_programs 11.4."""
    draw = study_generator(seed)
    program = CappedAdditive(60, tuple(map(float, draw.integers(8, 20, 5))), cap=2 + seed % 2)
    found = played(program, draw.random((60, 5)))
    assert found.gap < 0.005
    assert found.excess < 0.001


def test_the_dual_bound_is_one_though_sets_are_worth_more() -> None:
    for seed in range(10):
        draw = study_generator(seed)
        program = CappedAdditive(20, tuple(map(float, draw.integers(1, 8, 4))), cap=3)
        records = program.read(np.sqrt(draw.random((20, 4))))
        linear = program.linear_program(records)
        assert least_dual(linear, program.taus) <= 1 + 1e-6
    every = program.read(np.ones((20, 4)))
    assert least_dual(program.linear_program(every), program.taus) == pytest.approx(1, abs=1e-6)
    assert program.values(every, program.respond(every, np.zeros(4, np.int64)))[0] == 3 * PRICE_UNIT
    assert program.constants.most_value == 3


@given(st.integers(0, 10**6))
def test_responses_move_loads_by_sigma_at_most(seed: int) -> None:
    draw = study_generator(seed)
    k = int(draw.integers(1, 9))
    program = CappedAdditive(2, 1, goods=k, cap=int(draw.integers(1, k + 1)))
    prices = draw.integers(0, PRICE_UNIT, (2, k))
    moves_at_most_sigma(program, program.one(draw.random(k)), program.one(coarse(draw, k, 3)), *prices)


def test_sigma_is_reached() -> None:
    program, none = CappedAdditive(2, 1, goods=6, cap=3), np.zeros(6, np.int64)
    one, other = program.one([1, 1, 1, 0, 0, 0]), program.one([0, 0, 0, 1, 1, 1])
    assert moves_at_most_sigma(program, one, other, none, none) == pytest.approx(1, rel=1e-12)


def test_the_program_for_a_solver() -> None:
    draw = study_generator(4)
    program = CappedAdditive(30, 5, goods=6, cap=3)
    records = program.read(np.minimum(1.0, coarse(draw, (30, 6))))
    for prices in draw.integers(0, PRICE_UNIT, (3, 6)):
        solver_agrees(program, records, prices)
    linear, actions = program.linear_program(records), np.array([[0, 2, 5], [1, -1, -1], [-1, -1, -1]] * 10, np.int32)
    cells = dict(zip(zip(linear.owner.tolist(), linear.coupling.tocsc().indices.tolist(), strict=True),
                     linear.objective, strict=True))
    for i, value in enumerate(program.values(records, actions) / PRICE_UNIT):
        assert value == pytest.approx(sum(cells.get((i, j), 0.0) for j in actions[i].tolist() if j >= 0))
    loads = program.contributions(records, actions)
    assert loads[:2].tolist() == [[LOAD_UNIT, 0, LOAD_UNIT, 0, 0, LOAD_UNIT], [0, LOAD_UNIT, 0, 0, 0, 0]]
    assert not loads[2].any()


def test_shares() -> None:
    values = study_generator(1).random((300, 5))
    shares_are_decodes(CappedAdditive(300, 40, goods=5, cap=2), values, lambda i: values[i])
    program = CappedAdditive(300, 40, goods=5, cap=3)
    assert program.describe(np.array([1, 4, -1], np.int32)) == [1, 4]
    assert program.describe(np.full(3, -1, np.int32)) == []


def test_what_sets_are_worth_may_be_limited() -> None:
    """A third of 1 is rounded up on the grid, and still three of them are worth 1."""
    program = CappedAdditive(3, 1, goods=4, cap=3, most=1.0)
    assert program.constants.most_value == 1.0 + 1.5 / PRICE_UNIT
    third = 1 / 3
    rows = [[third] * 4, [0.5, 0.5, 0.01, 0.0], [1.0, 0.0, 0.0, 0.0]]
    with pytest.raises(InvalidInput, match=r"row 1 .* 3 values"):
        program.read(rows)
    records = program.read(rows, unusable="null")
    assert not records.worth[1].any()
    assert records.worth[[0, 2]].all(axis=1).tolist() == [True, False]
    with pytest.raises(InvalidInput, match="sum of its best values is too large"):
        program.one(rows[1])
    assert program.one(rows[0]).worth[0].tolist() == records.worth[0].tolist()
    assert CappedAdditive(3, 1, goods=4, cap=3, most=5.0).constants.most_value == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-9, 1.0000001])
def test_bad_records(bad: float) -> None:
    program = CappedAdditive(3, 1, goods=4, cap=2)
    table = np.full((3, 4), 0.5)
    table[1, 3] = bad
    with pytest.raises(InvalidInput, match="row 1"):
        program.read(table)
    assert program.read(table, unusable="null").worth.any(axis=1).tolist() == [True, False, True]
    with pytest.raises(InvalidInput, match=r"\[0, 1\]"):
        program.one(table[1])
    assert not program.one(None).worth.any()


@pytest.mark.parametrize("data", [
    np.zeros((3, 5)), np.zeros((2, 4)), np.zeros(4), np.full((3, 4), "a"), None, [[1], [1, 2]], "abc"])
def test_records_of_another_shape(data: object) -> None:
    with pytest.raises(InvalidInput):
        CappedAdditive(3, 1, goods=4, cap=2).read(data, unusable="null")


@pytest.mark.parametrize("options", [
    {"cap": 0}, {"cap": 5}, {"cap": 2.5}, {"cap": 2, "goods": 3}, {"cap": 2, "tau": 33.0}, {"cap": 2, "tau": 0.0},
    {"cap": 2, "most": 0.0}, {"cap": 2, "most": np.nan}, {"cap": 2, "goods": 0}])
def test_public_faults(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        CappedAdditive(3, (1.0, 1.0, 1.0, 1.0), **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="goods"):
        CappedAdditive(3, 1.0, cap=1)
