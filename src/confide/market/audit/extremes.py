"""The least and the largest payment of a market, over all counts of a few reports."""

from __future__ import annotations

import numpy as np

from confide.audit import AuditRow, Concern
from confide.contract.guarantees import Budget
from confide.market.collection import BitCollection

__all__ = ["extremes", "least_row"]

_MOST = 40


def extremes(collection: BitCollection) -> tuple[float, float]:
    """The least and the largest payment of who reported, at all counts of up to 40 reports, in whole coins.

    Args:
        collection: what a campaign runs.
    """
    most = min(collection.market.people, _MOST)
    counts = [(ones, n - ones) for n in range(2, most + 1) for ones in range(n + 1)]
    board = collection.pay_counts(*(np.array(each) for each in zip(*counts, strict=True)))
    paid = np.concatenate([board.for_one[board.ones > 0], board.for_zero[board.zeros > 0]])
    return float(paid.min()) / collection.minor_units, float(paid.max()) / collection.minor_units


def least_row(collection: BitCollection) -> AuditRow:
    """The least single payment against the promise.

    Args:
        collection: what a campaign runs.
    """
    budget = collection.guarantees().of(Budget)[0]
    return AuditRow.at_least(
        "money: a single payment, at least", budget.lowest, extremes(collection)[0],
        f"all counts of up to {_MOST} reports, in whole coins",
        unit=collection.currency, concern=Concern.BUDGET).smaller(
            f"up to {_MOST} reports" if collection.market.people > _MOST else "").holding(budget)
