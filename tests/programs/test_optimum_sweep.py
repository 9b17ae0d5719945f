"""`exact` certifies small random programs of every family: ties, empty rows, rows of fractions, several duals.

Of 150 such shared resources 17 once ended without a certificate: a public block was mixed as if its parts were one. An
equilibrium was once given up before its sum was met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from convex_models import ABOVE_OWN, DIMINISHING, KNAPSACKS, Model
from highs_reference import optimum

from cases import fast
from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    AggregativeGame,
    CallbackDemand,
    CappedAdditive,
    Electricity,
    Flow,
    Knapsack,
    Program,
    SharedResources,
    UnitDemand,
    XorBundles,
    exact,
)
from confide.programs.families.networks import both_ways
from confide.programs.grids import LOAD_UNIT

Drawn = tuple[Program, Any]
ARCS = both_ways(((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)))


def supply(draw: Any, rows: int) -> tuple[float, ...]:
    return tuple(draw.choice([0.0, 0.3, 0.5, 1.0, 1.7], rows).tolist())


def values(draw: Any, *shape: int) -> Any:
    """Of which half are a few, with ties."""
    return draw.random(shape) if draw.random() < 0.5 else draw.choice([0.0, 0.1, 0.5, 0.9, 1.0], shape)


def bids(draw: Any, goods: int) -> list[tuple[tuple[int, ...], float]]:
    return [(tuple(draw.permutation(goods)[: draw.integers(1, goods + 1)].tolist()),
             float(draw.choice([0.2, 0.99, 1.0]))) for _ in range(2)]


class Wish:
    """One set of goods."""

    def __init__(self, goods: tuple[int, ...], worth: float) -> None:
        self.goods, self.worth = tuple(sorted(goods)), worth

    def demand(self, prices: np.ndarray) -> tuple[int, ...]:
        return self.goods if prices[list(self.goods)].sum() < self.worth else ()

    def value(self, goods: tuple[int, ...]) -> float:
        return self.worth if set(self.goods) <= set(goods) else 0.0


def unit_demand(draw: Any, n: int) -> Drawn:
    return UnitDemand(n, supply(draw, 3)), values(draw, n, 3)


def capped_additive(draw: Any, n: int) -> Drawn:
    return CappedAdditive(n, supply(draw, 3), cap=2), values(draw, n, 3)


def xor_bundles(draw: Any, n: int) -> Drawn:
    return XorBundles(n, supply(draw, 3), size=3, bids=2), [bids(draw, 3) for _ in range(n)]


def callback_demand(draw: Any, n: int) -> Drawn:
    return CallbackDemand(n, supply(draw, 3), size=3), [Wish(*bids(draw, 3)[0]) for _ in range(n)]


def knapsack(draw: Any, n: int) -> Drawn:
    return Knapsack(n, supply(draw, 3), least_weight=0.1), np.concatenate(
        [values(draw, n, 1), draw.choice([0.0, 0.11, 0.123456, 0.5, 1.0], (n, 3))], axis=1)


def shared_resources(draw: Any, n: int) -> Drawn:
    costs = tuple(draw.choice([0.05, 0.4, 1.5], 3).tolist())
    return (SharedResources(n, float(draw.choice([0.0, 0.3, 1.0])), needs=((0,), (0, 1), (1, 2)), costs=costs),
            values(draw, n, 3))


def flow(draw: Any, n: int) -> Drawn:
    ends = np.array([draw.permutation(4)[:2] for _ in range(n)])
    program = Flow(n, tuple(draw.choice([0.0, 0.5, 1.0, 2.0], len(ARCS)).tolist()), arcs=ARCS, hops=3,
                   escape=float(draw.choice([0.5, 2.0, 6.0])))
    return program, np.concatenate([ends, draw.choice([0.0, 0.0, 0.5, 1.0], (n, len(ARCS)))], axis=1)


def electricity(draw: Any, n: int) -> Drawn:
    return Electricity(n, supply(draw, 4), most=2, intervals=2, slots=2), values(draw, n, 2, 2)


def soft_electricity(draw: Any, n: int) -> Drawn:
    program = Electricity(n, supply(draw, 4), most=2, intervals=2, slots=2,
                          shortfall=float(draw.choice([0.05, 0.5, 3.0])))
    return program, (values(draw, n, 2, 2), draw.integers(0, 2, (n, 2)))


def hard_electricity(draw: Any, n: int) -> Drawn:
    needs = draw.integers(0, 2, (n, 2))
    enough = np.repeat(needs.sum(axis=0) / 2 + 0.25, 2)
    return (Electricity(n, tuple(enough.tolist()), most=2, intervals=2, slots=2, hard=True, tau=8.0),
            (values(draw, n, 2, 2), needs))


def aggregative_game(draw: Any, n: int) -> Drawn:
    """A target that some mixtures reach."""
    parts = np.rint(draw.uniform(-1, 1, (n, 3, 2)) * LOAD_UNIT) / LOAD_UNIT
    weights = draw.dirichlet(np.ones(3), n)
    target = tuple((parts * weights[:, :, None]).sum(axis=(0, 1)).tolist())
    return AggregativeGame(n, target, actions=3, largest=1.0), (parts, np.ones((n, 3)))


FAMILIES: tuple[Callable[[Any, int], Drawn], ...] = (
    unit_demand, capped_additive, xor_bundles, callback_demand, knapsack, shared_resources, flow, electricity,
    soft_electricity, hard_electricity, aggregative_game)


@pytest.mark.parametrize(("first", "last"), fast(1, [(0, 3), (3, 150)]))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
def test_every_small_program_is_certified(family: Callable[[Any, int], Drawn], first: int, last: int) -> None:
    for seed in range(first, last):
        draw = study_generator(seed, family.__name__)
        program, data = family(draw, int(draw.integers(2, 9)))
        found = exact(program, data)
        assert found.gap <= 1e-6 * program.people
        assert found.excess <= (1e-6 * program.people if program.two_sided else 0.0)
        if not program.two_sided and seed < first + 20 and family is not hard_electricity:
            best = optimum(program.linear_program(program.read(data)))
            assert found.value - 1e-6 <= best <= found.upper + 1e-6


@pytest.mark.parametrize(("first", "last"), fast(1, [(0, 4), (4, 150)]))
def test_shared_resources_are_certified_from_either_start(first: int, last: int) -> None:
    for seed in range(first, last):
        draw = study_generator(seed, "start")
        program, data = shared_resources(draw, int(draw.integers(2, 9)))
        both = [exact(program, data, start=start) for start in ("linear_program", "rounds")]  # type: ignore[arg-type]
        assert max(one.value for one in both) <= min(one.upper for one in both)


@pytest.mark.parametrize(("model", "many"), fast(0, [(KNAPSACKS, 8), (DIMINISHING, 4), (ABOVE_OWN, 4)]))
def test_programs_of_ones_own_are_certified(model: Model, many: int) -> None:
    """Their responses are only as good as is proved of each, which the gap must have room for."""
    for seed in range(many):
        people = 2 + seed % 7
        program = model.program(people)
        found = exact(program, model.data(people, seed))
        assert found.gap <= (1e-6 + 3.0 * program.oracle_error) * people * max(1.0, program.constants.most_value)
        assert found.excess == 0.0


def test_parts_of_a_public_block_are_all_of_it() -> None:
    draw = study_generator(4)
    program = SharedResources(20, (0.0, 2.0, 1.0, 0.0, 0.0), needs=((0,), (0, 1), (1, 2)), costs=(0.2, 0.3, 0.1))
    for prices in draw.integers(0, program.highest_prices, (20, 5)):
        parts = program.public_parts(prices)
        assert len(parts) == 3
        assert sum(value for value, _ in parts) == pytest.approx(program.public_value(prices))
        assert np.array_equal(sum(load for _, load in parts), program.public_load(prices))
    plain = UnitDemand(3, (1.0, 1.0))
    assert [(value, load.tolist()) for value, load in plain.public_parts(np.ones(2, np.int64))] == [(0.0, [0, 0])]
