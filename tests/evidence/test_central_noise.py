"""What noise of the platform's own costs (Proposition 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.acquisition.optimum.problem import (
    problem7,
)
from confide.acquisition.optimum.solver import solve
from confide.contract import InvalidInput
from confide.evidence.fallah_2022.central_noise import with_central_noise, without_central_noise


@pytest.mark.parametrize(("power", "worse"), [(3, 0.0976), (12, 1.2e-5)])
def test_central_noise_costs(power: int, worse: float) -> None:
    """Proposition 1: forced central noise raises the optimum; lower local levels do the same for less."""
    psi, prices, central = np.array([0.3, 1.7]), {"variance_price": 1.0, "noise_price": 2.0}, math.exp(-power)
    optimum, forced = solve(psi, **prices).value, with_central_noise(psi, central, **prices)
    assert with_central_noise(psi, 0.0, **prices).value == pytest.approx(optimum, rel=1e-12)
    assert forced.value - optimum == pytest.approx(worse, rel=3e-2)
    lowered = without_central_noise(forced.weights, forced.epsilon_local, central)
    assert np.all(lowered < forced.epsilon_local)
    assert np.sum(forced.weights**2 / lowered) == pytest.approx(forced.spread, rel=1e-12)
    assert optimum - 1e-12 <= problem7(forced.weights, lowered, psi, **prices) < forced.value
    with pytest.raises(InvalidInput, match="at most 6"):
        with_central_noise(np.ones(7), 0.0, **prices)
    with pytest.raises(InvalidInput, match="0 or infinite"):
        with_central_noise([0.0], 0.0, **prices)
