"""Claims of Cummings et al. 2015 about the mechanism, its guarantees and its settings without privacy.

Claims about Corollary 1 and the lemmas inside the proofs, and misprints, are in `claims_proofs`. Each public function
recomputes the evidence for a claim. The argument `line` of a claim is a line number in the plain-text copy of the
source that was checked.

Notation: n is the number of rows, each of one participant, d the dimension of the features, gamma the ridge weight, B
the bound on ||theta||^2 for the true parameter theta, and M the bound on a residual.
"""

from __future__ import annotations

import math
from math import inf
from typing import Any

import numpy as np

from confide.audit import AuditRow
from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.cummings_2015.drawn_rows import rows_of_the_ball
from confide.evidence.cummings_2015.printed_numbers import printed_least_payment, printed_least_squares
from confide.regression import audited, audited_behaviour
from confide.regression.costs import ParetoCosts, excess_probability, threshold
from confide.regression.planner import RegressionPlan, plan
from confide.regression.priors import Atoms, NoiseLaw, TruncatedGaussianNoise, UniformNoise
from confide.regression.scoring import ScoringRule
from confide.regression.sensitivity import counterexample, printed_constant, printed_constant_valid
from confide.regression.spectrum import Spectrum, ridge_shrinkage, smallest_eigenvalue_ball
from confide.regression.stand_ins import stand_in
from confide.regression.truthful_regression import (
    TruthfulRegression,
    interim_utility,
    least_expected_error,
    least_squares_error,
)

__all__: list[str] = []

claim = claims_of("Cummings et al. 2015", family="regression")


@claim(
    id="regression/lemma-4-proper", statement="Lemma 4", line=407, verdict="holds", pinned=(0.0, 0.0),
    claim="The Brier-based rule B_{a,b}(p, q) is maximised, in expectation, by reporting the true belief.",
    correction="Affine in p, strictly concave in q, maximal at q = E[p]; also without the term in p alone (centred "
               "rule).",
)
def scoring_rule_is_proper() -> Recomputed:
    """The expected payment is highest if a participant reports their true belief. The found number is the largest gain
    from any other report on a grid of reports.
    """
    rule = ScoringRule(1.0, 2.0)
    grid = np.linspace(-2.0, 2.0, 401)
    gain = max(float(np.max(rule(p, grid)) - rule(p, p)) for p in grid)
    return Recomputed("holds" if gain <= 1e-12 else "false", 0.0, gain)


@claim(
    id="regression/lemma-4-positive", statement="Lemma 4", line=413, verdict="false", pinned=(0.0, -1.0),
    claim="Peer-prediction payments by B_{1,2} are always positive.",
    correction="B_{1,2}(1, 0) = B_{1,2}(0, 1) = -1; add 1 for positivity.",
)
def scoring_rule_is_positive() -> Recomputed:
    """Lemma 4 says that peer-prediction payments are always positive. The found number is the least payment of the
    scoring rule B_{a,b} with a = 1 and b = 2, where beliefs and reports are 0 or 1.
    """
    least = min(float(ScoringRule(1.0, 2.0)(p, q)) for p in (0.0, 1.0) for q in (0.0, 1.0))
    return Recomputed("false" if least < 0 else "holds", 0.0, least)


@claim(
    id="regression/lemma-6", statement="Lemma 6", line=466, verdict="false", pinned=(6.0, 32.0423468),
    claim="Replacing one record moves the ridge estimate by at most (4B + 2M)/gamma.",
    correction="At n = 10^4, gamma = 10 it moves by 32.04/gamma where 6/gamma is claimed; constrained to a ball: "
               "D(R,Y)/gamma.",
)
def sensitivity_of_plain_ridge() -> Recomputed:
    """Distance of two plain ridge estimates on neighbouring data sets, times the ridge weight gamma, compared with the
    printed bound 4B + 2M. There are n = 10^4 rows, and gamma = 10.
    """
    claimed = printed_constant(1.0, 1.0)
    found = audited.printed_loss(1.0) * claimed
    return Recomputed("false" if found > claimed else "holds", claimed, found)


@claim(
    id="regression/theorem-2", statement="Theorem 2", line=231,
    verdict="holds-with-correction", pinned=(1.0, 5.34039113),
    claim="Algorithm 2 is 2 epsilon-jointly differentially private.",
    correction="With estimates constrained to a ball and noise D(R,Y)/(gamma epsilon); as printed the loss is up to "
               "5.34 times the claim.",
)
def privacy_of_the_printed_mechanism() -> Recomputed:
    """Measured privacy loss of the printed mechanism where it claims a loss of 1. The corrected mechanism must pass a
    fixed-transcript audit at its claimed loss.
    """
    from confide.privacy.noise import Noise

    printed = audited.printed_audit(1.0, Noise.simulated(0)).measured
    corrected = plan(people=10_000, features=2, parameter_bound=1.0, noise_bound=1.0, epsilon_release=1.0,
                     epsilon_payment=1.0, ridge_payment=10.0, truth_radius=1.5, release="ridge").mechanism
    sound = not any(row.flagged for each in audited.privacy(corrected, 0) for row in each.rows())
    return Recomputed("holds-with-correction" if printed > 1.0 and sound else "false", 1.0, printed)


@claim(
    id="regression/lemma-5", statement="Lemma 5 (billboard lemma)", line=446, verdict="holds", pinned=(0.0, 0.0),
    claim="Shares that are functions of one's own record and a private billboard are jointly private.",
    correction="Structural: every share equals a separate decode of one record and the public billboard.",
)
def billboard_lemma() -> Recomputed:
    """Each payment is a function of the participant's own record and of the billboard, which is the public output. The
    found number counts payments that differ when they are computed again from the record and the billboard.
    """
    from confide.privacy.noise import Noise

    mechanism = plan(people=4000, features=2, parameter_bound=1.0, noise_bound=0.5, epsilon_release=2.0,
                     epsilon_payment=2.0, truth_radius=1.5).mechanism
    people = stand_in(mechanism.setting, Noise.simulated(0))
    outcome = mechanism.run((people.X, people.y), Noise.simulated(1))
    paid = outcome.shares["payment"].to_pylist()
    wrong = sum(mechanism.decode((people.X[i], people.y[i]), i, outcome.billboard)["payment"] != paid[i]
                for i in range(200))
    return Recomputed("holds" if wrong == 0 else "false", 0.0, float(wrong))


@claim(
    id="regression/lemma-9", statement="Lemma 9", line=548, verdict="false", pinned=(2.0, 110.0),
    claim="The noise vector has E||v||^2 = 2 s^2.",
    correction="d(d+1) s^2: 55 times more at d = 10. The source has the moments of a scalar Laplace variable.",
)
def moments_of_the_noise() -> Recomputed:
    """E||v||^2 of vector Laplace noise v at dimension d = 10 and scale s = 1, compared with the printed 2 s^2."""
    d = 10
    radius = np.linspace(0.0, 120.0, 400_001)
    density = np.exp((d - 1) * np.log(np.maximum(radius, 1e-300)) - radius - math.lgamma(d))
    found = float(np.trapezoid(density * radius**2, radius))
    return Recomputed("false" if found > 2.0 * 1.01 else "holds", 2.0, found)


@claim(
    id="regression/lemma-10", statement="Lemma 10", line=624, verdict="false", pinned=(4.04383647e-09, 0.000471502292),
    claim="The variance of the ridge estimate is of order 1/n^2 (trace of the covariance equals its squared norm).",
    correction="At most d sigma^2 max w/(gamma+w)^2, of order 1/n.",
)
def variance_of_ridge() -> Recomputed:
    """The printed bound sigma^4 (hi/(gamma+lo)^2)^2 on the variance of the ridge estimate, compared with the trace of
    the covariance in equation (5). Rows are drawn uniformly from the unit ball. Here sigma^2 is the variance of a
    residual, and lo and hi bound the eigenvalues of the sum of x x'. There are n = 2e4 rows in dimension d = 10, with
    ridge weight gamma = 50, residuals up to M = .5 and eigenvalue tolerance xi = .1.
    """
    n, d, gamma, variance = 20_000, 10, 50.0, UniformNoise(0.5).variance
    event = Spectrum.uniform_ball(rows=n, dimension=d, tolerance=0.1)
    printed = variance**2 * (event.upper / (gamma + event.lower) ** 2) ** 2
    rows = rows_of_the_ball(n, d, 1)
    spectrum = np.linalg.eigvalsh(rows.T @ rows)
    inside = event.lower <= spectrum[0] and spectrum[-1] <= event.upper
    true = variance * float(np.sum(spectrum / (gamma + spectrum) ** 2))
    return Recomputed("false" if inside and true > printed else "holds", printed, true)


@claim(
    id="regression/lemma-3", statement="Lemma 3", line=310, verdict="holds", pinned=(4472.13595, 4.51885697),
    claim="tau_{alpha,beta} <= max of the quantiles at 1 - alpha beta and 1 - alpha.",
    correction="True and a thousand times too large for independent costs; the exact threshold is a beta quantile.",
)
def threshold_bound() -> Recomputed:
    """The threshold tau of Lemma 3 on privacy costs, compared with the exact threshold, for n = 10^6 participants, a
    share alpha = .05 of misreports, failure probability beta = 1e-6 and cost exponent p = 2.
    """
    costs = ParetoCosts(exponent=2.0)
    printed = threshold(10**6, 0.05, 1e-6, costs, mode="lemma3")
    exact = threshold(10**6, 0.05, 1e-6, costs)
    holds = exact <= printed and excess_probability(10**6, 0.05, costs.survival(printed)) <= 1e-6
    return Recomputed("holds" if holds else "false", printed, exact)


@claim(
    id="regression/lemma-11", statement="Lemma 11", line=889, verdict="holds", pinned=(0.111111111, 0.111111111),
    claim="E[x x'] = I/(d+2) for x uniform in the unit ball.",
    correction="The same.",
)
def eigenvalue_of_the_ball() -> Recomputed:
    """E[x_1^2] for x uniform in the unit ball of dimension d = 7, by quadrature, compared with 1/(d+2)."""
    d = 7
    t = np.linspace(-1.0, 1.0, 400_001)
    weight = (1.0 - t * t) ** ((d - 1) / 2)
    found = float(np.trapezoid(weight * t * t, t) / np.trapezoid(weight, t))
    claimed = smallest_eigenvalue_ball(d)
    return Recomputed("holds" if abs(found - claimed) < 1e-6 else "false", claimed, found)


_CAMPAIGN: Any = {"people": 20_000, "features": 3, "parameter_bound": 1.0, "noise_bound": 0.5,
                  "epsilon_release": 1.0, "epsilon_payment": 0.5, "truth_radius": 0.5}


def _behaviour(found: RegressionPlan, promise: str) -> AuditRow:
    """The row of the behavioural audit that checks one guarantee."""
    rows = audited_behaviour.behaviour_rows(found.mechanism, seed=0, runs=12, types=40)
    return next(row for row in rows if row.promise.startswith(promise))


def _measured(row: AuditRow) -> float:
    return row.measured if isinstance(row.measured, float) else math.nan


@claim(
    id="regression/theorem-3", statement="Theorem 3", line=260,
    verdict="holds-with-correction", pinned=(17.2689566, 0.00164739968),
    claim="Truth for all with cost up to tau is an eta-approximate Bayes-Nash equilibrium.",
    correction="eta = b e^2 + tau epsilon_total^2 with the corrected peer error e; stated together with the truth "
               "radius.",
)
def truthfulness() -> Recomputed:
    """Largest gain of any tested lie, compared with the corrected bound, for 20,000 participants. The printed bound
    uses n rows, although payments come from the estimates of two groups of only n/2 rows each.
    """
    found = plan(**_CAMPAIGN)
    gain = _measured(_behaviour(found, "largest gain of a lie"))
    return Recomputed("holds-with-correction" if gain <= found.figures.gain else "false", found.figures.gain, gain)


@claim(
    id="regression/group-size", statement="Theorems 3 to 6", line=603,
    verdict="false", pinned=(0.12195122, 0.200822857),
    claim="The bias of the payment estimates is bounded with the eigenvalues of all n rows.",
    correction="They are estimates of groups of n/2 rows: bias .201 where .122 is claimed (n = 800, gamma = 20, d = "
               "3).",
)
def group_size() -> Recomputed:
    """Bias of the estimate from one of the two groups of participants, for n = 800 rows in dimension 3, ridge weight
    gamma = 20 and eigenvalue tolerance xi = .1. The printed bias is computed from n rows, although a group has only n/2
    rows.

    The actual bias is computed by its series expansion and agrees with the mean over 200 drawn groups.
    """
    n, d, gamma = 800, 3, 20.0
    printed = gamma / (gamma + Spectrum.uniform_ball(rows=n, dimension=d, tolerance=0.1).lower)
    actual = ridge_shrinkage(n // 2, d, gamma)
    drawn = [gamma * float(np.trace(np.linalg.inv(gamma * np.eye(d) + rows.T @ rows))) / d
             for rows in (rows_of_the_ball(n // 2, d, seed) for seed in range(200))]
    right = abs(float(np.mean(drawn)) - actual) < 1e-3
    return Recomputed("false" if right and actual > printed else "holds", printed, actual)


@claim(
    id="regression/theorem-6", statement="Theorem 6", line=296,
    verdict="holds-with-correction", pinned=(3960122.5, 817102.288),
    claim="The budget required is at least the printed sum.",
    correction="An upper bound on the expected total, liars included: n (a + b (R0 + R0^2 + e (1 + 2 R0))).",
)
def budget() -> Recomputed:
    """Mean total payment of simulated runs compared with the corrected bound. The bound also covers participants who
    lie.
    """
    found = plan(**_CAMPAIGN, centred=False)
    total, bound = _measured(_behaviour(found, "expected total")), found.figures.expected_total
    return Recomputed("holds-with-correction" if total <= bound else "false", bound, total)


@claim(
    id="regression/theorem-4", statement="Theorem 4", line=270,
    verdict="holds-with-correction", pinned=(0.01319262, 0.00308695524),
    claim="The released estimate is accurate with the printed bound.",
    correction="With the moments of vector noise, a variance of order 1/n, and lies over gamma + lambda instead of "
               "gamma.",
)
def accuracy() -> Recomputed:
    """Mean squared error of simulated runs compared with the corrected bound of Theorem 4."""
    found = plan(**_CAMPAIGN, release="ridge")
    error, bound = _measured(_behaviour(found, "squared error")), found.figures.accuracy.bound
    return Recomputed("holds-with-correction" if error <= bound else "false", bound, error)


@claim(
    id="regression/theorem-5", statement="Theorem 5", line=282,
    verdict="holds-with-correction", pinned=(17.1990172, 17.26697),
    claim="Taking part is individually rational for all with cost up to tau.",
    correction="In expectation only, with a >= b phi(e) + tau epsilon_total^2.",
)
def participation() -> Recomputed:
    """Least expected payment found for a truthful participant, compared with the largest privacy cost that the
    mechanism covers.
    """
    found = plan(**_CAMPAIGN)
    least, cost = _measured(_behaviour(found, "least expected payment for taking part")), found.figures.privacy_cost
    return Recomputed("holds-with-correction" if least >= cost else "false", cost, least)


@claim(
    id="regression/payments-nonnegative", statement="Section 2.1, the mechanism's range", line=46,
    verdict="false", pinned=(0.0, -1.65081286),
    claim="Payments are non-negative.",
    correction="Unbounded noise makes payments of both signs; a deposit or a clip with its cost in e is needed.",
)
def payments_are_never_negative() -> Recomputed:
    """The source declares that payments are at least 0. The found number is the lower end of the range that all
    payments stay in with probability 1 - 1e-6.
    """
    found = plan(people=1_000_000, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=0.01,
                 epsilon_payment=0.01, truth_radius=0.25, release="ridge", ridge_payment=1000.0,
                 spectrum_tolerance=0.05, centred=False, minor_units=10**9)
    return Recomputed("false" if found.figures.lowest < 0 else "holds", 0.0, found.figures.lowest)


@claim(
    id="regression/lemma-6-range", statement="Lemma 6, where it can be saved", line=466,
    verdict="holds-with-correction", pinned=(inf, 8.37782017),
    claim="The printed constant bounds the sensitivity of plain ridge.",
    correction="Only while n/gamma <= 8.38 (B = M = 1), and the lemma states no limit. Corollary 1 has n/gamma = "
               "n^(delta/2): above that at n = 10^6 for delta = .31 or more, and for every delta as n grows.",
)
def plain_ridge_with_room() -> Recomputed:
    """The largest ratio of the number of rows n to the ridge weight gamma at which the printed sensitivity constant
    holds, for the bounds B = M = 1. Lemma 6 states no limit on the ratio, so the claimed number is infinite.

    At a ratio one per cent larger, the counterexample to Lemma 6 moves the estimate by more than the printed bound.
    """
    rows, low, high = 10**9, 1.0, 1e6

    def fits(ratio: float) -> bool:
        return printed_constant_valid(rows, rows / ratio, 1.0, 1.0)

    if not fits(low) or fits(high):
        return Recomputed("holds" if fits(high) else "false", math.inf, high if fits(high) else low)
    while high > low * (1.0 + 1e-12):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    ridge = rows / (1.01 * low)
    first, second = (data.ridge(ridge) for data in counterexample(rows, ridge))
    broken = ridge * math.dist(first, second) > printed_constant(1.0, 1.0)
    return Recomputed("holds-with-correction" if broken else "holds", math.inf, low)


def _interim_losses(noise: NoiseLaw) -> tuple[float, float]:
    """Least and largest expected loss of a player who reports -y in place of the answer y, over three otherwise
    truthful players with a two-point prior.
    """
    prior = Atoms(np.array([[0.6], [-0.3]]), np.array([0.4, 0.6]), radius=1.0)
    mechanism = TruthfulRegression(people=3, features=1, prior=prior, noise=noise, rule=ScoringRule(0.25, 1.0))
    X, losses = np.array([[0.9], [-0.7], [1.0]]), []
    for index, y in enumerate((0.4, -0.4, 0.4)):
        truth, lie = interim_utility(mechanism, X, index, y)(np.array([y, -y]))
        losses.append(float(truth - lie))
    return min(losses), max(losses)


@claim(
    id="regression/lemma-1", statement="Lemma 1", line=146, verdict="holds", pinned=(0.0, 0.135220897),
    claim="For all a, b > 0, truthful reporting is a Bayes-Nash equilibrium under Algorithm 1 (no privacy).",
    correction="Exactly, for leave-one-out and for any peers without oneself: each lie costs b times the square of "
               "the move of q.",
)
def truth_without_privacy() -> Recomputed:
    """Least expected loss of a player under Algorithm 1 who reports -y in place of the answer y, computed by
    enumerating every run.
    """
    least, _ = _interim_losses(TruncatedGaussianNoise(0.5, 0.8))
    return Recomputed("holds" if least > 1e-6 else "false", 0.0, least)


@claim(
    id="regression/lemma-1-strict", statement="Lemma 1, uniqueness of the best answer in its proof", line=156,
    verdict="holds-with-correction", pinned=(0.0, 0.0),
    claim="The expected payment has one best answer: the truth.",
    correction="One best prediction; where q is flat in the answer (uniform noise wider than predictions) a lie costs "
               "nothing.",
)
def lies_on_flat_zones() -> Recomputed:
    """Largest expected loss of any player who reports -y in place of the answer y under Algorithm 1, where the noise is
    uniform and wider than all predictions.
    """
    _, most = _interim_losses(UniformNoise(2.0))
    return Recomputed("holds-with-correction" if abs(most) <= 1e-9 else "holds", 0.0, most)


@claim(
    id="regression/lemma-2", statement="Lemma 2", line=162, verdict="holds-with-correction", pinned=(0.000125, 0.001),
    claim="E||theta_OLS - theta||^2 <= sigma^2 (d + 2)/((1 - xi) n).",
    correction="Times d: even the least possible value, sigma^2 d (d + 2)/n, is eight times the printed bound at d = "
               "10, xi = .2.",
)
def error_of_least_squares() -> Recomputed:
    """The printed bound of Lemma 2 on the error of least squares, compared with the least possible error, for n = 10^4
    rows in dimension d = 10, residuals up to M = .5 and eigenvalue tolerance xi = .2.
    """
    variance, spectrum = 0.25 / 3, Spectrum.uniform_ball(rows=10_000, dimension=10, tolerance=0.2)
    printed = printed_least_squares(10_000, 10, variance, 0.2)
    least = least_expected_error(variance, 10_000, 10)
    corrected = printed < least <= least_squares_error(variance, spectrum)
    return Recomputed("holds-with-correction" if corrected else "false", printed, least)


@claim(
    id="regression/remark-172", statement="Remark after Lemma 2", line=172, verdict="false", pinned=(0.0, -1.0),
    claim="With a = b (B + 2B(B+M) + (B+M)^2 - 1), b = n^-2, payments are never negative.",
    correction="Where the remark argues the least is -b, and least squares knows no bound; a = b/4 pays in "
               "expectation.",
)
def payments_without_privacy() -> Recomputed:
    """Least payment with the scoring constant of the remark after Lemma 2, at the bounds B = M = 1 and weight b = 1.
    The minimum is taken over the predictions |p| <= B and answers |q| <= B + M that the remark considers.
    """
    least = printed_least_payment(1.0, 1.0, 1.0)
    return Recomputed("false" if least < 0 else "holds", 0.0, least)
