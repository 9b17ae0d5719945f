"""The exact optimum: against a linear program, against itself by other ways, and proved by its own prices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from confide.allocation.duality import dual_bound, exact_sums
from confide.allocation.instances import instance_a, instance_b, sparse_instance
from confide.allocation.optimum import paths, solver
from confide.allocation.optimum.paths import enqueue, take
from confide.allocation.optimum.solver import OptimalAllocation, exact_optimum
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput, SolverFailed
from confide.privacy.noise.simulated import study_generator


def program(table: NDArray[Any], supply: NDArray[Any], each: int) -> float:
    """The transport problem, by HiGHS."""
    n, k = table.shape
    rows = np.zeros((n + k, n * k))
    for i in range(n):
        rows[i, i * k : (i + 1) * k] = 1.0
    for j in range(k):
        rows[n + j, j::k] = 1.0
    found = linprog(-table.astype(float).ravel(), A_ub=rows, b_ub=np.r_[np.full(n, each), supply], bounds=(0, 1))
    return -float(found.fun)


def made(seed: int, kind: int, most: int = 16) -> tuple[NDArray[Any], NDArray[Any], int]:
    """A small market: smooth values, a coarse grid of them, few that are not 0, or all rows alike."""
    draw = study_generator(seed, "market", kind)
    n, k = int(draw.integers(1, most)), int(draw.integers(1, 7))
    table = [draw.random((n, k)), draw.integers(0, 5, (n, k)) / 4, (draw.random((n, k)) < 0.3) * draw.random((n, k)),
             np.tile(draw.random(k), (n, 1))][kind]
    return table, draw.integers(1, n + 2, k), int(draw.integers(1, k + 1))


def check(found: OptimalAllocation, table: NDArray[Any], supply: Any, *, exactly: bool = False) -> None:
    """Feasible; bundles of different goods that are worth something; complementary slackness; and what is claimed."""
    table = np.asarray(table, dtype=np.float64)
    n, k = table.shape
    copies = np.broadcast_to(supply, (k,))
    bundles = found.allocation.reshape(n, -1)
    assert bundles.shape == (n, found.each)
    assert bundles.dtype == np.int32
    assert (found.given(k) <= copies).all()
    assert (found.prices >= 0.0).all()
    room = 0.0 if exactly else 1e-12
    full = found.prices > room
    assert (found.given(k)[full] == copies[full]).all()
    surpluses = np.sort(np.maximum(0.0, table - found.prices), axis=1)[:, -found.each :].sum(axis=1)
    worth = np.zeros(n)
    for i, bundle in enumerate(bundles.tolist()):
        goods = [good for good in bundle if good >= 0]
        assert goods + [-1] * (found.each - len(goods)) == bundle
        assert sorted(set(goods)) == goods
        assert all(table[i, good] > 0 for good in goods)
        worth[i] = sum(table[i, good] for good in goods)
        assert sum(table[i, good] - found.prices[good] for good in goods) >= surpluses[i] - room
    assert found.welfare == pytest.approx(worth.sum(), abs=1e-9)
    assert found.bound == pytest.approx(float(copies @ found.prices + surpluses.sum()), abs=1e-9)
    assert 0.0 <= found.gap <= n * found.each * room
    if found.each == 1:
        of = Valuations.of(table, people=n, goods=k)
        assert found.bound == pytest.approx(dual_bound(of, copies, found.prices), abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(0, 3))
@example(0, 1)
def test_welfare_is_that_of_the_linear_program(seed: int, kind: int) -> None:
    table, supply, each = made(seed, kind)
    best = program(table, supply, each)
    for values in (table, csr_array(table)):
        found = exact_optimum(values, supply, each=each)
        check(found, table, supply, exactly=kind == 1)
        assert found.welfare == pytest.approx(best, abs=1e-7)
        assert found.method == "paths"


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_the_assignment_agrees_and_its_prices_prove_it(seed: int, kind: int) -> None:
    table, supply, _ = made(seed, kind)
    found = exact_optimum(csr_array(table) if seed % 2 else table, supply, method="assignment")
    check(found, table, supply)
    assert found.method == "assignment"
    assert found.welfare == pytest.approx(exact_optimum(table, supply).welfare, abs=1e-9)


def variants(patch: pytest.MonkeyPatch, name: str) -> None:
    """Ways that only large or odd instances take."""
    if name == "holders":
        patch.setattr(paths, "_FEW", 0)
    elif name == "smoothed":
        patch.setattr(solver, "_SLOWER", 0)
    elif name == "narrow":  # windows that must widen
        patch.setattr(solver, "_WIDEST", 2.0**-7)
        patch.setattr(solver, "_LEAST_WIDTH", 2.0**-7)
    elif name == "moving":  # windows that may not widen, but follow the prices
        patch.setattr(solver, "_WIDEST", 2.0**-4)
        patch.setattr(solver, "_MANY", 0)
    elif name == "samples":
        patch.setattr(solver, "_SMALL", 3)
        patch.setattr(solver, "_LEAST", 1)
        patch.setattr(solver, "_STEP", 2)
    elif name == "tight":  # arcs are collected anew again and again
        original = paths.room_for

        def tight(nodes: int, size: int) -> Any:
            most = 2 * nodes * nodes  # of windows that hold everything
            return original(nodes, (size - most) * 2 // 3 + 1 + most)

        patch.setattr(paths, "room_for", tight)


@pytest.mark.parametrize("name", ["holders", "smoothed", "narrow", "moving", "samples", "tight"])
@pytest.mark.parametrize("each", [1, 2])
def test_other_ways_to_the_same_optimum(name: str, each: int) -> None:
    for seed in range(2 if name in {"smoothed", "narrow"} else 4):
        draw = study_generator(seed, "ways")
        table = instance_a(150, 6, seed=seed) if seed % 2 else draw.integers(0, 9, (120, 6)) / 8
        supply = draw.integers(1, 25, 6) * each
        usual = exact_optimum(table, supply, each=each)
        with pytest.MonkeyPatch.context() as patch:
            variants(patch, name)
            found = exact_optimum(table, supply, each=each)
            sparse = exact_optimum(csr_array(table), supply, each=each)
        check(found, np.asarray(table), supply)
        assert found.welfare == pytest.approx(usual.welfare, abs=1e-9)
        assert sparse.welfare == pytest.approx(usual.welfare, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_no_allocation_passes_the_bound(seed: int) -> None:
    table, supply, each = made(seed, 0)
    found = exact_optimum(table, supply, each=each)
    draw = study_generator(seed, "any")
    for _ in range(5):
        left, welfare = supply.copy(), 0.0
        for i in draw.permutation(len(table)).tolist():
            for good in draw.permutation(len(supply))[:each].tolist():
                if left[good]:
                    left[good] -= 1
                    welfare += table[i, good]
        assert welfare <= found.bound + 1e-12
    other = draw.random(len(supply))
    assert exact_sums(Valuations.whole(table), supply, other, found.allocation.reshape(len(table), -1))[0] \
        >= found.welfare - 1e-12


@pytest.mark.parametrize("each", [1, 3])
def test_sums_are_exact_and_rounded_once(each: int) -> None:
    draw = study_generator(5, "sums")
    table, prices = draw.random((40, 4)) ** 6, draw.random(4) / 3
    supply = np.array([3, 2**40 + 1, 5, 7])
    held = np.array([draw.permutation(4)[:each] for _ in range(40)], dtype=np.int32)
    held[::7] = -1
    values = [[Fraction(x) for x in row] for row in table.tolist()]
    cost = [Fraction(x) for x in prices.tolist()]
    bound = sum((int(s) * p for s, p in zip(supply.tolist(), cost, strict=True)), Fraction(0)) + sum(
        sum(sorted((max(Fraction(0), v - p) for v, p in zip(row, cost, strict=True)), reverse=True)[:each])
        for row in values)
    welfare = sum((values[i][j] for i in range(40) for j in held[i].tolist() if j >= 0), Fraction(0))
    assert exact_sums(Valuations.whole(table), supply, prices, held) == (
        float(bound), float(welfare), float(bound - welfare))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1, width=16)), max_size=40))
def test_the_queue_is_in_order_while_keys_fall(moves: list[tuple[int, float]]) -> None:
    keys, heap, place, size = np.full(10, np.inf), np.empty(10, dtype=np.int64), np.full(10, -1, dtype=np.int64), 0
    waiting: dict[int, float] = {}
    for node, key in moves:
        if key < waiting.get(node, np.inf):
            keys[node] = waiting[node] = key
            size = int(enqueue(node, size, heap, place, keys))
        elif waiting:
            first = min(waiting, key=lambda each: (waiting[each], each))
            assert int(take(size, heap, place, keys)) == first
            size -= 1
            del waiting[first]
    assert size == len(waiting)
    assert sorted(heap[:size].tolist()) == sorted(waiting)


def test_small_markets() -> None:
    assert exact_optimum([[0.0]], 1).allocation.tolist() == [-1]
    assert exact_optimum([[0.5]], 3).allocation.tolist() == [0]
    one = exact_optimum([[0.5], [0.75], [0.75]], 1)
    assert one.welfare == 0.75
    assert one.gap == 0.0
    assert one.prices.tolist() == [0.75]
    plenty = exact_optimum([[0.5, 0.25], [0.5, 1.0]], 2**53, each=2)
    assert plenty.welfare == 2.25
    assert plenty.prices.tolist() == [0.0, 0.0]
    assert sorted(plenty.allocation[0].tolist()) == [0, 1]
    nothing = exact_optimum(csr_array((4, 3)), 2, each=2)
    assert nothing.allocation.tolist() == [[-1, -1]] * 4
    assert nothing.bound == 0.0


def test_it_is_marked_as_not_private_and_shows_no_numbers() -> None:
    found = exact_optimum(instance_a(50, 3), 10)
    assert not found.release_safe
    assert "not private" in repr(found)
    assert f"welfare {found.welfare:,.6g}, not private" in repr(found)


@pytest.mark.parametrize(("change", "field"), [
    ({"values": [0.5, 0.5]}, "values"), ({"values": [[0.5, 1.5]]}, "values"), ({"values": [[0.5, np.nan]]}, "values"),
    ({"values": [["a", "b"]]}, "values"),
    ({"supply": 0}, "supply"), ({"supply": [1, 0]}, "supply"), ({"supply": [1, 1, 1]}, "supply"),
    ({"supply": 1.5}, "supply"), ({"supply": [[1, 1]]}, "supply"), ({"supply": 2**60}, "supply"),
    ({"each": 0}, "each"), ({"each": 3}, "each"), ({"each": 1.0}, "each"),
    ({"method": "guess"}, "method"), ({"method": "assignment", "each": 2}, "method"),
    ({"method": "assignment", "values": np.zeros((4097, 2)), "supply": 4097}, "method"),
])
def test_bad_input_is_refused(change: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"values": [[0.5, 0.25]], "supply": 1, "each": 1, "method": None} | change
    with pytest.raises(InvalidInput) as caught:
        exact_optimum(asked.pop("values"), asked.pop("supply"), **asked)
    assert caught.value.field == field


@pytest.mark.parametrize(("prices", "held"), [([0.0, 0.0], [[0], [0]]), ([0.0, 0.0], [[1], [-1]])])
def test_an_answer_that_proves_nothing_is_not_given(
    monkeypatch: pytest.MonkeyPatch, prices: list[float], held: list[list[int]]
) -> None:
    monkeypatch.setattr(solver, "_paths", lambda *_: (np.array(prices), np.array(held, dtype=np.int32)))
    with pytest.raises(SolverFailed):
        exact_optimum([[1.0, 0.5], [1.0, 0.5]], 1)


def test_attempts_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_ATTEMPTS", 0)
    with pytest.raises(SolverFailed):
        exact_optimum([[1.0], [0.5]], 1)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "published", "tolerance"),
                         [(instance_a, 0.626042, 6e-4), (instance_b, 0.403920, 2.5e-3)])
def test_published_optima(make: Any, published: float, tolerance: float) -> None:
    """Spec allocation 13.8, drawn with other seeds: standard deviations are about 6e-5 on A and 4e-4 on B."""
    for seed in range(2):
        table = make(100_000, 20, seed=seed)
        found = exact_optimum(table, 4000)
        check(found, table, 4000)
        assert found.welfare / 100_000 == pytest.approx(published, abs=tolerance)
        assert found.gap <= 1e-7 * 100_000


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 3])
def test_middle_sizes_are_those_of_the_linear_program(each: int) -> None:
    import highspy

    table = np.asarray(instance_b(2000, 12, seed=9), dtype=np.float64)
    model = highspy.HighsLp()
    n, k = table.shape
    model.num_col_, model.num_row_ = n * k, n + k
    model.col_cost_, model.col_lower_, model.col_upper_ = -table.ravel(), np.zeros(n * k), np.ones(n * k)
    model.row_lower_ = np.full(n + k, -highspy.kHighsInf)
    model.row_upper_ = np.r_[np.full(n, float(each)), np.full(k, 150.0 * each)]
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, 2 * n * k + 1, 2, dtype=np.int32)
    model.a_matrix_.index_ = np.stack([np.repeat(np.arange(n), k), n + np.tile(np.arange(k), n)], axis=1).ravel()
    model.a_matrix_.value_ = np.ones(2 * n * k)
    program = highspy.Highs()
    program.setOptionValue("output_flag", False)
    program.passModel(model)
    program.run()
    found = exact_optimum(table, 150 * each, each=each)
    check(found, table, 150 * each)
    assert found.welfare == pytest.approx(-program.getInfo().objective_function_value, abs=1e-6)


@pytest.mark.slow
def test_many_sparse_goods_and_a_million_bidders() -> None:
    sparse = exact_optimum(sparse_instance(20_000, 2500, seed=2), 7)
    assert sparse.gap <= 1e-12 * 20_000
    assert (sparse.given(2500) <= 7).all()
    large = exact_optimum(instance_a(1_000_000, 50), 16_000)
    assert large.gap <= 1e-7 * 1_000_000
    assert large.welfare / 1_000_000 == pytest.approx(0.6343, abs=1e-3)
