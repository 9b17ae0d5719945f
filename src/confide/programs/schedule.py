"""How much noise each round gets, fixed in advance, so that all rounds together cost exactly what was promised.

Adaptive composition of Gaussian releases is exactly mu-Gaussian DP with mu^2 = sum (sigma/deviation)^2: given the past,
a neighbour shifts a round by a vector that is a function of the past, at most sigma long; the log likelihood ratio is
then N(+-mu^2/2, mu^2) whatever the prices do. Secure Gaussian noise is the continuous law, rounded to the grid
together with what it hides, so the theorem is about what is released. With the discrete Gaussian law the theorem is
zCDP, rho = sum sigma^2/(2 deviation^2); it costs 7 percent more noise at epsilon = 1 and delta = 10^-6.

Source: spec convex_programs 2 (calibrated setting).
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
from confide.privacy.accounting.roots import root_up
from confide.privacy.events import Event, GDPEvent, ZCDPEvent
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import GDP, ZCDP
from confide.privacy.noise import Noise
from confide.privacy.primitives.additive import add_discrete_gaussian, add_gaussian
from confide.programs.grids import LOAD_BITS, LOAD_UNIT

__all__ = ["PRICES", "Law", "Schedule", "event", "noisy", "squared_budget", "total_variation"]

PRICES = "prices"
"""The line of the charge that pays for all rounds."""

Law = Literal["gaussian", "discrete_gaussian"]
_MOST_ROUNDS = 100_000
_LARGEST = 2.0**33  # of a deviation: noise stays far inside 2^53 units


def squared_budget(law: Law, epsilon: float, delta: float) -> Fraction:
    """What (sigma/deviation)^2 may add up to: mu^2, or 2 rho.

    Args:
        law: of the noise.
        epsilon: > 0.
        delta: in (0, 1).

    Example:
        >>> round(float(squared_budget("gaussian", 1.0, 1e-6)) ** 0.5, 10)
        0.2367043807
    """
    one_of("law", law, ("gaussian", "discrete_gaussian"))
    if law == "gaussian":
        return Fraction(gdp_mu(epsilon, delta)) ** 2
    return 2 * Fraction(ZCDP.within(epsilon, delta).rho)


def event(law: Law, squared: Fraction, unit: Relation, label: str) -> Event:
    """What a share of the squared budget is spent on.

    Args:
        law: of the noise.
        squared: the sum of (sigma/deviation)^2.
        unit: what a neighbour step changes.
        label: what it is spent on.
    """
    if law == "gaussian":
        return GDPEvent(mu=root_up(squared), neighbours=unit, label=label)
    half = squared / 2
    rho = float(half)
    return ZCDPEvent(rho=rho if Fraction(rho) >= half else math.nextafter(rho, math.inf), neighbours=unit, label=label)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Noise of a burn-in and of the main rounds, over which is averaged.

    Args:
        rounds: T >= 1, main rounds.
        burn_in: rounds before them, which are not averaged.
        burn_share: of the squared budget for the burn-in, in (0, 1); nothing is spent on it where there is none.
        squared_l2_sensitivity: sigma^2.
        squared_budget: what (sigma/deviation)^2 may add up to.
        law: of the noise.

    Raises:
        InvalidInput: a number out of range.
        Refused: noise beyond 2^33.

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
            raise InvalidInput("rounds", f"{self.rounds} and {self.burn_in} before them are too many",
                               f"together at most {_MOST_ROUNDS}")
        fraction("burn_share", self.burn_share)
        if not self.squared_budget > 0 or not self.squared_l2_sensitivity > 0:
            raise InvalidInput("squared_budget", "and the sensitivity must be positive")
        if max(self.main_noise_std, self.burn_noise_std) > _LARGEST:
            raise Refused(f"the noise of a round would be {self.main_noise_std:.3g}",
                          f"at most {_LARGEST:.3g}: a larger epsilon, or fewer rounds")

    @property
    def total(self) -> int:
        """All rounds."""
        return self.rounds + self.burn_in

    @property
    def _burn_budget(self) -> Fraction:
        return self.squared_budget * Fraction(self.burn_share) if self.burn_in else Fraction(0)

    @cached_property
    def burn_noise_std(self) -> float:
        """Standard deviation of each round of the burn-in, rounded up; 0 without one."""
        if not self.burn_in:
            return 0.0
        return root_up(self.squared_l2_sensitivity * self.burn_in / self._burn_budget)

    @cached_property
    def main_noise_std(self) -> float:
        """Standard deviation of each main round, rounded up."""
        return root_up(self.squared_l2_sensitivity * self.rounds / (self.squared_budget - self._burn_budget))

    @property
    def noise_std(self) -> float:
        """s: the standard deviation of every row's mean noise over the main rounds, whatever their number."""
        return self.main_noise_std / math.sqrt(self.rounds)

    def round_noise_std(self, t: int) -> float:
        """Of a round.

        Args:
            t: the round, from 0, the burn-in first.
        """
        return self.burn_noise_std if t < self.burn_in else self.main_noise_std

    def released(self, noise: Noise, exact: NDArray[np.int64], t: int) -> NDArray[np.int64]:
        """(k,) what is published of a round, in units of load.

        Args:
            noise: where it comes from.
            exact: (k,) supply less load, in units.
            t: the round, from 0.
        """
        return noisy(noise, exact, self.round_noise_std(t), self.law, ("slack", t),
                     squared_l2_sensitivity=self.squared_l2_sensitivity, line=PRICES)


def noisy(
    noise: Noise, exact: NDArray[np.int64], noise_std: float, law: Law, stream: str | tuple[str, int], *,
    squared_l2_sensitivity: Fraction, line: str,
) -> NDArray[np.int64]:
    """Numbers on the grid of loads with Gaussian noise on that grid.

    Args:
        noise: where it comes from.
        exact: (k,) in units, below 2^53.
        noise_std: standard deviation, in loads, not in units.
        law: of the noise.
        stream: name of the draw.
        squared_l2_sensitivity: how far a neighbour step moves them, in squared l2, in loads.
        line: of the charge that pays.
    """
    if law == "discrete_gaussian":
        return add_discrete_gaussian(noise, exact, noise_std=Fraction(noise_std) * LOAD_UNIT, stream=stream,
                                     l2_sensitivity_squared=squared_l2_sensitivity * LOAD_UNIT**2, line=line)
    drawn = add_gaussian(noise, exact / LOAD_UNIT, noise_std=noise_std, l2_sensitivity_squared=squared_l2_sensitivity,
                         stream=stream, grid=LOAD_BITS, line=line)
    return np.rint(drawn * LOAD_UNIT).astype(np.int64)


def total_variation(law: Law, squared: Fraction) -> float:
    """How far two neighbouring laws can lie apart in total variation.

    Args:
        law: of the noise.
        squared: the sum of (sigma/deviation)^2.

    Source: spec convex_programs 2 and 6.1: 2 Phi(mu/2) - 1; by Pinsker's inequality sqrt(rho/2) for the discrete law.
    """
    if law == "gaussian":
        return GDP(root_up(squared)).delta_at(0.0)
    return min(1.0, root_up(squared) / 2.0)


