"""Scoring rules (spec truthful_regression 2 and 7.1, acceptance 1 and 9)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from confide.contract import InvalidInput
from confide.regression.bounds import RidgeBounds
from confide.regression.posterior import PosteriorMean
from confide.regression.priors import UniformBall, UniformNoise
from confide.regression.scoring import ScoringRule, clipped_payment_range, payment_deviation, payment_range
from confide.regression.spectrum import Spectrum

values = st.floats(-5, 5)
weights = st.floats(0.01, 10)


@given(values, values, values, weights)
def test_identities_of_the_rule(p: float, q: float, a: float, b: float) -> None:
    rule = ScoringRule(a, b)
    assert rule(p, q) == pytest.approx(a - b * (p - p * p) - b * (p - q) ** 2, abs=1e-11)
    assert rule(p, q) == pytest.approx((a - b / 2) + b / 2 * float(ScoringRule(1.0, 2.0)(p, q)), abs=1e-11)
    assert ScoringRule(a, b, centred=True)(p, q) == pytest.approx(float(rule(p, q)) + b * p, abs=1e-11)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_rule_is_the_mean_of_the_basic_brier_score(p: float, q: float) -> None:
    def brier(outcome: int) -> float:
        return 2 * outcome * q + 2 * (1 - outcome) * (1 - q) - q**2 - (1 - q) ** 2

    assert float(ScoringRule(1.0, 2.0)(p, q)) == pytest.approx(p * brier(1) + (1 - p) * brier(0), abs=1e-14)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(("s", "t"), [(1.0, 1.0), (2.0, 5.0)])
def test_lying_about_a_bit_costs_what_the_prior_says(s: float, t: float, centred: bool) -> None:
    """Beta(s, t) prior, E[p | bit] = (s + bit)/(s + t + 1): 2/(s + t + 1)^2, 2/9 for the uniform prior."""
    truth, lie = (s + 1) / (s + t + 1), s / (s + t + 1)
    loss = float(ScoringRule(1.0, 2.0, centred).loss_of_lying(truth, truth, lie))
    assert loss == pytest.approx(2 / (s + t + 1) ** 2, abs=1e-14)
    if s == t == 1:
        assert loss == pytest.approx(2 / 9, abs=1e-14)


def test_payments_of_the_source_can_be_negative() -> None:
    assert float(ScoringRule(1.0, 2.0)(1.0, 0.0)) == -1.0
    assert float(ScoringRule(1.0, 2.0)(0.0, 1.0)) == -1.0


@given(values, values, values, weights, st.booleans())
def test_losses_are_differences_of_payments_and_the_same_for_both_rules(
    mean: float, truth: float, lie: float, b: float, centred: bool
) -> None:
    rule = ScoringRule(0.3, b, centred)
    loss = float(rule.loss_of_lying(mean, truth, lie))
    assert loss == pytest.approx(float(rule(mean, truth) - rule(mean, lie)), abs=1e-9)
    assert rule.best_gain(mean, truth, [lie, truth]) == pytest.approx(max(0.0, -loss), abs=1e-12)
    assert float(rule.loss_of_lying(truth, truth, lie)) >= 0


@given(st.floats(0, 3), st.floats(0, 3), weights, st.booleans())
def test_the_range_is_attained_and_never_left(p_bound: float, q_bound: float, b: float, centred: bool) -> None:
    rule = ScoringRule(0.5, b, centred)
    low, high = rule.payment_range(p_bound, q_bound)
    p = np.linspace(-p_bound, p_bound, 5)[:, None]
    q = np.append(np.linspace(-q_bound, q_bound, 201), [min(p_bound, q_bound), -min(p_bound, q_bound)])
    paid = rule(p, q)
    assert paid.min() == pytest.approx(low, abs=1e-9)
    assert paid.max() == pytest.approx(high, abs=1e-9)
    assert paid.min() >= low - 1e-9
    assert paid.max() <= high + 1e-9


def test_the_range_of_a_run_holds_for_both_noise_vectors_together() -> None:
    d, scale, radius, inner, failure = 3, 0.2, 1.25, 1.0, 0.02
    rule = ScoringRule(0.1, 1.0)
    low, high = payment_range(rule, d, scale, radius, inner, failure)
    length = (high - 0.1 + inner**2) / (1 + 2 * inner)
    assert special.gammaincc(d, (length - radius) / scale) == pytest.approx(failure / 2)
    assert low == pytest.approx(0.1 - (length * (1 + 2 * inner) + inner**2))
    assert clipped_payment_range(rule, scale, radius, inner, (length - radius) / scale) == pytest.approx((low, high))


@pytest.mark.parametrize("centred", [False, True])
def test_the_deviation_of_a_payment_is_that_of_the_noise(centred: bool) -> None:
    rng = np.random.default_rng(3)
    d, scale, x, q, n = 4, 0.3, np.array([0.5, 0.1, 0.0, -0.6]), 0.2, 200_000
    direction = rng.normal(size=(n, d))
    v = direction / np.linalg.norm(direction, axis=1)[:, None] * rng.gamma(d, scale, n)[:, None]
    rule = ScoringRule(1.0, 2.0, centred)
    stated = float(payment_deviation(rule, d, scale, q, float(np.linalg.norm(x))))
    assert rule(0.1 + v @ x, q).std() == pytest.approx(stated, rel=0.01)


def test_interim_gain_of_the_golden_example() -> None:
    """Acceptance 9: P = .4351 and a best gain of .01196 b, with g from draws of the design."""
    rng = np.random.default_rng(9)
    m, d, gamma, runs = 400, 3, 20.0, 4000
    x = UniformBall(d, 1.0).from_normals(rng.normal(size=(runs * m, d)), rng.uniform(size=runs * m)).reshape(runs, m, d)
    g = float(np.mean(gamma / (gamma + np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x))))
    assert g == pytest.approx(0.2009, abs=5e-4)
    posterior = PosteriorMean(UniformBall(d, 1.0), UniformNoise(0.5))
    player, reports = np.array([0.7, 0.4, 0.1]), np.linspace(-2, 2, 2001)
    predictions = posterior(np.tile(player, (2001, 1)), reports)
    truth = float(posterior(player[None], [0.9])[0])
    mean = (1 - g) * truth
    assert mean == pytest.approx(0.4351, abs=5e-4)
    for centred in (False, True):
        rule = ScoringRule(0.0, 1.0, centred)
        assert rule.best_gain(mean, truth, predictions) == pytest.approx(0.01196, abs=1e-4)
        assert rule.best_gain(truth, truth, predictions) == 0
    group = Spectrum.uniform_ball(rows=m, dimension=d, tolerance=0.3)
    assert RidgeBounds(spectrum=group, ridge=gamma, prior_radius=1.0, noise_bound=0.5).peer_error ** 2 >= 0.01196


@pytest.mark.parametrize(("a", "b"), [(np.nan, 1.0), (np.inf, 1.0), ("1", 1.0), (True, 1.0), (0.0, 0.0), (0.0, -1.0)])
def test_bad_parameters_are_refused(a: float, b: float) -> None:
    with pytest.raises(InvalidInput):
        ScoringRule(a, b)


def test_bad_bounds_are_refused() -> None:
    rule = ScoringRule(0.0, 1.0)
    with pytest.raises(InvalidInput, match="p_bound"):
        rule.payment_range(-1.0, 1.0)
    with pytest.raises(InvalidInput, match="radius"):
        payment_range(rule, 2, 0.1, np.inf, 1.0, 1e-6)
