"""Algorithm 1 as printed."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.optimum.solver import solve
from confide.contract import InvalidInput
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed


@pytest.mark.parametrize(("psi", "g", "optimum", "printed", "points"), [
    ([0.1, 1.0, 1.9], 0.1, 1.6724843703511214, 1.756937, 4001), ([2.0, 2.0], 0.001, 2.001, 2.500375, 4001),
    (np.linspace(0.1, 1.9, 10), 1.0, 1.6435325714659, -109.14, 0),
])
def test_as_printed(psi: list[float], g: float, optimum: float, printed: float, points: int) -> None:
    """Acceptance 3: the published algorithm's three failures, to 1e-4."""
    found = algorithm1_as_printed(psi, variance_price=g, noise_price=1.0)
    assert found.value == pytest.approx(printed, rel=1e-4)
    assert solve(psi, variance_price=g, noise_price=1.0).value == pytest.approx(optimum, abs=1e-10)
    assert found.feasible_points == points
    assert found.feasible == (found.negative_weights == 0) == (points > 0)


def test_as_printed_refuses_zero() -> None:
    with pytest.raises(InvalidInput, match="0 or infinite"):
        algorithm1_as_printed([0.0, 1.0], variance_price=1.0, noise_price=1.0)
