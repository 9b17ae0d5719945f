"""A process of its own: one job of `market` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.optimize import linprog
from scipy.stats import binom

from benchmarks.memory import peak_mb
from benchmarks.timing import seconds
from confide.market import (
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    PairMarket,
    PairPrior,
    PowerCost,
    SignalModel,
    ThresholdMarket,
    best_response,
    check_equilibrium,
    check_types,
    least_payment,
    plan,
    plan_unknown_costs,
    simulate,
    symmetric_equilibria,
)

COST, CUBE, LAW = LinearCost(1.0), PowerCost(1.0, 3.0), LogNormalLaw(0.0, 1.0)


def majority(people: int, presence: float = 1.0) -> MajorityMarket:
    return MajorityMarket(people, 0.8, 0.7, COST, 1.0, presence=presence)


def threshold(people: int) -> ThresholdMarket:
    return ThresholdMarket(people, 0.8, 0.7, LAW, 2.0, participation=0.5)


def quotes(n: int) -> dict[str, float]:
    """A market made, and its offer."""
    return {"majority": seconds(lambda: majority(n).quote()), "log gap": seconds(lambda: majority(n).log_gap),
            "unknown costs": seconds(lambda: threshold(n).quote()),
            "least payment": seconds(lambda: least_payment(n, 0.8, 0.7, COST, 1.0))}


def tables(n: int) -> dict[str, float]:
    """What is paid at every number of participants up to n."""
    return {"majority": seconds(lambda: majority(n).tariff(2, n)),
            "unknown costs": seconds(lambda: threshold(n).payment_tables(2, n))}


def equilibria(n: int) -> dict[str, float]:
    markets = {"": majority(n), ", presence .7": majority(n, 0.7)}
    found = {f"check{name}": seconds(lambda m=each: check_equilibrium(m)) for name, each in markets.items()}
    found |= {f"all{name}": seconds(lambda m=each: symmetric_equilibria(m), runs=3) for name, each in markets.items()}
    return {**found, "types": seconds(lambda: check_types(threshold(n)))}


def plans(n: int) -> dict[str, float]:
    """Up to n people; flat costs and many people are cheapest together, so that all sizes are looked at."""
    found = {f"{criterion}, theta = {theta:g}": seconds(
        lambda c=criterion, t=theta: plan(0.05, t, 0.7, COST, c, max_people=n))
        for criterion in ("exact", "chernoff", "thesis") for theta in (0.8, 0.55)}
    return found | {f"{criterion}, cubic costs": seconds(
        lambda c=criterion: plan(0.01, 0.8, 0.7, CUBE, c, max_people=n), runs=3) for criterion in ("exact", "chernoff")}


def unknown(n: int) -> dict[str, float]:
    return {f"theta = {theta:g}": seconds(lambda t=theta: plan_unknown_costs(0.05, t, 0.7, LAW, people=n), runs=3)
            for theta in (0.8, 0.55)}


def rounds(n: int) -> dict[str, float]:
    """n rounds of a thousand million people; the pair market's law of counts is written down for a million."""
    pairs = PairMarket(PairPrior.beta_binomial(2.0, 3.0, people=10**6), COST, 1.0)
    markets = {"majority": majority(10**9), "presence .7": majority(10**9, 0.7), "unknown costs": threshold(10**9),
               "pairs": pairs}
    return {name: seconds(lambda m=each: simulate(m, n, seed=1), runs=3) for name, each in markets.items()}


def individual(n: int, kind: str) -> dict[str, float]:
    """One round of n people, drawn one by one."""
    market = majority(n) if kind == "majority" else threshold(n)
    return {"seconds": seconds(lambda: simulate(market, 1, seed=1, level="individual"), runs=3), "peak_mb": peak_mb()}


# ---- peers


def replies(levels: int) -> dict[str, float]:
    """The best reply where the truth is not the design's, and HiGHS over the channels at a grid of levels."""
    a = MajorityMarket(101, 0.8, 0.7, COST, 2.0).interim_matrix(signal_model=SignalModel(0.65, 0.75))
    best = best_response(a, COST)
    start = time.perf_counter()
    grid = np.linspace(0.0, 6.0, levels)
    found = [(_program(a, float(level)) - level, float(level)) for level in grid]
    spent, (value, level) = time.perf_counter() - start, max(found)
    return {"ours": seconds(lambda: best_response(a, COST)),
            "ours, cubic costs": seconds(lambda: best_response(a, CUBE)), "peer": spent,
            "shortfall": best.utility - value, "level": best.level, "peer's level": level}


def _program(a: np.ndarray, level: float) -> float:
    """The most that a channel of that level is paid: a linear program over its six entries."""
    rows = []
    for x in range(3):
        for s in (0, 1):
            row = np.zeros((3, 2))
            row[x, s], row[x, 1 - s] = 1.0, -math.exp(level)
            rows.append(row.ravel())
    sums = np.array([np.tile([1.0, 0.0], 3), np.tile([0.0, 1.0], 3)])
    found = linprog(-a.ravel(), A_ub=np.array(rows), b_ub=np.zeros(6), A_eq=sums, b_eq=np.ones(2), method="highs")
    return float(-found.fun)


def gap(people: int, epsilon: str) -> dict[str, float]:
    """E[R] - V_LB: ours, and from scipy.stats.binom by subtraction, beside 200 digits."""
    market = MajorityMarket(people, 0.8, 0.7, COST, float(epsilon))
    right = _exact_gap(people, epsilon)

    def off(value: float) -> float:
        return float(abs((arb(value) - right) / right).mid())

    return {"gap": float(right.mid()), "ours": off(market.gap), "peer": off(_plain_gap(people, float(epsilon))),
            "seconds": seconds(lambda: MajorityMarket(people, 0.8, 0.7, COST, float(epsilon)).gap),
            "peer's seconds": seconds(lambda: _plain_gap(people, float(epsilon)))}


def _plain_gap(people: int, epsilon: float) -> float:
    """As the formulas read: tails by a distribution function, a covariance by differences, a gap by another one."""
    m, edge = people - 1, 0.6
    keep = math.exp(epsilon) / (math.exp(epsilon) + 1.0)
    agree, most = 0.8 * keep + 0.2 * (1.0 - keep), m // 2 + 1
    right, wrong = 1.0 - binom.cdf(most - 1, m, agree), 1.0 - binom.cdf(most - 1, m, 1.0 - agree)
    one = 0.7 * right + 0.3 * wrong
    unit = 1.0 + math.cosh(epsilon)
    paid = unit * (math.tanh(epsilon / 2.0) + one * (1.0 - one) / (edge * (right - wrong) * 0.21))
    return float(paid - (math.sinh(epsilon) + unit / edge))


def _exact_gap(people: int, epsilon: str) -> arb:
    """The same in 200 digits, tails term by term."""
    ctx.dps = 200
    m, level, theta, prior = people - 1, arb(epsilon), arb(4) / 5, arb(7) / 10
    keep = 1 / (1 + (-level).exp())
    agree = theta * keep + (1 - theta) * (1 - keep)

    def tail(p: arb) -> arb:
        term = arb.bin_uiui(m, m // 2 + 1) * p ** (m // 2 + 1) * (1 - p) ** (m - m // 2 - 1)
        total = arb(0)
        for k in range(m // 2 + 1, m + 1):
            total += term
            term *= arb(m - k) / (k + 1) * p / (1 - p)
        return total

    right, wrong = tail(agree), tail(1 - agree)
    edge, one, unit = 2 * theta - 1, prior * right + (1 - prior) * wrong, 1 + level.cosh()
    paid = unit * ((level / 2).tanh() + one * (1 - one) / (edge * (right - wrong) * prior * (1 - prior)))
    return paid - (level.sinh() + unit / edge)


def paying(n: int) -> dict[str, float]:
    """n reports paid: by counts, and person by person in a loop that takes the person's own report off the total."""
    market = majority(n)
    reports = np.random.default_rng(1).integers(0, 2, n)

    def loop() -> list[float]:
        errors = market.payment_at()
        said, ones, paid = reports.tolist(), int(reports.sum()), []
        for report in said:
            majority_says = ones - report >= (n - 1) // 2 + 1
            paid.append((errors.for_one if report else errors.for_zero) if majority_says == report else 0.0)
        return paid

    if not np.array_equal(loop(), market.pay_reports(reports)):
        raise SystemExit("the loop pays something else")
    return {"ours": seconds(lambda: market.pay_reports(reports)), "peer": seconds(loop, runs=3)}


def playing(n: int) -> dict[str, float]:
    """n rounds of 1,000 people: by counts, one by one, and a numpy table of everybody's reports."""
    market = majority(1000)
    payment, keep = market.payment_at(), 1.0 / (1.0 + math.exp(-1.0))

    def plain() -> np.ndarray:
        source = np.random.default_rng(1)
        state = source.random(n) < 0.7
        bits = np.where(source.random((n, 1000)) < 0.8, state[:, None], ~state[:, None])
        reports = np.where(source.random((n, 1000)) < keep, bits, ~bits)
        others = reports.sum(axis=1, keepdims=True) - reports
        majority_says = others >= 999 // 2 + 1
        paid = np.where(reports, payment.for_one, payment.for_zero) * (majority_says == reports)
        return np.asarray(paid.sum(axis=1))

    return {"counts": seconds(lambda: simulate(market, n, seed=1), runs=3),
            "people": seconds(lambda: simulate(market, n, seed=1, level="individual"), runs=3), "people_mb": peak_mb(),
            "peer": seconds(plain, runs=3), "peer_mb": peak_mb()}


if __name__ == "__main__":
    jobs: dict[str, Any] = {job.__name__: job for job in (
        quotes, tables, equilibria, plans, unknown, rounds, individual, replies, gap, paying, playing)}
    json.dump(jobs[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:]), sys.stdout)
