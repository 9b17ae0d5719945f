"""The exact inner solve beside all supports (spec two_part_acquisition 6)."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from confide.acquisition.optimum.inner import inner, weights_of
from confide.acquisition.optimum.problem import quadratic


def enumerated(psi: np.ndarray, g: float, r: float) -> float:
    """The least of g sum w^2 + r Q(w) over the stationary points of all supports."""
    n = psi.size
    b = np.sqrt(psi)
    form = np.diag(g + r * (1 - psi)) + r * np.outer(b, b)
    chosen = np.array(list(product((0.0, 1.0), repeat=n)))[1:]
    system = np.zeros((len(chosen), n + 1, n + 1))
    system[:, :n, :n] = form * chosen[:, :, None] * chosen[:, None, :]
    system[:, np.arange(n), np.arange(n)] += 1.0 - chosen
    system[:, :n, n] = -chosen
    system[:, n, :n] = chosen
    found = np.linalg.solve(system[np.linalg.det(system) != 0.0], np.eye(n + 1)[:, n:])[:, :n, 0]
    found = found[(found >= -1e-13).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) < 1e-12)]
    return float(np.einsum("ki,ij,kj->k", found, form, found).min())


def test_equals_all_supports() -> None:
    """Acceptance 2: 1000 cases with n <= 7, psi up to 30, ties, zeros, g = 0, to 1e-10; ours are good to 1e-13."""
    rng = np.random.default_rng(4)
    kinds = set()
    for case in range(1000):
        psi = rng.uniform(0.0, (1.0, 1.3, 2.0, 3.0, 5.0, 30.0)[case % 6], int(rng.integers(1, 8)))
        if case % 4 == 1:
            psi = np.round(psi)
        if case % 5 == 2:
            psi[0] = 0.0
        psi.sort()
        b = np.sqrt(psi)
        g, r = 0.0 if case % 7 == 3 else 10.0 ** rng.uniform(-3.0, 3.0), 10.0 ** rng.uniform(-2.0, 2.0)
        found = inner(psi, b, g, r)
        assert found.value == pytest.approx(enumerated(psi, g, r), rel=1e-10)
        assert 0.0 <= found.value - found.lower <= 3e-14 * found.value
        w = weights_of(psi, b, g, r, found)
        assert w.min() >= 0.0
        assert w.sum() == pytest.approx(1.0, abs=1e-14)
        assert g * np.sum(w * w) + r * quadratic(w, psi[: w.size]) == pytest.approx(found.value, rel=1e-13)
        kinds.add((w.size == 1, w.size == psi.size, g + r * (1 - psi[w.size - 1]) > 0))
    assert len(kinds) >= 6  # alone, some and all; with and without a user whose a is negative


def test_value_is_concave_with_slope_q() -> None:
    psi = np.array([0.0, 0.05, 0.06, 1.2, 3.0, 20.0])
    b, r = np.sqrt(psi), np.geomspace(0.01, 30.0, 300)
    found = [inner(psi, b, 0.3, float(each)) for each in r]
    value, slope = np.array([each.value for each in found]), np.array([each.quadratic for each in found])
    assert np.all(np.diff(slope) <= 1e-13)
    chords = np.diff(value) / np.diff(r)
    assert np.all((slope[1:] <= chords + 1e-12) & (chords <= slope[:-1] + 1e-12))


def test_far_out_virtual_costs() -> None:
    """Nothing overflows or cancels at tiny and huge psi, nor where a user's a is 0 or nearly."""
    def value(psi: list[float], g: float, r: float) -> float:
        return inner(np.array(psi), np.sqrt(psi), g, r).value

    assert value([0.0, 1e250], 0.5, 2.0) == pytest.approx(1.25, rel=1e-14)
    assert value([1e-320, 1e-300], 0.0, 1.0) == pytest.approx(0.5, rel=1e-14)
    assert value([1.0, 1.0], 0.0, 3.0) == pytest.approx(3.0, rel=1e-15)
    for small in (-1e-9, -1e-13, -1e-15, 0.0, 1e-15, 1e-13, 1e-9):
        psi = [0.5, 1.5 + small, 1.5 + small]  # a of the others is 0 at g = 1, r = 2
        assert value(psi, 1.0, 2.0) == pytest.approx(enumerated(np.array([0.5, 1.5]), 1.0, 2.0), rel=1e-8)
    many = np.full(10**5, 0.5)
    assert inner(many, np.sqrt(many), 1.0, 2.0).value == pytest.approx(1e-5 + 2.0 * (0.5e-5 + 0.5), rel=1e-15)
    assert math.isclose(value([4.0], 1.0, 2.0), 3.0)
