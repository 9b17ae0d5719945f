"""The three steps of a program: settings for a budget, a plan with its figures, a run with progress."""

from __future__ import annotations

import math
from typing import Any

import pytest

from confide.contract import InvalidInput, Picture, Plan, Refused
from confide.privacy.noise import Noise
from confide.programs import PrivDude, RoundDude, TightDude, TightenAndAudit, TrueDude, UnitDemand, plan
from confide.programs.dude import Dude
from confide.programs.instances import popular

SMALL = UnitDemand(5_000, 500, goods=5)
LARGE = UnitDemand(100_000, 5_000, goods=10)


@pytest.mark.parametrize("kind", [PrivDude, TrueDude, RoundDude, TightenAndAudit])
def test_a_mechanism_for_a_budget_has_the_rounds_that_a_plan_has(kind: type[Dude]) -> None:
    many = UnitDemand(20_000, 333, goods=30)
    made = kind.for_budget(program=many, epsilon=4.0, delta=1e-6)
    advised = plan(many, epsilon=4.0, delta=1e-6, mode=kind.__name__, timed=False)  # type: ignore[arg-type]
    assert (made.epsilon, made.delta) == (4.0, 1e-6)
    assert (made.burn_in, made.rounds) == (advised.path.burn_in, advised.path.rounds) == (257, 200)
    other = kind.for_budget(program=many, epsilon=4.0, delta=1e-6, rounds=40, law="discrete_gaussian")
    assert (other.burn_in, other.rounds, other.law) == (257, 40, "discrete_gaussian")
    assert kind.for_budget(program=many, epsilon=4.0, delta=1e-6, step="adagrad").burn_in == 100


def test_what_a_budget_cannot_do_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^delta: 0.0 is out of range; must be in \(0, 0.5\)"):
        PrivDude.for_budget(program=SMALL, epsilon=1.0)
    with pytest.raises(InvalidInput, match=r"^program: "):
        PrivDude.for_budget(program=5_000, epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="positional"):
        PrivDude.for_budget(SMALL, 1.0, 1e-6)  # type: ignore[misc]
    with pytest.raises(Refused, match="more rounds"):
        TightDude.for_budget(program=SMALL, epsilon=1.0, delta=1e-6)


def test_a_plan_shows_its_figures_and_what_else_there_is() -> None:
    found = plan(LARGE, epsilon=1.0, delta=1e-6, timed=False)
    assert isinstance(found, Plan)
    assert next(iter(found.predicted)) == "excess"
    assert found.predicted["excess"].value == found.excess_share
    assert found.guarantees == found.mechanism.guarantees()
    names = [each.name for each in found.alternatives]
    assert names == ["TrueDude", "RoundDude", "TightenAndAudit", "TightDude"]
    *able, refused = found.alternatives
    for each in able:
        other = plan(LARGE, epsilon=1.0, delta=1e-6, mode=each.name, timed=False)  # type: ignore[arg-type]
        assert each.predicted == other.predicted
        assert each.refused
    assert not refused.predicted
    assert "the whole supply of a row" in refused.refused
    table = found.to_pandas()
    assert table["method"].tolist() == ["PrivDude", *names]
    assert table["excess (share of the supplies)"][0] == found.excess_share
    assert "TightenAndAudit" in found._repr_html_()


def test_the_first_figure_of_a_feasible_plan_is_its_reserve() -> None:
    found = plan(LARGE, epsilon=1.0, delta=1e-6, feasible=True, truthful=True, timed=False)
    assert list(found.predicted)[:3] == ["reserve", "noise_std", "gain of a lie"]
    assert found.predicted["reserve"].value == pytest.approx(found.reserve.sum() / 50_000)
    assert found.predicted["gain of a lie"].value == found.gain < math.inf
    said = {each.name: each.refused for each in found.alternatives}
    assert said["TrueDude"] == "loads may exceed the supply because of the noise"
    assert said["RoundDude"] == "it has no promise against lies"
    assert found.warnings == ()
    few = plan(LARGE, epsilon=1.0, delta=1e-6, rounds=4, burn_in=2, timed=False)
    assert any("may not reach their final level" in each for each in few.warnings)
    assert set(few.warnings) <= set(few.sentences())


def test_another_kind_of_program_leaves_fewer_alternatives() -> None:
    from confide.programs import AggregativeGame

    found = plan(AggregativeGame(5_000, (0.0,), actions=2, largest=1.0), epsilon=2.0, delta=1e-6, timed=False)
    assert found.mode == "PrivDude"
    assert all("packing program" in each.refused for each in found.alternatives)
    assert not any(each.predicted for each in found.alternatives)


@pytest.mark.parametrize("options", [{}, {"feasible": True}, {"mode": "TrueDude"}])
def test_an_error_is_planned_for_with_about_the_least_epsilon(options: dict[str, Any]) -> None:
    found = plan(LARGE, error=0.02, delta=1e-6, timed=False, **options)
    first = next(iter(found.predicted.values())).value
    assert 0.019 < first <= 0.02
    with pytest.raises(Refused):
        plan(LARGE, epsilon=0.98 * found.path.epsilon, delta=1e-6, most_excess=0.02, most_unused=0.02, timed=False,
             **options)


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0, "error": 0.1}, {"error": 0.0}, {"error": 1.5}])
def test_either_a_budget_or_an_error_is_given(given: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=r"^(epsilon|error): "):
        plan(LARGE, delta=1e-6, timed=False, **given)  # type: ignore[arg-type]


def test_an_error_out_of_reach_is_refused() -> None:
    with pytest.raises(Refused, match="excess"):
        plan(UnitDemand(20, 1, goods=10), error=1e-5, delta=1e-6, timed=False, rounds=200, burn_in=100)


def test_the_picture_has_the_plan_and_falls() -> None:
    for options in ({}, {"mode": "RoundDude"}):
        picture = plan(LARGE, epsilon=1.0, delta=1e-6, timed=False, **options).plot()  # type: ignore[arg-type]
        assert isinstance(picture, Picture)
        assert "epsilon" in str(picture.spec)


@pytest.mark.parametrize("kind", [PrivDude, RoundDude, TightenAndAudit])
def test_a_run_tells_its_rounds(kind: type[Dude]) -> None:
    reported = list[tuple[int, int | None]]()
    kind(SMALL, 1.0, 1e-6, 6, 3).run(popular(5_000, 5, seed=1), Noise.simulated(1),
                                     progress=lambda done, of: reported.append((done, of)))
    assert reported == [(each, 9) for each in range(1, 10)]
