"""Numbers of the privacy core beside the same numbers by exact or by much finer arithmetic, written anew."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from confide.privacy.groups import group_loss
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from confide.privacy.response import response_table
from confide.privacy.tree_blocks import levels, terms
from confide.privacy.tree_bounds import (
    best_arity,
    chernoff_bound,
    gaussian_bound,
    single_sum_bound,
    source_bound,
    sub_gaussian_bound,
)
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_errors import variance

mpmath.mp.dps = 60


@pytest.mark.parametrize("law", ["discrete_laplace", "laplace", "discrete_gaussian", "gaussian"])
def test_the_density_ratio_of_a_history(law: str) -> None:
    counter = TreeCounter(horizon=3, scale=2.5, law=law, l1_sensitivity=3)
    first, second, seen = np.array([[1, 4, 9]]), np.array([[3, 1, 9]]), np.array([[-2, 7, 11]])

    def log_density(center: int, value: int) -> Fraction:
        off = Fraction(value - center)
        return -abs(off) / Fraction(5, 2) if law.endswith("laplace") else -(off**2) / (2 * Fraction(25, 4))

    exact = sum(log_density(one, value) - log_density(two, value)
                for one, two, value in zip(first[0].tolist(), second[0].tolist(), seen[0].tolist(), strict=True))
    assert counter.log_ratio(first, second, seen) == pytest.approx(float(exact), rel=1e-15)
    loss = {"laplace": Fraction(5) / Fraction(5, 2), "gaussian": Fraction(13) / (2 * Fraction(25, 4))}
    reported = loss["laplace" if law.endswith("laplace") else "gaussian"]
    expected = math.sqrt(2 * reported) if law == "gaussian" else float(reported)
    assert counter.replayed_loss(first, second) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("reach", [1, 3])
@pytest.mark.parametrize("exposure", [None, 7])
def test_the_scale_of_a_budget(reach: int, exposure: int | None) -> None:
    given = {"l1_sensitivity": reach, "horizon": 10, "arity": 3, "exposure": exposure}
    depth = levels(10, 3)
    squared = reach**2 * depth if exposure is None else exposure
    for counter, least in ((TreeCounter.for_rho(0.3, **given), Fraction(squared) / (2 * Fraction(0.3))),
                           (TreeCounter.for_mu(0.7, **given), Fraction(squared) / Fraction(0.7) ** 2)):
        assert Fraction(counter.scale) ** 2 >= least > Fraction(math.nextafter(counter.scale, 0)) ** 2
    scale = TreeCounter.for_epsilon(0.3, **given).scale
    least = Fraction(reach * depth if exposure is None else exposure) / Fraction("0.3")
    assert Fraction(scale) >= least > Fraction(math.nextafter(scale, 0))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.7, 43.0, 63.99, 64.0, 700.0])
@pytest.mark.parametrize("categories", [2, 3, 1000])
def test_odds_of_a_response_are_the_nearest_below(epsilon: float, categories: int) -> None:
    table = response_table(epsilon, categories)
    total = 2**62
    assert table.same + (categories - 1) * table.other <= total
    exact = min(Fraction(repr(epsilon)), Fraction(epsilon))  # neither what is written nor the double is exceeded
    most = mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)
    assert mpmath.mpf(table.same) <= most * table.other
    if table.other > 1 and epsilon:  # with one less for each other answer the odds would be too large
        assert table.same + (categories - 1) > most * (table.other - 1)
    assert table.same >= table.other >= 1


@pytest.mark.parametrize("scale", [1e-4, 0.0015, 0.3, 3.9, 4.0, 4.1, 30.0])
def test_variances_of_lattice_laws(scale: float) -> None:
    far = math.ceil(60 * scale) + 5
    for law, exponent in (("discrete_laplace", lambda y: -abs(y) / mpmath.mpf(scale)),
                          ("discrete_gaussian", lambda y: -mpmath.mpf(y) ** 2 / (2 * mpmath.mpf(scale) ** 2))):
        weights = [mpmath.exp(exponent(y)) for y in range(far + 1)]
        exact = 2 * sum(y**2 * each for y, each in enumerate(weights)) / (2 * sum(weights) - 1)
        assert variance(law, scale) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


def test_bounds_of_trees_are_their_formulas_rounded_up() -> None:
    horizon, counters, gamma, most, scale = 100, 3, 0.03, 5, 1.7
    events = mpmath.log(2 * mpmath.mpf(horizon * counters) / mpmath.mpf(gamma))
    each = mpmath.mpf(gamma) / (2 * horizon * counters)
    for found, exact in (
        (single_sum_bound(scale, most, horizon, counters, gamma),
         2 * mpmath.sqrt(2 * most) * mpmath.mpf(scale) * max(1, events)),
        (sub_gaussian_bound(scale, most, horizon, counters, gamma), mpmath.mpf(scale) * mpmath.sqrt(2 * most * events)),
        (gaussian_bound(scale, most, horizon, counters, gamma),
         mpmath.mpf(scale) * mpmath.sqrt(most) * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * each)),
    ):
        assert exact <= mpmath.mpf(found) <= exact * (1 + mpmath.mpf("1e-9"))
    exact = 2 * mpmath.sqrt(2) / mpmath.mpf(0.4) * mpmath.log(2 / mpmath.mpf(0.1)) * mpmath.log(50, 2) ** 2.5
    assert source_bound(0.4, 50, 0.1) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 40, 255, 5000])
def test_the_best_arity_is_the_best_of_all(horizon: int, noise: str) -> None:
    def error(arity: int) -> float:
        height, most = levels(horizon, arity), terms(horizon, arity)
        return chernoff_bound(float(height), most, horizon, 2, 0.1) if noise == "laplace" else math.sqrt(height * most)

    best = min(range(2, max(horizon + 2, 3)), key=error) if horizon < 300 else min(range(2, 65), key=error)
    found = best_arity(horizon, 2, 0.1, noise=noise)
    assert error(found) == error(best)
    assert best_arity(horizon, noise=noise) == best_arity(horizon, 1, 0.05, noise=noise)


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 400.0])
@pytest.mark.parametrize("people", [1, 2, 7])
def test_the_loss_of_a_group(epsilon: float, delta: float, people: int) -> None:
    loss = group_loss(ApproxDP(epsilon, delta), people)
    series = mpmath.mpf(delta) * sum(mpmath.exp(j * mpmath.mpf(epsilon)) for j in range(people))
    assert Fraction(loss.epsilon) >= people * Fraction(epsilon)
    assert loss.epsilon == pytest.approx(people * epsilon, rel=1e-15)
    assert min(1, series) <= mpmath.mpf(loss.delta) <= min(1, series * (1 + mpmath.mpf("1e-12")))
    alone = group_loss(ApproxDP(epsilon, delta), people, alone=True)
    assert (alone.epsilon, alone.delta) == (loss.epsilon, pytest.approx(people * delta, rel=1e-15))
    assert group_loss(PureDP(epsilon), people).epsilon == loss.epsilon
    assert group_loss(ZCDP(epsilon), people).rho == pytest.approx(people**2 * epsilon, rel=1e-15)
    assert group_loss(ZCDP(epsilon), people, alone=True).rho == loss.epsilon
    assert group_loss(GDP(epsilon), people).mu == loss.epsilon
    assert group_loss(GDP(epsilon), people, alone=True).mu == pytest.approx(math.sqrt(people) * epsilon, rel=1e-14)


def test_the_renyi_loss_of_a_group() -> None:
    assert group_loss(RenyiDP(16.0, 0.5), 4) == RenyiDP(4.0, 4.5)
    assert group_loss(RenyiDP(16.0, 0.5), 3) == RenyiDP(4.0, 4.5)
    assert group_loss(RenyiDP(8.0, 0.5), 4) == RenyiDP(2.0, 4.5)
    assert group_loss(RenyiDP(7.9, 0.5), 4) == RenyiDP(7.9, math.inf)
    assert group_loss(RenyiDP(7.9, 0.5), 4, alone=True) == RenyiDP(7.9, 2.0)
