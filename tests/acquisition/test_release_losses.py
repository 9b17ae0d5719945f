"""Losses towards the platform, the public, fellows and coalitions, and what they mean in other notions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.acquisition.release.lattice import integer_contracts
from confide.acquisition.release.losses import (
    gaussian_losses,
    lattice_delta,
    local_level,
    local_sigma,
    to_gdp,
    to_zcdp,
)
from confide.contract.errors import InvalidInput
from confide.privacy.divergences import hockey_stick, renyi_divergence
from confide.privacy.losses import GDP, ZCDP, gaussian_delta

# Section 2's example: virtual costs (.4, .7, 1.2), gamma = 10, alpha = 2, VAR = 1/12.
WEIGHTS = [0.444494952334474258, 0.392756982839085497, 0.162748064826440243]
LEVELS = [1.982376303142914385, 1.324110272585295191, 0.419058322328971246]


def test_the_four_audiences_of_the_example() -> None:
    """Acceptance check 12: what a fellow participant sees."""
    losses = gaussian_losses(WEIGHTS, LEVELS, 2.0)
    assert losses.local == pytest.approx(LEVELS, rel=1e-14)
    assert losses.local[0] == pytest.approx(1.9824, abs=5e-5)
    assert losses.central[0] == pytest.approx(0.7072, abs=5e-5)
    assert losses.fellow == pytest.approx([1.2130741203, 0.8583948470, 0.1626242614], abs=5e-11)
    assert (losses.central <= losses.fellow).all()
    assert (losses.fellow <= losses.local * (1 + 1e-15)).all()
    lattice = integer_contracts(WEIGHTS, LEVELS, 2.0).losses
    for audience in ("local", "central", "fellow"):
        assert getattr(lattice, audience) == pytest.approx(getattr(losses, audience), rel=3e-6)


def test_a_coalition_leaves_the_noise_of_the_others() -> None:
    losses = gaussian_losses(WEIGHTS, LEVELS, 2.0)
    w, y = np.array(WEIGHTS), np.array(LEVELS)
    pair = losses.eps_central([1, 2])
    assert pair[0] == pytest.approx(LEVELS[0])
    assert pair[1:].tolist() == [math.inf, math.inf]
    one = losses.eps_central([2])
    assert one[:2] == pytest.approx(w[:2] ** 2 / float((w[:2] ** 2 / y[:2]).sum()))
    worst = [max(losses.eps_central([j])[i] for j in range(3) if j != i) for i in range(3)]
    assert losses.fellow == pytest.approx(worst, rel=1e-14)
    with pytest.raises(InvalidInput, match=r"^coalition"):
        losses.eps_central([3])


def test_one_person_has_no_fellow_and_two_have_no_central_privacy_from_each_other() -> None:
    assert gaussian_losses([1.0], [2.0], 3.0).fellow == pytest.approx([2.0])
    two = gaussian_losses([0.3, 0.7, 0.0], [2.0, 5.0, 1.0], 3.0)
    assert two.fellow == pytest.approx([2.0, 5.0, 0.0])
    assert two.central[2] == two.local[2] == 0.0
    tiny = gaussian_losses([0.5, 0.5], [1.0, 1e18], 2.0)  # her noise is lost in the other's
    assert tiny.fellow == pytest.approx([1.0, 1e18])


def test_no_noise_hides_nothing() -> None:
    bare = gaussian_losses([0.5, 0.5], [math.inf, math.inf], 2.0)
    assert bare.local.tolist() == bare.central.tolist() == bare.fellow.tolist() == [math.inf, math.inf]
    half = gaussian_losses([0.5, 0.5], [math.inf, 2.0], 2.0)
    assert half.local == pytest.approx([math.inf, 2.0])
    assert half.central == pytest.approx([2.0, 2.0])
    assert half.fellow == pytest.approx([math.inf, 2.0])
    assert (local_sigma(0.0, 2.0), local_sigma(math.inf, 2.0)) == (math.inf, 0.0)
    assert (local_level(0.0, 2.0), local_level(math.inf, 2.0)) == (math.inf, 0.0)
    assert local_level(local_sigma(0.7, 3.0), 3.0) == pytest.approx(0.7)


@pytest.mark.parametrize(("level", "order"), [(0.7, 2.0), (1 / 3, 1.1), (5e-324, 7.0), (900.0, 1.5)])
def test_conversions_never_round_towards_more_privacy(level: float, order: float) -> None:
    rho, mu = to_zcdp(level, order).rho, to_gdp(level, order).mu
    assert 0 <= Fraction(rho) * Fraction(order) / Fraction(level) - 1 < 2**-50 or rho == 5e-324
    assert 0 <= Fraction(mu) ** 2 * Fraction(order) / (2 * Fraction(level)) - 1 < 2**-50
    assert to_zcdp(math.inf, order) == ZCDP(math.inf)
    assert to_gdp(math.inf, order) == GDP(math.inf)
    assert to_gdp(0.0, order) == GDP(0.0)


def discrete_law(shift: int, variance: int) -> tuple[np.ndarray, np.ndarray]:
    """Discrete Gaussian noise about `shift` and about 0, each tail in one cell."""
    reach = 36 * math.isqrt(variance)
    points = np.arange(-reach, reach + 1.0)
    masses = np.exp(-(points**2) / (2 * variance))
    masses /= masses.sum()
    last = len(masses) - shift
    about = np.append(masses[: last - 1], masses[last - 1 :].sum())
    return about, np.append(masses[: shift + 1].sum(), masses[shift + 1 :])


@pytest.mark.parametrize(("shift", "variance"), [(30, 900), (7, 6400), (200, 900)])
def test_deltas_on_the_lattice_are_above_the_exact_tail_sums_and_near_them(shift: int, variance: int) -> None:
    p, q = discrete_law(shift, variance)
    assert renyi_divergence(p, q, 3.0) == pytest.approx(3 * shift**2 / (2 * variance), rel=1e-9)
    for epsilon in (0.0, 0.5, 3.0):
        exact = hockey_stick(p, q, epsilon)
        bound = lattice_delta(epsilon, shift, variance)
        assert exact <= bound
        assert bound <= ZCDP(shift**2 / (2 * variance)).delta_at(epsilon) * (1 + 1e-12)
        if exact > 1e-12:
            assert bound < exact * 1.8  # variance 900 gives 64 away; 6400 is nearer
    wide = lattice_delta(2.0, 2**30 + 1, 2**60)
    assert 0 <= wide / gaussian_delta(2.0, (2**30 + 1) / 2**30) - 1 < 1e-12


def test_a_delta_where_all_the_variance_is_in_the_rounding() -> None:
    assert lattice_delta(1.0, 4, 64) == pytest.approx(ZCDP(0.125).delta_at(1.0), rel=1e-12)
    assert lattice_delta(1.0, 0, 64) == 0.0
    for bad in ({"shift": -1}, {"variance": 63}, {"epsilon": math.nan}):
        with pytest.raises(InvalidInput, match=f"^{next(iter(bad))}"):
            lattice_delta(**({"epsilon": 1.0, "shift": 1, "variance": 64} | bad))


@pytest.mark.parametrize(("field", "change"), [
    ("order", {"order": 1.0}), ("order", {"order": math.inf}), ("order", {"order": math.nan}),
    ("weights", {"weights": [-0.1, 1.1]}), ("weights", {"weights": []}), ("weights", {"weights": [math.inf, 0.0]}),
    ("epsilon_local", {"epsilon_local": [1.0]}), ("epsilon_local", {"epsilon_local": [0.0, 1.0]}),
    ("epsilon_local", {"epsilon_local": [math.nan, 1.0]}),
])
def test_bad_input_is_named(field: str, change: dict) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}"):
        gaussian_losses(**({"weights": [0.5, 0.5], "epsilon_local": [1.0, 1.0], "order": 2.0} | change))
