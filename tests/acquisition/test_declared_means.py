"""Parameters of bought means are declared once: the constructor, the docstring and the campaign file say the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from confide.acquisition import (
    CappedCaps,
    Caps,
    EmpiricalPrior,
    LatticeContract,
    LatticeContracts,
    PaymentRule,
    PowerPrior,
    SmoothPrior,
    TwoPartMechanism,
    UniformPrior,
    WeightCap,
)
from confide.acquisition.targeting import PriceSetting
from confide.campaign.kinds.acquisition.plan import Belief, Price, Privacy, Record
from confide.contract import InvalidInput
from confide.contract.parameters import Declared, parameters

COST = UniformPrior().virtual_cost()
GOOD: dict[type[Any], dict[str, Any]] = {
    CappedCaps: {"people": 4, "variance_price": 1.0, "noise_price": 4.0, "psi_floor": 0.25, "weight_cap": 0.5},
    Caps: {"people": 4, "variance_price": 1.0, "noise_price": 4.0, "psi_floor": 0.25, "psi_most": 2.0},
    EmpiricalPrior: {"sample": (0.5,)},
    LatticeContract: {"steps": 10, "noise_std": 50, "epsilon_local": 4.0, "epsilon_central": 1.0, "order": 2.0},
    LatticeContracts: {"people": 2, "index": np.array([1]), "steps": np.array([10]), "noise_std": np.array([50]),
                       "epsilon_local": np.array([4.0]), "epsilon_central": np.array([1.0]), "order": 2.0,
                       "lattice": 16},
    PaymentRule: {"virtual_cost": COST, "variance_price": 1.0, "noise_price": 4.0},
    PowerPrior: {"exponent": 2.0},
    PriceSetting: {"prior": UniformPrior(), "people": 2, "variance": 0.1},
    SmoothPrior: {"distribution": lambda c: c * c, "density": lambda c: 2 * c},
    TwoPartMechanism: {"people": 4, "prior": UniformPrior(), "mse_price": 10.0},
    UniformPrior: {},
    WeightCap: {"weight_cap": 0.5, "outside": 1.0, "psi_floor": 0.5},
}


def outside() -> list[tuple[type[Any], str, object]]:
    """Each declared bound of each class, and a value on its wrong side."""
    found: list[tuple[type[Any], str, object]] = []
    for kind in GOOD:
        for name, (_, of, it) in parameters(kind).items():
            found += [(kind, name, value) for value in (
                it.above, None if it.at_least is None else it.at_least - 1, it.below,
                None if it.at_most is None else it.at_most + 1) if value is not None]
            found += [(kind, name, math.nan)] * (of is float)
    return found


@pytest.mark.parametrize(("kind", "name", "value"), outside())
def test_a_value_out_of_range_is_refused_by_its_field(kind: type[Any], name: str, value: object) -> None:
    kind(**GOOD[kind])
    with pytest.raises(InvalidInput) as caught:
        kind(**{**GOOD[kind], name: value})
    assert caught.value.field == name
    if not (isinstance(value, float) and math.isnan(value)):
        assert f"must be {parameters(kind)[name].parameter.range}" in str(caught.value)


def test_classes_list_their_parameters_in_their_docstrings() -> None:
    for kind in GOOD:
        assert issubclass(kind, Declared)
        for name in parameters(kind):
            assert f" {name}: " in str(kind.__doc__), (kind, name)


def test_a_campaign_file_has_the_ranges_of_the_classes() -> None:
    for table, key, kind, name in (
        (Belief, "low", UniformPrior, "low"), (Belief, "high", UniformPrior, "high"),
        (Belief, "exponent", PowerPrior, "exponent"), (Price, "error", TwoPartMechanism, "mse_price"),
        (Privacy, "largest_local_loss", TwoPartMechanism, "largest_local_loss"),
        (Privacy, "order", TwoPartMechanism, "order"), (Record, "variance", TwoPartMechanism, "variance"),
    ):
        it = parameters(kind)[name].parameter
        said = table.model_json_schema()["properties"][key]
        number = next((each for each in said.get("anyOf", ()) if each["type"] == "number"), said)
        assert (number.get("exclusiveMinimum"), number.get("minimum"), number.get("maximum")) == (
            it.above, it.at_least, it.at_most), key
        assert said["description"] == it.text, key
