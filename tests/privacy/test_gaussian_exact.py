"""Every conversion is on the private side of the exact number, and within a few ulps of it, over all of the doubles.

The references are the definitions, in balls: Phi(a) - e^epsilon Phi(b) as it is written, at as many bits as its
cancellation asks for, and the best order found by bisection at 400 bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from confide.contract import Relation
from confide.privacy import (
    GDP,
    ZCDP,
    Accountant,
    PureDP,
    RenyiDP,
    ZCDPEvent,
    gaussian_delta,
    gaussian_noise_std,
    gdp_mu,
)
from confide.privacy.losses import largest, least
from confide.privacy.noise.balls import precision

TINY = 5e-324
LAST = math.nextafter(1.0, 0.0)


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10.0**power)


SIZES = powers(-300.0, 300.0) | powers(-14.0, 4.0)
DELTAS = powers(-300.0, -1e-3) | powers(-16.0, -1e-3) | powers(-16.0, -0.5).map(lambda rest: 1.0 - rest).filter(
    lambda delta: delta < 1.0)


def below(value: float) -> float:
    return math.nextafter(value, 0.0)


def above(value: float) -> float:
    return math.nextafter(value, math.inf)


# ---- the Gaussian trade-off


def erfc(z: arb) -> arb:
    """Of a narrow ball; arb's own is wide at large ones. The logarithm of erfc has a slope of at most 2|z| + 2."""
    middle = z.mid()
    return middle.erfc() * ((2 * abs(z) + 2) * (z - middle)).exp()


def reference_delta(epsilon: float, mu: float | Fraction) -> arb:
    """A ball of relative width 2^-100 around the definition; [0, 2^-1100] and [1 - 2^-1100, 1] far out."""
    bits = 256
    while bits < 2**15:
        with precision(bits):
            width = arb(fmpq(*mu.as_integer_ratio()))
            t = arb(epsilon) / width - width / 2
            if t > 45:  # delta <= Phi(-t) < exp(-t^2/2)
                return arb(0).union(arb(2) ** -1100)
            if t < -45:
                return 1 - arb(0).union(arb(2) ** -1100)
            two = arb(2).sqrt()
            delta = erfc(t / two) / 2 - arb(epsilon).exp() * erfc((t + width) / two) / 2
            if delta.rel_accuracy_bits() > 100 and (1 - delta).rel_accuracy_bits() > 60:
                return delta
        bits *= 2
    raise AssertionError((epsilon, mu))


def at_most(ball: arb, bound: float) -> bool:
    """Decided, not merely possible."""
    with precision(2**12):
        if 0 < bound < 1:
            assert (ball <= bound) != (ball > bound)
        return bool(ball <= bound or bound == 1)


@given(SIZES, SIZES)
@example(1e-10, 1e-11)
@example(1e300, 1e150 * math.sqrt(2.0))
@example(1.0, 1e-3)
@example(0.0, 2.0**-100)
@example(0.0, math.nextafter(2.0**-100, 0.0))
@example(0.0, TINY)
@example(1.7e308, TINY)
def test_gaussian_delta_is_the_least_double_above(epsilon: float, mu: float) -> None:
    delta = gaussian_delta(epsilon, mu)
    assert 0.0 < delta <= 1.0
    exact = reference_delta(epsilon, mu)
    assert at_most(exact, delta)
    assert delta == TINY or not at_most(exact, below(delta))
    assert GDP(mu).delta_at(epsilon) == delta


@given(st.floats(-8.0, 38.0), SIZES)
def test_gaussian_delta_is_the_least_double_above_where_it_is_neither_0_nor_1(t: float, mu: float) -> None:
    epsilon = mu * (t + mu / 2)
    if 0.0 <= epsilon < math.inf:
        delta = gaussian_delta(epsilon, mu)
        exact = reference_delta(epsilon, mu)
        assert at_most(exact, delta)
        assert delta == TINY or not at_most(exact, below(delta))


@given(SIZES, DELTAS)
@example(1e-6, 1e-12)  # these three were above their delta
@example(1e-8, 1e-12)
@example(1e-10, 1e-14)
@example(1e-300, LAST)
@example(TINY, TINY)
@example(1.7e308, 0.5)
def test_gdp_mu_is_the_largest_double_below(epsilon: float, delta: float) -> None:
    mu = gdp_mu(epsilon, delta)
    assert mu > 0.0
    assert at_most(reference_delta(epsilon, mu), delta)
    assert not at_most(reference_delta(epsilon, above(mu)), delta)


@given(powers(-290.0, 300.0) | powers(-14.0, 4.0), DELTAS, powers(-6.0, 6.0))
def test_gaussian_sigma_is_above_by_three_ulps_at_most(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_noise_std(epsilon, delta, sensitivity)
    if sigma < math.inf:
        assert at_most(reference_delta(epsilon, Fraction(sensitivity) / Fraction(sigma)), delta)
        lower = Fraction(sigma) * (1 - Fraction(3, 2**52))
        assert not at_most(reference_delta(epsilon, Fraction(sensitivity) / lower), delta)
    else:
        assert Fraction(sensitivity) / Fraction(gdp_mu(epsilon, delta)) > Fraction(below(math.inf))


def test_gaussian_sigma_at_the_ends() -> None:
    assert gaussian_noise_std(1.0, 1e-6, TINY) > 0.0
    assert gaussian_noise_std(1e-300, 1e-300, 1e300) == math.inf


@given(SIZES, DELTAS)
@example(1e-12, 1e-14)
@example(1e200, 1e-6)
@example(1.0, TINY)
def test_gdp_epsilon_is_the_least_double_above(mu: float, delta: float) -> None:
    epsilon = GDP(mu).epsilon_at(delta)
    if epsilon < math.inf:
        assert at_most(reference_delta(epsilon, mu), delta)
    if epsilon > 0.0:
        assert not at_most(reference_delta(below(epsilon), mu), delta)


@given(SIZES, st.floats(-8.0, 37.0))
def test_gdp_epsilon_is_the_least_double_above_where_it_is_not_zero(mu: float, t: float) -> None:
    delta = gaussian_delta(max(0.0, min(mu * (t + mu / 2), 1e308)), mu)
    if delta < 1.0:
        test_gdp_epsilon_is_the_least_double_above.hypothesis.inner_test(mu, delta)


# ---- zCDP and Renyi


def order_term(x: arb) -> arb:
    return x.log() + (1 + x) * (1 / x).log1p()


def log_bound(rho: float, epsilon: float, x: arb) -> arb:
    return x * ((1 + x) * arb(rho) - arb(epsilon)) - order_term(x)


def root(increasing: object) -> arb:
    """In ln x, by bisection."""
    low, high = arb(-800), arb(800)
    for _ in range(200):
        middle = ((low + high) / 2).mid()
        if increasing(middle.exp()) > 0:  # type: ignore[operator]
            high = middle
        else:
            low = middle
    return high.exp().mid()


def reference_log_delta(rho: float, epsilon: float) -> arb:
    x = root(lambda x: (1 + 2 * x) * arb(rho) - arb(epsilon) - (1 / x).log1p())
    return log_bound(rho, epsilon, x)


RHOS_OF = st.floats(-3.0, 37.0)  # where neither end of the doubles hides delta


@given(SIZES, SIZES)
@example(1e-6, 1.0)  # was 0
@example(1000.0, 1.0)  # was a division by zero
@example(1e300, 1e300)
@example(TINY, 1.7e308)
@example(1.7e308, TINY)
def test_zcdp_delta_is_above_by_two_ulps_at_most(rho: float, epsilon: float) -> None:
    delta = ZCDP(rho).delta_at(epsilon)
    assert 0.0 < delta <= 1.0
    with precision(2400):
        exact = reference_log_delta(rho, epsilon)
        assert delta == 1.0 or exact <= arb(delta).log()
        assert delta == TINY or not exact <= arb(below(below(delta))).log()


@given(SIZES, RHOS_OF)
def test_zcdp_delta_where_it_is_neither_0_nor_1(rho: float, t: float) -> None:
    epsilon = rho + 2.0 * math.sqrt(rho) * t
    if epsilon >= 0.0:
        test_zcdp_delta_is_above_by_two_ulps_at_most.hypothesis.inner_test(rho, epsilon)


@settings(deadline=None)
@given(SIZES, DELTAS)
@example(TINY, 1e-296)
@example(1.7e308, 1e-6)
@example(1e-20, LAST)
def test_zcdp_epsilon_is_above_and_tight(rho: float, delta: float) -> None:
    epsilon = ZCDP(rho).epsilon_at(delta)
    if epsilon < math.inf:
        assert ZCDP(rho).delta_at(epsilon) <= delta
    with precision(2400):
        x = root(lambda x: arb(rho) * x * x + (1 + x).log() + arb(delta).log())
        exact = arb(rho) * (1 + x) - (arb(delta).log() + order_term(x)) / x
        assert exact <= epsilon
        assert epsilon == 0.0 or exact >= arb(below(below(epsilon))) * (1 - arb(2) ** -50)


@pytest.mark.slow
@settings(deadline=None)
@given(SIZES, DELTAS)
@example(1e-300, 1e-300)
@example(1.7e308, LAST)
@example(TINY, 0.5)
def test_zcdp_within_is_below_and_tight(epsilon: float, delta: float) -> None:
    rho = ZCDP.within(epsilon, delta).rho
    assert ZCDP(rho).delta_at(epsilon) <= delta
    with precision(2400):
        target = arb(delta).log()
        assert rho == 0.0 or reference_log_delta(rho, epsilon) <= target
        more = above(above(rho)) * (1.0 + 2.0**-50)
        assert more == math.inf or not reference_log_delta(more, epsilon) <= target


@given(SIZES.map(lambda excess: 1.0 + excess).filter(lambda alpha: alpha > 1.0), SIZES, DELTAS)
@example(math.nextafter(1.0, 2.0), 1e-300, TINY)
@example(1.7e308, 1.7e308, TINY)
def test_renyi_epsilon_is_above_by_two_ulps_at_most(alpha: float, epsilon: float, delta: float) -> None:
    converted = RenyiDP(alpha, epsilon).epsilon_at(delta)
    with precision(4000):
        a = arb(alpha)
        exact = arb(epsilon) + (1 - 1 / a).log() - (arb(delta).log() + a.log()) / (a - 1)
        assert exact <= converted
        assert converted == 0.0 or exact > below(below(converted))


@given(SIZES | st.floats(0.0, 1.7e308))
def test_squares_are_rounded_up(value: float) -> None:
    exact = Fraction(value) ** 2 / 2
    for rho in (PureDP(value).to_zcdp().rho, GDP(value).to_zcdp().rho):
        assert rho == math.inf or Fraction(rho) >= exact
        assert rho == 0.0 or Fraction(below(rho)) < exact


# ---- ends and helpers


def test_an_event_that_is_not_pure_costs_a_positive_delta() -> None:
    assert ZCDP(1e-6).delta_at(1.0) == TINY
    assert Accountant((ZCDPEvent(rho=1e-6, neighbours=Relation.REPLACE),)).delta(1.0) == TINY
    assert gaussian_delta(1.0, 1e-3) == TINY
    assert PureDP(math.inf).to_zcdp().vacuous
    assert RenyiDP(2.0, 0.0).epsilon_at(1e-6) == 0.0
    assert GDP(1e200).epsilon_at(1e-6) == math.inf
    assert ZCDP(1.0).epsilon_at(1.0) == 0.0
    assert GDP(1.0).epsilon_at(1.0) == 0.0


@given(st.floats(0.0, 1.7e308), st.floats(0.0, 1.7e308))
def test_least_and_largest_find_the_step_from_any_guess(step: float, guess: float) -> None:
    assert least(lambda value: value >= step, guess) == step
    assert largest(lambda value: value <= step, guess) == step


def test_least_and_largest_at_the_ends() -> None:
    assert least(lambda value: False, 1.0) == math.inf
    assert least(lambda value: True, 1.0) == 0.0
    assert largest(lambda value: False, 1.0) == 0.0
    assert least(lambda value: value >= 1.0, math.inf) == 1.0
