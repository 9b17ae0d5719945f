"""Reading and writing many reports at once. A million reports take seconds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, insert, select, update

from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.database import insert_many

if TYPE_CHECKING:
    import numpy as np

    from confide.contract.kinds import ReportCodec

__all__ = ["Reports", "deposited", "handed_in", "noted", "of_slots", "put_many", "put_row", "remove", "row_of",
           "withdrawn", "write"]

_ROWS = 65_536
_SLOTS = 500  # in one statement


def withdrawn(connection: Connection, campaign: int) -> set[int]:
    """The slots of all people who withdrew from a campaign. A slot is a position in the public list of ids, from 0."""
    return set(connection.execute(select(s.withdrawal.c.slot).where(s.withdrawal.c.campaign_id == campaign)).scalars())


def noted(connection: Connection, campaign: int) -> frozenset[int] | None:
    """The slots of all people whose deposit was noted as received; None for a campaign outside the service."""
    services = select(t.draft.c.id).where(t.draft.c.campaign_id == campaign)
    if connection.execute(services).first() is None:
        return None
    return frozenset(connection.execute(select(t.deposit.c.slot).where(t.deposit.c.campaign_id == campaign)).scalars())


def handed_in(connection: Connection, campaign: int) -> bool:
    """Whether anybody has handed in a report to a campaign, or has withdrawn from the campaign."""
    there = select(s.report.c.slot).where(s.report.c.campaign_id == campaign)
    gone = select(s.withdrawal.c.slot).where(s.withdrawal.c.campaign_id == campaign)
    return connection.execute(there.union(gone).limit(1)).first() is not None


def deposited(connection: Connection, campaign: int) -> np.ndarray:
    """The slots of all m people who left a deposit, even of those who withdrew: int64 of shape (m,), in ascending
    order.

    In the service, the result has the slots of all people whose deposit the operator has noted as received. In
    campaigns outside the service, the operator has a file with all reports and accepts no report without its deposit,
    so the result has the slots of all people who handed in a report, including people who withdrew later.
    """
    import numpy as np  # a list of campaigns is made without arrays

    left = noted(connection, campaign)
    if left is not None:
        return np.array(sorted(left), dtype=np.int64)
    there = select(s.report.c.slot).distinct().where(s.report.c.campaign_id == campaign)
    gone = select(s.withdrawal.c.slot).where(s.withdrawal.c.campaign_id == campaign, s.withdrawal.c.reported == 1)
    return np.sort(np.array(connection.execute(there.union(gone)).scalars().all(), dtype=np.int64))


def write(
    connection: Connection, campaign: int, batches: Iterable[tuple[np.ndarray, Sequence[bytes]]], phase: int = 0
) -> None:
    """Add the reports of slots without a stored report. Reports of people who withdrew are left out. For each left-out
    report, the store notes that the person had reported, since their deposit must be returned.

    Args:
        connection: a connection in a writing transaction.
        campaign: the number of the campaign.
        batches: pairs of an int64 array of slots, of shape (k,), and k reports; no slot occurs twice.
        phase: the number of the collection phase, 0 unless the kind asks participants more than once.
    """
    there = select(s.report.c.slot).where(s.report.c.campaign_id == campaign, s.report.c.phase == phase)
    gone, skipped = withdrawn(connection, campaign), set[int]()
    out = gone | set(connection.execute(there).scalars())

    def rows() -> Iterator[list[tuple[int, int, int, bytes]]]:
        for slots, reports in batches:
            block = [(campaign, phase, slot, report) for slot, report in zip(slots.tolist(), reports, strict=True)]
            skipped.update(gone.intersection(slots.tolist()) if gone else ())
            yield [row for row in block if row[2] not in out] if out else block

    insert_many(connection, s.report, ("campaign_id", "phase", "slot", "report"), rows())
    for slot in skipped:
        connection.execute(update(s.withdrawal).where(
            s.withdrawal.c.campaign_id == campaign, s.withdrawal.c.slot == slot).values(reported=1))


def remove(connection: Connection, campaign: int, slot: int) -> bool:
    """Erase the report and the rows of one slot. The result is whether there was a report."""
    connection.execute(delete(t.handed_row).where(t.handed_row.c.campaign_id == campaign, t.handed_row.c.slot == slot))
    return connection.execute(delete(s.report).where(s.report.c.campaign_id == campaign,
                                                     s.report.c.slot == slot)).rowcount > 0


def put_many(connection: Connection, campaign: int, taken: Mapping[int, bytes], phase: int = 0) -> None:
    """Store the reports of some slots, in place of their earlier reports."""
    of = (s.report.c.campaign_id == campaign, s.report.c.phase == phase)
    slots = list(taken)
    for at in range(0, len(slots), _SLOTS):
        connection.execute(delete(s.report).where(*of, s.report.c.slot.in_(slots[at : at + _SLOTS])))
    if taken:
        connection.execute(insert(s.report), [{"campaign_id": campaign, "phase": phase, "slot": slot, "report": report}
                                              for slot, report in taken.items()])


def of_slots(connection: Connection, campaign: int, slots: Collection[int], phase: int = 0) -> dict[int, bytes]:
    """Mapping from each of the given slots that has a report to this report."""
    query = select(s.report.c.slot, s.report.c.report).where(s.report.c.campaign_id == campaign,
                                                             s.report.c.phase == phase)
    wanted = sorted(slots)
    return {row.slot: bytes(row.report) for at in range(0, len(wanted), _SLOTS)
            for row in connection.execute(query.where(s.report.c.slot.in_(wanted[at : at + _SLOTS])))}


def row_of(connection: Connection, campaign: int, slot: int, phase: int) -> str | None:
    """The row that the participant with a given slot handed in; None if there is none."""
    found: str | None = connection.execute(select(t.handed_row.c.row).where(
        t.handed_row.c.campaign_id == campaign, t.handed_row.c.phase == phase, t.handed_row.c.slot == slot)).scalar()
    return found


def put_row(connection: Connection, campaign: int, slot: int, row: str, phase: int) -> None:
    """Store the row of one slot, in place of an earlier row."""
    connection.execute(delete(t.handed_row).where(
        t.handed_row.c.campaign_id == campaign, t.handed_row.c.phase == phase, t.handed_row.c.slot == slot))
    connection.execute(insert(t.handed_row).values(campaign_id=campaign, phase=phase, slot=slot, row=row))


class Reports:
    """All reports of one collection phase, as batches that the run of a mechanism takes. The object can be iterated
    several times.

    Args:
        connection: a connection in a transaction in which all queries see the same state.
        campaign: the number of the campaign.
        codec: the codec of the campaign's kind, which turns stored bytes into reports.
        phase: the number of the collection phase, 0 unless the kind asks participants more than once.
    """

    def __init__(self, connection: Connection, campaign: int, codec: ReportCodec, phase: int = 0) -> None:
        self._connection = connection
        self._of = (s.report.c.campaign_id == campaign, s.report.c.phase == phase)
        self._codec = codec

    def __iter__(self) -> Iterator[Any]:
        import numpy as np

        after = -1
        while True:
            query = (select(s.report.c.slot, s.report.c.report).where(*self._of, s.report.c.slot > after)
                     .order_by(s.report.c.slot).limit(_ROWS))
            rows = self._connection.execute(query).all()
            if not rows:
                return
            after = rows[-1][0]
            yield self._codec.unpack(np.array([row[0] for row in rows], dtype=np.int64), [row[1] for row in rows])
