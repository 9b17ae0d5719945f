"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim.

A function returns the number, or pair of numbers, that the verdict rests on, and the verdict that follows from it. The
tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from confide.contract.claims import Finding
from confide.contract.guarantees import Relation
from confide.privacy.accounting.accountant import Accountant
from confide.privacy.accounting.advanced import theorem
from confide.privacy.divergences import exact_epsilon, hockey_stick, renyi_divergence
from confide.privacy.events import ApproxEvent, Repeated
from confide.privacy.losses import gaussian_delta

__all__: list[str] = []

_RECORD = Relation.REPLACE


def basic_composition() -> Finding:
    """Delta of two worst mechanisms together at the sum of their epsilons (more below it), against that of deltas."""
    levels, deltas = (0.3, 0.7), (0.01, 0.02)
    p, q = np.ones(1), np.ones(1)
    for epsilon, delta in zip(levels, deltas, strict=True):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        one = np.array([delta, 0.0, (1 - delta) * truth, (1 - delta) * (1 - truth)])
        p, q = np.multiply.outer(p, one).ravel(), np.multiply.outer(q, one[[1, 0, 3, 2]]).ravel()
    found = hockey_stick(p, q, sum(levels))
    reached = hockey_stick(p, q, 0.999 * sum(levels)) > found
    return Finding("holds" if found <= sum(deltas) and reached else "false", sum(deltas), found)


def advanced_composition() -> Finding:
    """The theorem's epsilon against the exact one of the worst mechanisms: over a grid, then at one point."""

    def exact(epsilon: float, delta: float, count: int, slack: float) -> float:
        one = ApproxEvent(epsilon=epsilon, delta=delta, neighbours=_RECORD)
        uses = Accountant((Repeated(event=one, count=count, neighbours=_RECORD),))
        return uses.epsilon(count * delta + slack, calculator="optimal")

    holds = all(exact(epsilon, delta, count, slack) <= theorem(epsilon, count, slack)
                for epsilon in (0.01, 0.1, 1.0) for delta in (0.0, 1e-6) for count in (1, 10, 100, 1000)
                for slack in (1e-9, 1e-3, 0.3))
    return Finding("holds" if holds else "false", theorem(0.1, 100, 1e-6), exact(0.1, 0.0, 100, 1e-6))


def _composed(level: float, target: float, count: int) -> float:
    """Exact delta at `target` of `count` randomised responses at `level`, which are the worst pure mechanisms."""
    said = np.arange(count + 1)
    log_truth, log_lie = -np.logaddexp(0.0, -level), -np.logaddexp(0.0, level)
    ways = gammaln(count + 1) - gammaln(said + 1) - gammaln(count - said + 1)
    first, second = (ways + said * one + (count - said) * other
                     for one, other in ((log_truth, log_lie), (log_lie, log_truth)))
    return hockey_stick(np.exp(first), np.exp(second), target)


def corollary() -> Finding:
    """delta' = .999 at epsilon' = .999, and the exact delta there of one randomised response with the step's epsilon.

    The theorem itself covers the step up to delta' = .7; by the exact law it is enough up to .99 too.
    """

    def step(target: float, count: int, slack: float) -> float:
        return target / (2 * math.sqrt(2 * count * -math.log(slack)))

    targets, counts = (0.01, 0.5, 0.999), (1, 2, 10, 1000)
    proved = all(theorem(step(target, count, slack), count, slack) <= target
                 for target in targets for count in counts for slack in (1e-9, 1e-3, 0.3, 0.7))
    safe = all(_composed(step(target, count, slack), target, count) <= slack
               for target in targets for count in counts for slack in (1e-3, 0.3, 0.7, 0.9, 0.99))
    found = _composed(step(0.999, 1, 0.999), 0.999, 1)
    return Finding("holds-with-correction" if proved and safe and found > 0.999 else "false", 0.999, found)


def _classic(epsilon: float, delta: float) -> float:
    """True delta of the classic standard deviation, sqrt(2 ln(1.25/delta))/epsilon at distance 1."""
    return gaussian_delta(epsilon, epsilon / math.sqrt(2 * math.log(1.25 / delta)))


def classic_gaussian() -> Finding:
    """True delta of the classic sigma, on a grid inside (0, 1); then at (.999, 1e-5)."""
    holds = all(_classic(epsilon, delta) <= delta
                for epsilon in (1e-3, 0.1, 0.5, 0.9, 0.999) for delta in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.999))
    return Finding("holds" if holds else "false", 1e-5, _classic(0.999, 1e-5))


def classic_gaussian_beyond() -> Finding:
    """True delta of the classic sigma at (10, .01), and whether (20, 1e-5) fails too."""
    found = _classic(10.0, 0.01)
    return Finding("false" if found > 0.01 and _classic(20.0, 1e-5) > 1e-5 else "holds", 0.01, found)


def _drawn(scores: tuple[float, ...], epsilon: float) -> NDArray[np.float64]:
    """Probabilities in proportion to exp(epsilon score/2), for scores of sensitivity 1."""
    weights = np.exp(epsilon / 2 * np.array(scores))
    law: NDArray[np.float64] = weights / weights.sum()
    return law


def exponential_mechanism() -> Finding:
    """Largest log ratio over neighbouring scores, at epsilon = 1: one score rises by 1, all others fall by 1."""
    found = max(exact_epsilon(_drawn((0.0, *[gap] * 9), 1.0), _drawn((1.0, *[gap - 1.0] * 9), 1.0))
                for gap in np.linspace(-40.0, 40.0, 161))
    return Finding("holds" if found <= 1.0 + 1e-12 else "false", 1.0, found)


def exponential_mechanism_in_zcdp() -> Finding:
    """Largest Renyi divergence found of order a, over a epsilon^2/8, against the 4 that epsilon^2/2 would allow."""

    def ratio(epsilon: float, gap: float, order: float) -> float:
        p, q = _drawn((gap, 0.0), epsilon), _drawn((gap - 1.0, 1.0), epsilon)
        return renyi_divergence(p, q, order) / (order * epsilon**2 / 8)

    found = max(ratio(epsilon, gap, order) for epsilon in (0.05, 0.2, 1.0, 4.0) for gap in np.linspace(0.0, 2.0, 21)
                for order in (1.01, 1.5, 3.0, 10.0, 50.0))
    return Finding("holds-with-correction" if found <= 1.0 + 1e-9 else "false", 4.0, found)


def smaller_delta() -> Finding:
    """Theorem 3.4.2 at 1e-6 over 1e-3, against sqrt(2): Adult, eta = 2, T = 16, s = 1000, n = 30162."""
    largest, draws = 2 * 2.0 * 15 / 30_162, 15 * 1000
    ratio = theorem(largest, draws, 1e-6) / theorem(largest, draws, 1e-3)
    return Finding("holds" if ratio <= math.sqrt(2) else "false", math.sqrt(2), ratio)
