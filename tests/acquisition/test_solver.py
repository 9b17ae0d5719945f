"""The global optimum of problem (7) and its certificate (spec two_part_acquisition 5 to 7, 12, 17)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from cases import fast
from confide.acquisition.optimum import solver
from confide.acquisition.optimum.inner import inner, weights_of
from confide.acquisition.optimum.problem import objective, problem7, spread_bounds
from confide.acquisition.optimum.solver import minimise, ordered, solve
from confide.contract import InvalidInput


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


def test_weights_are_polished() -> None:
    """They are the best ones at their own S, to 1e-11: the value alone would fix them to some 1e-7."""
    rng = np.random.default_rng(9)
    for _ in range(50):
        psi, g = np.sort(rng.uniform(0.0, 3.0, 30)), 10.0 ** rng.uniform(-2.0, 2.0)
        found, b = solve(psi, variance_price=g, noise_price=1.0), np.sqrt(psi)
        again = weights_of(psi, b, g, 1.0 / found.spread, inner(psi, b, g, 1.0 / found.spread))
        assert found.weights[: again.size] == pytest.approx(again, abs=1e-11)


@pytest.mark.parametrize(("psi", "g", "kappa"), [
    ((0.3, 1.7), 1.0, 2.0), ((1.5, 2.5), 0.5, 1.0), ((0.0, 4.0), 0.1, 3.0), ((1.2, 1.2), 0.0, 1.0),
    ((0.1, 1.0, 1.9), 0.1, 1.0), ((0.05, 0.06, 3.0), 0.01, 1.0), ((1.1, 1.5, 6.0), 2.0, 0.3),
    ((0.0, 0.0, 9.0), 0.0, 1.0),
])
def test_brute_force(psi: tuple[float, ...], g: float, kappa: float) -> None:
    """n = 2 and 3: a grid of weights, and ever finer ones about its best point, find nothing cheaper and come close."""
    b, centre, width, least = np.sqrt(psi), np.full(len(psi), 0.5), 0.5, math.inf
    for _ in range(9):
        axes = [np.linspace(max(x - width, 0.0), min(x + width, 1.0), 101) for x in centre[:-1]]
        first = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(psi) - 1)
        w = np.column_stack([first, 1.0 - first.sum(axis=1)])
        w = w[w[:, -1] >= 0.0]
        form = (w * w) @ (1.0 - np.array(psi)) + (w @ b) ** 2
        cost = g * (w * w).sum(axis=1) + 2.0 * np.sqrt(kappa * form)
        centre, width, least = w[cost.argmin()], width / 8, min(least, float(cost.min()))
    assert solve(psi, variance_price=g, noise_price=kappa).value == pytest.approx(least, rel=1e-11)


@pytest.mark.parametrize(("seed", "top"), fast(1, [(3, 30.0), (2, 8.0), (1, 2.0), (4, 1.0), (5, 4.0)]))
def test_no_multi_start_does_better(seed: int, top: float) -> None:
    """Acceptance 2: n = 20, 30 starts of SLSQP do not beat V by a relative 1e-10."""
    rng = np.random.default_rng(seed)
    psi, g, kappa = rng.uniform(0.0, top, 20), 10.0 ** rng.uniform(-2.0, 1.0), 1.0
    b = np.sqrt(psi)
    form = np.diag(1.0 - psi) + np.outer(b, b)

    def cost(w: np.ndarray) -> tuple[float, np.ndarray]:
        root = math.sqrt(kappa * max(w @ form @ w, 1e-300))
        return g * w @ w + 2.0 * root, 2.0 * g * w + 2.0 * kappa * (form @ w) / root

    value = solve(psi, variance_price=g, noise_price=kappa).value
    found = []
    for _ in range(30):
        start = rng.dirichlet(np.full(20, rng.uniform(0.05, 1.0)))
        end = minimize(cost, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * 20, options={"maxiter": 40},
                       constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0}).x.clip(0.0)
        found.append(cost(end / end.sum())[0])
    assert min(found) >= value * (1.0 - 1e-10)
    assert min(found) <= value * (1.0 + 1e-3)


def test_who_cannot_win_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The users who are looked at give what all give, however few are sorted first."""
    rng = np.random.default_rng(6)
    monkeypatch.setattr(solver, "FIRST", 2)
    for case in range(100):
        n, g = int(rng.integers(1, 60)), 10.0 ** rng.uniform(-3.0, 2.0)
        psi = rng.uniform(0.0, (0.5, 2.0, 10.0)[case % 3], n)
        if case % 2:
            psi = np.round(psi, 1)
        users, whole = ordered(psi, g), np.sort(psi)
        assert users.position.tolist() == np.argsort(psi, kind="stable")[: users.psi.size].tolist()
        found = minimise(users.psi, users.b, g, users.low, users.high, 1e-13)
        everybody = minimise(whole, np.sqrt(whole), g, users.low, users.high, 1e-13)
        assert found.value == everybody.value
        assert np.array_equal(found.weights, everybody.weights)


def test_work_does_not_grow_with_the_number_of_people() -> None:
    """Inner solves do not grow in n, grow slowly in the digits, and most users are never looked at."""
    looked = []
    for n in (10**3, 10**5):
        psi = (2.0 * np.arange(n) + 1.0) / n
        looked.append([solve(psi, variance_price=1.0, noise_price=1.0, tolerance=t).evaluations for t in (1e-3, 1e-13)])
    assert max(max(each) for each in looked) <= 40
    assert looked[1][1] <= 4 * looked[1][0]
    assert ordered(psi, 1.0).psi.size < 5000


def test_ties_and_absentees() -> None:
    """Ties go by position; an absentee changes nothing for the others; the order of users does not matter."""
    prices = {"variance_price": 0.001, "noise_price": 1.0}
    assert solve([2.0, 2.0, 2.0], **prices).winners.tolist() == [0]
    assert solve([3.0, 2.0, 2.0], **prices).winners.tolist() == [1]
    with_absentee, without = solve([0.3, math.inf, 1.7], **prices), solve([0.3, 1.7], **prices)
    assert with_absentee.value == without.value
    assert with_absentee.weights.tolist() == [without.weights[0], 0.0, without.weights[1]]
    assert with_absentee.epsilon_local[1] == with_absentee.difference[1] == 0.0
    psi = np.random.default_rng(7).uniform(0.0, 3.0, 40)
    order = np.random.default_rng(8).permutation(40)
    assert np.array_equal(solve(psi[order], **prices).weights, solve(psi, **prices).weights[order])


def test_difference_falls_in_own_cost() -> None:
    """V is concave in one user's psi and her difference is its slope, also where the weights jump."""
    own = np.linspace(0.01, 3.0, 200)
    found = [solve([z, 0.3, 0.8, 2.2], variance_price=0.05, noise_price=1.0) for z in own]
    values, slopes = np.array([each.value for each in found]), np.array([each.difference[0] for each in found])
    assert np.all(np.diff(slopes) <= 1e-9)
    chords = np.diff(values) / np.diff(own)
    assert np.all((slopes[1:] <= chords + 1e-9) & (chords <= slopes[:-1] + 1e-9))


@pytest.mark.parametrize(("changed", "field"), [
    ({"virtual_costs": []}, "virtual_costs"), ({"virtual_costs": [[1.0]]}, "virtual_costs"),
    ({"virtual_costs": [0.1, math.nan]}, "virtual_costs"), ({"virtual_costs": [-0.1]}, "virtual_costs"),
    ({"virtual_costs": [math.inf]}, "virtual_costs"), ({"virtual_costs": "ab"}, "virtual_costs"),
    ({"variance_price": -1.0}, "variance_price"), ({"variance_price": math.inf}, "variance_price"),
    ({"noise_price": 0.0}, "noise_price"), ({"noise_price": math.nan}, "noise_price"),
    ({"virtual_costs": [0.5, 1e300]}, "virtual_costs"), ({"variance_price": 1e200}, "variance_price"),
    ({"tolerance": 0.0}, "tolerance"), ({"tolerance": 1e-16}, "tolerance"),
])
def test_bad_input(changed: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        solve(**{"virtual_costs": [0.5], "variance_price": 1.0, "noise_price": 1.0} | changed)
    assert raised.value.field == field
