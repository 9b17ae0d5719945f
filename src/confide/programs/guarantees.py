"""Promises about value and feasibility that are made before a run, by the bounds of this package. The bounds as printed
in Wu 2017 are in `evidence.wu_2017.private_programs.printed_bounds`.

The regret of projected gradient descent with constant steps eta_j, against the best fixed prices in their allowed
ranges, is at most

    sum_j D_j^2/(2 eta_j T) + mean_t sum_j eta_j g_tj^2/2 + |<prices, noise>| + gain of fixed prices from noise,

where D_j is the length of the allowed range of price j, T the number of rounds and g_tj the gradient. The four terms of
this regret bound are Zinkevich's bound, a chi-square with its cross term, a martingale, and a sum of half normals. Each
random term has its own tail bound.

Source: Wu 2017, Theorem 5.3.17; spec convex_programs 2 (a-priori regret, corrected) and 5 (Bern).

`certificate`: bounds on the excess of a run over the supplies and on its distance from the optimum, computed after the
run from its public record (billboard) alone.

The certificate holds for any tau, any number of rounds and any step size. A wrong tau or too few rounds lead to large
bounds, never to false ones. The certificate assumes that the noise was drawn as planned, and that the number of rounds
was fixed before the run. Responses that are not exact widen the bounds by the largest total loss of all responses.

The noise of a constraint, averaged over the main rounds, is exactly N(0, s^2) for any behaviour of the prices, so the
mean of the released numbers bounds the excess. In each round, the value of the best responses plus <price, supply -
load> is at least the optimum. The run releases the supply less the noisy load. The mean of <price, released number>
therefore differs from the mean of <price, supply - load> by the mean of <price, noise>. This mean is a martingale with
predictable variance Q, and is bounded by the method of mixtures with Gaussian weights. Rounding to the grid adds at
most 2^-21 to each number.

Source: spec convex_programs 2 (public certificate; by confide).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Certificate, as_billboard
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.programs.billboards import PathBillboard
from confide.programs.dual_dynamics import Schedule
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT, Constants

__all__ = [
    "PathCertificate",
    "as_path",
    "bernstein",
    "certificate",
    "certified_excess",
    "corrected_regret",
    "game_accuracy",
    "mixture",
    "quantile",
    "regret_bound",
    "regret_of_steps",
]

# ---- bounds


def corrected_regret(
    *, rows: int, tau: float, width: float, noise_std: float, rounds: float, failure_probability: float,
    two_sided: bool = False,
) -> float:
    """Upper bound on the regret R of projected gradient descent at its best constant step, which holds with probability
    at least 1 - beta.

    Args:
        rows: number k of constraints.
        tau: dual bound tau > 0 of every constraint. Prices lie in [0, 2 tau], or in [-2 tau, 2 tau] if constraints are
            equations.
        width: largest distance w > 0 between the load of a constraint and its supply, in natural units.
        noise_std: standard deviation s >= 0 of the average of a constraint's noise over all rounds, in natural units of
            load.
        rounds: number T of rounds; may be infinite.
        failure_probability: failure probability beta in (0, 1).
        two_sided: whether constraints are equations, so that prices may be negative.

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
    """Upper bound on the regret R at given constant steps, which holds with probability at least 1 - beta.

    Args:
        steps: (k,) step size eta > 0 of each constraint: the change of its price for one natural unit of excess.
        taus: (k,) dual bound tau > 0 of each constraint. Prices lie in [0, 2 tau], or in [-2 tau, 2 tau] if constraints
            are equations.
        width: largest distance w > 0 between the load of a constraint and its supply, in natural units.
        noise_std: standard deviation s >= 0 of the average of a constraint's noise over all rounds, in natural units of
            load.
        rounds: number of rounds T.
        failure_probability: failure probability beta in (0, 1).
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
        raise InvalidInput("steps", f"{len(steps)} numbers", f"must be {len(taus)} numbers, one for each row")
    for name, numbers in (("steps", steps), ("taus", taus)):
        for one in numbers:
            positive(name, one)
    x, s, t = _log(failure_probability), non_negative("noise_std", noise_std), whole("rounds", rounds, at_least=1)
    sides = 2.0 if two_sided else 1.0
    start = sum((sides * 2.0 * tau) ** 2 / (2.0 * eta * t) for eta, tau in zip(steps, taus, strict=True))
    return start + _squares(steps, positive("width", width), s, t, x) / 2.0 + _of_noise(taus, s, x, two_sided)


def regret_bound(constants: Constants, schedule: Schedule, failure_probability: float, *,
                 two_sided: bool = False) -> float:
    """Upper bound on the regret R of a run with prices that are rounded to multiples of 2^-24. The constant step of
    each constraint is 2 tau/(`step_scale` sqrt(T)). The bound holds with probability at least 1 - beta, and is infinite
    for programs without a public `step_scale`.

    Args:
        constants: public constants of the program.
        schedule: number T of main rounds, and the noise of each round.
        failure_probability: failure probability beta in (0, 1).
        two_sided: whether constraints are equations, so that prices may be negative.
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
    """The number x = ln(4/beta), for a union bound over four events."""
    return math.log(4.0 / fraction("failure_probability", failure_probability))


def _squares(weights: Sequence[float], width: float, s: float, rounds: float, x: float) -> float:
    """Upper bound on the mean over rounds of sum_j weight_j g_j^2, where g_j is the gradient. The upper bound is called
    G2 where all weights are 1.
    """
    total, square, largest = math.fsum(weights), math.fsum(one * one for one in weights), max(weights)
    noise = total + 2.0 * math.sqrt(square * x / rounds) + 2.0 * largest * x / rounds
    return (total * width**2 + rounds * s**2 * noise
            + 2.0 * width * s * math.sqrt(2.0 * square * x))


def _of_noise(taus: Sequence[float], s: float, x: float, two_sided: bool) -> float:
    """Upper bound on two parts of the regret: the average over rounds of the product of prices and noise (a
    martingale), and the gain of the best fixed prices from noise.
    """
    sides = 2.0 if two_sided else 1.0
    total, norm = sides * 2.0 * math.fsum(taus), sides * 2.0 * math.sqrt(math.fsum(tau * tau for tau in taus))
    return norm * s * math.sqrt(2.0 * x) + s * (total / math.sqrt(2.0 * math.pi) + norm * math.sqrt(2.0 * x))


def game_accuracy(
    regret: float, taus: Sequence[float], *, box: float = 2.0, errors: float = 0.0,
) -> tuple[float, float]:
    """Two upper bounds that follow from a bound on the regret: on the optimum less the value, in units of value, and on
    the total excess of all constraints, in natural units of load.

    Args:
        regret: bound R >= 0 on the regret, in units of value; may be infinite.
        taus: (k,) dual bound tau > 0 of each constraint.
        box: number c > 1 such that the price of each constraint lies in [0, c tau].
        errors: largest total value that all participants' responses together lose against best responses.

    Source: spec convex_programs 2 (game lemma, corrected: no factor 2).

    Example:
        >>> game_accuracy(100.0, [2.0, 4.0])
        (100.0, 50.0)
    """
    if not regret >= 0:
        raise InvalidInput("regret", f"{regret} is {'not a number' if math.isnan(regret) else 'negative'}",
                           "must be at least 0")
    if not positive("box", box) > 1:
        raise InvalidInput("box", f"{box} is too small", "must be above 1")
    total = regret + non_negative("errors", errors)
    return total, total / ((box - 1.0) * min(positive("taus", one) for one in taus))


def certified_excess(rows: int, noise_std: float, failure_probability: float) -> float:
    """The bound z s that a certificate states for a constraint's excess if the constraint's released numbers are 0 on
    average. A released number is the supply less the noisy load. The number z is a normal quantile, and s the standard
    deviation of the average noise.

    Released numbers are about 0 on average where prices are not at the ends of their allowed range (`planning`), so a
    plan uses the bound z s.

    Args:
        rows: number k of constraints.
        noise_std: standard deviation s of the noise of a constraint's average load, in natural units.
        failure_probability: failure probability beta in (0, 1) of the certificate. The bound of one constraint may
            fail with probability beta/(2k).

    Example:
        >>> round(certified_excess(10, 6.2978, 0.05), 2)
        17.68
    """
    k = whole("rows", rows, at_least=1)
    quantile = scipy.special.ndtri(fraction("failure_probability", failure_probability) / (2 * k))
    return -float(quantile) * non_negative("noise_std", noise_std)


def bernstein(mean: float, largest: float, log: float) -> float:
    """Upper bound on the amount by which a sum of independent random numbers in [0, largest] exceeds its expected
    value. The bound fails with probability at most e^-log.

    Args:
        mean: expected value of the sum, or an upper bound on the expected value.
        largest: largest possible value of each number.
        log: L = ln(1/p), for the probability p with which the bound may fail.

    Source: spec convex_programs 5 (Bern), in place of Theorem 6.3.4, which fails for small means.

    Example:
        >>> round(bernstein(1000, 1, 5), 2)
        101.68
    """
    third = largest * log / 3.0
    return third + math.sqrt(third**2 + 2.0 * largest * mean * log)


# ---- certifying

_ROUNDED = 0.5 / LOAD_UNIT
_CLOSE = 50.0  # what prices may move in the main rounds, as a share of tau, where the mixture is sharpest


@renamed(beta="failure_probability")
@wire("PathCertificate", "beta excess gap sharp_gap regret complaint vacuous", failure_probability="beta")
@dataclass(frozen=True, kw_only=True, eq=False)
class PathCertificate(Certificate):
    """Bounds for a run. The bounds `excess`, `gap` and `regret` hold together with probability at least 1 - beta.

    The bounds `excess` and `sharp_gap` also hold together with probability at least 1 - beta. The bound `complaint`
    holds by itself with probability at least 1 - beta.

    Args:
        failure_probability: failure probability beta, in (0, 1).
        excess: (k,) upper bound, for each constraint, on the load of the participants' average responses less the
            supply, in natural units; where constraints are equations, on the absolute difference.
        gap: upper bound on the optimum less the value of the average responses, in units of value.
        sharp_gap: second upper bound on the optimum less the value of the average responses, computed from the changes
            of prices since the first main round. Where prices hardly change, `sharp_gap` is often half of `gap`.
        regret: upper bound on the regret of the run, in units of value. After the run, the bound replaces the bound R
            that was known before the run.
        complaint: upper bound, in units of value, on the sum of all participants' gains if each could change to their
            best choice at the average prices. So for any alpha > 0, at most complaint/alpha participants would gain
            more than alpha.
        vacuous: whether `gap` is no smaller than the largest possible gap. In programs without values, `vacuous` states
            whether the total excess is no smaller than the largest possible excess.
    """

    failure_probability: float
    excess: NDArray[np.float64]
    gap: float
    sharp_gap: float
    regret: float
    complaint: float
    vacuous: bool

    def unsatisfied(self, alpha: float) -> float:
        """Upper bound on the number of participants who would gain more than alpha by another choice at the average
        prices.

        Args:
            alpha: largest tolerated gain by another choice, > 0, in units of value.
        """
        return self.complaint / positive("alpha", alpha)

    @property
    def total_excess(self) -> float:
        """Upper bound on the total excess of all constraints, in natural units of load."""
        return float(self.excess.sum())


@renamed(beta="failure_probability")
def certificate(billboard: PathBillboard, failure_probability: float | None = None) -> PathCertificate:
    """Bounds for a run that follow from its billboard. The bounds cost no privacy, since they are post-processing of
    the billboard.

    Args:
        billboard: billboard of a run of any mechanism of this package.
        failure_probability: failure probability beta in (0, 1) of the certificate; by default that of the billboard.

    Raises:
        InvalidInput: the argument is no billboard with a path of prices.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import PrivDude, UnitDemand, popular
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(popular(5_000, 5, seed=1), Noise.simulated(1))
        >>> found = certificate(outcome.billboard)
        >>> bool(found.gap < 0.02 * 5_000), found.vacuous
        (True, False)
    """
    billboard = as_path(billboard)
    failure = fraction("failure_probability", billboard.failure_probability if failure_probability is None
                       else failure_probability)
    prices = billboard.main_prices / PRICE_UNIT
    slacks = billboard.natural_slacks[billboard.burn_in :]
    s, tau = billboard.round_noise_std / math.sqrt(billboard.rounds), np.asarray(billboard.tau)
    discrete, rows = billboard.discrete, prices.shape[1]

    tails = 2 * rows if billboard.two_sided else rows
    mean = slacks.mean(axis=0)
    over = np.abs(mean) if billboard.two_sided else -mean
    excess = np.maximum(0.0, over + quantile(failure / (2 * tails), discrete) * s + _ROUNDED)

    seen = float(np.einsum("tj,tj->", prices, slacks)) / billboard.rounds
    slip = _ROUNDED * float(np.abs(prices).sum()) / billboard.rounds
    spread = s * s * float(np.square(prices).sum()) / billboard.rounds
    typical = s * s * float(np.square(tau).sum())
    deviation = mixture(spread, typical, failure / 2)

    reference = prices[0]
    near = s * s * float(np.square(prices - reference).sum()) / billboard.rounds
    still = typical / _CLOSE**2
    through = quantile(failure / 4, discrete) * s * float(np.linalg.norm(reference))
    sharp = through + mixture(near, still, failure / 4)

    average = prices.mean(axis=0)
    apart = float(np.einsum("tj,tj->", prices - average, slacks)) / billboard.rounds
    complaint = (apart + mixture(near, still, failure / 2)
                 + quantile(failure / (4 * rows), discrete) * s * float(np.linalg.norm(average - reference, 1))
                 + _ROUNDED * float(np.abs(prices - average).sum()) / billboard.rounds + billboard.inexact)
    seen += slip + billboard.inexact
    valued = billboard.baseline_gap > 0.0  # else every value is 0, and so is the gap
    return PathCertificate(
        failure_probability=failure, excess=excess, gap=seen + deviation if valued else 0.0,
        sharp_gap=seen + sharp if valued else 0.0,
        regret=seen + deviation + 2.0 * float(tau @ excess), complaint=max(0.0, complaint),
        vacuous=not (seen + deviation < billboard.baseline_gap if valued
                     else float(excess.sum()) < billboard.most_excess))


def quantile(tail: float, discrete: bool) -> float:
    """The number that a standard normal variable exceeds with probability `tail`. For discrete Gaussian noise, a number
    of standard deviations that the noise exceeds with at most this probability.

    Args:
        tail: tail probability in (0, 1).
        discrete: whether the noise is discrete Gaussian.
    """
    return math.sqrt(2.0 * math.log(1.0 / tail)) if discrete else -float(scipy.special.ndtri(tail))


def mixture(variance: float, typical: float, failure_probability: float) -> float:
    """An upper bound, computed from the predictable variance, that a martingale with Gaussian or sub-Gaussian
    increments exceeds with at most the given failure probability.

    Args:
        variance: observed predictable variance Q.
        typical: number r > 0, in the unit of the variance, that is fixed in advance. The bound is sharpest for a
            variance Q near r.
        failure_probability: failure probability in (0, 1) of the bound.

    Source: spec convex_programs 2: E exp(u S - u^2 Q/2) <= 1, mixed over u ~ N(0, 1/r).
    """
    both = variance + typical
    return math.sqrt(both * (math.log(both / typical) + 2.0 * math.log(1.0 / failure_probability)))


def as_path(billboard: Any) -> PathBillboard:
    """The given billboard, after a check that it has a path of prices.

    Raises:
        InvalidInput: another kind of billboard, or a field of another type or shape.
    """
    board = as_billboard(billboard)
    if not isinstance(board, PathBillboard):
        raise InvalidInput("billboard", f"{type(board).__name__} has no path of prices",
                           "belongs to another mechanism")
    board.require_form()
    return board
