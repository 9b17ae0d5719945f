"""Every published claim of chapter 5 about general priors, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.evidence import Claim

from claims_tables import check, complete, rows

TABLE = rows("confide.market.pairs")
NUMBERS = {  # the figures that the table's words quote
    "pairs/theorem-9-equilibria": (35.28, 75.15, 5e-3),
    "pairs/covariates": (0.0, 5.0, 0.0),
    "pairs/theorem-10": (0.05, 1.34e-5, 1e-7),
    "pairs/theorem-10-floor": (0.694, 0.0447, 1e-4),
    "pairs/higher-quality": (0.0934, 0.1, 5e-5),
    "pairs/proposition-1": (3.718, 6.396, 5e-4),
    "pairs/expected-payment": (35.674, 35.276, 5e-4),
    "pairs/expected-payment-negative": (67.82, 61.15, 5e-3),
    "pairs/asymptotic-optimality": (1.0, 3.5, 1e-6),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
