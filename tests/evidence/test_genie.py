"""The genie's market, and costs that differ, beside the majority's market."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from confide.evidence.wang_2016.data_market import GenieMarket, HeterogeneousMarket
from confide.market import (
    LinearCost,
    MajorityMarket,
    PowerCost,
    best_response,
)
from confide.market.binomials import majority_errors
from confide.market.majority import majority_statistic
from confide.market.matching import price_floor
from confide.market.signal_model import Reporting

GOLDEN = MajorityMarket(people=10, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)


def market(people: int, **changes: object) -> MajorityMarket:
    return replace(GOLDEN, people=people, **changes)  # type: ignore[arg-type]


def test_lower_bound() -> None:
    """Acceptance 1, Theorem 3 [608]; as printed in (3.5); nothing is paid at 0 although the limit is not 0."""
    assert price_floor(LinearCost(1.0), 1.0, 0.6) == pytest.approx(5.413668918335874, rel=1e-12)
    e = math.e
    printed = (e + 1) / e * (0.8 / 0.6 * (e + 1) - 1)
    assert price_floor(LinearCost(1.0), 1.0, 0.6) == pytest.approx(printed, rel=1e-12)
    assert price_floor(LinearCost(1.0), 0.0, 0.6) == 0.0
    quote = GenieMarket(3, 0.8, 0.7, LinearCost(1.0), 1.0).quote()
    assert quote.expected_payment == quote.lower_bound == pytest.approx(5.413668918335874, rel=1e-12)
    payment = GenieMarket(3, 0.8, 0.7, LinearCost(1.0), 1.0).payment
    assert payment.expected_payment == pytest.approx(quote.lower_bound, rel=1e-12)


def test_the_limit_of_many_people() -> None:
    """A table for n = infinity is that of the genie; at finite n it is not (spec 8: a toy trap)."""
    genie = GenieMarket(2, 0.8, 0.7, LinearCost(1.0), 1.0).payment
    assert market(10**9).liability() == pytest.approx((genie.for_one, genie.for_zero), rel=1e-13)
    assert abs(market(10).liability()[0] / genie.for_one - 1) > 0.5
    statistic = majority_statistic(GOLDEN.signal_model, majority_errors(10**9, GOLDEN.reporting))
    assert (statistic.one, statistic.zero) == pytest.approx((0.7, 0.3), rel=1e-14)


def test_costs_that_differ() -> None:
    """Spec 2.4: the same table times everybody's own g'; at one level for all, equal to the common market."""
    same = HeterogeneousMarket(0.8, 0.7, [LinearCost(1.0)] * 8 + [PowerCost(2.0, 2.0)] * 2, 1.0)
    assert same.quote(0).payments == pytest.approx(GOLDEN.quote().payments, rel=1e-12)
    dearer = market(10, cost=PowerCost(2.0, 2.0)).quote().expected_payment
    assert same.quote(9).expected_payment == pytest.approx(dearer, rel=1e-12)
    reports = [1, 1, 1, 0, 1, 1, 0, 2, 1, 1]
    assert same.pay_reports(reports)[:8] == pytest.approx(GOLDEN.pay_reports(reports)[:8], rel=1e-12)


def test_levels_that_differ() -> None:
    """Spec 2.4 (ours): a Poisson-binomial majority, against the law of everybody's matches; zero regret for each."""
    levels = [0.3, 0.3, 2.0, 1.0, 0.7, 1.5]
    mixed = HeterogeneousMarket(0.8, 0.7, [LinearCost(1.0 + i) for i in range(6)], levels)
    for i in range(6):
        agree = [float(Reporting.of(0.8, level).agree) for j, level in enumerate(levels) if j != i]
        law = np.ones(1)
        for p in agree:
            law = np.convolve(law, [1 - p, p])
        found = mixed.payment(i).statistic
        low, high = law[:3].sum(), law[:3].sum()  # 5 others, majority 3
        assert found.one == pytest.approx(0.7 * (1 - low) + 0.3 * high, rel=1e-12)
        assert found.covariance == pytest.approx(0.6 * (1 - low - high) * 0.21, rel=1e-12)
        best = best_response(mixed.interim_matrix(i), mixed.costs[i])
        assert best.level == pytest.approx(levels[i], rel=1e-9)
    assert mixed.error_bound < math.sqrt(0.21)


def test_tiny_levels_that_differ_do_not_cancel() -> None:
    one = HeterogeneousMarket(0.8, 0.7, [LinearCost(1.0)] * 40, [1e-4] * 39 + [2e-4])
    common = majority_errors(39, Reporting.of(0.8, 1e-4))
    exact = majority_statistic(one.signal_model, common).covariance
    assert one.payment(39).statistic.covariance == pytest.approx(exact, rel=1e-12)
    assert one.payment(0).statistic.covariance == pytest.approx(exact * (38 + 2) / 39, rel=1e-6)
