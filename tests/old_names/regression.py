"""Old names of `confide.regression` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.regression`, and what the new ones give."""
    from confide import regression as r
    from confide.evidence.cummings_2015 import printed_guarantees

    costs = r.ParetoCosts(exponent=4.0)
    behaviour = r.Behaviour(costs=costs, misreports=0.01, failure_probability=1e-3)
    ball, gauss = r.GaussianBall(2, std=0.1, radius=1.0), r.TruncatedGaussianNoise(noise_std=0.1, bound=0.5)
    setting = r.Setting(people=100, features=2, prior=ball, noise=gauss)
    ada, sums = r.AdaSSP(epsilon=1.0, delta=1e-6), r.SufficientStatistics(epsilon=1.0)
    ridge = r.RidgeRelease(epsilon=1.0, ridge=3.0)
    small: dict[str, Any] = {"people": 20_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5,
                             "epsilon": 1.5, "truth_radius": 0.5, "release": "sufficient statistics"}
    found = r.plan(**small, failure_probability=1e-3)
    return {
        ("AdaSSP", "deviation"): (lambda: ada.deviation(1.0), ada.noise_std(1.0)),
        ("AdaSSP", "gram_deviation"): (lambda: ada.gram_deviation, ada.gram_noise_std),
        ("AdaSSP", "cross_deviation"): (lambda: ada.cross_deviation(setting), ada.cross_noise_std(setting)),
        ("Behaviour", "failure"): (
            lambda: r.Behaviour(costs=costs, misreports=0.01, failure=1e-3), behaviour),
        ("Figures", "failure"): (lambda: found.figures.failure, found.figures.failure_probability),
        ("Figures", "range_failure"): (
            lambda: found.figures.range_failure, found.figures.range_failure_probability),
        ("GaussianBall", "deviation"): (lambda: r.GaussianBall(2, deviation=0.1, radius=1.0), ball),
        ("", "Payment"): (lambda: r.Payment, r.PaymentScheme),
        ("RidgeRelease", "scale"): (lambda: ridge.scale(setting), ridge.noise_scale(setting)),
        ("Setting.spectrum", "rows"): (lambda: setting.spectrum(rows=40), setting.spectrum(40)),
        ("SufficientStatistics", "deviation"): (lambda: sums.deviation(2), sums.noise_std(2)),
        ("SufficientStatistics", "scale"): (lambda: sums.scale, sums.noise_scale),
        ("TruncatedGaussianNoise", "sigma"): (lambda: r.TruncatedGaussianNoise(sigma=0.1, bound=0.5), gauss),
        ("plan", "printed"): (lambda: found.printed, printed_guarantees(found.mechanism)),
        ("plan", "misreports_failure"): (
            lambda: r.plan(**small, misreports_failure=1e-3).mechanism, found.mechanism),
        ("RegressionPlan", "trade_off()"): (lambda: [each.alt for each in found.trade_off()], [found.plot().alt]),
        ("plan", "warnings()"): (lambda: list(found.warnings()), list(found.warnings)),
    }
