"""Weights that no one person can exceed: optima, exchanges, truthfulness and caps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide.acquisition.capped import capped_spreads, ease_of, solve_capped
from confide.acquisition.capped_inner import crowd_at, group_at
from confide.acquisition.grid import grid_spreads, solve_grid
from confide.acquisition.problem import problem7, quadratic
from confide.contract import InvalidInput

PRICES: dict[str, Any] = {"variance_price": 1.0, "noise_price": 2.0, "delta": 0.01}


def enumerated(psi: np.ndarray, cap: float, g: float, r: float) -> float:
    """V(r) for at most 6 users: the least over all ways in which each is capped, free or left out."""
    b = np.sqrt(psi)
    matrix, best = np.diag(g + r * (1.0 - psi)) + r * np.outer(b, b), math.inf
    for states in itertools.product((0, 1, 2), repeat=len(psi)):
        state = np.array(states)
        free, w = np.flatnonzero(state == 1), np.where(state == 2, cap, 0.0)
        left = 1.0 - w.sum()
        if free.size:
            system = np.zeros((free.size + 1, free.size + 1))
            system[:-1, :-1], system[:-1, -1], system[-1, :-1] = matrix[np.ix_(free, free)], -1.0, 1.0
            w[free] = np.linalg.lstsq(system, np.append(-matrix[free] @ w, left), rcond=None)[0][:-1]
        if abs(w.sum() - 1.0) < 1e-12 and w.min() > -1e-12 and w.max() < cap + 1e-12:
            best = min(best, float(w @ matrix @ w))
    return best


def profile(rng: np.random.Generator, n: int) -> np.ndarray:
    """Virtual costs up to 1, with ties, ends and absentees among them."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.choice([0.0, 0.25, 0.5, 1.0], n)
    if kind == 1:
        return np.append(np.where(rng.random(n - 1) < 0.3, np.inf, rng.random(n - 1)), 0.5)
    return rng.random(n) ** rng.choice([0.3, 1.0, 4.0])


def setting(rng: np.random.Generator, n: int) -> dict[str, float]:
    cap = float(rng.choice([1.0, 0.5, 1 / 3, 1.0 / n, rng.uniform(1.0 / n, 1.0)]))
    return {"weight_cap": cap, "variance_price": float(rng.choice([0.0, 1e-6, 10.0 ** rng.uniform(-3.0, 2.0)])),
            "noise_price": 10.0 ** rng.uniform(-2.0, 2.0), "delta": 0.3}


@pytest.mark.parametrize("seed", fast(1, range(20)))
def test_all_ways_to_be_capped(seed: int) -> None:
    """The least cost over the grid and over 3^n sets of capped, free and absent users; its levels cost just that."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        n = int(rng.integers(1, 7 if seed else 6))
        psi, how = profile(rng, n), setting(rng, n)
        found, there = solve_capped(psi, **how), psi[np.isfinite(psi)]
        g, kappa, cap = how["variance_price"], how["noise_price"], how["weight_cap"]
        if there.size * cap < 1.0 - 1e-9:
            assert not found.bought
            continue
        spreads = capped_spreads(n, how["delta"], noise_price=kappa)
        least = min(kappa * s + enumerated(there, cap, g, 1.0 / s) for s in spreads.tolist())
        assert found.value == pytest.approx(least, rel=2e-12)
        assert found.spread in spreads
        prices = {"variance_price": g, "noise_price": kappa}
        assert problem7(found.weights, found.epsilon_local, psi, **prices) == pytest.approx(found.value, rel=1e-13)


def test_many() -> None:
    """The gradient proves the weights of many: no step within the caps lowers the cost."""
    rng = np.random.default_rng(2)
    for _ in range(150):
        n = int(10.0 ** rng.uniform(0.0, 3.5))
        psi, how = profile(rng, n), setting(rng, n)
        found, there = solve_capped(psi, **how), np.isfinite(psi)
        cap = how["weight_cap"]
        if not found.bought:
            assert np.count_nonzero(there) * cap < 1.0
            continue
        w, b, r = found.weights[there], np.sqrt(psi[there]), 1.0 / found.spread
        assert w.sum() == pytest.approx(1.0, abs=1e-13)
        assert w.max() <= cap * (1.0 + 1e-12)
        gradient = (how["variance_price"] + r * (1.0 - b * b)) * w + r * (b @ w) * b
        cheapest, full = np.sort(gradient), int(1.0 / cap + 1e-9)
        least = cap * cheapest[:full].sum() + (1.0 - cap * full) * (cheapest[full] if full < len(w) else 0.0)
        assert gradient @ w - least <= 1e-12 * found.value
        assert np.all(np.diff(w[np.argsort(b, kind="stable")]) <= 1e-9 * cap)


def test_sums_at_any_point() -> None:
    """Of the free and the capped, one taken out and one put in, also where the last users are the capped ones."""
    rng, from_behind = np.random.default_rng(4), 0
    for _ in range(200):
        n, g, r, cap = int(rng.integers(1, 12)), 10.0 ** rng.uniform(-3.0, 1.0), 2.0, rng.uniform(0.1, 1.0)
        psi, level, pull = np.sort(rng.random(n) ** 4), rng.uniform(-1.0, 3.0), rng.uniform(0.0, 2.0)
        anchor, out, own = rng.random(), int(rng.integers(0, n + 1)), rng.random()
        crowd = crowd_at(ease_of(psi), 1.0 - psi, g, r, 1.0 / cap, anchor, int(rng.integers(0, n + 1)))
        lean, price = float(ease_of(np.array(own))) - anchor, g + r * (1.0 - own)
        found = group_at(crowd, out, lean, price, level, pull)
        t, a = np.append(np.delete(crowd.lean, [out] if out < n else []), lean), np.append(
            np.delete(crowd.price, [out] if out < n else []), price)
        w = (level + pull * t) / a
        free, capped = (w > 0.0) & (w < cap), w >= cap
        assert found.capped == np.count_nonzero(capped)
        assert [*found[4:]] == pytest.approx([np.sum(1.0 / a[free]), np.sum(t[free] / a[free]),
                                              np.sum(t[free] ** 2 / a[free]), t[capped].sum(), a[capped].sum()],
                                             rel=1e-12, abs=1e-12)
        from_behind += found.last < n
    assert from_behind > 10


def test_without_a_cap() -> None:
    """wbar = 1 is the approximation scheme, and every best S lies in the grid whatever the cap."""
    rng = np.random.default_rng(3)
    for _ in range(15):
        n = int(rng.integers(1, 40))
        psi = rng.random(n)
        prices = {"variance_price": 10.0 ** rng.uniform(-3.0, 3.0), "noise_price": 10.0 ** rng.uniform(-2.0, 2.0)}
        found, known = solve_capped(psi, weight_cap=1.0, delta=0.01, **prices), solve_grid(psi, 0.01, **prices)
        assert found.value == pytest.approx(known.value, rel=1e-13)
        assert found.weights == pytest.approx(known.weights, abs=1e-9)
        assert found.spread == pytest.approx(known.spread, rel=1e-14)
        assert found.lower_bound <= solve_grid(psi, 0.001, **prices).value
        spreads = capped_spreads(n, 0.01, noise_price=prices["noise_price"], psi_floor=float(psi.min()))
        assert spreads.size <= grid_spreads(n, 0.01, **prices).size
        w = rng.dirichlet(np.ones(n))
        best = math.sqrt(quadratic(w, psi) / prices["noise_price"])
        step = 1.01 + math.sqrt(1.01**2 - 1.0)
        assert np.min(np.abs(np.log(spreads / best))) <= math.log(step) * (1.0 + 1e-9)


def test_nothing_bought() -> None:
    """The outside option and too few people: no weights, no levels, the fixed cost."""
    psi = [0.1, 0.5, 0.9, math.inf]
    found = solve_capped(psi, weight_cap=0.4, **PRICES)
    for nothing in (solve_capped(psi, weight_cap=0.4, outside=0.99 * found.value, **PRICES),
                    solve_capped(psi, weight_cap=0.3, outside=7.0, **PRICES)):
        assert not nothing.bought
        assert nothing.winners.size == 0
        assert not np.any(nothing.weights + nothing.epsilon_local + nothing.epsilon_central + nothing.difference)
        assert math.isnan(nothing.spread)
        assert nothing.value in {0.99 * found.value, 7.0}
    assert solve_capped(psi, weight_cap=0.3, **PRICES).value == math.inf
    dear = solve_capped(psi, weight_cap=0.4, outside=1.01 * found.value, **PRICES)
    assert dear.bought
    assert dear.value == found.value
    everybody = solve_capped(psi, weight_cap=1 / 3, **PRICES)
    assert everybody.weights.tolist() == [1 / 3, 1 / 3, 1 / 3, 0.0]
    thin = solve_capped(np.linspace(0.2, 0.6, 49), weight_cap=1 / 49, **PRICES)  # 49 (1/49) < 1 in doubles
    assert thin.weights == pytest.approx(np.full(49, 1 / 49), rel=1e-14)


@pytest.mark.parametrize(("field", "psi", "how"), [
    ("virtual_costs", [0.5, 1.2], {}), ("virtual_costs", [0.1, 0.5], {"psi_floor": 0.2}),
    ("virtual_costs", [math.nan], {}), ("virtual_costs", ["dear"], {}), ("virtual_costs", [], {}),
    ("weight_cap", [0.5], {"weight_cap": 0.0}), ("weight_cap", [0.5], {"weight_cap": 1.1}),
    ("outside", [0.5], {"outside": 0.0}), ("delta", [0.5], {"delta": 0.0}), ("psi_floor", [1.0], {"psi_floor": 2.0}),
])
def test_bad_input(field: str, psi: list[float], how: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=field):
        solve_capped(psi, **{"weight_cap": 0.5, **PRICES, **how})
