"""What `check` must find in a billboard of which nothing else is wrong: attributes in no drawn query that do not follow
their public rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.release.columns import Levels
from confide.release.dual_query import DualQuery
from confide.release.records import Codes, PackedBits
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

BITS = np.arange(320).reshape(40, 8) % 7 < 3
FEW = Workload.conjunctions([[0, 1], [1, 2]], attributes=8)  # attributes 3 to 7 are in no query


def game(free: str = "zeros", **others: Any) -> DualQuery:
    return DualQuery(records=40, eta=1.0, rounds=6, samples=10, workload=FEW, free=free,  # type: ignore[arg-type]
                     marginal_rho=0.5 if free == "marginals" else 0.0, **others)


def forged(board: Any, places: list[int], t: int = 3) -> Any:
    """A billboard with some attributes of one record turned over."""
    records = board.records.unpack()
    records[t, places] = ~records[t, places]
    return replace(board, records=PackedBits.pack(records))


@pytest.mark.parametrize("free", ["zeros", "random", "marginals"])
@pytest.mark.parametrize("place", [3, 7])
def test_free_attributes_that_break_their_rule_are_found(free: str, place: int) -> None:
    it = game(free)
    board = it.run(BITS, Noise.simulated(1)).billboard
    it.check(board)
    with pytest.raises(InvalidInput, match="round 4: free attributes do not follow their rule"):
        it.check(forged(board, [place]))


def test_a_free_column_that_breaks_its_rule_is_found_though_it_stays_one_hot() -> None:
    schema = Schema(tuple(Levels(column=name, levels=("a", "b", "c")) for name in "xyz"))
    few = Workload.conjunctions([[0, 3], [1, 4]], attributes=9)
    it = DualQuery(records=40, eta=1.0, rounds=6, samples=10, workload=few, schema=schema, one_hot=True)
    cells = (np.arange(120).reshape(40, 3) % 7 % 3).astype(np.uint16)
    board = it.run(Codes(schema=schema, cells=cells), Noise.simulated(1)).billboard
    it.check(board)
    there = np.flatnonzero(board.records.unpack()[3, 6:])[0]
    with pytest.raises(InvalidInput, match="free attributes do not follow their rule"):
        it.check(forged(board, [6 + int(there), 6 + (int(there) + 1) % 3]))


@pytest.mark.parametrize("selection", ["public", "private"])
def test_weights_that_fit_forged_records_are_found(selection: str) -> None:
    """The weights and the named queries follow from the forged records too: only the play does not."""
    it = Reweighted(dual_query=game(), rho_mea=0.5, measured=2, selection=selection,  # type: ignore[arg-type]
                    rho_sel=0.1 if selection == "private" else 0.0, prior=5000.0)
    board = it.run(BITS, Noise.simulated(1)).billboard
    it.check(board)
    wrong = forged(board, [5])
    np.testing.assert_array_equal(it._values(wrong, board.chosen), it._values(board, board.chosen))
    with pytest.raises(InvalidInput, match="free attributes do not follow their rule"):
        it.check(wrong)
    reported = replace(board.rounds, bounds=board.rounds.bounds + 1.0)
    with pytest.raises(InvalidInput, match="upper bound"):
        it.check(replace(board, rounds=reported))
