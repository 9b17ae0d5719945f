"""The source's case study of two people in closed form: contracts, payments and expected values under uniform priors.

The cost depends on the two weights, which sum to 1, only through their product, and the cost is concave in that
product. Hence either both people have weight 1/2, or only one person sells. The module gives exact contracts for every
pair of reports, ties and zeros included. Expected values come from a numerical integral over one variable.

The module also contains helpers of the evidence for claims: the case study at one price, random virtual costs and
prices, and the largest gain of a lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.privacy.noise.simulated import study_generator

__all__ = [
    "VARIANCE",
    "ExpectedValues",
    "TwoOffers",
    "TwoUsers",
    "middles",
    "profiles",
    "regret",
    "two_user_value",
    "two_users",
]

# ---- two users

_SLOPE = 2.0  # of the virtual cost 2 c of a uniform prior


def two_user_value(virtual_costs: ArrayLike, *, variance_price: float, noise_price: float) -> NDArray[np.float64]:
    """The least cost of buying from two people.

    The cost is the lesser of two values, where b1 and b2 are the square roots of the two virtual costs psi:

        both people sell:   g/2 + 2 sqrt(kappa (1 + b1 b2)/2)
        one person sells:   g + 2 sqrt(kappa)

    Args:
        virtual_costs: (..., 2) virtual costs psi, at least 0 and finite.
        variance_price: price g = gamma VAR >= 0, for price gamma of the squared error and variance VAR of a record.
        noise_price: price kappa = gamma alpha/2 > 0, for Renyi order alpha.

    Returns:
        The least costs, shape (...,).

    Raises:
        InvalidInput: the virtual costs are not pairs, or a parameter is out of range.

    Example:
        >>> float(two_user_value([2.0, 2.0], variance_price=0.001, noise_price=1.0))
        2.001
    """
    g, kappa = non_negative("variance_price", variance_price), positive("noise_price", noise_price)
    psi = np.asarray(virtual_costs, dtype=np.float64)
    if psi.ndim == 0 or psi.shape[-1] != 2:
        raise InvalidInput("virtual_costs", f"has shape {psi.shape}", "give pairs, (..., 2)")
    if not (np.isfinite(psi).all() and (psi >= 0).all()):
        raise InvalidInput("virtual_costs", "holds a number that is out of range", "each is finite and at least 0")
    found: NDArray[np.float64] = np.minimum(_split(np.sqrt(psi[..., 0] * psi[..., 1]), g, kappa), _alone(g, kappa))
    return found


def _split(product: NDArray[np.float64], g: float, kappa: float) -> NDArray[np.float64]:
    """The cost of buying from both people, as a function of the product b1 b2 of the square roots of their virtual
    costs.
    """
    found: NDArray[np.float64] = g / 2.0 + np.sqrt(2.0 * kappa * (1.0 + product))
    return found


def _alone(g: float, kappa: float) -> float:
    return g + 2.0 * math.sqrt(kappa)


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoOffers:
    """The offers to both people. Every array has shape (..., 2), and the last axis is the person.

    Args:
        weights: weights w of the records in the estimate. The two weights of a pair sum to 1.
        epsilon_local: privacy loss to the platform; infinite for a person who sells with a report of 0 while the other
            person's report is above 0.
        epsilon_central: privacy loss to the public.
        rents: utility of a truthful person.
        payments: payments t.
    """

    weights: NDArray[np.float64]
    epsilon_local: NDArray[np.float64]
    epsilon_central: NDArray[np.float64]
    rents: NDArray[np.float64]
    payments: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ExpectedValues:
    """Expected values over two independent sensitivities, each uniform on [0, 1].

    Args:
        cost: expected cost of the optimal mechanism: price gamma times the mean squared error (MSE), plus the payments.
        error_cost: expected value of gamma MSE in the optimal mechanism.
        payments: expected sum of the optimal mechanism's payments to both people.
        full_information: expected least cost if the platform knew both sensitivities.
        pooling: cost of the best single contract that does not depend on the reports.
    """

    cost: float
    error_cost: float
    payments: float
    full_information: float
    pooling: float


@dataclass(frozen=True, kw_only=True)
class TwoUsers(Declared):
    """Two people with sensitivities drawn uniformly from [0, 1].

    Raises:
        InvalidInput: a price is out of range.

    Example:
        >>> case = TwoUsers(variance_price=400 / 12, noise_price=400.0)
        >>> offers = case.offers([0.5, 0.5])
        >>> offers.epsilon_local[0].round(4), offers.epsilon_central[0].round(4), offers.payments[0].round(4)
        (np.float64(10.0), np.float64(5.0), np.float64(9.4737))
    """

    variance_price: Annotated[float, Parameter("gamma VAR, what the variance of a record costs", symbol="g",
                                               at_least=0)]
    noise_price: Annotated[float, Parameter("gamma alpha/2, what noise costs", symbol="kappa", above=0)]

    @property
    def switch(self) -> float:
        """The product c1 c2 of sensitivities above which only one person sells. A value above 1 means that both people
        always sell.
        """
        beta = 2.0 * (1.0 + self.variance_price / (4.0 * math.sqrt(self.noise_price))) ** 2 - 1.0
        return (beta / _SLOPE) ** 2

    def values(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The least cost V of buying from two people, for pairs of reports in [0, 1]. The reports have shape (..., 2),
        and the result has shape (...,).

        Raises:
            InvalidInput: a report is outside [0, 1], or the reports are not pairs.
        """
        return two_user_value(_SLOPE * _pairs(reports), variance_price=self.variance_price,
                              noise_price=self.noise_price)

    def offers(self, reports: ArrayLike) -> TwoOffers:
        """The offers to both people for a pair of reports.

        Args:
            reports: (..., 2) reports in [0, 1], with the person on the last axis.

        Raises:
            InvalidInput: a report is outside [0, 1], or the reports are not pairs.
        """
        c, kappa = _pairs(reports), self.noise_price
        s = np.sqrt(c[..., :1] * c[..., 1:])
        spread = np.sqrt((1.0 + 2.0 * s) / (2.0 * kappa))
        both = s**2 <= self.switch
        first = c[..., :1] <= c[..., 1:]  # the first is preferred where they are equal
        chosen = np.concatenate([first, ~first], axis=-1)
        with np.errstate(divide="ignore"):
            ratio = np.sqrt(np.divide(c[..., ::-1], c, out=np.ones_like(c), where=c != c[..., ::-1]))
        alone = np.where(chosen, math.sqrt(kappa), 0.0)
        rents = (self._with_the_top(c) - self.values(c)[..., None]) / _SLOPE
        return TwoOffers(
            weights=np.where(both, 0.5, chosen),
            epsilon_local=np.where(both, (1.0 + ratio) / (4.0 * spread), alone),
            epsilon_central=np.where(both, 1.0 / (4.0 * spread), alone),
            rents=rents, payments=np.where(both, (1.0 + s) / (4.0 * spread), alone) + rents)

    def _with_the_top(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each person, the least cost V that results if this person's report is replaced by 1. Shape (..., 2)."""
        first, second = c.copy(), c.copy()
        first[..., 0] = second[..., 1] = 1.0
        return np.stack([self.values(first), self.values(second)], axis=-1)

    def expected(self) -> ExpectedValues:
        """Expected values over both sensitivities, accurate to about 12 digits."""
        g, kappa, edge = self.variance_price, self.noise_price, min(1.0, math.sqrt(self.switch))

        def error_cost(s: float) -> float:
            return g / 2.0 + math.sqrt(kappa * (1.0 + 2.0 * s) / 2.0) if s <= edge else g + math.sqrt(kappa)

        def known(s: float) -> float:  # psi = c: b1 b2 = s <= 1, where both are always bought from
            return g / 2.0 + math.sqrt(2.0 * kappa * (1.0 + s))

        def cost(s: float) -> float:
            return min(g / 2.0 + math.sqrt(2.0 * kappa * (1.0 + 2.0 * s)), _alone(g, kappa))

        mean, error = _mean(cost, edge), _mean(error_cost, edge)
        return ExpectedValues(cost=mean, error_cost=error, payments=mean - error, full_information=_mean(known, 1.0),
                              pooling=g / 2.0 + 2.0 * math.sqrt(kappa))


def _mean(function: Callable[[float], float], edge: float) -> float:
    """The mean of a function of s = sqrt(c1 c2), which has density -4 s ln s. The function may jump at the edge."""
    from scipy.integrate import quad

    def integrand(s: float) -> float:
        return -4.0 * s * math.log(s) * function(s)

    ends = [0.0, edge, 1.0] if edge < 1.0 else [0.0, 1.0]
    return float(sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-13)[0] for a, b in pairwise(ends)))


def _pairs(reports: ArrayLike) -> NDArray[np.float64]:
    c = np.asarray(reports, dtype=np.float64)
    if c.ndim == 0 or c.shape[-1] != 2:
        raise InvalidInput("reports", f"has shape {c.shape}", "give pairs, (..., 2)")
    if not ((c >= 0) & (c <= 1)).all():
        raise InvalidInput("reports", "holds a number that is out of range", "each is in [0, 1]")
    return c


# ---- instances

Floats = NDArray[np.float64]

VARIANCE = 1.0 / 12.0
"""Variance of records that are uniform on [0, 1]."""


def two_users(gamma: float) -> TwoUsers:
    """The case study for records that are uniform on [0, 1], with Renyi order 2, where gamma is the price of the
    squared error.
    """
    return TwoUsers(variance_price=gamma * VARIANCE, noise_price=gamma)


def profiles(count: int) -> Iterator[tuple[Floats, dict[str, float]]]:
    """Random test cases: virtual costs of two to eight people, with a variance price and a noise price that vary over
    many orders of magnitude.
    """
    random = study_generator(17, "evidence")
    for _ in range(count):
        psi = 10.0 ** random.uniform(-1.0, 1.0) * random.random(int(random.integers(2, 9)))
        yield psi, {"variance_price": float(10.0 ** random.uniform(-3, 3)),
                    "noise_price": float(10.0 ** random.uniform(-2, 2))}


def middles(cells: int) -> Floats:
    """Midpoints of equal cells of [0, 1], shape (cells,)."""
    return np.asarray((np.arange(cells) + 0.5) / cells, dtype=np.float64)


def regret(c: Floats, d: Floats) -> float:
    """The largest gain of a lie where the payment for a report c is t = eps_c + c d(c) + (integral of d above c). The
    argument `c` contains the midpoints of equal cells of [0, 1], and `d` the differences d = eps_l - eps_c at these
    midpoints.
    """
    rents = (np.cumsum(d[::-1])[::-1] - d / 2.0) * (c[1] - c[0])
    reported = rents + c * d  # a report's utility is this less d times what is true
    return max(float(np.max(reported - own * d) - rents[k]) for k, own in list(enumerate(c))[::20])
