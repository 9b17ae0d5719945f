"""What a file or an array says is read as it was written: goods that are numbers, and floats of 32 bits at a bound."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pyarrow as pa
import pytest

from confide.contract import InvalidInput
from confide.programs import convex_program
from confide.programs.reading import Bids, Choice, Number, Points


def test_a_name_that_is_a_whole_number_may_have_a_point():
    found, wrong = Choice(name="node", names=("10", "2", "x")).cells(pa.array(["2.0", "10", "10.0", "x", "x.0", "3.0"]))
    assert found.tolist() == [1, 0, 0, 2, -1, -1]
    assert wrong.tolist() == [0, 0, 0, 0, 4, 4]
    bids = Bids(goods=("1", "2", "3"), size=2, most=2, value=Number.of_values("value", Points(highest=4)))
    assert [bids.parsed(text) for text in ("1.0", "3.0+2", "1+1.0", "4.0", "")] == [(0,), (1, 2), None, None, None]


def test_a_record_of_32_bits_may_lie_at_the_bound():
    use, worth = cp.Variable(nonneg=True), cp.Parameter(nonneg=True)
    program = convex_program(3, (2.0,), value=worth * use, coupling=cp.hstack([use]), constraints=[use <= 1],
                             record={"worth": (worth, 0.0, 4.3)}, tau=4.3)
    assert float(np.float32(4.3)) > 4.3
    single = np.array([4.3, 1.1, 0.0], np.float32)
    program.read({"worth": single})
    with pytest.raises(InvalidInput, match="in its range"):
        program.read({"worth": np.nextafter(single, np.float32(9))})
