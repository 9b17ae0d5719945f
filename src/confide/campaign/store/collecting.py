"""The collection of participants' reports, which arrive one by one, many at a time, or all at once. Participants may
withdraw their reports. A kind may ask participants more than once: the requests are the phases of the collection,
numbered from 0.

The module also notes the deposits that the operator of a service has received. Only noted deposits are returned, or
used to cover a debt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from confide.campaign.store import reports
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.erasure import erase_share
from confide.campaign.store.states import MOVES, State, StateEvent
from confide.campaign.store.transactions import Stored, Transactions, check_slot, stored
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.worded import worded

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Collecting", "Depositing", "Facts", "nothing_asked", "withdrawn"]


def withdrawn() -> Refused:
    """The error for a record from a person who has withdrawn."""
    return Refused(worded("this participant has withdrawn"), worded("a new campaign may invite them again"))


def nothing_asked() -> Refused:
    """The error for a record that arrives before or after the collection."""
    return Refused(worded("nothing is asked for now"), worded("the page of the campaign shows its state"))


def _drawn_before() -> Refused:
    """The refusal of a second, different draw from a participant's device."""
    return Refused(worded("your device's report was handed in before"),
                   worded("a second report would disclose more of your answer"))


def _problem(slot: int, known: Stored, gone: Collection[int]) -> ConfideError | None:
    """The reason why a report cannot be taken; None where it can."""
    if (known.state, StateEvent.SUBMIT) not in MOVES:
        return nothing_asked()
    try:
        check_slot(slot, known)
    except InvalidInput as error:
        return error
    return withdrawn() if slot in gone else None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Facts:
    """The facts that a store knows about one participant, for the participant and the operator.

    Args:
        known: the participant's campaign, as the store records it.
        withdrawn: whether the participant has withdrawn before the publication.
        reported: whether the store holds a report of the participant, from collection phase 0.
        phases: the numbers of the collection phases in which the participant has handed in a row of a file; empty if
            these phases were not looked up.
    """

    known: Stored
    withdrawn: bool
    reported: bool
    phases: frozenset[int]


class Collecting(Transactions):
    """The methods of a store that take reports."""

    def facts(self, campaign: int, slot: int, *, rows: bool = False) -> Facts:
        """All facts about one participant at one moment. The facts come from a single query, since every request of a
        participant needs them.

        Args:
            campaign: the number of the campaign.
            slot: the participant's position in the public list of ids, from 0.
            rows: whether the phases of the participant's rows are looked up, too.
        """
        of = (s.report.c.campaign_id == s.campaign.c.id, s.report.c.slot == slot, s.report.c.phase == 0)
        reported = select(s.report.c.slot).where(*of).exists()
        gone = select(s.withdrawal.c.slot).where(s.withdrawal.c.campaign_id == s.campaign.c.id,
                                                 s.withdrawal.c.slot == slot).exists()
        query = select(s.campaign, gone.label("gone"), reported.label("reported")).where(s.campaign.c.id == campaign)
        with self._database.reading() as connection:
            row = connection.execute(query).one()
            mine = select(t.handed_row.c.phase).where(
                t.handed_row.c.campaign_id == campaign, t.handed_row.c.slot == slot)
            phases = frozenset(connection.execute(mine).scalars()) if rows else frozenset[int]()
        return Facts(known=stored(row), withdrawn=bool(row.gone), reported=bool(row.reported), phases=phases)

    def submit(self, campaign: int, slot: int, report: bytes, *, phase: int = 0, once: bool = False) -> None:
        """Take the report of one participant. A later report of the same slot replaces the earlier one. If `once` is
        True, a different later report is refused.

        Raises:
            Refused: the campaign is not open, the participant has withdrawn, or `once` is True and the participant has
                handed in a different report.
            InvalidInput: the campaign has no slot of this number.
        """
        (problem,) = self.submit_many(campaign, [(slot, report)], phase=phase, once=once)
        if problem is not None:
            raise problem

    def submit_many(
        self, campaign: int, handed: Sequence[tuple[int, bytes]], *, phase: int = 0, once: bool = False
    ) -> list[ConfideError | None]:
        """Take reports of several participants in one transaction. A report that cannot be taken does not affect the
        other reports.

        Args:
            campaign: the number of the campaign.
            handed: pairs of a slot and a report, in the order of arrival. The slot is the participant's position in the
                public list of ids, from 0.
            phase: the number of the collection phase, 0 unless the kind asks participants more than once.
            once: whether a different second report of the same slot is refused. This is necessary for reports that were
                drawn with noise, since a second draw would reveal more of the participant's answer than promised. The
                same report may be handed in again.

        Returns:
            For each report, None if the report is stored durably; otherwise the error that `submit` would raise.
        """
        with self._locked(campaign) as (connection, known):
            out: list[ConfideError | None] = []
            gone = reports.withdrawn(connection, campaign)
            taken: dict[int, bytes] = {}
            before = reports.of_slots(connection, campaign, {slot for slot, _ in handed}, phase) if once else {}
            for slot, report in handed:
                problem = _problem(slot, known, gone)
                if problem is None and once and before.setdefault(slot, report) != report:
                    problem = _drawn_before()
                out.append(problem)
                if problem is None:
                    taken[slot] = report
            reports.put_many(connection, campaign, taken, phase)
        return out

    def hand_row(
        self, campaign: int, slot: int, row: str, *, phase: int, states: Collection[State], once: bool = False
    ) -> None:
        """Take one participant's row of a data file that the campaign's kind reads. A later row of the same slot and
        phase replaces the earlier one.

        Args:
            campaign: the number of the campaign.
            slot: the participant's position in the public list of ids, from 0.
            row: the row as JSON.
            phase: the number of the collection phase, which tells apart the rows that a participant hands in at
                different times.
            states: the states of the campaign in which the row is taken.
            once: whether a different second row is refused, as in `submit_many`.

        Raises:
            Refused: the campaign is in another state, the settlement of the campaign was requested, the participant has
                withdrawn, or `once` is True and the participant has handed in a different row.
            InvalidInput: the campaign has no slot of this number.
        """
        with self._locked(campaign) as (connection, known):
            asked = select(t.job.c.id).where(t.job.c.campaign_id == campaign, t.job.c.task == "settle")
            if known.state not in states or connection.execute(asked).first() is not None:
                raise Refused(worded("the collection is over"), worded("nothing can be handed in any more"))
            check_slot(slot, known)
            if slot in reports.withdrawn(connection, campaign):
                raise withdrawn()
            if once and reports.row_of(connection, campaign, slot, phase) not in (None, row):
                raise _drawn_before()
            reports.put_row(connection, campaign, slot, row, phase)

    def forget_row(self, campaign: int, slot: int, row: str, *, phase: int) -> None:
        """Erase one participant's row, if the row was not replaced since the caller read it.

        Args:
            campaign: the number of the campaign.
            slot: the participant's position in the public list of ids, from 0.
            row: the row as the caller read it.
            phase: the number of the collection phase, which tells apart the rows that a participant hands in at
                different times.
        """
        with self._locked(campaign) as (connection, _):
            of = t.handed_row.c
            connection.execute(delete(t.handed_row).where(
                of.campaign_id == campaign, of.phase == phase, of.slot == slot, of.row == row))

    def handed_rows(self, campaign: int, phase: int) -> list[tuple[int, str]]:
        """Pairs of a slot and a row, for all participants who handed in a row, in order of slots; for the operator
        alone.
        """
        with self._database.reading() as connection:
            rows = connection.execute(select(t.handed_row.c.slot, t.handed_row.c.row).where(
                t.handed_row.c.campaign_id == campaign, t.handed_row.c.phase == phase).order_by(t.handed_row.c.slot))
            return [(slot, row) for slot, row in rows]

    def row_of(self, campaign: int, slot: int, *, phase: int) -> str | None:
        """The row that one participant handed in; None if there is none."""
        with self._database.reading() as connection:
            return reports.row_of(connection, campaign, slot, phase)

    def report_of(self, campaign: int, slot: int, *, phase: int = 0) -> bytes | None:
        """The report that one participant handed in; None if there is none."""
        with self._database.reading() as connection:
            found = connection.execute(select(s.report.c.report).where(
                s.report.c.campaign_id == campaign, s.report.c.phase == phase, s.report.c.slot == slot)).scalar()
        return None if found is None else bytes(found)

    def has_withdrawn(self, campaign: int, slot: int) -> bool:
        """Whether a participant has withdrawn before the publication; for the participant and the operator alone."""
        with self._database.reading() as connection:
            return connection.execute(select(s.withdrawal.c.slot).where(
                s.withdrawal.c.campaign_id == campaign, s.withdrawal.c.slot == slot)).first() is not None

    def collect(
        self, campaign: int, batches: Iterable[tuple[np.ndarray, Sequence[bytes]]], *, phase: int = 0
    ) -> None:
        """Take all reports of a phase at once and close the collection. Nothing is taken if the collection is closed
        already.

        Args:
            campaign: the number of the campaign.
            batches: pairs of an integer array of slots, of shape (k,), and k reports; read only if the campaign is
                open.
            phase: the number of the collection phase, 0 unless the kind asks participants more than once.
        """
        with self._locked(campaign) as (connection, known):
            if known.state is not State.OPEN:
                return
            reports.write(connection, campaign, batches, phase)
            self._move(connection, known, StateEvent.CLOSE, {})

    def close_collection(self, campaign: int) -> None:
        """Close the collection of an open campaign."""
        self.collect(campaign, ())

    def submitted(self, campaign: int, phase: int | None = None) -> int:
        """The number of people who have handed something in; for the operator alone.

        Args:
            campaign: the number of the campaign.
            phase: the phase whose rows are counted; None counts people with a report or with a row of any phase.
        """
        with self._database.reading() as connection:
            if phase is not None:
                return int(connection.execute(select(func.count()).select_from(t.handed_row).where(
                    t.handed_row.c.campaign_id == campaign, t.handed_row.c.phase == phase)).scalar_one())
            query = select(func.count()).select_from(select(s.report.c.slot).where(s.report.c.campaign_id == campaign)
                                                     .union(select(t.handed_row.c.slot).where(
                                                         t.handed_row.c.campaign_id == campaign)).subquery())
            return int(connection.execute(query).scalar_one())

    def withdraw(self, campaign: int, slot: int) -> bool:
        """Withdraw a participant's report, at any time.

        Before the publication, the participant's report becomes the null record, whatever is handed in later, and the
        number of slots does not change. If a participant withdraws during a run, the outcome of the run is discarded,
        and a new run starts under the same debit. After the publication, the participant's report, share and note of
        withdrawal are erased; the signed billboard, the ledger and a payout stay. The withdrawal concerns this campaign
        alone.

        Args:
            campaign: the number of the campaign.
            slot: the participant's position in the public list of ids, from 0. In a campaign with the ids "1", "2",
                ..., the id "1" has slot 0.

        Returns:
            Whether the participant withdrew before the publication.

        Raises:
            InvalidInput: the campaign has no slot of this number.
        """
        with self._locked(campaign) as (connection, known):
            check_slot(slot, known)
            gone = reports.remove(connection, campaign, slot)
            before = known.state is not State.SETTLED
            if before:
                if slot not in reports.withdrawn(connection, campaign):
                    connection.execute(insert(s.withdrawal).values(campaign_id=campaign, slot=slot,
                                                                   reported=int(gone)))
                    connection.execute(update(s.campaign).where(s.campaign.c.id == campaign)
                                       .values(withdrawals=s.campaign.c.withdrawals + 1))
            else:
                erase_share(connection, campaign, slot)
                connection.execute(delete(s.withdrawal).where(
                    s.withdrawal.c.campaign_id == campaign, s.withdrawal.c.slot == slot))
        self._database.forget(thoroughly=not before)
        return before

    def withdrawn(self, campaign: int) -> dict[int, bool]:
        """Mapping from the slot of each person who withdrew before the publication to True if the person had handed in
        a report, and False otherwise; for the operator alone.

        The list is erased once all payouts are paid. In a campaign without payouts, the list of withdrawals stays,
        since the shares stay too and have empty rows for these people.
        """
        with self._database.reading() as connection:
            rows = connection.execute(select(s.withdrawal.c.slot, s.withdrawal.c.reported)
                                      .where(s.withdrawal.c.campaign_id == campaign).order_by(s.withdrawal.c.slot))
            return {slot: bool(reported) for slot, reported in rows}


_BEFORE = (State.OPEN, State.CLOSED)
_SLOTS = 500  # in one statement


class Depositing(Transactions):
    """The methods of a store that record deposits."""

    def note_deposits(self, campaign: int, slots: Iterable[int], *, received: bool = True) -> None:
        """Note the deposits that were received. To note the same deposit again changes nothing.

        Args:
            campaign: the number of a campaign of the service, before the settlement has begun.
            slots: the slots of the participants who left the deposits: their positions in the public list of ids, from
                0.
            received: False removes a note that was made by mistake, or after a cancelled campaign's deposit was
                returned.

        Raises:
            Refused: the settlement has begun, and the payouts follow from the deposits that were noted before.
            InvalidInput: the campaign has no slot of this number; nothing is noted.
        """
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE and (received or known.state is not State.CANCELLED):
                raise Refused("deposits can be noted only before the settlement", "return a later deposit by hand")
            meant = sorted(set(slots))
            for slot in meant:
                check_slot(slot, known)
            for at in range(0, len(meant), _SLOTS):
                connection.execute(delete(t.deposit).where(
                    t.deposit.c.campaign_id == campaign, t.deposit.c.slot.in_(meant[at : at + _SLOTS])))
            if received and meant:
                connection.execute(insert(t.deposit), [{"campaign_id": campaign, "slot": slot} for slot in meant])

    def has_deposit(self, campaign: int, slot: int) -> bool:
        """Whether the deposit of one participant was noted; the participant may know this."""
        with self._database.reading() as connection:
            return connection.execute(select(t.deposit.c.slot).where(
                t.deposit.c.campaign_id == campaign, t.deposit.c.slot == slot)).first() is not None

    def deposits(self, campaign: int) -> frozenset[int] | None:
        """The slots of all participants whose deposits were noted, for the operator alone. The notes of received
        deposits are erased once all payouts are paid.

        The result is None for a campaign outside the service. In such a campaign, everybody who handed in a report has
        left their deposit.
        """
        with self._database.reading() as connection:
            return reports.noted(connection, campaign)
