"""The printed row of a parity (spec query_release E3, acceptance 8, erratum 4)."""

from __future__ import annotations

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.evidence.wu_2017.query_release import printed_parity_row, row_defects
from confide.release.oracle import IntegerProgram, Terms
from confide.release.oracle.program import build, solve


def test_the_printed_row_forbids_three_ones() -> None:
    """Acceptance 8, erratum 4: the defect list is exactly {(3, 3)} as printed, and empty as corrected."""
    assert row_defects(literal=True) == [(3, 3)]
    assert row_defects(literal=False) == []
    assert row_defects(literal=False, sizes=tuple(range(12))) == []


def test_the_printed_row_loses_records() -> None:
    """Three ones are best here; the printed program cannot say so, the corrected one does."""
    terms = Terms(kind="parities", attributes=3, index=[[0, -1, -1], [1, -1, -1], [2, -1, -1], [0, 1, 2]],
                  bits=np.ones((4, 3), dtype=bool), weights=[-2, -2, -2, 1], constant=6)
    best = max(terms.value(np.array([k >> i & 1 for i in range(3)], dtype=bool)) for k in range(8))
    corrected = solve(build(terms, "printed"), start=None, time_limit=60.0)
    literal = solve(build(terms, "printed", row_of=printed_parity_row), start=None, time_limit=60.0)
    assert corrected.record is not None
    assert corrected.record.tolist() == [True, True, True]
    assert terms.value(corrected.record) == best == 6
    assert literal.optimal
    assert literal.record is not None
    assert terms.value(literal.record) < best


def test_the_oracle_does_not_take_it() -> None:
    with pytest.raises(InvalidInput, match=r"literal: .* see confide\.evidence\..*\.printed_parity_row"):
        IntegerProgram(form="printed", literal=True)
