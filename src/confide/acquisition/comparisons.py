"""Benchmarks for two-part contracts in the mathematical model, and the rate at which the cost of two-part contracts
falls with more people.

The cost of every benchmark is gamma MSE + payments of a platform, so that all costs are comparable. MSE is the mean
squared error, and gamma the price of an error. A person's sensitivity is the weight of their loss towards the platform,
in [0, 1]. In `full_information`, people's sensitivities are known. In `pooling`, nobody is asked for a sensitivity. In
`local_only`, every noisy record is published. In `central_only`, everybody trusts the platform. The other benchmarks
are the optimum of two-part contracts for the given reports, and approximations of this optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.problem import checked_prices
from confide.acquisition.optimum.solver import solve, solve_grid
from confide.acquisition.priors import ConcernPrior, prior_draws
from confide.contract.checks import positive, whole

__all__ = [
    "Benchmark",
    "ExpectedBenchmark",
    "ScalingLaw",
    "benchmarks",
    "central_only",
    "error_cost",
    "expected_benchmarks",
    "full_information",
    "local_only",
    "pooling",
    "scaling_law",
]


class _Allocation(Protocol):
    """Result of a solver: value, weights, and spread of the noise."""

    @property
    def value(self) -> float: ...

    @property
    def weights(self) -> NDArray[np.float64]: ...

    @property
    def spread(self) -> float: ...


def error_cost(allocation: _Allocation, *, variance_price: float, noise_price: float) -> float:
    """The cost gamma MSE of an allocation's error: g times the sum of squared weights, plus kappa S, where S = sum
    w^2/y is the spread of the noise under weights w and local losses y. The rest of the allocation's cost equals the
    payments on average over reports, though not for each profile of reports.

    Args:
        allocation: the result of a solver.
        variance_price: price g of the records' own variance.
        noise_price: price kappa of the noise.
    """
    w = allocation.weights
    return float(variance_price * (w @ w) + noise_price * allocation.spread)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """The cost of a design at given reports.

    Args:
        cost: cost of the error, gamma MSE, plus payments. For designs that ask for sensitivities, virtual costs stand
            in place of payments.
        error_cost: cost of the error, gamma MSE.
        active: number of people whose record is bought.
    """

    cost: float
    error_cost: float
    active: int

    @property
    def payments(self) -> float:
        """The payments, cost - error_cost. For designs that ask for sensitivities, cost - error_cost equals the
        payments only on average over reports.
        """
        return self.cost - self.error_cost


def _benchmark(found: _Allocation, variance_price: float, noise_price: float) -> Benchmark:
    return Benchmark(cost=float(found.value), active=int(np.count_nonzero(found.weights)),
                     error_cost=error_cost(found, variance_price=variance_price, noise_price=noise_price))


def full_information(reports: ArrayLike, *, variance_price: float, noise_price: float) -> Benchmark:
    """Cost where each payment equals the cost of the person's losses, without a rent, as if the platform knew the
    sensitivities. Virtual costs psi then equal the sensitivities c.

    Args:
        reports: (n,) sensitivities in [0, 1].
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.
    """
    found = solve(reports, variance_price=variance_price, noise_price=noise_price)
    return _benchmark(found, variance_price, noise_price)


def pooling(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Cost where nobody is asked for a sensitivity. Weights are equal, all people have one local loss y, and each is
    paid y, which is enough for any sensitivity.

    Args:
        people: number of people, at least 1.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.

    Returns:
        g/n + 2 sqrt(kappa), the optimum where every virtual cost psi is 1. More people do not make the noise cheaper.

    Example:
        >>> round(pooling(2, variance_price=400 / 12, noise_price=400.0).cost, 6)
        56.666667
    """
    g, kappa = checked_prices(variance_price, noise_price)
    error = g / whole("people", people, at_least=1) + math.sqrt(kappa)
    return Benchmark(cost=error + math.sqrt(kappa), error_cost=error, active=people)


def local_only(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Cost where every noisy record is published, so that the public learns as much as the platform.

    With published records a person's sensitivity matters to nobody, because both losses are equal. Each person is paid
    their local loss, and the cost equals the cost of `pooling`.

    Args:
        people: number of people, at least 1.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.
    """
    return pooling(people, variance_price=variance_price, noise_price=noise_price)


def central_only(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Cost where everybody trusts the platform and cares only about the loss towards the public (psi = 0). The
    difference to the cost of other designs is the value of trust in the platform. Contracts of this design cannot be
    offered.

    Args:
        people: number of people, at least 1.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.

    Returns:
        g/n + 2 sqrt(kappa/n).
    """
    g, kappa = checked_prices(variance_price, noise_price)
    noise = math.sqrt(kappa / whole("people", people, at_least=1))
    return Benchmark(cost=g / people + 2.0 * noise, error_cost=g / people + noise, active=people)


def benchmarks(
    reports: ArrayLike, virtual_costs: ArrayLike, *, variance_price: float, noise_price: float,
    approximation: float = 0.01,
) -> dict[str, Benchmark]:
    """Every design's cost at the given reports.

    Args:
        reports: (n,) sensitivities in [0, 1].
        virtual_costs: (n,) virtual costs of the reports, under the prior.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.
        approximation: relative excess cost that the grid of noise spreads may cause, in (0, 1].

    Returns:
        Mapping from the name of a design to its benchmark.
    """
    c = np.asarray(reports, dtype=np.float64)
    prices = {"variance_price": variance_price, "noise_price": noise_price}
    return {
        "exact": _benchmark(solve(virtual_costs, **prices), **prices),
        f"grid {approximation:g}": _benchmark(solve_grid(virtual_costs, approximation, **prices), **prices),
        "full information": full_information(c, **prices),
        "pooling": pooling(len(c), **prices),
        "local only": local_only(len(c), **prices),
        "central only": central_only(len(c), **prices),
    }


@dataclass(frozen=True, kw_only=True)
class ExpectedBenchmark:
    """The cost of a design on average over reports.

    Args:
        cost: mean cost of the error, gamma MSE, plus payments.
        standard_error: standard error of `cost`, estimated from the draws.
        error_cost: mean cost of the error, gamma MSE.
        active: mean number of people whose record is bought.
    """

    cost: float
    standard_error: float
    error_cost: float
    active: float

    @property
    def payments(self) -> float:
        """Mean of the total of all payments."""
        return self.cost - self.error_cost


def expected_benchmarks(
    prior: ConcernPrior | Sequence[ConcernPrior], people: int, *, variance_price: float, noise_price: float,
    draws: int = 200, seed: int = 0,
) -> dict[str, ExpectedBenchmark]:
    """Every design's cost on average over reports, all computed on the same random draws.

    Args:
        prior: prior of everybody, or one prior for each person.
        people: number of people who report.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.
        draws: number of profiles of reports, at least 2.
        seed: seed of the draws.

    Returns:
        Mapping from the name of a design to its means. The entry `private information` is the cost of the platform's
        missing knowledge of sensitivities: the cost of the exact optimum less the cost with full information, in each
        draw.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> found = expected_benchmarks(UniformPrior(), 50, variance_price=100 / 12, noise_price=100.0, draws=20)
        >>> found["full information"].cost < found["exact"].cost < found["pooling"].cost
        True
    """
    prices = {"variance_price": variance_price, "noise_price": noise_price}
    whole("draws", draws, at_least=2)
    exact, known = [], []
    for reports, virtual_costs in prior_draws(prior, people, draws, seed):
        exact.append(_benchmark(solve(virtual_costs, **prices), **prices))
        known.append(full_information(reports, **prices))
    table = {name: np.array([(each.cost, each.error_cost, each.active) for each in rows])
             for name, rows in (("exact", exact), ("full information", known))}
    table["private information"] = table["exact"] - table["full information"]
    found = {}
    for name, rows in table.items():
        cost, error, active = rows.mean(axis=0)
        found[name] = ExpectedBenchmark(cost=float(cost), error_cost=float(error), active=float(active),
                                        standard_error=float(rows[:, 0].std(ddof=1) / math.sqrt(draws)))
    for name, one in (("pooling", pooling), ("local only", local_only), ("central only", central_only)):
        same = one(people, **prices)
        found[name] = ExpectedBenchmark(cost=same.cost, standard_error=0.0, error_cost=same.error_cost,
                                        active=same.active)
    return found


@dataclass(frozen=True, kw_only=True)
class ScalingLaw:
    """Approximate cost and number of sellers for many people n, with density f0 of the sensitivities at 0. A share of
    about 1/sqrt(n) of the people sells.

    Args:
        cost: approximate cost, 2 sqrt(kappa) (3/(n f0))^(1/4) + g (sqrt(3)/2)/sqrt(n f0).
        active: number of people whose record is bought, sqrt(3 n f0).
    """

    cost: float
    active: float


def scaling_law(
    people: int, *, density_at_zero: float = 1.0, variance_price: float, noise_price: float
) -> ScalingLaw:
    """The cost of two-part contracts for many people whose sensitivities have a positive density at 0.

    The cost falls like n^(-1/4). The rate n^(-1/4) lies between a constant cost (`pooling`) and n^(-1/2)
    (`central_only`). The formula for the cost is an approximation without a guaranteed error. The approximation is good
    where g S is small, where S is the spread of the noise.

    Args:
        people: number of people n >= 1.
        density_at_zero: density f(0) > 0 of the sensitivities at 0.
        variance_price: price of the records' variance, g = gamma VAR >= 0.
        noise_price: price of the noise, kappa = gamma alpha/2 > 0.

    Example:
        >>> law = scaling_law(1_000_000, variance_price=10 / 12, noise_price=10.0)
        >>> round(law.cost, 3), round(law.active)
        (0.264, 1732)
    """
    g, kappa = checked_prices(variance_price, noise_price)
    mass = whole("people", people, at_least=1) * positive("density_at_zero", density_at_zero)
    cost = 2.0 * math.sqrt(kappa) * (3.0 / mass) ** 0.25 + g * math.sqrt(0.75 / mass)
    return ScalingLaw(cost=cost, active=math.sqrt(3.0 * mass))
