"""Divergences of finite laws: closed forms, brute force over all events, and the laws that every divergence obeys."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from confide.contract import InvalidInput
from confide.privacy import ApproxDP, PureDP, gaussian_delta
from confide.privacy.divergences import (
    approx_max_divergence,
    exact_epsilon,
    exact_mu,
    hockey_stick,
    max_divergence,
    renyi_divergence,
)

quick = limits(max_examples=60, deadline=None)
DIVERGENCES = {
    "max": max_divergence,
    "exact": exact_epsilon,
    "mu": exact_mu,
    "hockey": lambda p, q: hockey_stick(p, q, 0.3),
    "approx": lambda p, q: approx_max_divergence(p, q, 0.1),
    "kl": lambda p, q: renyi_divergence(p, q, 1.0),
    "renyi": lambda p, q: renyi_divergence(p, q, 2.5),
}


@st.composite
def pairs(draw, zeros=True, most=6):
    size = draw(st.integers(2, most))
    weights = st.lists(st.integers(0 if zeros else 1, 30), min_size=size, max_size=size).filter(any)
    p, q = (np.array(draw(weights), dtype=float) for _ in range(2))
    return p / p.sum(), q / q.sum()


def events(p, q):
    """(P(S), Q(S)) of every event."""
    for chosen in product((False, True), repeat=p.size):
        yield math.fsum(p[list(chosen)]), math.fsum(q[list(chosen)])


def response(epsilon, outcomes=2):
    other = 1.0 / (math.exp(epsilon) + outcomes - 1)
    laws = np.full((outcomes, outcomes), other)
    np.fill_diagonal(laws, math.exp(epsilon) * other)
    return laws


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("outcomes", [2, 5])
def test_randomised_response_loses_epsilon(epsilon, outcomes):
    p, q = response(epsilon, outcomes)[:2]
    assert exact_epsilon(p, q) == pytest.approx(epsilon, abs=1e-12)
    assert hockey_stick(p, q, 0.0) == pytest.approx(math.expm1(epsilon) / (math.exp(epsilon) + outcomes - 1), abs=1e-12)


def test_laplace_on_a_lattice_matches_its_closed_form():
    scale = 2.0
    points = np.arange(-400, 401)
    law = np.exp(-np.abs(points) / scale)
    law /= law.sum()
    near = np.roll(law, 1)
    assert max_divergence(law[5:-5] / law[5:-5].sum(), near[5:-5] / near[5:-5].sum()) == pytest.approx(0.5, abs=1e-9)


def test_impossible_outcomes():
    p, q = [0.9, 0.1, 0.0], [1.0, 0.0, 0.0]
    assert max_divergence(p, q) == math.inf
    assert max_divergence(q, p) == pytest.approx(-math.log(0.9))
    assert exact_epsilon(p, q) == exact_epsilon(q, p) == math.inf
    assert renyi_divergence(p, q, 2.0) == math.inf
    assert exact_mu(p, q) == math.inf
    assert hockey_stick(p, q, math.inf) == pytest.approx(0.1)
    assert hockey_stick(p, q, 800.0) == pytest.approx(0.1)
    assert approx_max_divergence(p, q, 0.05) == math.inf
    assert approx_max_divergence(p, q, 0.1) == pytest.approx(math.log(0.9))
    assert approx_max_divergence(p, q, 0.2) == pytest.approx(math.log(0.8))


def test_equal_laws():
    p = np.array([0.2, 0.3, 0.5])
    for delta in (0.0, 0.1, 0.999):
        assert approx_max_divergence(p, p, delta) == pytest.approx(math.log1p(-delta), abs=1e-15)
    assert max_divergence(p, p) == exact_mu(p, p) == hockey_stick(p, p, 0.0) == renyi_divergence(p, p, 7.0) == 0.0
    assert hockey_stick(p, p, -math.inf) == 1.0


def test_tiny_probabilities_keep_their_ratio():
    p, q = [1e-310, 1.0], [1e-318, 1.0]
    assert max_divergence(p, q) == pytest.approx(math.log(1e8), rel=1e-6)  # subnormal: few digits are left
    assert max_divergence([1e-300, 1.0], [1e-5, 1.0 - 1e-5]) == pytest.approx(1e-5, rel=1e-4)


def test_gaussian_mu_of_a_gaussian_pair_split_at_its_middle():
    for mu in (0.1, 1.0, 12.0):
        p = np.array([ndtr(mu / 2), ndtr(-mu / 2)])
        assert exact_mu(p, p[::-1]) == pytest.approx(mu, rel=1e-12)


@quick
@given(pairs())
def test_hockey_stick_is_the_worst_event(pair):
    p, q = pair
    for epsilon in (-0.7, 0.0, 0.4, 2.0):
        worst = max(inside - math.exp(epsilon) * outside for inside, outside in events(p, q))
        assert hockey_stick(p, q, epsilon) == pytest.approx(worst, abs=1e-14)


@quick
@given(pairs(), st.sampled_from([0.0, 1e-3, 0.0501, 0.3, 0.77]))
def test_approx_max_divergence_is_the_worst_event(pair, delta):
    p, q = pair
    assume(all(inside <= delta or inside - delta > 1e-9 for inside, _ in events(p, q)))
    worst = max(
        math.log((inside - delta) / outside) if outside else math.inf
        for inside, outside in events(p, q) if inside > delta
    )
    assert approx_max_divergence(p, q, delta) == pytest.approx(worst, abs=1e-11)


@quick
@given(pairs(), st.floats(1e-6, 0.99))
def test_approx_max_divergence_inverts_hockey_stick(pair, delta):
    p, q = pair
    epsilon = approx_max_divergence(p, q, delta)
    if math.isinf(epsilon):
        assert hockey_stick(p, q, math.inf) > delta
    else:
        assert hockey_stick(p, q, epsilon) == pytest.approx(delta, abs=1e-12)
        assert ApproxDP(max(epsilon, 0.0), delta).epsilon_at(delta) >= epsilon


@quick
@given(pairs(), st.floats(-3, 6), st.floats(0, 3))
def test_hockey_stick_falls_and_is_convex_in_the_factor(pair, epsilon, step):
    p, q = pair
    values = [hockey_stick(p, q, epsilon + k * step) for k in range(3)]
    assert values[0] >= values[1] - 1e-15
    assert values[1] >= values[2] - 1e-15
    middle = math.log((math.exp(epsilon) + math.exp(epsilon + step)) / 2)
    assert hockey_stick(p, q, middle) <= (values[0] + values[1]) / 2 + 1e-14


@quick
@given(pairs(zeros=False))
def test_max_divergence_is_where_the_hockey_stick_ends(pair):
    p, q = pair
    loss = max_divergence(p, q)
    assert hockey_stick(p, q, loss + 1e-12) == 0.0
    assert approx_max_divergence(p, q, 0.0) == loss
    assert exact_epsilon(p, q) == exact_epsilon(q, p) >= loss


@quick
@given(pairs())
def test_exact_mu_is_the_worst_event_and_promises_its_delta(pair):
    p, q = pair
    mu = exact_mu(p, q)
    assert mu == pytest.approx(exact_mu(q, p), abs=1e-9)
    if mu == 0 or math.isinf(mu):
        return
    # events between whose masses doubles cannot tell from 0 or 1 are left to the closed forms
    inner = [(a, b) for a, b in events(p, q) if 1e-9 < a < 1 - 1e-9 and 1e-9 < b < 1 - 1e-9]
    assert mu == pytest.approx(max((float(ndtri(a) - ndtri(b)) for a, b in inner), default=0.0), abs=1e-7)
    for epsilon in (0.0, 0.3, 1.5):
        assert hockey_stick(p, q, epsilon) <= gaussian_delta(epsilon, mu) + 1e-12


@quick
@given(pairs(zeros=False))
def test_renyi_rises_from_kl_to_the_max_divergence(pair):
    p, q = pair
    orders = [1.0, 1.0 + 1e-9, 1.0 + 1e-5, 1.5, 2.0, 10.0, 1e3, 1e6]
    values = [renyi_divergence(p, q, order) for order in orders]
    assert all(low <= high + 1e-12 for low, high in pairwise(values))
    assert values[1] == pytest.approx(values[0], abs=1e-7)
    assert values[-1] == pytest.approx(max_divergence(p, q), abs=1e-4)
    assert values[4] == pytest.approx(math.log(math.fsum(p**2 / q)), abs=1e-13)
    assert values[3] <= PureDP(exact_epsilon(p, q)).to_zcdp().rho * 1.5 + 1e-12


@pytest.mark.parametrize("name", DIVERGENCES)
@limits(max_examples=25, deadline=None)
@given(pair=pairs(), data=st.data())
def test_post_processing_never_increases(name, pair, data):
    p, q = pair
    cells = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=cells, max_size=cells).filter(any)
    channel = np.array([data.draw(row) for _ in p], dtype=float)
    channel /= channel.sum(axis=1, keepdims=True)
    before, after = DIVERGENCES[name](p, q), DIVERGENCES[name](p @ channel, q @ channel)
    # sums of doubles decide which mass is "all of it": a certain event may keep 1e-16 outside
    assume(all(side.max() < 1 - 1e-12 or cells == 1 for side in (p @ channel, q @ channel)) or name != "mu")
    assert after <= before + 1e-9 * (1 + abs(before) if math.isfinite(before) else 1)


@pytest.mark.parametrize(
    ("p", "q", "field"),
    [
        ([0.5, 0.6], [0.5, 0.5], "p"),
        ([0.5, 0.5], [0.5, 0.4], "q"),
        ([1.5, -0.5], [0.5, 0.5], "p"),
        ([math.nan, 1.0], [0.5, 0.5], "p"),
        ([0.5, 0.5], [math.inf, 0.5], "q"),
        ([0.5, 0.5], [0.5, 0.25, 0.25], "q"),
        ([[0.5, 0.5]], [0.5, 0.5], "p"),
        ([], [], "p"),
        (1.0, 1.0, "p"),
        (["a"], [1.0], "p"),
        (None, [1.0], "p"),
    ],
)
def test_bad_laws_are_refused(p, q, field):
    for divergence in DIVERGENCES.values():
        with pytest.raises(InvalidInput) as caught:
            divergence(p, q)
        assert caught.value.field == field or divergence is exact_epsilon


def test_bad_parameters_are_refused():
    p = [0.5, 0.5]
    for delta in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidInput, match="delta"):
            approx_max_divergence(p, p, delta)
    for alpha in (0.5, 0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidInput, match="alpha"):
            renyi_divergence(p, p, alpha)
    with pytest.raises(InvalidInput, match="epsilon"):
        hockey_stick(p, p, math.nan)
