"""Every published claim of chapter 3 about buying bits, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.evidence import Claim

from claims_tables import check, complete, rows

TABLE = rows("confide.market")
NUMBERS = {  # the figures that the table's words quote
    "market/not-attained": (0.0, 0.0679, 1e-4),
    "market/theorem-4-equilibria": (8.854, 20.39, 5e-3),
    "market/theorem-4-rate": (0.0, -0.5, 1e-3),
    "market/theorem-4-premise": (2.0, 62.0, 0.0),
    "market/lemma-4-limit": (0.0, 0.6**3 / 48, 1e-6),
    "market/figure-3.2": (212.806, 229.382, 1e-3),
    "market/error-intractable": (445.17, 251.80, 5e-3),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
