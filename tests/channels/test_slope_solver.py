"""The least information at a slope and at a distortion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.channels.analyser import analyse
from confide.channels.constants import PriorConstants
from confide.channels.kernels import distances_sum, entropy_of_row, h
from confide.channels.priors import Exchangeable, FullPrior, IndependentRows
from confide.channels.rows import information
from confide.channels.solvers.information import HammingProduct, least_information, solve_slope
from confide.contract.errors import InvalidInput, Unsupported

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
MIXTURE = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 10)


def drawn(m: int, n: int, concentration: float = 1.0) -> FullPrior:
    return FullPrior(np.random.default_rng(5).dirichlet(np.full(m**n, concentration)), m, n)


def tail() -> FullPrior:
    """Spec section 2: six bits, and two fair ones that turn into a pair when all six are 1."""
    law = np.ones(1)
    for _ in range(6):
        law = np.kron(law, [0.995, 0.005])
    table = np.outer(law, np.full(4, 0.25))
    table[-1] = law[-1] * np.array([5, 1, 1, 5]) / 12
    return FullPrior(table.reshape(-1), 2, 8)


@pytest.mark.parametrize(("m", "n"), [(2, 1), (2, 7), (3, 4), (70, 2)])
def test_products_by_groups_are_sweeps(m: int, n: int) -> None:
    v, slope = np.random.default_rng(0).random(m**n), 0.7
    product = HammingProduct(m, n, slope)
    np.testing.assert_allclose(product.forward(v), distances_sum(v, math.exp(-slope), m, n), rtol=1e-12)
    np.testing.assert_allclose(product.squared(v), distances_sum(v, math.exp(-2 * slope), m, n), rtol=1e-12)
    step = 1e-5
    ends = [float(v @ HammingProduct(m, n, slope + t).forward(v)) for t in (step, -step)]
    assert product.changed(v, v) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-7)


def test_the_mixtures_point() -> None:
    """Acceptance 11, over classes and over all databases."""
    for prior in (MIXTURE, FullPrior(MIXTURE.vector(), 2, 10)):
        point = solve_slope(prior, 0.6)
        assert point.gap <= 1e-8
        assert (point.information, point.distortion) == pytest.approx((0.379577, 3.128169), abs=1e-6)
        assert point.bound - 0.6 * point.distortion <= point.information


@pytest.mark.parametrize("prior", [PAIR, MIXTURE, drawn(2, 6, 5.0), drawn(3, 3, 5.0), tail(),
                                   Exchangeable.polya([1.0, 1.0], 10), Exchangeable.polya([2.0, 1.0, 1.0], 4)])
def test_where_the_support_begins_to_change(prior) -> None:
    """Acceptance 11: at slope eps~_X the closed form ends; iterations that scale stall there, this does not."""
    level = PriorConstants.of(prior).kernel_level
    point = solve_slope(prior, level)
    assert point.gap <= 1e-8 * max(1.0, point.information)
    assert point.distortion == pytest.approx(h(level, prior.letters, prior.records), abs=1e-3)
    closed = prior.entropy - prior.records * entropy_of_row(level, prior.letters)
    reached = point.bound - level * h(level, prior.letters, prior.records)
    assert reached <= closed + 1e-9
    assert reached == pytest.approx(closed, abs=2e-8 * max(1.0, closed))


def test_scaling_iterations_stall_where_this_does_not() -> None:
    """The control: 2,000 steps of q <- q c leave a gap that the solver's certificate would not pass."""
    level, law = PriorConstants.of(PAIR).kernel_level, PAIR.vector()
    product, q = HammingProduct(2, 2, level), np.full(4, 0.25) + np.array([0.01, 0.0, -0.02, 0.01])
    for _ in range(2000):
        c = product.forward(law / product.forward(q))
        q = q * c
    c = product.forward(law / product.forward(q))
    assert math.log(c.max()) - float(q @ (c * np.log(c))) > 1e-8
    assert solve_slope(PAIR, level).gap <= 1e-8


@pytest.mark.parametrize("slope", [0.05, 0.4, 1.5, 4.0])
@pytest.mark.parametrize("prior", [drawn(2, 7), drawn(4, 3, 0.2), drawn(3, 4, 3.0)])
def test_gap_and_channel_agree(prior: FullPrior, slope: float) -> None:
    point = solve_slope(prior, slope)
    report = analyse(least_channel(prior, point), prior)
    assert point.gap <= 1e-8
    assert report.mutual_information == pytest.approx(point.information, abs=1e-9)
    assert report.distortion == pytest.approx(point.distortion, abs=1e-9)


def least_channel(prior, point):
    from confide.channels.channel import ExponentialForm

    return ExponentialForm(point.weights, point.slope, prior.letters, prior.records)


def test_a_start_nearby_changes_nothing() -> None:
    prior = drawn(2, 8)
    cold, near = solve_slope(prior, 1.0), solve_slope(prior, 1.02)
    warm = solve_slope(prior, 1.0, near.weights)
    assert warm.information == pytest.approx(cold.information, abs=3e-8)


def test_many_exchangeable_rows_reach_far_below_the_doubles() -> None:
    """Two coins of .3 and .7 over 300 rows: a slope between is the coin, ln 2, and its .3 of rows."""
    point = solve_slope(Exchangeable.mixture([0.5, 0.5], [[0.3, 0.7], [0.7, 0.3]], 300), 0.6)
    assert (point.information, point.distortion) == pytest.approx((math.log(2), 90.0), abs=1e-6)


@pytest.mark.slow
def test_a_thousand_exchangeable_rows() -> None:
    point = solve_slope(Exchangeable.mixture([0.5, 0.5], [[0.3, 0.7], [0.7, 0.3]], 1000), 0.6)
    assert (point.information, point.distortion) == pytest.approx((math.log(2), 300.0), abs=1e-6)


@pytest.mark.slow
def test_a_quarter_of_a_million_databases() -> None:
    assert solve_slope(drawn(2, 18), 1.5).gap <= 1e-8


def test_the_pairs_information() -> None:
    """Spec section 11, and acceptance 8: the slope at D = .4 is not the least dp level there, ln 3."""
    constants = PriorConstants.of(PAIR)
    for distortion in (0.15, 0.4, 0.7, 0.95):
        share = (distortion - 0.1) / 1.8
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
        found = least_information(PAIR, distortion, constants)
        assert found.lower <= 0.9 * (math.log(2) - entropy) + 1e-12
        assert found.upper == pytest.approx(0.9 * (math.log(2) - entropy), abs=1e-7)
        assert found.upper - found.lower < 1e-7
        assert analyse(found.channel, PAIR).distortion <= distortion + 1e-12
    assert least_information(PAIR, 0.4, constants).slope == pytest.approx(0.804719, abs=1e-5)


def test_independent_rows_have_water_filling() -> None:
    prior = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    full = FullPrior(prior.vector(), 3, 2)
    found = least_information(full, 0.8, PriorConstants.of(full))
    assert found.upper == pytest.approx(information(prior, 0.8), abs=1e-7)


def test_bad_input() -> None:
    for slope in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidInput, match="slope"):
            solve_slope(PAIR, slope)
    with pytest.raises(Unsupported, match="records"):
        solve_slope(Exchangeable.polya([1.0, 1.0], 2001), 1.0)
