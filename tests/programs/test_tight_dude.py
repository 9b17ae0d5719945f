"""TightDude: margins as derived, whole parts within every row, prices that never exceed values, unbiased coins."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from parts_program import Parts, Unpriced
from scipy.stats import binom, norm

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Participation, Truthfulness
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, Program, TightDude, UnitDemand
from confide.programs.billboards import tally_of
from confide.programs.dual_dynamics import Descent
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import bernstein, corrected_regret, regret_bound
from confide.programs.incentives import alpha_units, exact_alpha, judged
from confide.programs.instances import popular
from confide.programs.program import Shard
from confide.programs.whole_parts import Terms, drawn_rounds, whole_parts

from false_alarms import alpha


def wide(**options: Any) -> TightDude:
    """4,000 people and 2,000 copies of one good: about half of them are kept back."""
    program = options.pop("program", None) or UnitDemand(4000, (2000.0,))
    usual = {"epsilon": 1.0, "delta": 1e-6, "rounds": 1000, "burn_in": 100, "alpha": 0.5}
    return TightDude(program, **{**usual, **options})


def row(outcome: Any, i: int) -> dict[str, Any]:
    return {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}


# ---- margins


def test_margins() -> None:
    """Spec convex_programs 6.2: R (1/tau + Cinf/alpha) + Bern(b, Cinf, ln(3k/beta)), R at beta/3."""
    mechanism = wide(program=UnitDemand(20_000, (9000.0, 12_000.0), tau=(1.0, 2.0)), rounds=10_000)
    regret = regret_bound(mechanism.program.constants, mechanism.schedule, mechanism.failure_probability / 3)
    for j, (supply, tau) in enumerate(((9000.0, 1.0), (12_000.0, 2.0))):
        wanted = regret * (1 / tau + 2) + bernstein(supply, 1.0, math.log(6 / 0.05))
        # A coin's sides and the rounding of charged prices are more.
        assert wanted < mechanism.reserve[j] < wanted + supply * 1e4 / 2**32 + 1e-5 * regret
        assert mechanism.priced.supplies[j] == pytest.approx(supply - mechanism.reserve[j], abs=2 / LOAD_UNIT)
    assert mechanism.regret == regret
    assert mechanism.reserve_share == max(mechanism.reserve / np.array([9000.0, 12_000.0]))


def test_margins_are_refused_where_they_are_the_whole_supply_and_what_would_do_is_named() -> None:
    """Spec convex_programs 6.2: at n = 10^5 and k = 10 more than the supply, with 300 rounds or 10^9."""
    program = UnitDemand(100_000, 5000.0, goods=10)
    with pytest.raises(Refused, match="more rounds"):
        TightDude(program, 1.0, 1e-6, 200, 100)
    s = PrivDude(program, 1.0, 1e-6, burn_in=0).noise_std
    assert corrected_regret(rows=10, tau=1, width=1e5, noise_std=s, rounds=1e9,
                            failure_probability=0.05) / 0.01 > 40_000
    with pytest.raises(Refused, match=r"supplies 1\.\d+ times as large") as refusal:
        wide(program=UnitDemand(4000, (1000.0,)))
    named = 1000.0 * refusal.value.remedies[0].settings["factor"]
    assert wide(program=UnitDemand(4000, (named,))).reserve_share > 0.99
    with pytest.raises(Refused):
        wide(program=UnitDemand(4000, (0.999 * named,)))


@pytest.mark.parametrize(("people", "rounds"), [(300, 100_000), (4000, 1000), (10**6, 200)])
def test_the_regret_bound_is_that_of_the_step_that_is_taken(people: int, rounds: int) -> None:
    """At the best step the two bounds meet; where noise outgrows the scale, 2 tau/(n sqrt(T)) is not the best one."""
    mechanism = PrivDude(UnitDemand(people, people / 2, goods=4), 1.0, 1e-6, rounds, 0)
    best = corrected_regret(rows=4, tau=1.0, width=float(people), noise_std=mechanism.noise_std, rounds=rounds,
                            failure_probability=0.05)
    ratio = mechanism.regret / best
    assert (1.3 < ratio < 1.8) if people == 300 else (1.0 < ratio < 1.001)


def test_margins_grow_until_they_cover_what_they_change() -> None:
    """A family whose step follows the supply: less of it, and the regret is another."""
    class Stepped(UnitDemand):
        @cached_property
        def constants(self):  # type: ignore[no-untyped-def]
            return replace(super().constants, step_scale=tuple(0.5 * one for one in self.supplies))

    mechanism = wide(program=Stepped(4000, (3000.0,)), rounds=10_000)
    covered = regret_bound(mechanism.priced.constants, mechanism.schedule, mechanism.failure_probability / 3)
    assert covered > regret_bound(mechanism.program.constants, mechanism.schedule, mechanism.failure_probability / 3)
    assert mechanism.reserve[0] >= 3 * covered + bernstein(3000.0, 1.0, math.log(60))


@pytest.mark.parametrize("bad", [
    {"alpha": 0.0}, {"alpha": 2.0**-25}, {"payments": "fixed"}, {"program": Unpriced(4000, (2000.0,))},
    {"program": "all"}, {"step": "adagrad"}, {"step": "adagrad", "payments": "scaled"}, {"alpha": 0.01}])
def test_public_faults_are_refused_before_any_record(bad: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, Refused)):
        wide(**bad)


# ---- the run


@pytest.mark.slow
@pytest.mark.parametrize("options", fast(2, [
    {}, {"payments": "scaled", "program": Parts(4000, (2000.0,), parts=(0.7,))},
    {"payments": "scaled"}, {"program": Parts(4000, (2000.0,), parts=(0.7,))}, {"law": "discrete_gaussian"},
    {"neighbours": "add_or_remove"}]))
def test_shares_are_separate_decodes_and_rows_hold(options: dict[str, Any]) -> None:
    mechanism, values = wide(**options), popular(4000, 1, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    mechanism.check(outcome.billboard)
    assert outcome.diagnostics["excess"].max() == 0  # type: ignore[index,union-attr]
    taken = np.array(outcome.shares["action"].to_pylist())
    part = math.ceil(getattr(mechanism.program, "parts", (1.0,))[0] * LOAD_UNIT) / LOAD_UNIT
    assert (taken == 0).sum() * part == pytest.approx(outcome.diagnostics["load"][0])  # type: ignore[index]
    for i in range(0, 4000, 379):
        assert row(outcome, i) == mechanism.decode(values[i], i, outcome.billboard)
    exact = np.rint(values[:, 0].astype(float) * PRICE_UNIT) / PRICE_UNIT
    paid = np.array(outcome.shares["price"].to_pylist())
    if mechanism.payments == "scaled":
        assert (paid <= np.where(taken == 0, exact, 0.0)).all()  # in doubles, not nearly
    else:
        price = outcome.billboard.charged_prices[0] / PRICE_UNIT * part
        assert np.array_equal(paid, np.where(taken == 0, price, 0.0))
        assert (paid > np.where(taken == 0, exact, 0.0)).any()  # on her coin, somebody pays more than its worth
    with pytest.raises(InvalidInput, match="seed"):
        mechanism.check(replace(outcome.billboard, public_seed=""))


def test_an_unsatisfied_participant_gets_the_favourite_whatever_the_coin() -> None:
    mechanism = wide(program=UnitDemand(40_000, (20_000.0,)), alpha=0.2, rounds=4000)
    board = mechanism._board(
        np.zeros((4100, 1), np.int64), np.zeros((4100, 1), np.int64), public_seed="5c" * 32)
    board.prices[100:2300] = 2 * PRICE_UNIT  # 1.1 on average: 45% of the good, at more than anybody's value
    assert mechanism.decode([0.05], 3, board) == {"action": -1, "price": 0.0}
    assert {mechanism.decode([0.9], i, board)["action"] for i in range(20)} == {-1, 0}  # she misses .09 only
    board.prices[100:3300] = 0
    board.prices[3300:] = PRICE_UNIT  # .2 on average, and too dear in a fifth of the rounds
    assert {mechanism.decode([0.95], i, board)["action"] for i in range(20)} == {-1, 0}
    keen = replace(mechanism, program=UnitDemand(40_000, (38_000.0,)), alpha=0.14)
    with pytest.raises(InvalidInput, match="of another plan"):
        keen.decode([0.95], 0, board)
    board = replace(board, **keen._facts)
    assert {tuple(keen.decode([0.95], i, board).values()) for i in range(20)} == {
        (0, board.charged_prices[0] / PRICE_UNIT)}


@pytest.mark.slow
@pytest.mark.parametrize("runs", [pytest.param(2), pytest.param(40, marks=pytest.mark.slow)])
def test_rows_hold_but_with_probability_beta_and_not_without_margins(runs: int) -> None:
    class Bare(TightDude):
        """Planted: nothing is kept back from what is priced."""

        @property
        def descent(self) -> Descent:  # type: ignore[override]
            return Descent(program=self.program, schedule=self.schedule, step=self.step, start=self.start)

    program = UnitDemand(4000, (2000.0,))
    crowd = 0.5 + 0.5 * study_generator(1).random((4000, 1))
    over = {}
    for kind in (TightDude, Bare):
        mechanism = kind(program, 1.0, 1e-6, 400, 50, alpha=1.0)
        over[kind] = sum(mechanism.run(crowd, Noise.simulated(seed)).diagnostics["excess"][0] > 0  # type: ignore[index]
                         for seed in range(runs))
    most = binom.isf(alpha("programs.tight.feasible"), runs, 0.05)
    assert over[TightDude] <= most
    assert over[Bare] > most or runs < 40


def coins_on(program: Program, payments: str) -> tuple[Any, ...]:
    """A path of 40 rounds, everybody's average on it, and what is handed out in each of them."""
    values = popular(300, 4, seed=6)
    board = PrivDude(program, 1.0, 1e-6, 40, 20).run(values, Noise.simulated(6)).billboard
    records, units = program.read(values), alpha_units(program, 0.004)
    found = judged(program, records, tally_of(records, program, board.main_prices), board.charged_prices, 40, units)

    def handed(which: Any) -> tuple[Any, Any]:
        part = whole_parts(Shard(start=0, records=records), program, board, which,
                           Terms(alpha=units, payments=payments))  # type: ignore[arg-type]
        return program.values(records, part.actions) * program.scale - part.price, part

    return found, handed


@pytest.mark.parametrize("payments", ["average", "scaled"])
@pytest.mark.parametrize("program", [
    UnitDemand(300, 37.0, goods=4), Parts(300, (30.0,) * 4, parts=(0.3, 0.7, 1.0, 0.5))])
def test_over_all_coins_a_part_is_worth_its_average(program: Program, payments: str) -> None:
    """In whole numbers, everybody's: the draw changes nobody's utility in the mean."""
    found, handed = coins_on(program, payments)
    utilities = np.stack([handed(np.full(300, t))[0] for t in range(40)])
    average = found.value * program.scale - found.paid
    kept = ~found.unsatisfied
    assert found.unsatisfied.any()
    assert (utilities[:, ~kept] == utilities[0, ~kept]).all()
    assert (40 * utilities[0, ~kept] == average[~kept] + found.missed[~kept]).all()
    total = utilities.sum(axis=0)
    if payments == "average":
        assert (total[kept] == average[kept]).all()
        assert utilities.min() < 0
    else:  # a price is rounded down by less than a unit, and nobody takes what is not worth its price
        assert (utilities >= 0).all()
        worth = np.maximum(average, 0)
        assert ((total >= worth) & (total < worth + 40))[kept].all()
        assert handed(np.zeros(300, np.int64))[1].not_worth == (kept & (average < 0)).sum() > 0


def test_over_public_seeds_the_mean_is_the_averages() -> None:
    _, handed = coins_on(UnitDemand(300, 37.0, goods=4), "average")
    each = np.stack([handed(np.full(300, t))[0] for t in range(40)]) / PRICE_UNIT
    totals = [float(handed(drawn_rounds(f"{seed:064x}", 300, 40))[0].sum()) / PRICE_UNIT for seed in range(60)]
    deviation = math.sqrt(each.var(axis=0).sum() / len(totals))
    assert abs(np.mean(totals) - each.mean(axis=0).sum()) <= norm.isf(alpha("programs.tight.rounding") / 2) * deviation
    assert 0.5 < np.std(totals) / math.sqrt(each.var(axis=0).sum()) < 1.5


# ---- promises


def test_promises() -> None:
    mechanism = wide()
    promises = mechanism.guarantees()
    [truth] = promises.of(Truthfulness)
    slip = 3 * 1000 / 2**32  # a coin of 2^32 sides, utilities in [-2, 1]
    assert truth.gain == pytest.approx(0.5 + slip + (1.5 + slip) * mechanism.variation, rel=1e-12)
    many, excess, lost = promises.of(Accuracy)
    assert many.bound == mechanism.regret / exact_alpha(mechanism.program, 0.5)
    assert excess.bound == 0
    shown = mechanism.reserve_share * 2000 + 3 * mechanism.regret + math.sqrt(2 * 2000 * math.log(60))
    assert lost.bound == pytest.approx(shown, rel=1e-4)
    assert not any(one.vacuous for one in (truth, many, excess))
    assert lost.vacuous
    assert lost.baseline == 2000 < lost.bound < 4000
    assert [one.utility for one in promises.of(Participation)] == [pytest.approx(-0.5 - slip), -2.0]
    scaled = wide(payments="scaled").guarantees()
    assert [one.utility for one in scaled.of(Participation)] == [0.0, 0.0]
    assert scaled.of(Accuracy)[2].vacuous  # no bound is known of the value
    assert scaled.of(Truthfulness)[0].gain == pytest.approx(truth.gain, abs=1e-5)


def test_what_is_claimed_after_a_run_holds() -> None:
    mechanism, values = wide(), 0.5 + 0.5 * study_generator(1).random((4000, 1))
    outcome = mechanism.run(values, Noise.simulated(8))
    sure = replace(mechanism, failure_probability=1e-9)
    many, excess, lost = mechanism.claims(sure.certify(outcome.billboard)).of(Accuracy)
    found = outcome.diagnostics
    assert found["unsatisfied"] <= many.bound < 20  # type: ignore[index]
    assert found["excess"][0] <= excess.bound == 0  # type: ignore[index]
    best = np.sort(values[:, 0])[-2000:].sum()
    assert best - found["value"] <= lost.bound < 4000  # type: ignore[index]
    with pytest.raises(InvalidInput, match="certificate"):
        mechanism.claims(None)
