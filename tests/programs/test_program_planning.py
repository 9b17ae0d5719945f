"""`plan`: public sizes only, what would do where it is hopeless, and predictions that runs bear out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise import Noise
from confide.programs import PrivDude, UnitDemand, plan
from confide.programs.instances import popular


def test_a_plan_in_numbers() -> None:
    """Spec convex_programs 2 and 9.6: s = 6.30; TightenAndAudit keeps back about the 1.6% that it loses."""
    program = UnitDemand(100_000, 5_000, goods=10)
    found = plan(program, 1.0, 1e-6, timed=False)
    assert (found.mode, found.certain) == ("PrivDude", False)
    assert found.averaged == pytest.approx(math.sqrt(2) / 0.2367043807 / math.sqrt(0.9), rel=1e-6)
    assert found.expected_excess == pytest.approx(10 * found.averaged / math.sqrt(2 * math.pi))
    assert found.excess_share == pytest.approx(0.00354, rel=1e-2)
    assert found.vacuous
    assert found.gain == math.inf
    assert found.seconds == pytest.approx(3000 * 1.2e-5)
    exact = plan(program, 1.0, 1e-6, feasible=True, timed=False)
    assert exact.mode == "TightenAndAudit"
    assert exact.certain
    assert exact.unused_share == pytest.approx(0.017, rel=0.05)
    priced = plan(program, 1.0, 1e-6, truthful=True, timed=False)
    assert priced.mode == "TrueDude"
    assert priced.gain == pytest.approx(0.01 + 1.01 * 0.0942113940, rel=1e-6)  # spec 9.7
    assert plan(program, 1.0, 1e-6, truthful=True, feasible=True, timed=False).gain > priced.gain


@pytest.mark.parametrize(("options", "what"), [
    ({}, "certificate would claim"), ({"feasible": True}, "keep back"), ({"mode": "RoundDude"}, "keep back")])
def test_hopeless_plans_say_what_would_do(options: dict[str, object], what: str) -> None:
    with pytest.raises(Refused, match=what) as refused:
        plan(UnitDemand(1_000, 50, goods=10), 1.0, 1e-6, timed=False, **options)  # type: ignore[arg-type]
    epsilon, supplies = refused.value.remedy.split(", or ")
    enough = float(epsilon.split()[-1])
    plan(UnitDemand(1_000, 50, goods=10), enough, 1e-6, timed=False, **options)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        plan(UnitDemand(1_000, 50, goods=10), 0.98 * enough, 1e-6, timed=False, **options)  # type: ignore[arg-type]
    words = supplies.replace(",", "").split()
    copies, people = int(words[2]), int(words[4])
    plan(UnitDemand(people, copies, goods=10), 1.0, 1e-6, timed=False, **options)  # type: ignore[arg-type]
    fewer = (int(0.98 * people), int(0.98 * copies))
    with pytest.raises(Refused):
        plan(UnitDemand(*fewer, goods=10), 1.0, 1e-6, timed=False, **options)  # type: ignore[arg-type]


def test_tight_dude_is_vacuous_at_every_size_that_can_be_computed() -> None:
    """Spec convex_programs 6.2: at n = 100,000 with 10 goods its margin exceeds the supply."""
    with pytest.raises(Refused, match="all that a row holds"):
        plan(UnitDemand(100_000, 5_000, goods=10), 1.0, 1e-6, "TightDude", timed=False)


def test_rows_that_cannot_be_over_count_no_excess() -> None:
    found = plan(UnitDemand(1_000, (900.0, 2_000.0)), 1.0, 1e-6, timed=False)
    assert found.holds.tolist() == [900.0, 1_000.0]
    assert found.certified_excess == pytest.approx(plan(UnitDemand(1_000, (900.0, 999.0)), 1.0, 1e-6,
                                                        timed=False).certified_excess / 2)
    assert plan(UnitDemand(10, (20.0,)), 1.0, 1e-6, timed=False).certified_excess == 0.0


@pytest.mark.parametrize(("people", "goods", "runs"), fast(1, [(4_000, 5, 3), (20_000, 10, 12), (20_000, 30, 4)]))
def test_predictions_are_borne_out(people: int, goods: int, runs: int) -> None:
    """Total excess near k s/sqrt(2 pi), and a certificate near k z s, on made-up records; with 30 goods 900 rounds."""
    program, values = UnitDemand(people, people // (2 * goods), goods=goods), popular(people, goods, seed=1)
    found = plan(program, 1.0, 1e-6, most_excess=0.1)
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
    found = plan(program, 1.0, 1e-6, most_excess=0.1, timed=False)
    assert found.needed_rounds == (257, 129)
    assert (found.path.burn_in, found.path.rounds, found.settles) == (257, 200, True)
    few = plan(program, 1.0, 1e-6, most_excess=0.1, rounds=20, burn_in=10, timed=False)
    assert not few.settles
    assert any("may not arrive" in one for one in few.sentences())
    outcome = few.path.run(popular(20_000, 30, seed=1), Noise.simulated(1))
    assert outcome.certificate.total_excess > 5 * few.certified_excess  # type: ignore[union-attr]
    for options in ({"step": "adagrad"}, {"start": (0.5,) * 30}):
        assert plan(program, 1.0, 1e-6, most_excess=0.1, timed=False, **options).settles  # type: ignore[arg-type]


def test_words_and_dictionary() -> None:
    for options in ({}, {"feasible": True}, {"truthful": True}, {"law": "discrete_gaussian"}):
        found = plan(UnitDemand(100_000, 5_000, goods=10), 1.0, 1e-6, timed=False, **options)  # type: ignore[arg-type]
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
