"""What two-part contracts are compared with; numbers of the specification, sections 11 and 12."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.comparisons import (
    benchmarks,
    central_only,
    expected_benchmarks,
    full_information,
    pooling,
    scaling_law,
)
from confide.acquisition.optimum.solver import solve
from confide.acquisition.priors import UniformPrior
from confide.contract import InvalidInput

SCALING = [  # gamma, people, V (VAR = 1/12, alpha = 2, c_i = (i - 1/2)/n), how far the law is from it
    (10.0, 10**3, 1.4950887429, 0.0054), (1e4, 10**3, 63.2434887993, 0.102), (10.0, 10**6, 0.2638895793, 0.0002),
    (1e4, 10**6, 8.9901068202, 0.0062),
]


def prices(gamma: float) -> dict[str, float]:
    return {"variance_price": gamma / 12, "noise_price": gamma}


@pytest.mark.parametrize(("gamma", "people", "value", "away"), SCALING)
def test_the_scaling_law(gamma, people, value, away):
    law = scaling_law(people, **prices(gamma))
    assert 0 < law.cost / value - 1 < away
    assert law.active == pytest.approx((3 * people) ** 0.5)


def test_designs_at_given_reports():
    reports = np.linspace(0.02, 0.98, 30)
    found = benchmarks(reports, 2 * reports, **prices(100.0), approximation=0.1)
    cost = {name: each.cost for name, each in found.items()}
    assert cost["central only"] < cost["full information"] < cost["exact"] <= cost["grid 0.1"] <= 1.1 * cost["exact"]
    assert cost["exact"] < cost["pooling"] == cost["local only"]
    for psi, name in ((1.0, "pooling"), (0.0, "central only")):
        optimum = solve(np.full(30, psi), **prices(100.0))
        assert found[name].cost == pytest.approx(optimum.value, rel=1e-12)
        assert found[name].active == 30
    for each in found.values():
        assert 0 < each.error_cost < each.cost
        assert each.payments == each.cost - each.error_cost
    assert full_information(reports, **prices(100.0)) == found["full information"]


@pytest.mark.parametrize(("call", "field"), [
    (lambda: pooling(0, **prices(10.0)), "people"),
    (lambda: central_only(3, variance_price=-1.0, noise_price=1.0), "variance_price"),
    (lambda: scaling_law(3, density_at_zero=0.0, **prices(10.0)), "density_at_zero"),
    (lambda: expected_benchmarks(UniformPrior(), 2, **prices(10.0), draws=1), "draws"),
    (lambda: expected_benchmarks([UniformPrior()] * 3, 2, **prices(10.0)), "prior"),
])
def test_bad_input_is_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
