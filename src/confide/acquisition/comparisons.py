"""Benchmarks for two-part contracts, inside the model, and the law by which their cost falls with more people.

Every benchmark is a platform's gamma MSE + payments, on one and the same scale: people's sensitivities are known
(`full_information`), nobody is asked for them (`pooling`), every noisy record is published (`local_only`), everybody
trusts the platform (`central_only`), and the optimum and its approximations for the reports at hand.
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
    """What every solver returns."""

    @property
    def value(self) -> float: ...

    @property
    def weights(self) -> NDArray[np.float64]: ...

    @property
    def spread(self) -> float: ...


def error_cost(allocation: _Allocation, *, variance_price: float, noise_price: float) -> float:
    """The cost gamma MSE of an allocation's error: g times the sum of w^2, plus kappa S. The rest of its cost are
    payments, in the mean over reports (not report by report).

    Args:
        allocation: the result of a solver.
        variance_price: g.
        noise_price: kappa.
    """
    w = allocation.weights
    return float(variance_price * (w @ w) + noise_price * allocation.spread)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """The cost of a design at given reports.

    Args:
        cost: gamma MSE + payments; for the designs that ask for sensitivities, the virtual cost.
        error_cost: gamma MSE.
        active: number of people who are bought from.
    """

    cost: float
    error_cost: float
    active: int

    @property
    def payments(self) -> float:
        """The payments, cost - error_cost; for the designs that ask for sensitivities, right in the mean over reports
        alone.
        """
        return self.cost - self.error_cost


def _benchmark(found: _Allocation, variance_price: float, noise_price: float) -> Benchmark:
    return Benchmark(cost=float(found.value), active=int(np.count_nonzero(found.weights)),
                     error_cost=error_cost(found, variance_price=variance_price, noise_price=noise_price))


def full_information(reports: ArrayLike, *, variance_price: float, noise_price: float) -> Benchmark:
    """People are paid what their losses cost them and no rent, as if the platform knew what that is (psi = c).

    Args:
        reports: (n,) sensitivities in [0, 1].
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.
    """
    found = solve(reports, variance_price=variance_price, noise_price=noise_price)
    return _benchmark(found, variance_price, noise_price)


def pooling(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Nobody is asked: equal weights, one local loss y for all, and y paid to each: enough for any sensitivity.

    Args:
        people: at least 1.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.

    Returns:
        g/n + 2 sqrt(kappa), the optimum at psi = 1: more people make the noise no cheaper.

    Example:
        >>> round(pooling(2, variance_price=400 / 12, noise_price=400.0).cost, 6)
        56.666667
    """
    g, kappa = checked_prices(variance_price, noise_price)
    error = g / whole("people", people, at_least=1) + math.sqrt(kappa)
    return Benchmark(cost=error + math.sqrt(kappa), error_cost=error, active=people)


def local_only(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Every noisy record is published, so that the public learns what the platform learns.

    A person's sensitivity does not matter to anybody then, each is paid their local loss, and the cost is that of
    `pooling`.

    Args:
        people: at least 1.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.
    """
    return pooling(people, variance_price=variance_price, noise_price=noise_price)


def central_only(people: int, *, variance_price: float, noise_price: float) -> Benchmark:
    """Everybody trusts the platform and minds the public alone (psi = 0): what trust would be worth, not a contract.

    Args:
        people: at least 1.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.

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
    """Every design at these reports.

    Args:
        reports: (n,) sensitivities in [0, 1].
        virtual_costs: (n,) virtual costs of the reports, under the prior.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.
        approximation: approximation of the grid scheme.

    Returns:
        Name -> benchmark.
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
    """The cost of a design in the mean over reports.

    Args:
        cost: mean of gamma MSE + payments.
        standard_error: standard error of that mean, by the draw.
        error_cost: mean of gamma MSE.
        active: mean number of people who are bought from.
    """

    cost: float
    standard_error: float
    error_cost: float
    active: float

    @property
    def payments(self) -> float:
        """Mean of all payments together."""
        return self.cost - self.error_cost


def expected_benchmarks(
    prior: ConcernPrior | Sequence[ConcernPrior], people: int, *, variance_price: float, noise_price: float,
    draws: int = 200, seed: int = 0,
) -> dict[str, ExpectedBenchmark]:
    """Every design in the mean over reports, on common draws.

    Args:
        prior: prior of everybody, or one for each.
        people: number of people who report.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.
        draws: number of profiles of reports, at least 2.
        seed: seed of the draw.

    Returns:
        Name -> means. `private information` is what it costs that sensitivities are known to nobody else: the exact
        optimum's cost less that of full information, draw by draw.

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
    """Approximations for many people, of whom a share of about 1/sqrt(n) is bought from.

    Args:
        cost: 2 sqrt(kappa) (3/(n f0))^(1/4) + g (sqrt(3)/2)/sqrt(n f0).
        active: sqrt(3 n f0).
    """

    cost: float
    active: float


def scaling_law(
    people: int, *, density_at_zero: float = 1.0, variance_price: float, noise_price: float
) -> ScalingLaw:
    """The cost of two-part contracts for many people whose sensitivities have a positive density at 0.

    It falls like n^(-1/4), between no fall at all (`pooling`) and n^(-1/2) (`central_only`). An approximation that is
    good where g S is small; it promises no error.

    Args:
        people: n >= 1.
        density_at_zero: f(0) > 0 of the sensitivities.
        variance_price: g = gamma VAR >= 0.
        noise_price: kappa = gamma alpha/2 > 0.

    Example:
        >>> law = scaling_law(1_000_000, variance_price=10 / 12, noise_price=10.0)
        >>> round(law.cost, 3), round(law.active)
        (0.264, 1732)
    """
    g, kappa = checked_prices(variance_price, noise_price)
    mass = whole("people", people, at_least=1) * positive("density_at_zero", density_at_zero)
    cost = 2.0 * math.sqrt(kappa) * (3.0 / mass) ** 0.25 + g * math.sqrt(0.75 / mass)
    return ScalingLaw(cost=cost, active=math.sqrt(3.0 * mass))
