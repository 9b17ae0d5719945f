"""Settings of searches: ranges that are declared once, for a search, its calls and its statistics."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.contract.digests import canonical
from confide.contract.encoding import encode
from confide.contract.parameters import parameters
from confide.search import ComponentSearch, LargestFlow, Paths, PTarget, Triangles, Walks

ONE: dict[str, Any] = {"people": 10, "stopping_target": 3, "epsilon": 1.0, "degree_bound": 4}
ALL: dict[str, Any] = {**ONE, "components": 3}

WRONG: list[tuple[Callable[..., Any], dict[str, Any], str, Any]] = [
    (PTarget, ALL, "people", 0), (PTarget, ALL, "components", 0), (PTarget, ALL, "stopping_target", -1),
    (PTarget, ALL, "epsilon", 1.1e12), (PTarget, ALL, "degree_bound", 0), (PTarget, ALL, "stop", "late"),
    (PTarget, ALL, "statistic", "paths"), (PTarget, ALL, "noise_kind", "gaussian"), (PTarget, ALL, "delta", 1.0),
    (PTarget, {**ALL, "stop": "public", "public_threshold": 2.0}, "public_threshold", np.inf),
    (PTarget, ALL, "largest_threshold", -1), (ComponentSearch, ONE, "epsilon", 0.0),
    (ComponentSearch, ONE, "degree_bound", 2.5), (Paths, {"length": 3}, "length", 7),
    (Walks, {"length": 3}, "length", 1),
    (LargestFlow, {"length": 3}, "length", "3"), (Triangles, {"ends": 2}, "ends", 3),
]


@pytest.mark.parametrize(("kind", "right", "name", "wrong"), WRONG)
def test_a_value_out_of_range_is_named(kind: Callable[..., Any], right: dict[str, Any], name: str, wrong: Any) -> None:
    kind(**right)
    with pytest.raises(InvalidInput) as caught:
        kind(**{**right, name: wrong})
    assert caught.value.field == name
    assert f"    {name}: " in (inspect.getdoc(kind) or "")


def test_a_search_and_its_calls_have_the_same_settings() -> None:
    whole, call = parameters(PTarget), parameters(ComponentSearch)
    for name in call.keys() - {"epsilon"}:
        assert call[name] == whole[name]
    assert call["epsilon"].parameter.range == whole["epsilon"].parameter.range
    assert "`PTarget.for_budget`" in (inspect.getdoc(ComponentSearch) or "")


def test_numbers_are_kept_as_pythons_own() -> None:
    """What is written of a search does not depend on the kind of number that it was made of."""
    given = PTarget(np.int64(10), np.int64(3), 3, np.float64(1), 4, delta=np.float64(0))  # type: ignore[arg-type]
    assert given == PTarget(**ALL)
    assert canonical(encode(given, {})) == canonical(encode(PTarget(**ALL), {}))
