"""Deposits: whose the operator of a service has received. Only these are paid back, or set against a debt."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import delete, insert, select

from confide.campaign.store import reports
from confide.campaign.store import service_schema as t
from confide.campaign.store.states import State
from confide.campaign.store.transactions import Transactions, check_slot
from confide.contract.errors import Refused

__all__ = ["Depositing"]

_BEFORE = (State.OPEN, State.CLOSED)
_SLOTS = 500  # in one statement


class Depositing(Transactions):
    """The part of a store that knows who has left a deposit."""

    def note_deposits(self, campaign: int, slots: Iterable[int], *, received: bool = True) -> None:
        """Note whose deposits were received; doing it again changes nothing.

        Args:
            campaign: a campaign of the service, before its settlement has begun.
            slots: whose.
            received: False takes a note back, as of a slip, or where a cancelled campaign's deposit was returned.

        Raises:
            Refused: its settlement has begun: what is due follows from what was noted before.
            InvalidInput: no such slot; nothing is noted.
        """
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE and (received or known.state is not State.CANCELLED):
                raise Refused("deposits are noted before the settlement", "return one that came later by hand")
            meant = sorted(set(slots))
            for slot in meant:
                check_slot(slot, known)
            for at in range(0, len(meant), _SLOTS):
                connection.execute(delete(t.deposit).where(
                    t.deposit.c.campaign_id == campaign, t.deposit.c.slot.in_(meant[at : at + _SLOTS])))
            if received and meant:
                connection.execute(insert(t.deposit), [{"campaign_id": campaign, "slot": slot} for slot in meant])

    def has_deposit(self, campaign: int, slot: int) -> bool:
        """Whether somebody's deposit was noted: what she may know of it, without everybody else's."""
        with self._database.reading() as connection:
            return connection.execute(select(t.deposit.c.slot).where(
                t.deposit.c.campaign_id == campaign, t.deposit.c.slot == slot)).first() is not None

    def deposits(self, campaign: int) -> frozenset[int] | None:
        """The slots of all whose deposit was noted: the operator's alone. Erased when all is paid.

        None where the campaign is not the service's: whoever handed in has left hers.
        """
        with self._database.reading() as connection:
            return reports.noted(connection, campaign)
