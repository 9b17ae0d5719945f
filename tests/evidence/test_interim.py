"""Payments by the source's formula: a mean over what the others report (spec two_part_acquisition 4)."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.payments import PaymentRule
from confide.acquisition.priors import UniformPrior
from confide.contract.errors import InvalidInput
from confide.evidence.fallah_2022.interim import interim_payments


def test_interim_payments() -> None:
    """The mean of the ex-post payments: by quadrature, by random points and by shifted ones."""
    rule = PaymentRule(UniformPrior().virtual_cost(), 400.0 / 12, 400.0)  # VAR = 1/12, alpha = 2
    x, w = np.polynomial.legendre.leggauss(24)
    others, weight = ((1 + x) / 2) ** 4, 2 * ((1 + x) / 2) ** 3 * w
    exact = [sum(part * rule(np.array([z, c]), 1).payment for z, part in zip(others, weight, strict=True))
             for c in (0.2, 0.7)]
    for method, draws, most in (("mc", 100, 1.0), ("qmc", 64, 0.3)):
        found = interim_payments(rule, UniformPrior(), 2, [0.2, 0.7], person=1, draws=draws, seed=3, method=method)
        assert np.all(found.standard_errors < most)
        assert np.all(np.abs(found.payments - exact) < 3.5 * found.standard_errors)
        assert found.epsilon_local[0] > found.epsilon_local[1] > found.epsilon_central[1]
    with pytest.raises(InvalidInput, match="draws: are 65; must be a multiple of 16"):
        interim_payments(rule, UniformPrior(), 2, [0.2], draws=65)
    with pytest.raises(InvalidInput, match="people: are 3, with 2 priors"):
        interim_payments(rule, [UniformPrior()] * 2, 3, [0.2])
