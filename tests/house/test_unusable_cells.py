"""One person's cell that is no number, such as a complex number or a list, is null for that person and nobody else."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from confide.acquisition import TwoPartMechanism, UniformPrior
from confide.allocation import PMatch
from confide.allocation.valuations import Valuations
from confide.contract import InvalidInput
from confide.privacy import Noise
from confide.programs import PrivDude, UnitDemand
from confide.regression import BernoulliPeers, BetaPrior
from confide.tables._cells import real

ODD: list[Any] = [1j, [0.5], [1], (0.5, 0.5), "x", "0.5", b"1", object(), {}, np.array([0.5, 0.5]), np.complex128(1),
                  np.timedelta64(1)]


class Lying(float):
    """A number that cannot be read."""

    def __float__(self) -> float:
        raise RuntimeError


def test_a_cell_is_read_alone() -> None:
    for odd in (*ODD, None, Lying(0.5)):
        assert np.isnan(real(odd))
    for cell, number in ((1, 1.0), (0.5, 0.5), (True, 1.0), (np.float32(4.3), 4.3), (np.int8(3), 3.0), (np.True_, 1.0),
                         (Fraction(1, 4), 0.25), (Decimal("0.1"), 0.1), (10**400, np.inf)):
        assert real(cell) == number


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_an_odd_report_of_a_concern_is_none(odd: Any) -> None:
    it = TwoPartMechanism(people=4, prior=UniformPrior(), mse_price=200.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = it.contracts([0.1, odd, 0.3, 0.4])
    expected = it.contracts([0.1, np.nan, 0.3, 0.4])
    assert found.payments.tolist() == expected.payments.tolist()
    assert found.terms.index.tolist() == expected.terms.index.tolist()


@pytest.mark.parametrize("reports", [["x"] * 4, [1j] * 4, np.array([0.1, 1j, 0.3, 0.4]), np.array(["0.1"] * 4), 3])
def test_what_holds_no_number_at_all_is_refused(reports: Any) -> None:
    it = TwoPartMechanism(people=4, prior=UniformPrior(), mse_price=200.0)
    with pytest.raises(InvalidInput, match="reports: "):
        it.contracts(reports)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_an_odd_row_of_valuations_is_null_in_a_release_and_named_in_a_study(odd: Any) -> None:
    rows = [[0.25, 0.5], [0.25, odd], [0.75, 0.5]]
    read = Valuations.of(rows, people=3, goods=2, unusable="null")
    assert [read.row(k).tolist() for k in range(3)] == [[0.25, 0.5], [0.0, 0.0], [0.75, 0.5]]
    with pytest.raises(InvalidInput, match="values: row 1 holds a value that is not a number"):
        Valuations.of(rows, people=3, goods=2)
    it = PMatch.for_budget(epsilon=50.0, delta=1e-3, people=3, goods=2, supply=3)
    assert it.run(rows, Noise.secure()).shares["good"].to_pylist()[1] == -1


def test_rows_of_other_lengths_and_none_are_null() -> None:
    for row, refused in (([0.5], True), ([0.5, 0.5, 0.5], True), (0.5, True), ("ab", True), ([], True), (None, False)):
        rows: list[Any] = [[0.25, 0.5], row, [0.75, 0.5]]
        assert Valuations.of(rows, people=3, goods=2, unusable="null").row(1).tolist() == [0.0, 0.0]
        if refused:
            with pytest.raises(InvalidInput, match="row 1"):
                Valuations.of(rows, people=3, goods=2)
        else:
            assert Valuations.of(rows, people=3, goods=2).row(0).tolist() == [0.25, 0.5]
    for table in ([0.5, 0.5], np.array([[0.5, 1j]]), np.array([["a", "b"]]), [], 3):
        with pytest.raises(InvalidInput, match="values: "):
            Valuations.of(table, people=1, goods=2, unusable="null")
    with pytest.raises(InvalidInput, match="values: "):
        Valuations.whole([[0.5], [0.5, 0.5]])


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_an_odd_row_of_a_program_and_an_odd_bit_are_null(odd: Any) -> None:
    it = PrivDude(UnitDemand(3, 5.0, goods=2), 5.0, 1e-2, 12, 6)
    found = it.run([[0.25, 0.5], [0.25, odd], [0.75, 0.5]], Noise.secure())
    assert found.shares.slice(1, 1).to_pylist()[0] == it.decode(None, 1, found.billboard)
    peers = BernoulliPeers(people=4, prior=BetaPrior(1.0, 1.0))
    outcome = peers.run([1, 0, odd, 1], Noise.simulated(1))
    assert (outcome.billboard.bits, outcome.billboard.ones) == (3, 2)
    assert outcome.shares["payment"].to_pylist()[2] == 0
