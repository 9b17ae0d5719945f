"""The least payment at finite N, in closed form and under a cap (spec data_market 2.3)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.market import CapTooLow, LinearCost, MajorityMarket, OptimalCountMechanism, best_response, least_payment

COST = LinearCost(1.0)


def test_closed_form() -> None:
    """Acceptance 2 and 13; with the whole margin and two people it is the majority market."""
    margin = math.sinh(1.0) - 1.0
    assert least_payment(10, 0.8, 0.7, COST, 1.0).payment == pytest.approx(5.481594102932061, rel=1e-12)
    assert least_payment(10, 0.8, 0.7, COST, 1.0, margin=margin).payment == pytest.approx(5.483578510869126, rel=1e-12)
    assert least_payment(2, 0.8, 0.7, COST, 1.0, margin=margin).payment == pytest.approx(
        MajorityMarket(2, 0.8, 0.7, COST, 1.0).quote().expected_payment, rel=1e-12)


@pytest.mark.parametrize(("people", "prior", "epsilon", "share"), [
    (10, 0.7, 1.0, 0.0), (7, 0.2, 0.5, 0.5), (4, 0.5, 2.0, 1.0),
])
def test_equals_the_program(people: int, prior: float, epsilon: float, share: float) -> None:
    """Acceptance 2 (1e-6): the same least payment, which is a weak equilibrium where no margin is asked for."""
    margin = share * float(COST.margin(epsilon))
    program = OptimalCountMechanism(people, 0.8, prior, COST, epsilon, margin=margin)
    closed = least_payment(people, 0.8, prior, COST, epsilon, margin=margin)
    assert program.expected_payment == pytest.approx(closed.payment, rel=1e-6)
    unanimous = program.payments[1, -1], program.payments[0, 0]
    assert unanimous == pytest.approx((closed.for_one, closed.for_zero), rel=1e-5)
    best = best_response(program.interim, COST)
    assert best.level == pytest.approx(epsilon, rel=1e-6)
    assert best.unique == (share > 0)
    assert best.margin == pytest.approx(margin, abs=1e-9)


def test_printed_form() -> None:
    """c tanh(eps/2) + h + 2 (c - h max delta)/(delta1 + delta0), from the posterior of the bit."""
    for people, prior, epsilon in ((3, 0.9, 0.3), (12, 0.4, 2.0)):
        keep = 1 / (1 + math.exp(-epsilon))
        alpha = 0.8 * keep + 0.2 * (1 - keep)

        def posterior(k: int, m: int = people - 1, p: float = prior, alpha: float = alpha) -> float:
            one, zero = p * alpha**k * (1 - alpha) ** (m - k), (1 - p) * (1 - alpha) ** k * alpha ** (m - k)
            return 2 * (0.8 * one + 0.2 * zero) / (one + zero) - 1

        d1, d0 = max(map(posterior, range(people))), max(-posterior(k) for k in range(people))
        c, h = 1 + math.cosh(epsilon), math.sinh(epsilon) - epsilon
        printed = c * math.tanh(epsilon / 2) + h + 2 * (c - h * max(d1, d0)) / (d1 + d0)
        assert least_payment(people, 0.8, prior, COST, epsilon).payment == pytest.approx(printed, rel=1e-11)


def test_far_below_the_doubles() -> None:
    """The gap falls like ((1 - alpha)/alpha)^N, without cancellation against V_LB."""
    gaps = [least_payment(n, 0.8, 0.7, COST, 1.0).gap for n in (300, 301)]
    assert 0 < gaps[1] < 1e-60
    assert gaps[1] / gaps[0] == pytest.approx(0.361364852822 / 0.638635147178, rel=1e-9)
    assert least_payment(10**6, 0.8, 0.7, COST, 1.0).payment == pytest.approx(5.413668918335874, rel=1e-12)


def test_cap_frontier() -> None:
    """Acceptance 5: N = 20, epsilon = 1; no payment above the cap, and the smallest feasible cap in the refusal."""
    frontier = {None: 5.4138964, 100.0: 5.4307677, 30.0: 5.5249275, 15.0: 6.9480695}
    for cap, expected in frontier.items():
        found = OptimalCountMechanism(20, 0.8, 0.7, COST, 1.0, cap)
        assert found.expected_payment == pytest.approx(expected, rel=1e-6)
        assert best_response(found.interim, COST).level == pytest.approx(1.0, abs=1e-6)
        assert cap is None or found.payments.max() <= cap
    with pytest.raises(CapTooLow) as caught:
        _ = OptimalCountMechanism(20, 0.8, 0.7, COST, 1.0, 12.0).expected_payment
    least = caught.value.least
    assert 12 < least < 15
    assert OptimalCountMechanism(20, 0.8, 0.7, COST, 1.0, least * (1 + 1e-6)).expected_payment > 6.9
    with pytest.raises(CapTooLow):
        _ = OptimalCountMechanism(20, 0.8, 0.7, COST, 1.0, least * (1 - 1e-4)).expected_payment


def test_bad_parameters() -> None:
    with pytest.raises(InvalidInput, match="margin"):
        least_payment(10, 0.8, 0.7, COST, 1.0, margin=1.0)
    with pytest.raises(InvalidInput, match="cap"):
        OptimalCountMechanism(10, 0.8, 0.7, COST, 1.0, cap=-1.0)
    with pytest.raises(InvalidInput, match="people"):
        OptimalCountMechanism(30_000, 0.8, 0.7, COST, 1.0)
    assert np.isinf(least_payment(10**6, 0.8, 0.7, COST, 1.0).for_one)
