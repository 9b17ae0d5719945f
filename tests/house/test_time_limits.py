"""Time limits of tests: slow evidence has a wide one, and a test's own one counts."""

from __future__ import annotations

import pytest


def limit(request: pytest.FixtureRequest) -> float:
    """Seconds after which a test is stopped."""
    own = request.node.get_closest_marker("timeout")
    return float(own.args[0] if own else request.config.getini("timeout"))


def test_a_fast_test_has_the_usual_limit(request: pytest.FixtureRequest) -> None:
    assert limit(request) == 300


@pytest.mark.slow
def test_a_slow_test_has_a_wide_one(request: pytest.FixtureRequest) -> None:
    assert limit(request) == 1800


@pytest.mark.slow
@pytest.mark.timeout(77)
def test_its_own_limit_counts(request: pytest.FixtureRequest) -> None:
    assert limit(request) == 77
