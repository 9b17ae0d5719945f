"""The global optimum of problem (7) and its certificate (spec two_part_acquisition 5 to 7, 12, 17)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.acquisition.problem import (
    objective,
    problem7,
    spread_bounds,
)
from confide.acquisition.solver import solve


def test_identity_and_certificate() -> None:
    """Acceptance 1: problem (7) = V = G(w) to 1e-11, gap <= 1e-12, at most 100 inner solves, 500 instances."""
    rng = np.random.default_rng(1)
    for _ in range(500):
        psi = rng.uniform(0.0, 10.0 ** rng.uniform(-2.0, math.log10(30.0)), int(rng.integers(1, 31)))
        g, kappa = 10.0 ** rng.uniform(-4.0, 4.0), 10.0 ** rng.uniform(-3.0, 3.0)
        found = solve(psi, variance_price=g, noise_price=kappa)
        prices = {"variance_price": g, "noise_price": kappa}
        assert problem7(found.weights, found.epsilon_local, psi, **prices) == pytest.approx(found.value, rel=1e-11)
        assert objective(found.weights, psi, **prices) == pytest.approx(found.value, rel=1e-14)
        assert 0.0 <= found.gap <= 1e-13
        assert found.evaluations <= 100
        assert found.weights.sum() == pytest.approx(1.0, abs=1e-14)
        assert np.all(np.diff(found.weights[np.argsort(psi)]) <= 1e-12)
        least, most = spread_bounds(psi.size, **prices)
        assert least * (1 - 1e-12) <= found.spread <= most * (1 + 1e-12)


@pytest.mark.parametrize(("psi", "g", "value", "weights"), [
    ([0.1, 1.0, 1.9], 0.1, 1.6724843703511214, [0.5, 0.5, 0.0]),
    ([2.0, 2.0], 0.001, 2.001, [1.0, 0.0]),
    (np.linspace(0.1, 1.9, 10), 1.0, 1.6435325714659, None),
    ([0.05, 0.06, 3.0], 0.01, None, [0.41712008, 0.41042622, 0.17245370]),
])
def test_published_failures(psi: list[float], g: float, value: float | None, weights: list[float] | None) -> None:
    """Acceptance 3 and section 15: optima to 1e-10; a user with psi = 3 may have weight.

    Her neighbour's weight is misprinted there as .41041623: those weights sum to .99999.
    """
    found = solve(psi, variance_price=g, noise_price=1.0)
    if value is not None:
        assert found.value == pytest.approx(value, abs=1e-10)
    if weights is not None:
        assert found.weights == pytest.approx(weights, abs=1e-8)
    else:
        assert found.winners.tolist() == list(range(6))


@pytest.mark.parametrize(("gamma", "n", "value", "winners"), [
    (10.0, 10**3, 1.4950887429, 55), (10.0, 10**4, 0.8381322594, 175), (10.0, 10**5, 0.4700905619, 552),
    (10.0, 10**6, 0.2638895793, 1740), (1e4, 10**3, 63.2434887993, 95), (1e4, 10**4, 32.1590970762, None),
    (1e4, 10**5, 16.8016667804, None), (1e4, 10**6, 8.9901068202, None),
])
def test_headline_values(gamma: float, n: int, value: float, winners: int | None) -> None:
    """Acceptance 5: section 12's values to 1e-9, numbers of winners to 1."""
    found = solve((2.0 * np.arange(n) + 1.0) / n, variance_price=gamma / 12.0, noise_price=gamma)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert winners is None or abs(found.winners.size - winners) <= 1
