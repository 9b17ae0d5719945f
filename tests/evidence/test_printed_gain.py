"""The printed bound on what a lie gains."""

from __future__ import annotations

import math
from itertools import product

import pytest

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.private_programs.printed_bounds import printed_gain
from confide.programs import UnitDemand
from confide.programs.dual_dynamics import squared_budget
from confide.programs.grids import PRICE_UNIT
from confide.programs.incentives import relative_gain


def test_the_printed_bound_follows_from_ours_and_its_proof_does_not_stand() -> None:
    """Spec convex_programs 7.14: e^epsilon alpha + delta V is never more than what is printed."""
    for epsilon, delta, alpha, rows in product((1e-3, 0.1, 1.0, 3.0), (1e-9, 1e-6, 1e-2), (0.0, 0.01, 0.5), (1, 10)):
        printed = printed_gain(epsilon, delta, alpha, most_value=1.0, largest_sum=1.0, tau=1.0, rows=rows)
        squared = squared_budget("gaussian", epsilon, delta)
        with_v = relative_gain("gaussian", squared, 0.0, 1.0, epsilon).added + alpha * math.exp(epsilon)
        assert printed.factor == math.exp(epsilon)
        assert with_v <= printed.added * (1 + 1e-6)
    # The proof takes tau sqrt(k) C1 = 1 for the highest price of one row; the box ends at 2.
    assert UnitDemand(10, (3.0,)).highest_prices[0] == 2 * PRICE_UNIT
    with pytest.raises(InvalidInput):
        printed_gain(1.0, 1e-6, 0.1, most_value=1.0, largest_sum=1.0, tau=0.0, rows=1)
