"""A process of its own: one job of `acquisition` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from benchmarks.memory import peak_mb
from benchmarks.timing import seconds
from confide.acquisition.optimum.solver import solve, solve_grid
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed

ALPHA, VARIANCE, DELTA = 2.0, 1.0 / 12.0, 0.01


def once(job: Callable[[], float]) -> tuple[float, float]:
    """The value that a long job finds, and its seconds."""
    start = time.perf_counter()
    return job(), time.perf_counter() - start


class Prices(TypedDict):
    """Of variance and of noise, as the solvers take them."""

    variance_price: float
    noise_price: float


def prices(gamma: float) -> Prices:
    return {"variance_price": gamma * VARIANCE, "noise_price": gamma * ALPHA / 2.0}


def crowd(n: int, kind: str) -> np.ndarray:
    """Virtual costs: of uniform reports, or so close together that everybody has weight."""
    drawn = np.random.default_rng(1).random(n)
    return 2.0 * drawn if kind == "uniform" else 0.5 + 1e-7 * drawn


def optimum(n: int, kind: str, gamma: str) -> dict[str, float]:
    """The certified optimum of n users."""
    psi, market = crowd(n, kind), prices(float(gamma))
    found = solve(psi, **market)
    peak = peak_mb()
    return {"seconds": seconds(lambda: solve(psi, **market)), "winners": found.winners.size,
            "evaluations": found.evaluations, "gap": found.gap, "peak_mb": peak}


def paying(n: int, gamma: str, grid: str = "") -> dict[str, float]:
    """Reports in, all contracts and payments out."""
    from confide.acquisition.payments import PaymentRule
    from confide.acquisition.priors import UniformPrior

    reports = np.random.default_rng(1).random(n)
    rule = PaymentRule(UniformPrior().virtual_cost(), **prices(float(gamma)), approximation=DELTA if grid else None)
    paid = rule.pay(reports)
    peak = peak_mb()
    return {"seconds": seconds(lambda: rule.pay(reports), runs=3), "winners": paid.solution.winners.size,
            "peak_mb": peak}


def whole(n: int, gamma: str, limit: str = "") -> dict[str, float]:
    """Reports and records in, contracts with integers, secure noise on every side, sum and shares out."""
    from confide.acquisition.mechanism import TwoPartMechanism
    from confide.acquisition.priors import UniformPrior
    from confide.privacy.noise import Noise

    it = TwoPartMechanism(people=n, prior=UniformPrior(), mse_price=float(gamma), variance=VARIANCE, psi_floor=0.25,
                          largest_local_loss=float(limit) if limit else None)
    reports, records = np.random.default_rng(1).random((2, n))

    def run() -> int:
        made, noise = it.contracts(reports), Noise.secure()
        it.run(made.records(it.play(made, records, noise)), noise)
        return len(made.payments)

    asked = run()
    return {"seconds": seconds(run, runs=3), "contracts, s": seconds(lambda: it.contracts(reports), runs=3),
            "asked": asked, "charged": it.caps.local, "peak_mb": peak_mb()}


def approximation(n: int, gamma: str) -> dict[str, float]:
    """The grid of S that makes truth best exactly: its time, and by how much it is dearer."""
    psi, market = crowd(n, "uniform"), prices(float(gamma))
    near = solve_grid(psi, DELTA, **market)
    return {"seconds": seconds(lambda: solve_grid(psi, DELTA, **market)), "points": near.evaluations,
            "dearer": near.value / solve(psi, **market).value - 1.0}


def printed(row: int) -> dict[str, float]:
    """Algorithm 1 as printed on three instances."""
    psi, g = ((np.array([0.1, 1.0, 1.9]), 0.1), (np.array([2.0, 2.0]), 0.001), (np.linspace(0.1, 1.9, 10), 1.0))[row]
    market: Prices = {"variance_price": g, "noise_price": 1.0}
    return {"optimum": solve(psi, **market).value, "printed": algorithm1_as_printed(psi, **market).value,
            "ours, s": seconds(lambda: solve(psi, **market)),
            "its time": seconds(lambda: algorithm1_as_printed(psi, **market))}


# ---- peers


def slsqp(n: int, starts: int = 10) -> dict[str, float]:
    """scipy's SLSQP on the reduced problem with its gradient, from the middle and from other starts; psi up to 2."""
    from scipy.optimize import minimize

    psi, market = crowd(n, "uniform"), prices(10.0)
    g, kappa, b = market["variance_price"], market["noise_price"], np.sqrt(psi)
    ours = solve(psi, **market).value

    def cost(w: np.ndarray) -> tuple[float, np.ndarray]:
        root = math.sqrt(kappa * max(float((1.0 - psi) @ (w * w) + (b @ w) ** 2), 1e-300))
        return g * w @ w + 2.0 * root, 2.0 * g * w + 2.0 * kappa * ((1.0 - psi) * w + b * (b @ w)) / root

    def descend(start: np.ndarray) -> float:
        end = minimize(cost, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * n,
                       constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(n)},
                       options={"maxiter": 1000, "ftol": 1e-13}).x.clip(0.0)
        return cost(end / end.sum())[0]

    rng = np.random.default_rng(2)
    value, spent = once(lambda: descend(np.full(n, 1.0 / n)))
    best = min([value, *(descend(rng.dirichlet(np.full(n, 0.3))) for _ in range(starts - 1))])
    return {"ours, s": seconds(lambda: solve(psi, **market)), "s": spent, "above": value / ours - 1.0,
            "best of all above": best / ours - 1.0}


def evolution(n: int) -> dict[str, float]:
    """scipy's differential evolution on weights and levels, problem (7) as it stands: 2 n variables."""
    from scipy.optimize import differential_evolution

    psi, g, kappa = (np.array([0.1, 1.0, 1.9]), 0.1, 1.0) if n == 3 else (np.linspace(0.1, 1.9, n), 1.0, 1.0)
    ours = solve(psi, variance_price=g, noise_price=kappa).value

    def cost(x: np.ndarray) -> float:
        w, y = x[:n] / max(x[:n].sum(), 1e-12), np.exp(x[n:])
        spread = float(np.sum(w * w / y))
        return float(g * w @ w + kappa * spread + (1.0 - psi) @ (w * w) / spread + psi @ y)

    value, spent = once(lambda: float(differential_evolution(
        cost, [(0.0, 1.0)] * n + [(-12.0, 4.0)] * n, seed=1, tol=1e-8, maxiter=2000).fun))
    return {"ours, s": seconds(lambda: solve(psi, variance_price=g, noise_price=kappa)), "s": spent,
            "above": value / ours - 1.0}


def cone(n: int) -> dict[str, float]:
    """cvxpy with Clarabel where the problem is convex: all psi <= 1."""
    import cvxpy

    psi, market = crowd(n, "uniform") / 2.0, prices(10.0)
    g, kappa, b = market["variance_price"], market["noise_price"], np.sqrt(psi)
    ours = solve(psi, **market).value

    def program() -> float:
        w = cvxpy.Variable(n, nonneg=True)
        root = cvxpy.norm(cvxpy.hstack([cvxpy.multiply(np.sqrt(1.0 - psi), w), b @ w]))
        problem = cvxpy.Problem(cvxpy.Minimize(g * cvxpy.sum_squares(w) + 2.0 * math.sqrt(kappa) * root),
                                [cvxpy.sum(w) == 1.0])
        problem.solve(solver="CLARABEL")
        end = np.maximum(np.asarray(w.value), 0.0)
        end /= end.sum()
        return float(g * end @ end + 2.0 * math.sqrt(kappa * ((1.0 - psi) @ (end * end) + (b @ end) ** 2)))

    value, spent = once(program)
    return {"ours, s": seconds(lambda: solve(psi, **market)), "s": spent, "above": value / ours - 1.0}


if __name__ == "__main__":
    jobs: dict[str, Any] = {job.__name__: job for job in (
        optimum, paying, whole, approximation, printed, slsqp, evolution, cone)}
    json.dump(jobs[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:]), sys.stdout)
