"""`plan`: public sizes only, what would do where it is hopeless, and predictions that runs bear out."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    CappedAdditive,
    Electricity,
    Flow,
    Knapsack,
    PrivDude,
    Program,
    ProgramRecords,
    RoundDude,
    TightDude,
    TightenAndAudit,
    TrueDude,
    UnitDemand,
    XorBundles,
    certificate,
    exact,
    plan,
)
from confide.programs.dude import Dude
from confide.programs.instances import popular


def test_a_plan_in_numbers() -> None:
    """Spec convex_programs 2 and 9.6: s = 6.30; TightenAndAudit keeps back about the 1.6% that it loses."""
    program = UnitDemand(100_000, 5_000, goods=10)
    found = plan(program, epsilon=1.0, delta=1e-6, timed=False)
    assert (found.mode, found.certain) == ("PrivDude", False)
    assert found.noise_std == pytest.approx(math.sqrt(2) / 0.2367043807 / math.sqrt(0.9), rel=1e-6)
    assert found.expected_excess == pytest.approx(10 * found.noise_std / math.sqrt(2 * math.pi))
    assert found.excess_share == pytest.approx(0.00354, rel=1e-2)
    assert found.vacuous
    assert found.gain == math.inf
    assert found.seconds == pytest.approx(3000 * 1.2e-5)
    exact = plan(program, epsilon=1.0, delta=1e-6, feasible=True, timed=False)
    assert exact.mode == "TightenAndAudit"
    assert exact.certain
    assert exact.unused_share == pytest.approx(0.017, rel=0.05)
    assert exact.gain == math.inf
    priced = plan(program, epsilon=1.0, delta=1e-6, truthful=True, timed=False)
    assert priced.mode == "TrueDude"
    assert priced.gain == pytest.approx(0.01 + 1.01 * 0.0942113940, rel=1e-6)  # spec 9.7
    assert plan(program, epsilon=1.0, delta=1e-6, truthful=True, feasible=True, timed=False).gain > priced.gain


@pytest.mark.parametrize(("options", "what"), [
    ({}, "the certificate of PrivDude would state an excess of"),
    ({"feasible": True}, "would reserve the whole supply"), ({"mode": "RoundDude"}, "would reserve the whole supply")])
def test_hopeless_plans_say_what_would_do(options: dict[str, object], what: str) -> None:
    with pytest.raises(Refused, match=what) as refused:
        plan(UnitDemand(1_000, 50, goods=10), epsilon=1.0, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]
    epsilon, supplies = refused.value.remedy.split(", or ")
    enough = float(epsilon.split()[-1])
    plan(UnitDemand(1_000, 50, goods=10), epsilon=enough, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        plan(UnitDemand(1_000, 50, goods=10), epsilon=0.98 * enough, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]
    words = supplies.replace(",", "").split()
    copies, people = int(words[2]), int(words[4])
    plan(UnitDemand(people, copies, goods=10), epsilon=1.0, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]
    fewer = (int(0.98 * people), int(0.98 * copies))
    with pytest.raises(Refused):
        plan(UnitDemand(*fewer, goods=10), epsilon=1.0, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]


def test_tight_dude_is_vacuous_at_every_size_that_can_be_computed() -> None:
    """Spec convex_programs 6.2: at n = 100,000 with 10 goods its margin exceeds the supply."""
    with pytest.raises(Refused, match="reserve the whole supply of a row"):
        plan(UnitDemand(100_000, 5_000, goods=10), epsilon=1.0, delta=1e-6, mode="TightDude", timed=False)


def test_rows_that_cannot_be_over_count_no_excess() -> None:
    found = plan(UnitDemand(1_000, (900.0, 2_000.0)), epsilon=1.0, delta=1e-6, timed=False)
    assert found.holds.tolist() == [900.0, 1_000.0]
    assert found.certified_excess == pytest.approx(plan(UnitDemand(1_000, (900.0, 999.0)), epsilon=1.0, delta=1e-6,
                                                        timed=False).certified_excess / 2)
    assert plan(UnitDemand(10, (20.0,)), epsilon=1.0, delta=1e-6, timed=False).certified_excess == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("people", "goods", "runs"), fast(1, [(4_000, 5, 3), (20_000, 10, 12), (20_000, 30, 4)]))
def test_predictions_are_borne_out(people: int, goods: int, runs: int) -> None:
    """Total excess near k s/sqrt(2 pi), and a certificate near k z s, on made-up records; with 30 goods 900 rounds."""
    program, values = UnitDemand(people, people // (2 * goods), goods=goods), popular(people, goods, seed=1)
    found = plan(program, epsilon=1.0, delta=1e-6, most_excess=0.1)
    assert isinstance(found.path, PrivDude)
    assert found.settles
    over, claimed = [], []
    for seed in range(runs):
        outcome = found.path.run(values, Noise.simulated(seed))
        over.append(float(outcome.diagnostics["excess"].sum()))  # type: ignore[union-attr]
        claimed.append(outcome.certificate.total_excess)  # type: ignore[union-attr]
    assert 0.4 * found.expected_excess < np.mean(over) < 2.5 * found.expected_excess
    assert np.mean(claimed) == pytest.approx(found.certified_excess, rel=0.25)


def test_rounds_are_as_many_as_prices_need() -> None:
    """(scale/(2b))^2 of burn-in; with too few the certificate shows it, and the plan says so before."""
    program = UnitDemand(20_000, 333, goods=30)
    found = plan(program, epsilon=1.0, delta=1e-6, most_excess=0.1, timed=False)
    assert found.needed_rounds == (257, 129)
    assert (found.path.burn_in, found.path.rounds, found.settles) == (257, 200, True)
    few = plan(program, epsilon=1.0, delta=1e-6, most_excess=0.1, rounds=20, burn_in=10, timed=False)
    assert not few.settles
    assert any("may not arrive" in one for one in few.sentences())
    outcome = few.path.run(popular(20_000, 30, seed=1), Noise.simulated(1))
    assert outcome.certificate.total_excess > 5 * few.certified_excess  # type: ignore[union-attr]
    for options in ({"step": "adagrad"}, {"start": (0.5,) * 30}):
        assert plan(program, epsilon=1.0, delta=1e-6, most_excess=0.1, timed=False, **options).settles  # type: ignore[arg-type]


def test_words_and_dictionary() -> None:
    for options in ({}, {"feasible": True}, {"truthful": True}, {"law": "discrete_gaussian"}):
        found = plan(UnitDemand(100_000, 5_000, goods=10), epsilon=1.0, delta=1e-6, timed=False, **options)  # type: ignore[arg-type]
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["mode"] == found.mode
        assert found.mode in found.sentences()[0]
        assert all("nan" not in one for one in found.sentences())


@pytest.mark.parametrize("bad", [
    {"epsilon": 0.0}, {"delta": 1.0}, {"mode": "DoubleDude"}, {"alpha": 0.0}, {"most_excess": 1.0},
    {"most_unused": 0.0}, {"speed": 3}, {"rounds": 0}, {"mode": "PrivDude", "feasible": True},
    {"mode": "RoundDude", "truthful": True}, {"epsilon_": 1}])
def test_what_is_rejected(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        plan(**{"program": UnitDemand(100_000, 5_000, goods=10), "epsilon": 1.0, "delta": 1e-6, "timed": False, **bad})  # type: ignore[arg-type]


# ---- options of the modes


LARGE = UnitDemand(100_000, 5_000, goods=10)
OWN: list[tuple[type[Dude], dict[str, object]]] = [
    (PrivDude, {"law": "discrete_gaussian"}), (RoundDude, {"flag_share": 0.2, "batch": 7}),
    (RoundDude, {"truncate": True, "stop_share": 0.25}), (TrueDude, {"alpha": 0.05}),
    (TightenAndAudit, {"audit_share": 0.3, "slack": 0.2}), (TightenAndAudit, {"alpha": 0.05, "payments": "scaled"})]


@pytest.mark.parametrize(("kind", "options"), OWN)
def test_a_plan_is_of_the_mechanism_with_all_its_options(kind: type[Dude], options: dict[str, object]) -> None:
    found = plan(LARGE, epsilon=1.0, delta=1e-6, mode=kind.__name__, timed=False, **options)  # type: ignore[arg-type]
    made = kind(LARGE, 1.0, 1e-6, rounds=found.path.rounds, burn_in=found.path.burn_in, **options)  # type: ignore[arg-type]
    assert found.mechanism == made
    assert found.reserve.tolist() == made.reserve.tolist()
    assert found.noise_std == made.noise_std
    assert found.gain == made.gain
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["alpha"] == getattr(made, "alpha", None)


def test_options_change_what_is_planned() -> None:
    """They used to be left out: a share of .002 for the audit was planned as one of a half."""
    usual, thin = (plan(LARGE, epsilon=1.0, delta=1e-6, mode="TightenAndAudit", timed=False, most_unused=0.9,
                        **more).unused_share
                   for more in ({}, {"audit_share": 0.02}))
    assert thin > 2 * usual
    with pytest.raises(Refused, match=r"would reserve 44\.2% of the supplies"):
        plan(LARGE, epsilon=1.0, delta=1e-6, mode="TightenAndAudit", timed=False, audit_share=0.0002)
    stops = plan(LARGE, epsilon=1.0, delta=1e-6, mode="RoundDude", timed=False, truncate=True)
    assert stops.unused_share > 1.2 * plan(LARGE, epsilon=1.0, delta=1e-6, mode="RoundDude", timed=False).unused_share
    assert any(one.startswith("no row is over, for sure") for one in stops.sentences())


def test_an_advised_mode_takes_its_own_options() -> None:
    found = plan(LARGE, epsilon=1.0, delta=1e-6, feasible=True, timed=False, audit_share=0.4)
    assert isinstance(found.mechanism, TightenAndAudit)
    assert (found.mechanism.audit_share, found.mechanism.alpha) == (0.4, None)
    both = plan(LARGE, epsilon=1.0, delta=1e-6, feasible=True, truthful=True, timed=False)
    assert (both.alpha, both.mechanism.alpha) == (0.01, 0.01)  # type: ignore[attr-defined]
    named = plan(LARGE, epsilon=1.0, delta=1e-6, feasible=True, timed=False, alpha=0.02)
    assert named.mechanism.gain < 1.0
    for asked, name, where in (({"feasible": True, "flag_share": 0.3}, "flag_share", "RoundDude alone"),
                               ({"alpha": 0.02}, "alpha", "TrueDude, TightDude, TightenAndAudit alone"),
                               ({"mode": "RoundDude", "slack": 0.3}, "slack", "TightenAndAudit alone"),
                               ({"mode": "PrivDude", "alpha": 0.3}, "alpha", "is no option of PrivDude"),
                               ({"speed": 1}, "speed", "is no option of any mode")):
        with pytest.raises(InvalidInput) as caught:
            plan(LARGE, epsilon=1.0, delta=1e-6, timed=False, **asked)  # type: ignore[arg-type]
        assert caught.value.field == name
        assert where in str(caught.value)
    with pytest.raises(InvalidInput, match="without an alpha"):
        plan(LARGE, epsilon=1.0, delta=1e-6, mode="TightenAndAudit", timed=False, payments="scaled")
    with pytest.raises(Refused, match="more rounds"):  # TightDude's own remedy
        plan(LARGE, epsilon=1.0, delta=1e-6, mode="TightDude", timed=False, payments="scaled")
    assert isinstance(plan(UnitDemand(5_000, (2_500.0,)), epsilon=1.0, delta=1e-6, mode="TightDude", timed=False,
                           rounds=4_000, alpha=0.5,
                           most_unused=0.9, payments="scaled").mechanism, TightDude)


# ---- what is vacuous where supply is scarce


def test_no_bound_above_all_that_there_is_says_anything() -> None:
    """Six copies of two goods are worth 6 at most, whatever 10,000 people want."""
    scarce = UnitDemand(10_000, 3, goods=2)
    it = PrivDude(scarce, 1.0, 1e-6)
    assert it.baseline_gap == 6.0
    for promise in it._accuracy():
        if promise.measure.startswith("optimum"):
            assert promise.bound > 6.0
            assert promise.vacuous
    board = it.run(popular(10_000, 2, seed=1), Noise.simulated(1)).billboard
    found = certificate(board)  # type: ignore[arg-type]
    assert found.gap > 6.0
    assert found.vacuous
    lines = plan(scarce, epsilon=1_000.0, delta=1e-6, timed=False, rounds=10, burn_in=10, most_excess=0.9).sentences()
    assert not any("proved" in one and "optimum" in one for one in lines)


@pytest.mark.parametrize(("program", "most"), [
    (UnitDemand(100, (3.0, 4.5)), 7.5), (UnitDemand(100, (300.0, 4.5)), 100.0),
    (CappedAdditive(100, 3, goods=4, cap=2), 24.0), (XorBundles(100, 3, goods=4, size=2, bids=1), 12.0),
    (Flow(100, 3, arcs=((0, 1), (1, 2)), hops=2, escape=2.0), 12.0),
    (Electricity(100, 3, most=2, intervals=2, slots=2), 24.0),
    (Electricity(100, 3, most=2, intervals=2, slots=2, shortfall=0.5), 300.0),
    (Knapsack(100, 3.0, rows=2, least_weight=0.5), 100.0)])  # an item may take nothing
def test_what_all_supplies_can_be_worth(program: Program, most: float) -> None:
    assert PrivDude(program, 1.0, 1e-6).baseline_gap == most


@pytest.mark.parametrize("seed", fast(1, list(range(4))))
def test_no_optimum_is_above_it(seed: int) -> None:
    draw = study_generator(seed)
    ends = np.array([draw.choice(3, 2, replace=False) for _ in range(40)])
    cases: list[tuple[Program, Any]] = [
        (UnitDemand(40, 3, goods=3), np.ones((40, 3))), (CappedAdditive(40, 3, goods=3, cap=2), draw.random((40, 3))),
        (Flow(40, 2, arcs=((0, 1), (1, 2), (2, 0)), hops=2, escape=2.0, costs=(0.0, 0.1, 0.2)), ends),
        (Electricity(40, 2.5, most=2, intervals=1, slots=3), draw.random((40, 1, 3))),
        (XorBundles(40, 2, goods=3, size=2, bids=1), [[((0, 1), 1.0)]] * 40)]
    for program, data in cases:
        best = exact(program, data).value
        assert best <= PrivDude(program, 1.0, 1e-6).baseline_gap + 1e-9 < 40 * program.constants.most_value


# ---- rounds, and time


@pytest.mark.parametrize(("goods", "share", "needed"), [
    (10, 0.5, (100, 50)), (10, 1.0, (625, 313)), (10, 0.8, (625, 313)), (10, 0.96, (2713, 1357)), (5, 1.0, (157, 79)),
    (2, 0.5, (32, 16)), (1, 0.5, (32, 16))])
def test_rounds_follow_from_how_much_more_is_wanted_than_there_is(
    goods: int, share: float, needed: tuple[int, int],
) -> None:
    """Measured with n = 20,000: see the module. 200 + 100 rounds were once planned where 7% of excess was left."""
    found = plan(UnitDemand(20_000, share * 20_000 / goods, goods=goods), epsilon=1.0, delta=1e-6, timed=False)
    assert found.needed_rounds == pytest.approx(needed, abs=1)
    assert found.settles
    few = plan(UnitDemand(20_000, share * 20_000 / goods, goods=goods), epsilon=1.0, delta=1e-6, timed=False, rounds=8,
               burn_in=4)
    assert not few.settles


@pytest.mark.parametrize(("goods", "share"), fast(0, [(5, 1 / 1.2), (10, 1 / 1.2), (10, 1.0), (5, 1 / 1.05)]))
def test_rounds_do_where_nearly_everybody_is_served(goods: int, share: float) -> None:
    program = UnitDemand(20_000, float(int(20_000 * share / goods)), goods=goods)
    found = plan(program, epsilon=1.0, delta=1e-6, timed=False)
    outcome = found.path.run(popular(20_000, goods, seed=3), Noise.simulated(2))
    assert outcome.diagnostics["excess"].sum() < found.certified_excess  # type: ignore[union-attr]


def test_what_is_timed_are_the_programs_own_trial_records() -> None:
    """Null records take no solve where people's do: a program says which records take as long as theirs."""
    asked = list[int]()

    @dataclass(frozen=True)
    class Timed(UnitDemand):
        most: float = field(default=math.inf, kw_only=True)

        @property
        def most_responses(self) -> float:
            return self.most

        def trial_records(self, count: int) -> ProgramRecords:
            asked.append(count)
            return super().trial_records(count)

    for most in (math.inf, 1e8):
        plan(Timed(4_000, 1_000, goods=2, most=most), epsilon=1.0, delta=1e-6)
    assert asked == [4096, 64]
    assert UnitDemand(9, 1, goods=2).trial_records(3).people == 3
