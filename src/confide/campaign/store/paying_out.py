"""Paying out: the queue of a settled campaign, its batches, and the bank's answers."""

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
    """The part of a store that pays; in a copy nothing leaves it before somebody has said that the original did not."""

    def payouts(self, campaign: int) -> Queue:
        """The state of the payouts of a settled campaign: the operator's alone."""
        with self._database.snapshot() as connection:
            return payouts.queue(connection, campaign)

    def entries(self, campaign: int) -> tuple[Entry, ...]:
        """Every payout of a settled campaign: the operator's alone."""
        with self._database.reading() as connection:
            return payouts.entries(connection, campaign)

    def approve(self, campaign: int, code: str) -> int:
        """Approve the queued payouts, by the code that `payouts` showed; the result is the number of entries, 0 where
        none was queued.

        Raises:
            Refused: another code.
        """
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            found = payouts.approve(connection, campaign, code)
            if found:
                chain.append(connection, known.number, "approve", transactions.today(), {"people": found})
        return found

    def approved(self, campaign: int) -> BatchRow:
        """The batch that an export would take now.

        Raises:
            Refused: nothing is approved.
        """
        known = self.get(campaign)
        self.check_original(known)
        with self._database.reading() as connection:
            return payouts.approved(connection, campaign, known.content, self.home.ledger_key)

    def export(self, campaign: int, form: str) -> int:
        """Take all approved payouts into a new batch; the result is its number.

        Raises:
            Refused: nothing is approved.
        """
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            number = payouts.export(connection, campaign, form)
            chain.append(connection, known.number, "export", transactions.today(), {"batch": number, "format": form})
        return number

    def attempts(self, campaign: int) -> dict[int, dict[str, str]]:
        """Everything that was exported: batch -> reference -> its status: sent, paid or failed."""
        with self._database.snapshot() as connection:
            return payouts.attempts(connection, campaign, self.get(campaign).content, self.home.ledger_key)

    def batch(self, campaign: int, number: int) -> BatchRow:
        """An exported batch that the bank has not answered.

        Raises:
            InvalidInput: no such batch.
            Refused: the bank has answered it; who writes it again might pay twice.
        """
        known = self.get(campaign)
        self.check_original(known)
        with self._database.snapshot() as connection:
            return payouts.batch(connection, campaign, known.content, number, self.home.ledger_key)

    def confirm(self, campaign: int, said: Mapping[str, str]) -> dict[str, int]:
        """Take the bank's answers, reference -> "paid" or "failed".

        When all is paid, reports, shares and amounts are erased, and private files of the service; their sum stays.

        Returns:
            "paid", "failed": how many entries changed; "known": how many were so before.

        Raises:
            InvalidInput: a reference of no exported payout, or word against what the bank has said before, where that
                cannot be mended; nothing is taken.
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
        """Remove the private files of a campaign of the service that is over: nothing is left to pay, or cancelled."""
        with self._locked(campaign) as (connection, known):
            over = known.state is State.CANCELLED or (
                known.state is State.SETTLED and payouts.all_paid(connection, campaign))
            if over and self._is_services(connection, campaign):
                erase_files(self.home.campaign_folder(campaign))

    @staticmethod
    def _is_services(connection: Connection, campaign: int) -> bool:
        """Whether the service has opened it in this store; another store's campaign may have the same number."""
        return connection.execute(select(t.draft.c.id).where(t.draft.c.campaign_id == campaign)).first() is not None

    def reopen(self, campaign: int) -> int:
        """Queue again the payouts that the bank could not pay; the result is the number of entries."""
        with self._locked(campaign) as (connection, known):
            self.check_original(known)
            found = payouts.reopen(connection, campaign)
            number = sum(found.values())
            if number:
                chain.append(connection, known.number, "reopen", transactions.today(),
                             {"people": number, "batches": list(found)})
        return number
