"""Corollary 1: its setting, its numbers at practical sizes, its exponents (spec 7.3; acceptance 12)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from confide.contract import InvalidInput
from confide.evidence.cummings_2015 import Corollary1, corollary_1, slopes
from confide.privacy import Noise
from confide.regression import ParetoCosts
from confide.regression.costs import threshold
from confide.regression.sensitivity import counterexample
from confide.regression.stand_ins import stand_in

GOLDEN = corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.3)


def test_the_setting() -> None:
    n = 1e6
    assert pytest.approx(n**0.85) == GOLDEN.ridge
    assert (GOLDEN.epsilon, GOLDEN.misreports, GOLDEN.weight) == pytest.approx((n**-0.7, n**-0.3, n**-1.5))
    assert GOLDEN.failure_probability == pytest.approx(n ** (-2 + 0.3 * 5))
    assert GOLDEN.constant == pytest.approx(8 * 4 * n**-1.5 + n**-1.2)
    # Lemma 3 at these alpha and beta, in closed form
    lemma = threshold(10**6, GOLDEN.misreports, GOLDEN.failure_probability, ParetoCosts(exponent=4.0), mode="lemma3")
    assert GOLDEN.threshold == pytest.approx(n**0.2) == pytest.approx(lemma)
    assert GOLDEN.claims == pytest.approx(
        {"privacy": -0.7, "eta": -1.2, "squared error": -0.3, "budget": -0.2, "uncovered": -0.3})


def test_golden_numbers_of_why_it_is_not_run() -> None:
    # spec truthful_regression 7.3
    assert GOLDEN.noise_power == pytest.approx(62.8, abs=0.05)
    assert GOLDEN.shrinkage == pytest.approx(0.60, abs=0.005)
    assert GOLDEN.gain_ratio == pytest.approx(65.4, abs=0.05)
    assert GOLDEN.loss_ratio == pytest.approx(12.3, abs=0.05)
    assert GOLDEN.failure_probability == pytest.approx(1e-3)
    assert 1e-8 < GOLDEN.constant < 1e-6  # payments of 1e-7
    assert GOLDEN.gain_vacuous
    assert GOLDEN.accuracy_vacuous
    assert replace(GOLDEN, delta=0.39).people_for_noise(0.1) == pytest.approx(1e12, rel=0.5)
    before, after = (replace(GOLDEN, delta=0.39, people=n).noise_power for n in (10**11, 10**12))
    assert after < 0.1 < before


def test_the_incentive_claim_stays_empty_however_many_people() -> None:
    """eta/b >= n^delta, while the largest loss of a lie is a constant times b: every strategy is an equilibrium."""
    sizes = [replace(GOLDEN, people=n) for n in (10**4, 10**6, 10**9, 10**12, 10**18)]
    for at in sizes:
        assert at.gain_vacuous
        assert at.gain_ratio >= float(at.people) ** 0.3
    excess = [at.gain_ratio / at.loss_ratio for at in sizes]
    assert excess == sorted(excess)
    assert sizes[-1].loss_ratio < sizes[0].loss_ratio
    assert not sizes[-1].accuracy_vacuous


def test_slopes() -> None:
    # spec truthful_regression 13, acceptance 12: p = 4, delta = .3, each within .02
    found = {slope.quantity: slope for slope in slopes(GOLDEN)}
    for name, exponent in (("budget, printed", -0.2), ("eta, printed", -1.2), ("squared error, printed", -0.15),
                           ("squared error, corrected", -0.3), ("eta over b, printed", 0.3)):
        assert found[name].fitted == pytest.approx(exponent, abs=0.02)
        assert found[name].derived == pytest.approx(exponent, abs=1e-12)
    assert found["squared error, printed"].claimed == pytest.approx(-0.3)  # E5
    other = {slope.quantity: slope for slope in slopes(corollary_1(10**6, 3, 2.0, 0.5, 2.0, 0.2))}
    assert all(slope.fitted == pytest.approx(slope.derived, abs=0.02) for slope in other.values())


def test_the_exact_threshold_changes_the_exponent_but_seldom_its_sign() -> None:
    """eta/b with tau ~ n^(delta/p) has exponent delta (2 + 1/p) - 1/2: it vanishes for delta < p/(4p + 2) only."""
    for delta in (0.1, 0.3, 0.39):
        at = replace(GOLDEN, delta=delta)
        ratios = []
        for n in (10**12, 10**13):
            one = replace(at, people=n)
            tau = threshold(n, one.misreports, one.failure_probability, ParetoCosts(exponent=4.0))
            ratios.append(tau * (2 * one.epsilon) ** 2 / one.weight)
        exponent = delta * (2 + 1 / 4) - 0.5
        assert math.log10(ratios[1] / ratios[0]) == pytest.approx(exponent, abs=0.02)
        assert at.exact_threshold_exponent == pytest.approx(max(exponent, -delta))
        assert (at.exact_threshold_exponent < 0) == (delta < 4 / 18)


def test_the_repair_lets_the_ratio_fall() -> None:
    """b = n^(-1.5 + delta + zeta): eta and the budget still vanish, and eta/b falls as n^-zeta."""
    at = [replace(GOLDEN, people=n) for n in (10**24, 10**25)]
    weights = [one.repaired_weight(0.1) for one in at]
    eta = [w * one.printed.peer_error**2 + one.printed.privacy_cost for w, one in zip(weights, at, strict=True)]
    assert math.log10(eta[1] * weights[0] / (eta[0] * weights[1])) == pytest.approx(-0.1, abs=0.02)
    assert math.log10(eta[1] / eta[0]) < 0
    assert math.log10(10 * weights[1] / weights[0]) < 0  # the budget is of the order n b
    with pytest.raises(InvalidInput, match="zeta"):
        GOLDEN.repaired_weight(0.2)


def test_rows_flag_what_says_nothing() -> None:
    rows = {row.promise: row for row in GOLDEN.rows()}
    assert rows["eta, gain of the best lie"].printed_vacuous
    assert rows["eta, gain of the best lie"].printed == pytest.approx(65.4e-9, rel=1e-3)
    assert rows["squared error of the release"].printed_vacuous
    assert rows["squared error of the release"].corrected_vacuous
    assert rows["E||v||^2"].printed == pytest.approx(62.76 / 55, rel=1e-3)
    assert GOLDEN.corrected.figures.gain == rows["eta, gain of the best lie"].corrected
    promises = {promise.name: promise.vacuous for promise in GOLDEN.corrected.guarantees()}
    assert promises["truthfulness"]
    assert promises["accuracy"]


def test_the_literal_setting_runs_and_its_privacy_depends_on_delta() -> None:
    assert GOLDEN.mechanism().claims_privacy  # n/gamma = 7.9 < 8.38
    broken = replace(GOLDEN, delta=0.39)
    mechanism = broken.mechanism()
    assert not mechanism.claims_privacy
    first, second = counterexample(10**6, broken.ridge)
    apart = broken.ridge * math.dist(first.ridge(broken.ridge), second.ridge(broken.ridge)) / 6
    assert apart == pytest.approx(1.15, abs=5e-3)  # spec 0
    assert 1 + apart <= mechanism.borne_epsilon / broken.epsilon < 1 + 1.05 * apart
    small = corollary_1(2_000, 3, 1.0, 0.5, 4.0, 0.35)
    mechanism = small.mechanism()
    people = stand_in(mechanism.setting, Noise.simulated(1))
    outcome = mechanism.run((people.X, people.y), Noise.simulated(2))
    assert float(((outcome.billboard.coef - people.theta) ** 2).sum()) > 1.0  # the noise, as it says
    assert small.plot().spec


@pytest.mark.parametrize(("change", "field"), [
    ({"delta": 0.4}, "delta"),
    ({"delta": 0.0}, "delta"),
    ({"exponent": 1.0}, "exponent"),
    ({"people": 3}, "people"),
    ({"features": 0}, "features"),
    ({"square_bound": 0.0}, "square_bound"),
    ({"noise_bound": -1.0}, "noise_bound"),
])
def test_bad_input_names_the_field(change: dict[str, object], field: str) -> None:
    good = {"people": 10**6, "features": 10, "square_bound": 1.0, "noise_bound": 1.0, "exponent": 4.0, "delta": 0.3}
    with pytest.raises(InvalidInput) as caught:
        Corollary1(**{**good, **change})  # type: ignore[arg-type]
    assert caught.value.field == field
