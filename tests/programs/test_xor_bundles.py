"""XorBundles: the best bid by enumeration, both ways to write bids, its constants, its program, its records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from family_checks import least_dual, moves_at_most_sigma, played, shares_are_decodes, solver_agrees
from hypothesis import given
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, XorBundles
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

Bids = list[tuple[tuple[int, ...], float]]


def drawn(draw: Any, goods: int, size: int, bids: int) -> Bids:
    """Up to so many bids, with ties."""
    return [(tuple(draw.permutation(goods)[: draw.integers(1, size + 1)].tolist()), int(draw.integers(0, 9)) / 8)
            for _ in range(int(draw.integers(0, bids + 1)))]


def arrays(records: list[Bids], size: int, bids: int) -> tuple[np.ndarray, np.ndarray]:
    goods, values = np.full((len(records), bids, size), -1), np.zeros((len(records), bids))
    for i, record in enumerate(records):
        for b, (bundle, value) in enumerate(record):
            goods[i, b, : len(bundle)] = bundle
            values[i, b] = value
    return goods, values


def test_best_bids_by_enumeration() -> None:
    for seed in range(100):
        draw = study_generator(seed)
        k, bids = int(draw.integers(1, 7)), int(draw.integers(1, 6))
        size = int(draw.integers(1, k + 1))
        program, record = XorBundles(1, 1, goods=k, size=size, bids=bids), drawn(draw, k, size, bids)
        records, prices = program.one(record), draw.integers(0, 5, k) * (PRICE_UNIT // 8)
        [chosen] = program.respond(records, prices).tolist()
        gains = [value - sum(prices[list(goods)]) / PRICE_UNIT for goods, value in record]  # exact in doubles
        best = max(gains, default=0.0)
        goods = sorted(record[gains.index(best)][0]) if best > 0 else []  # the first of equals
        assert chosen == goods + [-1] * (size - len(goods))
        net = program.values(records, np.array([chosen], np.int32)) - program.paid(
            records, np.array([chosen], np.int32), prices)
        assert net[0] == max(best, 0) * PRICE_UNIT


def test_a_set_is_worth_the_best_bid_that_it_holds() -> None:
    program = XorBundles(1, 1, goods=5, size=3, bids=4)
    records = program.one([((3, 1), 0.5), ((1,), 0.25), ((4, 0, 2), 1.0), ((2,), 0.125)])
    for action, value in (((1, 3, -1), 0.5), ((1, 2, 3), 0.5), ((1, 4, -1), 0.25), ((0, 2, 4), 1.0),
                          ((2, 4, -1), 0.125), ((-1, -1, -1), 0.0), ((3, 4, -1), 0.0), ((0, 2, 3), 0.125)):
        assert program.values(records, np.array([action], np.int32)).tolist() == [value * PRICE_UNIT]


def test_lists_and_arrays_are_the_same_records() -> None:
    draw = study_generator(3)
    program = XorBundles(50, 4, goods=9, size=3, bids=4)
    lists = [drawn(draw, 9, 3, 4) for _ in range(50)]
    first, second = program.read(lists), program.read(arrays(lists, 3, 4))
    goods, values = arrays(lists, 3, 4)
    third = program.read((goods.astype(np.int8), values.astype(np.float32)))
    for other in (second, third):
        assert np.array_equal(first.goods, other.goods)
        assert np.array_equal(first.worth, other.worth)
    for i in range(0, 50, 7):
        for one in (program.one(lists[i]), program.one(tuple(each[i] for each in arrays(lists, 3, 4)))):
            assert np.array_equal(one.goods[0], first.goods[i])
            assert np.array_equal(one.worth[0], first.worth[i])
    assert program.read(first) is first
    full = np.broadcast_to(np.arange(3, dtype=np.uint64), goods.shape)
    assert (program.read((full, values)).goods == [0, 1, 2]).all()
    with pytest.raises(InvalidInput, match="row 0"):  # unsigned numbers have no -1
        program.read((full - np.uint64(1), values))
    with pytest.raises(InvalidInput, match="50 records"):
        XorBundles(51, 4, goods=9, size=3, bids=4).read(first)


def instance(seed: int, people: int = 60) -> tuple[XorBundles, list[Bids]]:
    draw = study_generator(seed)
    program = XorBundles(people, people / 6, goods=5, size=3, bids=4)
    return program, [[(goods, float(draw.random())) for goods, _ in drawn(draw, 5, 3, 4)] for _ in range(people)]


@pytest.mark.parametrize("seed", fast(2, range(8)))
def test_without_noise_it_finds_the_optimum(seed: int) -> None:
    """Spec convex_programs 11.4."""
    found = played(*instance(seed))
    assert found.gap < 0.005
    assert found.excess < 0.001


def test_the_dual_bound_is_one() -> None:
    for seed in range(10):
        program, lists = instance(seed, 20)
        assert least_dual(program.linear_program(program.read(lists)), program.taus) <= 1 + 1e-6
    program = XorBundles(2, (1.0, 5.0), size=2, bids=1)
    linear = program.linear_program(program.read([[((0, 1), 1.0)]] * 2))
    assert least_dual(linear, program.taus) == pytest.approx(1, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("skew", [False, True])
def test_prices_of_many_goods_arrive_in_time(skew: bool) -> None:
    """300 rounds with the usual step; the dual value at the average prices bounds the optimum, without a solver."""
    draw, n, k = study_generator(9), 20_000, 200
    first = draw.integers(0, k // 2, (n, 8)) * (draw.random((n, 8)) if skew else 1.0)
    goods = first.astype(np.int64)[:, :, None] + [0, 50, 100]
    program, data = XorBundles(n, 150, goods=k, size=3, bids=8), (goods, draw.random((n, 8)))
    outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(data, Noise.simulated(2))
    records, prices = program.read(data), outcome.billboard.main_prices.mean(axis=0)
    best = program.respond(records, np.rint(prices).astype(np.int64))
    surplus = program.values(records, best) - program.paid(records, best, np.rint(prices).astype(np.int64))
    most = (150 * prices.sum() + surplus.sum()) / PRICE_UNIT
    found = outcome.diagnostics
    assert found is not None
    assert abs(1 - found["value"] / most) < 0.02
    assert found["excess"].sum() < 0.05 * 150 * k


@given(st.integers(0, 10**6))
def test_responses_move_loads_by_sigma_at_most(seed: int) -> None:
    draw = study_generator(seed)
    k, bids = int(draw.integers(1, 8)), int(draw.integers(1, 4))
    size = int(draw.integers(1, k + 1))
    program = XorBundles(2, 1, goods=k, size=size, bids=bids)
    one, other = (program.one(drawn(draw, k, size, bids)) for _ in range(2))
    moves_at_most_sigma(program, one, other, *draw.integers(0, PRICE_UNIT // 2, (2, k)))


def test_sigma_is_reached() -> None:
    """It is the square root of 2 d, not d times the square root of 2: spec convex_programs 7.6."""
    program, none = XorBundles(2, 1, goods=6, size=3, bids=1), np.zeros(6, np.int64)
    one, other = program.one([((0, 1, 2), 1.0)]), program.one([((5, 4, 3), 1.0)])
    assert moves_at_most_sigma(program, one, other, none, none) == pytest.approx(1, rel=1e-12)
    assert program.constants.l2_sensitivity("replace") == pytest.approx(6**0.5)


def test_the_program_for_a_solver() -> None:
    program, lists = instance(2, 30)
    records, draw = program.read(lists), study_generator(2)
    for prices in draw.integers(0, PRICE_UNIT // 2, (3, 5)):
        solver_agrees(program, records, prices)
    linear = program.linear_program(records)
    assert linear.size == sum(value > 0 for record in lists for _, value in record)
    coupling, at = linear.coupling.tocsc(), 0
    for i, record in enumerate(lists):
        for goods, value in record:
            if value > 0:
                assert linear.owner[at] == i
                assert linear.objective[at] == pytest.approx(value, abs=2**-25)
                assert sorted(goods) == sorted(coupling.indices[coupling.indptr[at] : coupling.indptr[at + 1]].tolist())
                at += 1
    actions = np.array([[0, 1, 4], [2, -1, -1], [-1, -1, -1]] * 10, np.int32)
    loads = program.contributions(records, actions)
    assert loads[:3].tolist() == [[LOAD_UNIT, LOAD_UNIT, 0, 0, LOAD_UNIT], [0, 0, LOAD_UNIT, 0, 0], [0] * 5]


def test_shares() -> None:
    program, lists = instance(1, 300)
    shares_are_decodes(program, lists, lists.__getitem__)
    goods, values = arrays(lists, 3, 4)
    shares_are_decodes(program, (goods, values), lambda i: (goods[i], values[i]))
    assert program.describe(np.array([1, 4, -1], np.int32)) == [1, 4]


@pytest.mark.parametrize("bad", [
    [((0, 1), np.nan)], [((0, 1), -1e-9)], [((0, 1), 1.0000001)], [((0, 1), np.inf)], [((0, 0), 0.5)], [((0, 4), 0.5)],
    [((-1,), 0.5)], [((-2, 1), 0.5)], [((), 0.5)], [((0, 1, 2), 0.5)], [((0.0, 1), 0.5)], [((True, 2), 0.5)],
    [((10**30,), 0.5)], [((0,), "0.5")], [((0,), None)], [((0,), 1j)], [(0, 0.5)], [((0,),)], [((0,), 0.5, 1)], ["ab"],
    "ab", b"ab", 3, {"goods": 1}, [((0,), 0.5)] * 4, [((1,), 0.5), 7]])
def test_bad_records(bad: Any) -> None:
    program = XorBundles(3, 1, goods=4, size=2, bids=3)
    fine: Any = [((3, 1), 0.5)]
    with pytest.raises(InvalidInput, match="row 1"):
        program.read([fine, bad, fine])
    records = program.read([fine, bad, fine], unusable="null")
    assert records.worth.any(axis=1).tolist() == [True, False, True]
    assert (records.goods[1] == 4).all()
    assert program.respond(records, np.zeros(4, np.int64)).tolist() == [[1, 3], [-1, -1], [1, 3]]
    with pytest.raises(InvalidInput, match="record"):
        program.one(bad)


def test_no_record_is_the_null_record() -> None:
    program = XorBundles(2, 1, goods=4, size=2, bids=3)
    records = program.read([None, []])
    assert not records.worth.any()
    assert np.array_equal(program.one(None).goods, records.goods[:1])


@pytest.mark.parametrize(("goods", "value"), [
    ([0, 0], 0.5), ([4, -1], 0.5), ([-2, 1], 0.5), ([-1, -1], 0.5), ([0, 1], np.nan), ([0, 1], -0.1), ([0, 1], 1.1),
    ([2**40, 1], 0.5)])
def test_bad_rows_of_arrays(goods: list[int], value: float) -> None:
    program = XorBundles(3, 1, goods=4, size=2, bids=2)
    every, values = np.array([[[1, 2], [3, -1]]] * 3), np.array([[0.5, 0.25]] * 3)
    every[2, 1], values[2, 1] = goods, value
    with pytest.raises(InvalidInput, match="row 2"):
        program.read((every, values))
    records = program.read((every, values), unusable="null")
    assert records.worth.any(axis=1).tolist() == [True, True, False]
    assert (records.goods[2] == 4).all()
    with pytest.raises(InvalidInput, match="record"):
        program.one((every[2], values[2]))


@pytest.mark.parametrize("data", [
    (np.zeros((3, 2, 3), int), np.zeros((3, 2))), (np.zeros((3, 2, 2)), np.zeros((3, 2))),
    (np.zeros((3, 2, 2), int), np.zeros((3, 3))), (np.zeros((3, 2, 2), int), np.zeros((3, 2), complex)), None, "abc",
    [[]] * 4, np.zeros((3, 2))])
def test_records_of_another_shape(data: Any) -> None:
    program = XorBundles(3, 1, goods=4, size=2, bids=2)
    with pytest.raises(InvalidInput, match="record"):
        program.read(data, unusable="null")
    if isinstance(data, tuple):
        with pytest.raises(InvalidInput, match="record"):
            program.one(tuple(each[0] for each in data))


@pytest.mark.parametrize("options", [
    {"size": 0}, {"size": 5}, {"bids": 0}, {"bids": 1.5}, {"goods": 3}, {"tau": 33.0}, {"tau": (1.0, 1.0)}])
def test_public_faults(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        XorBundles(3, (1.0,) * 4, **{"size": 2, "bids": 2, **options})
