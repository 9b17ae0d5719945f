"""Payouts of a settled campaign: the queue, the batches, and the bank's answers."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select

from confide.campaign.store import chain, payouts, transactions
from confide.campaign.store import service_schema as t
from confide.campaign.store.erasure import erase_files, erase_paid
from confide.campaign.store.payouts import BatchRow, Entry, Queue
from confide.campaign.store.states import State
from confide.campaign.store.transactions import Transactions

__all__ = ["PayingOut"]


class PayingOut(Transactions):
    """The methods of a store that manage payouts. In a restored copy of an installation, nothing is paid before the
    operator has confirmed that the original installation did not pay.
    """

    def payouts(self, campaign: int) -> Queue:
        """The state of the payouts of a settled campaign, for the operator alone."""
        with self._database.snapshot() as connection:
            return payouts.queue(connection, campaign)

    def entries(self, campaign: int) -> tuple[Entry, ...]:
        """All payouts of a settled campaign, for the operator alone."""
        with self._database.reading() as connection:
            return payouts.entries(connection, campaign)

    def approve(self, campaign: int, code: str) -> int:
        """Approve the queued payouts, with the code that `payouts` has shown. The result is the number of approved
        entries, which is 0 if none was queued.

        Raises:
            Refused: the code does not belong to the queued payouts.
        """
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            found = payouts.approve(connection, campaign, code)
            if found:
                chain.append(connection, known.number, "approve", transactions.today(), {"people": found})
        return found

    def approved(self, campaign: int) -> BatchRow:
        """The batch that an export would make now.

        Raises:
            Refused: nothing is approved.
        """
        known = self.get(campaign)
        self.check_original(known)
        with self._database.reading() as connection:
            return payouts.approved(connection, campaign, known.content, self.home.ledger_key)

    def export(self, campaign: int, form: str) -> int:
        """Put all approved payouts into a new batch. The result is the number of the batch.

        Raises:
            Refused: nothing is approved.
        """
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            number = payouts.export(connection, campaign, form)
            chain.append(connection, known.number, "export", transactions.today(), {"batch": number, "format": form})
        return number

    def attempts(self, campaign: int) -> dict[int, dict[str, str]]:
        """All exported payments, as a mapping from the number of a batch to a mapping from reference to status. A
        status is "sent", "paid" or "failed".
        """
        with self._database.snapshot() as connection:
            return payouts.attempts(connection, campaign, self.get(campaign).content, self.home.ledger_key)

    def batch(self, campaign: int, number: int) -> BatchRow:
        """An exported batch that the bank has not answered.

        Raises:
            InvalidInput: the campaign has no batch of this number.
            Refused: the bank has answered the batch, so payments might be made twice if the file were written again.
        """
        known = self.get(campaign)
        self.check_original(known)
        with self._database.snapshot() as connection:
            return payouts.batch(connection, campaign, known.content, number, self.home.ledger_key)

    def confirm(self, campaign: int, said: Mapping[str, str]) -> dict[str, int]:
        """Record the bank's answers, which are given as a mapping from the reference of a payment to "paid" or
        "failed".

        Once all payouts are paid, reports, shares and amounts are erased, and so are the service's private files; the
        total of the amounts stays.

        Returns:
            Counts of entries: "paid" and "failed" for entries that changed their state, "known" for entries with the
                same answer as before.

        Raises:
            InvalidInput: a reference belongs to no exported payout, or an answer contradicts an earlier answer and is
                refused by `confide.campaign.store.payouts.confirm`; nothing is taken.
        """
        with self._locked(campaign) as (connection, known):
            found = payouts.confirm(connection, campaign, known.content, said, self.home.ledger_key)
            if found["paid"] or found["failed"]:
                chain.append(connection, known.number, "import", transactions.today(), {"paid": found["paid"],
                                                                            "failed": found["failed"]})
            done = known.state is State.SETTLED and erase_paid(connection, campaign)
            if done and self._is_services(connection, campaign):  # before it is said to be done: nobody needs them more
                erase_files(self.home.campaign_folder(campaign))
        if done:
            self._database.forget(thoroughly=True)
        return found

    def erase_files(self, campaign: int) -> None:
        """Remove the private files of a campaign of the service, if the campaign is over: cancelled, or settled with
        nothing left to pay.
        """
        with self._locked(campaign) as (connection, known):
            over = known.state is State.CANCELLED or (
                known.state is State.SETTLED and payouts.all_paid(connection, campaign))
            if over and self._is_services(connection, campaign):
                erase_files(self.home.campaign_folder(campaign))

    @staticmethod
    def _is_services(connection: Connection, campaign: int) -> bool:
        """Whether the service has opened the campaign in this store; a campaign of another store may have the same
        number.
        """
        return connection.execute(select(t.draft.c.id).where(t.draft.c.campaign_id == campaign)).first() is not None

    def reopen(self, campaign: int) -> int:
        """Queue all failed payouts again. The result is the number of these entries."""
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            found = payouts.reopen(connection, campaign)
            number = sum(found.values())
            if number:
                chain.append(connection, known.number, "reopen", transactions.today(),
                             {"people": number, "batches": list(found)})
        return number
