"""What `for_budget` of a printed mechanism gives keeps to the budget, as that of every other mechanism does."""

from __future__ import annotations

from typing import Any

import pytest

from confide.evidence.wu_2017.private_matchings import PrintedPMatch
from confide.evidence.wu_2017.private_programs import PrintedDude
from confide.programs import UnitDemand
from contract.test_budgets import beyond


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("epsilon", [1e8, 123_456_789.1, 8.23e9])
def test_printed_matchings(epsilon: float, delta: float) -> None:
    made = PrintedPMatch.for_budget(people=2_000, goods=4, supply=900, epsilon=epsilon, delta=delta)
    assert beyond(made, epsilon, delta) == []


@pytest.mark.parametrize("epsilon", [0.1, 0.8, 0.9, 2.7, 6.83])
def test_printed_programs(epsilon: float) -> None:
    program: Any = UnitDemand(5_000, (2_500.0,))
    made = PrintedDude.for_budget(program=program, rounds=6, epsilon=epsilon, delta=1e-6)
    assert beyond(made, epsilon, 1e-6) == []
