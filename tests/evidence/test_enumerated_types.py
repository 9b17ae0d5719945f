"""Interim payments by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from confide.evidence.wang_2016.data_market import enumerated_interim
from confide.market import (
    SignalModel,
    Strategy,
    ThresholdMarket,
    UniformLaw,
)

SMALL = ThresholdMarket(6, 0.7, 0.4, UniformLaw(0.0, 2.0), epsilon=1.0, participation=0.4)


def test_interim_matrices_by_enumeration() -> None:
    """Alone, in pairs and in company; absentees are not paid."""
    signal_model, others = SignalModel(0.55, 0.75), Strategy(np.array([[0.5, 0.1], [0.2, 0.6], [0.3, 0.3]]))
    rule = lambda reports: SMALL.pay_reports(np.array(reports))
    exact = enumerated_interim(rule, 0, [Strategy.randomised(1.0)] + [others] * 5, signal_model)
    assert SMALL.interim_matrix(others, signal_model) == pytest.approx(exact, abs=1e-12)
    groups = [(2, others), (3, Strategy.always("1"))]
    mixed = enumerated_interim(rule, 0, [others] * 3 + [Strategy.always("1")] * 3, signal_model)
    assert SMALL.interim_matrix(groups, signal_model) == pytest.approx(mixed, abs=1e-12)
