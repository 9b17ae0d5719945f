"""Private dual dynamics: prices follow a noisy gradient, and in each round all participants respond with their best
actions at the current prices.

In each round the load of all best responses is released with noise, and the prices of the next round are computed from
the noisy load by a public rule. The path of prices is the list of the prices of all rounds. A participant needs only
the path of prices and their own record to compute their own share.

Source: Wu 2017, Algorithm 8 (PrivDude); spec convex_programs 2.

The noise of each round is fixed in advance, so that all rounds together cost exactly the promised privacy loss.

Adaptive composition of Gaussian releases is exactly mu-Gaussian DP with mu^2 = sum (sigma/deviation)^2, where sigma is
the l2 sensitivity and deviation is the standard deviation of a round's noise. Given the past rounds, a neighbouring
data set shifts the load of a round by a vector that is a function of the past and has length at most sigma. So the log
likelihood ratio of a run is N(+-mu^2/2, mu^2) for any behaviour of the prices. Secure Gaussian noise follows the
continuous law. The sum of the noise and the protected number is rounded to the grid, so the theorem on composition
applies to the released number. With the discrete Gaussian law, the run satisfies zCDP with rho = sum sigma^2/(2
deviation^2), which needs 7 percent more noise at epsilon = 1 and delta = 10^-6.

Source: spec convex_programs 2 (calibrated setting).

The numbers of rounds follow from public sizes alone. Prices need a burn-in to reach their level, and main rounds to
average out the noise.

Consider a constraint with supply b and load 2b. In each of B rounds of the burn-in, the price of this constraint rises
by 2 tau b/(scale sqrt(B)), where scale is the program's public `step_scale`. So the price reaches tau if B is
(scale/(2b))^2. The main rounds, which average out the noise, are half as many as the burn-in. If total demand exceeds
the total supply of all constraints by a small share f only, prices rise f times as fast, and the burn-in takes
(scale/(2 f b))^2 rounds. The following table has measurements with unit demand, n = 20,000, epsilon = 1, and three
random draws of values, for goods with popularities of .3 to 1. The entries of the table are the largest excess of a
constraint as a share of its supply. The last column is the planned excess, which the certificate adds for noise alone:

    goods  supply    burn-in + main rounds: excess                               planned
    2      n/(2k)    4 + 2: 6.4%, 8 + 4: 12%, 16 + 8: .1%                        .3%
    5      n/(1.2k)  16 + 32: 7.3%, 32 + 32: 3.2%, 64 + 64: .5%, 128 + 64: .1%   .4%
    5      n/(1.05k) 173 + 86: 3.2%, 690 + 345: .3%, 2758 + 1379: .1%            .4%
    5      n/(1.02k) 163 + 81: 1.9%, 651 + 325: 1.4%, 2602 + 1301: .1%           .4%
    10     n/(2k)    32 + 64: 12%, 64 + 64: .6%, 100 + 200: .3%                  1.6%
    10     n/(1.2k)  100 + 200: 6.9%, 200 + 200: 2.1%, 400 + 200: .3%            1.0%
    10     n/(1.05k) 690 + 345: 3.5%, 2759 + 1379: .2%                           .8%
    10     n/(1.02k) 651 + 325: 2.0%, 2604 + 1302: .7%                           .8%
    10     n/k       100 + 200: 2.4%, 256 + 128: .8%, 400 + 200: .3%             .8%

Therefore the share f by which demand exceeds supply counts as at least .1 and at most 1. Where the total supply covers
the largest possible demand, not all prices need to rise together, and f counts as .2. There are at least 32 rounds of
burn-in and 16 main rounds.

The following measurements are for unit demand, n = 20,000, b = n/(2k) and epsilon = 1. A short run has 200 main rounds
after a burn-in of 100. With a step scale of n, a short run met the plan at k = 10 goods: the certificate stated an
excess of 1.7%, and 1.8% was planned. At k = 30 goods, a short run left an excess of 55%. With 900 main rounds after a
burn-in of 900 the excess was .5% (the certificate stated 5.8%, and 5.9% was planned). So families of goods take larger
steps where there are many goods (`sets_of_goods`). At k = 30, larger steps leave an excess of 4.7% in the worst
constraint after a short run. AdaGrad converged in 300 rounds at 10, 30 and 100 goods, but lost 1.4%, 3.5% and 12.5% of
the optimal value.

Source: spec convex_programs 2 and 9.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.contract.mechanism import Progress
from confide.numerics.shards import Shards
from confide.privacy.accounting.sums import root_up
from confide.privacy.events import Event, GDPEvent, ZCDPEvent
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import GDP, ZCDP
from confide.privacy.noise import Noise
from confide.privacy.primitives.additive import add_discrete_gaussian, add_gaussian
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_BITS, PRICE_UNIT
from confide.programs.program import Program, Shard

__all__ = [
    "PRICES",
    "Descent",
    "Law",
    "Schedule",
    "Step",
    "event",
    "holds",
    "limited",
    "needed_rounds",
    "noisy",
    "play",
    "squared_budget",
    "total_variation",
    "usual_rounds",
]

# ---- schedule

PRICES = "prices"
"""Name of the line of the privacy charge for the noise of all rounds together."""

Law = Literal["gaussian", "discrete_gaussian"]
_MOST_ROUNDS = 100_000
_LARGEST = 2.0**33  # of a deviation: noise stays far inside 2^53 units


def squared_budget(law: Law, epsilon: float, delta: float) -> Fraction:
    """Largest allowed sum of (sigma/deviation)^2 over all rounds, where sigma is the l2 sensitivity and deviation is
    the standard deviation of a round's noise. The result is mu^2 for Gaussian noise, and 2 rho for discrete Gaussian
    noise.

    Args:
        law: distribution of the noise, "gaussian" or "discrete_gaussian".
        epsilon: privacy loss in nats, > 0.
        delta: delta of the privacy promise, in (0, 1).

    Example:
        >>> round(float(squared_budget("gaussian", 1.0, 1e-6)) ** 0.5, 10)
        0.2367043807
    """
    one_of("law", law, ("gaussian", "discrete_gaussian"))
    if law == "gaussian":
        return Fraction(gdp_mu(epsilon, delta)) ** 2
    return 2 * Fraction(ZCDP.within(epsilon, delta).rho)


def event(law: Law, squared: Fraction, unit: Relation, label: str) -> Event:
    """Privacy event of a release that spends a part of the squared budget.

    Args:
        law: distribution of the noise, "gaussian" or "discrete_gaussian".
        squared: (sigma/deviation)^2 of the release, summed over its rounds, for l2 sensitivity sigma and standard
            deviation `deviation` of the noise.
        unit: neighbouring relation, which states how two neighbouring data sets differ.
        label: name of the release.
    """
    if law == "gaussian":
        return GDPEvent(mu=root_up(squared), neighbours=unit, label=label)
    half = squared / 2
    rho = float(half)
    return ZCDPEvent(rho=rho if Fraction(rho) >= half else math.nextafter(rho, math.inf), neighbours=unit, label=label)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Numbers of rounds, and the standard deviation of the noise of each round. A run begins with the burn-in. Averages
    are taken over the main rounds, which follow.

    Args:
        rounds: number T >= 1 of main rounds.
        burn_in: number of rounds before the main rounds, which are not averaged.
        burn_share: share of the squared budget for the burn-in, in (0, 1); unused without a burn-in.
        squared_l2_sensitivity: squared l2 sensitivity sigma^2 of the load of one round, in natural units.
        squared_budget: largest allowed sum of (sigma/deviation)^2 over all rounds, where deviation is the standard
            deviation of a round's noise.
        law: distribution of the noise, "gaussian" or "discrete_gaussian".

    Raises:
        InvalidInput: a number out of range.
        Refused: noise with a standard deviation above 2^33 natural units of load.

    Example:
        >>> one = Schedule(rounds=1000, burn_in=0, squared_l2_sensitivity=Fraction(2),
        ...                squared_budget=squared_budget("gaussian", 1.0, 1e-6))
        >>> round(one.main_noise_std, 4), round(one.noise_std, 4)
        (188.9334, 5.9746)
    """

    rounds: int
    burn_in: int
    squared_l2_sensitivity: Fraction
    squared_budget: Fraction
    burn_share: float = 0.1
    law: Law = "gaussian"

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, at_least=1)
        whole("burn_in", self.burn_in)
        if self.rounds + self.burn_in > _MOST_ROUNDS:
            raise InvalidInput("rounds", f"{self.rounds} rounds and {self.burn_in} rounds of burn-in are too many",
                               f"must be at most {_MOST_ROUNDS} together")
        fraction("burn_share", self.burn_share)
        if not self.squared_budget > 0 or not self.squared_l2_sensitivity > 0:
            raise InvalidInput("squared_budget", "this number or the sensitivity is not positive",
                               "both must be above 0")
        if max(self.main_noise_std, self.burn_noise_std) > _LARGEST:
            raise Refused(f"the noise of a round would be {self.main_noise_std:.3g}",
                          f"must be at most {_LARGEST:.3g}: choose a larger epsilon, or fewer rounds")

    @property
    def total(self) -> int:
        """Number of all rounds."""
        return self.rounds + self.burn_in

    @property
    def _burn_budget(self) -> Fraction:
        return self.squared_budget * Fraction(self.burn_share) if self.burn_in else Fraction(0)

    @cached_property
    def burn_noise_std(self) -> float:
        """Standard deviation of the noise of each round of the burn-in, in natural units of load, rounded up; 0 without
        a burn-in.
        """
        if not self.burn_in:
            return 0.0
        return root_up(self.squared_l2_sensitivity * self.burn_in / self._burn_budget)

    @cached_property
    def main_noise_std(self) -> float:
        """Standard deviation of the noise of each main round, in natural units of load, rounded up."""
        return root_up(self.squared_l2_sensitivity * self.rounds / (self.squared_budget - self._burn_budget))

    @property
    def noise_std(self) -> float:
        """Standard deviation s of the mean noise of a constraint over the main rounds, in natural units of load. For a
        given squared budget, s does not depend on the number of main rounds, except for rounding.
        """
        return self.main_noise_std / math.sqrt(self.rounds)

    def round_noise_std(self, t: int) -> float:
        """Standard deviation of the noise of a round, in natural units of load.

        Args:
            t: number of the round, from 0, beginning with the burn-in.
        """
        return self.burn_noise_std if t < self.burn_in else self.main_noise_std

    def released(self, noise: Noise, exact: NDArray[np.int64], t: int) -> NDArray[np.int64]:
        """Published numbers of a round, supply less load plus noise, shape (k,), in load units of 2^-20.

        Args:
            noise: source of the noise.
            exact: (k,) exact supply less load, in load units of 2^-20. Private.
            t: number of the round, from 0.
        """
        return noisy(noise, exact, self.round_noise_std(t), self.law, ("slack", t),
                     squared_l2_sensitivity=self.squared_l2_sensitivity, line=PRICES)


def noisy(
    noise: Noise, exact: NDArray[np.int64], noise_std: float, law: Law, stream: str | tuple[str, int], *,
    squared_l2_sensitivity: Fraction, line: str,
) -> NDArray[np.int64]:
    """Add Gaussian noise to numbers on the grid of loads. The result, in units of 2^-20, is on the same grid.

    Args:
        noise: source of the noise.
        exact: (k,) exact numbers, in load units of 2^-20, below 2^53 in absolute value. Private.
        noise_std: standard deviation of the noise, in natural units of load, not in units of 2^-20.
        law: distribution of the noise, "gaussian" or "discrete_gaussian".
        stream: name under which the noise source makes the draw, such as ("slack", t) for round t.
        squared_l2_sensitivity: squared l2 sensitivity of the numbers, in natural units of load.
        line: name of the line of the privacy charge under which the noise is charged.
    """
    if law == "discrete_gaussian":
        return add_discrete_gaussian(noise, exact, noise_std=Fraction(noise_std) * LOAD_UNIT, stream=stream,
                                     l2_sensitivity_squared=squared_l2_sensitivity * LOAD_UNIT**2, line=line)
    drawn = add_gaussian(noise, exact / LOAD_UNIT, noise_std=noise_std, l2_sensitivity_squared=squared_l2_sensitivity,
                         stream=stream, grid=LOAD_BITS, line=line)
    return np.rint(drawn * LOAD_UNIT).astype(np.int64)


def total_variation(law: Law, squared: Fraction) -> float:
    """Upper bound on the total variation distance between the distributions of the path of prices on two neighbouring
    data sets.

    Args:
        law: distribution of the noise, "gaussian" or "discrete_gaussian".
        squared: sum of (sigma/deviation)^2 over all releases, for l2 sensitivity sigma and standard deviation
            `deviation` of the noise.

    Source: spec convex_programs 2 and 6.1: 2 Phi(mu/2) - 1; by Pinsker's inequality sqrt(rho/2) for the discrete law.
    """
    if law == "gaussian":
        return GDP(root_up(squared)).delta_at(0.0)
    return min(1.0, root_up(squared) / 2.0)


# ---- dual dynamics

Step = Literal["gradient", "adagrad"]
_Units = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Rule by which the prices of each round are computed from the released numbers, supply less noisy load, of earlier
    rounds. A run and the verification of its billboard use the same arithmetic.

    Args:
        program: program whose constraints the prices belong to.
        schedule: numbers of rounds, and the noise of each round.
        step: rule of the step size. "gradient" is projected gradient descent with step 2 tau/(scale sqrt(R)), for
            families with a public scale of steps, where R is the number of rounds of the burn-in or of the main rounds.
            "adagrad" has step 2 tau/sqrt(2 S), where S is the sum of the squared released numbers so far, and needs no
            scale. None stands for "gradient" in families with a public scale, and for "adagrad" in other families.
        start: (k,) public prices of the first round in natural units, such as the prices of an earlier run; zeros by
            default.
    """

    program: Program
    schedule: Schedule
    step: Step | None = None
    start: tuple[float, ...] | None = None

    @property
    def rule(self) -> Step:
        """The rule of the step size that the run uses: `step`, or the family's default."""
        known = self.program.constants.step_scale is not None
        if self.step == "gradient" and not known:
            raise InvalidInput("step", "'gradient' needs a public scale of loads, which this program does not have",
                               "use 'adagrad'")
        return self.step or ("gradient" if known else "adagrad")

    def first(self) -> _Units:
        """Prices of the first round, shape (k,), in price units of 2^-24."""
        zero = np.zeros(self.program.rows, dtype=np.int64)
        if self.start is None:
            return zero
        wanted = np.rint(np.array(self.start) * PRICE_UNIT).astype(np.int64)
        return np.asarray(np.clip(wanted, self.program.lowest_prices, self.program.highest_prices))

    def steps(self, t: int) -> NDArray[np.float64]:
        """Step sizes of the rule "gradient" in a round, shape (k,), in price units of 2^-24 for each load unit of
        2^-20. The step sizes are equal in all rounds of the burn-in, and in all main rounds.

        Args:
            t: number of the round, from 0.
        """
        scale = self.program.constants.step_scale
        phase = self.schedule.burn_in if t < self.schedule.burn_in else self.schedule.rounds
        eta = 2.0 * np.array(self.program.taus) / (np.array(scale) * np.sqrt(phase))
        return np.asarray(eta * 2.0 ** (PRICE_BITS - LOAD_BITS))

    def moved(self, prices: _Units, slack: _Units, squares: NDArray[np.float64], t: int) -> _Units:
        """Prices of the next round, shape (k,), in price units of 2^-24.

        Args:
            prices: (k,) prices of the present round, in price units of 2^-24.
            slack: (k,) released numbers of the round, in load units of 2^-20.
            squares: (k,) sums of squares of all released numbers up to the present round, in squared natural units of
                load.
            t: number of the round, from 0.
        """
        eta = self.steps(t) if self.rule == "gradient" else (
            2.0 * np.array(self.program.taus) / np.sqrt(2.0 * np.maximum(squares, 2.0**-40))
            * 2.0 ** (PRICE_BITS - LOAD_BITS))
        to = np.rint(prices - eta * slack)
        return np.clip(to, self.program.lowest_prices, self.program.highest_prices).astype(np.int64)

    def path(self, slacks: _Units) -> _Units:
        """Prices of all rounds, computed from the released numbers, shape (rounds, k), in price units of 2^-24.

        Args:
            slacks: (rounds, k) released numbers, in load units of 2^-20.
        """
        prices, squares = [self.first()], np.zeros(self.program.rows)
        for t, slack in enumerate(slacks[:-1]):
            squares = squares + np.square(slack / LOAD_UNIT)
            prices.append(self.moved(prices[-1], slack, squares, t))
        return np.stack(prices)


def play(
    descent: Descent, shards: Shards, noise: Noise, *, progress: Progress | None = None,
) -> tuple[_Units, _Units]:
    """Compute all rounds. Each round releases the noisy load of all best responses, from which the prices of the next
    round are computed.

    Args:
        descent: rule of the prices, with the program and the schedule of rounds.
        shards: records of all participants, in consecutive parts.
        noise: source of the noise.
        progress: function that is called after each round with the number of finished rounds and the number of all
            rounds.

    Returns:
        Prices, in units of 2^-24, and released numbers (supply less noisy load), in units of 2^-20. Both have shape
        (rounds, k), with the rounds of the burn-in and the main rounds.
    """
    program, schedule = descent.program, descent.schedule
    supply, squares = program.supply_units, np.zeros(program.rows)
    prices, slacks = [descent.first()], []
    for t in range(schedule.total):
        loads = shards.map(_load_at, program, prices[-1])
        load = np.sum(loads, axis=0, dtype=np.int64) + program.public_load(prices[-1])
        slacks.append(schedule.released(noise, supply - load, t))
        squares = squares + np.square(slacks[-1] / LOAD_UNIT)
        if t + 1 < schedule.total:
            prices.append(descent.moved(prices[-1], slacks[-1], squares, t))
        if progress is not None:
            progress(t + 1, schedule.total)
    return np.stack(prices), np.stack(slacks)


def _load_at(shard: Shard, program: Program, prices: _Units) -> _Units:
    return program.load_at(shard.records, prices)


# ---- enough rounds

_USUAL = {"burn_in": 100, "rounds": 200}
_MOST_TRIED = 40_000
_LEAST_PUSH, _NO_PUSH = 0.1, 0.2  # f at least; and where nothing pushes all prices up
_LEAST_ROUNDS = (32, 16)  # burn-in and main rounds: with fewer, steps are so large that prices swing


def usual_rounds(
    program: Program, *, step: Step | None = None, start: tuple[float, ...] | None = None
) -> dict[str, int]:
    """Recommended `burn_in` and `rounds` of a mechanism. Both are as large as prices need to converge, but `burn_in` is
    at least 100, `rounds` at least 200, and each at most 40,000.

    Args:
        program: program of any family.
        step: rule for the steps of prices, "gradient" or "adagrad"; None for the default of the family.
        start: (k,) public prices of the first round, in natural units; None for zeros.

    Example:
        >>> from confide.programs import UnitDemand
        >>> usual_rounds(UnitDemand(20_000, 333, goods=30))
        {'burn_in': 257, 'rounds': 200}
    """
    needed = needed_rounds(program, step=step, start=start)
    return {name: max(usual, min(_MOST_TRIED, number))
            for (name, usual), number in zip(_USUAL.items(), needed, strict=True)}


def needed_rounds(
    program: Program, *, step: Step | None = None, start: tuple[float, ...] | None = None
) -> tuple[int, int]:
    """Numbers of burn-in rounds and of main rounds that prices need to converge. Both follow from the supplies, the
    public scale of steps, and the largest share by which total demand may exceed the supplies. Where no load can exceed
    its supply, the result is no burn-in and one main round.

    Args:
        program: program of any family.
        step: rule for the steps of prices, "gradient" or "adagrad"; None for the default of the family. With AdaGrad,
            or without a public scale of steps, the result is no burn-in and one main round.
        start: (k,) public prices of the first round, in natural units; None for zeros. With given prices, the result is
            no burn-in and one main round, too.
    """
    scale = program.constants.step_scale
    if step == "adagrad" or scale is None or start is not None:
        return 0, 1
    short = limited(program) & (np.array(program.supplies) > 0)
    if not short.any():
        return 0, 1
    held = holds(program)
    more = program.people * program.constants.largest_sum / float(held.sum()) - 1.0
    push = min(1.0, max(_LEAST_PUSH, more)) if more > 0.0 else _NO_PUSH
    most = float((np.array(scale) / (2.0 * push * held))[short].max()) ** 2
    return max(_LEAST_ROUNDS[0], math.ceil(most)), max(_LEAST_ROUNDS[1], math.ceil(most / 2.0))


def limited(program: Program) -> NDArray[np.bool_]:
    """Whether each constraint's load can exceed the supply, or differ from the supply in an equation, shape (k,)."""
    if program.two_sided:
        return np.ones(program.rows, dtype=bool)
    return np.array(program.supplies) < program.people * program.constants.largest_entry


def holds(program: Program) -> NDArray[np.float64]:
    """Reference amount of each constraint, in natural units of load, shape (k,). Total excess and total reserve are
    stated as shares of the sum of these amounts. The amount is the supply, but at most the largest possible load; for
    equations and supplies <= 0, the amount is `constants.width`.
    """
    supplies = np.array(program.supplies, dtype=np.float64)
    instead = program.two_sided | (supplies <= 0)
    return np.where(instead, program.constants.width,
                    np.minimum(supplies, program.people * program.constants.largest_entry))
