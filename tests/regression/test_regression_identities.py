"""How far records that are made up alike move a regression: against least squares on drawn people."""

from __future__ import annotations

import numpy as np
import pytest

from campaign.forging import words
from confide.contract import InvalidInput
from confide.regression.bounds import fewest_moving, moved_by
from people.all_kinds import campaign_of


@pytest.mark.parametrize("size", [1, 20, 200])
def test_closed_sums_are_least_squares(size: int) -> None:
    draw, n, d = np.random.default_rng(3), 4_000, 3
    spread = np.diag([1.0, 0.5, 0.2])
    X = draw.normal(size=(n - size, d)) @ spread
    theta, x = np.array([0.5, -1.0, 2.0]), np.array([0.5, 0.4, -0.3])
    y = X @ theta + draw.normal(size=n - size)
    honest = np.linalg.lstsq(X, y, rcond=None)[0]
    residual = 7.0
    liars = np.repeat(x[None], size, axis=0)
    moved = np.linalg.lstsq(np.vstack([X, liars]), np.append(y, liars @ honest + residual), rcond=None)[0]
    moments = X.T @ X / (n - size)  # of these very people: the sum is exact
    shift = moved - honest
    leverage = float(x @ np.linalg.solve(moments, x))
    assert moved_by(size, n, residual, leverage) == pytest.approx(float(np.sqrt(shift @ moments @ shift)), rel=1e-8)
    # a ridge only shrinks it
    ridged = np.linalg.solve(X.T @ X + size * np.outer(x, x) + 50 * np.eye(d), X.T @ y + size * x * (
        x @ honest + residual)) - np.linalg.solve(X.T @ X + 50 * np.eye(d), X.T @ y)
    assert float(np.sqrt(ridged @ moments @ ridged)) < moved_by(size, n, residual, leverage)


def test_the_fewest_that_move_it() -> None:
    many = fewest_moving(0.25, 5_000, 10.0, 4.0)
    assert many is not None
    assert moved_by(many, 5_000, 10.0, 4.0) >= 0.25 > moved_by(many - 1, 5_000, 10.0, 4.0)
    assert fewest_moving(100.0, 50, 1.0, 2.0) is None
    with pytest.raises(InvalidInput, match="size"):
        moved_by(51, 50, 1.0, 2.0)


def test_the_plan_says_it() -> None:
    said = words(campaign_of("regression").plan.sections())
    assert "A person with 2 ids gains 0.54 USD more than with one" in said
    assert "number of equal ids that can move predictions by their typical error" in said
    assert "payment of a second id with a copy of the record, on average" in said
