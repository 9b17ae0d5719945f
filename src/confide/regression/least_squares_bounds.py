"""What Algorithm 1 promises, as functions of public parameters: as corrected, and as printed for comparison.

Printed formulas take B for a bound on |theta'x|; it bounds ||theta||^2 in the document (R0 = sqrt(B)).

Source: Cummings et al. 2015, Lemma 2 and the remark after it; spec truthful_regression section 2.
"""

from __future__ import annotations

from confide.contract.checks import non_negative, positive, whole
from confide.regression.scoring import ScoringRule
from confide.regression.spectrum import Spectrum

__all__ = [
    "least_expected_error",
    "least_squares_error",
    "truthful_payments",
]


def least_squares_error(variance: float, spectrum: Spectrum) -> float:
    """Bound on E||theta_OLS - theta||^2 given the spectrum: sigma^2 tr (X'X)^-1 <= d sigma^2/((1 - xi) n mu).

    Args:
        variance: sigma^2 of a residual.
        spectrum: of the n rows.

    Source: Cummings et al. 2015, Lemma 2, which forgets the d.

    Example:
        >>> rows = Spectrum.uniform_ball(rows=10_000, dimension=10, tolerance=0.2)
        >>> round(least_squares_error(0.25 / 3, rows), 6)
        0.00125
    """
    return spectrum.dimension * non_negative("variance", variance) / spectrum.lower


def least_expected_error(variance: float, rows: int, dimension: int) -> float:
    """What E||theta_OLS - theta||^2 is at least for rows uniform in the ball: sigma^2 d (d + 2)/n, as 1/x is convex."""
    d = whole("dimension", dimension, at_least=1)
    return non_negative("variance", variance) * d * (d + 2) / whole("rows", rows, at_least=1)


def truthful_payments(rule: ScoringRule, radius: float) -> tuple[float, float]:
    """Least and largest expected payment of a truthful player: a - b(P - P^2), or a + b P^2, over |P| <= R0.

    For R0 >= 1/2, [a - b/4, a + b (R0 + R0^2)]: a = b/4 makes taking part rational in expectation. Both are attained.

    Args:
        rule: the scoring rule.
        radius: R0.

    Source: ours; spec truthful_regression section 2.

    Example:
        >>> truthful_payments(ScoringRule(0.25, 1.0), 1.0)
        (0.0, 2.25)
    """
    reach = positive("radius", radius)
    if rule.centred:
        return rule.a, rule.a + rule.b * reach * reach
    worst = min(reach, 0.5)
    return rule.a - rule.b * (worst - worst * worst), rule.a + rule.b * (reach + reach * reach)
