"""One user's virtual cost replaced, for many at once, beside a solve of each profile (spec two_part_acquisition 9)."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.optimum import replacement
from confide.acquisition.optimum.replacement import replaced_values
from confide.acquisition.optimum.solver import solve, solve_grid
from confide.contract import InvalidInput


def profile(kind: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, float]]:
    """Some users, from the convex case to many with psi > 1, ties, zeros and absentees."""
    n = int(rng.integers(2, 16))
    psi = rng.uniform(0.0, (1.0, 2.0, 5.0, 30.0)[kind % 4], n)
    if kind % 3 == 1:
        psi = np.round(psi, 1)
    if kind % 5 == 2:
        psi[n // 2], psi[0] = np.inf, 0.7
    g = 0.0 if kind % 7 == 3 else 10.0 ** rng.uniform(-3.0, 2.0)
    return psi, {"variance_price": g, "noise_price": 10.0 ** rng.uniform(-2.0, 2.0)}


@pytest.mark.parametrize("few", [0, 10**9], ids=["shared values of r", "one by one"])
def test_like_solving_each_profile(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values to 1e-13 and differences to 1e-9, both ways, and the grid's; inf takes a user out."""
    monkeypatch.setattr(replacement, "FEW", few)
    rng = np.random.default_rng(3)
    for kind in range(20):
        psi, prices = profile(kind, rng)
        people = rng.integers(0, psi.size, 4)
        after = rng.uniform(0.0, 3.0, (4, 3))
        after[:, 0], after[0, 1], after[1:, 1] = 2.0, np.inf, rng.choice(psi[np.isfinite(psi)], 3)
        exact = replaced_values(psi, people, after, **prices)
        near = replaced_values(psi, people, after, **prices, approximation=0.05)
        unit = prices["noise_price"] ** 0.5
        for (row, column), cost in np.ndenumerate(after):
            changed = psi.copy()
            changed[people[row]] = cost
            if not np.isfinite(changed).any():
                assert exact.values[row, column] == near.values[row, column] == np.inf
                continue
            for found, one in ((exact, solve(changed, **prices)), (near, solve_grid(changed, 0.05, **prices))):
                assert found.values[row, column] == pytest.approx(one.value, rel=1e-13)
                assert found.differences[row, column] == pytest.approx(one.difference[people[row]], abs=1e-9 * unit)


def test_a_thousand_sellers() -> None:
    """Acceptance 10: 95 winners, the sum of their payments and the first one's, from value differences alone."""
    c = (np.arange(1000) + 0.5) / 1000
    prices = {"variance_price": 1e4 / 12, "noise_price": 1e4}
    base = solve(2 * c, **prices)
    won = base.winners
    values, differences = replaced_values(2 * c, won, np.full(won.size, 2.0), **prices)
    paid = base.epsilon_central[won] + c[won] * base.difference[won] + (values - base.value) / 2
    assert won.size == 95
    assert paid.sum() == pytest.approx(25.238914160636, rel=1e-10)
    assert paid[0] == pytest.approx(0.8834859, abs=1e-7)
    assert np.all(differences == 0.0)
    error = prices["variance_price"] / 1e4 * np.sum(base.weights**2) + base.spread
    assert error == pytest.approx(0.003810722789570802, rel=1e-7)


def test_cost_does_not_grow_with_the_winners(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many winners the number of values of r is bounded: sums over all are taken that often and no more."""
    monkeypatch.setattr(replacement, "FEW", 0)
    counts = []
    sums_at = replacement.sums_at
    for n in (500, 2000):
        seen: list[float] = []

        def counted(psi: np.ndarray, b: np.ndarray, g: float, r: float, seen: list[float] = seen) -> object:
            seen.append(r)
            return sums_at(psi, b, g, r)

        monkeypatch.setattr(replacement, "sums_at", counted)
        psi = np.linspace(0.5, 0.501, n)
        found = replaced_values(psi, np.arange(n), np.full((n, 1), 1.5), variance_price=1.0, noise_price=1.0)
        base = solve(psi, variance_price=1.0, noise_price=1.0)
        assert np.all(base.weights > 0)
        assert np.all(found.values[:, 0] >= base.value * (1 - 1e-14))
        counts.append(len(seen))
    assert counts[1] <= counts[0]


@pytest.mark.parametrize("few", [0, 10**9], ids=["shared values of r", "one by one"])
def test_nearly_tied_optima(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sharing and one user alone cost the same, the difference is that of the optimum that `solve` takes."""
    monkeypatch.setattr(replacement, "FEW", few)
    prices = {"variance_price": 1.0, "noise_price": 1.0}
    taken = set()
    for off in (-1e-12, -1e-15, 0.0, 1e-15, 1e-12):
        level = 2.125**2 * (1.0 + off)
        _, found = replaced_values([0.3, 1.0], [0], [[level]], **prices)
        one = solve([level, 1.0], **prices)
        assert found[0, 0] == pytest.approx(one.difference[0], rel=1e-12)
        taken.add(one.winners.size)
    assert taken == {1, 2}


def test_bad_input() -> None:
    prices = {"variance_price": 1.0, "noise_price": 1.0}
    for people, after, field in (([2], [[1.0]], "people"), ([-1], [[1.0]], "people"), ([0.5], [[1.0]], "people"),
                                 ([0], [[np.nan]], "replacements"), ([0], [[-1.0]], "replacements"),
                                 ([0], [[1.0], [2.0]], "replacements"), ([0], "x", "replacements")):
        with pytest.raises(InvalidInput) as raised:
            replaced_values([0.5, 1.0], people, after, **prices)
        assert raised.value.field == field
    assert replaced_values([0.5, 1.0], [], np.empty((0, 3)), **prices).values.shape == (0, 3)
