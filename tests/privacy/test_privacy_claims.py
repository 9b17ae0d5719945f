"""Every published claim about privacy and composition, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.evidence import Claim
from confide.privacy import evidence

from claims_tables import check, complete, rows

TABLE = rows("confide.privacy")
NUMBERS = {  # the figures that the table's words quote: claimed, found, tolerance of the latter
    "privacy/theorem-2.2.2": (0.03, 0.0298, 1e-4),
    "privacy/theorem-2.2.4": (6.308, 4.775, 5e-4),
    "privacy/corollary-2.2.5": (0.999, 0.999947, 1e-6),
    "privacy/theorem-2.3.2": (1e-5, 4.1e-8, 1e-9),
    "privacy/theorem-2.3.2-beyond": (0.01, 0.0406, 5e-5),  # spec query_release A3
    "privacy/theorem-2.3.3": (1.0, 1.0, 1e-6),
    "privacy/theorem-2.3.3-zcdp": (4.0, 0.9999, 1e-4),
    "privacy/footnote-4": (1.4142, 1.389, 5e-4),  # spec query_release, erratum 13
    "privacy/lemma-2.3.4-privacy": (1.0, 1.0, 1e-3),
    "privacy/lemma-2.3.4-accuracy": (84.77, 37.72, 0.01),
    "privacy/theorem-4.2.4-privacy": (1.0, 4 / 3, 1e-12),
    "privacy/theorem-4.2.4-accuracy": (3298.3, 156.0, 0.5),
    "privacy/theorem-4.2.4-size": (193_000.0, 849.0, 10.0),
    "privacy/algorithm-7-monotone": (0.0, -80.0, 0.5),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
    assert set(NUMBERS) == {row.id for row in TABLE}


def test_figures_that_are_quoted_beside_the_verdict() -> None:
    # spec query_release A3 and erratum 13
    assert evidence._classic(20.0, 1e-5) == pytest.approx(1.5e-3, abs=5e-5)
    largest, draws = 2 * 2.0 * 15 / 30_162, 15 * 1000
    assert evidence.theorem(largest, draws, 1e-3) == pytest.approx(0.965, abs=5e-4)
    assert evidence.theorem(largest, draws, 1e-6) == pytest.approx(1.340, abs=5e-4)
