"""The printed numbers of an auction of bundles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.private_matchings.printed_bundles import PrintedBundles


def test_printed_numbers() -> None:
    """A run with (alpha/3, alpha/3) has the theorem's E'; the printed proof omits a half and a level."""
    printed = PrintedBundles(people=10**6, goods=100, supply=10**5, increment=0.1, unsatisfied=0.1, epsilon=1.0,
                             failure_probability=0.05)
    third = replace(printed, increment=0.1 / 3, unsatisfied=0.1 / 3)
    assert (printed.rounds, third.rounds) == (1000, 9000)
    assert third.error == pytest.approx(printed.theorem_error, rel=1e-12)
    assert third.reserve == 2 * third.error + 1
    assert third.halt_below == pytest.approx(10**7 / 30 - 2 * third.error)
    assert not printed.possible
    assert printed.theorem_supply == pytest.approx(10 * (12 * third.error + 3))
    assert printed.loss == pytest.approx(1.5 * 30 / np.log2(10**9))
    assert printed.loss > 1.5
    assert printed.theorem_loss == pytest.approx(10**6)
    for name in ("people", "increment", "unsatisfied", "epsilon", "failure_probability"):
        with pytest.raises(InvalidInput, match=name):
            replace(printed, **{name: 0})
