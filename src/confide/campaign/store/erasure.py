"""Erasing data of a settled campaign: the data of one participant who withdraws, and the data of everybody once all
payouts are paid.

An amount and a share follow from one record and the public billboard, so the amount and the share almost reveal the
record. Amounts and shares are erased together with the reports, and with the files from which the service has made the
reports: rounds of contracts name single payments, and the people who declined. The fact that somebody was paid, and the
total over all people, are kept for the operator's accounts.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, select, update

from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.payouts import all_paid
from confide.contract.files import sync

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PACK", "erase_files", "erase_paid", "erase_reports", "erase_share", "erase_withdrawals"]

PACK = "pack"
"""Name of the public folder within a campaign's folder of the service."""


def erase_reports(connection: Connection, campaign: int) -> None:
    """Erase all reports of a campaign, all rows that participants handed in, and all unused invitation codes."""
    for table in (s.report, t.handed_row, t.invitation):
        connection.execute(delete(table).where(table.c.campaign_id == campaign))


def erase_withdrawals(connection: Connection, campaign: int) -> None:
    """Erase the list of people who withdrew from a campaign."""
    connection.execute(delete(s.withdrawal).where(s.withdrawal.c.campaign_id == campaign))


def erase_deposits(connection: Connection, campaign: int) -> None:
    """Erase a campaign's list of received deposits. A cancelled campaign keeps the list, since only this list records
    which deposits must be returned.
    """
    connection.execute(delete(t.deposit).where(t.deposit.c.campaign_id == campaign))


def erase_paid(connection: Connection, campaign: int) -> bool:
    """Once all payouts are paid, erase all data that nobody needs any more: reports, withdrawals, login sessions,
    amounts, shares. The rows stay, with empty cells.

    If no payout was ever due, shares stay until their owners withdraw, since no payment has informed the owners of
    their shares. Login sessions stay until they end, and the list of people who withdrew stays too, so that their page
    can explain the empty share.

    Args:
        connection: a connection in a writing transaction.
        campaign: the number of a settled campaign.

    Returns:
        Whether all payouts are paid.
    """
    if not all_paid(connection, campaign):
        return False
    erase_reports(connection, campaign)
    erase_deposits(connection, campaign)
    amounts = connection.execute(select(s.payout.c.amount).where(
        s.payout.c.campaign_id == campaign, s.payout.c.amount.is_not(None))).scalars().all()
    if amounts:
        erase_withdrawals(connection, campaign)
        # After the codes: a participant who has used theirs meanwhile has a session by now.
        connection.execute(delete(t.participant_session).where(t.participant_session.c.campaign_id == campaign))
        connection.execute(update(s.campaign).where(s.campaign.c.id == campaign).values(paid=str(sum(amounts))))
        connection.execute(update(s.payout).where(s.payout.c.campaign_id == campaign).values(amount=None))
        import pyarrow as pa  # here and below: a store without a share to erase has no tables to read

        shares = _shares(connection, campaign)
        _replace(connection, campaign, shares, [pa.nulls(shares.num_rows, column.type) for column in shares.columns])
    return True


def erase_files(folder: Path) -> None:
    """Remove everything from a campaign's folder of the service except its pack, which is public.

    Args:
        folder: the folder, which need not exist.
    """
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        if each.name == PACK:
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)
    if folder.is_dir():
        sync(folder)


def erase_share(connection: Connection, campaign: int, slot: int) -> None:
    """Erase one participant's share. The participant's row of the table of shares stays, with empty cells."""
    import pyarrow as pa

    shares = _shares(connection, campaign)
    if slot < shares.num_rows:
        _replace(connection, campaign, shares,
                 [pa.concat_arrays([column.slice(0, slot).combine_chunks(), pa.nulls(1, column.type),
                                    column.slice(slot + 1).combine_chunks()]) for column in shares.columns])


def _shares(connection: Connection, campaign: int) -> pa.Table:
    from confide.contract.encoding import table_from_bytes

    data = connection.execute(select(s.share.c.data).where(s.share.c.campaign_id == campaign)).scalar_one()
    return table_from_bytes(bytes(data)).combine_chunks()


def _replace(connection: Connection, campaign: int, shares: pa.Table, columns: list[pa.Array]) -> None:
    import pyarrow as pa

    from confide.contract.encoding import column_bytes

    data = column_bytes(pa.table(columns, names=shares.column_names))
    connection.execute(update(s.share).where(s.share.c.campaign_id == campaign).values(data=data))
