"""One release of whole numbers: its privacy cost, the noise scale that follows from the cost, and a bound on the
error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.guarantees import Relation
from confide.privacy.accounting import float_up, written
from confide.privacy.events import Event, PureEvent, ZCDPEvent
from confide.privacy.noise import Noise, Stream
from confide.privacy.primitives.additive import add_discrete_gaussian, add_discrete_laplace

__all__ = ["Law", "Measure"]

Law = Literal["laplace", "gaussian"]

_ROUNDED_UP = 1.0 + 2.0**-40  # more than the rounding of a root


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A release of whole numbers with discrete noise.

    Args:
        label: name of the release in the list of privacy costs (the privacy charge).
        law: law of the noise: "laplace" for pure privacy, "gaussian" for zCDP.
        cost: privacy loss > 0 of the release: epsilon for "laplace", or rho for "gaussian".
        l1_sensitivity: l1 sensitivity of all numbers together.
        squared_l2_sensitivity: squared l2 sensitivity of all numbers together.

    Example:
        >>> Measure(label="cells", law="laplace", cost=0.5, l1_sensitivity=2,
        ...         squared_l2_sensitivity=2).scale
        4.0
    """

    label: str
    law: Law
    cost: float
    l1_sensitivity: int
    squared_l2_sensitivity: int

    def __post_init__(self) -> None:
        one_of("law", self.law, ("laplace", "gaussian"))
        positive("cost", self.cost)
        whole("l1_sensitivity", self.l1_sensitivity, at_least=1)
        whole("squared_l2_sensitivity", self.squared_l2_sensitivity, at_least=1)

    @cached_property
    def scale(self) -> float:
        """Noise scale, rounded up: the scale b of Laplace noise, or the parameter sigma of discrete Gaussian noise."""
        if self.law == "laplace":
            return float_up(self.l1_sensitivity / written(self.cost))
        return math.sqrt(Fraction(self.squared_l2_sensitivity) / (2 * Fraction(self.cost))) * _ROUNDED_UP

    def event(self, unit: Relation) -> Event:
        """The privacy event of the release.

        Args:
            unit: neighbouring relation for which the sensitivities hold.
        """
        if self.law == "laplace":
            return PureEvent(epsilon=self.cost, neighbours=unit, label=self.label)
        return ZCDPEvent(rho=self.cost, neighbours=unit, label=self.label)

    def draw(self, true: NDArray[np.int64], noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw the noisy numbers, with the shape of the exact numbers.

        Args:
            true: exact whole numbers, of any shape. Private.
            noise: source of the noise.
            stream: name under which the noise is drawn.
        """
        if self.law == "laplace":
            return add_discrete_laplace(noise, true, noise_scale=self.scale, l1_sensitivity=self.l1_sensitivity,
                                        stream=stream, line=self.label)
        return add_discrete_gaussian(noise, true, noise_std=self.scale, stream=stream, line=self.label,
                                     l2_sensitivity_squared=self.squared_l2_sensitivity)

    def reach(self, failure_probability: float, terms: int = 1) -> int:
        """A bound on the sum of the noise of `terms` numbers. The probability that the sum exceeds the bound is at most
        `failure_probability`. The probability that the sum falls below minus the bound is also at most
        `failure_probability`.

        Args:
            failure_probability: probability of each of the two failures, in (0, 1).
            terms: number of independent noise values in the sum, >= 1.

        Source: Chernoff; spec allocation 4.1.
        """
        goal = -math.log(fraction("failure_probability", failure_probability))
        if self.law == "gaussian":
            return math.ceil(self.scale * math.sqrt(2.0 * terms * goal) * _ROUNDED_UP) - 1  # above is 1 more
        # min over 0 < theta < 1/b of (goal - terms ln(1 - b^2 theta^2))/theta, which holds for the discrete law too.
        low, high = 0.0, 1.0 - 2.0**-53
        for _ in range(60):  # where 2 terms u/(1 - u) + terms ln(1 - u) = goal, u = (b theta)^2
            u = (low + high) / 2
            low, high = (u, high) if terms * (2.0 * u / (1.0 - u) + math.log1p(-u)) < goal else (low, u)
        u = low or high
        chernoff = self.scale * (goal - terms * math.log1p(-u)) / math.sqrt(u)
        if terms == 1:  # P[noise >= q] <= e^(-q/b)
            chernoff = min(chernoff, self.scale * goal)
        return math.ceil(chernoff * _ROUNDED_UP) - 1
