"""Evidence about the printed formulas: Corollary 1, the lemmas inside the proofs, and slips of the print.

As in `evidence`: each function returns the claimed number, the one that we find, and the verdict that follows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.contract.claims import Finding
from confide.privacy.noise import Noise
from confide.regression.corollary import corollary_1, slopes
from confide.regression.costs import QuadraticCosts, excess_probability
from confide.regression.planner import plan
from confide.regression.printed import compare_spectrum, printed_confidence
from confide.regression.sensitivity import counterexample, printed_constant
from confide.regression.spectrum import smallest_eigenvalue_ball, sufficient_rows

__all__: list[str] = []

_PRACTICAL = corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.3)
_SLOPE = 0.02  # how far a fitted exponent may be from a stated one


def _slope(quantity: str) -> tuple[float, float]:
    """The claimed exponent and the fitted one."""
    found = next(slope for slope in slopes(_PRACTICAL) if slope.quantity == quantity)
    return found.claimed, found.fitted


def incentives_of_the_corollary() -> Finding:
    """Printed eta over b at n = 10^6, d = 10, against the most that any lie can lose: above it, nothing is said."""
    claimed, most = _PRACTICAL.gain_ratio, _PRACTICAL.loss_ratio
    more = corollary_1(10**12, 10, 1.0, 1.0, 4.0, 0.3)
    empty = claimed > most and more.gain_ratio / more.loss_ratio > claimed / most
    return Finding("vacuous-at-practical-size" if empty else "holds", claimed, most)


def noise_of_the_corollary() -> Finding:
    """E||v||^2 at n = 10^6, d = 10, against B = 1, which publishing zeros achieves."""
    empty = _PRACTICAL.accuracy_vacuous
    return Finding("vacuous-at-practical-size" if empty else "holds", 1.0, _PRACTICAL.noise_power)


def rate_of_the_printed_error() -> Finding:
    """The exponent of the printed bound on the squared error, against the stated -delta; the corrected one has it."""
    claimed, printed = _slope("squared error, printed")
    _, corrected = _slope("squared error, corrected")
    saved = abs(printed - claimed) > _SLOPE and abs(corrected - claimed) < _SLOPE
    return Finding("holds-with-correction" if saved else "holds", claimed, printed)


def rate_of_the_budget() -> Finding:
    """The exponent of the printed budget."""
    claimed, found = _slope("budget, printed")
    return Finding("holds" if abs(found - claimed) < _SLOPE else "false", claimed, found)


def privacy_of_the_corollary() -> Finding:
    """Loss of one release on the counterexample at n = 10^6, delta = .39, in units of the epsilon it claims."""
    at = corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.39)
    first, second = (data.ridge(at.ridge) for data in counterexample(at.people, at.ridge))
    found = at.ridge * math.dist(first, second) / printed_constant(1.0, 1.0)
    return Finding("false" if found > 1 else "holds", 1.0, found)


def constant_of_the_corollary() -> Finding:
    """a over b at n = 10^6, against what Theorem 5 asks for when costs count the whole 2 epsilon."""
    printed, b = _PRACTICAL.printed, _PRACTICAL.weight
    needed = printed.least_constant + 3 * printed.privacy_cost
    saved = _PRACTICAL.corrected.figures.least_constant <= printed.a < needed
    return Finding("holds-with-correction" if saved else "holds", printed.a / b, needed / b)


def beta_in_the_corollarys_proof() -> Finding:
    """beta at n = 10^6, p = 4, delta = .3: as the statement has it, and with the sign of the proof."""
    stated, turned = _PRACTICAL.failure, 1 / _PRACTICAL.failure
    return Finding("false" if stated < 1 < turned else "holds", stated, turned)


def simplified_constant() -> Finding:
    """(e_s + B)(1 + 2 B) + B^2 at its largest, e_s + B = 6 B + 2 M, against (6 B + 2 M)(1 + B)^2, for B = M = .1."""
    bound, noise = 0.1, 0.1
    reach = 6 * bound + 2 * noise
    claimed, found = reach * (1 + bound) ** 2, reach * (1 + 2 * bound) + bound**2
    return Finding("false" if found > claimed else "holds", claimed, found)


def cost_of_the_whole_loss() -> Finding:
    """Privacy cost of a covered person, over tau epsilon^2: the mechanism spends twice epsilon."""
    spent = sum(event.epsilon for event in _PRACTICAL.corrected.events())  # type: ignore[attr-defined]
    ratio = (spent / _PRACTICAL.epsilon) ** 2
    return Finding("holds-with-correction" if ratio > 1 else "holds", 1.0, ratio)


def probability_of_theorem_3() -> Finding:
    """1 - d^(t^2) at d = 10, t = 1, against the 1 - d^(-t^2) of Theorem 7."""
    printed, meant = 1.0 - 10.0**1, printed_confidence(10, 1.0)
    return Finding("holds-with-correction" if printed < 0 < meant < 1 else "holds", printed, meant)


def rows_for_the_spectrum() -> Finding:
    """d = 10, xi = .2, q = 1e-6: the C at which Theorem 7 asks for as many rows as we do; none at d = 1."""
    found = compare_spectrum(10, 0.2, 1e-6)
    empty = math.isnan(compare_spectrum(1, 0.2, 1e-6).constant) and printed_confidence(1, 5.0) == 0.0
    textbook = 3 / 0.2**2 * math.log(20 / 1e-6) / smallest_eigenvalue_ball(10)
    explicit = sufficient_rows(10, smallest_eigenvalue_ball(10), 0.2, 1e-6) <= textbook
    return Finding("holds-with-correction" if empty and explicit else "false", math.nan, found.constant)


def misreports_in_expectation() -> Finding:
    """Each of 1,000 lies with probability alpha = .05: how often there are more than alpha n, what the proof denies."""
    found = excess_probability(1000, 0.05, 0.05)
    return Finding("holds-with-correction" if found > 0 else "holds", 0.0, found)


def distance_of_several_records() -> Finding:
    """Lemma 8 at k = 1 is Lemma 6: gamma times the distance on the counterexample (n = 10^4, gamma = 10)."""
    first, second = (data.ridge(10.0) for data in counterexample(10_000, 10.0))
    claimed, found = printed_constant(1.0, 1.0), 10.0 * math.dist(first, second)
    return Finding("false" if found > claimed else "holds", claimed, found)


def cost_difference() -> Finding:
    """Lemma 12: largest of 2 c epsilon (e^epsilon - 1) over 4 c epsilon^2, epsilon up to 1; 1 at most."""
    grid = np.linspace(1e-3, 1.0, 1000)
    found = max(QuadraticCosts.difference(1.0, float(e)) / (4 * e * e) for e in grid)
    return Finding("holds" if found <= 1 else "false", 1.0, found)


def level_of_the_cost() -> Finding:
    """Assumption 1 is motivated by Lemma 12, which bounds differences: the level c epsilon over 4 c epsilon^2.

    At epsilon = .01, a cost that is always c epsilon satisfies Assumption 4, and no two answers differ in it.
    """
    level = 0.01 / (4 * 0.01**2)
    return Finding("false" if level > 1 else "holds", 1.0, level)


def hessian_of_the_loss() -> Finding:
    """Second difference of the loss of one record x = 1, y = 0, gamma = 1: 2 x^2 + 2 gamma, against x^2 + 2 gamma."""
    step = 0.5
    values = [(theta * 1.0) ** 2 + 1.0 * theta**2 for theta in (-step, 0.0, step)]
    found = (values[0] - 2 * values[1] + values[2]) / step**2
    return Finding("holds-with-correction" if found >= 2.0 and found != 3.0 else "false", 3.0, found)


def norm_of_the_parameter() -> Finding:
    """||theta||^2 <= B is used as ||theta|| <= B: the longest theta that B = 1/4 allows."""
    found = math.sqrt(0.25)
    return Finding("false" if found > 0.25 else "holds", 0.25, found)


def density_ratio() -> Finding:
    """Equation (6) has noise of scale (8 B + 4 M)/(gamma epsilon), Algorithm 2 half of it: the loss that follows."""
    sensitivity, scale = printed_constant(1.0, 1.0), 8 * 1.0 + 4 * 1.0
    return Finding("false" if sensitivity / scale != 1 else "holds", 1.0, sensitivity / scale)


def answers_without_a_bound() -> Finding:
    """The source takes any real answer: gamma times the distance when a record says 10^6 instead of 0, B = M = 1."""
    claimed, gamma = printed_constant(1.0, 1.0), 100.0
    found = gamma * 1e6 / (gamma + 1.0)  # one record x = 1 and no other
    return Finding("false" if found > claimed else "holds", claimed, found)


def budget_of_a_run() -> Finding:
    """Definition 6 bounds what is paid for all data: the expected total, against one that the noise allows."""
    found = plan(people=20_000, features=3, parameter_bound=1.0, noise_bound=0.5, epsilon_release=1.0,
                 epsilon_payment=0.5, truth_radius=0.5, centred=False, release="ridge").mechanism
    X = np.tile([[0.9, 0.0, 0.0]], (20_000, 1))
    noise = [15.0 * found.noise_scale, 0.0, 0.0]
    far: dict[str | tuple[str | int, ...], Any] = {
        ("split",): np.arange(20_000) % 2 == 1, ("release",): noise, ("payment", 0): noise, ("payment", 1): noise,
    }
    paid = found.run((X, np.full(20_000, 1.4)), Noise.replayed(far)).shares["payment"].to_numpy().sum() / 100
    bound = found.figures.expected_total
    return Finding("holds-with-correction" if paid > bound else "holds", bound, float(paid))
