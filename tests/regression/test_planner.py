"""The planner against the golden example of spec truthful_regression 8, its inverses, and its refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cases import fast
from confide.contract import InvalidInput, Refused
from confide.contract.words import number
from confide.privacy import Noise
from confide.regression import (
    AdaSSP,
    Averaged,
    PrivateTruthfulRegression,
    RidgeRelease,
    SufficientStatistics,
    TruncatedGaussianNoise,
    UniformBall,
    plan,
)
from confide.regression.compared_releases import best_ridge_release
from confide.regression.records import as_batches, moments

GOLDEN = {
    "people": 1_000_000, "features": 5, "parameter_bound": 1.0, "noise_bound": 0.5, "epsilon_release": 0.01,
    "epsilon_payment": 0.01, "truth_radius": 0.25, "release": "ridge", "ridge_payment": 1000.0,
    "spectrum_tolerance": 0.05, "misreports": 0.001, "failure_probability": 1e-6, "centred": False,
    "minor_units": 10**9,
}
SMALL = {"people": 20_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5, "epsilon_release": 1.0,
         "epsilon_payment": 0.5, "truth_radius": 0.5}


def test_golden_example() -> None:
    found = plan(**GOLDEN)  # type: ignore[arg-type]
    m, f = found.mechanism, found.figures
    assert isinstance(m.release, RidgeRelease)
    assert m.release.ridge == pytest.approx(18615, rel=1e-4)
    assert f.peer_error == pytest.approx(0.0363, abs=2e-4)  # ours adds truncation and the solver
    assert f.threshold == pytest.approx(5.843, abs=5e-4)
    assert m.payment.rule.b == pytest.approx(0.0527, abs=1e-4)
    assert m.payment.rule.a == pytest.approx(0.01558, abs=5e-5)
    assert f.gain == pytest.approx(0.0024, abs=5e-5)
    assert f.truth_radius == pytest.approx(0.25, abs=1e-9)
    assert f.expected_total == pytest.approx(126734, rel=2.5e-3)
    assert f.typical_error == pytest.approx(0.0250, abs=1e-4)
    assert f.accuracy.bound == pytest.approx(0.0329, abs=1e-4)
    assert 0.85 < found.lie_bias < 0.96  # .96 as the ridge weight goes to 0; less with it
    assert f.lowest == pytest.approx(-1.65, abs=0.01)
    assert f.highest == pytest.approx(1.57, abs=0.01)
    assert any("lies of everybody up to the truth radius" in w for w in found.warnings)
    assert not any(g.vacuous for g in found.guarantees)


def test_the_centred_rule_asks_for_the_same_truth_at_a_fraction_of_the_money() -> None:
    source, centred = plan(**GOLDEN), plan(**{**GOLDEN, "centred": True})  # type: ignore[arg-type]
    assert centred.mechanism.payment.rule.b == source.mechanism.payment.rule.b
    assert centred.figures.gain == source.figures.gain
    assert centred.figures.expected_total < 0.5 * source.figures.expected_total


def test_budget_and_truth_radius_are_inverse() -> None:
    first = plan(**SMALL)  # type: ignore[arg-type]
    again = plan(**{**SMALL, "truth_radius": None, "budget": first.figures.expected_total})  # type: ignore[arg-type]
    assert again.figures.truth_radius == pytest.approx(0.5, rel=1e-6)
    assert again.mechanism.payment.rule.b == pytest.approx(first.mechanism.payment.rule.b, rel=1e-6)
    richer = plan(**{**SMALL, "truth_radius": None, "budget": 3 * first.figures.expected_total})  # type: ignore[arg-type]
    assert richer.figures.truth_radius < 0.5


@pytest.mark.parametrize(("error", "more"), fast(2, [
    (1e-4, {}), (1e-3, {"release": "ridge"}), (0.1, {"release": "averaged"}),
    (2e-5, {"release": "adassp", "delta": 1e-6}),
]))
def test_an_error_takes_about_the_least_epsilon(error: float, more: dict[str, object]) -> None:
    parts = {"epsilon_release": None, "epsilon_payment": None, "truth_radius": 1.9, "people": 100_000}
    found = plan(**{**SMALL, **parts, **more, "error": error})  # type: ignore[arg-type]
    asked, epsilon = {**SMALL, **parts, **more}, round(5 * found.mechanism.payment.epsilon, 12)
    assert found.to_dict() == plan(**{**asked, "epsilon": epsilon}).to_dict()  # type: ignore[arg-type]
    less, first = plan(**{**asked, "epsilon": 0.99 * epsilon}), next(iter(found.predicted))  # type: ignore[arg-type]
    assert found.predicted[first].value <= error < less.predicted[first].value


def test_an_error_is_refused_beside_an_epsilon_or_out_of_reach() -> None:
    alone = {**SMALL, "epsilon_release": None, "epsilon_payment": None}
    with pytest.raises(InvalidInput, match="error: is given together with an epsilon"):
        plan(**{**SMALL, "error": 0.1})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="error: 0 is out of range"):
        plan(**{**alone, "error": 0})  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"squared error of 1e-12 with this number of people \(invite more "
                                      r"people, or ask for"):
        plan(**{**alone, "error": 1e-12})  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"^with epsilon = .*, which this error needs, a truth radius .*a smaller error"):
        plan(**{**alone, "error": 0.05, "release": "ridge"})  # type: ignore[arg-type]


def test_auto_takes_the_least_predicted_error() -> None:
    few = plan(people=300_000, features=100, parameter_bound=1.0, noise_bound=1.0, epsilon=2.0, truth_radius=1.9,
               misreports=1e-4, failure_probability=0.01)
    assert min(few.compared, key=few.compared.get) == "ridge"  # n epsilon is far below 1.4 d^3
    assert isinstance(few.mechanism.release, RidgeRelease)
    many = plan(**SMALL)  # type: ignore[arg-type]
    assert isinstance(many.mechanism.release, SufficientStatistics)
    loose = plan(**{**SMALL, "delta": 1e-6, "release": "adassp"})  # type: ignore[arg-type]
    assert isinstance(loose.mechanism.release, AdaSSP)
    free = plan(**{**SMALL, "release": "averaged", "epsilon_payment": 2.0, "epsilon_release": None})  # type: ignore[arg-type]
    assert isinstance(free.mechanism.release, Averaged)
    assert free.figures.loss.epsilon == 2.0


def test_total_epsilon_is_split() -> None:
    found = plan(**{**SMALL, "epsilon": 2.0, "epsilon_release": None, "epsilon_payment": None})  # type: ignore[arg-type]
    assert found.mechanism.payment.epsilon == pytest.approx(0.4)
    assert found.figures.loss.epsilon == pytest.approx(2.0)


def test_planning_is_reproducible_and_json_ready() -> None:
    import json

    a, b = plan(**SMALL).to_dict(), plan(**SMALL).to_dict()  # type: ignore[arg-type]
    assert a == b
    json.dumps(a)


def test_warnings_when_answers_hardly_matter() -> None:
    found = plan(**{**SMALL, "parameter_bound": 0.1, "noise_bound": 1.0, "truth_radius": 0.08, "people": 2_000_000})  # type: ignore[arg-type]
    assert found.informativeness < 0.1
    assert any("hardly depend" in w for w in found.warnings)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"truth_radius": 0.01}, "truth radius of 0.01 is out of reach"),
        ({"people": 100, "misreports": 0.02, "epsilon_release": 0.05}, "the records would teach hardly anything"),
        ({"misreports": 1e-6}, "misreports = 1e-06 of "),
        ({"truth_radius": None, "budget": 1e-3}, "does not cover"),
    ],
)
def test_hopeless_plans_are_refused_with_what_would_do(change: dict[str, object], reason: str) -> None:
    with pytest.raises(Refused, match=reason) as caught:
        plan(**{**SMALL, **change})  # type: ignore[arg-type]
    assert caught.value.remedy
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"epsilon_release": 0.0}, "epsilon_release"),
        ({"epsilon_payment": math.inf}, "epsilon_payment"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"epsilon_payment": None}, "epsilon_payment"),
        ({"delta": 1.0}, "delta"),
        ({"release": "magic"}, "release"),
        ({"release": "adassp"}, "delta"),
        ({"budget": 10.0}, "truth_radius"),
        ({"truth_radius": None}, "truth_radius"),
        ({"parameter_bound": None}, "parameter_bound"),
        ({"noise_bound": None}, "noise_bound"),
        ({"noise": TruncatedGaussianNoise(noise_std=0.1, bound=0.4)}, "noise_bound"),
        ({"prior": UniformBall(dimension=2, radius=0.5)}, "parameter_bound"),
        ({"people": 3}, "people"),
        ({"people": 20_000.5}, "people"),
        ({"features": 0}, "dimension"),
        ({"radius": 0.5}, "radius"),
        ({"smallest_eigenvalue": 0.9}, "smallest_eigenvalue"),
        ({"largest_eigenvalue": 0.5}, "largest_eigenvalue"),
        ({"misreports": 1.5}, "misreports"),
        ({"failure_probability": 0.0}, "failure_probability"),
        ({"spectrum_tolerance": 1.0}, "spectrum_tolerance"),
        ({"ridge_payment": 0.0}, "ridge_payment"),
        ({"clip": -1.0}, "clip"),
        ({"minor_units": 0}, "minor_units"),
        ({"costs": 0.01}, "costs"),
    ],
)
def test_bad_input_names_the_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(**{**SMALL, **change})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_plan_prints_its_figures_and_warnings() -> None:
    found = plan(**SMALL)  # type: ignore[arg-type]
    shown = str(found)
    assert f"{number(found.figures.expected_total)}  USD" in shown
    assert all(warning in shown for warning in found.warnings)


def test_other_releases_are_mechanisms_that_run() -> None:
    """Each pays as much for the truth as the plan, spends no more, and covers the costs of taking part."""
    found = plan(**SMALL)  # type: ignore[arg-type]
    others = [each.mechanism for each in found.alternatives if each.predicted]
    assert others
    for each in others:
        assert isinstance(each, PrivateTruthfulRegression)
        assert each.payment.rule.b == found.mechanism.payment.rule.b
        assert each.payment.rule.a >= each.figures.least_constant
        assert type(each.release) is not type(found.mechanism.release)
        assert each.guarantees().privacy


def test_a_plan_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(**SMALL)  # type: ignore[arg-type]
    bundle = found.plot()._repr_mimebundle_()
    assert any("vegalite" in kind for kind in bundle)
    assert bundle["text/plain"] == found.plot().alt
    monkeypatch.setattr("confide.charts.render.available", lambda: False)
    assert found.plot().spec  # a picture's data need nothing that draws


def test_releases_are_compared_by_the_error_of_a_prediction() -> None:
    """With correlated features, a direction in which people hardly differ must not decide which release is best."""
    found = plan(people=20_190, features=11, parameter_bound=0.4, noise_bound=0.6, smallest_eigenvalue=0.0005,
                 largest_eigenvalue=0.35, epsilon_release=1.0, epsilon_payment=0.5, budget=1e6, misreports=2e-4,
                 failure_probability=1e-3)
    setting = found.mechanism.setting
    assert setting.eigenvalues[0] == pytest.approx(0.0005)
    assert setting.eigenvalues[-1] == pytest.approx(0.35)
    wide = replace(setting, smallest_eigenvalue=0.05, largest_eigenvalue=0.9)  # E||x||^2 cannot exceed 1
    assert wide.eigenvalues[0] == pytest.approx(0.05)
    assert wide.eigenvalues.sum() == pytest.approx(1.0)
    assert isinstance(found.mechanism.release, SufficientStatistics)
    ridge = RidgeRelease(epsilon=1.0, ridge=best_ridge_release(setting, 1.0))
    assert replace(setting, largest_eigenvalue=None).eigenvalues.sum() == pytest.approx(0.5)  # where nothing is known
    flat = replace(setting, largest_eigenvalue=0.0005)  # as if every direction were the worst
    other = RidgeRelease(epsilon=1.0, ridge=best_ridge_release(flat, 1.0))
    assert other.prediction_error(flat) < found.mechanism.release.prediction_error(flat)
    for release in (ridge, found.mechanism.release):
        errors = release.expected_errors(setting)
        assert release.expected_error(setting) == pytest.approx(errors.sum())
        assert release.prediction_error(setting) == pytest.approx(errors @ setting.eigenvalues)
        # simulated on a population with that spectrum
        rng = np.random.default_rng(0)
        theta = np.full(11, 0.4 / math.sqrt(11))
        got = []
        for run in range(8):
            X = rng.choice([-1.0, 1.0], (20_190, 11)) * np.sqrt(setting.eigenvalues)
            y = X @ theta + rng.uniform(-0.6, 0.6, len(X))
            first, second = moments(as_batches((X, y), 11), setting.record_map, np.arange(len(X)) % 2 == 0, 11)
            out = release.run(setting, first + second, np.zeros((2, 11)), Noise.simulated(run))
            got.append(float(np.sum(setting.eigenvalues * (out.estimate - theta) ** 2)))
        assert np.mean(got) == pytest.approx(release.prediction_error(setting), rel=0.7)


def test_predicted_error_is_what_happens() -> None:
    """The typical error of the ridge release within 25 % of a simulation over fresh populations."""
    from confide.privacy import Noise
    from confide.regression.records import as_batches, moments
    from confide.regression.stand_ins import stand_in

    found = plan(people=20_000, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=1.0,
                 epsilon_payment=1.0, truth_radius=0.8, release="ridge")
    s, release = found.mechanism.setting, found.mechanism.release
    errors = []
    for run in range(40):
        noise = Noise.simulated(run)
        people = stand_in(s, noise, run)
        first, second = moments(as_batches((people.X, people.y), 5), s.record_map, np.zeros(s.people, dtype=bool), 5)
        out = release.run(s, first + second, np.zeros((2, 5)), noise)
        errors.append(float(np.sum((out.estimate - people.theta) ** 2)))
    assert np.mean(errors) == pytest.approx(release.expected_error(s), rel=0.25)


def test_a_plan_tells_its_figures_and_those_of_every_other_release() -> None:
    found = plan(**SMALL)  # type: ignore[arg-type]
    first, *_ = found.predicted
    assert found.predicted[first].value == min(found.compared.values())
    assert found.predicted["truth radius"].value == found.figures.truth_radius
    assert {each.name for each in found.alternatives} == {
        f"release = {name}" for name in ("ridge", "averaged", "sufficient statistics", "adassp")
    } - {f"release = {found.release}"}
    errors = [each.predicted[first].value for each in found.alternatives if each.predicted]
    assert errors == sorted(errors)
    (without,) = [each for each in found.alternatives if not each.predicted]
    assert without.refused == "it needs a delta above 0"
    assert all(each.refused for each in found.alternatives)
    frame = found.to_pandas()
    assert len(frame) == 4
    assert frame["method"][0] == "PrivateTruthfulRegression"
    assert "another release" not in found._repr_html_()
    assert found.plot().spec["title"] == "Accuracy against privacy"


def test_a_release_that_was_asked_for_says_so_of_better_ones() -> None:
    found = plan(**{**SMALL, "release": "ridge"})  # type: ignore[arg-type]
    better = found.alternatives[0]
    assert better.predicted["squared error of a prediction"].value < found.compared["ridge"]
    assert better.refused == "the file asks for another release"


def test_an_averaged_release_is_drawn_against_the_payments_epsilon() -> None:
    found = plan(people=20_000, features=2, parameter_bound=1.0, noise_bound=0.5, epsilon_payment=1.0,
                 release="averaged", truth_radius=0.5)
    axes = {str(layer["encoding"]["x"].get("title")) for layer in found.plot().spec["layer"]}
    assert "epsilon of the payment estimates" in axes


def test_a_budget_of_privacy_gives_the_mechanism_of_the_plan() -> None:
    settings = {key: value for key, value in SMALL.items() if not key.startswith("epsilon")}
    found = plan(**settings, epsilon=1.5, delta=1e-7)  # type: ignore[arg-type]
    made = PrivateTruthfulRegression.for_budget(**settings, epsilon=1.5, delta=1e-7)  # type: ignore[arg-type]
    assert made == found.mechanism
    with pytest.raises(InvalidInput, match=r"one of truth_radius .*budget"):
        PrivateTruthfulRegression.for_budget(epsilon=1.5, people=20_000, features=2, parameter_bound=1.0,
                                             noise_bound=0.5)
