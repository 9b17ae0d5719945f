"""Whether a billboard of an auction can be one of a plan's: what follows from its releases must, whoever wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from confide.contract.errors import InvalidInput

if TYPE_CHECKING:
    from confide.allocation.ascending.mechanism import Ascending
    from confide.allocation.billboards import AuctionBillboard

__all__ = ["check_billboard"]


def check_billboard(auction: Ascending, board: AuctionBillboard) -> None:
    """Rounds, clearing, cuts and the certificate's numbers follow from what was released; nothing else is there.

    Args:
        auction: the plan.
        board: of this auction's rules.

    Raises:
        InvalidInput: names the part that no run of this plan writes.
    """
    for name in ("step", "good", "count", "reports"):
        _whole(name, getattr(board, name))
    if len(board.count) and int(board.count.min()) < 1:
        raise InvalidInput("count", "falls below 1", "published counts rise from 0")
    same = board.good[1:] == board.good[:-1]
    if bool((same & (np.diff(board.count) <= 0)).any()):
        raise InvalidInput("count", "does not rise", "published counts never fall, and only changes are written")
    _rounds(auction, board)
    _clearing(auction, board)
    if (board.cutoffs is None) is (auction.on_overflow == "truncate" and board.rounds > 0):
        raise InvalidInput("cutoffs", "are there without truncation, or missing with it")
    if board.cutoffs is not None:
        _whole("cutoffs", board.cutoffs)
        if board.cutoffs.shape != (auction.goods,) or not bool(
                ((board.cutoffs >= 0) & (board.cutoffs <= auction.people)).all()):
            raise InvalidInput("cutoffs", "are no places", f"{auction.goods} numbers in 0..{auction.people}")
    measured = [number is not None for number in (board.surplus, board.welfare)]
    if measured != [auction.certificate_plan is not None] * 2:
        raise InvalidInput("surplus", "is there without a certificate, or missing with one")
    if not all(number is None or np.isfinite(number) for number in (board.surplus, board.welfare)):
        raise InvalidInput("surplus", "is no number")


def _whole(name: str, numbers: Any) -> None:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind != "i":
        raise InvalidInput(name, "is no row of whole numbers")


def _rounds(auction: Ascending, board: AuctionBillboard) -> None:
    if auction.plentiful:
        if board.rounds or len(board.step) or len(board.reports):
            raise InvalidInput("rounds", f"{board.rounds} were played", "there is enough of everything for none")
        return
    plan = auction.halting_plan
    asked = min(board.rounds, auction.rounds - 1)  # nobody asks after the last round
    own = len(board.reports)
    if own != (asked if plan.counter is not None else 0):
        raise InvalidInput("reports", f"{own} numbers", "must be one for each round that was asked about")
    if plan.rule in ("fixed",) and board.rounds != auction.rounds:
        raise InvalidInput("rounds", f"{board.rounds} were played", f"must be all {auction.rounds}")
    if not 1 <= board.rounds <= auction.rounds:
        raise InvalidInput("rounds", f"{board.rounds} were played", f"must be in 1..{auction.rounds}")
    if plan.rule == "published":
        counts = board.after_rounds()[1:].sum(axis=1).tolist()
    elif plan.counter is not None:
        counts = board.reports.tolist()
    else:
        return
    ends = [plan.halts(counts[: r + 1]) for r in range(asked)]
    if any(ends[: board.rounds - 1]) or (board.rounds < auction.rounds and not ends[board.rounds - 1]):
        raise InvalidInput("rounds", f"{board.rounds} were played", "the test of halting says otherwise")


def _clearing(auction: Ascending, board: AuctionBillboard) -> None:
    plan = None if auction.plentiful else auction.clearing
    if (plan is None) is not (board.clearing is None):
        raise InvalidInput("clearing", "is there where a reserve stands in its place, or missing")
    if plan is None or board.clearing is None:
        return
    edges, cells = np.array(plan.edges, dtype=np.int64), board.clearing.cells
    if not isinstance(cells, np.ndarray) or cells.shape != edges.shape or cells.dtype != np.int64:
        raise InvalidInput("clearing.cells", "are of another shape or type", f"must be {edges.shape} int64")
    if not np.array_equal(board.clearing.edges, edges):
        raise InvalidInput("clearing.edges", "are not the plan's")
    if not np.array_equal(board.clearing.cuts, plan.cuts(cells)):
        raise InvalidInput("clearing.cuts", "do not follow from the cells")
