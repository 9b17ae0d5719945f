"""Shared resources: favourites at projects' prices, units bought in public, and a dual bound of min(1, cost)."""

from __future__ import annotations

import numpy as np
import pytest
from highs_reference import optimum, penalised
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, SharedResources
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT


def made_up(people: int, projects: int, resources: int, most: int, seed: int, *, dear: float = 0.5,
            **options) -> tuple[SharedResources, np.ndarray]:  # type: ignore[no-untyped-def]
    draw = study_generator(seed)
    needs = tuple(tuple(sorted(draw.choice(resources, int(draw.integers(1, most + 1)), replace=False).tolist()))
                  for _ in range(projects))
    program = SharedResources(people, needs=needs, costs=tuple(draw.uniform(0.05, dear, resources)), **options)
    return program, draw.random((people, projects)).astype(np.float32)


@pytest.mark.parametrize("seed", fast(20, range(100)))
def test_responses_are_the_best_of_all_projects(seed: int) -> None:
    program, values = made_up(12, 1 + seed % 5, 4, 3, seed)
    draw = study_generator(seed, "prices")
    prices = draw.integers(0, 4, program.rows) * PRICE_UNIT // (4, 8, 16)[seed % 3]
    values[:6] = np.round(4 * values[:6]) / 4  # ties
    if seed % 2:
        values[7] = 1.0
    records = program.read(values)
    actions = program.respond(records, prices)
    names = program.row_names
    of_project = [sum(int(price) for name, price in zip(names, prices, strict=True) if name.endswith(f" for {j}"))
                  for j in range(program.projects)]
    for i in range(12):
        gains = [0, *(round(float(values[i, j]) * PRICE_UNIT) - of_project[j] for j in range(program.projects))]
        assert actions[i, 0] == int(np.argmax(gains)) - 1  # nothing first, then the first one
        assert np.array_equal(program.respond(program.one(values[i]), prices)[0], actions[i])
    parts = program.contributions(records, actions)
    assert np.array_equal(program.load(records, actions), parts.sum(axis=0))
    gained = program.values(records, actions) - program.paid(records, actions, prices)
    assert (gained[actions[:, 0] >= 0] > 0).all()
    assert (program.contributions(records, np.full((12, 1), -1, dtype=np.int32)) == 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_what_is_bought_is_the_best_response_of_the_public_block(seed: int) -> None:
    program, _ = made_up(7, 4, 3, 3, seed)
    prices = (study_generator(seed).random(program.rows) * 0.4 * PRICE_UNIT).astype(np.int64)
    gain = program.public_value(prices) - program.public_load(prices) @ prices / (LOAD_UNIT * PRICE_UNIT)
    resources = [int(name.split()[0]) for name in program.row_names]
    best = sum(max(0.0, 7 * (sum(price / PRICE_UNIT for j, price in zip(resources, prices, strict=True) if j == r)
                             - round(program.costs[r] * PRICE_UNIT) / PRICE_UNIT)) for r in range(3))
    assert gain == pytest.approx(best, abs=1e-9)
    assert np.array_equal(program.public_load(prices), -program.bought(prices)[resources] * LOAD_UNIT)
    assert (program.bought(np.zeros(program.rows, dtype=np.int64)) == 0).all()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), high=st.sampled_from([0.0, 0.3, 2.0]))
def test_two_contributions_lie_no_further_apart_than_sigma(seed: int, high: float) -> None:
    program, values = made_up(30, 4, 4, 3, seed % 50)
    prices = (study_generator(seed).random((2, program.rows)) * high * PRICE_UNIT).astype(np.int64)
    records = program.read(values)
    parts = np.concatenate([program.contributions(records, program.respond(records, one)) for one in prices])
    apart = np.square((parts[:, None] - parts[None]) / LOAD_UNIT).sum(axis=2)
    assert apart.max() <= program.constants.squared_l2_sensitivity("replace")
    assert np.square(parts / LOAD_UNIT).sum(axis=1).max() <= program.constants.squared_l2_sensitivity("add_or_remove")


def test_constants() -> None:
    program = SharedResources(50, (0.0, 3.0, 0.0, 1.0), needs=((0, 2), (1,), (2,)), costs=(0.25, 4.0, 0.5))
    one = program.constants
    assert program.row_names == ("0 for 0", "2 for 0", "1 for 1", "2 for 2")
    assert (one.tau, one.largest_sum, one.width, one.packing) == ((0.25, 0.5, 1.0, 0.5), 2.0, 53.0, False)
    assert one.l2_sensitivity("replace") == pytest.approx(2.0)  # sqrt(2 d)
    assert SharedResources(50, needs=((0,),), costs=(0.25,), tau=1.0).taus == (1.0,)
    assert PrivDude(program, 1.0, 1e-6).descent.rule == "adagrad"


@pytest.mark.parametrize("seed", range(6))
def test_the_dual_bound_is_the_lesser_of_one_and_the_cost(seed: int) -> None:
    program, values = made_up(12, 4, 3, 3, seed, dear=(0.4, 2.0)[seed % 2], supply=float(seed % 3))
    exact = program.linear_program(program.read(values))
    assert penalised(exact, np.array(program.taus)) == pytest.approx(optimum(exact), abs=1e-6)
    assert penalised(exact, 1.0) == pytest.approx(optimum(exact), abs=1e-6)


def test_less_than_the_cost_is_no_dual_bound() -> None:
    program = SharedResources(10, needs=((0,),), costs=(0.25,))
    exact = program.linear_program(program.read(np.ones((10, 1))))
    assert optimum(exact) == pytest.approx(7.5)
    assert penalised(exact, 0.2) == pytest.approx(8.0)  # nobody's unit is bought


def test_the_linear_program_has_values_loads_and_the_public_block() -> None:
    program, values = made_up(9, 4, 3, 3, 3)
    records = program.read(values)
    exact = program.linear_program(records)
    actions = (study_generator(2).integers(-1, 4, (9, 1))).astype(np.int32)
    bought = np.array([3.0, 1.0, 7.0])
    of = {int(column): (int(who), int(np.flatnonzero(records.worth[who])[
        (exact.owner[:column] == who).sum()])) for column, who in enumerate(exact.owner) if who >= 0}
    x = np.array([float(actions[of[c][0], 0] == of[c][1]) if c in of else 0.0 for c in range(exact.size)])
    x[exact.owner == -1] = bought
    spent = bought @ np.round(np.array(program.costs) * PRICE_UNIT) / PRICE_UNIT
    assert exact.objective @ x == pytest.approx(program.values(records, actions).sum() / PRICE_UNIT - spent)
    resources = [int(name.split()[0]) for name in program.row_names]
    assert np.allclose(exact.coupling @ x, program.load(records, actions) / LOAD_UNIT - bought[resources])
    assert (exact.personal @ x <= exact.high).all()
    assert set(exact.upper.tolist()) == {1.0, 9.0}


def found_without_noise(program: SharedResources, values: np.ndarray, rounds: int) -> tuple[float, float]:
    """The gap, and the excess of all rows together, of averages of as many rounds after as many."""
    mechanism = PrivDude(program, 1.0, 1e-6, rounds, rounds)
    still = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(2 * rounds)})
    found = mechanism.run(values, still).diagnostics
    best = optimum(program.linear_program(program.read(values)))
    return (best - found["value"]) / best, found["excess"].sum()  # type: ignore[index]


@pytest.mark.parametrize(("seed", "tau"), fast(2, [(0, None), (1, 1.0), (1, None), (2, None), (3, None), (2, 1.0)]))
def test_without_noise_averages_are_optimal_and_feasible(seed: int, tau: float | None) -> None:
    """Spec convex_programs 11.4, with the steps of AdaGrad."""
    program, values = made_up(50, 3, 4, 2, seed, tau=tau)
    gap, excess = found_without_noise(program, values, 400)
    assert abs(gap) < 0.04
    assert excess < 0.005 * 50


@pytest.mark.slow
def test_smaller_dual_bounds_come_closer() -> None:
    """With min(1, cost) in place of the source's 1 the box is smaller, and so are the steps."""
    near, far = [], []
    for seed in range(4):
        for tau, gaps in ((None, near), (1.0, far)):
            program, values = made_up(60, 6, 5, 3, seed, tau=tau)
            gap, excess = found_without_noise(program, values, 800)
            gaps.append(abs(gap))
            assert excess < 0.01 * 60
    assert sum(near) < sum(far) / 3


def test_shares_are_separate_decodes() -> None:
    program, values = made_up(40, 4, 3, 3, 3)
    mechanism = PrivDude(program, 1.0, 1e-6, 30, 10)
    values[5, 0] = np.nan
    outcome = mechanism.run(values, Noise.secure())
    mechanism.check(outcome.billboard)
    for i in range(40):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        assert share == mechanism.decode(None if i == 5 else values[i], i, outcome.billboard)
    assert outcome.shares["actions"][5].as_py() == [-1]


@pytest.mark.parametrize("bad", [[np.nan, 0.5], [0.5, 1.01], [-0.01, 0.5], [np.inf, 0.5]])
def test_a_bad_record_is_refused_to_its_owner_and_null_in_a_release(bad: list[float]) -> None:
    program = SharedResources(2, needs=((0,), (0, 1)), costs=(0.5, 0.25))
    with pytest.raises(InvalidInput, match="record"):
        program.one(bad)
    with pytest.raises(InvalidInput, match="row 1"):
        program.read([[0.5, 0.5], bad])
    assert program.read([[0.5, 0.5], bad], unusable="null").worth[1].tolist() == [0, 0]


@pytest.mark.parametrize("shape", [[0.5], [0.5] * 3, "ab", [[0.5, 0.5]], ["a", "b"]])
def test_a_record_of_another_shape_is_refused(shape: object) -> None:
    program = SharedResources(2, needs=((0,), (0, 1)), costs=(0.5, 0.25))
    with pytest.raises(InvalidInput, match="record"):
        program.one(shape)
    with pytest.raises(InvalidInput, match="records"):
        program.read([shape, shape, shape])
    with pytest.raises(InvalidInput, match="records"):
        program.read(SharedResources(3, needs=((0,), (0, 1)), costs=(0.5, 0.25)).read(np.zeros((3, 2))))


@pytest.mark.parametrize("change", [
    {"needs": ()}, {"needs": ((),)}, {"needs": ((0, 0),)}, {"needs": ((2,),)}, {"needs": ((-1,),)}, {"needs": (0,)},
    {"needs": ((0.5,),)}, {"needs": None}, {"costs": ()}, {"costs": (0.5, 0.0)}, {"costs": 0.5}, {"costs": ("a", "b")},
    {"costs": (0.5, float("nan"))}, {"supply": -1.0}, {"supply": (0.0, 0.0)}, {"supply": float("nan")}, {"people": 0},
    {"tau": 0.0}, {"tau": (1.0,)}])
def test_public_faults_are_refused_before_any_record(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        SharedResources(**{"people": 2, "supply": 0.0, "needs": ((0,), (0, 1)), "costs": (0.5, 0.25), **change})
