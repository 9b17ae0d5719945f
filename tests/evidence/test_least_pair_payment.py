"""The least payment for two bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.evidence.wang_2016.data_market import least_pair_payment
from confide.market import (
    LinearCost,
    PairMarket,
    PairPrior,
    PowerCost,
    Strategy,
    best_response,
    least_payment,
)
from confide.market.pairs.prior import log_report_law

COST = LinearCost(1.0)


AGREE = PairPrior.beta_binomial(2.0, 3.0, 10)


DISAGREE = PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])


def counts(prior: PairPrior) -> np.ndarray:
    assert prior.log_counts is not None
    return np.exp(prior.log_counts)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_least_payment(share: float) -> None:
    """With a common state it is the closed form of the majority's world, far into the tails too."""
    margin = share * float(COST.margin(1.0))
    for people in (2, 10, 500):
        closed = least_payment(people, 0.8, 0.7, COST, 1.0, margin=margin)
        found = least_pair_payment(PairPrior.two_state(people, 0.8, 0.7), COST, 1.0, margin=margin)
        assert found.payment == pytest.approx(closed.payment, rel=1e-11)
    ten = least_pair_payment(PairPrior.two_state(10, 0.8, 0.7), COST, 1.0, margin=margin)
    closed = least_payment(10, 0.8, 0.7, COST, 1.0, margin=margin)
    assert (ten.one_at, ten.zero_at) == (9, 0)
    assert (ten.for_one, ten.for_zero) == pytest.approx((closed.for_one, closed.for_zero), rel=1e-9)


def test_least_payment_of_bits_that_disagree() -> None:
    """Paid at its two counts alone, the optimum keeps the level at its margin (spec 2.3)."""
    margin = 0.5 * float(COST.margin(1.0))
    found = least_pair_payment(DISAGREE, COST, 1.0, margin=margin)
    assert (found.one_at, found.zero_at) == (0, 9)
    law = counts(DISAGREE)
    joint = [law[s:s + 10] * (np.arange(10) + 1 if s else 10 - np.arange(10)) / 10 for s in (0, 1)]
    with np.errstate(divide="ignore"):
        seen = np.exp(log_report_law(np.log(joint), 1.0))  # P(S = s, k of the others report 1)
    a = np.array([found.for_zero * seen[:, found.zero_at], found.for_one * seen[:, found.one_at]])
    best = best_response(a, COST)
    assert (best.level, best.margin) == pytest.approx((1.0, margin), rel=1e-6)
    assert np.sum(a * Strategy.randomised(1.0).channel[:2]) == pytest.approx(found.payment, rel=1e-9)


@given(st.floats(0.3, 5.0), st.floats(0.3, 5.0), st.integers(2, 12), st.floats(0.05, 4.0), st.booleans())
def test_order_of_the_prices(a: float, b: float, people: int, epsilon: float, flat: bool) -> None:
    """Acceptance 14: Proposition 1 <= V_opt <= E[R]; a scaled cost scales payments; labels do not matter."""
    cost = PowerCost(0.5, 2.0) if flat else LinearCost(1.3)
    market = PairMarket(PairPrior.beta_binomial(a, b, people), cost, epsilon)
    quote = market.quote()
    cheapest, fair_one = (least_pair_payment(market.prior, cost, epsilon, margin=margin).payment
                          for margin in (None, quote.margin))
    assert quote.lower_bound <= cheapest * (1 + 1e-9)
    assert cheapest <= fair_one * (1 + 1e-9)
    assert fair_one <= quote.expected_payment * (1 + 1e-9)
    assert replace(market, cost=cost + cost).quote().payments == pytest.approx(2 * quote.payments, rel=1e-12)
    mirrored = replace(market, prior=PairPrior.beta_binomial(b, a, people))
    assert mirrored.liability() == pytest.approx(market.liability()[::-1], rel=1e-12)
    assert mirrored.quote().expected_payment == pytest.approx(quote.expected_payment, rel=1e-12)
