"""The payouts of a campaign, listed by the ids of participants; for the operator alone."""

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
    """The state of the payouts of a settled campaign; private, since amounts follow from records.

    Args:
        queue: the number of people and the total amount in each state, the code that approves the queued payouts, and
            the batches.
        terms: the terms of payment, with the currency and the amount of a deposit.
        entries: a table with one row for each person who is paid. The table's columns are `id`, `coins` (the amount in
            the smallest units of the currency; null once all payouts are paid), `state`, and `batch` (null for payouts
            without a batch).
        withdrawn: a table with one row for each person who withdrew before the settlement, empty once all payouts are
            paid. The table's columns are `id` and `deposit`, in the smallest units of the currency; the person's payout
            includes the deposit. The deposit is 0 if they left none.
        deposits: mapping from a state of payouts to the number of payouts in this state that include a deposit. None if
            the campaign asks for no deposits, or if the numbers have been erased.
    """

    queue: Queue
    terms: PayoutTerms
    entries: pa.Table
    withdrawn: pa.Table
    deposits: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"<payouts of {self.entries.num_rows} people; private, see its fields>"


def payouts_of(campaign: Planned, store: Store) -> Payouts:
    """The state of the payouts of a settled campaign, listed by the ids of participants.

    Args:
        campaign: the settled campaign.
        store: the store in which the campaign was settled.

    Raises:
        InvalidInput: the campaign pays nothing.
        Refused: the campaign has not been settled in this store.
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
