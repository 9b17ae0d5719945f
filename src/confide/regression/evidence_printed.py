"""Evidence about the printed formulas: Corollary 1, the lemmas inside the proofs, and slips of the print.

As in `evidence`: each function returns the claimed number, the one that we find, and the verdict that follows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.claims import Finding, Verdict
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.response import response_table
from confide.regression.corollary import corollary_1, slopes
from confide.regression.costs import ParetoCosts, QuadraticCosts, excess_probability, threshold
from confide.regression.evidence_rows import rows_of_the_ball
from confide.regression.planner import plan
from confide.regression.printed import compare_spectrum, printed_confidence
from confide.regression.priors import UniformBall, UniformNoise
from confide.regression.release.printed import PrintedRidge
from confide.regression.sensitivity import WeightedRows, counterexample, printed_constant
from confide.regression.setting import Setting
from confide.regression.spectrum import Spectrum, smallest_eigenvalue_ball, sufficient_rows

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
    """beta at n = 10^6, p = 4, delta = .3: of the statement, with which Lemma 3 gives its tau, and of the proof."""
    people, p, delta = _PRACTICAL.people, _PRACTICAL.exponent, _PRACTICAL.delta
    stated, proof = _PRACTICAL.failure_probability, people ** (p / 2 - delta * (1 + p))
    tau = threshold(people, _PRACTICAL.misreports, stated, ParetoCosts(exponent=p), mode="lemma3")
    meant = abs(tau / _PRACTICAL.threshold - 1) < 1e-9
    return Finding("false" if meant and proof > 1 else "holds", stated, proof)


def simplified_constant() -> Finding:
    """(e_s + B)(1 + 2 B) + B^2 at its largest, e_s + B = 6 B + 2 M, against (6 B + 2 M)(1 + B)^2, for B = M = .1.

    On a grid of B and M it is larger exactly where 6 B + 2 M is below 1.
    """

    def sides(bound: float, noise: float) -> tuple[float, float]:
        reach = 6 * bound + 2 * noise
        return reach * (1 + bound) ** 2, reach * (1 + 2 * bound) + bound**2

    grid = np.geomspace(0.01, 10.0, 31).tolist()
    larger = {(bound, noise): sides(bound, noise)[1] > sides(bound, noise)[0] for bound in grid for noise in grid}
    ours = all(wrong == (6 * bound + 2 * noise < 1) for (bound, noise), wrong in larger.items())
    return Finding("false" if ours and any(larger.values()) else "holds", *sides(0.1, 0.1))


def cost_of_the_whole_loss() -> Finding:
    """Privacy cost of a covered person, over tau epsilon^2: the mechanism spends twice epsilon."""
    spent = sum(event.epsilon for event in _PRACTICAL.corrected.events())  # type: ignore[attr-defined]
    ratio = (spent / _PRACTICAL.epsilon) ** 2
    return Finding("holds-with-correction" if ratio > 1 else "holds", 1.0, ratio)


def probability_of_theorem_3() -> Finding:
    """1 - d^(t^2) at d = 10, t = 1, and in which share of 200 draws the eigenvalues are where they should be, xi = .5.

    There are as many rows as make that 1 - d^(-t^2) or more, which is Theorem 7's.
    """
    d, t, xi = 10, 1.0, 0.5
    printed, meant = 1.0 - d ** (t * t), printed_confidence(d, t)
    n = sufficient_rows(d, smallest_eigenvalue_ball(d), xi, 1.0 - meant)
    event = Spectrum.uniform_ball(rows=n, dimension=d, tolerance=xi)
    inside = []
    for seed in range(200):
        rows = rows_of_the_ball(n, d, seed)
        values = np.linalg.eigvalsh(rows.T @ rows)
        inside.append(bool(event.lower <= values[0] and values[-1] <= event.upper))
    found = float(np.mean(inside))
    return Finding("holds-with-correction" if printed < 0 < meant <= found else "holds", printed, found)


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
    """f over c epsilon^2 at epsilon = .01, of the largest costs that Assumption 4 allows; f is a quarter of their mean.

    Differences of f between two answers are at most c epsilon^2, as Lemma 12 says, for 500 drawn channels of two to
    five outputs at each of five epsilons up to 1; and for randomised response, which attains most of all. Of a cost
    that falls on one answer's outputs alone f differs; of one that is the same for both it does not.
    """
    random = study_generator(1, "channels")
    differs = level = 0.0
    for epsilon in (0.01, 0.1, 0.3, 0.6, 1.0):
        told = response_table(epsilon, 2)
        pairs = [np.array([[told.same, told.other], [told.other, told.same]]) / told.total]
        pairs += [_channel(random, epsilon) for _ in range(500)]
        for first, second in pairs:
            costs = np.abs(np.log(first / second))  # c times the largest log ratio of an output, c = 1
            apart = float(np.maximum(first - second, 0.0) @ costs)  # none where her answer makes an output less likely
            differs = max(differs, apart / QuadraticCosts.difference(1.0, epsilon), apart / 4 / epsilon**2)
            level = max(level, float(first @ costs) / 4 / epsilon**2)
    verdict: Verdict = "false" if not 0 < differs <= 1 else "holds-with-correction" if level > 1 else "holds"
    return Finding(verdict, 1.0, level)


def _channel(random: Any, epsilon: float) -> NDArray[np.float64]:
    """(2, m) laws of the outputs of two answers, whose log ratios are at most epsilon."""
    outputs = int(random.integers(2, 6))
    tilt, law = random.uniform(-0.5, 0.5, outputs), random.dirichlet(np.ones(outputs)) + 1e-9
    both = np.stack([law * np.exp(epsilon * tilt), law])  # what normalises the first adds half an epsilon at most
    found: NDArray[np.float64] = both / both.sum(axis=1, keepdims=True)
    return found


def hessian_of_the_loss() -> Finding:
    """By how much the Hessian of the loss, by differences, misses sum x x' + 2 gamma I in an entry: five rows, d = 2.

    It is 2 sum x x' + 2 gamma I, and so has no eigenvalue below 2 gamma; the estimate is where the gradient is 0.
    """
    gamma, step = 1.0, 0.5
    data = WeightedRows(x=rows_of_the_ball(5, 2, 1), y=np.linspace(-1.0, 1.0, 5), copies=np.ones(5))

    def loss(theta: NDArray[np.float64]) -> float:
        return float(np.sum((data.y - data.x @ theta) ** 2) + gamma * theta @ theta)

    at, axes = data.ridge(gamma), step * np.eye(2)
    slope = max(abs(loss(at + axis) - loss(at - axis)) for axis in axes)
    hessian = np.array([[loss(at + one + two) - loss(at + one - two) - loss(at - one + two) + loss(at - one - two)
                         for two in axes] for one in axes]) / (4 * step**2)
    squares = data.statistics()[0]
    found = float(np.abs(hessian - squares - 2 * gamma * np.eye(2)).max())
    convex = float(np.linalg.eigvalsh(hessian)[0]) >= 2 * gamma and slope < 1e-12
    ours = float(np.abs(hessian - 2 * squares - 2 * gamma * np.eye(2)).max()) < 1e-12
    verdict: Verdict = "false" if not convex else "holds" if found < 1e-12 else "holds-with-correction"
    return Finding(verdict if ours else "false", 0.0, found)


def norm_of_the_parameter() -> Finding:
    """The largest |x'theta| of 100,000 draws with ||theta||^2 <= B, which is used as |x'theta| <= B: d = 3, B = 1/4.

    None is above sqrt(B).
    """
    bound = 0.25
    theta = rows_of_the_ball(100_000, 3, 1, radius=math.sqrt(bound))
    allowed = bool((np.sum(theta**2, axis=1) <= bound).all())
    found = float(np.abs(np.sum(rows_of_the_ball(100_000, 3, 2) * theta, axis=1)).max())
    return Finding("false" if allowed and bound < found <= math.sqrt(bound) else "holds", bound, found)


def density_ratio() -> Finding:
    """Mean length of Algorithm 2's noise over that of a density as in equation (6), from 4,000 draws of its release.

    d = 10, B = M = 1, gamma = epsilon = 1; a length under exp(-||v||/s) has mean d s.
    """
    d, gamma, epsilon, draws = 10, 1.0, 1.0, 4_000
    setting = Setting(people=4, features=d, prior=UniformBall(dimension=d, radius=1.0), noise=UniformNoise(1.0),
                      spectrum_tolerance=0.5)
    scale, noise = PrintedRidge(epsilon=epsilon, ridge=gamma).noise_scale(setting), Noise.simulated(1)
    lengths = [np.linalg.norm(noise.vector_laplace(scale, d, stream=("noise", k))) for k in range(draws)]
    found = float(np.mean(lengths)) / (d * (8 * 1.0 + 4 * 1.0) / (gamma * epsilon))
    return Finding("false" if abs(found - 1) > 0.1 else "holds", 1.0, found)


def answers_without_a_bound() -> Finding:
    """The source takes any real answer: gamma times the distance when a record says 10^6 instead of 0, B = M = 1."""
    claimed, gamma = printed_constant(1.0, 1.0), 100.0
    told, silent = (WeightedRows(x=np.ones((1, 1)), y=np.array([y]), copies=np.ones(1)).ridge(gamma)
                    for y in (1e6, 0.0))
    found = gamma * math.dist(told, silent)
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
