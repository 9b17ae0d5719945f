"""Scoring rules for peer prediction: the expected payment is largest when the report is the player's belief.

A player reports `q`, their expectation of `p`, and is paid when `p` is known. Both rules in this module are strictly
concave in `q`, affine in `p`, and maximal at `q` = E[p]. Since the rules are affine in `p`, mean-zero noise on `p`
changes no expectation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire

__all__ = ["ScoringRule", "clipped_payment_range", "payment_deviation", "payment_range"]


@wire("ScoringRule", "a b centred")
@dataclass(frozen=True)
class ScoringRule(Declared):
    """The quadratic rule B_{a,b}(p, q) = a - b (p - 2 p q + q^2), or its centred form a + b (2 p q - q^2).

    With P = E[p], the expected payment is a - b (P - P^2) - b (P - q)^2 under the rule, and a + b P^2 - b (P - q)^2
    under its centred form. The two forms differ by -b p, which the player cannot influence, so every lie gains or loses
    the same amount under both forms. The centred form needs a much smaller constant a to make participation worthwhile.

    Let the truth q satisfy |q| <= R and |P - q| <= e. The centred form then pays in expectation at least a - b e^2 for
    the truth, and at most a + b (R^2 + 2 R e) for any report. The rule of Cummings et al. 2015 pays in expectation at
    least a - b (1/4 + e^2) for the truth.

    Raises:
        InvalidInput: a is not finite, or b is not positive.

    Source: Cummings et al. 2015, Section 2 and Lemma 4; spec truthful_regression section 2. The centred form is ours.

    Example:
        >>> float(ScoringRule(1.0, 2.0)(1.0, 0.0))
        -1.0
        >>> float(ScoringRule(0.0, 1.0, centred=True)(0.5, 0.5))
        0.25
    """

    a: Annotated[float, Parameter("constant part of a payment", unit="the currency")]
    b: Annotated[float, Parameter("weight of the prediction", unit="the currency", above=0)]
    centred: Annotated[bool, Parameter("drop the term in p alone (ours); False is the source's rule")] = False

    def __call__(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """The payment for the report `q` when `p` is known; `p` and `q` broadcast. With the mean P = E[p] in place of
        `p`, the result is the expected payment.
        """
        outcome, report = np.asarray(p, np.float64), np.asarray(q, np.float64)
        score = 2 * outcome * report - report * report
        if not self.centred:
            score = score - outcome
        return np.asarray(self.a + self.b * score)

    def loss_of_lying(self, p_bar: ArrayLike, q_truth: ArrayLike, q_lie: ArrayLike) -> NDArray[np.float64]:
        """The expected payment of the truth minus the expected payment of the lie, b [(P - lie)^2 - (P - truth)^2];
        negative if the lie is profitable.

        Args:
            p_bar: mean P of `p` given everything that the player knows.
            q_truth: prediction implied by the player's true answer.
            q_lie: prediction implied by another answer.
        """
        mean, truth, lie = (np.asarray(value, np.float64) for value in (p_bar, q_truth, q_lie))
        return np.asarray(self.b * (lie - truth) * (lie + truth - 2 * mean))

    def payment_range(self, p_bound: float, q_bound: float) -> tuple[float, float]:
        """The least and the largest payment over |p| <= p_bound and |q| <= q_bound; both are attained.

        Raises:
            InvalidInput: a bound is negative or not finite.
        """
        outcome = non_negative("p_bound", p_bound)
        report = non_negative("q_bound", q_bound)
        best = min(outcome, report)
        own = 0.0 if self.centred else outcome
        return (
            self.a - self.b * (own + 2 * outcome * report + report * report),
            self.a + self.b * (own + 2 * outcome * best - best * best),
        )

    def best_gain(self, p_bar: float, q_truth: float, q_lies: ArrayLike) -> float:
        """The largest gain in expected payment from replacing the truth by one of the lies; at least 0.

        The gain is b [(P - q)^2 - min (P - lie)^2], which is the exact interim gain when P = E[p | own data].
        """
        losses = self.loss_of_lying(p_bar, q_truth, q_lies)
        return -float(np.min(losses, initial=0.0))


def payment_range(
    rule: ScoringRule, dimension: int, noise_scale: float, radius: float, prior_radius: float,
    failure_probability: float,
) -> tuple[float, float]:
    """The least and the largest payment. With probability at least 1 - failure_probability, the payments of all players
    are in this range.

    The range uses |p| <= R + s Gamma_d^-1(1 - f/2). Each of the two groups' noise vectors, in units of s, is longer
    than the quantile Gamma_d^-1(1 - f/2) with probability f/2.

    Args:
        rule: scoring rule of the payments.
        dimension: dimension d of the estimates.
        noise_scale: scale s > 0 of the noise on the payment estimates.
        radius: largest norm R of a payment estimate before its noise, finite.
        prior_radius: bound R0 on the norm of the parameter.
        failure_probability: probability f that some payment is outside the range, in (0, 1).
    """
    missed = fraction("failure_probability", failure_probability)
    length = scipy.special.gammainccinv(whole("dimension", dimension, at_least=1), missed / 2)
    return clipped_payment_range(rule, noise_scale, radius, prior_radius, float(length))


def clipped_payment_range(
    rule: ScoringRule, noise_scale: float, radius: float, prior_radius: float, clip: float
) -> tuple[float, float]:
    """The least and the largest payment with certainty, if the peers' prediction is clipped at R + s t, with R =
    `radius`, s = `noise_scale` and t = `clip`; see `bounds.clipping_bias`.
    """
    reach = positive("radius", radius) + positive("noise_scale", noise_scale) * non_negative("clip", clip)
    return rule.payment_range(reach, positive("prior_radius", prior_radius))


def payment_deviation(
    rule: ScoringRule, dimension: int, noise_scale: float, prediction: ArrayLike, norm: ArrayLike = 1.0
) -> NDArray[np.float64]:
    """The standard deviation of one payment over the noise: b |2 q - 1| ||x|| sqrt(d + 1) s, and 2 b |q| ||x|| sqrt(d +
    1) s for the centred rule. In the formulas q is `prediction`, ||x|| is `norm`, d is `dimension` and s is
    `noise_scale`.

    All players of a group share one noise vector, so the noise does not average out in the total payment.
    """
    slope = np.abs(2 * np.asarray(prediction, np.float64) - (0.0 if rule.centred else 1.0))
    return np.asarray(rule.b * slope * np.asarray(norm, np.float64) * math.sqrt(dimension + 1) * noise_scale)
