"""A campaign's payouts by the ids of its participants: the operator's alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from confide.campaign.file import Planned
from confide.contract.payout_terms import PayoutTerms

if TYPE_CHECKING:
    from confide.campaign.store import Store
    from confide.campaign.store.payouts import Queue

__all__ = ["Payouts", "payouts_of"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Payouts:
    """The state of the payouts of a settled campaign: private, since amounts follow from records.

    Args:
        queue: people and coins by state, the code that approves what is queued, and the batches.
        terms: the currency, and what a deposit is.
        entries: `id`, `coins` (in the smallest coin; null once all is paid), `state`, `batch` (null while it waits);
            one row for everybody who is paid.
        withdrawn: `id` and `deposit` (in the smallest coin, in the participant's entry; 0 where they had left none) of
            who withdrew before the settlement; empty once all is paid.
        deposits: state -> how many of its amounts hold a deposit; None where nobody leaves one, or it is not
            known any more.
    """

    queue: Queue
    terms: PayoutTerms
    entries: pa.Table
    withdrawn: pa.Table
    deposits: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"<payouts of {self.entries.num_rows} people; private, see its fields>"


def payouts_of(campaign: Planned, store: Store) -> Payouts:
    """The state of a campaign's payouts.

    Args:
        campaign: a settled one.
        store: the store in which it was settled.

    Raises:
        InvalidInput: it pays nothing.
        Refused: it is not settled there.
    """
    terms, ids = campaign.terms, campaign.ids
    number = store.settled(campaign.file).number
    entries, gone = store.entries(number), store.withdrawn(number)
    queue, left = store.payouts(number), store.deposits(number)
    holding = Counter(each.state for each in entries if left is None or each.slot in left)
    return Payouts(
        queue=queue, terms=terms,
        deposits=None if not terms.deposit or (left is not None and queue.done) else holding,
        entries=pa.table({
            "id": pa.array([ids[each.slot] for each in entries], pa.string()),
            "coins": pa.array([each.amount for each in entries], pa.int64()),
            "state": pa.array([each.state for each in entries], pa.string()),
            "batch": pa.array([each.batch for each in entries], pa.int64()),
        }),
        withdrawn=pa.table({
            "id": pa.array([ids[slot] for slot in gone], pa.string()),
            "deposit": pa.array([terms.deposit * (reported if left is None else slot in left)
                                 for slot, reported in gone.items()], pa.int64()),
        }))
