"""The price of private information, beside the two users in closed form."""

from __future__ import annotations

import pytest

from confide.acquisition.comparisons import (
    expected_benchmarks,
)
from confide.acquisition.priors import UniformPrior
from confide.evidence.fallah_2022.two_users import TwoUsers


def prices(gamma: float) -> dict[str, float]:
    return {"variance_price": gamma / 12, "noise_price": gamma}


def test_the_price_of_private_information():
    """The draw agrees with the two-person case's quadratures."""
    exact = TwoUsers(**prices(400.0)).expected()
    found = expected_benchmarks(UniformPrior(), 2, **prices(400.0), draws=400, seed=5)
    for name, value in (("exact", exact.cost), ("full information", exact.full_information),
                        ("private information", exact.cost - exact.full_information)):
        assert found[name].cost == pytest.approx(value, abs=4 * found[name].standard_error), name
    assert found["exact"].payments == pytest.approx(exact.payments, abs=1.0)
    assert found["pooling"].cost == pytest.approx(exact.pooling, rel=1e-12)
    assert found["private information"].standard_error < found["exact"].standard_error  # common draws
    assert found == expected_benchmarks(UniformPrior(), 2, **prices(400.0), draws=400, seed=5)
