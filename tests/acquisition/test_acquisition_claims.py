"""Every published claim about two-part contracts, and what its evidence says today."""

from __future__ import annotations

import pytest

from confide.evidence import Claim

from claims_tables import cases, check, complete, rows

TABLE = rows("confide.acquisition")
NUMBERS = {  # the figures that the table's words quote
    "acquisition/two-losses": (0.7072, 0.7072155, 1e-7),
    "acquisition/fellows": (0.7072, 1.2130741203, 1e-9),
    "acquisition/range": (1.0, 4.0, 1e-12),
    "acquisition/theorem-1-lower": (0.0727470883586658, 0.08, 0.01),
    "acquisition/theorem-1-optimal": (0.25, 10.025, 1e-9),
    "acquisition/definition-4": (1.0, 2.0, 0.0),
    "acquisition/ironing": (0.0, 0.33, 5e-3),
    "acquisition/theorem-2": (8.27461076609753, 8.27461076609753, 1e-9),
    "acquisition/theorem-2-participation": (0.0, -1.1345, 1e-4),
    "acquisition/psi-above-1": (0.0, 0.17245370, 1e-8),
    "acquisition/proposition-1": (0.0, 0.0976, 5e-5),
    "acquisition/algorithm-1": (1.6724843703511214, 1.756937, 1e-4),
    "acquisition/algorithm-1-signs": (1.6435325714659, -109.14, 1e-2),
    "acquisition/gap": (0.0, 0.0706, 1e-4),
    "acquisition/private-type": (0.35, 0.35, 1e-12),
    "acquisition/independence": (0.0, -0.02336, 1e-5),
    "acquisition/verifiable": (0.0, 0.198, 5e-4),
    "acquisition/leaving": (0.0, 0.1465, 5e-5),
}


@pytest.mark.parametrize("row", cases(TABLE, "acquisition/two-losses"))
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
    assert set(NUMBERS) <= {row.id for row in TABLE}
    told = " ".join(row.ours for row in TABLE)
    assert all(f"(erratum {k})" in told for k in range(1, 10))
