"""`exact`: bounds from both sides, in whole numbers, on programs of all shapes; the least dual bound of records."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from highs_reference import optimum, penalised
from scipy.sparse import csc_array, hstack

from cases import fast
from confide.contract.errors import InvalidInput, Refused, SolverFailed
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, UnitDemand, dual_value, exact, least_tau
from confide.programs.exact_optimum import as_prices, noiseless_prices
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT, Constants, loads_up, values_near
from confide.programs.instances import popular
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import Program, ProgramRecords
from confide.programs.solving import least_dual, solved


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRecords(ProgramRecords):
    worth: Any  # (n, m) units of value
    adds: Any  # (n, m, k) units of load


@dataclass(frozen=True)
class Table(Program):
    """Any program with m choices for everybody, listed: for tests."""

    choices: int = 3
    k: int = 2
    signed: bool = False
    public: float = 0.0  # cost of one more of every supply, up to 10
    wrong: bool = field(default=False, kw_only=True)  # a linear program of other records

    @property
    def rows(self) -> int:
        return self.k

    @property
    def width(self) -> int:
        return 1

    @property
    def scale(self) -> int:
        return 1 << 20

    @property
    def constants(self) -> Constants:
        tau = (20.0,) * self.k if self.tau is None else self.tau
        return Constants(rows=self.k, largest_entry=1.0, largest_sum=float(self.k), most_value=1.0, least_value=-5.0,
                         width=float(self.people + 10), tau=tau, signed=self.signed, packing=False)  # type: ignore[arg-type]

    def _read(self, data: Any, unusable: str) -> TableRecords:
        worth, adds = data
        return TableRecords(people=self.people, worth=values_near(worth).astype(np.int64), adds=loads_up(adds))

    def one(self, record: Any) -> TableRecords:
        raise NotImplementedError

    def public_load(self, prices: Any) -> Any:
        bought = self.public > 0 and prices.sum() > self.public * PRICE_UNIT
        return np.full(self.k, -10 * LOAD_UNIT if bought else 0, dtype=np.int64)

    def public_value(self, prices: Any) -> float:
        return -10.0 * self.public if self.public_load(prices)[0] else 0.0

    def respond(self, records: Any, prices: Any) -> Any:
        gain = records.worth * self.scale - records.adds @ prices
        best = gain.argmax(axis=1)
        return np.where(gain.max(axis=1) > 0, best, -1).astype(np.int32)[:, None]

    def contributions(self, records: Any, actions: Any) -> Any:
        taken = records.adds[np.arange(len(actions)), actions[:, 0]]
        return np.where(actions >= 0, taken, 0)

    def values(self, records: Any, actions: Any) -> Any:
        return np.where(actions[:, 0] >= 0, records.worth[np.arange(len(actions)), actions[:, 0]], 0)

    def linear_program(self, records: Any) -> LinearProgram:
        people = np.repeat(np.arange(self.people), self.choices)
        of = np.arange(len(people))
        found = choices(self, values=records.worth.ravel() // (2 if self.wrong else 1), people=people,
                        rows=np.tile(np.arange(self.k), len(of)), loads=records.adds.reshape(-1),
                        entries=np.repeat(of, self.k))
        if not self.public:
            return found
        more = csc_array(np.full((self.k, 1), -1.0))
        return LinearProgram(
            objective=np.append(found.objective, -self.public), coupling=hstack([found.coupling, more]),
            supply=found.supply, equations=False, personal=hstack([found.personal, csc_array((self.people, 1))]),
            low=found.low, high=found.high, lower=np.append(found.lower, 0.0), upper=np.append(found.upper, 10.0),
            owner=np.append(found.owner, -1))


class Equal(Table):
    two_sided = True


def assert_proved(program: Program, data: Any, found: Any) -> None:
    """The solution is feasible and worth what is said, by sums of rationals; the prices prove the bound."""
    records = program.read(data)
    value, load = Fraction(0), [Fraction(0)] * program.rows
    for i in range(program.people):
        actions, weights = found.solution(i)
        some = records.take(np.full(len(actions), i))
        assert sum(map(Fraction, weights)) == 1
        assert len(actions) == len(weights) > 0
        for v, c, w in zip(program.values(some, actions), program.contributions(some, actions), weights, strict=True):
            value += Fraction(int(v), PRICE_UNIT) * Fraction(w)
            load = [one + Fraction(int(x), LOAD_UNIT) * Fraction(w) for one, x in zip(load, c, strict=True)]
    assert found.value <= found.upper
    assert found.gap == pytest.approx(found.upper - found.value, abs=1e-9)
    assert dual_value(program, data, found.prices) == found.upper
    if getattr(program, "public", 0):
        return
    assert all(one <= Fraction(b) for one, b in zip(load, program.supply_units.astype(float) / LOAD_UNIT, strict=True))
    assert float(value) == pytest.approx(found.value, abs=1e-12)
    assert Fraction(found.value) <= value


@pytest.mark.parametrize("start", ["linear_program", "rounds"])
@pytest.mark.parametrize("seed", fast(2, range(12)))
def test_unit_demand_is_solved(seed: int, start: str) -> None:
    draw = study_generator(seed)
    k, n = int(draw.integers(1, 6)), int(draw.integers(1, 60))
    program = UnitDemand(n, tuple(np.round(draw.uniform(0, 1.2 * n / k, k), int(draw.integers(0, 3)))))
    values = draw.random((n, k)) if seed % 2 else draw.integers(0, 5, (n, k)) / 4
    found = exact(program, values, start=start)  # type: ignore[arg-type]
    assert_proved(program, values, found)
    assert found.gap <= 1e-6
    assert found.value == pytest.approx(optimum(program.linear_program(program.read(values))), abs=1e-6)
    assert found.excess == 0.0


@pytest.mark.parametrize("seed", fast(3, range(20)))
def test_any_program_is_solved(seed: int) -> None:
    """Contributions that are no whole numbers, of both signs, and a public block that buys supply."""
    draw = study_generator(seed, "table")
    n, m, k = int(draw.integers(2, 40)), int(draw.integers(1, 5)), int(draw.integers(1, 4))
    program = Table(n, tuple(draw.uniform(0.2, n / 3, k)), m, k, signed=bool(seed % 2),
                    public=float(draw.uniform(0.01, 0.4)) if seed % 3 == 0 else 0.0)
    data = draw.uniform(-1, 1, (n, m)), draw.uniform(-0.5 if seed % 2 else 0, 1, (n, m, k))
    for start in ("linear_program", "rounds"):
        found = exact(program, data, start=start)  # type: ignore[arg-type]
        assert_proved(program, data, found)
        assert found.gap <= 1e-6 * n
        assert found.value == pytest.approx(optimum(program.linear_program(program.read(data))), abs=1e-5)


def test_equations_are_missed_by_rounding_alone() -> None:
    draw = study_generator(5)
    program = Equal(30, (4.0, 3.0), 3, 2)
    data = np.zeros((30, 3)), draw.uniform(0, 1, (30, 3, 2))
    found = exact(program, data)
    assert 0 <= found.excess < 1e-6
    assert found.load == pytest.approx([4.0, 3.0], abs=1e-6)
    assert (found.value, found.upper) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_repr_shows_the_value_and_says_what_it_is() -> None:
    found = exact(UnitDemand(3, (1, 1)), [[1.0, 0.75], [0.75, 0.25], [0.5, 0.25]])
    assert repr(found) == "<ExactOptimum 1.5, not private: only for studies and for the operator>"
    assert not found.release_safe
    assert found.load.tolist() == [1.0, 1.0]


def test_nobody_wants_anything() -> None:
    for start in ("linear_program", "rounds"):
        assert exact(UnitDemand(4, (1.0,)), np.zeros((4, 1)), start=start).value == 0.0  # type: ignore[arg-type]


def test_prices_without_noise_are_nearly_optimal() -> None:
    program, values = UnitDemand(2000, 200, goods=5), popular(2000, 5, seed=3)
    best, silent = exact(program, values), noiseless_prices(program, values) / PRICE_UNIT
    upper = dual_value(program, values, silent)
    assert best.value <= best.upper <= upper <= 1.001 * best.value


def test_any_prices_bound_the_optimum() -> None:
    program, values = UnitDemand(200, 20, goods=5), popular(200, 5, seed=3)
    best = exact(program, values)
    for prices in study_generator(1).uniform(0, 2, (20, 5)):
        assert dual_value(program, values, prices) >= best.value
    assert dual_value(program, values, np.zeros(5)) == pytest.approx(float(values.max(axis=1).sum()), abs=1e-4)


def detour(tau: float) -> tuple[Table, Any]:
    """Erratum 7: one user, a free direct edge of capacity 1/2, a detour of 5 edges of cost 1.

    Values are all above -5 by one, so that nobody stays at home.
    """
    program = Table(1, (0.5,), 2, 1, tau=tau)
    return program, (np.array([[5.0, 0.0]]) + 1.0, np.array([[[1.0], [0.0]]]))


def test_the_dual_bound_of_flow_is_the_escape_and_not_1() -> None:
    """Spec convex_programs 7.7: the printed tau = 1 is false, and a run with it overfills the edge."""
    program, data = detour(5.5)
    assert least_tau(program, data) == pytest.approx(5.0, abs=1e-6)
    assert exact(program, data).value == pytest.approx(3.5)
    with pytest.raises(Refused, match="twice tau"):
        exact(detour(1.0)[0], data)
    outcome = PrivDude(detour(1.0)[0], epsilon=1e9, delta=0.4)
    prices = noiseless_prices(outcome.program, data)
    assert prices[0] == 2 * PRICE_UNIT  # at its end of the box, and the direct edge still pays


@pytest.mark.parametrize("seed", fast(3, range(20)))
def test_the_least_dual_bound_is_where_excess_stops_to_pay(seed: int) -> None:
    """Spec convex_programs 1: the exact penalty's weight, found by its other characterisation."""
    draw = study_generator(seed, "least")
    n, k = int(draw.integers(3, 15)), int(draw.integers(1, 4))
    program = UnitDemand(n, tuple(draw.integers(0, 1 + n // (k + 1), k).astype(float) + 0.25))
    values = draw.random((n, k))
    tau = least_tau(program, values)
    assert tau <= 1 + 1e-9
    lp = program.linear_program(program.read(values))
    best = solved(lp).value
    assert penalised(lp, tau + 1e-5) == pytest.approx(best, abs=1e-7)
    if tau > 1e-3:
        assert penalised(lp, tau - 1e-3) > best + 1e-6


def test_equations_have_dual_bounds_of_both_signs() -> None:
    """A row that must be met although it costs: its price is negative, and counts by its size."""
    lp = LinearProgram(
        objective=np.array([-3.0]), coupling=csc_array(np.array([[1.0]])), supply=np.array([0.5]), equations=True,
        personal=csc_array((0, 1)), low=np.zeros(0), high=np.zeros(0), lower=np.zeros(1), upper=np.ones(1),
        owner=np.zeros(1, dtype=np.int64))
    assert least_dual(lp) == pytest.approx(3.0, abs=1e-6)
    assert solved(lp).duals[0] == pytest.approx(-3.0)


def test_a_linear_program_that_is_another_is_noticed() -> None:
    draw = study_generator(2)
    program = Table(20, (3.0, 3.0), 2, 2, wrong=True)
    with pytest.raises(SolverFailed, match="contradicts the bounds"):
        exact(program, (draw.random((20, 2)), draw.random((20, 2, 2))))


def test_what_is_refused() -> None:
    program, values = UnitDemand(4, (1.0, 1.0)), np.full((4, 2), 0.5)
    with pytest.raises(InvalidInput, match="row 1"):
        exact(program, np.where(np.arange(4)[:, None] == 1, np.nan, values))
    with pytest.raises(InvalidInput, match="start"):
        exact(program, values, start="guess")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="tries"):
        exact(program, values, tries=0)
    for prices in ([0.1], [0.1, 2.5], [-0.1, 0.0], [0.0, np.nan]):
        with pytest.raises(InvalidInput, match="prices"):
            dual_value(program, values, prices)
    assert as_prices(program, [0.25, 2.0]).tolist() == [PRICE_UNIT // 4, 2 * PRICE_UNIT]
    hopeless = LinearProgram(
        objective=np.zeros(1), coupling=csc_array(np.array([[1.0]])), supply=np.array([2.0]), equations=True,
        personal=csc_array((0, 1)), low=np.zeros(0), high=np.zeros(0), lower=np.zeros(1), upper=np.ones(1),
        owner=np.zeros(1, dtype=np.int64))
    with pytest.raises(Refused, match="feasible"):
        solved(hopeless)


@pytest.mark.slow
def test_large_programs() -> None:
    """n = 100,000 with 10 goods, and 2,000 with 100: far more than the linear program's limit, or close to it."""
    for people, goods in ((100_000, 10), (2_000, 100)):
        program, values = UnitDemand(people, people // (2 * goods), goods=goods), popular(people, goods, seed=1)
        found = exact(program, values, start="rounds")
        assert found.gap <= 1e-9 * people
        assert (found.load <= people // (2 * goods)).all()
