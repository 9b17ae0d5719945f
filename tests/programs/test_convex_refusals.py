"""What `convex_program` refuses, and what it says."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import pytest

from confide.contract.errors import InvalidInput
from confide.programs import convex_program


def parts(**changes: Any) -> dict[str, Any]:
    x, worth = cp.Variable(2, nonneg=True, name="x"), cp.Parameter(2, name="w")
    free, loose = cp.Variable(2, name="free"), cp.Parameter(2, name="loose")
    scope = {"cp": cp, "x": x, "worth": worth, "free": free, "loose": loose, "weight": cp.Parameter(nonneg=True)}
    usual = {"people": "10", "supply": "1.0", "value": "worth @ x", "coupling": "x", "constraints": "[cp.sum(x) <= 1]",
             "record": "{'worth': (worth, 0, 1)}", "tau": "1.0"}
    return {name: eval(text, scope) for name, text in {**usual, **changes}.items()}


@pytest.mark.parametrize(("changes", "says"), [
    ({"tau": "None"}, "without a dual bound no promise is possible"),
    ({"tau": "0.0"}, "tau"),
    ({"tau": "(1.0, 1.0, 1.0)"}, "tau"),
    ({"supply": "(1.0,)"}, "supply"),
    ({"people": "0"}, "people"),
    ({"accuracy": "0.0"}, "accuracy"),
    ({"value": "1.0"}, "not a cvxpy expression"),
    ({"value": "x"}, "must be one number"),
    ({"value": "cp.sum_squares(x)"}, "not concave"),
    ({"value": "worth @ x - cp.exp(x[0])"}, "linear and quadratic"),
    ({"value": "worth @ x - cp.norm(x, 2)"}, "linear and quadratic"),
    ({"value": "worth @ x - cp.sum_largest(cp.hstack([x, 1]), 2)"}, "sum_largest"),
    ({"value": "worth[0] * cp.sqrt(x[0])"}, "make the Parameter of worth with nonneg=True"),
    ({"value": "worth[0] * worth[1] * x[0]"}, "affine in its parameters"),
    ({"value": "worth @ x - weight * cp.sum_squares(x)", "record": "{'worth': (worth, 0, 1), 'h': (weight, 0, 1)}"},
     "depends on the record"),
    ({"coupling": "cp.sqrt(x)"}, "coupling: is not convex"),
    ({"coupling": "cp.multiply(loose, x)"}, "no range for loose"),
    ({"coupling": "worth"}, "has no variable"),
    ({"coupling": "0 * x"}, "zero for every record"),
    ({"constraints": "[cp.square(x) >= 1]"}, "number 0"),
    ({"constraints": "[True]"}, "number 0"),
    ({"constraints": "cp.sum(x) <= 1"}, "is not a list"),
    ({"constraints": "[x[0] <= 1]"}, r"x\[1\] without a bound"),
    ({"constraints": "[cp.sum(x) <= 1]", "value": "worth @ x + free[0]"}, r"free\[0\] without a bound"),
    ({"constraints": "[cp.sum(x) <= -1]"}, "leave no feasible point for any record"),
    ({"constraints": "[cp.sum(x) <= 3000]"}, "larger units"),
    ({"constraints": "[x <= 1, cp.Variable(name='x') == x[0]]"}, "two variables x"),
    ({"constraints": "[x <= 1, cp.Variable(boolean=True) <= x[0]]"}, "boolean"),
    ({"record": "{}"}, "declares no field"),
    ({"record": "{'worth': worth}"}, "Parameter, least, largest"),
    ({"record": "{'worth': (x, 0, 1)}"}, "Parameter, least, largest"),
    ({"record": "{'worth': (worth, 1, 0)}"}, "is empty"),
    ({"record": "{'worth': (worth, 0, float('inf'))}"}, "record: worth"),
    ({"record": "{'worth': (worth, 'a', 1)}"}, "not consist of numbers"),
    ({"record": "{'worth': (worth, [0, 0, 0], 1)}"}, "not consist of numbers"),
    ({"record": "{'worth': (worth, 0, 1), 'again': (worth, 0, 1)}"}, "twice"),
    ({"record": "{'worth': (worth, 0, 1), 'h': (weight, -1, 1)}"}, "sign"),
])
def test_refused(changes: dict[str, str], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        convex_program(**parts(**changes))


def test_the_model_keeps_its_values() -> None:
    given = parts()
    worth = given["record"]["worth"][0]
    worth.value = [0.25, 0.75]
    convex_program(**given)
    assert worth.value.tolist() == [0.25, 0.75]


def test_contributions_beyond_64_bits_are_refused() -> None:
    x, worth = cp.Variable(1, nonneg=True), cp.Parameter(1)
    for factor in (2e3, 1e4):
        with pytest.raises(InvalidInput, match="larger units"):
            convex_program(200, (4e8,), value=worth @ x, coupling=factor * x, constraints=[x <= 1000],
                           record={"worth": (worth, 0, 1)}, tau=1e-6)
