"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim.

A function returns the number, or pair of numbers, that the verdict rests on, and the verdict that follows from it. The
tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.audit import AuditRow
from confide.contract.claims import Finding
from confide.regression import audited, audited_behaviour, audited_print
from confide.regression.costs import ParetoCosts, excess_probability, threshold
from confide.regression.evidence_rows import rows_of_the_ball
from confide.regression.interim_utility import interim_utility
from confide.regression.least_squares_bounds import least_expected_error, least_squares_error
from confide.regression.planner import RegressionPlan, plan
from confide.regression.printed import printed_least_payment, printed_least_squares
from confide.regression.priors import Atoms, NoiseLaw, TruncatedGaussianNoise, UniformNoise
from confide.regression.scoring import ScoringRule
from confide.regression.sensitivity import counterexample, printed_constant, printed_constant_valid
from confide.regression.spectrum import Spectrum, ridge_shrinkage, smallest_eigenvalue_ball
from confide.regression.stand_in import stand_in
from confide.regression.truthful_regression import TruthfulRegression

__all__: list[str] = []


def scoring_rule_is_proper() -> Finding:
    """The expected payment is highest at the true belief: largest gain of any other report on a grid."""
    rule = ScoringRule(1.0, 2.0)
    grid = np.linspace(-2.0, 2.0, 401)
    gain = max(float(np.max(rule(p, grid)) - rule(p, p)) for p in grid)
    return Finding("holds" if gain <= 1e-12 else "false", 0.0, gain)


def scoring_rule_is_positive() -> Finding:
    """Lemma 4 says that peer-prediction payments are always positive: the least payment of B_{1,2} on bits."""
    least = min(float(ScoringRule(1.0, 2.0)(p, q)) for p in (0.0, 1.0) for q in (0.0, 1.0))
    return Finding("false" if least < 0 else "holds", 0.0, least)


def sensitivity_of_plain_ridge() -> Finding:
    """gamma times the distance of two neighbouring plain ridge estimates, against 4B + 2M (n = 10^4, gamma = 10)."""
    claimed = printed_constant(1.0, 1.0)
    found = audited_print.printed_loss(1.0) * claimed
    return Finding("false" if found > claimed else "holds", claimed, found)


def privacy_of_the_printed_mechanism() -> Finding:
    """True loss of the printed mechanism where it claims 1; the constrained one, walked through, stays at its claim."""
    from confide.privacy.noise import Noise

    printed = audited_print.printed_audit(1.0, Noise.simulated(0)).measured
    corrected = plan(people=10_000, features=2, parameter_bound=1.0, noise_bound=1.0, epsilon_release=1.0,
                     epsilon_payment=1.0, ridge_payment=10.0, truth_radius=1.5, release="ridge").mechanism
    sound = not any(row.flagged for each in audited.privacy(corrected, 0) for row in each.rows())
    return Finding("holds-with-correction" if printed > 1.0 and sound else "false", 1.0, printed)


def billboard_lemma() -> Finding:
    """Shares that follow from one's own record and the billboard: the number of decodes that differ from the run."""
    from confide.privacy.noise import Noise

    mechanism = plan(people=4000, features=2, parameter_bound=1.0, noise_bound=0.5, epsilon_release=2.0,
                     epsilon_payment=2.0, truth_radius=1.5).mechanism
    people = stand_in(mechanism.setting, Noise.simulated(0))
    outcome = mechanism.run((people.X, people.y), Noise.simulated(1))
    paid = outcome.shares["payment"].to_pylist()
    wrong = sum(mechanism.decode((people.X[i], people.y[i]), i, outcome.billboard)["payment"] != paid[i]
                for i in range(200))
    return Finding("holds" if wrong == 0 else "false", 0.0, float(wrong))


def moments_of_the_noise() -> Finding:
    """E||v||^2 of vector Laplace noise at d = 10 and scale 1, against the printed 2 s^2."""
    d = 10
    radius = np.linspace(0.0, 120.0, 400_001)
    density = np.exp((d - 1) * np.log(np.maximum(radius, 1e-300)) - radius - math.lgamma(d))
    found = float(np.trapezoid(density * radius**2, radius))
    return Finding("false" if found > 2.0 * 1.01 else "holds", 2.0, found)


def variance_of_ridge() -> Finding:
    """The printed sigma^4 (hi/(gamma+lo)^2)^2 at n = 2e4, d = 10, gamma = 50, M = .5, xi = .1, and the trace of the
    covariance of equation (5) for rows that are drawn from the ball.
    """
    n, d, gamma, variance = 20_000, 10, 50.0, UniformNoise(0.5).variance
    event = Spectrum.uniform_ball(rows=n, dimension=d, tolerance=0.1)
    printed = variance**2 * (event.upper / (gamma + event.lower) ** 2) ** 2
    rows = rows_of_the_ball(n, d, 1)
    spectrum = np.linalg.eigvalsh(rows.T @ rows)
    inside = event.lower <= spectrum[0] and spectrum[-1] <= event.upper
    true = variance * float(np.sum(spectrum / (gamma + spectrum) ** 2))
    return Finding("false" if inside and true > printed else "holds", printed, true)


def threshold_bound() -> Finding:
    """tau of Lemma 3 against the exact threshold (n = 10^6, alpha = .05, beta = 1e-6, p = 2)."""
    costs = ParetoCosts(exponent=2.0)
    printed = threshold(10**6, 0.05, 1e-6, costs, mode="lemma3")
    exact = threshold(10**6, 0.05, 1e-6, costs)
    holds = exact <= printed and excess_probability(10**6, 0.05, costs.survival(printed)) <= 1e-6
    return Finding("holds" if holds else "false", printed, exact)


def eigenvalue_of_the_ball() -> Finding:
    """E[x_1^2] for x uniform in the unit ball, d = 7, by quadrature, against 1/(d+2)."""
    d = 7
    t = np.linspace(-1.0, 1.0, 400_001)
    weight = (1.0 - t * t) ** ((d - 1) / 2)
    found = float(np.trapezoid(weight * t * t, t) / np.trapezoid(weight, t))
    claimed = smallest_eigenvalue_ball(d)
    return Finding("holds" if abs(found - claimed) < 1e-6 else "false", claimed, found)


_CAMPAIGN: Any = {"people": 20_000, "features": 3, "parameter_bound": 1.0, "noise_bound": 0.5,
                  "epsilon_release": 1.0, "epsilon_payment": 0.5, "truth_radius": 0.5}


def _behaviour(found: RegressionPlan, promise: str) -> AuditRow:
    """The audit's row of one promise."""
    rows = audited_behaviour.behaviour_rows(found.mechanism, seed=0, runs=12, types=40)
    return next(row for row in rows if row.promise.startswith(promise))


def _measured(row: AuditRow) -> float:
    return row.measured if isinstance(row.measured, float) else math.nan


def truthfulness() -> Finding:
    """Best lie found against the corrected bound at a campaign's size; the printed bound uses n for a group of n/2."""
    found = plan(**_CAMPAIGN)
    gain = _measured(_behaviour(found, "no lie"))
    return Finding("holds-with-correction" if gain <= found.figures.gain else "false", found.figures.gain, gain)


def group_size() -> Finding:
    """Bias of a group's estimate at n = 800, gamma = 20, d = 3, xi = .1: printed with n rows, actual with n/2.

    By its expansion, which 200 drawn groups bear out.
    """
    n, d, gamma = 800, 3, 20.0
    printed = gamma / (gamma + Spectrum.uniform_ball(rows=n, dimension=d, tolerance=0.1).lower)
    actual = ridge_shrinkage(n // 2, d, gamma)
    drawn = [gamma * float(np.trace(np.linalg.inv(gamma * np.eye(d) + rows.T @ rows))) / d
             for rows in (rows_of_the_ball(n // 2, d, seed) for seed in range(200))]
    right = abs(float(np.mean(drawn)) - actual) < 1e-3
    return Finding("false" if right and actual > printed else "holds", printed, actual)


def budget() -> Finding:
    """Mean total of simulated runs against the corrected bound; liars are inside the bound too."""
    found = plan(**_CAMPAIGN, centred=False)
    total, bound = _measured(_behaviour(found, "expected total")), found.figures.expected_total
    return Finding("holds-with-correction" if total <= bound else "false", bound, total)


def accuracy() -> Finding:
    """Mean squared error of simulated runs against the corrected bound of Theorem 4."""
    found = plan(**_CAMPAIGN, release="ridge")
    error, bound = _measured(_behaviour(found, "squared error")), found.figures.accuracy.bound
    return Finding("holds-with-correction" if error <= bound else "false", bound, error)


def participation() -> Finding:
    """Least truthful expected payment found, against the largest covered privacy cost."""
    found = plan(**_CAMPAIGN)
    least, cost = _measured(_behaviour(found, "taking part")), found.figures.privacy_cost
    return Finding("holds-with-correction" if least >= cost else "false", cost, least)


def payments_are_never_negative() -> Finding:
    """The mechanism is declared with payments >= 0: the least payment that the noise allows with probability 1e-6."""
    found = plan(people=1_000_000, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=0.01,
                 epsilon_payment=0.01, truth_radius=0.25, release="ridge", ridge_payment=1000.0,
                 spectrum_tolerance=0.05, centred=False, minor_units=10**9)
    return Finding("false" if found.figures.lowest < 0 else "holds", 0.0, found.figures.lowest)


def plain_ridge_with_room() -> Finding:
    """The largest n/gamma at which the printed constant holds, B = M = 1, beside no limit, as the lemma states none.

    A hundredth beyond it the counterexample moves by more.
    """
    rows, low, high = 10**9, 1.0, 1e6

    def fits(ratio: float) -> bool:
        return printed_constant_valid(rows, rows / ratio, 1.0, 1.0)

    if not fits(low) or fits(high):
        return Finding("holds" if fits(high) else "false", math.inf, high if fits(high) else low)
    while high > low * (1.0 + 1e-12):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    ridge = rows / (1.01 * low)
    first, second = (data.ridge(ridge) for data in counterexample(rows, ridge))
    broken = ridge * math.dist(first, second) > printed_constant(1.0, 1.0)
    return Finding("holds-with-correction" if broken else "holds", math.inf, low)


def _interim_losses(noise: NoiseLaw) -> tuple[float, float]:
    """Least and largest loss from turning an answer around, over three truthful players of a two-point prior."""
    prior = Atoms(np.array([[0.6], [-0.3]]), np.array([0.4, 0.6]), radius=1.0)
    mechanism = TruthfulRegression(people=3, features=1, prior=prior, noise=noise, rule=ScoringRule(0.25, 1.0))
    X, losses = np.array([[0.9], [-0.7], [1.0]]), []
    for index, y in enumerate((0.4, -0.4, 0.4)):
        truth, lie = interim_utility(mechanism, X, index, y)(np.array([y, -y]))
        losses.append(float(truth - lie))
    return min(losses), max(losses)


def truth_without_privacy() -> Finding:
    """Algorithm 1, every run enumerated: what a player loses at least by turning her answer around."""
    least, _ = _interim_losses(TruncatedGaussianNoise(0.5, 0.8))
    return Finding("holds" if least > 1e-6 else "false", 0.0, least)


def lies_on_flat_zones() -> Finding:
    """The same under uniform noise wider than all predictions: the most that anybody loses by such a lie."""
    _, most = _interim_losses(UniformNoise(2.0))
    return Finding("holds-with-correction" if abs(most) <= 1e-9 else "holds", 0.0, most)


def error_of_least_squares() -> Finding:
    """The printed bound of Lemma 2 against the least possible value at d = 10, n = 10^4, M = .5, xi = .2."""
    variance, spectrum = 0.25 / 3, Spectrum.uniform_ball(rows=10_000, dimension=10, tolerance=0.2)
    printed = printed_least_squares(10_000, 10, variance, 0.2)
    least = least_expected_error(variance, 10_000, 10)
    corrected = printed < least <= least_squares_error(variance, spectrum)
    return Finding("holds-with-correction" if corrected else "false", printed, least)


def payments_without_privacy() -> Finding:
    """The remark's constant at B = M = 1 and b = 1: the least payment where it argues, |p| <= B and |q| <= B + M."""
    least = printed_least_payment(1.0, 1.0, 1.0)
    return Finding("false" if least < 0 else "holds", 0.0, least)
