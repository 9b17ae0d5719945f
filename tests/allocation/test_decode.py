"""Everybody finds her own good from her own row and the billboard alone, under every option; forgeries are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide import Outcome
from confide.allocation import AuctionBillboard, PMatch, decode, instance_b
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

_SIZES: dict[str, Any] = {
    "people": 90, "goods": 4, "supply": (9, 14, 20, 20), "increment": 0.25, "epsilon": 20.0, "bid_cap": 3, "rounds": 5,
    "batch": 8, "arity": 3, "failure_probability": 0.05}

OPTIONS: list[dict[str, Any]] = [
    {}, {"reclear": 0.0, "reserve": 1}, {"batch": 1, "arity": 2}, {"batch": 90}, {"arity": 9}, {"bid_cap": 1},
    {"certify_with": 0.0}, {"neighbours": "add_or_remove"}, {"charge": True}, {"supply": 90},
    {"law": "gaussian", "delta": 1e-4}, {"delta": 0.5, "failure_probability": 1e-12, "on_overflow": "truncate"},
    {"halting": "published", "halt_below": 12}, {"halting": "unsatisfied", "halt_below": 9},
    {"halting": "bids", "halt_below": 14}, {"halting": "sparse_vector", "halt_below": 9},
]


@pytest.mark.parametrize("options", fast(16, OPTIONS))
def test_decodes_equal_the_run(options: dict[str, Any], tmp_path: Path) -> None:
    """Spec allocation 13.4: from rows and the stored billboard, at every place."""
    auction = PMatch(**{**_SIZES, **options})
    values = instance_b(90, 4, seed=3)
    outcome = auction.run(values, Noise.simulated(4))
    outcome.save(tmp_path / "outcome")
    board = type(outcome).load(tmp_path / "outcome").billboard
    assert isinstance(board, AuctionBillboard)
    auction.check(board)
    found = [auction.decode(values[i], i, board) for i in range(90)]
    assert [one["good"] for one in found] == outcome.shares["good"].to_pylist()
    assert [one["price"] for one in found] == outcome.shares["price"].to_pylist()
    assert decode(values[5], 5, board) == found[5]["good"]


def test_secure_noise_settles_and_is_decoded(tmp_path: Path) -> None:
    auction, values = PMatch(**_SIZES), instance_b(90, 4, seed=1)
    outcome = auction.run(values, Noise.secure())
    assert isinstance(outcome, Outcome)
    outcome.save(tmp_path / "outcome")
    board = Outcome.load(tmp_path / "outcome").billboard
    assert [auction.decode(values[i], i, board)["good"] for i in range(90)] == outcome.shares["good"].to_pylist()
    again = auction.certify(board)
    assert again is not None
    assert outcome.certificate is not None
    assert (again.ratio, again.vacuous) == (outcome.certificate.ratio, outcome.certificate.vacuous)


def test_rows_may_be_mappings_and_absent() -> None:
    auction, values = PMatch(**_SIZES), instance_b(90, 4, seed=1)
    values[7] = 0.0
    board = auction.run(values, Noise.simulated(1)).billboard
    assert decode({0: float(values[3, 0]), 1: float(values[3, 1]), 2: float(values[3, 2]), 3: float(values[3, 3])}, 3,
                  board) == decode(values[3], 3, board)
    assert decode(None, 7, board) == -1


@pytest.mark.parametrize(("row", "index", "named"), [
    ([0.5, 0.5, 0.5], 0, "record"), ([0.5, 0.5, 0.5, 1.5], 0, "record"), ([0.5, 0.5, 0.5, np.nan], 0, "record"),
    ({9: 0.5}, 0, "record"), ({0: "much"}, 0, "record"), (["a", "b", "c", "d"], 0, "record"),
    ([0.5] * 4, 90, "index"), ([0.5] * 4, -1, "index"),
])
def test_bad_rows_and_places_are_named_to_their_participant_alone(row: Any, index: int, named: str) -> None:
    board = PMatch(**_SIZES).run(instance_b(90, 4, seed=1), Noise.simulated(1)).billboard
    with pytest.raises(InvalidInput) as error:
        decode(row, index, board)
    assert error.value.field == named


def _settled(**options: Any) -> tuple[PMatch, AuctionBillboard]:
    auction = PMatch(**{**_SIZES, **options})
    return auction, auction.run(instance_b(90, 4, seed=3), Noise.simulated(4)).billboard


def test_forged_clearings_are_found() -> None:
    auction, board = _settled()
    clearing = board.clearing
    assert clearing is not None
    for forged in (
        replace(board, clearing=None), replace(board, clearing=replace(clearing, cuts=clearing.cuts + 1)),
        replace(board, clearing=replace(clearing, edges=clearing.edges + 1)),
        replace(board, clearing=replace(clearing, cells=clearing.cells[:, :-1])),
        replace(board, clearing=replace(clearing, cells=clearing.cells.astype(float))),
        replace(board, surplus=None), replace(board, welfare=float("nan")), replace(board, cutoffs=np.full(4, 90)),
        replace(board, reports=np.array([3])), replace(board, count=board.count[::-1].copy()),
        replace(board, count=board.count.astype(float)),
    ):
        with pytest.raises(InvalidInput):
            auction.check(forged)
    auction.check(board)


def test_forged_ends_are_found() -> None:
    for options in ({"halting": "published", "halt_below": 12}, {"halting": "bids", "halt_below": 14}, {}):
        auction, board = _settled(**options)
        for rounds in range(board.rounds, 6):
            if rounds == board.rounds:
                continue
            with pytest.raises(InvalidInput):
                auction.check(replace(board, rounds=rounds))
        early = board.step <= board.rules.slots
        with pytest.raises(InvalidInput):
            auction.check(replace(board, rounds=1, step=board.step[early], good=board.good[early],
                                  count=board.count[early], reports=board.reports[:1] + 1000))


def test_a_billboard_of_other_rules_is_refused() -> None:
    auction, board = _settled()
    other = PMatch(**{**_SIZES, "increment": 0.2})
    with pytest.raises(InvalidInput, match="another auction"):
        other.check(board)
    with pytest.raises(InvalidInput, match="another auction"):
        other.decode([0.5] * 4, 0, board)
    assert auction.certify(board) is not None


@pytest.mark.parametrize("changed", [
    {"step": np.array([1, 1])}, {"rounds": 6}, {"rounds": -1},
])
def test_billboards_that_are_none_cannot_be_made(changed: dict[str, Any]) -> None:
    _, board = _settled()
    with pytest.raises(InvalidInput):
        replace(board, **changed)
    with pytest.raises(InvalidInput, match="not in order"):
        replace(board, step=board.step[::-1].copy(), good=board.good[::-1].copy())


@pytest.mark.parametrize(("epsilon", "runs", "most"), fast(1, [(2.0, 60, 11), (2.0, 200, 23), (20.0, 1000, 78)]))
def test_the_certificate_is_below_the_truth(epsilon: float, runs: int, most: int) -> None:
    """Welfare is not below, the best possible not above what it says, with gamma = .05."""
    from scipy.optimize import linear_sum_assignment

    auction = PMatch(**{**_SIZES, "epsilon": epsilon, "certify_with": 0.3, "failure_probability": 0.05})
    missed = 0
    for seed in range(runs):
        values = instance_b(90, 4, seed=seed).astype(np.float64)
        outcome = auction.run(values, Noise.simulated(seed))
        columns = np.repeat(values, auction.copies, axis=1)
        rows, chosen = linear_sum_assignment(columns, maximize=True)
        best = float(columns[rows, chosen].sum())
        certificate = outcome.certificate
        missed += certificate.welfare > outcome.diagnostics["welfare"] + 1e-9 or certificate.optimum < best - 1e-9
    assert missed <= most  # P[Binomial(., .05) is more] < 1e-4
