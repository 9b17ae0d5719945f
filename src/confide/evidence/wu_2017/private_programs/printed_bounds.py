"""The printed bounds of PrivDude and related algorithms as functions: noise of a round, regret, Theorem 5.3.17, Table 2
and margins of flags. A row is one shared constraint of a program. The module also computes the least supplies at which
bounds are useful.

Source: Wu 2017, Algorithm 8, L4234, Theorem 5.3.17, Table 2; spec convex_programs 2, 3, 9.1 and 9.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from confide.contract.checks import fraction, non_negative, one_of, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.gaussian import gdp_mu
from confide.programs.guarantees import certified_excess, corrected_regret
from confide.programs.incentives import Relative

__all__ = [
    "LeadingTerms",
    "PrintedBound",
    "SmallestSupply",
    "concentrated_factor",
    "gaussian_factor",
    "leading_terms",
    "printed_accuracy",
    "printed_deviation",
    "printed_factor",
    "printed_flag_epsilon",
    "printed_flag_margin",
    "printed_gain",
    "printed_regret",
    "printed_tight_margin",
    "smallest_supply",
]

_MOST = 1e15


def printed_deviation(sensitivity: float, epsilon: float, delta: float, rounds: float) -> float:
    """The printed standard deviation of the noise of one round: (4 sigma/epsilon) sqrt(T ln(2/delta) ln(2.5 T/delta)).

    Args:
        sensitivity: l2 sensitivity sigma of the loads of all rows in one round.
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        rounds: number of rounds T >= 1.

    Source: Wu 2017, Algorithm 8 and Theorem 2.2.4 (strong composition).

    Example:
        >>> round(printed_deviation(2**0.5, 1.0, 1e-6, 1000), 3)
        3169.661
    """
    t = positive("rounds", rounds)
    if t < 1:
        raise InvalidInput("rounds", f"{rounds} is too small", "must be at least 1")
    return 4.0 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon) * math.sqrt(
        t * math.log(2.0 / fraction("delta", delta)) * math.log(2.5 * t / delta))


def printed_factor(epsilon: float, delta: float, rounds: float) -> float:
    """Standard deviation of the noise in a row's load, averaged over all rounds, with the printed noise. The unit is
    the l2 sensitivity sigma.

    Args:
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        rounds: number of rounds T.

    Example:
        >>> [round(printed_factor(1.0, 1e-6, t), 1) for t in (1e3, 1e8)]
        [70.9, 87.7]
    """
    return printed_deviation(1.0, epsilon, delta, rounds) / math.sqrt(rounds)


def gaussian_factor(epsilon: float, delta: float) -> float:
    """Standard deviation 1/mu of the noise in a row's load, averaged over all rounds, with exact Gaussian accounting.
    The unit is the l2 sensitivity sigma, mu is the parameter of Gaussian differential privacy, and the number of rounds
    has no effect.

    Args:
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).

    Example:
        >>> round(gaussian_factor(1.0, 1e-6), 3), round(gaussian_factor(0.1, 1e-6), 2)
        (4.225, 36.3)
    """
    return 1.0 / gdp_mu(epsilon, delta)


def concentrated_factor(epsilon: float, delta: float) -> float:
    """Standard deviation 1/sqrt(2 rho) of the noise in a row's load, averaged over all rounds, with zCDP. The unit is
    the l2 sensitivity sigma, and rho follows from epsilon = rho + 2 sqrt(rho ln(1/delta)).

    Args:
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).

    Example:
        >>> round(concentrated_factor(1.0, 1e-6), 2), round(concentrated_factor(0.1, 1e-6), 1)
        (5.35, 52.7)
    """
    log = math.log(1.0 / fraction("delta", delta))
    root = positive("epsilon", epsilon) / (math.sqrt(log + epsilon) + math.sqrt(log))
    return 1.0 / (math.sqrt(2.0) * root)


def printed_regret(
    *, rows: int, tau: float, width: float, sensitivity: float, epsilon: float, delta: float,
    failure_probability: float,
) -> float:
    """The printed regret bound R_p at T = w^2 rounds: 40 sqrt8 (k tau sigma/epsilon) ln(2 w^2 k/beta)
    sqrt(ln(w^2/delta)).

    Args:
        rows: number k of rows (shared constraints).
        tau: dual bound > 0, a bound on the optimal dual prices.
        width: width w >= 1 of the program: largest possible difference between a row's load and supply.
        sensitivity: l2 sensitivity sigma of the loads of all rows in one round.
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        failure_probability: failure probability beta, in (0, 1).

    Source: Wu 2017, L4234 (proof of Lemma 5.3.15).

    Example:
        >>> round(printed_regret(rows=10, tau=1, width=1e5, sensitivity=2**0.5, epsilon=1.0, delta=1e-6,
        ...                      failure_probability=0.05), 1)
        281802.6
    """
    k, w = whole("rows", rows, at_least=1), positive("width", width)
    if w < 1:
        raise InvalidInput("width", f"{width} is too small", "must be at least 1")
    scale = k * positive("tau", tau) * positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return 40.0 * math.sqrt(8.0) * scale * math.log(2.0 * w * w * k / fraction("failure_probability",
                                                                               failure_probability)) * math.sqrt(
        math.log(w * w / fraction("delta", delta)))


def printed_flag_epsilon(rows: int, epsilon: float, delta: float) -> float:
    """The privacy loss epsilon' = epsilon/(2 sqrt(8 k ln(2/delta))) of each row's flag in Algorithm 9. A flag is a
    sparse vector that tells when a row is almost used up. The composition of k flags then has privacy loss epsilon.

    Args:
        rows: number k of rows (shared constraints).
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).

    Source: Wu 2017, Algorithm 9, with the sqrt(k) that its proof uses; spec convex_programs 10.

    Example:
        >>> round(printed_flag_epsilon(10, 1.0, 1e-6), 5)
        0.01468
    """
    k = whole("rows", rows, at_least=1)
    return positive("epsilon", epsilon) / (2.0 * math.sqrt(8.0 * k * math.log(2.0 / fraction("delta", delta))))


def printed_flag_margin(people: float, rows: int, *, epsilon: float, delta: float, failure_probability: float) -> float:
    """Margin B = 8 (ln n + ln(3 k/beta))/epsilon' of Algorithm 9, where epsilon' is the privacy loss of one flag
    (`printed_flag_epsilon`). The threshold of each row's flag is below the row's supply by B.

    Args:
        people: number n of people.
        rows: number k of rows (shared constraints).
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        failure_probability: failure probability beta, in (0, 1).

    Source: Wu 2017, Theorem 5.5.3.

    Example:
        >>> round(printed_flag_margin(1e5, 10, epsilon=1.0, delta=1e-6, failure_probability=0.05))
        9763
    """
    log = math.log(positive("people", people)) + math.log(3.0 * rows / fraction("failure_probability",
                                                                                failure_probability))
    return 8.0 * log / printed_flag_epsilon(rows, epsilon, delta)


def printed_tight_margin(
    people: float, rows: int, supply: float, alpha: float, *, epsilon: float, delta: float, failure_probability: float,
) -> float:
    """The margin xi of Algorithm 11 for unit demand: the part of each row's supply in reserve for the effects of random
    draws and of reassigned participants.

    The margin is

        sqrt(3 b ln(2 k/beta)) + (160 sqrt8 k sqrt2/epsilon) ln(4 n^2 k^2/beta)^2 sqrt(ln(2 n^2/delta)) (2 + k/alpha).

    Args:
        people: number n of people, which is also the width.
        rows: number k of rows (shared constraints).
        supply: supply b > 0 of each row.
        alpha: utility > 0 that a participant may miss, compared with their best choice, before they are reassigned;
            infinity if nobody is reassigned.
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        failure_probability: failure probability beta, in (0, 1).

    Source: Wu 2017, Algorithm 11 and Theorem 6.3.6.

    Example:
        >>> rest = {"epsilon": 1.0, "delta": 1e-6, "failure_probability": 0.05}
        >>> printed_tight_margin(1e5, 10, 5_000.0, math.inf, **rest) > 5_000.0
        True
    """
    w, k = positive("people", people), float(whole("rows", rows, at_least=1))
    log = math.log(4.0 * w * w * k * k / fraction("failure_probability", failure_probability))
    noise = 160.0 * math.sqrt(8.0) * k * math.sqrt(2.0) / positive("epsilon", epsilon)
    drawn = math.sqrt(3.0 * positive("supply", supply) * math.log(2.0 * k / failure_probability))
    return drawn + noise * (log**2 * math.sqrt(math.log(2.0 * w * w / fraction("delta", delta)))) * (2.0 + k / alpha)


@dataclass(frozen=True, kw_only=True)
class PrintedBound:
    """Theorem 5.3.17 with the constants of its proof, at T = w^2 rounds.

    Args:
        welfare_loss: bound 2 R_p on the optimum minus the value, where R_p is the printed regret bound.
        excess: bound 2 R_p/tau on the total excess of all rows over their supplies.
        rounds: number T = w^2 of rounds.
        vacuous: whether both bounds say nothing, because loss and excess can never exceed them.
    """

    welfare_loss: float
    excess: float
    rounds: float
    vacuous: bool


def printed_accuracy(
    *, people: int, rows: int, tau: float, width: float, sensitivity: float, epsilon: float, delta: float,
    failure_probability: float,
    most_value: float = 1.0, most_excess: float | None = None,
) -> PrintedBound:
    """The bounds of Theorem 5.3.17 at given sizes.

    Args:
        people: number n of people.
        rows: number k of rows (shared constraints).
        tau: dual bound > 0, a bound on the optimal dual prices.
        width: width w >= 1 of the program: largest possible difference between a row's load and supply.
        sensitivity: l2 sensitivity sigma of the loads of all rows in one round.
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        failure_probability: failure probability beta, in (0, 1).
        most_value: largest difference between two values of one person, > 0.
        most_excess: largest possible excess of all rows together over their supply; k w by default.

    Example:
        >>> found = printed_accuracy(people=10**5, rows=10, tau=1.0, width=1e5, sensitivity=2**0.5, epsilon=1.0,
        ...                          delta=1e-6, failure_probability=0.05, most_excess=1e5)
        >>> f"{found.excess:.0f}", found.vacuous
        ('563605', True)
    """
    regret = printed_regret(rows=rows, tau=tau, width=width, sensitivity=sensitivity, epsilon=epsilon, delta=delta,
                            failure_probability=failure_probability)
    loss, excess = 2.0 * regret, 2.0 * regret / tau
    trivial = rows * width if most_excess is None else positive("most_excess", most_excess)
    most = whole("people", people, at_least=1) * positive("most_value", most_value)
    return PrintedBound(welfare_loss=loss, excess=excess, rounds=float(width) ** 2,
                        vacuous=loss >= most and excess >= trivial)


@dataclass(frozen=True, kw_only=True)
class LeadingTerms:
    """A row of Table 2: the growth of welfare loss and excess, without logarithms and constants. Without constants,
    these terms are no guarantees.

    Args:
        welfare: term in the printed column "welfare"; None where the column is empty.
        excess: term in the printed column "constraint violation".
        corrected: excess k sigma/epsilon with the corrected l2 sensitivity sigma.
        erratum: mistake in the printed row, in words; empty where the printed row is right.
    """

    welfare: float | None
    excess: float
    corrected: float
    erratum: str = ""


def _bundles(k: int, epsilon: float, size: float) -> LeadingTerms:
    return LeadingTerms(welfare=k * size / epsilon, excess=k * size / epsilon,
                        corrected=k * math.sqrt(2.0 * size) / epsilon, erratum="bundles are sets: sigma = sqrt(2d)")


def _flow(k: int, epsilon: float, size: float) -> LeadingTerms:
    bound = k * math.sqrt(size) / epsilon
    return LeadingTerms(welfare=bound, excess=bound, corrected=k * math.sqrt(2.0 * size) / epsilon,
                        erratum="tau = 1 is false; the welfare column needs a factor tau, the escape's cost")


def _knapsack(k: int, epsilon: float, size: float) -> LeadingTerms:
    bound = k**1.5 / epsilon
    return LeadingTerms(welfare=bound * size, excess=bound, corrected=bound,
                        erratum="tau = 1/(least weight), not max v/w")


def _shared(k: int, epsilon: float, size: float) -> LeadingTerms:
    bound = k * size**1.5 / epsilon
    return LeadingTerms(welfare=bound, excess=bound, corrected=k * size * math.sqrt(2.0 * size) / epsilon)


def _aggregative(k: int, epsilon: float, size: float) -> LeadingTerms:
    return LeadingTerms(welfare=None, excess=k**1.5 * size / epsilon,
                        corrected=k * 2.0 * math.sqrt(k) * size / epsilon,
                        erratum="an entry moves by 2 gamma: sigma = 2 sqrt(k) gamma with one noise for both signs")


_TABLE: dict[str, Callable[[int, float, float], LeadingTerms]] = {
    "bundles": _bundles, "flow": _flow, "knapsack": _knapsack, "shared_resources": _shared,
    "aggregative_game": _aggregative}


def leading_terms(family: str, *, rows: int, size: float, epsilon: float) -> LeadingTerms:
    """The row of Table 2 for one family of programs.

    Args:
        family: "bundles", "flow", "knapsack", "shared_resources" or "aggregative_game".
        rows: number of goods (bundles), edges (flow), resources (knapsack), projects (shared_resources) or entries of
            the aggregate (aggregative_game).
        size: largest number of goods in a bundle (bundles), of edges in a path (flow), ratio of value to weight
            (knapsack), number of resources of a project (shared_resources) or contribution (aggregative_game).
        epsilon: privacy loss in nats, > 0.

    Raises:
        InvalidInput: no family has this name, or a number is out of range.

    Example:
        >>> leading_terms("flow", rows=36, size=4, epsilon=1.0).excess
        72.0
    """
    one_of("family", family, tuple(_TABLE))
    return _TABLE[family](whole("rows", rows, at_least=1), positive("epsilon", epsilon), positive("size", size))


@dataclass(frozen=True, kw_only=True)
class SmallestSupply:
    """The least number of copies of each good at which the total excess of all goods is at most a given share of all
    copies.

    Args:
        printed: number of copies by Theorem 5.3.17 with the constants of its proof.
        a_priori: number of copies by the regret bound of this project, which is known before a run. The number of
            rounds is infinite, and no finite number of rounds gives a smaller supply by this bound.
        certificate: number of copies by the certificate that is computed after the run, if no price ends at the lower
            or upper limit.
    """

    printed: int
    a_priori: int
    certificate: int


def smallest_supply(
    *, goods: int, epsilon: float, delta: float = 1e-6, failure_probability: float = 0.05, most_excess: float = 0.05,
    burn_share: float = 0.1,
) -> SmallestSupply:
    """The least numbers of copies of each good by three guarantees on the excess, for unit demand with twice as many
    people as copies, l2 sensitivity sqrt2 and dual bound 1.

    Args:
        goods: number k of goods.
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of approximate differential privacy, in (0, 1).
        failure_probability: failure probability beta, in (0, 1).
        most_excess: allowed total excess of all goods as a share of all copies, in (0, 1).
        burn_share: share of the privacy budget, in [0, 1), for early rounds that are not averaged. Only the certified
            run has such rounds.

    Source: spec convex_programs 9.2.

    Example:
        >>> smallest_supply(goods=10, epsilon=1.0)
        SmallestSupply(printed=1821667, a_priori=782, certificate=354)
    """
    k, share = whole("goods", goods, at_least=1), fraction("most_excess", most_excess)
    sigma, mu = math.sqrt(2.0), gdp_mu(epsilon, delta)

    def fits(copies: float) -> bool:
        found = printed_regret(rows=k, tau=1.0, width=2.0 * k * copies, sensitivity=sigma, epsilon=epsilon,
                               delta=delta, failure_probability=failure_probability)
        return 2.0 * found <= share * k * copies

    low, high = 1.0, 2.0
    while not fits(high):
        low, high = high, 2.0 * high
        if high > _MOST:
            raise InvalidInput("epsilon", f"{epsilon} is too small", "no supply below 1e15 is enough")
    while high - low > 0.5:
        middle = (low + high) / 2.0
        low, high = (low, middle) if fits(middle) else (middle, high)
    ideal = corrected_regret(rows=k, tau=1.0, width=1.0, noise_std=sigma / mu, rounds=math.inf,
                             failure_probability=failure_probability)
    run = sigma / (mu * math.sqrt(1.0 - fraction("burn_share", burn_share, zero=True)))
    return SmallestSupply(printed=math.ceil(high), a_priori=math.ceil(ideal / (share * k)),
                          certificate=math.ceil(certified_excess(k, run, failure_probability) / share))


def printed_gain(
    epsilon: float, delta: float, alpha: float, *, most_value: float, largest_sum: float, tau: float, rows: int,
) -> Relative:
    """The printed bound on the gain of a lie. The bound holds, because the smaller bound of this project implies it,
    although the step of the printed proof that bounds prices is wrong.

    The proof takes tau sqrt(k) as the largest length of the price vector, although prices up to 2 tau allow twice that
    length. The proof also shifts utilities by 2 alpha. Neither step is needed, because no utility is above the largest
    value V if contributions are not negative.

    Args:
        epsilon: privacy loss of the mechanism, in nats.
        delta: delta of the mechanism.
        alpha: utility >= 0 that a participant may at most miss, compared with their best choice at the prices.
        most_value: largest value V of one person's allocation.
        largest_sum: largest sum C1 of one person's contributions to all rows.
        tau: dual bound > 0, a bound on the optimal dual prices.
        rows: number k of rows (shared constraints).

    Source: Wu 2017, Theorem 6.2.11.

    Example:
        >>> printed = printed_gain(1.0, 1e-6, 0.01, most_value=1, largest_sum=1, tau=1, rows=10)
        >>> round(printed.added, 6)
        0.044369
    """
    factor = math.exp(non_negative("epsilon", epsilon))
    highest = largest_sum * positive("tau", tau) * math.sqrt(whole("rows", rows, at_least=1))
    return Relative(factor, non_negative("alpha", alpha) * (2.0 * factor - 1.0)
                    + fraction("delta", delta, zero=True) * max(most_value, highest))
