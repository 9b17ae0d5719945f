"""Settings of the published runs."""

from __future__ import annotations

import pytest

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.query_release.stand_ins import FIGURE_1, rounds_of


def test_the_rounds_of_the_published_runs():
    """Spec query_release F; all of them are in the study queries-composition."""
    assert [rounds_of(run, 1.0) for run in FIGURE_1] == [16, 99, 57]
    assert [rounds_of(run, 1.0, "zcdp") for run in FIGURE_1] == [43, 279, 160]
    with pytest.raises(InvalidInput, match="run"):
        rounds_of("adult", 1.0)
