"""PrivDude: shares are separate decodes, order and threads change nothing, noise is calibrated, certificates cover."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Privacy
from confide.numerics.shards import ThreadShards
from confide.privacy.gaussian import gdp_mu
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, RoundDude, TightDude, TightenAndAudit, TrueDude, UnitDemand
from confide.programs.dual_dynamics import Schedule, squared_budget, total_variation
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import bernstein, corrected_regret
from confide.programs.instances import popular


def small(people: int = 300, goods: int = 4, **options) -> PrivDude:  # type: ignore[no-untyped-def]
    program = UnitDemand(people, people // (2 * goods), goods=goods)
    return PrivDude(program, **{"epsilon": 1.0, "delta": 1e-6, "rounds": 40, "burn_in": 20, **options})


def test_calibration() -> None:
    """Spec convex_programs 11.1."""
    for epsilon, delta, mu in ((1, 1e-6, 0.2367043807), (0.1, 1e-6, 0.0275446502), (0.5, 1e-5, 0.1422105587)):
        assert gdp_mu(epsilon, delta) == pytest.approx(mu, rel=1e-6)
    assert total_variation("gaussian", Fraction(gdp_mu(1, 1e-6)) ** 2) == pytest.approx(0.0942113940, rel=1e-6)
    one = Schedule(rounds=1000, burn_in=0, squared_l2_sensitivity=Fraction(2),
                   squared_budget=squared_budget("gaussian", 1.0, 1e-6))
    assert one.main_noise_std == pytest.approx(188.9334, rel=1e-6)
    for epsilon, delta, factor in ((1, 1e-6, 4.531), (0.1, 1e-6, 39.46), (0.5, 1e-5, 7.667)):  # section 2, secure mode
        rho = squared_budget("discrete_gaussian", epsilon, delta)
        assert 1 / float(rho) ** 0.5 == pytest.approx(factor, rel=2e-4)


@pytest.mark.parametrize("law", ["gaussian", "discrete_gaussian"])
@pytest.mark.parametrize("burn_in", [0, 20])
def test_all_rounds_together_cost_the_budget_and_no_more(law: str, burn_in: int) -> None:
    mechanism = small(law=law, burn_in=burn_in)
    plan, squared = mechanism.schedule, mechanism.squared_l2_sensitivity
    spent = sum(squared / Fraction(plan.round_noise_std(t)) ** 2 for t in range(plan.total))
    assert 0.999999 * mechanism.squared_budget < spent <= mechanism.squared_budget
    [one] = mechanism.events()
    cost = Fraction(one.mu) ** 2 if law == "gaussian" else 2 * Fraction(one.rho)  # type: ignore[attr-defined]
    assert mechanism.squared_budget <= cost <= mechanism.squared_budget * Fraction(1.0000001)


def test_bounds() -> None:
    """Spec convex_programs 11.2."""
    s = 2**0.5 / gdp_mu(1, 1e-6)
    assert corrected_regret(rows=10, tau=1, width=1e5, noise_std=s, rounds=1e9,
                            failure_probability=0.05) == pytest.approx(406.6, 1e-5)
    assert bernstein(1000, 1, 5) == pytest.approx(101.68, rel=1e-4)


@pytest.mark.parametrize("options", fast(2, [
    {}, {"law": "discrete_gaussian"}, {"step": "adagrad"}, {"burn_in": 0}, {"neighbours": "add_or_remove"},
    {"start": (0.3, 0.3, 0.2, 0.1)}, {"rounds": 1, "burn_in": 0}]))
def test_shares_are_separate_decodes(options: dict[str, object]) -> None:
    mechanism = small(**options)
    values = popular(300, 4, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    mechanism.check(outcome.billboard)
    for i in range(0, 300, 7):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        assert share == mechanism.decode(values[i], i, outcome.billboard)
        assert sum(share["times"]) == mechanism.rounds


def test_order_threads_and_parts_change_nothing() -> None:
    mechanism, values = small(3000), popular(3000, 4, seed=2)
    first = mechanism.run(values, Noise.simulated(3))
    order = np.argsort(values[:, 0])
    for held, rows in ((partial(ThreadShards, workers=1), values), (partial(ThreadShards, workers=2), values[order])):
        again = mechanism.run(rows, Noise.simulated(3), shards=held)
        assert np.array_equal(again.billboard.prices, first.billboard.prices)
        assert np.array_equal(again.billboard.slacks, first.billboard.slacks)
    assert again.shares["actions"].to_pylist() == [first.shares["actions"][int(i)].as_py() for i in order]


def test_what_is_released_is_supply_less_load_with_noise() -> None:
    mechanism, values = small(burn_in=0, rounds=3), popular(300, 4, seed=2)
    board = mechanism.run(values, Noise.replayed({("slack", t): np.arange(4.0) + t for t in range(3)})).billboard
    for t, prices in enumerate(board.prices):
        wants = (values * np.float64(PRICE_UNIT)).round() - prices
        load = np.bincount(np.where(wants.max(axis=1) > 0, wants.argmax(axis=1), 4), minlength=5)[:4]
        assert np.array_equal(board.slacks[t], (37 - load + np.arange(4) + t) * LOAD_UNIT)
        if t:
            moved = board.prices[t - 1] / PRICE_UNIT - 2 / (300 * 3**0.5) * board.slacks[t - 1] / LOAD_UNIT
            assert np.abs(np.clip(moved, 0, 2) - prices / PRICE_UNIT).max() <= 2.0**-24


def test_a_billboard_that_no_run_makes_is_refused() -> None:
    mechanism = small()
    board = mechanism.run(popular(300, 4, seed=2), Noise.simulated(3)).billboard
    other = board.slacks.copy()
    other[5, 1] += 4000 * LOAD_UNIT
    for change in ({"slacks": other}, {"tau": 2 * board.tau}, {"round_noise_std": board.round_noise_std / 2},
                   {"burn_in": 19},
                   {"prices": board.prices[:-1]}, {"public_seed": "x"}, {"baseline_gap": 1e9}):
        with pytest.raises(InvalidInput):
            mechanism.check(replace(board, **change))


def test_average_loads_follow_noise_and_the_ends_of_the_path() -> None:
    """Spec convex_programs 2, planning rule: of a row whose price is never clipped."""
    program = UnitDemand(1000, (250.0,))
    mechanism = PrivDude(program, epsilon=1.0, delta=1e-6, rounds=400, burn_in=200)
    values, eta = ((np.arange(1000) + 0.5) / 1000)[:, None], 2 / (1000 * 400**0.5)
    for seed in range(3):
        draws = 80 * study_generator(seed).normal(size=600)
        outcome = mechanism.run(values, Noise.replayed({("slack", t): draws[t : t + 1] for t in range(600)}))
        prices = outcome.billboard.main_prices[:, 0] / PRICE_UNIT
        assert ((prices > 0) & (prices < 2)).all()
        last = prices[-1] - eta * outcome.billboard.natural_slacks[-1, 0]
        load = outcome.diagnostics["load"][0]  # type: ignore[index]
        # Prices are rounded to 2^-24 in each of the rounds.
        assert load - 250 == pytest.approx(draws[200:].mean() + (last - prices[0]) / (eta * 400), abs=2**-24 / eta)


@pytest.mark.parametrize("bad", [
    {"epsilon": 0.0}, {"delta": 0.0}, {"delta": 1.0}, {"rounds": 0}, {"burn_in": -1}, {"failure_probability": 1.0},
    {"step": "newton"},
    {"law": "laplace"}, {"neighbours": "add"}, {"start": (0.1,)}, {"burn_share": 1.0}, {"rounds": 10**6}])
def test_public_faults_are_refused_before_any_record(bad: dict[str, object]) -> None:
    with pytest.raises((InvalidInput, Refused)):
        small(**bad)


def test_bad_records() -> None:
    mechanism = small()
    values = popular(300, 4, seed=2)
    values[17, 2] = np.nan
    with pytest.raises(InvalidInput, match="row 17"):
        mechanism.run(values, Noise.simulated(1))
    outcome = mechanism.run(values, Noise.secure())
    assert outcome.shares["actions"][17].as_py() == [-1]
    with pytest.raises(InvalidInput, match=r"\[0, 1\]"):
        mechanism.decode(values[17], 17, outcome.billboard)
    with pytest.raises(InvalidInput, match="index"):
        mechanism.decode(values[1], 300, outcome.billboard)
    with pytest.raises(InvalidInput, match="is not a billboard"):
        mechanism.decode(values[1], 1, outcome)  # type: ignore[arg-type]


def test_promises() -> None:
    promises = small().guarantees()
    assert {str(one.audience) for one in promises.of(Privacy)} == {"others", "public"}
    assert all(one.vacuous for one in promises if not isinstance(one, Privacy))  # 40 rounds are far too few
    long = PrivDude(UnitDemand(10**6, 10**5, goods=10), epsilon=1.0, delta=1e-6, rounds=100_000, burn_in=0)
    assert not any(one.vacuous for one in long.guarantees())


def test_records_of_another_program_are_refused() -> None:
    """They may be beyond what the noise is made for."""
    mechanism, values = small(), popular(300, 4, seed=2)
    other = UnitDemand(300, 99, goods=4)
    for noise in (Noise.simulated(1), Noise.secure()):
        with pytest.raises(InvalidInput, match="another program"):
            mechanism.run(other.read(values), noise)
    own = mechanism.run(mechanism.program.read(values), Noise.simulated(1))
    assert own.shares.equals(mechanism.run(values, Noise.simulated(1)).shares)


@pytest.mark.parametrize("goods", [1, 2, 10, 47, 48, 49])
def test_loads_good_by_good_are_those_of_responses(goods: int) -> None:
    """Many ties: values and prices on a coarse grid; more people than one block, and a last one that is not full."""
    program = UnitDemand(2_500, 100, goods=goods)
    draw = study_generator(goods)
    records = program.read(draw.integers(0, 5, (2_500, goods)) / 4)
    for _ in range(20):
        prices = draw.integers(0, 5, goods) * (PRICE_UNIT // 4)
        wanted = program.load(records, program.respond(records, prices))
        assert program.load_at(records, prices).tolist() == wanted.tolist()


@pytest.mark.parametrize("delta", [0.5, 0.9])
@pytest.mark.parametrize("kind", [PrivDude, RoundDude, TrueDude, TightDude, TightenAndAudit])
def test_a_delta_of_a_half_is_refused(kind: Any, delta: float) -> None:
    """Spec convex_programs 8: delta outside (0, 1/2)."""
    with pytest.raises(InvalidInput, match=r"delta: .* must be in \(0, 0.5\)"):
        kind(UnitDemand(5000, 2500.0, goods=1), 1.0, delta)


BOARDS: list[tuple[Any, dict[str, Any]]] = [
    (PrivDude, {}), (TrueDude, {}), (RoundDude, {}), (TightenAndAudit, {}), (TightDude, {"alpha": 0.5})]


@pytest.mark.parametrize(("kind", "options"), BOARDS)
def test_a_billboard_of_another_plan_is_not_decoded(kind: Any, options: dict[str, Any]) -> None:
    """Of the same shape: a device would find another part than was planned for it, and not notice."""
    program = UnitDemand(5000, 2500.0, goods=1)
    rounds = (1000, 100) if kind is TightDude else (30, 10)
    mine = kind(program, 1.0, 1e-6, *rounds, **options)
    others = [replace(mine, epsilon=2.0), replace(mine, failure_probability=0.2),
              replace(mine, law="discrete_gaussian"),
              replace(mine, rounds=rounds[0] + 1, burn_in=rounds[1] - 1)]
    if kind is not TightDude:
        others += [replace(mine, program=UnitDemand(5000, 2500.0, goods=1, tau=2.0)),
                   replace(mine, program=UnitDemand(5000, 2400.0, goods=1))]
    if kind is TightenAndAudit:
        others += [replace(mine, slack=0.2)]

    def board_of(it: Any) -> Any:
        found: Any = mine.board
        more = {"raised": np.full(1, 5000)} if kind is RoundDude else {}
        more |= {"reserve_units": it.reserve_units, "audit": np.zeros(1, np.int64), "accepted": True} \
            if kind is TightenAndAudit else {}
        return found(**vars(it._board(np.zeros((sum(rounds), 1), np.int64), np.zeros((sum(rounds), 1), np.int64),
                                      public_seed="5c" * 32)), **more)

    assert mine.decode([0.5], 3, board_of(mine))
    for other in others:
        assert other.decode([0.5], 3, board_of(other))
        with pytest.raises(InvalidInput, match="billboard: belongs to another plan"):
            mine.decode([0.5], 3, board_of(other))
    assert replace(mine, failure_probability=1e-3).certify(board_of(mine)).failure_probability == 1e-3
    with pytest.raises(InvalidInput, match="belongs to another plan"):
        mine.certify(board_of(replace(mine, epsilon=2.0)))
