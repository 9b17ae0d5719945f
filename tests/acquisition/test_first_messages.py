"""What somebody reads who plans a mean for the first time and leaves out or mistakes something."""

from __future__ import annotations

from typing import Any

import pytest

from confide.acquisition import TwoPartMechanism, UniformPrior, plan
from confide.contract import InvalidInput

DESIGN = TwoPartMechanism(people=20, prior=UniformPrior(), mse_price=1.0)


@pytest.mark.parametrize(("design", "said"), [
    (3, "design: int is not a mechanism; must be a TwoPartMechanism with"),
    (None, "design: NoneType is not a mechanism"),
    (TwoPartMechanism, "design: the class TwoPartMechanism is not a mechanism"),
])
def test_a_design_that_is_none(design: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        plan(design, budget=1.0)


@pytest.mark.parametrize(("given", "said"), [
    ({}, r"budget: neither budget nor error is given; give one of budget \(.* and error \("),
    ({"budget": 1.0, "error": 0.1}, "budget: budget and error are given; give exactly one"),
    ({"budget": "much"}, "budget: 'much' is not a number"), ({"budget": 0}, "budget: 0 is out of range"),
    ({"error": -1.0}, "error: -1.0 is out of range"),
])
def test_a_budget_or_an_error(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        plan(DESIGN, **given, draws=2)


@pytest.mark.parametrize(("prior", "said"), [
    (None, "prior: is missing; must be a ConcernPrior, such as .*UniformPrior"),
    (UniformPrior, r"prior: is the class UniformPrior; must be an object of this class, UniformPrior\(\.\.\.\)"),
    ("uniform", "prior: is of type str, not ConcernPrior; .*such as .*UniformPrior"),
    (3, "prior: is of type int, not ConcernPrior"),
])
def test_a_prior_that_is_none(prior: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        TwoPartMechanism(people=20, prior=prior, mse_price=1.0)
