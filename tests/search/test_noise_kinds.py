"""How likely one item's noise beats another's, for each kind; and how steep that is."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from confide.contract import InvalidInput
from confide.search.noise_kinds import KINDS, steepest_win, wins_over

LAWS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}
GAPS = [-90.0, -7.5, -3.0, -0.25, 0.0, 0.25, 1.0, 6.0, 45.0]


@pytest.mark.parametrize("kind", LAWS)
def test_it_is_the_convolution_of_the_law(kind):
    """P(N1 > N2 + gap) by quadrature over N2, to 1e-10."""
    law, scale = LAWS[kind], 3.0
    for gap in GAPS:
        corners = [c for c in (-gap / scale, 0.0) if abs(c) < 40]
        found = integrate.quad(lambda y, g=gap: law.pdf(y) * law.sf(y + g / scale), -45, 45, points=corners, limit=200,
                               epsabs=1e-12, epsrel=1e-12)[0]
        assert wins_over(kind, gap, scale) == pytest.approx(found, abs=1e-10)


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0, 40.0])
def test_discrete_noise_is_summed_and_wins_ties(scale):
    reach = math.ceil(45 * scale)
    masses = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    apart = np.convolve(masses / masses.sum(), masses / masses.sum())
    at_least = np.cumsum(apart[::-1])[::-1]
    for gap in range(-min(reach, 60), min(reach, 60) + 1):
        assert wins_over("discrete_laplace", gap, scale) == pytest.approx(at_least[2 * reach + gap], abs=1e-12)
    assert wins_over("discrete_laplace", 1.5, scale) == wins_over("discrete_laplace", 2, scale)
    assert steepest_win("discrete_laplace", scale) == pytest.approx(apart.max(), abs=1e-12)
    # against another item that wins ties, the rest: P(N1 - N2 >= g) + P(N2 - N1 >= 1 - g) = 1
    assert wins_over("discrete_laplace", 3, scale) + wins_over("discrete_laplace", -2, scale) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.5, 20.0])
def test_no_step_is_steeper_than_the_steepest_and_one_comes_near(kind, scale):
    """A slope that is too small makes the smoothed stop leak; here by differences on a fine grid."""
    step = 1.0 if kind == "discrete_laplace" else scale / 1000
    grid = np.arange(-4000, 4001) * step
    falls = -np.diff(wins_over(kind, grid, scale)) / step
    assert falls.min() >= 0
    assert falls.max() <= steepest_win(kind, scale) * (1 + 1e-9)
    assert falls.max() >= steepest_win(kind, scale) * 0.998
    assert all(a >= b for a, b in pairwise(wins_over(kind, [-math.inf, -1.0, 0.0, 1.0, math.inf], scale)))


def test_figures_of_the_spec():
    """Spec targeted_search 4: two items {3, 1} at b = 4; the expected number before the fake among 235,710 zeros."""
    assert wins_over("laplace", 1.0 - 3.0, 4.0) == pytest.approx(0.620918337680, abs=1e-12)
    for x, expected in [(3, 109_047), (100, 2_779), (200, 32.1)]:
        assert 235_710 * wins_over("laplace", x, 20.0) == pytest.approx(expected, rel=2e-3)
    assert [steepest_win(kind, 20.0) for kind in ("laplace", "exponential", "gumbel")] == [1 / 80, 1 / 40, 1 / 80]


@pytest.mark.parametrize("kind", KINDS)
def test_ends_and_shapes(kind):
    assert wins_over(kind, [-math.inf, math.inf, 1e300, -1e300], 1e-3).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert wins_over(kind, np.zeros((2, 3)), 1.0).shape == (2, 3)


@pytest.mark.parametrize(("field", "ask"), [
    ("noise_kind", lambda: wins_over("gauss", 1.0, 1.0)),
    ("noise_kind", lambda: steepest_win(None, 1.0)),
    ("scale", lambda: wins_over("laplace", 1.0, 0.0)),
    ("scale", lambda: steepest_win("laplace", math.nan)),
    ("gap", lambda: wins_over("laplace", [math.nan], 1.0)),
    ("gap", lambda: wins_over("laplace", "far", 1.0)),
])
def test_what_is_refused(field, ask):
    with pytest.raises(InvalidInput) as caught:
        ask()
    assert caught.value.field == field
