"""No module of confide imports another one that needs it: not at import, nor in a function, nor for its types."""

from __future__ import annotations

import pytest

from house.imports import circles, imports

ALLOWED = tuple(tuple(f"confide.{name}" for name in circle.split()) for circle in (
    "release.counting release.engine release.queries release.reading release.records release.schema release.sets "
    "release.workload",
    "contract.kinds contract.mechanism contract.outcome contract.outcome_folder",
    "privacy.noise.base privacy.noise.given_noise privacy.noise.replayed privacy.noise.secure "
    "privacy.noise.simulated",
    "regression.guarantees regression.planner regression.private_truthful_regression",
    "allocation.guarantees allocation.pmatch",
    "market.threshold.threshold_market market.threshold.type_equilibrium",
    "_lazy contract.renamed",
    "acquisition.guarantees acquisition.mechanism",
    "allocation.tables allocation.valuations",
    "privacy.running_counter privacy.tree_counter",
    "release.dual_query release.guarantees",
))
"""Circles that are left. The list may only shrink."""


@pytest.fixture(scope="module")
def found() -> list[tuple[str, ...]]:
    return circles(imports())


def test_no_circle_is_new(found: list[tuple[str, ...]]) -> None:
    new = [circle for circle in found if not any(set(circle) <= set(known) for known in ALLOWED)]
    assert new == [], "\n".join(" <-> ".join(circle) for circle in new)


def test_the_list_names_no_circle_that_is_gone(found: list[tuple[str, ...]]) -> None:
    assert [known for known in ALLOWED if known not in found] == []


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"g"}, "g": {"f", "a"}}
    assert circles(graph) == [("a", "b", "c"), ("f", "g")]


def test_imports_of_all_sorts_are_seen() -> None:
    graph = imports()
    assert "confide.campaign.file" in graph["confide.campaign.campaign"]  # at import
    assert "confide.campaign.planning" in graph["confide.campaign.campaign"]  # in a function
    assert "confide.campaign.store.store" in graph["confide.campaign.campaign"]  # by the name that a package exports
    assert graph["confide.campaign"] == set()  # which itself imports nothing
