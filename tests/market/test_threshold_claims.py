"""Every published claim of chapter 4 about unknown valuations, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.evidence import Claim
from confide.market.threshold import evidence

from claims_tables import check, complete, rows

TABLE = rows("confide.market.threshold")
NUMBERS = {  # the figures that the table's words quote
    "threshold/theorem-7-equilibria": (3.545, 14.23, 5e-3),
    "threshold/theorem-7-proof": (float("inf"), 1.2715, 1e-4),
    "threshold/quality": (0.881, 0.946, 1e-3),
    "threshold/levels": (2.0, 5.04, 5e-3),
    "threshold/payment": (4.241, 3.545, 1e-3),
    "threshold/repetition": (1.0, 759.0, 0.5),
    "threshold/theorem-8": (0.05, 9.3e-11, 1e-12),
    "threshold/attendance": (123.74, 92.24, 5e-3),
    "threshold/figure-4.2": (0.99, 0.674, 5e-4),
    "threshold/cost-effective": (330.8, 4.00, 5e-3),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)


def test_the_spread_at_which_figure_4_2_holds() -> None:
    """Section 6: tripling N saves 99 % iff the standard deviation of ln C is above 4.1057, whatever its mean."""
    assert evidence._fall(4.1056) < 0.99 < evidence._fall(4.1058)
