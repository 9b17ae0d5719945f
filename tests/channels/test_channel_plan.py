"""The plan of a channel: what it names has the level and the error that it says, and nothing simple does better."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from confide.channels import Infeasible, RandomizedResponse, TopK, plan
from confide.contract import InvalidInput
from confide.privacy import Noise

PAIR = [0.45, 0.05, 0.05, 0.45]


def test_at_an_epsilon_it_changes_as_few_rows_as_the_best_of_all_tables_of_one_row() -> None:
    """Of one row over two letters, all tables that keep to the level are looked at, on a grid."""
    law, level = np.array([0.3, 0.7]), 0.8
    found = plan([0.3, 0.7], records=1, epsilon=level)
    grid = np.linspace(0.0, 1.0, 401)
    best = min(law[0] * a + law[1] * b for a, b in itertools.product(grid, grid)  # a: 0 becomes 1; b: 1 becomes 0
               if max(a, 1 - b) <= math.exp(level) * min(a, 1 - b) + 1e-12
               and max(b, 1 - a) <= math.exp(level) * min(b, 1 - a) + 1e-12)
    assert found.changed <= best + 1e-9
    assert found.changed == pytest.approx(best, abs=0.006)  # of the grid
    assert found.mechanism.dp() <= level


@pytest.mark.parametrize("notion", ["dp", "identifiability"])
@pytest.mark.parametrize(("prior", "sizes"), [([0.2, 0.3, 0.5], {"records": 2}), (PAIR, {"letters": 2, "records": 2})])
def test_error_and_epsilon_are_two_sides_of_one_plan(notion: Any, prior: list[float], sizes: dict[str, int]) -> None:
    there = plan(prior, error=0.4, notion=notion, **sizes)
    back = plan(prior, epsilon=there.level, notion=notion, **sizes)
    assert back.changed == pytest.approx(0.4, abs=1e-5)
    measured = there.mechanism.levels()
    assert getattr(measured, "dp" if notion == "dp" else notion) <= there.level + 1e-9
    assert measured.distortion == pytest.approx(0.4, abs=1e-5)


def test_the_baseline_needs_no_prior_and_is_never_better() -> None:
    for epsilon in (0.3, 0.6, 2.0):
        found = plan(PAIR, letters=2, records=2, epsilon=epsilon)
        if isinstance(found.mechanism, RandomizedResponse):
            assert found.alternatives == ()
            continue
        (other,) = found.alternatives
        assert other.name == "RandomizedResponse"
        assert other.predicted["changed rows"].value >= found.changed
        by_hand = 2 / (1 + math.exp(epsilon))  # two rows over two letters
        assert other.predicted["changed rows"].value == pytest.approx(by_hand, rel=1e-9)


def test_it_is_a_plan_like_every_other() -> None:
    found = plan([0.2, 0.3, 0.5], records=2, epsilon=1.0)
    assert isinstance(found.mechanism, TopK)
    assert list(found.predicted) == ["changed rows", "differential privacy"]
    assert found.to_pandas()["method"].tolist() == ["TopK", "RandomizedResponse"]
    assert found.guarantees.privacy[0].loss.epsilon <= 1.0
    assert json.loads(json.dumps(found.to_dict()))["changed_records"] == found.changed
    assert "<table>" in found._repr_html_()
    assert found.plot().spec
    assert found.mechanism.release([0, 2], Noise.simulated(1)).shape == (2,)
    assert found.warnings == ("a release with secure noise needs prior_provenance: 'public' or 'released privately'",)
    assert plan([0.2, 0.3, 0.5], records=2, epsilon=1.0, prior_provenance="public").warnings == ()


@pytest.mark.parametrize(("given", "said"), [
    ({}, "epsilon: neither epsilon nor error is given"),
    ({"epsilon": 1.0, "error": 0.5}, "epsilon: epsilon and error are given; give exactly one of epsilon and error"),
    ({"epsilon": -1.0}, "epsilon: -1.0 is out of range"),
    ({"error": 2.5}, "error: 2.5 is out of range"),
    ({"epsilon": 1.0, "notion": "mutual-information"}, "epsilon: does not apply to mutual information"),
    ({"epsilon": 1.0, "notion": "privacy"}, "notion: 'privacy'"),
])
def test_bad_input_names_the_field(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan([0.2, 0.3, 0.5], records=2, **given)
    assert str(caught.value).startswith(said)


def test_an_identifiability_below_the_priors_own_is_refused() -> None:
    with pytest.raises(Infeasible):
        plan(PAIR, letters=2, records=2, epsilon=0.1, notion="identifiability")
