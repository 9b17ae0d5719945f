"""What is promised of value and feasibility before a run: the print's bounds, and ours.

Source: Wu 2017, Theorem 5.3.17 and L4234; spec convex_programs 2 and 3.
"""

from __future__ import annotations

import math

from confide.contract.checks import fraction, positive, whole
from confide.programs.constants import Constants
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.schedule import Schedule

__all__ = ["bernstein", "corrected_regret", "regret_bound"]


def corrected_regret(
    *, rows: int, tau: float, width: float, averaged: float, rounds: float, beta: float, two_sided: bool = False,
) -> float:
    """R: the regret of projected gradient descent at its best constant step, with probability at least 1 - beta.

    Zinkevich's bound with a chi-square tail for the squares, a martingale tail for <prices, noise>, and a sum of half
    normals for the best fixed prices afterwards.

    Args:
        rows: k.
        tau: half the side of the price box.
        width: w, the largest distance of a load from its supply.
        averaged: s.
        rounds: T, may be infinite.
        beta: in (0, 1).
        two_sided: whether prices may be negative: the box is twice as wide.

    Example:
        >>> s = 2**0.5 / 0.2367043807
        >>> round(corrected_regret(rows=10, tau=1.0, width=1e5, averaged=s, rounds=1e9, beta=0.05), 3)
        406.6
    """
    k, x = whole("rows", rows, at_least=1), math.log(4.0 / fraction("beta", beta))
    positive("tau", tau)
    sides = 2.0 if two_sided else 1.0
    diameter = sides * 2.0 * tau * math.sqrt(k)
    s = averaged
    if math.isinf(rounds):
        first = diameter * s * math.sqrt(k)
    else:
        squares = k * width**2 + rounds * s**2 * (k + 2.0 * math.sqrt(k * x / rounds) + 2.0 * x / rounds) \
            + 2.0 * width * s * math.sqrt(2.0 * k * x)
        first = diameter * math.sqrt(squares / rounds)
    return first + diameter * s * math.sqrt(2.0 * x) + sides * 2.0 * tau * s * (
        k / math.sqrt(2.0 * math.pi) + math.sqrt(2.0 * k * x))


def regret_bound(constants: Constants, schedule: Schedule, beta: float, *, two_sided: bool = False) -> float:
    """R of a run with the constant steps that are taken, 2 tau/(scale sqrt(T)): at least what the best step has.

    Zinkevich's bound of a row, (side^2/eta + eta sum of squares)/(2 T), is least at the best step only; a scale that
    is below the width, or noise that is large beside it, costs more. What is rounded to the grids is
    added.

    Args:
        constants: of the program.
        schedule: of the rounds.
        beta: in (0, 1).
        two_sided: whether rows are equations.

    Returns:
        Infinity where no public scale is known: the step is then AdaGrad's, whose regret is known afterwards.
    """
    if constants.step_scale is None:
        return math.inf
    k, s, rounds = constants.rows, schedule.averaged, schedule.rounds
    x, sides, scales = math.log(4.0 / fraction("beta", beta)), 2.0 if two_sided else 1.0, constants.step_scale
    tau = max(constants.tau)
    squares = k * constants.width**2 + rounds * s**2 * (k + 2.0 * math.sqrt(k * x / rounds) + 2.0 * x / rounds) \
        + 2.0 * constants.width * s * math.sqrt(2.0 * k * x)
    first = (sides**2 * sum(one * scale for one, scale in zip(constants.tau, scales, strict=True))
             + max(one / scale for one, scale in zip(constants.tau, scales, strict=True)) * squares) / math.sqrt(rounds)
    slip = sides * (math.sqrt(rounds) * sum(scales) / PRICE_UNIT + sum(constants.tau) / LOAD_UNIT)
    return slip + first + sides * 2.0 * tau * s * (
        math.sqrt(2.0 * k * x) + k / math.sqrt(2.0 * math.pi) + math.sqrt(2.0 * k * x))


def bernstein(mean: float, largest: float, log: float) -> float:
    """How far a sum of independent numbers in [0, largest] exceeds its mean, but with probability e^-log.

    Args:
        mean: of the sum, at least as large as the true one.
        largest: M.
        log: L = ln(1/probability).

    Source: spec convex_programs 5 (Bern), in place of Theorem 6.3.4, which fails for small means.

    Example:
        >>> round(bernstein(1000, 1, 5), 2)
        101.68
    """
    third = largest * log / 3.0
    return third + math.sqrt(third**2 + 2.0 * largest * mean * log)
