"""Every published claim about truthful regression, and what its evidence says today."""

from __future__ import annotations

import math

import pytest

from confide.evidence import Claim

from claims_tables import cases, check, complete, rows

TABLE = rows("confide.regression")
NUMBERS = {  # the figures that the table's words quote
    "regression/lemma-6": (6.0, 32.04, 0.01),
    "regression/theorem-2": (1.0, 5.34, 0.01),
    "regression/lemma-6-range": (math.inf, 8.378, 1e-3),
    "regression/lemma-9": (2.0, 110.0, 0.01),
    "regression/lemma-10": (4e-9, 4.7e-4, 1e-5),
    "regression/lemma-3": (4472.14, 4.519, 0.01),
    "regression/lemma-2": (1.25e-4, 1e-3, 1e-5),
    "regression/remark-172": (0.0, -1.0, 1e-12),
    "regression/lemma-4-positive": (0.0, -1.0, 1e-12),
    "regression/group-size": (0.122, 0.201, 1e-3),
    "regression/payments-nonnegative": (0.0, -1.65, 0.01),
    "regression/corollary-1-incentives": (65.4, 12.3, 0.05),
    "regression/corollary-1-noise": (1.0, 62.8, 0.05),
    "regression/corollary-1-rate": (-0.3, -0.15, 0.02),
    "regression/corollary-1-budget": (-0.2, -0.2, 0.02),
    "regression/corollary-1-privacy": (1.0, 1.15, 0.005),
    "regression/corollary-1-beta": (1e-3, 1e3, 1e-6),
    "regression/theorem-3-cost": (1.0, 4.0, 1e-9),
    "regression/theorem-3-probability": (-9.0, 1.0, 1e-12),
    "regression/lemma-8": (6.0, 32.04, 0.01),
    "regression/assumption-1": (1.0, 25.0, 1e-9),
    "regression/lemma-13": (0.0, 1.293, 5e-4),
    "regression/bound-on-theta": (0.25, 0.488, 5e-4),
    "regression/equation-6": (1.0, 0.5, 0.005),
}


@pytest.mark.parametrize("row", cases(TABLE, "regression/theorem-2", "regression/theorem-5", "regression/theorem-6"))
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
