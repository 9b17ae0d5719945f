"""Bounds on privacy losses, error and payments that hold for any reports, computed from public parameters alone.

Let kappa = `noise_price`, g = `variance_price` and ghat = g / sqrt(kappa). Let w be a person's weight, Q the quadratic
form of all weights, S the spread of the noise, V the least cost of the platform, gamma the price of an error, and M =
max(1, largest virtual cost). Every optimum of problem (7) of Fallah et al. 2022 has the following bounds.

* The central loss w^2/S is at most sqrt(kappa), since S = sqrt(Q/kappa) and Q >= w^2.
* The local loss is y = w B / (b S), where b^2 is the person's virtual cost, at least the floor phi, and B = sum b w
  over all people. Let t = (B - b w)/w be the other people's part of B, divided by the person's weight w. In these terms
  Q >= w^2 (1 + 2 b t + t^2/M), since the other people's own part of Q is at least the square of their part of B,
  divided by M. Also the person's weight w is at most 1/(1 + t/sqrt(M)), since the others' part of the sum B of b w is
  at most (1 - w) sqrt(M). Therefore the local loss y is at most sqrt(kappa) f(t) with

      f(t) = (1 + t/b) / ((1 + t/sqrt(M)) sqrt(1 + 2 b t + t^2/M)).

  The function f falls in b and is therefore largest at the smallest b, which is at the floor of virtual costs. Also the
  local loss y is at most sqrt(kappa) (1 + (1 + ghat/2)/(2 phi)) for every M. The reasons are 2 b w (B - b w) <= Q, and
  2 sqrt(kappa Q) <= g + 2 sqrt(kappa), where g + 2 sqrt(kappa) is the cost with a single seller.
* The cost of the error is gamma MSE = (V + g |w|^2)/2 <= g + sqrt(kappa). The payments are V - gamma MSE <= sqrt(kappa)
  + g (1 - 1/n)/2.

A (1 + delta)-approximate optimum on a fixed range of the inverse spread r = 1/S has r = u sqrt(kappa/Q) with u + 1/u <=
2 + delta (2 + ghat). In an approximate optimum the local and the central loss grow by at most the largest possible u,
and each factor 1/2 in the bounds on error and payments becomes u^2/(1 + u^2).

Source: confide; spec two_part_acquisition sections 2, 5 and 8.

The second half of the module has bounds on losses, error and payments where all weights have a cap.

Let phi be the least virtual cost and 1 the largest. Let S* = sqrt(Q/kappa) be the best S for the chosen weights, and u
= S*/S its ratio to the chosen S. Let U = 1 + delta + sqrt(delta (2 + delta)).

* 1/U <= u <= U. Weights and S together are the cheapest on the grid, so S is the best value of the grid for the chosen
  weights. The chosen S is the grid value nearest to S* in ratio, since kappa S + Q/S = sqrt(kappa Q) (u + 1/u). The
  grid's values lie a factor U^2 apart and extend beyond both ends of the range of S* over all weights (`capped`), so
  the nearest value is within a factor U.
* B <= sqrt(Q), as all virtual costs are at most 1. So a local loss w B/(S b) is at most cap U sqrt(kappa/phi). This
  bound on the local loss is nearly attained by a capped person at the floor among many people with virtual cost 1.
* Q >= phi + (1 - phi) sum w^2, since Q rises in every virtual cost, and sum w^2 is at least w^2 and 1/n. So a central
  loss w^2/S is at most U sqrt(kappa) cap^2/sqrt(phi + (1 - phi) max(cap^2, 1/n)).
* Where anything is bought, the value is at most `outside`, and at most g cap + 2 (1 + delta) sqrt(kappa), because equal
  weights on everybody present have sum w^2 <= cap and Q <= 1. The value less g sum w^2 consists of the noise cost kappa
  S and the payments Q/S, with shares 1/(1 + u^2) and u^2/(1 + u^2), both at most U^2/(1 + U^2). The sum of squared
  weights is between 1/n and cap.

For the exact optimum over S, the factor U between the best and the chosen spread is 1.

Source: confide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed

__all__ = ["CappedCaps", "Caps"]

# ---- caps

_ROOM = 1.0 + 1e-9  # for sums in doubles
_POINTS = 1 << 16


@renamed(grid="approximation")
@dataclass(frozen=True, kw_only=True)
class Caps(Declared):
    """Bounds on losses, error and payments that hold for any reports.

    Example:
        >>> caps = Caps(people=2, variance_price=1.0, noise_price=4.0, psi_floor=0.25, psi_most=2.0)
        >>> round(caps.central, 4), round(caps.local, 3), round(caps.error_cost, 4), round(caps.payments, 4)
        (2.0, 2.321, 3.0, 2.25)
    """

    people: Annotated[int, Parameter("registered slots", symbol="n", at_least=1)]
    variance_price: Annotated[float, Parameter("price of the records' own variance", symbol="g", at_least=0)]
    noise_price: Annotated[float, Parameter("price of the noise", symbol="kappa", above=0)]
    psi_floor: Annotated[float, Parameter("the least virtual cost", symbol="phi", above=0)]
    psi_most: Annotated[float, Parameter(
        "the largest virtual cost; infinite if the prior's density ends at 0", infinite=True)]
    approximation: Annotated[float, Parameter("approximation of `solve_grid`; 0 for exact optima",
                                              symbol="delta", at_least=0)] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.psi_most >= self.psi_floor:
            raise InvalidInput("psi_most", f"{self.psi_most!r} is below the floor",
                               f"must be at least {self.psi_floor!r}")

    @property
    def central(self) -> float:
        """Largest central loss (towards the public) of any participant, in nats."""
        return math.sqrt(self.noise_price) * self._factor * _ROOM

    @cached_property
    def local(self) -> float:
        """Largest local loss (towards the platform) of any participant, in nats."""
        either = 1.0 + (1.0 + self.approximation) * (1.0 + self._ghat / 2.0) / (2.0 * self.psi_floor)
        if math.isfinite(self.psi_most):
            either = min(either, self._largest_f())
        return either * self.central

    @property
    def error_cost(self) -> float:
        """Largest cost of the error, gamma MSE. The mean squared error is at most this cost of the error divided by
        gamma.
        """
        g, half = self.variance_price, self._half
        return (g * (1.0 - half) + half * self._value) * _ROOM

    @property
    def payments(self) -> float:
        """Largest expected total of all payments, for any prior."""
        return self._half * (self._value - self.variance_price / self.people) * _ROOM

    @property
    def _ghat(self) -> float:
        return self.variance_price / math.sqrt(self.noise_price)

    @property
    def _value(self) -> float:
        """Upper bound on the value: the value with a single seller, times 1 + `approximation`."""
        return (1.0 + self.approximation) * (self.variance_price + 2.0 * math.sqrt(self.noise_price))

    @property
    def _factor(self) -> float:
        """Largest u that an approximate optimum can have."""
        m = 1.0 + self.approximation * (1.0 + self._ghat / 2.0)
        return m + math.sqrt(m * m - 1.0)

    @property
    def _half(self) -> float:
        square = self._factor**2
        return square / (1.0 + square)

    def _largest_f(self) -> float:
        b, root = math.sqrt(self.psi_floor), math.sqrt(max(1.0, self.psi_most))
        # Below the first point f is below 1 + 1e-9, beyond the last one it is small. Each of its three factors moves
        # by at most as much as t, in proportion: between two points f rises by less than 3/2 of a step.
        ends = math.log(1e-9 * b), math.log(1e9 * root * max(1.0, root / b))
        step = (ends[1] - ends[0]) / (_POINTS - 1)
        t = np.exp(np.linspace(*ends, _POINTS))
        f = (1.0 + t / b) / ((1.0 + t / root) * np.sqrt(1.0 + 2.0 * b * t + (t / root) ** 2))
        return max(1.0, float(f.max())) * math.exp(1.5 * step) * _ROOM


# ---- caps

_CAPPED_ROOM = 1.0 + 1e-8  # for sums in doubles, and caps that are taken as one over a whole number


@renamed(grid="approximation")
@dataclass(frozen=True, kw_only=True)
class CappedCaps(Declared):
    """Bounds on losses, error and payments that hold for any reports, where every weight has a cap.

    Example:
        >>> caps = CappedCaps(people=1600, variance_price=25.0, noise_price=100.0, psi_floor=0.25, weight_cap=0.01,
        ...                   outside=18.0, approximation=0.001)
        >>> round(caps.local, 4), round(caps.central, 4), round(caps.error_cost, 3), round(caps.payments, 3)
        (0.2091, 0.0021, 9.522, 9.394)
    """

    people: Annotated[int, Parameter("registered slots", symbol="n", at_least=1)]
    variance_price: Annotated[float, Parameter("price of the records' own variance", symbol="g", at_least=0)]
    noise_price: Annotated[float, Parameter("price of the noise", symbol="kappa", above=0)]
    psi_floor: Annotated[float, Parameter(
        "the least virtual cost; the buyer buys nothing from people with a virtual cost above 1",
                                          symbol="phi", above=0, at_most=1)]
    weight_cap: Annotated[float, Parameter("the largest weight", above=0, at_most=1)]
    outside: Annotated[float, Parameter(
        "cost of buying nothing; infinite if the buyer must buy", above=0, infinite=True)] = math.inf
    approximation: Annotated[float, Parameter("of `solve_capped`", symbol="delta", at_least=0, at_most=1)] = 0.001

    @property
    def local(self) -> float:
        """Largest local loss (towards the platform) of any participant, in nats."""
        return self._unit * self.weight_cap / math.sqrt(self.psi_floor)

    @property
    def central(self) -> float:
        """Largest central loss (towards the public) of any participant, in nats."""
        square = self.weight_cap**2
        others = max(square, 1.0 / self.people)
        return self._unit * square / math.sqrt(self.psi_floor + (1.0 - self.psi_floor) * others)

    @property
    def error_cost(self) -> float:
        """Largest cost of the error, gamma MSE, where anything is bought."""
        variance = min(self.variance_price * self.weight_cap, self._value)
        return (variance + self._half * (self._value - variance)) * _CAPPED_ROOM

    @property
    def payments(self) -> float:
        """Largest expected total of all payments, for any prior."""
        return max(self._half * (self._value - self.variance_price / self.people), 0.0) * _CAPPED_ROOM

    @property
    def _factor(self) -> float:
        """Bound U on the ratio of the best spread to the chosen spread, in either direction."""
        return 1.0 + self.approximation + math.sqrt(self.approximation * (2.0 + self.approximation))

    @property
    def _half(self) -> float:
        square = self._factor**2
        return square / (1.0 + square)

    @property
    def _unit(self) -> float:
        return math.sqrt(self.noise_price) * self._factor * _CAPPED_ROOM

    @property
    def _value(self) -> float:
        """Upper bound on the value where anything is bought."""
        most = self.variance_price * self.weight_cap + 2.0 * (1.0 + self.approximation) * math.sqrt(self.noise_price)
        return min(self.outside, most)
