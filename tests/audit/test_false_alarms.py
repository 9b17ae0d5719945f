"""The suite-wide false-alarm budget adds up, and nobody spends twice."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from false_alarms import SHARES, SUITE_ALPHA, alpha

TESTS = Path(__file__).parent.parent


def test_shares_fit_the_budget():
    assert all(share > 0 for share in SHARES.values())
    assert math.fsum(SHARES.values()) <= SUITE_ALPHA


def test_unregistered_name_is_refused():
    with pytest.raises(KeyError, match="has no share"):
        alpha("audit.nobody")
    with pytest.raises(ValueError, match="one case"):
        alpha(next(iter(SHARES)), cases=0)


def test_cases_split_the_share():
    name = next(iter(SHARES))
    assert 4 * alpha(name, cases=4) == SHARES[name]


def test_no_share_is_spent_twice():
    spent = Counter(
        name
        for path in TESTS.rglob("test_*.py")
        if path != Path(__file__)
        for name in re.findall(r"""\balpha\(\s*["']([^"']+)["']""", path.read_text())
    )
    assert not [name for name, count in spent.items() if count > 1]
    assert set(spent) <= set(SHARES)
