"""What is promised of value and feasibility before a run: our bounds. The print's are in `printed_bounds`.

The regret of projected gradient descent with constant steps eta_j against the best fixed prices of the box is at most

    sum_j D_j^2/(2 eta_j T) + mean_t sum_j eta_j g_tj^2/2 + |<prices, noise>| + what noise lets fixed prices gain,

each with its own tail: Zinkevich's bound, a chi-square with its cross term, a martingale, and a sum of half normals.

Source: Wu 2017, Theorem 5.3.17; spec convex_programs 2 (a-priori regret, corrected) and 5 (Bern).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import scipy

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.programs.constants import Constants
from confide.programs.grids import PRICE_UNIT
from confide.programs.schedule import Schedule

__all__ = ["bernstein", "certified_excess", "corrected_regret", "game_accuracy", "regret_bound", "regret_of_steps"]


def corrected_regret(
    *, rows: int, tau: float, width: float, noise_std: float, rounds: float, failure_probability: float,
    two_sided: bool = False,
) -> float:
    """R: the regret of projected gradient descent at its best constant step, with probability at least 1 - beta.

    Args:
        rows: k.
        tau: half the side of the price box.
        width: w, the largest distance of a load from its supply.
        noise_std: s.
        rounds: T, may be infinite.
        failure_probability: in (0, 1).
        two_sided: whether prices may be negative: the box is twice as wide.

    Example:
        >>> s = 2**0.5 / 0.2367043807
        >>> round(corrected_regret(rows=10, tau=1.0, width=1e5, noise_std=s, rounds=1e9, failure_probability=0.05), 3)
        406.6
    """
    k, x = whole("rows", rows, at_least=1), _log(failure_probability)
    diameter = (2.0 if two_sided else 1.0) * 2.0 * positive("tau", tau) * math.sqrt(k)
    s = non_negative("noise_std", noise_std)
    if math.isinf(rounds):
        first = diameter * s * math.sqrt(k)
    else:
        first = diameter * math.sqrt(_squares([1.0] * k, positive("width", width), s, rounds, x) / rounds)
    return first + _of_noise([tau] * k, s, x, two_sided)


def regret_of_steps(
    *, steps: Sequence[float], taus: Sequence[float], width: float, noise_std: float, rounds: int,
    failure_probability: float,
    two_sided: bool = False,
) -> float:
    """R of given constant steps, with probability at least 1 - beta.

    Args:
        steps: (k,) eta of each row, prices for each unit of load.
        taus: (k,) half the side of the box of each row.
        width: w.
        noise_std: s.
        rounds: T.
        failure_probability: in (0, 1).
        two_sided: whether prices may be negative.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> best = 2 * 10**0.5 / (10 * 1e5**2 * 300) ** 0.5  # next to no noise
        >>> whole = regret_of_steps(steps=[best] * 10, taus=[1.0] * 10, width=1e5, noise_std=1e-9, rounds=300,
        ...                         failure_probability=0.05)
        >>> abs(whole / corrected_regret(rows=10, tau=1.0, width=1e5, noise_std=1e-9, rounds=300,
        ...                              failure_probability=0.05) - 1) < 1e-9
        True
    """
    if len(steps) != len(taus):
        raise InvalidInput("steps", f"{len(steps)} of them", f"must be {len(taus)}, one for each row")
    for name, numbers in (("steps", steps), ("taus", taus)):
        for one in numbers:
            positive(name, one)
    x, s, t = _log(failure_probability), non_negative("noise_std", noise_std), whole("rounds", rounds, at_least=1)
    sides = 2.0 if two_sided else 1.0
    start = sum((sides * 2.0 * tau) ** 2 / (2.0 * eta * t) for eta, tau in zip(steps, taus, strict=True))
    return start + _squares(steps, positive("width", width), s, t, x) / 2.0 + _of_noise(taus, s, x, two_sided)


def regret_bound(constants: Constants, schedule: Schedule, failure_probability: float, *,
                 two_sided: bool = False) -> float:
    """R of a run with the usual constant steps, prices on their grid: infinite where there is no public scale.

    Args:
        constants: of the program.
        schedule: of the rounds.
        failure_probability: in (0, 1).
        two_sided: whether rows are equations.
    """
    if constants.step_scale is None:
        return math.inf
    t = schedule.rounds
    steps = [2.0 * tau / (scale * math.sqrt(t)) for tau, scale in zip(constants.tau, constants.step_scale, strict=True)]
    whole_regret = regret_of_steps(steps=steps, taus=constants.tau, width=constants.width, noise_std=schedule.noise_std,
                                   rounds=t, failure_probability=failure_probability, two_sided=two_sided)
    off, sides = 0.5 / PRICE_UNIT, 2.0 if two_sided else 1.0  # each price is rounded after each round
    slip = sum(off * (sides * 2.0 * tau + off) / eta for eta, tau in zip(steps, constants.tau, strict=True))
    return whole_regret + slip


def _log(failure_probability: float) -> float:
    """x = ln(4/beta): four events."""
    return math.log(4.0 / fraction("failure_probability", failure_probability))


def _squares(weights: Sequence[float], width: float, s: float, rounds: float, x: float) -> float:
    """What the mean over rounds of sum_j weight_j g_j^2 stays below: G2 where all weights are 1."""
    total, square, largest = math.fsum(weights), math.fsum(one * one for one in weights), max(weights)
    noise = total + 2.0 * math.sqrt(square * x / rounds) + 2.0 * largest * x / rounds
    return (total * width**2 + rounds * s**2 * noise
            + 2.0 * width * s * math.sqrt(2.0 * square * x))


def _of_noise(taus: Sequence[float], s: float, x: float, two_sided: bool) -> float:
    """The martingale of prices and noise, and what noise lets the best fixed prices gain."""
    sides = 2.0 if two_sided else 1.0
    total, norm = sides * 2.0 * math.fsum(taus), sides * 2.0 * math.sqrt(math.fsum(tau * tau for tau in taus))
    return norm * s * math.sqrt(2.0 * x) + s * (total / math.sqrt(2.0 * math.pi) + norm * math.sqrt(2.0 * x))


def game_accuracy(
    regret: float, taus: Sequence[float], *, box: float = 2.0, errors: float = 0.0,
) -> tuple[float, float]:
    """What a regret promises: the optimum less the value, and the excess of all rows together.

    Args:
        regret: R, may be infinite.
        taus: (k,) dual bounds.
        box: c > 1, the price box is [0, c tau].
        errors: by how much responses of all together may miss the best ones.

    Source: spec convex_programs 2 (game lemma, corrected: no factor 2).

    Example:
        >>> game_accuracy(100.0, [2.0, 4.0])
        (100.0, 50.0)
    """
    if not regret >= 0:
        raise InvalidInput("regret", f"{regret} is negative, or no number")
    if not positive("box", box) > 1:
        raise InvalidInput("box", f"{box} is too small", "must be above 1")
    all_told = regret + non_negative("errors", errors)
    return all_told, all_told / ((box - 1.0) * min(positive("taus", one) for one in taus))


def certified_excess(rows: int, noise_std: float, failure_probability: float) -> float:
    """What the certificate claims of a row whose average slack, as it was released, is 0: z s.

    Prices make it so where they are not at the ends of their box (`planning`), so this is what a plan counts on.

    Args:
        rows: k.
        noise_std: s.
        failure_probability: in (0, 1).

    Example:
        >>> round(certified_excess(10, 6.2978, 0.05), 2)
        17.68
    """
    k = whole("rows", rows, at_least=1)
    quantile = scipy.special.ndtri(fraction("failure_probability", failure_probability) / (2 * k))
    return -float(quantile) * non_negative("noise_std", noise_std)


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
