"""Best-response search: exact on finite spaces, certified or refined on intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from confide.audit import Verdict, best_response, best_response_among
from confide.contract import InvalidInput

quick = limits(max_examples=40, deadline=None)


def brier(p, q):
    return 1 - 2 * (p - 2 * p * q + q**2)


@quick
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_proper_score_is_best_answered_by_the_truth(truth, low):
    found = best_response(lambda q: brier(truth, q), truth, 0.0, 1.0, points=101)
    assert found.regret <= 1e-12
    assert found.row(promised=0.0).verdict is Verdict.KEPT


@quick
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_biased_score_is_gamed_by_the_square_of_its_bias(truth, peer):
    found = best_response(lambda q: brier(peer, q), truth, 0.0, 1.0, points=101)
    assert found.report == pytest.approx(peer, abs=1e-6)
    assert found.gain == pytest.approx(2 * (truth - peer) ** 2, abs=1e-12)
    if abs(truth - peer) > 1e-3:
        assert found.row(promised=found.gain * 0.99).verdict is Verdict.BROKEN
    assert found.row(promised=found.gain).verdict is Verdict.KEPT


def test_shrunk_peer_prediction_of_a_private_regression():
    """Spec truthful_regression, check 9: m=400, gamma=20, d=3, M=.5, x=(.7,.4,.1), y=.9 -> best gain .01196 b."""
    norm, noise, y, shrink = math.sqrt(0.7**2 + 0.4**2 + 0.1**2), 0.5, 0.9, 0.2009

    def posterior(report):
        report = np.clip(report, -(norm + noise), norm + noise)
        low, high = np.maximum(-1.0, (report - noise) / norm), np.minimum(1.0, (report + noise) / norm)
        mass = (high - high**3 / 3) - (low - low**3 / 3)
        with np.errstate(invalid="ignore", divide="ignore"):
            inner = norm * ((1 - low**2) ** 2 - (1 - high**2) ** 2) / (4 * mass)
        return np.where(high - low < 1e-9, norm * (low + high) / 2, inner)

    peer = (1 - shrink) * float(posterior(np.array(y)))
    assert peer == pytest.approx(0.4351, abs=5e-5)
    found = best_response(lambda r: brier(peer, posterior(r)) / 2, y, -(norm + noise), norm + noise)
    assert found.gain == pytest.approx(0.01196, abs=1e-5)
    assert posterior(np.array(found.report)) == pytest.approx(peer, abs=1e-6)


def test_many_peaks_and_a_jump():
    found = best_response(lambda r: np.sin(40 * r) + 0.1 * r, 0.5, 0.0, 1.0, points=101)
    brute = np.linspace(0, 1, 2_000_001)
    assert found.gain == pytest.approx(np.max(np.sin(40 * brute) + 0.1 * brute) - math.sin(20.0) - 0.05, abs=1e-9)
    step = best_response(lambda r: np.where(r < 1 / 3, r, -1.0), 0.1, 0.0, 1.0)
    assert step.report == pytest.approx(1 / 3, abs=1e-8)
    assert step.report < 1 / 3


def test_ends_of_the_interval_are_tried():
    assert best_response(lambda r: r, 0.0, -2.0, 3.0).report == 3.0
    assert best_response(lambda r: -r, 0.0, -2.0, 3.0).report == -2.0


@quick
@given(st.floats(-3, 3), st.floats(0.1, 30), st.integers(3, 60))
def test_a_lipschitz_bound_covers_every_report(centre, frequency, points):
    def utility(r):
        return np.cos(frequency * (r - centre))

    found = best_response(utility, 0.25, -1.0, 1.0, points=points, refine=1, lipschitz=frequency)
    brute = float(np.max(utility(np.linspace(-1, 1, 20_001)))) - float(utility(np.array(0.25)))
    assert found.gain_bound >= max(brute, found.gain) - 1e-12
    assert math.isinf(best_response(utility, 0.25, -1.0, 1.0).gain_bound)


def test_a_lipschitz_bound_is_tight_for_a_tip_between_two_grid_points():
    found = best_response(lambda r: -np.abs(r - 0.45), 0.0, 0.0, 1.0, points=11, refine=0, lipschitz=1.0)
    assert found.gain == pytest.approx(0.4)
    assert found.gain_bound == pytest.approx(0.45)
    assert best_response(lambda r: -np.abs(r - 0.45), 0.0, 0.0, 1.0, points=11).gain == pytest.approx(0.45)


def test_finite_spaces_are_exact():
    table = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    found = best_response_among(lambda r: table[r.astype(int)], 2, range(5))
    assert (found.report, found.lie, found.gain, found.regret, found.gain_bound) == (4.0, 4.0, 1.0, 1.0, 1.0)
    assert found.evaluations == 5
    strict = best_response_among(lambda r: table[r.astype(int)], 4, range(5))
    assert (strict.report, strict.lie, strict.gain, strict.regret, strict.gain_bound) == (4.0, 2.0, -1.0, 0.0, 0.0)
    tie = best_response_among(np.zeros_like, 1, [0, 1])
    assert (tie.report, tie.gain) == (1.0, 0.0)


def test_bernoulli_peer_system_loses_what_the_closed_form_says():
    """Spec truthful_regression, section 2: with a Beta(s, t) prior, lying costs exactly 2/(s+t+1)^2."""
    for s, t in ((1, 1), (2, 5), (0.5, 3)):
        def predict(bit, s=s, t=t):
            return (s + bit) / (s + t + 1)

        for truth in (0, 1):
            def utility(report, peer=truth, predict=predict):
                return brier(predict(peer), predict(report))

            found = best_response_among(utility, truth, [0, 1])
            assert found.gain == pytest.approx(-2 / (s + t + 1) ** 2, abs=1e-14)


def test_forbidden_reports_never_win():
    found = best_response(lambda r: np.where(np.abs(r) > 0.5, -math.inf, r), 0.0, -1.0, 1.0)
    assert found.report == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(InvalidInput, match="forbidden"):
        best_response_among(lambda r: np.where(r == 0, -math.inf, 0.0), 0, [0, 1])


def test_the_search_cannot_be_disturbed_by_a_utility_that_writes():
    def careless(reports):
        reports *= 0
        return reports

    assert best_response(careless, 0.5, 0.0, 1.0).gain == 0.0


def test_rounding_is_measured_on_the_scale_of_the_utilities():
    found = best_response_among(lambda r: np.where(r == 0, 0.1 + 0.2, 0.3) * 1e6, 1, [0, 1])
    assert found.gain > 0
    assert found.row().verdict is Verdict.KEPT
    assert best_response_among(lambda r: 1e6 - 1e-4 * r, 1, [0, 1]).row().verdict is Verdict.BROKEN


def test_bad_input_is_refused():
    def flat(r):
        return np.zeros_like(r)

    for low, high in ((1.0, 0.0), (0.0, 0.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(InvalidInput, match="interval"):
            best_response(flat, 0.0, low, high)
    for truth in (2.0, math.nan):
        with pytest.raises(InvalidInput, match="truth"):
            best_response(flat, truth, 0.0, 1.0)
    with pytest.raises(InvalidInput, match="points"):
        best_response(flat, 0.5, 0.0, 1.0, points=2)
    for bad in (math.nan, -1.0, -math.inf):
        with pytest.raises(InvalidInput, match="lipschitz"):
            best_response(flat, 0.5, 0.0, 1.0, lipschitz=bad)
    for utility in (lambda r: 0.0, lambda r: r[:-1], lambda r: r * math.nan, lambda r: np.full(r.shape, math.inf)):
        with pytest.raises(InvalidInput, match="utility"):
            best_response(utility, 0.5, 0.0, 1.0)
        with pytest.raises(InvalidInput, match="utility"):
            best_response_among(utility, 1, [0, 1])
    for reports in ([0], [1, 1], [[0, 1]], [0, math.nan]):
        with pytest.raises(InvalidInput, match="reports"):
            best_response_among(flat, 0, reports)
    with pytest.raises(InvalidInput, match="truth"):
        best_response_among(flat, 7, [0, 1])
