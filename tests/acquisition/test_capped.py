"""Weights that no one person can exceed: optima, exchanges, truthfulness and caps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide.acquisition.caps import CappedCaps
from confide.acquisition.optimum import capped_replacement
from confide.acquisition.optimum.capped import capped_spreads, crowd_at, ease_of, group_at, solve_capped
from confide.acquisition.optimum.capped_replacement import replaced_capped_values
from confide.acquisition.optimum.problem import problem7, quadratic
from confide.acquisition.optimum.solver import grid_spreads, solve_grid
from confide.contract import InvalidInput

PRICES: dict[str, Any] = {"variance_price": 1.0, "noise_price": 2.0, "approximation": 0.01}


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
            "noise_price": 10.0 ** rng.uniform(-2.0, 2.0), "approximation": 0.3}


@pytest.mark.parametrize("seed", fast(1, range(21)))
def test_all_ways_to_be_capped(seed: int) -> None:
    """The least cost over the grid and over 3^n sets of capped, free and absent users; its levels cost just that."""
    rng = np.random.default_rng(seed)
    for _ in range(10 if seed else 4):
        n = int(rng.integers(1, 7 if seed else 6))
        psi, how = profile(rng, n), setting(rng, n)
        found, there = solve_capped(psi, **how), psi[np.isfinite(psi)]
        g, kappa, cap = how["variance_price"], how["noise_price"], how["weight_cap"]
        if there.size * cap < 1.0 - 1e-9:
            assert not found.bought
            continue
        spreads = capped_spreads(n, how["approximation"], noise_price=kappa)
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
        offset, price = float(ease_of(np.array(own))) - anchor, g + r * (1.0 - own)
        found = group_at(crowd, out, offset, price, level, pull)
        t, a = np.append(np.delete(crowd.offset, [out] if out < n else []), offset), np.append(
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
        found, known = solve_capped(psi, weight_cap=1.0, approximation=0.01, **prices), solve_grid(psi, 0.01, **prices)
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


@pytest.mark.parametrize("seed", fast(1, range(30)))
def test_exchanges(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and differences are those of solving anew, whatever replaces what; few are solved anew."""
    alone = []
    monkeypatch.setattr(capped_replacement, "solve_capped",
                        lambda *args, **how: alone.append(1) or solve_capped(*args, **how))
    rng, asked = np.random.default_rng(seed), 0
    for _ in range(25):
        n = int(rng.integers(1, 40))
        psi, how = profile(rng, n), setting(rng, n)
        value = solve_capped(psi, **how).value
        if rng.random() < 0.3 and value < math.inf:
            how["outside"] = value * rng.uniform(0.9, 1.1)
        people, new = rng.integers(0, n, 3), np.column_stack([np.ones(3), np.full(3, np.inf), rng.random((3, 1))])
        found = replaced_capped_values(psi, people, new, **how)
        asked += new.size
        for (k, j), replacement in np.ndenumerate(new):
            other = psi.copy()
            other[people[k]] = replacement
            one = solve_capped(other, **how)
            assert found.values[k, j] == pytest.approx(one.value, rel=1e-13)
            assert found.differences[k, j] == pytest.approx(one.difference[people[k]],
                                                            abs=1e-10 * math.sqrt(how["noise_price"]))
    assert len(alone) < asked / 4


def test_exchanges_of_many() -> None:
    """n = 2000, in the shape that was asked for; an exchange costs one solve of O(log n) at few S."""
    rng = np.random.default_rng(7)
    psi = np.maximum(0.05, 2.0 * rng.random(2000))
    psi[psi > 1.0] = np.inf
    how = {"weight_cap": 0.01, "variance_price": 5.0, "noise_price": 50.0, "approximation": 0.001, "psi_floor": 0.05}
    winners = solve_capped(psi, **how).winners
    found = replaced_capped_values(psi, winners, np.ones(winners.size), **how)
    assert found.values.shape == winners.shape
    for k in (0, winners.size // 2, -1):
        other = psi.copy()
        other[winners[k]] = 1.0
        assert found.values[k] == pytest.approx(solve_capped(other, **how).value, rel=1e-14)


def test_differences_fall() -> None:
    """Everybody's difference falls in her own virtual cost, through caps, grid and outside option."""
    psi, own = np.array([0.0, 0.3, 0.4, 0.9, 0.95]), np.linspace(0.0, 1.0, 1001)
    for how in ({"weight_cap": 0.45}, {"weight_cap": 0.25}, {"weight_cap": 1.0, "outside": 2.2}):
        found = replaced_capped_values(psi, [0], own[None, :], **how, **PRICES)
        differences, values = found.differences[0, 1:], found.values[0]
        assert np.all(np.diff(differences) <= 1e-12)
        assert np.all(np.diff(values, 2) <= 1e-13)
        steps = np.diff(values[1:]) / np.diff(own[1:])
        assert np.all((steps <= differences[:-1] + 1e-9) & (steps >= differences[1:] - 1e-9))
        assert differences[0] > 0.1


def test_no_report_gains() -> None:
    """Uniform prior, floor .25, ceiling 1: rents are (V(1) - V(psi))/2 up to the ceiling, d at the floor below it."""
    how = {"weight_cap": 0.3, "psi_floor": 0.25, "outside": 2.6, **PRICES}
    grid = np.unique(np.append(np.linspace(0.0, 1.0, 201), [0.124, 0.125, 0.126, 0.5, 0.501]))
    psi = np.maximum(0.25, 2.0 * grid)
    psi[psi > 1.0] = np.inf
    rng, sold = np.random.default_rng(5), set()
    for _ in range(12):
        others = np.maximum(0.25, 2.0 * rng.random(6))
        others[others > 1.0] = np.inf
        everybody = np.append(others, 1.0)
        found = replaced_capped_values(everybody, [6], [[*psi, 1.0, 0.25]], **how)
        top, bottom, differences = found.values[0, -2], found.values[0, -1], found.differences[0]
        rents = np.where(grid < 0.125, (0.125 - grid) * differences[-1] + (top - bottom) / 2.0,
                         np.where(grid <= 0.5, (top - found.values[0, :-2]) / 2.0, 0.0))
        d = differences[:-2]
        # a type z that reports c gets rent(c) + (c - z) d(c)
        gains = rents[None, :] + (grid[None, :] - grid[:, None]) * d[None, :] - rents[:, None]
        assert gains.max() <= 1e-13
        assert rents.min() >= 0.0
        sold.add(bool(d[0] > 0.0))
        # What she would be paid if the rent ran to the value without her is more, and a lie at the ceiling would pay.
        assert replaced_capped_values(everybody, [6], [np.inf], **how).values[0] >= top
    assert sold == {False, True}


def losses(psi: np.ndarray, caps: CappedCaps) -> np.ndarray:
    """Shares of its caps that a profile attains: local, central, error, payments."""
    found = solve_capped(psi, weight_cap=caps.weight_cap, variance_price=caps.variance_price,
                         approximation=caps.approximation, noise_price=caps.noise_price, outside=caps.outside,
                         psi_floor=caps.psi_floor)
    if not found.bought:
        return np.zeros(4)
    error = caps.variance_price * float(np.sum(found.weights**2)) + caps.noise_price * found.spread
    return np.array([found.epsilon_local.max() / caps.local, found.epsilon_central.max() / caps.central,
                     error / caps.error_cost, (found.value - error) / caps.payments])


@pytest.mark.parametrize("seed", fast(1, range(20)))
def test_caps_hold(seed: int) -> None:
    """No profile exceeds them: floors, ceilings and absentees in all mixtures, every sort of public parameters."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n = int(rng.choice([3, 10, 40, 200]))
        caps = CappedCaps(people=n, variance_price=float(rng.choice([1e-3, 1.0, 10.0])), noise_price=2.0,
                          psi_floor=float(rng.choice([0.01, 0.25, 0.8])), approximation=float(rng.choice([0.001, 0.1])),
                          weight_cap=max(1.0 / n, float(rng.choice([2.0 / n, 0.1, 0.5, 1.0]))),
                          outside=float(rng.choice([math.inf, 2.0, 3.0])))
        start = rng.integers(1, n + 1)
        psi = np.full(n, caps.psi_floor)
        psi[start:] = rng.choice([1.0, np.inf, rng.uniform(caps.psi_floor, 1.0)])
        noisy = rng.random(n) < 0.2
        psi[noisy] = rng.uniform(caps.psi_floor, 1.0, int(noisy.sum()))
        assert losses(psi, caps).max() <= 1.0


def test_caps_are_nearly_attained() -> None:
    """Each within some percent."""
    base: dict[str, Any] = {"people": 200, "variance_price": 1e-3, "noise_price": 2.0, "psi_floor": 0.25,
                            "approximation": 1e-5}
    one_among_dear = np.append(0.25, np.ones(199))
    caps = CappedCaps(weight_cap=0.05, **base)
    assert losses(one_among_dear, caps)[0] > 0.98
    few = np.append(np.full(20, 0.25), np.full(180, np.inf))
    assert losses(few, caps)[1] > 0.92
    assert losses(np.ones(200), caps)[2:].min() > 0.99
    assert caps.local < CappedCaps(weight_cap=1.0, **base).local / 19.0
    with pytest.raises(InvalidInput, match="outside"):
        CappedCaps(weight_cap=0.05, outside=0.0, **base)


@pytest.mark.parametrize(("field", "psi", "how"), [
    ("virtual_costs", [0.5, 1.2], {}), ("virtual_costs", [0.1, 0.5], {"psi_floor": 0.2}),
    ("virtual_costs", [math.nan], {}), ("virtual_costs", ["dear"], {}), ("virtual_costs", [], {}),
    ("weight_cap", [0.5], {"weight_cap": 0.0}), ("weight_cap", [0.5], {"weight_cap": 1.1}),
    ("outside", [0.5], {"outside": 0.0}), ("approximation", [0.5], {"approximation": 0.0}),
    ("psi_floor", [1.0], {"psi_floor": 2.0}),
])
def test_bad_input(field: str, psi: list[float], how: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=field):
        solve_capped(psi, **{"weight_cap": 0.5, **PRICES, **how})


def test_bad_exchanges() -> None:
    for field, people, new in (("people", [2], [1.0]), ("people", [0.5], [1.0]), ("replacements", [0], [1.5]),
                               ("replacements", [0], [1.0, 1.0]), ("replacements", [0], [math.nan])):
        with pytest.raises(InvalidInput, match=field):
            replaced_capped_values([0.5, 0.6], people, new, weight_cap=0.5, **PRICES)
    assert replaced_capped_values([0.5], [], np.zeros((0, 2)), weight_cap=1.0, **PRICES).values.shape == (0, 2)
